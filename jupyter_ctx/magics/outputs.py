"""What cells have shown, as prompts name it: ``{{ Out[3] }}``, ``{{ In[3] }}``, ``{{ _ }}`` and ``-a Out[3]``."""

from __future__ import annotations

import re
from argparse import Namespace
from collections import ChainMap
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from ..attachments.attached import Attached
from ..attachments.figures import pictures_in
from ..attachments.guarded import silent
from ..attachments.rich_text import shown_text
from ..chat import Chat
from ..conversation.text_safety import lasting
from ..errors import InvalidRequestError
from ..runtime.redaction import Redactor
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


class Outputs:
    """The inputs and outputs of a notebook's cells, by their numbers.

    own_in, own_out: whether ``In`` and ``Out`` are IPython's, and not variables of the user's
    """

    def __init__(self, shell: Any, shown: Shown) -> None:
        self._shell, self._shown = shell, shown
        variables = shell.user_ns
        self.own_in = variables.get("In") is shell.history_manager.input_hist_parsed
        self.own_out = variables.get("Out", ABSENT_OUTPUT) is variables.get("_oh")

    @property
    def variables(self) -> Mapping[str, Any]:
        """The notebook's variables, with ``In`` as it was typed."""
        typed = {"In": self._shell.history_manager.input_hist_raw} if self.own_in else {}
        return ChainMap(typed, self._shell.user_ns)

    @property
    def attachable(self) -> Mapping[str, Any]:
        """The notebook's variables; in ``Out`` and ``_`` also what cells displayed that ended with no value."""
        shown = {number: self.shown_by(number) for number in self.numbers() if number not in self._values}
        outputs = {number: self._values.get(number, shown.get(number)) for number in self.numbers()}
        own: dict[str, Any] = {}
        if self.own_out:
            own["Out"] = {number: value for number, value in outputs.items() if value is not ABSENT_OUTPUT}
        newest = self.newest() if self.own_newest else None
        if newest in shown and shown[newest] is not ABSENT_OUTPUT:
            own["_"] = shown[newest]
        return ChainMap(own, self.variables)  # type: ignore[arg-type]

    @property
    def _values(self) -> Mapping[int, Any]:
        values: Mapping[int, Any] = self._shell.user_ns.get("_oh", {})
        return values

    @property
    def own_newest(self) -> bool:
        """Whether ``_`` is IPython's, and not a variable of the user's."""
        value = self._shell.user_ns.get("_", ABSENT_OUTPUT)
        return value is ABSENT_OUTPUT or value is getattr(self._shell.displayhook, "_", ABSENT_OUTPUT)

    def newest(self) -> int | None:
        """Return the number of the cell that ``_`` means: the newest that returned or displayed anything."""
        return max(self.numbers(), default=None)

    def older_than_the_last_cell(self, number: int) -> bool:
        """Return whether cells have run after the one of a number, besides the one that runs."""
        return self._shown.number is not None and number < self._shown.number - 1

    def shown_by(self, number: int) -> Any:
        """Return what a cell displayed: images, else texts; ``ABSENT_OUTPUT`` where neither is kept."""
        images = self.images(number)
        if images is not None:
            return images
        texts = [display.text for display in self.displays(number) if not display.what]
        return "\n".join(texts) if texts else ABSENT_OUTPUT

    def numbers(self) -> list[int]:
        """Return the numbers of the cells that have an output."""
        return sorted({*self._values, *(display.number for display in self._shown.displays)})

    def displays(self, number: int) -> list[Display]:
        """Return what a cell displayed, as far as it is kept."""
        return [display for display in self._shown.displays if display.number == number]

    def images(self, number: int) -> Any:
        """Return the images that a cell displayed: the bytes of one, a list of several, ``None`` for none."""
        return _one_or_all([display.content() for display in self.displays(number) if display.image is not None])

    def value(self, number: int) -> Any:
        """Return the value that a cell ended with, or ``ABSENT_OUTPUT``."""
        return self._values.get(number, ABSENT_OUTPUT)

    def number_of(self, value: Any) -> int | None:
        """Return the number of the newest cell that ended with this very value."""
        return next((number for number in sorted(self._values, reverse=True) if self._values[number] is value), None)

    def unknown(self, name: str) -> str:
        """Return what to say of a number that has no output, with those that have."""
        numbers = self.numbers()
        there = f"There are {_listed('Out', numbers)}." if numbers else "No cell has an output yet."
        dropped = re.fullmatch(r"Out\[(\d+)\]", name)
        if dropped is not None and int(dropped[1]) in self._shown.displays.dropped:
            return f"what {name} displayed is no longer kept: run that cell again. {there}"
        return f"there is no {name}. {there} {NO_TEXT}"

    def has_input(self, number: int) -> bool:
        """Return whether a cell of this number has run."""
        return 0 < number < len(self._shell.history_manager.input_hist_raw)

    def unknown_input(self, name: str) -> str:
        """Return what to say of a number that no cell has."""
        last = len(self._shell.history_manager.input_hist_raw) - 1
        there = f"There are In[1] to In[{last}]." if last > 1 else "There is In[1]." if last else "No cell is kept yet."
        return f"there is no {name}. {there}"


