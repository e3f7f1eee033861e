"""The way of one turn: planned, sent, sent again smaller after a refusal, judged, recorded, reported."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from ..conversation.events import Kept, Said, Summarized
from ..conversation.messages import Turn, new_id
from ..errors import ChatError, ChatInterrupted, ContextOverflowError, ProviderError
from ..models.registry import Target
from ..providers.base import Reply, Thought, streaming
from ..runtime.interrupts import uninterrupted
from .actions import Actions, Change, SummaryDraft
from .attempt import Attempt
from .judge import INCOMPLETE, Verdict, judge
from .notices import STORED, Outcome, nearly_full, notices_of
from .session import Session

RETRIES = 2
SUMMARY_FAILURES = 2
OnText = Callable[[str], object] | None


@dataclass(slots=True)
class Coming:
    """A reply while it streams: who is shown it, what came so far, and when the request was sent.

    ``on_begin`` hears, before it is sent, the one line that should stand above it, or ``None``.
    """

    on_begin: Callable[[str | None], object] | None = None
    on_piece: OnText = None
    on_thought: OnText = None
    pieces: list[str] = field(default_factory=list)
    thoughts: list[str] = field(default_factory=list)
    asked: float = field(default_factory=time.monotonic)

    def take(self, item: str | Thought) -> None:
        """Keep and show a piece that came."""
        if isinstance(item, Thought):
            text, kept, show = item.text, self.thoughts, self.on_thought
        else:
            text, kept, show = item, self.pieces, self.on_piece
        kept.append(text)
        if show is not None:
            show(text)

    def begin(self, warning: str | None = None) -> None:
        """Announce that the reply comes now, with a line to stand above it."""
        if self.on_begin is not None:
            self.on_begin(warning)

    def show(self, reply: Reply) -> None:
        """Show a stored reply, in one piece."""
        self.begin()
        for text, show in ((reply.thinking, self.on_thought), (reply.text, self.on_piece)):
            if text and show is not None:
                show(text)

    @property
    def seconds(self) -> float:
        """Return the seconds since the request was sent."""
        return time.monotonic() - self.asked

    def broken(self, why: Literal["interrupted", "cut"]) -> Reply:
        """Return the reply as far as it came, where nothing more will."""
        thinking = "".join(self.thoughts)
        return Reply("".join(self.pieces), None, why, thinking=thinking, seconds=self.seconds)


class Sender:
    """Sends turns of a session and records them."""

    def __init__(self, session: Session, actions: Actions) -> None:
        self._session, self._actions = session, actions
        self._summary_failures = 0  # of those nobody asked for, in a row

    def begin_anew(self) -> None:
        """Forget failed summaries: the conversation or its model is another one."""
        self._summary_failures = 0

    def send(self, said: Said, options: Mapping[str, Any], coming: Coming, *, record: bool) -> Reply:
        """Plan a request, exchange it for a reply, record both, and say what was done. Raises a ChatError."""
        session = self._session
        planned, before = self._planned(said, options, record=record)
        coming.begin(nearly_full(planned.fill) if record and session.nearly_full(planned.fill) else None)
        sent, verdict, refusal = self._exchange(said, planned, coming, record=record)
        reply = verdict.reply
        if reply.stop_reason == "cut":
            kept = "What came is kept, marked as cut." if reply.text else "No text had come; nothing was recorded."
            raise ProviderError(f"The reply broke off{f' ({reply.detail})' if reply.detail else ''}. {kept}")
        try:
            after = self._follow_up(sent, verdict)
            problems, files = (*session.models.problems, *session.memory.problems), session.conversation.has_files
            lines = notices_of(Outcome(planned, sent, refusal, verdict, problems, files, before, after))
        except KeyboardInterrupt:
            raise ChatInterrupted("stopped after the answer, which is kept.") from None
        return replace(reply, notices=tuple(line.text for line in lines if not line.once or session.once(line.once)))

    def _planned(self, said: Said, options: Mapping[str, Any], *, record: bool) -> tuple[Attempt, str]:
        """Return the request for a turn, and what to say of a summary that was written for it.

        Before anything is left out, a server that reports its window is asked for it anew.
        """
        session = self._session
        system, target = session.system_for(options), session.target(options, ask=True)
        attempt = session.attempt(said, target, system, record=record)
        if attempt.cut.start > attempt.first:
            session.models.ask_again(target.provider)
            now = session.target(options, ask=True)
            if now.window != target.window:
                attempt = session.attempt(said, now, system, record=record)
        if attempt.decision.means != "summarise before":
            return attempt, ""
        draft = self._drafted()
        if draft.summary is None:
            return attempt, str(Change(draft.text))
        shorter = session.attempt(said, attempt.target, system, record=True, summary=draft.summary)
        return shorter, str(Change(draft.text, before=round(attempt.cut.before), after=round(shorter.cut.tokens)))

    def stored(self, said: Said, options: Mapping[str, Any], among: Literal["cell", "all"]) -> Reply | None:
        """Return a stored answer to the same request: the cell's own from an earlier kernel, or any of the user's."""
        session = self._session
        if said.begins_anew(session.conversation):
            return None
        # the stored turn names the view it was sent with: no server need be asked for its window
        target, system = session.target(options, ask=among == "all"), session.system_for(options)
        if among == "all":
            return self._stored_anywhere(said, target, system)
        place = next(iter(session.conversation.older(said.turn.record.cell, said.turn.record.run)), None)
        if place is None or place.turn.id in session.notebook.seen or place.turn.stop_reason in INCOMPLETE:
            return None
        session.notebook.seen.add(place.turn.id)
        if session.request_then(said, place, target, system) != place.turn.record.digest:
            return None
        session.record(Kept(place.id, said.turn.record.run or "", said.turn.record.execution))
        return _as_stored(place.turn)

    def _stored_anywhere(self, said: Said, target: Target, system: str) -> Reply | None:
        session = self._session
        attempt = session.attempt(said, target, system, record=True)
        digest = session.fitter.fingerprints.of(target, attempt.request).digest
        turn = session.journal.answered(digest) if session.journal else None
        if turn is None or turn.stop_reason in INCOMPLETE:
            return None
        asked, turn_id = said.turn.record, new_id()
        record = replace(
            turn.record, id=turn_id, start=attempt.begins_at(turn_id), apart=attempt.apart, cost=None, stored=True,
            cell=asked.cell, run=asked.run, source=asked.source,
        )  # fmt: skip
        turn = replace(turn, attachments=said.turn.attachments, record=record)
        self._keep(replace(said, turn=turn), attempt, counted=False)
        return _as_stored(turn)

    def _exchange(
        self, said: Said, planned: Attempt, coming: Coming, *, record: bool
    ) -> tuple[Attempt, Verdict, ContextOverflowError | None]:
        """Return the request that was answered, the verdict on the answer, and what refused the planned one.

        After a refusal less is sent: at most twice, never once text or a thought was shown.
        """
        attempt, refusal = planned, None
        for retry in range(RETRIES + 1):
            try:
                return attempt, self._asked(said, attempt, coming, record=record), refusal
            except ContextOverflowError as error:
                refusal = refusal or error
                last = retry == RETRIES or bool(coming.pieces or coming.thoughts)
                attempt = self._session.fitter.smaller(attempt, error, last=last, kept=bool(coming.pieces))
        raise AssertionError("the last retry returns or raises")

    def _asked(self, said: Said, attempt: Attempt, coming: Coming, *, record: bool) -> Verdict:
        """Send one request and record its turn: whole, or with a flag what came of it."""
        begun = self._session.conversation.length
        try:
            verdict = self._streamed(attempt, coming)
            with uninterrupted():
                verdict = self._recorded(said, attempt, verdict, record=record)
        except KeyboardInterrupt:
            with uninterrupted():
                self._record_partial(said, attempt, coming.broken("interrupted"), begun, record=record)
            raise ChatInterrupted(stopped(coming.pieces, record=record)) from None
        except Exception:  # whatever the error, the text that came is kept
            self._record_partial(said, attempt, coming.broken("cut"), begun, record=record)
            raise
        return verdict

    def _streamed(self, attempt: Attempt, coming: Coming) -> Verdict:
        """Send one request and show what comes; return the verdict on the reply."""
        coming.asked = time.monotonic()  # a request that was refused before is not this one
        with streaming(attempt.target.provider, attempt.request) as stream:
            for item in stream:
                if isinstance(item, Reply):
                    return judge(attempt, replace(item, seconds=coming.seconds), self._session.previous(attempt))
                coming.take(item)
        raise ProviderError("The provider sent no reply.")

    def _record_partial(self, said: Said, attempt: Attempt, reply: Reply, begun: int, *, record: bool) -> None:
        """Record the text that came, unless the turn is there already: then the failure came after it."""
        if reply.text and self._session.conversation.length == begun:
            self._recorded(said, attempt, Verdict(reply), record=record)

    def _recorded(self, said: Said, attempt: Attempt, verdict: Verdict, *, record: bool) -> Verdict:
        """Record a turn and what its report tells of sizes and limits; return the verdict with model and cost."""
        session, target, reply, counted = self._session, attempt.target, verdict.reply, verdict.counted
        if reply.stop_reason == "cut" and not reply.text:
            return verdict
        found = session.fitter.fingerprints.of(target, attempt.request)
        session.models.learn(target, verdict.shows(attempt, found.size))
        reply = replace(reply, model=target.model, cost=session.billed(target, reply))
        turn_id, summary = new_id(), attempt.scope.summary
        answered = replace(
            said.turn.record, id=turn_id, model=target.model, stop_reason=reply.stop_reason, usage=reply.usage,
            window=target.window.tokens, cost=reply.cost, seconds=reply.seconds, start=attempt.begins_at(turn_id),
            apart=attempt.apart, summary=summary.id if summary else None, digest=found.digest,
        )  # fmt: skip
        turn = replace(said.turn, reply=reply.text, thinking=reply.thinking, record=answered)
        if counted is not None:
            target.meter.reported(attempt.sent, reply.text, counted, turn_id=turn_id if record else None)
        if record:
            self._keep(replace(said, turn=turn), attempt, counted=counted is not None and not counted.guessed)
        return replace(verdict, reply=reply)

    def _keep(self, said: Said, attempt: Attempt, *, counted: bool) -> None:
        session, summary = self._session, attempt.past.summary
        now = replace(attempt.scope, at=attempt.scope.at + 1)  # where that is the end, all of the view was counted
        drafted = summary is not None and summary.id not in session.conversation.summaries
        session.record(
            *([Summarized(summary, "before")] if summary is not None and drafted else []),
            said,
            counted=lambda: session.key(attempt.target, now, attempt.cut.start) if counted else (),
        )
        session.change(sent=session.key(attempt.target, now, attempt.cut.start))
        session.fitter.answered_at = time.monotonic()

    def _follow_up(self, sent: Attempt, verdict: Verdict) -> str:
        """Do what an answer calls for once its turn is recorded; return what to say of a summary that was written.

        A server that truncated the prompt is asked for its window anew. What the request left out is summarised as a
        part of the turn, where the policy says so.
        """
        if verdict.truncated:
            self._session.models.ask_again(sent.target.provider)
        if sent.decision.means != "summarise after":
            return ""
        return str(self._actions.keep(self._drafted(), "after"))

    def _drafted(self) -> SummaryDraft:
        """Write a summary without being asked; a failure is reported, not raised."""
        if self._summary_failures >= SUMMARY_FAILURES:
            return SummaryDraft("Two summaries failed, so the oldest turns are only left out")
        try:
            draft = self._actions.draft()
        except ChatError as error:
            draft = SummaryDraft(f"No summary was written: {error}", failed=True)
        if draft.failed or draft.summary is not None:
            self._summary_failures = self._summary_failures + 1 if draft.failed else 0
        return draft


def _as_stored(turn: Turn) -> Reply:
    """Return an answer that is there already; it costs nothing."""
    return Reply(
        turn.reply, turn.usage, turn.stop_reason, turn.model, (STORED,), stored=True,
        thinking=turn.thinking, seconds=turn.record.seconds,
    )  # fmt: skip


def stopped(pieces: Sequence[str], *, record: bool) -> str:
    """Return what an interrupt has left."""
    if not pieces:
        return "stopped before any text came; nothing was recorded."
    return "the text so far is kept." if record else "the text so far is shown, not kept."
