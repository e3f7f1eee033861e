"""A file or a web page as it goes with a prompt: an image, a PDF, a notebook or another text.

A page is fetched here, from a public address alone unless those of one's own network are allowed.
"""

from __future__ import annotations

import os
import re
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from ipaddress import ip_address
from pathlib import Path, PurePosixPath
from stat import S_ISREG
from time import monotonic
from typing import Any
from urllib.parse import parse_qsl, urlsplit

from ..context.summary_facts import fenced
from ..context.vision import Vision
from ..conversation.messages import Attachment
from ..conversation.text_safety import clean
from ..errors import ChatError, InvalidRequestError
from ..runtime.redaction import Redactor, classify_secret_name
from .attached import Attached, TextRoom, attached_redacted, format_error
from .images import MOST_IMAGE_BYTES, as_attachment, guessed_tokens, media_type_of, modest
from .notebook_cells import notebook_text, with_images
from .printing import page_text

MOST_BYTES = 32_000_000  # what the largest requests may have
# Parameters that may be a key, or sign the address, beside those that are named like a secret
SIGNED = r"(?i)(?:.*[-_])?(?:app_?id|auth|code|credential|hmac|key|policy|sas|sig|signature|token)"
# Hosts without a public name, or by number
PRIVATE_HOST = r":|(?:^[^.]+|\.(?:arpa|home|internal|intranet|lan|local|localdomain|localhost)|\.\w*\d\w*)\.?$"
PRIVATE = "http:// and addresses of a private network need --allow-local."
SECONDS = 20  # in all
MOST_PAGE = 2_000_000  # bytes of a page; images and PDFs may have as many as files
HEADERS = {
    "Accept": "text/markdown, text/html;q=0.9, */*;q=0.8",
    "Accept-Encoding": "gzip",
    "User-Agent": "Mozilla/5.0 (compatible; jupyter_ctx)",
}
CHARSET = re.compile(r"charset\s*=\s*[\"']?([\w.:-]+)", re.IGNORECASE)
SAVE_IT = "save it in a browser, and attach the file."


def exists(word: str) -> bool:
    """Return whether a text names a file or a folder that is there."""
    return os.path.exists(os.path.expanduser(word))


def attached_file(path: Path, redactor: Redactor, room: TextRoom) -> Attached:
    """Return a file that goes with a prompt; a text file joins it, with secrets blanked. Raises InvalidRequestError."""
    data = _file_data(path.expanduser())
    media_type = media_type_of(data)
    if media_type is not None:
        return attached_data(path.name, media_type, data, room.vision)
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError:
        text = "\0"
    if "\0" in text:
        raise InvalidRequestError(
            f"-a {path}: neither UTF-8 text, nor a PNG, JPEG, GIF or WebP image, nor a PDF. "
            "Read it in a cell, with its encoding if it is text, and attach the variable: -a NAME."
        )
    return attached_text(path.name, text, f"File {path.name}", redactor, room)


def attached_text(name: str, text: str, head: str, redactor: Redactor, room: TextRoom) -> Attached:
    """Return a file's or a page's text below its ``head``, with secrets blanked; of a notebook its cells."""
    redactor.blanked, files, what = 0, tuple[Attachment, ...](), ""
    cells = notebook_text(text) if '"cells"' in text else None
    if cells is not None:
        text, files, what = with_images(cells, name, room)
    return attached_redacted(name, f"{redactor.masked(head)}:\n{fenced(redactor.masked(text))}", redactor, files, what)


def attached_data(name: str, media_type: str, data: bytes, vision: Vision) -> Attached:
    """Return an image or a PDF that goes with a prompt; an image that its provider would make smaller is so already.

    Raises InvalidRequestError, and MissingDependencyError where Pillow would be needed.
    """
    if media_type == "application/pdf":
        file = Attachment(name, media_type, data, guessed_tokens(media_type, data))
        return Attached(name, f"{clean(name)}: a PDF.", (file,))
    image = modest(name, data, vision.drawn, vision.reads, MOST_IMAGE_BYTES)
    text = f"{clean(name)}: {image.noun}."  # which tells the model which is which
    return Attached(name, text, (as_attachment(name, image),), image.size if image.data is not data else "")


def _file_data(path: Path) -> bytes:
    try:
        if not S_ISREG(path.stat().st_mode):  # a device may never end, and a pipe may never begin
            raise InvalidRequestError(f"-a {path} is not a regular file: name an image, a PDF or a text file.")
        with path.open("rb") as file:
            data = file.read(MOST_BYTES + 1)
    except OSError as error:
        raise InvalidRequestError(f"-a {path}: {error.strerror} (looked for from {Path.cwd()}).") from None
    if not 0 < len(data) <= MOST_BYTES:
        problem = f"is larger than the {MOST_BYTES:,} bytes that can be sent" if data else "is empty"
        raise InvalidRequestError(f"-a {path}: the file {problem}.")
    return data


