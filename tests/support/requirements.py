"""What a test may need of the machine, and the data that only some machines have."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

ALL = os.environ.get("JUPYTER_CTX_ALL") == "1"
SHARED = Path(__file__).resolve().parents[3] / "shared" / "data"


def need(present: bool, what: str) -> None:
    """Skip a test for want of something; where everything must be there, fail."""
    if not present and ALL:
        pytest.fail(f"{what} is missing")
    if not present:
        pytest.skip(f"{what} is missing")
