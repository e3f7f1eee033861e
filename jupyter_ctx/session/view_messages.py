"""The messages of a view, made once: a turn adds its own to those that the request before had."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TypeAlias

from ..context.summary_facts import SUMMARY_ANSWER, summary_message
from ..conversation.conversation import Conversation
from ..conversation.messages import Message
from ..conversation.places import Place
from ..models.registry import Target
from .recent import Recent
from .view import Scope, first_verbatim, kept_by_pins

Sendable: TypeAlias = Callable[[Message], Message]


@dataclass(slots=True, eq=False)
class _View:
    """The messages of one view as far as they were asked for.

    ``places``, ``revision``: of the conversation, to tell what has changed in it.
    ``first``: the position of the first turn that is sent as it is; all before it makes up the beginning.
    ``messages``: of the beginning, then of the turns.
    ``ends``: how many messages there are before each turn, and after the last.
    """

    places: list[Place]
    revision: int
    first: int
    messages: list[Message]
    ends: list[int] = field(init=False)

    def __post_init__(self) -> None:
        self.ends = [len(self.messages)]

    def holds_for(self, past: Conversation, at: int) -> bool:
        """Return whether the view begins as it did; turns that have changed since are forgotten."""
        same = past.same_since(self.revision) if self.places is past.places else 0
        if min(same, at) <= self.first:
            return False
        del self.ends[same - self.first + 1 :]
        del self.messages[self.ends[-1] :]
        self.revision = past.revision
        return True

    def extend(self, scope: Scope, sendable: Sendable) -> None:
        """Add the messages of the turns before the prompt that are not there yet."""
        for place in self.places[self.first + len(self.ends) - 1 : scope.at]:
            if scope.holds(place):
                self.messages += map(sendable, place.turn.messages)
            self.ends.append(len(self.messages))


class ViewMessages:
    """The messages before a prompt, by view. The last few views are kept, each message as one object."""

    def __init__(self) -> None:
        self._kept = Recent[tuple[object, ...], _View]()
        self._lock = threading.Lock()  # a preview may be made in another thread

    def before(self, target: Target, past: Conversation, scope: Scope, start: int) -> list[Message]:
        """Return the messages before a prompt as this target may be sent them, the system prompt first."""
        key = (target.provider.takes, scope.fixed, scope.covers, start)
        with self._lock:
            view = self._kept.get(key)
            if view is None or not view.holds_for(past, scope.at):
                view = _begun(past, scope, start, target.sendable)
            view.extend(scope, target.sendable)
            if view.first < scope.at:  # else another turn may change how it begins
                self._kept[key] = view
            return view.messages[: view.ends[scope.at - view.first]]


def _begun(past: Conversation, scope: Scope, start: int, sendable: Sendable) -> _View:
    """Return the beginning of a view: the system prompt, what pins keep of earlier turns, and the summary."""
    first = first_verbatim(past, scope, start)
    messages = [Message("system", scope.fixed.system)] if scope.fixed.system.strip() else []
    for place in kept_by_pins(past, scope, first):
        messages += map(sendable, place.turn.messages)
    if scope.summary is not None:
        messages.append(Message("user", summary_message(scope.summary.text)))
        messages.append(Message("assistant", SUMMARY_ANSWER))
    return _View(past.places, past.revision, first, messages)
