"""Find secrets, and blank them in whatever leaves the kernel: prompts, attachments, errors, exports and records.

A secret is a key in use, a value of an environment variable that is named like one and looks like one, and whatever
looks like a key. A name alone says little: ``token`` is also a word, and a password is ``required``. What stands under
such a name is a secret if it looks random. Every search takes time in proportion to the text: repetitions are bounded.
"""

from __future__ import annotations

import html
import json
import os
import re
from base64 import b64decode
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from functools import cache, lru_cache
from string import ascii_letters, digits, whitespace
from urllib.parse import quote, quote_plus, urlsplit

from ..errors import InvalidRequestError

Span = tuple[int, int]
BLANKED = "***"
_compiled = cache(re.compile)  # when it is first used: most texts have nothing that would need it

_SHAPES = r"""(?x)(?<![A-Za-z0-9])(?:
    A[KS]IA[A-Z0-9]{16}(?:["']?[\s,:;"'|]{1,6}[A-Za-z0-9/+]{40}(?![\w/+]))? | IQoJb3[\w/+=-]{30,}+
    | AIza[\w-]{30,}+ | ya29\.[\w.-]{20,}+ | GOCSPX-[\w-]{20,}+ | 1//0[\w-]{30,}+
    | gh[pousr]_[A-Za-z0-9]{30,}+ | github_pat_\w{30,}+ | gl(?:pat|rt|dt|cbt|ptt|soat)-[\w.-]{18,}+
    | hf_[A-Za-z0-9]{30,}+ | [sr]k_(?:live|test)_[A-Za-z0-9]{16,}+ | npm_[A-Za-z0-9]{30,}+ | pypi-AgE[\w-]{20,}+
    | shp(?:at|ss|ca|pa)_[0-9a-f]{32} | dckr_pat_[\w-]{20,}+ | do[opr]_v1_[0-9a-f]{40,}+ | xox[a-z]-[\w-]{10,}+
    | xapp-[\w-]{10,}+ | SG\.[\w-]{16,}\.[\w-]{16,}+ | hv[sb]\.[\w-]{20,}+ | ATATT3[\w=-]{20,}+ | dapi[0-9a-f]{32}
    | (?:SK|key-)[0-9a-f]{32}(?![A-Za-z0-9]) | \d{8,10}:AA[\w-]{30,}+ | (?<![-_])eyJ[\w-]{8,}+(?:\.[\w-]*+){1,4}
    | hooks\.slack\.com/(?:services|workflows|triggers)/[\w/]+ | discord(?:app)?\.com/api/webhooks/\d+/[\w-]+
    | [MNO][\w-]{23,27}\.[\w-]{6}\.[\w-]{27,}+ | pat[A-Za-z0-9]{14}\.[0-9a-f]{64} | [0-9a-f]{32}-us\d{1,2}(?!\w)
    | \$(?:2[abxy]|[156y]|argon2id?)\$[\w./$=,+-]{20,}+
    | LS0tLS1CRUdJTi(?:BQUklWQVRF|BSU0EgUFJJVkFUR|BFQyBQUklWQVRF|BPUEVOU1NIIFBSSVZBVE)[\w+/=]*+ )"""
_LIKELY_SHAPES = r"""(?x)(?<![\w-])(?:sk|pa|xai|nvapi|pplx|csk|gsk|r8|tvly|lsv2|tgp|whsec|lin_api|ntn|phc|phx|sbp
    |sb_secret|fw|pcsk|jina|figd|sntrys|AGE-SECRET-KEY)[-_][\w-]{16,}+"""
