"""Tell by its name whether a value is secret: what secrets are called, and what stands under such a name.

A name is of a kind. Under a ``secret``, such as ``password`` or ``api_key``, everything is one, but placeholders, code
and truth values. A bare ``token`` is also a word of a text; ``auth`` is a section and ``X_KEY`` a label, which makes
them ``ambiguous``: texts under these are secrets if they look random, numbers and bytes only under ``token``. ``pass``
is a result, and ``pin`` a part of a chip.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from decimal import Decimal
from functools import lru_cache
from typing import Any, TypeGuard

BLANKED = "***"
HOLDERS = (list, tuple, set, frozenset, dict)
_MOST_JUDGED = 400  # characters of a value that tell whether it is secret


class LatePattern:
    """A regular expression that is compiled when it is first used: most texts have nothing that would need it."""

    def __init__(self, pattern: str) -> None:
        self._pattern = pattern

    def __getattr__(self, name: str) -> Any:
        method = getattr(re.compile(self._pattern), name)
        setattr(self, name, method)
        return method


_SECRET = LatePattern(
    r"""(?x)(?:^|_)(?:
    \w{0,20}passw(?:or[dt]|d)?s? | pass(?:phrase|code|wd)s? | \w{0,20}pwd | \w{1,20}_pw | psk | kennwort | senha
    | contrase(?:na|_a) | mot_?de_?passe | (?:store|key)_?pass
    | (?:db|sql|pg|my|user|admin|root|login|smtp|mail|imap|ftp|ssh)\w{0,9}_pass | \w{0,20}secrets? | \w{0,9}creds?
    | \w{0,20}credentials? | (?:proxy_?)?authorization | (?:session|login|auth|access)_?cookies? | mnemonic
    | (?:seed|recovery|backup|mfa)_(?:phrase|codes?)
    | (?:api|access|private|secret|sign(?:ing)?|(?:en|de)cryption|ssh|gpg|pgp|hmac|aes|rsa|license|consumer|session
      |subscription|auth|deploy|fernet|account|master|storage|admin|webhook|hf|openai|anthropic|azure|gemini
      )_?keys?(?:_?id)?
    | (?:access|auth|api|refresh|bearer|session|id|bot|sas|security|personal|deploy|oauth2?|csrf|xsrf|jwt|app|hf
      |gh|github|gitlab|slack|telegram|discord|vault|npm|pypi)_?token )$"""
)
_TOKEN = LatePattern(r"(?:^|_)(?<!pad_)(?<!bos_)(?<!eos_)(?<!unk_)(?<!sep_)(?<!cls_)(?<!mask_)token$")
_AMBIGUOUS = LatePattern(r"(?:^|_)(?:auth|pat|cookie|sas|sid|jwt|bearer|key(?:_?id)?)$")
_SHORT = LatePattern(r"(?:^|_)(pin|totp|otp)$|^(?:pass|pw)$")
_COUNTED = LatePattern(r"(?:n|nb|nums?|number|count|max|min|len|total|avg|mean|is|has|had|no|public|primary|foreign)_")
_SIGNED = LatePattern(r"(?i)(?:.*[-_])?(?:auth|code|credential|hmac|key|policy|sig|signature|token)")
_PARTS = LatePattern(r"[A-Z]+s?(?![a-z])|[A-Z]?[a-z]+|\d+")
_SUFFIX = LatePattern(r"(?:_(?:\d+|value|text|str|bytes|prod|dev|test|staging|old|new|base|base64|b64|hash))+$")


@lru_cache(4096)
def kind_of(name: str) -> str:
    """Return the kind of a name that may stand for a secret, else an empty text."""
    section, _, _ = name.rpartition(".")
    is_in_section = section.count(".") > 1 and bool(kind_of(section))  # account.key.NAME: the last part is the user's
    return _kind_of_last(name) or ("ambiguous" if is_in_section else "")


def _kind_of_last(name: str) -> str:
    """Return the kind that the last words of a name have."""
    parts = _PARTS.findall(name[-100:])
    joined = _SUFFIX.sub("", "_".join(parts).lower())
    if not 0 < len(parts) <= 8 or len(name.split()) > 4 or _COUNTED.match(joined):
        return ""
    if _SECRET.search(joined) or (name.isupper() and joined.endswith(("_pass", "_pat"))):
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
    return isinstance(name, str) and kind_of(name) == "secret"


def names_anything(label: object) -> bool:
    """Return whether a secret may stand under a label; one of pandas may have several levels."""
    levels = label if type(label) is tuple else (label,)
    return any(is_text(level) and kind_of(level) for level in levels)


def signs_an_address(name: str) -> bool:
    """Return whether a parameter of an address may be a key, or sign the address."""
    return bool(kind_of(name)) or _SIGNED.fullmatch(name) is not None


# names that stand beside their values

NAME_LABELS = (
    "name", "key", "variable", "var", "setting", "option", "property", "parameter", "header", "field", "env",
)  # fmt: skip
VALUE_LABELS = ("value", "val", "content", "default", "data")


def names_beside(labels: Sequence[object] | None, values: Sequence[object]) -> Sequence[object]:
    """Return the names that values stand under: their labels, or names that stand beside them.

    ``{"name": "API_KEY", "value": …}`` has the one, ``("API_KEY", …)`` (without labels) the other.
    """
    if labels is None:
        return (None, values[0]) if _is_named_value(values) else (None,) * len(values)
    words = [str(label).lower() if is_text(label) else "" for label in labels]
    pairs = zip(words, values, strict=False)
    names = [value for word, value in pairs if word in NAME_LABELS and names_anything(value)]
    if not names:
        return labels
    return [names[0] if word in VALUE_LABELS else label for word, label in zip(words, labels, strict=True)]


def _is_named_value(values: Sequence[object]) -> bool:
    """Return whether there are two values, of which the first names the second."""
    if len(values) != 2 or not is_text(values[0]) or not kind_of(values[0]):
        return False
    value = values[1]
    is_count = is_number(value) and abs(value) < 1000
    is_word = type(values) is list and is_text(value) and value.isalpha()  # such lists are of names
    return not is_count and not is_word


def is_paired(labels: Iterable[object]) -> bool:
    """Return whether one of these labels is for names, and one for values."""
    words = {str(label).lower() for label in labels if is_text(label)}
    return not words.isdisjoint(NAME_LABELS) and not words.isdisjoint(VALUE_LABELS)


# what stands under a name

_FLAGS = frozenset(("0", "1", "yes", "no", "true", "false", "y", "n", "on", "off"))
_STAND_INS = """
    none null nil nan nat undefined required optional missing invalid expired incorrect wrong empty hidden
    redacted removed masked example placeholder password passwd secret secrets token credentials key apikey
    changeme change-me change_me change_it dummy fake anything not-needed no-key-required sk-no-key-required
    lm-studio todo tbd unset str string text bytes int integer float number object bool boolean any char varchar
    secretstr bearer basic self default inherit vault keyring env prompt stdin
