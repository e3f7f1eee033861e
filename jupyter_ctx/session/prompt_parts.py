"""The parts of a prompt: what was typed, and each thing that went with it, with its tokens; and tables with them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from ..context.compaction import NOTHING_WITHIN, Within
from ..context.tokens import Meter
from ..conversation.messages import Attachment, Turn, file_tokens
from ..display.tables import TableRow, shortened, table_text
from ..wording.layout import line_width

PART_MARK = "↳ "  # begins the line of a part
ASIDES = re.compile(r" \(about [\d,]+ tokens?\)|, about [\d,]+ tokens?|; -a .* sends more")  # of a source
MOST_PART_LINE = 200  # characters of a name
CELL_SOURCE = re.compile(r"(?:In\[\d+\]|text above (?:In\[\d+\]|this cell))(?= \(|\Z)")  # a cell of the notebook


class PromptPart(NamedTuple):
    """What was typed, or one thing that went with a prompt.

    ``source``: its name, with what was sent of what; empty: what was typed.
    ``text``, ``files``: as sent.
    ``tokens``: its size; the parts of a message sum to that of the message.
    """

    source: str
    text: str
    files: tuple[Attachment, ...] = ()
    tokens: int = 0

    @property
    def line(self) -> str:
        """What it is, as a line below its message; its tokens stand beside it."""
        return shortened(f"{PART_MARK}{ASIDES.sub('', self.source) or 'typed'}", MOST_PART_LINE)


@dataclass(slots=True)
class TableWithParts:
    """A table as it is shown in every form: its heads, the caption above it, and its rows; a str is a line across it.

    ``parts``: the parts of prompts that have a row of their own, by its index.
    """

    head: TableRow
    caption: str
    rows: list[TableRow | str] = field(default_factory=list)
    parts: dict[int, PromptPart] = field(default_factory=dict)

    def add(self, row: TableRow | str, part: PromptPart | None = None) -> None:
        """Append a row, or that of a part below its message."""
        if part is not None:
            self.parts[len(self.rows)] = part
        self.rows.append(row)

    def __str__(self) -> str:
        return f"{self.caption}\n{table_text(self.head, self.rows, line_width())}" if self.rows else self.caption


def prompt_parts(turn: Turn, tokens: int, meter: Meter) -> tuple[PromptPart, ...]:
    """Return the parts of a turn's prompt, which share its ``tokens``; none where nothing went with it."""
    if not turn.sources:
        return ()
    typed, *along = divided(turn)
    sizes = [meter.tokens(part.text) + file_tokens(part.files, meter.vision) for part in along]
    shares = _shares(sizes, meter.tokens(typed.text), tokens)
    first = typed._replace(tokens=tokens - sum(shares))  # with what a message has around it
    return (first, *(part._replace(tokens=share) for part, share in zip(along, shares, strict=True)))


def _shares(sizes: Sequence[float], rest: float, tokens: float) -> list[int]:
    """Return estimated sizes as whole tokens which leave room for the rest of as many ``tokens``."""
    scale = min(1.0, tokens / max(1.0, sum(sizes) + rest))
    return [int(scale * size) for size in sizes]


def asked_and_answered(turn: Turn, meter: Meter) -> tuple[float, float, bool]:
    """Return the tokens of a turn's prompt and of what answers it, and whether they are those that were reported."""
    attached = file_tokens(turn.attachments, meter.vision)
    returned = file_tokens(turn.files, meter.vision) - attached if turn.rounds else 0.0
    asked, said = meter.turn_parts(turn.id, turn.prompt, turn.answered, attached, returned)
    answered = turn.usage.output_tokens - turn.usage.reasoning_tokens if turn.usage is not None else 0
    is_whole = meter.counted(turn.id) and not turn.rounds and 0 < answered < asked + said
    if not is_whole:  # both halves were reported, and not their sum alone
        return asked, said, False
    return asked + said - answered, answered, True


def answer_parts(turn: Turn, tokens: float, meter: Meter) -> tuple[PromptPart, ...]:
    """Return the calls before a turn's reply, with their results, and the reply, which share ``tokens``.

    None where nothing was called.
    """
    pairs = [pair for each in turn.rounds for pair in zip(each.calls, each.results, strict=True)]
    sizes = [
        meter.tokens(f"{call.name}{call.arguments}{result.text}") + file_tokens(result.attachments, meter.vision)
        for call, result in pairs
    ]
    shares = _shares(sizes, meter.tokens(turn.reply), tokens)
    calls = [
        PromptPart(f"{call} → {result.brief}", result.text, result.attachments, share)
        for (call, result), share in zip(pairs, shares, strict=True)
    ]
    return (*calls, PromptPart("reply", turn.reply, tokens=round(tokens) - sum(shares))) if calls else ()


def tokens_within(turn: Turn, meter: Meter) -> Within:
    """Return how many tokens of a turn are cells of the notebook, and calls of functions with their results."""
    has_cells = any(map(CELL_SOURCE.match, turn.sources))
    if not has_cells and not turn.rounds:
        return NOTHING_WITHIN
    asked, answered, _ = asked_and_answered(turn, meter)
    parts = prompt_parts(turn, round(asked), meter) if has_cells else ()
    cells = sum(part.tokens for part in parts if CELL_SOURCE.match(part.source))
    return Within(cells, sum(part.tokens for part in answer_parts(turn, answered, meter)[:-1]))


def divided(turn: Turn) -> Iterator[PromptPart]:
    """Yield the parts; of a turn that does not tell where they end, such as one of a file, all that was not typed."""
    typed, files = turn.typed, turn.attachments
    yield PromptPart("", typed)
    rest = turn.prompt[len(typed) :].removeprefix("\n\n")
    extents = turn.record.extents if turn.record.sources else ((0, 1),) * len(files)
    if len(extents) != len(turn.sources):
        yield PromptPart(", ".join(turn.sources), rest, files)
        return
    for source, (length, count) in zip(turn.sources, extents, strict=True):
        yield PromptPart(source, rest[:length], files[:count])
        rest, files = rest[length:].removeprefix("\n\n"), files[count:]
