"""What %chat can do besides asking: a table of verbs."""

from __future__ import annotations

import json
import time
from argparse import Namespace
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from functools import partial
from typing import TYPE_CHECKING, Any

from IPython.core.error import StdinNotImplementedError, UsageError
from IPython.display import display

from .. import wording as words_of
from ..chat import Chat
from ..config.aliases import load_aliases, model_of, set_alias
from ..config.settings import HELP, SETTING_NAMES, Settings
from ..display.text import to_plain
from ..display.widgets.gauge import gauge_line, legend
from ..display.widgets.settings_form import Choice, Form
from ..display.widgets.tables import first_words, status_text, table, table_text
from ..display.widgets.turn_table import MarkBoxes, SelectionTable, TurnTable
from ..errors import StoreError
from ..models.registry import full_name, key_owner
from ..providers.catalog import PROVIDER_NAMES
from ..providers.lookup import check_provider, key_holder
from ..runtime.frontend import Origin
from ..session.actions import Change
from ..session.history import ENDINGS
from ..session.view import View, ViewPart
from ..storage.journal import is_held_elsewhere
from ..storage.store import ConversationRow

if TYPE_CHECKING:
    from .chat_magic import ChatMagic

Run = Callable[["ChatMagic", list[str], Namespace, str | None], None]


@dataclass(frozen=True, slots=True)
class Verb:
    """``takes`` and ``does`` are what help says; ``takes_text``: it may head a cell; ``options`` it knows.

    ``asks``: it sends a prompt, or draws what one would send, and tells itself what there is to tell;
    ``of_all``: it is about all conversations of the notebook.
    """

    run: Run
    takes: str
    does: str
    takes_text: bool = False
    options: tuple[str, ...] = ()
    asks: bool = False
    of_all: bool = False


USE_OPTIONS = ("model", "window", "base_url", "max_tokens", "temperature", "parameters", "on_overflow")
OF_A_REQUEST = (*USE_OPTIONS, "system")
OF_A_REQUEST_HERE = (*OF_A_REQUEST, "attach", "no_history", "append", "out", "plain")
KEY_IS_ASKED_FOR = (
    "%chat key takes one thing, a provider such as openai or an address: the key is asked for, and kept in memory "
    "only. A key that stands in the cell is saved with the notebook: delete it there."
)
CONTINUE = "Continue exactly where you stopped."


def say(*parts: object, sep: str = " ") -> None:
    """Print what may hold names and texts of others, without what a terminal would obey."""
    print(to_plain(sep.join(map(str, parts))))


def _use(magic: ChatMagic, words: list[str], options: Namespace, cell: str | None) -> None:
    given = {name: getattr(options, name) for name in USE_OPTIONS if getattr(options, name) is not None}
    if words:
        given["model"] = _one("use", words, "a model, such as local/smollm2")
    if not given:
        raise UsageError("%chat use MODEL, with --window N, --base-url URL, --max-tokens N or -t where wanted.")
    magic.talk.configure(**given)
    say(gauge_line(magic.talk.info()))
    _say_missing_key(magic.talk)


def _say_missing_key(chat: Chat) -> None:
    missing = chat.missing_key()
    if missing:
        say(missing)


def _status(magic: ChatMagic, words: list[str], options: Namespace, cell: str | None) -> None:
    _none("status", words)
    info = magic.talk.info()
    say(status_text(info, len(magic.talk.turns)))
    say(*_of_a_request(magic.talk.config), sep="\n")
    undo = f"%chat undo takes back: {info.undo}" if info.undo else ""
    redo = f"%chat redo does again: {info.redo}" if info.redo else ""
    say(*filter(None, (undo, redo)), sep="; ")


def _gauge(magic: ChatMagic, words: list[str], options: Namespace, cell: str | None) -> None:
    if words:
        magic.talk.configure(gauge=_one("gauge", words, "first, every or off"))
        _show_setting(magic.talk, "gauge")
    else:
        magic.show_gauge()


def _history(magic: ChatMagic, words: list[str], options: Namespace, cell: str | None) -> None:
    if words and not options.versions:
        raise UsageError(f"%chat history {words[0]} --versions shows all answers of a turn; alone it takes no number.")
    if options.versions:
        number = _number("history --versions", _one("history --versions", words, "a turn's number"))
        display(versions_table(magic.talk, number), raw=True)
    else:
        chat = magic.talk
        magic.show_table(history_table(chat), lambda: magic.history_of(chat))


