"""Walk the body of a refusal once: its objects, and what its texts say in plain English words.

Chinese is translated word by word, in its own word order.
"""

from __future__ import annotations

import json
import re
from collections import deque
from contextlib import suppress
from functools import cache
from html import unescape
from itertools import islice
from typing import Any, NamedTuple

ECHOED_FIELDS = frozenset({"input", "inputs", "messages", "prompt", "content", "contents", "tools", "request"})
# How much is read: parts of a body, items of a part, characters at each end of a text and of JSON in a text.
MOST_PARTS, MOST_ITEMS, END_LENGTH, JSON_LENGTH = 1_000, 100, 3_000, 200_000
SENTENCE_BREAK = r"\n\s*(?-i:(?=[A-Z{(\[]))|(?<=[})\].])\s*\n"  # before or after a line that is a sentence

# Chinese is written without spaces: a word may begin anywhere. A longer phrase comes before its parts.
CHINESE = {
    "rate limit": r"频率|频繁|速率|限流|并发|分[钟鐘]|每[秒日天月]|今日|本月|配额|额度|余额|欠费|套餐|账户|超时",
    "file": r"图片|图像|附件|文件|文档|音频|视频|密钥|令牌|名称|标题|参数|字段|工具|函数",
    "bytes": r"字节",
    "characters": r"字符",
    "context": r"上下文(?:窗口|最?大?长度)?",
    "too long": r"[过過太超][长長大多]了?|[放装]不下|已满|用尽",
    "exceeds": r"超[过過出越限标]|[大高长多]于|溢出",
    "less than": r"[小少低]于",
    "maximum": r"最[大长長高多]",
    "limit": r"上限|限[制额定度]|允许|支持|接受",
    "output": r"输出|生成|回复|回答|补全",
    "input": r"提示词?|输入|輸入|对话|会话|聊天|历史|消息|文本|内容|问题",
    "request body": r"请求(?:主?体|正文)",
    "request": r"请求",
    "tokens": r"\btokens?\b|词元",
    "length": r"[长長]度|大小|数量|总数|数",
    "received": r"收到|当前|实际|包含",
    "and": r"以及|[及和与]",
}
IDEOGRAPHS = r"[\u3400-\u9fff]+"


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
    if not compiled(IDEOGRAPHS).search(text):
        return text
    for word, pattern in CHINESE.items():
        text = compiled(pattern).sub(f" {word} ", text)
    text = re.sub(rf"(?<=\d){IDEOGRAPHS}", ", ", text)
    return re.sub(IDEOGRAPHS, " ", text)


@cache
def compiled(pattern: str) -> re.Pattern[str]:
    """Return a compiled pattern. Most users never need one, so none is compiled at import."""
    return re.compile(pattern.replace("~", "[ _-]?"), re.I | re.M)
