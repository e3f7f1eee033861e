"""A template is filled in for each row, and what cannot be is said before anything is sent."""

from __future__ import annotations

from typing import Any

import pytest

from jupyter_ctx import InvalidRequestError
from jupyter_ctx.experiments.table.plan import Template
from jupyter_ctx.experiments.table.rows import read_rows

ROW = {"text": "Hallo", "first name": "Ada", "n": 3, "nothing": None, "list": [1, 2]}
COLUMNS = tuple(ROW)
NAMES: dict[str, Any] = {"style": "polite", "examples": {"a": ["one", "two"]}, "n": 99}


def prompt(text: str, values: dict[str, Any] | None = None) -> str:
    return Template(text, NAMES).prompt(ROW, values)


@pytest.mark.parametrize(
    ("text", "filled"),
    [
        ("Translate {{ text }}.", "Translate Hallo."),
        ("{{ row.text }} {{ row['first name'] }} {{ row[\"n\"] + 1 }}", "Hallo Ada 4"),
        ("{{ text.upper() }} {{ '+'.join(str(each) for each in list) }} {{ list[0] }}", "HALLO 1+2 1"),
        ("{{ style }} {{ examples['a'][0] }}", "polite one"),
        ("{{ 'yes' if n > 2 else 'no' }}", "yes"),
        ("{{ len(row) }} {{ [*row.keys()][0] }} {{ n:.1f }}", "5 text 3.0"),
        ("{{text}} {text} \\{{ text }} { text }", "{{text}} {text} \\{{ text }} { text }"),
    ],
)
def test_columns_and_names_are_filled_in(text: str, filled: str) -> None:
    assert prompt(text) == filled


def test_a_column_goes_before_a_value_of_the_grid_and_that_before_the_notebook() -> None:
    assert prompt("{{ n }} {{ style }}", {"style": "rude"}) == "3 rude"
    assert Template("{{ n }}", NAMES).prompt({"text": "x"}) == "99"
    assert Template("{{ row }}", {}).prompt({"row": "its own"}) == "its own"


def test_the_row_of_a_list_of_texts_is_the_text_and_that_of_a_table_its_columns() -> None:
    texts, table = read_rows(["Hallo", None, 3])[:], read_rows([{"text": "Hallo", "n": 1}])
    asked = Template("[{{ row }}] {{ row.text }}, {{ text }}: {{ len(row) if text else 0 }}.")
    asked.check(texts.columns)
    assert asked.prompt(texts[0]) == "[Hallo] Hallo, Hallo: 5."
    assert Template("[{{ row }}]").prompt(texts[1]) == "[]"
    assert asked.prompt(table[0]) == "[{'text': 'Hallo', 'n': 1}] Hallo, Hallo: 2."


def test_missing_cells_fill_in_nothing_wherever_their_text_is_needed() -> None:
    assert prompt("[{{ nothing }}][{{ nothing or 'none' }}]") == "[][none]"
    assert prompt("{{ 'unknown' if nothing is None else nothing }}") == "unknown"
    with pytest.raises(InvalidRequestError, match="The prompt is empty"):
        prompt("{{ nothing }} ")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("{{ txet }}", r"there is no column.* 'txet'. Did you mean {{ text }}\? The columns are: text, first name"),
        ("{{ row['first_name'] }}", r"no column 'first_name'. Did you mean {{ row\['first name'\] }}\?"),
        ("{{ first name }}", r"{{ first name }} is not the column 'first name': write {{ row\['first name'\] }}"),
        ("{{ id }}", r"there is no column, value of the grid or name of the notebook 'id'"),
        ("{{ text.strp() }}", r"strp\(\) is not called in a prompt"),
        ("{{ tone }} {{ n }}", "'tone' is both a column and a value of the grid"),
        ("{{text}}", r"{{text}} is not filled in: write {{ text }}"),
        ("Say {text}", r"{text} is not filled in: write {{ text }}"),
    ],
)
def test_what_cannot_be_filled_in_is_an_error_before_anything_is_sent(text: str, said: str) -> None:
    with pytest.raises(InvalidRequestError, match=said):
        Template(text, NAMES).check((*COLUMNS, "tone"), ["tone"] if "tone" in text else ["colour"])


def test_what_may_not_be_meant_is_told() -> None:
    assert Template("Hello {{ text }}", NAMES).check(COLUMNS) == ()
    assert Template("Hello {{ style }}", NAMES).check(COLUMNS) == (
        "No expression reads a column, so the prompt is the same for every row.",
    )
    assert Template("{{ n }} {text}", NAMES).check(COLUMNS) == ("{text} is sent as typed: {{ text }} would fill in.",)


@pytest.mark.parametrize("text", ["{{ text }}", "{{ row.text }}", "{{ secret }}", "{{ tone }}"])
def test_no_prompt_carries_a_key(text: str) -> None:
    key = "sk-" + "abcdefghijklmnopqrstuvwx1234"
    template = Template(text, {"secret": key})
    with pytest.raises(InvalidRequestError, match=r"holds a key or a password.*Nothing was sent") as error:
        template.prompt({"text": f"mine is {key}"}, {"tone": key})
    assert key not in str(error.value)
    with pytest.raises(InvalidRequestError, match="holds a key"):
        Template("{{ text }}", secrets=["a-key-of-mine"]).prompt({"text": "a-key-of-mine"})


def test_a_template_knows_what_it_reads() -> None:
    assert Template("{{ text }} {{ row.n }} {{ style }}").columns(COLUMNS) == ("text", "n")
    assert Template("{{ row }}").columns(COLUMNS) == COLUMNS
    assert Template("plain {text}").columns(COLUMNS) == ()
    assert Template("{{ tone.upper() }}").reads("tone")
    assert not Template("tone").reads("tone")
