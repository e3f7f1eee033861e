"""Where a cell runs: in which front end and notebook, and which cell in which execution."""

from __future__ import annotations

import hashlib
import json
import os
import re
import secrets
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import islice
from pathlib import Path, PureWindowsPath
from typing import Any, Literal, NamedTuple

FrontendKind = Literal["notebook", "headless", "terminal"]

VS_CODE = "vscode-notebook-cell:"  # a handle of one window: another cell may get the same one later
THIS_KERNEL = secrets.token_hex(4)
REMOTE = re.compile(r"-jvsc-[0-9a-f-]{8,}(?=\.ipynb$)")  # what VS Code adds on somebody else's server
COLAB = re.compile(r"fileId=[^&#\s]+")  # all of it: those of notebooks on GitHub are addresses
KERNEL = re.compile(r"(?:kernel-)?(?:v\d-)?(.+)\.json$")
UUID = re.compile(r"[0-9a-f]{8}-?(?:[0-9a-f]{4}-?){3}[0-9a-f]{12}")
EARLIER = re.compile(r"#\d+$")  # follows the path of a notebook in whose place there is another one now
REPLAY_VARIABLE = "JUPYTER_CTX_REPLAY"
PARAMETERS = "# Parameters"  # begins the cell that papermill puts into what it runs
MOST_NOTEBOOKS = 200  # that are looked at in one folder
METADATA_KEY = "jupyter_ctx"  # where an export keeps the answer, in an output's metadata


@dataclass(frozen=True, slots=True)
class Where:
    """Where a cell runs; ``None`` is what the front end does not tell (nbclient, terminals).

    ``execution`` is the number that the cell shows, ``source`` tells its text from any other.
    """

    kind: FrontendKind
    cell: str | None = None
    run: str | None = None
    execution: int | None = None
    source: str | None = None


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
    content = parent.get("content", {})
    asks, code = content.get("allow_stdin", True), content.get("code")
    voila = os.environ.get("SERVER_SOFTWARE", "").startswith("voila")
    kind: FrontendKind = "headless" if cell is None and not asks and not voila else "notebook"
    # IPython counts before a cell since 9.8 and after it before that; its display hook knows which
    execution = shell.displayhook.prompt_count if kind == "notebook" else None
    return Where(kind, cell, run, execution, fingerprint(code) if isinstance(code, str) and cell else None)


def fingerprint(source: str) -> str:
    """Tell a cell's text from any other, whatever white space ends its lines."""
    lines = "\n".join(line.rstrip() for line in source.strip().splitlines())
    return hashlib.blake2b(lines.encode("utf-8", "replace"), digest_size=8).hexdigest()


def deleted_cells(shell: Any) -> frozenset[str]:
    """The cells that were deleted since the last execution, where the front end tells (JupyterLab)."""
    parent = shell.get_parent() if hasattr(shell, "kernel") else None
    told = (parent or {}).get("metadata", {}).get("deletedCells")
    return frozenset(cell for cell in told if isinstance(cell, str)) if isinstance(told, Iterable) else frozenset()


class Origin(NamedTuple):
    """To whom a conversation belongs: a notebook (its path, or its front end's name for it), else a kernel.

    What runs without a reader has no notebook: ``cwd`` is where it runs, and ``run_of`` the file there that
    holds all that it has run so far.
    """

    notebook: str | None = None
    kernel: str | None = None
    cwd: str | None = None
    run_of: str | None = None

    @property
    def scope(self) -> str:
        """The place that names of conversations are unique in; a terminal's have none of their own."""
        return self.notebook or (f"kernel {self.kernel}{self.runs or ''}" if self.kernel else "")

    @property
    def runs(self) -> str | None:
        """How the scopes of all end that run without a reader in the same folder."""
        return f" in {self.cwd}" if self.cwd is not None else None

    @property
    def folder(self) -> Path | None:
        """Where the notebook lies."""
        return Path(self.notebook).parent if self.notebook and os.path.isabs(self.notebook) else None


