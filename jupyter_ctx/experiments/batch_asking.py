"""Ask the rows of a run in a provider's batches, one batch run for each model."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from threading import Event

from ..errors import ChatError, in_words
from ..providers.base import Provider, Reply, Request
from ..session.judge import verdict_on
from ..storage.answers import AnswerKey, StoredAnswer
from ..storage.keeping import AnswerKeeper
from .ask import CUT_SHORT, Ask, Asker, AskReply
from .batches import BatchRun
from .stored import as_stored
from .work import Tried

Makes = Mapping[AnswerKey, Callable[[], Ask]]


class BatchRequests(Mapping[AnswerKey, Request]):
    """The requests of rows by their keys; each is made when it is read."""

    def __init__(self, asker: Asker, makes: Makes) -> None:
        self._asker, self._makes = asker, makes

    def __getitem__(self, key: AnswerKey) -> Request:
        return self._asker.planned(self._makes[key](), server=False).request

    def __iter__(self) -> Iterator[AnswerKey]:
        return iter(self._makes)

    def __len__(self) -> int:
        return len(self._makes)

    def kept(self, key: AnswerKey, reply: Reply) -> StoredAnswer:
        """Return what is stored of a reply, with its cost in a batch."""
        if key not in self._makes:  # of another run
            return as_stored(Tried(AskReply(reply, reply.stop_reason in CUT_SHORT)))
        attempt = self._asker.planned(self._makes[key](), server=False)
        try:
            verdict = verdict_on(attempt, reply, None)
        except ChatError as error:
            return as_stored(Tried(None, in_words(error), "row"))
        cost = self._asker.models.cost(attempt.target, reply.usage, reply.model, batch=True)
        whole = replace(verdict.reply, model=attempt.target.model, cost=cost)
        return as_stored(Tried(AskReply(whole, verdict.truncated or whole.stop_reason in CUT_SHORT)))


def ask_in_batches(
    asker: Asker,
    keeper: AnswerKeeper,
    makes: Makes,
    on_answer: Callable[[AnswerKey, StoredAnswer], object],
    cancelled: Event,
    left: Event,
) -> tuple[str, ...]:
    """Ask all rows, a model at a time, and return lines to be shown; see :meth:`BatchRun.run`. Raises a ChatError."""
    by_provider: dict[int, tuple[Provider, dict[AnswerKey, Callable[[], Ask]]]] = {}
    for key, make in makes.items():
        provider = asker.target(make(), server=False).provider
        by_provider.setdefault(id(provider), (provider, {}))[1][key] = make
    notices = list[str]()
    for provider, mine in by_provider.values():
        requests = BatchRequests(asker, mine)
        batches = BatchRun(keeper, provider, requests, kept=requests.kept)
        batches.run(on_answer, cancelled, left)
        notices += batches.notices
    return (*notices, BatchRun.cost_note) if makes else ()
