"""Tab in a %%chat line: options, models, verbs; silent in the prompt below it."""

from __future__ import annotations

import re
from contextlib import suppress
from typing import Any

from IPython.core.completer import CompletionContext, SimpleCompletion, context_matcher
from IPython.core.getipython import get_ipython

from .aliases import load_aliases
from .context.windows import Table
from .errors import InvalidRequestError
from .modelfiles import load_tables
from .providers.services import BARE, NAMES
from .settings import NAMES as SETTINGS
from .verbs import VERBS

HEADS = ("%%chat", "%chat", "%%ctx", "%ctx")
FLAGS = ("--new", "--no-history", "--append", "--ask", "--raw", "--plain", "--preview", "--versions", "--summary")
OF_A_VERB = {"--versions", "--summary"}
VALUES = (
    "--model",
    "--system",
    "--temperature",
    "--out",
    "--max-tokens",
    "--window",
    "--base-url",
    "--on-overflow",
    "--attach",
    "--conversation",
    "--set",
)
NAMING = ("-i", "--conversation", "switch", "delete")  # what a conversation's name follows
AFTER = {
    ("gauge",): ("first", "off"),
    ("include",): ("all",),
    ("config",): SETTINGS,
    ("config", "on_overflow"): ("trim", "summarise", "stop"),
    ("config", "gauge"): ("first", "off"),
    ("config", "restore"): ("auto", "ask", "off"),
    ("list",): ("all",),
    ("memory",): ("off",),
    ("help",): tuple(name for name, verb in VERBS.items() if verb.takes),
}


@context_matcher(identifier="jupyter_ctx.chat", priority=1000)
def chat_matcher(context: CompletionContext) -> Any:
    """IPython's matcher: what may stand where the cursor is; elsewhere no say."""
    first = context.full_text.partition("\n")[0].split(maxsplit=1)
    if context.cursor_line > 0 and first and first[0] in HEADS and first[0].startswith("%%") and is_ours(first[0]):
        return _prose(context)
    typed = context.line_with_cursor[: context.cursor_position]
    head, space, _ = typed.lstrip().partition(" ")
    if head not in HEADS or not space or not is_ours(head):
        return {"completions": []}
    words = typed.split()
    current = "" if typed[-1].isspace() else words[-1]
    before = words[1:] if not current else words[1:-1]
    token = context.token  # what the completer replaces: it splits at more than spaces
    skip = len(current) - len(token) if current.endswith(token) else 0
    names = _owner(head).names if before[-1:] and before[-1] in NAMING else []
    found = [word for word in (*names, *_possible(before, current)) if word.startswith(current)]
    return {
        "completions": [SimpleCompletion(text=word[skip:], type="param") for word in found],
        "suppress": True,
        "ordered": True,
    }


def is_ours(head: str) -> bool:
    """Whether a magic such as ``%%chat`` is ours here: others own one of that name."""
    return type(_owner(head)).__module__.startswith("jupyter_ctx.")


def _owner(head: str) -> Any:
    """The object whose method a magic is."""
    shell: Any = get_ipython()
    kind = "cell" if head.startswith("%%") else "line"
    function = shell.magics_manager.magics[kind].get(head.lstrip("%")) if shell else None
    return getattr(function, "__self__", None)


def _prose(context: CompletionContext) -> Any:
    """No Python names in a prompt: only a matcher that finds something may silence the others."""
    return {"completions": [SimpleCompletion(text=context.token)], "suppress": True}


def _possible(before: list[str], current: str) -> list[str]:
    last = before[-1] if before else ""
    if last in ("-m", "--model") or before == ["use"]:
        with suppress(InvalidRequestError):  # a damaged file is told of when it is used
            return [*load_aliases(), *model_names()]
        return model_names()
    if before == ["models"]:
        return list(NAMES)
    if last == "--on-overflow":
        return ["trim", "summarise", "stop"]
    verb = VERBS.get(before[0]) if before else None
    if verb is not None:
        known = [option for option in (*VALUES, *FLAGS) if option.strip("-").replace("-", "_") in verb.options]
        return [*AFTER.get(tuple(before), ()), *known]
    options = [option for option in (*VALUES, *FLAGS) if option not in (*before, *OF_A_VERB)]
    names = [name for name, verb in VERBS.items() if verb.takes] if not before else []
    return options if current.startswith("-") else names + options


def model_names() -> list[str]:
    """Full names of models that a table knows and a provider here can serve."""
    names: dict[str, None] = {"local/smollm2": None}
    for table in load_tables():
        names.update(dict.fromkeys(_served(table)))
    return list(names)


def _served(table: Table) -> list[str]:
    # a host's rows in ours are exceptions, and some rows are families: gpt, claude
    full = [name for name in table.rows if "/" in name] if table.source == "user file" else []
    named = [name for name in table.rows if any(map(str.isdigit, name))]
    return full + [f"{provider}/{name}" for name in named for pattern, provider in BARE if re.match(pattern, name)]
