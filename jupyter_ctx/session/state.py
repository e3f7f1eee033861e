"""What a session knows beside its conversation, as values: a change makes a new one."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from ..config.settings import Settings, kept_settings, restored_settings
from ..context.usage import Spending
from ..storage.serialization import StoredState
from .course import Course
from .handed_out import HandedOut

NEARLY_FULL = 0.85  # of the limit: above this, a line says so before the answer


@dataclass(frozen=True, slots=True)
class NotebookState:
    """What all conversations of one notebook share while its kernel runs; the members are shared and changed in place.

    ``folder``: the notebook's, where the default memory file is looked for.
    ``seen``: ids of turns that were answered or shown again since the kernel was started.
    ``told``: memory files that a notice named, with the version named.
    ``handout``: the answers that were handed out with the notebook.
    ``course``: what a course's file beside the notebook decides.
    """

    folder: Path | None = None
    seen: set[str] = field(default_factory=set)
    told: dict[str, str] = field(default_factory=dict)
    handout: HandedOut = field(default_factory=HandedOut)
    course: Course = field(default_factory=Course)

    def restore(self, stored: StoredState) -> None:
        """Add what was known before a restart; what is known since then holds."""
        for file, version in stored.get("told", {}).items():
            self.told.setdefault(file, version)


class SessionState(NamedTuple):
    """What one session knows beside its events.

    ``settings``: the settings as they are now.
    ``defaults``: the settings that the session was started with; only what differs from them is stored.
    ``announced``: those of the shares of the limit whose line was shown.
    ``warned``: notices that are shown once, and were.
    ``spent``: what replies cost.
    ``counted``: the view whose size the provider reported last, as ``view_key`` names it; empty: none.
    ``sent``: the view that the last request and its reply left, as ``counted``.
    """

    settings: Settings
    defaults: Settings
    announced: frozenset[float] = frozenset()
    warned: frozenset[str] = frozenset()
    spent: Spending = Spending()
    counted: str = ""
    sent: str = ""

    def restored(self, stored: StoredState, given: Mapping[str, Any]) -> SessionState:
        """Return this state with what was stored added; settings that were ``given`` hold."""
        return self._replace(
            settings=restored_settings(self.settings, stored.get("settings", {})).changed(given),
            announced=self.announced.union(stored.get("announced", ())),
            warned=self.warned.union(stored.get("warned", ())),
            spent=stored.get("spent", self.spent),
            counted=stored.get("counted", ""),
        )

    def stored(self, learned: StoredState, notebook: NotebookState) -> StoredState:
        """Return what storage keeps: this state, and what was ``learned`` of models."""
        return {
            **learned,
            "settings": kept_settings(self.defaults, self.settings),
            "announced": sorted(self.announced),
            "warned": sorted(self.warned),
            "spent": self.spent,
            "told": dict(notebook.told),
            "counted": self.counted,
        }
