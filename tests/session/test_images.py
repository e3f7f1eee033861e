"""Images count what the model that is asked counts, and are sent at the size that it reads."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import pytest
from dialects import DIALECTS, answering
from PIL import Image

from jupyter_ctx import Chat
from jupyter_ctx.session.attaching import attachment_of

CLAUDE, OLD_CLAUDE, GPT, OTHER = "anthropic/claude-opus-5-5", "anthropic/claude-haiku-4-5", "openai/gpt-6", "mistral/m"
ANTHROPIC, ANTHROPIC_MODEL = DIALECTS["anthropic"], "anthropic/m"


def image(width: int, height: int) -> Image.Image:
    return Image.new("RGB", (width, height), "teal")


def sent_size(chat: Chat, value: Any, model: str) -> tuple[int, int]:
    (file,) = attachment_of(chat.session, "fig", value, model=model).files
    return Image.open(io.BytesIO(file.data)).size


def test_a_conversation_that_changes_its_model_counts_its_images_anew(tmp_path: Path) -> None:
    chat, path = Chat(CLAUDE, api_key="none"), tmp_path / "plot.png"
    image(1_568, 1_568).save(path)
    for model, tokens in ((CLAUDE, 3_213), (GPT, 2_881), (OTHER, 1_600)):
        view = chat.preview("Look:", attachments=[path], model=model)
        label = chat.preview("Look:\n\nplot.png: an image of 1,568 × 1,568 pixels.", model=model)
        assert view.input_tokens == pytest.approx(label.input_tokens + tokens, abs=1)


def test_earlier_images_count_so_too_whatever_was_stored_and_a_report_holds(tmp_path: Path) -> None:
    path = tmp_path / "plot.png"
    image(1_568, 1_568).save(path)
    with answering(ANTHROPIC, ANTHROPIC.answer("A square.", sent=3_300, said=3)) as (chat, _):
        chat.send("Look:", attachments=[path])
        (file,) = chat.turns[0].attachments
        assert file.tokens == 1_600  # as every release has stored it
        assert chat.info().used == 3_303
        address = chat.config.base_url
        chat.configure(model=GPT, base_url=None)
        assert chat.info().used == pytest.approx(2_881 + 30, abs=25)
        chat.configure(model=ANTHROPIC_MODEL, base_url=address)
        assert chat.info().used == 3_303


@pytest.mark.parametrize(
    ("model", "longest"),
    [(CLAUDE, 2_000), (GPT, 2_048), (OTHER, 1_568)],
)
def test_a_figure_is_sent_as_large_as_its_model_reads_and_no_larger(model: str, longest: int) -> None:
    chat = Chat(model, api_key="none")
    assert sent_size(chat, image(3_000, 1_500), model) == (longest, longest // 2)
    assert sent_size(chat, image(1_500, 700), model) == (1_500, 700)


def test_a_file_is_made_smaller_only_where_the_provider_would_do_it(tmp_path: Path) -> None:
    path = tmp_path / "photo.png"
    image(4_032, 3_024).save(path)
    sizes = {model: sent_size(Chat(model, api_key="none"), path, model) for model in (OLD_CLAUDE, GPT)}
    assert sizes == {OLD_CLAUDE: (1_568, 1_176), GPT: (4_032, 3_024)}
