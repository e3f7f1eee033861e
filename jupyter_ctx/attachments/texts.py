"""Fit the text of a value into its room: the beginning and the end, with a line about what is between them."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

from ..context.summary_facts import fenced
from ..errors import InvalidRequestError
from ..wording import counted
from .attached import Blanks, TextRoom
from .sketch import KEY_ROOM, Sketch

CHARACTERS_A_TOKEN = 12  # more than any tokenizer holds in one for long
TRIES = 12
FILLED = 0.95  # of the room, which is enough


def about_tokens(count: float) -> str:
    """Return an estimate in words."""
    return f"about {counted(round(count), 'token')}"


def headed(name: str, text: str) -> str:
    """Return a value's text below its name, in a fence that it cannot close."""
    return f"{name}:\n{fenced(text)}"


def fitted_text(name: str, text: str, room: TextRoom, blanked: Blanks) -> tuple[str, str]:
    """Return a text as it joins the prompt, and what was sent of what. Raises InvalidRequestError."""
    length = len(text)
    most = max(room.tokens, 1) * CHARACTERS_A_TOKEN
    if length > most:  # what cannot fit is not looked at
        half = most // 2
        start, end = blanked(text[: half + KEY_ROOM])[:half], blanked(text[-half - KEY_ROOM :])[-half:]
    else:
        whole = blanked(text)
        found = headed(name, whole)
        tokens = room.count(found)
        if tokens <= room.tokens:
            return found, about_tokens(tokens)
        start, end = whole[: (len(whole) + 1) // 2], whole[(len(whole) + 1) // 2 :]

    def of(kept: int) -> str:
        head, tail = start[: (kept + 1) // 2], end[len(end) - kept // 2 :]
        return headed(name, f"{head}\n… {max(length - kept, 1):,} characters left out …\n{tail}")

    kept, found = largest(of, len(start) + len(end) - 1, room, name)
    return found, f"{kept:,} of {length:,} characters, {about_tokens(room.count(found))}"


def fitted_value(name: str, value: Any, room: TextRoom, blanked: Blanks) -> tuple[str, str]:
    """Return a value as ``repr`` writes it, within its room, and what was sent of what. Raises InvalidRequestError.

    A text of the value's own class is cut in its middle; of a collection the first members are taken.
    """
    most = max(room.tokens, 1) * CHARACTERS_A_TOKEN // 2
    made: dict[int, tuple[Sketch, int]] = {}
    said: dict[int, tuple[Any, str]] = {}

    def of(characters: int) -> str:
        blanked.count = 0  # of this text, not of all that were tried
        sketch = Sketch(value, characters, said, blanked)
        text = headed(name, blanked(sketch.text))
        made[characters] = sketch, blanked.count
        return text

    found = of(most)
    sketch, _ = made[most]
    if not sketch.size and not sketch.is_whole:
        if type(value) is bytes:
            whole = repr(value)  # of which secrets are looked for in what can be sent
        else:
            whole = value if isinstance(value, str) else Sketch(value, sys.maxsize, said, blanked).text
        text, what = fitted_text(name, whole, room, blanked)
        return text, ", ".join(filter(None, (sketch.summed_up, what)))
    characters = most
    if room.count(found) > room.tokens:
        characters, found = largest(of, most, room, name)
    sketch, blanked.count = made[characters]
    return found, _told(sketch, room.count(found))


def _told(sketch: Sketch, tokens: float) -> str:
    """Return what was sent of a value."""
    what = "" if sketch.is_whole else "long parts shortened"
    if sketch.shown < sketch.size:
        what = f"{sketch.shown:,} of {sketch.size:,} members"
    elif sketch.all_shown < sketch.all_sizes:
        what = f"{sketch.all_shown:,} of {sketch.all_sizes:,} members in it"
    return ", ".join(filter(None, (what, sketch.summed_up, about_tokens(tokens))))


def largest(of: Callable[[int], str], most: int, room: TextRoom, name: str) -> tuple[int, str]:
    """Return the largest size up to ``most`` whose text fits, as far as a few tries find it, and that text.

    Raises InvalidRequestError where not even the smallest fits.
    """
    best = of(0)
    tokens = room.count(best)
    if tokens > room.tokens:
        raise InvalidRequestError(
            f"{name} needs at least {tokens:,.0f} tokens, and one attachment may take {room.tokens:,}: "
            "%chat config attach_share 0.5 gives it half of the limit. Nothing was sent."
        )
    low, high, guess = 0, most, most
    for _ in range(TRIES):
        if low >= high:
            break
        text = of(guess)
        tokens = room.count(text)
        if tokens <= room.tokens:
            low, best = guess, text
            if tokens >= FILLED * room.tokens:
                break
        else:
            high = guess - 1
        share = int(guess * room.tokens / max(tokens, 1.0) * 0.98)  # most texts are even
        guess = share if low < share <= high else (low + high + 1) // 2
    return low, best
