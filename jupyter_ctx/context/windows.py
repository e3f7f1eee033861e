"""The size of a model's context window, and the source of that figure; and who reads images or thinks.

Sources in order of precedence: the user, the server that runs the model, the user's own file,
models.json, the provider's list. A model that none of them lists gets an assumed window: from a
size in its name, from its family, else 32,000 tokens. Limits learned from refusals are in ``learned_limit``.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cache, lru_cache
from typing import Any, Literal, NamedTuple, get_args

from .usage import Prices

Source = Literal["given", "learned", "server", "user file", "models.json", "provider", "assumed"]
ASSUMED_TOKENS = 32_000
PRICES = "prices"  # the key of a row that may stand beside those of its window, or alone
Fact = Literal["images", "thinking", "tools"]  # whether a model reads images, thinks before it answers, calls functions
FACTS: tuple[Fact, ...] = get_args(Fact)  # keys of a models file, under which stands of which models they hold
ORIGINS: dict[Source, str] = {
    "given": "given", "server": "from the server", "user file": "from your models.json",
    "models.json": "from models.json", "provider": "from the provider", "assumed": "assumed",
}  # fmt: skip


class WindowRow(NamedTuple):
    """A row of a table of windows, in tokens; ``None`` where one side has no cap of its own."""

    context_window: int
    max_input_tokens: int | None = None
    max_output_tokens: int | None = None


@dataclass(frozen=True, slots=True)
class ContextWindow:
    """The tokens that a model can hold, input and output together, and the source of that figure.

    ``tokens``: the window; an upper bound where refusals have narrowed it down without stating it.
    ``max_input_tokens``: the cap on the input alone, if there is one.
    ``max_output_tokens``: the cap on the output alone, if there is one.
    ``source``: who says so.
    ``matched``: the row of the table, or the part of the name, that the figure comes from.
    ``instead_of``: the source and the figure of before, where a refusal has taught a smaller one.
    ``refused``: of a learned window, the prompt that was refused, where nobody stated the limit.
    """

    tokens: int
    max_input_tokens: int | None = None
    max_output_tokens: int | None = None
    source: Source = "assumed"
    matched: str | None = None
    instead_of: tuple[Source, int] | None = None
    refused: int | None = None

    @property
    def origin(self) -> str:
        """The source of the figure, in words."""
        if self.source == "learned":
            before = "{} {:,}, ".format(*self.instead_of) if self.instead_of else ""
            refused = f"server refused {self.refused:,}" if self.refused else "server stated it"
            return f"learned: {before}{refused}"
        row = f" ({self.matched})" if self.matched else ""
        return ORIGINS[self.source] + row

    @property
    def is_guess(self) -> bool:
        """Whether the figure rests on the model's name alone: the provider's own list is better."""
        return self.source == "assumed"


@dataclass(frozen=True, eq=False)
class WindowTable:
    """Windows by the name of a model, or by a prefix of names.

    A row of the user's file answers for every name that begins with it.
    A row of any other table answers for names that add nothing that may change the window, such as
    a date. For other names, and for a family's row (``claude-``), the window is assumed.
    ``problem`` is a sentence on why a file, or a row of it, is not used. ``prices``: those of rows that have any.
    ``facts``: of which models each holds.
    """

    rows: Mapping[str, WindowRow]
    source: Source
    problem: str | None = None
    prices: Mapping[str, Prices] = field(default_factory=dict)
    facts: Mapping[Fact, Mapping[str, bool | None]] = field(default_factory=dict)

    @lru_cache(4_096)  # noqa: B019  # a turn asks for the same few names again and again
    def find(self, model: str) -> ContextWindow | None:
        """Return the window of a model's own row, else the assumed one of its family's row or of a relative's."""
        own, family = self._rows_for("windows", model)
        if own is not None:
            return ContextWindow(*self.rows[own], self.source, own)
        if family is None or self.source == "user file":
            return None
        return ContextWindow(*self.rows[family], matched=family.rstrip("-"))

    @lru_cache(4_096)  # noqa: B019
    def find_prices(self, model: str) -> Prices | None:
        """Return the prices of the row that answers for a model itself."""
        own, _ = self._rows_for(PRICES, model)
        return None if own is None else self.prices[own]

    @lru_cache(4_096)  # noqa: B019
    def says(self, fact: Fact, model: str) -> bool | None:
        """Return whether a fact holds of a model, by its own row, else its family's; ``None``: the table is silent."""
        own, family = self._rows_for(fact, model)
        return self.facts.get(fact, {}).get(own or family or "")

    def _rows_for(self, kind: str, model: str) -> tuple[str | None, str | None]:
        """Return the row of a kind that answers for a model itself, and its family's; of windows, or a relative's."""
        rows = self._spelled(kind)
        names = list(candidates(model)) if rows else []
        own = [(name, rest) for name, rest in names if name in rows]
        if self.source != "user file":
            own = [(name, rest) for name, rest in own if same_window(rest) and not name.endswith("-")]
            own.sort(key=lambda found: len(found[1]))  # the row that leaves the least of the name over is nearest
        relatives = rows if kind == "windows" else {}
        families = (rows.get(f"{name}-") or relatives.get(name) for name, _ in names)
        return rows[own[0][0]] if own else None, next(filter(None, families), None)

    @cache  # noqa: B019
    def _spelled(self, kind: str) -> dict[str, str]:
        """Return the rows of a kind by their spelling, made at the first question: most tables are never asked."""
        kinds: dict[Any, Mapping[str, Any]] = {"windows": self.rows, PRICES: self.prices, **self.facts}
        rows = kinds.get(kind, {})
        spelled = dict(zip(spell("\n".join(rows)).split("\n"), rows, strict=False))
        parts = [(name.split("/"), row) for name, row in spelled.items()]
        anywhere = {f"{name[0]}//{name[-1]}": row for name, row in parts if len(name) > 2}
        return anywhere | spelled | {row: row for row in rows}


