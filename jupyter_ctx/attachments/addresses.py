"""Addresses of web pages and files, and whether one may be read."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import PurePosixPath
from urllib.parse import parse_qsl, urlsplit

from ..errors import InvalidRequestError
from ..runtime.redaction import Redactor
from ..runtime.secret_texts import classify_secret_name

# Parameters that may be a key, or sign the address, beside those that are named like a secret
SIGNED = r"(?i)(?:.*[-_])?(?:app_?id|auth|code|credential|hmac|key|policy|sas|sig|signature|token)"
# Hosts without a public name, or by number
PRIVATE_HOST = r":|(?:^[^.]+|\.(?:arpa|home|internal|intranet|lan|local|localdomain|localhost)|\.\w*\d\w*)\.?$"
VALID = r"(?a)https?://(?:[^/?#@\s]*@)?(?:[\w.-]+|\[[\da-fA-F:.]+\])(?::\d{1,5})?(?:[/?#][!-\[\]-~]*)?"
PRIVATE = "it is in a private network, or at http://, which only --allow-local reads."


def is_address(word: str) -> bool:
    """Return whether a word is an address, of whatever kind."""
    return re.match(r"[A-Za-z][A-Za-z0-9+.-]+://", word) is not None


@dataclass(frozen=True, slots=True)
class Address:
    """An address as it was named; ``allow_local``: it may be of any network, and begin with http://."""

    text: str
    allow_local: bool = False

    @property
    def file(self) -> PurePosixPath:
        """The path at its host."""
        return PurePosixPath(urlsplit(self.text).path)

    @property
    def host(self) -> str:
        """Its host; empty where there is none."""
        return urlsplit(self.text).hostname or ""

    def error(self, problem: str) -> InvalidRequestError:
        """Return the error that names it, without what may be a key."""
        shown = re.split("[?#]", self.text)[0]
        return InvalidRequestError(Redactor().masked(f"{shown}: {problem} Nothing was sent."))

    def check(self) -> None:
        """Raise InvalidRequestError for one that is not valid, holds a key, or may not be read."""
        if not re.fullmatch(VALID, self.text):
            raise self.error(
                "only https:// addresses are read, with spaces and signs beyond ASCII as %XX; name a file by its path."
            )
        parts = urlsplit(self.text)
        names = [name for name, _ in parse_qsl(f"{parts.query}&{parts.fragment}", keep_blank_values=True)]
        is_signed = any(classify_secret_name(name) or re.fullmatch(SIGNED, name) for name in names)
        if parts.username is not None or is_signed or Redactor().contains_secret(self.text):
            raise self.error("it holds a password or a key, which would be kept and shown: fetch it in a cell.")
        if not self.allow_local:
            self.check_network()

    def check_network(self) -> None:
        """Raise InvalidRequestError for one that is not at https:// under a public name."""
        if not self.text.startswith("https://") or re.search(PRIVATE_HOST, self.host):
            raise self.error(PRIVATE)
