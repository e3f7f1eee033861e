"""Chat with a language model in a notebook, and never get stuck on a full context window.

In a notebook: ``%load_ext jupyter_ctx``, then ``%%chat``. In a script: :class:`Chat`.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .chat import Chat as Chat
    from .config.settings import Settings as Settings
    from .context.context_info import ContextInfo as ContextInfo
    from .context.overflow import Overflow as Overflow
    from .context.overflow import classify_overflow as classify_overflow
    from .context.usage import Usage as Usage
    from .context.windows import ContextWindow as ContextWindow
    from .conversation.messages import Message as Message
    from .errors import AuthenticationError as AuthenticationError
    from .errors import BudgetExceededError as BudgetExceededError
    from .errors import ChatError as ChatError
    from .errors import ChatInterrupted as ChatInterrupted
    from .errors import ContextOverflowError as ContextOverflowError
    from .errors import InvalidAnswerError as InvalidAnswerError
    from .errors import InvalidRequestError as InvalidRequestError
    from .errors import MissingDependencyError as MissingDependencyError
    from .errors import ModelNotFoundError as ModelNotFoundError
    from .errors import ProviderConnectionError as ProviderConnectionError
    from .errors import ProviderError as ProviderError
    from .errors import RateLimitError as RateLimitError
    from .errors import StoreError as StoreError
    from .experiments.judges import judge as judge
    from .experiments.long_prompts import long_prompts as long_prompts
    from .experiments.results.comparison import compare as compare
    from .experiments.results.export import load_run as load_run
    from .experiments.results.not_worse import assert_not_worse as assert_not_worse
    from .experiments.run import Run as Run
    from .experiments.scorers import contains as contains
    from .experiments.scorers import exact as exact
    from .experiments.scorers import json_equal as json_equal
    from .experiments.scorers import regex as regex
    from .experiments.start import sweep as sweep
    from .experiments.table.results import Results as Results
    from .library import Library as Library
    from .magics.registration import get_chat as get_chat
    from .models.window_tables import resolve_window as resolve_window
    from .providers.base import Provider as Provider
    from .providers.base import Reply as Reply
    from .session.ask import ask as ask
    from .tools.functions import tool as tool

__version__ = "0.1.0"

_ERRORS = (
    "AuthenticationError", "BudgetExceededError", "ChatError", "ChatInterrupted", "ContextOverflowError",
    "InvalidAnswerError", "InvalidRequestError", "MissingDependencyError", "ModelNotFoundError",
    "ProviderConnectionError", "ProviderError", "RateLimitError", "StoreError",
)  # fmt: skip
_HOMES = {  # the module of each public name, which is imported when the name is first used
    "chat": ("Chat",),
    "config.settings": ("Settings",),
    "context.context_info": ("ContextInfo",),
    "context.overflow": ("Overflow", "classify_overflow"),
    "context.usage": ("Usage",),
    "context.windows": ("ContextWindow",),
    "conversation.messages": ("Message",),
    "errors": _ERRORS,
    "experiments.long_prompts": ("long_prompts",),
    "experiments.results.comparison": ("compare",),
    "experiments.results.export": ("load_run",),
    "experiments.results.not_worse": ("assert_not_worse",),
    "session.ask": ("ask",),
    "experiments.judges": ("judge",),
    "experiments.table.results": ("Results",),
    "experiments.run": ("Run",),
    "experiments.scorers": ("contains", "exact", "json_equal", "regex"),
    "experiments.start": ("sweep",),
    "library": ("Library",),
    "magics.registration": ("get_chat",),
    "models.window_tables": ("resolve_window",),
    "providers.base": ("Provider", "Reply"),
    "tools.functions": ("tool",),
}
_HOME = {name: module for module, names in _HOMES.items() for name in names}
__all__ = sorted(_HOME)


def __getattr__(name: str) -> Any:
    """Import a public name, so that ``%load_ext`` imports none."""
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = globals()[name] = getattr(import_module(f".{_HOME[name]}", __name__), name)
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})


def load_ipython_extension(shell: Any) -> None:
    """Register the magics: ``%load_ext jupyter_ctx``. Open no connection, start no thread and write no file."""
    from .magics.registration import register

    register(shell)


def unload_ipython_extension(shell: Any) -> None:
    """Remove the magics: ``%unload_ext jupyter_ctx``. The conversation stays."""
    from .magics.registration import unregister

    unregister(shell)
