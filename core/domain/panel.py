"""Judge and panel: raters, most of which can be asked, and how their votes become a verdict."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Annotated, Any, Literal
from urllib.parse import urlsplit

from pydantic import AfterValidator, Field, model_validator

from core.domain.base import Noun, defect
from core.domain.checks import CriterionChecks
from core.domain.rubric import RULES, mend_rule
from core.domain.secrets import (
    HOW,
    address_has_secret,
    looks_like_key,
    names_a_variable,
    secrets_in,
)

JudgeKind = Literal[
    "llm",
    "classifier",
    "neighbours",
    "check",
    "function",
    "command",
    "imported",
    "imported_offline",
    "person",
]
RaterKind = Literal["llm", "offline", "human"]
#: Kinds of judges that learn from labelled items. Like judges that are code, they need no network.
#: A judge that is a function can only be asked by the program that defines it; a judge that is a
#: command runs only if a user started the run.
LEARNING_KINDS: tuple[JudgeKind, ...] = ("classifier", "neighbours")
CODE_KINDS: tuple[JudgeKind, ...] = ("function", "command")
#: Raters with imported votes; they cannot be asked.
IMPORTED_KINDS: Mapping[JudgeKind, RaterKind] = MappingProxyType(
    {"imported": "llm", "imported_offline": "offline", "person": "human"}
)
Thinking = Literal["off", "low", "medium", "high"]
#: The wording of prompts.
Style = Literal["full", "brief"]
#: The prompt format of a model that only makes decisions.
Template = Literal[
    "plain", "granite_guardian", "shieldgemma", "llama_guard", "prometheus", "systemone"
]


#: The placeholders for the rubric's and the criteria's names in instructions.
PLACES = ("rubric", "criterion")
_PLACE = re.compile(r"\{([^{}\s]*)\}")


def _require_known_places(text: str) -> str:
    """Refuse unknown placeholders; other braces are plain text."""
    unknown = [name for name in _PLACE.findall(text) if name not in PLACES and name.isidentifier()]
    if unknown:
        places = " and ".join(f"{{{name}}}" for name in PLACES)
        raise defect(f"has {{{unknown[0]}}}, which nothing fills.", f"There are {places}.")
    return text


#: Instructions appended to the system text of models.
Instructions = Annotated[str, Field(max_length=20_000), AfterValidator(_require_known_places)]


def instructions_for(judge: Judge, asking: Asking, rubric: str, criteria: Sequence[str]) -> str:
    """Return the judge's own instructions, or else the panel's, with placeholders filled in.

    >>> one = Judge(name="j", model="m", instructions="Be strict on {criterion}.")
    >>> instructions_for(one, Asking(), "Essays", ["cites", "tone"])
    'Be strict on cites, tone.'
    """
    text = (judge.instructions or asking.instructions).strip()
    if not text:
        return ""
    names = {"rubric": rubric, "criterion": ", ".join(criteria)}
    return _PLACE.sub(lambda place: names.get(place[1], place[0]), text)


class Judge(Noun):
    """A rater: a model or offline method with its settings, or an imported one with its votes.

    ``key_env`` is the *name* of the environment variable with the key; the key itself is never
    stored. ``replicas`` are further addresses of the model at ``api_base``. ``params`` go to the
    provider unchanged; a secret must be given as the name of its variable, ``{env: NAME}``.
    ``door`` is the client: ``litellm`` (any provider), ``openai`` (any endpoint with the OpenAI
    protocol, cheaper per call) or ``auto`` (the latter if it makes no difference). ``logprobs``
    requests the probability of each option's number, stored with the vote. A model that ``decides``
    (a guardian, a classifier behind an endpoint) answers with one word, number or letter, read from
    the probabilities of its first token if the server sends them; ``template`` is its prompt
    format.
    ``stage`` orders the judges of a cascade; a ``shadow`` judge votes without counting. Calls are
    paced within the provider's limits, in requests and tokens per minute. Prices are US dollars per
    million tokens; ``None`` means look it up, or unknown. ``instructions`` follow the system text,
    which they cannot replace. A ``check`` answers by the rules in ``checks``, a ``command`` by the
    program it names, and a ``function`` is Python code that only the program defining it can ask.
    An ``imported`` model, an ``imported_offline`` one and a ``person`` voted elsewhere: only their
    name, weight and ``shadow`` are used.
    """

    name: Annotated[str, Field(min_length=1, max_length=100)]
    kind: JudgeKind = "llm"
    weight: Annotated[float, Field(gt=0, le=1e100)] = 1.0
    model: str = ""
    api_base: str = ""
    replicas: Annotated[tuple[str, ...], Field(max_length=64)] = ()
    key_env: str = ""
    door: Literal["auto", "litellm", "openai"] = "auto"
    temperature: Annotated[float | None, Field(ge=0, le=2)] = None
    max_tokens: Annotated[int | None, Field(ge=1)] = None
    timeout: Annotated[float, Field(gt=0, le=3600)] = 60.0
    tries: Annotated[int, Field(ge=1, le=20)] = 5
    concurrency: Annotated[int, Field(ge=1, le=1024)] = 16
    thinking: Thinking | Annotated[int, Field(ge=1)] | None = None
    price_in: Annotated[float | None, Field(ge=0)] = None
    price_out: Annotated[float | None, Field(ge=0)] = None
    shuffle: bool = True
    logprobs: bool = False
    decides: bool = False
    template: Template = "plain"
    stage: Annotated[int, Field(ge=0, le=9)] = 0
    shadow: bool = False
    requests_per_minute: Annotated[int | None, Field(ge=1)] = None
    tokens_per_minute: Annotated[int | None, Field(ge=1)] = None
    params: dict[str, Any] = Field(default_factory=dict)
    instructions: Instructions = ""
    checks: Annotated[dict[str, CriterionChecks], Field(max_length=200)] = Field(
        default_factory=dict
    )
    command: Annotated[tuple[str, ...], Field(max_length=100)] = ()

    @property
    def offline(self) -> bool:
        """Return whether this judge needs neither a model nor a network."""
        return self.kind == "check" or self.kind in LEARNING_KINDS or self.kind in CODE_KINDS

    @property
    def learns(self) -> bool:
        """Return whether it must learn from labelled items before it can answer."""
        return self.kind in LEARNING_KINDS

    def mode_in(self, asking: Asking) -> Literal["criterion", "rubric", "two_step"]:
        """Return the mode in which this judge is asked on a panel."""
        if self.template == "systemone":
            return "rubric"
        return "criterion" if self.decides else asking.mode

    @property
    def askable(self) -> bool:
        """Return whether the judge can be asked; imported raters and people cannot."""
        return self.kind not in IMPORTED_KINDS

    @property
    def rater_kind(self) -> RaterKind:
        """Return the kind of rater, wherever it voted: a model, an offline method or a person."""
        return IMPORTED_KINDS.get(self.kind, "offline" if self.offline else "llm")

    @model_validator(mode="after")
    def _check(self) -> Judge:
        if self.kind == "llm" and not self.model.strip():
            raise defect("is empty.", "Name the model, e.g. openai/gpt-4.1-mini.", "model")
        self._require_exactly_for("check", "checks", "Give checks by criterion.")
        self._require_exactly_for("command", "command", "Give the program and its arguments.")
        if self.logprobs and self.kind != "llm":
            message = "is on, but only a model has log-probabilities."
            raise defect(message, "Leave it out.", "logprobs")
        if self.decides and self.kind != "llm":
            raise defect("is on, but only a model decides so.", "Leave it out.", "decides")
        if self.template != "plain" and not self.decides:
            message = "is set, but only a model that decides is asked in a form of its own."
            raise defect(message, "Say decides: true, or leave it out.", "template")
        if self.template == "systemone" and not self.api_base:
            message = "is empty, and systemone has no usual address."
            raise defect(message, "Give the server's address, usually ending in /v1.", "api_base")
        if self.key_env and not names_a_variable(self.key_env):
            # The message omits the value, which may be a key.
            raise defect(
                "is not the name of an environment variable.",
                "Put the key into a variable such as OPENAI_API_KEY and give its name here, "
                "never the key.",
                "key_env",
            )
        self._check_addresses()
        check_headers(self.params.get("extra_headers"))
        self._refuse_secrets()
        return self

    def _check_addresses(self) -> None:
        addresses = (
            (self.api_base, "api_base"),
            *((replica, "replicas") for replica in self.replicas),
        )
        for address, field in addresses:
            if address and not _WEB.match(address):
                raise defect(
                    "is not a web address.", "It must start with http:// or https://.", field
                )
            if address and not is_reachable(address):
                message = "has a host name that no network can look up."
                raise defect(message, "Its parts between dots have 1 to 63 characters.", field)
        if self.replicas and not self.api_base:
            message = "has further addresses and no first one."
            raise defect(message, "Put one of them into api_base.", "replicas")
        if len({address.rstrip("/") for address, _ in addresses}) < len(addresses):
            raise defect("names an address twice.", "Leave it out.", "replicas")

    def _require_exactly_for(self, kind: JudgeKind, field: str, fix: str) -> None:
        """Require a field of this kind of judge, and refuse it for all other kinds."""
        if self.kind == kind and not getattr(self, field):
            raise defect("is empty.", fix, field)
        if self.kind != kind and getattr(self, field):
            raise defect(f"is for judges of the kind {kind!r}.", f"Say kind: {kind}.", field)

    def _refuse_secrets(self) -> None:
        """Refuse secrets in settings; messages do not repeat values."""
        if looks_like_key(self.model):
            raise defect("looks like a key.", "Never enter a key here.", "model")
        for address in (self.api_base, *self.replicas):
            if address_has_secret(address):
                raise defect(
                    "holds a password or a key.",
                    "Take it out, put it into an environment variable and name that in key_env.",
                    "api_base" if address == self.api_base else "replicas",
                )
        for path in secrets_in(self.params):
            key_advice = "Put the key into a variable and give its name in the judge's key_env."
            advice = key_advice if path == ("api_key",) else HOW
            raise defect("could be a secret, which is never stored.", advice, "params", *path)


class Asking(Noun):
    """How to ask models; offline judges ignore it.

    ``mode``: a call per criterion, one call for the whole ``rubric``, or ``two_step``: first assess
    in words, then choose. ``style``: full rules, or ``brief`` ones for small models that reply with
    only the option. ``layout``: which shared part comes first in calls, the item or the criterion;
    ``auto`` takes the cheaper. ``few_shot``: labelled examples shown per criterion. ``balanced``:
    option orders rotate over items and replicates instead of being random. ``flip``: ask again in
    reversed order; ``check`` only records it, ``require`` turns a judge's vote into an abstention
    if its two answers differ. ``cache``: reuse an earlier run's answer to the same request.
    ``instructions`` go to every model without its own.
    """

    mode: Literal["criterion", "rubric", "two_step"] = "criterion"
    style: Style = "full"
    layout: Literal["auto", "item_first", "criterion_first"] = "auto"
    few_shot: Annotated[int, Field(ge=0, le=20)] = 0
    few_shot_reasons: bool = True
    balanced: bool = False
    flip: Literal["off", "check", "require"] = "off"
    cache: bool = True
    instructions: Instructions = ""


class Cascade(Noun):
    """When a cell escalates from one stage's judges to the next stage's (``Judge.stage``).

    The last stage asked decides; earlier votes are stored but do not count. ``below_confidence``: a
    cell escalates if the mean confidence of the stage's votes is lower.
    """

    on_abstention: bool = True
    on_split: bool = True
    on_failure: bool = True
    below_confidence: Annotated[float | None, Field(ge=0, le=1)] = None
    near_gate: bool = False


#: Headers that control the framing and routing of a request. If two parties read them differently,
#: one request can become two.
_FRAMING = re.compile(
    r"host|content-.*|transfer-encoding|connection|keep-alive|proxy-connection|upgrade|expect|te"
    r"|trailer",
    re.IGNORECASE,
)
_HEADER_NAME = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]{1,100}")
_HEADER_VALUE = re.compile(r"[\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?")


def check_headers(headers: object) -> None:
    """Refuse invalid headers of a judge, and headers that frame the request.

    Raises:
        PydanticCustomError: see ``broken``; values, which may be keys, are not repeated.
    """
    if headers is None:
        return
    where = ("params", "extra_headers")
    if not isinstance(headers, Mapping):
        raise defect("are no headers.", "Give names and values, as in X-Title: Essays.", *where)
    for name, value in headers.items():
        if not isinstance(name, str) or not _HEADER_NAME.fullmatch(name):
            message = f"has {str(name)[:60]!r}, which is not a name of a header."
            raise defect(message, "A name has letters, digits and hyphens.", *where)
        if _FRAMING.fullmatch(name):
            message = f"sets {name}, which belongs to the connection."
            raise defect(message, "Leave it out: every request gets the right one.", *where)
        if isinstance(value, Mapping) and [*value] == ["env"]:
            continue  # an {env: NAME} variable
        if not isinstance(value, str | int | float) or not _HEADER_VALUE.fullmatch(str(value)):
            message = f"gives {name} a value that no header can have."
            raise defect(message, "Use visible ASCII characters on one line.", *where)


_WEB = re.compile(r"https?://\S+\Z")


def is_reachable(address: str) -> bool:
    """Return whether the text is a web address with a host that a network could look up.

    >>> is_reachable("http://localhost:8000/v1"), is_reachable("http://a..b"), is_reachable("host")
    (True, False, False)
    """
    if not _WEB.match(address):
        return False
    try:
        parts = urlsplit(address)
        host, _ = parts.hostname or "", parts.port
        name = host.encode("idna").decode() if not host.isascii() else host
    except ValueError:
        return False
    if ":" in name:
        return True
    return len(name) <= 253 and all(1 <= len(label) <= 63 for label in name.rstrip(".").split("."))


class Rules(Noun):
    """The aggregation rule of each scale; a criterion may override it."""

    binary: str = RULES["binary"][0]
    ordinal: str = RULES["ordinal"][0]
    nominal: str = RULES["nominal"][0]

    @model_validator(mode="after")
    def _check(self) -> Rules:
        for scale in RULES:
            if getattr(self, scale) not in RULES[scale]:
                raise defect(
                    f"is {getattr(self, scale)!r}, which is not a rule for {scale} criteria.",
                    mend_rule(getattr(self, scale), scale),
                    scale,
                )
        return self


class Panel(Noun):
    """Judges, and how their votes become a verdict."""

    name: Annotated[str, Field(min_length=1, max_length=200)] = "Panel"
    judges: Annotated[tuple[Judge, ...], Field(max_length=1000)]
    rules: Rules = Rules()
    asking: Asking = Asking()
    cascade: Cascade | None = None
    early_stop: bool = False

    @property
    def askable(self) -> bool:
        """Return whether all of its judges can be asked; imported raters cannot."""
        return all(judge.askable for judge in self.judges)

    @model_validator(mode="after")
    def _check(self) -> Panel:
        if self.judges and all(judge.shadow for judge in self.judges):
            raise defect(
                "has only shadow judges, whose votes do not count.",
                "Let at least one judge's vote count.",
                "judges",
            )
        if not self.judges:
            raise defect("is empty.", "A panel needs at least one judge.", "judges")
        names = set[str]()
        for index, name in enumerate(judge.name for judge in self.judges):
            if name in names:
                raise defect(
                    f"repeats the name {name!r}.",
                    "Give every judge of the panel a name of its own.",
                    "judges",
                    index,
                    "name",
                )
            names.add(name)
        return self
