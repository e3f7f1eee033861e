"""A web page as text: fetched here, from public addresses alone unless those of one's own network are allowed."""

from __future__ import annotations

import re
import zlib
from concurrent.futures import Future
from contextlib import suppress
from dataclasses import replace
from functools import partial
from ipaddress import ip_address
from mimetypes import guess_type
from threading import Thread
from typing import Any

from ..errors import ChatError
from ..runtime.redaction import Redactor
from .addresses import PRIVATE, PRIVATE_HOST, Address
from .attached import Attached, TextRoom
from .attached_files import MOST_BYTES, attached_data, attached_text, text_encoding
from .media import media_type_of
from .rich_text import page_text
from .user_code import format_error

SECONDS = 20  # in all
MOST_PAGE = 2_000_000  # bytes of a page; images and PDFs may have as many as files
MOST_HOPS = 5
LONGEST_TITLE = 200  # characters
HEADERS = {
    "Accept": "text/markdown, text/html;q=0.9, */*;q=0.8",
    "Accept-Encoding": "gzip",  # whose size can be bounded while it is unpacked
    "User-Agent": "Mozilla/5.0 (compatible; jupyter_ctx)",
}
CHARSET = re.compile(r"charset\s*=\s*[\"']?([\w.:-]+)", re.IGNORECASE)
SAVE_IT = "open it in a browser, save it, and attach the file."


def attached_address(address: Address, redactor: Redactor, room: TextRoom) -> Attached:
    """Return the text of a web page, or the image or PDF that is there.

    Raises InvalidRequestError, and MissingDependencyError where HTML cannot be read.
    """
    name = address.text
    address.check()
    content_type, body = fetched(address)
    media_type = media_type_of(body)
    if media_type is not None:
        file_name = address.file.name or address.host
        file_name += "" if guess_type(file_name)[0] == media_type else f".{media_type.rpartition('/')[2]}"
        return replace(attached_data(file_name, media_type, body, room.vision), name=name)
    text, head = _decoded(content_type, body), f"Page {name}"
    if "\0" in text:
        raise address.error("it is neither text, nor a PNG, JPEG, GIF or WebP image, nor a PDF.")
    if "html" in content_type:
        title, text = page_text(text)
        head = f"Page {title[:LONGEST_TITLE]} ({name})" if title else head
    if not text.strip():
        raise address.error(f"there is no text in it, as in pages that a script fills: {SAVE_IT}")
    return attached_text(name, text, head, redactor, room, is_notebook=address.file.suffix == ".ipynb")


def _decoded(content_type: str, body: bytes) -> str:
    """Return the text of a page: in UTF-8, as most are, whatever is said; else in the encoding that is stated."""
    stated = CHARSET.search(content_type) or CHARSET.search(body[:2_000].decode("latin-1"))
    with suppress(UnicodeDecodeError):
        return body.decode(text_encoding(body))
    with suppress(LookupError):
        return body.decode(stated[1] if stated else "cp1252", "replace")
    return body.decode("cp1252", "replace")


def fetched(address: Address) -> tuple[str, bytes]:
    """Return the type of what is at an address, and its bytes. Raises InvalidRequestError, and KeyboardInterrupt."""
    import httpx2

    client = httpx2.Client(
        headers=HEADERS, timeout=SECONDS, follow_redirects=True, max_redirects=MOST_HOPS,
        trust_env=re.search(PRIVATE_HOST, address.host) is None,  # no proxy for hosts of one's own
        event_hooks={"request": [partial(_check_hop, address)]},
    )  # fmt: skip
    found: Future[tuple[str, bytes]] = Future()
    Thread(target=_read, args=(client, address, found), daemon=True).start()  # whose time can be bounded as a whole
    try:
        return found.result(SECONDS)
    except ChatError:
        raise
    except (TimeoutError, httpx2.TimeoutException):
        raise address.error(f"it was not read within {SECONDS} seconds: {SAVE_IT}") from None
    except Exception as error:  # of the connection, TLS, the protocol, too many redirects
        raise address.error(f"it cannot be read ({format_error(error)}).") from None
    finally:
        client.close()


def _read(client: Any, address: Address, found: Future[tuple[str, bytes]]) -> None:
    try:
        with client.stream("GET", address.text) as response:
            found.set_result(_content(address, response))
    except BaseException as error:
        found.set_exception(error)


def _content(address: Address, response: Any) -> tuple[str, bytes]:
    """Return the type of what a server answers, and its bytes. Raises InvalidRequestError."""
    if response.status_code != 200:
        status = f"{response.status_code} {response.reason_phrase}".strip()
        raise address.error(
            f"the server answered {status}. Where a browser shows it, save it there, and attach the file."
        )
    content_type = response.headers.get("content-type", "text/html").lower()
    most = MOST_BYTES if content_type.startswith(("image/", "application/pdf")) else MOST_PAGE
    body = bytearray()
    for chunk in response.iter_raw():
        body += chunk
        if len(body) > most:
            break
    is_packed = response.headers.get("content-encoding") == "gzip" and len(body) <= most
    data = zlib.decompressobj(wbits=31).decompress(body, most + 1) if is_packed else bytes(body)
    if len(data) > most:
        raise address.error(f"it has more than the {most:,} bytes that are read.")
    return content_type, data


def _check_hop(address: Address, request: Any) -> None:
    """Let a request, be it redirected, reach only an address that may be read.

    The address that is connected to is looked at before anything is sent. A proxy connects itself: then the name of the
    host must do.
    """
    if address.allow_local:
        return
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
