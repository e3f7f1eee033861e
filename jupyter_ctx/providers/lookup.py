"""The table of services by name, and the provider of a model by its name. Add a row to add a service."""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from dataclasses import replace
from functools import cache
from typing import Any
from urllib.parse import urlsplit

from ..errors import InvalidRequestError
from ..runtime.redaction import checked_address
from ..wording import did_you_mean
from .anthropic import Anthropic
from .base import BY_ENVIRONMENT, NO_KEY, Endpoint, Provider
from .google import Google
from .local import LocalProvider
from .openai import OLLAMA_LOADED, ChatCompletions, Responses
from .plugins import load_plugin, plugin_names

TIMEOUT = 600.0  # seconds
OPERATION = r"(?:/+(?:chat/completions|responses|messages|models(?:/.*)?))?/*\Z"  # what an address may end in
OLLAMA_TRUNCATES = (
    "start Ollama with a larger window, OLLAMA_CONTEXT_LENGTH=32768 ollama serve, "
    "or put PARAMETER num_ctx 32768 into the model's Modelfile"
)
LM_STUDIO_TRUNCATES = (
    "in LM Studio load the model with a larger Context Length, and set Context Overflow to Stop at Limit"
)


def _hosted(name: str, base_url: str, key: str, **more: Any) -> Endpoint:
    return Endpoint(name, base_url=base_url, keys=(key,), **{"prices": name, **more})


SERVICES = {service.name: service for service in (
    Endpoint("openai", keys=("OPENAI_API_KEY",), adapter=Responses, variable="OPENAI_BASE_URL", prices="openai"),
    Endpoint(
        "azure", keys=("AZURE_OPENAI_API_KEY",), adapter=Responses, variable="AZURE_OPENAI_ENDPOINT",
        path="/openai/v1", example="https://NAME.openai.azure.com", prices="azure",
    ),
    Endpoint(
        "anthropic", keys=("ANTHROPIC_API_KEY",), adapter=Anthropic, variable="ANTHROPIC_BASE_URL", prices="anthropic"
    ),
    Endpoint("google", keys=("GEMINI_API_KEY", "GOOGLE_API_KEY"), adapter=Google, prices="google"),
    # hosted, compatible with OpenAI's Chat Completions
    _hosted("openrouter", "https://openrouter.ai/api/v1", "OPENROUTER_API_KEY"),
    _hosted("groq", "https://api.groq.com/openai/v1", "GROQ_API_KEY"),
    _hosted("mistral", "https://api.mistral.ai/v1", "MISTRAL_API_KEY"),
    _hosted("deepseek", "https://api.deepseek.com", "DEEPSEEK_API_KEY"),
    _hosted("xai", "https://api.x.ai/v1", "XAI_API_KEY", prices="x-ai"),
    _hosted("together", "https://api.together.xyz/v1", "TOGETHER_API_KEY"),
    _hosted("fireworks", "https://api.fireworks.ai/inference/v1", "FIREWORKS_API_KEY"),
    _hosted("cerebras", "https://api.cerebras.ai/v1", "CEREBRAS_API_KEY"),
    _hosted("moonshot", "https://api.moonshot.ai/v1", "MOONSHOT_API_KEY", prices="moonshotai"),
    _hosted("zai", "https://api.z.ai/api/paas/v4", "ZAI_API_KEY"),
    _hosted("nvidia", "https://integrate.api.nvidia.com/v1", "NVIDIA_API_KEY", prices=None),
    _hosted("perplexity", "https://api.perplexity.ai", "PERPLEXITY_API_KEY"),
    _hosted("huggingface", "https://router.huggingface.co/v1", "HF_TOKEN", prices=None),
    _hosted("github", "https://models.github.ai/inference", "GITHUB_TOKEN", prices=None),
    # a gateway, as a hub puts it into the environment of its users
    Endpoint("litellm", keys=("LITELLM_API_KEY",), variable="LITELLM_API_BASE", example="https://HOST"),
    # servers of one's own
    Endpoint(
        "ollama", base_url="http://127.0.0.1:11434/v1", variable="OLLAMA_HOST", path="/v1",
        self_hosted=True, loaded_at=OLLAMA_LOADED, truncates=OLLAMA_TRUNCATES,
    ),
    Endpoint(
        "lmstudio", base_url="http://127.0.0.1:1234/v1",
        self_hosted=True, loaded_at="/api/v0/models", truncates=LM_STUDIO_TRUNCATES,
    ),
    Endpoint("vllm", base_url="http://127.0.0.1:8000/v1", keys=("VLLM_API_KEY",), self_hosted=True),
    Endpoint("llamacpp", base_url="http://127.0.0.1:8080/v1", keys=("LLAMA_API_KEY",), self_hosted=True),
)}  # fmt: skip
ELSEWHERE = Endpoint("", self_hosted=True)  # an address that the user gives
PROVIDER_NAMES = ("local", *SERVICES)
OTHER_HOSTS = {"generativelanguage.googleapis.com": "google", "api.together.ai": "together"}
VERTEX = ("GOOGLE_GENAI_USE_VERTEXAI", "GOOGLE_GENAI_USE_ENTERPRISE")
BARE = (  # names that say who serves them
    (r"gpt-(?!oss)|o\d|chatgpt-|codex-|ft:gpt-", "openai"),
    (r"claude-", "anthropic"),
    (r"(models/)?gemini-", "google"),
)


