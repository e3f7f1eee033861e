"""What each command of %chat does, below its declaration; command_table.py says how to add one."""

from __future__ import annotations

from collections.abc import Iterator

from IPython.core.error import UsageError
from IPython.display import display

from .. import wording as words_of
from ..chat import Chat
from ..config.aliases import load_aliases, model_of, set_alias
from ..config.settings import DEFAULT, HELP, SETTING_NAMES, SETTINGS, Settings, typed_value, wanted
from ..conversation.text_safety import without_keys
from ..display.text import to_plain
from ..display.widgets.gauge import gauge_line, legend
from ..display.widgets.tables import first_words, status_text, table_text
from ..errors import StoreError
from ..export.formats import FORMATS
from ..models.registry import full_name, key_owner
from ..providers.lookup import check_known, key_holder, provider_names
from ..runtime.frontend import where
from ..session.actions import Change, Method
from ..session.prompt import Prompt
from ..wording.layout import line_width, wrapped_list
from .command_table import COMMANDS as COMMANDS  # whole only with the declarations below
from .command_table import Call, command, say, unknown_topic
from .map_command import OF_A_MAP, ask_rows
from .options import OF_A_REQUEST, settings_of
from .questions import typed_answer
from .tables import conversations_table, history_table, previewed, versions_table

EXPORTED_AS = " or ".join(", ".join(FORMATS).rsplit(", ", 1))  # .md, .json or .ipynb
USE_OPTIONS = tuple(name for name in OF_A_REQUEST if name != "system")
OF_A_REQUEST_HERE = (*OF_A_REQUEST, "attach", "no_history", "append", "out", "plain")
KEY_IS_ASKED_FOR = (
    "%chat key takes one thing, a provider such as openai or an address: the key is asked for, and kept in memory "
    "only. A key that stands in the cell is saved with the notebook: delete it there."
)
CONTINUE = "Continue exactly where you stopped."


@command("use MODEL [--window N]", "use this model from now on", options=USE_OPTIONS)
def _use(call: Call) -> object:
    given = {name: value for name, value in settings_of(call.options).items() if value is not None}
    if call.words:
        given["model"] = call.one("a model, such as local/smollm2")
    if not given:
        raise UsageError("%chat use MODEL, with --window N, --base-url URL, --max-tokens N or -t where wanted.")
    before = call.chat.config
    call.chat.configure(**given)
    say(gauge_line(call.chat.info()))
    now = call.chat.config
    if before.base_url and now.base_url is None:
        say(f"base_url {without_keys(before.base_url)} went with {before.model}: {now.model} is asked at its provider.")
    return call.chat.missing_key() or None


@command("status", "show how full the context is, the whole calculation, and the settings that decide what is sent")
def _status(call: Call) -> object:
    info = call.chat.info()
    say(status_text(info, len(call.chat.turns), terminal=where(call.host.shell).kind == "terminal"))
    saved = str(call.chat.savings())
    if saved:
        say(saved)
    say(*(wrapped_list(line, line_width(), "  ") for line in _deciding(call.chat)), sep="\n")
    undo = f"%chat undo takes back: {info.undo}" if info.undo else ""
    redo = f"%chat redo does again: {info.redo}" if info.redo else ""
    return "; ".join(filter(None, (undo, redo))) or None


@command("gauge [follow | off]", "show the gauge here, or set whether it follows the newest chat cell")
def _gauge(call: Call) -> object:
    if not call.words:
        return call.host.show_gauge(call.chat)
    call.chat.configure(gauge=call.one("follow or off"))
    return _setting_line(call.chat, "gauge")


@command(
    "history [N --versions]", "list every turn with its number, tokens and state; N --versions: all answers of turn N",
    options=("versions",),
)  # fmt: skip
def _history(call: Call) -> object:
    chat = call.chat
    if call.options.versions:
        display(versions_table(chat, call.number(call.one("a turn's number"))), raw=True)
    elif call.words:
        raise UsageError(
            f"%chat history {call.words[0]} --versions shows all answers of a turn; alone it takes no number."
        )
    else:
        call.host.show_table(history_table(chat), lambda: call.host.history_of(chat))
    return None


