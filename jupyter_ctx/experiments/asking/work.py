"""One try to get one answer, in a thread or in a process of another machine."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cache, partial

from ...conversation.messages import new_id
from ...errors import (
    AuthenticationError,
    BudgetExceededError,
    MissingDependencyError,
    ModelNotFoundError,
    ProviderConnectionError,
    ProviderError,
    RateLimitError,
    in_words,
)
from ...models.registry import Models
from ...providers.error_mapping import BUSY
from ...runtime.redaction import Redactor
from ...session.ask import Ask, Asker
from ...session.exchange import Coming
from ...session.paying import may_be_billed
from ..row_request import Fault, Tried


@dataclass(frozen=True, slots=True)
class Work:
    """One request to try, as it is handed to an executor; it holds no key.

    run: the id of the run, by which the process that began it finds its connections
    ask: the request
    number: of the try, to announce its first token
    is_guest: whether a provider that was handed in answers, which only that process has
    needs_key: whether the key for an address of the user's own is in that process's memory only
    begun_in: the process that began the run
    """

    run: str
    ask: Ask
    number: int
    is_guest: bool = False
    needs_key: bool = False
    begun_in: tuple[str, int] = field(default_factory=lambda: own_process())


@dataclass(frozen=True, slots=True)
class Here:
    """What the process that began a run has for it: its connections, who hears of first tokens, whether it stops."""

    asker: Asker
    begun: Callable[[int], object]
    is_stopped: Callable[[], bool] = lambda: False
    process: int = field(default_factory=os.getpid)


_runs: dict[str, Here] = {}  # of this process, by id
_MODULE = new_id()  # forked processes have it too, those of other machines have not


def own_process() -> tuple[str, int]:
    """Return what names this process among those of all machines."""
    return _MODULE, os.getpid()


def open_run(run: str, here: Here) -> None:
    """Let this process answer a run's requests through its own connections."""
    _runs[run] = here


def close_run(run: str) -> None:
    """Forget a run."""
    _runs.pop(run, None)


def work(todo: Work) -> Tried:
    """Try to get one answer. Raises nothing but KeyboardInterrupt and SystemExit."""
    here = _runs.get(todo.run)
    if here is not None and here.process != os.getpid():
        here = None  # a forked process must not use the connections of the one it comes from
    if (here is None and todo.begun_in == own_process()) or (here is not None and here.is_stopped()):
        return Tried(None, "The run has ended.", "busy")
    if here is None and todo.is_guest:
        error = "a provider that was handed in cannot be sent to another process: run without executor="
        return Tried(None, f"{todo.ask.model}: {error}.", "run")
    if here is None and todo.needs_key:
        error = "its key is in the memory of the process that began the run, and is not sent to others"
        return Tried(None, f"{todo.ask.settings.base_url}: {error}: run without executor=.", "run")
    try:
        if here is None:
            return Tried(_own_asker(os.getpid()).answered(todo.ask))
        coming = Coming(on_first=partial(here.begun, todo.number))
        return Tried(here.asker.answered(todo.ask, coming))
    except Exception as error:
        return _failed(error, elsewhere=here is None)


@cache
def _own_asker(process: int) -> Asker:
    """Return what asks in a worker process: its keys come from its own environment."""
    del process  # a forked one must not use its parent's connections
    return Asker(Models())


def _failed(error: Exception, *, elsewhere: bool) -> Tried:
    text, fault, after = in_words(error, Redactor().masked), fault_of(error), None
    if isinstance(error, RateLimitError):
        after = error.retry_after
    if isinstance(error, AuthenticationError) and elsewhere:
        text += " Keys are not sent to other processes: set the key in the environment of the workers."
    return Tried(None, text, fault, after, billed=may_be_billed(error))


def fault_of(error: Exception) -> Fault:
    """Return whose fault an error is."""
    if isinstance(error, AuthenticationError | BudgetExceededError | MissingDependencyError | ModelNotFoundError):
        return "run"
    if isinstance(error, RateLimitError):
        return "limited" if error.helps_to_wait else "row"
    if isinstance(error, ProviderConnectionError):
        return "busy"
    if isinstance(error, ProviderError):
        return "limited" if error.status == 529 else "busy" if error.status in BUSY else "row"
    return "row"
