"""Find the provider of a model by its name."""

from __future__ import annotations

import os
import re
from dataclasses import replace
from functools import cache
from urllib.parse import urlsplit

from ..errors import InvalidRequestError
from ..runtime.redaction import checked_address
from ..wording import did_you_mean
from .adapter import BY_ENVIRONMENT, NO_KEY, Adapter, Endpoint
from .base import Provider
from .catalog import BARE, ELSEWHERE, PROVIDER_NAMES, SERVICES, address_of, clean_key, key_of, tidied
from .local import LocalProvider
from .openai_chat import ChatCompletions
from .plugins import load_plugin, plugin_names

VERTEX = ("GOOGLE_GENAI_USE_VERTEXAI", "GOOGLE_GENAI_USE_ENTERPRISE")
TIMEOUT = 600.0  # seconds
OTHER_HOSTS = {"generativelanguage.googleapis.com": "google", "api.together.ai": "together"}


def split_model(model: str) -> tuple[str, str]:
    """Return the provider and model in a full name; a bare name such as gpt-5.2 implies its provider."""
    for pattern, known in BARE:
        if re.fullmatch(f"(?:{pattern})[^/]*", model):  # before a slash stands a provider
            return known, model
    provider, slash, name = model.partition("/")
    if slash and name:
        return provider, name
    if provider and (slash or model in provider_names()):
        raise InvalidRequestError(
            f"No model in {model!r}: write provider/model, such as local/smollm2. "
            f"%chat models {provider} lists the models of a provider."
        )
    raise InvalidRequestError(f"No provider in {model!r}: write provider/model, such as local/smollm2.")


def bills(provider: str, address: str | None = None) -> str | None:
    """Return a provider's name in the table of prices, or ``None``: it is not listed.

    ``address``: where the user names that instead; it may be a provider's own.
    """
    if address is not None:
        provider = _providers_by_host().get(urlsplit(address).hostname or "", "")
    return SERVICES[provider].prices if provider in SERVICES else None


@cache
def _providers_by_host() -> dict[str, str]:
    """Return the services by their hosts; that of an API's own address has the usual form."""
    hosts = {
        str(urlsplit(service.base_url or f"https://api.{service.prices}.com").hostname): name
        for name, service in SERVICES.items()
    }
    return {**hosts, **OTHER_HOSTS}


def get_provider(
    model: str,
    *,
    base_url: str | None = None,
    api_key: str | None = None,
    timeout: float = TIMEOUT,
    n_ctx: int | None = None,
) -> Provider:
    """Return the provider of a model's full name. Nothing is connected or started yet.

    With ``base_url`` the name is the model's name there; the prefix of a built-in provider says which API
    that server speaks, else Chat Completions. ``timeout`` is how many seconds a server may be silent;
    ``n_ctx`` is for local models. Raises a ChatError.
    """
    api_key = clean_key(api_key or "")
    if base_url is not None:
        address = checked_address(base_url)
        prefix, _, name = model.partition("/")
        known = SERVICES.get(prefix) if name else None
        return _make(known or ELSEWHERE, address, name if known else model, address, api_key or NO_KEY, timeout)
    provider, name = split_model(model)
    if provider == "local":
        return LocalProvider(name, n_ctx=n_ctx)
    service = SERVICES.get(provider)
    if service is None:
        check_known(provider, f"/{name}")
        return load_plugin(provider, name, api_key=api_key or None, timeout=timeout)
    return _make(service, provider, name, _address(provider, service), api_key or _key(service), timeout)


def provider_names() -> tuple[str, ...]:
    """Return the names of all providers: the built-in ones, then those that installed packages have registered."""
    return (*PROVIDER_NAMES, *plugin_names())


def key_holders() -> tuple[str, ...]:
    """Return the names of the providers that may want a key."""
    return provider_names()[1:]


def given_address(provider: str) -> str:
    """Return the address that the environment gives for a provider instead of its own; empty: none."""
    service = SERVICES.get(provider)
    is_given = service is not None and bool(os.environ.get(service.variable, "").strip())
    return (address_of(service) or "") if service is not None and is_given else ""


def is_billed(model: str, base_url: str | None) -> bool:
    """Return whether somebody may bill what a model of a built-in provider, or at an address, answers."""
    provider = split_model(model)[0] if base_url is None else model.partition("/")[0]
    return not SERVICES[provider].self_hosted if provider in SERVICES else base_url is not None


def is_self_hosted(model: str) -> bool:
    """Return whether a model is of a provider that runs on the user's own computers, by its name alone."""
    provider = model.partition("/")[0]
    return provider == "local" or (provider in SERVICES and SERVICES[provider].self_hosted)


def check_known(name: str, model: str = "") -> None:
    """Raise InvalidRequestError where there is no provider of this name; ``model``: what stands behind it."""
    names = PROVIDER_NAMES if name in PROVIDER_NAMES else provider_names()
    if name not in names:
        raise InvalidRequestError(
            f"No provider {name!r}.{did_you_mean(name, names, f'{{}}{model}')} Providers: {', '.join(names)}; "
            "any other OpenAI-compatible server works with --base-url URL."
        )


def _make(service: Endpoint, provider: str, name: str, base_url: str | None, key: str, timeout: float) -> Adapter:
    adapter = service.adapter or ChatCompletions
    if service is SERVICES["openai"] and base_url is not None:  # compatible servers know the older API
        adapter, service = ChatCompletions, replace(service, self_hosted=True)
    if base_url is not None and base_url != service.base_url:
        base_url = tidied(base_url, adapter)
    return adapter(replace(service, name=provider, model=name, base_url=base_url, api_key=key, timeout=timeout))


def missing_key(provider: str) -> str:
    """Return what to do where a provider needs a key and the environment has none, else an empty text."""
    service = SERVICES.get(provider)
    return "" if service is None or _key(service) else service.no_key


def key_holder(name: str) -> str:
    """Return whom a key is for: a provider, by its name or a model's, or an address. Raises InvalidRequestError."""
    if not isinstance(name, str):
        raise InvalidRequestError(f"{name!r} is not the name of a provider, such as openai.")
    if "://" in name:
        return checked_address(name)
    provider = name.partition("/")[0].lower()
    if provider == "local":
        raise InvalidRequestError("local runs models in this kernel and needs no key: name a provider, such as openai.")
    if provider not in SERVICES and provider not in (names := key_holders()):
        raise InvalidRequestError(
            "Unknown provider (not shown here, because it may be a key; %chat key asks for the key itself). "
            f"Providers: {', '.join(names)}; for any other server give its address, http://HOST:PORT/v1."
        )
    return provider


def _address(provider: str, service: Endpoint) -> str | None:
    """Return the address of a service. Raises InvalidRequestError where the user must name it first."""
    address = address_of(service)
    if address is None and service.example:
        raise InvalidRequestError(f"{provider} needs an address: set {service.variable}, such as {service.example}.")
    return address


def _key(service: Endpoint) -> str:
    """Return the key in the environment; servers of the user's own and Vertex need none."""
    found = key_of(service)
    if service is SERVICES["google"] and any(os.environ.get(name, "").lower() in ("1", "true") for name in VERTEX):
        return BY_ENVIRONMENT
    return found or (NO_KEY if service.self_hosted else "")
