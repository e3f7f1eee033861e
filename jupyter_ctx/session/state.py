"""What a notebook and a session know beside their conversations."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from ..config.settings import Settings, kept_settings, restored_settings
from ..context.usage import Spending
from ..conversation.conversation import Conversation
from ..conversation.events import Event
from ..storage.serialization import StoredState
from .course import Course
from .handout import HandedOut

NEARLY_FULL = 0.85  # of the limit: above this, a line says so before the answer
ABOVE = "above "  # begins the keys of such lines, which are said again after a clear


@dataclass(frozen=True, slots=True)
class NotebookState:
    """What all conversations of one notebook share while its kernel runs; the members are shared and changed in place.

    ``folder``: the notebook's, where the default memory file is looked for.
    ``seen``: ids of turns that were answered or shown again since the kernel was started.
    ``notes``: memory files that a notice named, with the version named, and course files with the answer about them.
    ``handout``: the answers that were handed out with the notebook.
    ``course``: what a course's file beside the notebook decides.
    ``recorded``: how many events of each kind were recorded since the kernel was started.
    ``set_here``: names of settings that were set since the kernel was started.
    ``others``: conversations that stored answers were looked for in, by their ids in the store.
    """

    folder: Path | None = None
    seen: set[str] = field(default_factory=set)
    notes: dict[str, str] = field(default_factory=dict)
    handout: HandedOut = field(default_factory=HandedOut)
    course: Course = field(default_factory=Course)
    recorded: Counter[type[Event]] = field(default_factory=Counter)
    set_here: set[str] = field(default_factory=set)
    others: dict[str, Conversation] = field(default_factory=dict)


class SessionState(NamedTuple):
    """What one session knows beside its events: a value, which each change makes anew.

    ``settings``: the settings as they are now.
    ``defaults``: the settings that the session was started with; only what differs from them is stored.
    ``warned``: what is said once, and was.
    ``spent``: what replies cost.
    ``counted``: the view whose size the provider reported last, as ``view_key`` names it; empty: none.
    ``runs``: the settings that were kept of runs over tables, by their cells and the fingerprints of their texts.
    """

    settings: Settings
    defaults: Settings
    warned: frozenset[str] = frozenset()
    spent: Spending = Spending()
    counted: str = ""
    runs: Mapping[str, dict[str, Any]] = {}  # it is read only

    def restored(self, stored: StoredState, given: Mapping[str, Any]) -> SessionState:
        """Return this state with what was stored added; settings that were ``given`` hold."""
        return self._replace(
            settings=restored_settings(self.settings, stored.get("settings", {})).changed(given),
            warned=self.warned.union(stored.get("warned", ())),
            spent=stored.get("spent", self.spent),
            counted=stored.get("counted", ""),
            runs=stored.get("runs", {}),
        )

    def stored(self, learned: StoredState, notebook: NotebookState) -> StoredState:
        """Return what storage keeps: this state, and what was ``learned`` of models."""
        return {
            **learned,
            "settings": kept_settings(self.defaults, self.settings),
            "warned": sorted(self.warned),
            "spent": self.spent,
            "told": dict(notebook.notes),
            "counted": self.counted,
            "runs": dict(self.runs),
        }
