"""The known providers of models, one entry each.

Most ``plain`` ones speak OpenAI's protocol and are called directly; the others need litellm.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

#: Settings that mean the same to all plain providers, and to litellm.
_COMMON = frozenset({"top_p", "stop", "frequency_penalty", "presence_penalty", "extra_headers"})


@dataclass(frozen=True, slots=True)
class Provider:
    """A provider; pages offer a field for its key if it has a ``title``.

    ``addresses`` and ``keys`` are alternative variables, the usual key first. ``sign_ins`` are
    further variables from which only litellm takes a key or another sign-in. ``thinking`` and
    ``logprobs``: all of its models accept these settings unchanged. ``open``: litellm calls and
    prices unlisted models the same way. ``batches``: its batches, at half the price, are supported
    here. ``plain``: it is called directly.
    """

    title: str = ""
    base: str = ""
    addresses: tuple[str, ...] = ()
    keys: tuple[str, ...] = ()
    sign_ins: tuple[str, ...] = ()
    limit: str = "max_tokens"
    params: frozenset[str] = _COMMON | {"seed"}
    thinking: bool = False
    logprobs: bool = False
    open: bool = False
    batches: bool = False
    plain: bool = True


def _through_litellm(title: str, host: str, key: str, *sign_ins: str) -> Provider:
    """Return a provider that only litellm reaches."""
    return Provider(title, host and f"https://{host}", (), (key,), sign_ins, plain=False)


KNOWN: dict[str, Provider] = {
    "openai": Provider(
        "OpenAI",
        "https://api.openai.com/v1",
        ("OPENAI_BASE_URL", "OPENAI_API_BASE"),
        ("OPENAI_API_KEY",),
        limit="max_completion_tokens",
        thinking=True,
        logprobs=True,
        batches=True,
    ),
    # Anthropic has its own protocol, which can also be called directly.
    "anthropic": Provider(
        "Anthropic",
        "https://api.anthropic.com",
        ("ANTHROPIC_API_BASE", "ANTHROPIC_BASE_URL"),
        ("ANTHROPIC_API_KEY",),
        ("ANTHROPIC_AUTH_TOKEN",),
        params=frozenset({"top_p", "top_k"}),
        batches=True,
    ),
    "gemini": _through_litellm(
        *("Google Gemini", "generativelanguage.googleapis.com", "GEMINI_API_KEY"), "GOOGLE_API_KEY"
    ),
    # Mistral's name for the seed is random_seed.
    "mistral": Provider(
        "Mistral",
        "https://api.mistral.ai/v1",
        keys=("MISTRAL_API_KEY",),
        params=_COMMON,
        open=True,
        batches=True,
    ),
    "azure": Provider(
        "Azure OpenAI",
        "",
        ("AZURE_API_BASE",),
        ("AZURE_API_KEY",),
        ("AZURE_OPENAI_API_KEY", "AZURE_AD_TOKEN", "AZURE_CLIENT_SECRET"),
        params=_COMMON | {"seed", "api_version"},
        thinking=True,
        logprobs=True,
        open=True,
        batches=True,
    ),
    "groq": Provider(
        "Groq",
        "https://api.groq.com/openai/v1",
        ("GROQ_API_BASE",),
        ("GROQ_API_KEY",),
        open=True,
        batches=True,
    ),
    "openrouter": Provider(
        "OpenRouter",
        "https://openrouter.ai/api/v1",
        ("OPENROUTER_API_BASE",),
        ("OPENROUTER_API_KEY", "OR_API_KEY"),
        thinking=True,
        open=True,
    ),
    "together_ai": Provider(
        "Together AI",
        "https://api.together.ai/v1",
        ("TOGETHER_AI_API_BASE",),
        ("TOGETHERAI_API_KEY", "TOGETHER_API_KEY", "TOGETHER_AI_API_KEY", "TOGETHER_AI_TOKEN"),
    ),
    "deepseek": Provider(
        "DeepSeek",
        "https://api.deepseek.com/beta",
        ("DEEPSEEK_API_BASE",),
        ("DEEPSEEK_API_KEY",),
        open=True,
    ),
    "hosted_vllm": Provider(
        "", "", ("HOSTED_VLLM_API_BASE",), ("HOSTED_VLLM_API_KEY",), thinking=True, open=True
    ),
    "ollama": Provider(
        "", "http://localhost:11434", ("OLLAMA_API_BASE",), ("OLLAMA_API_KEY",), open=True
    ),
    "ollama_chat": Provider(
        "", "http://localhost:11434", ("OLLAMA_API_BASE",), ("OLLAMA_API_KEY",), open=True
    ),
    "xai": _through_litellm("xAI", "api.x.ai", "XAI_API_KEY"),
    "cohere": _through_litellm("Cohere", "api.cohere.com", "COHERE_API_KEY", "CO_API_KEY"),
    "huggingface": _through_litellm(
        "Hugging Face", "router.huggingface.co", "HUGGINGFACE_API_KEY", "HF_TOKEN"
    ),
    "azure_ai": _through_litellm("", "", "AZURE_AI_API_KEY"),
    "cerebras": _through_litellm("", "api.cerebras.ai", "CEREBRAS_API_KEY"),
    "codestral": _through_litellm("", "codestral.mistral.ai", "CODESTRAL_API_KEY"),
    "cohere_chat": _through_litellm("", "", "COHERE_API_KEY", "CO_API_KEY"),
    "databricks": _through_litellm("", "", "DATABRICKS_API_KEY"),
    "deepinfra": _through_litellm("", "api.deepinfra.com", "DEEPINFRA_API_KEY"),
    "fireworks_ai": _through_litellm(
        *("", "api.fireworks.ai", "FIREWORKS_API_KEY"),
        *("FIREWORKS_AI_API_KEY", "FIREWORKSAI_API_KEY", "FIREWORKS_AI_TOKEN"),
    ),
    "nvidia_nim": _through_litellm("", "integrate.api.nvidia.com", "NVIDIA_NIM_API_KEY"),
    "perplexity": _through_litellm(
        "", "api.perplexity.ai", "PERPLEXITYAI_API_KEY", "PERPLEXITY_API_KEY"
    ),
    "sambanova": _through_litellm("", "api.sambanova.ai", "SAMBANOVA_API_KEY"),
}
#: Providers that are called directly.
PLAIN = {name: provider for name, provider in KNOWN.items() if provider.plain}

#: Further providers with their own protocol, address or key. Any other prefix ("meta-llama/...") is
#: part of the model's name at the given address.
_NAMES = """
    ai21 aiml amazon_nova azure_text baseten bedrock clarifai cloudflare dashscope datarobot
    docker_model_runner featherless_ai friendliai galadriel gigachat github github_copilot heroku
    hyperbolic lambda_ai litellm_proxy llamafile lm_studio maritalk meta_llama moonshot nebius
    novita nscale oci oobabooga openai_like ovhcloud predibase replicate sagemaker sagemaker_chat
    snowflake text-completion-openai vercel_ai_gateway vertex_ai vertex_ai_beta vllm volcengine
    watsonx watsonx_text xinference zai
"""
PROVIDERS = frozenset(_NAMES.split()) | (KNOWN.keys() - {"openai"})


def provider_of(model: str) -> str:
    """Return the provider in the model's name; ``""`` if missing or ``openai/``.

    >>> provider_of("anthropic/claude-x"), provider_of("openai/x"), provider_of("qwen/x")
    ('anthropic', '', '')
    """
    prefix, slash, _ = model.partition("/")
    return prefix if slash and prefix in PROVIDERS else ""


@lru_cache(maxsize=256)
def split_model_name(model: str) -> tuple[str, str]:
    """Return the provider in a model's name, by default OpenAI, and the remaining name.

    >>> split_model_name("groq/openai/gpt-oss-20b"), split_model_name("gpt-4o-mini")
    (('groq', 'openai/gpt-oss-20b'), ('openai', 'gpt-4o-mini'))
    >>> split_model_name("claude-haiku-4-5")
    ('anthropic', 'claude-haiku-4-5')
    """
    provider = provider_of(model)
    if provider:
        return provider, model.partition("/")[2]
    name = model.removeprefix("openai/")
    return ("anthropic" if model.startswith("claude") else "openai"), name
