"""Find where secrets stand in a text: by what they look like, and by the names that they stand under.

By their look: the key of a provider, a private key (PEM, OpenSSH, PGP, PuTTY), a JWT, a password in an address, the
credentials of a header. By their names: whatever :mod:`secret_names` says, in code, reprs, JSON, XML, YAML, .env files,
command lines, addresses and tables.

Every search takes time in proportion to the text: repetitions are bounded or cannot overlap.
"""

from __future__ import annotations

import re
from base64 import b64decode
from collections.abc import Callable, Iterator
from itertools import chain
from typing import Any

from .private_keys import Span, key_blocks
from .secret_names import (
    NAME_LABELS,
    SCHEME,
    VALUE_LABELS,
    LatePattern,
    is_paired,
    is_secret_text,
    kind_of,
    looks_random,
    names_beside,
    signs_an_address,
)

Finder = Callable[[str], Iterator[Span]]
_LONGEST_VALUE = 20_000  # characters of a value that fills a line
_LONGEST_LINE = 400  # characters of a line that tell whether it is secret
_LONGEST_LIST = 600  # characters of a list or tuple in brackets that is looked through


def secrets_in(text: str) -> Iterator[Span]:
    """Yield the places of secrets in a text, in any order; they may overlap."""
    small = text.lower()
    lines = text.replace("\\n", " \n").replace("\\t", " \t").replace("\\r", "  ")  # of a repr, at the same places
    for words, finders in _FINDERS:
        if any(word in small for word in words):
            yield from chain.from_iterable(find(lines) for find in finders)


def _matches(pattern: str, is_secret: Callable[[re.Match[str]], bool] = bool) -> Finder:
    """Return a finder of what a pattern matches: its last group, else all of it."""
    compiled = LatePattern(pattern)

    def find(text: str) -> Iterator[Span]:
        return (match.span(match.lastindex or 0) for match in compiled.finditer(text) if is_secret(match))

    return find


# shapes, each with words of which one is in a text that has it

_LONG = r"(?:[\w-]{0,80}?[A-Za-z0-9]{16}|(?=[A-Za-z_-]{0,40}\d)[\w-]{12})"  # letters and digits, or a name with a digit
_SHAPES = rf"""(?x)(?<![A-Za-z0-9])(?=[\w$.:/-]{{12}})(?:
    A[KS]IA[A-Z0-9]{{16}}["']?[\s,:;"'|]{{1,6}}[A-Za-z0-9/+]{{40}}(?![\w/+])
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
    | SK[0-9a-f]{{32}}(?![A-Za-z0-9]) | (?<![\w.-])[MNO][A-Za-z0-9]{{23,27}}\.[\w-]{{6}}\.[\w-]{{25,}}+
    | (?<![\w-])eyJ[\w-]{{8,}}+(?:\.[\w-]*+){{1,4}} | \$(?:2[abxy]|[156y]|argon2id?)\$[\w./$=,+-]{{20,}}+)"""
