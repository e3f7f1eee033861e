"""Readings for the gauge to draw."""

from __future__ import annotations

from jupyter_ctx.context.budget import Budget
from jupyter_ctx.context.context_info import ContextInfo, segments_of
from jupyter_ctx.context.windows import ContextWindow


def info(
    used: int, *, exact: bool = True, model: str = "local/smollm2", window: ContextWindow | None = None
) -> ContextInfo:
    budget = Budget(window or ContextWindow(1_200, source="server"), 200, used=used, exact=exact)
    segments = segments_of([("system", used / 10), ("pinned", 0), ("summary", 0), ("earlier turns", 0.9 * used)])
    return ContextInfo(model, budget, segments, in_view=3, left_out=0, turns=3, will_leave=2 if used > 1_000 else 0)
