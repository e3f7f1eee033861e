"""Answers of experiments are there again, also where the store fails meanwhile."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from jupyter_ctx.context.usage import Usage
from jupyter_ctx.providers.base import Reply
from jupyter_ctx.storage.database_tables import ANSWERS
from jupyter_ctx.storage.stored_answers import Answers, Outcome

FULL = Outcome(
    Reply(
        "Blue.", Usage(21, 7, 4, 2, 3, True), "max_tokens", "openai/gpt-5.2", ("one",), "why", 0.25, "store",
        "It scatters.", 1.5,
    ),
    truncated=True,
)  # fmt: skip
Sql = Callable[..., list[Any]]
Lock = Callable[[], contextlib.AbstractContextManager[None]]
ERROR = Outcome(error="Too many requests.")


@contextlib.contextmanager
def opened(address: str | Path) -> Iterator[Answers]:
    found = Answers(address)
    yield found
    found.close()


@pytest.fixture
def answers(address: str) -> Iterator[Answers]:
    with opened(address) as found:
        yield found


def said(text: str) -> Outcome:
    return Outcome(Reply(text, source="store"))


def text_of(answer: Outcome) -> str:
    assert answer.reply is not None
    return answer.reply.text


def test_an_answer_is_found_as_it_was(answers: Answers, address: str) -> None:
    answers.write([(("d", 0), FULL), (("d", 1), said("")), (("e", 0), ERROR)])
    with opened(address) as again:
        found = again.find([("d", 0), ("d", 1), ("d", 2), ("e", 0), ("f", 0)])
        assert found.keys() == {("d", 0), ("d", 1), ("e", 0)}
        assert (found["d", 0], found["d", 1]) == (FULL, said(""))
        assert [answer.failed for answer in found.values()].count(True) == 1
        assert again.find([("e", 0), ("d", 0)], failed=False).keys() == {("d", 0)}


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.builds(
        Outcome, reply=st.none() | st.builds(
            Reply, text=st.text(), thinking=st.text(), detail=st.text(), model=st.text(), source=st.just("store"),
            cost=st.none() | st.floats(0, 100), seconds=st.none() | st.floats(0, 1e6),
            usage=st.none() | st.builds(Usage, st.integers(0, 2**40), st.integers(0, 2**40)),
            notices=st.lists(st.text()).map(tuple),
        ),
        error=st.text(), truncated=st.booleans(),
    ),
    st.integers(0, 2**40),
)  # fmt: skip
def test_any_answer_comes_back_as_it_was(answers: Answers, answer: Outcome, repeat: int) -> None:
    answers.delete_all()
    answers.write([(("d", repeat), answer)])
    assert answers.find([("d", repeat)]) == {("d", repeat): answer}


def test_an_answer_replaces_an_error_and_never_the_other_way_round(answers: Answers) -> None:
    answers.write([(("d", 0), ERROR)])
    answers.write([(("d", 0), said("one"))])
    answers.write([(("d", 0), ERROR)])
    assert text_of(answers.find([("d", 0)])["d", 0]) == "one"
    answers.write([(("d", 0), said("two"))])
    assert text_of(answers.find([("d", 0)])["d", 0]) == "two"
    answers.write([(("e", 0), ERROR)])
    answers.write([(("e", 0), Outcome(error="later"))])
    assert answers.find([("e", 0)])["e", 0].error == "later"


def test_deleted_answers_leave_nothing_in_the_file(address: str) -> None:
    with opened(address) as answers:
        answers.write([(("d", 0), said("apricot")), (("e", 0), said("plum"))])
        assert answers.delete_all() == 2
        assert answers.find([("d", 0), ("e", 0)]) == {}
    left = b"".join(path.read_bytes() for path in Path(address).parent.glob("store.sqlite*"))
    assert b"apricot" not in left
    assert b"plum" not in left


def test_more_answers_are_found_than_one_statement_may_name(answers: Answers) -> None:
    keys = [(f"{number:032x}", 0) for number in range(20_000)]
    answers.write([(key, said("re")) for key in keys])
    assert answers.find(keys).keys() == set(keys)


# what can go wrong


@pytest.mark.parametrize("body", ["{", '{"stop_reason":"never"}', "null", '{"notices":"one"}'])
def test_a_damaged_answer_is_as_one_that_is_missing(answers: Answers, sql: Sql, body: str) -> None:
    answers.write([(("d", 0), FULL), (("e", 0), FULL)])
    sql(f"UPDATE {ANSWERS} SET body = '{body}' WHERE digest = 'd'")
    assert answers.find([("d", 0), ("e", 0)]) == {("e", 0): FULL}
    answers.write([(("d", 0), FULL)])
    assert answers.find([("d", 0)]) == {("d", 0): FULL}


def test_answers_wait_while_the_store_is_locked_and_are_written_once_it_is_not(answers: Answers, locked: Lock) -> None:
    keeper = Answers(answers.database)
    keeper.keep([(("d", 0), said("0"))])
    assert (len(keeper._waiting), keeper.notices) == (0, [])
    with locked():
        for number in range(1, 5):
            keeper.keep([(("d", number), said(str(number)))])
        assert len(keeper._waiting) == 4
        (notice,) = keeper.notices
        assert "is locked by another program: end that. What is new is kept in memory" in notice
    keeper.keep([(("d", 5), said("5"))])
    assert text_of(keeper.find([("d", 5)])["d", 5]) == "5"
    keeper.keep([])
    assert (len(keeper._waiting), len(keeper.notices)) == (0, 2)
    assert "Saved again" in keeper.notices[-1]
    assert [text_of(answers.find([("d", number)])["d", number]) for number in range(6)] == list("012345")


def test_an_answer_that_waits_is_found_and_is_not_replaced_by_an_error(tmp_path: Path) -> None:
    with opened(tmp_path / "folder" / "store.sqlite") as answers:
        (tmp_path / "folder").write_text("a file where the folder should be")
        keeper = Answers(answers.database)
        keeper.keep([(("d", 0), said("one"))])
        keeper.keep([(("d", 0), ERROR)])
        keeper.keep([(("e", 0), ERROR)])
        assert (len(keeper._waiting), len(keeper.notices)) == (2, 1)
        (tmp_path / "folder").unlink()
        assert keeper.find([("d", 0), ("e", 0)], failed=False) == {("d", 0): said("one")}
        assert keeper.settle()
        assert answers.find([("d", 0), ("e", 0)])["d", 0] == said("one")
