"""Read ``jupyter_ctx.toml``, a course's file beside a notebook: settings, models allowed, and what is locked.

It may come from a stranger: no address, key, header or path comes from it, and nothing in it runs.
"""

from __future__ import annotations

import stat
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ..runtime.files import reason_of
from ..wording import visible

COURSE_FILE = "jupyter_ctx.toml"
MOST_FILE_BYTES = 65_536
MOST_TOLD = 200  # characters of what stands in the file
CAPS = ("confirm_cost", "max_cost")
GIVEN = (
    "model", "system", "temperature", "max_tokens", "window", "n_ctx", "on_overflow", "compact_at", "min_turns",
    "max_turns", "budget_share", "attach_share", "gauge", "footer", "prices", *CAPS,
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class CourseFile:
    """What stands in the file; no value is checked yet.

    values: of settings, by name
    models: the names of the models that may be asked; empty: any
    locked: the settings that may not be changed
    problems: what was ignored, a line each
    """

    values: Mapping[str, Any] = field(default_factory=dict)
    models: tuple[str, ...] = ()
    locked: frozenset[str] = frozenset()
    problems: tuple[str, ...] = ()


def read_course_file(folder: Path) -> CourseFile:
    """Return what a folder's file says; one that cannot be used says nothing, and why."""
    path = folder / COURSE_FILE
    try:
        if not stat.S_ISREG(path.lstat().st_mode):
            raise ValueError("it is a link or no file")
        with path.open("rb") as file:
            content = file.read(MOST_FILE_BYTES + 1)
        if len(content) > MOST_FILE_BYTES:
            raise ValueError(f"it has more than {MOST_FILE_BYTES:,} bytes")
        return parsed(content.decode("utf-8"))
    except FileNotFoundError:
        return CourseFile()
    except (OSError, ValueError, RecursionError) as error:
        return CourseFile(problems=(f"{COURSE_FILE} beside this notebook is ignored: {reason_of(error)}.",))


def parsed(text: str) -> CourseFile:
    """Return what a file's text says. Raises ValueError where it is not TOML, or of another form."""
    import tomllib  # not before there is a file

    table = tomllib.loads(text)
    models, locked, below = table.pop("models", []), table.pop("lock", []), table.pop("settings", {})
    if not (_are_names(models) and _are_names(locked) and isinstance(below, dict)):
        raise ValueError("models and lock must be lists of names, and [settings] a table")
    said = {**table, **below}
    unknown = dict.fromkeys(name for name in (*said, *locked) if name not in GIVEN)
    ignored = (
        f"{COURSE_FILE}: ignored {told(', '.join(unknown))}. It may hold models, lock, and the settings "
        f"{', '.join(GIVEN)}. An address or a key never comes from it."
    )
    values = {name: said[name] for name in GIVEN if name in said}
    return CourseFile(values, tuple(models), frozenset(locked).intersection(GIVEN), (ignored,) if unknown else ())


def _are_names(value: object) -> bool:
    return isinstance(value, list) and all(isinstance(each, str) for each in value)


def told(text: str) -> str:
    """Return the beginning of a text of the file, in one line without signs that a terminal would obey."""
    line = " ".join(visible(text).split())
    return line if len(line) <= MOST_TOLD else f"{line[:MOST_TOLD]}…"
