"""Reject or replace characters that providers refuse; remove what a restart changes."""

from __future__ import annotations

import re

from ..errors import InvalidRequestError

OF_A_PROCESS = re.compile(  # what Python and Jupyter write that is other in each process
    r" at 0x[0-9a-fA-F]{4,}|(?<=<Thread\(Thread)-\d+|(?<=, started) \d+|(?<=, started daemon) \d+|(?<=name='Task)-\d+"
    r"|(?<=/ipykernel_)\d+/\d+|(?<=<ipython-input)-\d+-\w+|(?<=[/\\]tmp)[a-z0-9_]{8}(?![a-z0-9_])"
)
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
    unsendable = UNSENDABLE.search(prompt)
    if unsendable:
        what, at = f"U+{ord(unsendable.group()):04X}", unsendable.start() + 1
        raise InvalidRequestError(f"Character {at:,} is {what}, which no model takes: take it out.")
    return prompt


def lasting(text: str) -> str:
    """Return what an object or an error says of itself without what is other after a restart.

    That is addresses in memory, and numbers in the names of threads, tasks, temporary files and cells' files.
    """
    return OF_A_PROCESS.sub("", text)
