"""The types of a draft, plain JSON with permanent uids, and ready-made scales to start with.

A draft of a noun has every field of the noun, as in ``model_dump``. The types below list only the
fields that code reads by name.
"""

from __future__ import annotations

from typing import Any, Literal, TypedDict, cast

from core.domain.rubric import BINARY, Criterion, Option, Rubric, Scale


class OptionDraft(TypedDict):
    """An option of a draft; ``value`` is ``None`` while it is missing, or for ``na``."""

    uid: str
    label: str
    description: str
    value: float | None
    na: bool


class CriterionDraft(TypedDict):
    """A criterion of a draft. ``parked`` keeps the options of its previous scales."""

    uid: str
    name: str
    requirement: str
    weight: float | None
    scale: str
    options: list[OptionDraft]
    section: str
    tags: list[str]
    aggregation: str | None
    meta: dict[str, Any]
    parked: dict[str, list[OptionDraft]]


class GateDraft(TypedDict):
    """A gate as plain data, with the uids of the criterion and the options that it names."""

    uid: str
    gate: dict[str, Any]
    criterion: str | None
    options: dict[str, str]


class CheckDraft(TypedDict):
    """A pre-check as plain data."""

    uid: str
    check: dict[str, Any]


class RubricDraft(TypedDict):
    """A rubric as a draft.

    ``rubric_id`` and ``parent`` (the version it started from) are ``None`` for a new rubric.
    ``base`` is the content hash of that version; ``serial`` counts the uids it has used.
    """

    rubric_id: int | None
    parent: int | None
    base: str | None
    serial: int
    name: str
    description: str
    guidelines: str
    criteria: list[CriterionDraft]
    scoring: dict[str, Any]
    gates: list[GateDraft]
    prechecks: list[CheckDraft]
    decision: dict[str, Any] | None
    meta: dict[str, Any]


def new_draft() -> RubricDraft:
    """Return an empty draft that does not belong to a rubric yet.

    >>> new_draft()["criteria"]
    []
    """
    head = {"rubric_id": None, "parent": None, "base": None, "serial": 0}
    return cast("RubricDraft", {**head, **data_of(Rubric.model_construct(name="", criteria=()))})


def data_of(noun: Rubric | Criterion | Option) -> dict[str, Any]:
    """Return every field of a noun as plain JSON, even if the noun is not valid yet."""
    return noun.model_dump(mode="json", by_alias=True, warnings=False)


def option_draft(option: Option, uid: str) -> OptionDraft:
    """Return the draft of one option."""
    return cast("OptionDraft", {"uid": uid, **data_of(option)})


def criterion_draft(criterion: Criterion, uid: str, options: list[OptionDraft]) -> CriterionDraft:
    """Return the draft of a criterion, with these drafts of its options."""
    fields = {"section": criterion.section or "", "options": options, "parked": {}}
    return cast("CriterionDraft", {"uid": uid, **data_of(criterion), **fields})


def started_draft() -> RubricDraft:
    """Return an empty draft with a first criterion, whose requirement is missing.

    >>> [criterion["name"] for criterion in started_draft()["criteria"]]
    ['Criterion 1']
    """
    draft = new_draft()
    serial = UidSource(draft["serial"])
    first = blank_criterion("Criterion 1", "yes_no", serial)
    return {**draft, "criteria": [first], "serial": serial.last}


def blank_criterion(
    name: str, template: Template, serial: UidSource, *, section: str = "", na: bool = False
) -> CriterionDraft:
    """Return a criterion without a requirement; ``na`` adds the option "Not applicable"."""
    blank = Criterion.model_construct(
        name=name, requirement="", scale=TEMPLATE_SCALE[template], section=section
    )
    return criterion_draft(blank, serial.next("c"), template_options(template, serial, na=na))


class UidSource:
    """Generates uids that a draft has not used before."""

    def __init__(self, last: int) -> None:
        self.last = last

    def next(self, kind: str) -> str:
        """Return the next uid, e.g. ``c4`` for a criterion or ``o5`` for an option."""
        self.last += 1
        return f"{kind}{self.last}"


Template = Literal["yes_no", "three", "four", "five", "bands", "categories"]

_ABSENT = ("Absent", "Nothing of what the requirement asks for is there.")
_WHOLE = ("Whole", "Every part of it is there.")
_FEWER = ("Fewer than half", "At least one part of it is there; more parts are missing.")

#: The label, anchor and value of each level, lowest to highest. The anchors count parts, so that
#: two judges can agree on them before the author has written anchors for the task.
LEVELS: dict[str, tuple[tuple[str, str, float], ...]] = {
    "three": (
        (*_ABSENT, 0.0),
        ("In part", "At least one part of it is there, and at least one is missing.", 0.5),
        (*_WHOLE, 1.0),
    ),
    "four": (
        (*_ABSENT, 0.0),
        (*_FEWER, 0.33),
        (
            "Half or more",
            "As many parts are there as are missing, or more, but not every one.",
            0.67,
        ),
        (*_WHOLE, 1.0),
    ),
    "five": (
        (*_ABSENT, 0.0),
        (*_FEWER, 0.25),
        ("Half", "As many parts of it are there as are missing.", 0.5),
        ("More than half", "More parts are there than missing; at least one is missing.", 0.75),
        (*_WHOLE, 1.0),
    ),
    # The bands of LLM Council's ADR-016, reworded; the value of a band is its upper edge.
    "bands": (
        ("Fails (1-2)", "Hardly a statement holds; what is there is wrong or made up.", 0.2),
        ("Weak (3-4)", "The main point is wrong or missing, although some details are right.", 0.4),
        ("Mixed (5-6)", "The main point is right; two or more details are wrong or missing.", 0.6),
        ("Sound (7-8)", "The main point is right; exactly one detail is wrong or missing.", 0.8),
        ("Flawless (9-10)", "No point and no detail is wrong or missing.", 1.0),
    ),
    "categories": (("Category A", "", 1.0), ("Category B", "", 0.0)),
}
TEMPLATE_SCALE: dict[Template, Scale] = {
    "yes_no": "binary",
    "three": "ordinal",
    "four": "ordinal",
    "five": "ordinal",
    "bands": "ordinal",
    "categories": "nominal",
}
#: The button label of each template.
TEMPLATE_WORDS: dict[Template, str] = {
    "yes_no": "Yes or no",
    "three": "3 levels",
    "four": "4 levels",
    "five": "5 levels",
    "bands": "Bands 1-10",
    "categories": "Categories",
}
DEFAULT_TEMPLATE: dict[str, Template] = {
    "binary": "yes_no",
    "ordinal": "three",
    "nominal": "categories",
}
NOT_APPLICABLE = ("Not applicable", "The requirement does not concern this text.")


def template_options(
    template: Template, serial: UidSource, *, na: bool = False
) -> list[OptionDraft]:
    """Return new options of a template; ``na`` adds "Not applicable", which has no value."""
    if template == "yes_no":
        options = [option_draft(option, serial.next("o")) for option in BINARY]
    else:
        options = [_option_draft(serial, *level) for level in LEVELS[template]]
    return [*options, _option_draft(serial, *NOT_APPLICABLE, None)] if na else options


def _option_draft(serial: UidSource, label: str, anchor: str, value: float | None) -> OptionDraft:
    option = Option.model_construct(label=label, description=anchor, value=value, na=value is None)
    return option_draft(option, serial.next("o"))
