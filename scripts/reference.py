"""The generated parts of the book's reference: a page names one in a comment, ``<!-- generated: commands -->``.

Each is made from what is declared: commands, options, settings, docstrings, the help of ``jupyter ctx``, and texts of
``%chat help``. The build of the book and its tests read them; nothing is written.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from contextlib import redirect_stdout, suppress
from functools import cache, partial
from io import StringIO
from pathlib import Path
from unittest.mock import patch

import jupyter_ctx
from jupyter_ctx import errors
from jupyter_ctx.__main__ import main
from jupyter_ctx.config.settings import ABOUT, HELP, About, Settings, choices, typed_value, wanted
from jupyter_ctx.magics.command_table import GROUPS, Command
from jupyter_ctx.magics.commands import COMMANDS
from jupyter_ctx.magics.help_pages import OF_SETTINGS, TOPICS, topic_text
from jupyter_ctx.magics.line_options import OF_A_PROMPT, OPTIONS, Option
from jupyter_ctx.providers.lookup import SERVICES

ROOT = Path(__file__).resolve().parents[1]
MARKED = re.compile(r"<!-- generated: ([\w-]+) -->")
RELATIVE_LINK = re.compile(r"\]\((?!\w+:|#)")
PAGES = {  # of each part of the book, in order; those that are not named come last
    "lessons": (),
    "how-to": (
        "coming-from", "use-a-hosted-model", "use-your-own-server", "change-settings", "set-environment",
        "set-the-effort", "write-prompts", "values-and-files", "send-the-cells-above", "call-functions",
        "fix-an-error", "get-a-structured-answer", "side-by-side", "read-the-gauge", "recover", "undo-and-keep",
        "export-a-conversation", "keep-a-budget", "cost-of-a-policy", "see-tokens", "find-how-far-a-model-holds",
        "ask-a-table", "score-answers", "compare-prompts", "run-in-a-build", "use-in-a-script", "teach-a-class",
        "publish", "use-elsewhere",
    ),
    "reference": (
        "commands", "options", "settings", "shell", "api", "errors", "models-file", "front-ends", "help-topics",
    ),
    "how-it-works": (
        "budget", "view", "recovery", "counting", "evidence", "attachments", "runs", "statistics", "storage",
        "safety",
    ),
}  # fmt: skip
FURTHER = {  # classes that a script meets without importing them from the root
    "For a provider of your own": [
        f"providers.base.{name}" for name in ("ModelInfo", "Request", "SupportsStream", "Thought")
    ],
    "What methods return": ["session.actions.Change", "session.tables.View"],
}
PUBLIC_ERRORS = [name for name in jupyter_ctx.__all__ if name in vars(errors)]


def filled(text: str) -> str:
    """Return a page with its generated parts. Raises KeyError for a part of another name."""
    return MARKED.sub(lambda found: "\n".join(PARTS[found[1]]()), text)


def _commands() -> Iterator[str]:
    for group in GROUPS:
        members = [each for each in dict.fromkeys(COMMANDS.values()) if each.group == group]
        if members:
            yield f"## {group}\n"
        for command in members:
            yield from _command(command)


def _command(command: Command) -> Iterator[str]:
    yield f"(command-{command.name})=\n### `{command.line}`\n\n{_sentence(command.help)}\n"
    own = [option for option in command.options if option not in OF_A_PROMPT]
    shared = ", ".join(f"`{option.flag}`" for option in command.options if option in OF_A_PROMPT)
    if own:
        yield f"{_table(('option', ''), map(_option, own))}\n"
    if shared:
        yield f"It also takes {shared}.\n"
    if command.examples:
        examples = "\n\n".join(command.examples)
        yield f"```ipython\n{examples}\n```\n"


def _options() -> Iterator[str]:
    yield _table(("option of `%%chat`", ""), map(_option, OF_A_PROMPT))
    yield "\n## Options of commands\n"
    rows = ((*_option(option), ", ".join(map(_linked, option.of))) for option in OPTIONS if option not in OF_A_PROMPT)
    yield _table(("option", "", "of"), rows)


def _linked(name: str) -> str:
    command = COMMANDS[name]
    return f"[`{command.mark} {name}`](#command-{name})"


def _option(option: Option) -> tuple[str, str]:
    return f"`{option.usage}`", option.help


def _settings() -> Iterator[str]:
    for about, title in {**OF_SETTINGS, "keyword": "Keywords of Chat and its methods, which are no settings"}.items():
        yield f"## {title}\n\n{_table(('setting', '', 'default', 'values'), _rows(about))}\n"


def _rows(about: About) -> Iterator[tuple[str, ...]]:
    default = Settings()
    for name, of in ABOUT.items():
        if of == about:
            values = ", ".join(f"`{word}`" for word in choices(name)) or wanted(name)
            yield f"`{name}`", HELP[name], f"`{typed_value(getattr(default, name))}`", values


def _providers() -> Iterator[str]:
    yield _table(("provider", "its key", "its address", "without that"), map(_provider, SERVICES))


def _provider(name: str) -> tuple[str, ...]:
    service = SERVICES[name]
    keys = ", else ".join(f"`{key}`" for key in service.keys)
    if keys and service.self_hosted:
        keys += ", where the server wants one"
    address = f"`{service.variable}`" if service.variable else ""
    example = f"none; such as `{service.example}`" if service.example else "the provider's own"
    return f"`{name}`", keys or "none", address, f"`{service.base_url}`" if service.base_url else example


def shell_help(*command: str) -> str:
    """Return what ``jupyter ctx COMMAND --help`` prints."""
    with redirect_stdout(StringIO()) as printed, suppress(SystemExit), patch.dict("os.environ", {"COLUMNS": "90"}):
        main([*command, "--help"])
    return printed.getvalue()


@cache
def shell_commands() -> tuple[str, ...]:
    """Return the commands of ``jupyter ctx``."""
    return tuple(re.findall(r"(?m)^    (\w+)  ", shell_help()))


def _shell() -> Iterator[str]:
    for name in shell_commands():
        yield f"## `jupyter ctx {name}`\n\n```text\n{shell_help(name)}```\n"


def _api() -> Iterator[str]:
    for title, is_class in (("Functions", False), ("Classes", True)):
        names = [name for name in jupyter_ctx.__all__ if name not in PUBLIC_ERRORS]
        chosen = [name for name in names if isinstance(getattr(jupyter_ctx, name), type) is is_class]
        yield f"## {title}\n"
        yield from _documented("class" if is_class else "function", chosen)
    for title, names in FURTHER.items():
        yield f"## {title}\n"
        yield from _documented("class", names)


def _errors() -> Iterator[str]:
    tree = (errors.__doc__ or "").partition("\n\n")[2].partition("\n\n")[0]
    yield f"```text\n{tree}\n```\n"
    yield from _documented("exception", PUBLIC_ERRORS)


def _documented(kind: str, names: Iterable[str]) -> Iterator[str]:
    """Yield each name with its signature and docstring."""
    members = "   :members:\n" if kind == "class" else ""
    for name in names:
        yield f"```{{eval-rst}}\n.. auto{kind}:: jupyter_ctx.{name}\n{members}```\n"


def _topics() -> Iterator[str]:
    for name in TOPICS:
        title, _, text = topic_text(name).partition("\n")
        yield f"(topic-{name})=\n## {name}: {title.removeprefix('# ')}\n{text}"


def _pages(part: str) -> Iterator[str]:
    """Yield the list of a part's pages: in the order of PAGES, and others after them."""
    first = PAGES[part]
    names = {path.stem for suffix in ("md", "ipynb") for path in (ROOT / "docs" / part).glob(f"*.{suffix}")} - {"index"}
    listed = sorted(names, key=lambda name: (first.index(name) if name in first else len(first), name))
    yield "```{toctree}\n" + "\n".join(listed) + "\n```"


def _contributing() -> Iterator[str]:
    yield RELATIVE_LINK.sub("](path:../", (ROOT / "CONTRIBUTING.md").read_text("utf-8"))


def _sentence(text: str) -> str:
    return f"{text[0].upper()}{text[1:]}."


def _table(head: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> str:
    """Return a Markdown table."""
    lines = [head, ("---",) * len(head), *rows]
    return "\n".join(f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in line)} |" for line in lines)


PARTS: dict[str, Callable[[], Iterator[str]]] = {
    "commands": _commands, "options": _options, "settings": _settings, "shell": _shell, "api": _api,
    "errors": _errors, "topics": _topics, "contributing": _contributing, "providers": _providers,
    **{part: partial(_pages, part) for part in PAGES},
}  # fmt: skip
