"""``%%chat`` and ``%chat``: parse the line, call the conversation, show the answer."""

from __future__ import annotations

import os
import shlex
import sys
import time
from argparse import Namespace
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from difflib import get_close_matches
from functools import lru_cache, partial
from getpass import getpass
from typing import TYPE_CHECKING, Any
from weakref import WeakSet

from IPython.core.error import StdinNotImplementedError, UsageError
from IPython.core.magic_arguments import argument, magic_arguments
from IPython.display import clear_output, display

from ..chat import Chat
from ..context.info import ContextInfo
from ..conversation.events import Event, Said
from ..conversation.places import Place
from ..display.answer.footer import Footer, footer_html
from ..display.answer.markdown import bundle
from ..display.answer.stream import AnswerView, NotebookView, TerminalView
from ..display.text import note_html, note_plain, to_plain
from ..display.widgets.gauge import gauge_forms, gauge_static, gauge_terminal
from ..display.widgets.gauge_panel import Controls, GaugePanel
from ..display.widgets.turn_table import SelectionTable, TurnTable, table_forms
from ..errors import ChatError, ChatInterrupted, InvalidAnswerError, InvalidRequestError, StoreError
from ..library import Library
from ..providers.base import Reply
from ..runtime.frontend import Where, origin, where
from ..runtime.interrupts import uninterrupted
from ..session.actions import Change
from ..session.exchange import Coming
from ..session.notices import STORED
from ..session.prompt import Prompt
from ..session.state import NotebookState
from ..wording import named_turns
from .answers import blocks_below, ending, remarks_on, shown_forms
from .cell_prompts import CellPrompts
from .live_views import LiveViews
from .options import OPTIONS, check_repeated, is_several, typed, with_options
from .questions import asked_first, typed_answer
from .shown import Shown
from .tables import previewed
from .variables import check_new_name

if TYPE_CHECKING:
    from ..attachments.tracebacks import Failure
    from .command_table import Command
    from .side_by_side import Several, SideBySideCell

IN_QUOTES = ("TEXT", "FILE", "NAME_OR_FILE", "CONVERSATION")  # what options take that may have spaces
EXPLAIN = "Explain this error and how to mend it."
RUN_AGAIN = "Run the cell again for another answer"


