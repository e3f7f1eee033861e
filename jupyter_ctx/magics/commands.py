"""What each command of %chat does, below its declaration; command_table.py says how to add one."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from IPython.core.error import UsageError
from IPython.display import display

from .. import wording as words_of
from ..chat import Chat
from ..config.aliases import load_aliases, model_of, set_alias
from ..config.settings import DEFAULT, DEFAULT_MODEL, HELP, SETTING_NAMES, Settings, typed_value, wanted
from ..display.status_card import Status, status_forms
from ..display.tables import first_words, table_text
from ..display.text import to_plain
from ..display.widgets.gauge import gauge_line
from ..errors import ModelNotFoundError, StoreError
from ..export.conversation_files import FORMATS, export
from ..models.registry import full_name, key_owner
from ..models.request_price import is_free, price_of
from ..providers.lookup import check_known, key_holder, provider_names
from ..runtime.files import path_of
from ..runtime.frontend import where
from ..runtime.redaction import blanked_line, without_address_keys
from ..session import actions
from ..session.actions import Change, Method
from ..session.prompt import Prompt
from ..session.replay import replayed
from ..session.usage_table import saved_by_caching
from ..wording.budget_line import budget_line
from ..wording.layout import line_width, wrapped
from .command_table import ABOUT_ANSWERS, ABOUT_CONVERSATIONS, ABOUT_SETUP, ABOUT_WINDOW, Call, CommandRun, command, say
from .command_table import COMMANDS as COMMANDS  # whole only with the declarations below
from .conversation_tables import conversations_table, replay_forms
from .line_options import settings_of
from .questions import typed_answer
from .token_commands import show_next, show_tokens

EXPORTED_AS = " or ".join(", ".join(FORMATS).rsplit(", ", 1))  # .md, .json or .ipynb
KEY_IS_ASKED_FOR = (
    "%chat key takes one thing, a provider such as openai or an address: the key is asked for, and kept in memory "
    "only. A key that stands in the cell is saved with the notebook: delete it there."
)
CONTINUE = "Continue exactly where you stopped."


@command(
    "use MODEL [--window N]", "use this model from now on", ABOUT_SETUP,
    "%chat use openai/gpt-5.2", "%chat use mine --base-url http://localhost:8000/v1 --window 32k",
)  # fmt: skip
def _use(call: Call) -> object:
    given = {name: value for name, value in settings_of(call.options).items() if value is not None}
    if call.words:
        given["model"] = call.one("a model, such as local/smollm2")
    if not given:
        raise UsageError("%chat use MODEL, with --window N, --base-url URL, --max-tokens N or -t where wanted.")
    before = call.chat.config
    call.chat.configure(**given)
    say(wrapped(gauge_line(call.chat.info()), line_width(), "  "))  # front ends break long lines within a word
    now = call.chat.config
    if before.base_url and now.base_url is None:
        address = without_address_keys(before.base_url)
        say(f"base_url {address} went with {before.model}: {now.model} is asked at its provider.")
    return call.chat.models.missing_key(call.chat.config) or None


@command(
    "status",
    "show as a sum what fills the context window, then the settings that differ from the default, and the cost",
    ABOUT_WINDOW,
)  # fmt: skip
def _status(call: Call) -> None:
    name, left = call.host.name_of(call.chat), _left_with_key(call.chat)
    display(status_forms(_status_of(call.chat, name, left)), raw=True)


@command(
    "history [--replay]",
    "list every turn with its number, tokens and state; --replay: turn by turn, how full the window was, what fell "
    "out, and what was sent", ABOUT_WINDOW,
    "%chat history", "%chat history --replay",
)  # fmt: skip
def _history(call: Call) -> None:
    if call.options.replay:
        display(replay_forms(replayed(call.chat.session)), raw=True)
    else:
        display(call.chat.history())


@command(
    "plot [RUN]", "draw the tokens of each turn, or what a run of %%chat map --as scored", ABOUT_ANSWERS,
    "%chat plot", "%chat plot run",
)  # fmt: skip
def _plot(call: Call) -> object:
    from .run_commands import plot

    return plot(call)


@command(
    "pick N [VERSION]",
    "take answer N of those side by side; with a version, restore that answer of turn N", ABOUT_ANSWERS,
    "%chat pick 2", "%chat pick 3 1",
)  # fmt: skip
def _pick(call: Call) -> object:
    if len(call.words) == 1:
        number = call.count(call.words[0], "the number of an answer")
        return call.host.choose(call.chat, number, is_named=bool(call.options.conversation))
    if len(call.words) != 2:
        raise UsageError(
            "%chat pick takes the number of an answer side by side; or a turn and a version: %chat compare N "
            "shows the versions of turn N."
        )
    return call.chat.pick(*map(call.number, call.words))


@command(
    "compare [N]",
    "show the answers side by side that came last, or all of turn N, with the words that differ", ABOUT_ANSWERS,
    "%chat compare", "%chat compare 3",
)  # fmt: skip
def _compare(call: Call) -> object:
    from .answer_columns import show_versions

    number = call.number(call.one("a turn's number")) if call.words else None
    if number is None and not call.chat.turns and not call.chat.conversation.offers:
        raise UsageError("There are no answers yet: %%chat -m A -m B asks several models at once.")
    return display(show_versions(call.chat, number), raw=True)


@command(
    "preview", "show what the next request sends; %%chat preview: with the prompt in the cell", ABOUT_WINDOW,
    "%chat preview", "%%chat preview\nWhy is the sky blue?", heads_cell=True, asks=True,
)  # fmt: skip
def _preview(call: Call) -> object:
    chat, options = call.chat, call.options
    if options.error or (call.text is not None and call.text.strip()):
        options.preview = True
        return call.host.ask(chat, options, call.text or "")
    return display(chat.preview(**settings_of(options)))


@command(
    "map TABLE", "ask the prompt in the cell of every row of a table, {{ column }} being filled in", ABOUT_ANSWERS,
    "%%chat map reviews --as judged\nIs this review positive or negative? {{ text }}", heads_cell=True, needs_text=True,
)  # fmt: skip
def _map(call: Call) -> object:
    from .run_commands import ask_rows

    return ask_rows(call)


command(
    "tokens",
    "show the tokens that the text in the cell is cut into, several -m, or texts between lines of ---, side by side",
    ABOUT_WINDOW,
    "%%chat tokens\nStraße", "%%chat tokens -m local/smollm2 -m openai/gpt-5.2\nstreet\n---\nStraße",
    heads_cell=True, needs_text=True,
)(show_tokens)  # fmt: skip
command(
    "next",
    "show the likeliest next tokens of the text in the cell, at any temperature and top-p, and append one by a click",
    ABOUT_ANSWERS, "%%chat next\nThe capital of France is", heads_cell=True, needs_text=True,
)(show_next)  # fmt: skip


def _with_turns(act: Callable[..., Change]) -> CommandRun:
    """Return what runs a command that does one thing to the turns whose numbers it takes."""
    return lambda call: act(call.chat, *_turns(call))


command("pin N…", "pin turns: every request includes them", ABOUT_WINDOW, "%chat pin 1 4")(_with_turns(Chat.pin))
command("unpin N…", "take pins off", ABOUT_WINDOW, "%chat unpin 1")(_with_turns(Chat.unpin))
command("exclude N…", "leave turns out of every request", ABOUT_WINDOW, "%chat exclude 2 3")(_with_turns(Chat.exclude))


@command(
    "include N… | all", "include turns again that were left out; all: every one", ABOUT_WINDOW,
    "%chat include 2", "%chat include all",
)  # fmt: skip
def _include(call: Call) -> object:
    everything = [word.lower() for word in call.words] == ["all"]
    return call.chat.include(*(() if everything else _turns(call)))


def _turns(call: Call) -> Iterator[int]:
    if not call.words:
        raise UsageError(f"%chat {call.name} needs the number of a turn: %chat history shows them.")
    return map(call.number, call.words)


@command(
    "trim [N]", "leave out the oldest turns, down to about 60 % of the limit, or keep the newest N", ABOUT_WINDOW,
    "%chat trim", "%chat trim 3",
)  # fmt: skip
def _trim(call: Call) -> object:
    what = "how many of the newest turns to keep"
    return call.chat.trim(call.count(call.one(what), what) if call.words else None)


@command(
    "summarise [N] [--extractive]",
    "send a summary in place of the older turns; N: keep the newest N word for word; --extractive: ask no model",
    ABOUT_WINDOW,
    "%chat summarise", "%chat summarise 2 --extractive",
    "%%chat summarise\nKeep every name and every figure.",
    also="summarize", heads_cell=True,
)  # fmt: skip
def _summarise(call: Call) -> object:
    instructions, extractive = (call.text or "").strip() or None, call.options.extractive
    if instructions and extractive:
        raise UsageError("--extractive asks no model, so nobody would read the text below: leave one of them out.")
    what = "how many of the newest turns to keep word for word"
    below = "; what a summary should keep goes below %%chat summarise, from the cell's second line on"
    turns = call.count(" ".join(call.words), what, below) if call.words else None
    method: Method | None = "extractive" if extractive else "model" if instructions else None
    place = where(call.host.shell)
    by = f"{place.cell or ''} {place.source}" if place.source else ""
    change = call.chat.session.act(actions.summarize, instructions, method, turns=turns, by=by)
    say(change)
    summary = call.chat.conversation.summary
    return summary.text if change.changed and summary is not None else None


command("clear", "leave out all turns; system prompt, model and settings stay", ABOUT_WINDOW)(
    lambda call: call.chat.clear()
)
command("undo", "undo the last action", ABOUT_WINDOW)(lambda call: call.chat.undo())
command("redo", "redo the action that was undone last", ABOUT_WINDOW)(lambda call: call.chat.redo())


@command(
    "fix",
    "ask for the cell that failed, corrected, and put it into the next cell; %%chat fix: with your wishes below",
    ABOUT_ANSWERS,
    "%chat fix", "%%chat fix\nUse pandas only.", heads_cell=True, asks=True,
)  # fmt: skip
def _fix(call: Call) -> None:
    from .code_commands import fix

    fix(call)


@command("continue", "continue an answer that was cut off", ABOUT_ANSWERS, "%chat continue --max-tokens 500", asks=True)
def _continue(call: Call) -> object:
    if not call.chat.turns:
        raise UsageError("There is nothing to continue yet.")
    place = where(call.host.shell)
    prompt = Prompt(CONTINUE, settings_of(call.options), cell=place.cell, run=place.run, append=call.options.append)
    if all(part.state in ("system", "prompt") for part in call.chat.session.view(prompt).messages):
        raise UsageError(
            "The next request holds no turn, so the model would not see what to continue: %chat include all brings "
            "turns back."
        )
    call.options.raw = True
    return call.host.ask(call.chat, call.options, CONTINUE)


@command(
    "new [NAME]", "start another conversation; this one stays", ABOUT_CONVERSATIONS,
    "%chat new", "%chat new plans", every_conversation=True,
)  # fmt: skip
def _new(call: Call) -> object:
    return _talk_in(call, call.host.library.new(*_named(call)))


@command(
    "switch CONVERSATION", "switch to another conversation", ABOUT_CONVERSATIONS,
    "%chat switch plans", every_conversation=True,
)  # fmt: skip
def _switch(call: Call) -> object:
    return _talk_in(call, call.host.library.switch(call.phrase("a conversation's name")))


@command(
    "fork [NAME]", "copy this conversation and continue in the copy", ABOUT_CONVERSATIONS,
    "%chat fork variant", every_conversation=True,
)  # fmt: skip
def _fork(call: Call) -> object:
    return _talk_in(call, call.host.library.fork(*_named(call)))


def _named(call: Call) -> tuple[str, ...]:
    return (" ".join(call.words),) if call.words else ()


def _talk_in(call: Call, chat: Chat) -> str:
    call.host.follow()
    call.host.tell_notes()
    return f"Talking in {chat.name!r}: {words_of.turns(len(chat.turns))}."


@command(
    "list [all]", "list the conversations of this notebook, or of all notebooks", ABOUT_CONVERSATIONS,
    "%chat list", "%chat list all", every_conversation=True,
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


@command("rename NAME", "rename this conversation", ABOUT_CONVERSATIONS, "%chat rename plans", every_conversation=True)
def _rename(call: Call) -> object:
    old = call.host.library.current.name
    return f"{old!r} is now {call.host.library.rename(call.phrase('the new name')).name!r}."


@command(
    "delete [CONVERSATION] [--answers]",
    "delete a conversation for good, or all stored answers of maps, after asking", ABOUT_CONVERSATIONS,
    "%chat delete plans", "%chat delete --answers", every_conversation=True,
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
    return f"Deleted {words_of.counted(count, 'answer')} of maps. That cannot be undone."


def _confirmed(name: str) -> str:
    return _typed(f"This deletes {name!r} with all its turns for good. Type its name to confirm: ")


def _typed(question: str) -> str:
    """Return what the user types. Raises UsageError where nobody can be asked."""
    answer = typed_answer(question)
    if answer is None:
        raise UsageError(
            "This kernel cannot ask for confirmation: use Library.delete(name, confirm=name), or delete_answers(), "
            "in a script."
        )
    return answer


@command(
    "resume NOTEBOOK [NAME] [--summary]",
    "add the turns of another notebook's conversation, or its summary", ABOUT_CONVERSATIONS,
    "%chat resume other.ipynb", "%chat resume other.ipynb plans --summary", every_conversation=True,
)  # fmt: skip
def _resume(call: Call) -> object:
    if not 1 <= len(call.words) <= 2:
        raise UsageError("%chat resume needs a notebook: %chat list all shows the notebooks and their conversations.")
    return call.host.library.resume(*call.words, summary=call.options.summary)


@command(
    "memory [FILE | off]", "show or set the file whose text joins the system prompt", ABOUT_SETUP,
    "%chat memory preferences.md", "%chat memory off",
)  # fmt: skip
def _memory(call: Call) -> object:
    chat = call.chat
    if call.words:
        path = call.one("a file's path, or off")
        return chat.session.act(actions.set_memory, None if path.lower() in ("off", "none") else path)
    file, text = chat.session.memory_file()
    if file is not None:
        return (
            f"{file}:\n{text}" if text else f"Nothing of {file} is sent: the file is missing, empty, or not UTF-8 text."
        )
    if chat.conversation.memory is None:
        return (
            "No memory file is set: create preferences.md beside the notebook, or name a file with %chat memory PATH."
        )
    return "The memory file is off: %chat memory PATH sets one."


@command("export FILE", f"write the conversation as {EXPORTED_AS}", ABOUT_CONVERSATIONS, "%chat export talk.md")
def _export(call: Call) -> object:
    path, redactor = path_of(call.one(f"a file: {EXPORTED_AS}")), call.chat.session.redactor()
    path = export(call.chat.conversation, path, redactor, call.chat.session.notebook_file)
    wrote = f"Wrote {words_of.turns(len(call.chat.turns))} to {path}."
    return f"{wrote} {blanked_line(path.name, redactor.blanked)}".rstrip()


@command(
    "handout FILE [--clear]",
    "write a copy of this notebook that shows its answers to everybody, without a key or a request",
    ABOUT_CONVERSATIONS,
    "%chat handout lesson.ipynb", "%chat handout lesson.ipynb --clear", every_conversation=True,
)  # fmt: skip
def _handout(call: Call) -> object:
    from .handing_out import hand_out

    return hand_out(call)


@command(
    "import FILE", "add the turns of an exported file, or of a saved notebook", ABOUT_CONVERSATIONS,
    "%chat import talk.json",
)  # fmt: skip
def _import(call: Call) -> object:
    return call.chat.load(call.one(f"a file: {EXPORTED_AS}"))


@command(
    "code [BLOCK | all] [TURN]",
    "put a code block of the last answer with code, or of a turn, into the next cell; alone: the only one, or a list; "
    "all: all Python", ABOUT_ANSWERS,
    "%chat code", "%chat code 2", "%chat code all",
)  # fmt: skip
def _code(call: Call) -> object:
    from .code_commands import put_code

    return put_code(call)


@command(
    "system", "show the system prompt; %%chat system: set it to the text in the cell", ABOUT_SETUP,
    "%chat system", "%%chat system\nYou are a careful editor. Answer in one paragraph.", heads_cell=True,
)  # fmt: skip
def _system(call: Call) -> object:
    if call.text is not None:
        return call.chat.session.act(actions.set_system, call.text.strip())
    return (
        call.chat.system
        or "No system prompt is set. To set one, put %%chat system on a cell's first line and the text below it."
    )


@command(
    "config [SETTING VALUE | default]",
    "show settings with value, source and explanation, or change one; default: put it back", ABOUT_SETUP,
    "%chat config", "%chat config compact_at", "%chat config compact_at 80%",
)  # fmt: skip
def _config(call: Call) -> object:
    chat, words = call.chat, call.words
    if words and words[0].partition("=")[0] in SETTING_NAMES and "=" in words[0]:  # NAME=VALUE
        words = [*words[0].split("=", 1), *words[1:]]
    if not words:
        from .help_pages import all_settings

        shown: dict[str, tuple[str, str]] = {
            name: (setting_text(chat, name), chat.session.source_of(name)) for name in SETTING_NAMES
        }
        return display(all_settings(shown), raw=True)
    name, *values = words
    if values:
        chat.configure(**{name: values if name == "parameters" else " ".join(values)})
    elif name not in SETTING_NAMES:
        chat.configure(**{name: None})  # raises the error that names the nearest setting
    say(_setting_line(chat, name))
    return (name == "model" and chat.models.missing_key(chat.config)) or None


@command(
    "models [PROVIDER]", "list a provider's models with their context windows", ABOUT_SETUP,
    "%chat models", "%chat models openrouter",
)  # fmt: skip
def _models(call: Call) -> object:
    provider = call.one("a provider, such as openrouter") if call.words else None
    known, asked = call.chat.models, _listed_by(call.chat, provider)
    try:
        models = sorted(known.available(asked))
    except ModelNotFoundError as error:
        raise ModelNotFoundError(f"No list of models came. {error} A server may answer prompts without one.") from None
    rows = [(to_plain(name), f"{window.tokens:,}", window.origin) for name, window in models]
    return table_text(("model", "window", ""), rows) if rows else "The provider lists no models."


def _listed_by(chat: Chat, provider: str | None) -> Settings:
    """Return settings with which a provider is asked for its list; without a name, the one in use."""
    if provider is None:
        return chat.config
    name = provider.lower()
    check_known(name)
    return chat.config.changed({"model": DEFAULT_MODEL if name == "local" else f"{name}/any"})


@command(
    "alias [NAME MODEL]",
    "list or define short names for models, in every notebook; MODEL none removes one", ABOUT_SETUP,
    "%chat alias", "%chat alias quick openai/gpt-5.2",
)  # fmt: skip
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


@command("key [OWNER]", "enter an API key, which is kept in memory only", ABOUT_SETUP, "%chat key openai")
def _key(call: Call) -> object:
    if len(call.words) > 1:
        raise UsageError(KEY_IS_ASKED_FOR)
    owner = key_holder(call.options.base_url or (call.words[0] if call.words else key_owner(call.chat.config)))
    call.host.ask_key(call.chat, owner)
    return f"The key for {owner} is kept until this kernel ends."


@command(
    "help [COMMAND | TOPIC]", "list the commands, or explain one with options and examples, or a topic", ABOUT_SETUP,
    "%chat help", "%chat help trim", "%chat help recovery",
)  # fmt: skip
def _help(call: Call) -> object:
    from .help_pages import all_commands, one_command, unknown_topic
    from .help_topics import TOPICS, topic_forms

    if not call.words:
        return display(all_commands(), raw=True)
    name = call.words[0].lower()
    if name in COMMANDS:
        say(one_command(COMMANDS[name]))
    if name in SETTING_NAMES:
        say(f"{name} is a setting: %chat config {name} shows its value and what it may be.")
        say(_setting_line(call.chat, name))
    if name not in (*COMMANDS, *SETTING_NAMES, *TOPICS):
        raise UsageError(unknown_topic(name))
    return display(topic_forms(name), raw=True) if name in TOPICS else None


def setting_text(chat: Chat, name: str) -> str:
    """Return the value of a setting as it is typed."""
    return typed_value(chat.system or None if name == "system" else getattr(chat.config, name), name)


def _setting_line(chat: Chat, name: str) -> str:
    default = typed_value(getattr(Settings(), name), name)
    now = f"{name} = {setting_text(chat, name)} ({chat.session.source_of(name)})"
    return f"{now}\n{HELP[name]}\nvalues: {wanted(name)}; {DEFAULT}: {default}"


def _price_line(chat: Chat) -> str:
    """Return what tokens of the model in use cost, and who says so; nothing where nobody bills them."""
    target = chat.models.target(chat.config, ask=False)
    price = price_of(chat.models, target)
    if price is None:
        return "" if is_free(target) else "Price: unknown (%chat config prices gives it)"
    return f"Price: {price}"


def _left_with_key(chat: Chat) -> str:
    """Return what is left with the key, as its gateway says when it is asked; nothing where none says it."""
    found = chat.models.target(chat.config, ask=False).provider.allowance()
    return "" if found is None else f"Key: {budget_line(found)}."


def _status_of(chat: Chat, name: str, left: str) -> Status:
    """Return what the card of a conversation says; ``name`` is its own where there are several, ``left`` its key's."""
    info = chat.info()
    undo = f"%chat undo takes back: {info.undo}" if info.undo else ""
    redo = f"%chat redo does again: {info.redo}" if info.redo else ""
    saved = saved_by_caching(chat.usage(), chat.session.token_prices)
    notes = (_price_line(chat), left, saved, "; ".join(filter(None, (undo, redo))))
    return Status(info, name, _changed_settings(chat), tuple(filter(None, notes)))


def _changed_settings(chat: Chat) -> list[tuple[str, list[str]]]:
    """Return the settings that differ from the default, each with its value, by who set them."""
    by_source: dict[str, list[str]] = {}
    for name in SETTING_NAMES:
        source = chat.session.source_of(name)
        if source != DEFAULT and name != "model":  # which the headline says
            value = first_words(setting_text(chat, name))
            typed = repr(value) if name == "system" else value.replace(", ", ",")  # commas stand between settings
            by_source.setdefault(source, []).append(f"{name} {typed}")
    file, text = chat.session.memory_file()
    if file and text:
        named = "beside the notebook" if chat.conversation.memory is None else "set here"
        by_source.setdefault(named, []).append(f"memory {file}")
    return list(by_source.items())
