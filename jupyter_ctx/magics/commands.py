"""What commands of %chat do, each below its declaration; command_table.py says how to add one."""

from __future__ import annotations

from dataclasses import replace
from getpass import getpass

from IPython.core.error import StdinNotImplementedError, UsageError

from .. import wording as words_of
from ..chat import Chat
from ..config.aliases import load_aliases, model_of, set_alias
from ..config.settings import DEFAULT, DEFAULT_MODEL, KEYWORDS, SETTING_NAMES, check_setting
from ..display.tables import first_words, table_text
from ..display.widgets.gauge import gauge_line, status_bundle
from ..errors import ChatError, ProviderConnectionError
from ..export.conversation_files import export
from ..library import Library
from ..models.pricing import price_of
from ..models.registry import full_name, key_owner
from ..providers.lookup import check_known, is_self_hosted, key_holder
from ..runtime.files import path_of
from ..runtime.frontend import where
from ..runtime.redaction import blanked_line, without_address_keys
from ..session import actions
from ..session.session import source_of
from ..session.summarizer import Method
from ..session.tables import preview_of
from ..wording import budget_line
from ..wording.layout import line_width, wrapped
from . import answer_columns, code_commands, handing_out, help_pages, run_commands, token_commands  # noqa: F401
from .command_table import ABOUT_ANSWERS, ABOUT_CONVERSATIONS, ABOUT_SETUP, ABOUT_WINDOW, Call, command, command_of
from .command_table import COMMANDS as COMMANDS  # whole only with those of these modules, and the declarations below
from .line_options import KEY_IS_ASKED_FOR, settings_of
from .questions import say, typed_answer

CONTINUE = "Continue exactly where you stopped."


@command(
    ABOUT_SETUP, "%chat use openai/gpt-6.2-sol", "%chat use mine --base-url http://localhost:8000/v1 --window 32k",
)  # fmt: skip
def _use(call: Call, model: str | None = None) -> object:
    """Use this model from now on."""
    given = settings_of(call.options)
    if model:
        given["model"] = model
    if not given:
        raise UsageError("%chat use needs a model, such as openai/gpt-6.2-sol: %chat help use lists its options.")
    before = call.chat.config
    now = call.chat.configure(**given)
    missing = _missing_server(call.chat)
    say(missing or wrapped(gauge_line(call.chat.info()), line_width(), "  "))  # front ends break lines within a word
    if before.base_url and now.base_url is None:
        say(f"{now.model} is asked at its provider, no longer at {without_address_keys(before.base_url)}.")
    return call.chat.models.missing_key(now) or None


def _missing_server(chat: Chat) -> str:
    """Ask a server of the user's own whether it is there; return what to do where it is not."""
    settings = chat.config
    is_own = settings.base_url is not None or is_self_hosted(settings.model)
    if not is_own or not chat.session.notebook.handout.is_empty:  # which shows answers without a server
        return ""
    try:
        chat.models.available(settings)
    except ProviderConnectionError as error:
        return f"{error} {settings.model} is set all the same."
    except ChatError:  # it answered
        pass
    return ""


@command(ABOUT_WINDOW)
def _history(call: Call) -> object:
    """List every turn with its number, tokens and state."""
    return call.chat.history()


@command(ABOUT_WINDOW)
def _status(call: Call) -> dict[str, str]:
    """Show what fills the context window, then the settings that differ from the default, and the cost."""
    chat, info = call.chat, call.chat.info()
    target = chat.models.target(chat.config, ask=False)
    price, left = price_of(chat.models, target), target.provider.allowance()
    notes = list[str]()
    if price is not None or not target.is_free:
        notes.append(f"Price: {price or 'unknown (%chat config prices gives it)'}")
    if left is not None:
        notes.append(f"Key: {budget_line(left)}.")
    return status_bundle(info, call.host.gauge.name_of(chat), _changed_settings(chat), notes)


def _changed_settings(chat: Chat) -> list[tuple[str, list[str]]]:
    """Return the settings that differ from the default, each with its value, by who set them."""
    by_source: dict[str, list[str]] = {}
    for name in KEYWORDS:
        source = source_of(chat.session, name)
        if source != DEFAULT and name != "model":  # which the headline says
            by_source.setdefault(source, []).append(f"{name} {first_words(help_pages.setting_text(chat, name))}")
    return list(by_source.items())


command_of(Chat.usage, ABOUT_ANSWERS, "%chat usage")


command_of(Chat.pick, ABOUT_ANSWERS, "%chat pick 2", "%chat pick 3 1")


