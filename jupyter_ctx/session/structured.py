"""Structured answers: read, and asked for once more where they do not match their schema.

A turn of a conversation and a row of a table are both asked like this; see :class:`Tries`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace

from ..context.usage import Usage
from ..conversation.messages import Message
from ..conversation.schema import Schema
from ..errors import ChatError, InvalidAnswerError, ProviderError
from ..providers.base import AnswerSchema, Reply, Request
from ..runtime.interrupts import uninterrupted
from .attempt import Attempt
from .exchange import Coming, Exchanged
from .judge import INCOMPLETE, Verdict

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
    said = f"That answer is not valid:\n{problems}\nAnswer again with the whole corrected JSON object alone."
    return Message("assistant", answer.strip() or "{}"), Message("user", said)  # providers refuse empty messages


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


@dataclass(slots=True)
class Tries:
    """One structured answer: the first try, and a second where that does not match.

    ``take`` is handed to the exchange as its ``keep``; what is to be kept in the end is passed on to this ``keep``:
    the request that was asked first, with the last answer and the tokens, cost and seconds of both. Without a schema
    everything is passed on as it is.

    schema: what the answer must be; ``None``: text
    keep: called with what is kept; ``None``: nothing is kept
    """

    schema: Schema | None
    keep: Callable[[Attempt, Verdict], object] | None = None
    _held: tuple[Attempt, Verdict] | None = field(default=None, init=False)
    _tried: bool = field(default=False, init=False)  # twice

    def take(self, attempt: Attempt, verdict: Verdict) -> None:
        """Hold an answer that will be asked for once more; keep any other."""
        if self._held is not None:
            attempt, held = self._held
            self._held, verdict = None, replace(verdict, reply=billed(held.reply, verdict.reply))
        elif not self._tried and self._again(attempt, verdict) is not None:
            self._held = (attempt, verdict)
            return
        if self.keep is not None:
            self.keep(attempt, verdict)

    def of(self, exchange: Callable[[Attempt, Coming], Exchanged], planned: Attempt, coming: Coming) -> Exchanged:
        """Return what was answered, with the parsed value, after a second try where it is needed.

        ``exchange`` sends one request and calls :meth:`take` with its answer. Raises InvalidAnswerError, with the
        reply, where the last answer does not match; a ChatError, or KeyboardInterrupt. What was held is kept first.
        """
        try:
            found = exchange(planned, coming)
            again = self._again(found.sent, found.verdict)
            if again is not None:
                found = self._second(exchange, found, again, coming)
            reply = found.verdict.reply
            if self.schema is None or reply.stop_reason in INCOMPLETE:
                return found
            reply = parsed_reply(reply, self.schema, "It was asked for twice." if self._tried else "")
            if self._tried:
                said = f"The first answer was not a valid {self.schema.name}, so it was asked for once more."
                reply = replace(reply, notices=(*reply.notices, said))
            return replace(found, verdict=replace(found.verdict, reply=reply))
        finally:
            with uninterrupted():
                self._keep_held()

    def _second(
        self, exchange: Callable[[Attempt, Coming], Exchanged], first: Exchanged, again: Attempt, coming: Coming
    ) -> Exchanged:
        """Return what was answered to the second try, with the tokens and the cost of both."""
        assert self.schema is not None
        self._tried = True
        if coming.on_piece is not None:
            coming.on_piece(BETWEEN)
        try:
            second = exchange(again, replace(coming, pieces=[], thoughts=[])).verdict
            if second.reply.stop_reason == "cut" and not second.reply.text:
                raise ProviderError("the reply broke off")
        except ChatError as error:
            parsed_reply(first.verdict.reply, self.schema, f"Asking once more failed: {error}")
            raise AssertionError("an answer that is right is not asked for again") from error
        return replace(first, verdict=replace(second, reply=billed(first.verdict.reply, second.reply)))

    def _again(self, attempt: Attempt, verdict: Verdict) -> Attempt | None:
        """Return the second try of an answer, or ``None``: there is no need of one, or no use in it."""
        request = None if self.schema is None else second_request(attempt.request, verdict.reply, self.schema)
        if request is None:
            return None
        count, new = attempt.target.meter.message, request.messages[len(attempt.request.messages) :]
        added = sum(count(message.content) for message in new)
        return replace(attempt, request=request, asked=attempt.asked + added, counted=None)

    def _keep_held(self) -> None:
        """Keep the first answer where no second one came."""
        held, self._held = self._held, None
        if held is not None and self.keep is not None:
            self.keep(*held)
