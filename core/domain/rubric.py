"""Rubric, criterion, option, and the closed sets of scales and aggregation rules."""

from __future__ import annotations

from difflib import get_close_matches
from functools import cached_property
from typing import Annotated, Any, ClassVar, Literal

from pydantic import Field, ValidationInfo, field_validator, model_validator

from core.domain.base import FieldSpec, Noun, defect
from core.domain.gates import Decision, Gate, Precheck, ScoringPolicy, Value
from core.text.names import fold, same_name

Scale = Literal["binary", "ordinal", "nominal"]
SCALES: tuple[Scale, ...] = ("binary", "ordinal", "nominal")

#: The rules that fit each scale; the first is the default (DESIGN section 4, Verdict).
RULES: dict[Scale, tuple[str, ...]] = {
    "binary": ("majority", "weighted", "unanimous", "any"),
    "ordinal": ("mean", "median", "weighted_mean", "mode", "min", "max", "soft_mean"),
    "nominal": ("mode", "weighted_mode", "unanimous"),
}
#: The rule that is fitted on labelled items of a run, for every scale (``core.domain.weight_fit``).
#: It cannot be chosen by name, because it needs fitted weights.
FITTED = "calibrated"


def rules_in_words(scale: Scale) -> str:
    """Return a sentence that names the rules for ``scale``.

    >>> rules_in_words("nominal")
    'Use mode, weighted_mode or unanimous.'
    """
    *head, last = RULES[scale]
    return f"Use {', '.join(head)} or {last}."


def mend_rule(rule: str, scale: Scale) -> str:
    """Return how to fix a rule that is not available for ``scale``.

    >>> mend_rule("calibrated", "nominal")[:39]
    'It must be fitted on labelled items fir'
    """
    if rule == FITTED:
        return (
            "It must be fitted on labelled items first: grade and label some, then fit it on that "
            f"run. Until then: {rules_in_words(scale)[:1].lower()}{rules_in_words(scale)[1:]}"
        )
    close = get_close_matches(rule.lower(), RULES[scale], n=1, cutoff=0.7)
    return f"Did you mean {close[0]!r}?" if close else rules_in_words(scale)


# Rubric, criterion, option: a criterion is a question with options.
#
# Binary is not a separate kind: it is the two options MET (1) and UNMET (0). A judge may answer any
# of ``Criterion.choices``: the author's options and, unless the author forces a choice or has an
# ``na`` option, the added abstention, last. Every stored option number is an index into
# ``choices``, so its meaning does not depend on the order that a judge was shown.

MET, UNMET = "MET", "UNMET"
CANNOT_ASSESS = "CANNOT_ASSESS"
#: The possible verdicts on two answers, A and B, as shown.
A_BETTER, B_BETTER, TIE, BOTH_BAD = "A is better", "B is better", "Tie", "Both bad"
ADDED_ABSTENTION = "Cannot assess"

#: Bounded, because the sum of five hundred weights must be finite, too.
Weight = Annotated[float, Field(ge=-1e100, le=1e100)]
Text = Annotated[str, Field(max_length=20_000)]


class Option(Noun):
    """An allowed answer. ``value`` in [0, 1]; an ``na`` option is an abstention and has none."""

    label: Annotated[str, Field(max_length=200)]
    description: Text = ""
    value: Value | None = None
    na: bool = False

    ABOUT: ClassVar = {
        "label": FieldSpec("What is chosen.", "question"),
        "description": FieldSpec("The behaviour that earns it.", "question", "anchor"),
        "value": FieldSpec("From 0 (worst) to 1 (best); none where na is true.", "score"),
        "na": FieldSpec("true: choosing it is an abstention.", "options"),
    }

    @model_validator(mode="before")
    @classmethod
    def _require_na_without_value(cls, data: Any) -> Any:
        # The value of an ``na`` option never counts; it would only make equal rubrics differ.
        na = isinstance(data, dict) and data.get("na") is True
        return {**data, "value": None} if na else data

    @field_validator("label", mode="before")
    @classmethod
    def _label_as_text(cls, label: Any) -> Any:
        # YAML reads `label: 1` as a number and `label: yes` as true; both are meant as text.
        if isinstance(label, bool):
            raise defect("is a yes/no value.", "Put the label in quotes.")
        return str(label) if isinstance(label, int | float) else label

    @model_validator(mode="after")
    def _check(self, info: ValidationInfo) -> Option:
        if not same_name(self.label, info):
            raise defect("is empty.", "Give the option a label.", "label")
        if not self.na and self.value is None:
            raise defect(
                f"is missing for option {self.label!r}.",
                "Give a value from 0 (worst) to 1 (best), or mark the option na: true.",
                "value",
            )
        return self


