"""Find the functions of the notebook that a model may call: those that a line names, else those of the setting."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Iterable, Mapping
from inspect import getattr_static
from typing import TYPE_CHECKING, Any

from IPython.core.error import UsageError

from ..chat import Chat
from ..config.settings import is_none
from ..wording import did_you_mean
from .variables import value_named, variables_of

if TYPE_CHECKING:
    from ..tools.functions import Tool


def tools_named(chat: Chat, options: Namespace, variables: Mapping[str, Any]) -> tuple[Tool, ...]:
    """Return the functions that may be called; the conversation keeps those that its setting names.

    Raises UsageError for a name that is no function, and InvalidRequestError for a function that no model can call.
    """
    if not options.tools and not chat.config.tools:
        return ()
    from ..tools.functions import as_tools

    if not options.tools:
        found = {name: _function("%chat config tools", name, variables) for name in chat.config.tools}
        tools = as_tools(found.values())
        chat.session.functions.update(zip(found, tools, strict=False))
        return tools
    names = [name for typed in options.tools for name in typed.replace(",", " ").split()]
    if all(map(is_none, names)):
        return ()
    return as_tools(_function("--tool", name, variables) for name in names)


def _function(whose: str, name: str, variables: Mapping[str, Any]) -> Any:
    value = value_named(name, variables)
    if value is None:
        hint = did_you_mean(name, functions_like(name, variables)) or " Run the cell that defines it first."
        raise UsageError(f"{whose} {name}: there is no function {name!r}.{hint} Nothing was sent.")
    if not is_function(value):
        what = "a class" if isinstance(value, type) else f"of type {type(value).__name__}"
        raise UsageError(f"{whose} {name}: {name} is {what}, not a function. Nothing was sent.")
    return value


def functions_like(name: str, variables: Mapping[str, Any]) -> Iterable[str]:
    """Return the names of the notebook's functions; behind a dot, those of the object's methods."""
    owner, dot, _ = name.rpartition(".")
    if not dot:
        return variables_of(variables, is_function)
    value = value_named(owner, variables)
    methods = (each for each in dir(value) if each[0] != "_" and is_function(getattr_static(value, each, None)))
    return [f"{owner}.{each}" for each in methods] if value is not None else ()


def is_function(value: Any) -> bool:
    """Return whether a model may call a value."""
    return callable(value) and not isinstance(value, type)
