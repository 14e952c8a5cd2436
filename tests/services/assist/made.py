"""A mixed rubric, a writing model behind a scripted provider, and its replies."""

from __future__ import annotations

import json
from typing import Any

from core.domain.dataset import Dataset, Item, Label
from core.domain.panel import Judge, Panel
from core.domain.rubric import Criterion, Option, Rubric
from core.domain.runs import HelpTask
from core.services.assist import help_tasks
from core.store.store import Store
from tests.provider import Answer, Provider, ok, said

NOW = "2026-03-01T10:00:00.000Z"
#: Everything that the peer's loop loses: a scale, options, values, a weight, a rule, an abstention.
DEPTH = Criterion(
    name="Depth",
    requirement="How deep is it?",
    weight=7.0,
    scale="ordinal",
    aggregation="median",
    section="Content",
    tags=("core",),
    options=(
        Option(label="None", description="No reason.", value=0.0),
        Option(label="Some", description="Some reasons.", value=0.4),
        Option(label="Deep", description="Deep reasons.", value=1.0),
        Option(label="Off topic", na=True),
    ),
)
LIMIT = Criterion(name="Limit", requirement="States the limit.", weight=3.0)
RUBRIC = Rubric(name="Replies", guidelines="Judge the last reply.", criteria=(LIMIT, DEPTH))
#: The wording after which the scripted judge accepts a limit in words.
BETTER = "States the limit of thirty days, in words or in figures."


def writer(provider: Provider, **settings: Any) -> Judge:
    """A model behind the scripted provider, at 1 dollar per million tokens in and out."""
    given = {
        "name": "writer",
        "model": "m",
        "api_base": provider.url,
        "price_in": 1,
        "price_out": 1,
    }
    return Judge.model_validate({**given, **settings})


def panel(provider: Provider, *names: str) -> Panel:
    """Judges behind the same provider."""
    judges = tuple(writer(provider, name=name) for name in names or ("judge",))
    return Panel(name="Panel", judges=judges)


def reply(data: object) -> Answer:
    """A reply of one JSON object."""
    return said(json.dumps(data))


def change(to: str, part: str = "requirement", option: int = 0, criterion: str = "c1") -> Any:
    """One proposed change as a model writes it."""
    why = "The words leave room."
    return {"why": why, "criterion": criterion, "part": part, "option": option, "to": to}


def asked_to_write(body: dict[str, Any]) -> set[str]:
    """The keys of the reply that a request wants."""
    return set(body["response_format"]["json_schema"]["schema"]["properties"])


def text_of(body: dict[str, Any]) -> str:
    """All that a request says after its system text."""
    return "\n".join(m["content"] for m in body["messages"] if m["role"] == "user")


def shown_number(body: dict[str, Any], label: str) -> int:
    """The number under which a label is shown to a judge."""
    for line in text_of(body).splitlines():
        number, _, rest = line.partition(". ")
        if number.isdigit() and rest.split(":")[0].split(" (")[0] == label:
            return int(number)
    raise AssertionError(f"{label} is not shown")


def choose(body: dict[str, Any], label: str) -> Answer:
    """A judge's reply that chooses a label."""
    return ok(shown_number(body, label))


def finished(store: Store, task_id: int) -> HelpTask:
    """The task after this process has worked on it."""
    return help_tasks.wait_for_task(store, task_id, 60)


def limits(count: int) -> Dataset:
    """Labelled replies: a third in figures, a third in words, a third without a limit."""
    texts = ("You have 30 days.", "You have thirty days.", "Some time is left.")
    items = tuple(
        Item(
            id=f"i{number:02}",
            submission=f"{texts[number % 3]} Number {number}.",
            labels={"Limit": Label(label="UNMET" if number % 3 == 2 else "MET")},
        )
        for number in range(count)
    )
    return Dataset(name="Limits", items=items)


def literal_judge(body: dict[str, Any]) -> Answer:
    """A judge that takes figures alone for a limit, until the requirement names words as well."""
    text = text_of(body)
    in_words = "thirty days. Number" in text and BETTER in text
    met = "30 days" in text or in_words
    return choose(body, "MET" if met else "UNMET")