def split_model(model: str) -> tuple[str, str]:
    """Return the provider and model in a full name; a bare name such as gpt-5.2 implies its provider."""
    for pattern, known in BARE:
        if re.fullmatch(f"(?:{pattern})[^/]*", model):  # before a slash stands a provider
            return known, model
    provider, slash, name = model.partition("/")
    if slash and name:
        return provider, name
    if provider in provider_names():
        raise InvalidRequestError(
            f"No model in {model!r}: write {provider}/NAME. %chat models {provider} lists its models."
        )
    raise InvalidRequestError(f"No provider in {model!r}: write provider/model, such as openai/gpt-6.2-sol.")


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
    own_address = given_address(provider) or service.base_url
    if own_address is None and service.example:
        raise InvalidRequestError(f"{provider} needs an address: set {service.variable}, such as {service.example}.")
    return _make(service, provider, name, own_address, api_key or _key(service), timeout)


def _make(service: Endpoint, provider: str, name: str, base_url: str | None, key: str, timeout: float) -> Provider:
    adapter = service.adapter or ChatCompletions
    if service is SERVICES["openai"] and base_url is not None:  # compatible servers know the older API
        adapter, service = ChatCompletions, replace(service, self_hosted=True)
    if base_url is not None and base_url != service.base_url:
        base_url = _tidied(base_url, adapter)
    return adapter(replace(service, name=provider, model=name, base_url=base_url, api_key=key, timeout=timeout))


# what is known of a provider by its name


def provider_names() -> tuple[str, ...]:
    """Return the names of all providers: the built-in ones, then those that installed packages have registered."""
    return (*PROVIDER_NAMES, *[name for name in plugin_names() if name not in PROVIDER_NAMES])


def check_known(name: str, model: str = "") -> None:
    """Raise InvalidRequestError where there is no provider of this name; ``model``: what stands behind it."""
    names = PROVIDER_NAMES if name in PROVIDER_NAMES else provider_names()
    if name not in names:
        raise InvalidRequestError(
            f"No provider {name!r}.{did_you_mean(name, names, f'{{}}{model}')} Providers: {', '.join(names)}; "
            "any other OpenAI-compatible server works with --base-url URL."
        )


def is_self_hosted(model: str) -> bool:
    """Return whether a model is of a provider that runs on the user's own computers, by its name alone."""
    provider = model.partition("/")[0]
    return provider == "local" or (provider in SERVICES and SERVICES[provider].self_hosted)


