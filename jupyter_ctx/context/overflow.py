"""Read a refusal: walk its body once, tell whether it is a context overflow, and read the figures that it states.

Every server has its own wording, so no sentence is listed here. Refusals that only look like an
overflow are ruled out first: rate limits speak of tokens too. An overflow is then recognised by its
error code, by what the words of a clause name, or by arithmetic: the request
is larger than the limit. The words around a number tell what the number is.
Chinese is translated into English word by word, in its own word order.
"""

from __future__ import annotations

import json
import re
from collections import deque
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from html import unescape
from itertools import islice
from typing import Any, NamedTuple


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

# What a word of a clause names; the first row that matches decides. Only words that tell an overflow from something
# else are listed. "#" stands for a number.
WORDS = {
    "size": (  # of a whole request: what it says of bytes or characters says nothing about tokens
        r"# ?(?:[kmg]i?b|bytes?|char\w*)|chars|characters?|bytes|buffers?|(?:request|http)~body|body|entity|payloads?"
        r"|(?:messages?|request|payload|body)~(?:total~)?size"
    ),
    "memory": r"(?:more )?memory",
    "other": (  # that has a limit of its own
        r"# ?(?:pixels|items|entries)|(?:too many|max[a-z]* number of) (?!(?:[a-z]+ ){0,2}tokens|for\b|in\b|char)[a-z]+"
        r"|(?:prompt|message|conversation|chat|history|context|input|session|token|tool~call)(?:~|')?s?~?"
        r"(?:ids?(?! len)|names?|titles?|key|template|index|role|logprobs|caching|cache[a-z]*|param[a-z]*)\b"
        r"|(?:api|access|auth[a-z]*|bearer|refresh|session|reset|id|security) tokens?\b|(?:logit|stop|tool)[a-z]*"
        r"|images?|pictures?|photos?|files?(?! *[\"'/])|attachments?|documents?|pdfs?|pages?|audio|videos?|uploads?"
        r"|schemas?|headers?|ur[il]s?|strings?|arrays?|names?|conversations|titles?|items?|lists?|metadata|users?"
        r"|temperature|top_[a-z]+|logprobs|dimensions?|depth|fields?|time|timeout|queue|sessions?"
        r"|batch[a-z]*|functions? (?:name|desc)[a-z]*|enum|num_ctx|budget_tokens|properties|feature|descr[a-z]*"
    ),
    "": (
        r"error message|input should be|invalid input|context (?:deadline|cancel[a-z]*|menu|handle|manager)"
        r"|context=\([^)]*"  # OpenAI: a place in a schema
    ),
    "shorten": r"shorten|short(?:er)?(?! than)|reduc[a-z]*|trim|truncate|compress|clear|summari[sz]e",
    "context": (
        r"context(?:~(?:windows?|length|size|limit|budget)){0,2}|(?:sequence|seq|model|position)~len(?:gth)?|n_ctx|ctx"
        r"|max_(?:model|seq[a-z]*|context|ctx|position[a-z]*)(?:~(?:len|length|tokens|size|embeddings))?|kv cache"
    ),
    "output": (
        r"(?:generated|output|response|reply|completion) (?:text|messages?|content|sequence)|(?<!model_)max_tokens"
        r"|max~(?:new|output|completion)~(?:tokens?|length)|max[a-z]* tokens (?:you )?(?:requested|value)"
        r"|n_predict|completions?|outputs?|repl(?:y|ies)|responses?|answers?"
    ),
    "over": (
        r"(?:too|so|that|this)~(?:many|much|long|large|big)|overflow[a-z]*|exhausted|oversized?|full\b|filled|reached"
        r"|no room|r[au]n out|out of(?= context)|hit|not enough|exceed[a-z]*|surpass[a-z]*|cross(?:e[sd])?"
        r"|in excess(?= of)|(?:long|larg|great|bigg|high)er than|over\b(?!-)|above|beyond"
        r"|more(?: \w+)?(?: \(?#\)?)? than|past|outside|[>≥]=?|(?:[a-z]+n['’]t|not|to|no longer|cannot|never) fits?"
    ),
    "limit": (
        r"max[a-z]*|limit[a-z]*|largest|ceiling|cap\b|range|between|allow[a-z]*|permit[a-z]*|at most|up to"
        r"|capacit[a-z]*|support(?:s|ed)?|accept[a-z]*|holds?|handle|(?:can|only) \w+|room|below|under|[<≤]"
        r"|(?:short|small|low|few)er than|less than"
    ),
    "tokens": (
        r"tokens|(?<=#-)token|token(?=~overflow| over\b)|token~(?:count|limit|length|budget|window|size|quantity|total"
        r"|number|usage)s?|tokeni[sz][a-z]*|(?<=input )token|(?<=prompt )token"
    ),
    "input": (
        r"prompts?|inputs?|messages?|conversation|chat|history|dialog[a-z]*|question|query|text|contents?|transcript"
        r"|sequence|thread"
    ),
    "plus": r"plus|\+|and|with|together",
    "number": r"#",
}
WORD = "|".join(f"(?P<{name}>{words})" if name else words for name, words in WORDS.items())
WORD = rf"(?<![a-z])(?:{WORD})(?![a-z])"

