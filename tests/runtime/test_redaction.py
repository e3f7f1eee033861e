"""Secrets are blanked wherever they stand; what only resembles one is left."""

from __future__ import annotations

import json
import re
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd
import polars as pl
import pytest

from jupyter_ctx import Chat
from jupyter_ctx.errors import InvalidRequestError
from jupyter_ctx.experiments.results.export import RunRecord, as_values
from jupyter_ctx.runtime.redaction import Redactor
from jupyter_ctx.session.attaching import attachment_of, attachment_of_error
from jupyter_ctx.template.expressions import fill
from jupyter_ctx.testing import ScriptedProvider

# Collected before the search was written: at first 95 were found, 1 touched.
# ¦ is between texts, ⏎ a new line in one, and ¬ is left out: no scanner takes these for keys.
SECRETS = r"""
OPENAI_API_KEY=«sk-proj-cLq0tI1jkszp88r7fYkDc96k» ¦ client = OpenAI(api_key="«sk-¬VncLVPFjTTZ2bdC37H4KVPRI»")
anthropic: «sk-ant-api03-J8ee8EvXGtJ0r6EKnImrOk-v» ¦ openrouter «sk-or-v1-2201978ae8702a3ff95d7833a1912517» ok
git clone https://«ghp_KerzsdEdrSZ9r3LjyzteI7tDKPcAgkuk85UK»@github.com/ada/x ¦ GROQ «gsk_cCbBrBBEYoIW2reXOzEcD4Qa»
GH: «github_pat_11ABYRxjWDCECJWI_XRCtTyibWF4lH5Zs0p3o» ¦ glab auth login --token «glpat-7llti8sIJnDU5NP3cxmB»
huggingface_hub.login("«hf_OKMoicjijfJYeDDVVkvQsTwSkZaTjd»") ¦ AWS_ACCESS_KEY_ID=«AKIANPZXTBHDF64YMJFH»
aws_secret_access_key = «obnuXh/28qCZG/blzEHjxzfxIEWy8nEZzZYsSJoj» ¦ rk «rk_test_QUDFsha4zGg53Mc7L5jkdFgi» set
[default]⏎aws_session_token=«IQoJb38E27/8wdGmYdiEXlk4e2gLyRenI50F» ¦ vault login «hvs.fKXeRjRBzM3EonvvE0W5ZVyGqr3I»
genai.configure(api_key='«AIza¬q2vpPCQLuxe_1NDvLnPpzMjThwsqwpKOi5q»') ¦ pypi upload «pypi-AgEIaDqIwccZB1AzSKOT1hERoz54»
slack = "«xoxb-1234567890-UUghSemvsmESL29vLRBirAEI»" ¦ stripe.api_key = "«sk_live_lj6gh7xGNycL9SYyxpiylCXB»"
https://hooks.slack.com/services/«T0OSAVKNEP/B0EPRW3BX6/5u01XMgy7WlZn39QoKHRaHjW» ¦ xai «xai-gG1LeW9a9JLATMn9p0iZTKcS»
npm: //registry.npmjs.org/:_authToken=«npm_OeILNjHvN5HZefeGDM4jBiKN72Zaoq» ¦ postgresql://ada:«ge/heim»@db:5432/app
SENDGRID «SG._I6U9FyehmVql9dTwhPslX.i7uL6U5Q-8qre6TeUNjlWFzxAjJxa3» ¦ shopify «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»
telegram bot «512345678:AA6BfsaGe2E_O9XCNBrp0sDkN9y5LlqpGEg» ¦ DATABRICKS_TOKEN=«dapi476a1a1f0813e5799bc7191ed59a286d»
TWILIO «SKb1b9348d98f0d6e375b10bc89998a976» ¦ jwt «eyJhbGciOiJIUzI1NiJ9.eyJsohTBDYhE7T2wTW9.NOS42AHtcpMtewerngyn»
requests.get(u, headers={"Authorization": "Bearer «t0mCBOBsIdF6Bfd49AOYygFlXM4iQV29»"}) ¦ password: «kite7zebra»
curl -H "Authorization: Basic «YWRhOlplYnJhNzc=»" https://x ¦ Authorization: Token «622e345687945818a97e1ea5db8740a5»
proxy-authorization: bearer «VPTf66oQyZd4O5iYJNACXjxH» ¦ create_engine("postgresql://ada:«Zebra77»@db/app")
-----BEGIN RSA PRIVATE KEY-----⏎«MIIEowgRwFSUVbgpKUhc2HLlrt»⏎-----END RSA PRIVATE KEY----- ¦ DB_PASSWORD=«Zebra77»
"private_key": "-----BEGIN PRIVATE KEY-----\n«MIIEvQRkW45ohGAj8wrxfg175N»\n-----END ¦ redis://:«p4n7h3r!»@cache:6379/0
-----BEGIN OPENSSH PRIVATE KEY-----⏎«b3BlbnNzIfMkv75dukqrt1fZQdIQ» ¦ mongodb+srv://root:«Kite%2F99»@c0.mongodb.net
PuTTY-User-Key-File-3⏎Private-Lines: 1⏎«KcWyMBKxOIVdWJOszxL4beyr» ¦ https://ada:«rosebud»@pypi.example.com/simple
smb://lab:«tea&kettle»@nas/share ¦ pd.read_sql(q, "mysql://me:«qwerty»@localhost/x") ¦ POSTGRES_PASSWORD: «m4n90!tree»
https://api.openweathermap.org/data?q=Oslo&appid=«fa84fd9df7972024cd449bcc7608696a» ¦ "password": "«Zebra77»"
https://maps.example.com/js?key=«c2bOFkTlpJltgRSHUtcfTQLVHTpARD1v»&v=3 ¦ HTTPBasicAuth("ada", "«Zebra-kite9»")
https://x.blob.core.windows.net/c/f.csv?sv=2022&sig=«GDFpyugcI4wP1Ih9sP6BYn1PBo6Bje%2BXgznHCJt%3D» ¦ pin = "«4829»"
https://s3.amazonaws.com/b/k?X-Amz-Signature=«ed6be6141f55fe3ede520a1990037651» ¦ 'passwd': '«s3same0pen»'
GET /v1/users?access_token=«f1m4RpqVMhHZmiwA81IaPABl» ¦ wandb.login(key="«f0fcee04e17d542e6f096d19ca9b129cb31657ab»")
%env WANDB_API_KEY «df71571b51c682929d1956c3838ed13c» ¦ !export COMET_API_KEY=«kFDntmoN5e7T6hLYQgTlqELF»
os.environ["NASA_API_KEY"] = "«ObCtGup4RDWtyZz4tHgaFmzS»" ¦ requests.post(url, auth=("ada", "«kite7zebra»"))
{"username":"ada","key":"«a79f5bd3f01d5bd09b375b3ad7849b45»"} ¦ smtp.login("ada@example.com", "«thrw peyx jeuk mtuz»")
{"auths": {"ghcr.io": {"auth": "«YWRhOmtpdGU3emVicmE=»"}}} ¦ spring.datasource.password=«L3mon-tree»
client-key-data: «LS0tLS1CRUdJTiBSU0EgUFJJVkFURSBLRVktLS0tlPydpSSu8NnQxTCuGvV5» ¦ engine(pwd="«Tr0ub4dor&3»")
PGPASSWORD='«kite 7zebra»' psql -h db ¦ connect(user="ada", password="«kite»", host="db")
Server=db;User Id=sa;Password=«Zebra77!»; ¦ DRIVER={ODBC};UID=sa;PWD=«Kite_9x» ¦ sshpass -p «Zebra77» ssh ada@host
mysql --user=root --password=«zebra77kite» ¦ machine api.x.com login ada password «Kite99zebra»
curl -u ada:«kite7zebra» https://x ¦ docker login -u ada --password «b663c1a6731d91288980»
client_secret: «-utZgFBxPQLeO3J0VLT5fQ17» ¦ "client_secret": "«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»"
SECRET_KEY = 'django-insecure-«KlEOaGX64gkl5dgqlqcS8xsn»' ¦ app.secret_key = b"«_5#y2L6zq7OftN»"
"refresh_token": "«1//0bSXIbLjc6jYccO9vA-_HrpsbyHKNUv»" ¦ token = "«2469ebe69f58c9b2a57b5c8ded9f84e7»"
"token": "«ALwsiuzY84sbOp8sqSHO60K0»" ¦ slack_token: «Qa8nUlwDhdx7qjorB4B1JHk7» ¦ "apiKey": "«ocY7HB4jfejsD4yEssxD»"
X-API-Key: «stskkCOdTX0snNgfvROF0ZQ0» ¦ x_api_key='«WgFgFj5xFc4O1xsx203KPwb5»' ¦ api key: «C7DZNKrEOklwPqkAP19U»
my access token is «ia3yTKcXEqqxL2WiZ2exdzV2zbj7» ¦ <add key="ApiKey" value="«nsCgSO09AswShOUtMSecll7L»"/>
<password>«Zebra77kite»</password> ¦ - name: DB_PASSWORD⏎  value: «Kite77zebra» ¦ user,password⏎ada,«Zebra77»
{"name": "API_TOKEN", "value": "«f31a774ae70e7221839c0426576882c3»"} ¦ id;token;age⏎1;«d58ffcdf65fcf33e96f2»;44
| user | api_key |⏎|---|---|⏎| ada | «UALJMhGHdeD5IUw9Scw5FqNQ» | ¦ ada:«$2b$12$zRj7PIMkdMb8bmmLKlHs4Js7iFOM4kR»
conf.set("fs.s3a.secret.key", "«aWSkHqPlhfDPj8QIFwPdAqnU»") ¦ credentials: {"secret": "«sgeuPpMFZHCXzdAShK7wG9fP»"}
AccountName=x;AccountKey=«lJG1x/4qqLtPxdLPGFPopV+D==»;EndpointSuffix=y ¦ Cookie: sessionid=«gmZquVxhbDupTeMaMWof»
MNEMONIC="«ripple otter canyon velvet sunset orbit»"
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
#sk-container-id-1 ¦ pk_customers_2024 ¦ key-findings-2024 ¦ torch.load('key-frame-resnet50.pt') ¦ token: 151643
sk-wikipedia-20231101 ¦ 1:5123:A:G:rs12345 ¦ ORDER BY 'x' ¦ SORT_KEY=customer_name_lower ¦ {'credential': 'visitor'}
"""
MARKED = re.compile("«(.*?)»", re.DOTALL)


