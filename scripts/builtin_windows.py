"""Compile models.json into the package, for when the file is missing: run after editing it."""

from __future__ import annotations

from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
HEAD = '''"""models.json, compiled in by scripts/builtin_windows.py. Do not edit by hand."""

MODELS = """\\
'''


def compiled(text: str) -> str:
    """The module's text for this file: one string, which costs nothing until it is read."""
    return f'{HEAD}{text}"""\n'


def main() -> None:
    """Compile the file as it is now."""
    target = ROOT / "jupyter_ctx" / "context" / "builtin_windows.py"
    target.write_text(compiled((ROOT / "models.json").read_text("utf-8")), "utf-8")


if __name__ == "__main__":
    main()