BINARY = (Option(label=MET, value=1.0), Option(label=UNMET, value=0.0))


class Criterion(Noun):
    """A question with its options and weight (positive rewards, negative penalises)."""

    name: Annotated[str, Field(max_length=200)]
    requirement: Text
    weight: Weight = 10.0
    scale: Scale = "binary"
    options: tuple[Option, ...] = BINARY
    section: str | None = None
    tags: tuple[str, ...] = ()
    aggregation: str | None = None
    forced_choice: bool = False
    meta: dict[str, Any] = Field(default_factory=dict)

    ABOUT: ClassVar = {
        "name": FieldSpec(
            "A short name of its own; without it, the requirement's first words.", "renamed"
        ),
        "requirement": FieldSpec("What the judge must decide.", "question"),
        "weight": FieldSpec("Points at best. Below 0 it is a penalty.", "score"),
        "scale": FieldSpec(
            "binary: MET or UNMET. ordinal: levels, lowest first. nominal: categories.",
            "score",
            group="answers",
        ),
        "options": FieldSpec(
            "The allowed answers of an ordinal or nominal criterion.", None, group="answers"
        ),
        "section": FieldSpec("The heading it stands under.", "words"),
        "tags": FieldSpec("Words by which gates and searches find it.", "score"),
        "aggregation": FieldSpec(
            "The rule that settles its votes, instead of the panel's.",
            "score",
            "rule for votes",
            "The rule by which votes are settled",
            "answers",
        ),
        "forced_choice": FieldSpec(
            "true: judges may not abstain.", "options", "", "That judges may not abstain", "answers"
        ),
        "meta": FieldSpec(
            "Notes of your own; checks_off lists checks that were dismissed.",
            "words",
            "additional data",
        ),
    }

    @model_validator(mode="after")
    def _check(self, info: ValidationInfo) -> Criterion:
        if not same_name(self.name, info):
            raise defect("is empty.", "Give the criterion a name.", "name")
        if not fold(self.requirement):
            raise defect("is empty.", "Say what the judge must decide.", "requirement")
        self._check_rule()
        self._check_options(info)
        if self.scale == "binary":
            self._check_binary()
        if self.scale == "ordinal":
            self._check_ordinal()
        return self

    def _check_rule(self) -> None:
        if self.aggregation is not None and self.aggregation not in RULES[self.scale]:
            raise defect(
                f"is {self.aggregation!r}, which does not fit a {self.scale} criterion.",
                mend_rule(self.aggregation, self.scale),
                "aggregation",
            )

    def _check_options(self, info: ValidationInfo) -> None:
        if len([o for o in self.options if not o.na]) < 2:
            raise defect(
                "has fewer than two options that are not na.",
                "Add options until there are at least two real answers.",
                "options",
            )
        positions = dict[str, int]()
        for index, option in enumerate(self.options):
            key = same_name(option.label, info)
            if key in positions:
                raise defect(
                    f"repeats the label {option.label!r} of option {positions[key] + 1}.",
                    "Labels must differ (case, spaces and invisible characters do not count).",
                    "options",
                    index,
                    "label",
                )
            positions[key] = index

    def _check_binary(self) -> None:
        expected = {fold(MET): 1.0, fold(UNMET): 0.0}
        values = {fold(option.label): option.value for option in self.options if not option.na}
        if values != expected:
            raise defect(
                "of a binary criterion must be MET (value 1) and UNMET (value 0).",
                "Leave options out, use those two, or set scale to ordinal or nominal.",
                "options",
            )

    def _check_ordinal(self) -> None:
        values = [
            option.value for option in self.options if option.value is not None and not option.na
        ]
        rising = values == sorted(values)
        if not rising and values != sorted(values, reverse=True):
            raise defect(
                f"of an ordinal criterion must be in order, but their values are {values}.",
                "List them lowest to highest, or set scale: nominal.",
                "options",
            )

    @cached_property
    def choices(self) -> tuple[Option, ...]:
        """Return the possible answers of a judge: the options, then the added abstention if any."""
        if self.forced_choice or any(option.na for option in self.options):
            return self.options
        labels = {fold(option.label) for option in self.options}
        label = ADDED_ABSTENTION
        if fold(label) in labels:
            label = "Cannot be assessed"
        return (*self.options, Option(label=label, na=True))

    @cached_property
    def scored(self) -> tuple[int, ...]:
        """Return the indices of ``choices`` with a value, in the author's order."""
        return tuple(i for i, option in enumerate(self.choices) if not option.na)

    @cached_property
    def unscored(self) -> tuple[int, ...]:
        """Return the indices of ``choices`` that are abstentions."""
        return tuple(i for i, option in enumerate(self.choices) if option.na)

    @cached_property
    def na_index(self) -> int | None:
        """Return the first abstention in ``choices``, or ``None`` if a choice is forced."""
        return next(iter(self.unscored), None)

    @cached_property
    def values(self) -> tuple[float | None, ...]:
        """Return the value of every choice; ``None`` for an abstention."""
        return tuple(None if option.na else option.value for option in self.choices)

    def value_of(self, index: int) -> float | None:
        """Return the value of choice ``index``; ``None`` for an abstention."""
        return self.values[index]

    def index_of(self, label: str) -> int | None:
        """Return the choice with this label (ignoring case and spaces), or ``None``.

        ``CANNOT_ASSESS`` always matches the abstention, whatever its label.
        """
        folded = fold(label)
        for index, option in enumerate(self.choices):
            if fold(option.label) == folded:
                return index
        if folded in (fold(CANNOT_ASSESS), fold(ADDED_ABSTENTION)):
            return self.na_index
        return None

    def worst_of(self, indices: tuple[int, ...]) -> int:
        """Return the choice among ``indices`` that is worst for the sign of the weight.

        The lowest value if the weight is not negative, else the highest; among equal values the
        lowest index. ``indices`` must be scored choices and not empty.
        """
        sign = 1.0 if self.weight >= 0 else -1.0
        return min(indices, key=lambda i: (sign * (self.value_of(i) or 0.0), i))


