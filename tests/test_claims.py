"""Which conversation a kernel goes on with: decisions from rows alone."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jupyter_ctx.claims import Holder, Wish, choose, fork, free_name
from jupyter_ctx.frontend import Origin
from jupyter_ctx.store import Claim, Row

HERE, THERE = "/n/a.ipynb", "/n/b.ipynb"
ME, OTHER = Holder("host", 1, 1.0), Holder("host", 2, 2.0)
NOW = 100.0


def row(name: str, notebook: str = HERE, kernel: str | None = None, **more: object) -> Row:
    return Row(f"id of {name} in {notebook}", notebook, name, kernel, turns=3, **more)  # type: ignore[arg-type]


def held(row: Row, by: Holder = OTHER) -> Row:
    return row._replace(**by._asdict())


def wish(
    name: str | None = None, notebook: str | None = HERE, kernel: str | None = "k", *cells: str, afresh: bool = False
) -> Wish:
    return Wish(Origin(notebook, kernel), ME, NOW, name, afresh, cells)


def is_held(row: Row) -> bool:
    return row.pid is not None


@dataclass
class Case:
    """``rows``, the one opened last first, and what a wish makes of them: how, from which row, called what."""

    rows: list[Row]
    wish: Wish
    how: str
    name: str
    source: str | None = None
    moved: dict[str, str] = field(default_factory=dict)


CASES = {
    "the first conversation of all": Case([], wish(), "new", "main"),
    "one that was named": Case([], wish("x"), "new", "x"),
    "the one opened last": Case([row("b"), row("a")], wish(), "continued", "b", "b"),
    "the one of that name": Case([row("b"), row("a")], wish("a"), "continued", "a", "a"),
    "no name that is elsewhere": Case([row("x", THERE)], wish("x"), "new", "x"),
    "this kernel's before the one opened last": Case(
        [row("b"), row("a", kernel="k")], wish(), "continued", "a", "a"
    ),
    "of several of this kernel's the one opened last": Case(
        [row("c"), row("b", kernel="k"), row("a", kernel="k")], wish(), "continued", "b", "b"
    ),
    "afresh in spite of what is there": Case([row("main")], wish(afresh=True), "new", "main-2"),
    "afresh under a name": Case([row("main")], wish("x", afresh=True), "new", "x"),
    "held by another kernel": Case([held(row("main"))], wish(), "forked", "main-2", "main"),
    "held, by name": Case([row("b"), held(row("a"))], wish("a"), "forked", "a-2", "a"),
    "held, and its first fork is there too": Case(
        [held(row("a")), row("a-2")], wish("a"), "forked", "a-3", "a"
    ),
    "a fork that is held is forked to the next number": Case(
        [held(row("a-2")), held(row("a"))], wish("a-2"), "forked", "a-3", "a-2"
    ),
    "held by what this kernel was before its restart": Case(
        [held(row("main", kernel="k"))], wish(), "continued", "main", "main"
    ),
    "held by this very process": Case([held(row("main", kernel="k"), ME)], wish(), "forked", "main-2", "main"),
    "a renamed notebook": Case(
        [row("x", THERE, "k"), row("y", THERE)], wish(), "continued", "x", "x", {"x": "x", "y": "y"}
    ),
    "a renamed notebook, to where one was": Case(
        [row("main"), row("main", THERE, "k"), row("y", THERE)],
        wish(), "continued", "main-2", "main", {"main": "main-2", "y": "y"},
    ),
    "a notebook that has got a name at last": Case(
        [row("main", "kernel k", "k")], wish(), "continued", "main", "main", {"main": "main"}
    ),
    "a copy of a notebook": Case(
        [row("x", THERE, first_cell="c1")], wish(None, HERE, "k", "c1", "c2"), "copied", "x", "x"
    ),
    "a copy of one that is open": Case(
        [held(row("x", THERE, first_cell="c1"))], wish(None, HERE, "k", "c1"), "copied", "x", "x"
    ),
    "a copy, of the conversation opened last": Case(
        [row("y", THERE, first_cell="c1"), row("x", THERE, first_cell="c1")],
        wish(None, HERE, "k", "c1"), "copied", "y", "y",
    ),
    "no copy where only another cell is the same": Case(
        [row("x", THERE, first_cell="c1")], wish(None, HERE, "k", "c2", "c1"), "new", "main"
    ),
    "no copy of nothing": Case(
        [row("x", THERE, first_cell="c1")._replace(turns=0)], wish(None, HERE, "k", "c1"), "new", "main"
    ),
    "no copy where something is here": Case(
        [row("x", THERE, first_cell="c1"), row("y")], wish(None, HERE, "k", "c1"), "continued", "y", "y"
    ),
    "no copy under another name": Case(
        [row("x", THERE, first_cell="c1")], wish("new", HERE, "k", "c1"), "new", "new"
    ),
    "no copy when afresh": Case(
        [row("x", THERE, first_cell="c1")], wish(None, HERE, "k", "c1", afresh=True), "new", "main"
    ),
    "no copy in a kernel without a notebook": Case(
        [row("x", THERE, first_cell="c1")], wish(None, None, "k", "c1"), "new", "main"
    ),
    "no copy where no cell is known": Case([row("x", THERE)], wish(None, HERE, "k"), "new", "main"),
    "a kernel without a notebook": Case([row("x", "kernel k", "k")], wish(None, None), "continued", "x", "x"),
    "another kernel without a notebook": Case([row("x", "kernel j", "j")], wish(None, None), "new", "main"),
    "a terminal goes on with nothing": Case([row("main", "")], wish(None, None, None), "new", "main-2"),
    "a terminal, by name": Case([row("x", "")], wish("x", None, None), "continued", "x", "x"),
    "no kernel is not the same as no kernel": Case([row("x", THERE)], wish(None, HERE, None), "new", "main"),
}  # fmt: skip


def after(rows: list[Row], claim: Claim) -> dict[str, Row]:
    """All rows once a claim is written, by id."""
    return {row.id: row for row in (*rows, *claim.rows)}


@pytest.mark.parametrize("case", CASES.values(), ids=CASES.keys())
def test_what_a_kernel_goes_on_with(case: Case) -> None:
    claim = choose(case.rows, case.wish, is_held)
    got, before = claim.row, {row.id: row for row in case.rows}
    assert (claim.how, got.name) == (case.how, case.name)
    assert (got.notebook, got.kernel, Holder(got.host or "", got.pid or 0, got.started or 0.0)) == (
        case.wish.origin.scope, case.wish.origin.kernel, ME
    )  # fmt: skip
    assert (got.opened, got.seen) == (NOW, NOW)
    assert (got.id in before) == (case.how == "continued")
    source = before.get(got.id) if case.how == "continued" else claim.source
    assert (source.name if source else None) == case.source
    moved = {before[each.id].name: each.name for each in claim.rows if each.id in before and before[each.id] != each}
    assert (moved if case.moved else {}) == case.moved
    if case.how in ("forked", "copied"):
        assert source is not None
        assert (got.turns, got.state) == (source.turns, source.state)


def test_the_first_cell_is_kept_where_it_cannot_be_read_now() -> None:
    there = row("main", first_cell="c1")
    assert choose([there], wish(), is_held).row.first_cell == "c1"
    assert choose([there], wish(None, HERE, "k", "c2"), is_held).row.first_cell == "c2"


def test_a_fork_takes_the_next_free_name_and_holds_all_that_was_said() -> None:
    original = row("x")._replace(state="{}")
    claim = fork(original, None, [original], wish())
    assert (claim.how, claim.row.name, claim.row.turns, claim.row.state) == ("forked", "x-2", 3, "{}")
    assert claim.source == original
    assert fork(original, "y", [original], wish()).row.name == "y"


@pytest.mark.parametrize(
    ("name", "taken", "free"),
    [
        ("a", [], "a"),
        ("a", ["b"], "a"),
        ("a", ["a"], "a-2"),
        ("a", ["a", "a-2"], "a-3"),
        ("a-2", ["a", "a-2"], "a-3"),
        ("a-2", ["a-2"], "a-2-2"),
        ("a", ["a", "a-3"], "a-2"),
        ("report-2024", ["report-2024"], "report-2024-2"),
        ("a-b", ["a-b"], "a-b-2"),
        ("-2", ["-2"], "-2-2"),
    ],
)
def test_a_free_name_is_the_name_itself_or_one_with_a_number(name: str, taken: list[str], free: str) -> None:
    assert free_name(name, [row(other) for other in taken]) == free


@given(st.text(max_size=6), st.lists(st.sampled_from(["a", "a-2", "a-3", "-2", "", "a-2-2"])))
def test_a_free_name_is_never_taken(name: str, taken: list[str]) -> None:
    assert free_name(name, map(row, taken)) not in taken


NOTEBOOKS, KERNELS = [HERE, THERE, None], ["k", "j", None]


@st.composite
def stores(draw: st.DrawFn) -> list[Row]:
    """Rows as a store may hold them: names are unique in a notebook."""
    keys = st.tuples(st.sampled_from([HERE, THERE, "", "kernel k", "kernel j"]), st.sampled_from(["main", "x", "x-2"]))
    rows = []
    for notebook, name in draw(st.lists(keys, unique=True, max_size=8)):
        one = row(name, notebook, draw(st.sampled_from(KERNELS)), first_cell=draw(st.sampled_from([None, "c1", "c2"])))
        one = one._replace(turns=draw(st.integers(0, 2)))
        rows.append(held(one, draw(st.sampled_from([ME, OTHER]))) if draw(st.booleans()) else one)
    return rows


wishes = st.builds(
    Wish,
    st.builds(Origin, st.sampled_from(NOTEBOOKS), st.sampled_from(KERNELS)),
    st.just(ME),
    st.just(NOW),
    st.sampled_from([None, "main", "x", "x-2", "y"]),
    st.booleans(),
    st.sampled_from([(), ("c1",), ("c2", "c1")]),
)


@given(stores(), wishes)
def test_no_claim_takes_what_is_held_loses_a_row_or_gives_a_name_twice(rows: list[Row], wish: Wish) -> None:
    claim = choose(rows, wish, is_held)
    before, now = {row.id: row for row in rows}, after(rows, claim)
    names = [(row.notebook, row.name) for row in now.values()]
    assert len(names) == len(set(names))
    assert before.keys() <= now.keys()
    assert len(now) - len(before) == (claim.how != "continued")
    got, old = claim.row, before.get(claim.row.id)
    assert Holder(got.host or "", got.pid or 0, got.started or 0.0) == ME
    restarted = old is not None and old.kernel is not None and old.kernel == wish.origin.kernel and old.pid != ME.pid
    assert old is None or old.pid is None or restarted
    assert (claim.source is None) == (claim.how in ("new", "continued"))
    assert wish.name is None or claim.how in ("new", "forked") or before[got.id].notebook != got.notebook or (
        got.name == wish.name
    )  # fmt: skip
    for other in now.values():  # nobody else's place or holder changes, but where this kernel's notebook was moved
        if other.id != got.id:
            was = before[other.id]
            moved = was.notebook != other.notebook
            assert other == (was._replace(notebook=other.notebook, name=other.name) if moved else was)
            left = {row.notebook for row in rows if row.kernel == wish.origin.kernel}
            assert not moved or (wish.origin.kernel is not None and was.notebook in left)


@given(st.lists(st.tuples(wishes, st.booleans()), max_size=8))
def test_through_any_sequence_of_starts_and_ends_names_stay_unique(steps: list[tuple[Wish, bool]]) -> None:
    rows: list[Row] = []
    for number, (step, ends) in enumerate(steps):
        holder = Holder("host", number + 1, float(number))
        claim = choose(rows, step._replace(holder=holder, now=float(number)), is_held)
        now = after(rows, claim)
        if ends:
            now[claim.row.id] = claim.row._replace(host=None, pid=None, started=None)
        rows = sorted(now.values(), key=lambda row: -row.opened)
        names = [(row.notebook, row.name) for row in rows]
        assert len(names) == len(set(names))


def test_the_cells_of_a_notebook_are_read_from_its_file(tmp_path: Path) -> None:
    notebook = tmp_path / "a.ipynb"
    origin = Origin(str(notebook), "k")
    assert origin.cells() == ()
    notebook.write_text(json.dumps({"cells": [{"id": "c1"}, {"id": "c2"}]}))
    assert origin.cells() == ("c1", "c2")
    notebook.write_text(json.dumps({"cells": [{"source": "of an older format"}]}))
    assert origin.cells() == ()
