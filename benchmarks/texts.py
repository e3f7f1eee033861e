"""Provide real texts to count: English, code, JSON, emoji, and nine other languages.

English, code and JSON come with Python and with us. The other languages are the messages of packages with translated
user interfaces, where these are installed: ``pip install django plone.app.locales wagtail``.
"""

from __future__ import annotations

import ast
import gettext
import importlib.util
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
CATALOGS = ("django", "plone.app.locales", "wagtail")
LANGUAGES = {
    "Chinese": ("zh_Hans", "zh_CN"), "Japanese": ("ja",), "Russian": ("ru",), "Greek": ("el",), "Hebrew": ("he",),
    "Arabic": ("ar",), "Thai": ("th",), "Hindi": ("hi",), "Korean": ("ko",),
}  # fmt: skip
EIGHT = ("English", "Chinese", "Greek", "Hebrew", "Arabic", "Thai", "Hindi", "Korean")
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


def package(name: str) -> Path | None:
    """Return the folder of an installed package without importing it."""
    try:
        found = importlib.util.find_spec(name)
    except ModuleNotFoundError:  # not even what the package is a part of
        return None
    return Path(found.submodule_search_locations[0]) if found and found.submodule_search_locations else None


def translated(locales: tuple[str, ...], rng: random.Random) -> list[str]:
    """Return paragraphs of two to eight messages, of 20 characters and more, that packages show in a language."""
    messages: dict[str, None] = {}
    for name in CATALOGS:
        root = package(name)
        for path in sorted(root.rglob("LC_MESSAGES/*.mo")) if root else ():
            if path.parts[-3] in locales:
                with path.open("rb") as file:
                    catalog = gettext.GNUTranslations(file)._catalog  # type: ignore[attr-defined]
                messages |= {text: None for key, text in catalog.items() if key and key != text and len(text) >= 20}
    left, paragraphs = list(messages), []
    rng.shuffle(left)
    while left:
        few = rng.randint(2, 8)
        paragraphs.append(" ".join(" ".join(text.split()) for text in left[:few]))
        left = left[few:]
    return paragraphs


def load(rng: random.Random) -> dict[str, list[str]]:
    """Return paragraphs of each kind; says which languages no installed package has."""
    kinds = {"English": english(), "code": code(), "JSON": records(rng)}
    found = {name: translated(locales, rng) for name, locales in LANGUAGES.items()}
    kinds |= {name: paragraphs for name, paragraphs in found.items() if paragraphs}
    if missing := [name for name, paragraphs in found.items() if not paragraphs]:
        print(f"No texts in {', '.join(missing)}: pip install {' '.join(CATALOGS)}")
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