_KEY_LINES = r"(?:[\s\\nr>]{0,40}[A-Za-z0-9+/=]{12,}+)+"
_KEY_BLOCK = (
    r"-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY[A-Z ]{0,20}-----"
    rf"(?:(?:[^-]|-(?!-)){{0,20000}}+-----END [A-Z0-9 ]{{0,40}}PRIVATE KEY[A-Z ]{{0,20}}-----|{_KEY_LINES})"
    rf"|Private-Lines: ?\d{{1,3}}{_KEY_LINES}"
)
_KEY_END = r"-----END [A-Z0-9 ]{0,40}PRIVATE KEY[A-Z ]{0,20}-----"
_IN_ADDRESS = (  # after "user:", with a slash where that is no port
    r"://[^\s/?#@:'\"]{0,200}:((?![*x.…]+@|[<{$\[%])(?:[^\s/?#@'\"]{1,200}|(?!\d{1,5}[/?#])[^\s?#@'\"<>]{1,200}))@"
)
_PARAMETER = (
    r"""(?i)[?&](?:app_?id|key|sig|signature|auth|code|x-\w+-(?:signature|credential))=([^&\s"'<>#]{8,4000}+)"""
)
_OF_A_USER = r"""(?:Auth|\.login|\bauth=)\(\s{0,40}["'][^"'\n]{1,100}["'],\s{0,40}["']([^"'\n]{3,200})["']\s{0,9}[,)]"""
_OF_A_COMMAND = (
    r"""(?:\bcurl\b[^\n|;&]{0,200}?\s(?:-u|--user\b)[\s=]?["']?[^\s:"'-]{1,80}:|\bsshpass\s{1,3}-p\s?["']?)"""
    r"""([^\s"']{3,200})"""
)
_OF_KAGGLE = r"""(?:"username"\s?:\s?"[^"\n]{1,80}",\s{0,9}"key"\s?:\s?|\blogin\(key=)["']([^"'\n]{20,200})["']"""
_BEARER = r"(?i)\b(?:bearer|token)\s{1,3}(?=[A-Za-z_.-]{0,80}\d)([\w.~+/-]{12,}+)"
_PGPASS = r"(?m)^(?:[\w-]{1,80}\.[\w.-]{1,120}|localhost):(?:\d{4}|\*):[^:\s]{1,80}:[^:\s]{1,80}:([^\s:]{3,200})$"
_BASIC = r"""(?i)(?:\bbasic\s{1,3}|"auth"\s?:\s?")([\w+/-]{8,}+={0,2})"""

_NAMES = {
    "password": r"(?:^|_)(?:\w*passw(?:or)?ds?|pass(?:phrase|code)|\w*pwd|\w+_pass|\w+_pw|pgpass|psk)$",
    "key": r"""(?x)(?:^|_)(?:
        (?:api|access|private|secret|sign(?:ing)?|encryption|ssh|hmac|fernet|account|master|storage|admin|webhook
        |subscription|auth)_?keys?(?:_?id)? | client_key_data | (?:client|consumer|app|webhook)_secret
        | secret_key_base | (?:proxy_)?authorization | (?:access|auth|api|refresh|bearer
        |bot|sas|id|hf|github|gitlab|slack|npm|pypi)_?token )$""",
    "loose": r"(?:^|_)(?:\w*secrets?|\w*credentials?|(?<!pad_)(?<!bos_)(?<!eos_)(?<!unk_)(?<!sep_)(?<!cls_)token)$",
}
_NAME_PART = "(?i:pass|pwd|_pw|psk|secret|token|credential|key|authorization)"  # each of these names has one
_SUFFIX = r"(?:_?\d+|_(?:value|text|str|bytes|prod|dev|test|staging|old|new|base64|b64))+$"
_WORDS = """
    none null undefined true false yes no required optional missing invalid expired incorrect wrong empty hidden masked
    weak medium strong correct changed redacted example placeholder passwd credentials key changeme dummy fake anything
    password not-needed no-key-required sk-no-key-required lm-studio todo unset string text bytes integer number object
    boolean varchar secretstr bearer basic self default inherit vault keyring prompt stdin include omit
"""
NO_SECRETS = frozenset(_WORDS.split())  # words where a secret would stand, or where none is needed
_PLACEHOLDER = (
    r"(?ix)[*x.…•_\-\#?]+ | [<{\[%$].* | .*(?:\$\{|\{\{|\.\.\.|…).* | (?:your|my|insert|replace|enter|put|the)[-_ ].*"
    r" | (?-i:[A-Z]+\d?(?:_[A-Z]+\d?)+) | [a-z_ -]*(?:passw(?:or)?d|secret|token|api_?key)s?\d?"
    r" | (?:~|\.{1,2})?/.* | [A-Z]:\\.* | .*\.(?:json|ya?ml|toml|txt|pem|key|env|csv|py|ini|cfg)"  # paths
)
_CODE = r"[a-z][a-z0-9]*(?:_[a-z0-9]+)+|[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)+"
_MIXED = r"(?=\S*[A-Za-z])(?=\S*[\d!@#$%^&*+?~])\S{5,200}"
_CHANGE = r"(?<=[A-Za-z])(?=\d)|(?<=\d)(?=[A-Za-z])"
_CASE_CHANGE = r"(?<=[a-z])(?=[A-Z])|(?<=[A-Z])(?=[a-z])"