def texts_of(collection: str) -> list[str]:
    texts = collection.strip().replace("¬", "").replace("\n", " ¦ ").split(" ¦ ")
    return [text.replace("⏎", "\n") for text in texts]


def is_left(marked: str, sent: str) -> bool:
    return any(secret[:6] in sent or secret[-6:] in sent for secret in MARKED.findall(marked))


def found_secrets() -> dict[str, str]:
    texts = {marked: MARKED.sub(r"\1", marked) for marked in texts_of(SECRETS)}
    return {marked: text for marked, text in texts.items() if not is_left(marked, Redactor().masked(text))}


def test_of_a_hundred_secrets_almost_all_are_found() -> None:
    assert len(texts_of(SECRETS)) == 100
    assert len(found_secrets()) >= 96


def test_what_only_resembles_a_secret_is_left() -> None:
    assert [text for text in texts_of(HARMLESS) if Redactor().contains_secret(text)] == []


def attached(value: Any, **options: Any) -> Any:
    return attachment_of(Chat(provider=ScriptedProvider(), window=200_000).session, "v", value, **options)


def ways_out(text: str, path: Path) -> dict[str, str]:
    file, chat, error = path / "a.txt", Chat(provider=ScriptedProvider(text), window=200_000), ValueError(text)
    file.write_text(text)
    chat.send(text)
    assert "blanked" in attached(file).notices[0]
    assert text in attached(file, redact=False).text
    with pytest.raises(InvalidRequestError, match="key") as raised:
        fill("{{ v }}", {"v": text}, Redactor())
    return {
        "value": attached({"a": [text], "b": text.encode()}).text,
        "frame": attached(pd.DataFrame({"a": [text, "x"]})).text,
        "file": attached(file).text,
        "error": attachment_of_error(chat.session, error).text,
        "export": chat.export(path / "a.md").read_text() + chat.export(path / "a.json").read_text(),
        "record": json.dumps(as_values(RunRecord(text, [{"a": text}], []))),
        "prompt": str(raised.value),
    }


