"""How much a model can hold, and who says so.

What the user gave comes first; then what the server that serves the model reports; then tables:
the user's own file and ours. What no row says of the model itself is assumed, and said to be:
from its name or its family. What refusals teach is in ``evidence``.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal

Seen = Literal["given", "refused", "stated", "passed"]
Source = Literal["given", "learned", "server", "user file", "models.json", "provider", "built in", "assumed"]
WindowRow = tuple[int, int | None, int | None]  # window, input cap, output cap
ASSUMED = 32_000
WINDOW_COLUMNS = ("context_window", "max_input_tokens", "max_output_tokens")
ORIGINS: dict[Source, str] = {
    "given": "(given)",
    "learned": "learned",
    "server": "from the server",
    "user file": "from your models.json",
    "models.json": "from models.json",
    "provider": "from the provider",
    "built in": "from the built-in table",
    "assumed": "assumed",
}
SEEN: dict[Seen, str] = {
    "given": "given",
    "refused": "server refused",
    "stated": "server refuses above",
    "passed": "passed",
}


@dataclass(frozen=True, slots=True)
class ContextWindow:
    """Tokens a model can hold, in and out together, and where that number comes from.

    ``max_input_tokens`` and ``max_output_tokens`` are caps on one side alone, where there
    are any; ``matched`` is the row of the table that answered; ``given`` is what the user
    gave where a refusal has taught less. Of a learned window, ``passed`` is the largest prompt
    that was taken and ``refused`` the smallest that was refused without a limit being stated:
    then ``tokens`` is an upper bound; ``since`` is when it was learned, in seconds since 1970.
    """

    tokens: int
    max_input_tokens: int | None = None
    max_output_tokens: int | None = None
    source: Source = "assumed"
    matched: str | None = None
    given: int | None = None
    passed: int | None = None
    refused: int | None = None
    since: float | None = field(default=None, compare=False)

    @property
    def origin(self) -> str:
        """Where the number comes from, in words."""
        if self.source == "learned":
            seen = (f"{SEEN[what]} {tokens:,}" for what, tokens in self.evidence)
            return f"learned: {', '.join(seen)}"
        if self.source == "assumed" and self.matched:
            return f"assumed from {self.matched}"
        row = f" ({self.matched})" if self.matched else ""
        return ORIGINS[self.source] + row

    @property
    def basis(self) -> str:
        """The same for brackets in a sentence, without any of its own."""
        return "given" if self.source == "given" else self.origin

    @property
    def is_of_prompts(self) -> bool:
        """Whether it was seen of whole prompts: then nothing is taken off ``max_input_tokens`` for the reply."""
        return self.refused is not None or self.max_input_tokens == self.passed == self.tokens

    @property
    def bound(self) -> str:
        """The sign that stands before ``tokens``: a limit that was only narrowed down is not known exactly."""
        if not self.is_of_prompts:
            return ""
        return "≤ " if self.refused else "≥ "

    @property
    def evidence(self) -> tuple[tuple[Seen, int], ...]:
        """What a learned window rests on, each with its figure in tokens."""
        stated = None if self.is_of_prompts else self.max_input_tokens or self.tokens
        found: tuple[tuple[Seen, int | None], ...] = (
            ("given", self.given), ("refused", self.refused), ("stated", stated), ("passed", self.passed)
        )  # fmt: skip
        return tuple((what, tokens) for what, tokens in found if tokens)


@dataclass(frozen=True, slots=True)
class WindowTable:
    """Rows of a models file: name or prefix to ``[window, input cap, output cap]``.

    A row of the user's file answers for every name that begins with it. A row of any other table
    answers for names that add nothing that may change the window, such as a date; for other
    names, and where it is a family's (``claude-``), its window is assumed. ``problem`` says in
    one line why a file could not be used.
    """

    rows: Mapping[str, WindowRow]
    source: Source
    problem: str | None = None
    _spelled: dict[str, str] = field(default_factory=dict, init=False, repr=False, compare=False)

    def find(self, model: str) -> ContextWindow | None:
        """The window of a model's own row; without one, what the row of its longest prefix makes likely."""
        self._spell_rows()
        names = list(candidates(model))
        known = [(row, rest) for name, rest in names if (row := self._spelled.get(name))]
        if self.source != "user file":
            known = [(row, rest) for row, rest in known if same_window(rest) and not row.endswith("-")]
            known.sort(key=lambda found: len(found[1]))  # what a name adds least to is nearest to it
        if known:
            return ContextWindow(*self.rows[known[0][0]], self.source, known[0][0])
        return None if self.source == "user file" else self._likely(name for name, _ in names)

    def _likely(self, names: Iterable[str]) -> ContextWindow | None:
        """What is likely for a name that has no row: as its family's row says, else the row of a member."""
        likely = (self._spelled.get(f"{name}-") or self._spelled.get(name) for name in names)
        row = next(filter(None, likely), None)
        return ContextWindow(*self.rows[row], matched=row.rstrip("-")) if row else None

    def _spell_rows(self) -> None:
        """Fill in the rows by spelling, all at once, and not before they are needed: most tables never are."""
        if self.rows and not self._spelled:
            spelled = spell("\n".join(self.rows)).split("\n")
            self._spelled.update(dict(zip(spelled, self.rows, strict=True)) | {row: row for row in self.rows})


