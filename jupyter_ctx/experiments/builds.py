"""Check runs in a build: those of a notebook, which is executed, or one that was exported, by conditions."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from math import fsum
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from ..display.tables import table_text
from ..errors import InvalidRequestError, MissingDependencyError
from ..runtime.files import path_of, reason_of
from ..wording import dollars, visible
from .results.conditions import Checked, Condition, checks_of
from .results.export import load_run
from .results.not_worse import WorseError, assert_not_worse
from .results.record import RunRecord
from .results.sides import Arms
from .run import Run
from .statistics.tally import by_arm, scorers_of
from .statistics.verdicts import arm_figures
from .table.results import Result

Runs = Mapping[str, RunRecord]  # by the names that they have in a notebook
_EXPORT = "from jupyter_ctx.experiments.builds import export_runs\nexport_runs(dict(globals()), {folder!r})"


def runs_of(path: str) -> Runs:
    """Return the run in an exported .json file, or the runs that a notebook makes, which is executed for that.

    Nothing is written to the notebook. Raises InvalidRequestError, MissingDependencyError, and WorseError where a cell
    fails by an AssertionError.
    """
    file = path_of(path)
    if file.suffix.lower() != ".ipynb":
        return {file.stem: load_run(file)}
    with TemporaryDirectory() as folder:
        _execute(file, folder)
        runs = {each.stem: load_run(each) for each in sorted(Path(folder).iterdir())}
    if not runs:
        raise InvalidRequestError(f"{file} names no run: write run = sweep(…), or %%chat map … --as run.")
    return runs


def export_runs(names: Mapping[str, Any], folder: str) -> None:
    """Wait for the runs among a notebook's variables, and export each by its name: the cell that ends a copy."""
    named = [(value, name) for name, value in names.items() if isinstance(value, Run) and not name.startswith("_")]
    for run, name in dict(reversed(named)).items():  # each once, by its first name
        if run.begun:  # a dry run has not
            run.wait()
            run.export(Path(folder) / f"{name}.json")


def _execute(file: Path, folder: str) -> None:
    """Execute a copy of a notebook where it stands, with a cell at its end that exports its runs to a folder."""
    try:
        import nbclient
        import nbformat
    except ImportError:
        raise MissingDependencyError('A notebook is executed by nbclient: pip install "jupyter_ctx[builds]"') from None
    try:
        notebook: Any = nbformat.read(file, as_version=4)
    except OSError as error:
        raise InvalidRequestError(f"{file} cannot be read: {reason_of(error)}.") from None
    except Exception as error:  # nbformat has many
        raise InvalidRequestError(f"{file} is no notebook: {error}") from None
    notebook.cells.append(nbformat.v4.new_code_cell(_EXPORT.format(folder=folder)))
    place = {"metadata": {"path": str(file.absolute().parent)}}
    try:
        nbclient.NotebookClient(notebook, timeout=None, resources=place).execute()
    except nbclient.exceptions.CellExecutionError as error:
        failed = visible(f"{file}: {error.ename}: {error.evalue}")
        if error.ename in (AssertionError.__name__, WorseError.__name__):
            raise WorseError(failed) from None
        raise InvalidRequestError(failed) from None
    except Exception as error:  # no such kernel, or it died
        raise InvalidRequestError(f"{file} cannot be executed: {error}") from None


def report(runs: Runs) -> str:
    """Return a table of what each arm scored and has cost, and the sentences to quote."""
    lines, sentences = list[list[str]](), list[str]()
    for name, run in runs.items():
        costs = {arm: _cost(results) for arm, results in by_arm(run.results).items()}
        told = run.summary()
        lines += [[name, row.scorer, *arm_figures(row), costs[row.arm]] for row in told]
        sentences += told.sentences
    head = ["run", "scorer", "arm", "value", "95 % interval", "rows", "cost"]
    return visible("\n\n".join([table_text(head, lines), *sentences]))


def check_runs(
    runs: Runs, conditions: Iterable[Condition], baseline: RunRecord | None, margin: float, *, strict: bool
) -> list[Checked]:
    """Return whether each condition holds, and whether each run is not worse than another one.

    Raises InvalidRequestError for what cannot be checked.
    """
    arms = _arms(runs)
    scorers = dict.fromkeys(name for run in runs.values() for name in (*run.scorers, *scorers_of(run.results)))
    found = [each for condition in conditions for each in checks_of(condition, arms, scorers)]
    for name, run in runs.items() if baseline is not None else ():
        try:
            compared = assert_not_worse(baseline, run, margin, strict=strict, names=("baseline", name))
            found.append(Checked(True, "\n".join(compared.sentences)))
        except WorseError as error:
            found.append(Checked(False, str(error)))
    return [Checked(holds, visible(sentence)) for holds, sentence in found]


def _arms(runs: Runs) -> Arms:
    """Return the arms of all runs by their labels; that of a run with one has the run's name, and of several both."""
    arms = dict[str, list[Result]]()
    for name, run in runs.items():
        for label, results in by_arm(run.results).items():
            parts = [name] if len(runs) > 1 or not label else []
            arms[": ".join([*parts, *filter(None, [label])])] = results
    return arms


def _cost(results: Iterable[Result]) -> str:
    costs = [each.reply.cost for each in results if each.reply is not None]
    known = [cost for cost in costs if cost is not None]
    return dollars(fsum(known)) if len(known) == len(costs) else "–"