class Cell(NamedTuple):
    """A cell as its notebook was last saved.

    ``source`` tells its text from any other, ``None`` where it has none. ``ran``: it has been
    executed; ``exported``: it shows the answer that an export has put there.
    """

    source: str | None = None
    ran: bool = False
    exported: bool = False


def cells_of(notebook: str | None) -> dict[str, Cell] | None:
    """The cells of a notebook's file by their ids; ``None`` where it cannot be read or its cells have no ids."""
    try:
        cells = json.loads(Path(notebook or "").read_bytes())["cells"]
        return {str(cell["id"]): _cell(cell) for cell in cells}
    except (OSError, ValueError, LookupError, TypeError, AttributeError, RecursionError):
        return None


def _cell(cell: dict[str, Any]) -> Cell:
    source, outputs = cell.get("source"), cell.get("outputs") or []
    text = "".join(source) if isinstance(source, list) else source
    exported = any("reply" in (output.get("metadata", {}).get(METADATA_KEY) or {}) for output in outputs)
    return Cell(fingerprint(text) if text is not None else None, bool(outputs or cell.get("execution_count")), exported)


def origin(shell: Any) -> Origin:
    """The notebook and the kernel of a shell. Nobody is asked over the network.

    What runs without a reader has no notebook: its name is that of whoever started it.
    """
    if where(shell).kind == "headless":
        folder = os.path.realpath(os.curdir)
        return Origin(None, _kernel(shell), folder, _run_of(shell, folder) if is_replay() else None)
    return Origin(_notebook(shell.user_ns), _kernel(shell))


def is_replay() -> bool:
    """Whether a run without a reader shows stored answers."""
    return os.environ.get(REPLAY_VARIABLE) == "1"


def _run_of(shell: Any, folder: str) -> str | None:
    """The one notebook of a folder that holds every cell that was run so far; runners do not say which it is."""
    ran = {fingerprint(code) for code in shell.history_manager.input_hist_raw if not code.startswith(PARAMETERS)}
    found = list[str]()
    for path in islice(Path(folder).glob("*.ipynb"), MOST_NOTEBOOKS):
        sources = {cell.source for cell in (cells_of(str(path)) or {}).values()}
        if ran - {fingerprint("")} <= sources:
            found.append(str(path))
    return found[0] if len(found) == 1 else None


def _notebook(names: dict[str, Any]) -> str | None:
    local = names.get("__vsc_ipynb_file__")  # VS Code
    if isinstance(local, str) and local:  # that of a notebook which was never saved is no path: others are called so
        return _path(local)
    session = os.environ.get("JPY_SESSION_NAME") or names.get("__session__") or ""  # JupyterLab, Notebook 7
    path = REMOTE.sub("", str(session))
    if path.endswith(".ipynb") and _path(path) is not None:
        return _path(path)
    colab = COLAB.search(path)
    return colab.group() if colab else None  # a console's name is not its own


def _path(name: str) -> str | None:
    """A path that names one file, under whichever link it was opened; that of another machine as it is."""
    if os.path.isabs(name):
        return os.path.realpath(name)
    return name if PureWindowsPath(name).is_absolute() else None


def _kernel(shell: Any) -> str | None:
    """The kernel's id: the same after a restart, and never that of another kernel."""
    if not hasattr(shell, "kernel"):
        return None
    file = getattr(getattr(shell.kernel, "parent", None), "connection_file", "")
    found = KERNEL.match(Path(file).name)
    if found is None or UUID.fullmatch(found[1]):
        return found[1] if found else None
    # a process id, as in consoles, or a name that somebody gave: both come again; the connection's key does not
    key = bytes(getattr(getattr(shell.kernel, "session", None), "key", b"")) or THIS_KERNEL.encode()
    return f"{found[1]} {hashlib.blake2b(key, digest_size=6).hexdigest()}"