# A longer context than a plan or tier includes, whatever the status: a shorter prompt passes.
PAID_TIER = (
    r"(?:^|\. )(?=[^.\n]*\b(?:usage|credits?|tier|plan|subscription|billing)\b)(?![^.\n]*rate.?limit)"
    r"[^.\n]*(?:(?:long|large|1m)[ -]context|(?:context|prompts?)[^.\n]{0,20} (?:above|over|beyond|longer than) \d)"
)
OTHER_STATUS = frozenset({401, 402, 403, 404, 408, 429, 529})
RATE_LIMIT = (  # or another limit of whoever asks, such as a team's
    r"^(?:code |status\w* )?(?:40[1-48]|429|529)$"  # a status that a gateway reports inside its own 200 or 400
    r"|(?:rate|usage|request).?limit|quota|throttl|bill(?:ing|ed)|spen[dt]|credits?\b|\bbalance\b|\b[rt]p[md]\b|overloaded"
    r"|concurren|content.(?:policy|filter)|too many requests|(?:please|then) wait\b|slow down|timed? ?out"
    r"|(?:\b(?:per|this|a)\W|/ ?)(?:second|sec|minute|min|hour|day|week|month)\b|\bminutes?\b"
    r"|\b(?:hourly|daily|weekly|monthly|today|trial|api.key|team|workspace|tenant|organi[sz]ation|customer)\b"
    r"|\b(?:your|the|this)\W(?:user|key|project|account|plan)\b|\bplan's\b"
)
OVERFLOW_CODE = (
    r"context~overflow|prompt~too~long|input~length~error|\b(?:no room|out of context)\b"
    r"|tokens_limit_reached|prompt_tokens_exceeded"  # GitHub Models, GitHub Copilot
    r"|^(?:code )?1261$"  # Zhipu
    r"|tokens\W+must be at least 1, got -\d"  # vLLM: the room left for the reply
)
OUTPUT_WORDS = r"(?:max_(?:new_|completion_|output_)?tokens|max~new|tokens you|completion|output|generat|predict|reply)"
SUM = r"(?:(?:input|prompt)\w*\W+(?:and|plus|\+)\W+(?:\w+ )?(?:output|completion|prediction)|max_total)"
# Arithmetic alone counts only in a text about tokens, and for limits of at least this many.
TOKEN_TOPIC = r"tokens\b|token~count|tokeni[sz]|\bprompt\b|context(?!=\()|\b(?:n_)?ctx|input~(?:len|ids)"
LEAST_LIMIT = 256

