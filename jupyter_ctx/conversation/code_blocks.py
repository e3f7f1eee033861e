"""The code in an answer, as it may stand in a cell."""

from __future__ import annotations

PYTHON = frozenset({"python", "py", "python3", "ipython", "ipython3", "pycon", ""})
LANGUAGE_MAGICS = {
    "bash": "%%bash",
    "sh": "%%bash",
    "shell": "%%bash",
    "html": "%%html",
    "javascript": "%%javascript",
    "js": "%%javascript",
    "latex": "%%latex",
}


def code_of(text: str) -> str:
    """Return the Python in an answer's fenced blocks, in order; without any, the first block of another language."""
    from markdown_it import MarkdownIt

    fences = [token for token in MarkdownIt().parse(text) if token.type == "fence"]
    blocks = [((token.info.split() or [""])[0].lower(), token.content.rstrip("\n")) for token in fences]
    python = [code for language, code in blocks if language in PYTHON]
    if python:
        return "\n\n".join(python)
    if not blocks:
        return ""
    language, code = blocks[0]
    return f"{LANGUAGE_MAGICS[language]}\n{code}" if language in LANGUAGE_MAGICS else code