MAX_NAME = 200  # characters: no prefix is longer, so that odd names are matched fast
MOST_FOLDERS = 8  # parts of a name between slashes that are looked at
_DECORATION = (
    r"(?:ft:"  # OpenAI's fine-tuned models: ft:gpt-4o-mini:org::id
    # Meta-Llama-3.1-8B
    r"|(?:ai21|amazon|azure|c4ai|cohere|databricks|google|labs|meta|microsoft|nvidia|openai|zai)-)+"
)
_SPELLING = (  # patterns that begin with a sign are found ten times faster than those that begin with a look-behind
    (r"\.(?=i?q\d|[bf]p?16|f32|gg|gptq|awq|exl2|safetensors)", "-"),  # files: llama-2-7b.Q4_K_M.gguf
    (r"(?<![^/.\n])([a-z][a-z0-9-]*)\.(?=[a-z])", r"\1/"),  # Bedrock: us.anthropic.claude-opus-5-v1:0
    (r"(?<![^/\n])(llama|gemma|granite|mistral-small|phi|qwen)-?v?(?=\d)", r"\1-"),  # Ollama: llama3.2
    (r"gpt-35(?<![^/\n]gpt-35)", "gpt-3-5"),  # Azure
    (r":(?=(?:\d+x)?\d+(?:\.\d+)?b(?![a-z0-9]))", "-"),  # Ollama: mistral:7b
    (r"\.", "-"),  # claude-opus-4.5 is claude-opus-4-5
    (r"p(?<=\dp)(?=\d)", "-"),  # Fireworks: deepseek-v3p2
)
_SAME = (  # endings that leave the window of a model as it is
    r"20\d\d-?(?:0[1-9]|1[0-2])(?:-?(?:0[1-9]|[12]\d|3[01]))?|(?:0[1-9]|1[0-2])-(?:20\d\d|[0-3]\d)",  # dates
    r"(?:0[1-9]|1[0-2])(?:[0-2]\d|3[01])|2\d(?:0[1-9]|1[0-2])(?:[0-3]\d)?",  # 0613 and 2411
    r"v\d+:0|00\d|default|latest|stable",  # versions of Bedrock, Vertex and others
    r"base|chat|hf|instruct|it|maas|pt|qat",  # kinds of training
    r"batch|(?<=:)beta|exacto|floor|free|high|low|nitro|thinking",  # ways to be served
    r"awq|bin|bnb|dynamic|exl\d|gg(?:ml|uf)|gptq|imatrix|mlx|onnx|quantized|safetensors|ud|unsloth",  # formats
    r"i?q\d(?:[_-](?:\d|k|nl|[sml]|x{1,2}[sl])(?![a-z0-9]))*+|(?:bf|f|fp|int|mxfp|nf|nvfp)(?:4|8|16|32)|w\d+a\d+"
    r"|\d(?:-\d+)?-?(?:bit|bpw)|\d{2,3}g",  # Q4_K_M, fp8, 4bit
    r"[0-9a-f]{12,}|\d{5}-of-\d{5}",  # versions of Replicate, parts of a file
)
_SAME_WINDOW = rf"(?:[^a-z0-9]+(?:{'|'.join(_SAME)})(?![a-z0-9]))*+"  # a string, so that importing compiles nothing
# Sizes as they occur in published names: 1m may be a window, 7m is a number of parameters
_SIZES = (
    r"(?<![0-9.])(?:(?<![a-z0-9])(2048|4096|8192|16384|32768|65536|131072|262144|1048576)"
    r"|(2|4|8|16|32|64|65|96|100|128|131|160|192|200|256|262|384|400|512|524)k|(?<![a-z0-9])([124]|10)m)(?![a-z0-9])"
)


