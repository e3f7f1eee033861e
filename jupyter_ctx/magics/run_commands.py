"""``%%chat map`` and ``%chat plot``: ask the prompt in a cell of every row of a table, and draw what came of it."""

from __future__ import annotations

import time
from collections.abc import Iterable
from typing import Any

from IPython.core.error import UsageError
from IPython.display import display

from ..config.settings import MODEL_SETTINGS
from ..conversation.conversation import Conversation
from ..display.text import markdown_block
from ..display.turn_bars import TurnFigures, turns_bundle
from ..errors import ChatError, ChatInterrupted, InvalidRequestError, MissingDependencyError
from ..experiments.asking.progress import ending_figures, sentences_of
from ..experiments.run import Run
from ..runtime.frontend import where
from ..wording import counted
from .command_table import Call
from .line_options import each_of, settings_of
from .questions import asked_first, say
from .variables import check_new_name, is_run, named, schema_named, scorers_named, table_named

USUAL = {"error": "", "cached": False, "truncated": False, "stop_reason": "stop"}  # what need not be shown
PROMPTS_SHOWN, PROMPT_SHOWN = 3, 2_000  # prompts that a dry run shows, and characters of each


def ask_rows(call: Call, name: str) -> None:
    """Ask the prompt in a cell of every row of a table. Raises UsageError and a ChatError."""
    for flag, new in (("-o", call.options.out), ("--as", call.options.named)):
        check_new_name(flag, new)
        if new == name.partition(".")[0]:
            raise UsageError(f"{flag} {new} would replace the table that this cell reads. Choose another name.")
    MapCell(call, table_named(name, call.host.shell.user_ns)).ask()


class MapCell:
    """One use of ``%%chat map``: a run, what is shown of it, and the names it is bound to."""

    def __init__(self, call: Call, table: Any) -> None:
        self._call, self._table, self._shell, self._options = call, table, call.host.shell, call.options
        self._run: Run | None = None
        self._told: tuple[str, ...] = ()

    def ask(self) -> None:
        """Tell the price, ask every row, and show the answers. Raises a ChatError where the run as a whole failed."""
        begun, names = time.monotonic(), self._shell.user_ns
        try:
            self._run = run = self._begin()
            if self._options.dry_run:
                say(_first_prompts(run))
                return
            self._call.host.maps[where(self._shell).source or ""] = run
            names |= {self._options.named: run} if self._options.named else {}
            table, error = _ended(run)
        except ChatInterrupted:
            raise
        except KeyboardInterrupt:  # while nothing waited for the run
            if self._run is not None:
                self._run.cancel()
            raise ChatInterrupted("stopped before the run had ended.") from None
        names |= {self._options.out: table} if self._options.out else {}
        if isinstance(error, ChatInterrupted):
            raise error
        if "answers" not in run.shown and any(result.asked for result in run.results):
            self._display(_with_news(table))
        if error is not None:  # which has the figures
            raise error
        self._tell_ending(run, time.monotonic() - begun)
        self._shell.displayhook.update_user_ns(table)

    def _begin(self) -> Run:
        options, variables = self._options, self._shell.user_ns
        models = each_of(options.model)
        given = settings_of(options)
        grid: dict[str, list[Any]] = {}
        if len(models) > 1:  # what goes with a model is given for each
            own = [name for name in MODEL_SETTINGS if name in given]
            grid = {"model": given.pop("model"), **{name: [given.pop(name)] for name in own}}
        is_read = where(self._shell).kind != "headless"  # else the figures below the table are enough
        before = self._call.host.maps.get(where(self._shell).source or "no source") if options.cap else None
        return self._call.chat.sweep(
            (self._call.text or "").strip("\n"), self._table, grid,
            scorers=scorers_named(options.score or [], variables), names=variables,
            schema=schema_named(options.schema, variables),
            repeat=options.repeat or 1, limit=options.limit, max_cost=options.cap,
            spent=before.options.spent + (before.cost or 0.0) if before is not None else 0.0,
            dry_run=options.dry_run, yes=options.yes, retry=options.retry,
            name=options.named or "", agree=self._agree, tell=self._tell, progress=None if is_read else False, **given,
        )  # fmt: skip

    def _tell(self, run: Run) -> None:
        """Show the price, and what to know of the table, before anything is sent."""
        self._run, self._told = run, run.notices
        say(run.estimate, *run.notices)

    def _agree(self, question: str) -> bool:
        """Return whether the user agrees; money is not spent without a yes. Raises UsageError where nobody is asked."""
        estimate = str(self._run.estimate) if self._run is not None else ""
        answer = asked_first(question.removeprefix(estimate).strip())
        if answer is None:
            raise UsageError(
                "This may be above confirm_cost, and nobody can be asked here: --yes begins it, --prices IN,OUT tells "
                "what is unknown, and %chat config confirm_cost none asks no more. Nothing was sent."
            )
        return answer

    def _display(self, table: Any) -> None:
        """Show a DataFrame with a form in Markdown, which it does not have itself."""
        forms, metadata = self._shell.display_formatter.format(table)
        if "text/html" in forms:
            forms.setdefault("text/markdown", markdown_block(forms["text/plain"]))
        display(forms, metadata=metadata, raw=True)

    def _tell_ending(self, run: Run, seconds: float) -> None:
        """Show below the answers the figures, notices that are new, and what the scores say."""
        known = (*self._told, *(run.differences if "differences" in run.shown else ()))
        lines = [*_remedies(run), *(line for line in run.notices if line not in known)]
        if "figures" not in run.shown:
            lines.insert(0, ", ".join(ending_figures(run, seconds)))
        lines += [] if "sentences" in run.shown else sentences_of(run)
        say(*lines)


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


