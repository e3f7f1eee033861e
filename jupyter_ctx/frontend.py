"""Where a cell runs: in which front end and notebook, and which cell in which execution."""

from __future__ import annotations

import json
import os
import re
import secrets
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, NamedTuple

Kind = Literal["notebook", "headless", "terminal"]

VS_CODE = "vscode-notebook-cell:"  # a handle of one window: another cell may get the same one later
THIS_KERNEL = secrets.token_hex(4)
REMOTE = re.compile(r"-jvsc-[0-9a-f-]{8,}(?=\.ipynb$)")  # what VS Code adds on somebody else's server
COLAB = re.compile(r"fileId=[\w-]+")
KERNEL = re.compile(r"(?:kernel-)?(?:v\d-)?(.+)\.json$")


@dataclass(frozen=True, slots=True)
class Where:
    """``cell``, ``run`` and ``execution`` are ``None`` where the front end does not tell (nbclient, terminals)."""

    kind: Kind
    cell: str | None = None
    run: str | None = None
    execution: int | None = None


def where(shell: Any) -> Where:
    """From the message that asked for this execution; call it from the cell, not a callback."""
    if not hasattr(shell, "kernel"):
        return Where("terminal")
    parent = shell.get_parent() or {}
    cell = parent.get("metadata", {}).get("cellId") or None
    if cell is not None and cell.startswith(VS_CODE):
        cell = f"{cell} {THIS_KERNEL}"
    message = parent.get("header", {}).get("msg_id")
    run = f"{message} {THIS_KERNEL}" if message else None  # some clients count anew after a restart
    asks = parent.get("content", {}).get("allow_stdin", True)
    voila = os.environ.get("SERVER_SOFTWARE", "").startswith("voila")
    kind: Kind = "headless" if cell is None and not asks and not voila else "notebook"
    return Where(kind, cell, run, shell.execution_count - 1 if kind == "notebook" else None)


def deleted_cells(shell: Any) -> frozenset[str]:
    """The cells that were deleted since the last execution, where the front end tells (JupyterLab)."""
    parent = shell.get_parent() if hasattr(shell, "kernel") else None
    told = (parent or {}).get("metadata", {}).get("deletedCells")
    return frozenset(cell for cell in told if isinstance(cell, str)) if isinstance(told, Iterable) else frozenset()


class Origin(NamedTuple):
    """To whom a conversation belongs: a notebook (its path, or its front end's name for it), else a kernel."""

    notebook: str | None = None
    kernel: str | None = None

    @property
    def scope(self) -> str:
        """The place that names of conversations are unique in; a terminal's have none of their own."""
        return self.notebook or (f"kernel {self.kernel}" if self.kernel else "")

    @property
    def folder(self) -> Path | None:
        """Where the notebook lies."""
        return Path(self.notebook).parent if self.notebook and os.path.isabs(self.notebook) else None

    def cells(self) -> tuple[str, ...]:
        """Ids of the notebook's cells as it was last saved, in order; none where it cannot be read."""
        try:
            cells = json.loads(Path(self.notebook or "").read_bytes())["cells"]
            return tuple(str(cell["id"]) for cell in cells)
        except (OSError, ValueError, KeyError, TypeError):
            return ()


def origin(shell: Any) -> Origin:
    """The notebook and the kernel of a shell. Nobody is asked over the network.

    What runs without a reader has no notebook: its name is that of whoever started it.
    """
    return Origin(_notebook(shell.user_ns) if where(shell).kind != "headless" else None, _kernel(shell))


def _notebook(names: dict[str, Any]) -> str | None:
    local = names.get("__vsc_ipynb_file__")  # VS Code
    if isinstance(local, str) and local:
        return str(Path(local))
    session = os.environ.get("JPY_SESSION_NAME") or names.get("__session__") or ""  # JupyterLab, Notebook 7
    path = REMOTE.sub("", str(session))
    if path.endswith(".ipynb") and os.path.isabs(path):
        return path
    colab = COLAB.search(path)
    return colab.group() if colab else None  # a console's name is not its own


def _kernel(shell: Any) -> str | None:
    """The kernel's id: the same after a restart."""
    if not hasattr(shell, "kernel"):
        return None
    file = getattr(getattr(shell.kernel, "parent", None), "connection_file", "")
    found = KERNEL.match(Path(file).name)
    return found.group(1) if found else None