def candidates(model: str) -> Iterator[tuple[str, str]]:
    """Yield the rows that would answer for a model, best first, each with the rest of the model's name.

    First come the full name and its prefixes, then those of the name without provider, folder and
    vendor (`models/…`, `accounts/…/models/…`, `~anthropic/…-latest`), last the rows that name only
    a provider or a folder. A prefix ends where a word does: `gpt-4` answers for `gpt-4-0613`, not
    for `gpt-4o`; `claude-3` answers for `claude-3.5-sonnet`, and `my-` for `my-model`.
    """
    yield model.lower(), ""
    names = names_of(model)
    for name in names:
        yield from ((start, name[len(start) :]) for start in prefixes(name, name.rfind("/") + 1))
    for name in names:
        folder = name.rpartition("/")[0]
        yield from ((start, name[len(start) :]) for start in (prefixes(folder, 0) if folder else ()))


def names_of(model: str) -> list[str]:
    """Return a full name, then the same without provider, folder and vendor."""
    parts = spell(model.lower().replace("\n", " ")).split("/")[-MOST_FOLDERS:]
    if not parts[-1]:
        return []
    decoration = re.match(_DECORATION, parts[-1])
    plain = [parts[-1][decoration.end() :]] if decoration else []
    if decoration and decoration.group().startswith("ft:"):
        plain = [plain[0].partition(":")[0]]
    whole, *shorter = ("/".join(parts[start:]) for start in range(len(parts)))
    # at its provider it may be without folders, or (after two slashes) in any of them: groq/qwen3-32b finds the row of
    # groq/qwen/qwen3-32b, and together/google/x never that of together/y/x
    anywhere = [f"{parts[0]}{'/' if len(parts) > 2 else '//'}{parts[-1]}"] if len(parts) > 1 else []
    return [whole, *anywhere, *shorter, *plain]


def prefixes(name: str, least: int) -> Iterator[str]:
    """Yield a name, then its prefixes of more than ``least`` characters that end where a word does."""
    yield name
    for end in range(min(len(name) - 1, MAX_NAME), least, -1):
        if not (name[end - 1].isalnum() and name[end].isalnum()):
            yield name[:end]


