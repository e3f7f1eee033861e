"""What a notebook spends, all its conversations and kernels together: reserved in the store, and never passed."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from dialects import DIALECTS
from priced import OUTPUT
from server import serve

from jupyter_ctx import BudgetExceededError, Chat, ask, sweep
from jupyter_ctx.library import Library
from jupyter_ctx.models.cost_budget import CostBudget
from jupyter_ctx.runtime.frontend import Origin
from jupyter_ctx.runtime.notebook_budget import pay_with
from jupyter_ctx.storage.conversation_writer import close_stores, store_at
from jupyter_ctx.storage.database import Database
from jupyter_ctx.storage.spending import NotebookSum

KERNEL = """
import random, sys, time
from jupyter_ctx.models.cost_budget import CostBudget
from jupyter_ctx.storage.conversation_writer import store_at
from jupyter_ctx.storage.spending import NotebookSum

chance, spent, worst = random.Random(sys.argv[2]), 0.0, 0.01
budget = CostBudget(1.0, total=NotebookSum(lambda: store_at(sys.argv[1]).database, "notebook"))
print("ready", flush=True)
sys.stdin.readline()
while budget.reserve(worst):
    time.sleep(chance.uniform(0, 0.005))
    actual = chance.choice((worst, worst / 2, 0.0))
    spent += actual
    budget.settle(worst, actual)
    worst = chance.choice((0.01, 0.02))
print(spent)
"""
KILLED = """
import os, sys
sys.path.append(sys.argv[3])
from jupyter_ctx.library import Library
from jupyter_ctx.runtime.frontend import Origin
from priced import Priced
from jupyter_ctx.providers.plugins import plugin

class Killed(Priced):
    def stream(self, request):
        os._exit(9)

