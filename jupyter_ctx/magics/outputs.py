"""Outputs and inputs of cells in a prompt: ``{{ Out[3] }}``, ``{{ In[3] }}``, ``{{ _ }}`` and ``-a Out[3]``."""

from __future__ import annotations

import re
from argparse import Namespace
from collections import ChainMap
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from ..attachments.attached import Attached
from ..attachments.figures import pictures_in
from ..attachments.rich_text import shown_text
from ..attachments.user_code import silent
from ..chat import Chat
from ..conversation.text_safety import lasting
from ..errors import InvalidRequestError
from ..runtime.redaction import Redactor
from ..session.attaching import attachment_of, takes, values_notice
from ..template.filling import fill, unspaced, without_key
from .attach_named import Labels
from .line_options import settings_of
from .shown import Display, Shown

OUTPUT = re.compile(r"Out\s?\[\s?(\d+)\s?\]|_(\d+)|(_{1,3})")
INPUT = re.compile(r"In\s?\[\s?(\d+)\s?\]|_i(\d+)")
IMAGE_PART = re.compile(r"Out\s?\[\s?(\d+)\s?\]\[\s?(\d+)\s?\]")
ABSENT_OUTPUT = object()
PART_OF_A_FIGURE = re.compile(r"<[^<>]* object>|<matplotlib")
ONLY_A_CLASS = re.compile(r"<[\w.]+ object>|Figure\(\d+x\d+\)")
MOST_NUMBERS = 12  # of cells that an error lists
NO_TEXT = "What a cell prints is not kept: store it in a variable."


class CellOutput(NamedTuple):
    """What a cell has shown, as far as it is kept: the value that it ended with, and what it displayed."""

    value: Any
    displays: list[Display]

    @property
    def images(self) -> Any:
        """The images that it displayed: the bytes of one, a list of several, ``None`` for none."""
        return _one_or_all([display.content() for display in self.displays if display.image is not None])

    @property
    def text(self) -> str:
        """What it displayed as text."""
        return "\n".join(display.text for display in self.displays if not display.what and display.image is None)

    @property
    def content(self) -> Any:
        """Its value, else its images, else its text; ``ABSENT_OUTPUT`` where none is kept."""
        if self.value is not ABSENT_OUTPUT:
            return self.value
        images = self.images
        return images if images is not None else self.text or ABSENT_OUTPUT


class Outputs:
    """The inputs and outputs of a notebook's cells, by their numbers, as they are now.

    own_in, own_out, own_newest: whether ``In``, ``Out`` and ``_`` are IPython's, and not variables of the user's
    variables: the notebook's, with ``In`` as it was typed
    numbers: of the cells that have an output
    """

    def __init__(self, shell: Any, shown: Shown) -> None:
        names, history = shell.user_ns, shell.history_manager
        newest = names.get("_", ABSENT_OUTPUT)
        self.own_in = names.get("In") is history.input_hist_parsed
        self.own_out = names.get("Out", ABSENT_OUTPUT) is names.get("_oh")
        self.own_newest = newest is ABSENT_OUTPUT or newest is getattr(shell.displayhook, "_", ABSENT_OUTPUT)
        self.variables: Mapping[str, Any] = ChainMap({"In": history.input_hist_raw} if self.own_in else {}, names)
        self._inputs, self._values, self._shown = history.input_hist_raw, names.get("_oh", {}), shown
        self.numbers = sorted({*self._values, *(display.number for display in shown.displays)})

    def of(self, number: int) -> CellOutput:
        """Return what the cell of a number has shown."""
        displays = [display for display in self._shown.displays if display.number == number]
        return CellOutput(self._values.get(number, ABSENT_OUTPUT), displays)

    @property
    def newest(self) -> int | None:
        """The number of the cell that ``_`` means: the newest that returned or displayed anything."""
        return self.numbers[-1] if self.numbers and self.own_newest else None

    @property
    def attachable(self) -> Mapping[str, Any]:
        """The notebook's variables; in ``Out`` and ``_`` also what cells displayed that ended with no value."""
        contents = {number: self.of(number).content for number in self.numbers}
        contents = {number: content for number, content in contents.items() if content is not ABSENT_OUTPUT}
        own: dict[str, Any] = {"Out": contents} if self.own_out else {}
        if self.newest in contents and self.newest not in self._values:
            own["_"] = contents[self.newest]
        return ChainMap(own, self.variables)  # type: ignore[arg-type]

    def number_of(self, value: Any) -> int | None:
        """Return the number of the newest cell that ended with this very value."""
        return next((number for number in sorted(self._values, reverse=True) if self._values[number] is value), None)

    def is_outdated(self, number: int) -> bool:
        """Return whether cells have run after the one of a number, besides the one that runs."""
        return self._shown.number is not None and number < self._shown.number - 1

    def check_input(self, number: int) -> None:
        """Raise NoOutputError where no cell of this number has run."""
        last = len(self._inputs) - 1
        if not 0 < number <= last:
            there = (
                f"There are In[1] to In[{last}]." if last > 1 else "There is In[1]." if last else "None is kept yet."
            )
            raise NoOutputError(f"there is no In[{number}]. {there}")

    def unknown(self, name: str, number: int | None = None) -> NoOutputError:
        """Return an error for an output that is not there, with those that are."""
        newest = [f"Out[{each}]" for each in self.numbers[-MOST_NUMBERS:]]
        more = len(self.numbers) - len(newest)
        listed = ", ".join(newest) + (f", and {more:,} older ones" if more else "")
        there = f"There are {listed}." if newest else "No cell has an output yet."
        if number in self._shown.displays.dropped:
            return NoOutputError(f"what {name} displayed is no longer kept: run that cell again. {there}")
        return NoOutputError(f"there is no {name}. {there} {NO_TEXT}")