class ChatMagic:
    """The conversations of one IPython shell, and what is shown of them there.

    ``deleted`` are the ids of deleted cells, which the caller adds to; ``shown`` is told what cells show.
    """

    def __init__(self, shell: Any, deleted: set[str], shown: Shown) -> None:
        self.shell, self._prompts = shell, CellPrompts(shell, shown)
        self._library: Library | None = None
        self._panel: GaugePanel | None = None
        self._views = LiveViews()
        self._side_by_side: dict[str, SideBySideCell] = {}  # by cell
        self._newest_columns: SideBySideCell | None = None
        self._reminded: set[str] = set()  # of answers side by side that no turn is of
        self._greeted = False
        self._followed: Chat | None = None  # the conversation that the gauge shows
        self._has_several = False  # conversations, of which the gauge names the current one
        self._watched: WeakSet[Chat] = WeakSet()  # conversations whose turns the gauge's buttons wait for
        self._answered = False  # whole, in this cell
        self._is_alone = False  # an answer, in the output of the cell that runs
        self._at_the_end: Callable[[], None] | None = None  # of the cell that runs: shows the gauge
        self._notebook = NotebookState(deleted=deleted)

    @property
    def library(self) -> Library:
        """The conversations of this notebook, opened at first use."""
        if self._library is None:
            config = dict(self.shell.config.get("Chat", {}))
            self._library = Library(
                origin(self.shell), config, ask=self._agree, confirm=asked_first, notebook=self._notebook
            )
            formatters = self.shell.display_formatter.formatters
            for form in ("text/html", "text/markdown"):
                formatters[form].for_type(Reply, _as(form))
            formatters["text/html"].for_type(ContextInfo, gauge_static)
        return self._library

    @property
    def names(self) -> list[str]:
        """The names of this notebook's conversations; empty before the first is opened."""
        return self._library.names if self._library is not None else []

    @property
    def places(self) -> Sequence[Place]:
        """The turns of the current conversation; empty before the first conversation is opened."""
        return self._library.current.conversation.places if self._library is not None else ()

    def _runs(self, cell: str) -> None:
        """Count a cell that runs as not deleted."""
        self._notebook.deleted.discard(cell)
        self._notebook.offered.discard(cell)

    @magic_arguments()
    @argument("words", nargs="*", help="a command and what it takes; %%chat help lists them")
    @with_options
    def chat(self, line: str, cell: str | None = None) -> None:
        """Talk with a language model; the conversation belongs to this notebook and stays.

        ::

            %%chat                      %chat                gauge and one line
            Why is the sky blue?        %chat status         the whole calculation
                                        %chat trim           summarise, clear, undo, redo …

        {{ name }} and {{ df.head() }} are filled in from the notebook. Running a cell again
        replaces its turn. When the model's window is full, the oldest turns are left out and
        one line says so; nothing is deleted.
        """
        options = Namespace(**vars(_parsed(self.chat.parser, line)))
        self._runs(where(self.shell).cell or "")
        check_repeated(options, options.words[0].lower() if options.words else "")
        if options.words:
            self._command(options, cell, line)
        elif cell is not None:
            _only_of_commands(options)
            self.ask(self._chat_for(options, begin=bool(cell.strip()) and not options.preview), options, cell)
        elif options.error:
            _only_of_commands(options)
            self.ask(self._chat_for(options, begin=not options.preview), options, "")
        elif any(vars(options).values()) and not options.conversation:
            raise UsageError(_no_prompt(line.strip(), options))
        else:
            chat = self._chat_for(options)
            self.tell_notes()
            self.show_gauge(chat)
            self._tell(chat.notices())

    def _chat_for(self, options: Namespace, *, begin: bool = False) -> Chat:
        """Return the conversation that a line is about; ``begin`` one of an unknown name."""
        return self.library.get(options.conversation, begin=begin) if options.conversation else self.library.current

    def _command(self, options: Namespace, cell: str | None, line: str) -> None:
        from .command_table import Call, check_words, say, unknown, words_of_question
        from .commands import COMMANDS

        if cell is None:
            options.words = words_of_question(options.words)
        name, *words = options.words
        command = COMMANDS.get(name.lower())
        if command is None or cell is not None:
            _check_quotes(line, options.words, command)
        if command is None:
            raise UsageError(unknown(options.words, "%chat" if cell is None else "%%chat"))
        _check_options(command, name, options)
        if cell is not None and not command.heads_cell:
            raise UsageError(f"%chat {name} takes no text below it: write %chat {name} on a line of its own.")
        check_words(command, words)
        chat = self._chat_for(options)
        call = Call(self, chat, name, words, options, cell)
        if command.asks:
            command.run(call)
            return
        self.tell_notes()
        said = command.run(call)
        if said is not None:
            say(said)
        self._tell([*self.notes(), *(self.library.current if command.every_conversation else chat).notices()])

    def notes(self) -> tuple[str, ...]:
        """Return the lines that say where the conversation comes from; each once."""
        library, _ = self.library, self.library.current
        lines, library.notes = tuple(library.notes), []
        return lines

    def tell_notes(self) -> None:
        """Print where the conversation comes from, before anything else about it."""
        self._tell(self.notes())

    def _tell(self, lines: Iterable[str]) -> None:
        for line in lines:
            print(to_plain(line))

    def _agree(self, question: str) -> bool:
        """Return whether the user agrees; where nobody can be asked, ``False``."""
        said = typed_answer(f"{question} [Y/n] ")
        return said is not None and not said.lower().startswith("n")

    def ask(self, chat: Chat, options: Namespace, cell: str) -> Reply | None:
        """Send a cell's prompt and return the reply, or show what would be sent."""
        cell = cell if cell.strip() or not options.error else EXPLAIN
        if not cell.strip():
            raise UsageError("The cell is empty: write a prompt below %%chat.")
        if options.out is not None:
            check_new_name("-o", options.out)
        several = _several(chat, options)
        options = options if several is None else several.first
        place = where(self.shell)
        above = (
            *self.notes(),
            *(() if options.preview else self._told_first(chat, place, several=several is not None)),
        )
        prompt, lines = self._prompts.of(chat, options, cell.rstrip("\n"), place)
        above = (*above, *lines)
        if options.preview:
            self._tell(above)
            columns = several.prompts(prompt) if several is not None else ()
            self.show_table(previewed(chat, prompt, columns), partial(self._views.preview, chat, prompt, columns))
            return None
        self._answered, self._is_alone = False, place.is_magic
        before, reply = chat.conversation.length, None
        try:
            with self._gauge_below(chat, place):
                if several is None:
                    reply = self._send(chat, _view(place, options, above, self._erase), place, prompt)
                    self._keep(reply, options.out)
                else:
                    self._ask_each(several.cell(above, place), prompt, options, place)
        except ChatInterrupted:
            raise
        except KeyboardInterrupt:  # between the end of the answer and that of the cell, or before it was asked for
            whole = self._answered or any(map(_is_whole, chat.conversation.events[before:]))
            raise ChatInterrupted(
                "the answer had come whole." if whole else "stopped; %chat history shows what is kept."
            ) from None
        return reply

    def _ask_each(self, answers: SideBySideCell, prompt: Prompt, options: Namespace, place: Where) -> None:
        """Ask several at once, and show their answers side by side in place of those that the cell had."""
        before = self._side_by_side.get(place.cell or "")
        if before is not None:
            before.end()
        self._side_by_side[place.cell or ""] = self._newest_columns = answers
        self._keep(answers.ask(prompt), options.out)

    def choose(self, chat: Chat, number: int, *, is_named: bool) -> Change:
        """Take one of the answers shown last; ``is_named``: of those that this conversation had last."""
        last = self._newest_columns
        if last is None or is_named:
            return chat.choose(number)
        if last.kept_in is None:
            raise InvalidRequestError("None of the answers shown last was kept, so none can be taken.")
        if last.kept_in is not chat:
            name = last.kept_in.name
            raise InvalidRequestError(
                f"The answers shown last are in the conversation {name!r}: %chat pick {number} -i {name}."
            )
        return chat.choose(number, last.id)

    def _told_first(self, chat: Chat, place: Where, *, several: bool) -> Iterator[str]:
        """Yield lines about what joins a prompt, or does not, that its user may not know; each once."""
        memory = chat.memory_notice()
        if memory is not None:
            yield memory
        last = next(reversed(chat.conversation.offers.values()), None)
        if several or last is None or last.id in self._reminded or last.asked.record.cell == (place.cell or ""):
            return
        self._reminded.add(last.id)
        if chat.chosen(last.id) is None:
            cell = last.asked.record.execution
            whose = f" of cell [{cell}]" if cell is not None else ""
            yield f"None of the answers side by side{whose} is part of the conversation: %chat pick N takes one."

    def last_error(self) -> Failure:
        """Return the last error of this notebook's cells. Raises InvalidRequestError where there is none."""
        return self._prompts.last_error()

    def _send(self, chat: Chat, view: AnswerView, place: Where, prompt: Prompt) -> Reply:
        """Send a prompt and show what comes."""
        begun, before = False, chat.conversation.length
        step = f"{RUN_AGAIN}; %chat continue goes on with this one." if prompt.record else f"{RUN_AGAIN}."

        def begin(warning: str | None = None) -> None:
            nonlocal begun
            if begun:
                return
            begun = True
            if warning is not None and place.kind != "headless":
                view.sent("")  # the warning stands above the answer
                self._is_alone = False
                _warn(warning, place)
            view.begin()

        coming = Coming(begin, view.feed, view.think, on_sent=view.sent)
        try:
            reply = chat.ask(prompt, coming)
            view.leave()
        except ChatInterrupted as stopped:
            with uninterrupted():
                begin()
                stopped.args = (
                    (f"{stopped} {step}",) if view.started else stopped.args
                )  # the line that the cell ends with
                is_whole = any(map(_is_whole, chat.conversation.events[before:]))
                view.close((), _broken_footer(chat, coming, place, "" if is_whole else "interrupted"))
            raise
        except InvalidAnswerError as error:
            with uninterrupted():
                begin()
                view.correct(error.text, error.reply.thinking)
                view.close((), _footer(chat, error.reply, place))
            raise
        except ChatError as error:
            begin()
            error.args = (f"{error} {step}",) if view.started else error.args
            view.close((), _broken_footer(chat, coming, place, "" if isinstance(error, StoreError) else "cut off"))
            raise
        except BaseException:  # an error in ours or the user's own code: nobody is waited for
            with uninterrupted():
                view.close()
            raise
        self._answered = True
        view.correct(reply.text, reply.thinking, shown_forms(reply))
        below = [*(line for line in reply.notices if line != STORED), *ending(reply), *self._offer(chat)]
        notice = chat.threshold_notice() if place.kind != "headless" else None
        below += [*([notice] if notice else ()), *chat.notices()]
        with uninterrupted():
            view.close(below, _footer(chat, reply, place, 0 if self._is_elsewhere(chat) else blocks_below(chat, reply)))
        return reply

    def _erase(self) -> bool:
        """Take all output from the cell that runs where an answer is all that it shows; return whether that was so."""
        if self._is_alone:
            clear_output()
        return self._is_alone

    def _offer(self, chat: Chat) -> tuple[str, ...]:
        """Return what to do about turns whose cells were deleted; once for each cell."""
        offered = self._notebook.offered
        if self._notebook.deleted <= offered:
            return ()
        all_turns = chat.turns
        numbers = [number for number in chat.deleted() if all_turns[number - 1].record.cell not in offered]
        offered.update(all_turns[number - 1].record.cell or "" for number in numbers)
        if not numbers:
            return ()
        turns, named = " ".join(map(str, numbers)), named_turns(numbers)
        if len(numbers) == 1:
            return (f"The cell of {named} was deleted: %chat exclude {turns} leaves it out of what is sent.",)
        return (f"The cells of {named} were deleted: %chat exclude {turns} leaves them out of what is sent.",)

    def _keep(self, reply: Reply | list[Reply | None], name: str | None) -> None:
        """Keep a reply, or several, in ``_`` and ``Out`` without showing it twice; values in a variable."""
        self.shell.displayhook.update_user_ns(reply)
        if name is not None:
            self.shell.user_ns[name] = _value(reply) if isinstance(reply, Reply) else list(map(_value, reply))

    @contextmanager
    def _gauge_below(self, chat: Chat, place: Where) -> Iterator[None]:
        """Show the gauge below the cell that a turn is asked in, also where it fails but something was recorded.

        Meanwhile the gauge's buttons wait, and the picture below the cell before stays as it is.
        """
        before, elsewhere = chat.conversation.length, self._is_elsewhere(chat)
        self._has_several = self._has_several or elsewhere
        self._watch(chat)
        if self._panel is not None and not elsewhere:
            self._panel.hold()
        try:
            yield
        except BaseException:
            if chat.conversation.length != before:
                with uninterrupted():
                    self._greet(chat, place)
            raise
        self._greet(chat, place)

    def _greet(self, chat: Chat, place: Where) -> None:
        """Show the gauge below the newest chat cell; in a terminal, below the first."""
        if self._is_elsewhere(chat) or chat.config.gauge != "follow":
            return
        if place.kind == "terminal" and not self._greeted:
            with suppress(ChatError):
                self.show_gauge(chat)
        elif place.kind == "notebook" and place.is_magic:
            self._follow_cell(chat, place)
        elif place.kind == "notebook":  # perhaps a loop: one gauge for all its answers
            self._at_the_end = partial(self._follow_cell, chat, place)

    def _follow_cell(self, chat: Chat, place: Where) -> None:
        """Show the gauge in the running cell, and let it go from the cell where it was."""
        with suppress(ChatError):  # another model was asked, and the usual one is not there
            self.panel().follow(_asked_again(chat, place))

    def after_cell(self) -> None:
        """Show the gauge where the cell that ends asked for it."""
        show, self._at_the_end = self._at_the_end, None
        if show is not None:
            show()

    def _is_elsewhere(self, chat: Chat) -> bool:
        """Return whether a conversation is another than the current one."""
        return chat is not self.library.current

    def show_gauge(self, chat: Chat) -> None:
        """Show the live panel; its text in a terminal, in headless runs, and for another conversation."""
        kind = where(self.shell).kind
        if kind == "terminal":
            coloured = sys.stdout.isatty() and "NO_COLOR" not in os.environ
            print(gauge_terminal(chat.info(), coloured=coloured, name=self.name_of(chat)))
        elif kind == "headless" or self._is_elsewhere(chat):
            display(gauge_forms(chat.info(), self.name_of(chat)), raw=True)
        else:
            self.panel().show()
        self._greeted = True

    def name_of(self, chat: Chat) -> str:
        """Return a conversation's name where this notebook has more than one, else an empty text."""
        return chat.name if len(self.names) > 1 else ""

    def show_table(self, table: SelectionTable, live: Callable[[], TurnTable]) -> None:
        """Show a table with boxes that act; the table alone where nobody can click, or without rows."""
        if where(self.shell).kind == "notebook" and table.rows:
            live().show()
        else:
            display(table_forms(table), raw=True)

    def history_of(self, chat: Chat) -> TurnTable:
        """Return the live table of a conversation's turns: one for all its views, so that they agree."""
        return self._views.history(chat)

    def preview_of(self, chat: Chat, prompt: Prompt) -> TurnTable:
        """Return the live table of the next request."""
        return self._views.preview(chat, prompt)

    def panel(self) -> GaugePanel:
        """Return the gauge's panel: one for all its views, so that they agree."""
        if self._panel is None:
            self._panel = GaugePanel(self._controls())
            self.follow()
        else:
            self._attach(self._panel)
        return self._panel

    def _controls(self) -> Controls:
        """Return what the panel's buttons do to the conversation that is current at the click."""

        def chat() -> Chat:
            return self.library.current

        return Controls(
            read=lambda: chat().info(),
            plans=lambda: chat().plans(),
            summarise=lambda stopper: chat().summarize(stopper=stopper),
            trim=lambda: chat().trim(),
            clear=lambda: chat().clear(),
            undo=lambda: chat().undo(),
            redo=lambda: chat().redo(),
            writer=lambda: chat().writer,
            menu={
                "Preview": lambda: self._views.preview(chat(), Prompt("")),
                "History": lambda: self._views.history(chat()),
                "Settings": lambda: self._views.settings(chat()),
            },
            name=lambda: chat().name if self._has_several else "",
            busy=lambda: any(each.is_busy for each in self._watched),
        )

    def follow(self) -> None:
        """Let the panel show the current conversation, with its name where there is more than one.

        It goes from the cell of another conversation to the one that runs.
        """
        if self._panel is None:
            return
        self._has_several = len(self.names) > 1
        chat, place = self.library.current, where(self.shell)
        has_changed = self._followed not in (None, chat)
        self._attach(self._panel)
        if has_changed and place.kind == "notebook" and chat.config.gauge == "follow":
            self._at_the_end = partial(self._follow_cell, chat, place)

    def _attach(self, panel: GaugePanel) -> None:
        """Let the panel hear what happens in the current conversation."""
        chat = self.library.current
        if self._followed is not chat:
            self._followed = chat
            panel.move()
        if panel.update not in chat.listeners:
            chat.listeners.append(panel.update)
        self._watch(chat)
        panel.update()

    def _watch(self, chat: Chat) -> None:
        """Let the panel's buttons wait for the turns of a conversation."""
        if self._panel is not None and chat not in self._watched:
            self._watched.add(chat)
            chat.watchers.append(self._panel.watch)

    def ask_key(self, chat: Chat, owner: str) -> None:
        """Ask for a key without showing it, and keep it in memory."""
        try:
            key = getpass(f"Key for {owner} (kept in memory only): ").strip()
        except (StdinNotImplementedError, EOFError):
            raise UsageError(
                "A key cannot be typed here: set the provider's environment variable, such as OPENAI_API_KEY."
            ) from None
        if not key:
            raise InvalidRequestError("No key was typed; nothing has changed.")
        chat.set_key(owner, key)


