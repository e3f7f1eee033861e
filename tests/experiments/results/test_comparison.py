"""What a run scored and whether B is better than A: figures, and sentences that claim no more than these support."""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Mapping
from decimal import Decimal
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from jupyter_ctx import InvalidRequestError, Reply, sweep
from jupyter_ctx.display.word_marks import marked_on_a_page
from jupyter_ctx.experiments.results.comparison import Comparison, compare, summary
from jupyter_ctx.experiments.statistics.significance import paired_rates, rows_paired, wilson
from jupyter_ctx.experiments.statistics.verdicts import p_value, percent
from jupyter_ctx.experiments.table.results import Result
from jupyter_ctx.testing import ScriptedProvider


def result(row: int, score: Any = True, **changes: Any) -> Result:
    scores: Mapping[str, Any] = score if isinstance(score, dict) else {"ok": score}
    text = changes.pop("text", f"It is {score}.")
    given = {"arm": "", "repeat": 0, "inputs": {"question": f"Number {row}?"}, "values": {}, "prompt": f"Say {row}"}
    return Result(row, **{**given, "reply": Reply(text), "scores": scores, **changes})


def yes_no(right: int, of: int, *, first: int = 0, **changes: Any) -> list[Result]:
    """Results of rows of which so many are right, from the row ``first`` on."""
    return [result(row, first <= row < first + right, **changes) for row in range(of)]


def only(comparison: Comparison) -> Any:
    (row,) = comparison
    return row


# one run


def test_a_rate_is_told_with_its_interval() -> None:
    table = summary(yes_no(41, 50))
    interval = wilson(41, 50)
    (row,) = table
    assert (row.n, row.value, row.low, row.high) == (50, 0.82, interval.low, interval.high)
    assert table.sentences == ('41 of 50 rows pass "ok" (82 %, 95 % interval 69 to 90 %).',)


def test_a_mean_is_told_with_its_interval() -> None:
    (row,) = summary([result(i, float(i)) for i in range(5)])
    assert (row.kind, row.value, round(row.low, 2), round(row.high, 2)) == ("mean", 2.0, 0.04, 3.96)


def test_failed_truncated_and_unscored_answers_are_counted_apart_and_never_as_wrong() -> None:
    lost = result(10, False, reply=None, error="The server is gone.")
    cut, silent, odd = result(11, False, truncated=True), result(12, None), result(13, math.nan)
    table = summary([*yes_no(9, 10), lost, cut, silent, odd])
    (row,) = table
    assert (row.n, row.value, row.answers) == (10, 0.9, 14)
    assert (row.failed, row.truncated, row.unscored) == (1, 1, 2)
    assert table.sentences[-1].startswith("Of 14 answers 1 failed, 1 truncated, 2 without a score: left out")


def test_refused_filtered_and_empty_answers_are_counted_in_a_line_of_their_own() -> None:
    refused = [result(i, False, reply=Reply("I cannot.", stop_reason="refusal")) for i in (10, 11)]
    table = summary([*yes_no(9, 10), *refused, result(12, False, reply=Reply(" \n"))])
    assert (table[0].n, table[0].failed) == (13, 0)
    assert table.sentences[-1].startswith("Of 13 answers 2 refused or filtered, 1 empty: counted")


@pytest.mark.parametrize("of", [bool, np.int64, Decimal])
def test_ones_and_zeros_of_any_type_are_rates(of: Callable[[int], Any]) -> None:
    (row,) = summary([result(i, of(i < 9)) for i in range(10)])
    assert (row.kind, row.value) == ("yes/no", 0.9)
    assert row.high <= 1
    a, b = ([result(i, of(right)) for i in range(30)] for right in (0, 1))
    assert (only(compare(a, b)).test, only(compare(a, b)).p < 0.001) == ("McNemar exact", True)


