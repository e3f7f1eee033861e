"""What a course's file beside the notebook decides: what settings begin with, and which may not be changed."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from ..config.aliases import model_of
from ..config.course_file import CAPS, COURSE_FILE, CourseFile, told
from ..config.settings import MODEL_SETTINGS, Settings, typed_value, wanted
from ..errors import InvalidRequestError
from ..providers.lookup import check_known, split_model

HOW_TO_UNLOCK = f"to change that, remove {COURSE_FILE} beside this notebook and restart the kernel."
MODEL_NAME = re.compile(r"local/[\w-]+(@\d+)?|(?!local/)[\w.:@/+-]{1,200}")  # never the path of a file
OF_A_MODEL = tuple(name for name in MODEL_SETTINGS if name != "base_url")


@dataclass(frozen=True, slots=True)
class Course:
    """A course's file as it holds in this kernel.

    begun: the settings that conversations begin with
    named: the settings whose value comes from the file
    models: those that may be asked; empty: any
    locked: the settings that may not be changed
    problems: what was ignored, a line each
    """

    begun: Settings = field(default_factory=Settings)
    named: frozenset[str] = frozenset()
    models: tuple[str, ...] = ()
    locked: frozenset[str] = frozenset()
    problems: tuple[str, ...] = ()

    @property
    def line(self) -> str:
        """One line of what the file sets, allows and locks; empty: nothing."""
        parts = [f"{name} {self._told(name)}" for name in sorted(self.named)]
        parts += [f"models allowed {told(', '.join(self.models))}"] if self.models else []
        parts += [f"locked {', '.join(sorted(self.locked))}"] if self.locked else []
        return f"{COURSE_FILE} beside this notebook sets: {'; '.join(parts)}." if parts else ""

    def allows(self, model: str) -> bool:
        """Return whether a model may be asked."""
        return not self.models or model in self.models

    def check_model(self, model: str) -> None:
        """Raise InvalidRequestError for a model that may not be asked, with those that may."""
        if not self.allows(model):
            allowed = told(", ".join(self.models))
            raise InvalidRequestError(f"{model} is none of this course's models: {allowed}; {HOW_TO_UNLOCK}")

    def check_unlocked(self, names: Collection[str]) -> None:
        """Raise InvalidRequestError for the first of these settings that is locked."""
        for name in sorted(self.locked.intersection(names)):
            raise InvalidRequestError(f"{name} is locked at {self._told(name)}: {HOW_TO_UNLOCK} Nothing has changed.")

    def priced(self, settings: Settings) -> Settings:
        """Return settings with the file's prices, where they are for the model of the file and there are no others."""
        if "prices" in self.named and settings.prices is None and settings.model == self.begun.model:
            return replace(settings, prices=self.begun.prices)
        return settings

    def _told(self, name: str) -> str:
        """Return a setting's value in one line, a text with quotation marks."""
        value = told(typed_value(getattr(self.begun, name)))
        return repr(value) if name == "system" and self.begun.system else value

    def unforbidden(self, kept: Mapping[str, Any]) -> dict[str, Any]:
        """Return those settings of an earlier day that the file leaves as they were; the address is one."""
        forbidden = set(self.locked)
        if not self.allows(kept.get("model", self.begun.model)):
            forbidden.update(("model", *OF_A_MODEL))
        return {name: value for name, value in kept.items() if name not in forbidden}


def course_of(file: CourseFile, settings: Settings, given: Collection[str]) -> Course:
    """Return what a file decides, where conversations would begin with these settings without it.

    Those ``given`` by IPython's configuration hold, unless the file locks or forbids them; the address always does. A
    cap that is locked locks the prices that it is kept by.
    """
    locked = file.locked | {"prices"} if "max_cost" in file.locked else file.locked
    kept = {*given, *(OF_A_MODEL if "model" in given else ())} - locked
    values = {name: value for name, value in file.values.items() if name not in kept}
    named, problems, allowed = set[str](), list(file.problems), file.models
    try:
        allowed = tuple(map(model_of, file.models))
        is_allowed = not allowed or model_of(str(values.get("model", settings.model))) in allowed
    except InvalidRequestError as error:  # a file of short names that cannot be read
        is_allowed = False
        problems.append(str(error))
    if not is_allowed:
        values = {**values, "model": allowed[0]}
    if "prices" in values and settings.max_cost is not None:
        del values["prices"]
        problems.append(f"{COURSE_FILE}: prices are ignored, because a cap on the cost is set outside of that file.")
    for name in sorted(values, key=lambda name: name != "model"):  # which drops what belongs to another model
        try:
            settings = _with(settings, name, values[name])
            named.add(name)
        except InvalidRequestError as error:
            problems.append(f"{COURSE_FILE}: {told(str(error))}")
    models = (settings.model,) if "model" in file.locked else allowed
    return Course(settings, frozenset(named), models, locked - {"model"}, tuple(problems))


def _with(settings: Settings, name: str, value: Any) -> Settings:
    """Return settings with one set by the file. Raises InvalidRequestError where the file may not do so."""
    if name == "model":
        return _with_model(settings, value)
    if name == "system" and (str(value).lstrip().startswith("@") or "\0" in str(value)):
        raise InvalidRequestError("a system prompt is text that stands in the file itself: it names no other file.")
    if isinstance(value, bool) or value != value:  # true would be 1, and nan is within any bounds
        raise InvalidRequestError(f"{name} must be {wanted(name)}.")
    changed = settings.changed({name: value})
    now, then = getattr(settings, name), getattr(changed, name)
    if name in CAPS and now is not None and (then is None or then > now):
        raise InvalidRequestError(f"{name} stays at {typed_value(now)}, because that file may only lower it.")
    return changed


def _with_model(settings: Settings, model: object) -> Settings:
    """Return settings with a model, which is asked at the address that holds without the file."""
    if not (isinstance(model, str) and MODEL_NAME.fullmatch(model)):
        raise InvalidRequestError(f"{model} is no name of a model, such as local/smollm2.")
    changed = settings.changed({"model": model, "base_url": settings.base_url})
    if settings.base_url is None:
        check_known(split_model(changed.model)[0])
    return changed