def test_no_secret_that_is_found_goes_out(tmp_path: Path) -> None:
    for marked, text in found_secrets().items():
        assert [name for name, out in ways_out(text, tmp_path).items() if is_left(marked, out)] == [], marked


@dataclass
class Access:
    secret: str


PLACES = (
    Access("hunter2hunter2"),
    {"api_key": "ab12cd34ef", "n": 1},
    {"db": [{"password": "hunter2!", "apiKey": ""}]},
    pd.DataFrame({"user": ["ada"], "db_password": ["hunter2!"], "token": ["playing"]}),
    pl.DataFrame({"password": ["enigma"], "age": [3]}),
)
LOOK_ALIKES = (
    {"password": 1234, "token": None, "secret": "CRANE", "api_key": "", "key": "a7b2", "pass": 12, "fail": 3},
    pd.DataFrame({"session_key": [101, 102], "license_key": ["mit", "bsd-3"], "token": ["covid-19", "playing"]}),
    pd.DataFrame({"secret": [1, 0], "password": ["required", "optional"], "n_tokens": [123456, 5]}),
    pl.DataFrame({"a": [{"token": "playing"}], "password": pl.Series([None], dtype=pl.Int64)}),
)


@pytest.mark.parametrize("value", PLACES, ids=lambda value: type(value).__name__)
def test_what_is_named_like_a_secret_and_looks_like_one_is_blanked(value: Any) -> None:
    found = attached(value)
    assert "***" in found.text
    assert "1 part " in found.notices[0]
    with pytest.raises(InvalidRequestError, match="key"):
        fill("{{ v }}", {"v": value}, Redactor())


