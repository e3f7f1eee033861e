"""The environment that start.py and test.py make, and what an installation puts beside the package."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path

import pytest

from scripts import environment

FILES = environment.ROOT / "labextension"


@pytest.fixture
def checkout(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A checkout whose environment is made, with nothing in it."""
    (tmp_path / "labextension/schemas").mkdir(parents=True)
    for name in ("pyproject.toml", "labextension/load.js"):
        (tmp_path / name).write_text("1")
    monkeypatch.setattr(environment, "ROOT", tmp_path)
    monkeypatch.setattr(environment, "FOLDER", tmp_path)
    monkeypatch.setattr(environment, "python", lambda: tmp_path)
    return tmp_path


def test_a_change_of_the_labextension_is_installed_again_and_nothing_else_is(
    checkout: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    installed: list[tuple[str, ...]] = []
    monkeypatch.setattr(environment, "_install", lambda *arguments: installed.append(arguments))
    monkeypatch.setattr(environment, "run", lambda *command: 0)
    for change, times in (("", 1), ("", 1), ("load.js", 2), ("new.js", 3), ("schemas/new.json", 4), ("", 4)):
        if change:
            (checkout / "labextension" / change).write_text("2")
        environment.prepare("lab")
        assert len(installed) == times


def test_every_script_of_the_labextension_goes_where_jupyter_looks_and_outside_static() -> None:
    build = tomllib.loads((environment.ROOT / "pyproject.toml").read_text("utf-8"))["tool"]["hatch"]["build"]["targets"]
    assert build["wheel"]["shared-data"] == {
        "labextension": "share/jupyter/labextensions/jupyter-ctx",
        "notebooks": "share/jupyter/labextensions/jupyter-ctx/lessons",
        "etc": "etc/jupyter",
    }
    assert {"labextension", "notebooks", "etc"} <= set(build["sdist"]["include"])
    package = json.loads((FILES / "package.json").read_text("utf-8"))
    assert package["name"] == "jupyter-ctx"
    assert (FILES / package["jupyterlab"]["_build"]["load"]).is_file()
    assert not (FILES / "static").exists()  # browsers keep what is there for a year
    schemas = FILES / package["jupyterlab"]["schemaDir"] / package["name"]
    assert [path.stem for path in schemas.iterdir()] == ["chip"]
