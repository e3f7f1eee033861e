"""The SDKs that adapters use, the HTTP client below all of them, and bounds on what a server may send.

The bytes of every response are counted below the SDKs and after decompression, so that no reply fills the memory.
Works with httpx and httpx2 alike.
"""

from __future__ import annotations

import os
import re
import threading
import zlib
from collections.abc import Iterator
from contextlib import suppress
from functools import cache
from http.cookiejar import DefaultCookiePolicy
from importlib import import_module
from ipaddress import ip_address
from socket import SHUT_RDWR, gethostname
from typing import Any, NamedTuple
from urllib.parse import urlsplit
from weakref import WeakSet

from ..errors import MissingDependencyError

CONNECT_SECONDS = 10.0
CONNECTED = ("connect_tcp.complete", "start_tls.complete")  # events that come with a connection's stream
CONNECTIONS = 100  # that are kept open where many requests are sent at once
KEEPS_METHOD = (307, 308)  # of the redirects
MEGABYTE = 1 << 20
ERROR = 2 * MEGABYTE  # whose beginning says what is wrong: it is cut, and read
BODY = 8 * MEGABYTE  # of a list of models, a count
ANSWER = 128 * MEGABYTE  # of a streamed answer: most servers send 200 to 400 bytes a token
PART = 16 * MEGABYTE  # of an event, and of the text of one answer (in characters)
UNPACKED = 65_536  # bytes that are decompressed at once
ENCODING = "gzip"  # the one that is asked for, and read: its size can be bounded while it is unpacked


class Sdk(NamedTuple):
    """A provider's SDK.

    ``package``: its name for pip.
    ``oldest``: the first version that serves, major and minor.
    ``newest``: the last major version that is known to serve; a later one is tried.
    ``on_httpx2``: the first major version that is built on httpx2; those before are built on httpx.
    """

    package: str
    oldest: tuple[int, int]
    newest: int
    on_httpx2: int

    def http_library(self) -> Any:
        """Return the HTTP library of the installed version. Raises MissingDependencyError: none serves."""
        try:
            is_old = self._version() < self.oldest
            library = import_module("httpx2" if self._version()[0] >= self.on_httpx2 else "httpx")
        except Exception as error:  # another package may have installed what it cannot be imported with
            raise self.misfit(error) from None
        if is_old:
            raise self.misfit()
        return library

    def is_unknown(self) -> bool:
        """Return whether the installed version is newer than any that is known to serve."""
        return self._version()[0] > self.newest

    def misfit(self, error: Exception | None = None) -> MissingDependencyError:
        """Return the error that names the SDK as the cause; without ``error``, it is the version."""
        oldest = ".".join(map(str, self.oldest))
        install = f"pip install '{self.package}>={oldest},<{self.newest + 1}'"
        needs = f"jupyter_ctx needs {oldest} to {self.newest}.x: {install}, then restart the kernel."
        what = f"{self.installed} is installed" if error is None else f"{self.package} cannot be used ({error})"
        return MissingDependencyError(f"{what}; {needs}")

    @property
    def installed(self) -> str:
        """The name and version of the SDK that this process uses."""
        return f"{self.package} {import_module(self.package.replace('-', '.')).__version__}"

    def _version(self) -> tuple[int, int]:
        major, minor = re.findall(r"\d+", self.installed.removeprefix(self.package))[:2]
        return int(major), int(minor)


class ResponseError(Exception):
    """A reply that is not read to its end, or not followed; the text goes on after the server's name."""


def too_long(what: str, most: int) -> ResponseError:
    """Return the error for a part of a reply that is longer than this many bytes or characters."""
    return ResponseError(
        f"sent {what} of more than {most // MEGABYTE:,} MB, and was cut off: check the address, or ask for less."
    )


class Connections:
    """The connections of one client, also those whose response has not begun."""

    def __init__(self) -> None:
        self._streams: WeakSet[Any] = WeakSet()
        self._lock = threading.Lock()
        self._ended = False

    def watch(self, request: Any) -> None:
        """Remember the connection that a request is sent through, should it need a new one."""
        request.extensions["trace"] = self._traced

    def close(self, http: Any) -> None:
        """Wake up whoever waits for a response or reads one, and close the client."""
        with self._lock:
            self._ended, streams = True, list(self._streams)
        for stream in streams:
            with suppress(Exception):  # it may have ended meanwhile
                _shut(stream)
        http.close()

    def _traced(self, event: str, info: dict[str, Any]) -> None:
        if event.endswith(CONNECTED):
            with self._lock:
                self._streams.add(info["return_value"])
                ended = self._ended
            if ended:  # meanwhile
                _shut(info["return_value"])


def _shut(stream: Any) -> None:
    stream.get_extra_info("socket").shutdown(SHUT_RDWR)


