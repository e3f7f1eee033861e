"""``%%chat map`` and ``%chat plot``: ask the prompt in a cell of every row of a table, and draw what came of it."""

from __future__ import annotations

import time
from argparse import Namespace
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

from IPython.core.error import UsageError
from IPython.display import display

from ..config.settings import MODEL_SETTINGS
from ..conversation.conversation import Conversation
from ..display.text import markdown_block
from ..display.turn_bars import TurnFigures, turns_bundle
from ..errors import ChatError, ChatInterrupted, InvalidRequestError, MissingDependencyError
from ..runtime.frontend import where
from ..wording import counted
from .command_table import ABOUT_ANSWERS, Call, command
from .line_options import each_of, settings_of
from .questions import asked_first, say
from .variables import check_new_name, schema_named, scorers_named, table_named, value_named

if TYPE_CHECKING:
    from ..experiments.run import Run

USUAL = {"error": "", "cached": False, "truncated": False, "stop_reason": "stop"}  # what need not be shown
PROMPTS_SHOWN, PROMPT_SHOWN = 3, 2_000  # prompts that a dry run shows, and characters of each


@command(
    ABOUT_ANSWERS, "%%chat map reviews --as judged\nIs this review positive or negative? {{ text }}",
    heads_cell=True, needs_text=True,
)  # fmt: skip
def _map(call: Call, table: str) -> None:
    """Ask the prompt in the cell of every row of a table, {{ column }} being filled in."""
    from ..experiments.asking.progress import ending_figures, sentences_of

    options, shell, names = call.options, call.host.shell, call.host.shell.user_ns
    _check_new_names(options, table)
    begun, told = time.monotonic(), set[str]()
    runs: list[Run] = []

    def tell(run: Run) -> None:
        """Show the price, and what to know of the table, before anything is sent."""
        runs.append(run)
        told.update(run.notices)
        say(run.estimate, *run.notices)

    try:
        run = _begin(call, table_named(table, names), tell)
        if options.dry_run:
            say(_first_prompts(run))
            return
        call.host.maps[where(shell).source or ""] = run
        names |= {options.named: run} if options.named else {}
        answers, error = _ended(run)
    except ChatInterrupted:
        raise
    except KeyboardInterrupt:  # while nothing waited for the run
        for run in runs:
            run.cancel()
        raise ChatInterrupted("stopped before the run had ended.") from None
    names |= {options.out: answers} if options.out else {}
    if isinstance(error, ChatInterrupted):
        raise error
    if "answers" not in run.shown and any(result.asked for result in run.results):
        _display(shell, answers)
    if error is not None:  # which has the figures
        raise error
    if "figures" not in run.shown:
        say(", ".join(ending_figures(run, time.monotonic() - begun)))
    told.update(run.differences if "differences" in run.shown else ())
    say(*_remedies(run), *(line for line in run.notices if line not in told))
    say(*([] if "sentences" in run.shown else sentences_of(run)))
    shell.displayhook.update_user_ns(answers)


def _check_new_names(options: Namespace, table: str) -> None:
    """Refuse names that cannot be bound, or are that of the table. Raises UsageError."""
    for flag, new in (("-o", options.out), ("--as", options.named)):
        if new is not None:
            check_new_name(flag, new)
        if new == table.partition(".")[0]:
            raise UsageError(f"{flag} {new} would replace the table that this cell reads. Choose another name.")


def _agree(_: str) -> bool:
    """Return whether the user agrees to the price that stands above; money is not spent without a yes.

    Raises UsageError where nobody can be asked.
    """
    answer = asked_first("Begin?")
    if answer is None:
        raise UsageError(
            "This may be above confirm_cost, and nobody can be asked here: --yes begins it, --prices IN,OUT tells "
            "what is unknown, and %chat config confirm_cost none asks no more. Nothing was sent."
        )
    return answer