def _split(line: str) -> list[str]:
    """Return a line's words, split as a shell would; at spaces where a quote is not closed."""
    lexer = shlex.shlex(line, posix=True, punctuation_chars=False)
    lexer.whitespace_split, lexer.commenters, lexer.escape = True, "", ""
    try:
        return list(lexer)
    except ValueError:
        return line.split()


def _check_quotes(line: str, stray: list[str], command: Command | None) -> None:
    """Refuse words that follow the value of an option and seem to belong to it. Raises UsageError."""
    words = _split(line)
    at = words.index(stray[0])
    before = words[at - 2] if at > 1 else ""
    option = next((each for each in OPTIONS if each.takes in IN_QUOTES and before in each.flags), None)
    if option is None or (command is not None and command.takes(option.name)):
        return
    value = words[at - 1].strip("\"'")
    whole = " ".join([value, *stray]).strip("\"'")
    each = " ".join(f"{before} {word}" for word in (value, *stray))
    several = f"write {each} for several; a name with spaces goes" if option.repeats else "put several words"
    raise UsageError(f'{before} took only {value!r}: {several} in quotes, {before} "{whole}". Nothing was sent.')


@lru_cache(maxsize=8)
def _parsed(parser: Any, line: str) -> Namespace:
    """Parse a line's words, and keep the result: most lines are repeated. A lone apostrophe is kept as it is."""
    words = _split(line)
    try:
        options: Namespace = parser.parse_intermixed_args(words)
    except UsageError as error:
        if words[:1] == ["key"]:
            from .commands import KEY_IS_ASKED_FOR

            raise UsageError(KEY_IS_ASKED_FOR) from None
        raise UsageError(_what_is_wrong(str(error), parser, words)) from None
    return options


