"""The code in an answer, as it may stand in a cell."""

from __future__ import annotations

import ast
import re
import warnings
from collections.abc import Sequence
from typing import NamedTuple

PYTHON = frozenset({"python", "py", "python3", "ipython", "ipython3", "pycon"})
SESSIONS = frozenset({"console", "shell-session", "shellsession", "sh-session", "bash-session"})
LANGUAGE_MAGICS = {
    "bash": "%%bash",
    "sh": "%%bash",
    "shell": "%%bash",
    "html": "%%html",
    "javascript": "%%javascript",
    "js": "%%javascript",
    "latex": "%%latex",
    **dict.fromkeys(SESSIONS, "%%bash"),
}
PYTHON_PROMPT = re.compile(r"\s*(?:>>>|\.\.\.|In \[\d+\]:|\.\.\.:)(?: |$)")
PYTHON_SESSION = re.compile(r"\s*(?:>>>|In \[\d+\]:)(?: |$)")
SHELL_PROMPT = re.compile(r"\s*\$ ")


class CodeBlock(NamedTuple):
    """One fenced block of an answer.

    language: as the answer names it, in small letters; empty: it names none
    text: the code
    """

    language: str
    text: str

    @property
    def is_python(self) -> bool:
        """Whether it is Python: it says so, or does not say what it is and can only be code."""
        return self.language in PYTHON or (not self.language and _is_code(_without_prompts(self.text)))

    @property
    def runs(self) -> bool:
        """Whether a cell can run it."""
        if self.language in SESSIONS:
            return SHELL_PROMPT.match(self.text) is not None  # the others are what a program has printed
        return self.is_python or self.language in LANGUAGE_MAGICS

    @property
    def cell(self) -> str:
        """The code as it may stand in a cell: below the magic of its language, without the prompts of a session.

        What a cell cannot run stands there as comments.
        """
        if self.is_python:
            return _without_prompts(self.text)
        if self.runs:
            return f"{LANGUAGE_MAGICS[self.language]}\n{_commands(self.text)}"
        return "\n".join(f"# {line}".rstrip() for line in (_says_what(self.language), *self.text.splitlines()))


def _says_what(language: str) -> str:
    return f"This is {language}, and no Python:" if language else "This does not say what it is, and is no Python:"


def _is_code(text: str) -> bool:
    """Return whether a text is Python that does something; a value alone is most likely what a program printed."""
    lines = (re.sub(r"^(\s*)[%!].*", r"\1pass", line) for line in text.splitlines())  # magics are code, too
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of the syntax of the answer
            parts = ast.parse("\n".join(lines)).body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False
    return any(not isinstance(part, ast.Expr) or _acts(part) for part in parts)


def _acts(part: ast.Expr) -> bool:
    return any(isinstance(node, ast.Call | ast.BinOp | ast.Await | ast.Yield) for node in ast.walk(part))


def _without_prompts(text: str) -> str:
    """Return the code of an interactive session without prompts and output; any other code as it is."""
    if PYTHON_SESSION.match(text) is None:
        return text
    code, lines = list[str](), text.splitlines()
    for line in lines:
        prompt = PYTHON_PROMPT.match(line)
        if prompt is not None:
            code.append(line[prompt.end() :])
    return "\n".join(code).rstrip()


def _commands(text: str) -> str:
    """Return the commands of a shell session without prompts and output; any other script as it is."""
    if SHELL_PROMPT.match(text) is None:
        return text
    commands, goes_on = list[str](), False
    for line in text.splitlines():
        prompt = SHELL_PROMPT.match(line)
        if prompt is not None or goes_on or line.startswith("#") or "<<" in text:
            commands.append(line[prompt.end() :] if prompt is not None else line.removeprefix("> "))
            goes_on = line.endswith("\\")
    return "\n".join(commands)


def code_blocks(text: str) -> tuple[CodeBlock, ...]:
    """Return the fenced blocks of an answer, in order."""
    if "```" not in text and "~~~" not in text:
        return ()
    from markdown_it import MarkdownIt

    fences = [token for token in MarkdownIt().disable("inline").parse(text) if token.type == "fence"]
    return tuple(CodeBlock((token.info.split() or [""])[0].lower(), token.content.rstrip("\n")) for token in fences)


def eligible_blocks(blocks: Sequence[CodeBlock]) -> tuple[int, ...]:
    """Return the numbers, from 1, of the blocks that may be meant as the code: those that a cell can run, else all."""
    runs = tuple(number for number, block in enumerate(blocks, 1) if block.runs)
    return runs or tuple(range(1, len(blocks) + 1))


def code_of(text: str) -> str:
    """Return the Python in an answer's fenced blocks, in order; without any, the first block of another language."""
    blocks = code_blocks(text)
    python = [block.cell for block in blocks if block.is_python]
    return "\n\n".join(python) if python else blocks[0].cell if blocks else ""