def _pick(magic: ChatMagic, words: list[str], options: Namespace, cell: str | None) -> None:
    if len(words) != 2:
        raise UsageError("%chat pick N VERSION: %chat history N --versions shows which there are.")
    say(magic.talk.pick(*(_number("pick", word) for word in words)))


def _memory(magic: ChatMagic, words: list[str], options: Namespace, cell: str | None) -> None:
    chat = magic.talk
    if words:
        path = _one("memory", words, "a file's path, or off")
        say(chat.set_memory(None if path.lower() in ("off", "none") else path))
        return
    file, text = chat.memory
    if file is not None:
        say(
            to_plain(f"{file}:\n{text}")
            if text
            else f"Nothing of {file} is sent: it is not there, empty, or not UTF-8 text."
        )
    elif chat.conversation.memory is None:
        say("There is no memory file: preferences.md beside the notebook, or %chat memory PATH.")
    else:
        say("The memory file is off: %chat memory PATH names one.")


def _list(magic: ChatMagic, words: list[str], options: Namespace, cell: str | None) -> None:
    everywhere = bool(words) and _one("list", words, "all, for those of other notebooks too").lower() == "all"
    if words and not everywhere:
        raise UsageError(f"%chat list takes nothing or all, not {words[0]!r}.")
    library, current = magic.library, magic.library.current.name
    try:
        rows = library.rows(everywhere=everywhere)
    except StoreError as error:
        say(f"{error} These are the conversations in memory:")
        rows = library.in_memory
    display(conversations_table(rows, current, library.origin), raw=True)


def _opens(name: str, *, needed: bool) -> Run:
    """A verb that changes which conversation is talked in."""

    def run(magic: ChatMagic, words: list[str], options: Namespace, cell: str | None) -> None:
        named = [_name(name, words, "a conversation's name")] if words or needed else []
        chat = getattr(magic.library, name)(*named)
        magic.follow()
        magic.tell_notes()
        _say_where(chat)

    return run


def _say_where(chat: Chat) -> None:
    say(f"Talking in {chat.name!r}: {words_of.turns(len(chat.turns))}.")


def _rename(magic: ChatMagic, words: list[str], options: Namespace, cell: str | None) -> None:
    old = magic.library.current.name
    chat = magic.library.rename(_name("rename", words, "the new name"))
    say(f"{old!r} is now {chat.name!r}.")


def _delete(magic: ChatMagic, words: list[str], options: Namespace, cell: str | None) -> None:
    name = _name("delete", words, "a conversation's name")
    row, before = magic.library.find(name), magic.library.current
    try:
        confirm = input(f"This removes {name!r} and all that was said in it for good. Type its name again: ")
    except (StdinNotImplementedError, EOFError):
        raise UsageError("Nobody can be asked here: Library.delete(name, confirm=name) deletes in a script.") from None
    magic.library.delete(name, confirm=confirm.strip())
    magic.follow()
    say(f"Deleted {name!r} with {words_of.turns(row.turns)}. That cannot be undone.")
    if magic.library.current is not before:
        _say_where(magic.library.current)


def _resume(magic: ChatMagic, words: list[str], options: Namespace, cell: str | None) -> None:
    if not 1 <= len(words) <= 2:
        raise UsageError("%chat resume NOTEBOOK [NAME] [--summary]: %chat list all shows what there is.")
    say(magic.library.resume(*words, summary=options.summary))


def _export(magic: ChatMagic, words: list[str], options: Namespace, cell: str | None) -> None:
    path = magic.talk.export(_one("export", words, "a file: .md, .json or .ipynb"))
    say(f"Wrote {words_of.turns(len(magic.talk.turns))} to {path}.")


def _import(magic: ChatMagic, words: list[str], options: Namespace, cell: str | None) -> None:
    say(magic.talk.load(_one("import", words, "a file: .md, .json or .ipynb")))


def _preview(magic: ChatMagic, words: list[str], options: Namespace, cell: str | None) -> None:
    _none("preview", words)
    if cell is not None and cell.strip():
        options.preview = True
        magic.ask(options, cell)
    else:
        given = {name: getattr(options, name) for name in OF_A_REQUEST}
        chat = magic.talk
        magic.show_table(preview_table(chat, chat.preview(**given)), lambda: live_preview(chat, **given))


