"""Find secrets in text by what they look like and by the names that they stand under, and blank them.

Whatever leaves the kernel uses this: prompts, attachments, errors, exports and records. A secret is

- a text shaped like one: the key of a provider, a private key (PEM, OpenSSH, PGP, PuTTY), a JWT, a password in an
  address, the credentials of a header;
- a value of an environment variable that is named like one, and any key in use;
- whatever stands under a name such as ``password`` or ``api_key``, but placeholders, code and truth values. A bare
  ``token`` is also a word of a text, ``auth`` a section and ``X_KEY`` a label: texts under these are secrets if they
  look random, numbers and bytes only under ``token``; ``pass`` is a result, and ``pin`` a part of a chip.

What several values hold together (the lines of a private key, a name and its value) is learned from them at first, and
then blanked wherever it stands.

Every search takes time in proportion to the text: repetitions are bounded or cannot overlap.
"""

from __future__ import annotations

import os
import re
from base64 import b64decode
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal
from functools import lru_cache
from inspect import getattr_static
from itertools import chain, islice, zip_longest
from typing import Any, TypeGuard
from urllib.parse import urlsplit

from ..errors import InvalidRequestError

Span = tuple[int, int]
BLANKED = "***"
_MIN_VALUE = 12  # characters of an environment variable's value: a shorter one may be any word
_MIN_KEY = 8  # characters of a key in use: what stands for one where a server needs none is shorter, such as EMPTY
_BEGINNING = 16  # characters at the start of a long key that identify it: a printed table cuts long texts
_LONGEST_BLOCK = 20_000  # characters of a private key
_MOST_JUDGED = 400  # characters of a value that tell whether it is secret
_MOST_LISTED = 600  # characters of a list or tuple in brackets that is looked through
_MOST_LEARNED = 50_000  # parts of a value that are looked through for what they hold together
_LEARNED_DEPTH = 12  # levels of values in values
_LEARNED_ENDS = 1_000  # characters at both ends of a text that are looked at together with its neighbours
_LEARNED_TEXT = 2_000_000  # characters of all of these
_LEAST_LEARNED = 3  # characters of a learned text
_GAP = 200  # characters between two lines of a private key, where some are left out


class LatePattern:
    """A regular expression that is compiled when it is first used: most texts have nothing that would need it."""

    def __init__(self, pattern: str) -> None:
        self._pattern = pattern

    def __getattr__(self, name: str) -> Any:
        method = getattr(re.compile(self._pattern), name)
        setattr(self, name, method)
        return method


# names

_NAME = re.compile(
    r"""(?x)(?:^|_)(?:
    \w{0,20}passw(?:or[dt]|d)?s? | pass(?:phrase|code|wd)s? | \w{0,20}pwd | \w{1,20}_pw | kennwort | contrasena | senha
    | (?:db|sql|pg|my|user|admin|root|login|smtp|mail|imap|ftp|ssh)\w{0,9}_pass | \w{0,20}secrets? | \w{0,9}creds?
    | \w{0,20}credentials? | (?:proxy_?)?authorization | (?:session|login|auth|access)_?cookies? | mnemonic
    | (?:seed|recovery|backup|mfa)_(?:phrase|codes?)
    | (?:api|access|private|secret|sign(?:ing)?|(?:en|de)cryption|ssh|gpg|pgp|hmac|aes|rsa|license|consumer|session
      |subscription|auth|deploy|fernet|account|master|storage|admin|webhook|hf|openai|anthropic|azure|gemini
      )_?keys?(?:_?id)?
    | (?:access|auth|api|refresh|bearer|session|id|bot|sas|security|personal|deploy|oauth2?|csrf|xsrf|jwt|app|hf
      |gh|github|gitlab|slack|telegram|discord|vault|npm|pypi)_?token )$"""
)
_TOKEN = re.compile(r"(?:^|_)(?<!pad_)(?<!bos_)(?<!eos_)(?<!unk_)(?<!sep_)(?<!cls_)(?<!mask_)token$")
_AMBIGUOUS = re.compile(r"(?:^|_)(?:auth|pat|cookie|sas|sid|jwt|bearer|key(?:_?id)?)$")
_SHORT = re.compile(r"(?:^|_)(pin|totp|otp)$|^(?:pass|pw)$")
_COUNTED = re.compile(r"(?:n|nb|nums?|number|count|max|min|len|total|avg|mean|is|has|had|no|public|primary|foreign)_")
_PARTS = re.compile(r"[A-Z]+s?(?![a-z])|[A-Z]?[a-z]+|\d+")
_SUFFIX = re.compile(r"(?:_(?:\d+|value|text|str|bytes|prod|dev|test|staging|old|new|base64|b64|hash))+$")
_NAME_LABELS = (
    "name", "key", "variable", "var", "setting", "option", "property", "parameter", "header", "field", "env",
)  # fmt: skip
_VALUE_LABELS = ("value", "val", "content", "default", "data")


@lru_cache(4096)
def _kind(name: str) -> str:
    """Return "secret", "token", "pass", "pin" or "ambiguous" for a name that may stand for a secret, else ""."""
    section, _, _ = name.rpartition(".")
    is_in_section = section.count(".") > 1 and bool(_kind(section))  # account.key.NAME: the last part is the user's
    return _kind_of_last(name) or ("ambiguous" if is_in_section else "")


def _kind_of_last(name: str) -> str:
    """Return the kind that the last words of a name have."""
    parts = _PARTS.findall(name[-100:])
    joined = _SUFFIX.sub("", "_".join(parts).lower())
    if not 0 < len(parts) <= 8 or len(name.split()) > 4 or _COUNTED.match(joined):
        return ""
    if _NAME.search(joined) or (name.isupper() and re.search(r"_(?:pass|pat)$", joined)):
        return "secret"
    if _TOKEN.search(joined):
        return "secret" if name.isupper() and len(parts) > 1 else "token"
    short = _SHORT.search(joined)
    if short:
        return "pin" if short[1] else "pass"
    is_key = joined.endswith(("key", "key_id"))
    return "ambiguous" if _AMBIGUOUS.search(joined) and (not is_key or name.isupper()) else ""


