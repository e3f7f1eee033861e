"""Open JupyterLab on a lesson, with everything it needs.

python start.py                 open notebooks/01-first-chat.ipynb
python start.py --lesson 3      open another lesson
python start.py NOTEBOOK        open any notebook
python start.py --headless …    execute it and exit
"""

from __future__ import annotations

import os
import sys
import tempfile
from argparse import ArgumentParser
from pathlib import Path

from scripts.environment import ROOT, prepare, run

LESSONS = {path.name[:2].lstrip("0"): path for path in sorted((ROOT / "notebooks").glob("[0-9][0-9]-*.ipynb"))}


def main() -> int:
    """Prepare the environment, then open or execute the notebook."""
    parser = ArgumentParser(description=(__doc__ or "").splitlines()[0])
    which = parser.add_mutually_exclusive_group()
    which.add_argument("notebook", nargs="?", type=Path)
    which.add_argument("--lesson", choices=list(LESSONS), default="1", help="open this lesson (default: 1)")
    parser.add_argument("--headless", action="store_true", help="execute the notebook and exit")
    options = parser.parse_args()
    notebook = (options.notebook or LESSONS[options.lesson]).resolve()
    if not notebook.is_file():
        parser.error(f"no such notebook: {options.notebook}")
    prepare("local", "lab", "anthropic", "google", "dataframes", "pictures")
    if not options.headless:
        root = ["--allow-root"] if hasattr(os, "geteuid") and os.geteuid() == 0 else []  # as in a container
        return run("jupyter", "lab", *root, str(notebook))
    with tempfile.TemporaryDirectory() as folder:
        name = notebook.relative_to(ROOT) if notebook.is_relative_to(ROOT) else notebook
        print(f"Executing {name} …", flush=True)
        return run("nbconvert", "--to", "notebook", "--execute", "--output-dir", folder, str(notebook))


if __name__ == "__main__":
    sys.exit(main())
