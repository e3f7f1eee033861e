"""The table of services by name. Add a row to add a service."""

from __future__ import annotations

import os
import re
from typing import Any
from urllib.parse import urlsplit

from ..errors import InvalidRequestError
from ..runtime.redaction import checked_address
from .adapter import Adapter, Endpoint
from .anthropic import Anthropic
from .google import Google
from .openai_chat import OLLAMA_LOADED, ChatCompletions
from .openai_responses import Responses

OLLAMA_PORT = 11_434
OPERATIONS = r"chat/completions|completions|responses|messages|models(?:/.*)?|embeddings"  # what a path may end in
OLLAMA_TRUNCATES = (
    "start Ollama with a larger window, OLLAMA_CONTEXT_LENGTH=32768 ollama serve, "
    "or put PARAMETER num_ctx 32768 into the model's Modelfile"
)
LM_STUDIO_TRUNCATES = (
    "in LM Studio load the model with a larger Context Length, and set Context Overflow to Stop at Limit"
)


def _hosted(name: str, base_url: str, key: str, **more: Any) -> Endpoint:
    return Endpoint(name, base_url=base_url, keys=(key,), **{"prices": name, **more})


SERVICE_ROWS = (
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
    _hosted("openrouter", "https://openrouter.ai/api/v1", "OPENROUTER_API_KEY", converts=frozenset({"pdf"})),
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
)  # fmt: skip
SERVICES = {service.name: service for service in SERVICE_ROWS}
ELSEWHERE = Endpoint("", self_hosted=True)  # an address that the user gives
PROVIDER_NAMES = ("local", *SERVICES)
BARE = (  # names that say who serves them
    (r"gpt-(?!oss)|o\d|chatgpt-|codex-|ft:gpt-", "openai"),
    (r"claude-", "anthropic"),
    (r"(models/)?gemini-", "google"),
)


def key_variables() -> tuple[str, ...]:
    """Return the environment variables that may hold a key."""
    return tuple([name for service in SERVICES.values() for name in service.keys])


def key_of(service: Endpoint) -> str:
    """Return the key in the environment, or an empty text."""
    return next(filter(None, (clean_key(os.environ.get(name, "")) for name in service.keys)), "")


def clean_key(key: str) -> str:
    """Return a key without what copying adds to it: white space, quotes, unprintable characters, "Bearer"."""
    key = re.sub(r"(?i)\A\W*bearer\s+", "", key)
    return "".join(sign for sign in key if sign.isprintable() and not sign.isspace()).strip("'\"")


def address_of(service: Endpoint) -> str | None:
    """Return the address of a service: from the environment, else from the table."""
    said = os.environ.get(service.variable, "").strip().strip("'\"").rstrip("/")
    if not said:
        return service.base_url
    if service.variable == "OLLAMA_HOST":
        return _ollama(said)  # which may hold a user
    if "://" not in said:
        place = said.partition("/")[0]
        said = f"{'https' if '.' in place and ':' not in place else 'http'}://{said}"
    said = _base_of(checked_address(said, service.variable))
    return said if said.endswith(service.path) else said + service.path


def _ollama(said: str) -> str:
    """Return the address in OLLAMA_HOST: http, port 11434 and this machine where it names no others."""
    has_scheme = "://" in said
    address = urlsplit(said if has_scheme else f"http://{said}")
    try:
        port = address.port or (None if has_scheme else OLLAMA_PORT)
    except ValueError:
        raise InvalidRequestError(f"OLLAMA_HOST is {said!r}: it names a host and a port, such as box:11434.") from None
    name = address.hostname or ""
    host = {"": "127.0.0.1", "0.0.0.0": "127.0.0.1", "::": "::1"}.get(name, name)
    place = f"[{host}]" if ":" in host else host
    user = "".join(address.netloc.rpartition("@")[:2])
    path = address.path.rstrip("/").removesuffix("/v1")
    return f"{address.scheme}://{user}{place}{f':{port}' if port else ''}{path}/v1"


def _base_of(address: str) -> str:
    return re.sub(rf"(?:/+(?:{OPERATIONS}))?/*\Z", "", address)


def tidied(base_url: str, adapter: type[Adapter]) -> str:
    """Return an address without the path of an operation; servers that speak Chat Completions do so below /v1."""
    if "?" in base_url:
        return base_url
    base_url = _base_of(base_url)
    if adapter in (Anthropic, Google):  # whose paths have the version
        return re.sub(r"/v1(?:beta)?\Z", "", base_url)
    has_path = bool(urlsplit(base_url).path)
    return base_url if has_path or adapter is not ChatCompletions else f"{base_url}/v1"
