"""A dictionary of the few values that were used last."""

from __future__ import annotations

from typing import TypeVar

K = TypeVar("K")
V = TypeVar("V")
FEW = 4  # what is used in turn: two models, a stored answer and a new one


class Recent(dict[K, V]):
    """A dictionary that drops the value which was set first where a fifth one is set."""

    def __setitem__(self, key: K, value: V) -> None:
        self.pop(key, None)
        super().__setitem__(key, value)
        if len(self) > FEW:
            del self[next(iter(self))]
