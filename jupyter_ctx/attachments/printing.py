"""The text of values: as Python writes it, or as they show themselves in Markdown, LaTeX or HTML; and of web pages.

Collections are cut to a size, and numbers have the digits that tell them apart.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import date, time, timedelta
from decimal import Decimal
from itertools import islice
from math import isfinite, prod
from pprint import pformat
from typing import Any

from ..conversation.text_safety import clean, lasting
from ..errors import MissingDependencyError
from ..runtime.redaction import BLANKED, Redactor
from ..template.expressions import module_of

KEY_ROOM = 4_000  # characters beside a cut that are looked at for a key
LEAST_TEXT, LINE, DEPTH = 24, 120, 12  # characters of a text and of a line in a collection; levels in it
FEW = 32  # values of an array, or names of columns, that are told in a collection
SHORT, DIGITS, DECIMALS = 12, 6, 3  # digits of a number that is written whole; of a longer one; behind its point
MOST_DIGITS = 17  # that tell any two numbers apart
MOST_HTML = 1_000_000  # characters that are read
NO_WORDS = re.compile(r"<[^<>\n]*>")  # the text of an object of whose class nothing else is known
UNREAD = ["button", ".headerlink", ".mw-editsection"]  # parts of pages that are no text
ARTICLE = "main, [role=main], article"  # what a page says that it is about
BESIDE_IT = [
    "nav", "header", "footer", "aside", "form", "dialog", "[role=navigation]", "[role=banner]", "[role=contentinfo]",
    "[role=search]", ".navbar", ".menu", ".sidebar", ".comments", "[class*=cookie]", "[class*=related]",
]  # fmt: skip
LEAST_ARTICLE = 0.1  # of a page's text: a shorter article was not found rightly
_CELL_BLOCK = re.compile(r"(<t[dh]\b[^<>]*>)\s*<(?:p|div)\b[^<>]*>|</(?:p|div)>\s*(?=</t[dh]>)", re.I)  # ends a line
AS_TEXT = (date, time, timedelta, Decimal)
COLLECTIONS: dict[Any, Callable[[Any], Any]] = {  # by the repr of a class, which those that inherit it share
    each.__repr__: each for each in (dict, list, tuple, set, frozenset)
}


class Verbatim(str):
    """A text that ``pformat`` writes as it is, and that equals no other."""

    __slots__ = ()
    __repr__, __eq__, __hash__ = str.__str__, object.__eq__, object.__hash__


class CollectionPrinter:
    """Prints a collection with ``size`` characters of each text, and an eighth as many members of each collection.

    most: members in all
    is_whole: whether nothing was left out
    """

    def __init__(self, size: int, most: int, redactor: Redactor) -> None:
        self._size, self.members, self._left = max(size, LEAST_TEXT), size // 8 + 1, most
        self._redactor, self.is_whole = redactor, True

    def text(self, value: Any, line: int = LINE) -> str:
        """Return a collection as text in lines of a length, without what is other in every kernel."""
        return pformat(self._short(value, 0), width=line, compact=True, sort_dicts=False)

    def _short(self, value: Any, depth: int) -> Any:
        """Return what ``pformat`` writes of a value that is in so many collections."""
        if isinstance(value, str):
            return value if isinstance(value, Verbatim) else self._cut(value, repr)
        if isinstance(value, bytes):
            return self._cut(value.decode("latin-1"), lambda part: repr(part.encode("latin-1", "replace")))
        attributes = attributes_of(value)
        build = COLLECTIONS.get(type(value).__repr__)
        if not attributes and build is None:
            text = own_text(value)
            return self._cut(text, str) if len(text) > self._size else Verbatim(text)
        is_set = isinstance(value, set | frozenset)
        members: Any = sorted(value, key=repr) if is_set else attributes or value
        is_named = hasattr(members, "items")
        most = min(self.members, self._left) if depth < DEPTH else 0
        first = list(islice(members.items() if is_named else enumerate(members), max(most, 0)))
        self._left -= len(first)
        parts: dict[Any, Any] = {}
        for key, member in first:
            label = key if attributes else self._short(key, depth + 1)
            parts[label] = BLANKED if self._redactor.is_secret(key, member) else self._short(member, depth + 1)
        if len(members) > len(first):
            self.is_whole = False
            parts[Verbatim("…")] = Verbatim(f"… {len(members) - len(first):,} more")
        if is_set and parts:
            text = f"{{{', '.join(map(repr, parts.values()))}}}"  # in an order that is the same in every kernel
            return Verbatim(text if isinstance(value, set) else f"frozenset({text})")
        if build is not None:
            return build(parts if is_named else parts.values())
        named = ", ".join(f"{name}={part!r}" for name, part in parts.items())
        return Verbatim(f"{type(value).__name__}({named})")

    def _cut(self, text: str, write: Callable[[str], str]) -> Verbatim:
        """Return a text as it is written, without keys, which are found before line breaks are escaped."""
        part = self._redactor.masked(text[: self._size + KEY_ROOM])
        written, more = write(part[: self._size])[: self._size + 2], len(text) - self._size  # escapes take room, too
        if more <= 0 and written == write(part):
            return Verbatim(written)
        self.is_whole = False
        return Verbatim(f"{written}… ({more:,} more)" if more > 0 else f"{written}…")


def is_collection(value: Any) -> bool:
    """Return whether a value is written member by member, as collections and objects without a text are."""
    return type(value).__repr__ in COLLECTIONS or bool(attributes_of(value))


def attributes_of(value: Any) -> dict[str, Any]:
    """Return the attributes of an object whose class has no text of its own."""
    kind: Any = type(value)
    is_plain = kind.__repr__ is object.__repr__ and kind.__str__ is object.__str__
    attributes = getattr(value, "__dict__", {}) if is_plain else {}
    return {name: part for name, part in attributes.items() if name[:1] != "_"}


def shape_of(value: Any) -> tuple[int, ...]:
    """Return the shape of an array or a table; empty for any other value."""
    shape = getattr(value, "shape", ())
    return shape if isinstance(shape, tuple) else ()


def own_text(value: Any) -> str:
    """Return what an object says of itself, without what is other in every kernel; of an array its size."""
    kind: Any = type(value)
    name, shape = kind.__name__, shape_of(value)
    if hasattr(kind, "columns") and len(shape) == 2:
        names = ", ".join(map(str, value.columns[:FEW]))
        return f"<{name} of {shape[0]:,} rows × {shape[1]:,} columns: {names}{', …' * (shape[1] > FEW)}>"
    if shape and hasattr(kind, "__array__"):
        listed = getattr(value, "tolist", getattr(value, "to_list", None))
        if prod(shape) <= FEW and listed is not None:
            return f"{name.removeprefix('nd')}({listed()!r})"
        return f"<{name} of {sides(shape)} values, {getattr(value, 'dtype', '')}>"
    is_text = isinstance(value, AS_TEXT) or module_of(kind) in ("numpy", "pandas", "jupyter_ctx")
    return lasting(str(value) if is_text or kind.__repr__ is object.__repr__ else repr(value))


def sides(shape: Iterable[int]) -> str:
    """Return a shape in words."""
    return " × ".join(f"{side:,}" for side in shape) or "no dimension"


def decimal_text(value: float, digits: int = DIGITS) -> str:
    """Return a number as Python writes it, of a long one so many digits and at least three behind the point."""
    text = "NaN" if value != value else repr(float(value))
    if len(text.partition("e")[0].replace(".", "").strip("-0")) <= SHORT:
        return text
    whole = len(f"{abs(value):.0f}") if 1 <= abs(value) < 1e16 else 0  # from there on Python writes exponents
    return f"{value:.{max(digits, whole and whole + DECIMALS)}g}"


def digits_apart(values: Iterable[float]) -> int:
    """Return the fewest digits with which different numbers stay different in writing."""
    different = {value for value in values if isfinite(value)}
    for digits in range(DIGITS, MOST_DIGITS):
        if len({decimal_text(value, digits) for value in different}) == len(different):
            return digits
    return MOST_DIGITS


def words_of(page: str) -> str:
    """Return the words of HTML, without scripts; tables in lines with bars."""
    return _text(_parsed(page[:MOST_HTML]))


def page_text(page: str) -> tuple[str, str]:
    """Return the title of a web page, and its text without menus, banners and the like."""
    tree = _parsed(page)
    whole, article = _text(tree), tree.body.query_selector(ARTICLE) if tree.body else None
    text = _text(_parsed(article.html) if article else tree, BESIDE_IT)
    return tree.title or "", text if len(text) > LEAST_ARTICLE * len(whole) else whole


def _parsed(page: str) -> Any:
    """Return the tree of a page. Raises MissingDependencyError."""
    try:
        from resiliparse.parse.html import HTMLTree
    except ImportError:
        raise MissingDependencyError("Reading HTML needs resiliparse: pip install resiliparse.") from None
    page = _CELL_BLOCK.sub(r"\1", page.expandtabs(4))  # the tabs of the text then are those between cells
    return HTMLTree.parse(clean(page))


def _text(tree: Any, unread: Sequence[str] = ()) -> str:
    from resiliparse.extract.html2text import extract_plain_text

    text = extract_plain_text(tree, preserve_formatting=True, skip_elements=[*UNREAD, *unread])
    return text.replace("\t\t", " | ").strip("\n")


TEXT_FORMS = {"text/markdown": "_repr_markdown_", "text/latex": "_repr_latex_", "text/html": "_repr_html_"}


def text_in(forms: Mapping[str, Any]) -> str:
    """Return the text of what is shown in several forms, by media type; empty: there is none.

    Markdown comes first, then plain text, unless that only names a class.
    """
    plain, markdown, latex, page = (
        form if isinstance(form, str) else "" for form in map(forms.get, ("text/plain", *TEXT_FORMS))
    )
    if markdown.strip() or (plain and not NO_WORDS.fullmatch(plain)):
        return markdown if markdown.strip() else plain
    return latex or (words_of(page) if page else "") or plain


def markup_text(value: Any) -> str:
    """Return the text that a value's class offers as Markdown or, where it has no plain text, in another form."""
    kind: Any = type(value)
    has_words = kind.__repr__ is not object.__repr__ and module_of(kind) != "IPython"
    forms = {}
    for media_type, method in TEXT_FORMS.items():
        offered = getattr(kind, method, None)
        if offered is not None and (media_type == "text/markdown" or not has_words):
            form = offered(value)
            forms[media_type] = form[0] if isinstance(form, tuple) and form else form  # with metadata beside it
    return text_in(forms)
