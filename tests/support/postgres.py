"""A PostgreSQL server for the tests."""

from __future__ import annotations

import itertools
import os
import secrets
import shutil
import signal
import socket
import subprocess
import time
from pathlib import Path
from typing import Any


class Postgres:
    """A PostgreSQL of the tests' own, which ends with them; it will not run as root."""

    def __init__(self, folder: Path, binaries: Path) -> None:
        self._folder, self._binaries = folder, binaries
        self._server: subprocess.Popen[bytes] | None = None
        self._names = itertools.count()
        self.password = secrets.token_hex(8)
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        self._as = ["setpriv", "--pdeathsig=INT"]
        if os.getuid() == 0:
            self._as += ["--reuid=postgres", "--regid=postgres", "--init-groups"]
            shutil.chown(folder, "postgres")
        word = folder / "password"
        word.write_text(self.password)
        begin = self._run("initdb", "-D", folder / "data", "-U", "ctx", "-A", "scram-sha-256", "--pwfile", word)
        assert begin.wait() == 0, self._said()

    def _run(self, program: str, *arguments: object) -> subprocess.Popen[bytes]:
        command = [*self._as, str(self._binaries / program), *map(str, arguments)]
        with (self._folder / "log").open("ab") as log:
            return subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=log, stderr=log, cwd=self._folder)

    def _said(self) -> str:
        return (self._folder / "log").read_text("utf-8")

    def start(self) -> None:
        """Begin to serve."""
        options = {
            "port": self.port, "listen_addresses": "127.0.0.1", "unix_socket_directories": self._folder,
            "max_connections": 100, "fsync": "off", "shared_buffers": "32MB",
        }  # fmt: skip
        given = [f"--{name}={value}" for name, value in options.items()]
        self._server, end = self._run("postgres", "-D", self._folder / "data", *given), time.monotonic() + 30
        while subprocess.run([self._binaries / "pg_isready", "-q", "-h", "127.0.0.1", "-p", str(self.port)]).returncode:
            assert self._server.poll() is None, self._said()
            assert time.monotonic() < end, self._said()
            time.sleep(0.02)

    @property
    def process(self) -> int | None:
        """The number of the process that serves."""
        return self._server.pid if self._server is not None else None

    def stop(self) -> None:
        """Serve no more, whoever is connected."""
        if self._server is not None:
            self._server.send_signal(signal.SIGINT)
            self._server.wait()

    def address(self, schema: str = "public") -> str:
        """Its address, for tables in this schema."""
        where = f"127.0.0.1:{self.port}/postgres?options=-csearch_path%3D{schema}"
        return f"postgresql+psycopg://ctx:{self.password}@{where}"

    def new(self) -> str:
        """The address of tables that nobody has used."""
        schema = f"test_{next(self._names)}"
        with self.connect() as connection:
            connection.execute(f"CREATE SCHEMA {schema}")
        return self.address(schema)

    def connect(self, schema: str = "public") -> Any:
        """A connection of psycopg's own that commits each statement."""
        import psycopg

        options = f"-csearch_path={schema}"
        return psycopg.connect(
            host="127.0.0.1", port=self.port, user="ctx", password=self.password, dbname="postgres",
            autocommit=True, options=options,
        )  # fmt: skip
