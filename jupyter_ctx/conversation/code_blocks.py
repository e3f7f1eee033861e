"""The code in an answer, as it may stand in a cell."""

from __future__ import annotations

import ast
import re
import warnings
from collections.abc import Sequence
from typing import NamedTuple

PYTHON = frozenset({"python", "py", "python3", "ipython", "ipython3", "pycon"})
SESSIONS = frozenset({"console", "shell-session", "shellsession", "sh-session", "bash-session"})
MAGICS = {"html": "%%html", "javascript": "%%javascript", "js": "%%javascript", "latex": "%%latex"}
MAGICS |= dict.fromkeys(["bash", "sh", "shell", *SESSIONS], "%%bash")
_PYTHON_LINE = re.compile(r"^[^\S\n]*(?:>>>|\.\.\.|In \[\d+\]:|\.\.\.:)(?: (.*)|)$", re.MULTILINE)
_SHELL_LINE = re.compile(r"^\s*\$ ((?:.*\\\n)*.*)", re.MULTILINE)


class CodeBlock(NamedTuple):
    """One fenced block of an answer: its language in small letters, empty where it names none, and its text.

    is_python: it says so, or can only be code and not output
    """

    language: str
    text: str
    is_python: bool

    @property
    def runs(self) -> bool:
        """Whether a cell can run it, and it is not what a program has printed."""
        is_printed = self.language in SESSIONS and not _SHELL_LINE.match(self.text)
        return self.is_python or (self.language in MAGICS and not is_printed)

    @property
    def cell(self) -> str:
        """The code below its magic, without prompts and output; as comments where a cell cannot run it."""
        if self.is_python or (not self.language and _is_code(self.text, is_alone=True)):
            return _without_prompts(self.text)
        if self.runs:
            is_session = _SHELL_LINE.match(self.text) and "<<" not in self.text
            code = "\n".join(_SHELL_LINE.findall(self.text)) if is_session else self.text
            return f"{MAGICS[self.language]}\n{code}"
        what = f"This is {self.language}, and" if self.language else "This does not say what it is, and is"
        return "\n".join(f"# {line}".rstrip() for line in (f"{what} no Python:", *self.text.splitlines()))


def _without_prompts(text: str) -> str:
    """Return the code of an interactive session without prompts and output; any other code as it is."""
    is_session = re.match(r"\s*(>>>|In \[\d+\]:)", text)
    return "\n".join(_PYTHON_LINE.findall(text)).rstrip() if is_session else text


def _is_code(text: str, *, is_alone: bool) -> bool:
    """Return whether a text is Python that does something; ``is_alone``: nothing else may be the code.

    A value is most likely printed, and a name with a value where other blocks are code.
    """
    source = re.sub(r"(?m)^(\s*)[%!].*", r"\1pass", _without_prompts(text))  # magics are code, too
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of the syntax of the answer
            statements = ast.parse(source).body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False
    return any(_acts(statement) or (is_alone and isinstance(statement, ast.Assign)) for statement in statements)


def _acts(statement: ast.stmt) -> bool:
    is_value = isinstance(statement, ast.Expr | ast.AnnAssign)
    is_value |= isinstance(statement, ast.Assign) and isinstance(statement.value, ast.Constant)
    return not is_value or any(isinstance(node, ast.Call | ast.Await | ast.Yield) for node in ast.walk(statement))


def code_blocks(text: str) -> tuple[CodeBlock, ...]:
    """Return the fenced blocks of an answer, in order."""
    if "```" not in text and "~~~" not in text:
        return ()
    from markdown_it import MarkdownIt

    fences = [token for token in MarkdownIt().disable("inline").parse(text) if token.type == "fence"]
    named = [((token.info.split() or [""])[0].lower(), token.content.rstrip("\n")) for token in fences]
    is_alone = not any(language for language, _ in named)
    return tuple(
        CodeBlock(language, code, language in PYTHON or (not language and _is_code(code, is_alone=is_alone)))
        for language, code in named
    )


def eligible_blocks(blocks: Sequence[CodeBlock]) -> tuple[int, ...]:
    """Return the numbers, from 1, of the blocks that may be meant as the code: those that a cell can run, else all."""
    runs = tuple(number for number, block in enumerate(blocks, 1) if block.runs)
    return runs or tuple(range(1, len(blocks) + 1))


def code_of(text: str) -> str:
    """Return the Python in an answer's fenced blocks, in order; without any, the first block of another language."""
    blocks = code_blocks(text)
    return "\n\n".join([block.cell for block in blocks if block.is_python] or [block.cell for block in blocks[:1]])