_PASSWORD_IN_ADDRESS = (
    r"://[^\s/?#@:'\"]{0,200}:((?![*x.…]+@|[<{$\[%])[^\s/?#@'\"]{1,200})@"  # placeholders are no passwords
)
_BEARER = r"(?i)\bbearer\s{1,3}(?=[\w.~+/-]{0,80}\d|\S{20})((?!(?-i:[A-Z_]+)\b)[\w.~+/-]{8,}+=*)"
_BASIC = r"(?i)\bbasic\s{1,3}([\w+/-]{8,}+={0,2})"
_IN_SQL = r"""(?i)\b(?:password|passphrase|by(?: password)?)\s{1,3}(["'])([^'"\n]{3,200})\1"""
_IN_NETRC = r"(?i)\blogin\s+?\S{1,80}\s{1,9}(?:account \S{1,80}\s{1,9})?password\s{1,9}(\S{1,200})"
_IN_PGPASS = r"(?m)^[^:\s]{1,200}:(?:[56]\d{3}|\*):[^:\s]{1,80}:[^:\s]{1,80}:([^\s:]{3,200})$"
_CURL = r"""\s(?:-u|--user|--proxy-user)[ =]?["']?[^\s:"']{1,80}:([^\s"']{3,200})"""
_LOGIN = r"""(?i)\.login\(\s{0,40}["'][^"'\n]{1,100}["']\s{0,3},\s{0,40}["']([^"'\n]{3,200})["']"""
_OPTION_P = (
    r"""(?:\bsshpass\b|\b(?:docker|podman|helm|oras|oc|az)\s[^\n|;&]{0,80}\blogin\b|\bmysql\w{0,9}\b(?=[^\n|;&]{0,200}\s-p\S))"""
    r"""[^\n|;&]{0,200}?\s-p[ =]?["']?([^\s"'<>|;&]{3,200})"""
)
_IN_ODBC = r"""(?i)(?:%3b|=)(?:\+|%20)?(?:pwd|password)%3d((?:(?!%3b)[^\s&"'<>#]){3,400}+)"""  # in an address
_FLAG = r"""(?<![\w-])--?([\w-]{2,60})\s{1,3}(?![-|\[(])["']?([^\s"'<>]{3,400})"""
_PARAMETER = r"""[?&]([\w.-]{1,60})=([^&\s"'<>#]{3,4000}+)"""
_IN_A_SENTENCE = (  # the first letter by itself, which is quick to search for
    r"""(?x)[pstcaPSTCA](?<![\w-].)(?i:assw(?:or)?d|assphrase|ecret|oken|redentials?|pi[ -]?key)[ \t]
    (?:(?:is|was|provided|given|used)[ \t:,]{1,3}){0,2}["'`]?([^\s"'`,;()<>=]{8,400}+)"""
)


def _is_user_and_password(match: re.Match[str]) -> bool:
    try:
        return b":" in b64decode(match[1], validate=True)
    except ValueError:
        return False


def _is_of_curl(match: re.Match[str]) -> bool:
    command = match.string[max(0, match.start() - 300) : match.start()]
    return "curl" in command and is_secret_text(match[1], "secret")


def _is_password(match: re.Match[str]) -> bool:
    return is_secret_text(match[1], "secret")


def _is_option(match: re.Match[str]) -> bool:
    kind = kind_of(match[1])
    return bool(kind) and is_secret_text(match[2], kind, bare=kind == "secret" and match[2].isalpha())


def _is_parameter(match: re.Match[str]) -> bool:
    name = match[1]
    is_label = name.lower().endswith(("code", "key", "policy", "token")) and kind_of(name) != "secret"
    is_signed = is_label or signs_an_address(name)
    return is_signed and is_secret_text(match[2], "token" if is_label else "secret")


# tables

_DELIMITERS = (",", "\t", ";", "|")
_MOST_ABOVE = 6  # lines above and with the names of a table
_HEAD = LatePattern(r"[\w.-]{0,60}")
_HEAD_OF_WORDS = LatePattern(r"[\w./ -]{0,60}+(?:\([\w./% -]{0,60}+\) ?)?")
_QUOTED_TABLE = LatePattern(
    r"""(["'])((?:[^"'\n\\]{0,200}+\n){0,5}?(?:[\w. ()/-]{0,60}+[,\t;|])++[\w. ()/-]{0,60}+\n"""
    r"""(?:(?!\1)[^\\]|\\.)++)"""
)
_MARKDOWN = LatePattern(r"(?m)^([ \t]{0,9}\|[^\n]{1,2000}+\n[ \t]{0,9}\|[ :|-]{1,2000}+\n(?:[ \t]{0,9}\|[^\n]*+\n?)++)")


def _delimited(text: str) -> Iterator[Span]:
    """Yield the cells under names of secrets in delimited tables, such as CSV: in a whole text, or a quoted one."""
    yield from _cells(text)
    for table in chain(_QUOTED_TABLE.finditer(text), _MARKDOWN.finditer(text)):
        inside = table.lastindex or 0
        start = table.start(inside)
        yield from ((start + begin, start + end) for begin, end in _cells(table[inside]))


