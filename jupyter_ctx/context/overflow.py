"""Tell whether a refusal is a context overflow, and read the figures that it states.

Every server has its own wording, so no sentence is listed here. Refusals that only look like an
overflow are ruled out first: rate limits speak of tokens too. An overflow is then recognised by its
error code, by the classes of the words in a clause (see refusal_words.py), or by arithmetic: the
request is larger than the limit. The words around a number tell what the number is.
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

from .refusal_words import UNIT, WORD_CLASSES, in_english


@dataclass(frozen=True, slots=True)
class Overflow:
    """The figures that a refusal states, in tokens; ``None`` where it states none.

    ``context_window``: the limit, whether on the whole or on the input alone.
    ``max_input_tokens``: the same limit, where the refusal says that it is on the input.
    ``input_tokens``: the size of the prompt.
    ``output_tokens``: the length of the reply that was asked for.
    ``excess``: by how many tokens the request is too long.
    ``input_is_bound``: whether the prompt has at least ``input_tokens``, perhaps more.
    """

    context_window: int | None = None
    max_input_tokens: int | None = None
    input_tokens: int | None = None
    output_tokens: int | None = None
    excess: int | None = None
    input_is_bound: bool = False


# In patterns, "~" joins the words of a name: context length, context_length, ContextLength.

# A longer context than a plan or tier includes, whatever the status: a shorter prompt passes.
PAID_TIER = (
    r"(?:^|\. )(?=[^.\n]*\b(?:usage|credits?|tier|plan|subscription|billing)\b)(?![^.\n]*rate.?limit)"
    r"(?=[^.\n]*(?:required|requires?|need|must|only|not (?:yet )?(?:available|included|enabled)|does not include"
    r"|unlock|upgrade))"
    r"[^.\n]*(?:(?:long|large|extended|1m)[ -]context"
    r"|(?:context|prompts?|requests?)[^.\n]{0,20} (?:above|over|beyond|longer than) \d)"
)
OTHER_STATUS = frozenset({401, 402, 403, 404, 408, 429, 529})
OWNER = "(?:team|workspace|tenant|organi[sz]ation|customer|user|key|project|account|department|group)"
RATE_LIMITS = (
    r"^(?:code |status\w* )?(?:40[1-48]|429|529)$",  # a status that a gateway reports inside its own 200 or 400
    r"(?:rate|usage|request).?limit|quota|throttl|billing|credits?\b|\bbalance\b|\b[rt]p[md]\b|overloaded|concurren",
    r"content.(?:policy|filter)|too many requests|(?:please|then) wait\b|wait \d|slow down|timed? ?out|out of memory"
    r"|memory (?:limit|available)|more memory",
    r"\bminutes?\b|\b(?:per|this|a).(?:second|min|hour|day|week|month)\b|\b(?:hourly|daily|weekly|monthly|today)\b|per.request\b",
    r"/ ?(?:min|sec|hour|day)\b"
    r"|\b(?:your|the|this|trial)\W(?:account|plan|key|tier|subscription|project|organi[sz]ation)\b"
    r"|trial\b|api.key\b",
    r"(?:account|organi[sz]ation|project|user|plan|key|team)\b['’]?s? (?:\w+ ){0,2}(?:limit|budget|allowance|cap)\b",
    # whoever has used up a share: Team 'a' has reached its token limit
    rf"\b{OWNER}\W{{1,3}}(?:[\w@.-]{{1,40}}\W{{1,3}})?(?:has|have|is|was|reached|exceeded|used)\b"
    r"(?:(?!context|window|prompt|input)[^.]){0,40}\b(?:limit|budget|allowance|cap|allocation)\b",
)
OTHER_LIMITS = (
    r"(?:too many|max\w* number of) (?!(?:\w+ ){0,2}tokens|for\b|in\b)\w+",  # images, messages, tools
    r"max\w* tokens (?:you requested|requested|value)",  # Bedrock: of the reply
    r"(?:string|array)~(?:too~long|above~max)",  # OpenAI: one field of the request
    rf"\A(?![\s\S]*\d\W?tokens)[\s\S]*\d ?{UNIT}",
)
OVERFLOW_CODES = (
    r"context~overflow|prompt~too~long|input~length~error",
    r"tokens_limit_reached",  # GitHub Models
    r"prompt_tokens_exceeded",  # GitHub Copilot
    r"^(?:code )?1261$",  # Zhipu
)
# A request that is too large in bytes, characters or memory says nothing about tokens.
REQUEST_BODY = r"(?:request entity|entity|(?:request )?(?:payload|body|content)|request)(?:~size)?"
MORE_THAN = r"(?:exceed\w*|(?:larg|bigg|great)er than|over|above)"
SIZE_LIMITS = (
    r"(?:entity|payload|body|content)(?:~size)? (?:is |was )?too~(?:large|big|long)",
    rf"{REQUEST_BODY} (?:\w+ )?{MORE_THAN} (?:(?!context)[^\n.;]){{0,30}}(?:\bsize|buffer)",
    rf"{REQUEST_BODY} (?:\w+ )?(?:{MORE_THAN}|too~large)[^\n;]{{0,60}}\d ?(?:[kmg]i?b|bytes)\b",
    rf"max\w* (?:allowed )?{REQUEST_BODY}[ _](?:size|length)|{REQUEST_BODY}[ _](?:size|length)[ _]limit",
    r"request_too_large|max\w* (?:allowed )?(?:number of )?bytes",  # the first is Anthropic's error type
    r"(?:messages|input)\[\d+\]\W{0,3}content\W+string too long",
    r"\A(?![\s\S]*(?:token|context|window))[\s\S]*\b(?:messages?|request|payload|body)~(?:total~)?size\b[^\n;]*"
    rf"(?:{MORE_THAN}|limit|max)",  # Moonshot
    # a clause about an input that has too many characters, or needs too much memory, however far the server came
    r"(?:^|[.;:] )(?=[^\n.;]*(?:limit|max|exceed|too | than\b|over\b|above|beyond|at most|not (?:fit|enough)))"
    r"(?=[^\n.;]*\b(?:available|enough|gpu|in|the) memory\b|(?![^\n.;]*tokens)[^\n.;]*\b(?:chars?|characters?)\b)"
    r"(?![^\n.;]*\b(?:names?|titles?|descr\w+|keys?|ids?|tools?|functions?|files?|fields?|urls?|feature)\b)[^\n.;]*"
    r"(?:prefill|kv cache|input|prompts?|messages?|contents?|text|quer(?:y|ies)|questions?|requests?|conversation)\b",
)

# Patterns over a clause in which one letter stands for each word (WORD_CLASSES), in whatever order they stand:
# C context, I input, O output, T tokens, Q request, L length, N number, W model, P plus, R range; X too long, Y too
# many, G exceeds, S less than, M limit, A allows, H shorten; U a thing with a limit of its own, _ any other word.
EXCEEDED = "[XG]"
WORDS_BETWEEN = "[LTNMWCIAPR]{0,12}?(?:P[LTNM]*O[LTN]*)?"
OVERFLOW_SIGNS = (
    # the context is exceeded, or its size is stated
    rf"C[^.]{{0,14}}{EXCEEDED}|{EXCEEDED}[^.]{{0,14}}C|MC|CL?MN|C[^.U_]{{0,8}}S[^.U]{{0,4}}I",
    # an input, or a request, is too long
    rf"[IT]{WORDS_BETWEEN}X|X[LMN]*[IT]|Q[LTNI]*X",
    # an input is over a limit
    rf"I{WORDS_BETWEEN}G[^.U_]{{0,4}}[MCNTWA]|I{WORDS_BETWEEN}[MA]{WORDS_BETWEEN}G|M[LN]*I[LTN]*G|G[LNW]*M[LN]*I|I[LTN]*G$|I[ILN]*Y",
    # tokens, or a request, are over a limit
    r"T(?:[^.UO_]|PO){0,8}G[^.U_]{0,3}[MNWA]|Q[LTNI]*G[LNTIAMW]*[CTW]",
    # their limit is exceeded
    rf"G[LNMIAW]{{0,5}}T(?!_)|M?[LN]*T[LMNA]*{EXCEEDED}|[MA][LN]*T[^.UO]{{0,3}}{EXCEEDED}",
    # too many tokens
    r"Y[I_]?T(?![_U])|T[LMN]*Y",
    # how long an input may be
    r"[IQ][LT]*[SA]NT|I[LT]*T[SA]N|IL[SA]N|RL?I|M[LT]*I[LT]*N|I[LT]*ML?N",
    # shorten the input
    r"H[LTN_]{0,4}[IC]",
)
# A shorter prompt does not help where the output alone is too long, or where the clause is about other things.
OUTPUT_ONLY = r"^(?:[^IPC]*O[^IPC]*$|[^IPXG]*O[^IP]*$)"
OF_THINGS = r"^[^CXGY]*U[^C]*$|^[^C]*NU[^C]*$"
# Phrases that tell an overflow without naming what overflows.
PHRASES = (
    r"\b(?:no room|out of context)\b",
    r"tokens\W+must be at least 1, got -\d",  # vLLM: the room left for the reply
)
INPUT_WORDS = r"(?:prompt|input|messages?|conversation|chat|history)\b"
OUTPUT_WORDS = r"(?:max_(?:new_|completion_|output_)?tokens|max~new|completion|output|generat|predict|reply)"
SUM_WORDS = r"(?:(?:input|prompt)\w*\W+(?:and|plus|\+)\W+(?:\w+ )?(?:output|completion|prediction)|max_total)"
# Arithmetic alone counts only in a text about tokens, and for limits of at least this many.
TOKEN_TOPIC = (
    r"(?:\b|input~|prompt~|total~)tokens\b|token~count|tokeni[sz]|\bprompt\b|context|\b(?:n_)?ctx|input~(?:len|ids)"
)
LEAST_LIMIT = 500

SENTENCE_BREAK = r"\n\s*(?-i:(?=[A-Z{(\[]))|(?<=[})\].])\s*\n"  # before or after a line that is a sentence
ADDRESS = r"https?://[^\s\"'<>]+"  # numbers in addresses mean nothing
NUMBER = (
    r"(?<![\w.<$-])(?<!\w\[|\d:)(?<!be at least )(?:\[[01], ?)?"
    r"(?P<whole>\d{1,3}(?:[ .,_'’]\d{3}){1,4}|\d{1,12})(?P<part>\.\d\d?(?=[km]))?(?P<unit>[km])?(?:\.0+(?!\d))?"
    rf"(?!\w|[.,:]\d|-(?!token)| ?{UNIT}| (?:images|messages|pages|seconds)\b)"
    r"(?<!limit \(2013)"  # MiniMax: a status code
)
AFTER_FIELD = r"# ?-?(?:\((?=\w+\)))?['\"`]*(?:tokens? )?(?:(?:in|of|for|from) )?(?:(?:the|your|text) )?['\"`]*"
# The role of a number by the words next to it, which stands as "#"; the first row that matches decides.
ROLES_BESIDE = (
    ("none", r"(?:code|status\w*|line|\.py|localhost)\W*#"),
    ("excess", r"\bby (?:about |at least )?#|# tokens? (?:over|too)\b"),
    ("input", r"# ?(?:of|/) ?\d"),
    ("limit", r"^[\dkm] ?(?:of|/) ?#"),
    ("both", rf"{SUM_WORDS}\w*(?:\W|tokens?|would|be|of){{0,9}}#"),
    ("output", rf"{AFTER_FIELD}{OUTPUT_WORDS}|# new tokens|\+ ?#(?! ?-?(?:input|prompt))"),
    ("tools", rf"{AFTER_FIELD}(?:functions|tool)"),
    (
        "limit",
        r"(?:\blimit|\bmax(?:imum)?|allowed|window|(?:context|maximum)[ _](?:length|size)) ?[(:=]? ?#"
        r"(?![)\] ]*(?:tokens? ?)?[)\]]? ?(?:[>+]|vs|is \w+er|(?:exceed\w*|over|above|beyond|surpass\w*) [a-z#]))",
    ),
    (
        "limit",
        r"# ?-?(?:tokens? )?(?:are )?(?:max(?:imum)?\b(?! ?[=:(#]| is\b| \d)|limit|allowed|available|context|window"
        r"|\((?:max\w*|limit|context|window)\))",
    ),
    ("limit", r"#[ )]*(?:tokens?)?[ )]* is (?:small|low)er than (?!max|limit|the (?:max|limit))"),
    ("limit", r"(?:(?<!add )(?<!adds )up to|accepts|(?:model|only) takes|vs\.?) #"),
    ("input", rf"{AFTER_FIELD}(?:input (?:tokens|messages)|inputs?|prompt|(?<=the )messages|(?<=in )request)\b"),
    ("output", rf"{OUTPUT_WORDS}\w*(?:\W|tokens?|requested|is|of|value|too|large){{0,12}}#"),
    ("input", r"#[ )\]-]*(?:tokens?)?[ )\]]*(?:(?:is|are) )?(?:[>+]|plus|vs|over\b|above|beyond|\w+er than|more than)"),
    ("input", r"#[ )\]-]*(?:tokens?)?[ )\]]*(?:exceed(?:s? |ed [tm])|do(?:es)? not fit)"),
    ("input", r"#\)? (?:tokens )?(?:(?:were|was|you|that you) )?(?:given|sent|provided)|#, received"),
)
BEYOND = r"\b(?:than|exceed\w*|surpass\w*|overflows?|cross\w*|excess of|beyond|above|over|fits?)\b|[>≥]"
# Else the role by the nearest words before the number in its sentence.
ROLES_BEFORE = (
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
LOWER_BOUND = r"(?:at least|passed) $"  # vLLM stops counting at the limit
INPUT_LIMIT = (
    r"(?:max\w*[ _](?:allowed )?(?:input|prompt)[ _](?:tokens|length)|(?:input|prompt) tokens? limit)[^\d]*$"
    r"|(?:input|prompt)s?`? (?:tokens?[^.,]{0,30}exceed|must have|length (?:should|must))"
    r"(?:(?!context|window|model|output|completion|max_new)[^.])*$"
)

ECHOED_FIELDS = frozenset({"input", "inputs", "messages", "prompt", "content", "contents", "tools", "request"})
# How much is read: parts of a body, items of a part, characters at each end of a text and of JSON in a text.
MOST_PARTS, MOST_ITEMS, END_LENGTH, JSON_LENGTH = 1_000, 100, 3_000, 200_000


def classify_overflow(status: int | None, body: Any) -> Overflow | None:
    """Return the figures of a refusal with this HTTP status and body, or ``None`` if it is no context overflow.

    ``body`` may be anything a server sends: an object, a list, JSON in a string, plain text, bytes.
    """
    return _classified(status, _text(body))


def exceeds_size(status: int | None, body: Any) -> bool:
    """Return whether a request was refused for its bytes, characters or memory: smaller files or fewer turns may pass.

    That is any 413 that concerns neither tokens nor a rate, and other refusals that name such a size.
    """
    if status in OTHER_STATUS:
        return False
    text = _text(body)
    if _classified(status, text) is not None or any(_finds(veto, text) for veto in RATE_LIMITS):
        return False
    return status == 413 or any(_finds(pattern, text) for pattern in SIZE_LIMITS)


def _classified(status: int | None, text: str) -> Overflow | None:
    named = _finds(PAID_TIER, text)
    if not named and (status in OTHER_STATUS or any(_finds(veto, text) for veto in RATE_LIMITS)):
        return None
    named = named or any(_finds(code, text) for code in OVERFLOW_CODES)
    if not named and any(_finds(veto, text) for veto in (*OTHER_LIMITS, *SIZE_LIMITS)):
        return None
    named = named or any(_finds(phrase, text) for phrase in PHRASES) or any(map(_is_said, text.split("\n")))
    figures = _numbers(text) if named or _finds(TOKEN_TOPIC, text) else {}
    if not (named or _is_too_much(figures)):
        return None
    return Overflow(
        context_window=figures.get("limit"),
        max_input_tokens=figures.get("cap"),
        input_tokens=figures.get("input"),
        output_tokens=figures.get("output"),
        excess=figures.get("excess"),
        input_is_bound="bound" in figures,
    )


def _is_said(line: str) -> bool:
    """Return whether a sentence of a line says that something is more than the context holds."""
    return any(_says(clause) for clause in _letters(line).split("."))


def _says(clause: str) -> bool:
    return not (_finds(OUTPUT_ONLY, clause) or _finds(OF_THINGS, clause)) and any(
        _finds(sign, clause) for sign in OVERFLOW_SIGNS
    )


def _letters(line: str) -> str:
    """Return a line as letters, one for each word that matters."""
    line = _pattern(NUMBER).sub("#", line.lower())
    return "".join(WORD_CLASSES[match.lastindex - 1][0] for match in _word().finditer(line) if match.lastindex)


@cache
def _word() -> re.Pattern[str]:
    rows = (words if letter in (".", "N", "_") else rf"(?:{words})(?![a-z])" for letter, words in WORD_CLASSES)
    return _pattern("(?<![a-z])(?:" + "|".join(f"({row})" for row in rows) + ")")


def _is_too_much(figures: dict[str, int]) -> bool:
    sent = figures["input"] + figures.get("output", 0) if "input" in figures else figures.get("both", 0)
    return sent >= figures.get("limit", sent + 1) >= LEAST_LIMIT


def _lines(body: Any) -> Iterator[str]:
    """Yield every text of a body on one line, the outermost first, without fields that repeat the request."""
    queue = deque([("", body)])
    for _ in range(MOST_PARTS):
        if not queue:
            return
        key, value = queue.popleft()
        value = _opened(value)
        if isinstance(value, dict):
            items = islice(value.items(), MOST_ITEMS)
            queue.extend((k if isinstance(k, str) else "", v) for k, v in items if k not in ECHOED_FIELDS)
        elif isinstance(value, list | tuple):
            queue.extend((key, v) for v in value[:MOST_ITEMS])
        elif isinstance(value, str):
            yield _plain(value)
        elif type(value) is int and 0 <= value < 10**12 and _finds(r"token|ctx|context|code|status", key[:100]):
            yield f"{key[:100]} {value}"


def _opened(value: Any) -> Any:
    """Return the value that bytes, or JSON in a string, stand for; any other value as it is."""
    if isinstance(value, bytes | bytearray):
        value = value.decode("utf-8", "replace")
    if isinstance(value, str) and len(value) < JSON_LENGTH and value.lstrip()[:1] in ("{", "["):
        try:
            return json.loads(value)
        except (ValueError, RecursionError):
            pass
    return value


def _text(body: Any) -> str:
    """Return the distinct texts of a body, a line each, in English."""
    return _ends("\n".join(dict.fromkeys(_lines(body))))


def _plain(text: str) -> str:
    """Return a text as one line of English words, without the marks of JSON, reprs, HTML and code."""
    text = _pattern(r"\\{1,4}u([0-9a-f]{4})").sub(lambda match: chr(int(match[1], 16)), unescape(_ends(text)))
    text = normalize("NFKC", text).replace("\\", " \\")
    if "</" in text:
        text = re.sub(r"</?[A-Za-z][^<>]{0,200}>", " . ", text)
    text = _pattern(SENTENCE_BREAK).sub(" . ", text)
    text = re.sub(r"(?:\\+[nrt]|[\s\\#])+", " ", text)
    text = re.sub(r"""["']\w+["'] ?: ?(?=["'{\[])""", " . ", text)
    text = re.sub(r"(?<![A-Za-z])max(?:Output|New|Completion)?Tokens", "max_output_tokens", text)
    text = in_english(re.sub(r"(?<=[a-z])(?=[A-Z][a-z])", " ", text).replace("。", ". "))
    return re.sub(r"\s+", " ", text)


def _ends(text: str) -> str:
    return text if len(text) <= 2 * END_LENGTH else f"{text[:END_LENGTH]}\n{text[-END_LENGTH:]}"


def _numbers(text: str) -> dict[str, int]:
    """Return the number of each role that is clear; of two numbers with one role, the first."""
    figures: dict[str, int] = {}
    for line in _pattern(ADDRESS).sub(" ", text).split("\n"):
        figures = {**_numbers_of(line), **figures}
    return figures


def _numbers_of(line: str) -> dict[str, int]:
    figures: dict[str, int] = {}
    end = 0
    for match in _pattern(NUMBER).finditer(line):
        before, after = line[max(end - 1, match.start() - 60, 0) : match.start()], line[match.end() : match.end() + 40]
        end, value = match.end(), _value(match)
        roles = tuple(_roles(before, after))
        if "none" in roles:
            continue
        role = next((role for role in roles if figures.get(role, value + 1) != value), None)
        if role == "limit" and value < figures.get("limit", 0) and "input" not in figures and _finds(BEYOND, before):
            figures["input"] = figures.pop("limit")  # "the context is 9,000 tokens, this exceeds the window of 8,192"
        if role is None or role in figures:
            continue
        if role in ("input", "total") and "input" not in figures and _finds(LOWER_BOUND, before):
            figures["bound"] = 1
        figures[role] = value
        if role in ("limit", "beyond") and _finds(INPUT_LIMIT, line[max(0, match.start() - 150) : match.start()]):
            figures["cap"] = value
    return _settled(figures, line)


def _settled(figures: dict[str, int], line: str) -> dict[str, int]:
    """Settle the roles of numbers that are known only as exceeded, as sent or as tokens."""
    if "beyond" in figures:
        figures.setdefault("limit" if "limit" not in figures else "input", figures["beyond"])
    rest = figures.get("tokens", 0)  # a number of tokens without a role: if larger than the limit, it was sent
    if rest > figures.get("limit", rest):
        figures.setdefault("input", rest)
    elif 0 < rest < figures.get("input", 0):
        figures.setdefault("limit", rest)
    is_of_input = _finds(INPUT_WORDS, line) or not _finds(OUTPUT_WORDS, line)
    if "input" in figures:
        figures["input"] += figures.get("tools", 0)
    elif "total" in figures and "output" not in figures and is_of_input:
        figures["both" if _finds(SUM_WORDS, line) else "input"] = figures["total"]
    return figures


def _roles(before: str, after: str) -> Iterator[str]:
    """Yield the roles that a number may have, the likeliest first."""
    around = f"{before}#{after}"
    yield from (role for role, words in ROLES_BESIDE if _finds(words, around))
    nearest = deque(_pattern(ROLES_BEFORE).finditer(re.split(r"[.!?] |[{}]", before)[-1]), maxlen=1)
    yield from (str(match.lastgroup) for match in nearest)
    if _finds(r"#[)\] ]*-?tokens?\b", around):
        yield "tokens"


def _value(match: re.Match[str]) -> int:
    """Return the value of a number. A k is 1,000: where 1,024 is meant, the smaller value is the safe one."""
    number = re.sub(r"\D", "", match["whole"]) + (match["part"] or "")
    return round(float(number) * {"": 1, "k": 1e3, "m": 1e6}[(match["unit"] or "").lower()])


def _finds(pattern: str, text: str) -> bool:
    return _pattern(pattern).search(text) is not None


@cache
def _pattern(text: str) -> re.Pattern[str]:
    """Return a compiled pattern. Most users never need one, so none is compiled at import."""
    return re.compile(text.replace("~", "[ _-]?"), re.I | re.M)
