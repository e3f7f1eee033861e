"""The words of refusals, which servers write in English or Chinese.

A refusal is translated into English word by word, in its own word order. Of each clause, overflow.py asks which
things its words name (WORDS). Only words that tell an overflow from something else are listed. "~" joins the words
of a name: context length, context_length, ContextLength.
"""

from __future__ import annotations

import re
from functools import cache

UNIT = r"(?:[kmg]i?b|bytes?|char\w*|pixels|items|entries)\b"  # units of other limits

# What a word names; the first row that matches decides. "#" stands for a number.
WORDS = {
    "other": (  # that has a limit of its own
        rf"# ?{UNIT}"
        r"|(?:prompt|message|conversation|chat|history|context|input|session|token|tool~call)(?:~|')?s?~?"
        r"(?:ids?(?! len)|names?|titles?|key|template|index|role|logprobs|caching|cache[a-z]*|param[a-z]*|audio)\b"
        r"|(?:api|access|auth[a-z]*|bearer|refresh|session|reset|id|security|invite) tokens?\b|(?:logit|stop|tool)"
        r"[a-z]*|images?|pictures?|photos?|files?(?! *[\"'/])|attachments?|documents?|pdfs?|pages?|audio|videos?"
        r"|uploads?|frames?|schemas?|headers?|cookies?|ur[il]s?|query string|strings?|arrays?|passwords?|signatures?"
        r"|jwt|csrf|names?|conversations|titles?|items?|lists?|metadata|users?|temperature|top_[a-z]+|seeds?|logprobs"
        r"|dimensions?|depth|vocab[a-z]*|memory|[cg]pu|time|timeout|queue|connections?|buffers?|retries|iterations"
        r"|sessions?|batch[a-z]*|lora|functions? (?:name|desc)[a-z]*|enum|num_ctx|chars|characters|bytes|budget_tokens"
        r"|proxy|properties|seconds"
    ),
    "": (
        r"bad~request(?: error)?|invalid~request(?:~error)?|request~id\S*|invalid (?:input )?argument|error message"
        r"|validation|input should be|text of|model~group|context (?:deadline|cancel[a-z]*|menu|handle|manager)"
        r"|context=\([^)]*"  # OpenAI: a place in a schema
    ),
    "shorten": r"shorten|short(?:er)?(?! than)|reduc[a-z]*|trim|truncate|compress|cut down|clear|summari[sz]e",
    "context": (
        r"context(?:~(?:windows?|length|size|limit|budget)){0,2}|(?:sequence|seq|model|position)~len(?:gth)?|n_ctx|ctx"
        r"|max_(?:model|seq[a-z]*|context|ctx|position[a-z]*)(?:~(?:len|length|tokens|size|embeddings))?|kv cache"
    ),
    "output": (
        r"(?:generated|output|response|reply|completion) (?:text|messages?|content|sequence)|(?<!model_)max_tokens"
        r"|max~(?:new|output|completion)~(?:tokens?|length)|n_predict|completions?|outputs?|repl(?:y|ies)"
        r"|responses?|answers?|predict[a-z]*|writes?"
    ),
    "over": (
        r"(?:too|so|that|this)~(?:many|much|long|large|big)|overflow[a-z]*|exhausted|oversized?|full\b|filled|reached"
        r"|no room|r[au]n out|out of(?= context)|hit|not enough|longer than (?:allowed|permitted)|exceed[a-z]*"
        r"|surpass[a-z]*|cross(?:e[sd])?|in excess(?= of)|(?:long|larg|great|bigg|high)er than|over\b(?!-)|above|beyond"
        r"|more(?: \w+)?(?: \(?#\)?)? than|past|outside|[>≥]=?|(?:[a-z]+n['’]t|not|to|no longer|cannot|never) fits?"
    ),
    "limit": (
        r"max[a-z]*|limit[a-z]*|largest|ceiling|cap\b|bound|specification|range|between|allow[a-z]*|permit[a-z]*"
        r"|at most|up to|capacit[a-z]*|supports?|supported|accept[a-z]*|holds?|handle|(?:can|only) \w+|room"
        r"|(?:short|small|low|few)er than|less than|below|under|[<≤]"
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

# Chinese is written without spaces: a word may begin anywhere. A longer phrase comes before its parts.
CHINESE = {
    "rate limit": (
        r"请求(?:次数|数量?)?(?:过多|太多|过于频繁)|频率|頻率|频繁|速率|限流|限速|流控|(?:每|/)?分[钟鐘]|分钟级|每[秒日天月小]|今日|本月|日次"
        r"|并发|並發|[rt]pm|配额|配額|额度|額度|余额|餘額|欠费|套餐|账户|帐户|订阅|超时|逾时|等待时间|重试次数"
    ),
    "file": (
        r"图片|图像|圖片|圖像|影像|照片|附件|文件|檔案|文档|音频|視頻|视频|密钥|密码|令牌|过期"
        r"|名称|名字|标题|参数|字段|温度|编号|工具|函数|标签"
    ),
    "bytes": r"字节|位元組",
    "characters": r"(?<=\d)(?:个|個)?(?:字符|字)|字符",
    "context": r"上下文(?:窗口|視窗|的?最?大?(?:长度|長度))?",
    "must not exceed": r"不(?:[能得可应應]|允许)+(?:超[过過出]|[大高長长多][于於])",
    "too long": r"[过過太超]长了?|[过過太]長|太大|[过過]大|[过過太]多|超量|[放装]不下|已[满滿]|用尽",
    "exceeds": r"超[过過出越限标]|超上限|[大高长多][于於]|溢出",
    "less than": r"[小少低][于於]",
    "at most": r"最多|至多|不超过|以[下内]",
    "maximum": r"最[大长長高]",
    "limit": r"上限|限[制额定度]|极限|阈值|允许|允許|容许|支持|接受|可用|容量|[范範][围圍]|区间",
    "output tokens": r"(?:输出|生成|回复|補全|补全)(?:的)?token数?",
    "output": r"输出|輸出|生成|回复|回答|回應|补全",
    "prompt": r"提示[词詞]?",
    "input": r"输入|輸入|对话|對話|会话|聊天|历史|歷史|消息|訊息|信息|文本|内容|內容|问题|問題|文章|字数",
    "request body": r"请求(?:主?体|正文)",
    "request": r"请求|請求",
    "tokens": r"\btokens?\b|词元|詞元",
    "shorten the": r"缩短|縮短|精简|精簡|减少|減少|截断",
    "length": r"[长長]度|大小|数量|數量|总数|總數|总量|个数|数|數",
    "received": r"收到|接收|当前|當前|实际|實際|包含|含有",
    "and": r"以及|及|和|与",
}
IDEOGRAPHS = r"[\u3400-\u9fff]+"


def in_english(text: str) -> str:
    """Return a refusal with its Chinese words translated into English."""
    if not compiled(IDEOGRAPHS).search(text):
        return text
    names = list(CHINESE)
    words = "|".join(f"(?P<w{i}>{pattern})" for i, pattern in enumerate(CHINESE.values()))
    text = compiled(words).sub(lambda match: f" {names[int(str(match.lastgroup)[1:])]} ", text)
    text = re.sub(rf"(?<=\d){IDEOGRAPHS}", ", ", text)
    return re.sub(IDEOGRAPHS, " ", text)


@cache
def compiled(pattern: str) -> re.Pattern[str]:
    """Return a compiled pattern. Most users never need one, so none is compiled at import."""
    return re.compile(pattern.replace("~", "[ _-]?"), re.I | re.M)
