"""Is this refusal an overflow, and what does it say of the limit?

Every server words it in its own way, so no sentence is listed here. What only looks like an
overflow is ruled out first: rate limits speak of tokens too. Then a code says that it is one,
or a few words near one another, or the arithmetic: what was sent is more than the limit. Each
number is understood by the words around it.
"""

from __future__ import annotations

import json
import re
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from html import unescape
from itertools import islice
from typing import Any


@dataclass(frozen=True, slots=True)
class Overflow:
    """What a refusal says, in tokens; ``None`` where it does not.

    ``context_window`` is whatever limit is stated, ``max_input_tokens`` too where it is the
    input's; ``input_tokens`` and ``output_tokens`` what was sent and asked for; ``excess``
    how much too much. ``input_is_bound``: the input is at least that, not exactly.
    """

    context_window: int | None = None
    max_input_tokens: int | None = None
    input_tokens: int | None = None
    output_tokens: int | None = None
    excess: int | None = None
    input_is_bound: bool = False


# In patterns "~" joins the words of a name: context length, context_length, ContextLength.

UNIT = r"(?:[kmg]i?b|bytes?|char\w*|pixels|items|entries)\b"  # what other limits count
EXCEPTION = r"extra usage is required for long context"  # Anthropic: a 429 that a shorter prompt cures
VETO_STATUS = frozenset({401, 402, 403, 404, 408, 429, 502, 504, 529})
VETOES = (
    r"^(?:code |status\w* )?(?:40[1-48]|429|50[24]|529)$",  # a gateway's 200 or 400 around another refusal
    r"(?:rate|usage).?limit|quota|throttl|billing|content.(?:policy|filter)|credits?\b|\b[rt]p[md]\b|overloaded",
    r"\bminutes?\b|\b(?:per|this|a).(?:second|min|hour|day|week|month)\b|\b(?:daily|weekly|monthly)\b|per.request\b",
    r"(?:too many|max\w* number of) (?!(?:\w+ ){0,2}tokens)",  # images, messages, tools
    r"(?:string|array)~(?:too~long|above~max)",  # OpenAI: one field of the request
    rf"\A(?![\s\S]*\d\W?tokens)[\s\S]*\d ?{UNIT}",
)
CODES = (
    r"context~overflow|prompt~too~long",
    r"tokens_limit_reached",  # GitHub Models
    r"prompt_tokens_exceeded",  # GitHub Copilot
    r"^(?:code )?1261$",  # Zhipu
)

INPUT = r"(?:prompt|input|messages?|conversation|chat|history)\b"
OUTPUT = r"(?:max_(?:new_|completion_|output_)?tokens|max~new|completion|output|generat|predict|reply)"
BOTH = r"(?:(?:input|prompt)\w*\W+(?:and|plus|\+)\W+(?:\w+ )?(?:output|completion|prediction)|max_total)"
CONTEXT = (
    r"(?:context~(?:length|window|size|limit|budget)|(?:model|sequence)~length|model\W?s? context|n_ctx"
    r"|model\W?s? (?:\w+ )?max\w* length|(?:model|input|prompt|context)\W?s? tokens?~limit|max_(?:model|seq)\w+)"
)
OVER = (
    r"(?:exceed|overflow|surpass|exhaust|reached|beyond|above|\bover\b|too~(?:long|large|big)|more than"
    r"|(?:long|larg|great|bigg|high)er than|(?:not|n't|to|no longer) fit)"
)
NEAR = r"[^\n.;]{0,40}?"
FILL = r"(?:[\W_]|tokens?|and|output|count|sequence|length|size|of|is|are|was|has|have|been|\d){0,20}"
# What says it in words: a window, or an input, near a word for too much.
SIGNS = (
    rf"{OVER}{NEAR}{CONTEXT}|{CONTEXT}(?:(?!must|should)[^\n.;]){{0,30}}?{OVER}",
    rf"{INPUT}{FILL}(?:too~(?:long|large|big)\b|(?:exceed|\w+er than){NEAR}(?:limit|max|allowed))",
    r"max(?:imum)? (?:context (?:length|window|size)|model length)",
    r"context(?:~(?:length|window|size))?(?: is| has| has been)? (?:full|filled|reached)",
    r"\b(?:no room|out of context)\b",
    r"too many (?:\w+ ){0,2}tokens (?:in|for)",
    rf"(?:shorten|reduce|reduce the length of) (?:the|your) {INPUT}",
    r"range of input length",  # DashScope
    r"max tokens of \d+ exceeded",  # Snowflake
    r"tokens\W+must be at least 1, got -\d",  # vLLM: what is left for the reply
)
# The arithmetic alone convinces only where it is about tokens, and about no smaller number of them.
TOPIC = r"(?:\b|input~|prompt~|total~)tokens\b|token~count|tokeni[sz]|\bprompt\b|context|\b(?:n_)?ctx|input~(?:len|ids)"
SMALLEST = 500

