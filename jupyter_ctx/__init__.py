"""Chat with a language model in a notebook, and never get stuck on a full context window.

``%load_ext jupyter_ctx``, then ``%%chat``; or ``Chat`` in a script.
"""

from __future__ import annotations

from typing import Any

from .chat import Chat
from .context.overflow import Overflow, classify_overflow
from .context.usage import Usage
from .context.windows import ContextWindow
from .conversation.messages import Message
from .errors import (
    AuthenticationError,
    ChatError,
    ChatInterrupted,
    ContextOverflowError,
    InvalidRequestError,
    MissingDependencyError,
    ModelNotFoundError,
    ProviderConnectionError,
    ProviderError,
    RateLimitError,
    StoreError,
)
from .library import Library
from .magics.chat_magic import get_chat, register, unregister
from .models.window_tables import resolve_window
from .providers.base import Card, Provider, Reply, Request, Thought

__all__ = [
    "AuthenticationError",
    "Card",
    "Chat",
    "ChatError",
    "ChatInterrupted",
    "ContextOverflowError",
    "ContextWindow",
    "InvalidRequestError",
    "Library",
    "Message",
    "MissingDependencyError",
    "ModelNotFoundError",
    "Overflow",
    "Provider",
    "ProviderConnectionError",
    "ProviderError",
    "RateLimitError",
    "Reply",
    "Request",
    "StoreError",
    "Thought",
    "Usage",
    "classify_overflow",
    "get_chat",
    "resolve_window",
]
__version__ = "0.1.0"


def load_ipython_extension(shell: Any) -> None:
    """``%load_ext jupyter_ctx``: registers the magics; opens, starts and writes nothing."""
    register(shell)


def unload_ipython_extension(shell: Any) -> None:
    """``%unload_ext jupyter_ctx``: takes the magics away; the conversation stays."""
    unregister(shell)
