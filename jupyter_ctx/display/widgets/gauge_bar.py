"""Divide a context window into the parts of a bar, and draw the bar in characters."""

from __future__ import annotations

from dataclasses import dataclass

from ...context.context_info import ContextInfo

GRAY = "rgba(128,128,128,{})"  # translucent: quiet on light and on dark pages
TEXT_WIDTH = 30  # characters of the bar
ROOM = ("free", "margin", "reserve")  # parts that hold nothing yet
ACTS = {
    "trim": "from here the next request leaves turns out",
    "summarise": "from here the next request puts a summary in place of turns",
    "stop": "from here nothing is sent (on_overflow is stop)",
}


@dataclass(frozen=True, slots=True)
class SegmentKind:
    """How one part of the bar is drawn, named and changed."""

    label: str  # in the tip
    change: str  # what to type to change the part, for the tip
    colour: str  # in HTML: hex, or rgba of what holds nothing
    sign: str  # in plain text: a character of its own


SEGMENT_KINDS = {
    "template": SegmentKind("the model's template", "what its server adds to every request", "#546e7a", "▒"),
    "system": SegmentKind("system and memory", "change with %%chat system or %chat memory", "#6d4c41", "▚"),
    "pinned": SegmentKind("pinned turns", "unpin with %chat unpin N", "#8e24aa", "▞"),
    "summary": SegmentKind("summary of older turns", "rewrite with %chat summarise", "#00796b", "▤"),
    "tools": SegmentKind("functions and what they returned", "choose with %chat config tools", "#a86500", "▥"),
    "cells": SegmentKind("cells of the notebook, with -a cells", "leave out with %chat exclude", "#c77800", "▨"),
    "earlier turns": SegmentKind("earlier turns", "reduce with %chat summarise or trim", "#1565c0", "█"),
    "this turn": SegmentKind("this turn, the newest", "leave out with %chat exclude", "#4f97e0", "▓"),
    "free": SegmentKind("free", "available to the next prompt", GRAY.format(0.15), "·"),
    "margin": SegmentKind("margin", "left free for what is only estimated, and by compact_at", GRAY.format(0.3), "┄"),
    "reserve": SegmentKind("kept for the reply", "change with %chat config max_tokens", GRAY.format(0.5), "░"),
}


@dataclass(frozen=True, slots=True)
class GaugePart:
    """One part of the bar: its name in SEGMENT_KINDS, its tokens, how long it is and where it ends, as shares."""

    name: str
    tokens: int
    share: float
    end: float
    act: str = ""  # what the next request does once the bar is filled up to here

    @property
    def text(self) -> str:
        """What the part is, in few words, and how large it is."""
        return f"{'kept for the reply' if self.name == 'reserve' else self.name} {self.tokens:,}"

    @property
    def tip(self) -> str:
        """What the part is, how large it is, and how to change it."""
        kind = SEGMENT_KINDS[self.name]
        return "; ".join(filter(None, (f"{kind.label}: {self.tokens:,} tokens", kind.change, self.act)))


def bar_parts(info: ContextInfo) -> tuple[GaugePart, ...]:
    """Return the bar's parts from left to right; the whole is limit + reserve, or the used tokens if more."""
    length, ends = _length(info), room_ends(info)
    sizes: list[tuple[str, int]] = [(segment.name, segment.tokens) for segment in info.segments]
    sizes += [("free", max(0, ends - info.used)), ("margin", max(0, info.limit - max(info.used, ends)))]
    sizes += [("reserve", length - max(info.used, info.limit))]
    parts, end, act = list[GaugePart](), 0, ACTS[info.on_overflow]
    for name, tokens in sizes:
        end += tokens
        if tokens:
            size = info.budget.reserve if name == "reserve" else tokens
            is_first = bool(act) and name in ("margin", "reserve")
            parts.append(GaugePart(name, size, tokens / length, end / length, act if is_first else ""))
            act = "" if is_first else act
    return tuple(parts)


def room_ends(info: ContextInfo) -> int:
    """Return the tokens above which the next request makes room or is refused; the limit where that is not known."""
    return info.limit if info.room_ends is None else min(info.room_ends, info.limit)


def limit_mark(info: ContextInfo) -> float:
    """Return where the limit stands, as a share of the bar."""
    return info.limit / _length(info)


def _length(info: ContextInfo) -> int:
    return max(1, info.limit + info.budget.reserve, info.used)


def text_bar(info: ContextInfo) -> str:
    """Return the parts in whole characters, at least one for each that takes tokens, and ``|`` at the limit."""
    bar, at, limit = "", 0, round(limit_mark(info) * TEXT_WIDTH)
    for part in bar_parts(info):
        least = at + (part.name not in ROOM)
        end = min(max(round(part.end * TEXT_WIDTH), least), TEXT_WIDTH)
        kind, mark = SEGMENT_KINDS[part.name], min(max(limit, at), end)
        line = "|" if at < limit <= end or (limit == at == 0) else ""
        bar += kind.sign * (mark - at) + line + kind.sign * (end - mark)
        at = max(at, end)
    return bar
