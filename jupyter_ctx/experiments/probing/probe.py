"""Ask questions on longer and longer texts until it is known how far a model holds."""

from __future__ import annotations

import math
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from random import Random
from typing import Any

from ...config.settings import Settings, default_settings
from ...errors import ChatInterrupted, InvalidRequestError, MissingDependencyError, check_whole_number
from ...models.purse import Purse
from ...models.registry import Models, key_owner
from ...models.request_price import is_free, price_of
from ...providers.base import SupportsStream
from ...providers.guests import guest
from ...wording import counted, dollars
from ..money.estimate import Estimate, check_agreed, check_price
from ..run import Run
from ..run_options import Options, parted
from ..start import start
from ..table.results import Result
from .curve import Posterior
from .design import ProbeStep, Stop, next_step, probe_lengths
from .probe_result import Probe, ProbeTrial, ProbeTrials, trials_of
from .prompt_sizes import PromptSizes
from .story_words import PAIRS
from .tasks import LEVELS, Level, ProbePrompt, Task, barest_length, make_prompt, plant_meaning, task_named

MOST_COST, MOST_PROBED = 0.50, 500_000  # US dollars and tokens, where nothing else is said
PROBE_ANSWER, PROBE_THOUGHT = 200, 4_096  # tokens of an answer, and of one that a model thinks about
LEAST_LONGEST = 1_600  # tokens that the longest prompt must be able to have: eight times four facts and questions
LONGEST_SHARE = 3  # so many of the longest prompts fit what may be spent
ENOUGH_MARKS = 24  # questions, to tell whether answers end
SCREENED = 250  # tokens of a text in which each pair of the task "meaning" is tried, among names that answer nothing
RunEnded = Callable[[Run], object]  # hears of a run that has ended
TOO_HARD = 0.8  # of the probability of a base that is too low: then an easier level of the task is tried
UNREPORTED = (
    "{} reports no tokens: lengths are estimates, and a server that leaves out a part of prompts without saying so is "
    "not recognised."
)


@dataclass(frozen=True, slots=True, kw_only=True)
class ProbeOptions:
    """How a probe asks.

    task: keys, chain, meaning, order or own
    text: for own, the text whose facts are asked for
    max_cost: US dollars that are never passed; ``None``: 0.50 where the price is known
    max_total: most tokens of all prompts and answers together
    longest: most tokens of a prompt; ``None``: what the window holds, and a third of ``max_total``
    grid: whether all lengths are asked equally often, instead of those that tell most
    seed: another one makes other texts
    store, yes, agree: as of a run
    tell: is given the price in words before anything is sent, and how far the probe is after each step
    """

    task: str = "keys"
    text: str = ""
    max_cost: float | None = None
    max_total: int = MOST_PROBED
    longest: int | None = None
    grid: bool = False
    seed: int = 0
    store: str | Path | None = "default"
    yes: bool = False
    agree: Callable[[str], bool] | None = None
    tell: Callable[[str], object] = str

    def __post_init__(self) -> None:
        check_whole_number("max_total", self.max_total, least=1)
        if self.longest is not None:
            check_whole_number("longest", self.longest, least=1)
        self.of_run(self.max_cost)  # which checks the others, before anything is told

    def of_run(self, max_cost: float | None) -> Options:
        """Return the options of a run that asks some of the questions."""
        own = Options(max_cost=max_cost, store=self.store, yes=self.yes, agree=self.agree)
        return replace(own, progress=False, retry=True)


def probe(
    model: str | None = None, *, provider: SupportsStream | None = None, api_key: str | None = None, **options: Any
) -> Probe:
    """Measure how long a prompt may be before a model uses it worse, and return what was found.

    Questions are asked on texts made for it, where they tell most, until the length is known to an octave, or
    ``max_cost`` or ``max_total`` is reached. ``options`` are those of
    :class:`~jupyter_ctx.experiments.probing.probe.ProbeOptions`, and settings.

    Raises InvalidRequestError for what cannot be asked, before anything is paid, and ChatInterrupted at Ctrl-C: the
    same probe asks nothing again that was answered.
    """
    chosen, given = parted(options, ProbeOptions(), "probe")
    answers = guest(provider, model) if provider is not None else None
    settings = default_settings({}, {"model": answers.model if answers else model, **given})
    models = Models(answers)
    if api_key is not None:
        models.set_key(key_owner(settings), api_key)
    return run_probe(models, settings, chosen)


