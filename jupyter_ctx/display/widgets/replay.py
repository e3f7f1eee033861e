"""Show turn by turn what was sent: a slider over the requests and, as its static twin, a row for each."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import starmap
from typing import NamedTuple

from ...context.context_info import ContextInfo
from ..tables import column_sides, first_words, page_html, row_html, table
from ..text import QUIET, WRAPS, attribute_html, text_html
from .clicks import button, low_layout
from .gauge import SHAPES, bar_static, share_of, used_of
from .gauge_bar import text_bar
from .sliders import SLIDER_RULES, follows
from .static_twin import LIVE

MOST_IN_FULL = 200_000  # characters of a message
MOST_OMITTED = 20  # messages that are listed of those that were not sent
SECONDS = 1.5  # that each turn is shown while it plays
REPLAY_HEAD, BAR = ("turn", "context", "tokens", "share", "what happened"), 1  # and the column of the bars
CAPTION = "What was sent, turn by turn"
_BAR_WIDTH = "width:60px;width:clamp(60px,15vw,160px)"  # a sanitiser knows the first alone
_TEXT = (
    f"white-space:pre-wrap;{WRAPS};margin:0 0 4px 8px;padding:4px 8px;border-left:3px solid #757575;"
    "max-height:20em;overflow:auto"
)


class ReplayFrame(NamedTuple):
    """One turn as it is shown: how full its request was, what happened to it, and its messages, each after its name."""

    number: int
    info: ContextInfo
    happened: str
    checked: str
    sent: Sequence[tuple[str, str]]
    omitted: Sequence[tuple[str, str]]


def replay_forms(frames: Sequence[ReplayFrame]) -> dict[str, str]:
    """Return a row with a small bar for each turn, as HTML, Markdown and plain text."""
    rows = [
        (f"{frame.number:,}", text_bar(frame.info), f"{frame.info.used:,}", share_of(frame.info), frame.happened)
        for frame in frames
    ]
    sides = column_sides(REPLAY_HEAD, rows)
    bars = (bar_static(frame.info, _BAR_WIDTH) for frame in frames)
    drawn = [f"<tr>{row_html(row, sides, {BAR: bar})}</tr>" for row, bar in zip(rows, bars, strict=True)]
    return {**table(REPLAY_HEAD, rows, CAPTION), "text/html": page_html(REPLAY_HEAD, sides, drawn, CAPTION)}


def frame_html(frame: ReplayFrame) -> str:
    """Return one turn: the bar of its moment, what happened, and what was sent and what was not."""
    info, happened = frame.info, f"<div>{text_html(frame.happened)}</div>" if frame.happened else ""
    full = f"{SHAPES[info.state]} {used_of(info)} · {info.model}"
    left = len(frame.omitted) - MOST_OMITTED
    more = f"<div>… {left:,} messages before these</div>" if left > 0 else ""
    sent = _messages("Sent, in this order", frame.sent)
    omitted = _messages("Not sent", frame.omitted[-MOST_OMITTED:], more) if frame.omitted else ""
    return (
        f'<div data-lm-suppress-shortcuts="true" style="font-size:13px;line-height:20px;{WRAPS}">'
        f'<div role="status"><b>Turn {frame.number:,}</b>{bar_static(info)}{text_html(full)}{happened}</div>'
        f'<div style="{QUIET}">{text_html(frame.checked)}</div>{sent}{omitted}</div>'
    )


def _messages(title: str, messages: Sequence[tuple[str, str]], before: str = "") -> str:
    return f'<div style="margin-top:8px"><b>{title}</b></div>{before}{"".join(starmap(_folded, messages))}'


def _folded(name: str, text: str) -> str:
    """Return a message in one line, which unfolds to its text."""
    more = len(text) - MOST_IN_FULL
    cut = f"\n… {more:,} more characters" if more > 0 else ""
    return (
        f'<details><summary><span style="{QUIET}">{text_html(name)}</span> '
        f"{text_html(first_words(text))}</summary>"
        f'<div role="region" tabindex="0" aria-label="{attribute_html(name)}" style="{_TEXT}">'
        f"{text_html(text[:MOST_IN_FULL] + cut)}</div></details>"
    )


class ReplayView:
    """A slider over turns, a field in which arrow keys go from turn to turn, and a button that plays them.

    The widget that counts while it plays has parts without names, too: screen readers and keys get the button instead.
    """

    def __init__(self, frames: Sequence[ReplayFrame]) -> None:
        import ipywidgets

        self._frames = frames
        layout, last = ipywidgets.Layout, len(frames)
        bounds = {"min": 1, "max": last, "value": last}
        self._play = ipywidgets.Play(**bounds, interval=round(1000 * SECONDS), layout=layout(display="none"))
        self._slider = ipywidgets.IntSlider(**bounds, readout=False, layout=layout(width="auto", flex="1 1 12em"))
        self._field = ipywidgets.BoundedIntText(
            **bounds, description="Request", continuous_update=True, layout=layout(width="11em")
        )
        self._button = button(self._toggle, ("do",), low_layout(), description="Play")
        self._page = ipywidgets.HTML(layout=layout(width="100%", margin="0", overflow="visible"))
        self._links = [follows(other, self._field) for other in (self._slider, self._play)]
        self._field.observe(lambda _: self._draw(), "value")
        self._play.observe(lambda _: self._name(), "playing")
        style = ipywidgets.HTML(REPLAY_STYLE, layout=layout(display="none"))
        row = ipywidgets.HBox(
            [self._button, self._slider, self._field, self._play],
            layout=layout(flex_flow="row wrap", align_items="center"),
        )
        self.widget = ipywidgets.VBox([style, row, self._page], layout=layout(overflow="visible"))
        self.widget.add_class("jctx-replay")
        self.widget.add_class(LIVE)
        self._draw()

    def _draw(self) -> None:
        self._page.value = frame_html(self._frames[self._field.value - 1])

    def _toggle(self) -> None:
        """Play from here, from the first turn on where this is the last, or pause."""
        if not self._play.playing and self._field.value == len(self._frames):
            self._field.value = self._play.value = 1
        self._play.playing = not self._play.playing

    def _name(self) -> None:
        self._button.description = "Pause" if self._play.playing else "Play"


REPLAY_STYLE = (
    "<style>"
    f"{SLIDER_RULES}"
    ".jctx-replay .widget-html-content{min-width:0}"
    ".jctx-replay summary{overflow:hidden;text-overflow:ellipsis;white-space:nowrap;cursor:pointer}"
    "</style>"
)