def live_history(chat: Chat) -> TurnTable:
    """Every turn, with boxes that pin and exclude."""
    return TurnTable(lambda: history_table(chat), partial(mark, chat))


def live_preview(chat: Chat, *prompt: str, **options: Any) -> TurnTable:
    """The next request, with boxes that pin and exclude its turns."""
    return TurnTable(lambda: preview_table(chat, chat.preview(*prompt, **options)), partial(mark, chat))


COMPACTION_CHOICES = (
    Choice(
        "on_overflow", "When it is full",
        [("leave out the oldest turns", "trim"), ("and summarise them", "summarise"), ("stop", "stop")],
    ),
    Choice("compact_at", "Full is at", [(f"{percent} % of the limit", percent / 100) for percent in (100, 80, 60)]),
    Choice("gauge", "Gauge", [("with the first chat cell", "first"), ("with every one", "every"), ("off", "off")]),
    Choice("footer", "Figures below", [("where somebody reads", "auto"), ("always", "on"), ("never", "off")]),
)  # fmt: skip


def live_settings(chat: Chat) -> Form:
    """The settings that people change while they talk."""
    return Form(
        COMPACTION_CHOICES, lambda name: getattr(chat.config, name), lambda name, value: chat.configure(**{name: value})
    )


def mark(chat: Chat, number: int, name: str, on: bool) -> Change:
    """Pin or exclude a turn, or take that back."""
    verbs = {("pin", True): chat.pin, ("pin", False): chat.unpin, ("exclude", True): chat.exclude}
    return verbs.get((name, on), chat.include)(number)


def _marks(name: str, *, all_too: bool = False) -> Run:
    """A verb that takes turns by number."""

    def run(magic: ChatMagic, words: list[str], options: Namespace, cell: str | None) -> None:
        if all_too and [word.lower() for word in words] == ["all"]:
            say(magic.talk.include())
            return
        if not words:
            raise UsageError(f"%chat {name} needs the number of a turn: %chat history shows them.")
        say(getattr(magic.talk, name)(*(_number(name, word) for word in words)))

    return run


def _trim(magic: ChatMagic, words: list[str], options: Namespace, cell: str | None) -> None:
    say(magic.talk.trim(_number("trim", _one("trim", words, "a number of turns")) if words else None))


def _summarise(magic: ChatMagic, words: list[str], options: Namespace, cell: str | None) -> None:
    _none("summarise", words)
    instructions = (cell or "").strip() or None
    change = magic.talk.summarize(instructions, method="model" if instructions else None)
    say(change)
    summary = magic.talk.conversation.summary
    if change.changed and summary is not None:
        say(summary.text)


def _does(name: str) -> Run:
    """A verb that takes nothing and says what it did."""

    def run(magic: ChatMagic, words: list[str], options: Namespace, cell: str | None) -> None:
        _none(name, words)
        say(getattr(magic.talk, name)())

    return run


def _system(magic: ChatMagic, words: list[str], options: Namespace, cell: str | None) -> None:
    if words:
        raise UsageError(
            "%chat system takes no text on its line: put %%chat system on a cell's first line and the text below it, "
            "or write %chat config system TEXT."
        )
    if cell is not None:
        say(magic.talk.set_system(cell.strip()))
    else:
        say(magic.talk.system or "There is no system prompt: %%chat system heads a cell with one.")


def _config(magic: ChatMagic, words: list[str], options: Namespace, cell: str | None) -> None:
    chat = magic.talk
    if words and words[0].partition("=")[0] in SETTING_NAMES and "=" in words[0]:  # NAME=VALUE
        words = [*words[0].split("=", 1), *words[1:]]
    if not words:
        rows = [
            (name, first_words(setting_text(chat, name)), chat.source_of(name), HELP[name]) for name in SETTING_NAMES
        ]
        say(table_text(("setting", "value", "from", ""), rows))
        return
    name, *values = words
    if values:
        chat.configure(**{name: values if name == "parameters" else " ".join(values)})
    elif name not in SETTING_NAMES:
        chat.configure(**{name: None})  # says that there is no such setting
    _show_setting(chat, name)
    if name == "model":
        _say_missing_key(chat)


