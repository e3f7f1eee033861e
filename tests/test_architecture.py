"""The shape of the house, what loading costs, and what an installation puts beside the package."""

from __future__ import annotations

import ast
import json
import re
import subprocess
import sys
import tomllib
from collections import defaultdict
from functools import cache
from importlib.metadata import packages_distributions
from importlib.util import resolve_name
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

import jupyter_ctx

PACKAGE = Path(jupyter_ctx.__file__).parent
ROOT = PACKAGE.parent
HEAVY = (
    "openai", "anthropic", "google", "jupyter_core", "tiktoken", "httpx", "httpx2", "genai_prices",
    "IPython", "PIL", "imagesize", "jsonschema",
    "msgspec", "pandas", "psutil", "pydantic", "typing_extensions", "xllamacpp",
    "markdown_it", "mdit_py_plugins", "pygments", "regex", "resiliparse", "tqdm",
    "ipywidgets", "narwhals",
)  # fmt: skip
SLOW = ("difflib", "importlib.metadata", "tomllib")  # of the standard library

LIGHT = {
    "jupyter_ctx",
    "jupyter_ctx.errors",
    "jupyter_ctx.magics",
    "jupyter_ctx.magics.registration",
    "jupyter_ctx.magics.output_recorder",
    "bdb",  # which IPython itself loads in a notebook
    "jupyter_ctx.wording",
    "jupyter_ctx.runtime",
    "jupyter_ctx.runtime.notebook_budget",
}
FOR_DEVELOPERS = {"test", "lint", "docs"}  # extras
STARTED = {"jupyterlab", "notebook", "matplotlib"}  # dependencies that run beside the package, and draw in lessons


@cache
def modules() -> dict[str, ast.Module]:
    paths = {path: path.relative_to(PACKAGE).with_suffix("") for path in PACKAGE.rglob("*.py")}
    names = {path: ".".join(part for part in short.parts if part != "__init__") for path, short in paths.items()}
    return {names[path]: ast.parse(path.read_text("utf-8")) for path in paths}


def defined(tree: ast.Module) -> set[str]:
    """The public names that a module defines at its top level."""
    names = set()
    for node in tree.body:
        targets = node.targets if isinstance(node, ast.Assign) else [getattr(node, "target", None)]
        parts = [part for target in targets if target for part in ast.walk(target)]
        names |= {part.id for part in parts if isinstance(part, ast.Name)}
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            names.add(node.name)
    return {name for name in names if not name.startswith("_")}


def room(module: str) -> str:
    """The file or folder of the package's root in which a module is."""
    return module.split(".")[0]


def test_no_module_is_named_after_one_of_the_standard_library() -> None:
    assert {path.stem for path in PACKAGE.rglob("*.py")} & sys.stdlib_module_names == set()


def test_a_public_name_means_one_thing() -> None:
    owners = defaultdict(list)
    for module, tree in modules().items():
        for name in defined(tree):
            owners[name].append(module)
    formats = {"read", "write"}  # the functions of every file format
    assert {name for name, of in owners.items() if len(of) > 1 and name not in {"T", *formats}} == set()
    assert {room(of) for name in formats for of in owners[name]} == {"export"}


def listed_rooms() -> list[list[str]]:
    """The rooms in each line of CONTRIBUTING's table."""
    guide = (ROOT / "CONTRIBUTING.md").read_text("utf-8")
    table = guide.partition("\n## The rooms\n")[2].partition("\n## ")[0]
    heads = re.findall(r"^\| (`.*?) \|", table, re.MULTILINE)
    return [re.findall(r"`([\w/]+)`", head) for head in heads]


def test_contributing_lists_every_room_and_in_the_order_of_imports() -> None:
    contracts = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["tool"]["importlinter"]["contracts"]
    layers = [name for layer in contracts[0]["layers"] for name in layer.split(" | ")]
    listed = [name for line in listed_rooms() for name in line]
    folders = {str(path.parent.relative_to(PACKAGE)) for path in PACKAGE.rglob("*/__init__.py")}
    assert {name for name in listed if "/" in name} == {name for name in folders if "/" in name}
    assert [name for name in listed if "/" not in name] == layers


def test_tests_stand_where_the_rooms_do() -> None:
    rooms = {room(name) for name in modules()} - {"__init__"}
    tests = Path(__file__).parent
    here = {path.parent.relative_to(tests) for path in tests.rglob("test_*.py")} - {Path()}
    assert {folder.parts[0] for folder in here} <= rooms
    assert [folder for folder in here if not (PACKAGE / folder).is_dir()] == []


def imported_in_functions(name: str, tree: ast.Module) -> set[str]:
    """The modules that the functions of a module import, by their full names."""
    package = ".".join(["jupyter_ctx", *name.split(".")[:-1]])
    functions = (node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef))
    nodes = [node for function in functions for node in ast.walk(function)]
    found = {alias.name for node in nodes if isinstance(node, ast.Import) for alias in node.names}
    named = {"." * node.level + (node.module or "") for node in nodes if isinstance(node, ast.ImportFrom)}
    return found | {resolve_name(module, package) for module in named}


