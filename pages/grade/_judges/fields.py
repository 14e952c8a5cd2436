"""The settings of a judge that is a model: how each is asked for, and what it does."""

from __future__ import annotations

from typing import Literal, NamedTuple

JUDGES_VIEW = "judges_view"
JUDGES_ARCHIVED = "judges_archived"
JUDGES_ACT = "judges_act"
JUDGE_FIELD = "judge_field"
JUDGE_ACT = "judge_act"
JUDGE_REFUSED = "judge_refused"


Kind = Literal["text", "number", "whole"]


class Field(NamedTuple):
    """One setting: its name in `Judge`, its label, and a sentence on reliability and cost.

    `low`, `high` and `step` bound numbers; `placeholder` stands where it is empty.
    """

    name: str
    label: str
    says: str
    kind: Kind = "text"
    placeholder: str = ""
    low: float | None = None
    high: float | None = None
    step: float | None = None


NAME = Field("name", "Name", "How votes, figures and panels call this judge.")
MODEL = Field(
    "model",
    "Model",
    "Any model name. Larger models usually agree more with people, and cost more.",
    placeholder="openai/gpt-4.1-mini",
)
API_BASE = Field(
    "api_base",
    "Address",
    "Only for a server of your own that speaks the OpenAI protocol; usually ends in /v1.",
    placeholder="http://localhost:8000/v1",
)
KEY_ENV = Field(
    "key_env",
    "Variable that holds the key",
    "The name of an environment variable, never the key itself.",
    placeholder="OPENAI_API_KEY",
)
TEMPERATURE = Field(
    "temperature",
    "Temperature",
    "0 makes repeated votes nearly alike; more lets them differ. Empty: the provider's default. "
    "Some thinking models accept none.",
    "number",
    low=0.0,
    high=2.0,
    step=0.1,
)
MAX_TOKENS = Field(
    "max_tokens",
    "Most tokens in a reply",
    "Bounds the cost of a reply. Too low cuts it off, and a reply cut off is a failure.",
    "whole",
    low=1,
    step=100,
)
BUDGET = Field(
    "budget",
    "Thinking budget in tokens",
    "Used only where Thinking is set to a budget: the most it may think before it answers.",
    "whole",
    low=1,
    step=500,
)
TIMEOUT = Field(
    "timeout",
    "Timeout in seconds",
    "How long one call may take. Too short turns slow answers into failures.",
    "number",
    low=1.0,
    high=3600.0,
    step=5.0,
)
TRIES = Field(
    "tries",
    "Tries",
    "How often a call is sent before it counts as failed. More lose fewer votes to a bad moment; "
    "a try that was answered unreadably is paid, too.",
    "whole",
    low=1,
    high=20,
    step=1,
)
CONCURRENCY = Field(
    "concurrency",
    "Calls at a time",
    "More is faster until the provider's rate limit; the cost stays the same.",
    "whole",
    low=1,
    high=1024,
    step=1,
)
REQUESTS = Field(
    "requests_per_minute",
    "Requests a minute",
    "The provider's limit, if you know it. Calls are paced to it, so that none is turned away; it "
    "costs nothing. Empty: as fast as it goes, and waiting when told to.",
    "whole",
    low=1,
    step=50,
)
TOKENS = Field(
    "tokens_per_minute",
    "Tokens a minute",
    "The same for tokens, sent and received. Too low a number only makes a run slower.",
    "whole",
    low=1,
    step=10_000,
)
PRICE_IN = Field(
    "price_in",
    "Price in",
    "US dollars per million tokens sent. Empty: looked up where the model is known.",
    "number",
    low=0.0,
    step=0.05,
)
PRICE_OUT = Field(
    "price_out",
    "Price out",
    "US dollars per million tokens received. Without prices there is no cost and no budget.",
    "number",
    low=0.0,
    step=0.05,
)
WEIGHT = Field(
    "weight",
    "Weight in a panel",
    "Counts in the weighted rules only: weight 2 counts as two judges of weight 1.",
    "number",
    low=0.01,
    step=0.5,
)

FIELDS = (
    NAME,
    MODEL,
    API_BASE,
    KEY_ENV,
    TEMPERATURE,
    MAX_TOKENS,
    TIMEOUT,
    TRIES,
    CONCURRENCY,
    REQUESTS,
    TOKENS,
    PRICE_IN,
    PRICE_OUT,
    WEIGHT,
)
LABELS = {field.name: field.label for field in (*FIELDS, BUDGET)} | {
    "door": "Door",
    "thinking": "Thinking",
    "shuffle": "Shuffle the options",
}

DOORS = {
    "auto": ("Automatic", "The lean door for an address of your own, litellm for all else."),
    "litellm": ("litellm", "Knows over a hundred providers and their prices. Heavier per call."),
    "openai": (
        "OpenAI protocol",
        "Light and fast, for OpenAI itself and servers such as vLLM, Ollama or llama.cpp.",
    ),
}

BY_BUDGET = "budget"
THINKING = {
    "": "The model's default",
    "off": "Off",
    "low": "Low",
    "medium": "Medium",
    "high": "High",
    BY_BUDGET: "A budget in tokens",
}
THINKING_SAYS = (
    "Thinking tends to help on hard criteria. It is slower, and paid like output; the trace is "
    "kept with every vote."
)
SHUFFLE_SAYS = (
    "Options stand in another order for every item, so that a liking for the first one cannot "
    "become a bias. Costs nothing."
)

EXAMPLES = (
    ("openai/gpt-4.1-mini", "OpenAI"),
    ("anthropic/claude-sonnet-4-5", "Anthropic"),
    ("gemini/gemini-2.5-flash", "Google"),
    ("mistral/mistral-small-latest", "Mistral"),
    ("azure/your-deployment", "Azure"),
    ("openrouter/qwen/qwen3-32b", "OpenRouter"),
    ("ollama/llama3.1", "Ollama on this machine, through litellm"),
    ("Qwen/Qwen3-8B", "vLLM, with the address http://localhost:8000/v1"),
    ("llama3.1", "Ollama, with the address http://localhost:11434/v1"),
    ("any-name", "llama.cpp, with the address http://localhost:8080/v1"),
)

OFFLINE = {
    "classifier": (
        "Text classifier",
        "Learns from your labels which words, phrases and likeness to the reference go with which "
        "option, and applies that to the rest.",
    ),
    "neighbours": (
        "Nearest neighbours",
        "Finds the labelled items most like the one at hand and votes as they were labelled. Its "
        "reason names them.",
    ),
}
OFFLINE_NEEDS = (
    "It needs labelled items: about 20 per criterion are a good start, and short answers with a "
    "reference suit it best. It costs nothing and sends nothing anywhere. Before it grades, it "
    "checks itself on labels it has not seen; on a criterion where it is no better than always "
    "giving the commonest answer it switches itself off and says so. It is not a language model."
)
