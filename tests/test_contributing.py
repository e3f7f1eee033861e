"""Each recipe of CONTRIBUTING.md, followed to the letter in a copy of the package."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
GUIDE = (ROOT / "CONTRIBUTING.md").read_text("utf-8")
STEP = re.compile(
    r"^(?:In `(?P<path>[^`]+)`, (?P<where>below|instead of|at the end, behind two empty lines)(?: `(?P<line>[^`]+)`)?"
    r"|A new file, `(?P<new>[^`]+)`|(?P<check>Check)):\n\n```\w+\n(?P<code>.*?)^```$",
    re.MULTILINE | re.DOTALL,
)


def recipes() -> dict[str, list[re.Match[str]]]:
    """The edits of each recipe and, at the end, its check."""
    found = {}
    for section in GUIDE.partition("\n## Recipes\n")[2].split("\n### ")[1:]:
        name, _, text = section.partition("\n")
        found[name] = list(STEP.finditer(text))
        assert len(found[name]) == text.count("\n```") / 2, f"{name}: a block has no line that says where it goes"
        assert found[name][-1]["check"], f"{name}: a recipe ends with its check"
    return found


RECIPES = recipes()


def follow(step: re.Match[str], root: Path) -> None:
    """Make one edit, just as it is told."""
    if step["new"]:
        with (root / step["new"]).open("x", encoding="utf-8") as file:
            file.write(step["code"])
        return
    path = root / step["path"]
    text = path.read_text("utf-8")
    if step["line"] is None:
        path.write_text(f"{text}\n\n{step['code']}", "utf-8")
        return
    line = f"{step['line']}\n"
    assert text.count(f"\n{line}") == 1, f"{step['path']} has no line, or several: {step['line']}"
    kept = line if step["where"] == "below" else ""
    path.write_text(text.replace(f"\n{line}", f"\n{kept}{step['code']}"), "utf-8")


def run(check: str, root: Path) -> subprocess.CompletedProcess[str]:
    """Run a recipe's check with the package in this folder."""
    path = os.pathsep.join(map(str, (root, root / "site", ROOT / "tests" / "support")))
    told = {**os.environ, "PYTHONPATH": path, "JUPYTER_CTX_STORE": "memory"}
    return subprocess.run([sys.executable, "-c", check], cwd=root, env=told, capture_output=True, text=True)


def install(root: Path) -> None:
    """Do what pip does with a package's pyproject.toml."""
    told = tomllib.loads((root / "pyproject.toml").read_text("utf-8"))["project"]
    about = root / f"{told['name'].replace('-', '_')}-{told['version']}.dist-info"
    about.mkdir()
    (about / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {told['name']}\nVersion: {told['version']}\n")
    ((group, entries),) = told["entry-points"].items()
    lines = [f"{name} = {value}" for name, value in entries.items()]
    (about / "entry_points.txt").write_text("\n".join([f"[{group}]", *lines]))


@pytest.mark.parametrize("name", RECIPES)
def test_a_recipe_followed_to_the_letter_works(name: str, tmp_path: Path) -> None:
    for folder in ("jupyter_ctx", "scripts"):
        shutil.copytree(ROOT / folder, tmp_path / folder, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(ROOT / "models.json", tmp_path)
    *steps, check = RECIPES[name]
    assert len({step["path"] or step["new"] for step in steps}) <= 2
    assert run(check["code"], tmp_path).returncode != 0, "the check passes without the recipe"
    for step in steps:
        follow(step, tmp_path)
    if (tmp_path / "pyproject.toml").exists():
        install(tmp_path)
    done = run(check["code"], tmp_path)
    assert done.returncode == 0, done.stderr
