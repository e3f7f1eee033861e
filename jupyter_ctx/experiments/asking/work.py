"""One try to get one answer, in a thread or in a process of another machine."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
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
from ...session.complete import StreamListener, may_be_billed
from ..row_request import Fault, RowAnswer


@dataclass(frozen=True, slots=True)
class Work:
    """One request to try, as it is handed to an executor; it holds no key.

    run: the id of the run, by which the process that began it finds its connections
    ask: the request
    number: of the try, to announce its first token
    begun_in: the process that began the run
    only_there: why no other process can ask; empty where any can
    """

    run: str
    ask: Ask
    number: int
    begun_in: tuple[str, int]
    only_there: str = ""


@dataclass(frozen=True, slots=True)
class Here:
    """What the process that began a run has for it: its connections, who hears of first tokens, whether it stops."""

    asker: Asker
    begun: Callable[[int], object]
    is_stopped: Callable[[], bool]


_runs: dict[tuple[str, int], Here] = {}  # by the id of the run, and the process: a forked one has no connections
_MODULE = new_id()  # forked processes have it too, those of other machines have not


def own_process() -> tuple[str, int]:
    """Return what names this process among those of all machines."""
    return _MODULE, os.getpid()


def open_run(run: str, here: Here) -> None:
    """Let this process answer a run's requests through its own connections."""
    _runs[run, os.getpid()] = here


def close_run(run: str) -> None:
    """Forget a run."""
    _runs.pop((run, os.getpid()), None)


def work(todo: Work) -> RowAnswer:
    """Try to get one answer. Raises nothing but KeyboardInterrupt and SystemExit."""
    here = _runs.get((todo.run, os.getpid()))
    has_ended = here.is_stopped() if here is not None else todo.begun_in == own_process()
    if has_ended:
        return RowAnswer(error="The run has ended.", fault="busy")
    if here is None and todo.only_there:
        return RowAnswer(error=f"{todo.only_there}: run without executor=.", fault="run")
    try:
        if here is None:
            return RowAnswer(*_own_asker(os.getpid()).answered(todo.ask))
        coming = StreamListener(on_first=partial(here.begun, todo.number))
        return RowAnswer(*here.asker.answered(todo.ask, coming))
    except Exception as error:
        return _failed(error, elsewhere=here is None)


@cache
def _own_asker(process: int) -> Asker:
    """Return what asks in a worker process: its keys come from its own environment."""
    del process  # a forked one must not use its parent's connections
    return Asker(Models())


def _failed(error: Exception, *, elsewhere: bool) -> RowAnswer:
    text, fault, after = in_words(error, Redactor().masked), fault_of(error), None
    if isinstance(error, RateLimitError):
        after = error.retry_after
    if isinstance(error, AuthenticationError) and elsewhere:
        text += " Keys are not sent to other processes: set the key in the environment of the workers."
    reply = getattr(error, "reply", None)  # one that was all thinking: paid, and no answer
    return RowAnswer(reply, reply is not None, text, fault, after, may_be_billed(error))


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
