"""Find the front end, notebook, cell and execution that code runs in."""

from __future__ import annotations

import hashlib
import json
import os
import re
import secrets
import sys
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
REPLAY_VARIABLE = "JUPYTER_CTX_REPLAY"
PARAMETERS = "# Parameters"  # begins the cell that papermill puts into what it runs
MOST_NOTEBOOKS = 200  # that are looked at in one folder
ONE_MAGIC = re.compile(r"\s*%(?:%|[^\n]*\s*\Z)")  # a cell magic, or a line magic alone


@dataclass(frozen=True, slots=True)
class Where:
    """The place where a cell runs; a field is ``None`` where the front end does not tell (nbclient, terminals).

    ``run`` names one execution of ``cell``, ``execution`` is the number that the cell shows,
    and ``source`` is the :func:`fingerprint` of its text. ``is_magic``: all of the cell is one magic.
    """

    kind: FrontendKind
    cell: str | None = None
    run: str | None = None
    execution: int | None = None
    source: str | None = None
    is_magic: bool = False


def where(shell: Any) -> Where:
    """Read the place from the message that requested this execution; call this in a cell, not in a callback."""
    if not hasattr(shell, "kernel"):
        return Where("terminal")
    parent = shell.get_parent() or {}
    cell = parent.get("metadata", {}).get("cellId") or None
    if cell is not None and cell.startswith(VS_CODE):
        cell = f"{cell} {THIS_KERNEL}"
    message = parent.get("header", {}).get("msg_id")
    run = f"{message} {THIS_KERNEL}" if message else None  # some clients restart their count with the kernel
    content = parent.get("content", {})
    asks, code = content.get("allow_stdin", True), content.get("code")
    voila = os.environ.get("SERVER_SOFTWARE", "").startswith("voila")
    kind: FrontendKind = "headless" if cell is None and not asks and not voila else "notebook"
    # IPython counts before a cell since 9.8 and after it before that; its display hook knows which
    execution = shell.displayhook.prompt_count if kind == "notebook" else None
    source = fingerprint(code) if isinstance(code, str) else None
    return Where(kind, cell, run, execution, source, isinstance(code, str) and ONE_MAGIC.match(code) is not None)


def here() -> Where:
    """Return the place where code runs that knows of no shell: in a cell of a notebook its own; a script has none."""
    module = sys.modules.get("IPython.core.interactiveshell")
    is_running = module is not None and module.InteractiveShell.initialized()
    return where(module.InteractiveShell.instance()) if module is not None and is_running else Where("terminal")


def fingerprint(source: str) -> str:
    """Return a hash of a cell's text that ignores white space at the ends of lines."""
    lines = "\n".join(line.rstrip() for line in source.strip().splitlines())
    return hashlib.blake2b(lines.encode("utf-8", "replace"), digest_size=8).hexdigest()


class Origin(NamedTuple):
    """The owner of a conversation: a notebook (its path, or its front end's name for it), else a kernel.

    A run without a reader (papermill, nbconvert) has no notebook: ``cwd`` is the folder where it runs, and
    ``run_of`` the notebook there that holds every cell run so far.
    """

    notebook: str | None = None
    kernel: str | None = None
    cwd: str | None = None
    run_of: str | None = None

    @property
    def scope(self) -> str:
        """The scope in which names of conversations are unique; empty in a terminal."""
        return self.notebook or (f"kernel {self.kernel}{self.runs or ''}" if self.kernel else "")

    @property
    def runs(self) -> str | None:
        """The ending that the scopes of all runs without a reader in the same folder share."""
        return f" in {self.cwd}" if self.cwd is not None else None

    @property
    def folder(self) -> Path | None:
        """The folder of the notebook."""
        return Path(self.notebook).parent if self.notebook and os.path.isabs(self.notebook) else None


class SavedCell(NamedTuple):
    """A cell as a notebook's file has it; ``kind``: code, markdown or raw."""

    id: str
    kind: str
    source: str


