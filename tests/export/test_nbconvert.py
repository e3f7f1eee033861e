"""Notebooks with conversations, as nbconvert writes them with the settings that are installed."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient

from jupyter_ctx.display.answer.markdown import WHOLE_PROMPTS

pytestmark = pytest.mark.core

SETTINGS = Path(__file__).parents[2] / "etc"
PROMPT = f"%%chat\nWhy is the sky blue? {'It is a long line. ' * 20}END"
CELLS = (
    "%load_ext jupyter_ctx\nfrom jupyter_ctx import get_chat\nrows = [dict(a='x'), dict(a='y')]",
    "%chat use {model} --max-tokens 8",
    PROMPT,
    "%%chat -n 2\nSay a word.",
    "%%chat map rows --as run\nSay {{{{ a }}}}",
    *(f"%chat {command}" for command in ("", "status", "history", "preview", "list", "help", "config")),
    "get_chat()",
    "get_chat().info()",
    "get_chat().usage()",
    "run",
    "import ipywidgets\n%chat trim 1",
)


@pytest.fixture
def executed(local_model: str, tmp_path: Path) -> Path:
    cells = [nbformat.v4.new_code_cell(source.format(model=local_model)) for source in CELLS]
    notebook = nbformat.v4.new_notebook(cells=cells)
    NotebookClient(notebook, kernel_name="python3").execute()
    path = tmp_path / "lesson.ipynb"
    nbformat.write(notebook, path)
    return path


def converting(path: Path, to: str) -> subprocess.Popen[str]:
    """The command line of nbconvert at work."""
    command = [sys.executable, "-m", "nbconvert", "--to", to, "--log-level", "ERROR", "--stdout", str(path)]
    environment = {**os.environ, "JUPYTER_CONFIG_PATH": str(SETTINGS)}
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment)


def test_markdown_has_no_html_and_html_has_whole_prompts(executed: Path) -> None:
    started = [converting(executed, form) for form in ("markdown", "html")]
    markdown, page = (each.communicate()[0] for each in started)
    assert [each.returncode for each in started] == [0, 0]
    assert not re.findall(r"<(?:div|span|style|table|details|p|b)\b", markdown)
    assert "```markdown\n%%chat\nWhy is the sky blue?" in markdown
    assert "| --: | --- |" in markdown, "the sum of %chat status"
    assert PROMPT.partition("\n")[2] in page, "no word of it is coloured as Python"
    assert WHOLE_PROMPTS in page
