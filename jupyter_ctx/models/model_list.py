"""The models that a provider lists, as a table."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, ClassVar, NamedTuple

from ..context.windows import ContextWindow
from ..display.tabular import Table
from ..display.text import to_plain


class ModelRow(NamedTuple):
    """A model that a provider lists, and its context window."""

    model: str
    context_window: ContextWindow

    @property
    def window(self) -> int:
        """Tokens that the model holds."""
        return self.context_window.tokens

    @property
    def source(self) -> str:
        """Where the window's size comes from, in words."""
        return self.context_window.origin


class ModelList(Table[ModelRow]):
    """Models with their windows, by name."""

    __slots__ = ()
    columns = ("model", "window", "source")
    heads: ClassVar[Mapping[str, str]] = {"source": ""}
    formats: ClassVar[Mapping[str, Callable[[Any], str]]] = {"model": to_plain, "window": "{:,}".format}
    newest = False
    most_shown = 10_000
