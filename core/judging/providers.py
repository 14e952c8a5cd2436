"""The prefixes by which litellm knows a provider: ``anthropic/...``, ``ollama/...``."""

from __future__ import annotations

#: Providers with a protocol, an address or a key of their own. Any other prefix
#: ("meta-llama/...") belongs to the model's name at the given address.
_NAMES = """
    ai21 aiml amazon_nova anthropic azure azure_ai azure_text baseten bedrock cerebras clarifai
    cloudflare codestral cohere cohere_chat dashscope databricks datarobot deepinfra deepseek
    docker_model_runner featherless_ai fireworks_ai friendliai galadriel gemini gigachat github
    github_copilot groq heroku hosted_vllm huggingface hyperbolic lambda_ai litellm_proxy llamafile
    lm_studio maritalk meta_llama mistral moonshot nebius novita nscale nvidia_nim oci ollama
    ollama_chat oobabooga openai_like openrouter ovhcloud perplexity predibase replicate sagemaker
    sagemaker_chat sambanova snowflake text-completion-openai together_ai vercel_ai_gateway
    vertex_ai vertex_ai_beta vllm volcengine watsonx watsonx_text xai xinference zai
"""
PROVIDERS = frozenset(_NAMES.split())


def provider_of(model: str) -> str:
    """The provider that the model is named after, or ``""``; ``openai/`` counts as none.

    >>> provider_of("anthropic/claude-x"), provider_of("openai/x"), provider_of("qwen/x")
    ('anthropic', '', '')
    """
    prefix, slash, _ = model.partition("/")
    return prefix if slash and prefix in PROVIDERS else ""
