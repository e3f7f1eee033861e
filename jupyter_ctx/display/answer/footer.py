"""What is folded around an answer: its thinking text above it, and below it the line with its tokens and seconds."""

from __future__ import annotations

from dataclasses import dataclass

from ...context.usage import Usage
from ...wording import dollars, fill_share
from ..text import QUIET, text_html

FOOTER_STYLE = f"font-size:85%;margin:.4em 0;{QUIET}"
MAX_GROWING = 2_000  # characters shown while the text grows: its end
MAX_THINKING = 50_000  # characters shown in a finished answer
THOUGHT_STYLE = (
    "white-space:pre-wrap;overflow-wrap:anywhere;max-height:20em;overflow-y:auto;font-size:90%;margin:.3em 0"
)


@dataclass(frozen=True, slots=True)
class Footer:
    """The figures of one reply; ``cost`` in US dollars, ``seconds`` from sending to the last piece.

    ``fill`` is the share of the context window's limit that is used after the reply, ``guess``: by an estimate.
    ``notes`` are routine remarks, such as where the reply ended, as phrases without a period: they stay readable where
    no figure is known. ``broken`` says of a reply that is not whole what ended it; where it is shown as text, the error
    below it says the same. ``is_free``: nobody bills the model.
    """

    model: str = ""
    usage: Usage | None = None
    seconds: float | None = None
    cost: float | None = None
    stop_reason: str = ""
    fill: float | None = None
    guess: bool = False
    notes: tuple[str, ...] = ()
    broken: str = ""
    is_free: bool = False


def footer_html(footer: Footer, *, priced: bool = False) -> str:
    """Return the line with what it unfolds to; ``""`` when there is nothing to say. ``priced``: as footer_line.

    The figures are apart from the words: where the chip is in sight, the labextension hides them.
    """
    figures, rows = footer_line(footer, priced=priced), _rows(footer)
    words = " · ".join(filter(None, (footer.broken, *footer.notes)))
    between = " · " if figures and words else ""
    line = f'<span class="jctx-figures">{text_html(figures)}{between}</span>' if figures else ""
    line += text_html(words)
    if not line:
        return ""
    if not (figures and rows):
        return f'<div class="jctx-footer" style="{FOOTER_STYLE}">{line}</div>'
    body = "".join(f"<div>{text_html(f'{name}: {value}')}</div>" for name, value in rows)
    return f'<details class="jctx-footer" style="{FOOTER_STYLE}"><summary>{line}</summary>{body}</details>'


def footer_line(footer: Footer, *, priced: bool = False) -> str:
    """Return the share and the figures of the line, as far as they are known; ``priced``: the cost, too."""
    usage = footer.usage
    parts = [] if footer.fill is None else [fill_share(footer.fill, about=footer.guess)]
    parts += [f"{usage.input_tokens:,} in", f"{usage.output_tokens:,} out"] if usage else []
    parts += [] if footer.seconds is None else [in_seconds(footer.seconds)]
    parts += [dollars(footer.cost)] if priced and footer.cost is not None else []
    return " · ".join(parts)


def remarks(footer: Footer | None) -> list[str]:
    """Return the routine remarks as sentences, for forms without a footer."""
    return [f"{note[:1].upper()}{note[1:]}." for note in footer.notes] if footer else []


def _rows(footer: Footer) -> list[tuple[str, str]]:
    """Return the known figures as (name, value)."""
    usage = footer.usage or Usage(0, 0)
    cached, share = usage.cache_read_tokens, usage.cache_read_tokens / max(1, usage.input_tokens)
    about = "~" if usage.guessed else ""
    cost = "free" if footer.is_free else "unknown" if footer.usage else ""
    rows = [
        ("Tokens", f"{usage.input_tokens:,} in, {usage.output_tokens:,} out" if footer.usage else ""),
        ("Time", in_seconds(footer.seconds) if footer.usage and footer.seconds is not None else ""),
        ("Cost", cost if footer.cost is None else dollars(footer.cost)),
        ("Read from the cache", f"{cached:,} tokens ({100 * share:.0f} % of the input)" if cached else ""),
        ("Written to the cache", f"{usage.cache_write_tokens:,} tokens" if usage.cache_write_tokens else ""),
        ("Thinking", f"{about}{usage.reasoning_tokens:,} tokens of the output" if usage.reasoning_tokens else ""),
        ("Model", footer.model),
        ("Stop reason", footer.stop_reason),
    ]
    return [(name, value) for name, value in rows if value]


def in_seconds(seconds: float) -> str:
    """Return how long something took."""
    return f"{seconds:.1f} s" if seconds < 60 else duration(round(seconds))


def duration(seconds: float) -> str:
    """Return a time in whole seconds."""
    minutes, rest = divmod(int(seconds), 60)
    return f"{minutes:,} min {rest:02} s" if minutes else f"{rest} s"


def thinking_html(thought: str, tokens: int | None = None) -> str:
    """Return the thinking text of a finished answer; ``tokens`` is the provider's count, or ``None``."""
    more = len(thought) - MAX_THINKING
    left_out = f"({more:,} characters more)" if more > 0 else ""
    return _folded(f"Thought for {_amount(thought, tokens)}", thought[:MAX_THINKING], left_out)


def growing_html(thought: str, answered: bool) -> str:
    """Return the end of a growing thinking text."""
    amount = _amount(thought, None)
    summary = f"Thought for {amount}" if answered else f"Thinking… ({amount}, {len(thought):,} characters)"
    return _folded(summary, thought[-MAX_GROWING:])


def _amount(thought: str, tokens: int | None) -> str:
    return f"{tokens:,} tokens" if tokens else f"~{max(1, len(thought) // 4):,} tokens"


def _folded(summary: str, text: str, below: str = "") -> str:
    """Return a thinking text, folded; no text, nothing."""
    box = f'<div dir="auto" tabindex="0" style="{THOUGHT_STYLE}">{text_html(text)}</div>'
    return f'<details class="jctx-thinking"><summary>{summary}</summary>{box}{below}</details>' if text else ""
