"""Run the tests on every core, with everything they need: python test.py [--all] [PYTEST OPTIONS]."""

from __future__ import annotations

import sys

from scripts.environment import prepare, run

EVERY_CORE = ("-n", "auto", "--dist", "worksteal")  # -n 0 behind them runs the tests in one process


def main() -> int:
    """Set up, then test."""
    prepare("local", "lab", "anthropic", "google", "postgres", "test")
    return run("pytest", *EVERY_CORE, *sys.argv[1:])


if __name__ == "__main__":
    sys.exit(main())
