"""The text of what a notebook shows as Markdown, LaTeX, HTML or SVG."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from html import unescape
from typing import Any

from .guarded import call_user_code
from .kinds import module_of

MOST_HTML = 1_000_000  # characters that are read
MOST_SVG = 8_000  # characters of a picture whose source is sent; of a larger one its words are
NO_WORDS = re.compile(r"<[^<>\n]*>")  # the text of an object of whose class nothing else is known

# no pattern looks twice at the same text, whatever is not closed in it, as the parser of the standard library does
_HIDDEN = re.compile(
    r"<!--.*?(?:-->|\Z)|<(script|style|template|noscript)\b.*?(?:</\1[^<>]*>?|\Z)", re.DOTALL | re.IGNORECASE
)
_VERBATIM = re.compile(r"(<pre\b.*?(?:</pre[^<>]*>?|\Z))", re.DOTALL | re.IGNORECASE)
_LABEL = re.compile(r"<text\b.*?(?:</text>|\Z)", re.DOTALL)
_TAG = re.compile(r"<(/?)([a-zA-Z][\w:-]*)[^<>]*>|<[!?/][^<>]*>")
_KEPT, _BACK = str.maketrans(" \n", "\x01\x02"), str.maketrans("\x01\x02", " \n")  # blanks that are not joined
_IN_LINES = re.compile("a|abbr|b|bdi|cite|code|em|font|i|kbd|label|mark|q|s|small|span|strong|sub|sup|time|tspan|u|var")


class _Marks:
    """What stands in place of the tags of a page: bars between the cells of a table, dashes, and ends of lines."""

    def __init__(self) -> None:
        self._cells = 0

    def __call__(self, tag: re.Match[str]) -> str:
        is_end, name = bool(tag[1]), (tag[2] or "").lower()
        if not name or _IN_LINES.fullmatch(name):
            return ""
        if name in ("td", "th"):
            self._cells += not is_end
            return "" if is_end else " | "[self._cells == 1 :]
        if name in ("tr", "table"):
            closed, self._cells = self._cells, 0
            return " |\n" if closed else "\n"
        begin = {"li": "- ", **{f"h{level}": f"\n{'#' * level} " for level in range(1, 7)}}.get(name, "")
        return " " if self._cells else "\n" + begin * (not is_end)


def words_of(page: str) -> str:
    """Return the words of a page of HTML or a picture in SVG, without scripts; tables in lines with bars."""
    parts = _VERBATIM.split(_HIDDEN.sub("<br>", page[:MOST_HTML]))
    joined = (part.translate(_KEPT) if at % 2 else re.sub(r"\s+", " ", part) for at, part in enumerate(parts))
    text = unescape(_TAG.sub(_Marks(), "".join(joined)))
    text = re.sub(r" *\n[ \n]*\n *", "\n\n", re.sub(r" +", " ", text))
    text = re.sub(r"\|\n+ *(?=\|)", "|\n", re.sub(r" *\n *", "\n", text))
    return text.translate(_BACK).strip()


def _drawing(source: str) -> str:
    """Return the source of a small picture, and the labels in a large one, which may be drawn and not written."""
    return source if len(source) <= MOST_SVG else words_of("\n".join(_LABEL.findall(source[:MOST_HTML])))


_FORMS: dict[str, tuple[str, Callable[[str], str]]] = {  # by media type: how a class offers it, and how it is read
    "text/markdown": ("_repr_markdown_", str),
    "text/latex": ("_repr_latex_", str),
    "text/html": ("_repr_html_", words_of),
    "image/svg+xml": ("_repr_svg_", _drawing),
}


def text_in(forms: Mapping[str, Any]) -> str:
    """Return the text of what is shown in several forms, by media type; empty: there is none.

    Markdown comes first, then plain text, unless that only names a class.
    """
    plain = forms.get("text/plain")
    plain = plain if isinstance(plain, str) else ""
    if plain and not NO_WORDS.fullmatch(plain) and not forms.get("text/markdown"):
        return plain
    sources = ((forms.get(kind), read) for kind, (_, read) in _FORMS.items())
    texts = (read(source) for source, read in sources if isinstance(source, str))
    return next((text for text in texts if text.strip()), plain)


def markup_text(value: Any) -> str:
    """Return the text that a value's class offers as Markdown or, where it has no plain text, in another form."""
    kind: Any = type(value)
    has_words = kind.__repr__ is not object.__repr__ and module_of(kind) != "IPython"
    forms = {}
    for media_type, (method, _) in _FORMS.items():
        offered = getattr(kind, method, None)
        if offered is not None and (media_type == "text/markdown" or not has_words):
            form = offered(value)
            forms[media_type] = form[0] if isinstance(form, tuple) and form else form  # with metadata beside it
    return text_in(forms)


def shown_text(name: str, value: Any, masked: Callable[[str], str]) -> str:
    """Return :func:`markup_text` of a value of the notebook. Raises InvalidRequestError, where its code fails."""
    return call_user_code(name, lambda: markup_text(value), masked)
