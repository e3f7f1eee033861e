"""A notebook that carries answers in its metadata: what it carries, how that is written, and how it is read again.

It carries what models said, and fingerprints of what was asked. A notebook comes from anybody, so that it is read
within bounds, into values that can set nothing.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from ..context.logprobs import TokenLogprob
from ..conversation.messages import StopReason
from ..conversation.text_safety import clean
from ..errors import InvalidRequestError
from ..runtime.frontend import fingerprint
from .notebook_file import whole_text
from .openai_messages import EXPORT_KEY, dumped, find, found_in

HANDOUT = "handout"
MOST_READ = 200_000_000  # bytes of a notebook
NOT_CARRIED = ("papermill", "widgets")  # of a notebook's metadata: paths of files, and what no output shows


@dataclass(frozen=True, slots=True)
class HandoutAnswer:
    """An answer, and what it answers.

    key: fingerprint of a prompt with its files and its model's name; of a row of a map, the digest of its request
    asked: fingerprint of the cell that asked
    before: fingerprint of the turns that stood before the prompt
    repeat: number of the answer among those to the same row
    text, thinking, stop_reason: as of a reply
    truncated: whether a part of the request was left out or not read, or the answer was cut
    tokens: the answer's tokens with their probabilities, where these were asked for
    """

    key: str
    asked: str = ""
    before: str = ""
    repeat: int = 0
    text: str = ""
    thinking: str = ""
    stop_reason: StopReason = "stop"
    truncated: bool = False
    tokens: tuple[TokenLogprob, ...] = ()


@dataclass(frozen=True, slots=True)
class Handout:
    """What a notebook carries: answers, and the fingerprints of the cells that were answered."""

    cells: tuple[str, ...] = ()
    answers: tuple[HandoutAnswer, ...] = ()


def notebook_in(path: Path) -> dict[str, Any]:
    """Return a saved notebook; an empty one for a file that is none, or too large."""
    try:
        text = path.read_text("utf-8") if path.stat().st_size <= MOST_READ else ""
    except (OSError, UnicodeDecodeError):
        text = ""
    return found_in(text)


def cell_texts(notebook: Mapping[str, Any]) -> dict[str, str]:
    """Return the texts of a notebook's cells by their fingerprints."""
    texts = (whole_text(cell, "source") for cell in find(list, notebook, "cells"))
    return {fingerprint(text): text for text in texts}


def with_handout(notebook: Mapping[str, Any], handout: Handout) -> str:
    """Return the text of a notebook that carries these answers."""
    import msgspec

    metadata = find(dict, notebook, "metadata")
    ours = {**find(dict, metadata, EXPORT_KEY), HANDOUT: msgspec.to_builtins(handout)}
    return dumped({**notebook, "metadata": {**metadata, EXPORT_KEY: ours}})


def is_handout(text: str) -> bool:
    """Return whether a notebook's text carries answers."""
    return HANDOUT in found_in(text, "metadata", EXPORT_KEY)


def answers_in(notebook: Mapping[str, Any]) -> tuple[HandoutAnswer, ...]:
    """Return the answers that a notebook carries. Raises InvalidRequestError."""
    import msgspec

    ours = find(dict, notebook, "metadata", EXPORT_KEY)
    if HANDOUT not in ours:
        return ()
    try:
        handout = msgspec.convert(ours[HANDOUT], Handout)
    except (ValueError, RecursionError):  # ValidationError is a ValueError
        raise InvalidRequestError("they are damaged, or of another release of jupyter_ctx") from None
    if not cell_texts(notebook).keys() & handout.cells:
        raise InvalidRequestError("they are of another notebook, or all of its chat cells were changed")
    return tuple(map(_checked, handout.answers))


def _checked(answer: HandoutAnswer) -> HandoutAnswer:
    """Return an answer in whose texts and figures nothing is that none has."""
    logprobs = (token.logprob for written in answer.tokens for token in (written.token, *written.top_logprobs))
    are_finite = all(logprob is not None and math.isfinite(logprob) for logprob in logprobs)
    tokens = answer.tokens if are_finite else ()
    return replace(answer, text=clean(answer.text), thinking=clean(answer.thinking), tokens=tokens)
