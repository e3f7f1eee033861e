"""``%load_ext`` and ``%unload_ext``: register the magics. What they need is imported when one is first used."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from IPython.core.completer import CompletionContext, context_matcher
from IPython.core.getipython import get_ipython
from IPython.core.magic import Magics, line_cell_magic, magics_class, no_var_expand

from ..errors import InvalidRequestError
from ..runtime.notebook_budget import pay_with
from .output_recorder import OutputRecorder

if TYPE_CHECKING:
    from ..chat import Chat
    from .chat_cells import ChatCells

MAGIC_NAMES = ("chat", "ctx")
on_lines_and_cells: Any = line_cell_magic  # whose own type fits no method
HEADS = tuple(marks + name for name in MAGIC_NAMES for marks in ("%%", "%"))
EMPTY_CELL = re.compile(r"(get_ipython\(\)\.run_cell_magic\('(chat|ctx)', .*, )''\)\n")  # as IPython calls it
KEPT_AS = "_jupyter_ctx"  # the attribute of a shell that holds its ChatMagics


@magics_class
class ChatMagics(Magics):
    """The magics of one shell: registered at once; what they need is built when one of them is first used."""

    def __init__(self, shell: Any) -> None:
        super().__init__(shell, parent=None)  # else the shell would hold it among what %config lists
        self._magic: ChatCells | None = None
        self.recorder, self.chip = OutputRecorder(shell), None
        if hasattr(shell, "kernel"):  # a terminal has no toolbar
            from .chip import Chip

            self.chip = Chip()

    @no_var_expand
    @on_lines_and_cells
    def chat(self, line: str, cell: str | None = None) -> None:
        """Talk with a language model."""
        magic = self.magic
        from .chat_cells import run_line

        run_line(magic, line, cell)

    @property
    def magic(self) -> ChatCells:
        """The chat cells of this shell."""
        if self._magic is None:
            from .chat_cells import ChatCells

            self._magic = ChatCells(self.shell, self.recorder, self.chip)
        return self._magic

    def after_cell(self, result: object = None) -> None:
        """Note what a cell ended with, and let the gauge follow it."""
        self.recorder.after_cell(result)
        if self._magic is not None:
            self._magic.gauge.after_cell()


def _help() -> str:
    """Return the documentation that ``%%chat?`` shows: what the cell is for, with the options of a prompt."""
    from .help_pages import prompt_page

    return prompt_page()


setattr(ChatMagics.chat, "getdoc", _help)  # noqa: B010  # which IPython asks before it looks at a docstring


def magics_of(shell: Any) -> ChatMagics:
    """Return the magics of a shell: the same after a reload, with their conversations.

    They are kept in the shell itself, so that nothing else holds either of them.
    """
    if not hasattr(shell, KEPT_AS):
        setattr(shell, KEPT_AS, ChatMagics(shell))
    magics: ChatMagics = getattr(shell, KEPT_AS)
    return magics


def get_chat() -> Chat:
    """Return the Chat behind ``%%chat`` in this notebook."""
    shell = get_ipython()
    if shell is None:
        raise InvalidRequestError("There is no notebook here: make a Chat() of your own.")
    return magics_of(shell).magic.library.current


def register(shell: Any) -> None:
    """Register ``%%chat`` and ``%%ctx``; only ``%%ctx`` where another package has ``%%chat``."""
    magics, owner = magics_of(shell), _other_package(shell)
    for name in MAGIC_NAMES if owner is None else MAGIC_NAMES[1:]:
        shell.register_magic_function(magics.chat, "line_cell", name)
    for hooks, hook in _hooks(shell, magics):
        if hook not in hooks:
            hooks.append(hook)
    pay_with(lambda: magics.magic.library.cost_budget())
    if magics.chip is not None:
        magics.chip.open()
    magics.recorder.before_cell()  # the cell that loads the extension may plot as well
    if owner is not None:
        print(f"jupyter_ctx: %%chat belongs to {owner} here; use %%ctx, which takes the same.")


def unregister(shell: Any) -> None:
    """Remove what :func:`register` added; the conversation stays for the next load."""
    magics = magics_of(shell)
    for head in HEADS:
        if owner_of(head) is not None:
            del shell.magics_manager.magics["cell" if head.startswith("%%") else "line"][head.lstrip("%")]
    for hooks, hook in _hooks(shell, magics):
        if hook in hooks:
            hooks.remove(hook)
    pay_with(None)
    if magics.chip is not None:
        magics.chip.close()


def with_a_body(lines: list[str]) -> list[str]:
    """Let ``%%chat --error`` and ``%%chat fix`` stand without a text below them: IPython refuses an empty body."""
    empty = EMPTY_CELL.fullmatch("".join(lines))
    if empty is None or owner_of(f"%%{empty[2]}") is None:
        return lines
    return [f"{empty[1]}'\\n')\n"]


def _hooks(shell: Any, magics: ChatMagics) -> Iterator[tuple[list[Any], Any]]:
    """Yield the lists of what IPython calls, each with what this package adds to it."""
    yield shell.events.callbacks["pre_run_cell"], magics.recorder.before_cell
    yield shell.events.callbacks["post_run_cell"], magics.after_cell
    yield shell.input_transformers_post, with_a_body
    yield shell.Completer.custom_matchers, chat_matcher
    if hasattr(shell.display_pub, "register_hook"):  # in a kernel
        yield shell.display_pub._hooks, magics.recorder.on_display


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

    return matches(context, lambda: owner.magic, below=above is not None)


def owner_of(head: str) -> ChatMagics | None:
    """Return what has a magic such as ``%%chat``, or ``None`` where it is not ours: others own one so named."""
    shell: Any = get_ipython()
    if head not in HEADS or shell is None:
        return None
    owner = getattr(_function(shell, head), "__self__", None)
    return owner if type(owner).__module__ == __name__ else None  # of ChatMagics, also after a reload of this module


def _function(shell: Any, head: str) -> Any:
    return shell.find_magic(head.lstrip("%"), "cell" if head.startswith("%%") else "line")


def _other_package(shell: Any) -> str | None:
    """Return the package that owns ``%%chat`` or ``%chat``, or ``None`` where they are free or ours."""
    functions = (_function(shell, head) for head in ("%%chat", "%chat") if owner_of(head) is None)
    function = next(filter(None, functions), None)
    module = getattr(function, "__module__", None) or type(function).__module__
    return None if function is None else str(module).partition(".")[0]
