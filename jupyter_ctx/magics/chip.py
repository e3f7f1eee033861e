"""The kernel's end of the chip in the notebook's toolbar: a standing comm that nobody opens.

A comm that the kernel opens is closed for everyone by a front end without its target. This one has an id that pages
know: they find it listed, and ask. Front ends that do not know it pass over its messages. It is registered while the
extension loads, so it imports what every kernel has imported, and is imported in kernels alone.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Any

import comm

COMM = "jupyter_ctx.chip"  # both the comm's id and its target
BEFORE_ANYTHING = {"shape": "○", "model": "chat"}  # before the first conversation: nothing is opened for a chip


class Chip:
    """A line to every page that shows this kernel's notebook.

    has_page: whether a page has asked, and so shows a chip
    hear: called with each message of a page; ``None`` before the first conversation
    """

    def __init__(self) -> None:
        self.has_page = False
        self.hear: Callable[[dict[str, Any]], object] | None = None
        self._comm: Any = None

    def open(self) -> None:
        """Begin to listen, and let pages that are there know."""
        if self._comm is None:
            # not primary: it sends no comm_open
            self._comm = comm.create_comm(target_name=COMM, comm_id=COMM, primary=False)
            # not on_msg: around its callbacks IPython runs what runs around cells, and flushes figures
            self._comm.handle_msg = self._received
            comm.get_comm_manager().register_comm(self._comm)
            self.send({"loaded": True})

    def close(self) -> None:
        """Take the chip from every page, and listen no more."""
        if self._comm is not None:
            self.send({"shape": None})
            self._comm._closed = True  # it was never opened: no comm_close is sent either
            comm.get_comm_manager().unregister_comm(self._comm)
            self._comm, self.has_page = None, False

    def send(self, data: Mapping[str, Any]) -> None:
        """Send a message to every page. It never fails: no turn may fail because of a chip."""
        with suppress(Exception):
            if self._comm is not None:
                self._comm.send(data)

    def _received(self, message: Mapping[str, Any]) -> None:
        data = message["content"]["data"]
        self.has_page = data.get("ask") is not False  # which a page says whose chip is switched off
        if not self.has_page:
            return
        if self.hear is None:
            self.send(BEFORE_ANYTHING)
        else:
            self.hear(data)
