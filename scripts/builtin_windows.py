"""Compile models.json into the package, for when the file is missing: run after editing it."""

from __future__ import annotations

from pathlib import Path

from jupyter_ctx.context.windows import read_table

ROOT = Path(__file__).resolve().parents[1]
HEAD = '''"""models.json, compiled in by scripts/builtin_windows.py. Do not edit by hand."""

MODELS: dict[str, tuple[int, int | None, int | None]] = {
'''


def compiled(text: str) -> str:
    """The module's text for these rows."""
    rows = read_table(text, "built in", "models.json").rows
    return HEAD + "".join(f'    "{name}": {row},\n' for name, row in rows.items()) + "}\n"


def main() -> None:
    """Compile the file as it is now."""
    target = ROOT / "jupyter_ctx" / "context" / "builtin_windows.py"
    target.write_text(compiled((ROOT / "models.json").read_text("utf-8")), "utf-8")


if __name__ == "__main__":
    main()