def names_a_secret(name: object) -> bool:
    """Return whether a name says that what stands under it is secret."""
    return isinstance(name, str) and _kind(name) == "secret"


def names_beside(labels: Sequence[object] | None, values: Sequence[object]) -> list[object]:
    """Return the names that values stand under: their labels, or names that stand beside them.

    ``{"name": "API_KEY", "value": …}`` has the one, ``("API_KEY", …)`` (without labels) the other.
    """
    if labels is None:
        if len(values) != 2 or not _is_text(values[0]) or not _kind(values[0]):
            return [None] * len(values)
        value = values[1]
        is_count = _is_number(value) and abs(value) < 1000
        is_word = type(values) is list and _is_text(value) and value.isalpha()  # such lists are of names
        return [None, None if is_count or is_word else values[0]]
    if not _is_paired(labels):
        return list(labels)
    pairs = zip(labels, values, strict=False)
    beside = [value for label, value in pairs if _is_label(label, _NAME_LABELS) and _names_anything(value)]
    return [beside[0] if beside and _is_label(label, _VALUE_LABELS) else label for label in labels]


def _is_paired(labels: Iterable[object]) -> bool:
    """Return whether one of these labels is for names, and one for values."""
    words = {str(label).lower() for label in labels if _is_text(label)}
    return not words.isdisjoint(_NAME_LABELS) and not words.isdisjoint(_VALUE_LABELS)


def _is_label(label: object, words: Sequence[str]) -> bool:
    return _is_text(label) and str(label).lower() in words


def _names_anything(value: object) -> bool:
    levels = value if type(value) is tuple else (value,)  # of a label of pandas
    return any(_is_text(level) and _kind(level) for level in levels)


def _is_text(value: object) -> TypeGuard[str]:
    return issubclass(type(value), str)  # isinstance may run code of the value's class


def _is_number(value: Any) -> TypeGuard[float]:
    kind = type(value)
    if kind is int or kind is float or kind is Decimal:
        return True
    is_of_numpy = _library(kind) == "numpy" and hasattr(value, "dtype")
    return bool(is_of_numpy and value.dtype.kind in "iuf" and not value.ndim)


def _library(kind: type) -> str:
    """Return the package of a class, without code of its metaclass."""
    module = type.__dict__["__module__"].__get__(kind)
    return module.partition(".")[0] if type(module) is str else ""


def signs_an_address(name: str) -> bool:
    """Return whether a parameter of an address may be a key, or sign the address."""
    return bool(_kind(name)) or _SIGNED.fullmatch(name) is not None


def without_address_keys(text: str) -> str:
    """Remove what may be a key from the addresses in a text: ``user:password@`` and what follows a ``?``."""
    return _ADDRESS_KEYS.sub("", text)


def checked_address(address: str) -> str:
    """Return an address that may be used and shown, without "/" at its end.

    Raises InvalidRequestError where it is not http(s), and where it has a user, parameters, or what looks like a key.
    """
    try:
        parts = urlsplit(address.strip())
    except ValueError:
        parts = urlsplit("")
    if parts.username or parts.password or parts.query or parts.fragment or Redactor().hold(address):
        raise InvalidRequestError(
            "An address must not contain a password, a key or other parameters, because addresses are shown: "
            "enter the key with %chat key."
        )
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise InvalidRequestError(f"{address!r} is not a valid address: use --base-url http://HOST:PORT/v1.")
    return address.strip().rstrip("/")


_ADDRESS_KEYS = re.compile(r"(?<=://)[^\s/@]*@|(?<=\S)\?\S+")

# values

_FLAGS = frozenset(("0", "1", "yes", "no", "true", "false", "y", "n", "on", "off"))
_WORDS = _FLAGS | frozenset(  # that stand where a secret would, or where none is needed
    re.findall(
        r"\S+",
        """
    none null nil undefined required optional missing invalid expired incorrect wrong empty hidden
    redacted removed masked example placeholder password passwd secret secrets token credentials key apikey
    changeme change-me change_me change_it dummy fake anything not-needed no-key-required sk-no-key-required
    lm-studio todo tbd unset str string text bytes int integer float number object bool boolean any char varchar
    secretstr bearer basic self default inherit vault keyring env prompt stdin
""",
    )
)
_PROSE = LatePattern(
    r"(?i)\b(?:the|a|an|your|of|to|is|are|was|must|be|for|and|or|with|not|in|this|that|please|from|if|at|by|has)\b"
)
_PLACEHOLDER = LatePattern(
    r"(?ix)[*x.…•_\-\#?]+ | \$[({].* | \$(?-i:[A-Z_][A-Z0-9_]*) | [<{\[%].*[>}\])%] | %[sdr] | .*(?:\$\{|\{\{|<[a-z]).*"
    r" | (?-i:[A-Z]+(?:_[A-Z]+)+) | (?:your|insert|replace|enter|put|example|dummy|fake)[-_ ].* | .*(?:\.\.\.|…)"
    r" | my[-_](?:api[-_])?(?:secret|key|token|password)[\w-]{0,4} | sk-\.{2,}.*"
)
_SCHEME = LatePattern(r"(?i)(?:bearer|basic|token|digest|negotiate|apikey|aws4-hmac-sha256)\s+")
_PATH = LatePattern(
    r"(?i)/(?:home|root|users|usr|etc|var|tmp|opt|mnt|srv|run|app|content|workspace)(?:/[\w.-]*)*"
    r"|(?:~|\.{0,2})/[\w.-]+(?:/[\w.-]+)*\.\w{1,6}|[A-Za-z]:\\.*"
)
_CODE = LatePattern(r"[A-Za-z_][\w.]*+[(\[]|(?:[A-Za-z_]+\.)+[A-Za-z_]+$|(?:await|lambda|not|if)\b")
_CHANGE = LatePattern(r"(?<=[A-Za-z])(?=\d)|(?<=\d)(?=[A-Za-z])")
_MIXED = LatePattern(r"(?=\D*\d)(?=[^A-Za-z]*[A-Za-z])[^\s/\\:]{5,100}")
_SENTENCE_END = LatePattern(r"[A-Za-z]+[.!?]")
_MARKED = LatePattern(r"(?:tok|key|sec|pat|sess)_\w{8}")
_COLLECTIONS = (list, tuple, set, frozenset, dict)


