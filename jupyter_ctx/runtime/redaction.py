"""Blank secrets in whatever leaves the kernel: prompts, attachments, errors, exports and records.

A secret is a key in use, a value of an environment variable that is named like one and looks like one, and whatever
``secret_texts`` finds.
"""

from __future__ import annotations

import html
import json
import os
import re
from collections.abc import Iterable, Iterator
from urllib.parse import quote, quote_plus, urlsplit

from ..errors import InvalidRequestError
from .secret_texts import BLANKED, NO_SECRETS, Span, classify_secret_name, is_secret_value, secrets_in

_BEGINNING = 16  # characters at the start of a long key that identify it
_MIN_KEY = 8  # characters of a key in use: what stands for one where a server needs none is shorter, such as EMPTY
_ADDRESS_KEYS = re.compile(r"(?<=://)[^\s/@]*@|(?<=\S)\?\S+")


class Redactor:
    """A redactor of the ``known`` keys, those in environment variables, and whatever looks or is named like one.

    ``blanked`` counts the secrets that it has found; set it to 0 before something else.
    """

    def __init__(self, known: Iterable[str] = ()) -> None:
        self.blanked = 0
        keys = {key for key in known if len(key) >= _MIN_KEY and key.lower() not in NO_SECRETS}
        keys |= set(_keys_of_the_environment())
        self._known = {form for key in keys for form in _forms(key)}

    def is_secret(self, name: object, value: object) -> bool:
        """Return whether a value of any type is secret for the name that it stands under, such as a column's."""
        is_secret = is_secret_value(name, value)
        self.blanked += is_secret
        return is_secret

    def contains_secret(self, text: str) -> bool:
        """Return whether a text contains a secret."""
        return next(self._spans(text), None) is not None

    def masked(self, text: str) -> str:
        """Return a text with ``***`` for every secret."""
        parts, end, count = list[str](), 0, 0
        for start, stop in sorted(self._spans(text)):
            if not count or start > end:
                parts += text[end:start], BLANKED
                count += 1
            end = max(end, stop)
        self.blanked += count
        return "".join((*parts, text[end:]))

    def _spans(self, text: str) -> Iterator[Span]:
        yield from self._keys_in(text)
        yield from secrets_in(text)

    def _keys_in(self, text: str) -> Iterator[Span]:
        for key in self._known:
            if key in text:
                yield from (match.span() for match in re.finditer(re.escape(key), text))


class KeyRedactor(Redactor):
    """A redactor of known keys and those of the environment alone, for a file that a user writes as it is."""

    def is_secret(self, *_: object) -> bool:
        """Return False."""
        return False

    def _spans(self, text: str) -> Iterator[Span]:
        return self._keys_in(text)


class Unredacted(KeyRedactor):
    """A redactor that blanks nothing, for what a user sends as it is."""

    def _spans(self, *_: str) -> Iterator[Span]:
        return iter(())


def _keys_of_the_environment() -> Iterator[str]:
    """Yield the values of environment variables that are named like keys and look like ones."""
    for name, value in os.environ.items():
        if name.endswith("_KEY") or classify_secret_name(name):
            key = value.strip().strip("\"'")
            is_key = name.endswith("_KEY") and is_secret_value("token", key)
            if is_key or (is_secret_value(name, key) and not key.isalpha()):
                yield key


def _forms(key: str) -> set[str]:
    """Return a key as it stands in texts, reprs, JSON, HTML and addresses, and the beginning that a table shows."""
    forms = {key, repr(key)[1:-1], json.dumps(key)[1:-1], html.escape(key), quote(key, safe=""), quote_plus(key)}
    return forms | ({key[:_BEGINNING]} if len(key) >= 2 * _BEGINNING else set())


def blanked_line(name: str, count: int) -> str:
    """Return a line about the secrets that were blanked in what has this name; empty: there were none."""
    what = "1 part that looks like a key was" if count == 1 else f"{count:,} parts that look like keys were"
    return f"{name}: {what} blanked (***)." if count else ""


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
    if parts.username or parts.password or parts.query or parts.fragment or Redactor().contains_secret(address):
        raise InvalidRequestError(
            f"{held}An address must not contain a password, a key or other parameters, because addresses are shown: "
            "enter the key with %chat key."
        )
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise InvalidRequestError(f"{held}{address!r} is not a valid address: use --base-url http://HOST:PORT/v1.")
    return address.strip().rstrip("/")
