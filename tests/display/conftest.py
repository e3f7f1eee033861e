"""What tests of the display share: a screen in place of the page."""

from __future__ import annotations

import pytest
from screens import Screen

from jupyter_ctx.display.answer import live_output


@pytest.fixture
def screen(monkeypatch: pytest.MonkeyPatch) -> Screen:
    screen = Screen()
    monkeypatch.setattr(live_output, "display", screen.display)
    return screen