def _is_secret_text(value: str, kind: str, *, bare: bool = False) -> bool:
    """Return whether a text under a name of this kind is a secret; ``bare``: it stands in no quotes."""
    value = _SCHEME.sub("", value[:_MOST_JUDGED].strip().rstrip(",;"), count=1)
    if (
        len(value) < 3
        or value.lower().rstrip(".!?") in _WORDS
        or _PLACEHOLDER.fullmatch(value)
        or _PATH.fullmatch(value)
    ):
        return False
    if kind != "secret":
        return _looks_secret(value, kind)
    if bare and _SENTENCE_END.fullmatch(value):
        return False
    if " " in value and _PROSE.search(value):
        return False
    return not (bare and _CODE.match(value))


def _looks_secret(value: str, kind: str) -> bool:
    """Return whether a text under a name that is not always one of a secret looks like one."""
    if kind == "pin":
        return value.isdigit() and 4 <= len(value) <= 8
    if kind == "pass":
        return _MIXED.fullmatch(value) is not None
    return _looks_random(value) or (kind == "token" and value.isdigit() and len(value) >= 6)


def _looks_random(value: str) -> bool:
    """Return whether a text is no word: it changes between letters and digits, or is long and has both."""
    if len(value) < 8 or not value.isascii() or not value.isprintable() or " " in value:
        return False
    changes = len(_CHANGE.findall(value[:400]))
    return changes >= 2 or (changes == 1 and len(value) >= 16) or _MARKED.match(value) is not None


def _is_missing(value: object) -> bool:
    """Return whether a value is NaN or another missing value, or an empty collection."""
    if isinstance(value, (bytes, bytearray, *_COLLECTIONS)):
        return not value
    return type(value).__name__ in ("NAType", "NaTType") or (isinstance(value, float) and value != value)


def _is_file(value: str) -> bool:
    return value.startswith(os.sep) and os.path.isfile(value)


# shapes: each finder yields where secrets are, and runs where one of its words is in the text

_LONG = r"(?:[\w-]{0,80}?[A-Za-z0-9]{16}|(?=[A-Za-z_-]{0,40}\d)[\w-]{12})"  # letters and digits, or a name with a digit
_SHAPES = LatePattern(
    rf"""(?x)(?<![A-Za-z0-9])(?=[\w$.:/-]{{12}})(?:A[KS]IA[A-Z0-9]{{16}}["']?[\s,:;"'|]{{1,6}}[A-Za-z0-9/+]{{40}}(?![\w/+])
    | (?:
    (?:[srp]k[-_]|(?:xai|nvapi|pplx|csk|gl(?:pat|rt|dt|cbt|ptt|soat)|pypi|tvly|pul|PMAK|GOCSPX|sq0[ac]..?|AGE-SECRET-KEY
      |pa|key|ATCTT3x?)-){_LONG}
    | (?:gh[pousr]|github_pat|hf|api_org|gsk|npm|r8|lsv2|do[opr]_v1|tgp|whsec|shp(?:at|ss|ca|pa)|lin_api|ntn|ph[cx]
      |rubygems|sb[ps]|sb_secret|fw|pcsk|jina|vcp|fm2)_(?:v1_|[sp][kt]_)?[A-Za-z0-9]{{16}}
    | (?:dckr_pat|figd|sntrys)_[\w-]{{20}} | secret_[A-Za-z0-9]{{30}}
    | AIza[\w-]{{20}} | A[KS]IA[A-Z0-9]{{12}} | xox[a-z]-[\w-]{{10}} | xapp-[\w-]{{10}} | ya29\.[\w-]{{20}}
    | 1//0[\w-]{{30}} | SG\.[\w-]{{16}} | hv[sb]\.[\w-]{{20}} | ATATT3[\w-]{{20}} | dapi[0-9a-f]{{32}}
    | \d{{8,10}}:AA[\w-]{{30}}
    | hooks\.slack\.com/(?:services|workflows|triggers)/\w | discord(?:app)?\.com/api/webhooks/\d+/\w
    | webhook\.office\.com/\w )[\w./-]*+=*+
    | (?<![\w-])eyJ[\w-]{{8,}}+(?:\.[\w-]*+){{1,4}} | \$(?:2[abxy]|[156y]|argon2id?)\$[\w./$=,+-]{{20,}}+)"""
)
_BLOCK = LatePattern(
    r"(?P<begin>-{4,5} ?BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY|Private-Lines: ?\d)"
    r"|-{4,5} ?END [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)? ?-{0,5}|Private-(?:MAC|Hash): ?\w{0,128}"
)
_STARTS = LatePattern(r"(?<![^\W_])|(?![^\W_])")  # places that are not within a word or number
_LINE_OF_A_BLOCK = LatePattern(r"[A-Za-z0-9+/=]{16,}+")
_DELIMITERS = (",", "\t", ";", "|")
_HEAD = LatePattern(r"[\w.-]{0,60}")
_QUOTED_TABLE = LatePattern(r"""(["'])((?:[\w. -]{0,60}+[,\t;|])++[\w. -]{0,60}+\n(?:(?!\1)[^\\]|\\.)++)""")
_BASIC = LatePattern(r"(?i)\bbasic\s{1,3}([\w+/-]{8,}+={0,2})")
_CURL = LatePattern(r"""\s(?:-u|--user|--proxy-user)[ =]?["']?[^\s:"']{1,80}:([^\s"']{3,200})""")
_FLAG = LatePattern(r"""(?<![\w-])--([\w-]{2,60})\s{1,3}(?![-|\[(])["']?([^\s"'<>]{3,400})""")