def test_a_rate_of_repeats_and_groups_stays_between_0_and_1() -> None:
    answers = [result(i, float(i > 0 or k > 0), inputs={"d": i % 3}, repeat=k) for i in range(6) for k in range(2)]
    (row,), (grouped,) = summary(answers), summary(answers, group="d")
    assert row.kind == grouped.kind == "rate"
    assert max(row.high, grouped.high) <= 1
    worse = [result(i, 0.0, inputs={"d": i % 3}, repeat=k) for i in range(6) for k in range(2)]
    for table in (compare(worse, answers), compare(worse, answers, group="d")):
        assert only(table).high <= 1


def test_a_grade_that_rises_in_every_row_follows() -> None:
    table = compare([result(i, 2) for i in range(30)], [result(i, 3) for i in range(30)])
    row = only(table)
    assert (row.difference, row.test, row.p < 0.001, row.low) == (1, "sign test", True, None)
    assert table.sentences[0].startswith("B is higher than A: ")
    grouped = compare(*([result(i, s, inputs={"d": i % 3, "q": i}) for i in range(30)] for s in (2, 3)), group="d")
    assert round(only(grouped).p, 9) == 0.25, "three groups"


def test_an_interval_does_not_contradict_its_test() -> None:
    row = only(compare(yes_no(0, 5), yes_no(5, 5)))
    assert (round(row.p, 9), row.low, row.high) == (0.0625, 0.0, 1.0)
    assert compare(yes_no(0, 5), yes_no(5, 5)).sentences[0].startswith("No difference shown: ")
    for first in range(40):
        for second in range(40):
            interval = paired_rates(first, second, 100)
            assert (interval.low > 0 or interval.high < 0) == (interval.p < 0.05)


def test_repeats_are_averaged_so_that_three_answers_to_a_row_are_one() -> None:
    rng = random.Random(3)
    answers = [result(i, rng.random() < 0.7, repeat=k, text=f"{k}") for i in range(20) for k in range(3)]
    table = summary(answers)
    (row,) = table
    assert (row.n, row.answers, row.kind) == (20, 60, "rate")
    once = wilson(row.value * 60, 60)
    assert row.high - row.low > once.high - once.low, "sixty answers are not sixty rows"
    assert "the mean of 20 rows, each averaged over its answers" in str(table)


