"""Secrets are blanked, whatever they look like and wherever they stand; what only resembles one is left."""

from __future__ import annotations

import json
import time
from datetime import date
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
from jupyter_ctx.runtime.secret_names import names_a_secret
from jupyter_ctx.template.filling import fill
from jupyter_ctx.testing import ScriptedProvider

BODY = (
    "MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQC7VJTUt9Us8cKj\nMzEfYyjiWA4R4/M2bS1GB4t7NXp98C3SC6dVMvDuictGeurT"
    "8jNbvJZHtCSuYEvu\nNMoSfm76oqFvAp8Gy0iz5sxjZmSnXyCdPEovGhLa0VzMaQ8s+CLOyS56YyCFGeJZ\n"
)
PEM = f"-----BEGIN PRIVATE KEY-----\n{BODY}-----END PRIVATE KEY-----\n"
KINDS = ("RSA ", "EC ", "DSA ", "ENCRYPTED ", "OPENSSH ")
SHAPES: dict[str, tuple[str, tuple[str, ...]]] = {
    **{kind: (PEM.replace("PRIVATE", f"{kind}PRIVATE"), ("MIIEvQ", "MzEfYy", "NMoSfm")) for kind in KINDS},
    "PGP": (PEM.replace("KEY-", "KEY BLOCK-"), ("MIIEvQ", "NMoSfm")),
    "PEM as repr": (repr(PEM), ("MIIEvQ", "NMoSfm")),
    "PEM as JSON": (json.dumps({"private_key": PEM, "private_key_id": "0123abcd"}), ("NMoSfm", "0123abcd")),
    "PEM without end": (PEM.partition("-----END")[0], ("MIIEvQ", "NMoSfm")),
    "PEM without beginning": (PEM[200:], ("NMoSfm",)),
    "PEM without middle": (f"{PEM[:90]}\n… 1,234 characters left out …\n{PEM[150:]}", ("MIIEvQ", "NMoSfm")),
    "PEM, indented": (PEM.replace("\n", "\n      "), ("MIIEvQ", "NMoSfm")),
    "PuTTY": (f"Public-Lines: 1\nAAAA\nPrivate-Lines: 3\n{BODY}Private-MAC: 0123456789abcdef0123", ("NMoSfm", "cdef")),
    "AWS pair": ("AKIAIOSFODNN7EXAMPLE,wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY", ("AKIAIO", "wJalr")),
    "JWT": ("eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.dozjgNryP4J3jVmN", ("eyJzdWI", "dozjg")),
    "JWT without signature": ("eyJhbGciOiJub25lIn0.eyJzdWIiOiIxMjM0NTY3ODkwIn0.", ("eyJzdWI",)),
    **{
        text: (text, (secret,))
        for text, secret in (
            ("export DB_PASS=hunter2", "hunter2"), ("DB_PASSWORD=correct horse battery", "horse"),
            ("A=1\nPGPASSWORD='hunter 2' # old\nB=2", "hunter"), ("MAPBOX_KEY=abc123def456", "abc123"),
            ("password: hunter2\n", "hunter2"), ("[db]\npassword = swordfish\n", "swordfish"),
            ("CONNECTION_STRING=Server=x;User=sa;Password=swordfish;Database=y", "swordfish"),
            ("AccountName=x;AccountKey=abcd+/efgh1234==;EndpointSuffix=y", "abcd+"),
            ('{"password": "hunter2", "user": "x"}', "hunter2"), (r'"{\"password\": \"hunter2\"}"', "hunter2"),
            ("connect(user='ada', credentials='hunter2')", "hunter2"), ("authorization=abc123 refused", "abc123"),
            ('password: str = "hunter2"', "hunter2"), ("requests.get(u, auth=('ada', 'hunter2'))", "hunter2"),
            ('os.environ["DB_PASSWORD"] = "hunter2"', "hunter2"), ("<password>hunter2</password>", "hunter2"),
            ("Authorization: Bearer abcdefghij", "abcdef"), ("Set-Cookie: session=abc123; Path=/", "abc123"),
            ("X-Api-Key: hunter2", "hunter2"), ("Basic YWRhOmdlaGVpbQ==", "YWRh"),
            ("curl -X GET -u ada:hunter2 https://x", "hunter2"), ("tool --api-key abc123", "abc123"),
            ("postgresql://ada:geheim@db/x", "geheim"), ("https://h/v1?a=1&token=abc123def", "abc123"),
            ("https://s3/x?X-Amz-Signature=deadbeef0123", "deadbeef"), ("https://b/c?sv=2&sig=Ab%2Fc%3D", "Ab%2F"),
            ("machine h\n  login ada\n  password hunter\n", "hunter"), ("db.x.org:5432:app:ada:geheim", "geheim"),
            ("CREATE USER ada PASSWORD 'hunter2'", "hunter2"), ("sk-proj-Zq3vX9bN2mK7tR5wY8pL4dF6", "Zq3v"),
            ("AIza" + "SyD4k8Jq2mZx7Vb1Nc5Lp9Rt3Ws6Yh0Gf4U", "SyD4"), ("dapi0123456789abcdef0123456789abcdef", "0123"),
            ("ghp_16C7e42F292c6912E7710c838347Ae178B4a", "16C7"),
            (repr("a\nghp_16C7e42F292c6912E7710c838347Ae178B4a\nb"), "16C7"), ("glpat-ABCDEFGHijklmnop1234", "ABCD"),
            ("db:\n  passphrase: >-\n    hunter two\n    swordfish\n  port: 80", "swordfish"),
            ("credentials:\n  - usr1\n  - swordfish\nport: 80", "swordfish"), ("api_keys:\n- hunter2", "hunter2"),
            ('[a]\npassword = """\nhunter2\nswordfish"""', "swordfish"),
            ('PASSWORD="one\nswordfish"\nA=1', "swordfish"),
            ('[{"name": "DB_PASSWORD", "value": "hunter two"}]', "hunter"), ("[('password', 'geheim')]", "geheim"),
            ('{"value": "hunter2", "key": "api_key"}', "hunter2"), ("- name: DB_PASSWORD\n  value: hunter2", "hunter2"),
            ('<add key="ApiKey" value="hunter 2"/>', "hunter"),
            ("<name>fs.secret.key</name><value>hunter2</value>", "hunter2"), ("curl -H 'X-Api-Key: xk 12'", "xk 12"),
            ("conf.set('password','geheim')", "geheim"), ("password=SecretStr('geheim')", "geheim"),
            (repr({"data": "name,value\nDB_PASSWORD,wombat77\nPORT,80"}), "wombat"),
            ("password is 'geheim'", "geheim"), ("Invalid token: 12345678", "12345678"), ("PASS=hunter2", "hunter2"),
            ("TOKEN2=geheim", "geheim"), ("DB_PW=geheim", "geheim"), ("pin: 4829", "4829"),
            ("session_cookie=ab1", "ab1"), ("passphrase for key: hunter2", "hunter2"),
            ('conf.set("fs.azure.account.key.x", "q8Zt3Lw0xY7n==")', "q8Zt3"),
            ("SK0123456789abcdef0123456789abcdef", "0123"), ("key-0123456789abcdef0123456789abcdef", "0123"),
            ("123456789:AAEhBOweik6ad9r_QXMENQjcrGbqCr4K-bc", "AAEh"),
            ("https://hooks.slack.com/services/T000/B000/XXabcdef1", "abcdef"), ("API key: xk77w2q", "xk77"),
            ("the client secret is stored, Access token = ab12cd34ef56", "ab12"), ("--token ab12cd34ef56", "ab12"),
            ("docker login -u ada -p wombat77 reg.x", "wombat"), ("mysqldump -u root -pwombat77 db", "wombat"),
            ("sshpass -p 'wombat77' ssh h", "wombat"), ("smtp.login('ada', 'wombat77')", "wombat"),
            ("keytool -storepass wombat77", "wombat"), ("psk=wombat77", "wombat"),
            ("secret_key_base: wombat77", "wombat"),
            ("docker run -e DB_PASSWORD=MyPassword77 img", "MyPass"), ("x password: TopSecret77!", "TopSecret"),
            ("login user=ada password=letmein ok", "letmein"), ("mysql --password=mysecret99 -h db", "mysecret"),
            ("'host=db user=ada password=company_secret_1'", "company"), ("x password=Tr0ub4dor&3 y", "r&3"),
            ("'Server=x;Password=mysecret;Database=y'", "mysecret"),
            ("INSERT INTO users (name, password) VALUES ('ada', 'Winter77x')", "Winter"),
            ('INSERT INTO u ("id", "password") VALUES\n(1, NOW()),\n(2, f(\'Winter77x\', g(1)));', "Winter"),
            ("x?odbc_connect=DRIVER%3Dx%3BPWD%3DWinter77x%3BUID%3Dy", "Winter"),
            ("Fernet key: Ab3dEf9hIjK2mNoPqRsT4vWxYz0123456789abcdEfg=", "Ab3d"),
        )
    },
}  # fmt: skip
ORDINARY = """tokens: 12, token_count=5, max_tokens=100, {"token": "playing", "key": "value", "primary_key": "id"}
sorted(xs, key=lambda x: x[0]); sort_key = "name"; monkey: banana; secretary: Ada; password_length = 8
commit 3b18e512dba79e4c8300dd08aeb37f8e728b8dad 550e8400-e29b-41d4-a716-446655440000
data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk
sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08 task-specific-model-name-2024
pip install sk-learn; basic understanding; hf_hub_download_from_the_cache; secret_manager_client_name
def f(token: str, password: str = None, api_key: Optional[str] = None):
api_key = os.environ["OPENAI_API_KEY"]; password = getpass("Password: "); client = OpenAI(api_key=api_key)
api_key="<your key>"; api_key = "${VAR}"; password=***; OPENAI_API_KEY=YOUR_API_KEY; token = tokenizer.encode(text)
OPENAI_API_KEY=
headers = {"Authorization": f"Bearer {token}"}; Authorization: Bearer $TOKEN; authorization is required
The password must be at least 8 characters. "password": {"type": "string"}, "description": "The password of the user"
postgresql://ada:***@db/x https://ada@db:80/x docker run -u 1000:1000 image; main.py:12:5:error:foo
GOOGLE_APPLICATION_CREDENTIALS=/home/me/key.json
pad_token="<pad>"; bos_token_id=50256; token == 'COVID-19'
author: Smith2000; pass_rate = 0.95; hash: d41d8cd98f00b204e9800998ecf8427e; n_secrets = 12; api_key: str | None
Authorization: required.
Secret=love.
x password: required connect(password=password) f(user=user, token=token, secret=secret2) password=args.password x
INSERT INTO users (name, password) VALUES ('password', ?), (:name, :password), ('ada', NULL)
  {"X-metadata-token": imdsv2_session_token}
password, "the one"
usage: tool --password=PASSWORD --token=TOKEN; the password=TEXT to use; password: choose a good one
tokens: 1234 passed: 4000 compass=north1x2 passenger: Smith2000 pinned: 5000 spin = 4000 pin: 13 PASS: test_it
mysql -u root -p db; docker run -p 8080:80 image; ssh -p 2222 host; page.login(name, password); API keys: see the docs
columns=["password", "email"]; {"name": "password", "type": "string"}; <option name="color" value="blue42"/>
-----BEGIN PUBLIC KEY----- MFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAEEVs/o5+uQbTjL3chynL4wXgUg2R9 -----END PUBLIC KEY-----
"""


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
    assert (
        attached(path, redact=False).text == f"File a.txt:\n```\n{text.rstrip()}\n```"
        or text in attached(path, redact=False).text
    )
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
def test_no_shape_of_a_secret_goes_out(way_out: Any, tmp_path: Path) -> None:
    left = {}
    for name, (text, secrets) in SHAPES.items():
        sent = way_out(text, tmp_path)
        left |= {(name, secret): sent for secret in secrets if secret in sent}
    assert left == {}


