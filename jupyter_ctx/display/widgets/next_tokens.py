"""The likeliest next tokens of a text as bars: drawn anew for a temperature, and appended by a click.

The slider asks nobody: every share is computed from the log-probabilities that the model told.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from ...context.logprobs import Token, shares_at, text_of
from ..tables import table
from ..text import spoken_html, text_html
from ..token_page import percent_of
from .live import LIVE, StaticFallback, button, tried

BARS, BAR_HEIGHT = 10, 28  # tokens that are shown, pixels of a row
NEXT_HEAD = ("next token", "share")
NEXT_SHEET = (
    "<style>"
    ".jctx-next{font-size:13px;line-height:1.5}.jctx-next p{margin:0;white-space:pre-wrap;overflow-wrap:anywhere}"
    ".jctx-next b{border-bottom:2px solid #1976d2;font-weight:inherit}"
    f".jctx-odds{{height:{BAR_HEIGHT}px;display:flex;align-items:center;gap:6px;font-size:12px;white-space:nowrap}}"
    ".jctx-odds i{height:14px;min-width:1px;background:#1976d2}.jctx-odds code{width:9em;overflow:hidden}"
    f".{LIVE} .jctx-odds code{{display:none}}"  # there are buttons
    # a slider's handle has no name: its sign can be dragged, and keys and screen readers get the field beside it
    ".jctx-slider .noUi-handle{visibility:hidden}"
    ".jctx-slider .noUi-handle::before{visibility:visible;content:'';display:block;inset:0;width:auto;height:auto;"
    "border:1px solid;border-radius:50%;background:var(--jp-brand-color1,#1976d2)}"
    "</style>"
)

Likely = tuple[Sequence[Token], str]  # the tokens that may come next, the likeliest first, and whose they are, in words


class NextTokens:
    """A widget of the tokens that may follow a text; ``ask`` returns them, behind those that were appended so far."""

    def __init__(self, text: str, ask: Callable[[Sequence[Token]], Likely], temperature: float) -> None:
        self._text, self._ask, self._temperature = text, ask, temperature
        self._appended: list[Token] = []
        # what may come now, behind what might have come in the place of each that was appended
        self._likely = [ask(())]

    def show(self) -> None:
        """Show the widget in the running cell, with its static fallback above."""
        self._build()
        self._output = StaticFallback(self.widget, self.forms)
        self._draw()
        self._output.show()

    def close(self) -> None:
        """Show what there is, without its controls, from now on."""
        self._link.close()
        self._output.freeze()

    def forms(self) -> dict[str, str]:
        """Return what is shown in static forms."""
        bars = self._bars()
        caption = f"{self._text}{text_of(self._appended)} … ({self._how})"
        plain = table(NEXT_HEAD, [(label, percent_of(share)) for label, share in bars], caption)
        return {**plain, "text/html": f"{self._head_html()}{_bars_html(bars)}"}

    def _append(self, place: int) -> str:
        """Append a token, and go on behind it."""
        token = self._likely[-1][0][place]
        self._likely.append(self._ask([*self._appended, token]))
        self._appended.append(token)
        return f"{token.label} is appended."

    def _back(self) -> str:
        """Take the last token back; nobody is asked."""
        if not self._appended:
            return ""
        self._likely.pop()
        return f"{self._appended.pop().label} is taken back."

    def _tell(self, act: Callable[[], str]) -> None:
        self._line.value = spoken_html(*tried(act))
        self._draw()

    def _slid(self, _change: object) -> None:
        self._temperature = round(self._field.value, 2)
        self._draw()

    @property
    def _how(self) -> str:
        tokens, whose = self._likely[-1]
        shared = "" if self._temperature == 1 else f"; shares among these {len(tokens):,} tokens"
        return f"{whose}; temperature {self._temperature:g}{shared}"

    def _bars(self) -> list[tuple[str, float]]:
        tokens, _ = self._likely[-1]
        shares = shares_at(tokens, self._temperature)
        return [(token.label, share) for token, share in zip(tokens[:BARS], shares, strict=False)]

    def _head_html(self) -> str:
        text = f"<p dir='auto'>{text_html(self._text)}<b>{text_html(text_of(self._appended))}</b></p>"
        return f'{NEXT_SHEET}<div class="jctx-next">{text}<p>{text_html(self._how)}</p></div>'

    def _draw(self) -> None:
        bars = self._bars()
        self._head.value, self._page.value = self._head_html(), _bars_html(bars)
        for (label, share), append in zip(bars, self._buttons, strict=False):
            append.description, append.tooltip = label, f"append: {percent_of(share)}"
        self._column.children = self._buttons[: len(bars)]
        self._output.update()

    def _build(self) -> None:
        import ipywidgets

        self._head, self._page, self._line = (ipywidgets.HTML() for _ in range(3))
        row = ipywidgets.Layout(width="auto", height=f"{BAR_HEIGHT - 4}px", margin="2px")
        acts = [partial(self._append, place) for place in range(BARS)]
        self._buttons = [button(partial(self._tell, act), ["next-token"], row) for act in acts]
        scale: dict[str, Any] = {"value": self._temperature, "min": 0.0, "max": 2.0, "step": 0.05}
        self._field = ipywidgets.BoundedFloatText(description="Temperature", continuous_update=True, **scale)
        self._field.layout.width, self._field.style.description_width = "11em", "initial"
        self._field.observe(self._slid, "value")
        slider = ipywidgets.FloatSlider(readout=False, layout={"width": "9em"}, **scale).add_class("jctx-slider")
        self._link = ipywidgets.jslink((slider, "value"), (self._field, "value"))
        back = button(partial(self._tell, self._back), ["back"], description="Back")
        self._column = ipywidgets.VBox(layout={"width": "9em", "flex": "0 0 auto"})
        controls = ipywidgets.HBox([self._field, slider, back], layout={"flex_flow": "row wrap"})
        bars = ipywidgets.HBox([self._column, self._page])
        self.widget: Any = ipywidgets.VBox([self._head, controls, bars, self._line]).add_class(LIVE)
        self._page.layout.flex = "1 1 auto"
        for part in (self._head, self._page, self._line, controls, bars, self.widget):
            part.layout.overflow = "visible"


def _bars_html(bars: Sequence[tuple[str, float]]) -> str:
    """Return the bars, each with its token, which the buttons beside a live one say."""
    rows = (
        f'<div class="jctx-odds"><code>{text_html(label)}</code><i style="width:{60 * share:.2f}%"></i>'
        f"{percent_of(share)}</div>"
        for label, share in bars
    )
    return f'<div class="jctx-next">{"".join(rows)}</div>'