def _blocks(text: str) -> Iterator[Span]:
    """Yield private keys from their first line to their last, also where the one or the other was cut off."""
    end = 0
    marks = list(_BLOCK.finditer(text))
    for mark, after in zip_longest(marks, marks[1:]):
        if mark["begin"] and after is not None and not after["begin"] and after.start() - mark.end() < _LONGEST_BLOCK:
            yield mark.start(), after.end()
            end = after.end()
        elif mark["begin"]:
            stop = min(after.start() if after else len(text), mark.end() + _LONGEST_BLOCK)
            yield mark.start(), _reach(mark.end(), _LINE_OF_A_BLOCK.finditer(text, mark.end(), stop))
        elif mark.end() > end:
            start = max(end, mark.start() - _LONGEST_BLOCK)
            lines = [match.span() for match in _LINE_OF_A_BLOCK.finditer(text, start, mark.start())]
            first = mark.start()
            for begin, stop in reversed(lines):
                first = begin if first - stop <= _GAP else first
            yield first, mark.end()
            end = mark.end()


def _reach(end: int, lines: Iterable[re.Match[str]]) -> int:
    """Return where the lines of a private key end that follow a place."""
    for line in lines:
        if line.start() - end > _GAP:
            break
        end = line.end()
    return end


def _delimited(text: str) -> Iterator[Span]:
    """Yield the cells under names of secrets in delimited tables, such as CSV: in a whole text, or a quoted one."""
    yield from _cells(text)
    for match in _QUOTED_TABLE.finditer(text):
        start = match.end(1)
        yield from ((start + begin, start + end) for begin, end in _cells(text[slice(*match.span(2))]))


def _cells(text: str) -> Iterator[Span]:
    head, _, rest = text.removeprefix("\ufeff").partition("\n")
    for delimiter in _DELIMITERS:
        names = [name.strip().strip("\"'") for name in head.split(delimiter)]
        if len(names) < 2 or not all(map(_HEAD.fullmatch, names)) or rest.partition("\n")[0].count(delimiter) < 1:
            continue
        is_paired = _is_paired(names)
        cell = re.compile(rf'"(?:[^"]|"")*+"|[^{re.escape(delimiter)}\n]*+')
        at = len(text) - len(rest)
        while (is_paired or any(map(_kind, names))) and at < len(text):
            cells = list[re.Match[str]]()
            for match in iter(lambda: cell.match(text, at), None):  # noqa: B023
                cells.append(match)
                at = match.end() + 1
                if text[match.end() : at] != delimiter or len(cells) == len(names):
                    break
            values = [match[0].strip().strip('"') for match in cells]
            for name, value, match in zip(names_beside(names, values), values, cells, strict=False):
                kind = _kind(str(name))
                if kind and _is_secret_text(value, kind):
                    yield match.span()
            if text[at - 1 : at] != "\n":
                at = text.find("\n", at - 1) + 1 or len(text)
        return


def _basic(text: str) -> Iterator[Span]:
    """Yield the words after "basic" that decode to user:password."""
    for match in _BASIC.finditer(text):
        try:
            pair = b64decode(match[1], validate=True)
        except ValueError:
            continue
        if b":" in pair:
            yield match.span(1)


def _options(text: str) -> Iterator[Span]:
    """Yield passwords among the options of a command: ``curl -u NAME:PASSWORD``, ``--password PASSWORD``."""
    for match in _CURL.finditer(text):
        if "curl" in text[max(0, match.start() - 300) : match.start()] and _is_secret_text(match[1], "secret"):
            yield match.span(1)
    for match in _FLAG.finditer(text):
        kind = _kind(match[1])
        if kind and _is_secret_text(match[2], kind, bare=kind == "secret" and match[2].isalpha()):
            yield match.span(2)


