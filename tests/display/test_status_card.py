"""The card of %chat status: the gauge with the tokens of its parts, and only what differs from the default."""

from __future__ import annotations

import re

from gauge_readings import info
from hostile import NAMES
from html_pages import Seen

from jupyter_ctx.display.widgets.gauge import status_bundle


def test_every_form_has_the_tokens_of_each_part_and_what_is_free() -> None:
    for form in status_bundle(info(640)).values():
        shown = "".join(Seen(form).text) if form.startswith("<") else form
        assert "640 of 1,000 tokens" in shown
        for part in ("system 64", "earlier turns 576", "free 360", "kept for the reply 200"):
            assert part in shown


def test_a_terminal_gets_the_bar_and_few_lines_more() -> None:
    settings = (("set here", ("temperature 0.2", "on_overflow summarise")), ("at the start", ("max_tokens 16",)))
    said = status_bundle(info(640), settings=settings, notes=("Price: $1.00 in, $2.00 out",))["text/plain"]
    assert "temperature 0.2, on_overflow summarise (set here); max_tokens 16 (at the start)" in " ".join(said.split())
    assert len(said.splitlines()) <= 8
    assert max(map(len, said.splitlines())) <= 100
    assert "Different" not in status_bundle(info(640))["text/plain"]


def test_hostile_names_and_settings_become_no_markup() -> None:
    for text in NAMES.values():
        forms = status_bundle(info(640, model=text), text, [(text, [text])], [text])
        page = Seen(forms["text/html"])
        assert page.tags == {"div", "b", "span"}
        assert not page.odd
        assert {name for _, name, _ in page.attributes} == {"class", "style", "title"}
        assert not re.search(r"<(?=[a-z/!])", forms["text/markdown"], re.I)
        assert not re.search("[\x00-\x08\x1b\u202e]", "".join(forms.values()))
