"""The settings of a model judge: their fields, their edited values, and saving them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal, NamedTuple

from core.domain.panel import Judge
from core.errors import InputError, Problem
from core.services.access import providers
from core.services.judges import connection, registry
from core.services.judges.panel_setup import could_be_secret
from core.services.judges.registry import JudgeEntry
from pages.ui import state
from pages.ui.resources import store
from pages.ui.widgets import shown_errors

JUDGES_VIEW = "judges_view"
JUDGES_ARCHIVED = "judges_archived"
JUDGES_ACT = "judges_act"
JUDGE_FIELD = "judge_field"
JUDGE_ACT = "judge_act"
JUDGE_REFUSED = "judge_refused"


Kind = Literal["text", "long", "number", "whole"]


class JudgeField(NamedTuple):
    """One setting: its name in `Judge`, its label, and a sentence on reliability and cost.

    `low`, `high` and `step` bound numbers; `placeholder` is shown in an empty field.
    """

    name: str
    label: str
    says: str
    kind: Kind = "text"
    placeholder: str = ""
    low: float | None = None
    high: float | None = None
    step: float | None = None


NAME = JudgeField("name", "Name", "The name of this judge in votes, figures and panels.")
MODEL = JudgeField(
    "model",
    "Model",
    "Any model name. Larger models usually agree more with people, and cost more.",
    placeholder="openai/gpt-4.1-mini",
)
API_BASE = JudgeField(
    "api_base",
    "Address",
    "Only for your own server with the OpenAI protocol; usually ends in /v1.",
    placeholder="http://localhost:8000/v1",
)
REPLICAS = JudgeField(
    "replicas",
    "Further addresses",
    "Addresses of servers with the same model, separated by spaces. Each call goes to "
    "the server with the fewest calls under way; if a server fails, the others take "
    "over.",
    placeholder="http://gpu2:8000/v1 http://gpu3:8000/v1",
)
KEY_ENV = JudgeField(
    "key_env",
    "Environment variable of the key",
    "The name of an environment variable, never the key itself.",
    placeholder="OPENAI_API_KEY",
)
TEMPERATURE = JudgeField(
    "temperature",
    "Temperature",
    "0 makes repeated votes nearly alike; higher values let them differ. Empty: the "
    "provider's default. Some thinking models accept none.",
    "number",
    low=0.0,
    high=2.0,
    step=0.1,
)
MAX_TOKENS = JudgeField(
    "max_tokens",
    "Most tokens in a reply",
    "Limits the cost of a reply. A longer reply is cut off and counts as a failure.",
    "whole",
    low=1,
    step=100,
)
BUDGET = JudgeField(
    "budget",
    "Thinking budget in tokens",
    (
        "Used only if Thinking is set to a budget: the maximum number of tokens that the model may "
        "spend on thinking before it answers."
    ),
    "whole",
    low=1,
    step=500,
)
TIMEOUT = JudgeField(
    "timeout",
    "Timeout in seconds",
    "How long one call may take. Too short a time turns slow answers into failures. Unless "
    "you change the 60 seconds, calls to a server on this machine or in its network "
    "wait as long as the server can be reached.",
    "number",
    low=1.0,
    high=3600.0,
    step=5.0,
)
TRIES = JudgeField(
    "tries",
    "Tries",
    "How often a call is sent before it counts as failed. With more attempts, fewer "
    "votes are lost to passing faults; an attempt with an unreadable answer is paid "
    "for, too.",
    "whole",
    low=1,
    high=20,
    step=1,
)
CONCURRENCY = JudgeField(
    "concurrency",
    "Calls at a time",
    "More calls are faster, up to the provider's rate limit; the cost stays the same.",
    "whole",
    low=1,
    high=1024,
    step=1,
)
REQUESTS = JudgeField(
    "requests_per_minute",
    "Requests a minute",
    "The provider's limit, if you know it. Calls are paced to it, so that none is "
    "rejected; this costs nothing. If empty, calls go as fast as possible and wait "
    "when the provider asks.",
    "whole",
    low=1,
    step=50,
)
TOKENS = JudgeField(
    "tokens_per_minute",
    "Tokens a minute",
    "The same for tokens, sent and received. Too low a number only makes a run slower.",
    "whole",
    low=1,
    step=10_000,
)
PRICE_IN = JudgeField(
    "price_in",
    "Price in",
    "US dollars per million tokens sent. Empty: looked up where the model is known.",
    "number",
    low=0.0,
    step=0.05,
)
PRICE_OUT = JudgeField(
    "price_out",
    "Price out",
    "US dollars per million tokens received. Without prices there is no cost and no budget.",
    "number",
    low=0.0,
    step=0.05,
)
WEIGHT = JudgeField(
    "weight",
    "Weight in a panel",
    "Used only by weighted rules: weight 2 counts as two judges of weight 1.",
    "number",
    low=0.01,
    step=0.5,
)

INSTRUCTIONS = JudgeField(
    "instructions",
    "Instructions",
    "Added for this model after the built-in text, which stays. If empty, the panel's instructions "
    "are used. The names of the rubric and of the criterion replace {rubric} and {criterion}. With "
    "{criterion}, calls about one item have less text in common, so less of it is cached.",
    "long",
)

FIELDS = (
    NAME,
    MODEL,
    API_BASE,
    REPLICAS,
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
    INSTRUCTIONS,
)
LABELS = {field.name: field.label for field in (*FIELDS, BUDGET)} | {
    "door": "Connection",
    "thinking": "Thinking",
    "shuffle": "Shuffle the options",
    "logprobs": "Request the probability of each option",
    "decides": "Answer in one word only",
    "template": "Prompt format",
}
#: Settings that are on or off.
SWITCHES = ("shuffle", "logprobs", "decides")
#: Settings whose value is chosen from a list.
CHOICES = ("door", "template")

DOORS = {
    "auto": (
        "Automatic",
        "Calls your own addresses and plain providers directly, and all others through litellm.",
    ),
    "litellm": ("litellm", "Over a hundred providers, at nine times the processor time per call."),
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
    "Thinking tends to help on hard criteria. It is slower, and priced like output; the "
    "thinking is stored with every vote."
)
SHUFFLE_SAYS = (
    "The order of options differs for every item, so that a preference for the first cannot "
    "become a bias. Costs nothing."
)

EXAMPLES = (
    ("openai/gpt-4.1-mini", "OpenAI"),
    ("anthropic/claude-sonnet-4-5", "Anthropic"),
    ("gemini/gemini-2.5-flash", "Google"),
    ("mistral/mistral-small-latest", "Mistral"),
    ("azure/your-deployment", "Azure"),
    ("openrouter/qwen/qwen3-32b", "OpenRouter"),
    ("ollama/llama3.1", "Ollama on this machine"),
    ("Qwen/Qwen3-8B", "vLLM, with the address http://localhost:8000/v1"),
    ("llama3.1", "Ollama, with the address http://localhost:11434/v1"),
    ("any-name", "llama.cpp, with the address http://localhost:8080/v1"),
)

OFFLINE = {
    "classifier": (
        "Text classifier",
        "Learns from your labels how words, phrases and similarity to the reference predict the "
        "option, and applies this to the other items.",
    ),
    "neighbours": (
        "Nearest neighbours",
        "Finds the labelled items most similar to an item and votes as they were labelled. Its "
        "reason names them.",
    ),
    "check": (
        "Checks",
        "Answers by your own rules: what a text contains, matches, or counts. It costs nothing, "
        "sends nothing anywhere, and needs no labels.",
    ),
}
OFFLINE_NEEDS = (
    "It needs labelled items: about 20 per criterion are a good start, and short answers with a "
    "reference suit it best. It costs nothing and sends nothing anywhere. Before it grades, it "
    "checks itself on labels it has not seen; on a criterion where it is no better than always "
    "giving the most common answer it switches itself off and says so. It is not a language model."
)


# The edited judge: its widgets' values, and saving them.
#
# A value that could be an API key is removed from the session first, refused by the service, and
# never stored anywhere.

TEXTS = ("name", "model", "api_base", "replicas", "key_env", "instructions")
OFFLINE_FIELDS = ("name", "weight")


def field_key(reference: str, name: str) -> str:
    """Return the key of one setting's widget."""
    return state.key(JUDGE_FIELD, reference, name)


