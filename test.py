"""Run the tests on every core, with everything they need: python test.py [--all] [PYTEST OPTIONS]."""

from __future__ import annotations

import os
import sys

from scripts.environment import prepare, run

# three for two cores: a test often waits for its browser, kernel or database; -n 0 behind it runs all in one process
WORKERS = (os.cpu_count() or 2) * 3 // 2


def main() -> int:
    """Set up, then test."""
    prepare("local", "lab", "anthropic", "google", "test")
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)  # with it, each of hundreds of processes compiles the package
    return run("pytest", "-n", str(WORKERS), "--dist", "worksteal", *sys.argv[1:])


if __name__ == "__main__":
    sys.exit(main())
