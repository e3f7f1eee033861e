"""Turn a provider's refusal into a ChatError that says what happened and what to do, without a key."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from html import unescape
from typing import Any

from ..context.overflow import BodyPart, Overflow, body_parts, exceeds_size, overflow_in, plain_text
from ..errors import (
    AuthenticationError,
    BudgetExceededError,
    ChatError,
    ContextOverflowError,
    ModelNotFoundError,
    ProviderError,
    RateLimitError,
)
from .base import NO_KEY, Endpoint

WORDS_FOR = {  # an error inside a stream carries a word instead of a status, Gemini's bad key one beside a 400
    401: "apikeyinvalid unauthenticated authentication invalidapikey",
    403: "permission permissiondenied",
    404: "notfound modelnotfound",
    429: (
        "ratelimit ratelimitexceeded ratelimitreached toomanyrequests resourceexhausted insufficientquota "
        "exceededcurrentquota budgetexceeded keylimitexceeded"
    ),
    500: "api server internal internalserver",
    502: "badgateway",
    503: "serviceunavailable unavailable",
    504: "deadlineexceeded gatewaytimeout",
    529: "overloaded engineoverloaded serveroverloaded",
}
STATUS_OF = {word: status for status, words in WORDS_FOR.items() for word in words.split()}
VAGUE = (None, 200, 400)
BUSY = frozenset({408, 409, 500, 502, 503, 504, 529})
TOO_LATE = frozenset({408, 504})  # of gateways that gave up what may be answered, and billed, all the same
MAX_RETRY_WAIT = 10.0  # seconds: a longer wait is the user's to decide
MAX_BODY, MAX_SHOWN = 4_000, 300  # characters of a provider's own words: that are read, that are shown
OWN_WORDS = (  # fields of a provider's own words; OpenRouter's "raw" is what the provider behind it said
    "raw", "message", "msg", "detail", "error_msg", "error_message", "errorMessage", "error", "errors", "title",
    "header", "details",
)  # fmt: skip
TIME_FIELDS = ("retryDelay", "retry_after")  # the first is in Gemini's RetryInfo
MARKS = ("reason", "code", "type", "status", "status_code")  # fields of codes and types
HTML_PAGE = r"(?i)<(?:!doctype|html|head|body)\b"
TITLE = r"(?is)<(title|h1)\b[^>]*>(.*?)</\1"

# Asking again does not help where nothing is left to spend, or where one request alone is above the limit. Money is out
# where a sentence names it and says that it is gone, or names a limit on use that money or a date lifts.
MONEY = r"(?i)\b(?:credits?\b|balance\b|funds|budget|spend|wallet|invoice|payment)|key limit|insufficient quota"
USE = r"(?i)\b(?:usage|quota|allowance|free tier|trial|subscription|billing)\b"
EXHAUSTED = (
    r"(?i)insufficient|not (?:\w+ )?enough|exhaust|deplet|consumed|exceed|reach(?:ed|ing)|\bhit\b|cross(?:ed|es)"
    r"|used (?:up|all)|\b(?:run|ran|are|is) out\b|out of|\bover\b|\blow\b|negative|below zero|empty|expired|overdue"
    r"|past due|unpaid|declined|(?:payment|credits?) required|requires more|suspended|not active|\bno (?:credit|fund)"
)
DATE = r"(?:\d{4}-\d\d-\d\d|\b\d{1,2} [A-Z][a-z]+ \d{4}|\b[A-Z][a-z]{2,8} \d{1,2}, \d{4})"
LIFTED_BY = rf"{DATE}|(?i:regain|top.?up|recharge|funds|billing|purchase|\bbuy\b|upgrade|credit|\bpaid\b)"
NOTHING_LEFT = r"(?i)quota exceeded[^.]{0,200}\blimit: 0\b|arrear|good standing|余额不足|欠费"  # the first is Gemini's
OF_A_RATE = r"(?i)rate.?limit|\b(?:per|a|each)[ -](?:sec|min|hour)|\b[rt]p[smd]\b|concurren"
OF_TOKENS = r"(?i)\b(?:thinking|reasoning|token|context)[ .]?budget"
NAME_IN_QUOTES = r"(['\"`])[\w.-]+\1"  # of a parameter or a field of the user's own, such as 'balance'
LONG_WAIT = 3_600.0  # seconds: a quota that is there again sooner is a rate limit
LIMIT_AND_REQUESTED = r"(?i)\blimit:? (\d[\d,]*)\b(?:(?!limit)[^.]){0,60}?\brequested:? (\d[\d,]*)"
UNIT_SECONDS = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3_600.0, "d": 86_400.0}
TIME = r"(\d+(?:\.\d+)?) ?(ms|s|m|h|d)(?:(?:ec|in|our|ay)[a-z]*|(?![a-z]))"
SPAN = rf"(?:{TIME}(?:,? (?:and )?)?)+"
RETRY_WORDS = rf"(?i)(?:try again|retry|wait|available again|resets?|come back)[ a-z:=]{{0,30}}?\b({SPAN})"


class Refusal(Exception):  # noqa: N818 (the word for it)
    """What arrived instead of an answer, or in one: the HTTP status, where there was one, the body and the headers.

    ``marks``: the codes and types of the error, the innermost first.
    ``code``: the status; where that says little, the status that the error's code stands for.
    ``text``, ``words``: what the provider says, in one line: its innermost message; what is shown of it.
    ``parameter``: the name in the field that OpenAI's errors have for the parameter that is refused.
    ``places``: the text, with the places in the request that FastAPI names beside it.
    ``retry_after``: seconds to wait, where the provider names them: in a header, in a field, or in words.
    """

    def __init__(self, status: int | None, body: Any, headers: Mapping[str, str] | None = None) -> None:
        super().__init__(f"status {status}")
        self.status, self.body, self.headers = status, body, headers or {}
        self._parts = parts = body_parts(body)
        messages = [each for each in _values(parts, OWN_WORDS) if isinstance(each, str)]
        whole = parts[0].value if isinstance(parts[0].value, str) else body
        said = next(filter(None, messages), whole)
        self.marks = _values(parts, MARKS)
        self.parameter = next((str(each) for each in _values(parts, ("param",)) if each), "")
        self.text = " ".join(_without_page(str(said or "")[:MAX_BODY]).split())
        self.words = self.text[:MAX_SHOWN]
        self.places = " ".join([self.text, *re.findall(r'"loc": ?\[([^\]]*)\]', str(body)[:MAX_BODY])])
        codes = [code for code in map(_as_status, self.marks) if code]
        is_clear = status not in VAGUE and not (status == 413 and 429 in codes)  # Groq: tokens a minute
        self.code = status if is_clear else next(iter(codes), status)
        self.retry_after = _wait_in((self.headers.get("retry-after"), *_values(parts, TIME_FIELDS)), self.text)

    @cached_property
    def overflow(self) -> Overflow | None:
        """What is said of the context window; ``None`` where it is about something else."""
        return overflow_in(self.status, plain_text(self._parts))

    @property
    def exceeds_size(self) -> bool:
        """Whether the request has too many bytes or characters, or needs too much memory."""
        return self.overflow is None and exceeds_size(self.status, plain_text(self._parts))

    @property
    def too_large(self) -> tuple[int, int] | None:
        """The limit in tokens a minute and the tokens of this request, where it alone exceeds the limit."""
        is_rate = self.code in (413, 429) or re.search(OF_A_RATE, self.text)
        found = re.search(LIMIT_AND_REQUESTED, self.text) if is_rate else None
        if found is None:
            return None
        limit, requested = (int(number.replace(",", "")) for number in found.groups())
        return (limit, requested) if requested > limit else None

    @cached_property
    def is_unpaid(self) -> bool:
        """Whether credit is missing, or a quota that waiting does not restore."""
        marks = (str(mark)[:MAX_SHOWN] for mark in self.marks)
        said = ". ".join((*marks, re.sub(NAME_IN_QUOTES, "…", self.text))).replace("_", " ")
        if self.overflow or self.code in (404, 405, *TOO_LATE):
            return False
        if self.status == 402 or re.search(NOTHING_LEFT, said):
            return True
        if re.search(OF_A_RATE, self.text) or re.search(OF_TOKENS, self.text):
            return False
        exhausted = [sentence for sentence in re.split(r"[.!?;]\s", said) if re.search(EXHAUSTED, sentence)]
        if any(re.search(MONEY, sentence) for sentence in exhausted):
            return True
        lasts = self.retry_after is None or self.retry_after > LONG_WAIT
        return lasts and any(re.search(USE, each) for each in exhausted) and bool(re.search(LIFTED_BY, said))

    def wait(self, delay: float) -> float | None:
        """Return the seconds to wait before a retry, ``delay`` where none are named; ``None``: no retry."""
        passes = self.code in (429, *BUSY) and not (self.overflow or self.too_large or self.is_unpaid)
        if not passes or self.exceeds_size:  # of memory, with a 500
            return None
        seconds = delay if self.retry_after is None else self.retry_after
        return seconds if seconds <= MAX_RETRY_WAIT else None

    def error(self, at: Endpoint, left: str = "") -> ChatError:
        """Return the ChatError for this refusal; ``left``: what is left with the key, in words."""
        where, model, overflow = at.shown_name, at.model, self.overflow
        said = (self.words or "it said no more").rstrip(".")
        if overflow:
            used, limit = overflow.input_tokens, overflow.context_window
            return ContextOverflowError(self.words, used=used, limit=limit, overflow=overflow)
        if self.is_unpaid:
            then = left or "Asking again does not help: see its billing"
            return BudgetExceededError(
                f"{where} has no credit or budget left for this key ({said}). {then}.", status=self.status
            )
        if self.too_large:
            limit, requested = self.too_large
            return RateLimitError(
                f"{where} takes {limit:,} tokens a minute, and this request alone is {requested:,} ({said}). Waiting "
                f"does not help: send a shorter prompt, let %chat config compact_at {4 * limit // 5} (or max_turns N) "
                "leave out older turns, or ask for a higher limit there.",
                helps_to_wait=False,
            )
        if self.code == 429:
            seconds = self.retry_after
            when = f"in {seconds:.{0 if seconds >= 1 else 2}f} s" if seconds else "later"
            return RateLimitError(f"Too many requests ({said}): try again {when}.", retry_after=seconds)
        if self.exceeds_size:
            return ContextOverflowError(said, overflow=Overflow(), by_bytes=True)
        if self.code in (401, 403):
            what = "wants a key, and none was given" if at.api_key == NO_KEY else "rejected the key"
            return AuthenticationError(f"{where} {what} ({said}): %chat key {at.name or where} asks for one.")
        if self.code == 404 and at.self_hosted and not re.search(rf"(?i)\bmodels?\b|{re.escape(model)}", self.text):
            text = f"Nothing answers at {where} ({said}): is the address right? Most end in /v1."
            return ModelNotFoundError(text, model=model)
        if self.code == 404:
            return ModelNotFoundError(f"{model} is not served at {where} ({said}).", model=model)
        again = " Try again later." if self.code in BUSY else ""
        return ProviderError(f"{where} refused ({self.status or 'in the stream'}): {said}.{again}", status=self.code)


def _values(parts: list[BodyPart], names: Sequence[str]) -> list[Any]:
    """Return the texts and numbers in fields of these names, the innermost first, there in the order of names."""
    fields = [part for part in parts if part.name in names and type(part.value) in (str, int, float)]
    return [part.value for part in sorted(fields, key=lambda part: (-part.depth, names.index(part.name)))]


def _without_page(text: str) -> str:
    """Return a text as it is; a web page is replaced by its title."""
    if not re.search(HTML_PAGE, text):
        return text
    title = re.search(TITLE, text)
    said = re.sub(r"<[^>]*>", " ", unescape(title[2][:MAX_SHOWN])).strip() if title else ""
    return f"a web page instead of an answer: {said}" if said else "a web page instead of an answer"


def _as_status(mark: Any) -> int | None:
    if isinstance(mark, str):
        name = re.sub(r"[^a-z]", "", mark[:60].lower()).removesuffix("error")
        return STATUS_OF.get(name) or (int(mark) if re.fullmatch(r"[45]\d\d", mark) else None)
    return mark if type(mark) is int and 400 <= mark < 600 else None


def _wait_in(values: Iterable[Any], text: str) -> float | None:
    """Return the seconds in a header or a field, else in words such as "try again in 1m3.5s"."""
    for value in (str(value)[:MAX_SHOWN] for value in values):
        if re.fullmatch(r"\d{1,9}(\.\d+)?", value):
            return float(value)
        if re.fullmatch(SPAN, value):
            return _seconds(value)
    found = re.search(RETRY_WORDS, text)
    return _seconds(found[1]) if found else None


def _seconds(span: str) -> float:
    return sum(float(number) * UNIT_SECONDS[unit] for number, unit in re.findall(TIME, span.lower()))