_ASSIGNED = LatePattern(
    r"""(?x)(?<![\w.-])([\w.-]{1,100}+)(?:[ ]for(?:[ ][^\s:=]{1,60}){1,2}(?=:[ ]))?(?:\\{0,3}["'`])?[)\]]?[ \t]{0,9}
    (:=|=>|[=!]=|[=:>]|,(?=\s{0,2}b?["'])|\((?=\s{0,2}[rb]?["'])|(?:is|was)[ \t](?=["'`]))
    [ \t]{0,9}+(?:\s{1,40}+(?=["']))?"""
)
_NAMED = LatePattern(  # a name that is a value: name: API_KEY, key="ApiKey", <name>api.key</name>
    rf"""(?xi)(?<![\w-])(?:{"|".join(_NAME_LABELS)})\\{{0,3}}["']?
    (?: \s{{0,3}}[:=]\s{{0,3}}\\{{0,3}}["']?([\w.:-]{{1,100}}+)\\{{0,3}}["']?
    | >\s{{0,9}}([\w.:-]{{1,100}}+)\s{{0,9}}</\w{{1,20}}> )"""
)
_VALUE_OF = LatePattern(
    rf"""(?xi)(?<![\w-])({"|".join(_VALUE_LABELS)})(?:\\{{0,3}}["'])?[ \t]{{0,3}}([:=])[ \t]{{0,9}}+"""
)
_BETWEEN = LatePattern(r"(?:[^{}<>\n]|\n(?![ \t]*\n|[ \t]*-)){0,300}+")
_CONTENT = LatePattern(r"[^<>]{0,200}+(?:>\s{0,40}+)?(?:<\w{1,20}>\s{0,40}+)?([^<>]{3,400}+)</")
_WRAPPER = LatePattern(r"""(?:str|bytes|quote(?:_plus)?)\((?=[rb]?["'])""")
_ANNOTATION = LatePattern(r"""[\w.\[\], |]{1,60}?=\s{0,3}(?=[rbuf]?["'])""")
_QUOTED = LatePattern(r"""(?i)[rbuf]{0,2}(\\{0,3}["'`])((?:(?!\1)(?:\\.|[^\\\n])){0,4000}+)""")
_TRIPLE = LatePattern(r"""(?i)[rbuf]{0,2}("{3}|'{3})((?:(?!\1)(?:\\.|[^\\])){0,4000}+)""")
_LINES = LatePattern(r'"([^"]{0,4000}+)"(?=[ \t]*(?:\n|$))')
_LITERAL = LatePattern(r"""["']([^"'\n]{3,400})["'](?!\s?:)""")
_ITEM = LatePattern(r"""(?<=[\[,\s])([^\s"'`\[\](){},]{3,400})(?=\s{0,40}[,\]])""")
_ELEMENT = LatePattern(r"\s{0,40}[^<>]{3,400}(?=</)")
_BARE = LatePattern(r"""[^\s"'`,;(){}<>\[\]|&\\=]{1,4000}+={0,2}[(\[]?""")
_LINE = LatePattern(r"""[^\n"'\\]*+""")
_LINE_START = LatePattern(r"""[\s#>*$-]*(?:(?:export|set|setx|ENV|ARG)\s+)?["']?""")
_MAKES = LatePattern("[A-Z]+[a-z]|set")  # SecretStr("…"), setPassword("…")
_HEADER = LatePattern(r"""(?:-H|--header)[ =]?["']$""")
_NEXT_PAIR = LatePattern(r"[;&]|\s+\w+=|$")
_BELOW = LatePattern(r"([|>][-+\d]{0,2})?[ \t]*(?:#[^\n]*)?(?=\n)")
_LIST_ITEM = LatePattern(r"""[ \t]*-[ \t]+["']?([^\n"'#]{3,400}?)["']?[ \t]*(?:#[^\n]*)?""")
_SUBKEY = LatePattern(r"""[ \t]*(?:-[ \t]+)?["']?[\w. -]{1,100}["']?:(?:\s|$)""")
_SAID = LatePattern(  # the first letter by itself, which is quick to search for
    r"""(?x)[pstcaPSTCA](?<![\w-].)(?i:assw(?:or)?d|assphrase|ecret|oken|redentials?|pi[ -]?key)[ \t]
    (?:(?:is|was|provided|given|used)[ \t:,]{1,3}){0,2}["'`]?([^\s"'`,;()<>=]{8,400}+)"""
)
_PARAMETER = LatePattern(r"""[?&]([\w.-]{1,60})=([^&\s"'<>#]{3,4000}+)""")
_SIGNED = LatePattern(r"(?i)(?:.*[-_])?(?:auth|code|credential|hmac|key|policy|sig|signature|token)")


def _assigned(text: str) -> Iterator[Span]:
    """Yield what stands under names of secrets, in code, reprs, JSON, XML, YAML, .env files, headers and addresses."""
    done = 0
    for match in _ASSIGNED.finditer(text):
        if match.start() < done or match[1][-1] == "-":
            continue
        kind = _kind(match[1])
        if match[2] == "(" and not _MAKES.match(match[1].rpartition(".")[2]):
            kind = ""
        for span in _value(text, match, kind) if kind else ():
            yield span
            done = span[1]
    for match in _PARAMETER.finditer(text):
        name = match[1]
        is_label = name.lower().endswith(("code", "key", "policy", "token")) and _kind(name) != "secret"
        kind = "token" if is_label else "secret" if signs_an_address(name) else ""
        if kind and _is_secret_text(match[2], kind):
            yield match.span(2)


def _value(text: str, name: re.Match[str], kind: str) -> Iterator[Span]:
    separator, at = name[2], name.end()
    annotation = (_ANNOTATION if separator == ":" else _WRAPPER).match(text, at)
    at = annotation.end() if annotation else at
    quoted = _TRIPLE.match(text, at) or (_starts_line(text, name) and _LINES.match(text, at)) or _QUOTED.match(text, at)
    below = _BELOW.match(text, at) if separator == ":" else None
    if separator == ">":
        spans = [match.span() for match in [_ELEMENT.match(text, at)] if match]
    elif below:
        spans = list(_below(text, name, below))
        kind = "secret" if below[1] and kind != "ambiguous" else kind
    elif quoted:
        is_closing = re.match(r"\s*[);,\]]", quoted[quoted.lastindex or 0])  # it ends a text such as "Password: "
        spans = [] if is_closing else [quoted.span(quoted.lastindex or 0)]
        is_loose = separator == "," and not _SCHEME.match(quoted[2]) and not _is_pair(text, name, quoted)
        kind = "token" if is_loose else kind
    elif text[at : at + 1] in ("(", "["):
        stop = text.find(")" if text[at] == "(" else "]", at, at + _MOST_LISTED)
        stop = stop + 1 if stop > 0 else at + _MOST_LISTED
        spans = [match.span(1) for match in _LITERAL.finditer(text, at, stop)]
        if not spans and separator == ":" and kind == "secret":
            spans = [match.span(1) for match in _ITEM.finditer(text, at, stop)]
        kind = "secret" if kind == "ambiguous" and len(spans) == 2 else kind  # auth=("ada", "…")
    else:
        yield from _bare_value(text, name, at, kind)
        return
    yield from (span for span in spans if _is_secret_text(text[slice(*span)], kind))


