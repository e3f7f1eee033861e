"""What was said: messages, attachments, turns, and the summaries that stand for older turns."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Any, Literal, NamedTuple

from ..context.logprobs import TokenLogprob
from ..context.usage import Usage
from ..context.vision import Vision, image_size

SHORT_RESULT = 200  # characters of a result that is cut down to its first line
Role = Literal["system", "user", "assistant"]
StopReason = Literal["stop", "max_tokens", "context_window", "refusal", "interrupted", "cut", "tool_calls"]
INCOMPLETE = ("interrupted", "cut")  # replies that broke off


def new_id() -> str:
    """Return a short random name for a turn or a summary."""
    return os.urandom(6).hex()


@dataclass(frozen=True, slots=True)
class Attachment:
    """An image or a PDF that goes with a prompt.

    ``data``: the file.
    ``tokens``: its estimated size, of an image for a model of which nothing is known.
    """

    name: str
    media_type: str
    data: bytes = field(repr=False)
    tokens: int = 0

    @property
    def kind(self) -> str:
        """``image`` or ``pdf``, as providers tell them apart."""
        return "image" if self.media_type.startswith("image/") else "pdf"


def file_tokens(files: Iterable[Attachment], vision: Vision) -> int:
    """Return the estimated tokens of files for a model that reads images so."""
    images = "image" if vision.patch else ""
    return sum(vision.tokens(*image_size(file.data)) if file.kind == images else file.tokens for file in files)


class ToolSpec(NamedTuple):
    """A function that a model may call, as a request offers it.

    ``name``: of letters, digits, ``_`` and ``-``.
    ``description``: what it does, for the model.
    ``json``: the JSON Schema of its arguments, an object.
    """

    name: str
    description: str
    json: dict[str, Any]


@dataclass(frozen=True, slots=True)
class ToolCall:
    """A call of a function that a model asks for.

    ``id``: what tells its result from those of other calls; unique in one conversation.
    ``arguments``: a JSON object as the model wrote it, which may be no JSON at all.
    """

    id: str
    name: str
    arguments: str = "{}"

    def __str__(self) -> str:
        given = self.arguments
        with suppress(ValueError, RecursionError, AttributeError):  # it may be no JSON, or no object
            given = ", ".join(f"{name}={value!r}" for name, value in json.loads(self.arguments).items())
        return f"{self.name}({given})"


@dataclass(frozen=True, slots=True)
class ToolResult:
    """What came of a call.

    ``text``, ``attachments``: what the model is sent.
    ``brief``: what the user is told of it in one line: ``12 rows``.
    ``failed``: the function raised, or was not called.
    ``seconds``: how long it took; ``None``: it was not called.
    """

    text: str
    attachments: tuple[Attachment, ...] = ()
    brief: str = ""
    failed: bool = False
    seconds: float | None = None

    def first_line(self) -> ToolResult:
        """Return the result cut down to its first line, without its files."""
        first = self.text.strip().partition("\n")[0]
        cut = f"{first[:SHORT_RESULT]} [shortened]"
        return replace(self, text=cut, attachments=()) if len(cut) < len(self.text) or self.attachments else self


@dataclass(frozen=True, slots=True)
class ToolRound:
    """The calls of one reply with their results: they stand between a prompt and its answer.

    ``calls``, ``results``: each call and what came of it, in the same order.
    ``text``, ``thinking``: what the model wrote, and thought, before the calls.
    ``state``: JSON that the API wants back unchanged while the same prompt is answered, such as signed thoughts, in
    the provider's own form; empty: none. It is not stored.
    """

    calls: tuple[ToolCall, ...]
    results: tuple[ToolResult, ...]
    text: str = ""
    thinking: str = ""
    state: str = ""

    def __str__(self) -> str:
        """Return the round as text, for models that take no calls, and for estimates of its tokens."""
        answered = zip(self.calls, self.results, strict=True)
        called = (f"[called {call}, which returned:]\n{result.text}" for call, result in answered)
        return "\n\n".join(filter(None, (self.text, *called)))

    @property
    def lines(self) -> tuple[str, ...]:
        """Each call with what came of it, in few words."""
        return tuple(f"{call} → {result.brief}" for call, result in zip(self.calls, self.results, strict=True))

    @property
    def files(self) -> tuple[Attachment, ...]:
        """The files of all results."""
        return tuple(file for result in self.results for file in result.attachments)

    def rewritten(self, rewrite: Callable[[str], str]) -> ToolRound:
        """Return the round with all its texts rewritten."""
        calls = (ToolCall(call.id, rewrite(call.name), rewrite(call.arguments)) for call in self.calls)
        results = (replace(each, text=rewrite(each.text), brief=rewrite(each.brief)) for each in self.results)
        texts = {"text": rewrite(self.text), "thinking": rewrite(self.thinking)}
        return replace(self, calls=tuple(calls), results=tuple(results), **texts)

    def shortened(self) -> ToolRound:
        """Return the round with each result cut down to its first line."""
        return replace(self, results=tuple(result.first_line() for result in self.results))


@dataclass(frozen=True, slots=True)
class Message:
    """One side's text, and the files that go with it.

    ``round``: of an assistant's message, the calls that follow its ``content``, with their results: an adapter makes
    two or more messages of it, as its API has them.
    """

    role: Role
    content: str
    attachments: tuple[Attachment, ...] = ()
    round: ToolRound | None = None

    @property
    def text(self) -> str:
        """All of its text, with calls and their results."""
        return self.content if self.round is None else str(self.round)

    @property
    def files(self) -> tuple[Attachment, ...]:
        """All files that it carries, those of results too."""
        return self.attachments if self.round is None else (*self.attachments, *self.round.files)


@dataclass(frozen=True, slots=True)
class TurnRecord:
    """How one turn was asked for, sent and answered.

    ``model``: full name of the model that answered; empty for a turn that was added.
    ``stop_reason``: why the reply ended.
    ``usage``: tokens of the request and the reply, where the provider reported them.
    ``window``: tokens that the model was believed to hold; 0 where nothing was sent.
    ``limit``: tokens that a prompt could have of them.
    ``cost``: US dollars; ``None`` where unknown.
    ``seconds``: from the request to the end of the reply.
    ``at``: when the turn was recorded, in seconds since 1970; ``None``: it was added, or is of an earlier release.
    ``stored``: the reply was there already, in the store or handed out with the notebook, and nothing was sent.
    ``start``: id of the place at which the request's view began; ``None``: at the first turn.
    ``shortened``: id of the place before which results of functions were cut down to a line; ``None``: nowhere.
    ``apart``: the request had settings of its own, so that later ones do not go on from its view.
    ``summary``: id of the summary in that view.
    ``digest``: fingerprint of the request; empty for a turn that was added.
    ``cell``: id of the notebook cell, where the front end tells.
    ``run``: id of that cell's execution.
    ``execution``: the number that the cell shows for this execution.
    ``source``: fingerprint of that cell's text.
    ``sources``: what went with the prompt, each with what was sent of what: ``df (40 of 12,000 rows)``.
    ``typed``: how many characters of the prompt were typed, where texts that went with it follow; ``None``: all.
    ``extents``: of each source, the characters of its text and the number of its files.
    ``tokens``: the reply's tokens with their probabilities, where these were asked for.
    ``citations``: the pages that the reply cites, as pairs of an address and a title.
    ``settings``: those of the conversation that were set before it; ``None``: it is of an earlier release.
    ``id``: name of this version of the turn, unique in every conversation.
    """

    model: str = ""
    stop_reason: StopReason = "stop"
    usage: Usage | None = None
    window: int = 0
    limit: int = 0
    cost: float | None = None
    seconds: float | None = None
    at: float | None = None
    stored: bool = False
    start: str | None = None
    apart: bool = False
    summary: str | None = None
    digest: str = ""
    cell: str | None = None
    run: str | None = None
    execution: int | None = None
    source: str | None = None
    sources: tuple[str, ...] = ()
    typed: int | None = None
    extents: tuple[tuple[int, int], ...] = ()
    tokens: tuple[TokenLogprob, ...] = ()
    citations: tuple[tuple[str, str], ...] = ()
    settings: dict[str, Any] | None = None
    id: str = field(default_factory=new_id)
    shortened: str | None = None


@dataclass(frozen=True, slots=True)
class Turn:
    """One cell's exchange: what was said. Turns that say the same are equal, whatever their ``record`` is.

    ``prompt``, ``reply``: the user's text and the model's.
    ``attachments``: images and PDFs that go with the prompt.
    ``thinking``: what the model thought before it answered; no later request carries it.
    ``rounds``: the functions that the model called before it answered, with their results.
    ``record``: when, where and by which model it was said.
    """

    prompt: str
    reply: str = ""
    attachments: tuple[Attachment, ...] = ()
    thinking: str = ""
    record: TurnRecord = field(default_factory=TurnRecord, compare=False)
    rounds: tuple[ToolRound, ...] = ()

    @property
    def id(self) -> str:
        """Name of this version of the turn."""
        return self.record.id

    @property
    def model(self) -> str:
        """Full name of the model that answered; empty for a turn that was added."""
        return self.record.model

    @property
    def stop_reason(self) -> StopReason:
        """Why the reply ended."""
        return self.record.stop_reason

    @property
    def usage(self) -> Usage | None:
        """Tokens of the request and the reply, where the provider reported them."""
        return self.record.usage

    @property
    def cost(self) -> float | None:
        """US dollars; ``None`` where unknown."""
        return self.record.cost

    @property
    def typed(self) -> str:
        """The prompt without the texts that went with it."""
        return self.prompt[: self.record.typed]

    @property
    def sources(self) -> tuple[str, ...]:
        """What went with the prompt, each with what was sent of what; else the names of its images and PDFs."""
        return self.record.sources or tuple(file.name for file in self.attachments)

    @property
    def answered(self) -> str:
        """The reply, behind the calls of functions with their results."""
        return "\n\n".join((*map(str, self.rounds), self.reply)) if self.rounds else self.reply

    @property
    def files(self) -> tuple[Attachment, ...]:
        """All files of its messages."""
        return (*self.attachments, *(file for each in self.rounds for file in each.files))

    @property
    def messages(self) -> tuple[Message, ...]:
        """The messages that a later request carries: the prompt, the calls of functions, and the reply."""
        prompt, reply = Message("user", self.prompt, self.attachments), Message("assistant", self.reply)
        if not self.rounds:
            return prompt, reply
        called = (Message("assistant", each.text, round=each) for each in self.rounds)
        return (prompt, *called, *([reply] if self.reply.strip() else []))

    def with_short_results(self) -> Turn:
        """Return the turn as a version of its own, in which each result is cut down to its first line."""
        record = replace(self.record, id=f"{self.record.id} short")
        return replace(self, rounds=tuple(each.shortened() for each in self.rounds), record=record)


@dataclass(frozen=True, slots=True)
class Alternative:
    """One of several answers to a prompt.

    label: who was asked, and how
    reply, thinking, rounds: the model's text, and what it called before
    record: as it will be the turn's; its id names the answer
    error: why there is none, in words
    problem: what is wrong with it, in words: broken off, refused, or not what the schema asks for
    """

    label: str
    reply: str = ""
    thinking: str = ""
    record: TurnRecord = field(default_factory=TurnRecord)
    error: str = ""
    problem: str = ""
    rounds: tuple[ToolRound, ...] = ()

    @classmethod
    def of(cls, turn: Turn) -> Alternative:
        """Return the answer of a turn."""
        return cls(turn.model, turn.reply, turn.thinking, turn.record, rounds=turn.rounds)


@dataclass(frozen=True, slots=True)
class Alternatives:
    """Several answers to one prompt, of which at most one is a turn at a time.

    asked: the turn without its answer
    answers: in the order in which they were asked for
    append, new: how the turn joins the conversation; see :class:`~jupyter_ctx.conversation.events.TurnAdded`
    """

    asked: Turn
    answers: tuple[Alternative, ...]
    append: bool = False
    new: bool = False
    id: str = field(default_factory=new_id)

    @property
    def turns(self) -> tuple[Turn, ...]:
        """The turns that the answers would make, without those that failed."""
        return tuple(self.turn(answer) for answer in self.answers if not answer.error)

    def turn(self, answer: Alternative) -> Turn:
        """Return the turn that one of the answers would make."""
        record, rounds = answer.record, answer.rounds
        return replace(self.asked, reply=answer.reply, thinking=answer.thinking, record=record, rounds=rounds)


@dataclass(frozen=True, slots=True)
class Summary:
    """A shorter text that stands for the turn versions in ``covers`` (turn ids); ``by``: the cell that asked for it."""

    text: str
    covers: frozenset[str]
    method: Literal["extractive", "model"]
    id: str = field(default_factory=new_id)
    by: str = ""
