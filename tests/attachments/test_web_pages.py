"""A web page goes as its readable text, and nothing in a private network is read unless that is allowed."""

from __future__ import annotations

import gzip
import socket
import ssl
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime, timedelta
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from typing import Any

import pytest
from cells import Cells
from images import PIXEL
from server import Quiet, running

from jupyter_ctx import Chat, InvalidRequestError
from jupyter_ctx.attachments import files_and_pages
from jupyter_ctx.attachments.attached import Attached, TextRoom
from jupyter_ctx.attachments.attached_values import attached_value
from jupyter_ctx.attachments.files_and_pages import Address
from jupyter_ctx.runtime.redaction import Redactor
from jupyter_ctx.testing import ScriptedProvider, count_characters

MENU = "<nav><a>Pricing</a></nav><div class=sidebar>Popular posts</div>"
PAGE = f"""<!doctype html><title>Slow jobs | Acme</title><style>.x</style>
{MENU}<article><h1>Slow jobs</h1>
<p>{"The nightly job took nine hours. " * 9}</p><ul><li>Scale first.</ul>
<pre>for row in rows:\n    parse(row)</pre>
<table><tr><th>Step<th>Seconds<tr><td>Parse<td>212</table></article><script>track()</script>"""
PAGES: dict[str, tuple[str, bytes]] = {
    "/page": ("text/html; charset=utf-8", PAGE.encode()),
    "/keyed": ("text/html", b"<title>Set-up</title><p>OPENAI_API_KEY=sk-proj-" + b"Ab3" * 12),
    "/data.json": ("application/json", b'{"a": [1]}'),
    "/read.md": ("text/plain", b"# Title\n\n<b>as it is</b>"),
    "/plot": ("image/png", PIXEL),
    "/1706.03762": ("application/pdf", b"%PDF-1.4 /Type /Page"),
    "/app": ("text/html", b"<div id=root></div><script>start()</script>"),
    "/zip": ("application/octet-stream", b"PK\3\4\0"),
    "/large": ("text/html", b"<p>" + b"word " * 600_000),
}


class Handler(Quiet):
    """Pages, redirects, a bomb, and a page that never ends."""

    seen: list[str]

    def do_GET(self) -> None:
        self.seen.append(self.path)
        if self.path.startswith("/to="):
            return self.reply(302, "", b"", Location=self.path.removeprefix("/to="))
        if self.path == "/bomb":
            return self.reply(200, "text/html", gzip.compress(bytes(50_000_000)), Content_Encoding="gzip")
        if self.path == "/slow":
            self.send_response(200)
            self.end_headers()
            for _ in range(50):
                self.wfile.write(b"x")
                time.sleep(0.05)
            return None
        kind, body = PAGES.get(self.path, ("", b""))
        return self.reply(200 if kind else 404, kind, body)

    def reply(self, status: int, kind: str, body: bytes, **headers: str) -> None:
        self.send_response(status)
        for name, value in {"Content-Type": kind, "Content-Length": str(len(body)), **headers}.items():
            self.send_header(name.replace("_", "-"), value)
        self.end_headers()
        self.wfile.write(body)