def _what_is_wrong(said: str, parser: Any, words: Sequence[str]) -> str:
    """Return the parser's error with the nearest option, and where those are listed that may be typed there."""
    from .commands import COMMANDS

    command = COMMANDS.get(next(iter(words), "").lower())
    unknown = said.partition("unrecognized arguments: ")[2]
    if not unknown:
        return f"{said}. %%chat? shows every option with what it takes."
    near = get_close_matches(unknown.split()[0], parser._option_string_actions, 1, 0.7)
    hint = f" Did you mean {near[0]}?" if near else ""
    listed = f"%chat help {command.name} shows its options" if command else "%%chat? shows every option"
    return f"Unknown option: {unknown}.{hint} {listed}."


def _no_prompt(line: str, options: Namespace) -> str:
    """Return what to type instead of options without a prompt."""
    use = f"; %chat use {options.model} keeps the model for the conversation" if options.model else ""
    return f"%chat {line} has no prompt: put %%chat {line} on a cell's first line and the prompt below it{use}."


def _only_of_commands(options: Namespace) -> None:
    """Refuse options beside a prompt that only a command takes. Raises UsageError."""
    for option in OPTIONS:
        if option.only_for and getattr(options, option.name):
            example = " and ".join(f"{typed} {option.flag}" for typed in option.only_for)
            raise UsageError(f"A prompt does not take {option.flag}: it belongs to {example}. Nothing was sent.")


