"""Compile models.json into the package, for when the file is missing: run after editing it."""

from __future__ import annotations

import json
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
HEAD = '''"""models.json, compiled in by scripts/builtin_windows.py. Do not edit by hand."""

MODELS: dict[str, tuple[int, int | None, int | None]] = {
'''


def compiled(text: str) -> str:
    """The module's text for these rows."""
    rows = {}
    for name, value in json.loads(text).items():
        numbers = [*(value if isinstance(value, list) else [value]), None, None][:3]
        rows[name] = tuple(numbers)
    return HEAD + "".join(f'    "{name}": {row},\n' for name, row in rows.items()) + "}\n"


if __name__ == "__main__":
    target = ROOT / "jupyter_ctx" / "context" / "builtin_windows.py"
    target.write_text(compiled((ROOT / "models.json").read_text("utf-8")), "utf-8")