@pytest.fixture
def site(monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    monkeypatch.setattr(Handler, "seen", [], raising=False)
    with running(Handler) as url:
        yield url


def read(address: str, *, allow_local: bool = True) -> Attached:
    room = TextRoom(2_000, count_characters)
    return attached_value(address, Address(address, allow_local), room, Redactor())


def refused(address: str, *, allow_local: bool = True) -> str:
    with pytest.raises(InvalidRequestError) as raised:
        read(address, allow_local=allow_local)
    assert "\n" not in str(raised.value)
    return str(raised.value)


def test_a_page_goes_as_its_text_with_its_title_and_address(site: str) -> None:
    text = read(f"{site}/page").text
    assert text.startswith(f"Page Slow jobs | Acme ({site}/page):\n```\n")
    assert "for row in rows:\n    parse(row)\n" in text
    assert "• Scale first.\n" in text
    assert "Step | Seconds\nParse | 212" in text
    for left_out in ("Pricing", "Popular", "track", ".x"):
        assert left_out not in text


def test_json_and_text_go_as_they_are(site: str) -> None:
    assert read(f"{site}/data.json").text == f'Page {site}/data.json:\n```\n{{"a": [1]}}\n```'
    assert "<b>as it is</b>" in read(f"{site}/read.md").text


def test_an_image_or_a_pdf_by_its_content_goes_as_a_file(site: str) -> None:
    (image,), (paper,) = read(f"{site}/plot").files, read(f"{site}/1706.03762").files
    assert (image.data, image.media_type, paper.name) == (PIXEL, "image/png", "1706.03762.pdf")


def test_keys_in_a_page_are_blanked(site: str) -> None:
    part = read(f"{site}/keyed")
    assert "sk-proj" not in part.text
    assert len(part.notices) == 1


@pytest.mark.parametrize(
    ("path", "says"),
    [("gone", "404"), ("large", "2,000,000 bytes"), ("bomb", "2,000,000 bytes"), ("app", "no text"), ("zip", "neither"),
     ("to=ftp://a.example/x", "cannot be read")],
)  # fmt: skip
def test_what_cannot_be_read_is_one_line(site: str, path: str, says: str) -> None:
    assert says in refused(f"{site}/{path}")


def test_a_page_that_drips_is_given_up(site: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(files_and_pages, "SECONDS", 0.3)
    begun = time.monotonic()
    assert "0.3 seconds" in refused(f"{site}/slow")
    assert time.monotonic() - begun < 2


def test_a_cell_and_a_script_read_pages_and_only_the_cell_may_read_local_ones(cells: Cells, site: str) -> None:
    assert f"{site}/to=/page" in cells.run(f"%%chat preview --allow-local -a {site}/to=/page\nWhy?")
    assert Handler.seen == ["/to=/page", "/page"]
    assert "--allow-local" in str(cells.fail(f"%%chat -a {site}/page\nWhy?"))
    with pytest.raises(InvalidRequestError, match="--allow-local"):
        Chat(provider=ScriptedProvider("x")).send("Why?", attachments=[f"{site}/page"])


@contextmanager
def over_tls(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """The port of the same site at https://NAME.example.com, whose names lead to this machine."""
    x509 = pytest.importorskip("cryptography.x509")  # the SDKs bring it
    from cryptography.hazmat.primitives import hashes
    from cryptography.hazmat.primitives import serialization as form
    from cryptography.hazmat.primitives.asymmetric.ec import SECP256R1, generate_private_key

    key, names = generate_private_key(SECP256R1()), x509.SubjectAlternativeName([x509.DNSName("*.example.com")])
    subject = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "test")])
    made = x509.CertificateBuilder().subject_name(subject).issuer_name(subject).public_key(key.public_key())
    made = made.serial_number(1).not_valid_before(datetime.now() - timedelta(2)).not_valid_after(datetime(2050, 1, 1))
    signed = made.add_extension(names, critical=False).sign(key, hashes.SHA256())
    secret = key.private_bytes(form.Encoding.PEM, form.PrivateFormat.PKCS8, form.NoEncryption())
    file = folder / "site.pem"
    file.write_bytes(secret + signed.public_bytes(form.Encoding.PEM))
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(file)
    resolve = socket.getaddrinfo
    monkeypatch.setattr(socket, "getaddrinfo", lambda host, *rest, **more: resolve("127.0.0.1", *rest, **more))
    monkeypatch.setenv("SSL_CERT_FILE", str(file))
    monkeypatch.setattr(Handler, "seen", [], raising=False)
    monkeypatch.setattr(Handler, "setup", lambda self: _encrypted(self, context))
    monkeypatch.setattr(Handler, "finish", _ended)
    with running(Handler) as url:
        yield url.rpartition(":")[2]


def _encrypted(handler: Any, context: ssl.SSLContext) -> None:
    handler.request = context.wrap_socket(handler.request, server_side=True)
    BaseHTTPRequestHandler.setup(handler)


def _ended(handler: Any) -> None:
    BaseHTTPRequestHandler.finish(handler)
    handler.request.close()


def test_nothing_is_sent_into_a_network_whatever_its_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with over_tls(tmp_path, monkeypatch) as port:
        assert "--allow-local" in refused(f"https://pages.example.com:{port}/page", allow_local=False)
        assert Handler.seen == []


@pytest.mark.parametrize("target", ["https://inside.example.com:{}/x", "http://a.example.com:{}/x", "https://nas:{}"])
def test_a_redirect_into_a_private_network_is_not_followed(
    target: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first_only = iter([True, False])
    monkeypatch.setattr(files_and_pages, "is_public", lambda number: next(first_only))
    with over_tls(tmp_path, monkeypatch) as port:
        path = f"/to={target.format(port)}"
        assert "--allow-local" in refused(f"https://pages.example.com:{port}{path}", allow_local=False)
        assert Handler.seen == [path]


def test_addresses_of_the_internet_are_told_from_those_of_a_network() -> None:
    public = {"93.184.215.14", "2606:2800:21f:cb07::1", "::ffff:93.184.215.14"}
    private = {"127.0.0.1", "10.1.2.3", "169.254.169.254", "100.64.0.1", "::1", "fe80::1%eth0", "::ffff:10.0.0.1"}
    assert {number for number in public | private if files_and_pages.is_public(number)} == public


# addresses that are not read

UNREACHABLE = (
    "localhost 127.0.0.1 10.0.0.3 192.168.1.4:8888 169.254.169.254 [::1] [fd00::1] nas nas.local db.internal 127.1 "
    "0x7f.1 2130706433 localhost."
)


@pytest.mark.parametrize("host", UNREACHABLE.split())
def test_a_network_of_ones_own_is_not_read(host: str) -> None:
    assert "--allow-local" in refused(f"https://{host}/cat.png", allow_local=False)


@pytest.mark.parametrize(
    "carried",
    [
        "ada:s3cret@example.com/cat.png", "ada@example.com/cat.png", "example.com/cat.png?token=s3cret",
        "example.com/cat.png?X-Amz-Credential=a&X-Amz-Signature=s3cret", "example.com/cat.png?sv=2020&sig=s3cret",
        "example.com/cat.png?api_key=s3cret", "example.com/cat.png#access_token=s3cret",
        "example.com/sk-proj-s3cretabcdefghijklmnop1234567890/cat.png",
    ],
)  # fmt: skip
def test_an_address_that_holds_a_key_is_refused_without_it(carried: str) -> None:
    problem = refused(f"https://{carried}", allow_local=False)
    assert "key" in problem
    assert "s3cret" not in problem
