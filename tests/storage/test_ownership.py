"""Which conversation a kernel goes on with: decisions from rows alone."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jupyter_ctx.runtime.frontend import Origin, cells_of, fingerprint
from jupyter_ctx.storage.ownership import Holder, OpenRequest, choose, free_name
from jupyter_ctx.storage.store import Claim, ConversationRow

pytestmark = pytest.mark.core

HERE, THERE = "/n/a.ipynb", "/n/b.ipynb"
ME, OTHER = Holder("host", 1, 1.0), Holder("host", 2, 2.0)
NOW = 100.0


def row(name: str, notebook: str = HERE, kernel: str | None = None) -> ConversationRow:
    return ConversationRow(f"id of {name} in {notebook}", notebook, name, kernel, turns=3)


def held(row: ConversationRow, by: Holder = OTHER) -> ConversationRow:
    return row._replace(**by._asdict())


def ask(
    name: str | None = None, notebook: str | None = HERE, kernel: str | None = "k", *, afresh: bool = False
) -> OpenRequest:  # fmt: skip
    return OpenRequest(Origin(notebook, kernel), ME, NOW, name, afresh)


def is_held(row: ConversationRow) -> bool:
    return row.pid is not None


@dataclass
class Case:
    """``rows``, the one opened last first, and what a request makes of them: how, called what, from which row."""

    rows: list[ConversationRow]
    request: OpenRequest
    how: str
    name: str
    source: str | None = None


CASES = {
    "the first conversation of all": Case([], ask(), "new", "main"),
    "the one opened last": Case([row("b"), row("a")], ask(), "continued", "b", "b"),
    "the one of that name": Case([row("b"), row("a")], ask("a"), "continued", "a", "a"),
    "no name that is elsewhere": Case([row("x", THERE)], ask("x"), "new", "x"),
    "this kernel's before the one opened last": Case(
        [row("b"), row("a", kernel="k")], ask(), "continued", "a", "a"
    ),
    "afresh in spite of what is there": Case([row("main")], ask(afresh=True), "new", "main-2"),
    "held by another kernel": Case([held(row("main"))], ask(), "forked", "main-2", "main"),
    "held, and its first fork is there too": Case([held(row("a")), row("a-2")], ask("a"), "forked", "a-3", "a"),
    "a fork that is held is forked to the next number": Case(
        [held(row("a-2")), held(row("a"))], ask("a-2"), "forked", "a-3", "a-2"
    ),
    "held by what this kernel was before its restart": Case(
        [held(row("main", kernel="k"))], ask(), "continued", "main", "main"
    ),
    "held by this very process": Case([held(row("main", kernel="k"), ME)], ask(), "forked", "main-2", "main"),
    "this kernel's at another path": Case([row("x", THERE, "k"), row("y", THERE)], ask(), "continued", "x", "x"),
    "this kernel's at another path, where the name is taken": Case(
        [row("main"), row("main", THERE, "k")], ask(), "continued", "main-2", "main"
    ),
    "a notebook that has got a name at last": Case(
        [row("main", "kernel k", "k")], ask(), "continued", "main", "main"
    ),
    "a kernel without a notebook": Case([row("x", "kernel k", "k")], ask(None, None), "continued", "x", "x"),
    "another kernel without a notebook": Case([row("x", "kernel j", "j")], ask(None, None), "new", "main"),
    "a terminal goes on with nothing": Case([row("main", "")], ask(None, None, None), "new", "main-2"),
}  # fmt: skip


def after(rows: list[ConversationRow], claim: Claim) -> dict[str, ConversationRow]:
    """All rows once a claim is written, by id."""
    return {row.id: row for row in (*rows, *claim.rows)}


@pytest.mark.parametrize("case", CASES.values(), ids=CASES.keys())
def test_what_a_kernel_goes_on_with(case: Case) -> None:
    claim = choose(case.rows, case.request, is_held)
    got, before = claim.row, {row.id: row for row in case.rows}
    assert (claim.how, got.name) == (case.how, case.name)
    assert (got.notebook, got.kernel, Holder(got.host or "", got.pid or 0, got.started or 0.0)) == (
        case.request.origin.scope, case.request.origin.kernel, ME
    )  # fmt: skip
    assert (got.opened, got.seen) == (NOW, NOW)
    assert (got.id in before) == (case.how == "continued")
    source = before.get(got.id) if case.how == "continued" else claim.source
    assert (source.name if source else None) == case.source
    if case.how == "forked":
        assert source is not None
        assert (got.turns, got.state) == (source.turns, source.state)


@pytest.mark.parametrize(
    ("name", "taken", "free"),
    [
        ("a", [], "a"),
        ("a", ["a"], "a-2"),
        ("a", ["a", "a-3"], "a-2"),
        ("report-2024", ["report-2024"], "report-2024-2"),
    ],
)
def test_a_free_name_is_the_name_itself_or_one_with_a_number(name: str, taken: list[str], free: str) -> None:
    assert free_name(name, [row(other) for other in taken]) == free


NOTEBOOKS, KERNELS = [HERE, THERE, None], ["k", "j", None]
KEYS = st.tuples(st.sampled_from([HERE, THERE, "", "kernel k", "kernel j"]), st.sampled_from(["main", "x", "x-2"]))


@st.composite
def stores(draw: st.DrawFn) -> list[ConversationRow]:
    """Rows as a store may hold them: names are unique in a notebook."""
    rows = []
    for notebook, name in draw(st.lists(KEYS, unique=True, max_size=8)):
        one = row(name, notebook, draw(st.sampled_from(KERNELS)))._replace(turns=draw(st.integers(0, 2)))
        rows.append(held(one, draw(st.sampled_from([ME, OTHER]))) if draw(st.booleans()) else one)
    return rows


wishes = st.builds(
    OpenRequest,
    st.builds(Origin, st.sampled_from(NOTEBOOKS), st.sampled_from(KERNELS)),
    st.just(ME),
    st.just(NOW),
    st.sampled_from([None, "main", "x", "x-2", "y"]),
    st.booleans(),
)


@given(stores(), wishes)
def test_no_claim_takes_what_is_held_loses_a_row_or_gives_a_name_twice(
    rows: list[ConversationRow], request: OpenRequest
) -> None:
    claim = choose(rows, request, is_held)
    before, now = {row.id: row for row in rows}, after(rows, claim)
    names = [(row.notebook, row.name) for row in now.values()]
    assert len(names) == len(set(names))
    assert before.keys() <= now.keys()
    assert len(now) - len(before) == (claim.how != "continued")
    got, old = claim.row, before.get(claim.row.id)
    restarted = old is not None and old.kernel is not None and old.kernel == request.origin.kernel and old.pid != ME.pid
    assert old is None or old.pid is None or restarted
    assert (claim.source is None) == (claim.how != "forked")
    left = {row.notebook for row in rows if row.kernel == request.origin.kernel is not None}
    for other in (other for other in now.values() if other.id != got.id):
        was = before[other.id]  # nobody else's holder changes, and its place only with its kernel's notebook
        moved = was.notebook != other.notebook
        assert other == (was._replace(notebook=other.notebook, name=other.name) if moved else was)
        assert not moved or was.notebook in left
    source = before[claim.source.id] if claim.source else old
    assert source is None or source.notebook == request.origin.scope or source.notebook in left, "nothing is taken over"


def test_the_cells_of_a_notebook_are_read_from_its_file(tmp_path: Path) -> None:
    notebook = tmp_path / "a.ipynb"
    assert cells_of(None) == {}
    assert cells_of(str(notebook)) == {}
    cells = [{"id": "c1", "source": ["a\n", "b "]}, {"id": "c2", "source": "a\nb\n\n"}, {"id": "c3"}]
    notebook.write_text(json.dumps({"cells": cells}))
    same = fingerprint("a\r\nb")
    assert cells_of(str(notebook)) == {"c1": same, "c2": same, "c3": fingerprint("")}
    for text in ('{"cells": [{"source": "of an older format"}]}', '{"cells": [1]}', '{"cells": 1}', "[" * 9999, ""):
        notebook.write_text(text)
        assert cells_of(str(notebook)) == {}