@command(ABOUT_WINDOW, "%chat preview", "%%chat preview\nWhy is the sky blue?", heads_cell=True)
def _preview(call: Call) -> object:
    """Show what the next request sends; %%chat preview: with the prompt in the cell."""
    asked = call.host.prompts.of(call.chat, call.options, call.text or "", where(call.host.shell))
    prompt = asked.prompt if asked.prompt.text.strip() else replace(asked.prompt, cell=None, run=None)
    say(*asked.lines)
    return preview_of(call.chat.session, prompt)  # without a prompt, at the end of the conversation


command_of(Chat.pin, ABOUT_WINDOW, "%chat pin 1 4", "%chat unpin 1", reverse=Chat.unpin)


command_of(
    Chat.exclude, ABOUT_WINDOW, "%chat exclude 2 3", "%chat include 2", "%chat include all",
    reverse=Chat.include, takes="N… | all",
)  # fmt: skip
command_of(Chat.trim, ABOUT_WINDOW, "%chat trim", "%chat trim 3")


@command(
    ABOUT_WINDOW,
    "%chat summarise", "%chat summarise 2 --extractive", "%%chat summarise\nKeep every name and every figure.",
    also="summarize", heads_cell=True,
)  # fmt: skip
def _summarise(call: Call, turns: int | None = None) -> object:
    """Send a summary in place of the older turns; N: keep the newest N word for word; --extractive: ask no model."""
    instructions, extractive = (call.text or "").strip() or None, call.options.extractive
    place = where(call.host.shell)
    method: Method | None = "extractive" if extractive else "model" if instructions else None
    by = f"{place.cell or ''} {place.source}" if place.source else ""
    change = call.chat.session.act(actions.summarize, instructions, method, turns=turns, by=by)
    say(change)
    summary = call.chat.conversation.summary
    return summary.text if change.changed and summary is not None else None


command_of(Chat.clear, ABOUT_WINDOW)
command_of(Chat.undo, ABOUT_WINDOW, "%chat undo", "%chat redo", reverse=Chat.redo)


@command(ABOUT_ANSWERS, "%chat continue --max-tokens 500")
def _continue(call: Call) -> None:
    """Continue an answer that was cut off."""
    if not call.chat.turns:
        raise UsageError("There is nothing to continue yet.")
    call.options.raw = True
    call.host.ask(call.chat, call.options, CONTINUE)


command_of(Library.new, ABOUT_CONVERSATIONS, "%chat new", "%chat new plans")
command_of(Library.switch, ABOUT_CONVERSATIONS, "%chat switch plans", takes="CONVERSATION")
command_of(Library.fork, ABOUT_CONVERSATIONS, "%chat fork variant")


@command(ABOUT_CONVERSATIONS, "%chat list", "%chat list all", takes="[all]", every_conversation=True)
def _list(call: Call, scope: str = "") -> object:
    """List the conversations of this notebook, or of all notebooks."""
    library, _ = call.host.library, call.host.library.current
    return library.rows(everywhere=bool(scope))


command_of(Library.rename, ABOUT_CONVERSATIONS, "%chat rename plans")


@command(ABOUT_CONVERSATIONS, "%chat delete plans", "%chat delete --answers", every_conversation=True)
def _delete(call: Call, conversation: str = "") -> object:
    """Delete a conversation for good, or all stored answers of maps, after asking."""
    library = call.host.library
    if call.options.answers is bool(conversation):
        raise UsageError("%chat delete takes a conversation's name (%chat list shows them), or --answers.")
    if call.options.answers:
        _confirm("answers", "This deletes what all maps have stored, for good; they would be paid again.")
        return f"Deleted {words_of.counted(library.delete_answers(), 'answer')} of maps. That cannot be undone."
    library.find(conversation)  # raises for an unknown one
    before = library.current
    _confirm(conversation, f"This deletes {conversation!r} with all its turns for good.")
    row = library.delete(conversation, confirm=conversation)
    say(f"Deleted {conversation!r} with {words_of.turns(row.turns)}. That cannot be undone.")
    return None if library.current is before else call.host.now_in(library.current)


def _confirm(word: str, what: str) -> None:
    """Let the user type a word before something is deleted. Raises UsageError."""
    if typed_answer(f"{what} Type {word} to confirm: ") != word:
        raise UsageError(
            "Not confirmed: nothing was deleted. Where nobody can be asked, use Library.delete(name, confirm=name), or "
            "delete_answers()."
        )


command_of(Library.resume, ABOUT_CONVERSATIONS, "%chat resume other.ipynb", "%chat resume other.ipynb plans")


@command(ABOUT_SETUP, "%chat memory preferences.md", "%chat memory off", takes="[FILE | off]")
def _memory(call: Call, file: str | None = None) -> object:
    """Show or set the file whose text joins the system prompt."""
    chat = call.chat
    if file:
        return chat.session.act(actions.set_memory, None if file.lower() in ("off", "none") else file)
    path, text = chat.session.memory_file()
    if path is not None:
        return f"{path}:\n{text}"
    return "No memory file is read: create preferences.md beside the notebook, or name a file with %chat memory PATH."