def _listed(name: str, numbers: list[int]) -> str:
    newest = numbers[-MOST_NUMBERS:]
    more = len(numbers) - len(newest)
    return ", ".join(f"{name}[{number}]" for number in newest) + (f", and {more:,} older ones" if more else "")


class FilledPrompt(NamedTuple):
    """A prompt with its expressions filled in, the images that go along, and lines to show above the answer."""

    text: str
    attached: tuple[Attached, ...]
    lines: tuple[str, ...]


def filled_prompt(
    text: str, chat: Chat, options: Namespace, outputs: Outputs, labels: Labels, tell: Callable[..., None]
) -> FilledPrompt:  # fmt: skip
    """Return the prompt of a cell with its expressions filled in, and ``tell`` what is read.

    Raises InvalidRequestError.
    """
    settings = settings_of(options)
    redactor = chat.desk.redactor(on=not options.no_redact)
    parts = FilledOutputs(outputs, chat, settings, redactor, labels)
    variables = outputs.variables

    def read(expression: str, evaluate: Callable[[], str]) -> str:
        tell(expression, verb="Reading")
        return parts.fill(expression, evaluate)

    with silent():  # what is displayed while values are read is no part of the cell
        filled = fill(text, variables, redactor, read)
    large = chat.desk.values_notice(filled.values, **settings)
    lines = (*parts.lines, *unspaced(text, variables), *([large] if large else ()))
    return FilledPrompt(filled.text, tuple(parts.attached), lines)


class NoOutputError(Exception):
    """A cell has no output that could be filled in; the message says why, and what to do."""