library = Library(Origin(sys.argv[2], "first"), {"max_cost": 1, "max_tokens": 1_000}, store=sys.argv[1])
library._models._guest = plugin(Killed("Yes."), None)
library.current.send("Hello.", model="anthropic/claude-sonnet-4-6")
"""
SUPPORT = Path(__file__).resolve().parents[1] / "support"
WORST = 1_000 * OUTPUT  # of the answer to a short prompt


@pytest.fixture(autouse=True)
def stores() -> Iterator[None]:
    """Let go of the databases, which all kernels of this process share, and of the notebook that pays."""
    yield
    pay_with(None)
    close_stores()


def budget(address: str, cap: float | None = 1.0, notebook: str = "notebook") -> CostBudget:
    """The budget of a kernel."""
    return CostBudget(cap, total=NotebookSum(lambda: store_at(address).database, notebook))


def left(address: str) -> float | None:
    """What is left, as another kernel reads it."""
    return budget(address).left


def test_what_is_reserved_counts_for_all_and_what_it_did_cost_takes_its_place(address: str) -> None:
    one, other = budget(address), budget(address)
    assert one.reserve(0.7)
    assert not other.reserve(0.4)
    assert "max_cost is $1: $0.70 of it" in other.said(0.4)
    one.settle(0.7, 0.25)
    assert left(address) == pytest.approx(0.75)
    assert other.reserve(0.4)
    other.settle(0.4, None)  # unknown: the worst is charged
    assert left(address) == pytest.approx(0.35)
    assert one.reserve(0.0)
    assert not one.reserve(None)
    assert budget(address, notebook="another").left == 1.0


def test_what_is_spent_without_a_cap_counts_for_a_later_one(address: str) -> None:
    free = budget(address, None)
    for cost in (0.1, None, 0.2):
        assert free.reserve(0.3)
        free.settle(0.3, cost)
    assert left(address) == pytest.approx(0.4)


@pytest.mark.parametrize("kernels", [4, pytest.param(30, marks=pytest.mark.load)])
def test_kernels_that_spend_at_once_do_not_pass_the_cap(address: str, kernels: int) -> None:
    left(address)
    spending = [
        subprocess.Popen(
            [sys.executable, "-c", KERNEL, address, str(number)],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
        )
        for number in range(kernels)
    ]  # fmt: skip
    for kernel in spending:
        assert kernel.stdout is not None
        assert kernel.stdout.readline() == "ready\n"
    for kernel in spending:
        assert kernel.stdin is not None
        kernel.stdin.write("go\n")
        kernel.stdin.flush()
    spent = [float(kernel.communicate()[0]) for kernel in spending]
    assert sum(each > 0 for each in spent) > 1, "one has spent it all before the others began"
    assert 0.9 < sum(spent) <= 1 + 1e-9
    assert left(address) == pytest.approx(1 - sum(spent))


def test_after_a_surprise_as_much_more_is_reserved_for_all_others(address: str) -> None:
    paying = budget(address)
    assert paying.reserve(0.1)
    paying.settle(0.1, 0.3)
    assert paying.reserve(0.1)
    assert left(address) == pytest.approx(1 - 0.3 - 0.33)
    paying.settle(0.1, 0.1)
    assert left(address) == pytest.approx(1 - 0.4)


def test_where_the_store_fails_nothing_is_spent_and_it_says_how_to_go_on(tmp_path: Path) -> None:
    def broken() -> Database:
        return store_at(str(tmp_path)).database  # a folder

    paying = CostBudget(1.0, total=NotebookSum(broken, "notebook"))
    assert not paying.reserve(0.3)
    assert paying.said(0.3).startswith("max_cost cannot be kept: ")
    paying.cap = None
    assert paying.reserve(0.3)
    paying.settle(0.3, 0.3)


# conversations of a notebook


@dataclass
class Notebooks:
    """Opens notebooks in kernels; each answer costs 0.0138 dollars, and may cost 0.015."""

    store: str
    folder: Path
    url: str
    posts: list[Any]

    def open(self, kernel: str = "first", *, path: str = "a.ipynb", **given: Any) -> Library:
        """Open a notebook as a kernel that was just started."""
        close_stores()
        (self.folder / path).write_text('{"cells": []}')
        usual = {"model": "m", "base_url": self.url, "prices": (3, 15), "max_tokens": 1_000, "max_cost": 0.05}
        return Library(Origin(str(self.folder / path), kernel), usual | given, store=self.store)


@pytest.fixture
def notebooks(address: str, tmp_path: Path) -> Iterator[Notebooks]:
    """Notebooks of one store, with a server that counts what it is asked."""
    with serve(DIALECTS["completions"].answer("Yes.", sent=100, said=900), path="") as (url, posts):
        yield Notebooks(address, tmp_path, url, posts)


def other(library: Library, how: str) -> Chat:
    """Return a conversation to which somebody goes who wants another dollar."""
    before = library.current
    if how == "clear":
        before.clear()
    elif how == "-i":
        return library.get("side")
    elif how == "delete":
        library.new()
        library.delete(before.name, confirm=before.name)
    else:
        getattr(library, how)()
    return library.current


@pytest.mark.parametrize("how", ["clear", "new", "fork", "-i", "delete"])
def test_no_conversation_of_the_notebook_has_another_dollar(notebooks: Notebooks, how: str) -> None:
    library = notebooks.open()
    for _ in range(2):
        library.current.send("Hello.")
    chat = other(library, how)
    chat.send("Hello.")
    with pytest.raises(BudgetExceededError, match=r"max_cost is \$0\.05: \$0\.04"):
        chat.send("Hello.")
    with pytest.raises(BudgetExceededError):
        notebooks.open().current.send("Hello.")  # after a restart
    assert len(notebooks.posts) == 3
    notebooks.open("of another notebook", path="b.ipynb").current.send("Hello.")


def test_the_cap_of_the_current_conversation_holds_in_all_of_them(notebooks: Notebooks) -> None:
    library = notebooks.open(max_cost=None)
    side, main = library.get("side"), library.current
    for _ in range(3):
        side.send("Hello.")
    main.configure(max_cost=0.05)
    for chat in (main, library.get("side"), library.switch("side"), library.new()):
        with pytest.raises(BudgetExceededError):
            chat.send("Hello.")
    library.current.configure(max_cost=1)
    assert library.get("side").send("Hello.").text == "Yes."


def test_runs_and_requests_apart_from_conversations_count_as_well(notebooks: Notebooks) -> None:
    library = notebooks.open()
    pay_with(library.cost_budget)
    given: dict[str, Any] = {"base_url": notebooks.url, "prices": (3, 15), "max_tokens": 1_000}
    library.current.map("Hello {{ name }}.", [{"name": "Ada"}], progress=False).result()
    ask("Hello.", "m", **given)
    library.new().send("Hello.")
    with pytest.raises(BudgetExceededError):
        ask("Hello.", "m", **given)
    with pytest.raises(BudgetExceededError, match=r"\$0"):
        sweep("Hello {{ name }}.", [{"name": "Bob"}], model="m", **given)
    assert len(notebooks.posts) == 3
    pay_with(None)
    assert ask("Hello.", "m", **given).text == "Yes."


def test_a_request_in_whose_middle_the_kernel_is_killed_counts_at_its_worst(notebooks: Notebooks) -> None:
    path = str(notebooks.folder / "a.ipynb")
    killed = [sys.executable, "-c", KILLED, notebooks.store, path, str(SUPPORT)]
    assert subprocess.run(killed, check=False, timeout=60).returncode == 9
    allowance = notebooks.open(max_cost=1).new().info().allowance
    assert allowance is not None
    assert 1 - allowance.left >= WORST


def test_what_was_spent_follows_a_notebook_that_is_renamed(notebooks: Notebooks) -> None:
    notebooks.open().current.send("Hello.")
    (notebooks.folder / "a.ipynb").unlink()
    allowance = notebooks.open(path="renamed.ipynb").current.info().allowance
    assert allowance is not None
    assert allowance.left == pytest.approx(0.05 - 0.0138)
    allowance = notebooks.open("second").current.info().allowance
    assert allowance is not None
    assert allowance.left == 0.05, "another notebook has its old path"
