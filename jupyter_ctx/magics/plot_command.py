"""``%chat plot``: draw the turns of the conversation, or what a run has scored, each with its text twin."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial

from IPython.core.error import UsageError
from IPython.display import display

from ..errors import InvalidRequestError, MissingDependencyError
from ..experiments.charts import draw_heat_map, draw_rates
from ..experiments.pictures import Picture
from ..experiments.run import Run
from ..experiments.tally import scorers_of
from ..experiments.turn_chart import draw_turns, turns_text
from ..runtime.frontend import where
from .command_table import Call, say
from .variables import nearest, value_named

MOST_SCORERS = 6  # of one run that are drawn


def plot(call: Call) -> object:
    """Draw the run in a variable, or the turns. Raises UsageError, and InvalidRequestError where nothing is known."""
    if not call.words:
        said = call.chat.conversation, call.chat.usage(), call.chat.info().limit
        return _show(call, [partial(draw_turns, *said)], partial(turns_text, *said))
    name, variables = call.one("the variable of a run"), call.host.shell.user_ns
    run = value_named(name, variables)
    if not isinstance(run, Run):
        hint = nearest(name, variables, lambda value: isinstance(value, Run))
        hint = hint or " %%chat map TABLE --as NAME makes one."
        what = f"is a {type(run).__name__}" if run is not None else "is not there"
        raise UsageError(f"%chat plot takes the variable of a run, and {name} {what}.{hint}")
    pictures = list(_pictures(run))
    if not pictures:
        counts = f"{len(run.results.truncated):,} truncated, {len(run.results.failed):,} failed"
        raise InvalidRequestError(
            f"There is nothing to draw: no answer of {name} has a score ({len(run.results):,} answers, {counts}). "
            "%%chat map --score NAME scores answers that came whole."
        )
    return _show(call, pictures, lambda: repr(run.summary()))


def _pictures(run: Run) -> Iterable[Callable[[], Picture]]:
    """Yield what draws the pictures of a run: rates by scorer, and a heat map of two parameters that vary."""
    vary = [name for name, values in run.grid.items() if len(values) > 1]
    for scorer in scorers_of(run.results)[:MOST_SCORERS]:
        yield partial(draw_rates, run, scorer)
        if len(vary) == 2:
            yield partial(draw_heat_map, run, scorer)


def _show(call: Call, pictures: Iterable[Callable[[], Picture]], text: Callable[[], str]) -> object:
    """Show pictures; in a terminal, and without matplotlib, text that says the same."""
    if where(call.host.shell).kind == "terminal":
        say(text())
        return None
    try:
        for draw in pictures:
            display(draw())
    except MissingDependencyError as error:
        say(text(), str(error), sep="\n")
    return None
