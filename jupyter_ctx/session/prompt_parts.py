"""The parts of a prompt: what was typed, and each thing that went with it, with its tokens; and tables with them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

from ..context.compaction import NOTHING_WITHIN, Within
from ..context.context_info import segments_of
from ..context.tokens import Meter
from ..conversation.messages import Attachment, Turn, file_tokens
from ..display.tables import TableRow, shortened, table_text
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
    typed, *along = parts = tuple(divided(turn))
    texts = [meter.tokens(part.text) for part in along]
    around = meter.message(turn.prompt) - sum(texts)  # what was typed, and what a message has around it
    files = (file_tokens(part.files, meter.vision) for part in along)
    sizes = [max(around, meter.tokens(typed.text), _LEAST), *map(sum, zip(texts, files, strict=True))]
    scale = tokens / sum(sizes)
    shares = segments_of((part.source, scale * size) for part, size in zip(parts, sizes, strict=True))
    return tuple(part._replace(tokens=share.tokens) for part, share in zip(parts, shares, strict=True))


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


def turn_parts(turn: Turn, meter: Meter) -> tuple[PromptPart, ...]:
    """Return the parts of a turn: of its prompt, and the calls before its reply; none where it has no such parts."""
    if not turn.sources and not turn.rounds:
        return ()
    asked, answered, _ = asked_and_answered(turn, meter)
    prompt = prompt_parts(turn, round(asked), meter)
    if turn.rounds and not prompt:
        prompt = (PromptPart("", turn.prompt, tokens=round(asked)),)
    return (*prompt, *call_parts(turn, answered, meter))


def call_parts(turn: Turn, tokens: float, meter: Meter) -> tuple[PromptPart, ...]:
    """Return the calls before a turn's reply with their results: parts of the ``tokens`` of all that answers."""
    pairs = [pair for each in turn.rounds for pair in zip(each.calls, each.results, strict=True)]
    if not pairs:
        return ()
    sizes = [
        meter.tokens(f"{call.name}{call.arguments}{result.text}") + file_tokens(result.attachments, meter.vision)
        for call, result in pairs
    ]
    scale = tokens / max(1.0, sum(sizes) + meter.tokens(turn.reply))
    return tuple(
        PromptPart(f"{call} → {result.brief}", result.text, result.attachments, round(scale * size))
        for (call, result), size in zip(pairs, sizes, strict=True)
    )


def tokens_within(turn: Turn, meter: Meter) -> Within:
    """Return how many tokens of a turn are cells of the notebook, and calls of functions with their results."""
    has_cells = any(map(CELL_SOURCE.match, turn.sources))
    if not has_cells and not turn.rounds:
        return NOTHING_WITHIN
    asked, answered, _ = asked_and_answered(turn, meter)
    parts = prompt_parts(turn, round(asked), meter) if has_cells else ()
    cells = sum(part.tokens for part in parts if CELL_SOURCE.match(part.source))
    calls = sum(part.tokens for part in call_parts(turn, answered, meter))
    return Within(cells, min(calls, answered))


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