def judge_entry(reference: str) -> JudgeEntry | None:
    """Return the judge with that id, or `None`."""
    matches = (e for e in registry.list_judges(store()) if str(e.row.id) == reference)
    return next(matches, None)


def seed_fields(reference: str, saved: JudgeEntry | None) -> None:
    """Give every widget the saved value, unless it has one."""
    judge = saved.judge if saved else Judge(name="-", model="-")
    chosen = {f.name for f in FIELDS} | {*CHOICES, *SWITCHES, "kind"}
    values = judge.model_dump(include=chosen)
    if saved is None:
        values |= {"name": "", "model": ""}
    budget = judge.thinking if isinstance(judge.thinking, int) else None
    values |= {
        "replicas": " ".join(judge.replicas),
        "thinking": BY_BUDGET if budget is not None else judge.thinking or "",
        "budget": budget if budget is not None else 2000,
    }
    served = [
        provider for provider in providers.usable_providers(store()) or () if provider.serves(judge)
    ]
    values["provider"] = served[0].name if served else None
    for name, value in values.items():
        state.seed(field_key(reference, name), value, in_form=name != "kind")


def current_value(reference: str, name: str) -> Any:
    """Return the current value of the setting's widget, sent to the browser as default on every
    run.

    In a form the browser sends nothing before Save, so the server cannot know what it shows.
    """
    return state.get(field_key(reference, name))