def _begin(call: Call, table: Any, tell: Callable[[Run], None]) -> Run:
    """Return the run of a cell, begun after the user agreed. Raises UsageError and a ChatError."""
    options, place, names = call.options, where(call.host.shell), call.host.shell.user_ns
    models, given = each_of(options.model), settings_of(options)
    grid: dict[str, list[Any]] = {}
    if len(models) > 1:  # what goes with a model is given for each
        own = [name for name in MODEL_SETTINGS if name in given]
        grid = {"model": given.pop("model"), **{name: [given.pop(name)] for name in own}}
    before = call.host.maps.get(place.source or "no source") if options.cap else None
    return call.chat.sweep(
        (call.text or "").strip("\n"), table, grid,
        scorers=scorers_named(options.score or [], names), names=names,
        schema=schema_named(options.schema, names) if options.schema else None,
        repeat=1 if options.repeat is None else options.repeat, limit=options.limit, max_cost=options.cap,
        spent=before.options.spent + (before.cost or 0.0) if before is not None else 0.0,
        dry_run=options.dry_run, yes=options.yes, retry=options.retry, name=options.named or "",
        agree=_agree, tell=tell,
        progress=False if place.kind == "headless" else None,  # where the figures below the table are enough
        **given,
    )  # fmt: skip


def _display(shell: Any, table: Any) -> None:
    """Show a DataFrame with a form in Markdown, and without columns that tell nothing here; another table as it is."""
    if hasattr(table, "iloc") and len(table):
        silent = [name for name, usual in USUAL.items() if name in table.columns and (table[name] == usual).all()]
        silent += [name for name in ("cost",) if name in table.columns and table[name].isna().all()]
        table = table.drop(columns=silent)
    forms, metadata = shell.display_formatter.format(table)
    if "text/html" in forms:
        forms.setdefault("text/markdown", markdown_block(forms["text/plain"]))
    display(forms, metadata=metadata, raw=True)


def _ended(run: Run) -> tuple[Any, BaseException | None]:
    """Wait for a run; return its table, and how it failed. Without pandas the table is that of the results."""
    failed: BaseException | None = None
    try:
        run.result()
    except MissingDependencyError:
        pass
    except (ChatError, ChatInterrupted) as error:
        failed = error
    try:
        return run.results.to_frame(), failed
    except MissingDependencyError:
        return run.results, failed


def _remedies(run: Run) -> Iterable[str]:
    """Yield what to do about rows that failed or were truncated."""
    results = run.results
    if results.failed:
        first = results.failed[0]
        arm = f" ({first.arm})" if first.arm else ""
        yield f"Row {first.row}{arm} failed: {first.error} --retry asks failed rows again."
    if results.truncated:
        yield "Truncated: a part of the prompt or of the answer is missing (--max-tokens). Such rows count in no rate."
    problem = next((each for each in results if each.problems), None)
    if problem is not None:
        yield f"Row {problem.row} has no score: {problem.problems[0]}"


def _first_prompts(run: Run) -> str:
    """Return the first prompts of a run as they would be sent."""
    rows, lines = len(run.plan.rows), list[str]()
    for row in range(min(PROMPTS_SHOWN, rows)):
        try:
            ask = run.plan.ask(row, 0)
            text = f"[system] {ask.system}\n" if ask.system else ""
            text += str(ask.messages[-1].content)
        except ChatError as error:
            text = str(error)
        lines.append(f"--- row {row} ---\n{text[:PROMPT_SHOWN]}{' …' if len(text) > PROMPT_SHOWN else ''}")
    return "\n\n".join([*lines, f"{counted(rows, 'row')}; nothing was sent."])


@command(ABOUT_ANSWERS, "%chat plot", "%chat plot run")
def _plot(call: Call, run: str | None = None) -> object:
    """Draw the tokens of each turn, or what a run of %%chat map --as scored."""
    from ..experiments.run import Run

    if run is None:
        return turns_bundle(turn_figures(call.chat.conversation), call.chat.info().limit)
    value = value_named(run, call.host.shell.user_ns)
    if not isinstance(value, Run):
        raise UsageError(f"{run} is no variable that holds a run: %%chat map TABLE --as NAME makes one.")
    return value.summary()


def turn_figures(conversation: Conversation) -> list[TurnFigures]:
    """Return what each turn since the last clear took; raise InvalidRequestError where no provider reported that."""
    figures, start, summary = list[TurnFigures](), 0, None
    for number, place in enumerate(conversation.places, 1):
        usage, record = place.turn.usage, place.turn.record
        if usage is None or not record.digest:
            continue
        # a request with settings of its own says nothing of others
        first = start if record.apart else conversation.index(record.start)
        events = ["cut"] if first > start else []
        events += ["summary"] if record.summary not in (None, summary) else []
        tokens = usage.input_tokens, usage.cache_read_tokens, usage.output_tokens
        figures.append(TurnFigures(number, *tokens, ", ".join(events)))
        start, summary = max(start, first), record.summary or summary
    if not figures:
        raise InvalidRequestError("There is nothing to draw: no answer with reported tokens since the last clear.")
    return figures
