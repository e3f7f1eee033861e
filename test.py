"""Run the tests, with everything they need: python test.py [PYTEST OPTIONS]."""

from __future__ import annotations

import sys

from scripts.environment import prepare, run


def main() -> int:
    """Set up, then test."""
    prepare("local", "lab", "anthropic", "google", "postgres", "test")
    return run("pytest", *sys.argv[1:])


if __name__ == "__main__":
    sys.exit(main())
