"""``jupyter_ctx.toml`` beside a notebook: what settings begin with, and which may not be changed.

It may come from a stranger: no address, key, header or path comes from it, and nothing in it runs.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ..config.settings import MODEL_SETTINGS, Settings, typed_value
from ..display.tables import shortened
from ..errors import InvalidRequestError
from ..providers.lookup import check_known, given_address, is_self_hosted, missing_key, split_model
from ..runtime.files import reason_of

COURSE_FILE = "jupyter_ctx.toml"
MOST_COURSE_BYTES = 65_536  # of the file that is read
MOST_TOLD = 450  # characters of a line about it
MOST_WRONG, MOST_LINE = 3, 60  # lines of it that are named as wrong, and characters of each
GIVEN = (
    "model", "system", "temperature", "effort", "max_tokens", "window", "n_ctx", "on_overflow", "compact_at",
    "min_turns", "max_turns", "budget_share", "attach_share", "gauge", "prices", "confirm_cost", "max_cost",
)  # fmt: skip
CAPS = ("confirm_cost", "max_cost")
MODEL_NAME = re.compile(r"local/[\w-]+(@\d+)?|(?!local/)[\w.:@/+-]{1,200}")  # never the path of a file
OF_A_MODEL = tuple(name for name in MODEL_SETTINGS if name != "base_url")


@dataclass(frozen=True, slots=True)
class Course:
    """A course's file as it holds in this kernel.

    begun: the settings that conversations begin with
    named: those whose value comes from the file
    locked: those that may not be changed
    problems: what was ignored, a line each
    """

    begun: Settings = field(default_factory=Settings)
    named: frozenset[str] = frozenset()
    locked: frozenset[str] = frozenset()
    problems: tuple[str, ...] = ()

    def line(self, now: Settings) -> str:
        """Return one line, whole, of what the file decides in a conversation with these settings; empty: nothing."""
        own = [name for name in sorted(self.named) if getattr(now, name) != getattr(self.begun, name)]
        sets = "; ".join(f"{name} {_typed(name, self.begun)}" for name in sorted(self.named.difference(own)))
        kept = ", ".join(f"{name} {_typed(name, now)}" for name in own)
        says = [
            f"sets: {sets}" if sets else "",
            f"locks {', '.join(sorted(self.locked))}" if self.locked else "",
            f"leaves this conversation its own {kept}" if kept else "",
        ]
        told = ". It ".join(filter(None, says))
        return f"{COURSE_FILE} beside this notebook {told}." if told else ""

    def unchosen_provider(self, before: Settings) -> str:
        """Return the provider of the file's model, if the user's key would go to one that the user has not chosen."""
        model = self.begun.model
        if "model" not in self.named or self.begun.base_url is not None:
            return ""
        provider = split_model(model)[0]
        is_chosen = provider in ("local", before.model.partition("/")[0]) or is_self_hosted(model)
        has_key = not missing_key(provider)  # typing one chooses
        return provider if has_key and not is_chosen and not given_address(provider) else ""

    def check_unlocked(self, names: Collection[str], model: str | None = None) -> None:
        """Raise InvalidRequestError for one of these settings that is locked, and for a model beside a locked one."""
        locked = sorted(self.locked.intersection(names) - {"model"})
        if "model" in self.locked and model not in (None, self.begun.model):
            locked = ["model"]
        if locked:
            value = shortened(_typed(locked[0], self.begun), MOST_TOLD)
            raise InvalidRequestError(
                f"{locked[0]} is locked at {value}: to change that, remove {COURSE_FILE} beside this notebook and "
                "restart the kernel. Nothing has changed."
            )

    def priced(self, settings: Settings) -> Settings:
        """Return settings with the file's prices, where they are for the model of the file and there are no others."""
        is_for_it = "prices" in self.named and settings.model == self.begun.model and settings.prices is None
        return settings.model_copy(update={"prices": self.begun.prices}) if is_for_it else settings

    def unforbidden(self, kept: Mapping[str, Any]) -> dict[str, Any]:
        """Return those settings of an earlier day that the file leaves as they were; the address is one."""
        is_other = "model" in self.locked and kept.get("model", self.begun.model) != self.begun.model
        forbidden = self.locked.union(OF_A_MODEL) if is_other else self.locked - {"model"}
        return {name: value for name, value in kept.items() if name not in forbidden}