def test_what_only_resembles_a_secret_is_left() -> None:
    assert Redactor().redacted(ORDINARY).text == ORDINARY


@pytest.mark.parametrize("value", ["x", b"x", 12345, 1.5, date(2026, 11, 23), ["x"], {"a": 1}])
def test_what_is_named_like_a_secret_is_blanked_whatever_its_type(value: Any) -> None:
    for holder in ({"api_key": value}, pd.DataFrame({"user": ["ada"], "api_key": [value]}), [{"a": {"apiKey": value}}]):
        found = attached(holder)
        assert "***" in found.text
        assert "1 part " in found.notices[0]
    assert as_values(RunRecord("", [{"api_key": value}], []))["rows"] == [{"api_key": "***"}]


def test_a_token_is_a_word_or_a_secret() -> None:
    frame = pd.DataFrame({"token": ["playing", "covid-19"], "flag": [1, 2]})
    assert attached(frame).notices == ()
    assert "playing" in fill("{{ df }}", {"df": frame}, Redactor()).text
    assert "123456" not in attached(pd.DataFrame({"token": [123456]})).text
    assert "abc123" not in attached({"token": "abc123def456"}).text


@pytest.mark.parametrize("expression", ["d", "d['password']", "df", "df.password", "password"])
def test_a_name_of_a_secret_is_refused_in_a_prompt(expression: str) -> None:
    names = {"d": {"password": "geheim"}, "df": pd.DataFrame({"password": [1, 1234]}), "password": "geheim"}
    with pytest.raises(InvalidRequestError, match="key"):
        fill(f"{{{{ {expression} }}}}", names, Redactor())


