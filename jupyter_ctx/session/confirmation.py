"""The price of requests of a conversation before they are sent, and the question where it is high."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeAlias

from ..context.budget import MARGIN
from ..context.tokens import OVERHEAD_AT_MOST
from ..errors import InvalidRequestError
from ..models.registry import Models
from ..models.request_price import RequestPrice, is_above, price_text, request_price
from ..wording import dollars
from .attempt import Attempt

WHERE_HIGH = (
    "Shorten the prompt, make room with %chat trim, lower max_tokens, or set confirm_above higher "
    "(%chat config confirm_above N; none: it never asks)."
)
WHERE_UNKNOWN = "Ask a model whose price is known (-m), or set confirm_above to none, which never asks."
IN_A_SCRIPT = " Chat(confirm=…) takes a function that asks."
Confirm: TypeAlias = Callable[[str], bool | None]  # puts a question to the user; None: nobody can be asked


def attempt_price(models: Models, attempt: Attempt, *, cached: int = 0, tries: int = 1) -> RequestPrice:
    """Return what a planned request may cost; ``cached``, ``tries``: see :func:`request_price`."""
    return request_price(models, attempt.target, attempt.tokens, most_tokens(attempt), cached=cached, tries=tries)


def most_tokens(attempt: Attempt) -> float:
    """Return the tokens of a request with a margin where they are estimated."""
    meter, scope, start = attempt.target.meter, attempt.scope, attempt.cut.start
    if attempt.counted is not None:
        return attempt.counted
    fixed = 0.0 if meter.counted(scope.fixed) else meter.fixed(scope.fixed)
    others = fixed + attempt.ledger.guessed(start, scope.at)
    margin = MARGIN if others or attempt.said.attached else meter.margin(attempt.prompt)
    template = OVERHEAD_AT_MOST if meter.learned.overhead is None else 0.0
    estimated = others + attempt.asked
    return attempt.tokens - estimated + estimated / (1 - margin) + template


def check_confirmed(
    prices: Sequence[RequestPrice], most: float | None, confirm: Confirm | None, what: str = "This prompt"
) -> None:
    """Ask the user where requests may cost more than ``most`` together, or their price is unknown.

    Raises InvalidRequestError, with the figures, unless the user agrees; ``confirm``: ``None`` where nobody can be
    asked. ``what`` names the requests together.
    """
    if most is None or not is_above(prices, most):
        return
    said = price_text(prices, what)
    answer = confirm(f"{said} Send it?") if confirm is not None else None
    if answer is None:
        is_known = all(price.high is not None for price in prices)
        raise InvalidRequestError(
            f"{said} {'That is' if is_known else 'It may be'} above confirm_above ({dollars(most)}), and nobody can be "
            f"asked here: nothing was sent or recorded. {WHERE_HIGH if is_known else WHERE_UNKNOWN}"
            f"{IN_A_SCRIPT if confirm is None else ''}"
        )
    if not answer:
        raise InvalidRequestError(f"{said} Not confirmed: nothing was sent or recorded.")
