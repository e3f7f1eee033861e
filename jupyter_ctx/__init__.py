"""Chat with a language model in a notebook, and never get stuck on a full context window.

In a notebook: ``%load_ext jupyter_ctx``, then ``%%chat``. In a script: :class:`Chat`.
"""

from __future__ import annotations

from typing import Any

from .chat import Chat
from .config.settings import Settings
from .context.info import ContextInfo
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
from .providers.base import Card, Provider, Reply, Request, SupportsStream, Thought
from .session.actions import Change
from .session.preview import View

__all__ = [
    "AuthenticationError",
    "Card",
    "Change",
    "Chat",
    "ChatError",
    "ChatInterrupted",
    "ContextInfo",
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
    "Settings",
    "StoreError",
    "SupportsStream",
    "Thought",
    "Usage",
    "View",
    "classify_overflow",
    "get_chat",
    "resolve_window",
]
__version__ = "0.1.0"


def load_ipython_extension(shell: Any) -> None:
    """Register the magics: ``%load_ext jupyter_ctx``. Open no connection, start no thread and write no file."""
    register(shell)


def unload_ipython_extension(shell: Any) -> None:
    """Remove the magics: ``%unload_ext jupyter_ctx``. The conversation stays."""
    unregister(shell)
