"""How much a model can hold, and who says so.

What the user gave comes first; then what the server that serves the model reports; then tables:
the user's own file, ours, and the same one compiled in. What nobody knows is assumed, and said to
be. What refusals teach is in ``evidence``.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal

Seen = Literal["given", "refused", "stated", "passed"]
Source = Literal["given", "learned", "server", "user file", "models.json", "provider", "built in", "assumed"]
ASSUMED = 32_000
COLUMNS = ("context_window", "max_input_tokens", "max_output_tokens")
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
    then ``tokens`` is an upper bound.
    """

    tokens: int
    max_input_tokens: int | None = None
    max_output_tokens: int | None = None
    source: Source = "assumed"
    matched: str | None = None
    given: int | None = None
    passed: int | None = None
    refused: int | None = None

    @property
    def origin(self) -> str:
        """Where the number comes from, in words."""
        if self.source == "learned":
            seen = (f"{SEEN[what]} {tokens:,}" for what, tokens in self.evidence)
            return f"learned: {', '.join(seen)}"
        row = f" ({self.matched})" if self.matched else ""
        return ORIGINS[self.source] + row

    @property
    def is_of_prompts(self) -> bool:
        """Whether it was seen of whole prompts: then nothing is taken off ``max_input_tokens`` for the reply."""
        return self.refused is not None or self.max_input_tokens == self.passed == self.tokens

    @property
    def evidence(self) -> tuple[tuple[Seen, int], ...]:
        """What a learned window rests on, each with its figure in tokens."""
        stated = None if self.is_of_prompts else self.max_input_tokens or self.tokens
        found: tuple[tuple[Seen, int | None], ...] = (
            ("given", self.given), ("refused", self.refused), ("stated", stated), ("passed", self.passed)
        )  # fmt: skip
        return tuple((what, tokens) for what, tokens in found if tokens)


@dataclass(frozen=True, slots=True)
class Table:
    """Rows of a models file: name or prefix to ``[window, input cap, output cap]``.

    ``problem`` says in one line why a file could not be used.
    """

    rows: Mapping[str, tuple[int, int | None, int | None]]
    source: Source
    problem: str | None = None
    _spelled: dict[str, str] = field(default_factory=dict, init=False, repr=False, compare=False)

    def find(self, model: str) -> ContextWindow | None:
        """The exact row of a model, else that of its longest prefix."""
        if not self._spelled:  # not before it is needed: most tables never are
            self._spelled.update({spell(row): row for row in self.rows} | {row: row for row in self.rows})
        row = next((self._spelled[name] for name in candidates(model) if name in self._spelled), None)
        return None if row is None else ContextWindow(*self.rows[row], self.source, row)


LONGEST = 200  # characters: no prefix is longer, and odd names stay fast
DEEPEST = 8  # parts of a name between slashes
_DECORATION = (
    r"(?:ft:"  # OpenAI's fine-tuned models: ft:gpt-4o-mini:org::id
    r"|(?:databricks|labs|meta|nvidia|zai)-)+"  # makers in one word: Meta-Llama-3.1-8B, zai-glm-4.7
)
_SPELLING = (
    (r"(?<![^/.])([a-z][a-z0-9-]*)\.(?=[a-z])", r"\1/"),  # Bedrock: us.anthropic.claude-opus-5-v1:0
    (r"(?<![^/])(llama|gemma|granite|mistral-small|phi|qwen)-?v?(?=\d)", r"\1-"),  # Ollama: llama3.2
    (r"(?<![^/])gpt-35", "gpt-3-5"),  # Azure
    (r"\.|(?<=\d)p(?=\d)", "-"),  # claude-opus-4.5 is claude-opus-4-5; Fireworks: deepseek-v3p2
)


def candidates(model: str) -> Iterator[str]:
    """Names of rows that would answer for a model, best first.

    Its full name and the prefixes of that, then what is left without provider, folder and
    vendor: `models/…`, `accounts/…/models/…`, `~anthropic/…-latest`. A prefix ends where a
    word does: `gpt-4` is not `gpt-4o`; `claude-3` is `claude-3.5-sonnet`; `my-` is
    `my-model`. That is all it takes for `@20250929` of Vertex, `:free` of OpenRouter, `:1b`
    of Ollama, `-v1:0` of Bedrock and every date. What names only a provider or a folder
    comes last.
    """
    yield model.lower()
    names = names_of(model)
    for name in names:
        yield from prefixes(name, name.rfind("/") + 1)
    for name in names:
        yield from prefixes(name[: name.rfind("/")], 0) if "/" in name else ()


def names_of(model: str) -> list[str]:
    """A full name, then what is left of it without provider, folder and vendor."""
    parts = spell(model.lower()).split("/")[-DEEPEST:]
    if not parts[-1]:
        return []
    decoration = re.match(_DECORATION, parts[-1])
    plain = [parts[-1][decoration.end() :]] if decoration else []
    return ["/".join(parts[start:]) for start in range(len(parts))] + plain


def prefixes(name: str, least: int) -> Iterator[str]:
    """A name, then its prefixes longer than this that end where a word does."""
    yield name
    for end in range(min(len(name) - 1, LONGEST), least, -1):
        if not (name[end - 1].isalnum() and name[end].isalnum()):
            yield name[:end]


def spell(name: str) -> str:
    """One spelling for a name that providers write in several ways."""
    for pattern, written in _SPELLING:
        name = re.sub(pattern, written, name)
    return name


def read_table(text: str, source: Source, path: str) -> Table:
    """The rows of a models file. One that cannot be used is empty and says why."""
    try:
        data = json.loads(text)
    except ValueError as error:
        return Table({}, source, f"{path} is not JSON ({error})")
    if not isinstance(data, dict):
        return Table({}, source, f"{path} must hold an object, not a {type(data).__name__}")
    rows, bad = {}, []
    for name, value in _with_members(data):
        row = _row(value)
        if row is None:
            bad.append(name)
        else:
            rows[name.lower()] = row
    problem = f"{path}: no use of {bad[0]!r} (a window is a whole number above 0)" if bad else None
    return Table(rows, source, problem)


def _with_members(data: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """Every name with its value. A family may hold its members by what their names add to its own."""
    for name, value in data.items():
        if isinstance(value, dict) and value and not value.keys() & set(COLUMNS):
            yield from ((name + more, columns) for more, columns in value.items())
        else:
            yield name, value


def _row(value: Any) -> tuple[int, int | None, int | None] | None:
    if isinstance(value, dict):
        value = [value.get(column) for column in COLUMNS]
    if not isinstance(value, list):
        value = [value]
    numbers = [*value, None, None][:3]
    if any(type(n) is not int or n < 1 for n in numbers if n is not None) or numbers[0] is None:
        return None
    return numbers[0], numbers[1], numbers[2]


def choose_window(
    model: str, tables: Iterable[Table], *, given: int | None = None, served: ContextWindow | None = None
) -> ContextWindow:
    """The window that is said to hold: by the user, by the server, by a table."""
    found = served or _from_tables(model, tables)
    if given is None:
        return found
    cap = found.max_input_tokens
    cap = cap if cap is not None and cap < given else None
    return replace(found, tokens=given, max_input_tokens=cap, source="given", matched=None)


def _from_tables(model: str, tables: Iterable[Table]) -> ContextWindow:
    found = (table.find(model) for table in tables)
    return next((window for window in found if window is not None), ContextWindow(ASSUMED))