@command(ABOUT_CONVERSATIONS, "%chat export talk.md", "%chat import talk.json", also="import")
def _export(call: Call, file: str) -> object:
    """Write the conversation to a file that ends in .md, .json or .ipynb; import: append what a .json or .ipynb file
    has, one of another program, too.
    """
    if call.name == "import":
        return call.chat.load(file)
    redactor = call.redactor()
    path = export(call.chat.conversation, path_of(file), redactor, call.chat.session.notebook_file)
    wrote = f"Wrote {words_of.turns(len(call.chat.turns))} to {path}."
    blanked = blanked_line(path.name, redactor.blanked)
    return f"{wrote} {blanked} --no-redact blanks keys in use alone." if blanked else wrote


@command(
    ABOUT_SETUP, "%chat system", "%%chat system\nYou are a careful editor. Answer in one paragraph.", heads_cell=True
)
def _system(call: Call) -> object:
    """Show the system prompt; %%chat system: set it to the text in the cell."""
    if call.text is not None:
        return call.chat.session.act(actions.set_system, call.text.strip())
    none = "No system prompt is set. To set one, put %%chat system on a cell's first line and the text below it."
    return call.chat.system or none


@command(
    ABOUT_SETUP, "%chat config", "%chat config compact_at", "%chat config compact_at 80%",
    takes="[SETTING VALUE | default]",
)  # fmt: skip
def _config(call: Call, *words: str) -> object:
    """Show settings with value, source and explanation, or change one; default: put it back."""
    chat = call.chat
    if not words:
        return help_pages.all_settings(chat)
    name, *values = words
    check_setting(name, SETTING_NAMES)
    if values:
        chat.configure(**{name: values if name == "parameters" else " ".join(values)})
    return help_pages.setting_lines(chat, name)


@command(ABOUT_SETUP, "%chat models", "%chat models openrouter")
def _models(call: Call, provider: str | None = None) -> object:
    """List a provider's models with their context windows."""
    asked, name = call.chat.config, (provider or "").lower()
    if name:
        check_known(name)
        asked = asked.changed({"model": DEFAULT_MODEL if name == "local" else f"{name}/any"})
    models = call.chat.models.available(asked)
    return models or "The provider lists no models."


@command(ABOUT_SETUP, "%chat alias", "%chat alias quick openai/gpt-6.2-sol", takes="[NAME MODEL]")
def _alias(_call: Call, name: str = "", model: str = "") -> object:
    """List or define short names for models, in every notebook; MODEL none removes one."""
    if name and not model:
        raise UsageError("%chat alias NAME MODEL defines a short name, %chat alias NAME none removes one.")
    if name:
        set_alias(name, None if model.lower() == "none" else full_name(model_of(model)))
    aliases = sorted(load_aliases().items())
    return table_text(("alias", "model"), aliases) if aliases else "No aliases yet: %chat alias NAME MODEL."


@command(ABOUT_SETUP, "%chat key openai", takes="[OWNER]")
def _key(call: Call, *owners: str) -> object:
    """Enter an API key, which is kept in memory only."""
    if len(owners) > 1:
        raise UsageError(KEY_IS_ASKED_FOR)
    owner = key_holder(call.options.base_url or (owners[0] if owners else key_owner(call.chat.config)))
    try:
        key = getpass(f"Key for {owner} (kept in memory only): ").strip()
    except (StdinNotImplementedError, EOFError):
        raise UsageError(
            "A key cannot be typed here: set the provider's environment variable, such as OPENAI_API_KEY."
        ) from None
    call.chat.models.set_key(owner, key)
    return f"The key for {owner} is kept until this kernel ends."


@command(ABOUT_SETUP, "%chat help", "%chat help trim", "%chat help recovery", takes="[COMMAND | TOPIC]")
def _help(call: Call, topic: str = "") -> object:
    """List the commands, or explain one with options and examples, or a topic."""
    name = topic.lower()
    if not name:
        return help_pages.all_commands()
    if name in COMMANDS:
        say(help_pages.one_command(COMMANDS[name]))
    if name in SETTING_NAMES:
        say(f"{name} is a setting: %chat config {name} shows its value and what it may be.")
        say(help_pages.setting_lines(call.chat, name))
    if name not in (*COMMANDS, *SETTING_NAMES, *help_pages.TOPICS):
        hint = words_of.did_you_mean(name, [*COMMANDS, *SETTING_NAMES, *help_pages.TOPICS], "%chat help {}")
        topics = f"Topics: {', '.join(help_pages.TOPICS)}. %chat help lists the commands."
        raise UsageError(f"%chat help knows no {name!r}.{hint} {topics}")
    return help_pages.topic_bundle(name) if name in help_pages.TOPICS else None
