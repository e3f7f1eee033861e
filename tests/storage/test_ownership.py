"""Which conversation a kernel goes on with: decisions from rows alone."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jupyter_ctx.storage.takeover import Clues

from jupyter_ctx.runtime.frontend import Origin, cells_of, fingerprint
from jupyter_ctx.storage.holders import Holder
from jupyter_ctx.storage.ownership import Wish, at_home, choose, fork, free_name, given_back
from jupyter_ctx.storage.store import Claim, ConversationRow

HERE, THERE = "/n/a.ipynb", "/n/b.ipynb"
ME, OTHER = Holder("host", 1, 1.0), Holder("host", 2, 2.0)
NOW = 100.0


def row(name: str, notebook: str = HERE, kernel: str | None = None, **more: object) -> ConversationRow:
    return ConversationRow(f"id of {name} in {notebook}", notebook, name, kernel, turns=3, **more)  # type: ignore[arg-type]


def held(row: ConversationRow, by: Holder = OTHER) -> ConversationRow:
    return row._replace(**by._asdict())


def wish(
    name: str | None = None, notebook: str | None = HERE, kernel: str | None = "k", *,
    afresh: bool = False, known: Mapping[str, Clues] | None = None,
) -> Wish:  # fmt: skip
    """``known`` is by a name, and the notebook where it is not another one: ``x``, ``x in /n/a.ipynb``."""
    ids = {key if " in " in key else f"{key} in {THERE}": evidence for key, evidence in (known or {}).items()}
    return Wish(Origin(notebook, kernel), ME, NOW, name, afresh, {f"id of {key}": each for key, each in ids.items()})


MATE = Clues("all", "there", content="d", cells=frozenset("a"))  # made from the same template
GONE, BESIDE = Clues("all", "gone", content="c"), Clues("all", "there", content="c")


def is_held(row: ConversationRow) -> bool:
    return row.pid is not None


@dataclass
class Case:
    """``rows``, the one opened last first, and what a wish makes of them: how, from which row, called what."""

    rows: list[ConversationRow]
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
    "a renamed notebook, to where one still is": Case(
        [row("x", THERE, "k"), row("y", THERE)], wish(known={"x": Clues("some", "there")}), "copied", "x", "x"
    ),
    "a kernel whose notebook is another one now": Case(
        [row("x", THERE, "k")], wish(known={"x": Clues("none", "there")}), "new", "main"
    ),
    "a copy of a notebook": Case([row("x", THERE)], wish(known={"x": BESIDE}), "copied", "x", "x"),
    "a copy of one that is open": Case([held(row("x", THERE))], wish(known={"x": BESIDE}), "copied", "x", "x"),
    "a copy, of the conversation opened last": Case(
        [row("y", THERE), row("x", THERE)], wish(known={"x": BESIDE, "y": BESIDE}), "copied", "y", "y"
    ),
    "a copy of a copy that has said nothing more": Case(
        [row("y", "/n/c.ipynb"), row("x", THERE)], wish(known={"x": BESIDE, "y in /n/c.ipynb": BESIDE}),
        "copied", "y", "y",
    ),
    "a copy of either of two that differ": Case(
        [row("y", "/n/c.ipynb"), row("x", THERE)],
        wish(known={"x": BESIDE, "y in /n/c.ipynb": BESIDE._replace(content="d")}), "new", "main",
    ),
    "a copy of the one of two that has the cells of the other, and more": Case(
        [row("y", "/n/c.ipynb"), row("x", THERE)],
        wish(known={"x": GONE._replace(cells=frozenset("ab")), "y in /n/c.ipynb": MATE}), "renamed", "x", "x",
    ),
    "with the cells of all its conversations": Case(
        [row("z", THERE), row("y", "/n/c.ipynb"), row("x", THERE)],
        wish(known={"z": MATE._replace(cells=frozenset("b")), "x": BESIDE, "y in /n/c.ipynb": MATE}),
        "copied", "z", "z",
    ),
    "a copy of either of two of which none has all the cells of the other": Case(
        [row("y", "/n/c.ipynb"), row("x", THERE)],
        wish(known={"x": GONE._replace(cells=frozenset("b")), "y in /n/c.ipynb": MATE}), "new", "main",
    ),
    "a notebook that was renamed while no kernel ran": Case(
        [row("x", THERE), row("y", THERE)], wish(known={"x": GONE, "y": Clues("some", "gone")}),
        "renamed", "x", "x", {"x": "x"},
    ),
    "with all of its conversations": Case(
        [row("x", THERE), row("y", THERE)], wish(known={"x": GONE, "y": GONE}),
        "renamed", "x", "x", {"x": "x", "y": "y"},
    ),
    "but for those that are held": Case(
        [row("x", THERE), held(row("y", THERE))], wish(known={"x": GONE, "y": GONE}), "renamed", "x", "x", {"x": "x"}
    ),
    "a renamed notebook that another kernel holds": Case(
        [held(row("x", THERE))], wish(known={"x": GONE}), "forked", "x", "x"
    ),
    "no copy where only some of its cells are here": Case(
        [row("x", THERE)], wish(known={"x": Clues("some", "there")}), "new", "main"
    ),
    "no copy of what cannot be seen": Case(
        [row("x", THERE)], wish(known={"x": Clues("all", "unseen")}), "new", "main"
    ),
    "no copy of nothing": Case([row("x", THERE)._replace(turns=0)], wish(known={"x": BESIDE}), "new", "main"),
    "no copy where something is here": Case(
        [row("x", THERE), row("y")], wish(known={"x": BESIDE}), "continued", "y", "y"
    ),
    "no copy under another name": Case([row("x", THERE)], wish("new", known={"x": BESIDE}), "new", "new"),
    "no copy when afresh": Case([row("x", THERE)], wish(afresh=True, known={"x": BESIDE}), "new", "main"),
    "no copy where nothing is known": Case([row("x", THERE)], wish(), "new", "main"),
    "another notebook at this path": Case(
        [row("x"), row("y")], wish(known={f"x in {HERE}": Clues("none")}), "new", "main", None, {"x": "x", "y": "y"}
    ),
    "the same notebook where some cells of one conversation are left": Case(
        [row("x"), row("y")],
        wish(known={f"x in {HERE}": Clues("none"), f"y in {HERE}": Clues("some")}), "continued", "x", "x",
    ),
    "the same notebook where this kernel was there": Case(
        [row("x", kernel="k")], wish(known={f"x in {HERE}": Clues("none")}), "continued", "x", "x"
    ),
    "the same path on another machine": Case(
        [row("x")], wish(known={f"x in {HERE}": Clues("some", far=True)}), "new", "main", None, {"x": "x"}
    ),
    "the same notebook on another machine": Case(
        [row("x")], wish(known={f"x in {HERE}": Clues("all", far=True)}), "continued", "x", "x"
    ),
    "a kernel without a notebook": Case([row("x", "kernel k", "k")], wish(None, None), "continued", "x", "x"),
    "another kernel without a notebook": Case([row("x", "kernel j", "j")], wish(None, None), "new", "main"),
    "a terminal goes on with nothing": Case([row("main", "")], wish(None, None, None), "new", "main-2"),
    "a terminal, by name": Case([row("x", "")], wish("x", None, None), "continued", "x", "x"),
    "no kernel is not the same as no kernel": Case([row("x", THERE)], wish(None, HERE, None), "new", "main"),
}  # fmt: skip


def after(rows: list[ConversationRow], claim: Claim) -> dict[str, ConversationRow]:
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
    assert (got.id in before) == (case.how in ("continued", "renamed"))
    source = before.get(got.id) if case.how in ("continued", "renamed") else claim.source
    assert (source.name if source else None) == case.source
    moved = {before[each.id].name: each.name for each in claim.rows if each.id in before and before[each.id] != each}
    assert (moved if case.moved else {}) == case.moved
    if case.how in ("forked", "copied"):
        assert source is not None
        assert (got.turns, got.state) == (source.turns, source.state)


def test_another_notebook_at_the_same_path_leaves_the_first_one_a_place_of_its_own() -> None:
    rows = [row("x", kernel="j"), row("z", f"{HERE}#1", "i")]
    claim = choose(rows, wish(known={f"x in {HERE}": Clues("none")}), is_held)
    assert [(each.name, each.notebook) for each in claim.rows] == [("x", f"{HERE}#2"), ("main", HERE)]
    assert [each.notebook for each in claim.before] == [f"{HERE}#2"], "it is offered"
    rows = [*after(rows, claim).values()]
    assert at_home(rows, Origin(HERE, "j")) == Origin(f"{HERE}#2", "j")
    assert at_home(rows, Origin(HERE, "k")) == Origin(HERE, "k")
    assert at_home(rows, Origin(THERE, "j")) == Origin(THERE, "j")
    back = choose(rows, wish(notebook=THERE, kernel="j"), is_held)
    assert (back.how, back.row.name, back.row.notebook) == ("continued", "x", THERE)


def test_what_was_taken_over_is_given_back_under_names_that_are_free() -> None:
    before = (row("x", THERE, "j"), row("y", THERE))
    claim = choose(list(before), wish(known={"x": GONE, "y": GONE}), is_held)
    assert claim.before == before
    now = [*after(list(before), claim).values(), row("y", THERE)._replace(id="new")]
    back = given_back(now, before, HERE)
    assert {(each.name, each.notebook, each.kernel) for each in back.rows} == {("x", THERE, "j"), ("y-2", THERE, None)}


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


KEYS = st.tuples(
    st.sampled_from([HERE, THERE, f"{HERE}#1", "", "kernel k", "kernel j"]), st.sampled_from(["main", "x", "x-2"])
)
evidence = st.builds(
    Clues, st.sampled_from(["all", "some", "none", "unknown"]), st.sampled_from(["gone", "there", "unseen"]),
    st.booleans(), st.sampled_from("cd"), st.frozensets(st.sampled_from("ab")),
)  # fmt: skip


@st.composite
def stores(draw: st.DrawFn) -> list[ConversationRow]:
    """Rows as a store may hold them: names are unique in a notebook."""
    rows = []
    for notebook, name in draw(st.lists(KEYS, unique=True, max_size=8)):
        one = row(name, notebook, draw(st.sampled_from(KERNELS)))._replace(turns=draw(st.integers(0, 2)))
        rows.append(held(one, draw(st.sampled_from([ME, OTHER]))) if draw(st.booleans()) else one)
    return rows


wishes = st.builds(
    Wish,
    st.builds(Origin, st.sampled_from(NOTEBOOKS), st.sampled_from(KERNELS)),
    st.just(ME),
    st.just(NOW),
    st.sampled_from([None, "main", "x", "x-2", "y"]),
    st.booleans(),
    st.dictionaries(KEYS.map(lambda key: f"id of {key[1]} in {key[0]}"), evidence),
)


@given(stores(), wishes)
def test_no_claim_takes_what_is_held_loses_a_row_or_gives_a_name_twice(rows: list[ConversationRow], wish: Wish) -> None:
    claim = choose(rows, wish, is_held)
    before, now = {row.id: row for row in rows}, after(rows, claim)
    names = [(row.notebook, row.name) for row in now.values()]
    assert len(names) == len(set(names))
    assert before.keys() <= now.keys()
    assert len(now) - len(before) == (claim.how not in ("continued", "renamed"))
    got, old = claim.row, before.get(claim.row.id)
    assert Holder(got.host or "", got.pid or 0, got.started or 0.0) == ME
    restarted = old is not None and old.kernel is not None and old.kernel == wish.origin.kernel and old.pid != ME.pid
    assert old is None or old.pid is None or restarted
    assert (claim.source is None) == (claim.how in ("new", "continued", "renamed"))
    assert wish.name is None or claim.how in ("new", "forked") or before[got.id].notebook != got.notebook or (
        got.name == wish.name
    )  # fmt: skip
    for other in now.values():  # nobody else's holder changes, and its place only with its notebook
        if other.id != got.id:
            was = before[other.id]
            moved = was.notebook != other.notebook
            assert other == (was._replace(notebook=other.notebook, name=other.name) if moved else was)
            left = {row.notebook for row in rows if row.kernel == wish.origin.kernel is not None}
            replaced = other.notebook.startswith(f"{was.notebook}#")
            renamed = claim.how == "renamed" and wish.of(was) == wish.of(was)._replace(stands="all", file="gone")
            assert not moved or was.notebook in left or replaced or renamed


@given(stores(), wishes)
def test_no_other_notebooks_conversation_is_taken_over_in_doubt(rows: list[ConversationRow], wish: Wish) -> None:
    claim = choose(rows, wish, is_held)
    source = claim.source if claim.source else {row.id: row for row in rows}.get(claim.row.id)
    if source is None or {row.id: row for row in rows}[source.id].notebook == claim.row.notebook:
        return
    of_kernel = wish.origin.kernel is not None and any(
        row.kernel == wish.origin.kernel and row.notebook == source.notebook for row in [*rows, source]
    )
    known = wish.of(source)
    assert of_kernel or claim.row.notebook == source.notebook or (known.stands == "all" and known.file != "unseen")


@given(st.lists(st.tuples(wishes, st.booleans()), max_size=8))
def test_through_any_sequence_of_starts_and_ends_names_stay_unique(steps: list[tuple[Wish, bool]]) -> None:
    rows: list[ConversationRow] = []
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
    assert cells_of(None) is None
    assert cells_of(str(notebook)) is None
    answer = {"metadata": {"jupyter_ctx": {"reply": "Hi"}}}
    cells: list[dict[str, object]] = [
        {"id": "c1", "source": ["a\n", "b "], "execution_count": 1, "outputs": []},
        {"id": "c2", "source": "a\nb\n\n", "outputs": [answer]},
        {"id": "c3"},
    ]
    notebook.write_text(json.dumps({"cells": cells}))
    found = cells_of(str(notebook))
    same = fingerprint("a\r\nb")
    assert found == {"c1": (same, True, False), "c2": (same, True, True), "c3": (None, False, False)}
    for text in ('{"cells": [{"source": "of an older format"}]}', '{"cells": [1]}', '{"cells": 1}', "[" * 9999, ""):
        notebook.write_text(text)
        assert cells_of(str(notebook)) is None
    notebook.write_text('{"cells": []}')
    assert cells_of(str(notebook)) == {}
