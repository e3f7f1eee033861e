"""What goes with a prompt: values, files and errors as they are sent to a conversation's model."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

from ..attachments.attached import Attached
from ..conversation.messages import file_tokens
from ..errors import ChatInterrupted, InvalidRequestError
from .prompt import Prompt, attached_parts
from .send import stopped
from .session import Session
from .stored import room_for, turn_so_far, turns_before
from .view import CELL_SOURCE, divided

if TYPE_CHECKING:
    from ..attachments.errors import Failure
    from ..attachments.notebook_cells import RanCell

MANY_CELLS = 4  # from which on cells of the notebook are told in one
TOLD_TOKENS = re.compile(r"\babout ([\d,]+) tokens?")
ABOUT_TOKENS = re.compile(r"\babout (?=[\d,]+ tokens?)")


class Along(NamedTuple):
    """What goes with a prompt: each thing with what is sent of it and its tokens."""

    parts: tuple[Attached, ...] = ()

    @property
    def line(self) -> str:
        """All of it in one line; empty: nothing goes along."""
        cells = [part for part in self.parts if CELL_SOURCE.fullmatch(part.name)]
        names = [
            ABOUT_TOKENS.sub("~", part.said) for part in self.parts if len(cells) < MANY_CELLS or part not in cells
        ]
        names += [_in_one(cells)] if len(cells) >= MANY_CELLS else []
        listed = " and ".join(filter(None, [", ".join(names[:-1]), *names[-1:]]))
        return f"With {listed}." if names else ""


def _in_one(cells: Sequence[Attached]) -> str:
    """Return cells of the notebook in words, with their tokens in all."""
    tokens = sum(int(size.replace(",", "")) for cell in cells for size in TOLD_TOKENS.findall(cell.what))
    changed = sum(cell.is_changed for cell in cells)
    shortened = f", {changed} of them shortened" if changed else ""
    names = [cell.name for cell in cells if cell.name.startswith("In[")] or [cell.name for cell in cells]
    return f"{len(cells)} cells, {names[0]} to {names[-1]} (~{tokens:,} tokens{shortened})"


def attachment_of(
    session: Session, name: str, value: Any, *, among: int = 1, redact: bool = True, **options: Any
) -> Attached:
    """Return a value as it goes with a prompt, as ``attachments`` of ``Chat.send`` take it, named ``name``.

    A picture is sent as an image, a table as its shape, columns and first and last rows, anything else as text,
    in the room that the setting ``attach_share`` leaves it. What looks like a key, or is named like one, is
    blanked unless ``redact`` is false. ``among`` is how many things go with the prompt: together they take half of
    the limit at most. ``options`` are the settings of the request. Raises InvalidRequestError.
    """
    from ..attachments.attached_values import attached_value

    return attached_value(name, value, room_for(session, options, among), session.redactor(on=redact))


def attachments_of_cells(
    session: Session, cells: Sequence[RanCell], asked: Prompt, *, redact: bool = True
) -> tuple[Attached, ...]:
    """Return cells of the notebook as they go with a prompt, without what the request that was ``asked`` for holds."""
    from ..attachments.notebook_cells import attached_cells

    parts = (part for turn in turns_before(session, asked) if turn.sources for part in divided(turn))
    sent = [(part.text, part.files) for part in parts if part.source]
    attach = partial(
        attached_cells, room=room_for(session, asked.options), redactor=session.redactor(on=redact), sent=sent
    )
    before = turn_so_far(session, asked) if asked.stored is not None else None
    if before is not None:
        texts = _cell_texts((part.source, part.text) for part in divided(before))
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
    from ..attachments.errors import Failure, attached_error, failure_of

    if not isinstance(error, BaseException | Failure):
        raise InvalidRequestError(f"{error!r} is not an exception: catch one with `except Exception as error:`.")
    failure = failure_of(error) if isinstance(error, BaseException) else error
    return attached_error(failure, room_for(session, options), session.redactor(on=redact))


def attachments_given(session: Session, given: Any, options: Mapping[str, Any]) -> tuple[Attached, ...]:
    """Return paths and values as attached things, files read. Raises InvalidRequestError, and ChatInterrupted."""
    try:
        parts = attached_parts(given, partial(room_for, session, options), session.redactor())
        attachment_sizes(session, parts, **options)
        return parts
    except KeyboardInterrupt:
        raise ChatInterrupted(stopped((), record=True)) from None


def attachment_sizes(session: Session, parts: Sequence[Attached], **options: Any) -> Along:
    """Return what goes with a prompt, each with its tokens.

    ``options`` are settings for the request. Raises InvalidRequestError where one text alone takes more than the limit,
    and for a file that cannot be sent.
    """
    if not parts:
        return Along()
    target = session.target(options, ask=any(part.files for part in parts))  # a server may say that it reads text only
    target.check_files(file for part in parts for file in part.files)
    sized = list[Attached]()
    for part in parts:
        tokens = math.ceil(target.meter.tokens(part.text)) if part.text else 0
        if tokens > target.limit:
            raise InvalidRequestError(
                f"{part.name} has about {tokens:,} tokens, and a prompt to {target.settings.model} may have "
                f"{target.limit:,}: attach a part of it; of a DataFrame (-a df), an extract is sent. Nothing was sent."
            )
        whole = f"about {tokens + file_tokens(part.files, target.meter.vision):,} tokens"
        sized.append(replace(part, what=part.what or whole))
    return Along(tuple(sized))


def left_out(session: Session, parts: Sequence[Attached], options: Mapping[str, Any]) -> tuple[str, ...]:
    """Return lines about what was left out of attachments, or blanked in them."""
    blanked = tuple(line for part in parts for line in part.notices)
    if not any(part.is_changed for part in parts):
        return blanked
    return (attachment_sizes(session, parts, **options).line, *blanked)
