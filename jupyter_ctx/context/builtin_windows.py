"""models.json, compiled in by scripts/builtin_windows.py. Do not edit by hand."""

MODELS = """\
{
  "14b-dpo-alpha": 8192,
  "360gpt": {
    "-pro -turbo": 32000,
    "-pro-trans": 4096,
    "-turbo-responsibility-8k": 8192
  },
  "360gpt2": {
    "-o1": 128000,
    "-pro": 32000
  },
  "360zhinao": {
    "-pro-32k-thinking-vision -turbo -turbo-qwen-plus": 32000
  },
  "360zhinao2": {
    "- -o1 -o1-5": 128000
  },
  "360zhinao3-o1-5": 128000,
  "4-0ultra": 8192,
  "72b-qwen2-5-kunou-v1": 131072,
  "abab": {
    "5-5": 16384,
    "5-5s 6-5g 6-5t": 8192,
    "6-5s": 245760
  },
  "abliterated": {
    "-": 1000000,
    "-model": [150000, null, 8192],
    "-model-large -model-large-v2": [1000000, null, 999990],
    "-model-large-flash": [1048576, null, 262144]
  },
  "acegpt": {
    "-v2-32b": 32768,
    "-v2-70b -v2-8b": 8192
  },
  "agnes": {
    "-2-5-flash": [512000, null, 65500],
    "-2-5-pro": [1000000, null, 65536]
  },
  "aion": {
    "-2.0 -3.0 -3.0-mini": [131072, null, 32768],
    "-3-": 131072,
    "-3.5 -3.5-mini": 262144,
    "-rp-llama-3.1-8b": 32768
  },
  "airoboros": {
    "- -70b -l2-70b -l2-70b-2.1 -l2-70b-gpt4-1-4-1": 4096
  },
  "alia-40b": 32768,
  "alibaba-qwen3-32b": 32768,
  "allam": {
    "-1-13b": 8192,
    "-2-7b -7b-instruct-preview": 4096
  },
  "alpaca-7b": 2048,
  "alphamonarch-7b": 32768,
  "amd-llama-135m": 2048,
  "anthropic": {
    "-": 200000,
    "-claude-3-5-haiku -claude-3-5-sonnet": [200000, null, 8192],
    "-claude-3-7-sonnet": [200000, null, 64000],
    "-claude-3-opus": [200000, null, 4096]
  },
  "anyscale": {
    "/huggingfaceh4/zephyr-7b-beta /mistralai/mistral-7b-instruct-v0.1": 16384,
    "/mistralai/mixtral-8x7b-instruct-v0.1": 16384
  },
  "apertus": {
    "-70b": 30000,
    "-8b": [8192, null, 4096]
  },
  "aquila": {
    "2- 2-34b 2-70b-expr 2-7b": 2048
  },
  "aquilachat": {
    "2-34b 2-70b-expr 2-7b": 2048,
    "2-34b-16k 2-7b-16k": 16384
  },
  "aragpt": {
    "2 2-medium": 1024
  },
  "arcee-vylinh": 32768,
  "aria_hf_2": 65536,
  "astrosage-8b": 131072,
  "atlas-chat-9b": 8192,
  "autoglm-phone-9b-multilingual": 65536,
  "aya": {
    "- -23-35b -23-8b -expanse-8b": 8192
  },
  "azure": {
    "_ai/cohere-command-a": 131072,
    "_ai/deepseek-v3-0324 _ai/grok-4-1-fast-non-reasoning _ai/grok-4-1-fast-reasoning": 128000,
    "_ai/grok-4-20-non-reasoning _ai/grok-4-20-reasoning": 262000,
    "_ai/grok-4.3 _ai/grok-4.6": 200000,
    "_ai/mistral-large": 32000,
    "_ai/mistral-large-latest _ai/mistral-medium-3-5": 128000
  },
  "babbage-002": 16384,
  "baichuan": {
    "-13b -7b -llama-7b 2-13b 2-7b": 4096,
    "-m2 -m2-plus -m3 -m3-plus 2-turbo 3-turbo 4 4-air 4-turbo": 32768,
    "-m2-32b": 64000,
    "3-turbo-128k": 128000
  },
  "bakllava-v1": 2048,
  "barcenas-llama3-8b-orpo": 8192,
  "baseten/nvidia/nvidia-nemotron-3-ultra-550b-a55b": 202800,
  "beagsake-7b": 32768,
  "beam": {
    " -1.0-501b-a23b": 1048576,
    "-1.0": [1048576, null, 131072]
  },
  "bedrock": {
    "_converse/global.openai.gpt-5.4 _converse/global.openai.gpt-5.5": 922000,
    "_converse/global.openai.gpt-5.6-luna _converse/global.openai.gpt-5.6-sol": 922000,
    "_converse/global.openai.gpt-5.6-terra _converse/global.openai.gpt-6-astra": 922000,
    "_converse/global.openai.gpt-6-luna _converse/global.openai.gpt-6-sol": 922000,
    "_converse/global.openai.gpt-6.1-terra _converse/openai.gpt-6-luna": 922000,
    "_converse/meta.llama4-scout-17b-instruct-v1:0": 128000,
    "_converse/openai.gpt-6-sol _converse/us.openai.gpt-5.4 _converse/us.openai.gpt-5.5": 922000,
    "_converse/us.meta.llama4-scout-17b-instruct-v1:0": 128000,
    "_converse/us.openai.gpt-5.6-luna _converse/us.openai.gpt-5.6-sol": 922000,
    "_converse/us.openai.gpt-5.6-terra _converse/us.openai.gpt-6-astra": 922000,
    "_converse/us.openai.gpt-6-luna _converse/us.openai.gpt-6-sol": 922000,
    "_converse/us.openai.gpt-6.1-terra _mantle/openai.gpt-5.4 _mantle/openai.gpt-5.5": 922000,
    "_mantle/openai.gpt-5.6-luna _mantle/openai.gpt-5.6-sol _mantle/openai.gpt-5.6-terra": 922000,
    "_mantle/openai.gpt-6-astra _mantle/openai.gpt-6-luna _mantle/openai.gpt-6-sol": 922000,
    "_mantle/openai.gpt-6.1-terra _mantle/us-gov-east-1/openai.gpt-5.4": 922000,
    "_mantle/qwen.qwen3-32b": 32000,
    "_mantle/us-gov-west-1/openai.gpt-5.4 _mantle/us-gov-west-1/openai.gpt-5.6-luna": 922000,
    "_mantle/us-gov-west-1/openai.gpt-5.6-terra": 922000
  },
  "belgpt2": 1024,
  "bge": {
    "-": 8192,
    "-m3": [8192, null, 1024],
    "-multilingual-gemma2": [8192, null, 3072]
  },
  "bielik": {
    "-11b-v2-3": 32768,
    "-7b-v0-1": 8192
  },
  "big-pickle": 200000,
  "biomistral-7b": 32768,
  "bitnet_b1_58-3b": 2048,
  "blip2-flan-t5-xl": 512,
  "bloom": 2048,
  "bloomz": {
    "- -560m -7b1": 2048
  },
  "bode-13b-alpaca-pt-br-no-peft": 4094,
  "bodybuilder": 128000,
  "btlm-3b-8k": 8192,
  "c4ai": {
    "-aya-expanse-32b": [128000, null, 4000],
    "-aya-expanse-8b": [8000, null, 4000],
    "-aya-vision- -aya-vision-32b": 16000,
    "-aya-vision-8b": [16000, null, 4000],
    "-command- -command-r-plus -command-r-v01": 131072
  },
  "cabrita_7b_pt_850000": 4094,
  "carbonbeagle-11b-truthy": 32768,
  "cc-glm-5-1": [200000, null, 131072],
  "cerebras": {
    "-gpt- -gpt-13b -gpt-6-7b": 2048,
    "-llama-": 128000,
    "-llama-4-maverick-17b-128e -llama-4-scout-17b-16e": [128000, null, 4096],
    "/gemma-4-31b": [131072, null, 40960],
    "/llama-3.1-8b": 32768,
    "/qwen-3.8-27b": [65536, null, 32768],
    "/zai-glm-4.7": 131072
  },
  "charglm": {
    "-3": 4096,
    "-4": 8192
  },
  "chat": {
    "-bison": [8192, null, 4096],
    "-bison-32k": [32000, null, 8192],
    "-latest": [400000, 272000, 128000]
  },
  "chatdolphin": 16384,
  "chatglm": {
    "-6b": 2048,
    "2-6b 3-6b": 8192,
    "2-6b-32k 3-6b-32k": 32768,
    "3-6b-128k": 131072
  },
  "chatgpt": {
    "-4o": [128000, null, 4096],
    "/gpt-5.1-codex-max /gpt-5.1-codex-mini /gpt-5.2 /gpt-5.2-codex /gpt-5.3-codex": 128000,
    "_paraphraser_on_t5": 512
  },
  "chemdfm-v1-5-8b": 8192,
  "chemllm": {
    "-7b-chat-1_5-dpo -7b-chat-1_5-sft": 32768
  },
  "chexagent-2-3b": 2048,
  "chronos": {
    "- -hermes-13b -hermes-13b-v2": 4096
  },
  "claude": {
    "- -fable- -fable-5-2 -haiku- -mythos- -mythos-5-2 -opus- -opus-4-6-v1": 1000000,
    "-2 -instant-1 -instant-1.2 -instant-v1 -v1": [100000, null, 8191],
    "-2-0 -instant- -v2": 100000,
    "-2.1 -v2:1": [200000, null, 8191],
    "-3-5-haiku -3-5-sonnet -3-5-sonnet-v2 -4-5-haiku": [200000, null, 8192],
    "-3-7-sonnet": [200000, null, 128000],
    "-3-7-sonnet-20250219-thinking-10k -4-5-sonnet -opus-4-0 -opus-4-20250514-thinking-10k": 200000,
    "-3-haiku -3-opus -3-sonnet": [200000, null, 4096],
    "-4-5-opus -4-sonnet -haiku-4-5 -haiku-latest -opus-4-5 -sonnet-4 -sonnet-4-1": [200000, null, 64000],
    "-4-opus -opus-4 -opus-4-1": [200000, null, 32000],
    "-fable-5 -fable-5-1 -fable-latest -haiku-5-5 -mythos-5 -mythos-5-1 -mythos-preview": [1000000, null, 128000],
    "-opus-4-6 -opus-4-7 -opus-4-8 -opus-4.7-fast -opus-4.8-fast -opus-5 -opus-5-5": [1000000, null, 128000],
    "-opus-4-6-fast": 139000,
    "-opus-5-5-fast -opus-5-fast -opus-latest -sonnet-4-6 -sonnet-5 -sonnet-5-5": [1000000, null, 128000],
    "-sonnet-4-0 -sonnet-4-20250514-thinking-10k": 200000,
    "-sonnet-4-5": [200000, null, 64000],
    "-sonnet-latest": [1000000, null, 128000],
    "-v1-3": 8000
  },
  "clef": {
    " -flash": 65536
  },
  "clf": {
    "_ai_gateway/glm-4.7-flash": 131072,
    "_ai_gateway/glm-5.2": 262144
  },
  "cloudflare": {
    "/@cf/meta/llama-3.1-8b-instruct-fp8": 32000,
    "/@cf/meta/llama-3.2-1b-instruct": 60000,
    "/@cf/meta/llama-3.2-3b-instruct": 80000,
    "/@cf/mistral/mistral-7b-instruct-v0.1": 8192,
    "/@cf/qwen/qwq-32b": 24000,
    "/@cf/zai-org/glm-4.7-flash": 131072,
    "/@cf/zai-org/glm-5.2": 262144
  },
  "cobuddy": [131072, null, 65536],
  "code": {
    "-bison -bison32k": [6144, null, 1024],
    "-bison-32k": 32000,
    "-gecko": [2048, null, 64],
    "-llama- -llama-13b -llama-13b-python -llama-34b -llama-34b-python -llama-7b": 16384,
    "-llama-70b -llama-70b-python": 4096,
    "-llama-7b-python": 16384,
    "-qwen-1-5-7b": 65536
  },
  "codechat": {
    "-bison": [6144, null, 1024],
    "-bison-32k": [32000, null, 8192]
  },
  "codegeex": {
    "-4 4-all-9b": 131072,
    "4": [32768, null, 8192]
  },
  "codegemma": {
    " -2b -7b": 8192
  },
  "codegen": {
    "- -16b-mono -16b-multi -6b-mono 2-16b 25- 25-7b 25-7b-mono 25-7b-multi": 2048
  },
  "codellama": {
    " -70b": 4096,
    "- -13b -13b-python -34b-python -7b-python": 16384,
    "-34b -7b": [16384, null, 4096]
  },
  "codeqwen1-5-7b": 65536,
  "codeshell-7b": 8194,
  "codestral": {
    "": [256000, null, 128000],
    "-2 @2405 @latest": 128000,
    "-22b-v0 -22b-v0-1": 32768,
    "-2405": [32000, null, 8191],
    "-mamba-latest": 256000
  },
  "codex-mini": [200000, null, 100000],
  "coding": {
    "-glm-5-3": [1048576, null, 131072],
    "-kimi-k3": 1048576
  },
  "cogito": {
    "- -v2.1-671b": 128000,
    "-671b-v2-p1": 163840,
    "-v1-preview-llama-3b -v1-preview-llama-70b -v1-preview-llama-8b -v1-preview-qwen-14b": 131072,
    "-v1-preview-qwen-32b": [128000, null, 32768]
  },
  "cogvlm": {
    "2- 2-llama3-chat-19b 2-llama3-chinese-chat-19b": 8192
  },
  "command": {
    "": [4096, null, 4000],
    "- -a-": 128000,
    "-a": [256000, null, 8000],
    "-a-plus": 192000,
    "-a-plus-05-2026": [128000, null, 64000],
    "-a-reasoning": [256000, null, 32000],
    "-a-translate-08-2025": 8000,
    "-a-vision": [256000, null, 8192],
    "-a-vision-07-2025": [128000, null, 8000],
    "-light -light-text-v14 -medium-beta -nightly -text-v14 -xlarge-beta": 4096,
    "-plus-latest -r -r-plus -r7b -r7b-arabic": [128000, null, 4000]
  },
  "community": 64000,
  "compound": {
    " -mini": [131072, null, 8192]
  },
  "computer": {
    "- -use": 8192,
    "-use-preview": [8192, null, 1024]
  },
  "configurable-hermes-2-pro-llama-3-8b": 8192,
  "cosmos3-super-reasoner": [262144, null, 256000],
  "croissantllmchat-v0-1": 2048,
  "crouton-alpha": 1048576,
  "csg-wukong-1b-chat-v0-1": 32768,
  "cydonia-24b-v4.1": 131072,
  "dall": {
    "- -e-2 -e-3 -e-3-hd -e-3-hd-natural -e-3-natural": 1000
  },
  "dantaggen": {
    "-alpha -beta": 512,
    "-delta -delta-rev2": 2048
  },
  "dare_ties_13b": 32768,
  "darkidol-llama-3-1-8b-instruct-1-2-uncensored": 131072,
  "dashscope": {
    "/kimi-k2.7-code": 229376,
    "/qwen-plus-latest /qwen-turbo-latest": 129024
  },
  "databricks": {
    "/databricks-gemini-3-pro-image": 65536,
    "/databricks-gpt-5 /databricks-gpt-5-1 /databricks-gpt-5-2 /databricks-gpt-5-3-codex": 272000,
    "/databricks-gpt-5-4 /databricks-gpt-5-4-pro /databricks-gpt-5-5": 922000,
    "/databricks-gpt-5-4-mini /databricks-gpt-5-4-nano /databricks-gpt-5-mini": 272000,
    "/databricks-gpt-5-5-pro /databricks-gpt-5-6-luna /databricks-gpt-5-6-sol": 922000,
    "/databricks-gpt-5-6-terra /databricks-gpt-6-1-sol /databricks-gpt-6-1-terra": 922000,
    "/databricks-gpt-5-nano": 272000,
    "/databricks-gpt-6-astra /databricks-gpt-6-luna /databricks-gpt-6-sol": 922000,
    "/databricks-mixtral-8x7b-instruct": 4096
  },
  "davinci-002": 16384,
  "daybreak": {
    "-blue-latest": [1050000, 922000, 128000],
    "-red-latest": [400000, 272000, 128000]
  },
  "dbrx-instruct": 32768,
  "decapoda-research-llama-7b": 2048,
  "deep": {
    "-research-max-preview-04-2026 -research-preview-04-2026": [131072, null, 65536],
    "-research-pro-preview-12-2025": [1048576, null, 65536]
  },
  "deepinfra": {
    "/deepseek-ai/deepseek-r1-turbo /qwen/qwen3-14b /qwen/qwen3-235b-a22b": 40960,
    "/inclusionai/ling-3.0-flash": 131072,
    "/meta-llama/meta-llama-3.1-405b-instruct": 32768,
    "/minimaxai/minimax-m3 /thinkingmachines/inkling": 524288,
    "/mistralai/mistral-7b-instruct-v0.1": 4096,
    "/nvidia/nvidia-nemotron-3-ultra-550b-a55b /qwen/qwen3.8-2.4t-a95b": 262144,
    "/qwen/qwen3-30b-a3b /qwen/qwen3-32b": 40960,
    "/qwen/qwen3.7-max /qwen/qwen3.8-max": 256000,
    "/xiaomimimo/mimo-v2.5": 262144
  },
  "deepseek": {
    "-chat -reasoner -v4-": 1000000,
    "-chat-v3 -r1-turbo -v3-turbo": 64000,
    "-chat-v3.1": [163840, null, 32768],
    "-coder": [128000, null, 4096],
    "-coder-1-3b -coder-1b -coder-33b": 16384,
    "-coder-6-7b": [16384, null, 4096],
    "-coder-7b -coder-7b-base-v1-5 -coder-7b-instruct-v1-5 -llm- -llm-67b -llm-7b -vl-": 4096,
    "-coder-v2 -coder-v2-lite-instruct -r1-0528-turbo -r1-distill-qianfan-70b": 32768,
    "-coder-v2-instruct-0724 -math-v2 -prover-v2 -r1-fast-online -v2-5-1210 -v2-lite-chat": 163840,
    "-coder-v2-lite": 8192,
    "-flash -v4-flash-vision-exp": [1000000, null, 393216],
    "-llama3-3-70b -r1-0528-distill-qwen3-8b -r1-671b -r1-70b- -r1-70b-fast-online": 131072,
    "-pro-latest -v4-1-flash -v4-1-flash-fast -v4-flash-ga -v4-pro-ga": 1048576,
    "-prover-": 160000,
    "-prover-v2-671b": [160000, null, 16384],
    "-r1 -v3": [65536, null, 8192],
    "-r1-0528-qwen3-8b -v2 -v2-lite -v3- -v3.2": 128000,
    "-r1-70b-online -r1-distill-llama -r1-distill-llama-70b -r1-distill-qwen -v3-1-think": 131072,
    "-r1-7b-qwen": [131072, null, 16384],
    "-r1-8b": [65536, null, 16384],
    "-r1-basic": [163840, null, 20480],
    "-r1-distill-llama-8b -r1-distill-qwen-1-5b -r1-distill-qwen-7b": 32000,
    "-r1-distill-qianfan-8b -r1-distill-qianfan-llama-70b -r1-distill-qwen-14b -v2-5": 32768,
    "-r1-distill-qwen-32b -r1-online -v3-2-speciale -v3-fast": 65536,
    "-v3-0324 -v3-1-671b-cloud": 163840,
    "-v3-1": [131072, null, 8192],
    "-v3-2-think": 144000,
    "-v3.1-terminus": [128000, null, 8192],
    "-v3.2-exp": [128000, null, 32000],
    "-v4-1-flash-1017-fast": [1048576, null, 262144],
    "-v4-1-flash-1017-spot -v4-1-flash-1017-us -v4-1-flash-spot -v4-1-flash-us": [1048576, null, 393216],
    "-v4-1-flash-abliterated": [1048576, null, 130000],
    "-v4-flash -v4-pro": [1000000, null, 384000],
    "-vl-1-3b -vl-7b -vl2 -vl2-small": 4096,
    "_r1 _r1_distill_llama_70b _r1_distill_qwen_14b _r1_distill_qwen_32b": 131072,
    "_v3": [64000, null, 16000]
  },
  "delexa-7b": 131072,
  "devstral": {
    "- -small-latest": 256000,
    "-2": [256000, null, 131072],
    "-2-123b": [256000, null, 8192],
    "-2512 -latest -medium-latest -small-2512": 262144,
    "-medium-2507 -small": 128000
  },
  "dialogpt": {
    "- -large -medium -small": 1024
  },
  "distilgpt2": 1024,
  "diva-llama": 8192,
  "dobby": {
    "- -mini-unhinged-plus-llama-3-1-8b -unhinged-llama-3-3-70b-new": 131072
  },
  "dolly": {
    "- -v1-6b -v2-12b -v2-3b -v2-7b": 2048
  },
  "dolphin": {
    "": 16384,
    "-2-5-mixtral-8x7b -2-6-mistral-7b -2-6-mixtral-8x7b": 32768,
    "-2-9-1-yi-1-5-34b -2-9-llama3-8b": 8192,
    "-2-9-2-qwen2-72b -vision-72b": 131072,
    "-2-9-3-mistral-nemo-12b": 1024000,
    "-mistral-24b-venice-edition 3-8b": [128000, null, 8192],
    "-mixtral-8x7b": 32769
  },
  "dots-3-note-preview": 512000,
  "doubao": {
    "-1-5-lite-32k -1-5-vision-pro-32k -lite-32k -pro-32k": 32768,
    "-1-5-pro-256k -seed- -seed-1-6 -seed-1-6-flash -seed-1-6-vision -seed-1-8": 256000,
    "-1-5-pro-32k -seed-2-0-code -seed-2-0-lite": 32000,
    "-seed-2-0-code-preview -seed-2-0-pro": [256000, null, 128000],
    "-seed-2-0-mini": [256000, null, 32000],
    "-seed-2-1-lite": [1024000, null, 256000],
    "-seed-2-1-pro -seed-2-1-turbo -seed-code -seed-evolving": 256000,
    "-seed-character": [128000, null, 32768]
  },
  "eagle-llama3-instruct-8b": 2048,
  "ember-1": 1048576,
  "emohaa": 8192,
  "emu3": 131072,
  "english-to-tamil": 1024,
  "ernie": {
    "-3-5-128k -5-0-thinking-preview -lite-pro-128k -speed- -speed-128k -speed-pro-128k": 128000,
    "-3-5-8k -3-5-8k-preview -4-0- -4-0-8k -4-0-8k-preview -4-0-turbo-8k": 8192,
    "-4-0-turbo-8k-preview -4-5-8k-preview -char- -char-fiction-8k": 8192,
    "-4-5-21b-a3b": 120000,
    "-4-5-21b-a3b-thingking -4-5-turbo -4-5-turbo-128k -4-5-turbo-vl -5-0": 131072,
    "-4-5-300b-a47b": 131000,
    "-4-5-300b-a47b-paddle": 123000,
    "-4-5-turbo-32k -4-5-turbo-vl-32k": 32768,
    "-4-5-vl-28b-a3b": 30000,
    "-4.5-vl-424b-a47b": [123000, null, 16000],
    "-5-1": 119000,
    "-char-fiction-8k-preview -character-8k -novel-8k": 8192,
    "-x1- -x1-1 -x1-1-preview": 65536
  },
  "exaone": {
    "- -3-5-2-4b -3-5-32b -3-5-7-8b": 65536
  },
  "extract": 1000000,
  "fairseq": {
    "- -dense-125m -dense-2-7b": 2048
  },
  "falcon": {
    "- -180b -40b -7b": 2048,
    "-11b 3-1b": 8192,
    "3-10b 3-3b 3-7b": 32768
  },
  "fare-20b": 131072,
  "fastapply-1-5b-v1-0": 32768,
  "fastchat-t5-3b-v1-0": 2048,
  "fbopt-350m": 2048,
  "finance-llama3-8b": 8192,
  "firefunction": {
    "-v1": 32768,
    "-v2": 8192
  },
  "firellava-13b": 4096,
  "fireworks": {
    "/deepseek-coder-v2-instruct": 65536,
    "/deepseek-coder-v2-lite-base /deepseek-coder-v2-lite-instruct /deepseek-v3p2": 163840,
    "/deepseek-r1": [163840, null, 160000],
    "/deepseek-r1-distill-llama-8b /deepseek-r1-distill-qwen-14b": 131072,
    "/deepseek-r1-distill-qwen-1p5b /deepseek-r1-distill-qwen-32b": 131072,
    "/deepseek-r1-distill-qwen-7b /glm-4p5v /qwen3-1p7b": 131072,
    "/deepseek-v3": [131072, null, 8192],
    "/ernie-4p5-21b-a3b-pt": [131072, null, 4096],
    "/llama-v2-70b-chat": 2048,
    "/minimax-m1-80k /qwen2p5-coder-32b-instruct /qwen3-next-80b-a3b-instruct": 4096,
    "/minimax-m3": 512000,
    "/ministral-3-3b-instruct-2512": 256000,
    "/phi-3-vision-128k-instruct": 32064,
    "/qwen2p5-vl-72b-instruct": 128000,
    "/qwen3-0p6b /qwen3-14b /qwen3-4b /qwen3-8b": 40960,
    "/qwen3-4b-instruct-2507 /qwen3-vl-235b-a22b-instruct /qwen3-vl-235b-a22b-thinking": 262144,
    "/qwen3-next-80b-a3b-thinking /qwen3-vl-32b-instruct": 4096,
    "/qwen3-vl-30b-a3b-thinking": 262144,
    "/qwen3p7-plus": [262144, null, 65536],
    "/qwen3p8-max": [262144, null, 131072]
  },
  "flan-t5-xl-3b": 8192,
  "flint-v1.0": 262144,
  "florence": {
    "- -2 -2-base-ft -2-flux-large -2-large-ft": 1024
  },
  "flow-judge-v0-1": 131072,
  "flux": {
    "- -1-dev -1-dev-controlnet-union -1-schnell": 4096,
    "-prompt-enhance": 512
  },
  "friendliai": {
    "/meta-llama-3.1-70b-instruct /meta-llama-3.1-8b-instruct": 8192
  },
  "fugu": {
    "- -max": 1000000,
    "-ultra": [1000000, null, 128000],
    "-ultra-v1-1": [1000000, null, 131072]
  },
  "fuyu-8b": 16384,
  "fw": {
    "- -minimax-m2-5": 1000000,
    "-deepseek-v3-2": 163840,
    "-deepseek-v4-1-flash -deepseek-v4-flash -deepseek-v4-pro": [1000000, null, 384000],
    "-glm-5": [200000, null, 128000],
    "-glm-5-1": [202800, null, 131072],
    "-glm-5-2 -glm-5-2-fast -glm-5-3 -glm-5-3-flash -kimi-k3": [1048576, null, 131072],
    "-gpt-oss-120b": 131072,
    "-inkling": 1048576,
    "-kimi- -kimi-k2-5 -kimi-k2-6 -kimi-k2-7-code -nemotron- -nemotron-3-ultra": 262144,
    "-minimax-m3": 512000,
    "-nemotron-lightning-3-5-30b-a3b": 262144
  },
  "galactica": {
    "- -120b -30b -6-7b": 2048
  },
  "gemini": {
    "- -2-5-flash-lite-thinking-disabled -2-5-flash-thinking-disabled -4-argon": 1048576,
    "-1-0-ultra": [8192, null, 2048],
    "-1-5-flash-001-safety -1-5-flash-001-safety-block-none -1-5-flash-preview": 1000000,
    "-1-5-pro-001-safety -1-5-pro-001-safety-block-none -2.5-flash-image-preview": 1000000,
    "-1-5-pro-preview -1.5-flash-8b-exp -flash-experimental -pro-experimental": [1000000, null, 8192],
    "-1.0-pro -1.0-pro-vision-001": 32768,
    "-1.0-pro-vision": [16384, null, 2048],
    "-1.5-flash -1.5-flash-8b -1.5-flash-exp -2.0-flash -2.0-flash-exp -2.0-flash-lite": [1048576, null, 8192],
    "-1.5-pro -1.5-pro-exp -2.0-pro-exp -exp-1206": [2097152, null, 8192],
    "-2-0-flash-live -2-0-flash-live-preview -2.5-flash-lite-preview -2.5-flash-preview": [1048576, null, 65535],
    "-2-5-flash-image": [32768, null, 8192],
    "-2.0-flash-lite-preview -2.0-flash-preview-image-generation -exp-1114": [1048576, null, 8192],
    "-2.0-flash-thinking-exp -2.5-flash -2.5-flash-lite -2.5-pro -3-5-flash@eu": [1048576, null, 65536],
    "-2.5-computer-use-preview -3.1-flash-live-preview -omni-flash-preview": [131072, null, 65536],
    "-2.5-flash-lite-preview-tts -2.5-flash-preview-tts -2.5-flash-tts": 8192,
    "-2.5-pro-exp -2.5-pro-preview": [1048576, null, 65535],
    "-2.5-pro-preview-tts -2.5-pro-tts -3.1-flash-tts-preview -gemma- -gemma-2-27b": 8192,
    "-3-1-flash-image -3-1-flash-image-preview -3-1-flash-lite-image -nano-banana-2.1": 65536,
    "-3-7-flash@eu -3-8-flash-cyber -3-flash -3-flash-preview -3-flash-preview-search": [1048576, null, 65536],
    "-3-pro -3.1-flash-lite -3.1-flash-lite-preview -3.1-pro -3.1-pro-preview": [1048576, null, 65536],
    "-3-pro-image": [131072, null, 32768],
    "-3-pro-image-preview -3.8-live -omni-1.2-flash -robotics-": 131072,
    "-3-pro-preview": [1048576, null, 64000],
    "-3.1-pro-preview-customtools -3.5-flash -3.5-flash-lite -3.6-flash -3.7-flash": [1048576, null, 65536],
    "-3.5-live-translate-preview": 16384,
    "-3.8-flash -flash-latest -flash-lite-latest -omni-1.1-flash -pro-latest": [1048576, null, 65536],
    "-4-argon-cyber-permissive -robotics-er-1-5-preview": 1048576,
    "-flash-1.5-8b": 1000000,
    "-gemma-2-9b": 8192,
    "-omni-1-1-flash-preview": 57920,
    "-pro": [32760, null, 8192],
    "-pro-1.5": 2000000,
    "-pro-vision": [30720, null, 2048],
    "-robotics-er-1.6-preview -robotics-er-2-preview -robotics-er-2-streaming-preview": [131072, null, 65536]
  },
  "gemma": {
    "-1-1-2b -2- -2-2b -2-2b-it-abliterated -2-9b -2-9b-cpt-sea-lionv3 -2b- -2b-it": 8192,
    "-2-27b": [8192, null, 2048],
    "-2b": 7167,
    "-2b-it-lora -7b": 8192,
    "-3- -3-gaia-pt-br-4b -4- -4-e2b -sea-lion-v4-27b": 128000,
    "-3-12b": [128000, null, 8192],
    "-3-27b -4 -4-31b-it-ultra": 131072,
    "-3-4b": [128000, null, 4096],
    "-3n-e4b": 32768,
    "-4-12b": 16384,
    "-4-26b": [131072, null, 32768],
    "-4-26b-a4b": [256000, null, 32768],
    "-4-31b": [262144, null, 32768],
    "-4-31b-it-turbo": 262144,
    "-4-e4b": [131072, null, 8192],
    "-7b-it-lora": 3500
  },
  "gemsura": {
    "- -2b -7b": 8192
  },
  "generalv": {
    "3 3-5": 8192
  },
  "gerpt": {
    "2 2-large": 1024
  },
  "gervasio-7b-portuguese-ptbr-decoder": 4096,
  "gigachat": {
    "-": 128000,
    "-2 -2-max -2-pro": [128000, null, 8192]
  },
  "github": {
    "_copilot/claude-fable-5 _copilot/claude-fable-5.1 _copilot/claude-opus-4.8": 200000,
    "_copilot/claude-haiku-4.5 _copilot/claude-haiku-5.5 _copilot/gpt-4.1": 128000,
    "_copilot/claude-opus-4.8-fast _copilot/claude-opus-5 _copilot/claude-opus-5.5": 200000,
    "_copilot/claude-sonnet-4.6 _copilot/claude-sonnet-5 _copilot/claude-sonnet-5.5": 200000,
    "_copilot/gemini-3.7-flash _copilot/gemini-3.8-flash _copilot/gemini-4-argon": 200000,
    "_copilot/gpt-4o _copilot/gpt-4o-mini": 64000,
    "_copilot/gpt-5-mini _copilot/gpt-5.3-codex _copilot/mai-code-1.1-flash": 128000,
    "_copilot/gpt-5.4 _copilot/gpt-5.5 _copilot/gpt-5.6-sol _copilot/gpt-5.6-terra": 400000,
    "_copilot/gpt-5.6-luna": 200000,
    "_copilot/kimi-k3": 917504
  },
  "glaive-coder-7b": 16384,
  "glimpse": 262144,
  "glm": {
    "- -4 -4-6v-flash -4-air -4-alltools -4-flash -4-flashx -4-plus": 128000,
    "-4-1v- -4-1v-9b -4-1v-thinking-flash -4-1v-thinking-flashx": 65536,
    "-4-32b -4-9b-0414 -z1-airx": 32768,
    "-4-32b-0414-128k -4.5-airx -4.5-x": [128000, null, 32000],
    "-4-6v-flashx -z1-9b -z1-air -z1-flash -z1-flashx": 131072,
    "-4-7-h -4.6 -4.7 -5": [204800, null, 131072],
    "-4-9b -4-airx -4v-9b -4v-plus -edge- -edge-1-5b -edge-4b": 8192,
    "-4-9b-chat": 32000,
    "-4-9b-chat-1m -5-3-fast -5-3-flash-us -5.3-flashx-legal -5.3-prime -flash-latest": 1048576,
    "-4-long": 1024000,
    "-4.5 -4.5-air -4.5-flash": [131072, null, 98304],
    "-4.5v": [64000, null, 16384],
    "-4.6v": [128000, null, 32768],
    "-4.7-": 200000,
    "-4.7-flash -4.7-flashx -5-turbo -5.1 -5v-turbo": [200000, null, 131072],
    "-4v": 2048,
    "-4v-flash": 4096,
    "-4v-plus-0111": 16000,
    "-5-": 1000000,
    "-5-1-fast": [202800, null, 131072],
    "-5-1-nvfp4-mtp -5.1-": 202752,
    "-5-2-fast -5-2-fast-us -5-3-abliterated -5-3-flash-abliterated -latest": [1048576, null, 131072],
    "-5-2-fast-preview -5-2-highspeed -5.2": [1000000, null, 131072],
    "-5-3-spot -5-3-us -5.3-flash -5.3-flashx": [1048576, null, 128000],
    "-5-code": [200000, null, 128000],
    "-5.3": [1000000, null, 128000],
    "-zero-preview": 16384
  },
  "goliath-120b": 4096,
  "gorilla": {
    "- -openfunctions-v1 -openfunctions-v2": 4096
  },
  "gpt": {
    " 2-mini": 512,
    "- -5.5-codex -6-astra-pro -6.1-terra-pro -astra-latest -luna-latest -sol-latest": [1050000, 922000, null],
    "-2- -2-spanish -2-tamil 2 2-bengali 2-french-small 2-large 2-medium 2-small-arabic": 1024,
    "-3.5-turbo -3.5-turbo-16k": [16385, null, 4096],
    "-3.5-turbo- -3.5-turbo-instruct": 4096,
    "-3.5-turbo-0301 -3.5-turbo-0613": [4097, null, 4096],
    "-4": [8192, null, 4096],
    "-4-0125-preview -4-1106-preview -4-1106-vision-preview -4-turbo -4-turbo-preview": [128000, null, 4096],
    "-4-32k": [32768, null, 4096],
    "-4-o-preview": [64000, null, 4096],
    "-4-turbo-0125-preview -image-2 -realtime-2": 128000,
    "-4-turbo-vision -4-turbo-vision-preview -4-vision-preview -4o-mini-realtime-preview": [128000, null, 4096],
    "-4.1 -4.1-mini -4.1-nano": [1047576, null, 32768],
    "-4.5-preview -4o -4o-audio-preview -4o-mini -4o-mini-audio-preview": [128000, null, 16384],
    "-4o-mini-search-preview -4o-search-preview -5-chat -5.1-chat-latest -5.2-chat -5.3": [128000, null, 16384],
    "-4o-realtime-preview": [128000, null, 4096],
    "-5 -5-4-image-2 -5-codex -5-image -5-image-mini -5-mini -5-nano -5-search-api -5.1": [400000, 272000, 128000],
    "-5-": 400000,
    "-5-3-instant -chat-latest": [128000, 111616, 16384],
    "-5-6-sol-disc -5.4 -5.4-pro -5.5 -5.5-pro -5.6 -5.6-luna -5.6-luna-pro -5.6-sol": [1050000, 922000, 128000],
    "-5-pro": [400000, 272000, 272000],
    "-5.1-codex -5.1-codex-max -5.1-codex-mini -5.2 -5.2-codex -5.2-pro -5.3-codex": [400000, 272000, 128000],
    "-5.1-mini": [400000, 272000, null],
    "-5.3-codex-spark": [128000, 100000, 32000],
    "-5.4-mini -5.4-nano -5.6-cyber -daybreak-red-latest -mini-latest": [400000, 272000, 128000],
    "-5.5- -5.6- -6- -daybreak-blue-": 1050000,
    "-5.6-sol-pro -5.6-terra -5.6-terra-pro -6-astra -6-astra-law -6-luna -6-rosalind": [1050000, 922000, 128000],
    "-6-sol -6.1-sol -6.1-terra -daybreak-blue-latest -latest": [1050000, 922000, 128000],
    "-audio -audio-1-5 -audio-mini -oss-120b-1:0 -oss-20b-1:0 -oss-safeguard-120b": [128000, null, 16384],
    "-daybreak-blue-5-6-sol": [1050000, null, 128000],
    "-j-6b -jt-6b-v1 -neo- -neo-1-3b -neo-125m -neo-2-7b -neox- -neox-20b": 2048,
    "-neox-japanese-2-7b -neoxt-chat-base-20b 4all- 4all-13b-snoozy 4all-j": 2048,
    "-oss-120b -oss-120b-cloud -oss-120b-turbo -oss-120b-ultra -oss-20b-cloud": 131072,
    "-oss-120b-mxfp -oss-20b": [131072, null, 32768],
    "-oss-safeguard-20b": [131072, null, 65536],
    "-realtime -realtime-1.5": 32000,
    "-realtime-2.1": [128000, 96000, 32000],
    "-terra-latest": [1050000, 922000, null],
    "2-small-dutch 2-small-italian 2-xl": 1024,
    "_bigcode-santacoder": 2048
  },
  "gradient": {
    "_ai/alibaba-qwen3-32b _ai/llama3.3-70b-instruct": 2048,
    "_ai/anthropic-claude-3-opus _ai/anthropic-claude-3.5-haiku": 1024,
    "_ai/anthropic-claude-3.5-sonnet _ai/anthropic-claude-3.7-sonnet": 1024,
    "_ai/deepseek-r1-distill-llama-70b": 8000,
    "_ai/llama3-8b-instruct _ai/mistral-nemo-instruct-2407": 512,
    "_ai/openai-gpt-4o _ai/openai-gpt-4o-mini": 16384,
    "_ai/openai-o3 _ai/openai-o3-mini": 100000
  },
  "granite": {
    "- -20b-code-instruct-8k -3-1-1b-a400m -3-1-2b -3-1-3b-a800m -3-1-8b -3-2b -34b-code": 128000,
    "-13b- -13b-chat-v2 -13b-instruct-v2 -3-3-8b -3-8b -34b-code-instruct-8k -guardian-": 8192,
    "-3-0- -3-0-1b-a400m -3-0-2b -3-0-3b-a800m -3-0-8b": 4096,
    "-3b-code -4-0-h-small -4-0-micro -8b-code -8b-code-instruct-128k": 128000,
    "-3b-code-base-2k": 2048,
    "-4.0-h-micro": 131000,
    "-4.1-8b -4.2-8b": 131072,
    "-guardian-3-2-2b -guardian-3-3-8b -vision-3-2-2b": 8192,
    "-ttm- -ttm-1024-96-r2 -ttm-1536-96-r2 -ttm-512-96-r2": 512
  },
  "greg": {
    "- -2-super -2-ultra": 229376
  },
  "gritlm": {
    "-7b -7b-vllm": 32768
  },
  "grok": {
    "- -4.5 -4.6 -4.7 -build-latest -latest": 500000,
    "-2 -3 -3-beta -3-fast -3-fast-beta -3-mini -3-mini-beta -3-mini-fast": 131072,
    "-2-vision": 32768,
    "-3-mini-fast-beta -beta": 131072,
    "-4 -build-0.1 -code- -code-fast -code-fast-1": 256000,
    "-4-1-fast-non-reasoning -4-1-fast-reasoning -4-fast -4-fast-non-reasoning": 2000000,
    "-4-fast-reasoning -4.1- -4.1-fast": 2000000,
    "-4.20 -4.20-beta -4.20-beta-0309-non-reasoning -4.20-beta-0309-reasoning": 1000000,
    "-4.20-0309-non-reasoning -4.20-0309-reasoning": [1000000, null, 30000],
    "-4.20-beta-latest-non-reasoning -4.20-beta-latest-reasoning -4.20-beta-non-reasoning": 1000000,
    "-4.20-beta-reasoning -4.20-experimental-beta": 1000000,
    "-4.20-experimental-beta-0304-non-reasoning -4.20-experimental-beta-0304-reasoning": 1000000,
    "-4.20-experimental-beta-non-reasoning -4.20-experimental-beta-reasoning": 1000000,
    "-4.20-multi-agent -4.20-multi-agent-beta -4.20-multi-agent-experimental-beta": 1000000,
    "-4.20-non-reasoning -4.20-non-reasoning-gv2 -4.20-reasoning -4.20-reasoning-gv2 -4.3": 1000000,
    "-build": [256000, null, 32768],
    "-imagine- -imagine-image -imagine-image-2.0 -imagine-image-quality": 8000,
    "-vision-beta": 8192
  },
  "groq": {
    "-llama-4-maverick-17b-128e": [128000, null, 4096],
    "/llama-guard-3-8b": 8192,
    "/qwen/qwen3.8-27b": [131072, null, 16384]
  },
  "guanaco": {
    "- -33b -65b": 2048
  },
  "h2o-danube3-500m": 8192,
  "harmbench-llama-2-13b-cls": 2048,
  "hebrew-gpt_neo-small": 2048,
  "hermes": {
    "-2-pro-llama-3-8b -2-theta-llama-3-8b": 8192,
    "-2-pro-mistral-7b": 32768,
    "-3-8b-tee": 16000,
    "-3-llama- -4- 3- 3-405b 3-70b 3-8b": 131072,
    "-3-llama-3-1-8b": 16384,
    "-3-llama-3-2-3b": 262144,
    "-3-llama-3.1-405b -3-llama-3.1-70b": [131072, null, 16384],
    "-4-405b -4-70b": [131072, 120000, 128000]
  },
  "hf-moshiko": 3000,
  "huatuogpt-o1-7b": 32768,
  "humanish-roleplay-llama-3-1-8b": 131072,
  "hunyuan": {
    "-2-0 -role-latest": 128000,
    "-a13b": 131072,
    "-code -role -vision": 8000,
    "-functioncall -pro -standard -turbo": 32000,
    "-lite -standard-256k": 256000,
    "-mt-7b": 32768
  },
  "hy": {
    "- -mt2-1.8b -mt2-30b-a3b -mt2-7b": 8192,
    "3": 262144,
    "3-preview": [256000, null, 128000],
    "4": 1048576,
    "4-preview": [1048576, null, 64000]
  },
  "hymba-1-5b": 8192,
  "hyperbolic": {
    "/deepseek-ai/deepseek-r1 /deepseek-ai/deepseek-v3 /deepseek-ai/deepseek-v3-0324": 32768,
    "/meta-llama/llama-3.2-3b-instruct /meta-llama/meta-llama-3.1-405b-instruct": 32768,
    "/meta-llama/meta-llama-3.1-70b-instruct /meta-llama/meta-llama-3.1-8b-instruct": 32768,
    "/nousresearch/hermes-3-llama-3.1-70b": 32768
  },
  "idefics": {
    "- -80b -9b": 2048,
    "2-8b": 32768,
    "3-8b-llama3": 131072
  },
  "inferenceapis": {
    "/minimax-m3 /minimaxai/minimax-m3": 524288
  },
  "inkling": {
    "": [1048576, null, 32768],
    "-small": 524288,
    "-small:free": 1048576
  },
  "instructblip": {
    "-flan-t5-xl": 512,
    "-vicuna-7b": 2048
  },
  "intern": {
    "-latest -s1-pro -s2-preview": 262144,
    "-s1 -s1-mini": 32768
  },
  "internlm": {
    "-2-5-7b 2-20b 2-7b 2-base-20b 2-base-7b 2-chat-20b 2-chat-20b-expo 2-chat-7b": 32768,
    "-2-5-7b-chat-1m 2_5-7b-chat-1m": 262144,
    "-20b -chat-20b": 16384,
    "-7b": 8192,
    "-chat-7b": 2048,
    "2-chat-7b-expo 2_5-1_8b 2_5-20b 2_5-7b": 32768
  },
  "internvl": {
    "-chat-v1-5 2-1b 2-26b 2-2b 2-40b 2-4b 2-5-38b-mpo 2-8b 2-llama3-76b 3-14b 3-1b 3-5": 32768,
    "2-5-26b": 32000,
    "3-38b 3-78b 3-8b": 16384,
    "3-5-241b-a28b": 32768
  },
  "j2": {
    "-grande -large": 2047,
    "-jumbo": 6000,
    "-light -mid -ultra": 8192,
    "-mid-v1 -ultra-v1": 8191
  },
  "jais": {
    "-13b -30b -family-30b-8k": 8192,
    "-adapted- -adapted-13b -adapted-70b -adapted-7b": 4096,
    "-family- -family-1-3b -family-13b -family-2-7b -family-590m -family-6-7b": 2000,
    "-family-30b-16k": 16384
  },
  "jamba": {
    "- -1-5": 256000,
    "-1-5-large -1-5-mini -instruct -large-1-6 -large-1.7 -mini-1-6 -mini-1-7": [256000, null, 4096],
    "-v0-1": 262144
  },
  "japanese-gpt-neox-small": 2048,
  "jev": {
    "-1.13 -1.14": 32000
  },
  "k2": 8192,
  "kat": {
    "- -coder-air-v1 -coder-exp-72b -dev-32b -dev-72b-exp": 131072,
    "-coder -coder-pro-v1": 262144,
    "-coder-": 256000,
    "-coder-air-v2.5 -coder-pro-v2 -coder-pro-v2.5": [256000, null, 80000],
    "-coder-pro": [256000, null, 128000]
  },
  "kimi": {
    "- -k3.1-pro -k3.1-pro-highspeed": 1048576,
    "-k2 -k2-0711-preview": [131072, null, 16384],
    "-k2-0905": [262144, null, 100352],
    "-k2-0905-preview -k2-thinking -k2-thinking-turbo -k2-turbo-preview -k2.5 -k2.6 -k2.7": 262144,
    "-k2-5-fast": [256000, null, 8192],
    "-k2-6-fast -k2-7-code-fast": [262144, null, 32768],
    "-k2-6-turbo": 262000,
    "-k2-8-preview": 1000000,
    "-k2-instruct-0905": [262144, null, 16384],
    "-k2.7-code -k2.7-code-highspeed": 262144,
    "-k3 -k3-fast -k3-spot -k3-us": [1048576, null, 131072],
    "-latest -latest-128k -thinking-preview": 131072,
    "-latest-32k": 32768,
    "-latest-8k": 8192
  },
  "ko-platyi-6b": 2048,
  "koala-13b": 2048,
  "koni-llama3-1-8b": 131072,
  "kyma": {
    "/gemma-4-31b": 128000,
    "/qwen-3-32b": 32768,
    "/qwen-3-coder": 131072
  },
  "l3": {
    "-1-70b-euryale-v2-2": [20480, null, 16384],
    "-3-70b-euryale-v2-3": 20480,
    "-70b-euryale-v2-1 -8b- -8b-lunaris -8b-lunaris-v1 -8b-lunaris-v1-turbo": 8192,
    "-8b-stheno-v3-2 -aethora-15b -lunaris-8b -umbral-mind-rp-v3-0-8b": 8192,
    "-8b-stheno-v3-3-32k": 32768,
    ".1-euryale-70b .3-euryale-70b": [131072, null, 16384]
  },
  "l31-70b-euryale-v2-2": 8192,
  "labs": {
    "-": 262144,
    "-leanstral-1-5 -leanstral-1-5-1": [262144, null, 131072]
  },
  "laguna": {
    "-": 262144,
    "-m-1 -xs-2.1": [262144, null, 32768],
    "-s-2.1": [1048576, null, 131072]
  },
  "lambda": {
    "_ai/deepseek-v3-0324": 131072,
    "_ai/llama-4-scout-17b-16e-instruct": 16384
  },
  "le_triomphant-ece-tw3": 32768,
  "learnlm-1.5-pro-experimental": [32767, null, 8192],
  "lfm": {
    "- -2.5-24b-a2b": 128000,
    "-2.5-2.6b": [128000, null, 32768],
    "-3-1.7b": 262144,
    "-40b -7b": 131072,
    "2-24b-a2b": 32768,
    "2-5-1-2b": [32768, null, 8192]
  },
  "libertai/deepseek-v4-flash": 200000,
  "libra-v1-0-7b": 2048,
  "lily-cybersecurity-7b-v0-2": 32768,
  "ling": {
    "- -3-0-flash-fin -3.0-flash-vl -3.0-tiny -3.1-flash": 262144,
    "-1t": 128000,
    "-2.6-1t -2.6-flash -3-0-flash-fast -3.0-flash": [262144, null, 32768],
    "-flash-2-0 -mini-2-0": 131072
  },
  "lit-gpt": 2048,
  "llama": {
    "-13b -160m -2-fewer-kv-heads -2-kv-sharing -30b -65b -68m -7b": 2048,
    "-2 -2-13b -2-13b-chat-v1 -2-70b -2-70b-chat-v1 -2-7b -2-uncensored": 4096,
    "-2-0b-unit-test": 1024,
    "-2-7b-chat-hf-lora -3 -3-1 -3-1-70b-versatile -3-1-8b-omni -3-2-11b-vision-preview": 8192,
    "-3-1- -3-1-sonar-huge-128k-online -3-1-sonar-large-128k-online": 127072,
    "-3-1-405b -3-1-70b-cpt-sea-lionv3 -3-1-8b-cpt-sea-lionv3 -3-1-8b-instruct-fast": 128000,
    "-3-1-405b-instruct-long -3-1-70b-instruct-1b 2-70b-4096": 4096,
    "-3-1-405b-instruct-turbo": 130815,
    "-3-1-70b -4-maverick -guard-4-12b": [128000, null, 16384],
    "-3-1-70b-chinese -3-1-70b-instruct-turbo -3-1-8b-instant -3-1-8b-instruct-abliterated": 131072,
    "-3-1-8b": [128000, null, 8192],
    "-3-1-8b-instruct-turbo -3-1-8b-lexi-uncensored-v2 -3-1-8b-prm-deepseek-data": 131072,
    "-3-1-instruct -3-1-sonar-large-128k -3-1-sonar-small-128k -3-1-tulu-3-8b-dpo": 131072,
    "-3-1-nemotron-51b": 32768,
    "-3-1-nemotron-70b -3-2-3b-instruct-fast -4-maverick-17b -4-scout-17b-16e": [131072, null, 8192],
    "-3-1-nemotron-ultra-253b-v1 -3-2- -3-2-1b -3-2-3b -3.3- -3.3-70b -3_1- -4-": 128000,
    "-3-1-sonar-small-128k-online": 127072,
    "-3-1-tulu-3-8b-sft -3-1-typhoon2-8b -3-2-11b-vision-instruct-turbo": 131072,
    "-3-2-11b -3-2-90b -3.3-8b": [128000, null, 4096],
    "-3-2-11b-vision -3-2-90b-vision -3-3-nemotron-super-49b-v1": [131072, null, 16384],
    "-3-2-1b-flax -3-2-3b-instruct-abliterated -3-2-korean-bllossom-3b -3-2-typhoon2-": 262144,
    "-3-2-1b-instruct-abliterated": 4194304,
    "-3-2-3b-instruct-turbo -3-2-90b-vision-instruct-turbo -3-3-70b-instruct-abliterated": 131072,
    "-3-2-90b-vision-preview -3-70b-8192 -3-70b-instruct-lite": 8192,
    "-3-2-typhoon2-1b -3-2-typhoon2-3b": 262144,
    "-3-2-vision": 163840,
    "-3-3-70b-instruct-fp8-fast": 24000,
    "-3-3-70b-versatile": [131072, null, 32768],
    "-3-3-nemotron-super-49b-v1-5 -3.3 -3.3-70b-instruct-turbo -4-maverick-instruct-basic": 131072,
    "-3-405b": 32000,
    "-3-70b": [8192, null, 8000],
    "-3-70b-instruct-mlx-unquantized -3-70b-instruct-turbo -3-8b -3-8b-1-58-100b-tokens": 8192,
    "-3-8b-4bit-ultrachat-ita -3-8b-8192 -3-8b-cpt-sea-lionv2 -3-8b-cpt-sea-lionv2-1": 8192,
    "-3-8b-fp8-compressed-tensors-test -3-8b-instruct-abliterated-v3 -3-8b-instruct-fp8-kv": 8192,
    "-3-8b-instruct-gradient-1048k -3-patronus-lynx-8b-instruct-v1-1": 1048576,
    "-3-8b-instruct-lite -3-8b-instruct-nonuniform-test -3-8b-instruct-turbo -3-8b-ita": 8192,
    "-3-8b-instruct:extended": 16384,
    "-3-8b-lexi-uncensored -3-8b-ultramedical -3-chatqa-1-5-8b -3-chinese-8b -3-groq-": 8192,
    "-3-8b-prolong-64k": 65536,
    "-3-groq-70b-8192-tool-use-preview -3-groq-8b-8192-tool-use-preview": 8192,
    "-3-groq-8b-tool-use -3-korean-bllossom-8b -3-llava-next-8b -3-merged-linear": 8192,
    "-3-sauerkrautlm-8b -3-smaug-8b -3-sqlcoder-8b -3-taiwan- -3-taiwan-70b -3-taiwan-8b": 8192,
    "-3-typhoon- -3-typhoon-v1-5-8b -3-typhoon-v1-5x-70b -3-typhoon-v1-5x-8b": 8192,
    "-3.1-405b-reasoning -3.2-11b-text-preview -3.2-1b-preview -3.2-3b-preview": 8192,
    "-3.2-90b-text-preview -3.3-70b-specdec -guard-2-8b": 8192,
    "-3_1-70b": 131000,
    "-3_1-nemotron-ultra-253b-v1": [128000, 120000, 4096],
    "-4-maverick-17b-128e -guard- -guard-3-11b-vision": 128000,
    "-4-maverick-17b-16e": 1000000,
    "-4-scout -4-scout-instruct-basic -guard-3-1b -guard-3-8b -sea-lion-v3-8b -vision-free": 131072,
    "-4-scout-17b": [10000000, null, 8192],
    "-4-scout-17b-128e": 10000000,
    "-guard-7b": 2047,
    "-prompt- -prompt-guard-2-22m -prompt-guard-2-86m": 512
  },
  "llamagate/qwen3-8b": 32768,
  "llamaguard-7b": 4096,
  "llammlein_1b_prerelease": 2048,
  "llava": {
    "-1- -1-5-13b -1-5-7b -v1-6- -v1-6-34b -v1-6-vicuna-13b -v1-6-vicuna-7b": 2048,
    "-7b": [4096, null, 2048],
    "-interleave-qwen-0-5b -med-v1-5-mistral-7b -onevision-qwen2-7b-ov -v1-6-mistral-7b": 32768,
    "-llama-3-8b-v1_1-transformers": 8192,
    "-v1-5-7b-4096-preview -yi-34b": 4096
  },
  "llm": {
    "4decompile-22b-v2": 32768,
    "_3_2_flux_prompt": 262144
  },
  "local/smollm2": 2048,
  "longcat": {
    "-2-": 1000000,
    "-2-5-preview": [1000000, null, 131072],
    "-2.0": [1000000, null, 262144],
    "-flash-chat": 131072
  },
  "longwriter-glm4-9b": 1048576,
  "luminous": {
    "- -base -base-control -extended -extended-control -supreme -supreme-control": 2048
  },
  "lzlv_70b": 4096,
  "m2-her": 65536,
  "macaron": {
    "-v1-tall": [262144, null, 32768],
    "-v1-venti": [1048576, null, 131072]
  },
  "macbert4csc-base-chinese": 512,
  "magicprompt-stable-diffusion": 1024,
  "magistral": {
    "- -medium-2506 -small-2506": 40000,
    "-medium": [128000, null, 16384],
    "-small": 128000,
    "-small-latest": 262144
  },
  "magnum-v4-72b": [32768, null, 4096],
  "mai": {
    "-": 256000,
    "-code-1.1-flash": [256000, 128000, 128000],
    "-cyber-1-flash -thinking-1": [256000, null, 64000],
    "-ds-r1": 128000
  },
  "mamba-codestral-7b-v0-1": 256000,
  "mammoth": {
    "2-7b-plus": 32768,
    "2-8b-plus": 8192
  },
  "mantis-8b-siglip-llama3": 8192,
  "marin-8b": 4096,
  "max-32k": 32768,
  "medgemma-4b": 128000,
  "meditron-7b": 4094,
  "medlm": {
    "-large": 8192,
    "-medium": 32768
  },
  "megabeam-mistral-7b-512k": 524288,
  "megatron": {
    "- -gpt2 -gpt2-345m": 1024
  },
  "megrez-3b": 32000,
  "mercury": {
    "-2": [128000, null, 50000],
    "-2.5": [260000, null, 65536],
    "-3": 1000000,
    "-coder-small": 32768,
    "-edit-2": [32000, null, 8192]
  },
  "midnight-rose-70b": 4096,
  "mimo": {
    "-v2-5-tts -v2-5-tts-voiceclone -v2-5-tts-voicedesign -v2-tts": 8192,
    "-v2-flash": [262144, null, 65536],
    "-v2-omni": [262144, null, 131072],
    "-v2-pro": 262144,
    "-v2.5 -v2.5-pro -v2.6- -v2.6-flash -v2.6-pro -v2.6-pro-ultraspeed": 1048576,
    "-v2.5-pro-ultraspeed": [1048576, null, 131072]
  },
  "ming-flash-omini-preview": 65536,
  "mini": {
    "-internvl-chat-2b-v1-5 -internvl-chat-4b-v1-5": 32768
  },
  "minicpm": {
    "-2b- -2b-dpo -2b-sft": 4096,
    "-llama3-v-2_5": 8192,
    "-v": 2048,
    "-v-2_6 3-4b": 32768,
    "-v-4-5 -v-4_5": 32000
  },
  "minimax": {
    "- -m3.1-flash": 1000000,
    "-01 -text-01": 1000192,
    "-m1 -m1-80k": [1000000, null, 40000],
    "-m2": [196608, null, 128000],
    "-m2-1-highspeed": 204800,
    "-m2-7-turbo": [196608, null, 131072],
    "-m2-her": [65536, null, 2048],
    "-m2.1 -m2.5 -m2.5-highspeed -m2.7 -m2.7-highspeed -m25": [204800, null, 131072],
    "-m2.1-lightning -m2.5-lightning": [1000000, null, 8192],
    "-m3": [1000000, null, 128000]
  },
  "ministral": {
    "- -3b -8b": 128000,
    "-14b -3-14b -3-8b -8b-2512": 262144,
    "-3-3b": 131072
  },
  "mistral": {
    " -nemo-minitron-8b": 8192,
    "-7b -7b-instruct-4k -7b-instruct-v0-1 -7b-instruct-v0-2 -7b-instruct-v0-3": 32768,
    "-7b-instruct-v0-2-lora": 15000,
    "-7b-instruct-v0:2": [32000, null, 4096],
    "-7b-instruct-v3 -7b-v0-1 -7b-v0-2 -saba -saba-24b": 32768,
    "-7b-v0-3": [32768, null, 8192],
    "-code- -code-fim-latest -code-latest -large -nemo -nemo-instruct-2407 -small-": 128000,
    "-code-agent-latest -small-2603 -small-latest": 256000,
    "-large- -large-2512 -large-3 -large-latest -medium -medium-3 -medium-3-5 -vibe-": 262144,
    "-large-2402 -medium-2312 -small -tiny": [32000, null, 8191],
    "-large-3-675b -small-4-119b": [262144, null, 256000],
    "-large-4 -large-4-0": 1048576,
    "-large-instruct-2407": 65536,
    "-large2 -small-2506": [128000, null, 16384],
    "-medium-2505 -medium-3.1": 131072,
    "-medium-3-5-128b": [262144, null, 131072],
    "-nemo-instruct": 1024000,
    "-small-24b": [32768, null, 16384],
    "-small-2503": [128000, null, 32768],
    "-small-3.1-24b -small-3.2-24b": 128000,
    "-vibe-cli-fast -vibe-cli-latest -vibe-cli-with-tools": 262144
  },
  "mistralai_mistral-nemo-instruct-2407": 1024000,
  "mistrallite": [32768, null, 8191],
  "mistralrp-noromaid-nsfw-mistral-7b": 32768,
  "mixsura": 32768,
  "mixtao-7bx2-moe-v8-1": 32768,
  "mixtral": {
    " -8x7b-instruct-v0:1": [32000, null, 4096],
    "-8x22b -8x22b-instruct-v0-1 -8x22b-v0-1": 65536,
    "-8x7b -8x7b-32768 -8x7b-v0-1": 32768,
    "-8x7b-32kseqlen": 4095,
    "-8x7b-instruct-v0-1": [32768, null, 32000]
  },
  "mn": {
    "-12b-mag-mell-r1": 1024000,
    "-violet-lotus-12b": 131072
  },
  "mobilellama-1-4b": 2048,
  "model": {
    "-router": [200000, null, 16384],
    "_router": [200000, null, 32768]
  },
  "moondream": {
    "3-preview 3.1-9b-a2b": 32000
  },
  "moonshot": {
    "-kimi-k2 -v1-128k -v1-128k-vision-preview -v1-auto": 131072,
    "-v1-32k -v1-32k-vision-preview": 32768,
    "-v1-8k -v1-8k-vision-preview": 8192
  },
  "morph": {
    "- -dsv41flash -dsv41flash-abliterated -dsv4flash -glm53-744b -glm53flash -kimik3": 1048576,
    "-kimik3-fast": 1048576,
    "-v3-fast /morph-v3-large": 16000,
    "-v3-large": 32768
  },
  "mpt": {
    "-30b": 8192,
    "-7b -instruct- -instruct-30b -instruct-7b": 2048,
    "-7b-storywriter": 65536
  },
  "mt": {
    "0- 0-xxl 0-xxl-13b": 4096
  },
  "muse": {
    "- -spark-open-816b-a42b": 1048576,
    "-books_target -news_target": 2048,
    "-glimmer-30b": 131072,
    "-spark-1.1": [1000000, null, 32000],
    "-spark-1.2 -spark-1.2-contributor -spark-1.3 -spark-1.3-contributor -wonder-1.0": [1048576, null, 131072],
    "-spark-open -wonder": [1048576, null, 943718]
  },
  "mythalion-13b": 4096,
  "mythomax-l2-13b": 4096,
  "nebius": {
    "/deepseek-ai/deepseek-v3-0324": 128000,
    "/google/gemma-3-27b-it": 110000,
    "/qwen/qwen3-14b /qwen/qwen3-30b-a3b /qwen/qwq-32b": 32768,
    "/qwen/qwen3-32b": 40960
  },
  "nemotron": {
    "- -3-120b-a12b": 256000,
    "-3-5-content-safety -content-safety-3-5": 131072,
    "-3-5-lightning-30b-a3b -3-nano-30b -3-super-120b -3-super-120b-a12b -3.5-super-vl": 262144,
    "-3-5-super-vl-120b-a12b -3_5-lightning": 1048576,
    "-3-nano-30b-a3b": [262144, null, 256000],
    "-3-nano-omni": [65536, 60000, null],
    "-3-nano-omni-30b-a3b-reasoning": [256000, null, 65536],
    "-3-super": 204800,
    "-3-ultra": [262144, null, 128000],
    "-3-ultra-": 1000000,
    "-3-ultra-550b": [1048576, null, 128000],
    "-3-ultra-550b-a55b": [1000000, null, 128000],
    "-3.5-lightning": [262144, null, 131072],
    "-4-340b -mini-4b": 4096,
    "-lightning-3-5-30b-a3b": 262144,
    "-nano- -nano-12b-v2-vl -nano-9b-v2": 128000,
    "-nano-12b-v2": [128000, null, 4096],
    "-nano-3-30b": [256000, null, 8000],
    "-nano-v2-12b-vl": [131072, null, 4096],
    "-super-3-120b": [256000, null, 131072]
  },
  "neural": {
    "-chat-7b-v3-1 -chat-7b-v3-3": 32768
  },
  "neuraldaredevil-8b-abliterated": 8192,
  "neuralmonarch-7b": 32768,
  "nex": {
    "- -n2-mini -n2-pro -n2.5-mini -n2.5-pro": 262144
  },
  "nlp": {
    "_cloud/chatdolphin _cloud/dolphin": 4096
  },
  "nmagic-meta-llama-3-1-8b": 131072,
  "north": {
    "-": 256000,
    "-mini-code-1-0 -mini-code:free": [256000, null, 64000]
  },
  "nous": {
    "- -hermes-13b -hermes-2-yi-34b -hermes-llama2-13b -hermes-llama2-70b": 4096,
    "-capybara-7b-v1-9 -hermes-2-mixtral-8x7b-dpo": 32768,
    "-hermes-llama2-7b": 4096
  },
  "nova": {
    "-": 300000,
    "-2- -premier-": 1000000,
    "-2-lite -2-pro-preview": [1000000, null, 64000],
    "-2-lite-v1": [1000000, null, 65535],
    "-lite -pro": [300000, null, 8192],
    "-lite-v1 -pro-v1": [300000, null, 5120],
    "-micro": [128000, null, 8192],
    "-micro-v1": [128000, null, 5120],
    "-premier-v1": [1000000, null, 32000],
    "-premier-v1:0": [1000000, null, 10000]
  },
  "novita": {
    "/deepseek/deepseek-r1-distill-llama-70b": 8192,
    "/google/gemma-3-27b-it": 98304,
    "/meta-llama/llama-3.1-8b-instruct": 16384,
    "/meta-llama/llama-3.2-3b-instruct": 32768,
    "/meta-llama/llama-3.3-70b-instruct": 12288,
    "/mistralai/mistral-nemo": 60288,
    "/qwen/qwen3-235b-a22b-instruct-2507 /qwen/qwen3-235b-a22b-thinking-2507": 131072,
    "/qwen/qwen3-coder-30b-a3b-instruct": 160000,
    "/qwen/qwen3-vl-30b-a3b-instruct /qwen/qwen3-vl-8b-instruct": 131072
  },
  "nuextract": {
    "-1-5": 131072,
    "-tiny": 32768
  },
  "o1": {
    " -pro": [200000, null, 100000],
    "- -2024-12-17-high-reasoning-effort -2024-12-17-low-reasoning-effort": 128000,
    "-mini": [128000, null, 65536],
    "-preview": [128000, null, 32768],
    "-pro-2025-03-19-high-reasoning-effort -pro-2025-03-19-low-reasoning-effort": 128000
  },
  "o3": {
    " -deep-research -mini -pro": [200000, null, 100000],
    "-2025-04-16-high-reasoning-effort -2025-04-16-low-reasoning-effort": 200000,
    "-mini-2025-01-31-high-reasoning-effort -mini-2025-01-31-low-reasoning-effort": 200000,
    "-pro-2025-06-10-high-reasoning-effort": 200000
  },
  "o4": {
    "- -mini-2025-04-16-high-reasoning-effort -mini-2025-04-16-low-reasoning-effort": 200000,
    "-mini -mini-deep-research": [200000, null, 100000]
  },
  "oasst": {
    "- -sft-1-pythia-12b -sft-4-pythia-12b-epoch-3-5": 2048
  },
  "oci": {
    "/openai.gpt-5 /openai.gpt-5-mini /openai.gpt-5-nano": 272000,
    "/xai.grok-4": 128000,
    "/xai.grok-4-fast /xai.grok-4.1-fast /xai.grok-4.20 /xai.grok-4.20-multi-agent": 131072,
    "/xai.grok-code-fast-1": 131072
  },
  "ollama": {
    "/alfred /dolphin-phi /falcon /falcon2 /llama-2-uncensored /meditron /moondream": 2048,
    "/athene-v2 /bakllava /codestral /dbrx /dolphin-mistral /dolphin-mixtral /exaone-deep": 32768,
    "/aya /aya-expanse /command-r7b /dolphin-llama3 /gemma /gemma-2 /granite-code-20b": 8192,
    "/codebooga /codellama /deepseek-coder /dolphincoder /duckdb-nsql /magicoder": 16384,
    "/codegeex4 /cogito /deepscaler /deepseek-coder-v2 /deepseek-r1 /devstral /dolphin3": 128000,
    "/codeqwen /dolphin-mixtral-8x22b /wizardlm2-8x22b": 65536,
    "/codeup /deepseek-llm /goliath /granite-3-dense /granite-3-moe /llama-2-chinese": 4096,
    "/exaone3-5 /falcon3 /gemma-3-1b /gemma-3:270m /gemma-3n /internlm2 /llava /marco-o1": 32768,
    "/gemma-3 /glm4 /gpt-oss /granite-3-1-dense /granite-3-1-moe /granite-3-2 /granite-3-3": 128000,
    "/granite-code /hermes3 /llama-3-1 /llama-3-2 /llama-3-2-vision /llama-3-3": 128000,
    "/granite-code-34b /llama-3-chatqa /llama-3-groq-tool-use /llava-llama3 /openchat": 8192,
    "/llama-3-gradient /llama-4": 1048576,
    "/llama-guard3 /mistral-small-3-1 /nemotron /phi-3 /phi-3-5 /qwen-2-5vl /reflection": 128000,
    "/llama-pro /llava-13b /llava-34b /llava-phi3 /medllama2 /megadolphin /nemotron-mini": 4096,
    "/magistral /qwen-3 /qwq": 40960,
    "/mathstral /minicpm-v /mistral /mistral-openorca /mistral-small /mixtral /neural-chat": 32768,
    "/nexusraven /phind-codellama /stable-code /starcoder2 /wizardcoder": 16384,
    "/notus /notux /nous-hermes2-mixtral /openhermes /openthinker /phi-4-reasoning /qwen": 32768,
    "/nous-hermes /nous-hermes2 /olmo2 /open-orca-platypus2 /opencoder-1-5b /orca2": 4096,
    "/opencoder /shieldgemma /smollm2 /starling-lm": 8192,
    "/orca-mini /phi /smollm /tinyllama /wizard-vicuna /wizard-vicuna-uncensored": 2048,
    "/qwen-2 /qwen-2-0-5b /qwen-2-1-5b /qwen-2-5-14b /qwen-2-5-32b /qwen-2-5-72b": 32768,
    "/qwen-2-5-7b /qwen-2-72b /qwen-2-7b /sailor2 /samantha-mistral /smallthinker": 32768,
    "/qwen-2-math /solar /solar-pro /stable-beluga /stablelm-zephyr /stablelm2": 4096,
    "/sqlcoder /wizardlm2 /zephyr": 32768,
    "/tinydolphin /wizardlm-uncensored /xwinlm /yi": 4096,
    "/tulu3 /yi-coder": 128000
  },
  "olmo": {
    "-1-7-7b -1b -7b": 2048,
    "-2- -2-0325-32b -2-1124-13b -2-1124-7b": 4096,
    "-3-32b-think": 65536,
    "-3-7b -3-7b-think": [32768, null, 4096],
    "-7b-twin-2t": 2047
  },
  "olmoe-1b-7b": 4096,
  "omnilmm-12b": 2048,
  "oolel-v0-1": 32768,
  "open": {
    "-calm-3b _llama- _llama_13b _llama_3b _llama_3b_v2 _llama_7b": 2048,
    "-codestral-mamba": 256000,
    "-mistral-7b": [32000, null, 8000],
    "-mistral-nemo": 128000,
    "-mixtral-8x22b": 64000,
    "-mixtral-8x7b": 32000
  },
  "openbuddy-llama2-13b-v11-1": 2048,
  "openchat": {
    "- -3-5 -3-5-0106-7b -3-6-8b": 8192,
    "_3-5": 4096
  },
  "opencode_go/hy3": 192000,
  "opencoder-8b": 8192,
  "opencsg_-_csg-wukong-1b-chat-v0-1": 32768,
  "openflamingo-9b-vitl-mpt7b": 2048,
  "openhermes": {
    "-2-5-mistral-7b -2-mistral-7b": 32768
  },
  "openinfer": {
    "/@oi/glm-5.3-flash": 393216,
    "/@oi/qwen3.5-27b": 32768,
    "/@oi/qwen3.5-9b": 100000
  },
  "openmath2-llama3-1-8b": 131072,
  "openorca-7b": 32768,
  "openrouter": {
    "/anthropic/claude-sonnet-4 /anthropic/claude-sonnet-4.5": [1000000, null, 64000],
    "/deepseek/deepseek-chat": [163840, null, 16000],
    "/deepseek/deepseek-chat-v3-0324 /deepseek/deepseek-v3.2 /deepseek/deepseek-v3.2-exp": [163840, null, 65536],
    "/deepseek/deepseek-coder": [66000, null, 4096],
    "/deepseek/deepseek-r1-0528": [163840, null, 32768],
    "/deepseek/deepseek-r1-distill-llama-70b /meta-llama/codellama-34b-instruct": 8192,
    "/deepseek/deepseek-v3.1-terminus /meta-llama/llama-guard-4-12b": 163840,
    "/google/gemini-3-pro-image-preview": [65536, null, 32768],
    "/google/gemini-3.1-flash-image /qwen/qwen3-vl-8b-thinking": [131072, null, 32768],
    "/google/gemini-omni-1.1-flash /inclusionai/ling-3.0-flash-vl": 131072,
    "/google/gemini-pro-1.5": [1000000, null, 8192],
    "/google/gemini-pro-vision": 45875,
    "/google/gemma-3-27b-it /morph/morph-v3-large": [262144, null, 131072],
    "/gryphe/mythomax-l2-13b": [8192, null, 4096],
    "/liquid/lfm-2.5-2.6b:free": 65536,
    "/meta-llama/llama-3.2-1b-instruct": 60000,
    "/meta-llama/llama-4-maverick": [1048576, null, 16384],
    "/meta-llama/llama-4-scout": [1310720, null, 16384],
    "/minimax/minimax-m3:batch /thinkingmachines/inkling": 524288,
    "/mistralai/mistral-7b-instruct": 8192,
    "/mistralai/mistral-medium-3 /nousresearch/hermes-4-405b /nousresearch/hermes-4-70b": 131072,
    "/mistralai/mistral-small-3.2-24b-instruct": [256000, null, 16384],
    "/morph/morph-v3-fast": [81920, null, 38000],
    "/nvidia/nemotron-3-super-120b-a12b": [1000000, null, 16384],
    "/nvidia/nemotron-3-super-120b-a12b:free /qwen/qwen3-next-80b-a3b-instruct": 262144,
    "/nvidia/nemotron-3-ultra-550b-a55b": [512288, null, 16384],
    "/nvidia/nemotron-3-ultra-550b-a55b:free /nvidia/nemotron-3.5-lightning:free": [1000000, null, 65536],
    "/nvidia/nemotron-3.5-super-vl /ricursiveai/ripple-65b-preview": 1048576,
    "/openai/gpt-chat-latest": [400000, 272000, 128000],
    "/openrouter/auto /x-ai/grok-4.20 /x-ai/grok-4.20-multi-agent": 2000000,
    "/openrouter/pareto-code": [2000000, null, 200000],
    "/poolside/laguna-s-2.1:free /qwen/qwen3-vl-235b-a22b-instruct": [262144, null, 32768],
    "/qwen/qwen-plus": [1000000, null, 32768],
    "/qwen/qwen-vl-plus": [8192, null, 2048],
    "/qwen/qwen2.5-vl-72b-instruct /z-ai/glm-5.2:free": 128000,
    "/qwen/qwen3-30b-a3b-thinking-2507": [81920, null, 32768],
    "/qwen/qwen3-vl-30b-a3b-thinking": [262144, null, 32768],
    "/qwen/qwen3.6-27b /qwen/qwen3.7-plus:batch": 262144,
    "/qwen/qwen3.6-plus": [1000000, null, 65536],
    "/stepfun/step-3.7-flash": [262144, 256000, 256000],
    "/thinkingmachines/inkling:free /z-ai/glm-5.3-flash:batch": 1048576,
    "/z-ai/glm-5.3-flash": 1310720,
    "/~moonshotai/kimi-latest": [1048576, null, 974842]
  },
  "openthaigpt": {
    "- -1-0-0-13b -1-0-0-70b -1-0-0-7b": 4096,
    "1-5-7b": 32768
  },
  "openthaillm-prebuilt-7b": 4096,
  "openthinker-7b": [32768, null, 8192],
  "opt": {
    "- -1-3b -125m -13b -175b -2-7b -30b -350m -6-7b -66b": 2048
  },
  "orca": {
    "-2- -2-13b -2-7b -mini": 4096,
    "_mini- _mini_13b _mini_3b _mini_7b": 2048
  },
  "orion": {
    "- -14b -14b-chat-rag": 4096
  },
  "oswe": {
    "- -vscode-prime -vscode-secondary": 264000
  },
  "ovhcloud": {
    "/mistral-nemo-instruct-2407": 118000,
    "/qwen3-32b": 32000
  },
  "paligemma": {
    "- -3b-mix-224 -3b-mix-448": 7167
  },
  "palm": {
    "-2-chat-bison": 25804,
    "-2-codechat-bison": 20070,
    "/chat-bison": 4096
  },
  "palmyra": {
    "-base -large -vision-003": 2048,
    "-fin": 128000,
    "-fin-32k -med -med-32k": 32000,
    "-vision-7b": 4096,
    "-x": 8192,
    "-x-32k": 28000,
    "-x-v2 -x-v3": 6000,
    "-x4": [128000, null, 8192],
    "-x5": [1040000, null, 8192],
    "-x5-v1-bedrock": 1040000
  },
  "pareto": {
    "-26.10 -latest": 1048576,
    "-26.9": 262144,
    "-code": [200000, null, 65536]
  },
  "particle-1": 1048576,
  "pathumma-llm-text-1-0-0": 131072,
  "peagle-9b": 32768,
  "pegasus-1-5": [261120, null, 98304],
  "perceptron": {
    "-mk1": [32768, null, 8192],
    "-mk1.5": 36864
  },
  "perplexity/mixtral-8x7b-instruct": 4096,
  "phi": {
    "- -3-small-128k": 128000,
    "-1 -1_5 -2 -2-3b": 2048,
    "-3-5-mini -3-5-moe -3-5-vision -3-5-vision-instrust -3-medium-128k -3-mini-128k": 131072,
    "-3-medium-4k -3-mini-4k": 4096,
    "-3-small-8k": 8192,
    "-3-vision-128k": 131072,
    "-4": 16384,
    "-4-mini -4-mini-reasoning": [128000, null, 4096],
    "-4-multimodal": [128000, null, 16384],
    "-4-reasoning -4-reasoning-plus": [32000, null, 4096]
  },
  "phind": {
    "- -code-llama-34b-python-v1 -code-llama-34b-v1 -code-llama-34b-v2": 16384,
    "-codellama-34b-v2": [16384, null, 4096]
  },
  "phogpt": {
    "-4b": 8192,
    "-7b5": 2048
  },
  "pinstripes": {
    "/ps/deepseek-v4-flash": 163840,
    "/ps/qwen3.6-35b-a3b": 131072
  },
  "pixtral": {
    "- -12b -large": 128000
  },
  "platypus2-70b": 4096,
  "polish-gpt2-small": 2048,
  "pplx": {
    "-70b -70b-online -7b-online": 4096,
    "-7b": 8192,
    "-decider- -decider-v1-27b -decider-v1.1-27b": 262144
  },
  "pro": {
    "-128k -deepseek-r1 -deepseek-v3": 131072
  },
  "progen": {
    "2": 2048,
    "2-small": 1024
  },
  "prometheus": {
    "-7b-v2-0": 32768,
    "-vision-13b-v1-0": 2048
  },
  "ptt5-base-portuguese-vocab": 512,
  "publicai": {
    "/aisingapore/gemma-sea-lion-v4-27b-it": 8192,
    "/allenai/olmo-3-32b-think": 32768
  },
  "pythia": {
    "- -1-4b -1-4b-deduped -12b -12b-v0 -14m-deduped -160m -160m-data-seed1": 2048,
    "-160m-data-seed2 -160m-data-seed3 -160m-deduped -160m-seed1 -160m-seed2 -160m-seed3": 2048,
    "-160m-seed4 -160m-seed5 -160m-seed6 -160m-weight-seed1 -160m-weight-seed2": 2048,
    "-160m-weight-seed3 -1b -1b-deduped -1b-v0 -2-8b -2-8b-deduped -2-8b-v0 -410m": 2048,
    "-410m-deduped -410m-seed1 -410m-seed2 -6-9b -70m -70m-deduped 410m-sft-tldr": 2048
  },
  "qianfan": {
    "-70b -8b -agent-intent-32k -composition": 32768,
    "-agent-lite-8k": 8192,
    "-engcard-vl": 4096,
    "-qi-vl": 131072
  },
  "quyen": {
    "-mini-v0-1 -plus-v0-1 -pro-max-v0-1 -pro-v0-1 -se-v0-1 -v0-1": 32768
  },
  "qvq": {
    "-72b-preview": 32768,
    "-max -plus": 131072
  },
  "qwen": {
    "-1-5-0-5b -1-5-1-8b -1-5-110b -1-5-14b -1-5-32b -1-5-4b -1-5-72b -1-5-7b": 32768,
    "-1-5-moe-a2-7b -1_8b -3-omni-30b-a3b -image- -image-2-0 -image-2-0-pro": 8192,
    "-1-5-moe-a2-7b-chat -14b -1_8b-chat -2-0-5b-instruct -2-1-5b-instruct -2-5-0-5b": 32768,
    "-2-0-5b -2-1-5b -2-5-14b -2-5-32b -2-5-72b-instruct-128k -2-5-coder-32b-instruct-128k": 131072,
    "-2-5-1-5b -2-5-1-coder-7b -2-5-14b-instruct -2-5-32b-instruct": 32768,
    "-2-5-14b-instruct-1m -long 3.7- 3.8- 3.8-flash": 1000000,
    "-2-5-32b-instruct-abliterated -2-5-3b -2-5-72b-instruct-abliterated": 32768,
    "-2-5-72b-instruct-turbo -2-5-7b-instruct-abliterated-v2 -2-5-7b-instruct-uncensored": 32768,
    "-2-5-coder-0-5b -2-5-coder-1-5b -2-5-coder-14b -2-5-coder-32b-instruct-32k-rope": 32768,
    "-2-5-coder-32b-instruct-64k -3-omni- -3-omni-30b-a3b-captioner -3-omni-flash": 65536,
    "-2-5-coder-3b -2-5-coder-7b -2-5-coder-7b-instruct-uncensored -2-5-omni-7b -2-5-sex": 32768,
    "-2-5-math- -2-5-math-1-5b -2-5-math-72b -2-5-math-7b -2-audio-7b-instruct -2-math-": 4096,
    "-2-5-vl-32b -2-5-vl-3b -3-32b 2.5-vl 3-235b-a22b": 128000,
    "-2-5-vl-7b -2-57b-a14b -2-72b -2-7b -2.5-72b -2.5-7b -25-coder-32b": 131072,
    "-2-57b-a14b-instruct -2-72b-instruct -2-7b-instruct -2-audio-7b -2-vl-2b -2-vl-7b": 32768,
    "-2-math-72b -2-math-7b -math- -math-plus -math-turbo -mt-plus -vl-chat-int4": 4096,
    "-2-vl-72b -vl-max-latest -vl-plus-latest 2.5-vl-72b": 32000,
    "-2.5 -2.5-7b-instruct -2.5-coder -2.5-coder-32b -3-0-6b -3-1-7b -3-30b-a3b-fp8 -3-4b": 32768,
    "-2.5-72b-instruct": [32768, null, 16384],
    "-3-1-7b-fp8-draft -3-5-4b -3-5-omni-flash -3-5-omni-plus -3-coder-480b-cloud": 262144,
    "-3-1-7b-fp8-draft-131072 -coder- -coder-plus -coder-turbo -vl-max -vl-plus": 131072,
    "-3-1-7b-fp8-draft-40960 -3-235b-a22b-fp8-tput 3-235b 3-30b": 40960,
    "-3-235b-a22b-fp8": [40960, null, 20000],
    "-3-235b-a22b-instruct-2507 3-vl-30b-a3b-instruct": [262144, null, 8192],
    "-3-5-0-8b -3-5-2b 3-vl-8b": [32768, null, 8192],
    "-3-8-max-preview 3.8-2.4t-a95b 3.8-max": [1000000, null, 131072],
    "-3-coder-480b-a35b-instruct-int4-mixed-ar": [106000, null, 10600],
    "-3-coder-480b-a35b-instruct-turbo": [256000, null, 66536],
    "-3-max-preview": 258048,
    "-3-vl-flash -3.8-27b 3-235b-a22b-instruct-2507-tput 3-30b-a3b-instruct-2507": 262144,
    "-35-122b-a10b": [262144, null, 25000],
    "-3guard-gen-0-6b -3guard-gen-8b": [32768, null, 32000],
    "-72b -7b -omni-turbo -qwq-32b-preview 2.5-7b-instruct-turbo": 32768,
    "-audio": 2048,
    "-coder -turbo-latest": [1000000, null, 16384],
    "-flash": [1000000, null, 32768],
    "-max": 30720,
    "-mt-turbo": [16384, null, 8192],
    "-omni-turbo-realtime": [32768, null, 2048],
    "-plus": [129024, null, 16384],
    "-plus-character-ja": [8192, null, 512],
    "-plus-latest": [997952, null, 32768],
    "-sea-lion-v4-32b": [32768, null, 4096],
    "-turbo 3-30b-a3b": 129024,
    "-vl": 8191,
    "-vl-chat-v1 -vl-v1": 8000,
    "3- 3-235b-a22b-2507 3-next-80b-a3b": 256000,
    "3-14b 3.6-27b": [131072, null, 16384],
    "3-235b-a22b-thinking-2507 3-30b-a3b-thinking-2507": [262144, null, 131072],
    "3-8b": [131072, null, 8192],
    "3-asr-flash 3-livetranslate-flash-realtime": [53248, null, 4096],
    "3-coder 3-max 3.5-27b 3.5-35b-a3b 3.5-397b-a17b 3.6-max-preview": [262144, null, 65536],
    "3-coder-30b-a3b 3-next-80b-a3b-instruct": 131072,
    "3-coder-30b-a3b-instruct 3-coder-480b-a35b 3-coder-next 3-vl 3-vl-235b 3.5-397b": 262144,
    "3-coder-480b": [262144, null, 4096],
    "3-coder-flash 3.5-flash 3.5-plus 3.6-flash 3.7-max 3.7-plus": [1000000, null, 65536],
    "3-coder-plus": [1048576, null, 65536],
    "3-omni-flash-realtime": [65536, null, 16384],
    "3-vl-235b-a22b 3-vl-30b-a3b 3-vl-32b": [131072, null, 32768],
    "3-vl-8b-instruct 3-vl-plus": [262144, null, 32768],
    "3.5-122b-a10b": [262144, null, 81920],
    "3.5-9b 3.6-35b-a3b 3.6-plus": 262144,
    "3.6-35b": [256000, null, 32768],
    "3.7-flash": [1000000, 991000, 65536],
    "3.8-max-prime": 1048576,
    "3.8-omni-flash": [991808, null, 131072],
    "_ai_platform/kimi-k2.7-code": 229376
  },
  "qwencloud/kimi-k2.7-code": 229376,
  "qwerky": {
    "-72b": [32768, null, 8192],
    "-qwq-32b": [32768, null, 4096]
  },
  "qwq": {
    "-32b": [131072, null, 8192],
    "-32b-preview _32b": 32768,
    "-plus": 98304
  },
  "r1": {
    "": [128000, null, 32768],
    "-1776": 127072
  },
  "r1v4-lite": [262144, null, 65536],
  "redpajama": {
    "- -incite-base-3b-v1 -incite-base-7b -incite-instruct-3b-v1 -incite-instruct-7b": 2048
  },
  "reflection-llama-3-1-70b": 8192,
  "reformer-crime-and-punishment": 524288,
  "reka": {
    "-core": 32000,
    "-core- -core-20240415 -core-20240501 -flash-20240226": 128000,
    "-edge": 16384,
    "-edge-20240208": 64000,
    "-flash": 100000,
    "-flash-3": 65536
  },
  "relace": {
    "-": 256000,
    "-apply-3 -search": [256000, null, 128000]
  },
  "remm-slerp-l2-13b": 6144,
  "replit-code-v1-5-3b": 4096,
  "retnet-1-3b-100b": 2048,
  "rho-1b-sft-math": 2048,
  "ring": {
    "- -1t -flash-2-0 -mini-2-0": 128000,
    "-2.6-1t": [262144, null, 65536]
  },
  "ripple-65b-preview": 131072,
  "rnj-1": 32768,
  "rocinante-12b": 65536,
  "ruadapt_qwen2-5_7b_ext_u48": 32768,
  "sabia": {
    "- -3 -3-1": 128000,
    "-7b": 2048
  },
  "sabiazinho-3": 32000,
  "saiga_llama3_8b": 8192,
  "sailor": {
    "-0-5b -14b -7b": 32768
  },
  "sakana-namazu": [262144, null, 65536],
  "salamandra": {
    "-7b": 8192,
    "-7b-instruct-tools-16k": [16384, null, 4096]
  },
  "sambalingo": {
    "- -thai-base -thai-base-70b -thai-chat -thai-chat-70b": 4096
  },
  "sambanova": {
    "/deepseek-r1 /deepseek-v3-0324 /deepseek-v3.2": 32768,
    "/gemma-4-31b-it": 131072,
    "/llama-4-scout-17b-16e-instruct /qwen3-32b": 8192,
    "/meta-llama-3.1-405b-instruct /meta-llama-3.1-8b-instruct /meta-llama-3.2-1b-instruct": 16384,
    "/meta-llama-3.2-3b-instruct": 4096,
    "/meta-llama-guard-3-8b /qwq-32b": 16384
  },
  "santacoder": 2048,
  "sarvam": {
    "-1 -m": 8192,
    "-105b": 131072,
    "-30b": [65536, null, 4096]
  },
  "saul-7b-instruct-v1": 32768,
  "scaleway": {
    "/deepseek-v4-flash-0731 /glm-5.2": 256000,
    "/qwen/qwen3-coder-30b-a3b-instruct": 128000
  },
  "schematron": {
    "- -v2-small -v2-turbo": 128000
  },
  "sea-lion-7b": 2048,
  "seallm": {
    "- -7b-v2 -7b-v2-5": 8192
  },
  "seallms-v3-7b": 131072,
  "seed": {
    "- -oss-36b": 256000,
    "-1-8": [256000, null, 64000],
    "-1.6 -1.6-flash": [262144, null, 32768],
    "-2-0-pro": [256000, null, 128000],
    "-2-1-turbo": 262144,
    "-2.0-code": [256000, null, 131072],
    "-2.0-lite": [262144, null, 131072],
    "-2.0-mini": [256000, null, 32000]
  },
  "sexygpt-uncensored": 1024,
  "shisa-gamma-7b-v1": 32768,
  "silk-road": 8192,
  "silma-9b-instruct-v1-0": 8192,
  "skyfall-36b-v2": 32768,
  "skywork": {
    "- -13b -13b-math": 4096
  },
  "smollm": {
    "- -1-7b -135m -360m": 2048,
    "2- 2-1-7b 2-135m 2-360m": 8192
  },
  "smolvlm-instruct": 16384,
  "snorkel-mistral-7b-pairrm-dpo": 32768,
  "snowflake": {
    "-arctic": 4096,
    "-llama-3-1-405b /snowflake-llama-3.3-70b": 8000,
    "-llama-3-3-70b": [128000, null, 16384],
    "/claude-3-5-sonnet": 18000,
    "/claude-sonnet-4-6": 200000,
    "/deepseek-r1": 32768,
    "/mistral-large": 32000,
    "/openai-gpt-4.1 /openai-gpt-5": 300000
  },
  "solar": {
    "-0-70b-16bit -10-7b-instruct-v1-0 -pro-preview-instruct": 4096,
    "-mini -mini-ja -pro": 32768,
    "-mini4": 524288,
    "-pro-3": 131072,
    "-pro2": [65536, null, 8192],
    "-pro3": [131072, null, 8192],
    "-pro4": [524288, null, 131072]
  },
  "sonar": {
    " -reasoning-pro": [128000, null, 4096],
    "-deep-research": [128000, null, 32768],
    "-medium-chat -small-chat": 16384,
    "-medium-online -small-online": 12000,
    "-pro": [200000, null, 8192],
    "-pro-search": [200000, null, 8000],
    "-reasoning": 128000
  },
  "spark": {
    "-x1-5": 65535,
    "-x2": 131072,
    "-x2-flash": 262144
  },
  "spot-deepseek-v4-flash": [1048576, null, 384000],
  "sqlcoder-7b-2": 16384,
  "stable": {
    "- -code-3b -code-instruct-3b": 16384
  },
  "stablebeluga": {
    "- -13b -7b 2": 4096
  },
  "stablecode-3b": 4096,
  "stablelm": {
    "- -3b-4e1t -base-alpha-7b -tuned-alpha-3b -tuned-alpha-7b -zephyr-3b": 4096,
    "-base-alpha-3b": 2048
  },
  "stanford": {
    "-alpaca-7b": 2048,
    "-online-all-v4-s3": 8192
  },
  "starchat": {
    "- -alpha -beta": 8192
  },
  "starcoder": {
    " -16b -7b": 8192,
    "2- 2-15b 2-15b-instruct-v0-1 2-3b 2-7b": 16384
  },
  "starcoderbase": 8192,
  "starcoderplus": 8192,
  "starling": {
    "- -lm-7b-alpha -lm-7b-beta": 8192
  },
  "step": {
    "-1-128k": 128000,
    "-1-256k -3- -3.5-flash -3.7-flash": 256000,
    "-1-32k": 32768,
    "-1-5v-mini -1o-turbo-vision -1o-vision-32k -1v-32k": 32000,
    "-1-8k -1-flash -1v-8k -2-mini": 8000,
    "-2-16k": 16384,
    "-2-16k-exp": 16000,
    "-3": 64000,
    "-5-preview": [1048576, null, 65536],
    "-r1-v-mini": 100000
  },
  "streamlake": {
    "/deepseek-v3": 56000,
    "/deepseek-v3.1": 98304,
    "/kimi-k2-instruct-0905": 224000,
    "/qwen3.6-35b-a3b": 229376
  },
  "stripedhyena": {
    "-hessian-7b -nous-7b": 32768
  },
  "summarize": 1000000,
  "suzume-llama-3-8b-multilingual": 8192,
  "t0pp": 1024,
  "t5_paraphrase_paws": 512,
  "taichu": {
    "4_vl_2b_nothinking 4_vl_32b 4_vl_32b_nothinking 4_vl_3b _llm _llm_14b _llm_2b _o1": 32768
  },
  "teenytinyllama-460m": 2048,
  "telechat": {
    "- -12b -52b -7b": 8192
  },
  "tensormesh": {
    "/deepseek-ai/deepseek-v4-flash /google/gemma-4-31b-it /moonshotai/kimi-k2.6": 32768
  },
  "ternary": {
    "- -bonsai-2-27b -bonsai-2-9b -bonsai-27b": 262144
  },
  "tess-2-0-llama-3-8b": 8192,
  "tev1-4b-experimental": 32768,
  "text": {
    "-ada-001 -babbage-001 -curie-001": 2049,
    "-bison": [8192, null, 2048],
    "-bison-32k": 32000,
    "-bison-safety-": 8192,
    "-bison-safety-off -bison-safety-recitation-off -bison32k -unicorn": [8192, null, 1024],
    "-davinci- -davinci-002 -davinci-003": 4096
  },
  "textgeneration": {
    "- -llama-2-13b -llama-2-13b-f -llama-2-70b -llama-2-70b-b-f -llama-2-7b -llama-2-7b-f": 4096
  },
  "tiny": {
    "-llm": 1024,
    "-lm": 2048,
    "-mixtral": 131072
  },
  "tinyllama": {
    "- -1-1b-chat-v0-3 -1-1b-chat-v1-0 -1-1b-chat-v1-0-marlin": 2048,
    "-1-1b-intermediate-step-1195k-token-2-5t -1-1b-intermediate-step-1431k-3t": 2048,
    "-1-1b-step-50k-105b -bnb-4bit -chat-bnb-4bit -oneshot-w4a16-channel-v2": 2048,
    "-oneshot-w4a16-group128-v2 -oneshot-w8a8-channel-dynamic-token-v2": 2048,
    "-oneshot-w8a8-dynamic-token-v2 -oneshot-w8w8-test-static-shape-change -v0 _v1-1": 2048
  },
  "tinystories-656k": 512,
  "tipo": {
    "- -200m-ft -500m": 2048
  },
  "titan": {
    "-text-express-v1": [8192, null, 8000],
    "-text-lite-v1": [4096, null, 4000],
    "-text-premier-v1:0": [42000, null, 32000]
  },
  "titulm-llama-3-2-3b-v2-0": 262144,
  "tofu_ft_phi-1-5": 2048,
  "together": {
    "-ai-8.1b-21b": 1000,
    "/deepcogito/cogito-v2-1-671b": 163840,
    "/deepseek-ai/deepseek-r1": 163839,
    "/deepseek-ai/deepseek-r1-distill-qwen-1.5b /deepseek-ai/deepseek-r1-distill-qwen-14b": 131072,
    "/deepseek-ai/deepseek-v4-pro": [512000, null, 384000],
    "/deepseek-ai/deepseek-v4-pro-0813": [1048576, null, 384000],
    "/meta-llama/llama-3.1-405b-instruct": 4096,
    "/meta-llama/llama-4-scout-17b-16e-instruct": 1048576,
    "/meta-llama/meta-llama-3.1-8b /qwen/qwen2.5-coder-32b-instruct": 16384,
    "/minimaxai/minimax-m3": [524288, null, 250000],
    "/nvidia/llama-3.1-nemotron-70b-instruct-hf": 32768,
    "/nvidia/nemotron-3-ultra-550b-a55b": 512300,
    "/pearl-ai/gemma-4-31b-it": 32000,
    "/qwen/qwen2.5-72b-instruct-turbo": 131072,
    "/qwen/qwen3-next-80b-a3b-instruct /qwen/qwen3-vl-32b-instruct": 262144,
    "/qwen/qwen3.6-plus": [1000000, null, 500000],
    "/thinkingmachines/inkling": [524288, null, 131072]
  },
  "toppy-m-7b": 32768,
  "transformer-1-3b-100b": 2048,
  "trinity": {
    "-large-thinking": 262144,
    "-mini": 131072
  },
  "truthful_dpo_tomgrc_fusionnet_7bx2_moe_13b": 32768,
  "tucano": {
    "-1b1 -630m": 2048,
    "-2b4": 4096
  },
  "turkish-gpt2": 1024,
  "tw3-jrgl-v2": 32768,
  "typhoon": {
    "-7b": 4096,
    "-v1-5-72b": 32768,
    "-v1-5-8b": 8192
  },
  "ui-tars-1.5-7b": [128000, null, 2048],
  "ultramarine-1-flash-us": 1048576,
  "umans": {
    "-": 262144,
    "-coder -flash -kimi-k2-7": [262144, null, 32768],
    "-deepseek-": 1048576,
    "-deepseek-v4-flash -deepseek-v4-pro": [1048576, null, 393215],
    "-glm-5-1": [204800, null, 131072],
    "-glm-5-2": [405504, null, 131072],
    "-kimi-k3": [1048576, null, 131072]
  },
  "unslopnemo-12b": 1024000,
  "ura": {
    "-llama-13b -llama-70b -llama-7b": 4096,
    "-llama-2-1-8b": 131072,
    "-llama-2-8b": 8192
  },
  "v0": {
    "- -1-0-md -1-5-md": 128000,
    "-1-5-lg": 512000
  },
  "v3": {
    " -1": [128000, null, 8000],
    "-2": [163840, null, 81920]
  },
  "vercel": {
    "_ai_gateway/alibaba/qwen-3-14b _ai_gateway/alibaba/qwen-3-32b": 40960,
    "_ai_gateway/anthropic/claude-opus-4.6": 200000,
    "_ai_gateway/mistral/mistral-large": 32000
  },
  "vertex": {
    "_ai-chat-models/chat-bison": 4096,
    "_ai-language-models/deep-research-pro-preview-12-2025": 65536,
    "_ai-language-models/gemini-pro": 30720,
    "_ai-language-models/vertex_ai/deep-research-pro-preview-12-2025": 65536,
    "_ai-mistral_models/vertex_ai/codestral-2501": 128000,
    "_ai-mistral_models/vertex_ai/mistral-medium-3": 128000,
    "_ai-mistral_models/vertex_ai/mistralai/mistral-medium-3": 128000,
    "_ai-vision-models/gemini-1.0-pro-vision-001 _ai-vision-models/gemini-pro-vision": 16384,
    "_ai/xai/grok-4.1-fast-non-reasoning _ai/xai/grok-4.1-fast-reasoning": 128000,
    "_ai/xai/grok-4.3": 200000
  },
  "vicuna": {
    " -13b-v1-1 -13b-v1-3 -13b-v1-3-0 -33b -33b-v1-3 -7b-v1-1 -7b-v1-3": 2048,
    "-13b-v1-5 -7b-v1-5": 4096,
    "-13b-v1-5-16k -7b-v1-5-16k": 16384
  },
  "vietcuna": {
    "- -3b-v2 -7b-v3": 2048
  },
  "vikhr": {
    "-7b-0-1": 32768,
    "-llama-3-2-1b": 262144,
    "-nemo-12b-instruct-r-21": 1024000
  },
  "vinallama": {
    "- -2-7b -7b": 4096
  },
  "virtuoso-large": [131072, null, 64000],
  "vistral-7b": 32768,
  "vlm2vec-full": 131072,
  "voxtral": {
    "-mini-2602 -mini-latest": 16384,
    "-mini-3b": [32768, null, 8192],
    "-small-24b -small-2507": 32768,
    "-small-latest": 32000
  },
  "w4a16": 131072,
  "wan": {
    "2- 2-7-image 2-7-image-pro": 8192
  },
  "wandb": {
    "/deepseek-ai/deepseek-v4-flash-0731 /minimaxai/minimax-m3": 262000,
    "/nvidia/nvidia-nemotron-3-ultra-550b-a55b /zai-org/glm-5.2": 262000
  },
  "watsonx/mistralai/mistral-small-2503": 32000,
  "weaver": [8000, null, 6000],
  "whiterabbitneo-2-5-qwen-2-5-coder-7b": 32768,
  "wiedervereinigung-7b-dpo": 32768,
  "wizard": {
    "- -vicuna-13b-uncensored -vicuna-30b-uncensored": 2048
  },
  "wizardcoder": {
    "- -python-13b-v1-0 -python-34b-v1-0 -python-7b-v1-0": 16384,
    "-15b-v1-0": 8192
  },
  "wizardlm": {
    "-13b-v1-0-uncensored -30b-v1-0 -7b- -7b-uncensored -7b-v1-0 -7b-v1-0-uncensored": 2048,
    "-13b-v1-2 -70b-v1-0": 4096,
    "-2-7b": 32768,
    "-2-8x22b": [65535, null, 8000]
  },
  "wizardmath": {
    "- -13b-v1-0 -70b-v1-0 -7b-v1-0": 2048
  },
  "xgen": {
    "- -7b-8k -7b-8k-inst": 8192
  },
  "xiaomi-mimo-v2-5": [1048576, null, 131072],
  "xing4.0-29b-a4b": 262144,
  "xlam-8x22b-r": 65536,
  "xverse": {
    "- -13b -65b -7b": 2048
  },
  "xwin": {
    "- -lm-13b-v0-1 -lm-70b-v0-1": 4096
  },
  "yalm": 2048,
  "yi": {
    "-1-5-34b -1-5-6b -1-5-9b -34b -6b -9b -vl- -vl-34b -vl-6b": 4096,
    "-1-5-34b-chat-16k -1-5-9b-chat-16k -large- -large-preview -large-rag -large-turbo": 16384,
    "-34b- -34b-200k -34b-200k-capybara -6b-200k -medium-200k": 200000,
    "-coder- -coder-1-5b -coder-9b": 131072,
    "-large -large-fc": 32768,
    "-lightning -lightning-lite -medium -spark -vision -vision-v2": 16384
  },
  "youtu-vita": 256000,
  "zai-glm-5": [1048576, null, 131072],
  "zephrp-m7b": 32768,
  "zephyr": {
    "-7b-alpha": 8192,
    "-7b-beta": 32768
  },
  "zerogpu": {
    "/gpt-5.6-luna /gpt-6-luna": 400000
  }
}
"""
