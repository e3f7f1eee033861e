"""The words of refusals: the class of each English word, and the English for words of other languages.

A refusal is translated into English word by word, in its own word order; words that are not listed
stay as written. Then each word that matters becomes the letter of its class, and overflow.py reads
the letters. Only words that tell an overflow from something else are listed. "~" joins the words of
a name: context length, context_length, ContextLength.
"""

from __future__ import annotations

import re
from functools import cache

UNIT = r"(?:[kmg]i?b|bytes?|char\w*|pixels|items|entries)\b"  # units of other limits

# The letter of a class, and its words; the first row that matches decides. "#" stands for a number, "" for no class.
WORD_CLASSES = (
    ("U", rf"\d ?{UNIT}"),  # things with limits of their own
    (  # words without a class
        "",
        r"bad~request(?: error)?|invalid~request(?:~error)?|request~id\S*|invalid (?:input )?argument"
        r"|error message"
        r"|validation|text of|model~group|context (?:deadline|cancel[a-z]*|menu|protocol|handle|manager)",
    ),
    (  # less than
        "S",
        r"(?:short|small|low|few)er than|less than(?: or equal to)?|below|under|[<≤]=?",
    ),
    (  # advice to shorten
        "H",
        r"shorten|short(?:er)?|reduc[a-z]*|trim|truncate|compress|cut down|clear|summari[sz]e|lower",
    ),
    (  # things with limits of their own
        "U",
        r"(?:prompt|message|conversation|chat|history|context|input|session|token|tool~call)(?:~|')?s?~?"
        r"(?:ids?(?! len)|names?|titles?|key|template|index|role|logprobs|caching|cache[a-z]*|param[a-z]*|audio)\b"
        r"|(?:api|access|auth[a-z]*|bearer|refresh|session|reset|jwt|csrf|id|security|invite) tokens?\b"
        r"|(?:logit|stop|tool)[a-z]*|images?|pictures?|photos?|files?(?! *[\"'/])|attachments?|documents?|pdfs?|pages?"
        r"|audio|videos?|uploads?|frames?|schemas?|headers?|cookies?|ur[il]s?|query string|strings?|arrays?"
        r"|passwords?|signatures?|jwt|csrf|names?|conversations|titles?|items?|lists?|metadata|users?"
        r"|temperature|top_[a-z]+|seeds?|logprobs|dimensions?|depth|vocab[a-z]*|memory|[cg]pu|time|timeout"
        r"|queue|connections?|buffers?|retries|iterations|sessions?|batch[a-z]*|lora"
        r"|functions? (?:name|desc)[a-z]*|enum|num_ctx|chars|characters|bytes|budget_tokens|proxy"
        r"|properties|seconds",
    ),
    (  # the context
        "C",
        r"context[ _-]?(?:windows?|length|size|limit|budget)(?:~size)?"
        r"|(?:sequence|seq|model|position)~len(?:gth)?"
        r"|max_(?:model|seq[a-z]*|context|ctx|position[a-z]*)(?:~(?:len|length|tokens|size|embeddings))?"
        r"|n_ctx|ctx[a-z]*|kv cache|context",
    ),
    (  # output
        "O",
        r"(?:generated|output|response|reply|completion) (?:text|messages?|content|sequence)"
        r"|(?<!model_)max_tokens"
        r"|max~(?:new|output|completion)~(?:tokens?|length)|n_predict|completions?|outputs?|generated"
        r"|repl(?:y|ies)|responses?|answers?|predict[a-z]*|writes?",
    ),
    ("Y", r"(?:too|so|that)~(?:many|much)"),  # too many
    (  # too long, full
        "X",
        r"too~(?:long|large|big)|overflow[a-z]*|exhausted|oversized?"
        r"|full\b|filled|reached|no room|ran out|run out|out of(?= context)|hit|not enough"
        r"|(?:this|that|so) (?:long|large|big)|longer than (?:allowed|permitted)",
    ),
    (  # exceeds: of a limit that is named
        "G",
        r"exceed[a-z]*|surpass[a-z]*|cross(?:e[sd])?|in excess(?= of)|(?:long|larg|great|bigg|high)er than"
        r"|more(?: \w+)?(?: \(?#\)?)? than|over\b(?!-)|above|beyond|past|outside|[>≥]=?"
        r"|(?:[a-z]+n['’]t|not|to|no longer|cannot|never) fits?",
    ),
    ("M", r"max[a-z]*|limit[a-z]*|largest|ceiling|cap\b|bound|specification"),  # limit
    (  # allows
        "A",
        r"allow[a-z]*|permit[a-z]*|at most|up to|capacit[a-z]*|supports?|supported|accept[a-z]*|holds?"
        r"|handle|(?:can|only) \w+|room",
    ),
    ("R", r"range|between"),  # range
    (  # tokens
        "T",
        r"tokens|(?<=#-)token|token(?=~overflow| over\b)"
        r"|token~(?:count|limit|length|budget|window|size|quantity|total|number|usage)s?"
        r"|tokeni[sz][a-z]*|(?<=input )token|(?<=prompt )token",
    ),
    (  # input
        "I",
        r"prompts?|inputs?|messages?|conversation|chat|history|dialog[a-z]*|question|query|text|contents?"
        r"|transcript|sequence|thread",
    ),
    ("Q", r"requests?"),  # request
    ("P", r"plus|\+|and|with|together"),  # plus
    ("L", r"length|len|size|count|number|quantity|total|amount"),  # length
    ("W", r"models?|endpoint|deployment"),  # model
    (  # words without a class
        "",
        r"the|an?|of|is|are|was|were|be|been|has|have|had|its?|yours?|this|that|which|in|for|to|by|from|at"
        r"|on|so|but|however|here|there|you|we|i|current[a-z]*|requested|asked|sent|provided|given|supplied"
        r"|submitted|received|contain[a-z]*|results?|resulted|passed|used|uses?|estimated|entire|whole"
        r"|combined|sum|about|approximately|already|now|would|will|can|could|must|should|may|not|cannot|do"
        r"|does|error|exception|please|configured|valid[a-z]*|our|s|as|while|only|long|went|goes?"
        r"|becom[a-z]*|became|grown|got|takes?|needs?|adds?|add|comes?|amounts?|encoded|computed|read"
        r"|process|generate|try|yet|[a-z]*\d\w*",
    ),
    ("N", r"#"),  # a number
    (".", r"[.;!?]"),  # the end of a clause
    ("_", r"[a-z]+"),  # any other word
)