@command("plot [RUN]", "draw tokens and cost of each turn, or what a run of %%chat map --as scored")
def _plot(call: Call) -> object:
    from .plot_command import plot

    return plot(call)


@command("pick N [VERSION]", "take answer N of those side by side; with a version, restore that answer of turn N")
def _pick(call: Call) -> object:
    if len(call.words) == 1:
        number = call.count(call.words[0], "the number of an answer")
        return call.host.choose(call.chat, number, is_named=bool(call.options.conversation))
    if len(call.words) != 2:
        raise UsageError(
            "%chat pick takes the number of an answer side by side; or a turn and a version: %chat history N "
            "--versions lists the versions of turn N."
        )
    return call.chat.pick(*map(call.number, call.words))


@command("compare [N]", "show the answers side by side that came last, or all of turn N, with the words that differ")
def _compare(call: Call) -> object:
    from .side_by_side import show_versions

    number = call.number(call.one("a turn's number")) if call.words else None
    if number is None and not call.chat.turns and not call.chat.conversation.offers:
        raise UsageError("There are no answers yet: %%chat -m A -m B asks several models at once.")
    return display(show_versions(call.chat, number), raw=True)


@command(
    "preview", "show what the next request sends; %%chat preview: with the prompt in the cell", heads_cell=True,
    options=(*OF_A_REQUEST_HERE, "error", "new", "raw"), asks=True,
)  # fmt: skip
def _preview(call: Call) -> object:
    chat, options = call.chat, call.options
    if options.error or (call.text is not None and call.text.strip()):
        options.preview = True
        return call.host.ask(chat, options, call.text or "")
    prompt = Prompt("", settings_of(options))
    return call.host.show_table(previewed(chat, prompt), lambda: call.host.preview_of(chat, prompt))


@command(
    "map TABLE", "%%chat map: ask the prompt in the cell of every row of a table, {{ column }} being filled in",
    heads_cell=True, options=(*OF_A_REQUEST, "schema", "out", *OF_A_MAP),
)  # fmt: skip
def _map(call: Call) -> object:
    return ask_rows(call)


@command("pin N…", "pin turns: every request includes them")
def _pin(call: Call) -> object:
    return call.chat.pin(*_turns(call))


@command("unpin N…", "take pins off")
def _unpin(call: Call) -> object:
    return call.chat.unpin(*_turns(call))


@command("exclude N…", "leave turns out of every request")
def _exclude(call: Call) -> object:
    return call.chat.exclude(*_turns(call))


@command("include N… | all", "include turns again that were left out; all: every one")
def _include(call: Call) -> object:
    everything = [word.lower() for word in call.words] == ["all"]
    return call.chat.include(*(() if everything else _turns(call)))


def _turns(call: Call) -> Iterator[int]:
    if not call.words:
        raise UsageError(f"%chat {call.name} needs the number of a turn: %chat history shows them.")
    return map(call.number, call.words)


@command("trim [N]", "leave out the oldest turns, down to about 60 % of the limit, or keep the newest N")
def _trim(call: Call) -> object:
    what = "how many of the newest turns to keep"
    return call.chat.trim(call.count(call.one(what), what) if call.words else None)


@command(
    "summarise [N] [--extractive]",
    "send a summary in place of the older turns; N: keep the newest N word for word; --extractive: ask no model",
    also="summarize", heads_cell=True, options=("extractive",),
)  # fmt: skip
def _summarise(call: Call) -> object:
    instructions, extractive = (call.text or "").strip() or None, call.options.extractive
    if instructions and extractive:
        raise UsageError("--extractive asks no model, so nobody would read the text below: leave one of them out.")
    what = "how many of the newest turns to keep word for word"
    below = "; what a summary should keep goes below %%chat summarise, from the cell's second line on"
    turns = call.count(" ".join(call.words), what, below) if call.words else None
    method: Method | None = "extractive" if extractive else "model" if instructions else None
    change = call.chat.summarize(instructions, turns=turns, method=method)
    say(change)
    summary = call.chat.conversation.summary
    return summary.text if change.changed and summary is not None else None