NUMBER = (
    r"(?<![\w.<$-])(?<!\w\[|\d:)(?<!be at least )(?:\[[01], ?)?"
    r"(?P<whole>\d{1,3}(?:[ .,_'’]\d{3}){1,4}|\d{1,12})(?P<part>\.\d\d?(?=[km]))?(?P<unit>[km])?(?:\.0+(?!\d))?"
    r"(?!\w|[.,:]\d|-(?!token)| ?(?:[kmg]i?b|bytes?|char\w*|pixels|items|entries|images|messages|pages|seconds)\b)"
    r"(?<!limit \(2013)"  # MiniMax: a status code
)
ADDRESS = r"https?://[^\s\"'<>]+"  # numbers in addresses mean nothing
NAMED = r"# ?-?(?:\((?=\w+\)))?['\"`]*(?:tokens? )?(?:(?:in|of|for|from) )?(?:(?:the|your|text) )?['\"`]*"
ANY_TOKENS = r"#[)\] -]*(?:tokens?)?[)\] ]*"
BEYOND = r"\b(?:than|exceed\w*|surpass\w*|overflows?|cross\w*|excess of|beyond|above|over|fits?)\b|[>≥]"
# What a number is, by the words beside it, which stands as "#"; the first row that matches decides.
FIGURES = (
    ("none", r"(?:code|status\w*|line|\.py|localhost)\W*#"),
    ("excess", r"\bby (?:about |at least )?#|# tokens? (?:over|too)\b"),  # "exceeded … by 540451 tokens"
    ("input", r"# ?(?:of|/) ?\d"),
    ("limit", r"^[\dkm] ?(?:of|/) ?#"),
    ("both", rf"{SUM}\w*(?:\W|tokens?|would|be|of){{0,9}}#"),
    # OpenAI, vLLM, TGI: "(9969 in the messages, 26000 in the completion)"; Anthropic: "199759 + 8192 > 200000"
    ("output", rf"{NAMED}{OUTPUT_WORDS}|# new tokens|\+ ?#(?! ?-?(?:input|prompt))"),
    ("tools", rf"{NAMED}(?:functions|tool)"),  # OpenAI
    ("limit", r"# ?-?(?:tokens? )?(?:are )?(?:max(?:imum)?\b(?! ?[=:(#]| is\b| \d)|limit|allowed|available|context"
     r"|window|\((?:max\w*|limit|context|window)\))"),  # Anthropic: "> 199999 maximum"
    ("limit", rf"{ANY_TOKENS} is (?:small|low)er than (?!max|limit|the (?:max|limit))"),
    ("input", rf"{NAMED}(?:input (?:tokens|messages)|inputs?|prompt|(?<=the )messages|(?<=in )request)\b"),
    ("output", rf"{OUTPUT_WORDS}\w*(?:\W|tokens?|requested|is|of|value|too|large){{0,12}}#"),
    ("input", rf"{ANY_TOKENS}(?:(?:is|are) )?(?:[>+]|plus|vs|over\b|above|beyond|\w+er than|more than"
     r"|exceed(?:s? |ed [tm])|do(?:es)? not fit)"),  # Mistral, Gemini, SGLang
    ("input", r"#\)? (?:tokens )?(?:(?:were|was|you|that you) )?(?:given|sent|provided)"),
    # else by the nearest words before the number in its sentence
    ("", r"(?P<limit>max\w* (?:length|size|number) of (?:(?:the|your|current) )*\w+"
     r"|max\w*(?: (?:allowed|input|prompt|number))*|limit|context(?!~overflow)|ctx|window|allow|permit|accept|support"
     r"|capacity|\b(?:at most|up to|only|holds?|handle|can|room|fit|available|below|under)\b|reached"
     rf"|should be|must be|cannot|[<≤])|(?P<beyond>{BEYOND})"
     r"|(?P<input>prompt|input|message|conversation|chat|history|\btext\b|current|keep)"
     r"|(?P<sent>request(?![\W_]?id)|total|n_tokens|result|sent|given|\bgot\b|received|provided|contain|needs?|require"
     r"|\b(?:has|have|comes to|used?)\b|estimate|actual|yours|overflow|too (?:long|large|many)"
     r"|(?<!max )(?<!maximum )(?<!allowed )token count"
     r"|(?:^|^[\dkm]\)? |[(,;.{\['\"] ?)(?:num_|n_|total[ _])?tokens?(?:[ _]count)? ?[:=])"),
)  # fmt: skip
LOWER_BOUND = r"(?:at least|passed) $"  # vLLM stops counting at the limit
INPUT_LIMIT = (
    r"(?:input|prompt)s?`?[ _](?:tokens?|length|must have)"
    r"(?:(?!context|window|model|output|completion|max_new|>)[^.\n])*\Z"
)

ECHOED_FIELDS = frozenset({"input", "inputs", "messages", "prompt", "content", "contents", "tools", "request"})
# How much is read: parts of a body, items of a part, characters at each end of a text and of JSON in a text.
MOST_PARTS, MOST_ITEMS, END_LENGTH, JSON_LENGTH = 1_000, 100, 3_000, 200_000
SENTENCE_BREAK = r"\n\s*(?-i:(?=[A-Z{(\[]))|(?<=[})\].])\s*\n"  # before or after a line that is a sentence