MAX_NAME = 200  # characters: no prefix is longer, and odd names stay fast
DEEPEST = 8  # parts of a name between slashes
_DECORATION = (
    r"(?:ft:"  # OpenAI's fine-tuned models: ft:gpt-4o-mini:org::id
    r"|(?:ai21|amazon|azure|cohere|databricks|google|labs|meta|microsoft|nvidia|openai|zai)-)+"  # Meta-Llama-3.1-8B
)
_SPELLING = (
    (r"\.(?=i?q\d|[bf]p?16|f32|gg|gptq|awq|exl2|safetensors)", "-"),  # files: llama-2-7b.Q4_K_M.gguf
    (r"(?<![^/.\n])([a-z][a-z0-9-]*)\.(?=[a-z])", r"\1/"),  # Bedrock: us.anthropic.claude-opus-5-v1:0
    (r"(?<![^/\n])(llama|gemma|granite|mistral-small|phi|qwen)-?v?(?=\d)", r"\1-"),  # Ollama: llama3.2
    (r"(?<![^/\n])gpt-35", "gpt-3-5"),  # Azure
    (r":(?=(?:\d+x)?\d+(?:\.\d+)?b(?![a-z0-9]))", "-"),  # Ollama: mistral:7b
    (r"\.|(?<=\d)p(?=\d)", "-"),  # claude-opus-4.5 is claude-opus-4-5; Fireworks: deepseek-v3p2
)
_SAME = (  # what a name may add to a row's and still mean the model of that row, or one with its window
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
_SAME_WINDOW = rf"(?:[^a-z0-9]+(?:{'|'.join(_SAME)})(?![a-z0-9]))*+"  # a text: import compiles nothing
# Sizes as published names have them; 1m may be a window, 7m is a number of parameters
_SIZES = (
    r"(?<![0-9.])(?:(?<![a-z0-9])(2048|4096|8192|16384|32768|65536|131072|262144|1048576)"
    r"|(2|4|8|16|32|64|65|96|100|128|131|160|192|200|256|262|384|400|512|524)k|(?<![a-z0-9])([124]|10)m)(?![a-z0-9])"
)
_ROUNDED = {65: 65_536, 131: 131_072, 262: 262_144, 524: 524_288}


def candidates(model: str) -> Iterator[tuple[str, str]]:
    """Names of rows that would answer for a model, best first, each with what the model's name adds to it.

    Its full name and the prefixes of that, then what is left without provider, folder and
    vendor: `models/…`, `accounts/…/models/…`, `~anthropic/…-latest`. A prefix ends where a
    word does: `gpt-4` is not `gpt-4o`; `claude-3` is `claude-3.5-sonnet`; `my-` is
    `my-model`. What names only a provider or a folder comes last.
    """
    yield model.lower(), ""
    names = names_of(model)
    for name in names:
        yield from ((start, name[len(start) :]) for start in prefixes(name, name.rfind("/") + 1))
    for name in names:
        folder = name[: name.rfind("/")] if "/" in name else ""
        yield from ((start, name[len(start) :]) for start in (prefixes(folder, 0) if folder else ()))


def names_of(model: str) -> list[str]:
    """A full name, then what is left of it without provider, folder and vendor."""
    parts = spell(model.lower().replace("\n", " ")).split("/")[-DEEPEST:]
    if not parts[-1]:
        return []
    decoration = re.match(_DECORATION, parts[-1])
    plain = [parts[-1][decoration.end() :]] if decoration else []
    if decoration and decoration.group().startswith("ft:"):
        plain = [plain[0].partition(":")[0]]
    return ["/".join(parts[start:]) for start in range(len(parts))] + plain


def prefixes(name: str, least: int) -> Iterator[str]:
    """A name, then its prefixes longer than this that end where a word does."""
    yield name
    for end in range(min(len(name) - 1, MAX_NAME), least, -1):
        if not (name[end - 1].isalnum() and name[end].isalnum()):
            yield name[:end]


def spell(name: str) -> str:
    """One spelling for a name that providers write in several ways."""
    for pattern, written in _SPELLING:
        name = re.sub(pattern, written, name)
    return name


def same_window(rest: str) -> bool:
    """Whether what a name adds to a row's leaves the window as it is: a date, a format, a way to be served.

    Another size, version, modality or tier (`-70b`, `.5`, `-image`, `-mini`) may change it.
    """
    return len(rest) <= MAX_NAME and re.fullmatch(_SAME_WINDOW, rest) is not None


def stated_size(model: str) -> ContextWindow | None:
    """The window that a model's name states: `-4k`, `-8192`, `128k`, `-1m`."""
    found = list(re.finditer(_SIZES, model.lower().rpartition("/")[2][-MAX_NAME:]))
    if not found:
        return None
    number, thousands, millions = found[-1].groups()
    tokens = int(number) if number else int(millions) * 1_000_000 if millions else _thousands(int(thousands))
    return ContextWindow(tokens, matched=f"-{found[-1].group()}")


def _thousands(size: int) -> int:
    """Tokens of 8k or 128k: of powers of two as published tables have them, the smaller reading above 64k."""
    return _ROUNDED.get(size) or size * (1_024 if size <= 64 else 1_000)


def read_table(text: str, source: Source, path: str) -> WindowTable:
    """The rows of a models file. One that cannot be used is empty and says why."""
    try:
        data = json.loads(text)
    except ValueError as error:
        return WindowTable({}, source, f"{path} is not JSON ({error})")
    if not isinstance(data, dict):
        return WindowTable({}, source, f"{path} must hold an object, not a {type(data).__name__}")
    rows, bad = dict[str, WindowRow](), list[str]()
    for names, value in _with_members(data):
        row = _row(value)
        if row is None:
            bad += names
        else:
            rows.update((name.lower(), row) for name in names)
    problem = f"{path}: ignored {bad[0]!r}: the window must be a positive integer." if bad else None
    return WindowTable(rows, source, problem)


def _with_members(data: Mapping[str, Any]) -> Iterator[tuple[list[str], Any]]:
    """All names with their values. A family may hold its members by what they add to its name, many in one key."""
    for name, value in data.items():
        if isinstance(value, dict) and value and not value.keys() & set(WINDOW_COLUMNS):
            yield from (([name + more for more in key.split(" ")], columns) for key, columns in value.items())
        else:
            yield [name], value


def _row(value: Any) -> WindowRow | None:
    if isinstance(value, dict):
        value = [value.get(column) for column in WINDOW_COLUMNS]
    if not isinstance(value, list):
        value = [value]
    numbers = [*value, None, None][:3]
    if any(type(n) is not int or n < 1 for n in numbers if n is not None) or numbers[0] is None:
        return None
    return numbers[0], numbers[1], numbers[2]


def choose_window(
    model: str, tables: Iterable[WindowTable], *, given: int | None = None, served: ContextWindow | None = None
) -> ContextWindow:
    """The window that is said to hold: by the user, by the server, by a table."""
    found = served or _from_tables(model, tables)
    if given is None:
        return found
    cap = found.max_input_tokens
    cap = cap if cap is not None and cap < given else None
    return replace(found, tokens=given, max_input_tokens=cap, source="given", matched=None)


def _from_tables(model: str, tables: Iterable[WindowTable]) -> ContextWindow:
    """The first row that is a fact; else what the name states; else what the first row makes likely."""
    likely = None
    for table in tables:
        found = table.find(model)
        if found is not None and found.source != "assumed":
            return found
        likely = likely or found
    return stated_size(model) or likely or ContextWindow(ASSUMED)
