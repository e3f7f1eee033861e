"""A prompt that was pasted from elsewhere reads data, and nothing else happens."""

from __future__ import annotations

import os
import resource
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from expressions import HOSTILE, NOTEBOOK
from hypothesis import given
from hypothesis import strategies as st
from IPython.core.interactiveshell import InteractiveShell
from traitlets.config import Config

from jupyter_ctx import InvalidRequestError
from jupyter_ctx.template.filling import fill

AWS = "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY"
TYPED = "typed-by-hand-42"
SECONDS, MEGABYTES, LONGEST = 3.0, 300, 4_000_000
READ = (".py", ".pyc", ".so", ".json", ".txt.gz", "/proc/self/statm")
MAY_BE_READ = ("names that run", "what takes long in one step")  # groups of which some expressions only look
STARTS = ("subprocess.Popen", "os.system", "os.exec", "os.fork", "os.posix_spawn", "socket.connect", "os.remove")

happened: list[str] = []
watching = False


def _watch(event: str, args: tuple[Any, ...]) -> None:
    if watching and (event in STARTS or (event == "open" and not str(args[0]).endswith(READ))):
        happened.append(f"{event} {args[:2]}")


sys.addaudithook(_watch)


class Notebook:
    """A shell whose names are dangerous to read, and what is seen of it."""

    def __init__(self, shell: InteractiveShell, folder: Path) -> None:
        self.names, self.folder = shell.user_ns, folder
        self.fired: list[str] = self.names["FIRED"]
        self.secrets = (TYPED, AWS, *self.names["keys"].values())
        self.begin()

    def _data(self) -> str:
        parts = [self.names[name] for name in ("l", "d", "t", "s", "queue", "counter", "point", "slots")]
        frames = [self.names["df"].to_dict(), self.names["arr"].tolist(), list(self.names["default"])]
        state = (self.names["random"].getstate(), str(self.names["np"].random.get_state()))
        return repr((parts, frames, self.names["slots"].a, self.names["stream"].tell(), hash(state)))

    def filled(self, expression: str) -> str | None:
        """What an expression becomes, or ``None`` where it stays as typed; in bounded time and memory."""
        global watching
        begun, memory, text = time.thread_time(), _peak(), f"{{{{ {expression} }}}}"
        watching = True
        try:
            found = fill(text, self.names, [TYPED])
        finally:
            watching = False
            assert time.thread_time() - begun < SECONDS
            assert _peak() - memory < MEGABYTES
        assert len(found.text) <= LONGEST + 100
        return None if found.unknown or not found.values else found.text

    def begin(self) -> None:
        """Forget what was seen."""
        happened.clear()
        self.fired.clear()
        self.before = self._data()

    def check(self) -> None:
        """Assert that nothing ran, changed, began or was written."""
        assert [*happened, *self.fired, *self.folder.iterdir()] == []
        assert self._data() == self.before


def _peak() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Notebook]:
    config = Config()
    config.HistoryManager.enabled = False
    folder, here = tmp_path_factory.mktemp("notebook"), os.getcwd()
    os.environ["AWS_SECRET_ACCESS_KEY"] = AWS
    shell = InteractiveShell(config=config)
    os.chdir(folder)
    result = shell.run_cell(NOTEBOOK, store_history=True)
    assert result.success
    yield Notebook(shell, folder)
    os.chdir(here)
    del os.environ["AWS_SECRET_ACCESS_KEY"]
    shell.user_ns["sock"].close()


@pytest.fixture
def notebook(made: Notebook) -> Iterator[Notebook]:
    made.begin()
    yield made
    made.check()


def check_expression(notebook: Notebook, group: str, expression: str) -> None:
    """Assert that an expression is data, stays as typed, or is refused without a secret, and that nothing happens."""
    notebook.begin()
    try:
        found = notebook.filled(expression)
    except InvalidRequestError as error:
        refusal = str(error)
        assert "failed: " in refusal or "holds a key" in refusal
        assert all(secret not in refusal for secret in notebook.secrets)
        assert len(refusal) < 4_000
    else:
        assert found is None or group in MAY_BE_READ, found[:200]
    notebook.check()