_ASSIGNED = rf"""(?x)(?<![\w.-])
    ((?:(?i:api|access|secret|private|client|auth|fernet|encryption|master)[ ])?
    (?=[\w.-]{{0,60}}?{_NAME_PART})[\w.-]{{1,60}}+)
    (?:\\{{0,3}}["'`])?[\])]?[ \t]{{0,9}}
    ( \\{{0,3}}["']?\s{{0,9}},?\s{{0,9}}\\{{0,3}}["']?value\\{{0,3}}["']?\s?[:=] | :=|=>|={{1,2}}|[:>,] | \((?=["'])
    | (?:is|was)[ \t] | (?<=[ \t])(?=[^\s=:|-]) )
    [ \t]{{0,9}}+ (?:[\w.\[\]|\ ]{{1,40}}=[ ]?(?=["']))? (?:[A-Za-z.]{{1,30}}\((?=b?["']))? (?:[rbuf](?=["']))?
    (?: (\\{{0,3}}["'])(?:(?i:bearer|basic|token)[ ])?((?:(?!\3)[^\n]){{3,4000}}+)
    | (?:(?i:bearer|basic|token)[ ]{{1,3}})?
        ((?:[^\s"'`,;(){{}}<>\[\]|&\\] | [&;](?![\w.-]*=|[&;\s]|\Z)){{3,4000}}+)(?![\[(]) )"""


@lru_cache(4096)
def classify_secret_name(label: object) -> str:
    """Return what a label, of one or more levels, says: a password, a key, or loosely a secret; empty: nothing."""
    for level in label if isinstance(label, tuple) else (label,):
        words = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", level[-60:]) if isinstance(level, str) else ""
        words = re.sub(_SUFFIX, "", re.sub(r"[\W_]+", "_", words).strip("_").lower())
        for kind, pattern in _NAMES.items():
            if _compiled(pattern).search(words):
                return kind
    return ""


def is_secret_value(name: object, value: object) -> bool:
    """Return whether a value of any type is secret for the name that it stands under; numbers and flags never are."""
    kind = classify_secret_name(name)
    members = value if kind and isinstance(value, list | tuple | set | frozenset) else (value,)
    texts = (each.decode("latin-1") if isinstance(each, bytes | bytearray) else each for each in members)
    return bool(kind) and any(isinstance(text, str) and _is_secret(text, kind, is_quoted=True) for text in texts)


def _is_secret(value: str, kind: str, *, is_quoted: bool) -> bool:
    """Return whether a text under a name of this kind is a secret, and no placeholder, word of a sentence, or code."""
    value = value[:400].strip().rstrip(".,;:!")
    if len(value) < 4 or value.lower() in NO_SECRETS or _compiled(_PLACEHOLDER).fullmatch(value):
        return False
    if looks_random(value):
        return True
    if kind == "loose" or (not is_quoted and _compiled(_CODE).fullmatch(value)):
        return False
    if kind == "key":
        return value.isalnum() and len(value) >= 6 and _compiled(_MIXED).fullmatch(value) is not None
    return _compiled(_MIXED).fullmatch(value) is not None or (is_quoted and value.isalpha() and value.islower())


@lru_cache(4096)
def looks_random(value: str) -> bool:
    """Return whether a text is no word: it changes between letters and digits, or between small and large letters."""
    if not value.isascii() or not value.isprintable() or " " in value:
        return False
    pieces = re.split(r"[-_.:]", value.rstrip("="))
    for piece in pieces:
        changes = len(_compiled(_CHANGE).findall(piece))
        is_long = len(piece) >= 16
        if changes >= (1 if is_long else 2) and len(piece) >= 8:
            return True
        if is_long and len(_compiled(_CASE_CHANGE).findall(piece)) * 3 >= len(piece):
            return True
    joined = "".join(pieces)
    return len(joined) >= 16 and len(_compiled(_CHANGE).findall(joined)) >= 5