ADDRESS = r"https?://[^\s\"'<>]+"  # its numbers mean nothing
NUMBER = (
    r"(?<![\w.<$-])(?<!\w\[|\d:)(?<!be at least )(?:\[[01], ?)?"
    r"(?P<whole>\d{1,3}(?:[ .,_'’]\d{3}){1,4}|\d{1,12})(?P<part>\.\d\d?(?=[km]))?(?P<unit>[km])?"
    rf"(?!\w|[.,:]\d|-(?!token)| ?{UNIT}| (?:images|messages|pages|seconds)\b)"
    r"(?<!limit \(2013)"  # MiniMax: a status
)
AFTER = r"# ?-?(?:\((?=\w+\)))?['\"`]*(?:tokens? )?(?:(?:in|of|for|from) )?(?:(?:the|your|text) )?['\"`]*"
# What a number is, by the words that touch it (it stands as "#"); the first that fits.
TOUCHING = (
    ("none", r"(?:code|status\w*|line|\.py|localhost)\W*#"),
    ("excess", r"\bby (?:about |at least )?#|# tokens? (?:over|too)\b"),
    ("input", r"# ?(?:of|/) ?\d"),
    ("limit", r"^[\dkm] ?(?:of|/) ?#"),
    ("both", rf"{BOTH}\w*(?:\W|tokens?|would|be|of){{0,9}}#"),
    ("output", rf"{AFTER}{OUTPUT}|\+ ?#(?! ?-?(?:input|prompt))"),
    ("tools", rf"{AFTER}(?:functions|tool)"),
    ("limit", r"# ?-?(?:tokens? )?(?:max|limit|allowed|available|context|window)"),
    ("limit", r"(?:up to|accepts|takes|vs\.?) #"),
    ("input", rf"{AFTER}(?:input (?:tokens|messages)|inputs?|prompt|(?<=the )messages|(?<=in )request)\b"),
    ("output", rf"{OUTPUT}\w*(?:\W|tokens?|is|of|value|too|large){{0,12}}#"),
    ("input", r"#[ )\]-]*(?:tokens?)?[ )\]]*(?:(?:is|are) )?(?:[>+]|plus|vs|over\b|above|beyond|\w+er than|more than)"),
    ("input", r"#[ )\]-]*(?:tokens?)?[ )\]]*(?:exceed(?:s? |ed [tm])|do(?:es)? not fit)"),
    ("input", r"# (?:tokens )?(?:(?:were|was) )?(?:given|sent|provided)"),
)
# Else by the nearest words before it in its sentence.
BEFORE = (
    r"(?P<limit>max\w*(?: (?:allowed|input|prompt|number))*|limit|context(?!~overflow)|ctx|window|allow|accept|support"
    r"|\b(?:at most|up to|only|holds?|handle|can|room|fit|available|than|exceed\w*|beyond|above|over|below)\b"
    r"|reached|should be|must be|cannot|[<>≤≥])"
    r"|(?P<input>prompt|input|message|conversation|chat|history|\btext\b|current|keep)"
    r"|(?P<total>request(?![\W_]?id)|total|n_tokens|result|sent|given|\bgot\b|received|provided|contain|needs?|require"
    r"|\b(?:has|have|comes to|used?)\b|estimate|actual|yours|overflow|too (?:long|large|many))"
)
BOUND = r"(?:at least|passed) $"  # vLLM stops counting at the limit
OF_INPUT = (
    r"(?:max\w*[ _](?:allowed )?(?:input|prompt)[ _](?:tokens|length)|(?:input|prompt) tokens? limit)[^\d]*$"
    r"|(?:input|prompt)s?`? (?:tokens?[^.,]{0,30}exceed|must have|length (?:should|must))"
    r"(?:(?!context|window|model|output|completion|max_new)[^.])*$"
)

ECHOES = frozenset({"input", "inputs", "messages", "prompt", "content", "contents", "tools", "request"})
NODES, CHILDREN, END = 1_000, 100, 20_000  # how much is looked at: parts of a body, of one part, characters at each end