class FilledOutputs:
    """What ``{{ Out[3] }}`` and the like stand for in one prompt: text, and images that go along.

    attached: the images; lines: what to say above the answer
    """

    def __init__(
        self, outputs: Outputs, chat: Chat, settings: Mapping[str, Any], redactor: Redactor, labels: Labels
    ) -> None:  # fmt: skip
        self._outputs, self._redactor, self._labels = outputs, redactor, labels
        self._chat, self._settings = chat, settings
        self._found: dict[str, Attached] = {}
        self.lines: list[str] = []

    @property
    def attached(self) -> list[Attached]:
        """The images that go along, each once."""
        return list(self._found.values())

    def fill(self, expression: str, evaluate: Callable[[], str]) -> str:
        """Return the text for an expression; other expressions than a whole output's or input's are evaluated.

        Raises InvalidRequestError where there is no such output, and whatever ``evaluate`` raises.
        """
        try:
            return self._filled(expression, evaluate)
        except NoOutputError as error:
            raise InvalidRequestError(f"{{{{ {expression} }}}}: {error} Nothing was sent.") from None

    def _filled(self, expression: str, evaluate: Callable[[], str]) -> str:
        cell_input = INPUT.fullmatch(expression)
        if cell_input is not None and (cell_input[2] or self._outputs.own_in):
            return self._input(int(cell_input[1] or cell_input[2]), evaluate)
        image_part = IMAGE_PART.fullmatch(expression)
        if image_part is not None and self._outputs.own_out:
            cell, at = int(image_part[1]), int(image_part[2])
            images = self._outputs.images(cell) if self._outputs.value(cell) is ABSENT_OUTPUT else None
            if images is not None:
                return self._image_part(cell, at, images)
        output = OUTPUT.fullmatch(expression)
        number = self._number(expression, output) if output is not None else None
        return self._output(number, evaluate) if number is not None else _in_words(expression, evaluate())

    def _image_part(self, number: int, at: int, images: Any) -> str:
        """Let one of the images that a cell displayed go along. Raises NoOutputError."""
        listed = images if isinstance(images, list) else [images]
        if at >= len(listed):
            raise NoOutputError(f"Out[{number}] has {len(listed)} images, and the first is number 0.")
        return self._image(number, listed[at], f"[{at}]")

    def _input(self, number: int, evaluate: Callable[[], str]) -> str:
        if not self._outputs.has_input(number):
            raise NoOutputError(self._outputs.unknown_input(f"In[{number}]"))
        return evaluate()

    def _number(self, expression: str, output: re.Match[str]) -> int | None:
        """Return the number of the cell; ``None`` where a variable of the user's has the name."""
        variables = self._outputs.variables
        if output[1]:
            return int(output[1]) if self._outputs.own_out else None
        value = variables.get(expression, ABSENT_OUTPUT)
        if output[2]:
            number = int(output[2])
            return number if value is ABSENT_OUTPUT or value is self._outputs.value(number) else None
        newest = self._outputs.newest() if expression == "_" and self._outputs.own_newest else None
        if newest is not None:
            self._tell_older(newest)
            return newest
        if value is ABSENT_OUTPUT or (type(value) is str and not value):
            raise NoOutputError(self._outputs.unknown(f"output that {expression} could stand for"))
        return self._outputs.number_of(value)

    def _tell_older(self, number: int) -> None:
        """Say where cells have run since that showed nothing which is kept."""
        line = f"{{{{ _ }}}} is Out[{number}]: the cells after it returned and displayed nothing. {NO_TEXT}"
        if self._outputs.older_than_the_last_cell(number) and line not in self.lines:
            self.lines.append(line)

    def _output(self, number: int, evaluate: Callable[[], str]) -> str:
        name, value = f"Out[{number}]", self._outputs.value(number)
        images = self._outputs.images(number)
        if value is ABSENT_OUTPUT:
            return self._image(number, images) if images is not None else self._displayed(number, name)
        drawn = images if images is not None else _pictures(name, value, self._redactor)
        if drawn is None:
            return lasting(without_key(shown_text(name, value, self._redactor.masked), self._redactor)) or evaluate()
        words = evaluate() if drawn is images else ""
        words = "" if PART_OF_A_FIGURE.search(words) else words  # the parts of a figure, which its image shows
        return "\n".join(filter(None, (words, self._image(number, drawn))))

    def _displayed(self, number: int, name: str) -> str:
        """Return the text of what a cell displayed. Raises NoOutputError where there is none."""
        displays = self._outputs.displays(number)
        texts = [display.text for display in displays if not display.what]
        if texts:
            return lasting(without_key("\n".join(texts), self._redactor))
        if not displays:
            raise NoOutputError(self._outputs.unknown(name))
        raise NoOutputError(f"it was displayed as {displays[0].what}, which is not kept: name its variable with -a.")

    def _image(self, number: int, images: Any, part: str = "") -> str:
        """Let images go along, and return what stands in their place in the text."""
        name = f"Out[{number}]{part}"
        label = self._labels.of(name)
        count = len(images) if isinstance(images, list) else 1
        what = "image" if count == 1 else f"{count} images"
        if not self._chat.desk.takes("image", **self._settings):
            model = self._settings.get("model") or self._chat.config.model
            verb = "is an image" if count == 1 else f"is {count} images"
            line = f"{name} {verb}, and {model} takes text only: the prompt goes without it."
            self.lines += [line] if line not in self.lines else []
            return f"[{what}: {label}, not sent]"
        if name not in self._found:
            self._found[name] = self._chat.desk.attached(name, images, **self._settings).labelled(label)
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