def _is_pair(text: str, name: re.Match[str], quoted: re.Match[str]) -> bool:
    """Return whether brackets hold a name and a value, and nothing else."""
    opened = text[max(0, name.start() - 2) : name.start()].strip("\"'\\")[-1:]
    closed = text[quoted.end() : quoted.end() + 4].lstrip("\"'\\, ")[:1]
    return f"{opened}{closed}" == "()" or (f"{opened}{closed}" == "[]" and not quoted[2].isalpha())


def _below(text: str, name: re.Match[str], mark: re.Match[str]) -> Iterator[Span]:
    """Yield what stands below a name in YAML: a block of text whole, or the members of a list."""
    begin = text.rfind("\n", max(0, name.start() - 200), name.start()) + 1
    before = text[begin : name.start()].rstrip("\"'")
    if before.strip(" \t-"):
        before = re.split("[\"']", text[begin : name.start()])[-1]  # in a repr
    if before.strip(" \t-"):
        return
    indent, at, block = len(before), mark.end(), list[Span]()
    while at < min(len(text), mark.end() + 4_000) and len(block) < 100:
        end = text.find("\n", at + 1, at + 4_000)
        end = len(text) if end < 0 else end
        line = text[at + 1 : end]
        depth = len(line) - len(line.lstrip())
        item = None if mark[1] else _LIST_ITEM.fullmatch(line)
        is_part = not line.strip() or depth > indent or (depth == indent and item)
        if not is_part or (not mark[1] and _SUBKEY.match(line)):
            break
        if item:
            yield at + 1 + item.start(1), at + 1 + item.end(1)
        elif line.strip():
            block.append((at + 1 + depth, end))
        at = end
    if block:
        yield block[0][0], block[-1][1]


def _named(text: str) -> Iterator[Span]:
    """Yield the values beside names that are values themselves: {"name": "API_KEY", "value": …} in any notation."""
    for match in _NAMED.finditer(text):
        name = match.lastindex or 1
        kind = _kind(match[name])
        if not kind:
            continue
        after = _BETWEEN.match(text, match.end())
        before = re.split(r"[{}<>]|\n[ \t]*\n|\n[ \t]*-", text[max(0, match.start() - 300) : match.start()])[-1]
        for start, stop in ((match.end(), after.end() if after else 0), (match.start() - len(before), match.start())):
            value = _VALUE_OF.search(text, start, stop)
            if value:
                yield from _value(text, value, kind)
        content = _CONTENT.match(text, match.end())
        if content and _is_secret_text(content[1], kind):
            yield content.span(1)


def _said(text: str) -> Iterator[Span]:
    """Yield words of messages that follow the name of a secret, and look like one."""
    for match in _SAID.finditer(text):
        if _looks_random(match[1].rstrip(".:!?")):
            yield match.span(1)


def _bare_value(text: str, name: re.Match[str], at: int, kind: str) -> Iterator[Span]:
    """Yield a value without quotes: the rest of the line in files of settings and headers, else one word."""
    is_line, is_upper = _starts_line(text, name), name[2] == "=" and name[1].isupper()
    kind = "secret" if is_line and is_upper and kind in ("token", "pass") else kind
    is_header = name[2] == ":" and (
        name[1].lower().endswith(("authorization", "cookie"))
        or _HEADER.search(text, max(0, name.start() - 12), name.start()) is not None
    )
    if is_line or is_header:
        whole = _beginning(text, at, _MOST_JUDGED)
        is_one = " " not in whole or name[1].isupper()
        is_pair = is_header and (kind == "secret" or "=" in whole)
        if (is_pair or is_one) and _is_secret_text(whole, "secret" if is_pair else kind, bare=True):
            yield at, at + len(_beginning(text, at, _LONGEST_BLOCK))
            return
    word = _BARE.match(text, at)
    if word and _is_secret_text(word[0], kind, bare=True) and _is_no_name(text, word, name[2]):
        yield word.span()


def _starts_line(text: str, name: re.Match[str]) -> bool:
    before = text[max(0, name.start() - 40) : name.start()]
    is_line = _LINE_START.fullmatch(before.rpartition("\n")[2]) is not None and ("\n" in before or len(before) < 40)
    return is_line or (before[-1:] in ("'", '"') and text[name.end(1)] not in "\\'\"")  # the first in a repr


def _beginning(text: str, at: int, most: int) -> str:
    """Return the rest of a line of settings, without a comment."""
    line = _LINE.match(text, at, at + most)
    return line[0].partition(" #")[0].partition(" ;")[0].rstrip() if line else ""


def _is_no_name(text: str, word: re.Match[str], separator: str) -> bool:
    """Return whether a word without quotes is a value, and neither a variable nor a word of a sentence."""
    if word[0].isdigit():
        return len(word[0]) >= 4
    is_name = word[0].replace("_", "").isalpha() or bool(_kind(word[0]))
    return not is_name or (separator == "=" and _NEXT_PAIR.match(text, word.end()) is not None)


