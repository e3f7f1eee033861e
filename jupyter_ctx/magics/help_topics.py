"""The topics of ``%chat help TOPIC``: the texts in ``topics/``, which the book shows as they are."""

from __future__ import annotations

from pathlib import Path

from ..display.answer.markdown import answer_html, to_html

TOPICS = {path.stem: path for path in sorted(Path(__file__).with_name("topics").glob("*.md"))}


def topic_text(name: str) -> str:
    """Return a topic's text, in Markdown. Its first line is its title."""
    return TOPICS[name].read_text("utf-8")


def topic_forms(name: str) -> dict[str, str]:
    """Return a topic as a page shows it, and as a terminal does."""
    text = topic_text(name)
    return {"text/html": answer_html(to_html(text)), "text/markdown": text, "text/plain": text}
