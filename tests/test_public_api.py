"""What a script imports: the names, their documentation, and what help() tells."""

from __future__ import annotations

import ast
import inspect
import pickle
import pydoc
import re
from collections.abc import Iterator

import pytest

import jupyter_ctx
from jupyter_ctx import Chat, ChatError, ContextOverflowError, Reply, Settings, Usage

pytestmark = pytest.mark.core


def subclasses(error: type[Exception]) -> Iterator[type[Exception]]:
    for below in error.__subclasses__():
        yield below
        yield from subclasses(below)


def public_members(owner: type) -> dict[str, object]:
    return {name: member for name, member in inspect.getmembers_static(owner) if not name.startswith("_")}


def test_every_public_name_can_be_imported() -> None:
    assert all(getattr(jupyter_ctx, name) is not None for name in jupyter_ctx.__all__)


def test_what_type_checkers_read_is_what_is_imported() -> None:
    block = next(node for node in ast.parse(inspect.getsource(jupyter_ctx)).body if isinstance(node, ast.If))
    stated = {a.name: node.module for node in block.body if isinstance(node, ast.ImportFrom) for a in node.names}
    assert stated == jupyter_ctx._HOME


def test_an_unknown_name_is_no_public_one() -> None:
    with pytest.raises(AttributeError, match="chatt"):
        getattr(jupyter_ctx, "chatt")  # noqa: B009  # as a typing error would read it


def test_every_error_of_the_documented_tree_is_public() -> None:
    tree = (inspect.getdoc(jupyter_ctx.errors) or "").split()
    declared = {error for error in subclasses(ChatError) if error.__module__ == "jupyter_ctx.errors"}
    for error in {ChatError, *declared}:
        assert error.__name__ in jupyter_ctx.__all__
        assert error.__name__ in tree


def test_help_of_a_chat_fits_two_screens() -> None:
    assert len(public_members(Chat)) <= 36
    text = pydoc.render_doc(Chat, renderer=pydoc.plaintext)
    text = re.sub(r"\(\n.*?\n \|  \)", "()", text, flags=re.DOTALL)  # newer Pythons write a parameter a line
    assert len(text.splitlines()) <= 127
    assert {name for name in inspect.signature(Chat).parameters if not re.search(rf"\|  (\w+, )?{name}[:,]", text)} == {
        "settings"
    }


def test_help_of_the_settings_tells_each_with_its_default() -> None:
    lines = (Settings.__doc__ or "").splitlines()
    for name in Settings.model_fields:
        default = f"(default: {getattr(Settings(), name)!r})"
        (line,) = (line for line in lines if line.startswith(f"{name}: ") and line.endswith(default))
        assert len(line) > len(f"{name}: (default: )") + 15, f"{line}: what the setting does is missing"


def test_a_reply_and_an_error_survive_pickling_for_another_process() -> None:
    reply, error = Reply("Hi", Usage(3, 1)), ContextOverflowError("too long", used=9, limit=8)
    assert pickle.loads(pickle.dumps(reply)) == reply
    copy = pickle.loads(pickle.dumps(error))
    assert (type(copy), str(copy), vars(copy)) == (type(error), str(error), vars(error))
