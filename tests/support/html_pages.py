"""A page as a browser reads it, and what our pages may contain."""

from __future__ import annotations

import re
from html.parser import HTMLParser

from jupyter_ctx.display.answer.columns import COLUMN_STYLES
from jupyter_ctx.display.answer.footer import FOOTER_STYLE, THOUGHT_STYLE
from jupyter_ctx.display.answer.growing import WAITING_STYLE
from jupyter_ctx.display.answer.markdown import ANSWER_STYLE, CODE_STYLE, HEADING_STYLES, LINK, WHOLE_PROMPTS
from jupyter_ctx.display.text import BADGE_STYLE, NOTE_STYLE

ALLOWED = {
    "a", "b", "blockquote", "br", "caption", "code", "del", "details", "div", "em", "h1", "h2", "h3", "h4", "h5", "h6",
    "hr", "i", "li", "ol", "p", "pre", "s", "span", "strong", "summary", "table", "tbody", "td", "th", "thead", "tr",
    "ul",
}  # fmt: skip
STYLES = {ANSWER_STYLE, NOTE_STYLE, BADGE_STYLE, FOOTER_STYLE, THOUGHT_STYLE, LINK["style"], WAITING_STYLE, *(
    f"overflow-x:auto;{CODE_STYLE}", *HEADING_STYLES, "overflow-x:auto;overflow-wrap:break-word",
    "text-align:left", "text-align:right", "text-align:center", "text-align:start", "overflow-x:auto;",
)}  # fmt: skip
VALUES = {
    "class": (
        r"highlight|jp-toc-ignore|[a-z][a-z0-9]{0,2}|jctx-(answer|note|badge|footer|figures|thinking|waiting|kept|sources)"
    ),
    "dir": "auto|ltr|rtl",
    "tabindex": "0",
    "start": r"\d+",
    "href": r"(?i:https?://|mailto:)[^\s<>\"]*",
    "rel": "noopener noreferrer nofollow",
    "target": "_blank",
    "style": "|".join(map(re.escape, STYLES)),
}
COLUMNS = {  # besides, of answers side by side
    "class": r"jctx-(columns?|column-head|used|differs)",
    "role": "group",
    "aria-hidden": "true",
    "aria-label": r"Answer \d+ of \d+: [^\x00-\x1f]*",
    "aria-level": "4",
    "style": "|".join(map(re.escape, COLUMN_STYLES)),
}


class Seen(HTMLParser):
    """What a browser makes of a page."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.tags: set[str] = set()
        self.attributes: list[tuple[str, str, str]] = []
        self.text: list[str] = []
        self.odd: list[str] = []
        self.feed(page.replace(WHOLE_PROMPTS, ""))
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        self.attributes += [(tag, name, value or "") for name, value in attrs]

    def handle_data(self, data: str) -> None:
        self.text.append(data)

    def handle_comment(self, data: str) -> None:
        self.odd.append(data)

    handle_decl = handle_pi = unknown_decl = handle_comment

    def check(self, *, columns: bool = False) -> None:
        """Only what we make ourselves, with the values that we give; ``columns`` are answers side by side."""
        assert self.tags <= ALLOWED | ({"mark"} if columns else set())
        assert not self.odd
        for _, name, value in self.attributes:
            known = [VALUES.get(name, "(?!)"), *([COLUMNS.get(name, "(?!)")] if columns else [])]
            assert any(re.fullmatch(pattern, value) for pattern in known), (name, value)
