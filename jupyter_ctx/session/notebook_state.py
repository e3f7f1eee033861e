"""What all conversations of one notebook share."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

from ..conversation.conversation import Conversation
from ..conversation.events import Event
from .course import Course
from .handout import HandedOut


@dataclass(frozen=True, slots=True)
class NotebookState:
    """What all conversations of one notebook share while its kernel runs; the members are shared and changed in place.

    ``folder``: the notebook's, where the default memory file is looked for.
    ``seen``: ids of turns that were answered or shown again since the kernel was started.
    ``notes``: course files with the answer about them.
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