def spell(name: str) -> str:
    """Return the one spelling of a name that providers write in several ways."""
    for pattern, written in _SPELLING:
        name = re.sub(pattern, written, name)
    return name


def same_window(rest: str) -> bool:
    """Return whether an ending leaves the window as it is: a date, a file format, a way to be served.

    Another size, version, modality or tier (`-70b`, `.5`, `-image`, `-mini`) may change the window.
    """
    return len(rest) <= MAX_NAME and re.fullmatch(_SAME_WINDOW, rest) is not None


def stated_size(model: str) -> ContextWindow | None:
    """Return the window that a model's name states, such as `-4k`, `-8192`, `128k` or `-1m`."""
    sizes = list(re.finditer(_SIZES, model.lower().rpartition("/")[2][-MAX_NAME:]))
    if not sizes:
        return None
    number, thousands, millions = (int(digits or 0) for digits in sizes[-1].groups())
    unit = 1_024 if thousands <= 64 else 1_000  # above 64k, where usage differs, the smaller reading
    tokens = number or thousands * unit or millions * 1_000_000
    return ContextWindow(tokens, matched=f"-{sizes[-1].group()}")


def read_table(text: str, source: Source, path: str) -> WindowTable:
    """Return the rows of a models file. The table of a file that cannot be used is empty and says why."""
    try:
        data = json.loads(text)
    except ValueError as error:
        return WindowTable({}, source, f"{path} is not JSON ({error}): no window is read from it.")
    if not isinstance(data, dict):
        return WindowTable({}, source, f"{path} must hold an object of names and windows, not a {type(data).__name__}.")
    problem = None
    rows, prices = dict[str, WindowRow](), dict[str, Prices]()
    facts = {fact: {name: None if holds is None else bool(holds) for name, holds in _by_name(data.pop(fact, {}))}
             for fact in FACTS}  # fmt: skip
    for name, value in _by_name(data):
        try:
            if not isinstance(value, dict) or value.keys() != {PRICES}:
                rows[name] = _row(value)
            if isinstance(value, dict) and PRICES in value:
                prices[name] = Prices.of(value[PRICES])
        except ValueError as error:
            problem = problem or f"{path}: ignored {name!r}: {error}"
    return WindowTable(rows, source, problem, prices, facts)


def _by_name(data: Any) -> Iterator[tuple[str, Any]]:
    """Yield all names with their values. A family's object holds its members by the rest of their names."""
    for name, value in data.items() if isinstance(data, dict) else [("", data)]:
        family = name.lower().replace("\n", " ")
        if isinstance(value, dict) and value and not value.keys() & {*WindowRow._fields, PRICES}:
            for members, columns in value.items():
                yield from ((family + member.lower(), columns) for member in members.split(" "))
        else:
            yield family, value


def _row(value: Any) -> WindowRow:
    if isinstance(value, dict):
        value = [value.get(column) for column in WindowRow._fields]
    window, *caps = value if isinstance(value, list) and value else [value]
    row = WindowRow(window, *caps[:2])
    if window is None or not all(type(tokens) is int and tokens > 0 for tokens in row if tokens is not None):
        raise ValueError("the window must be a positive integer.")
    return row


def choose_window(
    model: str, tables: Iterable[WindowTable], *, given: int | None = None, served: ContextWindow | None = None
) -> ContextWindow:
    """Return the window that the user gives, else the one that the server reports, else that of the tables."""
    window = served or _from_tables(model, tables)
    if given is None:
        return window
    cap = window.max_input_tokens
    cap = cap if cap is not None and cap < given else None
    return replace(window, tokens=given, max_input_tokens=cap, source="given", matched=None)


def _from_tables(model: str, tables: Iterable[WindowTable]) -> ContextWindow:
    """Return the first row of the model's own; else the size in its name; else the first guess of a table."""
    likely = None
    for table in tables:
        window = table.find(model)
        if window is not None and not window.is_guess:
            return window
        likely = likely or window
    return stated_size(model) or likely or ContextWindow(ASSUMED_TOKENS)