def _cells(text: str) -> Iterator[Span]:
    begin = len(text) - len(text.removeprefix("\ufeff"))
    for number in range(_MOST_ABOVE):
        end = text.find("\n", begin) + 1 or len(text)
        for delimiter in _DELIMITERS:
            names = _heads(text[begin:end], delimiter, is_first=not number)
            below = text[end : text.find("\n", end) + 1 or len(text)]
            if names and (delimiter in below or "-+-" in below):
                is_secret = is_paired(names) or any(map(kind_of, names))
                yield from _cells_below(names, _rows(text, end, delimiter, len(names))) if is_secret else ()
                return
        begin = end


def _heads(line: str, delimiter: str, *, is_first: bool) -> list[str]:
    """Return the names in a line, or nothing where it may be a sentence or code: these have spaces after commas."""
    cells = line.rstrip("\r\n").split(delimiter)
    names = [cell.strip().strip("\"'") for cell in cells]
    is_strict = delimiter == "|" or not any(cell[:1].isspace() for cell in cells)
    head = _HEAD_OF_WORDS if is_strict else _HEAD
    is_head = len(names) > 1 and (is_strict or is_first) and all(map(head.fullmatch, names))
    return names if is_head else []


def _cells_below(names: list[str], rows: Iterator[list[re.Match[str]]]) -> Iterator[Span]:
    """Yield the cells of rows that are secret for the names of their columns, without spaces and quotes around them."""
    for cells in rows:
        values = [cell[0].strip().strip('"') for cell in cells]
        for name, value, cell in zip(names_beside(names, values), values, cells, strict=False):
            kind = kind_of(str(name))
            if kind and is_secret_text(value, kind):
                start = cell.start() + cell[0].index(value)
                yield start, start + len(value)


def _rows(text: str, at: int, delimiter: str, columns: int) -> Iterator[list[re.Match[str]]]:
    """Yield the cells of each line from a place on."""
    cell: Any = re.compile(rf'"(?:[^"]|"")*+"|[^{re.escape(delimiter)}\n]*+')
    while at < len(text):
        cells = [cell.match(text, at)]
        while len(cells) < columns and text.startswith(delimiter, cells[-1].end()):
            cells.append(cell.match(text, cells[-1].end() + 1))
        yield cells
        at = text.find("\n", cells[-1].end()) + 1 or len(text)


_INSERTED = LatePattern(r"(?i)\binsert\s[^()]{1,200}\(([^()]{1,2000}+)\)\s{0,9}values(?=\s{0,9}\()")
_INSERTED_VALUE = LatePattern(
    r"""(?x)\s{0,40}+([)]{0,3}\s{0,40},?\s{0,40}\(|[)]{0,2},)\s{0,40}+
    (?:[A-Za-z]?(["'])((?:(?!\2)[^\\]|\\.|\2\2){0,4000}+)\2 | [^,'"()]{0,200}+(?:\([^()]{0,200}+\))?)"""
)


def _inserted(text: str) -> Iterator[Span]:
    """Yield the texts that SQL inserts into columns that are named like secrets."""
    done = 0
    for table in _INSERTED.finditer(text):
        kinds = [kind_of(name.strip().strip("\"`'[]")) for name in table[1].split(",")]
        value = _INSERTED_VALUE.match(text, table.end()) if any(kinds) and table.start() >= done else None
        number = 0
        while value:
            is_next_row = value[1][0] == ")" and value[1][-1] == "("
            number = 0 if is_next_row else number + value[1].count(",")
            kind = kinds[number] if number < len(kinds) else ""
            if kind and value[3] and is_secret_text(value[3], kind):
                yield value.span(3)
            done = value.end()
            value = _INSERTED_VALUE.match(text, done)


# names with values behind them

