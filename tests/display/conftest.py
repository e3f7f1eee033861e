"""What tests of the display share: a screen in place of the page."""

from __future__ import annotations

import pytest
from screens import Screen

from jupyter_ctx.display.answer import growing


@pytest.fixture
def screen(monkeypatch: pytest.MonkeyPatch) -> Screen:
    screen = Screen()
    monkeypatch.setattr(growing, "display", screen.display)
    return screen
