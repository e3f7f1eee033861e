"""The tables of windows on disk: the user's own file, ours, and what providers said within a day."""

from __future__ import annotations

import json
import os
import re
import time
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import replace
from functools import cache
from pathlib import Path

from ..context.builtin_windows import MODELS
from ..context.windows import ContextWindow, Source, WindowTable, choose_window, read_table
from ..errors import InvalidRequestError
from ..providers.base import Card
from ..runtime.files import config_file, data_file, write_own

USER_FILE_VARIABLE = "JUPYTER_CTX_MODELS"
KEEP_SECONDS = 86_400
PACKAGE = Path(__file__).resolve().parents[1]


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
    if not isinstance(model, str):
        raise InvalidRequestError(f"model is {model!r}: it must be a name, such as openai/gpt-5.2.")
    if window is not None and (type(window) is not int or window < 1):
        raise InvalidRequestError(f"window is {window!r}: it must be a whole number, 1 or more.")
    return choose_window(model, load_tables(models_file), given=window)


def load_tables(models_file: str | Path | None = None) -> tuple[WindowTable, ...]:
    """The user's table, and ours."""
    named = models_file or os.environ.get(USER_FILE_VARIABLE)
    path = Path(named).expanduser() if named else config_file("models.json")
    missing = WindowTable({}, "user file", f"{path} is not there" if named else None)
    return _read(path, "user file") or missing, _ours()


@cache
def _ours() -> WindowTable:
    """models.json beside the package: in a wheel inside it, in a checkout above it; else the copy compiled in."""
    problem = "models.json is missing"
    for path in (PACKAGE / "models.json", PACKAGE.parent / "models.json"):
        table = _read(path, "models.json")
        if table is not None and table.rows:
            return table
        problem = table.problem or problem if table else problem
    return replace(built_in(), problem=problem)


@cache
def built_in() -> WindowTable:
    """models.json as it was when this version was made."""
    return read_table(MODELS, "built in", "models.json")


def table_of(cards: Iterable[Card]) -> WindowTable:
    """What a provider's list says of its models."""
    windows = {card.id.lower(): card.stated for card in cards}
    return WindowTable(
        {name: (w.tokens, w.max_input_tokens, w.max_output_tokens) for name, w in windows.items() if w}, "provider"
    )


def kept_list(name: str) -> WindowTable | None:
    """A provider's list that is not older than a day; ``name`` says whose, nobody's where it is empty."""
    path = _list_path(name)
    with suppress(OSError):
        if name and 0 <= time.time() - path.stat().st_mtime < KEEP_SECONDS:
            table = _read(path, "provider")
            return table if table is not None and table.problem is None else None
    return None


def kept_names(name: str) -> tuple[str, ...]:
    """The models in a provider's list that was kept, however old it is."""
    with suppress(OSError):
        table = _read(_list_path(name), "provider")
        return tuple(table.rows) if table is not None else ()
    return ()


def keep_list(name: str, table: WindowTable) -> None:
    """Keep a list for a day. Where that cannot be, it is asked for again."""
    if not name or os.environ.get("JUPYTER_CTX_STORE") == "memory":
        return
    with suppress(OSError):
        write_own(_list_path(name), json.dumps(dict(table.rows)))


def _list_path(name: str) -> Path:
    return data_file("windows", f"{re.sub(r'[^a-z0-9.-]+', '_', name.lower())}.json")


def _read(path: Path, source: Source) -> WindowTable | None:
    """A models file as a table; ``None`` where there is no such file."""
    try:
        return read_table(path.read_text("utf-8"), source, str(path))
    except FileNotFoundError:
        return None
    except (OSError, UnicodeDecodeError) as error:
        return WindowTable({}, source, f"{path} cannot be read ({type(error).__name__})")