def _check_options(command: Command, name: str, options: Namespace) -> None:
    """Refuse options that a command does not take. Raises UsageError."""
    unused = [key for key, value in vars(options).items() if value and key != "words" and not command.takes(key)]
    if unused:
        taken = ", ".join(map(typed, command.options))
        takes = f"It takes {taken}" if taken else "It takes no options of its own"
        raise UsageError(f"%chat {name} takes no {typed(unused[0])}. {takes}.")


def _is_whole(event: Event) -> bool:
    """Return whether an event is an answer that came whole."""
    return isinstance(event, Said) and event.turn.stop_reason not in ("interrupted", "cut")


def _footer(chat: Chat, reply: Reply, place: Where, blocks: int = 0) -> Footer:
    """Return what stands below an answer: remarks and, where they are wanted, figures; few of a stored answer.

    ``blocks``: how many code blocks it offers.
    """
    notes = remarks_on(reply)
    if not _shows_figures(chat, place):
        return Footer(notes=notes)
    fill, guess = _fill(chat)
    if reply.stored:
        return Footer(fill=fill, guess=guess, notes=notes)
    return Footer(reply.model, reply.usage, reply.seconds, reply.cost, reply.stop_reason, blocks, fill, guess, notes)


def _broken_footer(chat: Chat, coming: Coming, place: Where, how: str) -> Footer:
    """Return what stands below an answer that is not whole; ``how``: what ended it."""
    seconds = time.monotonic() - coming.asked
    return Footer(seconds=seconds if _shows_figures(chat, place) else None, broken=how)


