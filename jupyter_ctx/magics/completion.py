"""Tab in a %%chat line: options, models, verbs; silent in the prompt below it."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from typing import Any

from IPython.core.completer import CompletionContext, SimpleCompletion, context_matcher
from IPython.core.getipython import get_ipython

from ..config.aliases import load_aliases
from ..config.settings import SETTING_NAMES, choices
from ..errors import InvalidRequestError
from ..models.model_names import bare_names, known_models, model_names, providers
from ..providers.catalog import PROVIDER_NAMES, SERVICES
from .commands import VERBS

HEADS = ("%%chat", "%chat", "%%ctx", "%ctx")
FLAGS = ("--new", "--no-history", "--append", "--ask", "--raw", "--plain", "--preview", "--versions", "--summary")
OF_A_VERB = {"--versions", "--summary"}
SHORT = {
    "-m": "--model", "-s": "--system", "-t": "--temperature", "-o": "--out", "-a": "--attach", "-i": "--conversation",
}  # fmt: skip
VALUES = (*SHORT.values(), "--max-tokens", "--window", "--base-url", "--on-overflow", "--set")
NAMING = ("-i", "--conversation", "switch", "delete")  # what a conversation's name follows
OF_A_FILE = ("export", "import", "memory", "resume")
VALUES_AFTER = {
    "include": ("all",),
    "config": SETTING_NAMES,
    "list": ("all",),
    "memory": ("off",),
    "help": tuple(name for name, verb in VERBS.items() if verb.takes),
    "models": PROVIDER_NAMES,
    "key": tuple(SERVICES),
}


@context_matcher(identifier="jupyter_ctx.chat", priority=1000)
def chat_matcher(context: CompletionContext) -> Any:
    """IPython's matcher: what may stand where the cursor is; elsewhere no say."""
    first = context.full_text.partition("\n")[0].split(maxsplit=1)
    if context.cursor_line > 0 and first and first[0] in HEADS and first[0].startswith("%%") and is_prompt(first[0]):
        return _prose(context)
    typed = context.line_with_cursor[: context.cursor_position]
    head, space, _ = typed.lstrip().partition(" ")
    if head not in HEADS or not space or not is_prompt(head):
        return {"completions": []}
    words = typed.split()
    current = "" if typed[-1].isspace() else words[-1]
    before = words[1:] if not current else words[1:-1]
    token = context.token  # what the completer replaces: it splits at more than spaces
    skip = len(current) - len(token) if current.endswith(token) else 0
    names = _owner(head).names if before[-1:] and before[-1] in NAMING else []
    found = [word for word in (*names, *_possible(before, current)) if word.startswith(current)]
    if not found:  # nothing of Python's belongs here
        return _prose(context)
    return {
        "completions": [SimpleCompletion(text=word[skip:], type="param") for word in found],
        "suppress": True,
        "ordered": True,
    }


def is_prompt(head: str) -> bool:
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
    """What may stand after these words of the line."""
    option = SHORT.get(before[-1], before[-1]) if before else ""
    if option in VALUES:
        return _values(option, current)
    verb = VERBS.get(before[0]) if before else None
    if verb is not None:
        return _of_a_verb(before, current)
    options = [option for option in (*VALUES, *FLAGS) if option not in (*before, *OF_A_VERB)]
    names = [name for name, verb in VERBS.items() if verb.takes] if not before else []
    return options if current.startswith("-") else names + options


def _of_a_verb(before: list[str], current: str) -> list[str]:
    verb, alone = VERBS[before[0]], len(before) == 1
    known = [option for option in (*VALUES, *FLAGS) if _attribute(option) in verb.options]
    known += ["--conversation"] if not verb.of_all else []
    if before[0] == "config" and len(before) == 2:
        return _of_a_setting(before[1], current)
    models = _models(current) if alone and before[0] == "use" else []
    files = _files(current) if alone and before[0] in OF_A_FILE else []
    words = choices("gauge") if before == ["gauge"] else VALUES_AFTER.get(before[0], ()) if alone else ()
    return [*words, *models, *files, *known]


def _attribute(option: str) -> str:
    """What the parser calls an option."""
    return "parameters" if option == "--set" else option.strip("-").replace("-", "_")


def _values(option: str, current: str) -> list[str]:
    if option == "--model":
        return _models(current)
    if option == "--attach":
        return _files(current)
    if option == "--system" and current.startswith("@"):
        return [f"@{path}" for path in _files(current[1:])]
    return list(choices("on_overflow")) if option == "--on-overflow" else []


def _of_a_setting(name: str, current: str) -> list[str]:
    if name in ("model", "summary_model"):
        return _models(current)
    return list(choices(name)) if name in SETTING_NAMES else []


def _models(current: str) -> list[str]:
    """Models of the provider that is named already, else short names, providers and the makers' models."""
    provider, slash, _ = current.partition("/")
    if slash:
        return [*known_models(provider), *(name for name in model_names() if name.startswith(current))]
    aliases: list[str] = []
    with suppress(InvalidRequestError):  # a damaged file is told of when it is used
        aliases += load_aliases()
    bare = bare_names() if current else []
    return list(dict.fromkeys([*aliases, *model_names(), *providers(), *bare]))


def _files(current: str) -> list[str]:
    """Files and folders whose path begins so; those with a space must be quoted, and are left out."""
    folder, _, start = current.rpartition("/")
    place = Path(f"{folder}/" if "/" in current else ".").expanduser()
    typed = current[: len(current) - len(start)]
    with suppress(OSError, RuntimeError):
        found = sorted(place.iterdir())
        shown = [path for path in found if start.startswith(".") or not path.name.startswith(".")]
        return [f"{typed}{path.name}{'/' if path.is_dir() else ''}" for path in shown if " " not in path.name]
    return []
