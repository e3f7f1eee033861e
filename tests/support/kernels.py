"""A real kernel, driven as a notebook drives it."""

from __future__ import annotations

import itertools
import time
from collections.abc import Sequence
from typing import Any

from jupyter_client import KernelManager

VIEW = "application/vnd.jupyter.widget-view+json"
ANEW = """\
import sys, ipywidgets
vars(sys).pop("last_value", None), vars(sys).pop("last_exc", None)
ipywidgets.Widget.close_all()
%load_ext jupyter_ctx
%unload_ext jupyter_ctx
from jupyter_ctx.storage.conversation_writer import close_stores
close_stores()
del get_ipython()._jupyter_ctx
%reset -f
%load_ext jupyter_ctx
from jupyter_ctx import get_chat
"""
SHOWN = ("display_data", "update_display_data", "execute_result")


class Kernel:
    """Runs cells in a kernel, with the metadata that a front end sends.

    ``asked`` are the questions it put, ``reply`` is how the last cell that was run has ended.
    """

    def __init__(self, manager: KernelManager) -> None:
        self.manager = manager
        self.client = manager.client()
        self.client.start_channels()
        self.client.wait_for_ready(timeout=60)
        self.asked: list[str] = []
        self.reply: dict[str, Any] = {}
        self._names = itertools.count()

    def begin_anew(self) -> None:
        """Forget variables, conversations in memory and what was shown: a restart would import everything again."""
        failed = error(self.run(ANEW))
        assert failed is None, failed

    def ask(self, source: str, cell: str | None, *, stdin: bool = True) -> str:
        """Begin to run a cell; the id of its message."""
        content = {
            "code": source, "silent": False, "store_history": True, "user_expressions": {},
            "allow_stdin": stdin, "stop_on_error": True,
        }  # fmt: skip
        metadata = {"cellId": cell} if cell else {}
        message = self.client.session.msg("execute_request", content, metadata=metadata)
        self.client.shell_channel.send(message)
        return str(message["header"]["msg_id"])

    def outputs(self, message: str) -> list[dict[str, Any]]:
        """What a cell has sent to the page, until it is done."""
        found, end = [], time.monotonic() + 60
        while time.monotonic() < end:
            said = self.client.get_iopub_msg(timeout=60)
            if said["parent_header"].get("msg_id") != message:
                continue
            if said["msg_type"] == "status" and said["content"]["execution_state"] == "idle":
                return found
            found.append(said)
        raise TimeoutError(message)

    def run(
        self, source: str, cell: str | None = None, *, typed: Sequence[str] = (), **options: Any
    ) -> list[dict[str, Any]]:  # fmt: skip
        """A cell from beginning to end; ``typed`` answers its questions."""
        message = self.ask(source, cell or f"cell-{next(self._names)}", **options)
        for answer in typed:
            self.asked.append(self.client.get_stdin_msg(timeout=60)["content"]["prompt"])
            self.client.input(answer)
        outputs = self.outputs(message)
        while True:
            said = self.client.get_shell_msg(timeout=60)
            if said["parent_header"].get("msg_id") == message:
                self.reply = said["content"]
                return outputs

    def click_on(self, widget: str) -> str:
        """Click a button by its model's id, without waiting; the id of the message."""
        data = {"method": "custom", "content": {"event": "click"}}
        message = self.client.session.msg("comm_msg", {"comm_id": widget, "data": data})
        self.client.shell_channel.send(message)
        return str(message["header"]["msg_id"])

    def value(self, expression: str) -> str:
        """What an expression prints."""
        return text(self.run(f"print({expression})")).strip()


def text(outputs: list[dict[str, Any]]) -> str:
    """What a cell has printed."""
    return "".join(
        o["content"]["text"] for o in outputs if o["msg_type"] == "stream" and o["content"]["name"] == "stdout"
    )


def shown(outputs: list[dict[str, Any]]) -> str:
    """All that a reader of plain text sees of a cell: each display as it is in the end."""
    lines: dict[object, str] = {}
    stream = 0
    for number, output in enumerate(outputs):
        kind, content = output["msg_type"], output["content"]
        if kind == "stream":  # which may come in several messages
            goes_on = number and outputs[number - 1]["msg_type"] == "stream"
            stream = stream if goes_on else number
            lines[stream] = lines.get(stream, "") + content["text"]
        elif kind in SHOWN:
            place = content.get("transient", {}).get("display_id", number)
            if kind != "update_display_data" or place in lines:  # else it is in another cell
                lines[place] = content["data"].get("text/plain", lines.get(place, ""))
        elif kind == "error":
            ours = len(content["traceback"]) == 1  # one message, in lines that fit the page
            lines[number] = "\n".join(content["traceback"]).replace("\n", " " if ours else "\n")
    return "\n".join(lines.values())


def error(outputs: list[dict[str, Any]]) -> dict[str, Any] | None:
    """How a cell failed."""
    return next((o["content"] for o in outputs if o["msg_type"] == "error"), None)


def answers(outputs: list[dict[str, Any]]) -> list[dict[str, str]]:
    """The forms of each display or update of an answer."""
    data = [o["content"]["data"] for o in outputs if o["msg_type"] in ("display_data", "update_display_data")]
    return [forms for forms in data if "jctx-answer" in forms.get("text/html", "")]


def widgets(outputs: list[dict[str, Any]]) -> list[dict[str, str]]:
    """The forms of each widget that was shown."""
    data = [o["content"]["data"] for o in outputs if o["msg_type"] == "display_data"]
    return [forms for forms in data if VIEW in forms]


def twins(outputs: list[dict[str, Any]]) -> list[dict[str, str]]:
    """The forms of each static twin, as it was shown or brought up to date."""
    data = [o["content"]["data"] for o in outputs if o["msg_type"] in ("display_data", "update_display_data")]
    return [forms for forms in data if "jctx-twin" in forms.get("text/html", "")]