def test_a_key_in_use_that_a_model_repeats_is_kept_nowhere() -> None:
    chat = Chat(provider=ScriptedProvider("Your key is q1w2e3r4t5y6."))
    chat.models.set_key("openai", "q1w2e3r4t5y6")
    assert chat.send("Which key is it?").text == "Your key is ***."
    assert chat.turns[0].reply == "Your key is ***."


@pytest.mark.parametrize("value", LOOK_ALIKES, ids=lambda value: type(value).__name__)
def test_numbers_words_and_flags_are_left_whatever_their_name(value: Any) -> None:
    assert attached(value).notices == ()
    assert "holds a key" not in fill("{{ v }}", {"v": value}, Redactor())


@pytest.mark.parametrize("step", ["", "['password'][0]", ".password.max()", ".T", ".to_csv()"])
def test_no_step_reads_a_column_of_secrets(step: str) -> None:
    names = {"df": pd.DataFrame({"password": ["hunter2!"], "age": [41]})}
    with pytest.raises(InvalidRequestError, match="key"):
        fill(f"{{{{ df{step} }}}}", names, Redactor())
    assert fill("{{ df.age[0] }} {{ list(df) }}", names, Redactor()) == "41 ['password', 'age']"
    login = {"login": {"password": "hunter2!", "age": 41}}
    with pytest.raises(InvalidRequestError, match="under password"):
        fill("{{ list(login.values()) }}", login, Redactor())
    assert fill("{{ login['age'] }}", login, Redactor()) == "41"


def test_keys_of_the_environment_are_found_in_every_form(monkeypatch: pytest.MonkeyPatch) -> None:
    plain = {"PWD": "/home/ada/c", "SORT_KEY": "customer_name_lower", "DB2_PASSWORD": "postgres", "A_KEY": "/a7b2c9d4"}
    keys = {"APP_TOKEN": '"a7b2c9d4e1"', "DB_PASSWORD": 'kite/ze"bra\\7', "MAPBOX_KEY": "q1w2e3r4t5y6"}
    for name, value in (plain | keys).items():
        monkeypatch.setenv(name, value)
    redactor = Redactor(["a known key", "lm-studio"])
    assert not redactor.contains_secret(f"{' '.join(plain.values())} lm-studio")
    forms = ("x a7b2c9d4e1 y", repr(keys["DB_PASSWORD"]), json.dumps(keys), "?p=kite%2Fze%22bra%5C7", "a known key")
    assert [form for form in forms if not redactor.contains_secret(form)] == []


PARTS_OF_PATTERNS = (
    "-", "\n", "eyJ-", "-----BEGIN PRIVATE KEY-----", "-----END PRIVATE KEY-----abc", "Private-Lines: 1 ", "MIIEvQ\n",
    "://a:", "key='", "password=", "password = (", "bearer ", "sk-a-", "name: password\n value ", "password='\\\\",
    "<key>password</key> ", "curl -u ", "auth=('a','", "&key=", "a,password\n", "|a|\n|-|\n", "api key ",
)  # fmt: skip


@pytest.mark.parametrize("part", PARTS_OF_PATTERNS)
def test_a_search_takes_time_in_proportion_to_the_text(part: str) -> None:
    def seconds(size: int) -> float:
        begun = time.process_time()
        Redactor().masked(f"secret token --x curl {part * (size // len(part))}")
        return time.process_time() - begun

    assert seconds(100_000) < 20 * seconds(10_000) + 0.3
