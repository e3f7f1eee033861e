"""Docstrings of functions say what the function does, verb first: ruff's D401 knows only some words that are none."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import jupyter_ctx

PACKAGE = Path(jupyter_ctx.__file__).parent
NO_VERBS = set(
    """
    a about after all an and another any anything are as at be because before both but by can each either else enough
    every everything few for from has her here his how if in instead is it its just many more most much my neither no
    nobody none not nothing of on one only or other our ours out own perhaps several she so some somebody something
    such than that the their them then there these they this those to unless until us was we were what whatever when
    where whether which while who whoever whom whose why with without you your
    """.split()  # noqa: SIM905
)
FIRST_WORD = re.compile(r"[A-Za-z]+(?![\w'’])")  # not "model's", not ``code``


def is_property(function: ast.FunctionDef) -> bool:
    return any(
        ast.unparse(decorator).split(".")[-1] in {"property", "cached_property"}
        for decorator in function.decorator_list
    )


def begins_with_a_verb(text: str) -> bool:
    word = FIRST_WORD.match(text)
    return word is not None and word[0].lower() not in NO_VERBS and not word[0].isupper()


def misworded(path: Path) -> list[str]:
    functions = [node for node in ast.walk(ast.parse(path.read_text("utf-8"))) if isinstance(node, ast.FunctionDef)]
    texts = {
        f"{path.relative_to(PACKAGE)}:{function.lineno}": ast.get_docstring(function)
        for function in functions
        if not function.name.startswith("_") and not is_property(function)
    }
    return [
        f"{where}: {text.splitlines()[0]}" for where, text in texts.items() if text and not begins_with_a_verb(text)
    ]


def test_a_function_s_docstring_begins_with_a_verb() -> None:
    assert [line for path in PACKAGE.rglob("*.py") for line in misworded(path)] == []
