"""Read a docstring in plain, Google, NumPy or Sphinx style: what it says of a function, and of each parameter."""

from __future__ import annotations

import re
from inspect import cleandoc
from textwrap import dedent

_INDENTED = r"((?:[ \t]+\S.*\n|[ \t]*\n)*)"
_GOOGLE = rf"(?m)^(?:Arg(?:ument)?s|Param(?:eter)?s|Keyword Arg(?:ument)?s|Other Parameters):[ \t]*\n{_INDENTED}"
_GOOGLE_ITEM = rf"(?m)^(\*{{0,2}}\w+)[ \t]*(?:\(.*?\))?[ \t]*:(.*\n{_INDENTED})"
_NUMPY = r"(?m)^(?:Other )?Parameters[ \t]*\n-{3,}[ \t]*\n((?:(?!.*\n-{3,}).*\n)*)"
_NUMPY_ITEM = rf"(?m)^(\*{{0,2}}\w+(?:, *\*{{0,2}}\w+)*)[ \t]*(?::.*)?\n{_INDENTED}"
_SPHINX = rf"(?m)^((?::(?:param|parameter|arg|argument|key|keyword|type)\b.*\n{_INDENTED})+)"
_SPHINX_ITEM = rf"(?m)^:(?!type)\w+[ \t]+(?:[^:\n]*[ \t])?(\w+):(.*\n{_INDENTED})"


def read_docstring(docstring: str) -> tuple[str, dict[str, str]]:
    """Return what a docstring says, without the sections about parameters, and what it says of each parameter."""
    text, parameters = f"{cleandoc(docstring)}\n", dict[str, str]()
    for section, item in ((_GOOGLE, _GOOGLE_ITEM), (_NUMPY, _NUMPY_ITEM), (_SPHINX, _SPHINX_ITEM)):
        for found in re.finditer(section, text):
            for names, words in (each.groups()[:2] for each in re.finditer(item, dedent(found[1]))):
                parameters |= {name.strip(" *"): " ".join(words.split()) for name in names.split(",")}
        text = re.sub(section, "\n", text)
    return re.sub(r"\n\s*\n", "\n\n", text).strip(), parameters
