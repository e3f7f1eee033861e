"""Is this refusal an overflow, and what does it say of the limit?

Every server words it in its own way, so no sentence is listed here. What only looks like an
overflow is ruled out first: rate limits speak of tokens too. Then a code says that it is one,
or the parts that the words of a clause have (refusal_words.py), or the arithmetic: what was
sent is more than the limit. Each number is understood by the words around it.
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
from unicodedata import normalize

from .refusal_words import FIGURE_ROLES, UNIT, in_english


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

EXCEPTION = r"extra usage is required for long context"  # Anthropic: a 429 that a shorter prompt cures
VETO_STATUS = frozenset({401, 402, 403, 404, 408, 429, 529})
RATES = (
    r"^(?:code |status\w* )?(?:40[1-48]|429|529)$",  # a gateway's 200 or 400 around another refusal
    r"(?:rate|usage|request).?limit|quota|throttl|billing|credits?\b|\bbalance\b|\b[rt]p[md]\b|overloaded|concurren",
    r"content.(?:policy|filter)|too many requests|(?:please|then) wait\b|wait \d|slow down|timed? ?out|out of memory"
    r"|memory (?:limit|available)|more memory",
    r"\bminutes?\b|\b(?:per|this|a).(?:second|min|hour|day|week|month)\b|\b(?:daily|weekly|monthly|today)\b|per.request\b",
    r"/ ?(?:min|sec|hour|day)\b"
    r"|\b(?:your|the|this|trial)\W(?:account|plan|key|tier|subscription|project|organi[sz]ation)\b"
    r"|trial\b|api.key\b",
    r"(?:account|organi[sz]ation|project|user|plan|key|team)\b['’]?s? (?:\w+ ){0,2}(?:limit|budget|allowance|cap)\b",
)
VETOES = (
    r"(?:too many|max\w* number of) (?!(?:\w+ ){0,2}tokens|for\b|in\b)\w+",  # images, messages, tools
    r"(?:string|array)~(?:too~long|above~max)",  # OpenAI: one field of the request
    rf"\A(?![\s\S]*\d\W?tokens)[\s\S]*\d ?{UNIT}",
)
OVERFLOW_CODES = (
    r"context~overflow|prompt~too~long",
    r"tokens_limit_reached",  # GitHub Models
    r"prompt_tokens_exceeded",  # GitHub Copilot
    r"^(?:code )?1261$",  # Zhipu
)
# A request that is too large in bytes, which says nothing of tokens.
ENTITY = r"(?:request entity|entity|(?:request )?(?:payload|body|content)|request)(?:~size)?"
MORE = r"(?:exceed\w*|(?:larg|bigg|great)er than|over|above)"
BYTES = (
    r"(?:entity|payload|body|content)(?:~size)? (?:is |was )?too~(?:large|big|long)",
    rf"{ENTITY} (?:\w+ )?{MORE} (?:(?!context)[^\n.;]){{0,30}}(?:\bsize|buffer)",
    rf"{ENTITY} (?:\w+ )?(?:{MORE}|too~large)[^\n;]{{0,60}}\d ?(?:[kmg]i?b|bytes)\b",
    rf"max\w* (?:allowed )?{ENTITY}[ _](?:size|length)|{ENTITY}[ _](?:size|length)[ _]limit",
    r"request_too_large|max\w* (?:allowed )?(?:number of )?bytes",  # the first is Anthropic's type
    r"(?:messages|input)\[\d+\]\W{0,3}content\W+string too long",
)

# What the letters of a clause say, in any order of words that a language may have.
OVER = "[XG]"
BETWEEN = "[LTNMWCIAPR]{0,12}?(?:P[LTNM]*O[LTN]*)?"
SIGNS = (
    # the context is exceeded, or its size is stated
    rf"C[^.]{{0,14}}{OVER}|{OVER}[^.]{{0,14}}C|MC|CL?MN|C[^.U_]{{0,8}}S[^.U]{{0,4}}I",
    # an input, or a request, is too long
    rf"[IT]{BETWEEN}X|X[LMN]*[IT]|Q[LTNI]*X",
    # an input is over a limit
    rf"I{BETWEEN}G[^.U_]{{0,4}}[MCNTWA]|I{BETWEEN}[MA]{BETWEEN}G|M[LN]*I[LTN]*G|G[LNW]*M[LN]*I|I[LTN]*G$|I[ILN]*Y",
    # tokens, or a request, are over a limit
    r"T(?:[^.UO_]|PO){0,8}G[^.U_]{0,3}[MNWA]|Q[LTNI]*G[LNTIAMW]*[CTW]",
    # their limit is exceeded
    rf"G[LNMIAW]{{0,5}}T(?!_)|M?[LN]*T[LMNA]*{OVER}|[MA][LN]*T[^.UO]{{0,3}}{OVER}",
    # too many tokens
    r"Y[I_]?T(?![_U])|T[LMN]*Y",
    # how long an input may be
    r"[IQ][LT]*[SA]NT|I[LT]*T[SA]N|IL[SA]N|RL?I|M[LT]*I[LT]*N|I[LT]*ML?N",
    # shorten the input
    r"H[LTN_]{0,4}[IC]",
)
# But a shorter prompt cures neither an output that is too long by itself, nor other things.
OUTPUT_ONLY = r"^(?:[^IPC]*O[^IPC]*$|[^IPXG]*O[^IP]*$)"
OF_THINGS = r"^[^CXGY]*U[^C]*$|^[^C]*NU[^C]*$"
# Words that say it without saying of what.
PHRASES = (
    r"\b(?:no room|out of context)\b",
    r"tokens\W+must be at least 1, got -\d",  # vLLM: what is left for the reply
)
INPUT = r"(?:prompt|input|messages?|conversation|chat|history)\b"
OUTPUT = r"(?:max_(?:new_|completion_|output_)?tokens|max~new|completion|output|generat|predict|reply)"
BOTH = r"(?:(?:input|prompt)\w*\W+(?:and|plus|\+)\W+(?:\w+ )?(?:output|completion|prediction)|max_total)"
# The arithmetic alone convinces only where it is about tokens, and about no smaller number of them.
TOPIC = r"(?:\b|input~|prompt~|total~)tokens\b|token~count|tokeni[sz]|\bprompt\b|context|\b(?:n_)?ctx|input~(?:len|ids)"
SMALLEST = 500

BREAK = r"\n\s*(?-i:(?=[A-Z{(\[]))|(?<=[})\].])\s*\n"  # a line that begins as a sentence, or one that has ended
ADDRESS = r"https?://[^\s\"'<>]+"  # its numbers mean nothing
NUMBER = (
    r"(?<![\w.<$-])(?<!\w\[|\d:)(?<!be at least )(?:\[[01], ?)?"
    r"(?P<whole>\d{1,3}(?:[ .,_'’]\d{3}){1,4}|\d{1,12})(?P<part>\.\d\d?(?=[km]))?(?P<unit>[km])?(?:\.0+(?!\d))?"
    rf"(?!\w|[.,:]\d|-(?!token)| ?{UNIT}| (?:images|messages|pages|seconds)\b)"
    r"(?<!limit \(2013)"  # MiniMax: a status
)
AFTER_FIELD = r"# ?-?(?:\((?=\w+\)))?['\"`]*(?:tokens? )?(?:(?:in|of|for|from) )?(?:(?:the|your|text) )?['\"`]*"
# What a number is, by the words that touch it (it stands as "#"); the first that fits.
TOUCHING = (
    ("none", r"(?:code|status\w*|line|\.py|localhost)\W*#"),
    ("excess", r"\bby (?:about |at least )?#|# tokens? (?:over|too)\b"),
    ("input", r"# ?(?:of|/) ?\d"),
    ("limit", r"^[\dkm] ?(?:of|/) ?#"),
    ("both", rf"{BOTH}\w*(?:\W|tokens?|would|be|of){{0,9}}#"),
    ("output", rf"{AFTER_FIELD}{OUTPUT}|# new tokens|\+ ?#(?! ?-?(?:input|prompt))"),
    ("tools", rf"{AFTER_FIELD}(?:functions|tool)"),
    (
        "limit",
        r"(?:\blimit|\bmax(?:imum)?|allowed|window|(?:context|maximum)[ _](?:length|size)) ?[(:=]? ?#"
        r"(?![)\] ]*(?:tokens? ?)?[)\]]? ?(?:[>+]|vs|is \w+er|(?:exceed\w*|over|above|beyond|surpass\w*) [a-z#]))",
    ),
    (
        "limit",
        r"# ?-?(?:tokens? )?(?:max(?:imum)?\b(?! ?[=:(#]| is\b| \d)|limit|allowed|available|context|window"
        r"|\((?:max\w*|limit|context|window)\))",
    ),
    ("limit", r"#[ )]*(?:tokens?)?[ )]* is (?:small|low)er than (?!max|limit|the (?:max|limit))"),
    ("limit", r"(?:(?<!add )(?<!adds )up to|accepts|(?:model|only) takes|vs\.?) #"),
    ("input", rf"{AFTER_FIELD}(?:input (?:tokens|messages)|inputs?|prompt|(?<=the )messages|(?<=in )request)\b"),
    ("output", rf"{OUTPUT}\w*(?:\W|tokens?|is|of|value|too|large){{0,12}}#"),
    ("input", r"#[ )\]-]*(?:tokens?)?[ )\]]*(?:(?:is|are) )?(?:[>+]|plus|vs|over\b|above|beyond|\w+er than|more than)"),
    ("input", r"#[ )\]-]*(?:tokens?)?[ )\]]*(?:exceed(?:s? |ed [tm])|do(?:es)? not fit)"),
    ("input", r"#\)? (?:tokens )?(?:(?:were|was|you|that you) )?(?:given|sent|provided)|#, received"),
)
BEYOND = r"\b(?:than|exceed\w*|surpass\w*|overflows?|cross\w*|excess of|beyond|above|over|fits?)\b|[>≥]"
# Else by the nearest words before it in its sentence.
BEFORE = (
    r"(?P<limit>max\w* (?:length|size|number) of (?:(?:the|your|current) )*\w+"
    r"|max\w*(?: (?:allowed|input|prompt|number))*|limit|context(?!~overflow)|ctx|window|allow|permit|accept|support"
    r"|capacity|\b(?:at most|up to|only|holds?|handle|can|room|fit|available|below|under)\b|reached"
    r"|should be|must be|cannot|[<≤])"
    rf"|(?P<beyond>{BEYOND})"
    r"|(?P<input>prompt|input|message|conversation|chat|history|\btext\b|current|keep)"
    r"|(?P<total>request(?![\W_]?id)|total|n_tokens|result|sent|given|\bgot\b|received|provided|contain|needs?|require"
    r"|\b(?:has|have|comes to|used?)\b|estimate|actual|yours|overflow|too (?:long|large|many)"
    r"|(?<!max )(?<!maximum )(?<!allowed )token count"
    r"|(?:^|^[\dkm]\)? |[(,;.{\['\"] ?)(?:num_|n_|total[ _])?tokens?(?:[ _]count)? ?[:=])"
)
BOUND = r"(?:at least|passed) $"  # vLLM stops counting at the limit
OF_INPUT = (
    r"(?:max\w*[ _](?:allowed )?(?:input|prompt)[ _](?:tokens|length)|(?:input|prompt) tokens? limit)[^\d]*$"
    r"|(?:input|prompt)s?`? (?:tokens?[^.,]{0,30}exceed|must have|length (?:should|must))"
    r"(?:(?!context|window|model|output|completion|max_new)[^.])*$"
)

ECHOES = frozenset({"input", "inputs", "messages", "prompt", "content", "contents", "tools", "request"})
# How much is looked at: parts of a body, of one part, characters at each end, of JSON inside of a text.
NODES, CHILDREN, END, JSON = 1_000, 100, 3_000, 200_000


def classify_overflow(status: int | None, body: Any) -> Overflow | None:
    """What a refusal with this HTTP status and body says of the context, or ``None``.

    ``body`` is whatever came: an object, a list, JSON in a string, plain text, bytes.
    """
    return _classified(status, _text(body))


def is_too_many_bytes(status: int | None, body: Any) -> bool:
    """Whether a request was refused for its size in bytes: smaller files or fewer turns may pass.

    Any 413 that speaks neither of tokens nor of a rate, and other refusals that say so.
    """
    if status in VETO_STATUS:
        return False
    text = _text(body)
    if _classified(status, text) is not None or any(_finds(veto, text) for veto in RATES):
        return False
    return status == 413 or any(_finds(pattern, text) for pattern in BYTES)


def _classified(status: int | None, text: str) -> Overflow | None:
    if _finds(EXCEPTION, text):
        return Overflow()
    if status in VETO_STATUS or any(_finds(veto, text) for veto in RATES):
        return None
    named = any(_finds(code, text) for code in OVERFLOW_CODES)
    if not named and any(_finds(veto, text) for veto in (*VETOES, *BYTES)):
        return None
    named = named or any(_finds(phrase, text) for phrase in PHRASES) or any(map(_is_said, text.split("\n")))
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


def _is_said(line: str) -> bool:
    """Whether a sentence of it says in words that something is more than the context holds."""
    return any(_says(clause) for clause in _letters(line).split("."))


def _says(clause: str) -> bool:
    return not (_finds(OUTPUT_ONLY, clause) or _finds(OF_THINGS, clause)) and any(
        _finds(sign, clause) for sign in SIGNS
    )


def _letters(line: str) -> str:
    """A line with one letter for each word that matters."""
    line = _pattern(NUMBER).sub("#", line.lower())
    return "".join(FIGURE_ROLES[match.lastindex - 1][0] for match in _word().finditer(line) if match.lastindex)


@cache
def _word() -> re.Pattern[str]:
    rows = (words if letter in (".", "N", "_") else rf"(?:{words})(?![a-z])" for letter, words in FIGURE_ROLES)
    return _pattern("(?<![a-z])(?:" + "|".join(f"({row})" for row in rows) + ")")


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
    if isinstance(value, str) and len(value) < JSON and value.lstrip()[:1] in ("{", "["):
        try:
            return json.loads(value)
        except (ValueError, RecursionError):
            pass
    return value


def _text(body: Any) -> str:
    """What a body says: a line for each of its texts, once each, in English."""
    return _ends("\n".join(dict.fromkeys(_lines(body))))


def _plain(text: str) -> str:
    """Text in one line of English words, without what JSON, reprs, HTML and names of code add."""
    text = _pattern(r"\\{1,4}u([0-9a-f]{4})").sub(lambda match: chr(int(match[1], 16)), unescape(_ends(text)))
    text = normalize("NFKC", text).replace("\\", " \\")
    if "</" in text:
        text = re.sub(r"</?[A-Za-z][^<>]{0,200}>", " . ", text)
    text = _pattern(BREAK).sub(" . ", text)
    text = re.sub(r"(?:\\+[nrt]|[\s\\#])+", " ", text)
    text = re.sub(r"""["']\w+["'] ?: ?(?=["'{\[])""", " . ", text)
    text = re.sub(r"(?<![A-Za-z])max(?:Output|New|Completion)?Tokens", "max_output_tokens", text)
    text = in_english(re.sub(r"(?<=[a-z])(?=[A-Z][a-z])", " ", text).replace("。", ". "))
    return re.sub(r"\s+", " ", text)


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
        before, after = line[max(end - 1, match.start() - 60, 0) : match.start()], line[match.end() : match.end() + 40]
        end, value = match.end(), _value(match)
        roles = tuple(_roles(before, after))
        if "none" in roles:
            continue
        role = next((role for role in roles if said.get(role, value + 1) != value), None)
        if role == "limit" and value < said.get("limit", 0) and "input" not in said and _finds(BEYOND, before):
            said["input"] = said.pop("limit")  # "the context is 9,000 tokens, this exceeds the window of 8,192"
        if role is None or role in said:
            continue
        if role in ("input", "total") and "input" not in said and _finds(BOUND, before):
            said["bound"] = 1
        said[role] = value
        if role in ("limit", "beyond") and _finds(OF_INPUT, line[max(0, match.start() - 150) : match.start()]):
            said["cap"] = value
    return _settled(said, line)


def _settled(said: dict[str, int], line: str) -> dict[str, int]:
    """What the numbers are that are known for being exceeded, or for being sent."""
    if "beyond" in said:
        said.setdefault("limit" if "limit" not in said else "input", said["beyond"])
    rest = said.get("tokens", 0)  # whose part no word says: what is over the limit was sent
    if rest > said.get("limit", rest):
        said.setdefault("input", rest)
    elif 0 < rest < said.get("input", 0):
        said.setdefault("limit", rest)
    if "input" in said:
        said["input"] += said.get("tools", 0)
    elif "total" in said and "output" not in said and (_finds(INPUT, line) or not _finds(OUTPUT, line)):
        said["both" if _finds(BOTH, line) else "input"] = said["total"]
    return said


def _roles(before: str, after: str) -> Iterator[str]:
    """What a number may be, the likeliest first."""
    around = f"{before}#{after}"
    yield from (role for role, words in TOUCHING if _finds(words, around))
    nearest = deque(_pattern(BEFORE).finditer(re.split(r"[.!?] |[{}]", before)[-1]), maxlen=1)
    yield from (str(match.lastgroup) for match in nearest)
    if _finds(r"#[)\] ]*-?tokens?\b", around):
        yield "tokens"


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
