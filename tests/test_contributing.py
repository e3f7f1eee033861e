"""Each recipe of CONTRIBUTING.md, followed to the letter in a copy of the package."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
GUIDE = (ROOT / "CONTRIBUTING.md").read_text("utf-8")
STEP = re.compile(
    r"^(?:In `(?P<path>[^`]+)`, (?P<where>below|instead of|at the end, behind two empty lines)(?: `(?P<line>[^`]+)`)?"
    r"|A new file, `(?P<new>[^`]+)`|(?P<check>Check)):\n\n```\w+\n(?P<code>.*?)^```$",
    re.MULTILINE | re.DOTALL,
)


@dataclass(frozen=True, slots=True)
class Step:
    """One edit: the code, the file, and the line that it goes below or stands instead of."""

    code: str
    path: str
    where: str | None
    line: str | None


@dataclass(frozen=True, slots=True)
class Recipe:
    """The edits of a recipe, and the code that checks what they have changed."""

    steps: tuple[Step, ...]
    check: str


def recipes() -> Mapping[str, Recipe]:
    found = {}
    for section in GUIDE.partition("\n## Recipes\n")[2].split("\n### ")[1:]:
        name, _, text = section.partition("\n")
        blocks = list(STEP.finditer(text))
        assert len(blocks) == text.count("\n```") / 2, f"{name}: a block has no line that says where it goes"
        *edits, check = blocks
        assert check["check"], f"{name}: a recipe ends with its check"
        steps = (Step(edit["code"], edit["path"] or edit["new"], edit["where"], edit["line"]) for edit in edits)
        found[name] = Recipe(tuple(steps), check["code"])
    return found


RECIPES = recipes()


def follow(step: Step, root: Path) -> None:
    """Make one edit, just as it is told."""
    path = root / step.path
    if step.where is None:
        assert not path.exists(), f"{step.path} is there already"
        path.write_text(step.code, "utf-8")
        return
    text = path.read_text("utf-8")
    if step.line is None:
        path.write_text(f"{text}\n\n{step.code}", "utf-8")
        return
    line = f"{step.line}\n"
    assert text.count(f"\n{line}") == 1, f"{step.path} has no line, or several: {step.line}"
    kept = line if step.where == "below" else ""
    path.write_text(text.replace(f"\n{line}", f"\n{kept}{step.code}"), "utf-8")


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


@pytest.fixture
def package(tmp_path: Path) -> Path:
    """A copy of all that a recipe may edit."""
    root = tmp_path / "copy"
    ignored = shutil.ignore_patterns("__pycache__")
    for folder in ("jupyter_ctx", "scripts"):
        shutil.copytree(ROOT / folder, root / folder, ignore=ignored)
    shutil.copy(ROOT / "models.json", root)
    return root


@pytest.mark.parametrize("name", RECIPES)
def test_a_recipe_followed_to_the_letter_works(name: str, package: Path) -> None:
    recipe = RECIPES[name]
    assert len({step.path for step in recipe.steps}) <= 2
    assert run(recipe.check, package).returncode != 0, "the check passes without the recipe"
    for step in recipe.steps:
        follow(step, package)
    if (package / "pyproject.toml").exists():
        install(package)
    done = run(recipe.check, package)
    assert done.returncode == 0, done.stderr