def _typed(name: str, settings: Settings) -> str:
    value = typed_value(getattr(settings, name), name)
    return repr(value) if name == "system" and settings.system else value


def course_in(folder: Path, settings: Settings, given: Collection[str], *, has_model: bool = True) -> Course:
    """Return what a folder's file decides, as :func:`course_of`; one that cannot be read decides nothing."""
    path = folder / COURSE_FILE
    if path.is_symlink() or not path.is_file():
        return Course(settings)
    try:
        with path.open("rb") as file:
            return course_of(file.read(MOST_COURSE_BYTES).decode("utf-8-sig"), settings, given, has_model=has_model)
    except (OSError, ValueError, RecursionError) as error:
        return Course(settings, problems=(f"{COURSE_FILE} beside this notebook is ignored: {reason_of(error)}.",))


def course_of(text: str, settings: Settings, given: Collection[str] = (), *, has_model: bool = True) -> Course:
    """Return what a file's text decides, where conversations would begin with these settings without it.

    What is valid holds though another line is not. Settings ``given`` by IPython's configuration hold, unless the file
    locks them; the address always does. A cap that is locked locks the prices that it is kept by. ``has_model``: what
    it says of a model counts.
    """
    table, problems = _table_in(text)
    if isinstance(table.get("settings"), dict):
        table |= table.pop("settings")
    lock = table.pop("lock", [])
    names = lock if isinstance(lock, list) else [lock]
    unknown = dict.fromkeys(str(name) for name in (*table, *names) if name not in GIVEN)
    if unknown:
        may_hold = f"It may hold lock, and the settings {', '.join(GIVEN)}. An address or a key never comes from it."
        problems.append(f"ignored {shortened(', '.join(unknown), 100)}. {may_hold}")
    may_be_set = [name for name in GIVEN if has_model or name not in ("model", *OF_A_MODEL)]
    locked = {name for name in may_be_set if name in names or (name == "prices" and "max_cost" in names)}
    kept = {*given, *(OF_A_MODEL if "model" in given else ())} - locked
    if settings.max_cost is not None:  # a cap set outside of the file, which its prices would loosen
        kept.add("prices")
    named = set[str]()
    for name in may_be_set:  # the model first, which drops what belongs to another one
        try:
            if name in table and name not in kept:
                settings = _with(settings, name, table[name])
                named.add(name)
        except InvalidRequestError as error:
            problems.append(str(error))
    told = tuple(shortened(f"{COURSE_FILE}: {problem}", MOST_TOLD) for problem in problems)
    return Course(settings, frozenset(named), frozenset(locked), told)


def _table_in(text: str) -> tuple[dict[str, Any], list[str]]:
    """Return what is valid in a text, and what is said of the rest: if it is no TOML, each line that is by itself."""
    import tomllib  # not before there is a file

    try:
        return tomllib.loads(f"{text}\n"), []  # with an end that its last line can be named by
    except (ValueError, RecursionError) as error:
        problem = str(error)
    table, wrong = dict[str, Any](), list[str]()
    for number, line in enumerate(text.split("\n"), 1):
        try:
            table |= tomllib.loads(f"{line}\n")
        except (ValueError, RecursionError):
            wrong.append(f"line {number} ({shortened(line, MOST_LINE)})")
    named = ", ".join(wrong[:MOST_WRONG]) + (" and more" if len(wrong) > MOST_WRONG else "")
    return table, [f"ignored because it is not TOML ({problem}): {named or 'no line'}."]


def _with(settings: Settings, name: str, value: Any) -> Settings:
    """Return settings with one set by the file. Raises InvalidRequestError where the file may not do so."""
    if name == "model" and not (isinstance(value, str) and MODEL_NAME.fullmatch(value)):
        raise InvalidRequestError(f"{value} is no name of a model, such as local/smollm2.")
    if name == "system" and (str(value).lstrip().startswith("@") or "\0" in str(value)):
        raise InvalidRequestError("write the system prompt itself in this file: @FILE is not read.")
    changed = settings.changed({name: value})
    if name == "model" and settings.base_url is None:
        check_known(split_model(changed.model)[0])
    changed = changed.model_copy(update={"base_url": settings.base_url})  # the address that holds without the file
    now, then = getattr(settings, name), getattr(changed, name)
    if name in CAPS and now is not None and (then is None or then > now):
        raise InvalidRequestError(f"{name} stays at {typed_value(now)}, because that file may only lower it.")
    return changed