class Rubric(Noun):
    """Ordered criteria with guidelines, gates, pre-checks, a scoring policy and a decision."""

    name: Annotated[str, Field(max_length=200)] = "Untitled rubric"
    description: Text = ""
    guidelines: Text = ""
    criteria: Annotated[tuple[Criterion, ...], Field(max_length=500)]
    scoring: ScoringPolicy = ScoringPolicy()
    gates: tuple[Gate, ...] = ()
    prechecks: Annotated[tuple[Precheck, ...], Field(max_length=50)] = ()
    decision: Decision | None = None
    meta: dict[str, Any] = Field(default_factory=dict)

    ABOUT: ClassVar = {
        "name": FieldSpec("What the rubric is called; without it, the file's name.", "words"),
        "description": FieldSpec("What it is for. Judges do not see it.", "words"),
        "guidelines": FieldSpec("What every judge is told with each criterion.", "question"),
        "criteria": FieldSpec("The questions, in the order in which they are shown.", None),
        "scoring": FieldSpec(
            "How verdicts become a score.",
            "score",
            lost="The scoring policy (abstentions, coverage, length penalty)",
        ),
        "gates": FieldSpec(
            "Conditions that cap, fail or flag an item, whatever its points.", "score"
        ),
        "prechecks": FieldSpec(
            "What is looked for in the text before anybody judges it.", "score", "pre-checks"
        ),
        "decision": FieldSpec(
            "From which score on an item passes.", "score", lost="The decision (pass and fail)"
        ),
        "meta": FieldSpec("Notes of your own; kept, never used.", "words", "additional data"),
    }

    @model_validator(mode="after")
    def _check(self, info: ValidationInfo) -> Rubric:
        if not same_name(self.name, info):
            raise defect("is empty.", "Give the rubric a name.", "name")
        if not self.criteria:
            raise defect("is empty.", "Add at least one criterion.", "criteria")
        positions = dict[str, int]()
        for index, criterion in enumerate(self.criteria):
            key = same_name(criterion.name, info)
            if key in positions:
                raise defect(
                    f"repeats the name {criterion.name!r} of criterion {positions[key] + 1}.",
                    "Give each criterion a name of its own.",
                    "criteria",
                    index,
                    "name",
                )
            positions[key] = index
        self._check_gates()
        self._check_decision()
        return self

    def _check_decision(self) -> None:
        wrong = self.decision and self.scoring.normalize and self.decision.beyond_unit()
        if wrong:
            raise defect(
                "is not between 0 and 1, but the score is.",
                "Give it as a share (0.7 for 70%), or set scoring.normalize: false for points.",
                "decision",
                wrong,
            )

    def _check_gates(self) -> None:
        for index, gate in enumerate(self.gates):
            problem = gate.problem_with({c.name: c for c in self.criteria})
            if problem:
                raise defect(problem.message, problem.mend, "gates", index, *problem.path)

    def criterion(self, name: str) -> Criterion:
        """Return the criterion with that exact name. Raises ``KeyError`` if there is none."""
        return self._by_name[name]

    @cached_property
    def _by_name(self) -> dict[str, Criterion]:
        return {c.name: c for c in self.criteria}

    @cached_property
    def max_points(self) -> float:
        """Return the sum of the positive weights: the raw score of a perfect item."""
        return sum(c.weight for c in self.criteria if c.weight > 0)
