"""Read a docstring in plain, Google, NumPy or Sphinx style: what it says of a function, and of each parameter."""

from __future__ import annotations

import re
from inspect import cleandoc
from textwrap import dedent
from typing import NamedTuple

_INDENTED = r"((?:[ \t]+\S.*\n|[ \t]*\n)*)"
_GOOGLE = re.compile(
    rf"(?m)^(?:Args|Arguments|Parameters|Params|Keyword Arg(?:ument)?s|Other Parameters):[ \t]*\n{_INDENTED}"
)
_GOOGLE_ITEM = re.compile(rf"(?m)^\*{{0,2}}(\w+)[ \t]*(?:\(.*?\))?[ \t]*:(.*\n{_INDENTED})")
_NUMPY = re.compile(r"(?m)^(?:Other )?Parameters[ \t]*\n-{3,}[ \t]*\n((?:(?!.*\n-{3,}).*\n)*)")
_NUMPY_ITEM = re.compile(rf"(?m)^(\*{{0,2}}\w+(?:, *\*{{0,2}}\w+)*)[ \t]*(?::.*)?\n{_INDENTED}")
_SPHINX = re.compile(
    rf"(?m)^:(?:param|parameter|arg|argument|key|keyword)[ \t]+(?:[^:\n]*[ \t])?(\w+):(.*\n{_INDENTED})"
)
_SPHINX_TYPE = re.compile(rf"(?m)^:type[ \t]+\w+:.*\n{_INDENTED}")
_SECTIONS = ((_GOOGLE, _GOOGLE_ITEM), (_NUMPY, _NUMPY_ITEM))


class Docstring(NamedTuple):
    """What a docstring says: the text without the sections of parameters, and the text of each parameter."""

    text: str
    parameters: dict[str, str]


def read_docstring(docstring: str) -> Docstring:
    """Return what a docstring says, whichever style it is in."""
    text = f"{cleandoc(docstring)}\n"
    parameters = dict[str, str]()

    def take_item(item: re.Match[str]) -> str:
        for name in item[1].split(","):
            parameters[name.strip(" *")] = " ".join(item[2].split())
        return ""

    def take_section(section: re.Match[str], items: re.Pattern[str]) -> str:
        items.sub(take_item, dedent(section[1]))
        return "\n"

    for section, items in _SECTIONS:
        text = section.sub(lambda match, items=items: take_section(match, items), text)  # type: ignore[misc]
    text = _SPHINX_TYPE.sub("", _SPHINX.sub(take_item, text))
    return Docstring(re.sub(r"\n\s*\n", "\n\n", text).strip(), parameters)
