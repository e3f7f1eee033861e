"""Who serves which model: the table of names."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from difflib import get_close_matches
from urllib.parse import urlsplit

from ..errors import InvalidRequestError
from .local import LocalProvider
from .openai import OpenAIProvider
from .shape import Provider as Provider
from .shape import Reply as Reply
from .shape import Request as Request

NO_KEY = "none"  # what servers without keys are sent: the SDK wants something


@dataclass(frozen=True, slots=True)
class Service:
    """A row of the table: where it is, and the variable that holds its key."""

    base_url: str | None = None
    key_variable: str | None = None


SERVICES: dict[str, Service] = {
    "openai": Service(key_variable="OPENAI_API_KEY"),
    "ollama": Service(base_url="http://127.0.0.1:11434/v1"),
}
NAMES = ("local", *SERVICES)
BARE = ((re.compile(r"gpt-|o\d|chatgpt-"), "openai"),)  # names that say who serves them


def split_model(model: str) -> tuple[str, str]:
    """Provider and model of a full name; a bare name finds its provider."""
    provider, slash, name = model.partition("/")
    if slash and name:
        return provider, name
    for pattern, known in BARE:
        if pattern.match(model):
            return known, model
    raise InvalidRequestError(f"No provider in {model!r}: write provider/model, such as local/smollm2.")


def get_provider(
    model: str,
    *,
    base_url: str | None = None,
    api_key: str | None = None,
    n_ctx: int | None = None,
    n_threads: int | None = None,
) -> Provider:
    """The provider of a model's full name. Nothing is asked or started yet.

    With ``base_url`` the whole name is the model's there, less a known provider's prefix.
    ``n_ctx`` and ``n_threads`` are for local models.
    """
    if base_url is not None:
        name = model.partition("/")[2] if model.partition("/")[0] in SERVICES else model
        return OpenAIProvider(name, base_url=_checked(base_url), api_key=api_key or NO_KEY)
    provider, name = split_model(model)
    if provider == "local":
        return LocalProvider(name, n_ctx=n_ctx, n_threads=n_threads)
    service = SERVICES.get(provider)
    if service is None:
        near = get_close_matches(provider, NAMES, 1)
        hint = f"did you mean {near[0]}/{name}? " if near else ""
        raise InvalidRequestError(
            f"No provider {provider!r}: {hint}There are {', '.join(NAMES)}; "
            "any other OpenAI-compatible server works with --base-url URL."
        )
    key = api_key or (_key(service) if service.key_variable else NO_KEY)
    hint = f"{provider} needs a key: set {service.key_variable}, or type it with %chat key {provider}."
    return OpenAIProvider(name, base_url=service.base_url, api_key=key, no_key=hint)


def key_variables() -> tuple[str, ...]:
    """The environment's variables that may hold a key."""
    return tuple(s.key_variable for s in SERVICES.values() if s.key_variable)


def _key(service: Service) -> str:
    return os.environ.get(service.key_variable or "", "").strip()


def _checked(base_url: str) -> str:
    """An address as it may be used and shown: http(s), and no password in it."""
    try:
        parts = urlsplit(base_url)
    except ValueError:
        parts = urlsplit("")
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise InvalidRequestError(f"{base_url!r} is no address: write --base-url http://HOST:PORT/v1.")
    if parts.username or parts.password:
        raise InvalidRequestError("An address with a password would be shown: give the key with %chat key.")
    return base_url.rstrip("/")
