"""The shapes of a draft: plain JSON data in which criteria and options carry a lasting ``uid``."""

from __future__ import annotations

from typing import Any, TypedDict

from core.domain.rubric import Option


class OptionDraft(TypedDict):
    """An option being written; ``value`` is ``None`` while it is missing, or for ``na``."""

    uid: str
    label: str
    description: str
    value: float | None
    na: bool


class CriterionDraft(TypedDict):
    """A criterion being written. ``parked`` keeps the options of scales it had before."""

    uid: str
    name: str
    requirement: str
    weight: float | None
    scale: str
    options: list[OptionDraft]
    section: str
    tags: list[str]
    aggregation: str | None
    forced_choice: bool
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


class ScoringDraft(TypedDict):
    """The scoring policy as plain data."""

    abstention: str
    partial_credit: float | None
    normalize: bool
    length_penalty: dict[str, Any] | None


class Draft(TypedDict):
    """A rubric being written.

    ``rubric_id`` and ``parent`` (the version it started from) are ``None`` for a new one;
    ``base`` is the content hash it started from, ``serial`` counts the uids given out.
    """

    rubric_id: int | None
    parent: int | None
    base: str | None
    serial: int
    name: str
    description: str
    guidelines: str
    criteria: list[CriterionDraft]
    scoring: ScoringDraft
    gates: list[GateDraft]
    prechecks: list[CheckDraft]
    decision: dict[str, Any] | None
    meta: dict[str, Any]


def new_draft() -> Draft:
    """An empty draft that belongs to no rubric yet.

    >>> new_draft()["criteria"]
    []
    """
    scoring = ScoringDraft(
        abstention="skip", partial_credit=0.5, normalize=True, length_penalty=None
    )
    return Draft(
        rubric_id=None,
        parent=None,
        base=None,
        serial=0,
        name="",
        description="",
        guidelines="",
        criteria=[],
        scoring=scoring,
        gates=[],
        prechecks=[],
        decision=None,
        meta={},
    )


def option_draft(option: Option, uid: str) -> OptionDraft:
    """The draft of one option."""
    return OptionDraft(
        uid=uid,
        label=option.label,
        description=option.description,
        value=option.value,
        na=option.na,
    )


class Serial:
    """Hands out uids that a draft has not used before."""

    def __init__(self, last: int) -> None:
        self.last = last

    def next(self, kind: str) -> str:
        """The next uid, e.g. ``c4`` for a criterion or ``o5`` for an option."""
        self.last += 1
        return f"{kind}{self.last}"