# Scripts written without spaces: a word may begin anywhere. A longer phrase comes before its parts.
UNSPACED = {
    "too many requests": r"请求(?:次数|数量?)?(?:过多|太多|过于频繁)|リクエスト(?:数)?が多すぎ|요청이 너무 많",
    "rate limit": (
        r"频率|頻率|频繁|速率|限流|限速|流控|(?:每|/)?分[钟鐘]|分钟级|每[秒日天月小]|今日|本月|日次|并发"
        r"|並發|[rt]pm|レート|毎分|[1一]分(?:間|あたり)|1日|本日|今月|同時|분당|분에|속도|일일|하루|이번 달"
        r"|동시"
    ),
    "quota": (
        r"配额|配額|额度|額度|余额|餘額|欠费|套餐|账户|帐户|订阅|クォータ|割り当て|残高|クレジット|할당량"
        r"|크레딧|잔액|요금제|계정"
    ),
    "timeout": r"超时|逾时|等待时间|重试次数|タイムアウト|待ち時間|再試行回数|시간 ?초과|대기 시간|재시도 횟수",
    "password": r"密钥|密码|令牌|有効期限|만료|过期|認証|인증|キー",
    "image": r"图片|图像|圖片|圖像|影像|画像|イメージ|이미지|사진|附件|添付|첨부",
    "file": r"文件|檔案|ファイル|파일|文档|音频|視頻|视频|音声|動画|오디오|비디오|동영상",
    "field": (
        r"名称|名字|标题|参数|字段|温度|编号|工具|函数|标签|名前|タイトル|パラメータ|ツール|関数|이름|제목"
        r"|매개변수|파라미터|도구|함수|온도"
    ),
    "bytes": r"字节|位元組|バイト|바이트",
    "characters": r"(?<=\d)(?:个|個)?(?:字符|字|文字|자)|字符|글자",
    "context window": r"上下文(?:窗口|視窗)|コンテキスト・?ウィンドウ|(?:컨텍스트|콘텍스트|문맥) ?(?:윈도우|창)",
    "context length": (
        r"上下文(?:的?最?大?(?:长度|長度))|コンテキスト(?:長|の長さ|サイズ|の大きさ)"
        r"|(?:컨텍스트|콘텍스트|문맥)의? ?(?:길이|크기|사이즈)"
    ),
    "context": r"上下文|コンテキスト|文脈|컨텍스트|콘텍스트|문맥",
    "must not exceed": r"不(?:[能得可应應]|允许)+(?:超[过過出]|[大高長长多][于於])",
    "exceeds the limit": r"超限|超标|超上限",
    "too long": (
        r"[过過太超]长了?|[过過太]長|太大|过大|[過过]大|長すぎ|大きすぎ|長過ぎ"
        r"|너무 (?:깁|길|긴|크|큽|큰|많이? 깁)"
    ),
    "too many": r"[过過太]多|超量|多すぎ|너무 많",
    "does not fit": r"收まり(?:ません|きれ)|入りきり?|放不下|装不下|무리|맞지 않|들어가지 않",
    "full": r"已满|已滿|用尽|いっぱい|가득",
    "exceeds": (
        r"超[过過出越]|[大高长多]于|[大高長多]於|溢出|超え|超過|上回|オーバー|초과|넘[어었습는을]|큽니다"
        r"|더 (?:큽|깁|많)"
    ),
    "less than": r"[小少低]于|[小少低]於|未満|미만",
    "at most": r"最多|至多|不超过|まで|以下|以内|이하|까지",
    "maximum": r"最[大长長高]|最高|최대",
    "limit": r"上限|限[制额定度]|极限|阈值|制限|許容|限界|한도|제한|한계|상한",
    "allowed": r"允许|允許|容许|支持|接受|可用|容量|許可|対応|サポート|허용\w?|지원|가능",
    "output tokens": r"(?:输出|生成|回复|補全|补全)(?:的)?token数?|出力トークン|출력 ?토큰",
    "output": r"输出|輸出|生成|回复|回答|回應|补全|出力|応答|출력|응답|생성|답변",
    "input": r"输入|輸入|入力|입력",
    "prompt": r"提示[词詞]?|プロンプト|프롬프트|지시문",
    "conversation": r"对话|對話|会话|聊天|会話|チャット|대화|채팅",
    "history": r"历史|歷史|履歴|기록",
    "messages": r"消息|訊息|信息|メッセージ|메시지|메세지",
    "text": r"文本|内容|內容|问题|問題|文章|文字数?|字数|テキスト|質問|텍스트|내용|질문",
    "request body": r"请求(?:主?体|正文)|リクエスト(?:ボディ|本文)|요청 본문",
    "request": r"请求|請求|リクエスト|要求|요청",
    "tokens": r"\btokens?\b|词元|詞元|トークン|토큰",
    "shorten the": r"缩短|縮短|精简|精簡|减少|減少|截断|短くし|減らし|줄여|줄이",
    "length": r"[长長]度|長さ|길이|大小|サイズ|크기",
    "count": r"数量|數量|总数|總數|总量|个数|件数|数|數|개수|수(?=[가는를 (])",
    "range": r"[范範][围圍]|区间|範囲|범위",
    "model": r"模型|モデル|모델",
    "total": r"合计|总计|总共|总|合計|총",
    "received": r"收到|接收|受信|送信|指定|받았|받은",
    "current": r"当前|當前|实际|實際|現在|実際|현재|실제",
    "has": r"包含|含有|含ん|포함",
    "and": r"以及|及|和|与|と(?!ー)|및|[와과](?= )",
}
# Alphabets: a word begins where no letter stands before it.
SPACED = {
    "too many requests": (
        r"слишком (?:много|част\w+) запрос\w*|zu viele anfragen|trop de requ[eê]tes"
        r"|demasiad\w+ (?:solicitudes|peticiones)|muit\w+ (?:solicita\S+|requisi\S+)|troppe richieste"
    ),
    "rate limit": (
        r"лимит\w* запросов|(?:в|за|через) (?:минут\w*|секунд\w*|час\w*|сутки|день|месяц)|частот\w*"
        r"|одновременн\w*|(?:pro|je|in der|diese\w?) (?:minute|sekunde|stunde|tag|monat|woche)"
        r"|(?:anfrage|raten?)~?(?:limit\w*|begrenz\w*)|t(?:ä|ae)glich\w*|tages\w*|дневн\w*|суточн\w*"
        r"|месячн\w*|monatlich\w*|gleichzeitig\w*|(?:par|cette|ce) (?:minute|seconde|heure|jour|mois)"
        r"|d[ée]bit|simultan\w*|(?:por|al|neste|este|esta) (?:minuto|segundo|hora|d[ií]a|mes|m[eê]s)"
        r"|(?:velocidad|taxa)\b|di[aá]ri\w+|quotidien\w*|mensual\w*|mensa[il]s?|concurren\w+|al minuto"
        r"|al giorno"
    ),
    "quota": (
        r"квот\w*|баланс\w*|средств\w*|тариф\w*|подписк\w*|kontingent\w*|guthaben\w*|tarif\w*|konto\w*"
        r"|solde|abonnement|forfait|cuota|saldo|cr[ée]dit[oi]?s?|suscripci\w*|assinatura|cota|plano\b"
    ),
    "timeout": (
        r"врем(?:я|ени)|ожидани\w*|zeit(?:über|ueber|limit)\w*|wartezeit|d[ée]lai|temps|tiempo|tempo\b"
        r"|timeout"
    ),
    "password": (
        r"ключ\w*|доступ\w*|schl(?:ü|ue)ssel|cl[ée]\b|clave|chave|jeton d.acc[eè]s"
        r"|token de (?:acceso|acesso)|zugriffstoken"
    ),
    "image": (
        r"изображени\w*|картин\w*|bild(?:er|es|s)?\b|imagen(?:es)?|imagem|imagens|immagin[ei]|вложени\w*"
        r"|anhang|anh(?:ä|ae)nge"
    ),
    "file": (
        r"файл\w*|документ\w*|datei\w*|dokument\w*|fichiers?|archivos?|arquivos?|аудио|видео"
        r"|pi[eè]ces? jointes?|ficheros?"
    ),
    "field": (
        r"параметр\w*|температур\w*|назван\w*|им(?:я|ени)\b|заголов\w*|инструмент\w*|temperatur\b|feld\w*"
        r"|werkzeug\w*|titel\w*|param[eè]tre\w*|par[aá]metro\w*|outils?\b|herramienta\w*|ferramenta\w*"
        r"|titre|t[ií]tulo|nombre\b(?= (?:de |del )?(?:la )?(?:herr|fun|us))"
    ),
    "bytes": r"байт\w*|octets?|[mk]о\b|[мкг]б\b",
    "characters": r"символ\w*|знак\w*|zeichen|caract[eè]res?|caracteres",
    "token limit": r"token-?(?:limits?|grenzen?|anzahl)\b",
    "context window": (
        r"контекстн\w* окн\w*|окн\w* контекст\w*|kontextfenster\w*|fen[eê]tres? de contexte"
        r"|ventanas? de contexto|janelas? de contexto|finestra di contesto"
    ),
    "context length": (
        r"kontext(?:l(?:ä|ae)nge|gr(?:ö|oe)(?:ß|ss)e|limit|grenze)\w*"
        r"|(?:longueur|taille) (?:maximale )?(?:du |de )?contexte"
        r"|(?:longitud|tama[nñ]o|l[ií]mite) (?:m[aá]xim[oa] )?(?:del? )?contexto"
        r"|(?:comprimento|tamanho|limite) (?:m[aá]ximo )?(?:do |de )?contexto"
        r"|lunghezza (?:massima )?del contesto"
    ),
    "context": r"контекст\w*|kontext\w*|contexte|contexto|contesto",
    "too long": (
        r"слишком (?:больш|длин|велик|объ[её]мн)\w*|чересчур \w+|zu (?:lang|gro(?:ß|ss)|umfangreich)\w*"
        r"|trop (?:long|grand|volumineu|gros)\w*|demasiad[oa] (?:larg|grand|extens)\w*"
        r"|muito (?:long|grand|extens)\w*|(?:long|grand)[oae]s? demais|troppo lung\w*|troppo grand\w*"
    ),
    "too many": r"слишком много|zu viele?|trop de|demasiad[oa]s|muit[oa]s|tokens? demais|troppi",
    "longer than": (
        r"(?:больше|длиннее|выше|более) чем|больше|длиннее"
        r"|(?:gr(?:ö|oe)(?:ß|ss)er|l(?:ä|ae)nger|h(?:ö|oe)her|mehr) als|plus (?:long|grand|élevé)\w* que"
        r"|plus de|sup[ée]rieure?s? (?:à|au)|m[aá]s (?:larg|grand)\w* que|m[aá]s de|mayor(?:es)? (?:que|de)"
        r"|maior(?:es)? (?:que|do que)|mais (?:long|grand)\w* (?:do )?que|mais de|pi[uù] lung\w* di"
    ),
    "does not fit": (
        r"не (?:помеща|вмеща|влеза|уклады)\w*|passt nicht|passen nicht|ne (?:rentre|tient)\w* pas"
        r"|no cabe\w*|n[aã]o cabe\w*"
    ),
    "must not exceed": (
        r"не (?:должн\w*|может) превыша\w*|darf (?:nicht )?(?:\w+ )?nicht (?:ü|ue)berschreiten"
        r"|ne (?:doit|peut) pas d[ée]passer"
    ),
    "at most": (
        r"не (?:бол(?:ее|ьше)|выше)|h(?:ö|oe)chstens|(?:darf|d(?:ü|ue)rfen) (?:nur|h(?:ö|oe)chstens)?"
        r"|au (?:plus|maximum)|como m[aá]ximo|no m[aá]ximo|n'(?:en )?accepte que|a lo sumo"
        r"|s[oó]lo (?:admite|acepta)|s[oó] (?:aceita|suporta)|apenas (?:aceita)?|nur|solamente"
    ),
    "full": (
        r"переполн\w*|исчерпан\w*|ersch(?:ö|oe)pft|voll(?:ständig)?\b|(?:est|es) plein\w*|lleno|cheio"
        r"|agotad\w*|esgotad\w*"
    ),
    "exceeds": (
        r"превы[шс]\w*|превосход\w*|выход\w* за|свыше|(?:ü|ue)berschr\w*|(?:ü|ue)berst\w*"
        r"|(?:ü|ue)berlauf\w*|exc[eè]d\w*|d[ée]pass\w*|super(?:a|ó|ado|ada|ou|an|am|o|en)\b|exced\w*"
        r"|sobrepasa\w*|rebasa\w*|ultrapass\w*|excesso|super(?:ato|ata)\b|eccede"
    ),
    "maximum": r"макс\w*|наибольш\w*|предельн\w*|m[aá]xim[oae]\w*|maximal\w*|h(?:ö|oe)chst\w*|massim\w*",
    "limit": r"лимит\w*|предел\w*|огранич\w*|l[ií]mites?|limite\w*|grenz\w*|obergrenze\w*",
    "allowed": (
        r"допус\w*|разреш\w*|поддерж\w*|принима\w*|erlaub\w*|zul(?:ä|ae)ssig\w*|unterst(?:ü|ue)tz\w*"
        r"|akzeptier\w*|autoris\w*|permi(?:s|t|d)\w*|admi(?:te|tid)\w*|acept\w*|aceit\w*|suport\w*"
        r"|soport\w*|accept(?:e|é)e?s?\b|consentit\w*"
    ),
    "output": (
        r"вывод\w*|выходн\w*|ответ\w*|генерац\w*|ausgabe\w*|antwort\w*|sortie\w*|r[ée]ponse\w*|salida\w*"
        r"|respuesta\w*|sa[ií]das?\b|resposta\w*|risposta"
    ),
    "input": r"ввод\w*|входн\w*|вход\b|eingabe\w*|eingegeben\w*|entr[ée]es?\b|entradas?|ingresso",
    "prompt": r"запрос\w*|промпт\w*|подсказ\w*|invites?\b",
    "conversation": (
        r"диалог\w*|бесед\w*|чат\w*|разговор\w*|переписк\w*|unterhaltung\w*|chatverlauf\w*|gespr(?:ä|ae)ch\w*|verlauf\w*"
        r"|conversaci[oó]n|conversa\b"
    ),
    "history": r"истори\w*|historial|hist[oó]ric[oa]|historique|cronologia",
    "messages": r"сообщени\w*|nachricht\w*|mensaje\w*|mensage\w*|messaggi\w*",
    "text": r"текст\w*|text(?:e|o)s?\b|contenu|contenido|conte[uú]do|inhalt\w*|вопрос\w*",
    "request": (
        r"anfrage\w*|requ[eê]tes?|solicitud\w*|peticion\w*|petici[oó]n|solicita[cç][aã]o|requisi[cç][aã]o"
        r"|richiesta"
    ),
    "tokens": r"токен(?:ов|а|ы|ам|ами|ах)?|jetons?|fichas",
    "shorten the": (
        r"сократ\w*|уменьш\w*|укорот\w*|k(?:ü|ue)rz\w*|verk(?:ü|ue)rz\w*|raccourci\w*|r[ée]dui\w*|acort\w*"
        r"|reduzc\w*|reduz\w*|encurt\w*"
    ),
    "length": (
        r"длин\w*|размер\w*|объ[её]м\w*|l(?:ä|ae)nge\b|gr(?:ö|oe)(?:ß|ss)e\b|longueur|taille|longitud"
        r"|tama[nñ]o|comprimento|tamanho|lunghezza"
    ),
    "count": r"количеств\w*|числ\w*|anzahl|(?:le )?nombre|n[uú]mero|cantidad|quantidade|numero",
    "model": r"модел\w*|modell\w*|mod[eè]le|modelo|modello",
    "has": r"содерж\w*|составля\w*|enth(?:ä|ae)lt|contient|contiene|cont[eé]m|tiene|tem\b",
    "of": r"von|из",
    "received": r"получ\w*|передан\w*|erhalten|gesendet|re[cç]u\w*|recibi\w*|recebi\w*|enviad\w*|envoy\w*",
    "and": r"и|und|et|y|e\b(?= )",
    "your": r"ваш\w*|вашем|ihr\w?|votre|su|sua|seu|tu|dein\w?",
    "the": (
        r"этой|этого|эта|для|на|в|а|но|der|die|das|des|den|dem|für|l[ea]s?|du|de|del|el|da|o|os|l'|d'|mais"
        r"|est|es|ist|wurde|hat|ha|se|foi|é|était|sido|été"
    ),
}

IDEOGRAPHS = r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]+"


def in_english(text: str) -> str:
    """Return a refusal with its words of other languages translated into English."""
    if _compiled(IDEOGRAPHS).search(text):
        text = _substitute(UNSPACED, "{}", text)
        text = re.sub(rf"(?<=\d){IDEOGRAPHS}", ", ", text)
        text = re.sub(IDEOGRAPHS, " ", text)
    return _substitute(SPACED, r"(?<!\w){}(?!\w)", text)


def _substitute(words: dict[str, str], word: str, text: str) -> str:
    names = list(words)
    everything = "|".join(f"(?P<w{i}>{pattern})" for i, pattern in enumerate(words.values()))
    return _compiled(word.replace("{}", f"(?:{everything})")).sub(
        lambda m: f" {names[int(str(m.lastgroup)[1:])]} ", text
    )


@cache
def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern.replace("~", "[ _-]"), re.I)
