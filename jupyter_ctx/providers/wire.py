"""The way to one server: JSON goes out, and the JSON objects of its answer come back, never more than a bound.

A client can be closed from any thread, which wakes up whoever waits for a response.

Servers do not always send what they were asked for: one that cannot stream sends the whole reply as one JSON document,
a gateway a page of HTML, and many an error with HTTP status 200. So the lines of server-sent events are taken as the
standard says (https://html.spec.whatwg.org/multipage/server-sent-events.html), and all others together as one document.
"""

from __future__ import annotations

import json
import os
import threading
import weakref
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import closing, suppress
from functools import cache
from http.cookiejar import DefaultCookiePolicy
from ipaddress import ip_address
from itertools import chain
from socket import SHUT_RDWR, gethostname
from typing import Any, Literal
from urllib.parse import urlsplit
from weakref import WeakSet

from .error_mapping import Refusal

CONNECT_SECONDS = 10.0
CONNECTED = ("connect_tcp.complete", "start_tls.complete")  # events that come with a connection's stream
CONNECTIONS = 100  # that are kept open where many requests are sent at once
MEGABYTE = 1 << 20
ERROR = 2 * MEGABYTE  # whose beginning says what is wrong: the rest is not read
BODY = 8 * MEGABYTE  # of a list of models, a count
ANSWER = 128 * MEGABYTE  # of a streamed answer: most servers send 200 to 400 bytes a token
PART = 16 * MEGABYTE  # of an event, and of the text of one answer (in characters)
UNPACKED = 65_536  # bytes that are decompressed at once
LEAST_LINE = 64  # characters that a line counts for: a short one takes as much memory
CERTIFICATES = ("SSL_CERT_FILE", "SSL_CERT_DIR")
DONE: dict[str, Any] = {"type": "[DONE]"}  # the mark that ends a stream of Chat Completions
NOT_JSON = object()  # what is no JSON
OTHER_FIELDS = frozenset({"", "event", "id", "retry"})  # of events


class ResponseError(Exception):
    """A reply that is not read to its end, or not followed; the text goes on after the server's name."""


def too_long(what: str, most: int) -> ResponseError:
    """Return the error for a part of a reply that is longer than this many bytes or characters."""
    return ResponseError(
        f"sent {what} of more than {most // MEGABYTE:,} MB, and was cut off: check the address, or ask for less."
    )


# connections


class Client:
    """What sends requests to one address, on connections that it keeps open; without cookies, which no API needs.

    ``closed`` is set by :meth:`close`, after which the next request connects anew.
    """

    def __init__(self, base_url: str, timeout: float) -> None:
        self._base = base_url
        self._timeout = timeout
        self._lock = threading.Lock()
        self._renew()

    def _renew(self) -> None:
        self.closed = threading.Event()
        self._http: Any = None
        self._end: Callable[[], object] = bool
        self._streams: WeakSet[Any] = WeakSet()  # also those of connections whose response has not begun

    def open(
        self, path: str, headers: Mapping[str, str], body: bytes | None = None, *, seconds: float | None = None
    ) -> Any:
        """Send a request, a POST where there is a body, and return the response, unread. Raises a Refusal.

        ``seconds``: how long the server may be silent, where that is less than for an answer.
        """
        with self._lock:
            if self._http is None:
                self._http = self._connected()
                self._end = weakref.finalize(self, self._http.close)
            http, streams, closed = self._http, self._streams, self.closed

        def traced(event: str, info: dict[str, Any]) -> None:
            if event.endswith(CONNECTED):
                with self._lock:
                    streams.add(info["return_value"])
                if closed.is_set():  # meanwhile
                    _shut(info["return_value"])

        request = http.build_request(
            "GET" if body is None else "POST", path if "://" in path else self._base + path,
            content=body, extensions={"trace": traced}, headers={**headers, "Content-Type": "application/json"},
            timeout=seconds or http.timeout,
        )  # fmt: skip
        response = http.send(request, stream=True)
        if response.status_code < 300:
            return response
        with closing(response):
            if response.has_redirect_location:
                target = request.url.join(response.headers["location"])
                shown = str(target.copy_with(username=None, password=None, query=None, fragment=None))[:200]
                raise ResponseError(f"redirects to {shown}, and nothing was sent there: use that if it is right.")
            beginning = list[bytes]()
            with suppress(ResponseError):
                beginning.extend(body_bytes(response, ERROR))
            raise Refusal(response.status_code, b"".join(beginning).decode("utf-8", "replace"), response.headers)

    def json(self, path: str, headers: Mapping[str, str], body: bytes | None = None, *, seconds: float) -> Any:
        """Return the JSON that the server answers. Raises a Refusal, and ValueError for anything else."""
        try:
            response = self.open(path, headers, body, seconds=seconds)
        except Exception as error:
            if failure(error) != "reset":  # of a connection that the server had closed meanwhile
                raise
            response = self.open(path, headers, body, seconds=seconds)
        with closing(response):
            return json.loads(b"".join(body_bytes(response)))

    def close(self) -> None:
        """Wake up whoever waits for a response or reads one, and close the connections, from any thread."""
        with self._lock:
            end, streams = self._end, list(self._streams)
            self.closed.set()
            self._renew()
        for stream in streams:
            with suppress(Exception):  # it may have ended meanwhile
                _shut(stream)
        with suppress(Exception):  # another thread may be reading
            end()

    def _connected(self) -> Any:
        """Return an HTTP client. Raises ResponseError where the environment's proxy or certificates cannot be used."""
        import httpx2

        try:
            http = httpx2.Client(
                verify=_trusted(*map(os.environ.get, CERTIFICATES)),
                timeout=httpx2.Timeout(self._timeout, connect=min(CONNECT_SECONDS, self._timeout)),
                limits=httpx2.Limits(max_connections=None, max_keepalive_connections=CONNECTIONS),
                # a proxy for the outside world must not get what is meant for this machine
                trust_env=not is_this_machine(urlsplit(self._base).hostname or ""),
                headers={"User-Agent": "jupyter_ctx", "Accept-Encoding": "identity"},  # whose size can be bounded
            )
        except (ImportError, ValueError, OSError) as error:
            raise ResponseError(
                f"cannot be asked, because of the proxy or the certificates that the environment names ({error}): "
                "check HTTPS_PROXY, HTTP_PROXY, ALL_PROXY and SSL_CERT_FILE."
            ) from None
        http.cookies.jar.set_policy(DefaultCookiePolicy(allowed_domains=[]))
        return http


