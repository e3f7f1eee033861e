"""A server in a process of its own, whose replies have no end: the path says of which form, and in which dialect."""

from __future__ import annotations

import subprocess
import sys
import zlib
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import repeat
from pathlib import Path

from dialects import DIALECTS

MEGABYTE = 1 << 20
MEGABYTES = 700
FILL = b"x" * MEGABYTE


def packed() -> Iterator[bytes]:
    """A gzip bomb."""
    squeeze = zlib.compressobj(9, wbits=31)
    for _ in range(MEGABYTES):
        yield squeeze.compress(FILL)
    yield squeeze.flush()


class Endless(BaseHTTPRequestHandler):
    """Answers /DIALECT/FORM/... with 700 MB."""

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["Content-Length"]))
        self.do_GET()

    def do_GET(self) -> None:
        _, name, form, *_ = self.path.split("/")
        self.send_response(400 if form == "error" else 200)
        self.send_header("Content-Type", "text/event-stream")
        if form == "gzip":
            self.send_header("Content-Encoding", form)
        self.end_headers()
        with suppress(OSError):  # the client has read enough
            self.write(form, name)

    def write(self, form: str, name: str) -> None:
        dialect = DIALECTS[name]
        begun = dialect.pieces(["Some text"]).encode()
        if form == "gzip":
            pieces = packed()
        elif form == "tokens":
            event = dialect.pieces(["word "]).encode()
            pieces = repeat(event * (MEGABYTE // len(event)), MEGABYTES)
        elif form == "rows":
            pieces = repeat(b'[{"id": "m"}],' * 70_000, MEGABYTES)
        else:
            self.wfile.write(b'{"error": {"message": "' if form == "error" else begun)
            pieces = repeat(FILL, MEGABYTES)
        for piece in pieces:
            self.wfile.write(piece)

    def log_message(self, *_: object) -> None:
        pass


@contextmanager
def endless() -> Iterator[str]:
    """The address of the server, which runs beside the test."""
    process = subprocess.Popen([sys.executable, __file__], stdout=subprocess.PIPE, text=True, cwd=Path(__file__).parent)
    assert process.stdout is not None
    try:
        yield f"http://127.0.0.1:{process.stdout.readline().strip()}"
    finally:
        process.kill()
        process.wait()
        process.stdout.close()


if __name__ == "__main__":
    server = ThreadingHTTPServer(("127.0.0.1", 0), Endless)
    print(server.server_port, flush=True)
    server.serve_forever()