@command("clear", "leave out all turns; system prompt, model and settings stay")
def _clear(call: Call) -> Change:
    return call.chat.clear()


@command("undo", "undo the last action")
def _undo(call: Call) -> Change:
    return call.chat.undo()


@command("redo", "redo the action that was undone last")
def _redo(call: Call) -> Change:
    return call.chat.redo()


@command(
    "fix", "ask for the cell that failed, corrected, and put it into the next cell; %%chat fix: with your wishes below",
    heads_cell=True, options=(*OF_A_REQUEST_HERE, "error", "new", "ask", "preview"), asks=True,
)  # fmt: skip
def _fix(call: Call) -> None:
    from .fix_command import fix

    fix(call)


@command("continue", "continue an answer that was cut off", options=(*OF_A_REQUEST_HERE, "ask"), asks=True)
def _continue(call: Call) -> object:
    if not call.chat.turns:
        raise UsageError("There is nothing to continue yet.")
    _check_continued(call)
    call.options.raw = True
    return call.host.ask(call.chat, call.options, CONTINUE)


def _check_continued(call: Call) -> None:
    """Refuse to ask for the rest of an answer that the request would not hold. Raises UsageError."""
    options, place = call.options, where(call.host.shell)
    prompt = Prompt(
        CONTINUE, settings_of(options), cell=place.cell, run=place.run, append=options.append,
        record=not options.no_history,
    )  # fmt: skip
    if all(part.state in ("system", "prompt") for part in call.chat.view(prompt).messages):
        why = "--no-history sends none" if options.no_history else "%chat include all brings turns back"
        raise UsageError(f"The next request holds no turn, so the model would not see what to continue: {why}.")


@command("new [NAME]", "start another conversation; this one stays", every_conversation=True)
def _new(call: Call) -> object:
    return _talk_in(call, call.host.library.new(*_named(call)))


@command("switch CONVERSATION", "switch to another conversation", every_conversation=True)
def _switch(call: Call) -> object:
    return _talk_in(call, call.host.library.switch(call.phrase("a conversation's name")))


@command("fork [NAME]", "copy this conversation and continue in the copy", every_conversation=True)
def _fork(call: Call) -> object:
    return _talk_in(call, call.host.library.fork(*_named(call)))


def _named(call: Call) -> tuple[str, ...]:
    return (" ".join(call.words),) if call.words else ()


def _talk_in(call: Call, chat: Chat) -> str:
    call.host.follow()
    call.host.tell_notes()
    return f"Talking in {chat.name!r}: {words_of.turns(len(chat.turns))}."


@command(
    "list [all]", "list the conversations of this notebook, or of all notebooks",
    every_conversation=True,
)  # fmt: skip
def _list(call: Call) -> object:
    everywhere = bool(call.words) and call.one("all, for those of other notebooks too").lower() == "all"
    if call.words and not everywhere:
        raise UsageError(f"%chat list takes nothing or all, not {call.words[0]!r}.")
    library, current = call.host.library, call.host.library.current.name
    try:
        rows = library.rows(everywhere=everywhere)
    except StoreError as error:
        say(f"{error} These are the conversations in memory:")
        rows = library.in_memory
    return display(conversations_table(rows, current, library.origin), raw=True)


@command("rename NAME", "rename this conversation", every_conversation=True)
def _rename(call: Call) -> object:
    old = call.host.library.current.name
    return f"{old!r} is now {call.host.library.rename(call.phrase('the new name')).name!r}."


@command(
    "delete [CONVERSATION] [--answers]", "delete a conversation for good, or all stored answers of maps, after asking",
    options=("answers",), every_conversation=True,
)  # fmt: skip
def _delete(call: Call) -> object:
    if call.options.answers:
        return _delete_answers(call)
    name, library = call.phrase("a conversation's name"), call.host.library
    row, before = library.find(name), library.current
    library.delete(name, confirm=_confirmed(name))
    call.host.follow()
    say(f"Deleted {name!r} with {words_of.turns(row.turns)}. That cannot be undone.")
    return None if library.current is before else _talk_in(call, library.current)