# Chinese is written without spaces: a word may begin anywhere. A longer phrase comes before its parts.
CHINESE = {
    "rate limit": r"频率|频繁|速率|限流|并发|分[钟鐘]|每[秒日天月]|今日|本月|配额|额度|余额|欠费|套餐|账户|超时",
    "characters": r"字[符节]",
    "context": r"上下文(?:窗口|最?大?长度)?",
    "too long": r"[过過太超][长長大多]了?|[放装]不下|已满|用尽",
    "exceeds": r"超[过過出越限标]|[大高长多]于|溢出",
    "less than": r"[小少低]于",
    "maximum": r"最[大长長高多]",
    "limit": r"上限|限[制额定度]|允许|支持|接受",
    "output": r"输出|生成|回复|回答|补全",
    "input": r"提示词?|输入|輸入|对话|会话|聊天|历史|消息|文本|内容|问题",
    "length": r"[长長]度|大小|数量|总数|数",
    "received": r"收到|当前|实际|包含",
}


def classify_overflow(status: int | None, body: Any) -> Overflow | None:
    """Return the figures of a refusal with this HTTP status and body, or ``None`` if it is no context overflow.

    ``body`` may be anything a server sends: an object, a list, JSON in a string, plain text, bytes.
    """
    return overflow_in(status, plain_text(body_parts(body)))


def overflow_in(status: int | None, text: str) -> Overflow | None:
    """Return what the plain text of a refusal says of the context window."""
    is_tier = _finds(PAID_TIER, text)
    if not is_tier and (status in OTHER_STATUS or _finds(RATE_LIMIT, text)):
        return None
    named = {"tokens"} if is_tier or _finds(OVERFLOW_CODE, text) else _exceeded(text)
    if named == {"size"} or not (named or _finds(TOKEN_TOPIC, text)):
        return None
    figures = _figures(text)
    limit, cap, sent, asked, excess = map(figures.get, ("limit", "cap", "input", "output", "excess"))
    total = figures.get("both", 0) if sent is None else sent + (asked or 0)
    if named or total >= (limit or total + 1) >= LEAST_LIMIT:
        return Overflow(limit, cap, sent, asked, excess, "bound" in figures)
    return None


def exceeds_size(status: int | None, text: str) -> bool:
    """Return whether a request that is no overflow was refused for its bytes, characters or memory.

    Smaller files or fewer turns may pass. That is any 413 that concerns no rate, and refusals that name such a size.
    """
    if status in OTHER_STATUS or _finds(RATE_LIMIT, text):
        return False
    return status == 413 or _exceeded(text) == {"size"}


class BodyPart(NamedTuple):
    """A value of a body, the name of its field, and how deep it lies."""

    depth: int
    name: str
    value: Any


def body_parts(body: Any) -> list[BodyPart]:
    """Return the parts of a body, the outermost first, without fields that repeat the request.

    ``body`` may be anything a server sends: an object, a list, JSON in a string, plain text, bytes.
    """
    found: list[BodyPart] = []
    queue = deque([BodyPart(0, "", body)])
    while queue and len(found) < MOST_PARTS:
        depth, name, value = queue.popleft()
        value = _opened(value)
        found.append(BodyPart(depth, name, value))
        if isinstance(value, dict):
            items = [(str(key)[:100], each) for key, each in islice(value.items(), MOST_ITEMS)]
        else:
            items = [(name, each) for each in value[:MOST_ITEMS]] if isinstance(value, list | tuple) else []
        queue.extend([BodyPart(depth + 1, key, each) for key, each in items if key not in ECHOED_FIELDS])
    return found


def _opened(value: Any) -> Any:
    """Return the value that bytes, or JSON in a string, stand for; any other value as it is."""
    if isinstance(value, bytes | bytearray):
        value = value.decode("utf-8", "replace")
    if isinstance(value, str) and len(value) < JSON_LENGTH and value.lstrip()[:1] in ("{", "[", '"'):
        with suppress(ValueError, RecursionError):
            return json.loads(value)
    return value


def plain_text(parts: list[BodyPart]) -> str:
    """Return the distinct texts of a body, and its numbers that may matter, a line each."""
    lines: dict[str, None] = {}
    for _, name, value in parts:
        if isinstance(value, str):
            lines[_plain(value)] = None
        elif type(value) is int and 0 <= value < 10**12 and compiled("token|ctx|context|code|status").search(name):
            lines[f"{name} {value}"] = None
    return _ends("\n".join(lines))


def _plain(text: str) -> str:
    """Return a text as one line of English words, without the marks of JSON, reprs, HTML and code."""
    text = re.sub(r"</?[A-Za-z][^<>]{0,200}>", " . ", unescape(_ends(text))).replace("\\", " \\")
    text = compiled(SENTENCE_BREAK).sub(" . ", text)
    text = re.sub(r"(?:\\+[nrt]|[\s\\#])+", " ", text)
    text = re.sub(r"""["']\w+["'] ?: ?(?=["'{\[])""", " . ", text)
    text = re.sub(r"(?<=[a-z])(?=[A-Z][a-z])", " ", text).replace("。", ". ")
    return re.sub(r"\s+", " ", in_english(text))


