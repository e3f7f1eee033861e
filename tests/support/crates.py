"""A conversation about crates, whose weights a summary must keep."""

from __future__ import annotations

PADDING = "The wind was steady and the sea was calm all through the day. " * 12
FACTS = "\n".join(f"- Crate {number} weighs {100 + number} kilograms." for number in range(12))


def crates(turns: int = 12) -> list[dict[str, str]]:
    """So many turns, each of a crate, in OpenAI's form."""
    said = list[dict[str, str]]()
    for number in range(turns):
        said.append({"role": "user", "content": f"Crate {number} weighs {100 + number} kilograms. {PADDING}"})
        said.append({"role": "assistant", "content": f"Noted. {PADDING}"})
    return said
