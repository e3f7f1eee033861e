"""What fills a page in a browser: turns that nobody was asked for, answers in columns, and servers that answer."""

from __future__ import annotations

import json
from http.server import BaseHTTPRequestHandler
from typing import Any

from page_checks import FOREIGN, RICH
from playwright.sync_api import Locator
from server import events, piece, send, usage

# so many turns of one size that the states follow each other; nobody is asked for any of it
FILL = """
from jupyter_ctx import get_chat
def fill(turns, length=30):
    get_chat().add_messages([message for turn in range(turns) for message in (
        {"role": "user", "content": f"On day {turn} we saw {3 * turn} birds in Bergen. " + "Why? " * length},
        {"role": "assistant", "content": "Because of the herring. " + "So it is. " * 18})])
"""
LOAD = "%load_ext jupyter_ctx\n" + FILL
USE = "%chat use openai/gpt-4o --window 2000\n_ = get_chat().configure(token_counting='approximate')\n"
GAUGE = "%chat config summary_model local/smollm2\n%chat"
COLUMNS = f"""
import threading, time
from jupyter_ctx.context.usage import Usage
from jupyter_ctx.display.answer.columns import AnswerColumns, Column
from jupyter_ctx.display.answer.footer import Footer
from jupyter_ctx.display.widgets.choice_bar import ChoiceBar
HEADS = ["openai/gpt-5.2 · t=0", "anthropic/claude-sonnet-4.5 · t=1", "local/smollm2"]
RICH, FOREIGN = {RICH!r}, {FOREIGN!r}
def footer(number):
    return Footer(HEADS[number], Usage(1200, 340 + number), 2.5 + number, 0.0042 * (number + 1), "stop")
def stream(texts, above=(), pause=0.01):
    view = AnswerColumns(HEADS[:len(texts)], above)
    view.begin()
    def answer(number):
        for at in range(0, len(texts[number]), 12):
            view.feed(number, texts[number][at:at + 12])
            time.sleep(pause)
        said = ["The answer was cut at max_tokens."]
        view.done(number, Column("", texts[number], "Let me think.", footer(number), said))
    workers = [threading.Thread(target=answer, args=(number,)) for number in range(len(texts))]
    for worker in workers: worker.start()
    for worker in workers: worker.join()
    return view
"""
SKY = "The sky is **blue** because air scatters short waves more.\\n\\n- one\\n- two"
BAR = """
bar = ChoiceBar(HEADS, view.choose)
bar.show()
bar.update(chosen)
"""


def button(place: Locator, name: str) -> Locator:
    return place.get_by_role("button", name=name, exact=True)


def rich(handler: BaseHTTPRequestHandler, request: dict[str, Any]) -> None:
    """Answer with everything that Markdown has; or with what reads from the right, where that is asked for."""
    text = FOREIGN if "foreign" in json.dumps(request) else RICH
    send(handler, 200, events(piece(text), end="") + ended(request, text), "text/event-stream")


def ended(request: dict[str, Any], text: str) -> str:
    """The end of an answer, with about as many tokens as there are."""
    return events(piece("", "stop"), usage(len(json.dumps(request["messages"])) // 4, len(text) // 4))