def _key(magic: ChatMagic, words: list[str], options: Namespace, cell: str | None) -> None:
    if len(words) > 1:
        raise UsageError(KEY_IS_ASKED_FOR)
    named = words[0] if words else key_owner(magic.talk.config)
    owner = key_holder(options.base_url or named)
    magic.ask_key(owner)
    say(f"The key for {owner} is kept until this kernel ends.")


def _continue(magic: ChatMagic, words: list[str], options: Namespace, cell: str | None) -> None:
    _none("continue", words)
    if not magic.talk.turns:
        raise UsageError("There is nothing to continue yet.")
    options.raw = True
    magic.ask(options, CONTINUE)


def _code(magic: ChatMagic, words: list[str], options: Namespace, cell: str | None) -> None:
    number = _number("code", _one("code", words, "a turn's number")) if words else None
    magic.shell.set_next_input(magic.talk.code(number))


def _alias(magic: ChatMagic, words: list[str], options: Namespace, cell: str | None) -> None:
    if len(words) not in (0, 2):
        raise UsageError("%chat alias NAME MODEL keeps a short name, %chat alias NAME none drops it.")
    if words:
        name, model = words
        if model.lower() != "none":
            if name.lower() in PROVIDER_NAMES:
                raise UsageError(f"{name} is a provider's name, and stands before a slash: choose another short name.")
            model = full_name(model_of(model))
            check_provider(model.partition("/")[0])
        set_alias(name, None if model.lower() == "none" else model)
    aliases = sorted(load_aliases().items())
    say(table_text(("alias", "model"), aliases) if aliases else "No aliases yet: %chat alias NAME MODEL.")


def _models(magic: ChatMagic, words: list[str], options: Namespace, cell: str | None) -> None:
    provider = _one("models", words, "a provider, such as openrouter") if words else None
    found = sorted(magic.talk.available(provider))
    rows = [(to_plain(name), f"{window.tokens:,}", window.origin) for name, window in found]
    say(table_text(("model", "window", ""), rows) if rows else "The provider lists no models.")


def _help(magic: ChatMagic, words: list[str], options: Namespace, cell: str | None) -> None:
    rows = [
        (f"%chat {verb.takes}", verb.does)
        for name, verb in VERBS.items()
        if verb.takes and (not words or name in words)
    ]
    if not rows:
        raise UsageError(unknown(words[0], "%chat"))
    say("\n".join(f"{takes:<31} {does}" for takes, does in rows))
    if words == ["gauge"]:
        say(legend(), legend(glyphs=True), sep="\n")
    if not words:
        say(
            "\n%%chat on a cell's first line sends the text below it; %%chat? shows its options. A line that ends in ? "
            "is IPython's help and never reaches %chat."
        )