_ASSIGNED = LatePattern(
    r"""(?x)(?<![\w.-])(
    (?:(?i:api|access|secret|private|auth|client|refresh|session|master|signing|encryption|fernet)[ ])?
    [\w.-]{1,100}+)(?:[ ]for(?:[ ][^\s:=]{1,60}){1,2}(?=:[ ]))?(?:\\{0,3}["'`])?[)\]]?[ \t]{0,9}
    (:=|=>|[=!]=|[=:>]|,(?=\s{0,2}b?["'])|\((?=\s{0,2}[rb]?["'])|(?:is|was)[ \t](?=["'`]))
    [ \t]{0,9}+(?:\s{1,40}+(?=["']))?"""
)
_MAKES = LatePattern("[A-Z]+[a-z]|set")  # SecretStr("…"), setPassword("…")
_WRAPPER = LatePattern(r"""(?:str|bytes|quote(?:_plus)?)\((?=[rb]?["'])""")
_ANNOTATION = LatePattern(r"""[\w.\[\], |]{1,60}?=\s{0,3}(?=[rbuf]?["'])""")
_QUOTED = LatePattern(r"""(?i)[rbuf]{0,2}(\\{0,3}["'`])((?:(?!\1)(?:\\.|[^\\\n])){0,4000}+)""")
_TRIPLE = LatePattern(r"""(?i)[rbuf]{0,2}("{3}|'{3})((?:(?!\1)(?:\\.|[^\\])){0,4000}+)""")
_LINES = LatePattern(r'(")([^"]{0,4000}+)"(?=[ \t]*(?:\n|$))')
_AFTER_A_QUESTION = LatePattern(r"\s*[);,\]]")  # what follows a quote that ends a text such as "Password: "
_LITERAL = LatePattern(r"""["']([^"'\n]{3,400})["'](?!\s?:)""")
_ITEM = LatePattern(r"""(?<=[\[,\s])([^\s"'`\[\](){},]{3,400})(?=\s{0,40}[,\]])""")
_ELEMENT = LatePattern(r"\s{0,40}[^<>]{3,400}(?=</)")


def _assigned(text: str) -> Iterator[Span]:
    """Yield what stands under names of secrets, in code, reprs, JSON, XML, YAML, .env files and headers."""
    done = 0
    for name in _ASSIGNED.finditer(text):
        if name.start() < done or name[1][-1] == "-":
            continue
        kind = kind_of(name[1])
        is_other_call = name[2] == "(" and not _MAKES.match(name[1].rpartition(".")[2])
        for span in _value(text, name, kind) if kind and not is_other_call else ():
            yield span
            done = span[1]


def _value(text: str, name: re.Match[str], kind: str) -> Iterator[Span]:
    """Yield the secrets that stand behind a name of this kind and the sign after it."""
    separator, at = name[2], name.end()
    prefix = (_ANNOTATION if separator == ":" else _WRAPPER).match(text, at)
    at = prefix.end() if prefix else at
    quoted = _TRIPLE.match(text, at) or (_starts_line(text, name) and _LINES.match(text, at)) or _QUOTED.match(text, at)
    below = _BELOW.match(text, at) if separator == ":" else None
    if separator == ">":
        spans = [match.span() for match in [_ELEMENT.match(text, at)] if match]
    elif below:
        spans = list(_below(text, name, below))
        kind = "secret" if below[1] and kind != "ambiguous" else kind
    elif quoted:
        inside = quoted.lastindex or 0
        spans = [] if _AFTER_A_QUESTION.match(quoted[inside]) else [quoted.span(inside)]
        is_loose = separator == "," and not SCHEME.match(quoted[2]) and not _is_pair(text, name, quoted)
        kind = "token" if is_loose else kind
    elif text[at : at + 1] in ("(", "["):
        spans = _in_brackets(text, at, is_list=separator == ":" and kind == "secret")
        kind = "secret" if kind == "ambiguous" and len(spans) == 2 else kind  # auth=("ada", "…")
    else:
        yield from _bare_value(text, name, at, kind)
        return
    yield from (span for span in spans if is_secret_text(text[slice(*span)], kind))


def _is_pair(text: str, name: re.Match[str], quoted: re.Match[str]) -> bool:
    """Return whether brackets hold a name and a value, and nothing else."""
    opened = text[max(0, name.start() - 2) : name.start()].strip("\"'\\")[-1:]
    closed = text[quoted.end() : quoted.end() + 4].lstrip("\"'\\, ")[:1]
    return f"{opened}{closed}" == "()" or (f"{opened}{closed}" == "[]" and not quoted[2].isalpha())


