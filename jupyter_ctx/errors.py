"""Everything that can go wrong, as one tree.

ChatError
├── InvalidRequestError       a value that cannot be sent (also a ValueError)
├── MissingDependencyError    an extra is not installed (also an ImportError)
├── ContextOverflowError      the request does not fit, and fitting did not help
├── ModelNotFoundError        nobody serves this model
├── AuthenticationError       no key, or a refused one
├── RateLimitError            too many requests
├── ProviderConnectionError   nothing answered, or the connection broke
├── ProviderError             any other refusal of the provider
└── StoreError                the conversation could not be saved or read
KeyboardInterrupt
└── ChatInterrupted           the user stopped a reply

A user writes ``except ChatError``; each error carries its data as attributes.
In a cell an error is shown as its message alone (IPython asks for
``_render_traceback_``), and the cell still fails.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from .wording import visible

if TYPE_CHECKING:
    from .context.overflow import Overflow


class ChatError(Exception):
    """Base of all errors of jupyter_ctx."""

    def _render_traceback_(self) -> list[str]:
        return [f"\x1b[31m{type(self).__name__}\x1b[0m: {visible(str(self))}"]


class InvalidRequestError(ChatError, ValueError):
    """A value that cannot be sent; nothing was sent and nothing recorded."""


class MissingDependencyError(ChatError, ImportError):
    """An optional package is missing; the message names the command that installs it."""


class ContextOverflowError(ChatError):
    """The request does not fit in the model's window.

    ``used`` and ``limit`` are tokens (``None`` where nobody said), ``largest`` the biggest
    parts of the request as ``(name, tokens)``, ``prompt`` what the user had asked,
    ``overflow`` what could be read from a provider's refusal; ``by_bytes``: the request was
    refused for its bytes, files included, before anyone counted tokens.
    """

    def __init__(
        self,
        message: str,
        *,
        used: int | None = None,
        limit: int | None = None,
        largest: Sequence[tuple[str, int]] = (),
        prompt: str = "",
        overflow: Overflow | None = None,
        by_bytes: bool = False,
    ) -> None:
        super().__init__(message)
        self.used = used
        self.limit = limit
        self.largest = tuple(largest)
        self.prompt = prompt
        self.overflow = overflow
        self.by_bytes = by_bytes


class ProviderError(ChatError):
    """The provider refused or failed; ``status`` is its HTTP status where there was one."""

    def __init__(self, message: str, *, status: int | None = None) -> None:
        super().__init__(message)
        self.status = status


class ModelNotFoundError(ChatError):
    """Nobody serves ``model``."""

    def __init__(self, message: str, *, model: str = "") -> None:
        super().__init__(message)
        self.model = model


class AuthenticationError(ChatError):
    """The provider wants a key, or did not take the one it got."""


class RateLimitError(ChatError):
    """Too many requests; ``retry_after`` is in seconds where the provider said."""

    def __init__(self, message: str, *, retry_after: float | None = None) -> None:
        super().__init__(message)
        self.retry_after = retry_after


class ProviderConnectionError(ChatError):
    """Nothing answered at the address, or the connection broke."""


class StoreError(ChatError):
    """The conversation could not be saved or read."""


class ChatInterrupted(KeyboardInterrupt):
    """The user stopped a reply. A KeyboardInterrupt, so that Run All stops here."""

    def _render_traceback_(self) -> list[str]:
        return [f"\x1b[33mInterrupted\x1b[0m: {visible(str(self))}"]


def in_words(error: Exception) -> str:
    """An error where no traceback can be shown; ours say by themselves what is wrong."""
    return str(error) if isinstance(error, ChatError) else f"{type(error).__name__}: {error}"
