"""Keys, which no prompt carries: those that are known, and texts that look like one."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable

from .limits import RefusedError

_PREFIXES = (
    "sk-", "sk_", "rk_", "pk_", "AIza", "ghp_", "gho_", "ghu_", "ghs_", "ghr_", "github_pat_", "glpat-", "AKIA", "ASIA",
    "xoxa-", "xoxb-", "xoxc-", "xoxd-", "xoxe-", "xoxp-", "xoxr-", "xoxs-", "xapp-", "hf_", "gsk_", "xai-", "nvapi-",
    "pplx-", "tgp_", "csk-", "r8_", "npm_", "pypi-", "dop_v1_", "ya29.", "SG.", "lsv2_", "PRIVATE KEY", "eyJ",
)  # fmt: skip
_LONG = r"(?:[\w-]{0,80}?[A-Za-z0-9]{16}|(?=[A-Za-z_-]{0,40}\d)[\w-]{12})"  # a word, or a name with a number in it
_SHAPES = re.compile(
    rf"(?<![A-Za-z0-9])(?:[srp]k[-_]{_LONG}|AIza[\w-]{{20}}|(?:gh[pousr]|github_pat|hf|gsk|npm|r8|lsv2|dop_v1|tgp)_"
    rf"[A-Za-z0-9_]{{16}}|A[KS]IA[A-Z0-9]{{12}}|xox[a-z]-[\w-]{{10}}|xapp-[\w-]{{10}}|(?:xai|nvapi|pplx|csk|glpat|pypi)-"
    rf"{_LONG}|ya29\.[\w-]{{20}}|SG\.[\w-]{{16}}|eyJ[\w-]{{8,}}\.eyJ[\w-]{{8,}})[\w.-]*|"
    r"-----BEGIN [A-Z ]{0,40}PRIVATE KEY"
)
_NAMED = re.compile(r"(?i)(?:key|token|secret|passw(?:or)?d|passphrase|credentials?|_pat)(?:_?id)?$")
_LEAST = 12  # characters of a variable's value: a shorter one may be any word
_BEGINNING = 16  # characters of a long key that give it away


class Keys:
    """Finds keys in text: those handed in, those of the environment, and the known shapes."""

    def __init__(self, known: Iterable[str] = ()) -> None:
        values = (value.strip() for name, value in os.environ.items() if _NAMED.search(name))
        secrets = {*filter(None, known), *(value for value in values if len(value) >= _LEAST and not _is_file(value))}
        self._known = sorted(secrets, key=len, reverse=True)
        self._clean = ""  # the text that was looked at last: a long one is met again and again
        # a table shows the beginning of a long text alone
        self._parts = [secret[:_BEGINNING] if len(secret) >= 2 * _BEGINNING else secret for secret in self._known]

    def hold(self, text: str) -> bool:
        """Whether a text has a key anywhere in it."""
        if any(part in text for part in self._parts):
            return True
        return any(prefix in text for prefix in _PREFIXES) and _SHAPES.search(text) is not None

    def check(self, text: str) -> None:
        """Raise RefusedError where a text has a key in it."""
        if text is self._clean:
            return
        if self.hold(text):
            raise KeyFoundError
        self._clean = text

    def masked(self, text: str) -> str:
        """A text for an error, which must not show a key either."""
        for part in (*self._known, *self._parts):
            text = text.replace(part, "***")
        return _SHAPES.sub("***", text)


def _is_file(value: str) -> bool:
    return value.startswith(os.sep) and os.path.isfile(value)


class KeyFoundError(RefusedError):
    """A value holds a key."""
