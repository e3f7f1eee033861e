"""How rows are dealt out to batches, and what an error of a provider means for a batch."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TypeVar

from ..errors import (
    AuthenticationError,
    ChatError,
    ContextOverflowError,
    InvalidRequestError,
    MissingDependencyError,
    ModelNotFoundError,
    ProviderConnectionError,
    ProviderError,
    RateLimitError,
)
from ..providers.error_mapping import BUSY

T = TypeVar("T")

AROUND = 64  # bytes around the requests of a batch
REFUSED = (
    AuthenticationError, ContextOverflowError, InvalidRequestError, MissingDependencyError, ModelNotFoundError,
    RateLimitError,
)  # fmt: skip


def deal(sizes: Iterable[tuple[T, int]], most_requests: int, most_bytes: int) -> list[list[T]]:
    """Deal out requests with their sizes in bytes, in order, to batches that a provider takes.

    No single one may be larger than a batch: see :func:`fits`.
    """
    parts, room = list[list[T]](), 0
    for item, size in sizes:
        if not parts or len(parts[-1]) >= most_requests or size > room:
            parts.append([])
            room = most_bytes - AROUND
        parts[-1].append(item)
        room -= size
    return parts


def fits(size: int, most_bytes: int) -> bool:
    """Return whether one request of this size in bytes fits into a batch."""
    return size <= most_bytes - AROUND


def is_passing(error: ChatError) -> bool:
    """Return whether the same question may be answered a little later."""
    if isinstance(error, RateLimitError):
        return error.helps_to_wait
    if isinstance(error, ProviderError):
        return error.status is None or error.status in BUSY
    return isinstance(error, ProviderConnectionError)


def is_refusal(error: ChatError) -> bool:
    """Return whether a batch was surely not begun; else it may have been, although no answer came."""
    if isinstance(error, ProviderError):
        return error.status is not None and 400 <= error.status < 500 and error.status not in BUSY
    return isinstance(error, REFUSED)
