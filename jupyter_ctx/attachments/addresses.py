"""Addresses of web pages and files: whether one may be read, and images and PDFs that the provider fetches itself."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import PurePosixPath
from urllib.parse import parse_qsl, urlsplit

from ..context.vision import MAX_IMAGE_TOKENS
from ..conversation.messages import Attachment
from ..errors import InvalidRequestError
from ..runtime.redaction import Redactor
from ..runtime.secret_texts import kind_of
from .media import TOKENS_A_PAGE

SUFFIXES = {f".{kind}": f"image/{kind}" for kind in ("png", "jpeg", "gif", "webp")}
SUFFIXES |= {".jpg": "image/jpeg", ".pdf": "application/pdf"}
# Parameters that may be a key, or sign the address, beside those that are named like a secret
SIGNED = r"(?i)(?:.*[-_])?(?:app_?id|auth|code|credential|hmac|key|policy|sas|sig|signature|token)"
LIKELY_PAGES = 10  # of a PDF that nobody has seen
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
            raise self.error("it is not a valid https:// address; spaces and signs beyond ASCII are written as %XX.")
        parts = urlsplit(self.text)
        names = [name for name, _ in parse_qsl(f"{parts.query}&{parts.fragment}", keep_blank_values=True)]
        is_signed = any(kind_of(name) or re.fullmatch(SIGNED, name) for name in names)
        if parts.username is not None or is_signed or Redactor().hold(self.text):
            raise self.error("it holds a password or a key, which would be kept and shown: fetch it in a cell.")
        if not self.allow_local:
            self.check_network(PRIVATE)

    def check_network(self, problem: str) -> None:
        """Raise InvalidRequestError for one that is not at https:// under a public name."""
        if not self.text.startswith("https://") or re.search(PRIVATE_HOST, self.host):
            raise self.error(problem)


def attachment_at(text: str) -> Attachment:
    """Return an image or a PDF that the provider fetches, with a guess of its tokens. Raises InvalidRequestError."""
    address = Address(text, allow_local=True)
    address.check()
    address.check_network(
        "providers fetch from public https:// addresses only; in a cell, --allow-local reads it here."
    )
    kind = SUFFIXES.get(address.file.suffix.lower())
    if kind is None:
        raise address.error(f"it must end in {', '.join(SUFFIXES)}, so that the provider is told what it is.")
    tokens = LIKELY_PAGES * TOKENS_A_PAGE if kind == "application/pdf" else MAX_IMAGE_TOKENS
    return Attachment(address.file.name, kind, text.encode(), tokens)