@pytest.mark.parametrize("group", HOSTILE)
def test_nothing_but_data_is_read(made: Notebook, group: str) -> None:
    """One test a group: a thousand tests of a millisecond each take ten seconds to set up."""
    wrong = []
    for expression in HOSTILE[group]:
        try:
            check_expression(made, group, expression)
        except AssertionError as error:
            wrong.append(f"{expression}: {error}")
    assert not wrong, "\n".join(wrong)


NAMES = [
    "l", "d", "t", "s", "mixed", "nested", "loop", "default", "counter", "queue", "big", "wide_range", "tiny",
    "fraction",
    "df", "objects", "column", "odd", "same", "arr", "holding", "grid", "canary", "hanging", "text", "rows_of_mine",
    "book",
    "whole", "at", "iterator", "point", "slots", "namespace", "path", "os", "fires", "Canary", "get_ipython", "ip",
    "KEY",
    "keys", "config", "in_frame", "In", "Out", "environ", "form", "groups", "generator", "of_meta",
]  # fmt: skip
ATTRIBUTES = [
    "a", "b", "x", "kept", "data", "asked", "name", "value", "items", "keys", "values", "get", "append", "clear", "pop",
    "update", "upper", "split", "join", "replace", "format", "center", "index", "count", "sort", "head", "describe",
    "sum",
    "mean", "to_csv", "to_dict", "tolist", "apply", "query", "loc", "iloc", "T", "shape", "columns", "str", "year",
    "isoformat", "__class__", "__dict__", "__globals__", "_data", "real", "run", "system", "fill", "groupby", "sample",
]  # fmt: skip
FILTERED = [
    "length", "list", "join", "sort", "sum", "max", "unique", "reverse", "string", "tojson", "int", "float", "round",
    "abs",
    "first", "last", "map('string')", "map(attribute='a')", "selectattr('a')", "groupby('a')", "batch(3)", "center(90)",
    "indent", "attr('a')", "default(1)", "dictsort", "items", "format(1)", "upper", "random", "xmlattr",
    "replace('a', 'b')",
]  # fmt: skip
atoms = st.one_of(
    st.sampled_from(NAMES),
    st.sampled_from(
        ["0", "1", "-1", "2.5", "'a'", "'%s'", "'%9999999999d'", "10**9", "true", "none", "[]", "()", "''"]
    ),
)


def _grown(parts: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    attributes = st.sampled_from(ATTRIBUTES)
    signs = st.sampled_from(["+", "-", "*", "/", "//", "%", "**", "~", "==", "<", "in", "not in", "and", "or"])
    return st.one_of(
        st.builds("{}.{}".format, parts, attributes),
        st.builds("{}.{}()".format, parts, attributes),
        st.builds("{}.{}({})".format, parts, attributes, parts),
        st.builds("{}[{}]".format, parts, parts),
        st.builds("{}[{}:]".format, parts, parts),
        st.builds("{}|{}".format, parts, st.sampled_from(FILTERED)),
        st.builds("({} {} {})".format, parts, signs, parts),
        st.builds("[{}, {}]".format, parts, parts),
        st.builds("({} if {} else {})".format, parts, parts, parts),
        st.builds("{}({})".format, parts, parts),
        st.builds("-{}".format, parts),
        st.builds(
            "({} is {})".format, parts, st.sampled_from(["none", "even", "defined", "iterable", "string", "upper"])
        ),
    )


@given(expression=st.recursive(atoms, _grown, max_leaves=12))
def test_no_expression_of_the_grammar_runs_anything(made: Notebook, expression: str) -> None:
    made.begin()
    try:
        found = made.filled(expression)
    except InvalidRequestError as error:
        found = str(error)
    assert not any(secret in (found or "") for secret in made.secrets)
    made.check()