def _delete_answers(call: Call) -> str:
    if call.words:
        raise UsageError("%chat delete --answers takes no name: it deletes the answers of all maps.")
    question = "This deletes what all maps have stored, for good; they would be paid again. Type answers to confirm: "
    if _typed(question) != "answers":
        raise UsageError("Not confirmed: nothing was deleted.")
    count = call.host.library.delete_answers()
    return f"Deleted {words_of.answers(count)} of maps. That cannot be undone."


def _confirmed(name: str) -> str:
    return _typed(f"This deletes {name!r} with all its turns for good. Type its name to confirm: ")


def _typed(question: str) -> str:
    """Return what the user types. Raises UsageError where nobody can be asked."""
    said = typed_answer(question)
    if said is None:
        raise UsageError(
            "This kernel cannot ask for confirmation: use Library.delete(name, confirm=name), or delete_answers(), "
            "in a script."
        )
    return said


@command(
    "resume NOTEBOOK [NAME] [--summary]", "add the turns of another notebook's conversation, or its summary",
    options=("summary",), every_conversation=True,
)  # fmt: skip
def _resume(call: Call) -> object:
    if not 1 <= len(call.words) <= 2:
        raise UsageError("%chat resume needs a notebook: %chat list all shows the notebooks and their conversations.")
    return call.host.library.resume(*call.words, summary=call.options.summary)


@command("memory [FILE | off]", "show or set the file whose text joins the system prompt")
def _memory(call: Call) -> object:
    chat = call.chat
    if call.words:
        path = call.one("a file's path, or off")
        return chat.set_memory(None if path.lower() in ("off", "none") else path)
    file, text = chat.memory
    if file is not None:
        return (
            f"{file}:\n{text}" if text else f"Nothing of {file} is sent: the file is missing, empty, or not UTF-8 text."
        )
    if chat.conversation.memory is None:
        return (
            "No memory file is set: create preferences.md beside the notebook, or name a file with %chat memory PATH."
        )
    return "The memory file is off: %chat memory PATH sets one."


@command("export FILE", f"write the conversation as {EXPORTED_AS}")
def _export(call: Call) -> object:
    path = call.chat.export(call.one(f"a file: {EXPORTED_AS}"))
    return f"Wrote {words_of.turns(len(call.chat.turns))} to {path}."


@command("import FILE", "add the turns of an exported file")
def _import(call: Call) -> object:
    return call.chat.load(call.one(f"a file: {EXPORTED_AS}"))


@command(
    "code [BLOCK | all] [TURN]",
    "put a code block of the last answer with code, or of a turn, into the next cell; alone: the only one, or a list; "
    "all: all Python",
)  # fmt: skip
def _code(call: Call) -> object:
    from .code_command import put_code

    return put_code(call)


@command("system", "show the system prompt; %%chat system: set it to the text in the cell", heads_cell=True)
def _system(call: Call) -> object:
    if call.text is not None:
        return call.chat.set_system(call.text.strip())
    return (
        call.chat.system
        or "No system prompt is set. To set one, put %%chat system on a cell's first line and the text below it."
    )


@command(
    "config [SETTING VALUE | default]",
    "show settings with value, source and explanation, or change one; default: put it back",
)
def _config(call: Call) -> object:
    chat, words = call.chat, call.words
    if words and words[0].partition("=")[0] in SETTING_NAMES and "=" in words[0]:  # NAME=VALUE
        words = [*words[0].split("=", 1), *words[1:]]
    if not words:
        from .help_pages import all_settings

        shown: dict[str, tuple[str, str]] = {
            name: (setting_text(chat, name), chat.source_of(name)) for name in SETTING_NAMES
        }
        return display(all_settings(shown), raw=True)
    name, *values = words
    if values:
        chat.configure(**{name: values if name == "parameters" else " ".join(values)})
    elif name not in SETTING_NAMES:
        chat.configure(**{name: None})  # raises the error that names the nearest setting
    say(_setting_line(chat, name))
    return (name == "model" and chat.missing_key()) or None


