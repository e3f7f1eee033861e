"""Complete the Markdown of an answer that is still growing, so that it already looks as it will at the end.

Only updates while an answer grows use this; the stored answer is never changed. Code is never changed,
and no character of the text is left out except an address whose end is still to come.
"""

from __future__ import annotations

import re

MAX_LOOKBACK = 2_000  # characters in which an open formula or link is looked for

_BEFORE = r"(?:[ \t]|>|[-*+][ \t]|\d{1,9}[.)][ \t])*"  # a block may stand in lists and quotations
_FENCE = re.compile(rf"^{_BEFORE}(?P<mark>`{{3,}}(?=[^`\n]*$)|~{{3,}})[^\n]*", re.M)
_MARKS_ONLY = re.compile(r"(?:[ \t>]*\d{1,9}[.)][ \t]*|[ \t>*_+\-=#~`|:\\!\[\]()$]*)\Z")
_BLANK_LINE = re.compile(r"^[ \t>]*$", re.M)
_NEW_BLOCK = re.compile(rf"^{_BEFORE}(?:>|\||(?:[-*+]|\d{{1,9}}[.)]|#{{1,6}})(?=\s|\Z))[ \t]*", re.M)
_LINK = re.compile(r"!?\[([^\[\]]*)\]\((?:[^()\s]|\([^()\s]*\)?)*(?:[ \t]+(?:\"[^\"\n]*\"?|'[^'\n]*'?)?[ \t]*)?\Z")
_EMPHASIS = re.compile(r"(?<!\\)(?:\*+|_+|~~)")
_BOUNDARY = re.compile(r"^[ \t]*\n(?![\s\d]|[-*+](?:\s|\Z)|\Z)", re.M)
_ENDS = {"$$": "$$", r"\[": r"\]", r"\(": r"\)"}
_MATHS = re.compile(r"(?<!\\)(?:\$\$|\\[\[\]()])")


def completed(source: str) -> str:
    """Return the text so far, with open code, formulas, emphasis, links and tables closed."""
    covered, mark = _without_fences(source)
    if mark is not None:
        return _without_closing(source, mark)
    lines, last = _split(source)
    if _MARKS_ONLY.match(last) and last.strip() not in _ENDS.values():
        source, covered = lines, covered[: len(lines)]
    start = _open_maths(covered)
    if start is not None:
        return _as_code(source, start)
    start = _last_block(covered)
    return _with_delimiters(source[:start] + _whole(source[start:]))


def finished_length(source: str) -> int:
    """Return how many characters no continuation can change: all blocks but the last, which may still grow."""
    covered, _ = _without_fences(source)
    ends = [boundary.end() for boundary in _BOUNDARY.finditer(covered)]
    return ends[-1] if ends and _open_maths(covered[: ends[-1]]) is None else 0


def _split(text: str) -> tuple[str, str]:
    """Return all lines but the last, and the last line."""
    end = text.rfind("\n") + 1
    return text[:end], text[end:]


def _without_fences(source: str) -> tuple[str, str | None]:
    """Return the text with fenced code blanked out, and the mark of a fence that is still open, or ``None``.

    The text ends at an open fence, because everything after it is code.
    """
    covered: list[str] = []
    place = 0
    while fence := _FENCE.search(source, place):
        mark = fence["mark"]
        closed = re.compile(rf"^[ \t>]*{mark}{mark[0]}*[ \t]*$", re.M).search(source, fence.end())
        if closed is None:
            return "".join(covered) + source[place : fence.start()], mark
        code = source[fence.start("mark") : closed.end()]
        covered += [source[place : fence.start("mark")], "#", re.sub(r"[^\n]", " ", code[1:])]
        place = closed.end()
    return "".join(covered) + source[place:], None


def _without_closing(source: str, mark: str) -> str:
    """Return the text without a last line that may be the beginning of the closing fence."""
    lines, last = _split(source)
    begun = last.strip(" \t>")
    return lines if begun and len(begun) < len(mark) and set(begun) == {mark[0]} else source


def _open_maths(text: str) -> int | None:
    """Return where a formula begins that has no end yet, or ``None``."""
    first = max(0, len(text) - 2 * MAX_LOOKBACK)
    opened: re.Match[str] | None = None
    for mark in _MATHS.finditer(_without_code(text[first:])[0]):
        if opened is None:
            opened = mark if mark[0] in _ENDS else None
        elif mark[0] == _ENDS[opened[0]]:
            opened = None
    if opened is None or len(text) - first - opened.start() > MAX_LOOKBACK:
        return None
    return first + opened.start()