VERBS: dict[str, Verb] = {
    "use": Verb(_use, "use MODEL [--window N]", "talk with this model from here on", options=USE_OPTIONS),
    "status": Verb(_status, "status", "how full the context is, with the whole calculation"),
    "gauge": Verb(_gauge, "gauge [first | every | off]", "the gauge, here; else with which chat cells"),
    "history": Verb(
        _history, "history [N --versions]", "every turn, with its number, tokens and state; N: all its answers",
        options=("versions",),
    ),
    "pick": Verb(_pick, "pick N VERSION", "bring an older answer of turn N back"),
    "preview": Verb(
        _preview, "preview", "what the next request sends (%%chat preview: this prompt)", takes_text=True,
        options=(*OF_A_REQUEST_HERE, "new", "raw"), asks=True,
    ),
    "pin": Verb(_marks("pin"), "pin N …", "keep these turns in every request"),
    "unpin": Verb(_marks("unpin"), "unpin N …", "no longer"),
    "exclude": Verb(_marks("exclude"), "exclude N …", "leave these turns out of every request"),
    "include": Verb(_marks("include", all_too=True), "include N … | all", "bring them back; all: whatever is left out"),
    "trim": Verb(_trim, "trim [N]", "leave out the oldest turns, to about 60 % or to the newest N"),
    "summarise": Verb(_summarise, "summarise", "send the older turns as a summary", takes_text=True),
    "summarize": Verb(_summarise, "", "", takes_text=True),
    "clear": Verb(_does("clear"), "clear", "begin anew; system prompt, model and settings stay"),
    "undo": Verb(_does("undo"), "undo", "take back the last action, whole"),
    "redo": Verb(_does("redo"), "redo", "do it again"),
    "continue": Verb(
        _continue, "continue", "go on with an answer that stopped", options=(*OF_A_REQUEST_HERE, "ask"), asks=True
    ),
    "new": Verb(_opens("new", needed=False), "new [NAME]", "begin another conversation; this one stays", of_all=True),
    "switch": Verb(_opens("switch", needed=True), "switch NAME", "talk in another conversation", of_all=True),
    "fork": Verb(_opens("fork", needed=False), "fork [NAME]", "go on in a copy of this conversation", of_all=True),
    "list": Verb(_list, "list [all]", "the conversations of this notebook, or of all", of_all=True),
    "rename": Verb(_rename, "rename NAME", "call this conversation something else", of_all=True),
    "delete": Verb(_delete, "delete NAME", "remove a conversation for good; asks first", of_all=True),
    "resume": Verb(
        _resume, "resume NOTEBOOK [NAME] [--summary]", "bring another notebook's conversation in, or its summary",
        options=("summary",), of_all=True,
    ),
    "memory": Verb(_memory, "memory [PATH | off]", "the file that joins the system prompt"),
    "export": Verb(_export, "export FILE", "write the conversation as .md, .json or .ipynb"),
    "import": Verb(_import, "import FILE", "add what such a file holds"),
    "code": Verb(_code, "code [N]", "put the code of an answer into the next cell"),
    "system": Verb(_system, "system", "the system prompt (%%chat system: set it)", takes_text=True),
    "config": Verb(_config, "config [NAME VALUE]", "settings"),
    "models": Verb(_models, "models [PROVIDER]", "what a provider serves, with windows"),
    "alias": Verb(_alias, "alias [NAME MODEL]", "a short name for a model, in every notebook; none: no longer"),
    "key": Verb(_key, "key [PROVIDER]", "type a key, kept in memory only", options=("base_url",)),
    "help": Verb(_help, "help [VERB]", "this list"),
}  # fmt: skip


def unknown(name: str, head: str) -> str:
    """What to say of a first word that is not a command."""
    near = get_close_matches(name.lower(), VERBS, 1)
    hint = f" Did you mean {head} {near[0]}?" if near else ""
    return (
        f"Unknown command: {head} {name}.{hint} %chat help lists the commands. "
        "To ask a model, put %%chat alone on a cell's first line and the prompt below it."
    )


def setting_text(chat: Chat, name: str) -> str:
    """The value of a setting as it is typed."""
    value = chat.system or None if name == "system" else getattr(chat.config, name)
    if isinstance(value, Mapping):
        return " ".join(f"{key}={json.dumps(each)}" for key, each in value.items()) or "none"
    return ", ".join(map(str, value)) if isinstance(value, tuple) else "none" if value is None else str(value)


def _show_setting(chat: Chat, name: str) -> None:
    say(f"{name} = {setting_text(chat, name)} ({chat.source_of(name)})\n{HELP[name]}")


VIEW_SETTINGS = ("on_overflow", "compact_at", "min_turns", "max_turns", "budget_share", "summary_model")
REQUEST_SETTINGS = ("max_tokens", "temperature", "token_counting", "cache_ttl")


def _of_a_request(settings: Settings) -> Iterator[str]:
    """The settings that decide what is sent."""
    for what, names in (("what is sent", VIEW_SETTINGS), ("with each request", REQUEST_SETTINGS)):
        yield f"{what}: " + ", ".join(f"{name} {_or_none(getattr(settings, name))}" for name in names)
    if settings.parameters:
        yield f"further parameters: {', '.join(settings.parameters)}"


def _or_none(value: object) -> str:
    return "none" if value is None else str(value)


OMITTED = 20  # messages that a preview lists of those that are not sent


def history_table(chat: Chat) -> SelectionTable:
    """Every turn since the last clear, and what becomes of it in the next request."""
    rows = [
        (
            str(row.turn), row.cell, first_words(row.prompt), first_words(row.reply),
            f"{'' if row.exact else '~'}{row.tokens:,}", ", ".join((*row.states, *_versions(row.versions))),
        )
        for row in chat.history()
    ]  # fmt: skip
    cleared = len(chat.conversation.cleared)
    before = f" ({cleared:,} before the last clear)" if cleared else ""
    caption = f"{words_of.turns(len(rows))}{before}" if rows else f"No turns yet{before}."
    return SelectionTable(("turn", "cell", "prompt", "reply", "tokens", "state"), rows, caption, _marked(chat))


