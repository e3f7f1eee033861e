"""The line below an answer with its tokens and seconds, which unfolds to its cost, cache and model."""

from __future__ import annotations

from dataclasses import dataclass

from ...context.usage import Usage
from ...wording import dollars
from ..text import text_html

# only a CSS variable gives a muted colour that is readable on both white and black
FOOTER_STYLE = "font-size:85%;margin:.4em 0;color:var(--jp-ui-font-color2,inherit)"


@dataclass(frozen=True, slots=True)
class Footer:
    """The figures of one reply; ``cost`` in US dollars, ``seconds`` from sending to the last piece.

    ``blocks`` are the code blocks that may be chosen from; 0: there is nothing to choose. ``fill`` is the share of the
    context window's limit that is used after the reply, ``guess``: by an estimate. ``notes`` are routine remarks,
    such as where the reply ended, as phrases without a period: they stay readable where no figure is known. ``broken``
    says of a reply that is not whole what ended it; where it is shown as text, the error below it says the same.
    """

    model: str = ""
    usage: Usage | None = None
    seconds: float | None = None
    cost: float | None = None
    stop_reason: str = ""
    blocks: int = 0
    fill: float | None = None
    guess: bool = False
    notes: tuple[str, ...] = ()
    broken: str = ""


def footer_html(footer: Footer, *, priced: bool = False) -> str:
    """Return the line with what it unfolds to; ``""`` when there is nothing to say. ``priced``: as footer_line."""
    figures, rows = footer_line(footer, priced=priced), _rows(footer)
    line = " · ".join(filter(None, (figures, footer.broken, *footer.notes)))
    if not (figures and rows):
        return f'<div class="jctx-footer" style="{FOOTER_STYLE}">{text_html(line)}</div>' if line else ""
    body = "".join(f"<div>{text_html(f'{name}: {value}')}</div>" for name, value in rows)
    return f'<details class="jctx-footer" style="{FOOTER_STYLE}"><summary>{text_html(line)}</summary>{body}</details>'


def footer_line(footer: Footer, *, priced: bool = False) -> str:
    """Return the figures of the line, as far as they are known; ``priced``: the cost, too."""
    usage = footer.usage
    parts = [f"{usage.input_tokens:,} in", f"{usage.output_tokens:,} out"] if usage else []
    parts += [] if footer.seconds is None else [_seconds(footer.seconds)]
    parts += [f"{'~' if footer.guess else ''}{100 * footer.fill:,.0f} % full"] if footer.fill is not None else []
    parts += [dollars(footer.cost)] if priced and footer.cost is not None else []
    parts += [f"{footer.blocks:,} code blocks: %chat code"] if footer.blocks else []
    return " · ".join(parts)


def remarks(footer: Footer | None) -> list[str]:
    """Return the routine remarks as sentences, for forms without a footer."""
    return [f"{note[:1].upper()}{note[1:]}." for note in footer.notes] if footer else []


def _rows(footer: Footer) -> list[tuple[str, str]]:
    """Return the known figures as (name, value)."""
    usage = footer.usage or Usage(0, 0)
    cached, share = usage.cache_read_tokens, usage.cache_read_tokens / max(1, usage.input_tokens)
    about = "~" if usage.guessed else ""
    rows = [
        ("Cost", dollars(footer.cost) if footer.cost is not None else "unknown" if footer.usage else ""),
        ("Read from the cache", f"{cached:,} tokens ({100 * share:.0f} % of the input)" if cached else ""),
        ("Written to the cache", f"{usage.cache_write_tokens:,} tokens" if usage.cache_write_tokens else ""),
        ("Thinking", f"{about}{usage.reasoning_tokens:,} tokens of the output" if usage.reasoning_tokens else ""),
        ("Model", footer.model),
        ("Stop reason", footer.stop_reason),
    ]
    return [(name, value) for name, value in rows if value]


def _seconds(seconds: float) -> str:
    if seconds < 60:
        return f"{seconds:.1f} s"
    return f"{int(seconds // 60):,} min {seconds % 60:02.0f} s"