def test_names() -> None:
    secret = "password DB_PASS apiKey X-Api-Key client_secret refresh_token PGPASSWORD aws_access_key_id Authorization"
    plain = "token tokens key primary_key keyboard secretary password_length max_tokens sort_key customer_key"
    assert all(map(names_a_secret, secret.split()))
    assert not any(map(names_a_secret, plain.split()))


PARTS_OF_PATTERNS = (
    "a", "-", "=", "_", "\n", "eyJ", "eyJ-", "-----BEGIN ", "-----BEGIN PRIVATE KEY-----", "://a:", "key='", "a.",
    "password=", "password:", "password = (", "bearer ", "sk-a-", "password:\n ", "password: |\n ", "secrets:\n - ",
    "name: password\n value ", "<key>password</key> ", 'password = "\n', "-u a:", "login a ", "authorization: the ",
    "&key=", "'a,b\\n", "'a\n", "|a|\n|-|\n", "a|\n", "password=a&",
    "insert into x (password) values ('", "insert a (", "insert x (pw) values ('',", "=pwd%3d",
)  # fmt: skip


@pytest.mark.parametrize("part", PARTS_OF_PATTERNS)
def test_a_search_takes_time_in_proportion_to_the_text(part: str) -> None:
    def seconds(size: int) -> float:
        text = f"secret token --x curl {part * (size // len(part))}"
        begun = time.process_time()
        Redactor().redacted(text)
        return time.process_time() - begun

    assert seconds(300_000) < 20 * seconds(30_000) + 0.3


