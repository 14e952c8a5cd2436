"""Scoring policy, gates, pre-checks, decision: what changes a score or determines an outcome."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Annotated, Literal, get_args

from pydantic import ConfigDict, Field, field_validator, model_validator

from core.domain.base import Noun, defect
from core.errors import Problem

if TYPE_CHECKING:
    from core.domain.rubric import Criterion


# Gates: a closed set of predicates on verdicts, with effects on the score or the outcome.
#
# A gate is data, so it can be read, edited and traced; ``core.scoring`` evaluates it. Thresholds
# are option labels, or values in [0, 1]. Caps and factors are in units of the normalised score.

Value = Annotated[float, Field(ge=0, le=1)]
Threshold = Value | str
PREDICATES = ("below", "at_most", "above", "at_least", "is_", "in_", "abstained")


class Condition(Noun):
    """One predicate on one criterion's verdict, or a count over the criteria of a tag.

    ``below`` and the like compare the verdict's option with an option (by label) or a value; ``is``
    and ``in`` name options; ``abstained`` tests for an abstention; ``count_at_least`` counts the
    criteria with ``tag`` whose verdict ``is``.
    """

    criterion: str | None = None
    tag: str | None = None
    below: Threshold | None = None
    at_most: Threshold | None = None
    above: Threshold | None = None
    at_least: Threshold | None = None
    is_: Annotated[str | None, Field(alias="is")] = None
    in_: Annotated[tuple[str, ...] | None, Field(alias="in")] = None
    abstained: bool | None = None
    count_at_least: Annotated[int | None, Field(ge=1)] = None

    model_config = ConfigDict(populate_by_name=True, serialize_by_alias=True)

    @property
    def predicate(self) -> str:
        """Return the name of the predicate that is set."""
        return next(name for name in PREDICATES if getattr(self, name) is not None)

    @property
    def compares(self) -> bool:
        """Return whether the predicate compares values instead of naming options."""
        return self.predicate in ("below", "at_most", "above", "at_least")

    @property
    def labels(self) -> tuple[str, ...]:
        """Return the option labels that the predicate names; empty if it compares with a number."""
        value = getattr(self, self.predicate)
        value = value if isinstance(value, tuple) else (value,)
        return tuple(label for label in value if isinstance(label, str))

    @model_validator(mode="after")
    def _check(self) -> Condition:
        predicates = [name for name in PREDICATES if getattr(self, name) is not None]
        if len(predicates) != 1:
            raise defect(
                f"has {len(predicates)} predicates.",
                "Use exactly one of below, at_most, above, at_least, is, in, abstained.",
            )
        if (self.criterion is None) == (self.tag is None):
            raise defect("names no subject.", "Name either a criterion or a tag.")
        if (self.tag is not None) != (self.count_at_least is not None):
            raise defect(
                "mixes a tag and a single criterion.",
                "A count over a tag needs tag and count_at_least; a criterion needs neither.",
            )
        return self


class Effect(Noun):
    """The effect of a fired gate: cap, multiply, verdict (fail or review) or flag."""

    cap: Annotated[float | None, Field(ge=0, le=1)] = None
    multiply: Annotated[float | None, Field(ge=0, le=1)] = None
    verdict: Literal["fail", "review"] | None = None
    flag: str | None = None
    reason: str = ""

    @model_validator(mode="after")
    def _check(self) -> Effect:
        if self.cap is None and self.multiply is None and not self.verdict and not self.flag:
            raise defect("does nothing.", "Give at least one of cap, multiply, verdict, flag.")
        return self


class Gate(Noun):
    """An effect that applies if a condition holds; the order of gates does not matter."""

    name: str
    when: Condition
    then: Effect
    on_missing: Literal["review", "skip", "fire"] = "review"

    def problem_with(self, criteria: Mapping[str, Criterion]) -> Problem | None:
        """Return the unknown name or label that this gate needs from ``criteria``, or ``None``."""
        when = self.when
        if when.criterion is None:
            return self._tag_problem([c for c in criteria.values() if when.tag in c.tags])
        if when.criterion not in criteria:
            return Problem(
                f"names the criterion {when.criterion!r}, which does not exist.",
                f"Use one of {', '.join(map(repr, criteria))}.",
                ("when", "criterion"),
            )
        return self._unknown_label(criteria[when.criterion])

    def _tag_problem(self, tagged: Sequence[Criterion]) -> Problem | None:
        when = self.when
        if not tagged:
            return Problem(
                f"names the tag {when.tag!r}, which no criterion has.",
                "Tag a criterion or change the gate.",
                ("when", "tag"),
            )
        # Some criteria with this tag may lack the label; for those the gate never holds.
        for label in when.labels:
            if any(_has_option(c, label, when.compares) for c in tagged):
                continue
            labels = dict.fromkeys(
                option.label for c in tagged for option in c.options if not option.na
            )
            requirement = "a value under that label" if when.compares else "such an option"
            return Problem(
                f"names {label!r}, but no criterion tagged {when.tag!r} has {requirement}.",
                f"Use one of {', '.join(map(repr, labels))}, or a value from 0 to 1."
                if when.compares
                else f"Use one of {', '.join(map(repr, labels))}.",
                ("when", when.predicate.rstrip("_")),
            )
        return None

    def _unknown_label(self, criterion: Criterion) -> Problem | None:
        for label in self.when.labels:
            if criterion.index_of(label) is None:
                labels = ", ".join(repr(option.label) for option in criterion.options)
                return Problem(
                    f"names {label!r}, which is not an option of {criterion.name!r}.",
                    f"Use one of {labels}, or a value from 0 to 1.",
                    ("when", self.when.predicate.rstrip("_")),
                )
            if self.when.compares and not _has_option(criterion, label, True):
                return Problem(
                    f"compares with {label!r}, which is an abstention and has no value.",
                    "Use an option with a value, or the predicate abstained.",
                    ("when", self.when.predicate),
                )
        return None


def _has_option(criterion: Criterion, label: str, compares: bool) -> bool:
    """Return whether the criterion has the option, with a value if values are compared."""
    index = criterion.index_of(label)
    return index is not None and not (compares and criterion.values[index] is None)


# Pre-checks: patterns to look for in a submission, before and independent of judges.
#
# A pre-check is a cheap filter that sends items to a person. It is data; ``core.scoring`` evaluates
# it.

Family = Literal[
    "dangerous_instructions", "weapon_making", "malware_hacking", "self_harm", "personal_data"
]
FAMILIES: tuple[Family, ...] = get_args(Family)
CheckAction = Literal["flag", "cap", "fail"]

#: A phrase: words, where ``*`` stands for the beginning or end of a word, ``<number>`` for digits,
#: and ``...`` for up to eight words between two others. Case, accents and kinds of quotes are
#: ignored. It is not a regular expression, because those can take forever and are hard to read.
Phrase = Annotated[str, Field(max_length=200)]
Phrases = Annotated[tuple[Phrase, ...], Field(max_length=100)]


def _valid_phrases(phrases: tuple[str, ...]) -> tuple[str, ...]:
    for phrase in phrases:
        if not any(c.isalnum() for c in phrase):
            raise defect(
                f"holds {phrase!r}, which has no letter and no digit.",
                "Write a word or a phrase; * stands for the rest of a word.",
            )
        if any("*" in word[1:-1] for word in phrase.split()):
            raise defect(
                f"holds {phrase!r}, with * inside a word.",
                "Put * at the beginning or the end of a word.",
            )
        parts = phrase.replace("\u2026", "...").split()
        if parts.count("...") > 2 or "..." in (parts[0], parts[-1]):
            raise defect(
                f"holds {phrase!r}, where ... does not stand between words or stands too often.",
                "Write at most two ... in a phrase, each between two words.",
            )
    return phrases


class Near(Noun):
    """What excuses a finding: one of ``terms`` close to it.

    Close means in the same sentence, or at most ``chars`` characters before or after the finding.
    """

    terms: Annotated[Phrases, Field(min_length=1)]
    chars: Annotated[int | None, Field(ge=0, le=10_000)] = None

    _terms_are_words = field_validator("terms")(staticmethod(_valid_phrases))


class Precheck(Noun):
    """Patterns of ready-made ``families``, and ``patterns`` of the author's own.

    A finding always sends the item to a reviewer. ``cap`` and ``fail`` apply until the reviewer has
    decided; ``cap`` is in units of the normalised score.
    """

    name: Annotated[str, Field(max_length=200)]
    families: Annotated[tuple[Family, ...], Field(max_length=len(FAMILIES))] = ()
    patterns: Phrases = ()
    unless_near: Near | None = None
    action: CheckAction = "flag"
    cap: Annotated[float | None, Field(ge=0, le=1)] = None

    _patterns_are_words = field_validator("patterns")(staticmethod(_valid_phrases))

    @model_validator(mode="after")
    def _check(self) -> Precheck:
        if not self.families and not self.patterns:
            raise defect(
                "looks for nothing.", f"Name families ({', '.join(FAMILIES)}) or give patterns."
            )
        if self.action == "cap" and self.cap is None:
            raise defect("is missing.", "Say at how much the score is capped, 0 to 1.", "cap")
        if self.action != "cap" and self.cap is not None:
            raise defect(
                f"is given, but the action is {self.action}.",
                "Set action: cap, or leave cap out.",
                "cap",
            )
        return self


#: Far beyond any score, but small enough for finite sums and differences of thresholds.
ScoreThreshold = Annotated[float, Field(ge=-1e100, le=1e100)]


class Decision(Noun):
    """Thresholds in units of the score: 0 to 1 if it is normalised, otherwise points.

    An item passes from ``pass_at`` on and fails below ``fail_below`` (default: ``pass_at``).
    Between the two a reviewer decides, and also for every score within ``review_within`` of a
    threshold.
    """

    pass_at: ScoreThreshold
    fail_below: ScoreThreshold | None = None
    review_within: Annotated[float, Field(ge=0, le=1e100)] = 0.0

    @model_validator(mode="after")
    def _check(self) -> Decision:
        if self.fail_below is not None and self.fail_below > self.pass_at:
            raise defect(
                f"is {self.fail_below:g}, above pass_at ({self.pass_at:g}).",
                "Make it at most pass_at, or leave it out.",
                "fail_below",
            )
        return self

    @property
    def floor(self) -> float:
        """Return the score below which an item fails."""
        return self.pass_at if self.fail_below is None else self.fail_below

    def beyond_unit(self) -> str | None:
        """Return the first field that no score from 0 to 1 could reach, or ``None``."""
        thresholds = {"pass_at": self.pass_at, "fail_below": self.floor}
        thresholds["review_within"] = self.review_within
        return next((name for name, value in thresholds.items() if not 0 <= value <= 1), None)


# The scoring policy turns verdicts into a score.

Abstention = Literal["skip", "zero", "partial", "fail"]
ABSTENTIONS: tuple[Abstention, ...] = ("skip", "zero", "partial", "fail")


class LengthPenalty(Noun):
    """Points deducted for length: 0 up to ``free_budget``, ``penalty_at_cap`` from ``max_cap``."""

    free_budget: Annotated[int, Field(ge=0)] = 6000
    max_cap: Annotated[int, Field(gt=0)] = 8000
    penalty_at_cap: Annotated[float, Field(ge=0)] = 0.5
    exponent: Annotated[float, Field(gt=0)] = 1.6
    count: Literal["words", "tokens"] = "words"
    of: Literal["all", "output", "thinking"] = "all"

    @model_validator(mode="after")
    def _check(self) -> LengthPenalty:
        if self.max_cap <= self.free_budget:
            raise defect("is not above free_budget.", "Make max_cap the larger one.", "max_cap")
        return self


class ScoringPolicy(Noun):
    """How verdicts become a score: the cost of an abstention, normalised or raw, length penalty.

    ``min_coverage``: an item has no grade if less than this share of the weight was assessed.
    """

    abstention: Abstention = "skip"
    partial_credit: Value = 0.5
    min_coverage: Value = 0.5
    normalize: bool = True
    length_penalty: LengthPenalty | None = None
