"""A structured answer and the code blocks of an answer in JupyterLab, in a light and a dark theme."""

from __future__ import annotations

import json

import pytest
from answering_rows import answering_rows
from jupyter_page import SCREENSHOTS, Open
from playwright.sync_api import expect

pytest_plugins = ("browsing",)

TYPES = """
%load_ext jupyter_ctx
%chat use m --base-url {url}
import datetime, enum, typing
import pydantic
class Genre(enum.Enum):
    drama = "drama"
    comedy = "comedy"
class Person(pydantic.BaseModel):
    name: str
    born: typing.Optional[datetime.date] = None
    roles: list[str] = []
class Film(pydantic.BaseModel):
    title: str
    genre: Genre
    plot: str
    money: dict[str, int]
    cast: list[Person]
"""
FILM = {
    "title": "<b onmouseover=hacked=1>Up</b> *and* $x$ \\(y\\) away",
    "genre": "comedy",
    "plot": "Seventy-eight year old Carl travels to Paradise Falls in his house equipped with balloons. " * 5,
    "money": {"budget": 175_000_000, "gross": 735_100_000},
    "cast": [
        {"name": "Ed Asner", "born": "1929-11-15", "roles": ["Carl"]},
        {"name": "كريستوفر بلامر", "roles": ["Charles Muntz", "the narrator of the newsreel, at first"]},
        *({"name": f"Dog {number}"} for number in range(50)),
    ],
}
CODE = "First:\n\n```bash\npip install x\n```\n\nthen\n\n```python\nimport x\nx.run()\n```"


def said(prompt: str) -> str:
    return json.dumps(FILM) if "film" in prompt else CODE


@pytest.mark.parametrize("theme", ["JupyterLab Light", "JupyterLab Dark"])
def test_a_structured_answer_is_a_table_that_opens_to_its_json(open_page: Open, theme: str) -> None:
    with answering_rows(said) as asked:
        notebook = open_page(
            TYPES.format(url=asked.url), "%%chat --schema Film -o film\nA film?", "%%chat\nSome code?", "%chat code",
            "%chat code 2",
        )  # fmt: skip
        notebook.use_theme(theme)
        notebook.run(0, 1, 2, 3)
        answer = notebook.answer(1)
        expect(answer.locator("table")).to_have_count(2)
        expect(answer).to_contain_text("cast: 40 of 52 rows shown")
        expect(answer.locator("tbody tr").first.locator("td")).to_have_text(FILM["title"])
        assert answer.locator("mjx-container, b, em").count() == 0
        for cell in answer.locator("td, th").all()[:12]:
            assert cell.evaluate("cell => getComputedStyle(cell).textAlign") in ("left", "start")
        assert answer.evaluate("box => box.scrollWidth <= box.clientWidth")
        shot = SCREENSHOTS / f"schema-{theme.split()[-1].lower()}.png"
        answer.locator("table").first.screenshot(path=shot)
        answer.locator("table").last.screenshot(path=shot.with_name(f"rows-{shot.name}"))
        expect(answer.locator("pre")).to_be_hidden()
        answer.locator("summary").first.click()
        expect(answer.locator("pre")).to_be_visible()
        expect(answer.locator("pre")).to_contain_text('"budget": 175000000')
        listed = notebook.output(3)
        expect(listed.locator(".jctx-table").locator("visible=true")).to_have_count(1)
        listed.get_by_text("Show 2").click()
        expect(listed).to_contain_text("%chat code 2 puts block 2 into the next cell:")
        expect(listed.locator("pre").last).to_contain_text("x.run()")
        listed.screenshot(path=shot.with_name(f"code-{shot.name}"))
        assert notebook.errors == []
        assert notebook.foreign_requests == []
