"""What a run is told beside its template, its rows and the settings of its requests."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from concurrent.futures import Executor
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import Any

from ..config.settings import KEYWORDS
from ..errors import InvalidRequestError, check_whole_number
from ..wording import did_you_mean


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """How a run asks.

    repeat: how often each row is asked
    schema: what each answer must be: a pydantic model, a dataclass, a TypedDict or a JSON schema
    scorers: functions of a row and its reply, alone, in a list or by name
    group: the column whose equal values belong together, such as questions about one document
    max_cost: US dollars that are never passed; ``None``: no such cap
    spent: US dollars of max_cost that are spent already, as by an earlier run of the same cell
    limit: rows to ask, the first ones; ``None``: all
    retry: whether rows that failed are asked again
    concurrency: requests at once; ``None``: it adapts to the server
    executor: where requests run; ``None``: in threads
    name: what tables and pictures call the run
    dry_run: whether only the price is told, and nothing is sent
    yes: whether it may begin without asking, above the setting confirm_cost
    names: values that the template may use beside the columns, such as a notebook's variables
    store: where answers are kept: as for Chat, and "default" by default; ``None``: in memory only
    progress: whether a bar is shown; ``None``: where somebody looks
    agree: puts a question to the user; ``None``: nobody can be asked
    tell: is given the run before it begins, to show what it may cost
    """

    repeat: int = 1
    schema: Any = None
    scorers: Any = ()
    group: str | None = None
    max_cost: float | None = None
    spent: float = 0.0
    limit: int | None = None
    retry: bool = False
    concurrency: int | None = None
    executor: Executor | None = None
    name: str = ""
    dry_run: bool = False
    yes: bool = False
    names: Mapping[str, Any] = field(default_factory=dict)
    store: str | Path | None = "default"
    progress: bool | None = None
    agree: Callable[[str], bool] | None = None
    tell: Callable[[Any], object] | None = None

    def __post_init__(self) -> None:
        check_whole_number("repeat", self.repeat, least=1)
        for name, value in {"limit": self.limit, "concurrency": self.concurrency}.items():
            if value is not None:
                check_whole_number(name, value, least=1)
        cost = self.max_cost
        if cost is not None and (isinstance(cost, bool) or not isinstance(cost, int | float) or not 0 < cost < 1e9):
            raise InvalidRequestError(f"max_cost is {cost!r}: it must be US dollars above 0.")
        if self.executor is not None and not callable(getattr(self.executor, "submit", None)):
            raise InvalidRequestError(
                f"executor is {self.executor!r}: it must be a concurrent.futures.Executor, "
                "such as client.get_executor()."
            )


def parted(given: Mapping[str, Any], begun: Options) -> tuple[Options, dict[str, Any]]:
    """Return the options among named arguments, beside those that are there, and the rest, which are settings.

    Raises InvalidRequestError for a name that is neither, with the nearest one.
    """
    known = [each.name for each in fields(begun)]
    unknown = next((name for name in given if name not in known and name not in KEYWORDS), None)
    if unknown is not None:
        hint = did_you_mean(unknown, (*known, *KEYWORDS), "{}=")
        hint = hint or f" There are {', '.join(known)}, and every setting."
        raise InvalidRequestError(f"A run takes no {unknown}=.{hint}")
    options = {name: value for name, value in given.items() if name in known}
    return replace(begun, **options), {name: value for name, value in given.items() if name not in known}