def run_probe(
    models: Models,
    settings: Settings,
    options: ProbeOptions,
    ended: RunEnded | None = None,
    within: Purse | None = None,
) -> Probe:
    """Probe a model; ``ended`` is called with each run of requests when it has ended.

    ``within`` is the purse of a conversation, whose caps hold as well.
    """
    probing = Probing(task_named(options.task, options.text), models, settings, options, ended, within)
    try:
        return probing.result()
    except (KeyboardInterrupt, ChatInterrupted):
        came = counted(probing.requests, "answer")
        is_stored = options.store is not None
        kept = "kept, and the same probe asks only the others" if is_stored else "lost, as store is None"
        raise ChatInterrupted(f"stopped; {came} are {kept}.") from None


class Probing:
    """A probe on its way: what was answered, what that took, and how long prompts may still be."""

    def __init__(
        self,
        task: Task,
        models: Models,
        settings: Settings,
        options: ProbeOptions,
        ended: RunEnded | None,
        within: Purse | None,
    ) -> None:
        self._task, self._models, self._options = task, models, options
        self._ended, self._within = ended, within
        settings = settings.changed({"system": None, "on_overflow": "trim", "compact_at": 1.0, "budget_share": 1.0})
        check_price(models, [settings], options.max_cost)
        target = models.target(settings, ask=True)  # its server says what it serves
        if settings.max_tokens is None:
            most = PROBE_THOUGHT if target.thinks else PROBE_ANSWER
            settings = settings.changed({"max_tokens": min(most, target.window.tokens // 8)})
        self._settings, self._target = settings, models.target(settings, ask=False)
        self._sizes = PromptSizes(models.by_name(settings)[1])
        self._is_free = is_free(self._target)
        self._price = None if self._is_free else price_of(models, self._target)
        self._max_cost, self._max_tokens = options.max_cost, options.max_total
        if self._price is not None and self._price.input:
            self._max_cost = options.max_cost or MOST_COST
            self._max_tokens = min(options.max_total, int(self._max_cost / self._price.input))
        self._lengths = self._all_lengths()
        self._trials, self._notices = list[ProbeTrial](), dict[str, None]()
        self._numbers = Counter[tuple[int, int]]()  # prompts that were made, by questions and length
        self._paid = self._seconds = 0.0
        self._tokens = self.requests = 0

    def result(self) -> Probe:
        """Ask until enough is known, and return what was found."""
        self._begin()
        if self._task.name == "meaning":
            self._task = self._screened()
        for level in self._task.levels:
            reason = self._asked(level)
            is_too_hard = reason == "uncounted" or self._posterior(level).effective().base_is_low
            if reason == "cap" or len(self._lengths) < 2 or not is_too_hard:
                break
        if not self._sizes.is_reported:
            self._notices[UNREPORTED.format(self._target.model)] = None
        cost = self._paid if self._is_free or self._price is not None else None
        return Probe(
            self._target.model, self._target.provider.endpoint, self._task.name, level.questions, self._lengths,
            ProbeTrials(self._trials), reason, tuple(self._notices), time.time(), self._tokens, cost, self._seconds,
        )  # fmt: skip

    def _all_lengths(self) -> tuple[int, ...]:
        """Return the lengths of prompts, the base first. Raises InvalidRequestError where there is no room for them."""
        longest = min(self._holds, self._max_tokens // LONGEST_SHARE, self._options.longest or self._holds)
        barest = barest_length(self._task, self._sizes.tokens)
        most = max(LEAST_LONGEST, 2 * barest)
        if longest >= most:
            return probe_lengths(longest, barest)
        raise InvalidRequestError(
            f"A probe in {self._task.name} takes prompts of up to {most:,} tokens at least. "
            f"{'; '.join(self._too_small(most))}. Nothing was sent."
        )

    def _too_small(self, most: int) -> Iterator[str]:
        """Yield what leaves no room for prompts of so many tokens, with the least that would do."""
        options, window, least = self._options, self._target.window, LONGEST_SHARE * most
        if self._holds < most:
            took = f"{self._target.model} takes {self._holds:,} (window {window.tokens:,} {window.origin})"
            answer = max(self._settings.max_tokens or 0, most // 7 + 1)  # an eighth of the window, unless set
            yield f"{took}: a window of {most + answer:,} would do"
        if options.longest is not None and options.longest < most:
            yield f"longest is {options.longest:,}: {most:,} would do"
        if options.max_total < least:
            yield f"max_total is {options.max_total:,}, of which a prompt takes a third at most: {least:,} would do"
        if self._max_tokens < min(least, options.max_total) and self._price is not None:
            paid, would = dollars(self._max_cost or 0.0), math.ceil(100 * least * self._price.input) / 100
            yield f"max_cost is {paid}, which pays {self._max_tokens:,} tokens: {dollars(would)} would do"

    @property
    def _holds(self) -> int:
        """The tokens that a prompt may have, as far as is known by now."""
        return self._models.target(self._settings, ask=False).budget().limit

    def _begin(self) -> None:
        """Tell the price, and ask where it is high. Raises InvalidRequestError unless the user agrees."""
        model, price, tokens = self._target.model, self._price, self._max_tokens
        answer = self._settings.max_tokens or PROBE_ANSWER
        usual = sum(self._lengths) // len(self._lengths)
        requests = max(1, tokens // (usual + answer))
        out = requests * answer
        cost = (0.0, 0.0) if self._is_free else None
        if price is not None:
            cost = 0.0, min(tokens * price.input + out * price.output, self._max_cost or 0.0)
        quote = Estimate(
            requests, (model,), requests * usual, out, cost, is_free=self._is_free,
            longest=self._settings.max_tokens, unpriced=() if cost is not None else (model,),
        )  # fmt: skip
        ends = f"{self._lengths[0]:,} to {self._lengths[-1]:,}"
        self._options.tell(
            f"{self._task.name}, with prompts of {ends} tokens, and at most {tokens:,} tokens in all: about {quote}"
        )
        check_agreed(quote, self._settings, self._options.of_run(None))

    def _asked(self, level: Level) -> str:
        """Ask so many questions a request until enough is known, and return why no more are asked."""
        while True:
            step = next_step(
                trials_of(self._trials, level.questions), self._lengths, self._tokens, self._max_tokens,
                questions=level.questions, grid=self._options.grid,
            )  # fmt: skip
            if isinstance(step, Stop):
                return step.reason
            if not self._take(level, step):
                return "cap"
            self._options.tell(self._progress())
            if len(self._lengths) < 2:
                return "uncounted"
            if level.questions > 1 and self._posterior(level).base()[1] > TOO_HARD:
                return "base"
            if level.questions > 1 and self._is_mostly_cut:
                return "uncounted"

    @property
    def _is_mostly_cut(self) -> bool:
        """Whether most answers do not end."""
        marks = [trial.mark for trial in self._trials]
        return len(marks) >= ENOUGH_MARKS and 2 * marks.count("cut") > len(marks)

    def _posterior(self, level: Level) -> Posterior:
        return Posterior.of(trials_of(self._trials, level.questions), self._lengths)

    def _take(self, level: Level, step: ProbeStep) -> bool:
        """Ask the requests of a step, and keep what came; return whether there was money for any."""
        prompts = [self._prompt(level, step.length, places) for places in step.positions]
        answers, holds = self._answers(prompts), self._holds
        if not answers:
            return False
        for (prompt, result), places in zip(answers, step.positions, strict=True):
            of = self._task.name, f"request {len(self._trials)}", step.length
            if result.asked:
                self._trials += ProbeTrial.of(of, prompt, places, result, self._sizes, refused=holds < step.length)
        if self._sizes.read:
            holds = min(holds, self._sizes.fits(self._settings.max_tokens or 0))
            self._trials = [trial.read_again(self._sizes.read) for trial in self._trials]
            self._notices[self._sizes.cut_line(holds, self._target.provider.truncates)] = None
        elif holds < self._lengths[-1]:
            self._notices[f"Prompts of {step.length:,} tokens are refused: the range ends at {holds:,}."] = None
        if holds < self._lengths[-1]:
            shorter = tuple(length for length in self._lengths if length < holds)
            self._lengths = (*shorter, holds) if shorter else self._lengths[:1]
        return any(result.asked for _, result in answers)

    def _prompt(self, level: Level, length: int, places: Sequence[float]) -> ProbePrompt:
        """Return the next prompt of this length: the same one whenever the same probe is repeated."""
        number = self._numbers[level.questions, length] = self._numbers[level.questions, length] + 1
        rng = Random(f"{self._options.seed} {self._task.name} {level.questions} {length} {number}")
        return make_prompt(self._task, level, self._sizes.tokens, length, places, rng)

    def _answers(self, prompts: Sequence[ProbePrompt]) -> list[tuple[ProbePrompt, Result]]:
        """Ask prompts at once, and return what came of each; of those that no cap has room for, it was not asked."""
        left = None if self._max_cost is None else self._max_cost - self._paid
        rows = [{"prompt": prompt.text} for prompt in prompts]
        try:
            own = replace(self._options.of_run(left), yes=True)
            run = start("{{ prompt }}", rows, {}, self._models, self._settings, own, self._ended, self._within)
        except InvalidRequestError:
            if self.requests:  # the first ones could be asked: what lacks now is money
                return []
            raise
        try:
            with suppress(MissingDependencyError):  # of its table, which is not needed
                run.result()
        finally:
            replies = [result.reply for result in run.results if result.reply is not None]
            self._paid += run.cost or 0.0
            self.requests += len(replies)
        self._seconds += sum(reply.seconds or 0.0 for reply in replies)
        answers = list(zip(prompts, run.results, strict=True))
        self._tokens += sum(self._sizes.taken(prompt.text, result) for prompt, result in answers)
        return answers

    def _screened(self) -> Task:
        """Return the task "meaning" with the pairs that the model joins in a short text."""
        size, rng = min(SCREENED, self._lengths[0]), Random(f"{self._options.seed} pairs")
        tasks = [Task("meaning", partial(plant_meaning, pairs=[pair])) for pair in PAIRS]
        prompts = [make_prompt(task, self._task.levels[-1], self._sizes.tokens, size, (0.5,), rng) for task in tasks]
        answered = [
            (pair, prompt.scores(result.reply.text))
            for pair, (prompt, result) in zip(PAIRS, self._answers(prompts), strict=True)
            if result.reply is not None and not self._sizes.mark(prompt.text, result, refused=False)
        ]
        pairs = [pair for pair, scores in answered if all(scores)]
        if len(pairs) >= LEVELS[0].questions:
            return self._task._replace(plant=partial(plant_meaning, pairs=pairs))
        raise InvalidRequestError(
            f"{self._target.model} answered {len(answered)} of {len(PAIRS)} questions on texts of {size} tokens, "
            f"{len(pairs)} of them right, and meaning needs {LEVELS[0].questions} right answers: probe another task."
        )

    def _progress(self) -> str:
        """Return how far it is, and how long the rest may take."""
        minutes = (self._max_tokens - self._tokens) * self._seconds / max(1, self._tokens) / 60
        cost = f", {dollars(self._paid)}" if self._paid else ""
        asked = f"{counted(len(self._trials), 'question')}, {self._tokens:,} of at most {self._max_tokens:,} tokens"
        return f"{asked}{cost}; at most {counted(max(1, round(minutes)), 'minute')} more"
