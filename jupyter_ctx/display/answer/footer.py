"""What is folded around an answer: its thinking text above it, and below it the line with its tokens and seconds."""

from __future__ import annotations

from dataclasses import dataclass

from ...context.usage import Usage
from ...wording import dollars
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

    ``share`` says how much of the context window's limit is used after the reply. ``notes`` are routine remarks, such
    as where the reply ended, as phrases without a period: they stay readable where no figure is known. ``broken`` says
    of a reply that is not whole what ended it; where it is shown as text, the error below it says the same.
    ``is_free``: nobody bills the model. ``settings`` are those that were sent.
    """

    model: str = ""
    usage: Usage | None = None
    seconds: float | None = None
    cost: float | None = None
    stop_reason: str = ""
    share: str = ""
    notes: tuple[str, ...] = ()
    broken: str = ""
    is_free: bool = False
    settings: str = ""


def footer_html(footer: Footer) -> str:
    """Return the line with what it unfolds to; ``""`` when there is nothing to say.

    The figures are apart from the words: where the chip is in sight, the labextension hides them.
    """
    figures, rows = footer_line(footer), _rows(footer)
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


def footer_line(footer: Footer) -> str:
    """Return the share and the figures of the line, as far as they are known."""
    usage = footer.usage
    parts = [footer.share] if footer.share else []
    parts += [f"{usage.input_tokens:,} in", f"{usage.output_tokens:,} out"] if usage else []
    parts += [] if footer.seconds is None else [in_seconds(footer.seconds)]
    parts += [dollars(footer.cost)] if footer.cost is not None else []
    return " · ".join(parts)


def remarks(footer: Footer | None) -> list[str]:
    """Return the routine remarks as sentences, for forms without a footer."""
    return [f"{note[:1].upper()}{note[1:]}." for note in footer.notes] if footer else []


def _rows(footer: Footer) -> list[tuple[str, str]]:
    """Return the known figures as (name, value)."""
    usage = footer.usage or Usage(0, 0)
    cached, written = (0, 0) if footer.is_free else (usage.cache_read_tokens, usage.cache_write_tokens)
    share = cached / max(1, usage.input_tokens)
    about = "~" if usage.guessed else ""
    cost = "free" if footer.is_free else "unknown" if footer.usage else ""
    rows = [
        ("Tokens", f"{usage.input_tokens:,} in, {usage.output_tokens:,} out" if footer.usage else ""),
        ("Time", in_seconds(footer.seconds) if footer.usage and footer.seconds is not None else ""),
        ("Cost", cost if footer.cost is None else dollars(footer.cost)),
        ("Read from the cache", f"{cached:,} tokens ({100 * share:.0f} % of the input)" if cached else ""),
        ("Written to the cache", f"{written:,} tokens" if written else ""),
        ("Thinking", f"{about}{usage.reasoning_tokens:,} tokens of the output" if usage.reasoning_tokens else ""),
        ("Model", footer.model),
        ("Settings", footer.settings),
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
    return _folded(thought, thought[:MAX_THINKING], tokens, below=f"({more:,} characters more)" if more > 0 else "")


def growing_html(thought: str, answered: bool) -> str:
    """Return the end of a growing thinking text."""
    return _folded(thought, thought[-MAX_GROWING:], begin="Thought for" if answered else "Thinking…")


def _folded(thought: str, shown: str, tokens: int | None = None, begin: str = "Thought for", below: str = "") -> str:
    """Return what is shown of a thinking text, folded below its length; no text, nothing."""
    length = f"{tokens:,} tokens" if tokens else f"~{max(1, len(thought) // 4):,} tokens"
    box = f'<div dir="auto" tabindex="0" style="{THOUGHT_STYLE}">{text_html(shown)}</div>'
    folded = f'<details class="jctx-thinking"><summary>{begin} {length}</summary>{box}{below}</details>'
    return folded if thought else ""
