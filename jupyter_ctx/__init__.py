"""Chat with a language model in a notebook, and never get stuck on a full context window.

In a notebook: ``%load_ext jupyter_ctx``, then ``%%chat``. In a script: :class:`Chat`.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .chat import Chat
    from .config.settings import Settings
    from .context.context_info import ContextInfo
    from .context.overflow import Overflow, classify_overflow
    from .context.usage import Usage
    from .context.windows import ContextWindow
    from .conversation.messages import Message
    from .errors import (
        AuthenticationError,
        BudgetExceededError,
        ChatError,
        ChatInterrupted,
        ContextOverflowError,
        InvalidAnswerError,
        InvalidRequestError,
        MissingDependencyError,
        ModelNotFoundError,
        ProviderConnectionError,
        ProviderError,
        RateLimitError,
        StoreError,
    )
    from .experiments.judges import judge
    from .experiments.long_prompts import long_prompts
    from .experiments.results.comparison import compare
    from .experiments.results.export import load_run
    from .experiments.results.not_worse import assert_not_worse
    from .experiments.run import Run
    from .experiments.scorers import contains, exact, json_equal, regex
    from .experiments.start import sweep
    from .experiments.table.results import Results
    from .library import Library
    from .magics.registration import get_chat
    from .models.window_tables import resolve_window
    from .providers.base import Provider, Reply
    from .session.ask import ask
    from .tools.functions import tool

__all__ = [
    "AuthenticationError",
    "BudgetExceededError",
    "Chat",
    "ChatError",
    "ChatInterrupted",
    "ContextInfo",
    "ContextOverflowError",
    "ContextWindow",
    "InvalidAnswerError",
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
    "Results",
    "Run",
    "Settings",
    "StoreError",
    "Usage",
    "ask",
    "assert_not_worse",
    "classify_overflow",
    "compare",
    "contains",
    "exact",
    "get_chat",
    "json_equal",
    "judge",
    "load_run",
    "long_prompts",
    "regex",
    "resolve_window",
    "sweep",
    "tool",
]
__version__ = "0.1.0"


_HOMES = {  # the module of each public name, which is imported when the name is first used
    "chat": ("Chat",),
    "config.settings": ("Settings",),
    "context.context_info": ("ContextInfo",),
    "context.overflow": ("Overflow", "classify_overflow"),
    "context.usage": ("Usage",),
    "context.windows": ("ContextWindow",),
    "conversation.messages": ("Message",),
    "errors": tuple(name for name in __all__ if name.endswith("Error") or name == "ChatInterrupted"),
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
