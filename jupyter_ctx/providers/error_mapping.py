"""Turn a provider's refusal into a ChatError that says what happened and what to do, without a key."""

from __future__ import annotations

import re
from collections.abc import Mapping
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
HTML_PAGE = r"(?i)<(?:!doctype|html|head|body)\b"
TITLE = r"(?is)<(title|h1)\b[^>]*>(.*?)</\1"

# Waiting does not help where nothing is left to spend, or where one request alone is above the limit. Money is out
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
    """What arrived instead of an answer, or in one: the HTTP status, where there was one, the body and the headers."""

    def __init__(self, status: int | None, body: Any, headers: Mapping[str, str] | None = None) -> None:
        super().__init__(f"status {status}")
        self.status, self.body, self.headers = status, body, headers or {}

    @cached_property
    def parts(self) -> list[BodyPart]:
        """The parts of the body, the outermost first."""
        return body_parts(self.body)

    @cached_property
    def plain(self) -> str:
        """What the body says, in plain English."""
        return plain_text(self.parts)

    def _values(self, *names: str) -> list[Any]:
        """Return the texts and numbers in fields of these names, the innermost first, there in the order of names."""
        fields = [part for part in self.parts if part.name in names and type(part.value) in (str, int, float)]
        return [part.value for part in sorted(fields, key=lambda part: (-part.depth, names.index(part.name)))]

    @cached_property
    def code(self) -> int | None:
        """The status; where that says little, the status that the error's code stands for."""
        codes = [code for code in map(_as_status, self.marks) if code]
        if self.status not in VAGUE and not (self.status == 413 and 429 in codes):  # Groq: tokens a minute
            return self.status
        return next(iter(codes), self.status)

    @cached_property
    def text(self) -> str:
        """What the provider says, in one line: its innermost message."""
        messages = [value for value in self._values(*OWN_WORDS) if value and isinstance(value, str)]
        whole = self.parts[0].value
        said = next(iter(messages), whole if isinstance(whole, str) else self.body)
        return " ".join(_without_page(str(said or "")[:MAX_BODY]).split())

    @cached_property
    def marks(self) -> list[Any]:
        """The codes and types of the error, the innermost first."""
        return self._values("reason", "code", "type", "status", "status_code")

    @cached_property
    def parameter(self) -> str:
        """The name in the field that OpenAI's errors have for the parameter that is refused."""
        return next((str(value) for value in self._values("param") if value), "")

    @cached_property
    def places(self) -> str:
        """The text, with the places in the request that FastAPI names beside it."""
        return " ".join([self.text, *re.findall(r'"loc": ?\[([^\]]*)\]', str(self.body)[:MAX_BODY])])

    @property
    def words(self) -> str:
        """The provider's own words, as they are shown."""
        return self.text[:MAX_SHOWN]

    @cached_property
    def overflow(self) -> Overflow | None:
        """What the refusal says of the context window; ``None`` where it is about something else."""
        return overflow_in(self.status, self.plain)

    @property
    def exceeds_size(self) -> bool:
        """Whether the request has too many bytes or characters, or needs too much memory."""
        return self.overflow is None and exceeds_size(self.status, self.plain)

    @cached_property
    def retry_after(self) -> float | None:
        """Seconds to wait, where the provider names them: in a header, in a field, or in words."""
        named = map(_time_of, (self.headers.get("retry-after"), *self._values(*TIME_FIELDS)))
        times = (*named, _time_in_words(self.text))
        return next((seconds for seconds in times if seconds is not None), None)

    @cached_property
    def too_large(self) -> tuple[int, int] | None:
        """The limit in tokens a minute and the tokens of this request, where the request alone exceeds the limit."""
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

    def wait(self, delay: float, unnamed: float | None) -> float | None:
        """Return the seconds to wait before a retry, or ``None``: no retry.

        Where the refusal names no time, ``delay`` is for a busy server, ``unnamed`` for a rate limit.
        """
        passes = self.code in (429, *BUSY) and not (self.overflow or self.too_large or self.is_unpaid)
        if not passes or self.exceeds_size:  # of memory, with a 500
            return None
        if self.retry_after is not None:
            return self.retry_after if self.retry_after <= MAX_RETRY_WAIT else None
        return unnamed if self.code == 429 else delay

    def error(self, at: Endpoint, left: str = "") -> ChatError:
        """Return the ChatError for this refusal; ``left``: what is left with the key, in words."""
        where, model, said = at.shown_name, at.model, (self.words or "it said no more").rstrip(".")
        if self.overflow:
            return ContextOverflowError(
                self.words, used=self.overflow.input_tokens, limit=self.overflow.context_window, overflow=self.overflow
            )
        if self.is_unpaid:
            then = f"{left}." if left else "Waiting does not help: see its billing."
            then = "To go on before that date, see its billing." if re.search(DATE, said) and not left else then
            text = f"{where} has no credit or budget left for this key ({said}). {then}"
            return BudgetExceededError(text, status=self.status)
        if self.too_large or self.code == 429:
            return self._limited(where, said)
        if self.exceeds_size:
            return ContextOverflowError(said, overflow=Overflow(), by_bytes=True)
        if self.code in (401, 403):
            another = f"%chat key {at.name or where}".partition("?")[0]
            if at.api_key == NO_KEY:
                return AuthenticationError(f"{where} wants a key, and none was given ({said}): {another} asks for it.")
            return AuthenticationError(f"{where} rejected the key ({said}): {another} asks for another.")
        if self.code == 404 and at.self_hosted and not re.search(rf"(?i)\bmodels?\b|{re.escape(model)}", self.text):
            text = f"Nothing answers at {where} ({said}): is the address right? Most end in /v1."
            return ModelNotFoundError(text, model=model)
        if self.code == 404:
            return ModelNotFoundError(f"{model} is not served at {where} ({said}).", model=model)
        again = " Try again later." if self.code in BUSY else ""
        is_page = self.status is None and re.search(HTML_PAGE, str(self.body)[:MAX_BODY])
        again = " Is that the address of its API?" if is_page else again
        return ProviderError(f"{where} refused ({self.status or 'in the stream'}): {said}.{again}", status=self.code)

    def _limited(self, where: str, said: str) -> ChatError:
        """Return the error for a rate limit, which says whether waiting helps, and what else does."""
        if self.too_large:
            limit, requested = self.too_large
            return RateLimitError(
                f"{where} takes {limit:,} tokens a minute, and this request alone is {requested:,} ({said}). Waiting "
                f"does not help: send a shorter prompt, let %chat config compact_at {4 * limit // 5} (or max_turns N) "
                "leave out older turns, or ask for a higher limit there.",
                helps_to_wait=False,
            )
        when = f"in {_seconds(self.retry_after)}" if self.retry_after else "later"
        return RateLimitError(f"Too many requests ({said}): try again {when}.", retry_after=self.retry_after)


def _seconds(seconds: float) -> str:
    return f"{seconds:.0f} s" if seconds >= 1 else f"{seconds:.2g} s"


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


def _time_of(value: Any) -> float | None:
    """Return the seconds in a header or a field: a number of them, or one with a unit."""
    text = str(value)[:MAX_SHOWN] if type(value) in (int, float, str) else ""
    if re.fullmatch(r"\d{1,9}(\.\d+)?", text):
        return float(text)
    return _sum(text) if re.fullmatch(SPAN, text) else None


def _time_in_words(text: str) -> float | None:
    """Return the seconds in words such as "try again in 1m3.5s"."""
    found = re.search(RETRY_WORDS, text)
    return _sum(found[1]) if found else None


def _sum(span: str) -> float:
    return sum(float(number) * UNIT_SECONDS[unit] for number, unit in re.findall(TIME, span.lower()))