_PLAIN = r"(?![*x.…]+@|[<{$\[%])"  # placeholders are no passwords
# Words of which one is in a text that is searched, and where a secret is: a group, or all.
_PATTERNS: tuple[tuple[tuple[str, ...], LatePattern], ...] = (
    (("",), _SHAPES),  # in any text: to search for it is quicker than for its hundred beginnings
    (("sk",), LatePattern(r"SK(?<![A-Za-z0-9]..)[0-9a-f]{32}(?![A-Za-z0-9])")),
    ((".",), LatePattern(r"[MNO](?<![\w.-].)[A-Za-z0-9]{23,27}\.[\w-]{6}\.[\w-]{25,}+")),
    (("://",), LatePattern(rf"://[^\s/?#@:'\"]{{0,200}}:({_PLAIN}[^\s/?#@'\"]{{1,200}})@")),
    (("bearer",), LatePattern(r"(?i)\bbearer\s{1,3}(?=[\w.~+/-]{0,80}\d|\S{20})((?!(?-i:[A-Z_]+)\b)[\w.~+/-]{8,}+=*)")),
    ((" '", ' "'), LatePattern(r"""(?i)\b(?:password|passphrase|by(?: password)?)\s{1,3}(["'])([^'"\n]{3,200})\1""")),
    (("login",), LatePattern(r"(?i)\blogin\s+?\S{1,80}\s{1,9}(?:account \S{1,80}\s{1,9})?password\s{1,9}(\S{1,200})")),
    (
        (":5", ":6", ":*"),
        LatePattern(r"(?m)^[^:\s]{1,200}:(?:[56]\d{3}|\*):[^:\s]{1,80}:[^:\s]{1,80}:([^\s:]{3,200})$"),
    ),
)
_NAME_PARTS = tuple(
    re.findall(
        r"\S+",
        """
    pass pwd pw pin otp secret token cred auth cookie key sig hmac pat sas sid kennwort senha contrasena mnemonic seed_
    recovery backup_ mfa
""",
    )
)
_FINDERS: tuple[tuple[tuple[str, ...], tuple[Callable[[str], Iterator[Span]], ...]], ...] = (
    (("private key", "private-lines:", "private-mac:"), (_blocks,)),
    (("basic",), (_basic,)),
    (("curl", " --"), (_options,)),
    (_NAME_PARTS, (_assigned, _named, _said, _delimited)),
)


@dataclass(frozen=True, slots=True)
class Redacted:
    """A text with ``***`` for each secret that was in it, and how many there were."""

    text: str
    count: int = 0


class Redactor:
    """A redactor of the ``known`` keys, those in environment variables, and whatever looks or is named like one."""

    def __init__(self, known: Iterable[str] = ()) -> None:
        values = (value.strip() for name, value in os.environ.items() if _kind(name))
        secrets = {
            *(key for key in known if len(key) >= _MIN_KEY),
            *(value for value in values if len(value) >= _MIN_VALUE and not _is_file(value)),
        }
        whole = sorted((key for key in secrets if key.lower() not in _WORDS), key=len, reverse=True)
        self._known = (*whole, *(key[:_BEGINNING] for key in whole if len(key) >= 2 * _BEGINNING))
        self._learned, self._lengths = set[str](), set[int]()
        self._looked_at = dict[int, object]()
        self._clean = ""  # the last text without a key: a long one is checked again and again

    def is_secret(self, name: object, value: object) -> bool:
        """Return whether a value of any type is secret for the name that it stands under, such as a column's."""
        levels = name if isinstance(name, tuple) else (name,)  # of a column of pandas
        kind = next(filter(None, (_kind(level) for level in levels if isinstance(level, str))), "")
        if not kind or value is None or type(value).__name__ in ("bool", "bool_") or _is_missing(value):
            return False
        if isinstance(value, str):
            text = value.strip()
            is_any = kind == "secret"
            return text.lower() not in ("", BLANKED, *_FLAGS) if is_any else _looks_secret(text, kind)
        if _is_number(value):
            return value not in (0, 1) if kind in ("secret", "token") else kind == "pin" and abs(value) >= 1000
        return kind == "secret" or (kind == "token" and not isinstance(value, _COLLECTIONS))

    def learn(self, value: object) -> None:
        """Blank from now on what a value's parts hold together: keys in several texts, values beside their names."""
        if _is_text(value) or _is_number(value) or id(value) in self._looked_at:
            return
        self._looked_at[id(value)] = value
        texts = list(self._look(value))
        joined = "\n".join(texts)
        is_split = len(texts) > 1 and _mentions_key(joined)
        lines = "\n".join(joined[slice(*span)] for span in _blocks(joined)).split("\n") if is_split else []
        for line, after in zip_longest(map(str.strip, lines), lines[1:], fillvalue=""):
            if _LINE_OF_A_BLOCK.fullmatch(line) or _BLOCK.search(line) or (line and _BLOCK.search(after)):
                self._add({line, line[:_BEGINNING] if len(line) >= 2 * _BEGINNING else line})
        self._clean = ""

    def has_learned(self, value: object) -> bool:
        """Return whether a value is one that its neighbours tell to be secret."""
        return _text_of(value) in self._learned

    def learn_table(
        self, names: Sequence[object], columns: Sequence[Sequence[object]], labels: Sequence[object] = ()
    ) -> None:
        """Do the same for a table of columns, whose rows may have labels that are names."""
        for name, column in zip(names, columns, strict=False):
            self.learn(list(column))
            if _names_anything(name) and not names_a_secret(name):
                self._note((name, cell) for cell in column)
        is_paired = _is_paired(names)
        for label, row in zip_longest(labels, zip(*columns, strict=False)):
            if any(_is_text(cell) and _mentions_key(_ends(cell)) for cell in row or ()):
                self.learn(list(row))
            if is_paired:
                self._note(zip(names_beside(names, row), row, strict=False))
            if _names_anything(label):  # but not how often a word stands in a text
                cells = zip(names, row, strict=False)
                self._note(
                    (label, cell)
                    for name, cell in cells
                    if not (_is_number(cell) and _is_text(name) and name != "value")
                )

    def _look(self, value: object) -> Iterator[str]:
        """Yield the ends of the texts in a value, in order, and note what is secret for the names in it."""
        inside, number, size = [iter((value,))], 0, 0
        while inside and number < _MOST_LEARNED and size < _LEARNED_TEXT:
            part = next(inside[-1], inside)
            number += 1
            if part is inside:
                inside.pop()
            elif _is_text(part) or type(part) is bytes:
                text = _ends(_text_of(part))
                size += len(text)
                yield text
            elif len(inside) <= _LEARNED_DEPTH:
                labels, values = _parts_of(part)
                if labels is not None or len(values) == 2:
                    names, is_record = names_beside(labels, values), not issubclass(type(part), dict)
                    triples = zip_longest(names, labels or (), values)
                    self._note((name, one) for name, label, one in triples if is_record or name is not label)
                inside.append(iter(values))

    def _note(self, pairs: Iterable[tuple[object, object]]) -> None:
        secrets = (_text_of(value) for name, value in pairs if _names_anything(name) and self.is_secret(name, value))
        self._add(text for text in secrets if len(text) >= _LEAST_LEARNED)

    def _add(self, texts: Iterable[str]) -> None:
        for text in texts:
            self._learned.add(text)
            self._lengths.add(len(text))

    def hold(self, text: str) -> bool:
        """Return whether a text contains a secret."""
        if text is self._clean:
            return False
        if next(self._spans(text), None) is not None:
            return True
        self._clean = text
        return False

    def redacted(self, text: str, *, keep_lines: bool = False) -> Redacted:
        """Return a text with ``***`` for every secret; ``keep_lines``: of as many lines as before."""
        spans = _apart(self._spans(text))
        parts, end = list[str](), 0
        for start, stop in spans:
            lines = text.count("\n", start, stop) if keep_lines else 0
            parts += text[end:start], BLANKED, "\n" * lines
            end = stop
        return Redacted("".join((*parts, text[end:])), len(spans)) if spans else Redacted(text)

    def masked(self, text: str) -> str:
        """Return a text with ``***`` for every secret."""
        return self.redacted(text).text

    def _spans(self, text: str) -> Iterator[Span]:
        for key in self._known:
            at = text.find(key)
            while at >= 0:
                yield at, at + len(key)
                at = text.find(key, at + len(key))
        yield from self._learned_places(text)
        small = text.lower()
        for words, pattern in _PATTERNS:
            if any(word in small for word in words):
                yield from (match.span(match.lastindex or 0) for match in pattern.finditer(text))
        lines = text.replace("\\n", " \n").replace("\\t", " \t").replace("\\r", "  ")  # of a repr, at the same places
        for words, finders in _FINDERS:
            if any(word in small for word in words):
                yield from chain.from_iterable(find(lines) for find in finders)

    def _learned_places(self, text: str) -> Iterator[Span]:
        """Yield where learned texts stand; one pass, for a table may hold thousands of them."""
        for match in _STARTS.finditer(text) if self._learned else ():
            at = match.start()
            yield from (
                (at, at + length)
                for length in self._lengths
                if text[at : at + length] in self._learned and _ends_apart(text, at, at + length)
            )


