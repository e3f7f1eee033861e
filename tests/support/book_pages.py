"""What is wrong with a page of the book: code that does not parse, names that do not exist, links that lead nowhere."""

from __future__ import annotations

import ast
import importlib
import json
import re
import shlex
import tomllib
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from inspect import signature
from pathlib import Path
from typing import NamedTuple

import yaml
from IPython.core.error import UsageError
from IPython.core.inputtransformer2 import TransformerManager
from markdown_it import MarkdownIt

import jupyter_ctx
from jupyter_ctx.config.settings import DEFAULT, SETTING_NAMES, Settings
from jupyter_ctx.magics.chat_line import check_options
from jupyter_ctx.magics.commands import COMMANDS
from jupyter_ctx.magics.help_pages import TOPICS
from jupyter_ctx.magics.line_options import OPTIONS, parsed_line
from scripts.reference import filled, shell_commands, shell_help

ROOT = Path(__file__).resolve().parents[2]
LESSONS = ROOT / "docs" / "lessons"  # the build copies the notebooks there
FRONT_MATTER = re.compile(r"\A---\n.*?\n---\n", re.S)
CELL_OPTION = re.compile(r"^:[\w-]+:.*$", re.M)
PLACEHOLDER = re.compile(r"[A-Z_]{2,}|N|…|\.\.\.")
PICTURE = re.compile(r'(?:src|srcset)="([^"]+)"')
EXTRAS = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]["optional-dependencies"]


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
    parts = list(_parts(text))
    written = " ".join(part.text for part in parts if not part.text.startswith("-"))
    for part in parts:
        try:
            check = CHECKS.get(part.kind)
            if check is None:
                raise Problem(f"nothing checks a block of {part.kind!r}")
            check(part.text)
            if part.kind == "span" and part.text.startswith("-"):
                _check_option(part.text, written)
            if part.kind in ("link", "picture"):
                _check_target(path, part.text, parts)
        except Problem as problem:
            yield f"{path.relative_to(ROOT)}:{part.line + problem.line}: {problem}"


def _parts(text: str) -> Iterator[Part]:
    text = FRONT_MATTER.sub(lambda found: "\n" * found[0].count("\n"), text)
    line = 0
    for token in MarkdownIt("commonmark").enable("table").parse(text):
        line = token.map[0] if token.map else line
        if token.type == "fence":
            kind, *more = token.info.split() or ["ipython" if token.content.startswith("%") else "console"]
            yield Part(
                "picture" if kind == "{image}" else kind, more[0] if kind == "{image}" else token.content, line + 2
            )
        elif token.type.startswith("html"):
            yield from (Part("picture", name, line + 1) for name in PICTURE.findall(token.content))
        breaks = 0
        for child in token.children or ():
            breaks += child.type in ("softbreak", "hardbreak")
            at = line + breaks + 1
            if child.type == "code_inline":
                yield Part("span", child.content, at)
            elif child.type == "link_open":
                yield Part("link", str(child.attrs["href"]), at)
            elif child.type == "image":
                yield Part("picture", str(child.attrs["src"]), at)


def _check_cells(text: str) -> None:
    """Check IPython code: its Python parses, and its lines of ``%chat`` are ones that are understood."""
    for number, line in enumerate(text.splitlines()):
        if line.startswith(("%chat", "%%chat", "%ctx", "%%ctx")):
            check_chat(line, number)
    code = CELL_OPTION.sub("#", text)  # a comment keeps its line
    if not code.strip("#\n").startswith("%%"):
        _parsed(TransformerManager().transform_cell(code))


def check_chat(line: str, number: int = 0) -> None:
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
        if command is not None:
            _check_words(command.name, options.words[1:])
    except (UsageError, jupyter_ctx.InvalidRequestError) as error:
        raise Problem(error, number) from None


def _check_words(command: str, words: list[str]) -> None:
    """Check what follows ``config`` and ``help``."""
    known = {"config": SETTING_NAMES, "help": (*COMMANDS, *SETTING_NAMES, *TOPICS)}.get(command)
    name, *value = [*words, "1"][: len(words) or 1]
    if known is None or name == "1":
        return
    if name not in known:
        raise Problem(f"%chat {command} knows no {name!r}")
    if value and command == "config" and name != "system" and value[0] not in (DEFAULT, "1"):
        Settings().changed({name: value if name == "parameters" else " ".join(value)})


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
    for node in ast.walk(_parsed(text)):
        if isinstance(node, ast.ImportFrom) and (node.module or "").partition(".")[0] == "jupyter_ctx":
            module = importlib.import_module(node.module or "")
            for each in node.names:
                if not hasattr(module, each.name):
                    raise Problem(f"{node.module} has no {each.name!r}", node.lineno - 1)
        if isinstance(node, ast.Call):
            _check_keywords(node)


