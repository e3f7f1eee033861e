"""Ask rows in batches, one step after the other, as a run's engine does."""

from __future__ import annotations

import time
from collections.abc import Mapping
from threading import Event
from types import SimpleNamespace
from typing import Any

from jupyter_ctx.experiments.batch.batch_run import BatchRun
from jupyter_ctx.experiments.row_request import RowRequest
from jupyter_ctx.providers.base import Provider, Reply, Request
from jupyter_ctx.session.ask import AskReply
from jupyter_ctx.storage.stored_answers import AnswerKey, Answers, StoredAnswer

MOMENT = 0.005  # seconds between looks


class AsGiven:
    """Plans requests as they are given, and takes replies as they come."""

    def planned(self, request: Request) -> Any:
        return SimpleNamespace(request=request)

    def from_batch(self, request: Request, reply: Reply, *, is_its_own: bool) -> AskReply:
        return AskReply(reply, False)


def new_run(keeper: Answers, provider: Provider, requests: Mapping[AnswerKey, Any]) -> BatchRun:
    jobs = {
        key: [RowRequest(key, "", lambda request=request: request, lambda *_: None, lambda *_: None)]
        for key, request in requests.items()
    }
    asker: Any = AsGiven()
    return BatchRun(asker, keeper, provider, jobs, {})


def ask(
    keeper: Answers,
    provider: Provider,
    requests: Mapping[AnswerKey, Request],
    *,
    cancelled: Event | None = None,
    left: Event | None = None,
) -> dict[AnswerKey, StoredAnswer]:
    """The outcomes of a run; each is reported once, and after it was stored."""
    run, cancelled, left = new_run(keeper, provider, requests), cancelled or Event(), left or Event()
    try:
        run.begin(asks=not cancelled.is_set())
        while not run.is_over and not left.is_set():
            if cancelled.is_set() or run.due <= time.monotonic():
                run.advance(is_cancelled=cancelled.is_set())
            time.sleep(MOMENT)
    finally:
        run.let_go()
    outcomes = dict(run.outcomes)
    assert len(outcomes) == len(run.outcomes)
    return outcomes