def _is_user_and_password(encoded: str) -> bool:
    with suppress(ValueError):
        return b":" in b64decode(encoded, validate=True)
    return False


_SEARCHES: dict[str, Callable[[str], bool]] = {
    **dict.fromkeys((_SHAPES, _KEY_BLOCK, _IN_ADDRESS, _OF_A_USER, _OF_A_COMMAND, _PGPASS), bool),
    **dict.fromkeys((_LIKELY_SHAPES, _PARAMETER, _OF_KAGGLE, _BEARER), looks_random),
    _BASIC: _is_user_and_password,
}


def secrets_in(text: str) -> Iterator[Span]:
    """Yield the places of secrets in a text, in any order; they may overlap."""
    lines = text.replace("\\n", " \n").replace("\\t", " \t").replace("\\r", "  ")  # of a repr, at the same places
    for pattern, is_secret in _SEARCHES.items():
        for match in _compiled(pattern).finditer(lines):
            group = match.lastindex or 0
            if is_secret(match[group]):
                yield match.span(group)
    yield from _ends_of_keys(lines)
    if _compiled(_NAME_PART).search(lines):
        yield from _assigned(lines)
        yield from _cells(lines)


def _ends_of_keys(text: str) -> Iterator[Span]:
    """Yield the ends of private keys whose beginning was cut off."""
    for mark in _compiled(_KEY_END).finditer(text):
        before = text[max(0, mark.start() - 20_000) : mark.start()]
        body = len(before) - len(before.rstrip(f"{ascii_letters}{digits}+/={whitespace}"))
        yield mark.start() - body, mark.end()


def _assigned(text: str) -> Iterator[Span]:
    """Yield what stands under names of secrets, in code, reprs, JSON, XML, YAML, .env files, commands and headers."""
    pattern, at = _compiled(_ASSIGNED), 0
    while match := pattern.search(text, at):
        name, sign, _, quoted, bare = match.groups()
        kind = classify_secret_name(name) or (
            "loose" if sign == "=" and name.isupper() and name.endswith("_KEY") else ""
        )
        is_setting = sign.strip() not in ("", ",", "(", "is", "was")
        is_option = sign == "=" and (name.isupper() or name[0] == "-" or text.startswith(";", match.end()))
        is_quoted = is_setting and (quoted is not None or is_option)
        if kind and _is_secret(quoted or bare, kind, is_quoted=is_quoted):
            yield match.span(4 if quoted else 5)
            at = match.end()
        else:
            at = match.end(1)


def _cells(text: str) -> Iterator[Span]:
    """Yield the secrets below heads that name them, in tables with a delimiter such as CSV and Markdown."""
    begin, delimiter, kinds = 0, "", list[str]()
    for line in text.splitlines(keepends=True):
        cells = line.rstrip("\r\n").split(delimiter or None)
        start = begin
        if kinds and len(cells) == len(kinds):
            for cell, kind in zip(cells, kinds, strict=True):
                value = cell.strip().strip("\"'")
                at = start + cell.find(value)
                start += len(cell) + 1
                if kind and _is_secret(value, kind, is_quoted=False):
                    yield at, at + len(value)
        elif line.strip("-+|: \r\n"):
            delimiter, kinds = _head(line)
        begin += len(line)


def _head(line: str) -> tuple[str, list[str]]:
    """Return the delimiter of a line that has heads of which one names a secret, and the kind of each."""
    for delimiter in ",\t;|" if _compiled(_NAME_PART).search(line) else "":
        names = [cell.strip().strip("\"'") for cell in line.split(delimiter)]
        kinds = [classify_secret_name(name) for name in names]
        if len(names) > 1 and any(kinds) and all(map(_compiled(r"[\w ./()-]{0,60}").fullmatch, names)):
            return delimiter, kinds
    return "", []


# the redactors

_BEGINNING = 16  # characters at the start of a long key that identify it
_MIN_KEY = 8  # characters of a key in use: what stands for one where a server needs none is shorter, such as EMPTY
_ADDRESS_KEYS = re.compile(r"(?<=://)[^\s/@]*@|(?<=\S)\?\S+")