def _ends_apart(text: str, start: int, end: int) -> bool:
    """Return whether a place in a text ends with a word or number, or is that long that it may be a part of one."""
    return end - start >= _BEGINNING or not (text[end - 1 : end + 1].isalnum() and end < len(text))


def _ends(text: str) -> str:
    """Return a text, or both ends of a long one: a key that lies in several texts goes over their ends."""
    is_short = len(text) <= 2 * _LEARNED_ENDS
    return text if is_short else f"{text[:_LEARNED_ENDS]}\n{text[-_LEARNED_ENDS:]}"


def _mentions_key(text: str) -> bool:
    return "PRIVATE KEY" in text or "Private-" in text


def _text_of(value: object) -> str:
    """Return a text, bytes or a number as text; nothing for what would run code of its class."""
    if _is_text(value):
        return str.__str__(value)
    if type(value) is bytes:
        return value.decode("latin-1")
    return str(value) if _is_number(value) else ""


def _parts_of(value: Any) -> tuple[Sequence[object] | None, Sequence[object]]:
    """Return the labels of a value's parts, if these have any, and the parts."""
    kind = type(value)
    if issubclass(kind, dict):
        return list(islice(dict.keys(value), _MOST_LEARNED)), list(islice(dict.values(value), _MOST_LEARNED))
    base = next((base for base in (list, tuple, set, frozenset) if issubclass(kind, base)), None)
    if base is not None:  # whose own iterator is read: a class of the notebook may have code in its own
        fields = getattr_static(kind, "_fields", None) if base is tuple else None
        parts = islice(base.__iter__(value), _MOST_LEARNED)
        return fields if type(fields) is tuple else None, tuple(parts) if base is tuple else list(parts)
    if _library(kind) == "pandas" and kind.__name__ == "Series":
        holds_labelled = value.dtype.kind in "OSUViuf"
        is_count = _is_text(value.name) and value.dtype.kind in "iuf"
        if is_count or not holds_labelled:
            return None, ()
        return value.index[:_MOST_LEARNED].tolist(), value.iloc[:_MOST_LEARNED].tolist()
    if _library(kind) != "numpy" or not hasattr(value, "dtype"):
        return None, ()
    names = value.dtype.names
    if names and not value.ndim:
        return names, list(value.item())
    holds_texts = value.ndim > 0 and value.dtype.kind in "OSUV"
    return None, list(value.flat[:_MOST_LEARNED]) if holds_texts else ()


class Unredacted(Redactor):
    """A redactor that blanks nothing, for what a user sends as it is."""

    def is_secret(self, *_: object) -> bool:
        """Return False."""
        return False

    def _spans(self, *_: str) -> Iterator[Span]:
        return iter(())


def _apart(spans: Iterable[Span]) -> list[Span]:
    """Return spans in order, those that overlap or touch as one."""
    found: list[Span] = []
    for start, end in sorted(spans):
        if found and start <= found[-1][1]:
            found[-1] = found[-1][0], max(end, found[-1][1])
        else:
            found.append((start, end))
    return found
