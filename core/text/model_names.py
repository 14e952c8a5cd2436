"""Names of models: the company behind each, and which models are related."""

from __future__ import annotations

import re
from typing import Literal

from core.text.names import fold

#: Patterns of each family's model names; other names belong to no known family.
_FAMILIES = {
    "openai": r"gpt|chatgpt|o[1345](?![0-9a-z])|davinci|codex",
    "anthropic": r"claude",
    "google": r"gemini|gemma|palm",
    "meta": r"llama",
    "mistral": r"mistral|mixtral|ministral|codestral|magistral",
    "alibaba": r"qwen|qwq",
    "deepseek": r"deepseek",
    "xai": r"grok",
    "cohere": r"command-?[ra]|aya",
    "microsoft": r"phi-?[0-9]",
    "amazon": r"nova-|titan",
    "zhipu": r"glm|chatglm",
}
_PATTERNS = {name: re.compile(rf"(?<![a-z0-9])(?:{p})") for name, p in _FAMILIES.items()}
#: A well-known model of each company, as an example.
HOUSES = {
    "openai": "GPT-4o, a model by OpenAI",
    "anthropic": "Claude, a model by Anthropic",
    "google": "Gemini, a model by Google",
    "meta": "Llama, a model by Meta",
    "mistral": "Mistral Large, a model by Mistral AI",
    "alibaba": "Qwen, a model by Alibaba",
    "deepseek": "DeepSeek, a model by DeepSeek",
    "xai": "Grok, a model by xAI",
    "cohere": "Command R, a model by Cohere",
    "microsoft": "Phi-4, a model by Microsoft",
    "amazon": "Nova, a model by Amazon",
    "zhipu": "GLM, a model by Zhipu AI",
}


def relation_of(judge: str, system: str) -> Literal["self", "family", ""]:
    """Return ``self`` for the same model, ``family`` for models of one company, or "".

    The provider before the last slash and a replicate's number are ignored. Only names are
    compared, so a system called "our fine-tune" is related to no judge.

    >>> relation_of("openai/gpt-4.1-mini", "GPT-4.1-mini")
    'self'
    >>> relation_of("claude-opus", "claude-haiku")
    'family'
    >>> relation_of("Ann", "gpt-4.1")
    ''
    """
    judge_model, system_model = _model_name(judge), _model_name(system)
    if judge_model == system_model:
        return "self"
    family = family_of(judge_model)
    return "family" if family and family == family_of(system_model) else ""


def family_of(model: str) -> str:
    """Return the family of a model by its name, or "".

    >>> family_of("anthropic/claude-sonnet-4"), family_of("baseline")
    ('anthropic', '')
    """
    name = _model_name(model)
    return next((family for family, pattern in _PATTERNS.items() if pattern.search(name)), "")


def _model_name(name: str) -> str:
    return fold(name.partition("|")[0].rpartition("/")[2])
