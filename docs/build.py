"""Build the book: python docs/build.py. It runs the code of all pages, and ends at build/book/index.html."""

from __future__ import annotations

import json
import os
import re
import shutil
import sys
import time
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from scripts import environment  # noqa: E402

BUILD = ROOT / "build"
BOOK, EXECUTED = BUILD / "book", BUILD / "jupyter_execute"
FAILED_CELL = re.compile(r"following cell:\n-+\n(.*?)\n-+\n", re.S)
FAILED_LINE = re.compile(r"Cell In\[\d+\], line (\d+)")
COLOUR = re.compile(r"\x1b\[[\d;]*m")
OF_THE_USER = ("JUPYTER_CTX_", "OPENAI_", "ANTHROPIC_", "GEMINI_", "GOOGLE_", "LITELLM_")


def main() -> int:
    """Set up, build, and say what was built."""
    began = time.monotonic()
    environment.FOLDER = BUILD / "venv"  # Sphinx stays out of that of the tests
    for old in (BOOK, EXECUTED):
        shutil.rmtree(old, ignore_errors=True)
    environment.prepare("local", "dataframes", "pictures", "docs")
    for name in [name for name in os.environ if name.startswith(OF_THE_USER)]:
        del os.environ[name]
    home = BUILD / "home"  # nobody's settings, keys and conversations
    os.environ |= {
        "JUPYTER_CTX_STORE": "memory", "JUPYTER_CONFIG_DIR": f"{home}/config", "JUPYTER_DATA_DIR": f"{home}/data",
        "IPYTHONDIR": f"{home}/ipython", "PYTHONPATH": str(ROOT / "notebooks"),  # which has check.py for the lessons
    }  # fmt: skip
    profile = home / "ipython/profile_default"
    profile.mkdir(parents=True, exist_ok=True)
    profile.joinpath("ipython_kernel_config.py").write_text("c.IPKernelApp.log_level = 40\n", "utf-8")
    options = ("-W", "--keep-going", "-q", "-j", "auto", "-E", "-d", str(BUILD / "doctrees"))
    code = environment.run("sphinx", *options, str(ROOT / "docs"), str(BOOK))
    for problem in failures(BOOK / "reports", ROOT / "docs"):
        print(problem, file=sys.stderr)
    cells = [cell for path in EXECUTED.rglob("*.ipynb") for cell in json.loads(path.read_text("utf-8"))["cells"]]
    ran = sum(bool(cell.get("execution_count")) for cell in cells)
    pages = sum(path.suffix in (".md", ".ipynb") for path in (ROOT / "docs").rglob("*"))
    print(f"{pages} pages, {ran} blocks run, {time.monotonic() - began:.0f} s: {BOOK / 'index.html'}")
    return code


def failures(reports: Path, docs: Path) -> Iterator[str]:
    """Yield for each page whose code failed where it did, and the error."""
    for report in sorted(reports.rglob("*.err.log")):
        said = COLOUR.sub("", report.read_text("utf-8"))
        name = str(report.relative_to(reports)).removesuffix(".err.log")
        page = next(path for path in (docs / f"{name}.md", docs / f"{name}.ipynb") if path.exists())
        cell = FAILED_CELL.search(said)
        code = cell[1] if cell else ""
        text = page.read_text("utf-8")
        sought = code if page.suffix == ".md" else json.dumps(code.splitlines()[0], ensure_ascii=False)[1:-1]
        line = text[: text.find(sought)].count("\n") + 1 if code and sought in text else 1
        frame = FAILED_LINE.search(said)
        line += int(frame[1]) - 1 if frame else 0
        *_, error = (each for each in said.splitlines() if each.strip("- "))
        yield f"{page.relative_to(docs.parent)}:{line}: {error}"


if __name__ == "__main__":
    sys.exit(main())
