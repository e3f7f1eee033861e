"""Short names for models: ``%chat alias quick openai/gpt-6.2-sol``."""

from __future__ import annotations

import json
import re

from ..errors import InvalidRequestError
from ..runtime.files import config_file, write_own

ALIAS_NAME, FILE = r"[\w.:-]+", "aliases.json"


def model_of(name: str) -> str:
    """Return the model that a short name stands for, or the name itself."""
    return name if "/" in name else load_aliases().get(name, name)


def load_aliases() -> dict[str, str]:
    """Return every short name with its model. Raises InvalidRequestError, naming a file that cannot be used."""
    path = config_file(FILE)
    try:
        aliases = dict(json.loads(path.read_text("utf-8")))
    except FileNotFoundError:
        return {}
    except (OSError, ValueError, TypeError) as error:
        raise InvalidRequestError(f"{path} cannot be read ({error}): correct or remove it.") from None
    return {name: model for name, model in aliases.items() if isinstance(model, str)}


def set_alias(name: str, model: str | None) -> None:
    """Keep a short name for every notebook; ``None`` removes it. Raises InvalidRequestError."""
    if not re.fullmatch(ALIAS_NAME, name):
        raise InvalidRequestError(f"{name!r} cannot be a short name: letters, digits and . : - _ only, no slash.")
    aliases = load_aliases()
    aliases.pop(name, None)
    if model is not None:
        aliases[name] = model
    path = config_file(FILE)
    try:
        write_own(path, json.dumps(aliases, indent=2) + "\n")
    except OSError as error:
        raise InvalidRequestError(f"{path} cannot be written ({error.strerror}).") from None
