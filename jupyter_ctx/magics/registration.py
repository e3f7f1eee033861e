"""``%load_ext`` and ``%unload_ext``: register the magics. What they need is imported when one is first used."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from IPython.core.completer import CompletionContext, context_matcher
from IPython.core.getipython import get_ipython
from IPython.core.magic import no_var_expand

from ..errors import InvalidRequestError
from ..runtime.importing import quick_imports
from ..runtime.notebook_purse import pay_with
from .shown import Shown

if TYPE_CHECKING:
    from ..chat import Chat
    from ..conversation.places import Place
    from .chat_magic import ChatMagic
    from .chip import Chip

MAGIC_NAMES = ("chat", "ctx")
HEADS = tuple(marks + name for name in MAGIC_NAMES for marks in ("%%", "%"))
CALLS = tuple(f"get_ipython().run_cell_magic({name!r}, " for name in MAGIC_NAMES)  # what IPython makes of a cell
EMPTY_BODY = ", '')\n"
KEPT_AS = "_jupyter_ctx"  # the attribute of a shell that holds its Door


class Door:
    """The magics of one shell: registered at once, built when one of them is first used."""

    def __init__(self, shell: Any) -> None:
        self._shell = shell
        self._magic: ChatMagic | None = None
        self.shown = Shown(shell)
        self.chip = _new_chip(shell)

    @property
    def magic(self) -> ChatMagic:
        """The conversations of this shell."""
        if self._magic is None:
            with quick_imports():
                from .chat_magic import ChatMagic
            self._magic = ChatMagic(self._shell, self.shown, self.chip)
        return self._magic

    def purse(self) -> Any:
        """Return what pays for requests apart from conversations, as :meth:`Library.purse`."""
        return self.magic.library.purse()

    @property
    def names(self) -> list[str]:
        """The names of this notebook's conversations, those of earlier kernels included."""
        return self.magic.library.names

    @property
    def places(self) -> Sequence[Place]:
        """The turns of the current conversation; empty before the first conversation is opened."""
        return self._magic.places if self._magic is not None else ()

    @no_var_expand
    def chat(self, line: str, cell: str | None = None) -> None:
        """Talk with a language model."""
        magic = self.magic
        from .chat_line import run_line

        run_line(magic, line, cell)

    def after_cell(self, result: object = None) -> None:
        """Note what a cell ended with, and let the gauge follow it."""
        self.shown.after_cell(result)
        if self._magic is not None:
            self._magic.after_cell()


def _new_chip(shell: Any) -> Chip | None:
    """Return the chip of a kernel; a terminal has no toolbar."""
    if not hasattr(shell, "kernel"):
        return None
    from .chip import Chip

    return Chip()


def _help() -> str:
    """Return the documentation that ``%%chat?`` shows: what the cell is for, with the options of a prompt."""
    from .help_pages import prompt_page

    return prompt_page()


setattr(Door.chat, "getdoc", _help)  # noqa: B010  # which IPython asks before it looks at a docstring


def door_of(shell: Any) -> Door:
    """Return the door of a shell: the same one after a reload, with its conversations.

    It is kept in the shell itself, so that nothing else holds either of them.
    """
    door: Door | None = getattr(shell, KEPT_AS, None)
    if door is None:
        door = Door(shell)
        setattr(shell, KEPT_AS, door)
    return door


def get_chat() -> Chat:
    """Return the Chat behind ``%%chat`` in this notebook."""
    shell = get_ipython()
    if shell is None:
        raise InvalidRequestError("There is no notebook here: make a Chat() of your own.")
    return door_of(shell).magic.library.current


def register(shell: Any) -> None:
    """Register ``%%chat`` and ``%%ctx``; only ``%%ctx`` where another package has ``%%chat``."""
    door = door_of(shell)
    owner = _package_of(shell, "chat")
    for name in MAGIC_NAMES if owner is None else MAGIC_NAMES[1:]:
        shell.register_magic_function(door.chat, "line_cell", name)
    for hooks, hook in _hooks(shell, door):
        if hook not in hooks:
            hooks.append(hook)
    pay_with(door.purse)
    if door.chip is not None:
        door.chip.open()
    door.shown.before_cell()  # the cell that loads the extension may plot as well
    if owner is not None:
        print(f"jupyter_ctx: %%chat belongs to {owner} here; use %%ctx, which takes the same.")


def unregister(shell: Any) -> None:
    """Remove what :func:`register` added; the conversation stays for the next load."""
    for kind, marks in (("line", "%"), ("cell", "%%")):
        for name in MAGIC_NAMES:
            if owner_of(marks + name) is not None:
                del shell.magics_manager.magics[kind][name]
    pay_with(None)
    door = door_of(shell)
    if door.chip is not None:
        door.chip.close()
    for hooks, hook in _hooks(shell, door):
        if hook in hooks:
            hooks.remove(hook)


def _hooks(shell: Any, door: Door) -> Iterator[tuple[list[Any], Any]]:
    """Yield the lists of what IPython calls, each with what this package adds to it."""
    yield shell.events.callbacks["pre_run_cell"], door.shown.before_cell
    yield shell.events.callbacks["post_run_cell"], door.after_cell
    yield shell.input_transformers_post, with_a_body
    yield shell.Completer.custom_matchers, chat_matcher
    if hasattr(shell.display_pub, "register_hook"):  # in a kernel
        yield shell.display_pub._hooks, door.shown.on_display


@context_matcher(identifier="jupyter_ctx.chat", priority=1000)
def chat_matcher(context: CompletionContext) -> Any:
    """Return what may stand at the cursor, as IPython's matchers do; nothing outside our magics."""
    first = context.full_text.partition("\n")[0].split(maxsplit=1)
    above = owner_of(first[0]) if first and first[0].startswith("%%") and context.cursor_line > 0 else None
    head, space, _ = context.line_with_cursor[: context.cursor_position].lstrip().partition(" ")
    owner = above or (owner_of(head) if space else None)
    if owner is None:
        return {"completions": []}
    from .completion import matches

    return matches(context, owner, below=above is not None)


def with_a_body(lines: list[str]) -> list[str]:
    """Let ``%%chat --error`` and ``%%chat fix`` stand without a text below them: IPython refuses an empty body."""
    line = lines[0] if len(lines) == 1 else ""
    if not line.endswith(EMPTY_BODY) or not line.startswith(CALLS):
        return lines
    name = line.partition("'")[2].partition("'")[0]
    return [f"{line.removesuffix(EMPTY_BODY)}, '\\n')\n"] if owner_of(f"%%{name}") is not None else lines


def owner_of(head: str) -> Door | None:
    """Return the door behind a magic such as ``%%chat``, or ``None`` where it is not ours: others own one so named."""
    shell: Any = get_ipython()
    kind = "cell" if head.startswith("%%") else "line"
    named = head in HEADS and shell is not None
    function = shell.magics_manager.magics[kind].get(head.lstrip("%")) if named else None
    owner = getattr(function, "__self__", None)
    return owner if type(owner).__module__ == __name__ else None  # of a Door, also after a reload of this module


def _package_of(shell: Any, name: str) -> str | None:
    """Return the package that owns a magic's name, or ``None`` where it is free or ours."""
    for kind, marks in (("cell", "%%"), ("line", "%")):
        function = shell.magics_manager.magics[kind].get(name)
        if function is not None and owner_of(marks + name) is None:
            module = getattr(function, "__module__", None) or type(function).__module__
            return str(module).partition(".")[0]
    return None