"""
NO_SECRETS = _FLAGS | set(_STAND_INS.split())  # words where a secret would stand, or where none is needed
SCHEME = LatePattern(r"(?i)(?:bearer|basic|token|digest|negotiate|apikey|aws4-hmac-sha256)\s+")
_PROSE = LatePattern(
    r"(?i)\b(?:the|a|an|your|of|to|is|are|was|must|be|for|and|or|with|not|in|this|that|please|from|if|at|by|has)\b"
)
_PLACEHOLDER = LatePattern(
    r"(?ix)[*x.…•_\-\#?]+ | \$[({].* | \$(?-i:[A-Z_][A-Z0-9_]*) | [<{\[%].*[>}\])%] | %[sdr] | .*(?:\$\{|\{\{|<[a-z]).*"
    r" | (?-i:[A-Z]+(?:_[A-Z]+)+) | (?:your|insert|replace|enter|put|example|dummy|fake)[-_ ].* | .*(?:\.\.\.|…)"
    r" | my[-_](?:api[-_])?(?:secret|key|token|password)[\w-]{0,4} | sk-\.{2,}.*"
)
_PATH = LatePattern(
    r"(?i)/(?:home|root|users|usr|etc|var|tmp|opt|mnt|srv|run|app|content|workspace)(?:/[\w.-]*)*"
    r"|(?:~|\.{0,2})/[\w.-]+(?:/[\w.-]+)*\.\w{1,6}|[A-Za-z]:\\.*"
)
_CODE = LatePattern(r"[A-Za-z_][\w.]*+[(\[]|(?:[A-Za-z_]+\.)+[A-Za-z_]+$|(?:await|lambda|not|if)\b")
_SENTENCE_END = LatePattern(r"[A-Za-z]+[.!?]")
_CHANGE = LatePattern(r"(?<=[A-Za-z])(?=\d)|(?<=\d)(?=[A-Za-z])")
_MIXED = LatePattern(r"(?=\D*\d)(?=[^A-Za-z]*[A-Za-z])[^\s/\\:]{5,100}")
_MARKED = LatePattern(r"(?:tok|key|sec|pat|sess)_\w{8}")


def is_secret_text(value: str, kind: str, *, bare: bool = False) -> bool:
    """Return whether a text under a name of this kind is a secret; ``bare``: it stands in no quotes."""
    value = SCHEME.sub("", value[:_MOST_JUDGED].strip().rstrip(",;"), count=1)
    is_stand_in = value.lower().rstrip(".!?") in NO_SECRETS
    if len(value) < 3 or is_stand_in or _PLACEHOLDER.fullmatch(value) or _PATH.fullmatch(value):
        return False
    if kind != "secret":
        return _looks_secret(value, kind)
    if bare and (_SENTENCE_END.fullmatch(value) or _CODE.match(value)):
        return False
    return " " not in value or not _PROSE.search(value)


def _looks_secret(value: str, kind: str) -> bool:
    """Return whether a text under a name that is not always one of a secret looks like one."""
    if kind == "pin":
        return value.isdigit() and 4 <= len(value) <= 8
    if kind == "pass":
        return _MIXED.fullmatch(value) is not None
    return looks_random(value) or (kind == "token" and value.isdigit() and len(value) >= 6)


def looks_random(value: str) -> bool:
    """Return whether a text is no word: it changes between letters and digits, or is long and has both."""
    if len(value) < 8 or not value.isascii() or not value.isprintable() or " " in value:
        return False
    changes = len(_CHANGE.findall(value[:400]))
    return changes >= 2 or (changes == 1 and len(value) >= 16) or _MARKED.match(value) is not None


def is_secret_value(name: object, value: object) -> bool:
    """Return whether a value of any type is secret for the name that it stands under, such as a column's."""
    levels = name if isinstance(name, tuple) else (name,)  # of a column of pandas
    kind = next(filter(None, (kind_of(level) for level in levels if isinstance(level, str))), "")
    if not kind or value is None or type(value).__name__ in ("bool", "bool_") or _is_missing(value):
        return False
    if isinstance(value, str):
        text = value.strip()
        is_any = kind == "secret"
        return text.lower() not in ("", BLANKED, *_FLAGS) if is_any else _looks_secret(text, kind)
    if is_number(value):
        return value not in (0, 1) if kind in ("secret", "token") else kind == "pin" and abs(value) >= 1000
    return kind == "secret" or (kind == "token" and not isinstance(value, HOLDERS))


def _is_missing(value: object) -> bool:
    """Return whether a value is NaN or another missing value, or an empty collection."""
    if isinstance(value, (bytes, bytearray, *HOLDERS)):
        return not value
    return type(value).__name__ in ("NAType", "NaTType") or (isinstance(value, float) and value != value)


def is_text(value: object) -> TypeGuard[str]:
    """Return whether a value is a text; isinstance may run code of its class."""
    return issubclass(type(value), str)


def is_number(value: Any) -> TypeGuard[float]:
    """Return whether a value is a number of Python or NumPy, without running code of its class."""
    kind = type(value)
    if kind is int or kind is float or kind is Decimal:
        return True
    is_of_numpy = library_of(kind) == "numpy" and hasattr(value, "dtype")
    return bool(is_of_numpy and value.dtype.kind in "iuf" and not value.ndim)


def library_of(kind: type) -> str:
    """Return the package of a class, without code of its metaclass."""
    module = type.__dict__["__module__"].__get__(kind)
    return module.partition(".")[0] if type(module) is str else ""
