"""Reject or replace characters that providers refuse (NUL, lone surrogates); remove keys from addresses."""

from __future__ import annotations

import re

from ..errors import InvalidRequestError

ADDRESS_KEYS = re.compile(r"(?<=://)[^\s/@]*@|(?<=\S)\?\S+")  # in an address
UNSENDABLE = re.compile("[\x00\ud800-\udfff]")


def clean(text: str) -> str:
    """Return text that may be kept and sent: each character that providers refuse becomes U+FFFD."""
    if text.isascii() and "\0" not in text:  # most pieces are; there are many
        return text
    return UNSENDABLE.sub("�", text)


def checked(prompt: str) -> str:
    """Return a text that every server accepts."""
    if not isinstance(prompt, str):
        raise InvalidRequestError(f"A prompt is text, not {type(prompt).__name__}.")
    found = UNSENDABLE.search(prompt)
    if found:
        kind = "a NUL" if found.group() == "\0" else f"a lone surrogate (U+{ord(found.group()):04X})"
        raise InvalidRequestError(
            f"There is {kind} at character {found.start() + 1:,}: no model takes that. Take it out."
        )
    return prompt


def without_keys(text: str) -> str:
    """Remove what may be a key from the addresses in a text: ``user:password@`` and what follows a ``?``."""
    return ADDRESS_KEYS.sub("", text)