TABLE = {
    "df": pd.DataFrame({"api_key": [b"bk1zz"], "password": ["pw1zz"], "age": [41]}),
    "records": np.array([(1, "pw1zz")], dtype=[("n", "i4"), ("password", "U8")]),
}


@pytest.mark.parametrize(
    "expression",
    ["df", "df['password'][0]", "df.password.tolist()", "df.loc[0, 'password']", "df.iloc[0]", "df.T",
     "df.password.max()", "df.to_csv()", "df[['age', 'password']]", "df.head(1)", "records['password']"],
)  # fmt: skip
def test_no_step_reads_a_column_that_is_secret_for_its_name(expression: str) -> None:
    with pytest.raises(InvalidRequestError, match="key"):
        fill(f"{{{{ {expression} }}}}", TABLE, Redactor())


@pytest.mark.parametrize(
    ("expression", "text"),
    [("df.shape", "(1, 3)"), ("df.age.mean()", "41.0"), ("df.loc[0, 'age']", "41"), ("len(df)", "1"),
     ("list(df)", "['api_key', 'password', 'age']"), ("df.head().age[0]", "41"), ("records['n'][0]", "1")],
)  # fmt: skip
def test_the_other_columns_of_such_a_table_are_read(expression: str, text: str) -> None:
    assert fill(f"{{{{ {expression} }}}}", TABLE, Redactor()).text == text


