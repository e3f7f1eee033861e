"""Images and PDFs at an address, from which the provider fetches them itself."""

from __future__ import annotations

import re
from pathlib import PurePosixPath
from urllib.parse import parse_qsl, urlsplit

from ..context.vision import MAX_IMAGE_TOKENS
from ..conversation.messages import Attachment
from ..errors import InvalidRequestError
from ..runtime.redaction import Redactor
from ..runtime.secret_texts import kind_of
from .attached import Attached
from .media import TOKENS_A_PAGE

SUFFIXES = {f".{kind}": f"image/{kind}" for kind in ("png", "jpeg", "gif", "webp")}
SUFFIXES |= {".jpg": "image/jpeg", ".pdf": "application/pdf"}
# Parameters that may be a key, or sign the address, beside those that are named like a secret
SIGNED = r"(?i)(?:.*[-_])?(?:app_?id|auth|code|credential|hmac|key|policy|sas|sig|signature|token)"
LIKELY_PAGES = 10  # of a PDF that nobody has seen
# Hosts without a public name, or by number
PRIVATE_HOST = r":|(?:^[^.]+|\.(?:arpa|home|internal|intranet|lan|local|localdomain|localhost)|\.\w*\d\w*)\.?$"


def is_address(word: str) -> bool:
    """Return whether a word is an address, of whatever kind."""
    return re.match(r"[A-Za-z][A-Za-z0-9+.-]+://", word) is not None


def attached_address(address: str) -> Attached:
    """Return an image or a PDF at an address as it goes with a prompt, unfetched. Raises InvalidRequestError."""
    file = attachment_at(address)
    what = "fetched by the provider, so that its size is not known"
    return Attached(address, f"{file.name}: {'an image' if file.kind == 'image' else 'a PDF'}.", (file,), what)


def attachment_at(address: str) -> Attachment:
    """Return the file at an address, with a guess of its tokens. Raises InvalidRequestError."""
    problem = _problem(address)
    if problem:
        shown = Redactor().masked(re.split("[?#]", address)[0])
        raise InvalidRequestError(f"{shown}: {problem} Nothing was sent.")
    path = _path(address)
    is_pdf = path.suffix.lower() == ".pdf"
    tokens = LIKELY_PAGES * TOKENS_A_PAGE if is_pdf else MAX_IMAGE_TOKENS
    return Attachment(path.name, SUFFIXES[path.suffix.lower()], address.encode(), tokens)


def _path(address: str) -> PurePosixPath:
    return PurePosixPath(urlsplit(address).path)


def _problem(address: str) -> str:
    """Return what is wrong with an address; empty: nothing."""
    try:
        parts = urlsplit(address)
        host, _ = parts.hostname or "", parts.port
    except ValueError:
        host = ""
    if not host or not re.fullmatch(r"[!-\[\]-~]+", address):
        return "it is not a valid address; signs beyond ASCII are written as %XX."
    if not address.startswith("https://"):
        return "providers fetch files from https:// addresses only."
    if re.search(PRIVATE_HOST, host):
        return "providers cannot reach it, as its host has no public name: attach the file itself, -a FILE."
    names = [name for name, _ in parse_qsl(f"{parts.query}&{parts.fragment}", keep_blank_values=True)]
    is_signed = any(kind_of(name) or re.fullmatch(SIGNED, name) for name in names)
    if parts.username is not None or is_signed or Redactor().hold(address):
        return "it holds a password or a key, which would be kept and shown: fetch it in a cell, and attach the bytes."
    if _path(address).suffix.lower() not in SUFFIXES:
        return f"it must end in {', '.join(SUFFIXES)}, so that the provider is told what it is."
    return ""
