"""Bounds on what a server sends, so that no reply fills the memory.

The bytes of every response are counted below the SDKs and after decompression. A body has at most ``BODY`` bytes,
an answer that is read as it comes ``ANSWER``. Works with httpx and httpx2 alike.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from functools import cache
from importlib import import_module
from typing import Any

MEGABYTE = 1 << 20
ERROR = 2 * MEGABYTE  # whose beginning says what is wrong: it is cut, and read
BODY = 8 * MEGABYTE  # of a list of models, a count
ANSWER = 128 * MEGABYTE  # of a streamed answer: most servers send 200 to 400 bytes a token
PART = 16 * MEGABYTE  # of a line, of an event, and of the text of one answer (in characters)
UNPACKED = 65_536  # bytes that are decompressed at once
ENCODING = "gzip"  # the one that is asked for, and read: its size can be bounded while it is unpacked


class BodyError(Exception):
    """A reply that was not read to its end; the text says why, and goes on after the server's name."""


def too_long(what: str, most: int) -> BodyError:
    """Return the error for a part of a reply that is longer than this many bytes or characters."""
    return BodyError(
        f"sent {what} of more than {most // MEGABYTE:,} MB, and was cut off: check the address, or ask for less."
    )


class _Bounded:
    """The body of a response, decompressed and counted. ``cut`` says that the rest of an error was not read."""

    def __init__(self, response: Any) -> None:
        self._is_error = response.status_code >= 300
        self.most, self.cut = ERROR if self._is_error else BODY, ""
        self._stream = response.stream
        self._encoding = response.headers.pop("content-encoding", "").lower().removeprefix("x-")

    def __iter__(self) -> Iterator[bytes]:
        size = 0
        for chunk in self._unpacked():
            size += len(chunk)
            if size <= self.most:
                yield chunk
            elif self._is_error:
                self.cut = f" (cut at {self.most // MEGABYTE:,} MB)"
                return
            else:
                raise too_long("a reply", self.most)

    def _unpacked(self) -> Iterator[bytes]:
        if self._encoding in ("", "identity"):
            yield from self._stream
            return
        if self._encoding != ENCODING:
            raise BodyError(f"compressed its reply as {self._encoding[:20]!r}, which was not asked for.")
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


def bound(response: Any) -> None:
    """Bound the body of a response that has just begun."""
    library = type(response).__module__.partition(".")[0]
    response.stream = _stream_class(library)(response)


def answer_bytes(response: Any) -> Iterator[bytes]:
    """Yield the bytes of a streamed answer, of which there may be more than of other replies."""
    response.stream.most = ANSWER
    chunks: Iterator[bytes] = response.iter_bytes()
    return chunks


def cut_of(response: Any) -> str:
    """Return where the body of an error was cut, in words, else an empty text."""
    return getattr(response.stream, "cut", "")
