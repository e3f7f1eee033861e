"""System prompts kept in files: ``-s @tutor.md``."""

from __future__ import annotations

from pathlib import Path

from ..errors import InvalidRequestError


def persona(system: str) -> str:
    """What a file holds where a system prompt is one line ``@PATH``, else the prompt itself."""
    if not isinstance(system, str) or not system.startswith("@") or "\n" in system.strip():
        return system
    path = Path(system.strip()[1:]).expanduser()
    try:
        return path.read_text("utf-8").strip()
    except (OSError, ValueError) as error:
        why = "is not text" if isinstance(error, ValueError) else "cannot be read"
        raise InvalidRequestError(
            f"The system prompt {system.strip()} stands for a file, and {path} {why} "
            f"(looked for in {Path.cwd() if not path.is_absolute() else path.parent})."
        ) from None
