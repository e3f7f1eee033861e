"""Secrets are blanked wherever they stand; what only resembles one is left."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest

from jupyter_ctx import Chat
from jupyter_ctx.errors import InvalidRequestError
from jupyter_ctx.experiments.results.record import RunRecord, as_values
from jupyter_ctx.runtime.redaction import Redactor
from jupyter_ctx.template.filling import fill
from jupyter_ctx.testing import ScriptedProvider

# Both were collected before the search was written. Texts stand apart by ¦, ⏎ is a new line, and «» are around secrets.
SECRETS = r"""
OPENAI_API_KEY=«sk-proj-cLq0tI1jkszp88r7fYkDc96kVncLVPFjTTZ2bdC3» ¦ AWS_ACCESS_KEY_ID=«AKIAGPZMZZJWRHE6P357»
client = OpenAI(api_key="«sk-7H4KVPRIVrEScHcEYpYGky8q06jrTAGi»") ¦ GROQ «gsk_dLFBNEiTozq8FafmpJqNeNlTZmcNlP0rpyOMGmSE»
anthropic: «sk-ant-api03-6EKnImrOk-vkjdfLCJQ4GFblOo-8Lw2DGmmP» ¦ glab auth login --token «glpat-Tuashe4c2J239CJiZ9f7»
openrouter «sk-or-v1-191251728c91f1884cc929e1d35a5b4eefee9c40» ok ¦ rk «rk_test_BPDLn2cRjaqQcBpFTu5ET60S» set
git clone https://«ghp_WF4lH5Zs0p3oGDffj0HeEZjLT34TrYrg190o»@github.com/ada/x ¦ postgresql://ada:«ge/heim»@db:5432/app
GH: «github_pat_11AB5LXLUxCIJtOuJHWBbl0W_GHgnOKMoicjijfJYeD9D0VVk6vQ7sT» ¦ TWILIO «SK687945818a97e1ea5db8740a527c14de»
huggingface_hub.login("«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»") ¦ vault login «hvs.m03Ob9hNvk8wgG1LeW9a9JLATMn9»
aws_secret_access_key = «8wdGmYdiEXlk4e2gLyRenI50Fq2vpPCQLuxe/1ND» ¦ shopify «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»
[default]⏎aws_session_token=«IQoJb3vLnPpzMjThwsqwpKOi5qnojyRLz9Q3qI18DKbQvA» ¦ redis://:«p4n7h3r!»@cache:6379/0
genai.configure(api_key='«AIzaiFjEIT3cU9OmWxACbsjtQikj7s3qaCHwsmo»') ¦ mongodb+srv://root:«Kite%2F99»@c0.mongodb.net
slack = "«xoxb-1234567890-7xGNycL9SYyxpiylCXBQUDFs»" ¦ stripe.api_key = "«sk_live_0WI1tVefyLLHpmlne5JIZrla»"
https://hooks.slack.com/services/«T0HAZGCJKD/B07GI7R5X6/pmc3HdZ9ZRgxR4OYiGf6ZOEb» ¦ smb://lab:«tea&kettle»@nas/share
npm: //registry.npmjs.org/:_authToken=«npm_Xwl3du9jXfyPe7NDksXDxCNvFEiicDRwcN3x» ¦ password: «kite7zebra»
SENDGRID «SG.XCNBrp0sDkN9y5LlqpGEgs.CAOhOh8aGfm5xENKTXCgMg72vKQjGB» ¦ https://ada:«rosebud»@pypi.example.com/simple
telegram bot «512345678:AA2kjs3Z9CBQQ9WGJaDqIwccZB1AzSKOT1h» ¦ DATABRICKS_TOKEN=«dapi7a36ee731024faaf2a9361de9808cea3»
pypi upload «pypi-AgEIFqeVfTMmtI3LI8a1z7oEwShbTYGMKMJQNEyK» ¦ xai «xai-sIdF6Bfd49AOYygFlXM4iQV291mfQf09ChZj36kS»
jwt «eyJhbGciOiJIUzI1NiJ9.eyJXjxHgRwFSUVbgpKUhc2H.xINuDp0tTIUkmkuRgOuHINkgfW3UgK» ¦ DB_PASSWORD=«Zebra77»
requests.get(u, headers={"Authorization": "Bearer «zxL4beyrJEuVqjZE0As8BUKFotpe22a9»"}) ¦ "password": "«Zebra77»"
curl -H "Authorization: Basic «YWRhOlplYnJhNzc=»" https://x ¦ proxy-authorization: bearer «cI4wP1Ih9sP6BYn1PBo6BjeX»
Authorization: Token «24cd449bcc7608696a10f5575939127deaef7ca3» ¦ create_engine("postgresql://ada:«Zebra77»@db/app")
-----BEGIN RSA PRIVATE KEY-----⏎«MIIEowgznHCJtC0KBmwXCUXnYNdjMcOFNJHOkl3F568OJD»⏎-----END RSA PRIVATE KEY-----
"private_key": "-----BEGIN PRIVATE KEY-----\n«MIIEvQgCVBDk5H4e00Ia8QW1udtQ06HtVU113aKbZhpnl8»\n-----END
-----BEGIN OPENSSH PRIVATE KEY-----⏎«b3BlbnNzcf1m4RpqVMhHZmiwA81IaPABlE9bE8z72DK1CXWa» ¦ 'passwd': '«s3same0pen»'
PuTTY-User-Key-File-3⏎Private-Lines: 1⏎«HU45IiYCcNoAkiP57eDmFasmBdsyIZGuswdfPsS1» ¦ POSTGRES_PASSWORD: «m4n90!tree»
pd.read_sql(q, "mysql://me:«qwerty»@localhost/x") ¦ GET /v1/users?access_token=«XUs8iPvy0NOZlPydpSSu8NnQ»
https://api.openweathermap.org/data?q=Oslo&appid=«cb31657abdf71571b51c682929d1956c» ¦ engine(pwd="«Tr0ub4dor&3»")
https://maps.example.com/js?key=«OhrXOKJG4208gGHqY3DIBLLdJJgykFDn»&v=3 ¦ HTTPBasicAuth("ada", "«Zebra-kite9»")
https://x.blob.core.windows.net/c/f.csv?sv=2022&sig=«tmoN5e7T6hLYQgTlqELFObCtGup4RD%2BWtyZz4tH%3D» ¦ pin = "«4829»"
https://s3.amazonaws.com/b/k?X-Amz-Signature=«30f6ca79f5bd3f01d5bd09b375b3ad7849b457f4» ¦ user,password⏎ada,«Zebra77»
wandb.login(key="«beaab663c1a6731d91288980f54c1765aa91ad8d»") ¦ !export COMET_API_KEY=«aLqKyDCPdJffCbV3OQd1iVfi»
%env WANDB_API_KEY «b9be1ade06d4d1fe630af722890411e0682e927a» ¦ requests.post(url, auth=("ada", "«kite7zebra»"))
os.environ["NASA_KEY_API_KEY"] = "«bw0ElZ5jg6zq7OftNUaKPwT8Ry6S2raseTb6DezN»" ¦ PGPASSWORD='«kite 7zebra»' psql -h db
{"username":"ada","key":"«00af56ff843406899b52469ebe69f58c»"} ¦ smtp.login("ada@example.com", "«jlck fwhx lfmi nonu»")
{"auths": {"ghcr.io": {"auth": "«YWRhOmtpdGU3emVicmE=»"}}} ¦ spring.datasource.password=«L3mon-tree»
client-key-data: «LS0tLS1CRUdJTiBSU0EgUFJJVkFURSBLRVktLS0tWLsF5VRriC3oALwsiuzY» ¦ DRIVER={ODBC};UID=sa;PWD=«Kite_9x»
connect(user="ada", password="«kite»", host="db") ¦ Server=db;User Id=sa;Password=«Zebra77!»;
mysql --user=root --password=«zebra77kite» ¦ machine api.x.com login ada password «Kite99zebra»
sshpass -p «Zebra77» ssh ada@host ¦ curl -u ada:«kite7zebra» https://x ¦ app.secret_key = b"«_5#y2LfT4f7S06»"
docker login -u ada --password «90798065be31b8478dd5» ¦ client_secret: «Df3tkjsK6X9KLV7LNLuu4hKAmkR-WgFgFj5x»
"client_secret": "«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»" ¦ token = "«5fcf33e96f20cb284a2117a2fa875a06»"
SECRET_KEY = 'django-insecure-«We8GGUriVgZYdtAK5m1KToNifwx8ohPCDsO6Da5C»' ¦ "token": "«0igGxfKrqUAlFCiiTMsj5u2l»"
"refresh_token": "«1//0gJnLWctjAvFzHGlXm0phj7TeT_H2xI9_X38A»" ¦ slack_token: «bsuqpu7h7h3x33FosgeuPpMF»
"apiKey": "«ZHCXzdAShK7wG9fPzRj7PIMkdMb8bm»" ¦ X-API-Key: «mLKlHs4Js7iFOM4kRgmZquVx» ¦ api key: «wmb0FMyYud4SY8SdnuFj»
x_api_key='«pc6OFjaCklGlROF_HYS2dn4r3Q-_uk5P»' ¦ my access token is «o0GcbEpDH6BQmzbhumvCxDADezfI»
<add key="ApiKey" value="«RAO1s7QjHdCxBAciovFkGOyi»"/> ¦ <password>«Zebra77kite»</password>
- name: DB_PASSWORD⏎  value: «Kite77zebra» ¦ {"name": "API_TOKEN", "value": "«01d2e12c72b876f578b3693927a83e62»"}
| user | api_key |⏎|---|---|⏎| ada | «5Du8Hs9sfX2C9WyUYgBILXVC» | ¦ id;token;age⏎1;«8afc56559548f6f8e4eb»;44
conf.set("fs.s3a.secret.key", "«Oa+OVIknkwC9JDz3f4aLymRjP+/NWaI+d/sxuAwC»")
AccountName=x;AccountKey=«AMvvq7Z5EEtBWQSJbn5CtvvlSXc+H1uKdF9tde+7==»;EndpointSuffix=y
credentials: {"secret": "«HjcUOHFMlctchliTurcWviKn»"} ¦ MNEMONIC="«ripple otter canyon velvet sunset orbit»"
ada:«$2b$12$iRRigq4DGOA0ySuWeNOi2bmjcyZDCNWJCN8jueQq3LSt0rUPm8rJ»
Cookie: sessionid=«yjCi75Nij4lt2HlwYIjpAi0tpUXhwtIN»
"""
HARMLESS = r"""
password: required ¦ The password must have eight characters and a digit. ¦ password = getpass("Password: ")
"password": {"type": "string", "minLength": 8} ¦ def login(user: str, password: str = "") -> bool: ¦ OPENAI_API_KEY=
api_key = os.environ["MY_API_KEY"] ¦ client = Client(api_key=settings.api_key2) ¦ OPENAI_API_KEY=<your key>
export API_TOKEN=YOUR_API_TOKEN_HERE ¦ password=******** ¦ {"password": null, "token": false} ¦ token: covid-19
token = tokenizer.encode(text) ¦ tokens: 1234, token_count=5, max_tokens=2048 ¦ {"token": "##ing", "score": 0.98}
token_ids = [101, 7592, 2088, 102] ¦ pad_token="<pad>", eos_token="</s>", eos_token_id=50256 ¦ token='Ġhello2'
[MASK] token: 103 ¦ next token: 2024-11-05 ¦ session_key,customer_key⏎101,202⏎102,203 ¦ account_key 101 ¦ key: value
license_key = mit ¦ license: apache-2.0 ¦ primary_key="customer_id"; foreign_key='order_id2' ¦ secret = "CRANE"
sorted(rows, key=lambda r: r[1]) ¦ sort_key = "name_lower2" ¦ partition_key=2024-11-27T10 ¦ cache_key = "v2:users:42"
{"key": "C# minor", "tempo": 120} ¦ df.groupby(key="store_7").sum() ¦ The secret of success is 10 percent luck.
Secret Santa: Anna, Bob, Carl ¦ secret_santa_2024: dinner ¦ secretary: Smith2000 ¦ Victoria's Secret: 2 stores
auth: v2.0.1-beta3 ¦ author = "Le Guin, 1969" ¦ authority: EU2016/679 ¦ pass: 12, fail: 3 ¦ compass=north1x2
passed: 4000 passenger: Smith2000 ¦ credentials: see appendix B2 ¦ "credentials": "include" ¦ main.py:12:5:error:foo
sk-learn-contrib and sk-wikipedia-20231101 ¦ #sk-container-id-17 div.sk-toggleable {color: black} ¦ Password: (hidden)
pk_customers_2024 references pk_orders_2023 ¦ key-findings-2024.pdf and key-frame-resnet50.pt ¦ mot de passe oublié
pa-dutch-country-guide-2019 ¦ hf_hub_download(repo_id="bert-base-uncased") ¦ 550e8400-e29b-41d4-a716-446655440000
sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08 ¦ 1:5123:A:G:rs12345 and chr7:5568:C:T:rs99
commit 3b18e512dba79e4c8300dd08aeb37f8e728b8dad ¦ data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAAB
db.example.com:5432 is up ¦ http://localhost:8000/users/@ada ¦ https://ada@example.com/a:b@c ¦ Authorization: required
https://cdn.jsdelivr.net/npm/vega@5.22.1 ¦ git@github.com:ada/repo.git ¦ postgresql://ada:***@db/app
postgresql://{user}:{password}@{host}/db ¦ redis://:$REDIS_PASSWORD@cache ¦ The play is by "W. Shakespeare", 1606.
https://example.com/?key=value&code=200&page=2 ¦ https://shop.example.com/p?token=abc&ref=home
https://www.youtube.com/watch?v=dQw4w9WgXcQ ¦ A novel by "Jane Austen" ¦ SELECT * FROM t ORDER BY 'x'
GROUP BY 'region2' HAVING n > 3 ¦ SELECT user, password FROM logins WHERE id = 7 ¦ name,password⏎Enter name,and email
from x import user, password⏎print(user, passwd) ¦ bearer bonds worth 2000000 ¦ basic understanding; Basic YWxs
Bearer $TOKEN; Authorization: Bearer {token} ¦ login: ada, role: admin2 ¦ {"username": "ada", "key": "value"}
wandb.login(key=WANDB_KEY) ¦ print("token", i, "of 99") ¦ -u 1000:1000 -p 8080:80 ¦ --password=PASSWORD --token=TOKEN
ssh -p 2222 host; mysql -u root -p db ¦ password=args.password2, token=self.token ¦ password = "Enter your password"
label(password="Passwort vergessen?") ¦ -----BEGIN PUBLIC KEY-----⏎MFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAE
-----BEGIN CERTIFICATE-----⏎MIIDdzCCAl+gAwIBAgIEAgAAuTANBgkqhkiG ¦ ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIGq8 ada@host
The line "-----BEGIN PRIVATE KEY-----" starts such a file. ¦ GOOGLE_APPLICATION_CREDENTIALS=/home/me/key2.json
secret_file: /run/secrets/db2 ¦ api_key: str | None = None
"""
ONCE_BLANKED = (
    "#sk-container-id-1", "pk_customers_2024", "key-findings-2024", "torch.load('key-frame-resnet50.pt')",
    "token: 151643", "auth: v2.0.1-beta3", 'The play is by "W. Shakespeare", 1606.', 'A novel by "Jane Austen"',
    "ORDER BY 'x'", "sk-wikipedia-20231101", "1:5123:A:G:rs12345", 'secret = "CRANE"', "SORT_KEY=customer_name_lower",
    "{'session_key': 101, 'license_key': 'mit', 'credential': 'visitor', 'pin': 4829, 'mnemonic': 'ROY G BIV'}",
)  # fmt: skip


def texts_of(collection: str) -> list[str]:
    lines = collection.strip().split("\n")
    return [text.replace("⏎", "\n") for line in lines for text in line.split(" ¦ ")]


def secrets_of(marked: str) -> list[str]:
    return [part.partition("»")[0] for part in marked.split("«")[1:]]


def is_left(marked: str, sent: str) -> bool:
    """Return whether the beginning or the end of a marked secret stands in what is sent."""
    return any(secret[:6] in sent or secret[-6:] in sent for secret in secrets_of(marked))


def unmarked(marked: str) -> str:
    return marked.replace("«", "").replace("»", "")


def found_secrets() -> list[str]:
    return [marked for marked in texts_of(SECRETS) if not is_left(marked, Redactor().redacted(unmarked(marked)).text)]


def test_of_a_hundred_secrets_almost_all_are_found() -> None:
    assert len(texts_of(SECRETS)) == 100
    assert len(found_secrets()) >= 96


@pytest.mark.parametrize("texts", [texts_of(HARMLESS), ONCE_BLANKED], ids=["collected", "once blanked"])
def test_what_only_resembles_a_secret_is_left(texts: list[str]) -> None:
    assert [text for text in texts if Redactor().hold(text)] == []


def attached(value: Any, **options: Any) -> Any:
    return Chat(provider=ScriptedProvider(), window=200_000).desk.attached("v", value, **options)


def in_a_value(text: str, path: Path) -> str:
    return str(attached({"a": [text], "b": text.encode()}).text)


def in_a_frame(text: str, path: Path) -> str:
    return str(attached(pd.DataFrame({"a": [text, "x"]})).text)


def in_a_file(text: str, path: Path) -> str:
    path = path / "a.txt"
    path.write_text(text)
    found = attached(path)
    assert "blanked" in found.notices[0]
    assert text in attached(path, redact=False).text
    return str(found.text)


def in_an_error(text: str, path: Path) -> str:
    try:
        raise ValueError(text)
    except ValueError as error:
        return str(Chat(provider=ScriptedProvider(), window=200_000).desk.attached_error(error).text)


def in_an_export(text: str, path: Path) -> str:
    chat = Chat(provider=ScriptedProvider(text))
    chat.send(text)
    return chat.export(path / "chat.md").read_text() + chat.export(path / "chat.json").read_text()


def in_a_record(text: str, path: Path) -> str:
    return json.dumps(as_values(RunRecord(text, [{"a": text}], [])))


def in_a_prompt(text: str, path: Path) -> str:
    with pytest.raises(InvalidRequestError, match="key") as raised:
        fill("{{ v }}", {"v": text}, Redactor())
    return str(raised.value)


WAYS_OUT = (in_a_value, in_a_frame, in_a_file, in_an_error, in_an_export, in_a_record, in_a_prompt)


@pytest.mark.parametrize("way_out", WAYS_OUT)
def test_no_secret_that_is_found_goes_out(way_out: Any, tmp_path: Path) -> None:
    assert [marked for marked in found_secrets() if is_left(marked, way_out(unmarked(marked), tmp_path))] == []


PLACES = (
    {"api_key": "ab12cd34ef", "n": 1},
    {"db": [{"password": "hunter2!", "apiKey": ""}]},
    pd.DataFrame({"user": ["ada"], "db_password": ["hunter2!"], "token": ["playing"]}),
    pl.DataFrame({"password": ["enigma"], "age": [3]}),
)
LOOK_ALIKES = (
    {"password": 1234, "token": None, "secret": "CRANE", "api_key": "", "key": "a7b2", "pass": 12, "fail": 3},
    pd.DataFrame({"session_key": [101, 102], "license_key": ["mit", "bsd-3"], "token": ["covid-19", "playing"]}),
    pd.DataFrame({"secret": [1, 0], "password": ["required", "optional"], "n_tokens": [123456, 5]}),
    pd.Series(["password", "the", "the"]).value_counts(),
    [("password", 42), ("the", 100)],
    pl.DataFrame({"a": [{"token": "playing"}], "password": pl.Series([None], dtype=pl.Int64)}),
)


@pytest.mark.parametrize("value", PLACES, ids=lambda value: type(value).__name__)
def test_what_is_named_like_a_secret_and_looks_like_one_is_blanked(value: Any) -> None:
    found = attached(value)
    assert "***" in found.text
    assert "1 part " in found.notices[0]
    with pytest.raises(InvalidRequestError, match="key"):
        fill("{{ v }}", {"v": value}, Redactor())


@pytest.mark.parametrize("value", LOOK_ALIKES, ids=lambda value: type(value).__name__)
def test_numbers_words_and_flags_are_left_whatever_their_name(value: Any) -> None:
    assert attached(value).notices == ()
    assert "holds a key" not in fill("{{ v }}", {"v": value}, Redactor()).text


TABLE = {
    "df": pd.DataFrame({"password": ["hunter2!"], "age": [41]}),
    "polars": pl.DataFrame({"password": ["hunter2!"], "age": [41]}),
}


@pytest.mark.parametrize(
    "expression",
    ["df", "df.password[0]", "df.password.max()", "df.T", "df.to_csv()", "polars", "polars['password'][0]"],
)
def test_no_step_reads_a_column_of_secrets(expression: str) -> None:
    with pytest.raises(InvalidRequestError, match="key"):
        fill(f"{{{{ {expression} }}}}", TABLE, Redactor())
    assert fill("{{ df.age[0] }} {{ list(df) }}", TABLE, Redactor()).text == "41 ['password', 'age']"


def test_keys_of_the_environment_are_found_in_every_form(monkeypatch: pytest.MonkeyPatch) -> None:
    plain = {
        "PWD": "/home/ada/course", "SORT_KEY": "customer_name_lower", "POSTGRES_PASSWORD": "postgres",
        "PGP_KEY": "/home/ada/a7b2c9d4.asc", "APP_SECRET": "changeme",
    }  # fmt: skip
    keys = {"APP_TOKEN": '"a7b2c9d4e1"', "DB_PASSWORD": 'kite/ze"bra\\7', "MAPBOX_KEY": "q1w2e3r4t5y6"}
    for name, value in (plain | keys).items():
        monkeypatch.setenv(name, value)
    redactor = Redactor(["a known key", "lm-studio"])
    assert not redactor.hold(f"{' '.join(plain.values())} lm-studio")
    forms = ("x a7b2c9d4e1 y", repr(keys["DB_PASSWORD"]), json.dumps(keys), "?p=kite%2Fze%22bra%5C7", "a known key")
    for form in forms:
        assert redactor.hold(form), form


PARTS_OF_PATTERNS = (
    "a", "-", "=", "\n", "eyJ-", "-----BEGIN PRIVATE KEY-----", "-----END PRIVATE KEY-----abc", "Private-Lines: 1 ",
    "://a:", "key='", "password=", "password:", "password = (", "bearer ", "sk-a-", "name: password\n value ",
    "<key>password</key> ", 'password = "\n', "curl -u ", "auth=('a','", "&key=", "a,password\n", "|a|\n|-|\n",
    "api key ", "password='\\\\", "MIIEvQ\n",
)  # fmt: skip


@pytest.mark.parametrize("part", PARTS_OF_PATTERNS)
def test_a_search_takes_time_in_proportion_to_the_text(part: str) -> None:
    def seconds(size: int) -> float:
        text = f"secret token --x curl {part * (size // len(part))}"
        begun = time.process_time()
        Redactor().redacted(text)
        return time.process_time() - begun

    assert seconds(200_000) < 20 * seconds(20_000) + 0.3
