"""Pay for a request: what it may cost is reserved before it is sent, and what it did cost charged at its end."""

from __future__ import annotations

from collections.abc import Generator
from functools import partial

from ..errors import REFUSED, BudgetExceededError, ProviderError
from ..models.registry import Models, Target
from ..models.request_price import with_unknown_price, worst_case
from ..providers.base import Reply, Request, Thought, streaming
from ..providers.error_mapping import TOO_LATE
from ..runtime.interrupts import uninterrupted


def paid_stream(
    models: Models, target: Target, request: Request, tokens: float
) -> Generator[str | Thought | Reply, None, None]:
    """Send a request of so many estimated tokens, and yield what comes; it is to be closed, as with ``closing``.

    What nobody knows is charged at its worst case. Raises a ChatError: BudgetExceededError where a cap has no room for
    it, and InvalidRequestError where there is a cap and its price is unknown.
    """
    purse, cost = target.purse, None
    most = partial(worst_case, models, target, tokens, request.messages, output=request.max_tokens)
    worst = most() if target.is_capped else None
    if purse is not None and not purse.reserve(worst):
        if worst is None:
            raise with_unknown_price([target.model])
        raise BudgetExceededError(f"{purse.said(worst)} The request was not sent.")
    has_begun = False
    try:
        with streaming(target.provider, request) as stream:
            for item in stream:
                has_begun = True
                if isinstance(item, Reply):
                    cost = models.cost(target, item.usage, item.model)
                yield item
    except BaseException as error:
        if not has_begun and not may_be_billed(error):
            cost = 0.0
        raise
    finally:
        if purse is not None:
            with uninterrupted():
                purse.settle(worst, most() if cost is None and worst is None else cost)


def may_be_billed(error: BaseException) -> bool:
    """Return whether a request that failed so, before any text came, may cost money all the same."""
    if isinstance(error, ProviderError):
        return error.status is None or error.status in TOO_LATE
    return not isinstance(error, REFUSED)