def _as_code(source: str, start: int) -> str:
    """Return the text with its open formula shown as code, so that Markdown leaves its characters alone."""
    tex = source[start + 2 :].rstrip("$\\ \t\n")
    if not tex.strip():
        return source[:start]
    lines, before = _split(source[:start])
    if before.strip() or "\n" not in tex:
        marks = "`" * (1 + max((len(run) for run in re.findall("`+", tex)), default=0))
        return f"{source[:start]}{marks} {' '.join(tex.split())} {marks}"
    return f"{lines}{before}~~~\n{before}{tex.strip()}"


def _last_block(text: str) -> int:
    """Return where the last paragraph, list item or table cell begins."""
    first = max(0, len(text) - 2 * MAX_LOOKBACK)
    tail = text[first:]
    ends = [match.end() for kind in (_BLANK_LINE, _NEW_BLOCK) for match in kind.finditer(tail.rstrip("\n"))]
    start = max(ends, default=0)
    _, line = _split(tail.rstrip("\n"))
    if line.lstrip(" \t>").startswith("|"):
        start = max(start, tail.rfind("|") + 1)
    return first + start


def _whole(text: str) -> str:
    """Return a piece of running text with its open code, link and emphasis closed."""
    covered, opened = _without_code(text)
    if opened is not None:
        text = _closed_code(text, opened)
        covered, _ = _without_code(text)
    link = _LINK.search(covered, max(0, len(covered) - MAX_LOOKBACK))
    if link:
        kept = slice(link.start(1), link.end(1))
        text, covered = text[: link.start()] + text[kept], covered[: link.start()] + covered[kept]
    covered = covered.rstrip("*_~\\ \t\n")  # perhaps the first half of a mark
    return text[: len(covered)] + _open_emphasis(covered)


def _without_code(text: str) -> tuple[str, re.Match[str] | None]:
    """Return the text with its inline code blanked out, and the backticks that are still open, or ``None``."""
    covered, place = [], 0
    opened: re.Match[str] | None = None
    for run in re.finditer(r"(?<!\\)`+", text):
        if opened is None:
            opened = run
        elif run[0] == opened[0]:
            covered += [text[place : opened.start()], "x" * (run.end() - opened.start())]
            opened, place = None, run.end()
    return "".join(covered) + text[place:], opened


def _closed_code(text: str, opened: re.Match[str]) -> str:
    code = text[opened.end() :].rstrip("`")
    return text[: opened.end()] + code + opened[0] if code.strip() else text[: opened.start()]


def _open_emphasis(text: str) -> str:
    """Return the marks that close the open emphasis, innermost first."""
    stack: list[str] = []
    for marks in _EMPHASIS.finditer(text):
        mark, before, after = marks[0], text[marks.start() - 1 : marks.start()], text[marks.end() : marks.end() + 1]
        if stack and stack[-1][0] == mark[0] and before.strip():
            _close(stack, len(mark))
        elif after.strip() and not (before.isascii() and before.isalnum()) and len(mark) <= 3:  # 2*3, snake_case
            stack.append(mark)
    return "".join(reversed(stack))


def _close(stack: list[str], count: int) -> None:
    """Take ``count`` characters off the open marks, innermost first."""
    while stack and count:
        taken = min(count, len(stack[-1]))
        count -= taken
        rest = stack.pop()[taken:]
        stack += [rest] if rest else []


def _with_delimiters(text: str) -> str:
    """Return the text with a delimiter row added when the text ends in the head of a table."""
    above, row = _split(text.rstrip("\n"))
    bare = row.lstrip(" \t>")
    is_head = bare.startswith("|") and not _split(above.rstrip("\n"))[1].lstrip(" \t>").startswith("|")
    if not is_head or text.endswith("\n\n"):
        return text
    cells = re.split(r"(?<!\\)\|", bare.strip())[1:]
    count = len(cells) - (not cells[-1].strip())
    before = row[: len(row) - len(bare)]
    return f"{above}{row}\n{before}|{'---|' * max(1, count)}"
