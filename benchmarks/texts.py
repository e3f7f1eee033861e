"""Provide real texts of seven kinds to count: English, code, JSON, Chinese, Japanese, Russian, emoji.

English, code and JSON come with Python and with us. The others are read from a folder with
``chinese.txt``, ``japanese.txt`` and ``russian.txt``, paragraphs apart by an empty line; ours
are the Debian FAQ (package debian-faq-zh-cn and so on: ``/usr/share/doc/debian/FAQ``).
"""

from __future__ import annotations

import ast
import json
import math
import random
import sysconfig
from pathlib import Path
from pydoc_data.topics import topics

MODULES = (
    "argparse", "dataclasses", "statistics", "textwrap", "csv", "fractions", "heapq", "shutil", "tempfile", "zipfile",
)  # fmt: skip
MODELS = Path(__file__).resolve().parents[1] / "models.json"
FOREIGN = ("chinese", "japanese", "russian")
EMOJI = (
    "😀", "😂", "🥹", "😍", "🤔", "😎", "🙏", "👍🏽", "🔥", "✨", "🎉", "🚀", "💡", "📈", "🐍", "🦀", "☕", "❤️", "✅",
    "❌", "🌍", "🧪", "👩\u200d💻", "🏴\u200d☠️", "🇯🇵", "🇧🇷", "🫠", "🤖", "📚", "🎨", "🧩",
)  # fmt: skip
SHORTEST, LONGEST = 20, 3_000  # characters of a message


def english() -> list[str]:
    """Return paragraphs of Python's reference."""
    return [" ".join(part.split()) for topic in topics.values() for part in topic.split("\n\n") if len(part) > 60]


def code() -> list[str]:
    """Return functions of Python's library."""
    found = []
    for name in MODULES:
        source = (Path(sysconfig.get_path("stdlib")) / f"{name}.py").read_text("utf-8")
        for node in ast.walk(ast.parse(source)):
            if isinstance(node, ast.FunctionDef):
                found.append(ast.get_source_segment(source, node) or "")
    return [text for text in found if 60 < len(text) < LONGEST]


def records(rng: random.Random) -> list[str]:
    """Return parts of models.json, and records made as an API would send them."""
    rows = json.loads(MODELS.read_text("utf-8"))
    parts = [json.dumps({name: row}, indent=rng.choice([None, 2])) for name, row in rows.items() if name[0] != "_"]
    for _ in range(200):
        many = [
            {
                "id": rng.randrange(10**6), "name": rng.choice(["Ana", "Bo", "Chen", "Dara"]), "score": rng.random(),
                "active": rng.random() > 0.5, "created": f"2026-0{rng.randrange(1, 9)}-1{rng.randrange(10)}T08:30:00Z",
                "tags": rng.sample(["red", "blue", "new", "sale"], 2),
            }
            for _ in range(rng.randrange(1, 9))
        ]  # fmt: skip
        parts.append(json.dumps(many, indent=rng.choice([None, 2, 4])))
    rng.shuffle(parts)
    return parts


def with_emoji(paragraphs: list[str], rng: random.Random) -> list[str]:
    """Return chatty English with emoji after every second to twelfth word."""
    found = []
    for text in rng.sample(paragraphs, min(300, len(paragraphs))):
        often = rng.choice([0.08, 0.2, 0.5])
        words = [
            w + (" " + rng.choice(EMOJI) * rng.choice([1, 1, 2, 3])) * (rng.random() < often) for w in text.split()
        ]
        found.append(" ".join(words[:80]))
    return found


def load(folder: Path | None, rng: random.Random) -> dict[str, list[str]]:
    """Return paragraphs of each kind that is available."""
    kinds = {"English": english(), "code": code(), "JSON": records(rng)}
    for name in FOREIGN:
        path = folder / f"{name}.txt" if folder else None
        if path is not None and path.exists():
            kinds[name.capitalize()] = path.read_text("utf-8").split("\n\n")
    kinds["emoji"] = with_emoji(kinds["English"], rng)
    return kinds


def message(paragraphs: list[str], rng: random.Random) -> str:
    """Return a random part of 20 to 3,000 characters, log-uniform in length."""
    length = int(math.exp(rng.uniform(math.log(SHORTEST), math.log(LONGEST))))
    at, text = rng.randrange(len(paragraphs)), ""
    while len(text) < length:
        text += ("\n\n" if text else "") + paragraphs[at % len(paragraphs)]
        at += 1
    return text[:length]
