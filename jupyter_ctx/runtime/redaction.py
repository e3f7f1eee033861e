"""Blank secrets in whatever leaves the kernel: prompts, attachments, errors, exports and records.

A secret is a key in use, a value of an environment variable that is named like one, what looks like one or stands under
such a name in a text (``secret_texts``, by ``private_keys`` and ``secret_names``).
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from urllib.parse import urlsplit

from ..errors import InvalidRequestError
from .private_keys import Span
from .secret_names import BLANKED, NO_SECRETS, is_secret_value, kind_of
from .secret_texts import secrets_in

_MIN_VALUE = 12  # characters of an environment variable's value: a shorter one may be any word
_FOLDERS = ("PWD", "OLDPWD")  # of a shell: the folder that it is in, and the one before, which may be gone
_BEGINNING = 16  # characters at the start of a long key that identify it
_MIN_KEY = 8  # characters of a key in use: what stands for one where a server needs none is shorter, such as EMPTY
_ADDRESS_KEYS = re.compile(r"(?<=://)[^\s/@]*@|(?<=\S)\?\S+")


@dataclass(frozen=True, slots=True)
class Redacted:
    """A text with ``***`` for each secret that was in it, and how many there were."""

    text: str
    count: int = 0


class Redactor:
    """A redactor of the ``known`` keys, those in environment variables, and whatever looks or is named like one.

    ``blanked`` counts the secrets for which it has returned ``***``.
    """

    def __init__(self, known: Iterable[str] = ()) -> None:
        self.blanked = 0
        values = (value.strip() for name, value in os.environ.items() if name not in _FOLDERS and kind_of(name))
        keys = {
            *(key for key in known if len(key) >= _MIN_KEY),
            *(value for value in values if len(value) >= _MIN_VALUE and not _is_path(value)),
        }
        self._known = {part for key in keys if key.lower() not in NO_SECRETS for part in _with_beginning(key)}
        self._clean = ""  # the last text without a key, which is checked again and again

    def is_secret(self, name: object, value: object) -> bool:
        """Return whether a value of any type is secret for the name that it stands under, such as a column's."""
        return is_secret_value(name, value)

    def hold(self, text: str) -> bool:
        """Return whether a text contains a secret."""
        if text is self._clean:
            return False
        if next(self._spans(text), None) is not None:
            return True
        self._clean = text
        return False

    def redacted(self, text: str, *, keep_lines: bool = False) -> Redacted:
        """Return a text with ``***`` for every secret; ``keep_lines``: of as many lines as before."""
        spans = _apart(self._spans(text))
        parts, end = list[str](), 0
        for start, stop in spans:
            lines = text.count("\n", start, stop) if keep_lines else 0
            parts += text[end:start], BLANKED, "\n" * lines
            end = stop
        self.blanked += len(spans)
        return Redacted("".join((*parts, text[end:])), len(spans))

    def masked(self, text: str) -> str:
        """Return a text with ``***`` for every secret."""
        return self.redacted(text).text

    def _spans(self, text: str) -> Iterator[Span]:
        for key in self._known:
            at = text.find(key)
            while at >= 0:
                yield at, at + len(key)
                at = text.find(key, at + len(key))
        yield from secrets_in(text)


class Unredacted(Redactor):
    """A redactor that blanks nothing, for what a user sends as it is."""

    def is_secret(self, *_: object) -> bool:
        """Return False."""
        return False

    def _spans(self, *_: str) -> Iterator[Span]:
        return iter(())


def _with_beginning(key: str) -> tuple[str, ...]:
    """Return a key and, of a long one, the beginning that identifies it: a printed table cuts long texts."""
    return (key, key[:_BEGINNING]) if len(key) >= 2 * _BEGINNING else (key,)


def _is_path(value: str) -> bool:
    return os.path.isabs(value) and os.path.exists(value)


def blanked_line(name: str, count: int) -> str:
    """Return a line about the secrets that were blanked in what has this name; empty: there were none."""
    if not count:
        return ""
    what = "1 part that looks like a key was" if count == 1 else f"{count:,} parts that look like keys were"
    return f"{name}: {what} blanked (***)."


def _apart(spans: Iterable[Span]) -> list[Span]:
    """Return spans in order, those that overlap or touch as one."""
    joined: list[Span] = []
    for start, end in sorted(spans):
        if joined and start <= joined[-1][1]:
            joined[-1] = joined[-1][0], max(end, joined[-1][1])
        else:
            joined.append((start, end))
    return joined


def without_address_keys(text: str) -> str:
    """Remove what may be a key from the addresses in a text: ``user:password@`` and what follows a ``?``."""
    return _ADDRESS_KEYS.sub("", text)


def checked_address(address: str, variable: str = "") -> str:
    """Return an address that may be used and shown, without "/" at its end; errors name the ``variable`` that holds it.

    Raises InvalidRequestError where it is not http(s), and where it has a user, parameters, or what looks like a key.
    """
    try:
        parts = urlsplit(address.strip())
    except ValueError:
        parts = urlsplit("")
    held = f"{variable} of the environment: " if variable else ""
    if parts.username or parts.password or parts.query or parts.fragment or Redactor().hold(address):
        raise InvalidRequestError(
            f"{held}An address must not contain a password, a key or other parameters, because addresses are shown: "
            "enter the key with %chat key."
        )
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise InvalidRequestError(f"{held}{address!r} is not a valid address: use --base-url http://HOST:PORT/v1.")
    return address.strip().rstrip("/")
