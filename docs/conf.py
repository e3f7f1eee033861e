"""How Sphinx builds the book; ``python docs/build.py`` runs it."""

from __future__ import annotations

import re
import shutil
import sys
from pathlib import Path
from typing import Any

DOCS = Path(__file__).resolve().parent
sys.path.insert(0, str(DOCS.parent))

import jupyter_ctx  # noqa: E402
from scripts.reference import filled  # noqa: E402

project = "jupyter_ctx"
version = release = jupyter_ctx.__version__
extensions = ["myst_nb", "sphinx.ext.autodoc"]
exclude_patterns = ["README.md"]
html_theme = "furo"
smartquotes = False  # --option stays as it is typed
html_title = f"{project} {version}"
html_static_path = ["static"]
html_css_files = ["book.css"]
html_copy_source = html_show_sourcelink = html_show_copyright = html_show_sphinx = False
templates_path: list[str] = []
suppress_warnings = ["toc.empty_glob"]  # a part's list of pages names their order
pygments_style, pygments_dark_style = "default", "github-dark"

myst_enable_extensions = ["attrs_inline", "colon_fence", "deflist"]
myst_heading_anchors = 4
autodoc_member_order = "bysource"
autodoc_typehints = "signature"
python_maximum_signature_line_length = 90

nb_execution_mode = "force"
nb_execution_timeout = 900  # seconds of a cell
nb_execution_in_temp = True
nb_merge_streams = True
nb_render_error_lexer = "text"  # our errors are sentences
nb_ipywidgets_js: dict[str, Any] = {}  # no page needs a network when it is read

NAME = r"(?:``)?[a-z_]\w*(?:``)?"
FIELD = re.compile(rf"({NAME}(?:, {NAME})*): ")


def copy_lessons() -> None:
    """Make the notebooks pages of the book."""
    for old in (DOCS / "lessons").glob("*.ipynb"):
        old.unlink()
    for lesson in sorted((DOCS.parent / "notebooks").glob("[0-9]*.ipynb")):
        shutil.copy(lesson, DOCS / "lessons")


def generate(app: Any, docname: str, source: list[str]) -> None:
    """Fill in what a page takes from the declarations."""
    if Path(app.env.doc2path(docname)).suffix == ".md":
        source[0] = filled(source[0])


def deal(app: Any, _: Any, docnames: list[str]) -> None:
    """Deal the pages out, so that the lessons, which take longest, run beside each other."""
    docnames[:] = [name for start in range(app.parallel) for name in docnames[start :: app.parallel]]


def list_fields(*event: Any) -> None:
    """Show the fields of a docstring, a line each, as a list."""
    lines = event[-1]
    made, inside = list[str](), False
    for line in lines:
        field = FIELD.match(line)
        if field and line.strip():
            made += [] if inside else [""]
            names = field[1].replace("`", "").split(", ")
            line, inside = f"* {', '.join(f'``{each}``' for each in names)}: {line[field.end() :]}", True
        elif inside:
            inside = bool(line.strip())
            line = f"  {line.strip()}" if inside else line
        made.append(line)
    lines[:] = made


def setup(app: Any) -> None:
    """Connect what is made at build time."""
    copy_lessons()
    app.connect("env-before-read-docs", deal)
    app.connect("source-read", generate)
    app.connect("autodoc-process-docstring", list_fields)
