"""What a policy of compaction would send of a conversation: the planner's own decisions, over sizes alone."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple, TypeAlias

from ...context.budget import LEAST_MARGIN, MARGIN
from ...context.compaction import Ledger, Occupancy, is_shorter, keep_verbatim, summary_cap
from ...context.policy import Decision, decide
from ...context.summary_facts import SUMMARY_ANSWER, summary_message
from ...context.tokens import Fixed
from ...context.usage import Usage
from ...errors import InvalidRequestError
from ...models.registry import Target
from ...session.session import LEAST_CACHED

Size: TypeAlias = tuple[float, float]  # tokens of a prompt and of its answer


class SimulatedTurn(NamedTuple):
    """What one turn would take."""

    turn: int
    input: int
    cached: int
    output: int
    window: int
    cost: float | None
    first: int
    summarized: bool


class Simulation:
    """A conversation whose turns are sent one after the other, by the policy in the settings of ``target``.

    ``writes``: whether a model writes the summaries; else they are the user's own lines. Both are as long as they may.
    ``written``: what the model has taken for that.
    """

    def __init__(self, sizes: Sequence[Size], target: Target, system: str, *, writes: bool) -> None:
        self.written: list[Usage] = []
        self._sizes, self._target, self._writes = sizes, target, writes
        self._limit, meter = target.budget().limit, target.meter
        self._bare = meter.fixed(Fixed(system))
        self._frame = meter.fixed(Fixed(system, summary_message("") + SUMMARY_ANSWER)) - self._bare
        self._ledger, self._start = Ledger(), 0
        self._summary = 0.0  # tokens of the text that stands for the turns that the ledger lacks
        self._is_new = True  # nothing has been sent yet with what is always sent
        self._shared = 0.0  # tokens with which the next request begins as the last one did, in the same view

    def turns(self, cost: Callable[[Usage], float | None]) -> Iterator[SimulatedTurn]:
        """Yield what each turn takes, up to one that is not sent because ``on_overflow`` is "stop".

        Raises InvalidRequestError for a turn that no request has room for.
        """
        for at, (prompt, answer) in enumerate(self._sizes):
            decision = self._decided(at)
            if decision.means == "summarise before":
                self._summarise(at)
                decision = self._decided(at)
            if not decision.cut.fits:
                raise InvalidRequestError(
                    f"Turn {at + 1:,} takes {decision.cut.tokens + prompt:,.0f} tokens alone, and a prompt to "
                    f"{self._target.model} may have {self._limit:,}: shorten it, or give a larger window=."
                )
            if decision.means == "refuse":
                return
            usage, start = self._usage(decision, prompt, answer), decision.cut.start
            tokens = usage.input_tokens, usage.cache_read_tokens, usage.output_tokens
            first, summarized = start + 1 if start > self._start else 0, bool(self._summary and self._is_new)
            yield SimulatedTurn(at + 1, *tokens, self._target.window.tokens, cost(usage), first, summarized)
            self._start, self._is_new = start, False
            self._ledger.append(prompt + answer)
            if decision.means == "summarise after":
                self._summarise(at + 1)

    @property
    def _fixed(self) -> float:
        return self._bare + (self._frame + self._summary if self._summary else 0.0)

    def _decided(self, at: int) -> Decision:
        guessed = self._fixed if self._is_new else 0.0
        budget = self._target.budget(self._fixed)._replace(margin=MARGIN if guessed else LEAST_MARGIN)
        prompt, _ = self._sizes[at]
        now = Occupancy(self._ledger, budget, self._start, at, prompt=prompt, guessed=guessed, lasting=True)
        return decide(now, self._target.settings)

    def _usage(self, decision: Decision, prompt: float, answer: float) -> Usage:
        """Return what a request takes, with what a cache that keeps the one before has of it."""
        sent, is_own = decision.cut.tokens + prompt, not self._target.provider.catalogue
        shared = self._shared if self._is_new or decision.cut.start == self._start else self._fixed
        self._shared = sent + (answer if is_own else 0.0)  # a server of one's own keeps answers, and short texts
        cached = round(shared) if is_own or shared >= LEAST_CACHED else 0
        written = 0 if is_own or sent < LEAST_CACHED else round(sent) - cached
        return Usage(round(sent), round(answer), cached, written)

    def _summarise(self, end: int) -> None:
        """Let a summary stand for older turns, where it is shorter."""
        ledger, keep = self._ledger, keep_verbatim(self._ledger, self._limit, self._start, end)
        older, beside = ledger.between(0, keep), ledger.between(keep, end)
        read = self._summary + older
        said = read if self._writes else sum(prompt for prompt, _ in self._sizes[:keep])
        summary = min(said, summary_cap(self._limit))
        if not is_shorter(self._bare + self._frame + summary, self._fixed + older, beside, self._limit):
            return
        self.written += [Usage(round(read), round(summary))] if self._writes else []
        self._summary, self._is_new, self._ledger = summary, True, Ledger()
        self._shared = self._bare
        for at, size in enumerate(self._sizes[:end]):
            self._ledger.append(sum(size) if at >= keep else None)
