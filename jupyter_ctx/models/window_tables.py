"""The tables of windows and facts about models: the user's own file, the package's models.json, providers' lists."""

from __future__ import annotations

import json
import math
import os
import re
import time
from collections.abc import Collection, Iterable, Sequence
from contextlib import suppress
from functools import cache, lru_cache
from pathlib import Path
from typing import TypeAlias

from ..context.learned_limit import LEAST_WINDOW
from ..context.windows import FACTS, ContextWindow, Fact, Source, WindowRow, WindowTable, choose_window, read_table
from ..errors import ChatError, InvalidRequestError, check_whole_number
from ..providers.base import ModelInfo, Provider
from ..runtime.files import config_file, data_file, write_own

USER_FILE_VARIABLE = "JUPYTER_CTX_MODELS"
KEEP_SECONDS = 86_400
Tables: TypeAlias = tuple[WindowTable, WindowTable]  # the user's, and the package's
NO_LIST = WindowTable({}, "provider")
NO_FILE = WindowTable({}, "user file")
PACKAGE = Path(__file__).resolve().parents[1]
MODELS_FILES = (PACKAGE / "models.json", PACKAGE.parent / "models.json")  # of an installation, of a checkout


def resolve_window(model: str, *, window: int | None = None, models_file: str | Path | None = None) -> ContextWindow:
    """Return the context window of ``model`` in tokens, with its source; 32,000 assumed for an unknown name.

    ``window`` is the user's own figure, which comes first; ``models_file`` is read instead of the user's usual
    file. Only names and tables are looked at: a server is asked for the window that it serves
    with the first prompt of a Chat. Raises InvalidRequestError for arguments of another type or value.
    """
    if not isinstance(model, str):
        raise InvalidRequestError(f"model is {model!r}: it must be a name, such as openai/gpt-6.2-sol.")
    if window is not None:
        check_whole_number("window", window, least=1)
    return choose_window(model, load_tables(models_file), given=window)


def load_tables(models_file: str | Path | None = None) -> Tables:
    """Return the tables in order of precedence: the user's, and the package's."""
    named = models_file or os.environ.get(USER_FILE_VARIABLE)
    path = Path(named).expanduser() if named else config_file("models.json")
    table = _users(path, _version(path))
    if table is None and named:
        table = WindowTable({}, "user file", f"{path} does not exist: no window is read from it.")
    return table or NO_FILE, _ours()


@lru_cache(maxsize=2)
def _users(path: Path, version: tuple[float, ...]) -> WindowTable | None:
    """Return the user's own table, read once for each version of the file; ``None`` where there is no such file."""
    del version
    return _read(path, "user file")


def _version(path: Path) -> tuple[float, ...]:
    """Return what changes with a file; nothing where it cannot be looked at."""
    with suppress(OSError):
        stat = path.stat()
        return stat.st_mtime_ns, stat.st_ctime_ns, stat.st_size, stat.st_ino
    return ()


@cache
def _ours() -> WindowTable:
    """Return models.json, read once; an empty table where an installation is damaged."""
    found = filter(None, (_read(path, "models.json") for path in MODELS_FILES))
    return next(found, WindowTable({}, "models.json", "models.json is missing. Install jupyter_ctx again."))


def kept_table(name: str, cards: Collection[ModelInfo]) -> WindowTable:
    """Return what a provider's list states of its models, and keep it for a day.

    Where the file cannot be written, the list is asked for again.
    """
    stated = ((card.id.lower(), card.stated) for card in cards)
    rows = {model: WindowRow(w.tokens, w.max_input_tokens, w.max_output_tokens) for model, w in stated if w}
    facts = {fact: {card.id.lower(): card.facts[fact] for card in cards} for fact in FACTS}
    if name and os.environ.get("JUPYTER_CTX_STORE") != "memory":
        with suppress(OSError):
            write_own(_list_path(name), json.dumps({**rows, **facts}))
    return WindowTable(rows, "provider", facts=facts)


class StatedWindows:
    """The windows that the user, servers and tables state; a provider's own list is asked for once."""

    def __init__(self) -> None:
        self._lists: dict[str, WindowTable] = {}
        self._tables: Tables | None = None  # as they were when a window was last asked for

    def forget_lists(self) -> None:
        """Ask for providers' lists anew: one may have been refused with another key."""
        self._lists.clear()

    def window(self, provider: Provider, names: Sequence[str], *, given: int | None, ask: bool) -> ContextWindow:
        """Return the window of the first of the ``names`` that is known, else a guess.

        ``given`` is the user's own figure. ``ask``: the provider may be asked, for its list, too, where no table
        knows the model.
        """
        self._tables = tables = load_tables()
        served = provider.served_window(ask=ask)
        if served is not None and served.tokens < LEAST_WINDOW:
            served = None  # servers have printed what was left instead of the window

        def among(*tables: WindowTable) -> ContextWindow:
            windows = [choose_window(name, tables, given=given, served=served) for name in names]
            return next((window for window in windows if not window.is_guess), windows[0])

        found = among(*tables)
        return among(*tables, self._listed(provider, ask=ask)) if found.is_guess else found

    def says(self, fact: Fact, provider: Provider, names: Iterable[str], *, ask: bool) -> bool | None:
        """Return whether a fact holds of a model, as its server says, else the tables; ``None``: unknown."""
        if (by_server := provider.says(fact, ask=ask)) is not None:
            return by_server
        own, ours = self._tables or load_tables()
        known = (own, self._listed(provider, ask=False), ours)
        answers = (table.says(fact, name) for name in names for table in known)
        return next((answer for answer in answers if answer is not None), None)

    def keep(self, provider: Provider, cards: Collection[ModelInfo]) -> WindowTable:
        """Return what a provider's list states, and keep it."""
        table = self._lists[provider.catalogue or provider.endpoint] = kept_table(provider.catalogue, cards)
        return table

    def _listed(self, provider: Provider, *, ask: bool) -> WindowTable:
        """Return what the provider's own list states: asked for once, and kept for a day."""
        name = provider.catalogue or provider.endpoint
        table = self._lists.get(name) or kept_list(provider.catalogue)
        if table is None and not ask:
            return NO_LIST
        if table is None:
            table = NO_LIST
            with suppress(ChatError):  # the request itself will say what is wrong
                table = kept_table(provider.catalogue, provider.cards())
        self._lists[name] = table
        return table


def kept_list(name: str, seconds: float = KEEP_SECONDS) -> WindowTable | None:
    """Return the provider's list that was kept at most so long ago; ``None`` where there is none."""
    if not name:
        return None
    path = _list_path(name)
    with suppress(OSError):
        if 0 <= time.time() - path.stat().st_mtime < seconds:
            table = _read(path, "provider")
            return table if table is not None and table.problem is None else None
    return None


def kept_names(name: str) -> tuple[str, ...]:
    """Return the models in a provider's list that was kept, however old the list is."""
    return tuple((kept_list(name, math.inf) or NO_LIST).rows)


def _list_path(name: str) -> Path:
    return data_file("windows", f"{re.sub(r'[^a-z0-9.-]+', '_', name.lower())}.json")


def _read(path: Path, source: Source) -> WindowTable | None:
    """Return a models file as a table; ``None`` where there is no such file."""
    try:
        return read_table(path.read_text("utf-8"), source, str(path))
    except FileNotFoundError:
        return None
    except (OSError, UnicodeDecodeError) as error:
        return WindowTable({}, source, f"{path} cannot be read ({type(error).__name__}): no window is read from it.")