class Redactor:
    """A redactor of the ``known`` keys, those in environment variables, and whatever looks or is named like one.

    ``blanked`` counts the secrets that it has found; set it to 0 before something else.
    """

    def __init__(self, known: Iterable[str] = ()) -> None:
        self.blanked = 0
        keys = {key for key in known if len(key) >= _MIN_KEY and key.lower() not in NO_SECRETS}
        keys |= set(_keys_of_the_environment())
        self._known = {form for key in keys for form in _forms(key)}

    def is_secret(self, name: object, value: object) -> bool:
        """Return whether a value of any type is secret for the name that it stands under, such as a column's."""
        is_secret = is_secret_value(name, value)
        self.blanked += is_secret
        return is_secret

    def contains_secret(self, text: str) -> bool:
        """Return whether a text contains a secret."""
        return next(self._spans(text), None) is not None

    def masked(self, text: str) -> str:
        """Return a text with ``***`` for every secret."""
        parts, end, count = list[str](), 0, 0
        for start, stop in sorted(self._spans(text)):
            if not count or start > end:
                parts += text[end:start], BLANKED
                count += 1
            end = max(end, stop)
        self.blanked += count
        return "".join((*parts, text[end:]))

    def _spans(self, text: str) -> Iterator[Span]:
        yield from self._keys_in(text)
        yield from secrets_in(text)

    def _keys_in(self, text: str) -> Iterator[Span]:
        for key in self._known:
            if key in text:
                yield from (match.span() for match in re.finditer(re.escape(key), text))


class KeyRedactor(Redactor):
    """A redactor of known keys and those of the environment alone, for a file that a user writes as it is."""

    def is_secret(self, *_: object) -> bool:
        """Return False."""
        return False

    def _spans(self, text: str) -> Iterator[Span]:
        return self._keys_in(text)


class Unredacted(KeyRedactor):
    """A redactor that blanks nothing, for what a user sends as it is."""

    def _spans(self, *_: str) -> Iterator[Span]:
        return iter(())


def _keys_of_the_environment() -> Iterator[str]:
    """Yield the values of environment variables that are named like keys and look like ones."""
    for name, value in os.environ.items():
        if name.endswith("_KEY") or classify_secret_name(name):
            key = value.strip().strip("\"'")
            is_key = name.endswith("_KEY") and is_secret_value("token", key)
            if is_key or (is_secret_value(name, key) and not key.isalpha()):
                yield key


def _forms(key: str) -> set[str]:
    """Return a key as it stands in texts, reprs, JSON, HTML and addresses, and the beginning that a table shows."""
    forms = {key, repr(key)[1:-1], json.dumps(key)[1:-1], html.escape(key), quote(key, safe=""), quote_plus(key)}
    return forms | ({key[:_BEGINNING]} if len(key) >= 2 * _BEGINNING else set())


def blanked_line(name: str, count: int) -> str:
    """Return a line about the secrets that were blanked in what has this name; empty: there were none."""
    what = "1 part that looks like a key was" if count == 1 else f"{count:,} parts that look like keys were"
    return f"{name}: {what} blanked (***)." if count else ""


def without_address_keys(text: str) -> str:
    """Remove what may be a key from the addresses in a text: ``user:password@`` and what follows a ``?``."""
    return _ADDRESS_KEYS.sub("", text)


def checked_address(address: str, variable: str = "") -> str:
    """Return an address that may be used and shown, without "/" at its end; errors name the ``variable`` that holds it.

    Raises InvalidRequestError where it is not http(s), and where it has a user, parameters, or what looks like a key.
    """
    try:
        parts = urlsplit(address.strip())
    except ValueError:
        parts = urlsplit("")
    held = f"{variable} of the environment: " if variable else ""
    if parts.username or parts.password or parts.query or parts.fragment or Redactor().contains_secret(address):
        raise InvalidRequestError(
            f"{held}An address must not contain a password, a key or other parameters, because addresses are shown: "
            "enter the key with %chat key."
        )
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise InvalidRequestError(f"{held}{address!r} is no address: write https://HOST or http://HOST:PORT/v1.")
    return address.strip().rstrip("/")