def _with_news(table: Any) -> Any:
    """Return a DataFrame of pandas without columns that tell nothing here; a table of another kind as it is."""
    if not hasattr(table, "iloc") or not len(table):
        return table
    silent = [name for name, usual in USUAL.items() if name in table.columns and (table[name] == usual).all()]
    silent += [name for name in ("cost",) if name in table.columns and table[name].isna().all()]
    return table.drop(columns=silent)


def _remedies(run: Run) -> Iterable[str]:
    """Yield what to do about rows that failed or were truncated."""
    results = run.results
    if results.failed:
        first = results.failed[0]
        arm = f" ({first.arm})" if first.arm else ""
        yield f"Row {first.row}{arm} failed: {first.error} --retry asks failed rows again."
    if results.truncated:
        why = {each.reply.stop_reason for each in results.truncated if each.reply is not None}
        remedy = ": raise --max-tokens" if "max_tokens" in why else ""
        yield f"Truncated: a part of the prompt or of the answer is missing{remedy}. Such rows count in no rate."
    problem = next((each for each in results if each.problems), None)
    if problem is not None:
        yield f"Row {problem.row} has no score: {problem.problems[0]}"


def _first_prompts(run: Run) -> str:
    """Return the first prompts of a run as they would be sent."""
    rows = len(run.plan.rows)
    prompts = [_prompt(run, row) for row in range(min(PROMPTS_SHOWN, rows))]
    return "\n\n".join([*prompts, f"{counted(rows, 'row')}; nothing was sent."])


def _prompt(run: Run, row: int) -> str:
    try:
        ask = run.plan.ask(row, 0)
    except ChatError as error:
        return f"--- row {row} ---\n{error}"
    system = f"[system] {ask.system}\n" if ask.system else ""
    text = f"{system}{ask.messages[-1].content}"
    return f"--- row {row} ---\n{text[:PROMPT_SHOWN]}{' …' if len(text) > PROMPT_SHOWN else ''}"


def picture(call: Call, name: str | None) -> object:
    """Return what a run in a variable has found, or the tokens of the turns, drawn or as text. Raises UsageError."""
    if name is not None:
        otherwise = "%%chat map TABLE --as NAME makes one."
        run = named("%chat plot", name, call.host.shell.user_ns, is_run, otherwise)
        if not isinstance(run, Run):
            raise UsageError(f"%chat plot takes the variable of a run, and {name} is a {type(run).__name__}.")
        return run.summary()
    return turns_bundle(turn_figures(call.chat.conversation), call.chat.info().limit)


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