def _shut(stream: Any) -> None:
    stream.get_extra_info("socket").shutdown(SHUT_RDWR)


@cache
def _trusted(*files: str | None) -> Any:
    """Return the certificates that all clients trust; they are read once, which takes a tenth of a second."""
    import httpx2

    del files  # what the library looks at itself
    return httpx2.create_ssl_context()


def failure(error: Exception) -> Literal["reset", "timeout", "connection"] | None:
    """Return what kind of failure of the connection an error is: the server hung up, was silent, or was not there."""
    import httpx2

    if isinstance(error, httpx2.ReadError | httpx2.WriteError | httpx2.RemoteProtocolError):
        return "reset"
    if isinstance(error, httpx2.TimeoutException):
        return "timeout"
    return "connection" if isinstance(error, httpx2.HTTPError | OSError) else None


def is_this_machine(host: str) -> bool:
    """Return whether a host is this machine, by its address or its own name."""
    name = host.lower().rstrip(".")
    try:
        address = ip_address(name)
    except ValueError:
        return name in ("localhost", gethostname().lower()) or name.endswith(".localhost")
    address = getattr(address, "ipv4_mapped", None) or address
    return address.is_loopback or address.is_unspecified


# answers


def body_bytes(response: Any, most: int = BODY) -> Iterator[bytes]:
    """Yield the bytes of a response, unpacked where a gateway packs them unasked. Raises ResponseError for too many."""
    size, unpack = 0, zlib.decompressobj(wbits=31) if response.headers.get("content-encoding") == "gzip" else None
    for packed in response.iter_raw():
        chunk = packed
        while chunk:
            part = unpack.decompress(chunk, UNPACKED) if unpack else chunk
            chunk = unpack.unconsumed_tail if unpack else b""
            size += len(part)
            if size > most:
                raise too_long("a reply", most)
            yield part


def json_values(chunks: Iterable[bytes]) -> Iterator[tuple[str, Any]]:
    """Yield the text of each event and the JSON in it, at the end those of the lines that belong to none."""
    data, others, size = list[str](), list[str](), 0  # size: since the last event
    for line in _lines(chunks):
        size += len(line) + LEAST_LINE
        if size > PART:
            data, others = [], []  # the error's traceback would keep them
            raise too_long("an event", PART)
        field, _, rest = line.partition(":")
        if field == "data":
            data.append(rest.removeprefix(" "))
        elif line.strip() and field not in OTHER_FIELDS:
            others.append(line)
        is_ended = not line.strip()
        # an object that is whole is an event even where no empty line ends it
        if data and (is_ended or (len(data) == 1 and rest.endswith(("}", "[DONE]")))):
            text = "\n".join(data).strip()
            value = _parsed(text)
            if is_ended or value is not NOT_JSON:
                data, size = [], 0
                if text:
                    yield text, value
    for lines in (data, others):
        text = "\n".join(lines).strip()
        value = _parsed(text)
        if text:  # half an event is dropped where a reply came
            yield text, text if value is NOT_JSON else value


def _lines(chunks: Iterable[bytes]) -> Iterator[str]:
    """Yield the lines in an answer. Raises ResponseError for one that does not end."""
    rest = b""
    for chunk in chain(chunks, [b"\n"]):
        *lines, rest = (rest + chunk).split(b"\n")
        for line in lines:
            yield line.removesuffix(b"\r").decode("utf-8", "replace").removeprefix("\ufeff")
        if len(rest) > PART:
            rest = b""  # as above
            raise too_long("an event", PART)


def _parsed(text: str) -> Any:
    try:
        return DONE if text == "[DONE]" else json.loads(text)
    except (ValueError, RecursionError):
        return NOT_JSON


# what stands in JSON


def dict_at(value: Any, name: str) -> dict[str, Any]:
    """Return the object under a name, else an empty one."""
    found = value.get(name) if isinstance(value, dict) else None
    return found if isinstance(found, dict) else {}


def dicts_in(value: Any) -> list[dict[str, Any]]:
    """Return the objects in a list; of any other value there are none."""
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []


def text_at(value: Mapping[str, Any], name: str) -> str:
    """Return the text under a name, else an empty one."""
    found = value.get(name)
    return found if isinstance(found, str) else ""


def count(reported: Mapping[str, Any], *names: str) -> int:
    """Return the first positive whole number under these names, else 0; servers send values of every type."""
    for name in names:
        value = reported.get(name)
        if type(value) is int and value > 0:
            return value
    return 0