def _marked(chat: Chat) -> dict[int, MarkBoxes]:
    return {number: MarkBoxes(place.pinned, place.excluded) for number, place in enumerate(chat.conversation.places, 1)}


def _versions(count: int) -> tuple[str, ...]:
    return (f"{count} answers",) if count > 1 else ()


def versions_table(chat: Chat, number: int) -> dict[str, str]:
    """All answers that a turn has had, and which one is sent."""
    current = chat.turn(number)
    rows = [
        (
            str(i), turn.model, first_words(turn.prompt), first_words(turn.reply),
            ", ".join(filter(None, ("current" if turn is current else "", ENDINGS[turn.stop_reason]))),
        )
        for i, turn in enumerate(chat.versions(number), 1)
    ]  # fmt: skip
    others = f"%chat pick {number} VERSION brings an answer back" if len(rows) > 1 else "it has had one answer"
    caption = f"Turn {number}: {others}"
    return table(("version", "model", "prompt", "reply", "state"), rows, caption)


def conversations_table(rows: Sequence[ConversationRow], current: str, origin: Origin) -> dict[str, str]:
    """Conversations with their size and when they were last used."""
    now, cells = time.time(), list[Sequence[str]]()
    for row in rows:
        here = row.notebook == origin.scope
        state = "current" if here and row.name == current else "in another kernel" if is_held_elsewhere(row) else ""
        notebook = "this one" if here else row.notebook or "scripts"
        cells.append((row.name, words_of.turns(row.turns), words_of.ago(now - row.updated), state, notebook))
    head: Sequence[str] = ("conversation", "turns", "last used", "state", "notebook")
    if all(row.notebook == origin.scope for row in rows):
        head, cells = head[:-1], [cell[:-1] for cell in cells]
    caption = "Conversations: %chat switch NAME talks in another one"
    return table(head, cells, caption if cells else "No conversations yet.")


def preview_table(chat: Chat, view: View) -> SelectionTable:
    """The next request part by part, below a line, and above it what stays out."""
    total = max(1, view.input_tokens)
    rows: list[Sequence[str] | str] = list(_left_out(view.omitted))
    if rows:
        rows.append("the request begins here")
    rows += [_part(part, f"{100 * part.tokens / total:.0f} %") for part in view.messages]
    about = "" if view.exact else "~"
    caption = f"The next request: {about}{view.input_tokens:,} tokens in {words_of.messages(len(view.messages))}"
    return SelectionTable(("turn", "role", "text", "tokens", "share", "state"), rows, caption, _marked(chat))


def _left_out(parts: Sequence[ViewPart]) -> Iterator[Sequence[str]]:
    """What stays out of a request: of many the newest, and how many more there are."""
    more = parts[: max(0, len(parts) - OMITTED)]
    if more:
        tokens = sum(part.tokens for part in more)
        yield ("…", "", f"{len(more):,} messages before these", f"~{tokens:,}", "–", "not sent")
    yield from (_part(part, "–") for part in parts[len(more) :])


def _part(part: ViewPart, share: str) -> Sequence[str]:
    tokens = f"{'' if part.exact else '~'}{part.tokens:,}"
    state = f"{part.state}, stale" if part.stale else part.state
    return (str(part.number or ""), part.role, first_words(part.text), tokens, share, state)


def _none(name: str, words: list[str]) -> None:
    if words:
        raise UsageError(f"%chat {name} stands alone: {' '.join(words)!r} was not understood, and nothing was done.")


def _one(name: str, words: list[str], what: str) -> str:
    if len(words) != 1:
        got = f" (not {len(words)}: {' '.join(words)})" if words else ""
        raise UsageError(f"%chat {name} takes one thing: {what}{got}.")
    return words[0]


def _name(verb: str, words: list[str], what: str) -> str:
    """A name, which may be of several words."""
    return _one(verb, [" ".join(words)] if words else [], what)


def _number(name: str, word: str) -> int:
    try:
        return int(word)
    except ValueError:
        raise UsageError(f"%chat {name} takes numbers of turns, not {word!r}: %chat history shows them.") from None
