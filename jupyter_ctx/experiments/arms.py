"""The arms of a run: every combination of the values in its grid."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ..config.settings import SETTING_NAMES, Settings
from ..errors import InvalidRequestError
from ..models.registry import settings_with

SHOWN = 40  # characters of a value in a label


@dataclass(frozen=True, slots=True)
class Arm:
    """One combination of a grid's values.

    label: what tables call it, such as "tone=formal"; empty where there is one arm only
    values: the value of each name in the grid
    settings: how its requests are asked
    is_capped: whether ``max_tokens`` is sent for the sake of a cap on the cost only
    """

    label: str
    values: Mapping[str, Any]
    settings: Settings
    is_capped: bool = False

    @property
    def names(self) -> dict[str, Any]:
        """The values that fill a template: those of the grid that are no settings."""
        return {name: value for name, value in self.values.items() if name not in SETTING_NAMES}


def arms_of(grid: Mapping[str, Iterable[Any]], settings: Settings) -> list[Arm]:
    """Return the arms of a grid, the last name varying fastest. Raises InvalidRequestError for a bad grid.

    A name that is a setting sets it; any other fills ``{{ name }}`` in the template.
    """
    if not isinstance(grid, Mapping):
        raise InvalidRequestError(f'grid is {grid!r}: it must be a dict of lists, such as {{"temperature": [0, 1]}}.')
    choices = {name: _choices(name, values) for name, values in grid.items()}
    varying = [name for name, values in choices.items() if len(values) > 1]
    arms = []
    for combination in itertools.product(*choices.values()):
        values = dict(zip(choices, combination, strict=True))
        set_here = {name: value for name, value in values.items() if name in SETTING_NAMES}
        label = ", ".join(f"{name}={shown_value(values[name])}" for name in varying)
        arms.append(Arm(label, values, settings_with(settings, set_here)))
    return arms


def _choices(name: object, values: object) -> Sequence[Any]:
    if not isinstance(name, str) or not name.isidentifier():
        raise InvalidRequestError(f"grid has the name {name!r}: it must be a setting, or a name in the template.")
    if isinstance(values, str | bytes | Mapping) or not isinstance(values, Iterable):
        raise InvalidRequestError(f"grid[{name!r}] is {values!r}: it must be a list of values, such as [{values!r}].")
    chosen = list(values)
    if not chosen:
        raise InvalidRequestError(f"grid[{name!r}] is empty: give it one value or more.")
    repeated = next((value for at, value in enumerate(chosen) if value in chosen[:at]), None)
    if repeated is not None:
        raise InvalidRequestError(f"grid[{name!r}] has {repeated!r} twice: repeat=2 asks each row twice.")
    return chosen


def shown_value(value: Any) -> str:
    """Return a value as labels show it, in one line."""
    text = " ".join(str(value).split())
    return text if len(text) <= SHOWN else f"{text[: SHOWN - 1]}…"
