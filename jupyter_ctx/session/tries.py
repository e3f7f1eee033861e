"""Structured answers: read, and asked for once more where they do not match their schema.

A turn of a conversation and a row of a table are both asked like this; see :func:`answered`.
"""

from __future__ import annotations

from dataclasses import replace

from ..context.usage import Usage
from ..conversation.messages import Message
from ..conversation.schema import Schema
from ..errors import ChatError, InvalidAnswerError, ProviderError
from ..providers.base import AnswerSchema, Reply, Request
from .attempt import Attempt
from .exchange import Coming, Exchanged, Exchanging
from .judge import INCOMPLETE

BETWEEN = "\n\n"  # two tries, where both are shown
ENDED_EARLY = {
    "max_tokens": "The answer was cut at max_tokens, so its JSON may not be whole: allow a longer one with max_tokens.",
    "context_window": "The context window was full, so the JSON may not be whole: make room, or send a shorter prompt.",
    "refusal": "The model or its provider refused to answer.",
}


def as_answer(schema: Schema | None) -> AnswerSchema | None:
    """Return a schema as a request carries it."""
    return None if schema is None else AnswerSchema(schema.name, schema.json)


def parsed_reply(reply: Reply, schema: Schema, *more: str) -> Reply:
    """Return a reply with its parsed value.

    Raises InvalidAnswerError, with the reply, where it does not match; ``more`` is added to the message.
    """
    try:
        return replace(reply, parsed=schema.parse(reply.text))
    except InvalidAnswerError as error:
        message = " ".join(filter(None, (str(error), ENDED_EARLY.get(reply.stop_reason), *more)))
        raise InvalidAnswerError(message, text=error.text, problems=error.problems, reply=reply) from None


def asked_again(answer: str, wrong: InvalidAnswerError) -> tuple[Message, Message]:
    """Return what follows an invalid answer: the answer itself, and what is wrong with it."""
    problems = "\n".join(f"- {problem}" for problem in wrong.problems) or f"- {wrong}"
    request = f"That answer is not valid:\n{problems}\nAnswer again with the whole corrected JSON object alone."
    return Message("assistant", answer.strip() or "{}"), Message("user", request)  # providers refuse empty messages


def second_request(request: Request, reply: Reply, schema: Schema) -> Request | None:
    """Return the request that asks once more, with what is wrong with an answer.

    ``None``: the answer is right, or it ended for a reason that asking again does not mend.
    """
    if reply.stop_reason != "stop":
        return None
    try:
        schema.parse(reply.text)
    except InvalidAnswerError as wrong:
        messages = (*request.messages, *asked_again(reply.text, wrong))
        return replace(request, messages=messages, cache_key=None, shared=None)
    return None


def billed(first: Reply, second: Reply) -> Reply:
    """Return the second reply with the tokens, the cost and the seconds of both."""
    usage, cost, seconds = second.usage, second.cost, second.seconds
    if first.usage is not None:
        usage = first.usage if usage is None else _sum(first.usage, usage)
    if first.cost is not None:
        cost = None if cost is None and second.usage is not None else first.cost + (cost or 0.0)
    if first.seconds is not None:
        seconds = first.seconds + (seconds or 0.0)
    return replace(second, usage=usage, cost=cost, seconds=seconds)


def _sum(first: Usage, second: Usage) -> Usage:
    """Return the bill for two requests."""
    return Usage(
        first.input_tokens + second.input_tokens,
        first.output_tokens + second.output_tokens,
        first.cache_read_tokens + second.cache_read_tokens,
        first.cache_write_tokens + second.cache_write_tokens,
        first.reasoning_tokens + second.reasoning_tokens,
        first.guessed or second.guessed,
    )


def answered(schema: Schema | None, exchange: Exchanging, planned: Attempt, coming: Coming) -> Exchanged:
    """Return what was answered, with the parsed value, after a second try where the first does not match.

    Of two tries, the request that was sent first is returned, with the last answer that has text and the tokens, cost
    and seconds of both. The ``error`` is an InvalidAnswerError where the last answer does not match.
    """
    first = exchange(planned, coming)
    again = _second_attempt(first, schema)
    if again is None or schema is None:
        return _parsed(first, schema)
    try:
        if coming.on_piece is not None:
            coming.on_piece(BETWEEN)
    except BaseException as error:  # of who is shown it; the first answer is returned all the same
        return first._replace(error=error)
    return _of_both(first, exchange(again, replace(coming, pieces=[], thoughts=[])), schema)


def _second_attempt(first: Exchanged, schema: Schema | None) -> Attempt | None:
    """Return the second try at an answer, or ``None``: there is no need of one, or no use in it."""
    if schema is None or first.verdict is None or first.error is not None:
        return None
    attempt = first.sent
    request = second_request(attempt.request, first.verdict.reply, schema)
    if request is None:
        return None
    count, new = attempt.target.meter.message, request.messages[len(attempt.request.messages) :]
    added = sum(count(message.content) for message in new)
    return replace(attempt, request=request, asked=attempt.asked + added, counted=None)


def _of_both(first: Exchanged, second: Exchanged, schema: Schema) -> Exchanged:
    """Return what came of two tries at one answer."""
    assert first.verdict is not None
    reply, verdict, error = first.verdict.reply, first.verdict, second.error
    if second.verdict is not None and second.replies:
        verdict = second.verdict._replace(reply=billed(reply, second.verdict.reply))
    elif error is None:
        error = ProviderError("the reply broke off")
    both = first._replace(verdict=verdict, replies=(*first.replies, *second.replies))
    if error is None:
        return _parsed(both, schema, is_second=True)
    if isinstance(error, ChatError):
        error = _parsed(first, schema, f"Asking once more failed: {error}").error
    return both._replace(error=error)


def _parsed(exchanged: Exchanged, schema: Schema | None, *more: str, is_second: bool = False) -> Exchanged:
    """Return an exchange with the parsed value of its answer, or the error where that does not match."""
    verdict = exchanged.verdict
    if schema is None or verdict is None or exchanged.error is not None or verdict.reply.stop_reason in INCOMPLETE:
        return exchanged
    try:
        reply = parsed_reply(verdict.reply, schema, *(["It was asked for twice."] if is_second else more))
    except InvalidAnswerError as error:
        return exchanged._replace(error=error)
    if is_second:
        notice = f"The first answer was not a valid {schema.name}, so it was asked for once more."
        reply = replace(reply, notices=(*reply.notices, notice))
    return exchanged._replace(verdict=verdict._replace(reply=reply))