@command("models [PROVIDER]", "list a provider's models with their context windows")
def _models(call: Call) -> object:
    provider = call.one("a provider, such as openrouter") if call.words else None
    found = sorted(call.chat.available(provider))
    rows = [(to_plain(name), f"{window.tokens:,}", window.origin) for name, window in found]
    return table_text(("model", "window", ""), rows) if rows else "The provider lists no models."


@command("alias [NAME MODEL]", "list or define short names for models, in every notebook; MODEL none removes one")
def _alias(call: Call) -> object:
    if len(call.words) not in (0, 2):
        raise UsageError("%chat alias NAME MODEL defines a short name; %chat alias NAME none removes it.")
    if call.words:
        name, model = call.words
        if model.lower() == "none" and name not in load_aliases():
            raise UsageError(f"There is no short name {name!r}: %chat alias lists them.")
        set_alias(name, None if model.lower() == "none" else _checked_model(name, model))
    aliases = sorted(load_aliases().items())
    return table_text(("alias", "model"), aliases) if aliases else "No aliases yet: %chat alias NAME MODEL."


def _checked_model(name: str, model: str) -> str:
    """Return the full name of a model that may have this short name."""
    if name.lower() in provider_names():
        raise UsageError(f"{name} is the name of a provider: choose another short name.")
    model = full_name(model_of(model))
    check_known(model.partition("/")[0])
    return model


@command("key [OWNER]", "enter an API key, which is kept in memory only", options=("base_url",))
def _key(call: Call) -> object:
    if len(call.words) > 1:
        raise UsageError(KEY_IS_ASKED_FOR)
    owner = key_holder(call.options.base_url or (call.words[0] if call.words else key_owner(call.chat.config)))
    call.host.ask_key(call.chat, owner)
    return f"The key for {owner} is kept until this kernel ends."


@command("help [COMMAND]", "list the commands, or explain one with its options and examples")
def _help(call: Call) -> object:
    from .help_pages import all_commands, one_command

    if not call.words:
        return display(all_commands(), raw=True)
    name = call.words[0].lower()
    if name in COMMANDS:
        say(one_command(COMMANDS[name]))
        if name == "gauge":
            signs = (wrapped_list(legend(glyphs=glyphs), line_width(), "  ") for glyphs in (False, True))
            say("", *signs, sep="\n")
    elif name in SETTING_NAMES:
        say(f"{name} is a setting: %chat config {name} shows its value and what it may be.")
        say(_setting_line(call.chat, name))
    else:
        raise UsageError(unknown_topic(name))
    return None


def setting_text(chat: Chat, name: str) -> str:
    """Return the value of a setting as it is typed."""
    return typed_value(chat.system or None if name == "system" else getattr(chat.config, name))


def _setting_line(chat: Chat, name: str) -> str:
    default = typed_value(getattr(Settings(), name))
    now = f"{name} = {setting_text(chat, name)} ({chat.source_of(name)})"
    return f"{now}\n{HELP[name]}\nvalues: {wanted(name)}; {DEFAULT}: {default}"


def _deciding(chat: Chat) -> Iterator[str]:
    """Yield the settings that decide what is sent, with the source of each that is not the default."""
    file, text = chat.memory
    also = {"request": (f"memory {file if text else 'none'}",), "room": ()}
    for about, head in (("request", "each request"), ("room", "making room")):
        names = (name for name, each in SETTINGS.items() if each.about == about)
        yield f"{head}: {', '.join((*(_with_source(chat, name) for name in names), *also[about]))}"


def _with_source(chat: Chat, name: str) -> str:
    source = chat.source_of(name)
    said = f"{name} {first_words(setting_text(chat, name))}"
    return said if source == "default" else f"{said} ({source})"
