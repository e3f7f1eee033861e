"""What is kept from turn to turn is what would be made from nothing, whatever was done in between."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from jupyter_ctx import Chat, ChatError
from jupyter_ctx.config.settings import default_settings
from jupyter_ctx.conversation.events import Said
from jupyter_ctx.conversation.messages import Attachment, Message, Turn, TurnRecord
from jupyter_ctx.errors import ContextOverflowError
from jupyter_ctx.models.registry import Models, Target
from jupyter_ctx.providers.base import Request
from jupyter_ctx.providers.guests import guest
from jupyter_ctx.session.attempt import Attempt
from jupyter_ctx.session.info import context_info
from jupyter_ctx.session.planner import Fitter
from jupyter_ctx.session.session import Session
from jupyter_ctx.testing import Answer, ScriptedProvider

WORDS = "the ship sailed on through the night and 4711 slept "
CELLS = ("c1", "c2", "c3")


def stored_digest(target: Target, request: Request) -> str:
    """Return the digest of a request as it has always been stored."""
    settings = target.settings
    asked = (target.provider.endpoint, settings.max_tokens, settings.temperature, dict(request.parameters))
    found = hashlib.blake2b(json.dumps(asked, sort_keys=True, default=str).encode(), digest_size=16)
    for message in request.messages:
        found.update(f"\0{message.role}\0{message.content}".encode())
        for attachment in message.attachments:
            found.update(b"\0" + attachment.data)
    return found.hexdigest()


class Talk:
    """A chat, with what a user may do to it; a number picks a turn, a cell or a length."""

    def __init__(self, window: int) -> None:
        answers = [Answer(WORDS), Answer(""), Answer(WORDS, usage=None), Answer(WORDS * 3)] * 200
        provider = ScriptedProvider(answers, model="scripted/model", takes=frozenset({"image"}))
        models = Models(guest(provider, None))
        self.session = Session(
            default_settings({}, {"model": "scripted/model", "window": window, "max_tokens": 20}), models
        )
        self.chat = Chat(session=self.session)
        self.runs = 0

    def say(self, n: int) -> None:
        self.chat.send(f"Number {n}. {WORDS * (n % 5)}")

    def run_cell(self, n: int) -> None:
        self.runs += 1
        for _ in range(1 + n % 2):  # a loop says more than one turn
            self.chat.send(f"In a cell, {n}. {WORDS}", cell=CELLS[n % 3], run=str(self.runs), append=n % 7 == 0)

    def begin_anew(self, n: int) -> None:
        self.chat.send(f"Anew, {n}.", cell="c4", run=str(self.runs), new=True)

    def warm(self, n: int) -> None:
        self.chat.send(f"Warm, {n}.", temperature=0.1 * (n % 3))

    def apart(self, n: int) -> None:
        self.chat.send(f"Apart, {n}.", window=400)

    def alone(self, n: int) -> None:
        self.chat.send(f"Alone, {n}.", record=False)

    def add(self, n: int) -> None:
        said = (("user", f"Added, {n}. {WORDS}"), ("assistant", WORDS))
        self.chat.add_messages({"role": role, "content": text} for _ in range(n % 3) for role, text in said)

    def pin(self, n: int) -> None:
        self.mark(self.chat.pin, n)

    def unpin(self, n: int) -> None:
        self.mark(self.chat.unpin, n)

    def exclude(self, n: int) -> None:
        self.mark(self.chat.exclude, n)

    def mark(self, act: Callable[[int], object], n: int) -> None:
        if self.chat.turns:
            act(1 + n % len(self.chat.turns))

    def pick(self, n: int) -> None:
        many = [number for number in range(1, len(self.chat.turns) + 1) if len(self.chat.versions(number)) > 1]
        if many:
            self.chat.pick(many[n % len(many)], 1)

    def trim(self, n: int) -> None:
        self.chat.trim(n % 4 or None)

    def summarise(self, _: int) -> None:
        self.chat.summarize(method="extractive")

    def include(self, _: int) -> None:
        self.chat.include()

    def undo(self, n: int) -> None:
        for _ in range(1 + n % 3):
            self.chat.undo()

    def redo(self, _: int) -> None:
        self.chat.redo()

    def system(self, n: int) -> None:
        self.chat.set_system("Be brief." if n % 2 else "")

    def configure(self, n: int) -> None:
        self.chat.configure(window=(500, 900, 4_000)[n % 3], max_turns=(None, 4)[n % 2])

    # what is looked at

    def asked(self) -> list[Said]:
        """Return a prompt at the end, and one in the place of each cell."""
        picture = Attachment("a.png", "image/png", b"picture", 85)
        return [
            Said(Turn("And now?", attachments=(picture,), record=TurnRecord(cell=cell, run="next")))
            for cell in (None, *CELLS)
        ]

    def looks(self, fitter: Fitter) -> list[Any]:
        """Return all that is kept, as this fitter has it."""
        session, found = self.session, list[Any]()
        usual, session.fitter = session.fitter, fitter
        fitter.answered_at = usual.answered_at
        target = session.target({}, ask=False)
        for said in self.asked():
            try:
                attempt = session.attempt(said, target, session.system, record=True)
            except ContextOverflowError as error:
                found.append(error.used)
                continue
            found += self.of(attempt)
        for at, place in enumerate(session.conversation.places):
            found.append(session.request_then(self.asked()[0], place.turn, at, target, session.system))
        past, covers = session.conversation, getattr(session.conversation.summary, "covers", frozenset())
        may = [place.turn.id in covers and not place.excluded for place in past.places]
        assert past.covered_to(covers) == max((i for i, covered in enumerate(may, 1) if covered), default=0)
        info = context_info(session.snapshot())
        found += [info.segments, info.in_view, info.left_out, info.will_leave, self.chat.plans()]
        session.fitter = usual
        return found

    def of(self, attempt: Attempt) -> list[Any]:
        """Return a request, its sizes and its fingerprint."""
        fingerprint, sent = self.session.fitter.fingerprints.of(attempt.target, attempt.request), attempt.sent
        assert fingerprint.digest == stored_digest(attempt.target, attempt.request)
        assert sum(sent.turns().values()) == pytest.approx(sent.counted + sum(g.tokens for g in sent.guessed.values()))
        assert [message for place in attempt.places for message in place.turn.messages] == [
            message for message in attempt.request.messages[:-1] if is_of_a_turn(message)
        ]
        sizes = [round(size, 6) for size in (attempt.tokens, sent.before, sent.counted)]
        return [attempt.request, attempt.cut.start, fingerprint, sizes]


def is_of_a_turn(message: Message) -> bool:
    beside = ("Summary of our conversation so far", "Understood.")
    return message.role != "system" and not message.content.startswith(beside)


STEPS = [name for name in vars(Talk) if name not in ("mark", "asked", "looks", "of") and not name.startswith("_")]


# three steps of four talk; what is kept is looked at after some of them only, because looking keeps, too
TALKING = ["say", "run_cell", "add"]
steps = st.tuples(st.sampled_from(TALKING * len(STEPS) + STEPS), st.integers(0, 50), st.booleans())
LOOKED = True
SUMMARISED = [("say", 1, LOOKED)] * 9 + [("summarise", 0, LOOKED)]  # turns 1, 3 and 4; 2 and 6 are empty
ALL_ELSE_EXCLUDED = [("exclude", n, LOOKED) for n in (4, 6, 7, 8)]


@settings(max_examples=60)
@given(st.sampled_from([600, 1_200, 100_000]), st.lists(steps, min_size=6, max_size=30))
@example(600, [("say", 1, LOOKED)] * 6 + [("pin", 0, LOOKED), ("summarise", 0, LOOKED), ("exclude", 5, LOOKED)])
@example(100_000, [("say", 1, LOOKED)] * 8 + [("exclude", 0, False), ("exclude", 4, LOOKED)])
@example(600, [*SUMMARISED, ("exclude", 3, LOOKED)])
@example(600, [*SUMMARISED, *ALL_ELSE_EXCLUDED, ("say", 1, LOOKED), ("say", 1, LOOKED), ("pin", 10, LOOKED)])
@example(100_000, [("run_cell", n, LOOKED) for n in (0, 1, 2, 6, 4)] + [("system", 1, LOOKED)])
def test_what_is_kept_is_what_would_be_made_anew(window: int, steps: list[tuple[str, int, bool]]) -> None:
    talk = Talk(window)
    for name, n, looked in steps:
        with suppress(ChatError):  # no room for it
            getattr(talk, name)(n)
        if looked:
            assert talk.looks(talk.session.fitter) == talk.looks(Fitter(talk.session.models)), name
