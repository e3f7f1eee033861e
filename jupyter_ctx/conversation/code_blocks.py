"""The code in an answer, as it may stand in a cell; what a program has printed is none."""

from __future__ import annotations

import ast
import re
import warnings
from typing import NamedTuple

PYTHON = frozenset({"python", "py", "python3", "ipython", "ipython3", "pycon"})
MAGICS = {"html": "%%html", "javascript": "%%javascript", "js": "%%javascript", "latex": "%%latex"}
MAGICS |= dict.fromkeys(["bash", "sh", "shell"], "%%bash")
_ACTIONS = (ast.Call, ast.Import, ast.ImportFrom, ast.FunctionDef, ast.ClassDef, ast.For, ast.With)  # no output is that
_PYTHON_LINE = re.compile(r"^[^\S\n]*(?:>>>|\.\.\.|In \[\d+\]:|\.\.\.:)(?: (.*)|)$", re.MULTILINE)


class CodeBlock(NamedTuple):
    """One fenced block of an answer.

    language: in small letters; empty where it names none
    cell: the code as a cell runs it, below its magic, without prompts and output; as comments where none can
    is_python: it says so, or can only be code
    runs: whether a cell can run it
    """

    language: str
    text: str
    cell: str
    is_python: bool
    runs: bool


def code_blocks(text: str) -> tuple[CodeBlock, ...]:
    """Return the fenced blocks of an answer, in order."""
    if "```" not in text and "~~~" not in text:
        return ()
    from markdown_it import MarkdownIt

    fences = [token for token in MarkdownIt().disable("inline").parse(text) if token.type == "fence"]
    named = [((token.info.split() or [""])[0].lower(), token.content.rstrip("\n")) for token in fences]
    is_alone = not any(language for language, _ in named)
    return tuple(_block(language, code, is_alone=is_alone) for language, code in named)


def _block(language: str, text: str, *, is_alone: bool) -> CodeBlock:
    code = _without_prompts(text)
    if language in PYTHON or (not language and _is_code(code, is_alone=is_alone)):
        return CodeBlock(language, text, code, is_python=True, runs=True)
    if language in MAGICS:
        return CodeBlock(language, text, f"{MAGICS[language]}\n{text}", is_python=False, runs=True)
    what = f"This is {language}, and" if language else "This does not say what it is, and is"
    comments = [f"# {line}".rstrip() for line in (f"{what} no Python:", *text.splitlines())]
    return CodeBlock(language, text, "\n".join(comments), is_python=False, runs=False)


def _without_prompts(text: str) -> str:
    """Return the code of an interactive session without prompts and output; any other code as it is."""
    is_session = re.match(r"\s*(>>>|In \[\d+\]:)", text)
    return "\n".join(_PYTHON_LINE.findall(text)).rstrip() if is_session else text


def _is_code(code: str, *, is_alone: bool) -> bool:
    """Return whether a text is Python that acts; a name with a value counts where no block says what it is."""
    source = re.sub(r"(?m)^(\s*)[%!].*", r"\1act()", code)  # magics are code, too
    kinds = (*_ACTIONS, ast.Assign) if is_alone else _ACTIONS
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of the syntax of the answer
            return any(isinstance(node, kinds) for node in ast.walk(ast.parse(source)))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False


def eligible_blocks(blocks: tuple[CodeBlock, ...]) -> tuple[int, ...]:
    """Return the numbers, from 1, of the blocks that may be meant as the code: those that a cell can run, else all."""
    runs = tuple(number for number, block in enumerate(blocks, 1) if block.runs)
    return runs or tuple(range(1, len(blocks) + 1))


def code_of(blocks: tuple[CodeBlock, ...]) -> str:
    """Return the Python of an answer, in order; without any, the first block of another language."""
    return "\n\n".join([block.cell for block in blocks if block.is_python] or [block.cell for block in blocks[:1]])
