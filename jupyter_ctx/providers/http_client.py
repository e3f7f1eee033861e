"""The HTTP client that all SDKs use, and the responses that are being read."""

from __future__ import annotations

import os
import threading
from contextlib import suppress
from functools import cache
from socket import SHUT_RDWR
from typing import Any
from urllib.parse import urlsplit
from weakref import WeakSet

from .reply_bounds import ENCODING, bound

LOOPBACK = frozenset({"127.0.0.1", "localhost", "::1"})
KEY_HEADERS = ("authorization", "api-key", "x-api-key", "x-goog-api-key")
CONNECT_SECONDS = 10.0
CONNECTED = ("connect_tcp.complete", "start_tls.complete")  # events that come with a connection's stream
CONNECTIONS = 100  # that are kept open where many requests are sent at once


class OpenResponses:
    """Open responses by the thread that reads them: each thread can release its own, any thread can end all."""

    def __init__(self) -> None:
        self._open: dict[Any, int] = {}
        self._lock = threading.Lock()

    def note(self, response: Any) -> None:
        """Remember a response that this thread reads."""
        with self._lock:
            self._open[response] = threading.get_ident()

    def release(self) -> None:
        """Close the responses of this thread; one that is left half read would keep its connection."""
        with self._lock:
            mine = [response for response, thread in self._open.items() if thread == threading.get_ident()]
            for response in mine:
                del self._open[response]
        for response in mine:
            _close(response)

    def end(self) -> None:
        """End all responses: shut their sockets down, so that a blocked reader wakes up."""
        with self._lock:
            responses, self._open = list(self._open), {}
        for response in responses:
            with suppress(Exception):  # it may have ended meanwhile
                _shut(response.extensions["network_stream"])
            _close(response)


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
        """Wake up whoever waits for a response, and close the client."""
        with self._lock:
            self._ended, streams = True, list(self._streams)
        for stream in streams:
            with suppress(Exception):
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


def _close(response: Any) -> None:
    with suppress(Exception):
        response.close()


def new_http(
    library: Any, base_url: str | None, timeout: float, responses: OpenResponses, connections: Connections
) -> Any:
    """Return a client of httpx or httpx2 with our time limits; ``responses`` and ``connections`` are told of theirs."""
    local = base_url is not None and urlsplit(base_url).hostname in LOOPBACK
    return library.Client(
        verify=trusted(library),
        timeout=library.Timeout(timeout, connect=min(CONNECT_SECONDS, timeout)),
        limits=library.Limits(max_connections=None, max_keepalive_connections=CONNECTIONS),
        trust_env=not local,  # a proxy for the outside world must not get what is meant for this machine
        follow_redirects=True,
        headers={"Accept-Encoding": ENCODING},
        event_hooks={"request": [_keep_key, connections.watch], "response": [bound, responses.note]},
    )


def trusted(library: Any) -> Any:
    """Return the certificates that all clients trust; they are read once, which takes a tenth of a second."""
    return _trusted(library, tuple(os.environ.get(name) for name in ("SSL_CERT_FILE", "SSL_CERT_DIR")))


@cache
def _trusted(library: Any, files: tuple[str | None, ...]) -> Any:
    del files  # what the library looks at itself
    return library.create_ssl_context()


def _keep_key(request: Any) -> None:
    """Remove the key from a request that is redirected to another host; the library removes only Authorization."""
    first = request.extensions.setdefault("jupyter_ctx.first_url", request.url)
    upgraded = first.copy_with(scheme="https") if first.scheme == "http" and first.port is None else first
    if _origin(request.url) not in (_origin(first), _origin(upgraded)):
        for name in KEY_HEADERS:
            request.headers.pop(name, None)


def _origin(url: Any) -> tuple[str, str, int | None]:
    return url.scheme, url.host, url.port