def saved_cells(notebook: str | None) -> list[SavedCell]:
    """Return the cells in a notebook's file; nothing where it cannot be read or its cells have no ids."""
    try:
        cells = json.loads(Path(notebook or "").read_bytes())["cells"]
        return [
            SavedCell(str(cell["id"]), cell.get("cell_type", "code"), "".join(cell.get("source", ""))) for cell in cells
        ]
    except (OSError, ValueError, LookupError, TypeError, AttributeError, RecursionError):
        return []


def cells_of(notebook: str | None) -> dict[str, str]:
    """Return the :func:`fingerprint` of each cell's text in a notebook's file, by the cell's id."""
    return {cell.id: fingerprint(cell.source) for cell in saved_cells(notebook)}


def origin(shell: Any) -> Origin:
    """Return the notebook and the kernel of a shell, without a request over the network.

    A run without a reader has no notebook: the name in its environment is that of the notebook that started it.
    """
    if where(shell).kind == "headless":
        folder = os.path.realpath(os.curdir)
        found = _holding(shell, folder) if is_replay() else []
        return Origin(None, _kernel(shell), folder, found[0] if len(found) == 1 else None)
    return Origin(_notebook(shell.user_ns), _kernel(shell))


def is_replay() -> bool:
    """Return whether a run without a reader shows stored answers: with any value but what says no."""
    return os.environ.get(REPLAY_VARIABLE, "").strip().lower() not in ("", "0", "false", "no", "off")


def notebook_files(shell: Any) -> list[str]:
    """Return the file of the notebook that runs; where nobody tells, those of the folder that may be it."""
    kind = where(shell).kind
    notebook = _notebook(shell.user_ns) if kind == "notebook" else None
    if notebook is not None and os.path.isfile(notebook):
        return [notebook]
    return [] if kind == "terminal" else _holding(shell, os.curdir)


def _holding(shell: Any, folder: str) -> list[str]:
    """Return the notebooks of a folder that hold every cell run so far; runners do not say which they run."""
    ran = {fingerprint(code) for code in shell.history_manager.input_hist_raw if not code.startswith(PARAMETERS)}
    found = list[str]()
    for path in islice(Path(folder).glob("*.ipynb"), MOST_NOTEBOOKS):
        if ran - {fingerprint("")} <= set(cells_of(str(path)).values()):
            found.append(str(path))
    return found


def _notebook(names: dict[str, Any]) -> str | None:
    local = names.get("__vsc_ipynb_file__")  # VS Code
    if isinstance(local, str) and local:  # an unsaved notebook has a name that others have too
        return _path(local)
    session = os.environ.get("JPY_SESSION_NAME") or names.get("__session__") or ""  # JupyterLab, Notebook 7
    path = REMOTE.sub("", str(session))
    if path.endswith(".ipynb") and _path(path) is not None:
        return _path(path)
    colab = COLAB.search(path)
    return colab.group() if colab else None  # a console's name is not its own


def _path(name: str) -> str | None:
    """Resolve links in a path; keep the path of another machine as it is."""
    if os.path.isabs(name):
        return os.path.realpath(name)
    return name if PureWindowsPath(name).is_absolute() else None


def _kernel(shell: Any) -> str | None:
    """Return the kernel's id: the same after a restart, and never that of another kernel."""
    if not hasattr(shell, "kernel"):
        return None
    file = getattr(getattr(shell.kernel, "parent", None), "connection_file", "")
    found = KERNEL.match(Path(file).name)
    if found is None or UUID.fullmatch(found[1]):
        return found[1] if found else None
    # a process id (consoles) or a given name may be used again; the connection's key is not
    key = bytes(getattr(getattr(shell.kernel, "session", None), "key", b"")) or THIS_KERNEL.encode()
    return f"{found[1]} {hashlib.blake2b(key, digest_size=6).hexdigest()}"