def _ends(text: str) -> str:
    return text if len(text) <= 2 * END_LENGTH else f"{text[:END_LENGTH]}\n{text[-END_LENGTH:]}"


def in_english(text: str) -> str:
    """Return a refusal with its Chinese words translated into English."""
    if text.isascii():
        return text
    for word, pattern in CHINESE.items():
        text = compiled(pattern).sub(f" {word} ", text)
    text = re.sub(r"(?<=\d)[\u3400-\u9fff]+", ", ", text)
    return re.sub(r"[\u3400-\u9fff]+", " ", text)


@cache
def compiled(pattern: str) -> re.Pattern[str]:
    """Return a compiled pattern. Most users never need one, so none is compiled at import."""
    return re.compile(pattern.replace("~", "[ _-]?"), re.I | re.M)


def _exceeded(text: str) -> set[str]:
    """Return what the clauses of a text say to be too much: "tokens" of the input or the context, or its "size"."""
    text = compiled(NUMBER).sub(lambda number: "#" if _value(number) >= LEAST_LIMIT else "0", text.lower())
    return set(filter(None, map(_exceeded_in, re.split(r"[.;!?\n]", text))))


def _exceeded_in(clause: str) -> str:
    named = {match.lastgroup for match in compiled(WORD).finditer(clause)}
    is_input, is_over = bool(named & {"context", "input"}), bool(named & {"over", "limit"})
    if is_over and is_input and "memory" in named:
        return "size"
    if is_over and "size" in named and not named & {"context", "tokens", "other", "output"}:
        return "size"
    if "output" in named and not named & {"input", "plus"}:
        return ""
    if named & {"other", "size", "memory"} and "context" not in named:
        return ""
    is_over = "over" in named or (is_over and bool(named & {"context", "number"}))
    is_too_long = is_over and (is_input or "tokens" in named)
    return "tokens" if is_too_long or ("shorten" in named and is_input) else ""


def _figures(text: str) -> dict[str, int]:
    """Return the number of each role that is clear; of two numbers with one role, the first."""
    text = compiled(ADDRESS).sub(" ", text)
    figures, unclear, end = dict[str, int](), list[tuple[str, int]](), 1
    for match in compiled(NUMBER).finditer(text):
        before = text[max(end - 1, match.start() - 60) : match.start()].rpartition("\n")[2]
        after = text[match.end() : match.end() + 40].partition("\n")[0]
        end, value, role = match.end(), _value(match), _role(before, after)
        if role in ("sent", "beyond") or value != figures.get(role, value):
            unclear.append((role, value))
        elif role not in ("", "none"):
            figures[role] = value
        if role in ("input", "sent") and _finds(LOWER_BOUND, before):
            figures["bound"] = 1
        if role in ("limit", "beyond") and _finds(INPUT_LIMIT, text[max(0, match.start() - 150) : match.start()]):
            figures["cap"] = value
    if "input" in figures:
        figures["input"] += figures.get("tools", 0)
    # what was sent is more than the limit, and what is exceeded comes first
    is_of_input = "output" not in figures and not _finds(OUTPUT_WORDS, text)
    for role, value in sorted(unclear):
        if "limit" not in figures and (role == "beyond" or value <= figures.get("input", 0) + figures.get("output", 0)):
            figures["limit"] = value
        elif is_of_input:
            figures.setdefault("input", value)
    return figures


def _role(before: str, after: str) -> str:
    """Return what a number is, as far as the words beside it tell."""
    for role, words in FIGURES:
        searched = f"{before}#{after}" if role else re.split(r"[.!?] |[{}]", before)[-1]
        for match in [*compiled(words).finditer(searched)][-1:]:
            return role or str(match.lastgroup)
    return ""


def _value(match: re.Match[str]) -> int:
    """Return the value of a number. A k is 1,000: where 1,024 is meant, the smaller value is the safe one."""
    number = re.sub(r"\D", "", match["whole"]) + (match["part"] or "")
    return round(float(number) * {"": 1, "k": 1e3, "m": 1e6}[(match["unit"] or "").lower()])


def _finds(pattern: str, text: str) -> bool:
    return compiled(pattern).search(text) is not None
