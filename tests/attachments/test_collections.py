"""Of a collection with pictures in it, everything goes: the pictures under their keys, the rest as text."""

from __future__ import annotations

import re
from typing import Any

import pandas as pd
import pytest
from matplotlib.figure import Figure
from PIL import Image

from jupyter_ctx import Chat, InvalidRequestError
from jupyter_ctx.attachments.attached import Attached, TextRoom
from jupyter_ctx.attachments.attached_values import attached_value
from jupyter_ctx.runtime.redaction import Redactor
from jupyter_ctx.testing import ScriptedProvider, count_characters


def attached(value: Any) -> Attached:
    return attached_value("res", value, TextRoom(2_000, count_characters), Redactor())


def figure() -> Figure:
    made = Figure(figsize=(2, 1))
    made.subplots().plot([1, 3, 2])
    return made


def names(found: Attached) -> list[str]:
    return [file.name for file in found.files]


def test_a_dict_keeps_its_keys_as_names_and_what_else_it_holds() -> None:
    found = attached({"before": figure(), "after": figure(), "accuracy": 0.93})
    assert names(found) == ["res['before']", "res['after']"]
    assert "{'accuracy': 0.93}" in found.text
    assert "2 images" in found.what
    assert "; the rest as text: about " in found.what


def test_pictures_alone_go_by_their_numbers_and_each_once() -> None:
    image, axes = Image.new("RGB", (4, 4)), figure().axes[0]
    found = attached([image, image.copy(), figure()])
    assert names(found) == ["res[0]", "res[1]", "res[2]"]
    assert found.text.startswith("res[0]: an image of 4 × 4 pixels.\nres[1]: ")
    assert found.what.startswith("3 images, about ")
    assert names(attached(pd.Series([axes, axes]))) == ["res[0]"]


def test_a_script_names_what_it_attaches_by_keys() -> None:
    provider = ScriptedProvider("Yes.", window=40_000)
    provider.takes = frozenset({"image"})
    Chat(provider=provider).send(
        "Look.", attachments={"before": figure(), "tab": pd.DataFrame({"price": [1]}), "note": "as a text"}
    )
    sent = provider.requests[0].messages[-1]
    assert [file.name for file in sent.attachments] == ["before"]
    assert "tab:\n```\nDataFrame with 1 row" in sent.content
    assert "note:\n```\nas a text" in sent.content


def test_the_reply_says_what_was_left_out_and_blanked() -> None:
    chat, frame = Chat(provider=ScriptedProvider("Yes.", window=8_000)), pd.DataFrame({"n": range(12_000)})
    reply = chat.send("Look.", attachments=[frame, frame.tail(3)])
    assert [line for line in reply.notices if re.match(r"With DataFrame \(\d+ of 12,000 rows, ", line)]
    assert "DataFrame 2 (all 3 rows, " in str(reply.notices)
    keyed = chat.send("Look.", attachments={"note": "sk-proj-" + "Ab3" * 12}).notices
    assert "note: 1 part that looks like a key was blanked (***)." in keyed
    assert not [line for line in keyed if line.startswith("With ")]


def test_a_text_in_place_of_a_file_is_refused_without_the_key_in_it() -> None:
    with pytest.raises(InvalidRequestError) as raised:
        Chat(provider=ScriptedProvider("Yes.")).send("Look.", attachments=["host=h password=Zq8hT2mLx93kPbV7"])
    assert "Zq8h" not in str(raised.value)


def test_several_things_take_half_of_the_limit_together_at_most() -> None:
    chat, frame = Chat(provider=ScriptedProvider(window=8_000)), pd.DataFrame({"n": range(12_000)})
    view = chat.preview("Look.", attachments=[frame] * 4, attach_share=0.8)
    assert 0.3 * chat.info().limit < view.input_tokens < 0.6 * chat.info().limit
    alone = chat.preview("Look.", attachments=frame, attach_share=0.8)
    assert alone.input_tokens > 0.6 * chat.info().limit
