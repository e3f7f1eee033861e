"""Tokens, next tokens and certainty in JupyterLab: by keyboard, in light and dark, wide and narrow, live and saved."""

from __future__ import annotations

import math
from http.server import BaseHTTPRequestHandler
from json import dumps
from typing import Any

import nbformat
from jupyter_page import NotebookPage, Open
from page_checks import OVERFLOWS, THEMES, complaints
from playwright.sync_api import expect
from server import events, piece, send, serve, usage

pytest_plugins = ("browsing",)

NEXT = {"": {" Paris": 0.5, " the": 0.25, "<b>": 0.125, "\ufffd": 0.125}, " Paris": {".": 0.75, ",": 0.25}}
LINES = """cells => cells.map(cell => {
    const range = document.createRange();
    range.selectNodeContents(cell);
    return new Set([...range.getClientRects()].map(line => Math.round(line.top))).size;
})"""
ANSWER = {"Oslo": 0.6, " is": 0.95, " <i>": 0.3, " 🌪 the city": 0.05}


def odds(shares: dict[str, float]) -> list[dict[str, Any]]:
    return [
        {"token": text, "id": number, "logprob": math.log(share)} for number, (text, share) in enumerate(shares.items())
    ]


def told(handler: BaseHTTPRequestHandler, request: dict[str, Any]) -> None:
    """Answer as llama.cpp does: the tokens of a text, those that may come next, and an answer with probabilities."""
    if handler.path == "/tokenize":
        tokens = [
            {"id": 5, "piece": "Stra"},
            {"id": 6, "piece": [195]},
            {"id": 7, "piece": [159]},
            {"id": 8, "piece": "e\n"},
        ]
        return send(handler, 200, dumps({"tokens": tokens}))
    if handler.path == "/completion":
        after = " Paris" if len(request["prompt"]) > 1 else ""
        places = [{"top_logprobs": odds(NEXT[after])}]
        return send(handler, 200, dumps({"completion_probabilities": places}))
    chunks = [piece(text) for text in ANSWER]
    for chunk, (text, share) in zip(chunks, ANSWER.items(), strict=True):
        top = odds({text: share, " a": 0.02})
        chunk["choices"][0]["logprobs"] = {"content": [{**top[0], "top_logprobs": top}]}
    return send(handler, 200, events(*chunks, piece("", "stop"), usage(9, 4)), "text/event-stream")


def check_by_keyboard(notebook: NotebookPage, seen: list[dict[str, Any]]) -> None:
    """Move the slider, append a token and take it back, without a pointer."""
    output, press = notebook.output(2), notebook.page.keyboard.press
    output.get_by_role("spinbutton", name="Temperature").focus()
    for _ in range(10):
        press("ArrowDown")
    expect(output.locator(".jctx-live .jctx-odds").first).to_contain_text("72.7 %")  # 0.5 ** 2 of their sum
    assert len([each for each in seen if each["path"] == "/completion"]) == 1
    output.get_by_role("button", name="␣Paris").press("Enter")
    expect(output.locator(".jctx-live p").first).to_have_text("The capital of France is Paris")
    expect(output.get_by_role("button", name=".", exact=True)).to_be_focused()
    expect(output.locator(".jctx-next-token")).to_have_count(2)
    assert seen[-1]["prompt"] == ["The capital of France is", 0]
    asked = len(seen)
    output.get_by_role("button", name="Back").press("Enter")
    expect(output.locator(".jctx-next-token")).to_have_count(4)
    assert len(seen) == asked
    output.get_by_role("button", name="␣Paris").press("Enter")
    expect(output.locator(".jctx-next-token")).to_have_count(2)


def check_certainty(notebook: NotebookPage) -> None:
    output = notebook.output(3)
    shaded = output.locator(".jctx-unsure")
    assert shaded.all_inner_texts() == ["Oslo", " <i>", " 🌪 the city"]
    shaded.nth(1).focus()
    shown = shaded.nth(1).evaluate("span => getComputedStyle(span, '::after').content")
    assert shown == '"30.0 %; ␣a 2.0 %"'
    expect(output.locator("tbody tr").first).to_contain_text("5.0 %")


def test_tokens_and_probabilities_are_readable_by_eye_by_keyboard_and_when_saved(open_page: Open) -> None:
    with serve(told) as (url, seen):
        notebook = open_page(
            f"%load_ext jupyter_ctx\n%chat use m --base-url {url} --window 4000",
            "%%chat tokens -m m -m gpt-4o -m claude-sonnet-4-5\nStraße\n",
            "%%chat next\nThe capital of France is",
            "%%chat --certainty\nWhat is the capital of Norway?",
        )
        notebook.run(0, 1, 2, 3)
        expect(notebook.output(1).get_by_role("img")).to_have_count(2)
        assert "‹C3›" in notebook.output(1).get_by_role("img").first.inner_text()
        notebook.output(1).locator("summary").first.press("Enter")
        check_by_keyboard(notebook, seen)
        check_certainty(notebook)
        for name, width in (("dark", 1400), ("light", 400)):
            notebook.use_theme(THEMES[name])
            notebook.page.set_viewport_size({"width": width, "height": 900})
            notebook.page.wait_for_timeout(300)
            assert notebook.page.evaluate(OVERFLOWS) == []
            certain = notebook.output(3).locator("th:visible, td:nth-child(2):visible")
            assert set(certain.evaluate_all(LINES)) == {1}
            assert complaints(notebook, ("color-contrast", "button-name", "label")) == ""
        notebook.save()
        notebook.page.wait_for_function("() => !window.jupyterapp.shell.currentWidget.context.model.dirty")
    saved = [[output.get("data", {}) for output in cell.outputs] for cell in nbformat.read(notebook.path, 4).cells]
    (bars,) = (data["text/html"] for data in saved[2] if "text/html" in data)
    assert "The capital of France is<b> Paris</b>" in bars
    assert "90.0 %" in bars  # at temperature 0.5
    assert any(data.get("text/html", "").count("jctx-unsure") == 4 for data in saved[3])  # three, and their style
    assert notebook.errors == []
