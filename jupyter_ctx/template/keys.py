"""Find API keys and passwords, known ones and text shaped like one, so that no prompt carries them."""

from __future__ import annotations

import os
import re
from base64 import b64decode
from collections.abc import Iterable

from .limits import RefusedError

_PREFIXES = (
    "sk-", "sk_", "rk_", "pk_", "AIza", "ghp_", "gho_", "ghu_", "ghs_", "ghr_", "github_pat_", "glpat-", "AKIA", "ASIA",
    "xoxa-", "xoxb-", "xoxc-", "xoxd-", "xoxe-", "xoxp-", "xoxr-", "xoxs-", "xapp-", "hf_", "gsk_", "xai-", "nvapi-",
    "pplx-", "tgp_", "csk-", "r8_", "npm_", "pypi-", "dop_v1_", "ya29.", "SG.", "lsv2_", "PRIVATE KEY", "eyJ",
)  # fmt: skip
_LONG = r"(?:[\w-]{0,80}?[A-Za-z0-9]{16}|(?=[A-Za-z_-]{0,40}\d)[\w-]{12})"  # letters and digits, or a name with a digit
_SHAPES = re.compile(
    rf"(?<![A-Za-z0-9])(?:[srp]k[-_]{_LONG}|AIza[\w-]{{20}}|(?:gh[pousr]|github_pat|hf|gsk|npm|r8|lsv2|dop_v1|tgp)_"
    rf"[A-Za-z0-9_]{{16}}|A[KS]IA[A-Z0-9]{{12}}|xox[a-z]-[\w-]{{10}}|xapp-[\w-]{{10}}|(?:xai|nvapi|pplx|csk|glpat|pypi)-"
    rf"{_LONG}|ya29\.[\w-]{{20}}|SG\.[\w-]{{16}}|eyJ[\w-]{{8,}}\.eyJ[\w-]{{8,}})[\w.-]*|"
    r"-----BEGIN [A-Z ]{0,40}PRIVATE KEY"
)
_ADDRESS = r"://[^\s/?#@:'\"]{0,200}:(?![*x.…]+@|[<{$\[%])[^\s/?#@'\"]{1,200}@"  # placeholders are no passwords
_VALUE = r"(?!(?-i:[A-Z_]+)\b)[\w.~+/-]"
_CARRIED = re.compile(
    rf"(?i){_ADDRESS}|authorization['\"]?\s{{0,4}}[:=,]\s{{0,4}}b?['\"]?\w{{1,20}}\s{{1,3}}{_VALUE}{{6,}}=*|"
    rf"\bbearer\s{{1,3}}(?=[\w.~+/-]{{0,80}}\d|\S{{20}}){_VALUE}{{8,}}=*"
)
_BASIC = re.compile(r"(?i)\bbasic\s{1,3}([\w+/-]{8,}={0,2})")
_CARRIERS = ("://", "authorization", "bearer", "basic")
_NAMED = re.compile(r"(?i)(?:key|token|secret|passw(?:or)?d|passphrase|credentials?|_pat)(?:_?id)?$")
_MIN_SECRET = 12  # characters of an environment variable's value: a shorter one may be any word
_MIN_KEY = 8  # characters of a key: what stands for one where a server needs none is shorter, such as EMPTY
_PLACEHOLDERS = frozenset(  # where a server needs no key
    ("lm-studio", "not-needed", "no-key-required", "sk-no-key-required", "placeholder", "anything")
)
_BEGINNING = 16  # characters at the start of a long key that identify it


_SECRET_WORDS = (
    r"api_?key|access_?key|secret(?:_?key)?|passw(?:or)?d|passphrase|credentials?|authorization|"
    r"(?:access|auth|api|refresh|bearer|session)_?token"
)
_SECRET_NAME = re.compile(rf"(?i)(?:{_SECRET_WORDS})$")
# a quoted value under a name that says it is secret, as reprs and literals write it
_UNDER_A_NAME = re.compile(
    rf"""(?ix)(\b\w{{0,40}}?(?:{_SECRET_WORDS}
    |token(?=["']?\s{{0,3}}[=:]\s{{0,3}}["'](?=[^"'\s]*[\d_-])[^"'\s]{{8}}))
    ["']?\s{{0,3}}[=:]\s{{0,3}}[rbu]?["'])(?!\*{{3}}["'])[^"'\n{{}}\s]{{6,}}(?=["'])"""
)


def without_named(text: str) -> str:
    """Return a text with ``***`` for quoted values under names such as ``password``, in dicts, fields and literals."""
    return _UNDER_A_NAME.sub(r"\1***", text)


def names_a_secret(name: str) -> bool:
    """Return whether what stands under a name, of a column for example, is said to be secret by it."""
    return _SECRET_NAME.search(name) is not None


class Keys:
    """A detector of keys in text: the ``known`` ones, those in environment variables, and the usual shapes."""

    def __init__(self, known: Iterable[str] = ()) -> None:
        values = (value.strip() for name, value in os.environ.items() if _NAMED.search(name))
        secrets = {
            *(key for key in known if len(key) >= _MIN_KEY),
            *(value for value in values if len(value) >= _MIN_SECRET and not _is_file(value)),
        }
        self._known = sorted((key for key in secrets if key.lower() not in _PLACEHOLDERS), key=len, reverse=True)
        self._clean = ""  # the last text without a key: a long one is checked again and again
        # a printed table cuts long texts, and leaves only their beginning
        self._parts = [secret[:_BEGINNING] if len(secret) >= 2 * _BEGINNING else secret for secret in self._known]

    def hold(self, text: str) -> bool:
        """Return whether a text contains a key."""
        if any(part in text for part in self._parts):
            return True
        if any(prefix in text for prefix in _PREFIXES) and _SHAPES.search(text) is not None:
            return True
        small = text.lower()
        return any(word in small for word in _CARRIERS) and _masked(text) != text

    def check(self, text: str) -> None:
        """Raise KeyFoundError when a text contains a key."""
        if text is self._clean:
            return
        if self.hold(text):
            raise KeyFoundError
        self._clean = text

    def masked(self, text: str) -> str:
        """Return a text with ``***`` for every key, for error messages."""
        for part in (*self._known, *self._parts):
            text = text.replace(part, "***")
        return _masked(_SHAPES.sub("***", text))


def _masked(text: str) -> str:
    """Return a text with ``***`` for the passwords of addresses and the credentials of Authorization headers."""
    return _BASIC.sub(lambda match: "***" if _is_pair(match.group(1)) else match.group(), _CARRIED.sub("***", text))


def _is_pair(value: str) -> bool:
    """Return whether a word after "basic" decodes to user:password, as Basic authorization does."""
    try:
        return b":" in b64decode(value, validate=True)
    except ValueError:
        return False


def _is_file(value: str) -> bool:
    return value.startswith(os.sep) and os.path.isfile(value)


class KeyFoundError(RefusedError):
    """A value contains a key."""