def imported_late() -> dict[str, set[str]]:
    """What each module imports in its functions, when it is first needed."""
    return {name: imported_in_functions(name, tree) for name, tree in modules().items()}


def is_of_the_package(module: str) -> bool:
    return module.partition(".")[0] == "jupyter_ctx"


def test_of_other_packages_only_heavy_ones_are_imported_inside_functions() -> None:
    for name, imported in imported_late().items():
        others = {module for module in imported if not is_of_the_package(module)}
        strange = {module for module in others if module.split(".")[0] not in HEAVY and module not in SLOW}
        assert strange == set(), f"{name} imports them in a function"


def declared_dependencies() -> set[str]:
    """The distributions that an installation of the package, with all extras for users, asks for."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    extras = (lines for name, lines in project["optional-dependencies"].items() if name not in FOR_DEVELOPERS)
    requirements = [*project["dependencies"], *(line for lines in extras for line in lines)]
    return {canonicalize_name(Requirement(requirement).name) for requirement in requirements}


def imported_packages() -> set[str]:
    """The top-level packages from elsewhere that any module imports, also inside functions."""
    imports = [node for tree in modules().values() for node in ast.walk(tree)]
    names = {alias.name for node in imports if isinstance(node, ast.Import) for alias in node.names}
    names |= {str(node.module) for node in imports if isinstance(node, ast.ImportFrom) and node.level == 0}
    return {name.split(".")[0] for name in names} - sys.stdlib_module_names


def test_every_import_is_declared_and_every_declared_dependency_is_imported() -> None:
    installed, declared = packages_distributions(), declared_dependencies()
    owners = {name: set(map(canonicalize_name, installed.get(name, [name]))) for name in imported_packages()}
    assert {name for name, distributions in owners.items() if not distributions & declared} == set()
    assert declared - set().union(*owners.values()) == STARTED


SCRIPT = """
import socket, sys, threading
from pathlib import Path
from IPython.core.interactiveshell import InteractiveShell
shell = InteractiveShell.instance()
before, threads = set(sys.modules), threading.active_count()
opened = []
sys.addaudithook(lambda event, args: opened.append((event, args)) if event in ("socket.connect", "socket.bind") else
    opened.append((event, args)) if event == "open" and args[1] and set(str(args[1])) & set("wax+") else None)
shell.run_line_magic("load_ext", "jupyter_ctx")
opened = [entry for entry in opened if "__pycache__" not in str(entry)]
new = {name for name in set(sys.modules) - before if not name.startswith(("IPython.", "gc"))}
print(sorted(name for name in new if name not in sys.argv[1:]), threading.active_count() - threads, opened)
"""


def test_loading_imports_little_opens_nothing_and_starts_nothing() -> None:
    run = subprocess.run([sys.executable, "-c", SCRIPT, *LIGHT], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "[] 0 []", "only these modules, no socket, file or thread"


FIRST = """
import sys
sys.path.insert(0, sys.argv[1])
from IPython.core.interactiveshell import InteractiveShell
from server import events, piece, send, serve, usage
shell = InteractiveShell.instance()
shell.run_line_magic("load_ext", "jupyter_ctx")
body = events(piece("Scattering."), piece("", "stop"), usage(9, 2))
with serve(body) as (url, seen):
    shell.run_cell(f"%%chat -m gpt-5.2 --base-url {url}\\nWhy is the sky blue?").raise_error()
print(len(seen), sorted(set(sys.argv[2:]) & set(sys.modules)))
"""


def test_the_first_cell_imports_only_what_it_needs() -> None:
    unneeded = {"tiktoken", "pandas", "openai", "anthropic", "google", "xllamacpp", "genai_prices"}
    needed = {
        f"jupyter_ctx.{name}"
        for name in (
            "attachments.notebook_cells",
            "attachments.printing",
            "magics.registration",
            "magics.chat_cells",
            "wording.layout",
            "display.widgets.live",
        )
    }
    unneeded |= set(filter(is_of_the_package, set().union(*imported_late().values()))) - needed
    support = str(Path(__file__).parent / "support")
    run = subprocess.run([sys.executable, "-c", FIRST, support, *unneeded], capture_output=True, text=True, check=True)
    assert run.stdout.splitlines()[-1] == "1 []", run.stdout


def test_every_script_of_the_labextension_goes_where_jupyter_looks_and_outside_static() -> None:
    files = ROOT / "labextension"
    build = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["tool"]["hatch"]["build"]["targets"]
    assert build["wheel"]["shared-data"] == {
        "labextension": "share/jupyter/labextensions/jupyter-ctx",
        "notebooks": "share/jupyter/labextensions/jupyter-ctx/lessons",
        "etc": "etc/jupyter",
    }
    assert {"labextension", "notebooks", "etc"} <= set(build["sdist"]["include"])
    package = json.loads((files / "package.json").read_text("utf-8"))
    assert package["name"] == "jupyter-ctx"
    assert (files / package["jupyterlab"]["_build"]["load"]).is_file()
    assert not (files / "static").exists()  # browsers keep what is there for a year
    schemas = files / package["jupyterlab"]["schemaDir"] / package["name"]
    assert [path.stem for path in schemas.iterdir()] == ["chip"]