def classify_overflow(status: int | None, body: Any) -> Overflow | None:
    """What a refusal with this HTTP status and body says of the context, or ``None``.

    ``body`` is whatever came: an object, a list, JSON in a string, plain text, bytes.
    """
    text = _ends("\n".join(dict.fromkeys(_lines(body))))
    if _finds(EXCEPTION, text):
        return Overflow()
    if status in VETO_STATUS or any(_finds(veto, text) for veto in VETOES):
        return None
    named = any(_finds(sign, text) for sign in (*CODES, *SIGNS))
    said = _numbers(text) if named or _finds(TOPIC, text) else {}
    if not (named or _is_too_much(said)):
        return None
    return Overflow(
        context_window=said.get("limit"),
        max_input_tokens=said.get("cap"),
        input_tokens=said.get("input"),
        output_tokens=said.get("output"),
        excess=said.get("excess"),
        input_is_bound="bound" in said,
    )


def _is_too_much(said: dict[str, int]) -> bool:
    sent = said["input"] + said.get("output", 0) if "input" in said else said.get("both", 0)
    return sent >= said.get("limit", sent + 1) >= SMALLEST


def _lines(body: Any) -> Iterator[str]:
    """Every text of a body in one line, the outermost first; not what it repeats of the request."""
    queue = deque([("", body)])
    for _ in range(NODES):
        if not queue:
            return
        key, value = queue.popleft()
        value = _opened(value)
        if isinstance(value, dict):
            items = islice(value.items(), CHILDREN)
            queue.extend((k if isinstance(k, str) else "", v) for k, v in items if k not in ECHOES)
        elif isinstance(value, list | tuple):
            queue.extend((key, v) for v in value[:CHILDREN])
        elif isinstance(value, str):
            yield _plain(value)
        elif type(value) is int and 0 <= value < 10**12 and _finds(r"token|ctx|context|code|status", key[:100]):
            yield f"{key[:100]} {value}"


def _opened(value: Any) -> Any:
    """What bytes, and JSON in a string, stand for."""
    if isinstance(value, bytes | bytearray):
        value = value.decode("utf-8", "replace")
    if isinstance(value, str) and len(value) < 10 * END and value.lstrip()[:1] in ("{", "["):
        try:
            return json.loads(value)
        except (ValueError, RecursionError):
            pass
    return value


def _plain(text: str) -> str:
    """Text without the escapes that JSON and reprs inside of strings leave."""
    text = unescape(_ends(text)).replace("\\u003e", ">")
    return re.sub(r"(?:\\[nrt]|[\s\\#])+", " ", text)


def _ends(text: str) -> str:
    return text if len(text) <= 2 * END else f"{text[:END]}\n{text[-END:]}"


def _numbers(text: str) -> dict[str, int]:
    """Every number whose role is clear; of two that say the same, the first."""
    said: dict[str, int] = {}
    for line in _pattern(ADDRESS).sub(" ", text).split("\n"):
        said = {**_numbers_of(line), **said}
    return said


def _numbers_of(line: str) -> dict[str, int]:
    said: dict[str, int] = {}
    end = 0
    for match in _pattern(NUMBER).finditer(line):
        before, after = line[max(end - 1, match.start() - 40, 0) : match.start()], line[match.end() : match.end() + 40]
        end = match.end()
        role = _role(before, after)
        if role is None or role in said:
            continue
        if role in ("input", "total") and "input" not in said and _finds(BOUND, before):
            said["bound"] = 1
        said[role] = _value(match)
        if role == "limit" and _finds(OF_INPUT, line[max(0, match.start() - 150) : match.start()]):
            said["cap"] = said[role]
    if "input" in said:
        said["input"] += said.get("tools", 0)
    elif "total" in said and "output" not in said and (_finds(INPUT, line) or not _finds(OUTPUT, line)):
        said["both" if _finds(BOTH, line) else "input"] = said["total"]
    return said


def _role(before: str, after: str) -> str | None:
    around = f"{before}#{after}"
    for role, words in TOUCHING:
        if _finds(words, around):
            return role
    nearest = deque(_pattern(BEFORE).finditer(re.split(r"[.!?] |[{}]", before)[-1]), maxlen=1)
    return nearest[0].lastgroup if nearest else None


def _value(match: re.Match[str]) -> int:
    """A thousand for a k: where 1,024 is meant, the smaller is the safe one."""
    number = re.sub(r"\D", "", match["whole"]) + (match["part"] or "")
    return round(float(number) * {"": 1, "k": 1e3, "m": 1e6}[(match["unit"] or "").lower()])


def _finds(pattern: str, text: str) -> bool:
    return _pattern(pattern).search(text) is not None


@cache
def _pattern(text: str) -> re.Pattern[str]:
    """Compiled when it is first needed, which for most users is never."""
    return re.compile(text.replace("~", "[ _-]?"), re.I | re.M)
