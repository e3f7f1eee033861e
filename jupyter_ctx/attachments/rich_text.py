"""The text of what shows itself as Markdown, LaTeX or HTML, and the readable text of a web page."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from ..conversation.text_safety import clean
from ..errors import MissingDependencyError
from ..template.expressions import module_of

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
