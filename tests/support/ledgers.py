"""Ledgers of turns, by their sizes alone."""

from __future__ import annotations

from collections.abc import Iterable

from jupyter_ctx.context.compaction import Ledger


def ledger_of(sizes: Iterable[float | None]) -> Ledger:
    """Turns of so many tokens each; ``None``: one that no view may hold."""
    return pinned_ledger((tokens, False) for tokens in sizes)


def pinned_ledger(rows: Iterable[tuple[float | None, bool]]) -> Ledger:
    """The same with whether each turn is pinned."""
    ledger = Ledger()
    for tokens, pinned in rows:
        ledger.append(tokens, pinned=pinned, counted=True)
    return ledger
