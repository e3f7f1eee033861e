"""What is wrong with a page of the book: code that does not parse, names that do not exist; links are Sphinx's."""

from __future__ import annotations

import ast
import importlib
import re
import shlex
from collections.abc import Callable, Iterator, Mapping
from inspect import signature
from pathlib import Path
from typing import NamedTuple

from IPython.core.error import UsageError
from IPython.core.inputtransformer2 import TransformerManager
from markdown_it import MarkdownIt

import jupyter_ctx
from jupyter_ctx.config.settings import SETTING_NAMES
from jupyter_ctx.magics.chat_cells import check_options
from jupyter_ctx.magics.commands import COMMANDS
from jupyter_ctx.magics.help_pages import TOPICS
from jupyter_ctx.magics.line_options import parsed_line
from scripts.reference import shell_commands, shell_help

ROOT = Path(__file__).resolve().parents[2]
FRONT_MATTER = re.compile(r"\A---\n.*?\n---\n", re.S)
CELL_OPTION = re.compile(r"^:[\w-]+:.*$", re.M)
PLACEHOLDER = re.compile(r"[A-Z_]{2,}|N|…|\.\.\.")
KNOWN_WORDS = {"config": (*SETTING_NAMES, "1"), "help": (*COMMANDS, *SETTING_NAMES, *TOPICS, "1")}  # behind a command


class Problem(Exception):  # noqa: N818
    """What is wrong, and in which line of a block or code span."""

    def __init__(self, said: object, line: int = 0) -> None:
        super().__init__(str(said))
        self.line = line


class Part(NamedTuple):
    """A part of a page that can be wrong: its kind, its text, and the line where it begins."""

    kind: str
    text: str
    line: int


def problems(path: Path, text: str) -> Iterator[str]:
    """Yield what is wrong with a page, each with its line."""
    for part in _parts(text):
        try:
            CHECKS.get(part.kind, str)(part.text)
        except Problem as problem:
            yield f"{path.relative_to(ROOT)}:{part.line + problem.line}: {problem}"


def _parts(text: str) -> Iterator[Part]:
    text = FRONT_MATTER.sub(lambda found: "\n" * found[0].count("\n"), text)
    line = 0
    for token in MarkdownIt("commonmark").enable("table").parse(text):
        line = token.map[0] if token.map else line
        if token.type == "fence":
            kind, *_ = token.info.split() or ["ipython" if token.content.startswith("%") else "console"]
            yield Part(kind, token.content, line + 2)
        breaks = 0
        for child in token.children or ():
            breaks += child.type in ("softbreak", "hardbreak")
            if child.type == "code_inline":
                yield Part("span", child.content, line + breaks + 1)


def _check_cells(text: str) -> None:
    """Check IPython code: its Python parses, and its lines of ``%chat`` are ones that are understood."""
    for number, line in enumerate(text.splitlines()):
        if line.startswith(("%chat", "%%chat", "%ctx", "%%ctx")):
            _check_chat(line, number)
    code = CELL_OPTION.sub("#", text)  # a comment keeps its line
    if not code.strip("#\n").startswith("%%"):
        _parsed(TransformerManager().transform_cell(code))


def _check_chat(line: str, number: int = 0) -> None:
    """Check a line of ``%chat`` or ``%%chat``; words in capitals stand for others."""
    head, *typed = re.sub(r"[\[\]|]|\?$", " ", line).split(maxsplit=1)
    words = [("1" if PLACEHOLDER.fullmatch(word) else word) for word in shlex.split(typed[0] if typed else "")]
    try:
        options = parsed_line(shlex.join(words))
        command = COMMANDS.get(options.words[0]) if options.words else None
        if options.words and command is None and options.words != ["1"]:
            raise Problem(f"{head} has no command {options.words[0]!r}", number)
        if command is not None or not options.words:
            check_options(options, command, line)
    except (UsageError, jupyter_ctx.InvalidRequestError) as error:
        raise Problem(error, number) from None
    for command_name, name in [options.words[:2]] if len(options.words) > 1 else []:
        if name not in KNOWN_WORDS.get(command_name, (name,)):
            raise Problem(f"%chat {command_name} knows no {name!r}", number)


def _parsed(code: str) -> ast.Module:
    try:
        return ast.parse(code)
    except SyntaxError as error:
        raise Problem(error.msg, (error.lineno or 1) - 1) from None


def _check_python(text: str) -> None:
    """Check that code parses, and that what it takes from jupyter_ctx is there."""
    if text.startswith("%"):
        _check_cells(text)
        return
    settings = {*SETTING_NAMES, *signature(jupyter_ctx.Chat).parameters}
    for node in ast.walk(_parsed(text)):
        if isinstance(node, ast.ImportFrom) and (node.module or "").partition(".")[0] == "jupyter_ctx":
            module = importlib.import_module(node.module or "")
            for each in node.names:
                if not hasattr(module, each.name):
                    raise Problem(f"{node.module} has no {each.name!r}", node.lineno - 1)
        if isinstance(node, ast.Call) and ast.unparse(node.func).rpartition(".")[2] in ("Chat", "configure"):
            for unknown in {keyword.arg for keyword in node.keywords if keyword.arg} - settings:
                raise Problem(f"there is no setting {unknown!r}", node.lineno - 1)


def _check_shell(text: str) -> None:
    """Check that the commands of ours exist, with their options."""
    for number, line in enumerate(text.splitlines()):
        found = re.search(r"\bjupyter[ -]ctx(?: ([^#\n]*))?", line)
        name, *words = ((found[1] if found else "") or "").split() or [""]
        if name and not PLACEHOLDER.fullmatch(name) and name not in (*shell_commands(), "--help"):
            raise Problem(f"jupyter ctx has no command {name!r}", number)
        for word in words:
            if word.startswith("--") and word.partition("=")[0] not in shell_help(name):
                raise Problem(f"jupyter ctx {name} has no option {word}", number)


def _check_span(text: str) -> None:
    """Check what a code span names, where it is ours."""
    if re.match(r"%%?(chat|ctx)\b", text):
        _check_chat(text)
    elif re.match(r"jupyter[ -]ctx\b", text):
        _check_shell(text)


CHECKS: Mapping[str, Callable[[str], object]] = {
    "{code-cell}": _check_cells, "ipython": _check_cells, "python": _check_python, "span": _check_span,
    "console": _check_shell, "bash": _check_shell, "sh": _check_shell,
}  # fmt: skip
