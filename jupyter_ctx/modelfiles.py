"""The tables of windows on disk: the user's own file, and ours."""

from __future__ import annotations

import os
from functools import cache
from pathlib import Path

from jupyter_core.paths import jupyter_config_dir

from .context.builtin_windows import MODELS
from .context.windows import ContextWindow, Source, Table, choose_window, read_table
from .errors import InvalidRequestError

USER_FILE_VARIABLE = "JUPYTER_CTX_MODELS"
PACKAGE = Path(__file__).resolve().parent
BUILT_IN = Table(MODELS, "built in")


def resolve_window(
    model: str,
    *,
    window: int | None = None,
    base_url: str | None = None,
    models_file: str | Path | None = None,
) -> ContextWindow:
    """The window of ``model`` in tokens, with its source. Never raises for an unknown name.

    ``window`` is what the user says it is; ``models_file`` a file of the user's own rows
    instead of the usual one. ``base_url`` changes nothing here: no server is asked.
    """
    del base_url
    if window is not None and (type(window) is not int or window < 1):
        raise InvalidRequestError(f"window is {window!r}: it must be a whole number, 1 or more.")
    return choose_window(model, load_tables(models_file), given=window)


def load_tables(models_file: str | Path | None = None) -> tuple[Table, ...]:
    """The user's table, ours, and the one compiled in: the first that knows a model answers."""
    named = models_file or os.environ.get(USER_FILE_VARIABLE)
    path = Path(named).expanduser() if named else Path(jupyter_config_dir()) / "jupyter_ctx" / "models.json"
    missing = Table({}, "user file", f"{path} is not there" if named else None)
    return _read(path, "user file") or missing, _ours(), BUILT_IN


@cache
def _ours() -> Table:
    """models.json beside the package: in a wheel inside it, in a checkout above it."""
    for path in (PACKAGE / "models.json", PACKAGE.parent / "models.json"):
        table = _read(path, "models.json")
        if table is not None:
            return table
    return Table({}, "models.json", "models.json is missing")


def _read(path: Path, source: Source) -> Table | None:
    """A models file as a table; ``None`` where there is no such file."""
    try:
        return read_table(path.read_text("utf-8"), source, str(path))
    except FileNotFoundError:
        return None
    except (OSError, UnicodeDecodeError) as error:
        return Table({}, source, f"{path} cannot be read ({type(error).__name__})")
