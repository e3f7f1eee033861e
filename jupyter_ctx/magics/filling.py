"""Fill in a prompt: ``{{ Out[3] }}`` and ``{{ _ }}`` stand for what a cell shows, and its images go along."""

from __future__ import annotations

import re
from argparse import Namespace
from collections.abc import Callable

from ..attachments.attached import Attached
from ..attachments.images import pictures_in
from ..attachments.rich_text import shown_text
from ..attachments.user_code import silent
from ..chat import Chat
from ..conversation.text_safety import lasting
from ..errors import InvalidRequestError
from ..session.attaching import attachment_of, takes, values_notice
from ..template.filling import fill, unspaced, without_key
from .attach_named import Labels
from .line_options import settings_of
from .output_recorder import ABSENT, OutputRecorder, one_or_all

OUTPUT = re.compile(r"Out\s?\[\s?(\d+)\s?\](?:\[\s?(\d+)\s?\])?|_(\d*)")
PART_OF_A_FIGURE = re.compile(r"<[^<>]* object>|<matplotlib")
ONLY_A_CLASS = re.compile(r"<[\w.]+ object>|Figure\(\d+x\d+\)")
MOST_NUMBERS = 12  # of cells that an error lists
NO_TEXT = "What a cell prints is not kept: store it in a variable."


class NoOutputError(Exception):
    """A cell has no output that could be filled in; the message says why, and what to do."""


class PromptFilling:
    """Fills the expressions of one prompt in.

    images: those that go along, each once, by name; lines: what to say above the answer, each once
    """

    def __init__(self, recorder: OutputRecorder, chat: Chat, options: Namespace, labels: Labels) -> None:
        self._recorder, self._chat, self._labels, self._settings = recorder, chat, labels, settings_of(options)
        self._redactor = chat.session.redactor(on=not options.no_redact)
        self.images: dict[str, Attached] = {}
        self.lines: dict[str, None] = {}

    def of(self, text: str, tell: Callable[..., None]) -> str:
        """Return a prompt with its expressions filled in, and ``tell`` what is read. Raises InvalidRequestError."""
        names = self._recorder.variables

        def read(expression: str, evaluate: Callable[[], str]) -> str:
            tell(expression, verb="Reading")
            try:
                return self._filled(expression, evaluate)
            except NoOutputError as error:
                raise InvalidRequestError(f"{{{{ {expression} }}}}: {error} Nothing was sent.") from None

        with silent():  # what is displayed while values are read is no part of the cell
            filled = fill(text, names, self._redactor, read)
        large = values_notice(self._chat.session, filled.values, **self._settings)
        self.lines |= dict.fromkeys((*unspaced(text, names), *([large] if large else ())))
        return filled.text

    def _filled(self, expression: str, evaluate: Callable[[], str]) -> str:
        """Return the text for an expression; one that is no output of a cell is evaluated. Raises NoOutputError."""
        named = OUTPUT.fullmatch(expression)
        number = self._number(named) if named is not None else None
        if named is None or number is None:
            return _in_words(expression, evaluate())
        name, part, output = f"Out[{number}]", named[2], self._recorder.of(number)
        if part and output.value is ABSENT and output.images:
            return self._image_part(name, int(part), output.images)
        if part:
            return evaluate()
        if output.value is ABSENT:
            return self._image(name, output.images) if output.images else self._displayed(name, number)
        if output.images:
            words = evaluate()
            words = "" if PART_OF_A_FIGURE.search(words) else words  # its image tells more
            return "\n".join(filter(None, (words, self._image(name, output.images))))
        drawn = [picture.data for _, picture in pictures_in(name, output.value, self._redactor.masked).found]
        shown = "" if drawn else shown_text(name, output.value, self._redactor.masked)
        return self._image(name, drawn) if drawn else lasting(without_key(shown, self._redactor)) or evaluate()

    def _number(self, named: re.Match[str]) -> int | None:
        """Return the number of the cell that is meant; ``None``: the name is a variable of the user's."""
        recorder, value = self._recorder, self._recorder.variables.get(named[0], ABSENT)
        if named[1]:
            return int(named[1]) if recorder.has_out else None
        if named[3]:
            number = int(named[3])
            return number if value is ABSENT or value is recorder.of(number).value else None
        newest = recorder.newest
        if newest is None and (value is ABSENT or value == ""):
            raise self._unknown("output that _ could stand for")
        if newest is not None and recorder.number is not None and newest < recorder.number - 1:
            line = f"{{{{ _ }}}} is Out[{newest}]: the cells after it returned and displayed nothing. {NO_TEXT}"
            self.lines[line] = None
        return newest

    def _image_part(self, name: str, part: int, images: list[bytes]) -> str:
        """Let one of the images that a cell displayed go along. Raises NoOutputError."""
        if part >= len(images):
            raise NoOutputError(f"{name} has {len(images)} images, and the first is number 0.")
        return self._image(f"{name}[{part}]", images[part : part + 1])

    def _displayed(self, name: str, number: int) -> str:
        """Return the text of what a cell displayed. Raises NoOutputError where there is none."""
        output = self._recorder.of(number)
        if output.text:
            return lasting(without_key(output.text, self._redactor))
        if number in self._recorder.dropped:
            raise NoOutputError(f"what {name} displayed is no longer kept: run that cell again.")
        if not output.displays:
            raise self._unknown(name)
        what = output.displays[0].what
        raise NoOutputError(f"it was displayed as {what}, which is not kept: name its variable with -a.")

    def _unknown(self, name: str) -> NoOutputError:
        """Return an error for an output that is not there, with the newest of those that are."""
        newest = [f"Out[{number}]" for number in self._recorder.numbers[-MOST_NUMBERS:]]
        there = f"There are {', '.join(newest)}." if newest else "No cell has an output yet."
        return NoOutputError(f"there is no {name}. {there} {NO_TEXT}")

    def _image(self, name: str, images: list[bytes]) -> str:
        """Let images go along, and return what stands in their place in the text."""
        label = self._labels.of(name)
        what = "image" if len(images) == 1 else f"{len(images)} images"
        if not takes(self._chat.session, "image", **self._settings):
            model = self._settings.get("model") or self._chat.config.model
            verb = "is an image" if len(images) == 1 else f"is {what}"
            self.lines[f"{name} {verb}, and {model} takes text only: the prompt goes without it."] = None
            return f"[{what}: {label}, not sent]"
        if name not in self.images:
            image = attachment_of(self._chat.session, name, one_or_all(images), **self._settings)
            self.images[name] = image.labelled(label)
        return f"[{what}: {label}]"


def _in_words(expression: str, text: str) -> str:
    """Return the text of a value. Raises NoOutputError where it only names a class, as that of a figure does."""
    if ONLY_A_CLASS.fullmatch(text) is None:
        return text
    attach = f" Write -a {expression} on the first line instead: it goes as shown." if expression.isidentifier() else ""
    raise NoOutputError(f"its text is only {text}.{attach}")
