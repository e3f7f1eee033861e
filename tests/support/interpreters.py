"""Scripts in processes of their own, in which nothing may be left open."""

from __future__ import annotations

import subprocess
import sys
from typing import Any


def start(source: str, *arguments: object, **more: Any) -> subprocess.Popen[str]:
    command = [sys.executable, "-W", "error::ResourceWarning", "-c", source, *map(str, arguments)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, **more)


def python(source: str, *arguments: object, **more: Any) -> str:
    """What a script prints that ends without a complaint."""
    script = start(source, *arguments, **more)
    printed, complaints = script.communicate(timeout=300)
    assert (script.returncode, complaints) == (0, "")
    return printed
