"""Begin a run: read the table, look at every prompt, tell the price, ask where it is high."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from ..config.settings import KEYWORDS, Settings, default_settings
from ..conversation.schema import Schema
from ..errors import AuthenticationError, BudgetExceededError, InvalidRequestError
from ..models.cost_budget import CostBudget
from ..models.pricing import price_of, with_unknown_price
from ..models.registry import Models, key_owner, settings_with
from ..providers.base import SupportsStream
from ..providers.plugins import plugin
from ..runtime.notebook_budget import notebook_budget
from ..storage.database import MEMORY
from ..storage.stored_answers import AnswerKey, Answers, Outcome
from ..tools.functions import as_tools
from ..wording import dollars
from .money import Estimate
from .run import Options, Run, split_options
from .scorers import Scorers
from .table.plan import RunPlan, Template, arms_of
from .table.rows import Rows, read_rows

LEAST_BOUNDED = 100  # tokens: a cap that has no room for such an answer has none at all


def sweep(
    template: str,
    rows: object,
    grid: Mapping[str, Iterable[Any]] | None = None,
    *,
    model: str | None = None,
    provider: SupportsStream | None = None,
    api_key: str | None = None,
    **options: Any,
) -> Run:
    """Ask a prompt of every row of a table, with every combination of the values in ``grid``.

    ``template`` is the prompt, in which ``{{ column }}`` is filled in for each row. ``rows`` is a DataFrame, a list of
    dicts or of texts, a table of another library, or the path of a file. A name of ``grid`` that is a setting, such as
    "model" or "temperature", sets it; any other fills ``{{ name }}``. ``options`` are those of
    :class:`~jupyter_ctx.experiments.run.Options`, and settings.

    Return a run that goes on in the background: ``run.result()`` waits for its DataFrame. Raises InvalidRequestError
    for what cannot be asked, before anything is sent.
    """
    chosen, given = split_options(options, Options())
    answers = plugin(provider, model) if provider is not None else None
    asked = {"model": answers.model if answers else model, **given}
    settings = default_settings({}, {name: value for name, value in asked.items() if value is not None})
    models = Models(answers)
    if api_key is not None:
        models.set_key(key_owner(settings), api_key)
    return start(template, rows, {} if grid is None else grid, models, settings, chosen)


def start(
    template: str,
    rows: object,
    grid: Mapping[str, Iterable[Any]],
    models: Models,
    settings: Settings,
    options: Options,
    ended: Callable[[Run], object] | None = None,
    within: CostBudget | None = None,
    beside: Mapping[AnswerKey, Outcome] | None = None,
    check_given: Callable[[Collection[str]], object] = bool,
) -> Run:
    """Begin a run, or with ``options.dry_run`` only make one; ``ended`` is called when it has ended.

    ``within`` is the budget whose cap holds as well, by default that of the notebook; ``beside`` are answers that will
    do where the store has none. ``check_given`` is given the names of settings that another run like this one is to
    have, and raises where one may not be changed. Raises InvalidRequestError.
    """
    if not isinstance(template, str) or not template.strip():
        raise InvalidRequestError("The template is empty: write a prompt with {{ column }} in it.")
    table = read_rows(rows, limit=options.limit)
    cap = None if options.max_cost is None else max(0.0, options.max_cost - options.spent)
    cost_budget = CostBudget(cap, within or notebook_budget())
    cost_budget.cap = cost_budget.left
    answers = Answers(MEMORY if options.store is None else options.store, beside=beside)
    text = Template(template, options.names, models.secrets)
    told = list[str]()
    if cost_budget.cap is not None and cost_budget.cap != options.max_cost:
        told.append(
            f"At most {dollars(cost_budget.cap)} may be spent, which is what is left of the caps that hold here."
        )

    def again(run: Run, changes: Mapping[str, Any]) -> Run:
        new, given = _changed(run, changes)
        check_given(given)
        asked, own = settings_with(settings, given), models.apart()
        return start(template, table, run.grid, own, asked, new, ended, within, check_given=check_given)

    def prepared(settings: Settings) -> Run:
        plan, scorers, notes = _planned(text, table, grid, models, settings, options, cost_budget.cap)
        return Run(plan, models, answers, replace(options, scorers=scorers), cost_budget, (*told, *notes), ended, again)

    run = prepared(settings)
    if run.estimate.worst:
        longest, is_given = run.estimate.bounded, settings.max_tokens is not None or "max_tokens" in grid
        if not is_given and LEAST_BOUNDED <= longest < min(arm.settings.max_tokens or 0 for arm in run.plan.arms):
            told.append(f"Answers end at {longest:,} tokens, so that the limit is enough for one.")
            run = prepared(settings.changed({"max_tokens": longest}))
    if run.estimate.worst and not options.dry_run:
        raise BudgetExceededError(
            f"{dollars(cost_budget.cap or 0.0)} is left of the limit. {run.estimate.lack} Nothing was sent."
        )
    if options.tell is not None:
        options.tell(run)
    if options.dry_run:
        return run
    _check_keys(models, run)
    check_agreed(run.estimate, settings, options)
    return run.begin()


def _planned(
    text: Template,
    table: Rows,
    grid: Mapping[str, Iterable[Any]],
    models: Models,
    settings: Settings,
    options: Options,
    cap: float | None,
) -> tuple[RunPlan, Scorers, tuple[str, ...]]:
    """Return what is asked, what scores it, and what to know of both. Raises InvalidRequestError."""
    arms = arms_of(grid, settings)
    notes = _checked(text, table, grid, options)
    if cap is not None:
        arms = [replace(arm, settings=with_limit(models, arm.settings)) for arm in arms]
    scorers = Scorers.of(options.scorers).asked_with(partial(_of_judge, models, settings, cap))
    scorers.check(table.columns)
    check_price(models, [*(arm.settings for arm in arms), *(each.settings for each in scorers.judges.values())], cap)
    schema = Schema.of(options.schema) if options.schema is not None else None
    tools = as_tools(options.tools if isinstance(options.tools, Iterable) else [options.tools])
    if tools and cap is not None:
        notes = (*notes, "Each round of calls is one more request: the price told is that of one request a row.")
    return RunPlan(text, table, arms, options.repeat, schema, tools), scorers, notes


def _changed(run: Run, changes: Mapping[str, Any]) -> tuple[Options, dict[str, Any]]:
    """Return the options and settings of a run like another; a yes to the price of one is none to the other."""
    options, given = split_options(changes, replace(run.options, dry_run=False, yes=False, spent=0.0))
    fixed = next((name for name in given if name in run.grid), None)
    if fixed is not None:
        raise InvalidRequestError(f"{fixed}= is in this run's grid: sweep(…, {{{fixed!r}: […]}}) asks others.")
    return options, given


def _check_keys(models: Models, run: Run) -> None:
    """Raise AuthenticationError where a key is missing, InvalidRequestError where one cannot go where it is asked."""
    asked = [each.settings for each in (*run.plan.arms, *run.options.scorers.judges.values())]
    if not run.estimate.rows:
        return
    if run.options.executor is not None:
        if models.has_guest or any(map(models.has_key, asked)):
            raise InvalidRequestError(
                "executor= asks in other processes, to which no provider and no key is sent: leave out provider= and "
                "api_key=, and set the key in the environment there. Nothing was sent."
            )
        return
    missing = next(filter(None, map(models.missing_key, asked)), "")
    if missing:
        raise AuthenticationError(f"{missing} Nothing was sent.")


def _of_judge(models: Models, settings: Settings, cap: float | None, given: Settings) -> Settings:
    """Return how a judge is asked: at the address of the run, where its model has no provider of its own."""
    there = settings_with(settings, {"model": given.model, "base_url": given.base_url})
    given = given.changed({"base_url": there.base_url})
    return given if cap is None else with_limit(models, given)


def _checked(text: Template, rows: Rows, grid: Mapping[str, Any], options: Options) -> tuple[str, ...]:
    """Return what to know of the template and the table. Raises InvalidRequestError."""
    values = [name for name in grid if name not in KEYWORDS]
    notes = (*rows.notices(text.columns(rows.columns)), *text.check(rows.columns, values))
    unread = next((name for name in values if not text.reads(name)), None)
    if unread is not None:
        raise InvalidRequestError(
            f"grid has {unread!r}, which is no setting and is not in the template: write {{{{ {unread} }}}} there."
        )
    if options.group is not None and options.group not in rows.columns:
        raise InvalidRequestError(f"group is {options.group!r}: the columns are {', '.join(rows.columns)}.")
    return notes


# money


def with_limit(models: Models, settings: Settings) -> Settings:
    """Return settings with the ``max_tokens`` that is planned with, where none would be sent."""
    target = models.target(settings, ask=False)
    return settings if target.max_tokens is not None else settings.changed({"max_tokens": target.reserve})


def check_price(models: Models, settings: Sequence[Settings], cap: float | None) -> None:
    """Raise InvalidRequestError where there is a cap and a model has no known price, naming the model."""
    if cap is None:
        return
    targets = [models.target(each, ask=False) for each in settings]
    unknown = [target.model for target in targets if not target.is_free and price_of(models, target) is None]
    if unknown:
        raise with_unknown_price(unknown)


def check_agreed(estimate: Estimate, settings: Settings, options: Options) -> None:
    """Ask the user where a run is dear, or nobody knows, unless a cap was given for it.

    Raises InvalidRequestError unless the user agrees.
    """
    if options.yes or options.max_cost is not None or not estimate.is_above(settings.confirm_cost):
        return
    if options.agree is None:
        raise InvalidRequestError(
            f"{estimate} That is above confirm_cost ({dollars(settings.confirm_cost or 0.0)}), and nobody can be "
            "asked here: yes=True (--yes in a cell) begins the run. Nothing was sent."
        )
    if not options.agree(f"{estimate} Begin?"):
        raise InvalidRequestError("Not begun: nothing was sent.")