def _in_brackets(text: str, at: int, *, is_list: bool) -> list[Span]:
    """Return the texts in brackets; where there are none in quotes, the words of a ``list`` of YAML."""
    end = text.find(")" if text[at] == "(" else "]", at, at + _LONGEST_LIST)
    stop = end + 1 if end > 0 else at + _LONGEST_LIST
    spans = [match.span(1) for match in _LITERAL.finditer(text, at, stop)]
    return spans if spans or not is_list else [match.span(1) for match in _ITEM.finditer(text, at, stop)]


# values without quotes: the rest of a line, a word, a block of YAML

_LINE = LatePattern(r"""[^\n"'\\]*+""")
_LINE_START = LatePattern(r"""[\s#>*$-]*(?:(?:export|set|setx|ENV|ARG)\s+)?["']?""")
_HEADER = LatePattern(r"""(?:-H|--header)[ =]?["']$""")
_BARE = LatePattern(r"""(?:[^\s"'`,;(){}<>\[\]|&\\=]|&(?=[\w!-])(?![\w.-]{1,60}=)){1,4000}+={0,2}[(\[]?""")
_VARIABLE = LatePattern(r"[A-Za-z_.:/-]+\d?|\w+[._][\w.]*[A-Za-z]|[\w.]+[(\[]")
_NEXT_PAIR = LatePattern(r"[;&]|\s+\w+=|$")
_BELOW = LatePattern(r"([|>][-+\d]{0,2})?[ \t]*(?:#[^\n]*)?(?=\n)")
_LIST_ITEM = LatePattern(r"""[ \t]*-[ \t]+["']?([^\n"'#]{3,400}?)["']?[ \t]*(?:#[^\n]*)?""")
_SUBKEY = LatePattern(r"""[ \t]*(?:-[ \t]+)?["']?[\w. -]{1,100}["']?:(?:\s|$)""")


def _bare_value(text: str, name: re.Match[str], at: int, kind: str) -> Iterator[Span]:
    """Yield a value without quotes: the rest of the line in files of settings and headers, else one word."""
    is_line = _starts_line(text, name)
    is_upper = name[1].isupper()
    kind = "secret" if is_line and is_upper and name[2] == "=" and kind in ("token", "pass") else kind
    is_header = name[2] == ":" and (
        name[1].lower().endswith(("authorization", "cookie"))
        or _HEADER.search(text, max(0, name.start() - 12), name.start()) is not None
    )
    if is_line or is_header:
        whole = _rest_of_line(text, at, _LONGEST_LINE)
        is_one = " " not in whole or is_upper
        is_pair = is_header and (kind == "secret" or "=" in whole)
        if (is_pair or is_one) and is_secret_text(whole, "secret" if is_pair else kind, bare=True):
            yield at, at + len(_rest_of_line(text, at, _LONGEST_VALUE))
            return
    word = _BARE.match(text, at)
    if word and is_secret_text(word[0], kind, bare=True) and _is_no_name(text, name, word):
        yield word.span()


def _starts_line(text: str, name: re.Match[str]) -> bool:
    before = text[max(0, name.start() - 40) : name.start()]
    is_line = _LINE_START.fullmatch(before.rpartition("\n")[2]) is not None and ("\n" in before or len(before) < 40)
    return is_line or (before[-1:] in ("'", '"') and text[name.end(1)] not in "\\'\"")  # the first in a repr


def _rest_of_line(text: str, at: int, most: int) -> str:
    """Return the rest of a line of settings, without a comment."""
    line = _LINE.match(text, at, at + most)
    return line[0].partition(" #")[0].partition(" ;")[0].rstrip() if line else ""


def _is_no_name(text: str, name: re.Match[str], word: re.Match[str]) -> bool:
    """Return whether a word without quotes is a value, and neither a variable nor a word of a sentence."""
    if word[0].isdigit():
        return len(word[0]) >= 4
    is_variable = bool(kind_of(word[0])) and _VARIABLE.fullmatch(word[0]) is not None
    if not is_variable and not re.sub("[_&]", "", word[0]).isalpha():
        return True
    is_before_a_pair = _NEXT_PAIR.match(text, word.end()) is not None
    is_value = is_before_a_pair or (_is_setting(text, name) and not word[0].isupper())
    return name[2] == "=" and is_value