def is_address(word: str) -> bool:
    """Return whether a word is an address, of whatever kind."""
    return re.match(r"[A-Za-z][A-Za-z0-9+.-]+://", word) is not None


@dataclass(frozen=True, slots=True)
class Address:
    """An address as it was named; ``allow_local``: it may be of any network, and begin with http://."""

    text: str
    allow_local: bool = False

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
        try:
            parts = urlsplit(self.text)
        except ValueError:
            parts = urlsplit("")
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise self.error("only https:// addresses are read; name a file by its path.")
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


def attached_address(address: Address, redactor: Redactor, room: TextRoom) -> Attached:
    """Return the text of a web page, or the image or PDF that is there.

    Raises InvalidRequestError, and MissingDependencyError where HTML cannot be read.
    """
    name = address.text
    address.check()
    content_type, body = fetched(address)
    media_type, file = media_type_of(body), PurePosixPath(urlsplit(name).path)
    if media_type is not None:
        suffix = media_type.rpartition("/")[2]
        file_name = (file.name or address.host).removesuffix(f".{suffix}")
        return replace(attached_data(f"{file_name}.{suffix}", media_type, body, room.vision), name=name)
    text, head = _decoded(content_type, body), f"Page {name}"
    if "\0" in text:
        raise address.error("it is neither text, nor a PNG, JPEG, GIF or WebP image, nor a PDF.")
    if "html" in content_type:
        title, text = page_text(text)
        head = f"Page {title} ({name})" if title else head
    if not text.strip():
        raise address.error(f"there is no text in it, as in pages that a script fills: {SAVE_IT}")
    return attached_text(name, text, head, redactor, room)


def _decoded(content_type: str, body: bytes) -> str:
    """Return the text of a page: in UTF-8, as most are, whatever is said; else in the encoding that is stated."""
    stated = CHARSET.search(content_type) or CHARSET.search(body[:2_000].decode("latin-1"))
    for encoding in ("utf-8-sig", stated[1] if stated else "cp1252"):
        with suppress(UnicodeDecodeError, LookupError):
            return body.decode(encoding)
    return body.decode("cp1252", "replace")


def fetched(address: Address) -> tuple[str, bytes]:
    """Return the type of what is at an address, and its bytes. Raises InvalidRequestError, and KeyboardInterrupt."""
    import httpx2

    end = monotonic() + SECONDS
    client = httpx2.Client(
        headers=HEADERS, timeout=SECONDS, follow_redirects=True,
        trust_env=re.search(PRIVATE_HOST, address.host) is None,  # no proxy for hosts of one's own
        event_hooks={"request": [] if address.allow_local else [partial(_check_hop, address)]},
    )  # fmt: skip
    try:
        with client, client.stream("GET", address.text) as response:
            if response.status_code != 200:
                raise address.error(f"the server answered {response.status_code}. Where a browser shows it, {SAVE_IT}")
            content_type, body = response.headers.get("content-type", "text/html").lower(), bytearray()
            most = MOST_BYTES if content_type.startswith(("image/", "application/pdf")) else MOST_PAGE
            for chunk in response.iter_bytes():
                body += chunk
                if len(body) > most:
                    raise address.error(f"it has more than the {most:,} bytes that are read.")
                if monotonic() > end:
                    raise address.error(f"it was not read within {SECONDS} seconds: {SAVE_IT}")
            return content_type, bytes(body)
    except ChatError:
        raise
    except Exception as error:  # of the connection, TLS, the protocol, too many redirects
        raise address.error(f"it cannot be read ({format_error(error)}): {SAVE_IT}") from None


def _check_hop(address: Address, request: Any) -> None:
    """Let a request, be it redirected, reach only an address that may be read.

    The address that is connected to is looked at before anything is sent. A proxy connects itself: then the name of the
    host must do.
    """
    Address(str(request.url)).check_network()
    host, hosts = request.url.raw_host.decode(), list[str]()

    def trace(event: str, about: dict[str, Any]) -> None:
        if event.endswith("connect_tcp.started"):
            hosts.append(about["host"])
        if event.endswith("connect_tcp.complete") and hosts[-1] == host:
            stream = about["return_value"]
            if not is_public(stream.get_extra_info("server_addr")[0]):
                stream.close()
                raise address.error(PRIVATE)

    request.extensions["trace"] = trace


def is_public(number: str) -> bool:
    """Return whether an IP address is one of the internet."""
    found = ip_address(number.partition("%")[0])
    return (getattr(found, "ipv4_mapped", None) or found).is_global
