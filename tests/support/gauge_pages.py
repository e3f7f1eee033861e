"""What tests of the gauge in a browser share: turns that nobody was asked for, and servers that answer as told."""

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


def button(place: Locator, name: str) -> Locator:
    return place.get_by_role("button", name=name, exact=True)


def rich(handler: BaseHTTPRequestHandler, request: dict[str, Any]) -> None:
    """Answer with everything that Markdown has; or with what reads from the right, where that is asked for."""
    text = FOREIGN if "foreign" in json.dumps(request) else RICH
    send(handler, 200, events(piece(text), end="") + ended(request, text), "text/event-stream")


def ended(request: dict[str, Any], text: str) -> str:
    """The end of an answer, with about as many tokens as there are."""
    return events(piece("", "stop"), usage(len(json.dumps(request["messages"])) // 4, len(text) // 4))
