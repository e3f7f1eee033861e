"""Whatever a user does, in whatever order: nothing is lost, undo is exact, every request is sound.

A machine does random things to a real conversation, which is stored and talks to a real server.
Beside it stands a small model, written from what the documents say and not from the code.
"""

from __future__ import annotations

import json
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from copy import deepcopy
from dataclasses import dataclass, field
from functools import partial
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, get_state_machine_test, initialize, invariant, precondition, rule
from server import events, piece, send, serve, usage

from jupyter_ctx import Chat, ChatError, ContextOverflowError
from jupyter_ctx.library import Library
from jupyter_ctx.runtime.frontend import Origin
from jupyter_ctx.session import actions
from jupyter_ctx.storage.conversation_writer import close_stores

REPLY = 20  # tokens that a request keeps for the reply
FILLER = "the ship sailed on through the night and nobody slept "
SUMMARY, ANSWER = "Summary of our conversation so far:", "Understood."
MODELS = {"m1": 4, "m2": 3}  # characters that make a token there


# the server


@dataclass
class Served:
    """A server with windows of its own, which it can be told to change, and what it was asked for turns."""

    windows: dict[str, int] = field(default_factory=dict)
    outcome: str = "words"
    writer: str = "good"
    states: str = "all"
    reports: bool = True
    asked: list[dict[str, Any]] = field(default_factory=list)
    refused: list[int] = field(default_factory=list)
    answers: int = 0

    def size(self, request: dict[str, Any]) -> int:
        """Tokens of a request."""
        letters = MODELS[request["model"]]
        return 2 + sum(4 + -(-len(message["content"]) // letters) for message in request["messages"])

    def answer(self, handler: BaseHTTPRequestHandler, request: dict[str, Any]) -> None:
        """Answer one request as told."""
        text, size = request["messages"][-1]["content"], self.size(request)
        writes = "It is data" in text or "List the facts" in text
        if not writes:
            self.asked.append(request)
        if size + request.get("max_tokens", 0) > self.windows[request["model"]]:
            self.refused += [] if writes else [size]
            self.refuse(handler, request, size)
        elif (self.writer if writes else self.outcome) == "fail":
            send(handler, 422, json.dumps({"error": {"message": "I will not."}}))
        else:
            self.reply(handler, self.summary(text) if writes else self.words(), size, broken=not writes)

    def refuse(self, handler: BaseHTTPRequestHandler, request: dict[str, Any], size: int) -> None:
        """Say that a request is too long, and as much of the figures as this server does."""
        window, asked = self.windows[request["model"]], request.get("max_tokens", 0)
        said = {
            "all": f"This model's maximum context length is {window} tokens. However, you requested {size + asked} "
            f"tokens ({size} in the messages, {asked} in the completion).",
            "limit": f"Your prompt exceeds the maximum context length of {window} tokens.",
            "nothing": "Your input exceeds the context window of this model.",
        }[self.states]
        error = {"message": said, "type": "invalid_request_error", "code": "context_length_exceeded"}
        send(handler, 400, json.dumps({"error": error}))

    def words(self) -> str:
        """An answer that no other turn has, or none."""
        self.answers += 1
        return {"empty": "", "blank": " \n"}.get(self.outcome, f"r{self.answers} was noted, and so was 4711.")

    def summary(self, text: str) -> str:
        """A summary of the kind that is told."""
        lines = [line for line in text.splitlines() if line.startswith("User: ")]
        short = "\n".join(line[6:40] for line in lines)
        return {"good": short, "empty": "", "long": f"{text}\n" * 3, "poor": "They talked."}[self.writer]

    def reply(self, handler: BaseHTTPRequestHandler, text: str, size: int, *, broken: bool) -> None:
        """Stream an answer; one that breaks off has no end."""
        counts = [usage(size, len(text) // 4 + 1)] if self.reports else []
        body = events(piece(text[:12]), piece(text[12:]), piece("", "stop"), *counts)
        if broken and self.outcome == "breaks":
            body = events(piece(text), end="")
        if broken and self.outcome == "breaks early":
            body = ""
        send(handler, 200, body, "text/event-stream")


# the model


@dataclass
class Answer:
    """One version of a turn."""

    prompt: str
    reply: str

    @property
    def sendable(self) -> bool:
        return bool(self.prompt.strip() and self.reply.strip())


@dataclass
class Slot:
    """Where a turn stands, with all the answers it has had."""

    versions: list[Answer]
    now: int = 0
    cell: str | None = None
    run: str | None = None
    pinned: bool = False
    excluded: bool = False
    trimmed: bool = False
    fresh: bool = False

    @property
    def current(self) -> Answer:
        return self.versions[self.now]

    @property
    def sent(self) -> bool:
        return self.current.sendable and not self.excluded


Covered = frozenset[tuple[str, str]]


@dataclass
class Talk:
    """All that a conversation is, but for what undo takes back."""

    slots: list[Slot] = field(default_factory=list)
    stands_for: dict[str, list[Slot]] = field(default_factory=dict)  # the turns that each cell now replaces
    system: str = ""
    covered: Covered = frozenset()  # prompt and reply of the versions that the summary stands for

    def covers(self, slot: Slot) -> bool:
        return (slot.current.prompt, slot.current.reply) in self.covered

    def at(self, cell: str | None, run: str | None, *, append: bool) -> int:
        """Where a turn of this cell will stand."""
        mine = [] if append else self.stands_for.get(cell or "", [])
        same = [slot for slot in mine if slot.run == run]
        if same:
            return self.index(same[-1]) + 1
        return self.index(mine[0]) if mine else len(self.slots)

    def index(self, slot: Slot) -> int:
        return next(i for i, one in enumerate(self.slots) if one is slot)

    def anew(self, cell: str | None) -> bool:
        """Whether a cell that says --new clears: not where it has begun this very conversation."""
        mine = self.stands_for.get(cell or "", [])
        return not (mine and mine[0].fresh)

    def clear(self) -> None:
        self.slots, self.stands_for, self.covered = [], {}, frozenset()

    def say(self, said: Answer, cell: str | None, run: str | None, *, append: bool, new: bool) -> None:
        """Put a turn in its place."""
        fresh = new and self.anew(cell)
        if fresh:
            self.clear()
        mine = self.stands_for.setdefault(cell, []) if cell else []
        older, at = [slot for slot in mine if slot.run != run], self.at(cell, run, append=append)
        if older and not append:
            first = older[0]
            first.versions = [version for slot in older for version in slot.versions] + [said]
            first.now, first.run = len(first.versions) - 1, run
            self.slots = [slot for slot in self.slots if slot is first or not any(slot is one for one in older)]
            mine[:] = [first]
            return
        trimmed = at < len(self.slots) and self.slots[at - 1].trimmed
        slot = Slot([said], cell=cell, run=run, trimmed=trimmed, fresh=fresh)
        self.slots.insert(at, slot)
        if cell:
            mine[:] = [one for one in mine if one.run == run] + [slot]


@dataclass
class Past:
    """A conversation with what undo and redo would bring."""

    now: Talk = field(default_factory=Talk)
    undone: list[Talk] = field(default_factory=list)
    done: list[Talk] = field(default_factory=list)

    @contextmanager
    def step(self) -> Iterator[Talk]:
        """One thing that one undo takes back."""
        self.done.append(deepcopy(self.now))
        self.undone.clear()
        yield self.now

    def undo(self) -> None:
        self.undone.append(self.now)
        self.now = self.done.pop()

    def redo(self) -> None:
        self.done.append(self.now)
        self.now = self.undone.pop()


# the machine


def rows(chat: Chat) -> list[Any]:
    """What the history says of each turn."""
    return [(row.prompt, row.reply, row.states, row.versions) for row in chat.history()]


def looks(chat: Chat) -> dict[str, Any]:
    """All that a user can see of a conversation."""
    return {
        "history": rows(chat), "system": chat.system, "info": chat.info(),
        "request": seen(chat, "And now?"), "held": seen(chat, ""),
    }  # fmt: skip


def same(now: Any, before: Any) -> bool:
    """Whether a conversation looks as it did; what does not is shown."""
    for name, was in before.items():
        assert now[name] == was, name
    return True


def seen(chat: Chat, prompt: str) -> Any:
    """The next request, as the preview has it."""
    try:
        view = chat.preview(prompt)
    except ContextOverflowError as error:
        return error.used, error.limit
    return view.messages, view.omitted, view.input_tokens, view.exact, view.request.messages


def pairs(messages: list[dict[str, str]]) -> list[tuple[str, str]]:
    texts = [message["content"] for message in messages]
    return list(zip(texts[::2], texts[1::2], strict=True))


SIZES = st.sampled_from([0, 0, 60, 200, 500, 900, 1_600, 2_600])  # characters
CELLS = st.sampled_from([None, "c1", "c2", "c3"])
OUTCOMES = st.sampled_from(["words"] * 10 + ["empty", "blank", "fail", "breaks", "breaks early", "interrupted"])


class Sequences(RuleBasedStateMachine):
    """Everything that a user can do to a conversation."""

    def __init__(self, url: str, server: Served) -> None:
        super().__init__()
        self.url, self.server = url, server
        self.folder = Path(tempfile.mkdtemp(prefix="jupyter_ctx_"))
        self.count, self.runs = 0, dict[str, str]()
        self.pasts: dict[str, Past] = {}
        server.outcome, server.writer, server.states, server.reports = "words", "good", "all", True
        server.windows = {"m1": 1_000, "m2": 1_000}

    def teardown(self) -> None:
        close_stores()
        shutil.rmtree(self.folder, ignore_errors=True)

    @initialize(
        window=st.sampled_from([400, 700, 1_200]),
        how=st.sampled_from(["trim", "summarise", "summarise", "stop"]),
        compact_at=st.sampled_from([1.0, 1.0, 0.8, 0.5]),
        turns=st.sampled_from([(1, None), (1, None), (3, None), (0, 4), (2, 6)]),
        share=st.sampled_from([1.0, 1.0, 0.7]),
        summary_model=st.sampled_from([None, "local/smollm2", "m2"]),
        reports=st.booleans(),
    )
    def begin(
        self, window: int, how: str, compact_at: float, turns: Any, share: float,
        summary_model: str | None, reports: bool,
    ) -> None:  # fmt: skip
        self.server.windows, self.server.reports = {"m1": window, "m2": window}, reports
        self.config = {
            "model": "m1", "base_url": self.url, "window": window, "max_tokens": REPLY, "on_overflow": how,
            "compact_at": compact_at, "min_turns": turns[0], "max_turns": turns[1], "budget_share": share,
            "token_counting": "approximate",
        }  # fmt: skip
        self.config |= {"summary_model": summary_model} if summary_model else {}
        self.library = self.open()
        self.pasts[self.chat.name] = Past()

    def open(self) -> Library:
        return Library(Origin("/n/a.ipynb", "k"), self.config, store=self.folder / "store.sqlite")

    @property
    def chat(self) -> Chat:
        return self.library.current

    @property
    def past(self) -> Past:
        return self.pasts[self.chat.name]

    @property
    def now(self) -> Talk:
        return self.past.now

    def text(self, size: int) -> str:
        """A prompt that no other turn has."""
        self.count += 1
        return f"q{self.count} is about Crate {self.count * 37}. {FILLER * (size // len(FILLER))}".strip()

    # talking

    @rule(sizes=st.lists(SIZES, min_size=2, max_size=5))
    def talk(self, sizes: list[int]) -> None:
        for size in sizes:
            self.say(self.text(size), None, None)

    @rule(size=SIZES, cell=CELLS, same=st.booleans(), append=st.booleans(), new=st.integers(0, 9), outcome=OUTCOMES)
    def ask(self, size: int, cell: str | None, same: bool, append: bool, new: int, outcome: str) -> None:
        if cell and not (same and cell in self.runs):
            self.runs[cell] = f"run {self.count}"
        run = self.runs[cell] if cell else None
        self.say(self.text(size), cell, run, append=append and bool(cell), new=new == 0, outcome=outcome)

    @rule(size=SIZES, outcome=OUTCOMES)
    def ask_another_model(self, size: int, outcome: str) -> None:
        other = {"model": "m2", "base_url": self.url, "window": self.server.windows["m2"]}
        self.say(self.text(size), None, None, outcome=outcome, **other)

    def say(
        self, prompt: str, cell: str | None, run: str | None, *,
        append: bool = False, new: bool = False, outcome: str = "words", **options: Any,
    ) -> None:  # fmt: skip
        """Send a turn, and check all that became of it."""
        chat, server, talk = self.chat, self.server, self.now
        server.outcome, happened, limit = outcome, len(chat.conversation.events), chat.info().limit
        server.asked.clear()
        server.refused.clear()
        pieces: list[str] = []

        def take(text: str) -> None:
            pieces.append(text)
            if outcome == "interrupted" and text.strip():
                raise KeyboardInterrupt

        lines: tuple[str, ...] = ()
        failed: BaseException | None = None
        try:
            lines = chat.send(prompt, cell=cell, run=run, append=append, new=new, on_piece=take, **options).notices
        except (ChatError, KeyboardInterrupt) as error:
            failed = error
        made = chat.conversation.events[happened:]
        kinds = [type(event).__name__ for event in made]
        before = self.summarised(made[:1]) if kinds[:1] == ["Summarized"] else None
        base = deepcopy(talk)
        if new and base.anew(cell):
            base.clear()
        base.covered = before if before is not None else base.covered
        at = base.at(cell, run, append=append)
        known = failed is None or before is not None or chat.config.compact_at == 1
        for request in server.asked:
            self.check_request(request["messages"], base, at, prompt, known=known)
        assert server.refused == sorted(set(server.refused), reverse=True), "a retry was not smaller"
        assert len(server.asked) <= 3
        text = "".join(pieces)
        if failed is not None and not text:
            assert kinds == [], "a send that failed left something behind"
            self.check_failure(failed, base, at, prompt, limit, outcome, options)
            return
        assert kinds in (["TurnAdded"], ["Summarized", "TurnAdded"], ["TurnAdded", "Summarized"])
        if failed is None:
            self.check_notices(lines, base, at, server.asked[-1]["messages"])
        with self.past.step() as talk:
            if before is not None:
                self.check_summary(before, talk)
                talk.covered = before
            talk.say(Answer(prompt, text), cell, run, append=append, new=new)
            if kinds[-1] == "Summarized":
                after = self.summarised(made[-1:])
                self.check_summary(after, talk)
                talk.covered = after

    def check_request(self, sent: list[dict[str, str]], talk: Talk, at: int, prompt: str, *, known: bool) -> None:
        """Check one request against what may stand before this prompt."""
        assert all(message["content"].strip() for message in sent), "an empty message"
        if talk.system:
            assert sent[0] == {"role": "system", "content": talk.system}
            sent = sent[1:]
        assert [message["role"] for message in sent] == ["user", "assistant"] * (len(sent) // 2) + ["user"]
        assert sent[-1]["content"] == prompt
        there = pairs(sent[:-1])
        summaries = [i for i, (asked, said) in enumerate(there) if asked.startswith(SUMMARY) and said == ANSWER]
        assert len(summaries) <= 1
        first = summaries[0] if summaries else 0
        turns = [pair for i, pair in enumerate(there) if i not in summaries]
        places = {(slot.current.prompt, slot.current.reply): i for i, slot in enumerate(talk.slots[:at]) if slot.sent}
        assert all(pair in places for pair in turns), "a turn that is not current, not there or excluded"
        numbers = [places[pair] for pair in turns]
        assert numbers == sorted(set(numbers)), "turns out of order"
        pins = {i for i, slot in enumerate(talk.slots[:at]) if slot.pinned and slot.sent}
        assert pins <= set(numbers), "a pin is missing"
        assert set(numbers[:first]) <= pins
        loose = [i for i in numbers if i not in pins]
        trimmed = sum(slot.trimmed for slot in talk.slots)
        assert trimmed > at or all(i >= trimmed for i in loose), "what was trimmed was sent"
        if known:
            covered = {i for i in places.values() if summaries and talk.covers(talk.slots[i])}
            may = [i for i in sorted(places.values()) if i not in pins and i not in covered]
            assert loose == may[len(may) - len(loose) :], "a hole in the middle"
            assert covered or not summaries, "a summary of nothing that may be sent"
        most, least = self.chat.config.max_turns, self.chat.config.min_turns
        assert most is None or len(loose) <= max(most, least, 1)

    def check_notices(self, lines: tuple[str, ...], talk: Talk, at: int, sent: list[dict[str, str]]) -> None:
        """Check that a summary is missing only where that is said."""
        current = [i for i, slot in enumerate(talk.slots) if talk.covers(slot) and not slot.excluded]
        stands = any(message["content"].startswith(SUMMARY) for message in sent)
        if current and current[-1] < at and not stands:
            assert any("the summary" in line for line in lines)
        if stands:
            assert current[-1] < at

    def check_failure(
        self, error: BaseException, talk: Talk, at: int, prompt: str, limit: int, outcome: str, options: dict[str, Any]
    ) -> None:
        """Check that a send failed for a reason."""
        if not isinstance(error, ContextOverflowError) or self.chat.config.on_overflow == "stop":
            return
        model = options.get("model", self.chat.config.model)
        letters, limit = MODELS[model], min(limit, self.server.windows[model] - REPLY)
        always = [talk.system, prompt]
        always += [text for s in talk.slots[:at] if s.pinned and s.sent for text in (s.current.prompt, s.current.reply)]
        least = sum(4 + -(-len(text) // letters) for text in always if text)
        assert self.server.states != "all" or least > 0.6 * limit, "a cell failed that has room"

    def summarised(self, made: Any) -> Covered:
        """Which versions a summary that was recorded stands for, as prompts with their replies."""
        (event,) = made
        conversation = self.chat.conversation
        versions = [turn for place in (*conversation.cleared, *conversation.places) for turn in place.versions]
        return frozenset((turn.prompt, turn.reply) for turn in versions if turn.id in event.summary.covers)

    def check_summary(self, covered: Covered, talk: Talk) -> None:
        """Check what a new summary stands for: what it must leave as it is, and what the last one stood for."""
        may = {(s.current.prompt, s.current.reply) for s in talk.slots if s.sent and not s.pinned and not s.trimmed}
        assert covered - talk.covered <= may
        assert covered > talk.covered or not talk.covered & {(s.current.prompt, s.current.reply) for s in talk.slots}

    @rule(size=SIZES)
    def ask_without_history(self, size: int) -> None:
        prompt, happened = self.text(size), len(self.chat.conversation.events)
        self.server.outcome = "words"
        self.server.asked.clear()
        with suppress(ContextOverflowError):
            self.chat.send(prompt, record=False)
        for request in self.server.asked:
            self.check_request(request["messages"], Talk(system=self.now.system), 0, prompt, known=True)
        assert len(self.chat.conversation.events) == happened

    # acting

    def number(self, data: st.DataObject) -> int:
        return data.draw(st.integers(1, len(self.now.slots)))

    @precondition(lambda self: self.now.slots)
    @rule(data=st.data(), on=st.booleans(), pins=st.booleans())
    def mark(self, data: st.DataObject, on: bool, pins: bool) -> None:
        number, chat = self.number(data), self.chat
        slot = self.now.slots[number - 1]
        act = (chat.pin if on else chat.unpin) if pins else (chat.exclude if on else chat.include)
        change = act(number)
        assert change.changed == ((slot.pinned if pins else slot.excluded) != on)
        if change.changed:
            with self.past.step() as talk:
                slot = talk.slots[number - 1]
                if pins:
                    slot.pinned, slot.excluded = on, slot.excluded and not on
                else:
                    slot.excluded, slot.pinned = on, slot.pinned and not on

    @rule(turns=st.none() | st.integers(0, 4))
    def trim(self, turns: int | None) -> None:
        before = [row.states[0] for row in self.chat.history()]
        change = self.chat.trim(turns)
        after = [row.states[0] for row in self.chat.history()]
        if not change.changed:
            assert after == before
            return
        assert after.count("sent") < before.count("sent")
        assert turns is None or after.count("sent") == turns
        with self.past.step() as talk:
            first = after.index("sent") if "sent" in after else len(after)
            for i, slot in enumerate(talk.slots):
                slot.trimmed = i < first

    @rule(
        method=st.sampled_from(["extractive", "model"]),
        writer=st.sampled_from(["good", "empty", "long", "poor", "fail"]),
    )
    def summarise(self, method: Any, writer: str) -> None:
        self.server.writer, happened = writer, len(self.chat.conversation.events)
        change = self.chat.summarize(method=method)
        self.server.writer = "good"
        made = self.chat.conversation.events[happened:]
        assert bool(made) == change.changed
        if change.changed:
            covered = self.summarised(made)
            self.check_summary(covered, self.now)
            with self.past.step() as talk:
                talk.covered = covered

    @rule()
    def include_all(self) -> None:
        if self.chat.include().changed:
            with self.past.step() as talk:
                for slot in talk.slots:
                    slot.trimmed = slot.excluded = False

    @rule(words=st.sampled_from(["", "Be brief.", "Be polite.", "Answer like a sailor of the old days would. " * 4]))
    def set_system(self, words: str) -> None:
        words = words.strip()
        assert self.chat.session.act(actions.set_system, words).changed == (words != self.now.system)
        if words != self.now.system:
            with self.past.step() as talk:
                talk.system = words

    @rule()
    def clear(self) -> None:
        assert self.chat.clear().changed == bool(self.now.slots)
        if self.now.slots:
            with self.past.step() as talk:
                talk.clear()

    @precondition(lambda self: any(len(slot.versions) > 1 for slot in self.now.slots))
    @rule(data=st.data())
    def pick(self, data: st.DataObject) -> None:
        many = [i for i, slot in enumerate(self.now.slots) if len(slot.versions) > 1]
        place = data.draw(st.sampled_from(many))
        slot = self.now.slots[place]
        version = data.draw(st.integers(0, len(slot.versions) - 1))
        assert self.chat.pick(place + 1, version + 1).changed == (version != slot.now)
        if version != slot.now:
            with self.past.step() as talk:
                talk.slots[place].now = version

    @rule(turns=st.lists(st.tuples(SIZES, st.sampled_from(["Yes.", "Noted: 12.", ""])), min_size=1, max_size=4))
    def add_messages(self, turns: list[tuple[int, str]]) -> None:
        said = [Answer(self.text(size), f"{reply} a{self.count}" if reply else "") for size, reply in turns]
        self.chat.add_messages(
            {"role": role, "content": text}
            for turn in said
            for role, text in (("user", turn.prompt), ("assistant", turn.reply))
        )
        with self.past.step() as talk:
            for turn in said:
                talk.say(turn, None, None, append=True, new=False)

    @rule(times=st.integers(1, 3))
    def undo(self, times: int) -> None:
        for _ in range(times):
            assert self.chat.undo().changed == bool(self.past.done)
            if self.past.done:
                self.past.undo()
            self.agrees()

    @rule(times=st.integers(1, 3))
    def redo(self, times: int) -> None:
        for _ in range(times):
            assert self.chat.redo().changed == bool(self.past.undone)
            if self.past.undone:
                self.past.redo()
            self.agrees()

    @rule()
    def undo_and_redo(self) -> None:
        """Undo all and redo all: everything is as it was. Whether all was counted is not remembered for so long."""
        before, steps = looks(self.chat), 0
        while self.chat.undo().changed:
            self.past.undo()
            self.agrees()
            steps += 1
        for _ in range(steps):
            assert self.chat.redo().changed
            self.past.redo()
            self.agrees()
        assert same(looks(self.chat), before)

    # what it is held with

    @rule(
        changes=st.sampled_from(
            [
                {"on_overflow": "trim"}, {"on_overflow": "summarise"}, {"compact_at": 0.8}, {"compact_at": 1.0},
                {"on_overflow": "stop"}, {"min_turns": 1, "max_turns": None}, {"min_turns": 2, "max_turns": 5},
                {"budget_share": 0.6}, {"budget_share": 1.0},
            ]
        )
    )  # fmt: skip
    def configure(self, changes: dict[str, Any]) -> None:
        self.chat.configure(**changes)

    @rule(
        window=st.sampled_from([300, 500, 900, 2_000]),
        told=st.booleans(),
        states=st.sampled_from(["all", "limit", "nothing"]),
    )
    def change_window(self, window: int, told: bool, states: str) -> None:
        """Another window at the server, of which the chat is told or not."""
        self.server.windows = {"m1": window, "m2": window}
        self.server.states = states
        if told:
            self.chat.configure(window=window)

    @rule(model=st.sampled_from(["m1", "m2"]))
    def use(self, model: str) -> None:
        self.chat.configure(model=model, base_url=self.url, window=self.server.windows[model])

    # where it is kept

    @rule()
    def restart(self) -> None:
        """End the kernel. What other conversations have taught of the model is not kept with this one."""
        alone, before, name = len(self.library.names) == 1, looks(self.chat), self.chat.name
        close_stores()
        self.library = self.open()
        assert self.chat.name == name
        if not alone:
            before = {name: before[name] for name in ("history", "system")}
        assert same(looks(self.chat), before)

    @rule()
    def fork(self) -> None:
        before, past = looks(self.chat), deepcopy(self.past)
        self.library.fork()
        assert same(looks(self.chat), before)
        self.pasts[self.chat.name] = past

    @rule(data=st.data())
    def switch(self, data: st.DataObject) -> None:
        name = data.draw(st.sampled_from(sorted(self.pasts)))
        self.library.switch(name)

    @precondition(lambda self: self.now.slots)
    @rule()
    def carry(self) -> None:
        """Export it, and import it into a new conversation."""
        before, talk = rows(self.chat), deepcopy(self.now)
        path = self.chat.export(self.folder / f"talk{self.count}.json")
        self.count += 1
        self.library.new()
        past = self.pasts[self.chat.name] = Past()
        assert self.chat.load(path).changed
        with past.step() as new:
            new.system = talk.system
            new.slots = [Slot([slot.current], pinned=slot.pinned, excluded=slot.excluded) for slot in talk.slots]
            new.covered = frozenset((s.current.prompt, s.current.reply) for s in new.slots if talk.covers(s))
        assert [row[:2] for row in rows(self.chat)] == [row[:2] for row in before]

    # always

    @invariant()
    def agrees(self) -> None:
        """The conversation is what the model says, and its next request is sound."""
        if not self.pasts:
            return
        chat, talk = self.chat, self.now
        history = chat.history()
        assert [(row.prompt, row.reply) for row in history] == [(s.current.prompt, s.current.reply) for s in talk.slots]
        assert chat.system == talk.system
        for number, (row, slot) in enumerate(zip(history, talk.slots, strict=True), 1):
            answers = [Answer(turn.prompt, turn.reply) for turn in chat.conversation.places[number - 1].versions]
            assert answers == slot.versions
            self.check_state(row.states[0], slot, talk)
        info = chat.info()
        assert (info.undo is None, info.redo is None) == (not self.past.done, not self.past.undone)
        assert info.turns == len(talk.slots)
        self.check_next()

    def check_state(self, state: str, slot: Slot, talk: Talk) -> None:
        """Check what the history says of a turn."""
        if slot.excluded:
            assert state == "excluded"
        elif not slot.current.sendable:
            assert state == "empty"
        elif slot.pinned:
            assert state == "pinned"
        elif talk.covers(slot):
            assert state == "summarised"
        else:
            assert state == "left out" if slot.trimmed else state in ("sent", "left out")

    def check_next(self) -> None:
        """Check the request that a short prompt would be sent in."""
        try:
            view = self.chat.preview("And now?")
        except ContextOverflowError:
            return
        always = {"system", "pinned", "prompt"}  # what is sent even where it seems too much
        assert view.input_tokens <= self.chat.info().limit or {part.state for part in view.messages} <= always
        sent = [{"role": message.role, "content": message.content} for message in view.request.messages]
        self.check_request(sent, self.now, len(self.now.slots), "And now?", known=True)


def run(examples: int, steps: int, **more: Any) -> None:
    """Let the machine do so many things."""
    server = Served()
    with serve(server.answer) as (url, _):
        machine: Any = partial(Sequences, url, server)
        get_state_machine_test(machine, settings=settings(max_examples=examples, stateful_step_count=steps, **more))()


@pytest.mark.parametrize("examples", [6, pytest.param(40, marks=pytest.mark.load)])
def test_whatever_is_done_in_whatever_order_keeps_what_was_said_and_sends_sound_requests(examples: int) -> None:
    run(examples, 30, derandomize=True)
