"""Small files that other kernels may read at any moment."""

from __future__ import annotations

import os
from pathlib import Path


def write_whole(path: Path, text: str) -> None:
    """Write a file, with its folder, whole or not at all. Raises OSError."""
    path.parent.mkdir(parents=True, exist_ok=True)
    half = path.with_suffix(f".{os.getpid()}")
    half.write_text(text, "utf-8")
    half.replace(path)


def config_file(name: str) -> Path:
    """Where the user's own settings are, in Jupyter's folder for them."""
    from jupyter_core.paths import jupyter_config_dir

    return Path(jupyter_config_dir()) / "jupyter_ctx" / name


def data_file(*parts: str) -> Path:
    """Where we keep what can be had again, in Jupyter's folder for that."""
    from jupyter_core.paths import jupyter_data_dir

    return Path(jupyter_data_dir(), "jupyter_ctx", *parts)
