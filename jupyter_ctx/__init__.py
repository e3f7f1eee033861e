"""Chat with a language model in a notebook, and never get stuck on a full context window.

``%load_ext jupyter_ctx``, then ``%%chat``; or ``Chat`` in a script.
"""

from __future__ import annotations

from typing import Any

from .chat import Chat as Chat
from .context.overflow import Overflow as Overflow
from .context.overflow import classify_overflow as classify_overflow
from .context.windows import ContextWindow as ContextWindow
from .errors import AuthenticationError as AuthenticationError
from .errors import ChatError as ChatError
from .errors import ChatInterrupted as ChatInterrupted
from .errors import ContextOverflowError as ContextOverflowError
from .errors import InvalidRequestError as InvalidRequestError
from .errors import MissingDependencyError as MissingDependencyError
from .errors import ModelNotFoundError as ModelNotFoundError
from .errors import ProviderConnectionError as ProviderConnectionError
from .errors import ProviderError as ProviderError
from .errors import RateLimitError as RateLimitError
from .errors import StoreError as StoreError
from .library import Library as Library
from .magic import get_chat as get_chat
from .magic import register, unregister
from .modelfiles import resolve_window as resolve_window
from .providers import Reply as Reply

__version__ = "0.1.0"


def load_ipython_extension(shell: Any) -> None:
    """``%load_ext jupyter_ctx``: registers the magics; opens, starts and writes nothing."""
    register(shell)


def unload_ipython_extension(shell: Any) -> None:
    """``%unload_ext jupyter_ctx``: takes the magics away; the conversation stays."""
    unregister(shell)