def is_billed(model: str, base_url: str | None) -> bool:
    """Return whether somebody may bill what a model of a built-in provider, or at an address, answers."""
    provider = split_model(model)[0] if base_url is None else model.partition("/")[0]
    return not SERVICES[provider].self_hosted if provider in SERVICES else base_url is not None


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
    addresses = {name: service.base_url or f"https://api.{service.prices}.com" for name, service in SERVICES.items()}
    return {str(urlsplit(address).hostname): name for name, address in addresses.items()} | OTHER_HOSTS


# keys


def key_variables() -> tuple[str, ...]:
    """Return the environment variables that may hold a key."""
    return tuple([name for service in SERVICES.values() for name in service.keys])


def key_of(service: Endpoint) -> str:
    """Return the key in the environment, or an empty text."""
    return next(filter(None, (clean_key(os.environ.get(name, "")) for name in service.keys)), "")


def clean_key(key: str) -> str:
    """Return a key without what copying adds to it: white space, quotes, characters that no key has, "Bearer"."""
    key = re.sub(r"(?i)\A\W*bearer\s+", "", key)
    return re.sub("[^!-~]", "", key).strip("'\"")


def missing_key(provider: str) -> str:
    """Return what to do where a provider needs a key and the environment has none, else an empty text."""
    service = SERVICES.get(provider)
    return "" if service is None or _key(service) else service.no_key


def key_holder(name: str) -> str:
    """Return whom a key is for: a provider, by its name or a model's, or an address. Raises InvalidRequestError."""
    if "://" in name:
        return checked_address(name)
    provider = name.partition("/")[0].lower()
    if provider == "local":
        raise InvalidRequestError("local runs models in this kernel and needs no key: name a provider, such as openai.")
    if provider not in provider_names():
        raise InvalidRequestError(
            "Unknown provider (not shown here, because it may be a key; %chat key asks for the key itself). "
            f"Providers: {', '.join(provider_names()[1:])}; for any other server give its address, http://HOST:PORT/v1."
        )
    return provider


def _key(service: Endpoint) -> str:
    """Return the key in the environment; servers of the user's own and Vertex need none."""
    if service.name == "google" and any(os.environ.get(name, "").lower() in ("1", "true") for name in VERTEX):
        return BY_ENVIRONMENT
    return key_of(service) or (NO_KEY if service.self_hosted else "")


# addresses


def given_address(provider: str) -> str:
    """Return the address that the environment gives for a provider instead of its own; empty: none."""
    service = SERVICES.get(provider, ELSEWHERE)
    address = os.environ.get(service.variable, "").strip().strip("'\"").rstrip("/")
    if not address or service.variable == "OLLAMA_HOST":
        return address and _ollama(address)  # which may hold a user
    address = re.sub(OPERATION, "", checked_address(address, service.variable))
    return address if address.endswith(service.path) else address + service.path


def _ollama(address: str) -> str:
    """Return the address in OLLAMA_HOST: http, port 11434 and this machine where it names no others."""
    parts = re.fullmatch(r"(?:(https?)://)?(.*@)?(\[.*\]|[^:/]*)(:\d+)?(/.*)?", address)
    if parts is None:
        raise InvalidRequestError(f"OLLAMA_HOST is {address!r}: it names a host and a port, such as box:11434.")
    scheme, user, host, port, path = parts.groups(default="")
    place = {"": "127.0.0.1", "0.0.0.0": "127.0.0.1", "[::]": "[::1]"}.get(host, host)
    usual_port = "" if scheme else ":11434"
    return f"{scheme or 'http'}://{user}{place}{port or usual_port}{path.removesuffix('/v1')}/v1"


def _tidied(base_url: str, adapter: Callable[[Endpoint], Provider]) -> str:
    """Return an address without the path of an operation; servers that speak Chat Completions do so below /v1."""
    base_url = re.sub(OPERATION, "", base_url)
    if adapter in (Anthropic, Google):  # whose paths have the version
        return re.sub(r"/v1(?:beta)?\Z", "", base_url)
    has_path = bool(urlsplit(base_url).path)
    return base_url if has_path or adapter is not ChatCompletions else f"{base_url}/v1"