class NoOutputError(Exception):
    """A cell has no output that could be filled in; the message says why, and what to do."""


class PromptFilling:
    """Fills the expressions of one prompt in: ``{{ Out[3] }}`` and the like stand for text, and images that go along.

    images: those that go along, each once, by name; lines: what to say above the answer, each once
    """

    def __init__(self, outputs: Outputs, chat: Chat, options: Namespace, labels: Labels) -> None:
        self._outputs, self._chat, self._labels = outputs, chat, labels
        self._settings = settings_of(options)
        self._redactor = chat.session.redactor(on=not options.no_redact)
        self.images: dict[str, Attached] = {}
        self.lines: dict[str, None] = {}

    def of(self, text: str, tell: Callable[..., None]) -> str:
        """Return a prompt with its expressions filled in, and ``tell`` what is read. Raises InvalidRequestError."""
        names = self._outputs.variables

        def read(expression: str, evaluate: Callable[[], str]) -> str:
            tell(expression, verb="Reading")
            return self.fill(expression, evaluate)

        with silent():  # what is displayed while values are read is no part of the cell
            filled = fill(text, names, self._redactor, read)
        large = values_notice(self._chat.session, filled.values, **self._settings)
        self.lines |= dict.fromkeys((*unspaced(text, names), *([large] if large else ())))
        return filled.text

    def fill(self, expression: str, evaluate: Callable[[], str]) -> str:
        """Return the text for an expression; other expressions than a whole output's or input's are evaluated.

        Raises InvalidRequestError where there is no such output, and whatever ``evaluate`` raises.
        """
        try:
            return self._filled(expression, evaluate)
        except NoOutputError as error:
            raise InvalidRequestError(f"{{{{ {expression} }}}}: {error} Nothing was sent.") from None

    def _filled(self, expression: str, evaluate: Callable[[], str]) -> str:
        cell_input, part = INPUT.fullmatch(expression), IMAGE_PART.fullmatch(expression)
        if cell_input is not None and (cell_input[2] or self._outputs.own_in):
            self._outputs.check_input(int(cell_input[1] or cell_input[2]))
            return evaluate()
        if part is not None and self._outputs.own_out:
            number, at = int(part[1]), int(part[2])
            output = self._outputs.of(number)
            if output.value is ABSENT_OUTPUT and output.images is not None:
                return self._image_part(number, at, output.images)
        number_meant = self._number(expression)
        return self._output(number_meant, evaluate) if number_meant is not None else _in_words(expression, evaluate())

    def _image_part(self, number: int, at: int, images: Any) -> str:
        """Let one of the images that a cell displayed go along. Raises NoOutputError."""
        listed = images if isinstance(images, list) else [images]
        if at >= len(listed):
            raise NoOutputError(f"Out[{number}] has {len(listed)} images, and the first is number 0.")
        return self._image(f"Out[{number}][{at}]", listed[at])

    def _number(self, expression: str) -> int | None:
        """Return the number of the cell whose output is meant; ``None`` where a variable of the user's has the name."""
        named = OUTPUT.fullmatch(expression)
        if named is None or (named[1] and not self._outputs.own_out):
            return None
        if named[1]:
            return int(named[1])
        value = self._outputs.variables.get(expression, ABSENT_OUTPUT)
        if named[2]:
            number = int(named[2])
            return number if value is ABSENT_OUTPUT or value is self._outputs.of(number).value else None
        newest = self._outputs.newest if expression == "_" else None
        if newest is not None:
            line = f"{{{{ _ }}}} is Out[{newest}]: the cells after it returned and displayed nothing. {NO_TEXT}"
            self.lines |= {line: None} if self._outputs.is_outdated(newest) else {}
            return newest
        if value is ABSENT_OUTPUT or (type(value) is str and not value):
            raise self._outputs.unknown(f"output that {expression} could stand for")
        return self._outputs.number_of(value)

    def _output(self, number: int, evaluate: Callable[[], str]) -> str:
        """Return the text for what a cell has shown, and let its images go along. Raises NoOutputError."""
        name, output = f"Out[{number}]", self._outputs.of(number)
        images = output.images
        if output.value is ABSENT_OUTPUT:
            return self._image(name, images) if images is not None else self._displayed(number, output)
        drawn = images if images is not None else _pictures(name, output.value, self._redactor)
        if drawn is None:
            return (
                lasting(without_key(shown_text(name, output.value, self._redactor.masked), self._redactor))
                or evaluate()
            )
        words = evaluate() if drawn is images else ""
        words = "" if PART_OF_A_FIGURE.search(words) else words  # the parts of a figure, which its image shows
        return "\n".join(filter(None, (words, self._image(name, drawn))))

    def _displayed(self, number: int, output: CellOutput) -> str:
        """Return the text of what a cell displayed. Raises NoOutputError where there is none."""
        if output.text:
            return lasting(without_key(output.text, self._redactor))
        if not output.displays:
            raise self._outputs.unknown(f"Out[{number}]", number)
        what = output.displays[0].what
        raise NoOutputError(f"it was displayed as {what}, which is not kept: name its variable with -a.")

    def _image(self, name: str, images: Any) -> str:
        """Let images go along, and return what stands in their place in the text."""
        label, count = self._labels.of(name), len(images) if isinstance(images, list) else 1
        what = "image" if count == 1 else f"{count} images"
        if not takes(self._chat.session, "image", **self._settings):
            model = self._settings.get("model") or self._chat.config.model
            verb = "is an image" if count == 1 else f"is {count} images"
            self.lines[f"{name} {verb}, and {model} takes text only: the prompt goes without it."] = None
            return f"[{what}: {label}, not sent]"
        if name not in self.images:
            self.images[name] = attachment_of(self._chat.session, name, images, **self._settings).labelled(label)
        return f"[{what}: {label}]"


def _in_words(expression: str, text: str) -> str:
    """Return the text of a value. Raises NoOutputError where it only names a class, as that of a figure does."""
    if ONLY_A_CLASS.fullmatch(text) is None:
        return text
    attach = f" Write -a {expression} on the first line instead: it goes as shown." if expression.isidentifier() else ""
    raise NoOutputError(f"its text is only {text}.{attach}")


def _pictures(name: str, value: Any, redactor: Redactor) -> Any:
    """Return the pictures that a value is, as the bytes of one or a list of several; ``None``: it is none."""
    return _one_or_all([picture.data for _, picture in pictures_in(name, value, redactor.masked).found])


def _one_or_all(images: list[bytes]) -> Any:
    return images if len(images) > 1 else next(iter(images), None)