def _remove_secrets(reference: str) -> None:
    """Remove from the session what could be an API key."""
    for name in TEXTS:
        if could_be_secret(name, str(state.get(field_key(reference, name)) or "")):
            state.put(field_key(reference, name), "")


def save_problems(reference: str) -> list[Problem]:
    """Return the problems of the last save, with the settings' labels as places."""
    problems = state.get(state.key(JUDGE_REFUSED, reference)) or []
    return [Problem(message, advice, (place,)) for message, advice, place in problems]


def on_save(reference: str, kind: str, test: bool) -> None:
    """Save the settings in the form; then test the judge, if requested."""
    save_judge(reference, lambda: _form_settings(reference, kind), test=test)


def save_judge(reference: str, form: Callable[[], dict[str, Any]], *, test: bool = False) -> None:
    """Save the judge with the settings that ``form`` returns; keep errors of both for display."""
    state.drop(JUDGE_REFUSED, reference)
    with shown_errors():
        saved = judge_entry(reference)
        try:
            try:
                settings = form()
            finally:
                _remove_secrets(reference)
            if saved is not None:
                # Fields without a widget keep their values, unless the judge's kind has changed.
                same = saved.judge.kind == settings["kind"]
                before = saved.judge.model_dump(include=None if same else {"params"})
                settings = {**before, **settings}
            row = registry.save_judge(store(), settings, former=saved.name if saved else None)
        except InputError as error:
            problems = [(p.message, p.mend, _problem_label(p)) for p in error.problems]
            state.put(state.key(JUDGE_REFUSED, reference), problems)
            return
        state.drop(JUDGE_FIELD, reference)
        if test:
            connection.begin(store(), row.judge)
            state.set_address(**{state.JUDGE: row.id})
        else:
            state.set_address(**{state.JUDGE: None})
        state.flash("Saved.")


def _form_settings(reference: str, kind: str) -> dict[str, Any]:
    if kind != "llm":
        typed = {name: state.get(field_key(reference, name)) for name in OFFLINE_FIELDS}
        return {**typed, "kind": kind}
    names = [f.name for f in FIELDS] + [*CHOICES, *SWITCHES]
    typed = {name: state.get(field_key(reference, name)) for name in names}
    if not typed["decides"]:
        typed["template"] = "plain"
    for provider in providers.usable_providers(store()) or ():
        if provider.name == state.get(field_key(reference, "provider")):
            typed |= {"api_base": provider.address, "key_env": provider.key_env}
    thinking = state.get(field_key(reference, "thinking")) or None
    if thinking == BY_BUDGET:
        thinking = state.get(field_key(reference, "budget"))
    return {**typed, "thinking": thinking, "kind": kind}


def _problem_label(problem: Problem) -> str:
    first = str(problem.path[0]) if problem.path else ""
    return LABELS.get(first, first)
