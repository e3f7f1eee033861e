"""What goes with a prompt: values, files and errors as they are sent to a conversation's model."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

from ..attachments.attached import Attached
from ..conversation.messages import file_tokens
from ..errors import ChatInterrupted, InvalidRequestError
from .prompt import Prompt, attached_parts
from .session import STOPPED_EARLY, Session
from .stored import room_for, turns_around
from .view import CELL_SOURCE, divided

if TYPE_CHECKING:
    from ..attachments.errors import Failure
    from ..attachments.notebook_cells import RanCell

MANY_CELLS = 4  # from which on cells of the notebook are told in one
TOLD_TOKENS = re.compile(r"\babout ([\d,]+) tokens?")
ABOUT_TOKENS = re.compile(r"\babout (?=[\d,]+ tokens?)")


def along_line(parts: Sequence[Attached]) -> str:
    """Return what goes with a prompt in one line; many cells of the notebook are told together."""
    cells = [part for part in parts if CELL_SOURCE.fullmatch(part.name)]
    together = cells if len(cells) >= MANY_CELLS else []
    names = [ABOUT_TOKENS.sub("~", part.said) for part in parts if part not in together]
    if together:
        tokens = sum(int(size.replace(",", "")) for cell in cells for size in TOLD_TOKENS.findall(cell.what))
        names.append(f"{len(cells)} cells, {cells[0].name} to {cells[-1].name} (~{tokens:,} tokens)")
    listed = " and ".join(filter(None, [", ".join(names[:-1]), names[-1]]))
    return f"With {listed}."


def attachment_of(
    session: Session, name: str, value: Any, *, among: int = 1, redact: bool = True, **options: Any
) -> Attached:
    """Return a value as it goes with a prompt, one of so many things ``among`` which the room is divided.

    What looks like a key, or is named like one, is blanked unless ``redact`` is false. ``options`` are the settings of
    the request. Raises InvalidRequestError.
    """
    from ..attachments.attached_values import attached_value

    return attached_value(name, value, room_for(session, options, among), session.redactor(on=redact))


def attachments_of_cells(
    session: Session, cells: Sequence[RanCell], asked: Prompt, *, redact: bool = True
) -> tuple[Attached, ...]:
    """Return cells of the notebook as they go with a prompt, without what the request that was ``asked`` for holds."""
    from ..attachments.notebook_cells import attached_cells

    turns, own = turns_around(session, asked)
    parts = (part for turn in turns if turn.sources for part in divided(turn))
    sent = [(part.text, part.files) for part in parts if part.source]
    attach = partial(
        attached_cells, room=room_for(session, asked.options), redactor=session.redactor(on=redact), sent=sent
    )
    if own is not None:
        texts = _cell_texts((part.source, part.text) for part in divided(own))
        older = attach([cell for cell in cells if not cell.is_text or cell.code in texts])
        if _cell_texts((part.name, part.text) for part in older) == texts:
            return older  # Markdown cells that were saved since do not ask again
    return attach(cells)


def _cell_texts(parts: Iterable[tuple[str, str]]) -> set[str]:
    """Return the texts of the cells of the notebook among parts of a prompt, each with its name."""
    from ..attachments.notebook_cells import CELLS_TITLE

    return {text.removeprefix(CELLS_TITLE) for name, text in parts if CELL_SOURCE.match(name)}


def attachment_of_error(
    session: Session, error: BaseException | Failure, *, redact: bool = True, **options: Any
) -> Attached:
    """Return an exception as it goes with a prompt: its traceback in short, with causes, and without variables.

    ``redact`` and ``options`` are as for :func:`attachment_of`. Raises InvalidRequestError.
    """
    from ..attachments.errors import attached_error, failure_of

    failure = failure_of(error) if isinstance(error, BaseException) else error
    return attached_error(failure, room_for(session, options), session.redactor(on=redact))


def attachments_given(session: Session, given: Any, options: Mapping[str, Any]) -> tuple[Attached, ...]:
    """Return paths and values as attached things, files read. Raises InvalidRequestError, and ChatInterrupted."""
    try:
        parts = attached_parts(given, partial(room_for, session, options), session.redactor())
        if parts:
            attachment_sizes(session, parts, **options)
        return parts
    except KeyboardInterrupt:
        raise ChatInterrupted(STOPPED_EARLY) from None


def attachment_sizes(session: Session, parts: Sequence[Attached], **options: Any) -> list[Attached]:
    """Return what goes with a prompt, each with its tokens.

    ``options`` are settings for the request. Raises InvalidRequestError where one text alone takes more than the limit,
    and for a file that cannot be sent.
    """
    target = session.target(options, ask=any(part.files for part in parts))  # a server may say that it reads text only
    target.check_files(file for part in parts for file in part.files)
    named = list[Attached]()
    for part in parts:
        tokens = math.ceil(target.meter.tokens(part.text)) if part.text else 0
        if tokens > target.limit:
            raise InvalidRequestError(
                f"{part.name} has about {tokens:,} tokens, and a prompt to {target.settings.model} may have "
                f"{target.limit:,}: attach a part of it; of a DataFrame (-a df), an extract is sent. Nothing was sent."
            )
        whole = f"about {tokens + file_tokens(part.files, target.meter.vision):,} tokens"
        named.append(replace(part, what=part.what or whole))
    return named


def left_out(parts: Sequence[Attached]) -> tuple[str, ...]:
    """Return lines about what was left out of attachments, or blanked in them."""
    lines = [along_line(parts)] if any(part.is_changed for part in parts) else []
    return (*lines, *(line for part in parts for line in part.notices))