def new_http(library: Any, base_url: str | None, timeout: float, connections: Connections) -> Any:
    """Return a client of httpx or httpx2 with our time limits and no cookies; ``connections`` is told of its own.

    Raises ResponseError where the settings of a proxy or of certificates in the environment cannot be used.
    """
    local = base_url is not None and is_this_machine(urlsplit(base_url).hostname or "")
    try:
        http = library.Client(
            verify=trusted(library),
            timeout=library.Timeout(timeout, connect=min(CONNECT_SECONDS, timeout)),
            limits=library.Limits(max_connections=None, max_keepalive_connections=CONNECTIONS),
            trust_env=not local,  # a proxy for the outside world must not get what is meant for this machine
            follow_redirects=True,
            headers={"Accept-Encoding": ENCODING},
            event_hooks={"request": [connections.watch], "response": [_begun]},
        )
    except (ImportError, ValueError, OSError) as error:
        raise ResponseError(
            f"cannot be asked, because of the proxy or the certificates that the environment names ({error}): check "
            "HTTPS_PROXY, HTTP_PROXY, ALL_PROXY and SSL_CERT_FILE."
        ) from None
    http.cookies.jar.set_policy(DefaultCookiePolicy(allowed_domains=[]))  # no API needs any
    return http


def is_this_machine(host: str) -> bool:
    """Return whether a host is this machine, by its address or its own name."""
    name = host.lower().rstrip(".")
    try:
        address = ip_address(name)
    except ValueError:
        return name in ("localhost", gethostname().lower()) or name.endswith(".localhost")
    address = getattr(address, "ipv4_mapped", None) or address
    return address.is_loopback or address.is_unspecified


def trusted(library: Any) -> Any:
    """Return the certificates that all clients trust; they are read once, which takes a tenth of a second."""
    return _trusted(library, tuple(os.environ.get(name) for name in ("SSL_CERT_FILE", "SSL_CERT_DIR")))


@cache
def _trusted(library: Any, files: tuple[str | None, ...]) -> Any:
    del files  # what the library looks at itself
    return library.create_ssl_context()


def _begun(response: Any) -> None:
    """Bound the body of a response. Raises ResponseError for a redirect that would take the prompt away."""
    library = type(response).__module__.partition(".")[0]
    response.stream = _stream_class(library)(response)
    if response.has_redirect_location:
        request = response.request
        target = request.url.join(response.headers["location"])
        is_same = (target.scheme, target.host, target.port) == (request.url.scheme, request.url.host, request.url.port)
        if not is_same or (request.method == "POST" and response.status_code not in KEEPS_METHOD):
            shown = str(target.copy_with(username=None, password=None, query=None, fragment=None))[:200]
            raise ResponseError(f"redirects to {shown}, and nothing was sent there: use that address if it is right.")


class _Bounded:
    """The body of a response, decompressed and counted. ``cut`` says that the rest of an error was not read."""

    def __init__(self, response: Any) -> None:
        self._is_error = response.status_code >= 300
        self.most, self.cut = ERROR if self._is_error else BODY, ""
        self._stream = response.stream
        self._encoding = response.headers.pop("content-encoding", "").lower().removeprefix("x-")

    def __iter__(self) -> Iterator[bytes]:
        size = 0
        for chunk in self._stream if self._encoding in ("", "identity") else self._unpacked():
            size += len(chunk)
            if size <= self.most:
                yield chunk
            elif self._is_error:
                self.cut = f" (cut at {self.most // MEGABYTE:,} MB)"
                return
            else:
                raise too_long("a reply", self.most)

    def _unpacked(self) -> Iterator[bytes]:
        if self._encoding != ENCODING:
            raise ResponseError(f"compressed its reply as {self._encoding[:20]!r}, which was not asked for.")
        unpack = zlib.decompressobj(wbits=31)
        for packed in self._stream:
            while packed and not unpack.eof:
                yield unpack.decompress(packed, UNPACKED)
                packed = unpack.unconsumed_tail
            if unpack.eof:
                return

    def close(self) -> None:
        self._stream.close()


@cache
def _stream_class(library: str) -> Any:
    """Return the class of bounded bodies for a library, which takes only streams of its own."""
    return type("Bounded", (_Bounded, import_module(library).SyncByteStream), {})


def answer_bytes(response: Any) -> Iterator[bytes]:
    """Yield the bytes of a streamed answer, of which there may be more than of other replies."""
    response.stream.most = ANSWER
    chunks: Iterator[bytes] = response.iter_bytes()
    return chunks


def cut_of(response: Any) -> str:
    """Return where the body of an error was cut, in words, else an empty text."""
    return getattr(response.stream, "cut", "")