def _is_setting(text: str, name: re.Match[str]) -> bool:
    """Return whether a name is an option of a command, or stands behind one or behind a pair: user=ada password=…"""
    words = text[max(0, name.start() - 80) : name.start()].rpartition("\n")[2].split()
    before = words[-1] if words else ""
    is_behind_a_pair = "=" in before.strip("=<>!") and before[-1] not in ",;(&|)]}"
    return name[1].startswith("-") or before.startswith("-") or is_behind_a_pair


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


# names that are values themselves: name: API_KEY, key="ApiKey", <name>api.key</name>

_NAMED = LatePattern(
    rf"""(?xi)(?<![\w-])(?:{"|".join(NAME_LABELS)})\\{{0,3}}["']?
    (?: \s{{0,3}}[:=]\s{{0,3}}\\{{0,3}}["']?([\w.:-]{{1,100}}+)\\{{0,3}}["']?
    | >\s{{0,9}}([\w.:-]{{1,100}}+)\s{{0,9}}</\w{{1,20}}> )"""
)
_VALUE_OF = LatePattern(
    rf"""(?xi)(?<![\w-])({"|".join(VALUE_LABELS)})(?:\\{{0,3}}["'])?[ \t]{{0,3}}([:=])[ \t]{{0,9}}+"""
)
_BETWEEN = LatePattern(r"(?:[^{}<>\n]|\n(?![ \t]*\n|[ \t]*-)){0,300}+")
_BEFORE = LatePattern(r"[{}<>]|\n[ \t]*\n|\n[ \t]*-")
_CONTENT = LatePattern(r"[^<>]{0,200}+(?:>\s{0,40}+)?(?:<\w{1,20}>\s{0,40}+)?([^<>]{3,400}+)</")


def _named(text: str) -> Iterator[Span]:
    """Yield the values beside names that are values themselves: {"name": "API_KEY", "value": …} in any notation."""
    for label in _NAMED.finditer(text):
        kind = kind_of(label[label.lastindex or 1])
        if not kind:
            continue
        start, end = label.span()
        after = _BETWEEN.match(text, end)
        before = _BEFORE.split(text[max(0, start - 300) : start])[-1]
        for place in ((end, after.end() if after else 0), (start - len(before), start)):
            value = _VALUE_OF.search(text, *place)
            if value:
                yield from _value(text, value, kind)
        content = _CONTENT.match(text, end)
        if content and is_secret_text(content[1], kind):
            yield content.span(1)


_NAME_PARTS = (
    "pass", "pw", "pin", "otp", "secret", "token", "cred", "auth", "cookie", "key", "sig", "hmac", "pat", "sas", "sid",
    "psk", "kennwort", "senha", "contrase", "mnemonic", "seed_", "recovery", "backup_", "mfa",
)  # fmt: skip
_AFTER_NAMES: tuple[Finder, ...] = (
    _matches(_PARAMETER, _is_parameter),
    _matches(_IN_A_SENTENCE, lambda match: looks_random(match[1].rstrip(".:!?"))),
    _assigned,
    _named,
    _delimited,
)
_FINDERS: tuple[tuple[tuple[str, ...], tuple[Finder, ...]], ...] = (  # words, one of which is in a text to search
    (("",), (_matches(_SHAPES),)),  # in any text: to search for it is quicker than for its hundred beginnings
    (("private key", "private-lines:", "private-mac:"), (key_blocks,)),
    (("://",), (_matches(_PASSWORD_IN_ADDRESS),)),
    (("bearer",), (_matches(_BEARER),)),
    (("basic",), (_matches(_BASIC, _is_user_and_password),)),
    ((" '", ' "'), (_matches(_IN_SQL),)),
    (("login",), (_matches(_IN_NETRC), _matches(_LOGIN, _is_password))),
    (("sshpass", "mysql", "login"), (_matches(_OPTION_P, _is_password),)),
    (("insert",), (_inserted,)),
    (("%3d",), (_matches(_IN_ODBC, _is_password),)),
    ((":5", ":6", ":*"), (_matches(_IN_PGPASS),)),
    (("curl",), (_matches(_CURL, _is_of_curl),)),
    (("pass ", "--"), (_matches(_FLAG, _is_option),)),
    (_NAME_PARTS, _AFTER_NAMES),
)
