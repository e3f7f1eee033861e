"""The parts of a prompt: what was typed, and each thing that went with it, with its tokens; and tables with them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from ..context.context_info import segments_of
from ..context.tokens import Meter
from ..conversation.messages import Attachment, Turn, file_tokens
from ..display.tables import shortened, table_text
from ..wording.layout import line_width

PART_MARK = "↳ "  # begins the line of a part
ASIDES = re.compile(r" \(about [\d,]+ tokens?\)|, about [\d,]+ tokens?|; -a .* sends more")  # of a source
MOST_PART_LINE = 200  # characters of a name
CELL_SOURCE = re.compile(r"(?:In\[\d+\]|text above (?:In\[\d+\]|this cell))(?= \(|\Z)")  # a cell of the notebook
_LEAST = 1e-9  # tokens, so that parts of no size share out what a message has


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


class RowWithParts(NamedTuple):
    """A row of a table, or a line across it, and the parts of its message, each with the row that stands below it."""

    cells: Sequence[str] | str
    parts: tuple[tuple[Sequence[str], PromptPart], ...] = ()


class TableWithParts(NamedTuple):
    """A table as it is shown in every form: its heads, its rows and the caption above it."""

    head: Sequence[str]
    rows: Sequence[RowWithParts]
    caption: str

    def __str__(self) -> str:
        lines = [line for row in self.rows for line in (row.cells, *(cells for cells, _ in row.parts))]
        return f"{self.caption}\n{table_text(self.head, lines, line_width())}" if lines else self.caption


def prompt_parts(turn: Turn, tokens: int, meter: Meter) -> tuple[PromptPart, ...]:
    """Return the parts of a turn's prompt, which share its ``tokens``; none where nothing went with it."""
    if not turn.sources:
        return ()
    typed, *along = parts = tuple(divided(turn))
    texts = [meter.tokens(part.text) for part in along]
    around = meter.message(turn.prompt) - sum(texts)  # what was typed, and what a message has around it
    files = (file_tokens(part.files, meter.vision) for part in along)
    sizes = [max(around, meter.tokens(typed.text), _LEAST), *map(sum, zip(texts, files, strict=True))]
    scale = tokens / sum(sizes)
    shares = segments_of((part.source, scale * size) for part, size in zip(parts, sizes, strict=True))
    return tuple(part._replace(tokens=share.tokens) for part, share in zip(parts, shares, strict=True))


def asked_and_answered(turn: Turn, meter: Meter) -> tuple[float, float, bool]:
    """Return the tokens of a turn's prompt and reply, and whether they are those that were reported."""
    files = file_tokens(turn.attachments, meter.vision)
    asked, said = meter.turn_parts(turn.id, turn.prompt, turn.reply, files)
    answered = turn.usage.output_tokens - turn.usage.reasoning_tokens if turn.usage is not None else 0
    if not (meter.counted(turn.id) and 0 < answered < asked + said):  # both halves, and not their sum alone
        return asked, said, False
    return asked + said - answered, answered, True


def cell_tokens(turn: Turn, meter: Meter) -> float:
    """Return how many tokens of a turn are cells of the notebook."""
    if not any(map(CELL_SOURCE.match, turn.sources)):
        return 0.0
    parts = prompt_parts(turn, round(asked_and_answered(turn, meter)[0]), meter)
    return sum(part.tokens for part in parts if CELL_SOURCE.match(part.source))


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