@pytest.mark.parametrize(
    ("text", "blanked"),
    [("user,password,age\nbob,csvpw1,3\nann,\"a,b\"\"c1\",4\n", "user,password,age\nbob,***,3\nann,\"***\",4\n"),
     ("user,password,api key\nada,Winter77,17", "user,password,api key\nada,***,17"),
     ("# all\nid,user,password,e-mail (work)\n1,ada,Winter77,x", "# all\nid,user,password,e-mail (work)\n1,ada,***,x"),
     ("a\n" * 9 + "| user | password |\n|---|---|\n| ada | Winter77 |",
      "a\n" * 9 + "| user | password |\n|---|---|\n| ada | *** |"),
     (" user | password\n------+------\n ada | Winter77", " user | password\n------+------\n ada | ***"),
     *((code, code) for code in (
         "from x import user, password\nprint(user, passwd)", "connect(\n    user, password,\n    timeout, retries,\n)",
         "SELECT name, password\nFROM users, logins", "Enter name, password\nand email, then press")),
     ("a;token\nx;123456\n", "a;token\nx;***\n"),
     ("name,value\nPORT,80\napi_key,geheim\n", "name,value\nPORT,80\napi_key,***\n"),
     ("one, two, password\nthe ship, sailed, on\n", "one, two, password\nthe ship, sailed, on\n"),
     ("{'Authorization': ***, 'db': 'keepdb'}", "{'Authorization': ***, 'db': 'keepdb'}")],
)  # fmt: skip
def test_cells_below_heads_that_name_secrets_are_blanked(text: str, blanked: str) -> None:
    assert Redactor().redacted(text).text == blanked


ROW = {"user": "ada", "password": "Winter77x", "token": "ab12cd34ef"}
POLARS = {
    "named": pl.DataFrame({"password": ["Winter77"], "age": [3]}),
    "struct": pl.DataFrame({"a": [ROW], "age": [3]}),
    "lists": pl.DataFrame({"a": [[ROW]], "age": [3]}),
    "tokens": pl.DataFrame({"a": [{"token": "ab12cd34ef"}], "age": [3]}),
    "words": pl.DataFrame({"a": [{"token": "playing"}], "password": pl.Series([None], dtype=pl.Int64)}),
}


@pytest.mark.parametrize(
    "expression",
    ["named", "named['password'].max()", "named.head(1)", "struct['a'][0]", "struct['a'].to_list()"],
)  # fmt: skip
def test_no_step_reads_what_is_secret_for_its_name_in_polars(expression: str) -> None:
    with pytest.raises(InvalidRequestError, match="key"):
        fill(f"{{{{ {expression} }}}}", POLARS, Redactor())


@pytest.mark.parametrize(
    ("expression", "text"),
    [("named.columns", "['password', 'age']"), ("struct.columns", "['a', 'age']"), ("named['age'][0]", "3"),
     ("struct['age'][0]", "3"), ("lists.shape", "(1, 2)"), ("words['a'][0]", "{'token': 'playing'}"),
     ("words['password'].null_count()", "1")],
)  # fmt: skip
def test_the_rest_of_polars_is_read(expression: str, text: str) -> None:
    assert fill(f"{{{{ {expression} }}}}", POLARS, Redactor()).text == text


@pytest.mark.parametrize(
    "value",
    [pd.DataFrame({"secret": [1, 0, 1]}), pd.DataFrame({"passed": [3000], "n_tokens": [123456], "pinned": [5000]}),
     pd.Series(["password", "the", "the"]).value_counts(), [("password", 42), ("the", 100)], ["password", "email"],
     {"key": "user", "value": "ada2024"}, {"pass": 12, "fail": 3}, {"pin": 13},
     pd.DataFrame({"secret": ["yes", "no"]})],
    ids=lambda value: type(value).__name__,
)  # fmt: skip
def test_words_flags_and_counts_are_left(value: Any) -> None:
    assert attached(value).notices == ()
    assert "holds a key" not in fill("{{ v }}", {"v": value}, Redactor()).text


def test_folders_that_a_shell_or_a_service_names_in_the_environment_are_no_secrets(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folders = {"PWD": "/home/ada/course", "OLDPWD": "/home/ada/gone", "CREDENTIALS_DIRECTORY": str(tmp_path)}
    for name, folder in folders.items():
        monkeypatch.setenv(name, folder)
    monkeypatch.setenv("DB_PASSWORD", "correct/horse/battery")
    text = " ".join(f"{folder}/notes.txt" for folder in folders.values())
    redactor = Redactor()
    assert not redactor.hold(text)
    assert redactor.hold(f"{text} correct/horse/battery")