def test_rows_of_one_group_resemble_each_other_and_widen_the_interval() -> None:
    rows = [result(i, i // 5 % 2 == 0, inputs={"document": i // 5, "q": i}) for i in range(50)]
    (alone,), (grouped,) = summary(rows), summary(rows, group="document")
    assert grouped.value == alone.value
    assert grouped.high - grouped.low > 1.5 * (alone.high - alone.low)
    assert "rows clustered by document" in str(summary(rows, group="document"))
    assert summary(SimpleNamespace(results=rows, group="document"))[0] == grouped  # type: ignore[arg-type]


def test_a_group_that_is_no_column_is_named_with_the_nearest_one() -> None:
    with pytest.raises(InvalidRequestError, match=r"group='documnet': .* Did you mean 'document'\?"):
        summary([result(i, inputs={"document": i}) for i in range(2)], group="documnet")


def test_equal_scores_are_not_said_to_weigh_much_because_of_rounding() -> None:
    scores = [0.1 * 7 if i % 2 else 0.7 for i in range(20)]
    assert len(set(scores)) == 2
    told = str(summary([result(i, score) for i, score in enumerate(scores)]))
    assert "without an interval: rows that all have the same score tell nothing about others" in told
    assert "weigh much" not in told
    table = compare([result(i, 0.7) for i in range(20)], [result(i, score) for i, score in enumerate(scores)])
    assert (only(table).difference, only(table).p) == (0, None)
    assert "weigh much" not in str(table)


def test_one_right_answer_has_no_interval() -> None:
    table = summary(yes_no(1, 1))
    assert (table[0].value, table[0].low, table[0].high) == (1, None, None)
    assert '1 of 1 row passes "ok" (100 %, without an interval' in str(table)
    assert only(compare(yes_no(0, 1), yes_no(1, 1))).low is None


# rows with the same prompt


def test_rows_with_the_same_prompt_are_one_observation() -> None:
    a, b = ([result(i, right, prompt="Say it", cached=i > 0) for i in range(50)] for right in (False, True))
    (row,) = table = summary(b)
    assert (row.n, row.answers, row.value, row.low) == (1, 50, 1, None)
    assert table.sentences[-1] == "50 rows ask the same prompt: they are one observation, not 50."
    compared = compare(a, b)
    assert (only(compared).n, only(compared).p, only(compared).low) == (1, None, None)
    assert 'Only one observation has a score by "ok" in both A and B, so they cannot be compared.' in str(compared)
    assert "B: 50 rows ask the same prompt: they are one observation, not 50." in compared.sentences


def test_different_scores_of_the_same_prompt_are_averaged() -> None:
    rows = [result(i, i % 2 == 0, prompt=f"Say {i // 2}") for i in range(20)]
    (row,) = table = summary(rows)
    assert (row.n, row.value, row.kind) == (10, 0.5, "rate")
    assert '50 % pass "ok", the mean of 10 rows, each averaged over its answers' in str(table)


def test_rows_that_ask_the_same_in_one_arm_are_one_observation_in_both() -> None:
    a = [result(i, False, prompt=f"Say {i // 2}") for i in range(20)]
    b = [result(i, True, prompt=f"Tell {1 if i == 2 else i}") for i in range(20)]
    table = compare(a, b)
    assert only(table).n == 9, "rows 0 and 1, and 2 and 3, are the same in A, and rows 1 and 2 in B"
    assert "A: 20 rows ask 10 different prompts: rows with the same prompt count as one row." in table.sentences


def test_groups_that_share_a_prompt_are_one_group() -> None:
    rows = [result(i, i % 3 > 0, inputs={"document": i // 5, "q": i}, prompt=f"Say {i % 15}") for i in range(30)]
    (row,) = summary(rows, group="document")
    assert row.n == 15
    apart = [result(i, i % 3 > 0, inputs={"document": i // 5, "q": i}) for i in range(15)]
    assert (row.low, row.high) == summary(apart, group="document")[0][4:6], "three groups, not six"


@given(st.lists(st.tuples(st.integers(0, 5), st.booleans()), min_size=1, max_size=30))
def test_one_observation_never_has_an_interval_and_n_is_that_of_the_prompts(rows: list[tuple[int, bool]]) -> None:
    found = [result(i, right, prompt=f"Say {prompt}") for i, (prompt, right) in enumerate(rows)]
    prompts = len({prompt for prompt, _ in rows})
    (row,), (compared,) = summary(found), compare(found, [result(i, True) for i in range(len(rows))])
    assert row.n == compared.n == prompts
    assert prompts > 1 or (row.low, compared.low, compared.p) == (None, None, None)


# two runs


def test_a_small_difference_is_not_told_as_one() -> None:
    table = compare(yes_no(36, 50), yes_no(41, 50, first=4))
    row = only(table)
    assert (row.n, row.first_value, row.second_value, round(row.difference, 6)) == (50, 0.72, 0.82, 0.1)
    (sentence,) = table.sentences
    assert sentence.startswith('No difference shown: with B, 41 of 50 rows pass "ok" (82 %), with A 36 (72 %), on the')
    assert "+10 points (95 % interval " in sentence
    assert "which chance alone could explain (McNemar exact p = " in sentence
    assert "would show a difference of this size 4 times in 5." in sentence


def test_a_large_difference_on_the_same_rows_is_told_as_one() -> None:
    table = compare(yes_no(60, 100), yes_no(75, 100))
    assert "more than chance alone explains (McNemar exact p < 0.001)." in str(table)
    assert "4 times in 5" not in str(table)


def test_means_on_the_same_rows_are_compared_by_a_paired_t() -> None:
    rng = random.Random(6)
    base = [rng.gauss(50, 20) for _ in range(40)]
    a, b = [result(i, x) for i, x in enumerate(base)], [result(i, x + rng.gauss(2, 1)) for i, x in enumerate(base)]
    row = only(compare(a, b))
    assert row.test == "paired t"
    assert row.p < 0.001, "unpaired, the rows' own spread of 20 would hide a difference of 2"
    assert compare(a, b).sentences[0].startswith("B is higher than A: ")


def test_comparisons_of_several_arms_are_adjusted_together() -> None:
    arms = {"a": yes_no(20, 40, arm="a"), "b": yes_no(26, 40, arm="b"), "c": yes_no(33, 40, arm="c")}
    run = [each for found in arms.values() for each in found]
    table = compare(run)
    assert [(row.first, row.second) for row in table] == [("a", "b"), ("a", "c")]
    assert [row.p_holm for row in table] == [table[0].p, 2 * table[1].p]
    assert all("adjusted for 2 comparisons" in sentence for sentence in table.sentences)
    assert [row.second for row in compare(run, "b", "c")] == ["c"]


def test_the_rows_needed_are_told_at_the_level_of_all_comparisons() -> None:
    arms = [yes_no(12, 20, arm="a"), *(yes_no(15, 20, arm=f"b{i}", first=1) for i in range(10))]
    alone, together = compare(arms[0], arms[1]), compare([each for found in arms for each in found])
    assert together[0].rows_needed == rows_paired(0.15, 5 / 20, alpha=0.05 / 10)
    assert alone[0].rows_needed == rows_paired(0.15, 5 / 20)
    assert "4 times in 5, adjusted for 10 comparisons." in together.sentences[0]
    assert "4 times in 5." in alone.sentences[0]


def test_an_arm_that_is_not_there_is_told_with_those_that_are() -> None:
    run = [each for tone in "xy" for each in yes_no(9, 12, arm=f"tone={tone}")]
    assert [row[:2] for row in compare(run, "tone=y", "tone=x")] == [("tone=y", "tone=x")]
    with pytest.raises(InvalidRequestError, match=r"no arm 'tone=z'\. Did you mean 'tone="):
        compare(run, "tone=x", "tone=z")


def test_runs_of_several_arms_are_compared_arm_by_arm() -> None:
    first = [*yes_no(1, 12, arm="t=0"), *yes_no(2, 12, arm="t=1")]
    table = compare(first, [*yes_no(9, 12, arm="t=1"), *yes_no(9, 12, arm="t=0")], names=("old", "new"))
    assert [(row.first, row.second) for row in table] == [("old (t=0)", "new (t=0)"), ("old (t=1)", "new (t=1)")]
    with pytest.raises(InvalidRequestError, match="no arm in common"):
        compare(first, [*yes_no(9, 12, arm="x"), *yes_no(9, 12, arm="y")])


def test_rows_are_matched_by_their_inputs_when_a_table_was_sorted_or_cut() -> None:
    a, b = yes_no(5, 10), [result(9 - i, i < 5, inputs={"question": f"Number {i}?"}) for i in range(2, 10)]
    table = compare(a, b)
    row = only(table)
    assert (row.n, row.difference) == (8, 0), "the same rows were right, under other numbers"
    assert "Rows whose inputs are not in both runs were left out: 2 of A." in table.sentences


def test_rows_with_the_same_inputs_are_paired_in_their_order() -> None:
    twice = [result(i, i == 1, inputs={"q": "same"}) for i in range(2)]
    row = only(compare(twice, twice))
    assert (row.n, row.difference, row.p) == (2, 0, 1)


def test_runs_without_a_common_row_or_column_are_refused() -> None:
    with pytest.raises(InvalidRequestError, match="A and B have no row in common: none of the 2 rows"):
        compare(yes_no(1, 2), [result(0, inputs={"question": "another"})])
    with pytest.raises(InvalidRequestError, match="no row in common"):
        compare(yes_no(1, 2), [result(0, inputs={"text": "another"})])


@pytest.mark.parametrize("rows", [0, 1])
def test_nothing_is_concluded_from_one_row_or_none(rows: int) -> None:
    failed = [result(i, True, reply=None, error="gone") for i in range(rows, 5)]
    table = compare(yes_no(5, 5), [*yes_no(rows, rows), *failed])
    assert "so they cannot be compared" in str(table)
    assert compare([], []).sentences == ("There is no scorer that says whether A or B is right.",)


def test_grouped_rows_are_compared_with_clustered_errors() -> None:
    a = [result(i, False, inputs={"document": i // 10, "q": i}) for i in range(60)]
    b = [result(i, i // 10 < 3, inputs={"document": i // 10, "q": i}) for i in range(60)]
    assert only(compare(a, b)).p < 0.001
    row = only(compare(a, b, group="document"))
    assert (row.test, row.p > 0.05) == ("clustered t", True), "six documents, not sixty rows"
    assert 'with B, 30 of 60 rows pass "ok" (50 %), with A 0 (0 %)' in str(compare(a, b, group="document"))


@given(
    st.lists(st.sampled_from([True, False, None, 0.5, math.nan, "failed", "cut"]), min_size=0, max_size=30), st.data()
)
def test_any_scores_give_a_table_with_figures_in_order(scores: list[Any], data: st.DataObject) -> None:
    def run() -> list[Result]:
        return [
            result(i, score if not isinstance(score, str) else True, truncated=score == "cut",
                   error="gone" if score == "failed" else "", repeat=0)
            for i, score in enumerate(data.draw(st.permutations(scores)))
        ]  # fmt: skip

    table = compare(run(), run())
    assert isinstance(table, Comparison)
    for row in table:
        assert row.low is None or row.low <= row.difference <= row.high
        assert row.p is None or 0 <= row.p <= row.p_holm <= 1
    assert str(table)
    assert table._repr_html_()
    assert str(table.differences())


# figures in words


def test_only_0_and_100_percent_are_told_as_such() -> None:
    told = [percent(x) for x in (0, 0.001, 0.5, 0.996, 0.9999, 1)]
    assert told == ["0 %", "0.1 %", "50 %", "99.6 %", "99.99 %", "100 %"]


def test_a_p_value_stays_on_its_side_of_one_in_twenty() -> None:
    told = [p_value(p) for p in (0.0496, 0.0504, 0.04999, 0.5, 0.0001)]
    assert told == ["= 0.0496", "= 0.050", "= 0.04999", "= 0.50", "< 0.001"]


# side by side


def test_rows_whose_scores_differ_come_first_and_their_words_are_marked() -> None:
    a = [result(0, True, text="The cat sat."), result(1, True, text="Red and green"), result(2, True, text="Same.")]
    b = [result(0, True, text="The dog sat."), result(1, False, text="Red or green"), result(2, True, text="Same.")]
    shown = compare(a, b).differences()
    assert [row.row for row in shown] == [1, 0, 2]
    text = str(shown)
    assert "A (ok: yes): Red and green\n  B (ok: no): Red or green" in text
    page = shown._repr_html_()
    assert ">and</mark>" in page
    assert ">or</mark>" in page


def test_what_a_model_says_is_no_markup_and_no_formula() -> None:
    bad = "<script>alert(1)</script> $x$ \x1b[31m"
    rows = [result(0, {bad: True}, text=bad, prompt=bad, arm=bad, inputs={"q": bad})]
    other = [result(0, {bad: False}, text="plain", prompt="plain", inputs={"q": bad})]
    table = compare(rows, other, names=(bad, bad + "2"))
    for page in (table._repr_html_(), table.differences()._repr_html_(), summary(rows)._repr_html_()):
        assert "<script" not in page
        assert "\x1b" not in page
        assert "$x$" not in page


def test_languages_without_spaces_are_compared_sign_by_sign() -> None:
    assert "雨</mark>" in marked_on_a_page(["今日は晴れです", "今日は雨です"])[1]


# labels


@pytest.mark.parametrize("tones", [("Be brief, and go on " * 4 + "A", "Be brief, and go on " * 4 + "B"), (1, "1")])
def test_arms_whose_values_look_alike_are_two_arms(tones: tuple[object, object]) -> None:
    model = {"provider": ScriptedProvider(), "store": None, "yes": True, "progress": False}
    run = sweep("{{ tone }} {{ text }}", ["a", "b"], {"tone": tones}, scorers={"ok": lambda row, reply: True}, **model)
    run.wait()
    first, second = (row.arm for row in run.summary())
    assert first != second
    assert compare(run, first, second)[0].n == 2
