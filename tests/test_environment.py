"""The environment that start.py and test.py make, and what an installation puts beside the package."""

from __future__ import annotations

import json
import tomllib

from scripts import environment

FILES = environment.ROOT / "labextension"


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