def _shows_figures(chat: Chat, place: Where) -> bool:
    """Return whether figures are wanted below answers."""
    return chat.config.footer == "on" or (chat.config.footer == "auto" and place.kind != "headless")


def _fill(chat: Chat) -> tuple[float | None, bool]:
    """Return the used share of the limit, and whether it is a guess; ``None`` where the usual model is not there."""
    try:
        now = chat.info()
    except ChatError:  # another model was asked
        return None, False
    return now.fill if now.limit else None, now.source == "assumed"


def _warn(line: str, place: Where) -> None:
    """Show, before the answer, that the context window is nearly full, and what to do."""
    if place.kind == "terminal":
        print(note_plain(line))
        return
    warning = f'<div class="jctx-warning">{note_html(line)}</div>'
    display({"text/html": warning, "text/plain": note_plain(line)}, raw=True)


def _asked_again(chat: Chat, place: Where) -> int:
    """Return the number of the turn that a cell has just asked again, or 0."""
    if chat.conversation.undo_label != "re-run":
        return 0
    numbered = enumerate(chat.conversation.places, 1)
    again = [number for number, there in numbered if there.turn.record.cell == place.cell and len(there.versions) > 1]
    return again[-1] if again else 0


def _value(reply: Reply | None) -> Any:
    """Return what a variable holds of a reply: the value of a structured answer, else the reply."""
    return reply if reply is None or reply.parsed is None else reply.parsed


def _several(chat: Chat, options: Namespace) -> Several | None:
    """Return whom a line asks at once; ``None``: one. Raises UsageError."""
    if is_several(options):
        from .side_by_side import Several

        return Several(chat, options)
    if options.pick is not None:
        raise UsageError(f"--pick {options.pick} goes with -n, or with several -m or -t: one answer is asked for.")
    return None


def _view(place: Where, options: Namespace, above: tuple[str, ...], erase: Callable[[], bool]) -> AnswerView:
    if place.kind == "terminal":
        return TerminalView(above)
    is_json = options.schema is not None
    return NotebookView(above, streaming=place.kind == "notebook", plain=options.plain, is_json=is_json, erase=erase)


def _as(form: str) -> Callable[[Reply], str]:
    """Return the function that renders a Reply in one form."""

    def shown(reply: Reply) -> str:
        answer = bundle(shown_forms(reply) or reply.text)[form]
        if form != "text/html":
            return answer
        notes = ("stored answer",) if reply.stored else ()
        figures = Footer(reply.model, reply.usage, reply.seconds, reply.cost, reply.stop_reason, notes=notes)
        return answer + footer_html(figures)

    return shown
