"""A scripted provider whose tokens have the listed price of a model that everybody knows."""

from __future__ import annotations

from typing import Any

from jupyter_ctx.testing import ScriptedProvider

CLAUDE = "anthropic/claude-sonnet-4-6"
INPUT, CACHED, WRITTEN, OUTPUT = 3e-6, 0.3e-6, 3.75e-6, 15e-6  # US dollars a token


class Priced(ScriptedProvider):
    """Answers as any scripted provider does, under a name that has a price."""

    catalogue = "anthropic"

    def __init__(self, *answers: Any) -> None:
        super().__init__(*answers, model=CLAUDE, sends_reserve=True)
