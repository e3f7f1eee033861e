"""The likeliest next tokens of a text as bars: drawn anew for a temperature and for top-p, and appended by a click.

The sliders ask nobody: every share is computed from the log-probabilities that the model told.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple

from ...context.logprobs import Token, kept_by, shares_at, text_of
from ..tables import table
from ..text import spoken_html, text_html
from .clicks import button, low_layout, tried
from .static_twin import LIVE, Twin, close_widgets, show

BARS, TOKEN_DRAWS, BAR_HEIGHT = 10, 20, 28  # tokens that are shown, draws at a time, pixels of a row
NEXT_HEAD = ("next token", "share", "draws")
NEXT_SHEET = (
    "<style>"
    ".jctx-next{font-size:13px;line-height:1.5}.jctx-next p{margin:0;white-space:pre-wrap;overflow-wrap:anywhere}"
    ".jctx-next b{border-bottom:2px solid #1976d2;font-weight:inherit}"
    f".jctx-odds{{height:{BAR_HEIGHT}px;display:flex;align-items:center;gap:6px;font-size:12px;white-space:nowrap}}"
    ".jctx-odds i{height:14px;min-width:1px;background:#1976d2}.jctx-odds code{width:9em;overflow:hidden}"
    ".jctx-cut-off i{background:repeating-linear-gradient(45deg,#7777 0 3px,transparent 3px 6px)}"
    f".{LIVE} .jctx-odds code{{display:none}}"  # there are buttons
    # a slider's handle has no name: its sign can be dragged, and keys and screen readers get the field beside it
    ".jctx-slider .noUi-handle{visibility:hidden}"
    ".jctx-slider .noUi-handle::before{visibility:visible;content:'';display:block;inset:0;width:auto;height:auto;"
    "border:1px solid;border-radius:50%;background:var(--jp-brand-color1,#1976d2)}"
    "</style>"
)


Likely = tuple[Sequence[Token], str]  # the tokens that may come next, the likeliest first, and whose they are, in words


class TokenBar(NamedTuple):
    """A token, its share, how many draws it had, and whether top-p cuts it."""

    label: str
    share: float
    draws: int
    is_cut: bool

    @property
    def cells(self) -> tuple[str, str, str]:
        """Its cells below NEXT_HEAD."""
        cut = " cut" if self.is_cut else ""
        return self.label, f"{100 * self.share:.1f} %{cut}", f"{self.draws or ''}"

    @property
    def html(self) -> str:
        """Its row."""
        label, share, draws = self.cells
        kind = "jctx-odds jctx-cut-off" if self.is_cut else "jctx-odds"
        dots = f"● {draws}" if draws else ""
        width = f"{60 * self.share:.2f}%"
        return f'<div class="{kind}"><code>{text_html(label)}</code><i style="width:{width}"></i>{share} {dots}</div>'


class NextTokens:
    """A widget of the tokens that may follow a text; ``ask`` returns them, behind those that were appended so far."""

    def __init__(self, text: str, ask: Callable[[Sequence[Token]], Likely], temperature: float) -> None:
        self._text, self._ask = text, ask
        self._appended: list[Token] = []
        self._tokens, self._whose = ask(())
        self._temperature, self._top_p = temperature, 1.0
        self._drawn: Mapping[int, int] = {}
        self._twin: Twin | None = None

    def show(self) -> None:
        """Show the widget in the running cell, with its static twin above."""
        self._build()
        self._draw()
        self._twin = show(self.widget, self.forms())

    def close(self) -> None:
        """Show what there is, without its controls, from now on."""
        for widget in (self.widget, *self._buttons, *self._links):
            close_widgets(widget)

    def forms(self) -> dict[str, str]:
        """Return what is shown in static forms."""
        bars = self._bars()
        caption = f"{self._text}{text_of(self._appended)} … ({self._how})"
        plain = table(NEXT_HEAD, [bar.cells for bar in bars], caption)
        return {**plain, "text/html": f"{self._head_html()}{_bars_html(bars)}"}

    def append(self, place: int) -> None:
        """Append a token, and go on behind it."""
        self._tell(partial(self._go_on, self._tokens[place]))

    def sample(self) -> None:
        """Draw tokens at the temperature and top-p that are set, and mark where the draws fell."""
        shares = self._shares
        kept = range(kept_by(shares, self._top_p))
        self._drawn = Counter(random.choices(kept, shares[: len(kept)], k=TOKEN_DRAWS))
        others = sum(count for place, count in self._drawn.items() if place >= BARS)
        self._tell(lambda: f"{TOKEN_DRAWS} tokens drawn: {TOKEN_DRAWS - others} of these, {others} others.")

    def _go_on(self, token: Token) -> str:
        self._tokens, self._whose = self._ask([*self._appended, token])
        self._appended.append(token)
        self._drawn = {}
        return f"{token.label} is appended."

    def _tell(self, act: Callable[[], str]) -> None:
        self._line.value = spoken_html(*tried(act))
        self._draw()

    def _slid(self, _change: object) -> None:
        self._temperature, self._top_p = (round(field.value, 2) for field in self._fields)
        self._drawn = {}
        self._draw()

    @property
    def _shares(self) -> Sequence[float]:
        return shares_at(self._tokens, self._temperature)

    @property
    def _how(self) -> str:
        how = f"{self._whose}; temperature {self._temperature:g}, top-p {self._top_p:g}"
        if self._temperature == 1:
            return how
        others = f"{max(0.0, 100 * (1 - sum(shares_at(self._tokens, 1)))):.2g} %"
        more = ", and more here" if self._temperature > 1 else ""
        return f"{how}; shares among {len(self._tokens):,} tokens: all others have {others} at temperature 1{more}"

    def _bars(self) -> list[TokenBar]:
        shares = self._shares
        kept = kept_by(shares, self._top_p)
        return [
            TokenBar(token.label, shares[place], self._drawn.get(place, 0), place >= kept)
            for place, token in enumerate(self._tokens[:BARS])
        ]

    def _head_html(self) -> str:
        text = f"<p dir='auto'>{text_html(self._text)}<b>{text_html(text_of(self._appended))}</b></p>"
        return f'{NEXT_SHEET}<div class="jctx-next">{text}<p>{text_html(self._how)}</p></div>'

    def _draw(self) -> None:
        bars = self._bars()
        self._head.value, self._page.value = self._head_html(), _bars_html(bars)
        for bar, append in zip(bars, self._buttons, strict=False):
            append.description, append.tooltip = bar.label, f"append: {bar.cells[1]}"
        self._column.children = self._buttons[: len(bars)]
        if self._twin is not None:
            self._twin.update(self.forms())

    def _build(self) -> None:
        import ipywidgets

        layout = ipywidgets.Layout
        self._head, self._page, self._line = (ipywidgets.HTML(layout=layout(overflow="visible")) for _ in range(3))
        self._page.layout.flex = "1 1 auto"
        row = layout(width="auto", height=f"{BAR_HEIGHT - 4}px", margin="2px")
        self._buttons = [button(partial(self.append, place), ["next-token"], row) for place in range(BARS)]
        self._fields = [
            _field("Temperature", self._temperature, 0.0, 2.0, self._slid),
            _field("Top-p", self._top_p, 0.05, 1.0, self._slid),
        ]
        sliders = [_slider(field) for field in self._fields]
        pairs = [*zip(self._fields, sliders, strict=True)]
        self._links = [ipywidgets.jslink((slider, "value"), (field, "value")) for field, slider in pairs]
        dials = [dial for pair in pairs for dial in pair]
        sample = button(self.sample, ["sample"], low_layout(), description=f"Sample ×{TOKEN_DRAWS}")
        self._column = ipywidgets.VBox(layout=layout(width="9em", flex="0 0 auto"))
        controls = ipywidgets.HBox([*dials, sample], layout=layout(flex_flow="row wrap", overflow="visible"))
        bars = ipywidgets.HBox([self._column, self._page], layout=layout(overflow="visible"))
        rows = [self._head, controls, bars, self._line]
        self.widget: Any = ipywidgets.VBox(rows, layout=layout(overflow="visible"))
        self.widget.add_class(LIVE)


def _bars_html(bars: Sequence[TokenBar]) -> str:
    return f'<div class="jctx-next">{"".join(bar.html for bar in bars)}</div>'


def _field(label: str, value: float, least: float, most: float, changed: Callable[[object], None]) -> Any:
    import ipywidgets

    field = ipywidgets.BoundedFloatText(
        value, min=least, max=most, step=0.05, description=label, continuous_update=True
    )
    field.layout.width, field.style.description_width = "11em", "initial"
    field.observe(changed, "value")
    return field


def _slider(field: Any) -> Any:
    import ipywidgets

    bounds = {"value": field.value, "min": field.min, "max": field.max, "step": field.step}
    slider = ipywidgets.FloatSlider(**bounds, readout=False, layout=ipywidgets.Layout(width="9em"))
    slider.add_class("jctx-slider")
    return slider