def _check_keywords(call: ast.Call) -> None:
    name = ast.unparse(call.func).rpartition(".")[2]
    if name in ("Chat", "configure"):
        known = {*SETTING_NAMES, *signature(jupyter_ctx.Chat).parameters}
        for keyword in call.keywords:
            if keyword.arg is not None and keyword.arg not in known:
                raise Problem(f"there is no setting {keyword.arg!r}", call.lineno - 1)


def _check_shell(text: str) -> None:
    """Check commands of a terminal: ours, the files they run and the extras they install exist."""
    for number, line in enumerate(text.splitlines()):
        for extra in re.findall(r"[\w-]+", " ".join(re.findall(r"jupyter_ctx\[([^\]]*)\]", line))):
            if extra not in EXTRAS:
                raise Problem(f"there is no extra {extra!r}", number)
        found = re.search(r"\bjupyter[ -]ctx(?: ([^#\n]*))?", line)
        name, *words = ((found[1] if found else "") or "").split() or [""]
        if name and not PLACEHOLDER.fullmatch(name) and name not in (*shell_commands(), "--help"):
            raise Problem(f"jupyter ctx has no command {name!r}", number)
        for word in words:
            if word.startswith("--") and word.partition("=")[0] not in shell_help(name):
                raise Problem(f"jupyter ctx {name} has no option {word}", number)
        script = re.match(r"(?:\S+/)?python3? ((?!-)\S+\.py)\b", line)
        if script and line.split()[0].startswith("python") and not (ROOT / script[1]).exists() and "/" in script[1]:
            raise Problem(f"there is no {script[1]}", number)


def _check_span(text: str) -> None:
    """Check what a code span names, where it is ours."""
    if re.match(r"%%?(chat|ctx)\b", text):
        check_chat(text)
    elif re.match(r"jupyter[ -]ctx\b", text):
        _check_shell(text)
    found = re.match(r"c\.Chat\.(\w+)", text)
    if found and found[1] not in (*SETTING_NAMES, "NAME"):
        raise Problem(f"there is no setting {found[1]!r}")
    found = re.fullmatch(r"jupyter_ctx\.(?!toml|testing)(\w+)(\(.*\))?", text)
    if found and not hasattr(jupyter_ctx, found[1]):
        raise Problem(f"jupyter_ctx has no {found[1]!r}")


def _check_option(text: str, written: str) -> None:
    """Check that an option is ours, or that of a command which the page has."""
    flag = re.split(r"[ =]", text)[0]
    ours = {spelling for option in OPTIONS for spelling in option.flags}
    if re.match(r"--\w", flag) and flag not in ours and flag not in _shell_options() and flag not in written:
        raise Problem(f"there is no option {flag}")


@cache
def _shell_options() -> str:
    return " ".join(map(shell_help, shell_commands()))


def _check_target(page: Path, address: str, parts: list[Part]) -> None:
    """Check that the file and the heading exist that a link or a picture leads to."""
    if re.match(r"[a-z]+:", address):
        return
    name, _, anchor = address.partition("#")
    target = (page.parent / name).resolve() if name else page
    if target.is_relative_to(LESSONS) and target.suffix == ".ipynb":
        target = ROOT / "notebooks" / target.name
    if not target.exists():
        raise Problem(f"there is no {name}")
    if anchor and target.suffix == ".md" and anchor not in _anchors(target):
        raise Problem(f"{target.name} has no {anchor!r}")


@cache
def _anchors(page: Path) -> set[str]:
    """Return the labels of a page, and its headings as addresses have them."""
    text = filled(page.read_text("utf-8"))
    headings = re.findall(r"^#+ (.*)$", text, re.M)
    slugs = {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}
    return slugs | set(re.findall(r"^\((.+)\)=$", text, re.M))


def _reads(read: Callable[[str], object]) -> Callable[[str], None]:
    def check(text: str) -> None:
        try:
            read(text)
        except (ValueError, yaml.YAMLError) as error:
            raise Problem(error) from None

    return check


def _nothing(text: str) -> None:
    """Check nothing: no code."""


CHECKS: Mapping[str, Callable[[str], None]] = {
    "{code-cell}": _check_cells, "ipython": _check_cells, "python": _check_python, "span": _check_span,
    "console": _check_shell, "bash": _check_shell, "sh": _check_shell,
    "json": _reads(json.loads), "toml": _reads(tomllib.loads), "yaml": _reads(yaml.safe_load),
    **dict.fromkeys(("link", "picture", "text", "markdown", "sql", "{eval-rst}", "{toctree}"), _nothing),
    **dict.fromkeys(("{note}", "{warning}", "{tip}", "{important}"), _nothing),
}  # fmt: skip
