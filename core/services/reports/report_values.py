"""The contents of a report as plain data, and its values in words."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple

from core.blocks.blocks import TextCell
from core.metrics.estimate import USUAL, Estimate
from core.services.agreement.conclusion import Conclusion
from core.text.numbers import DASH, count, percent

__all__ = [
    "CriterionLine",
    "Estimate",
    "GateLine",
    "ItemLine",
    "JudgeFacts",
    "RaterLine",
    "ReportCounts",
    "ReviewLine",
    "RunReport",
    "ScoreSlice",
    "Setup",
    "Training",
]


@dataclass(frozen=True)
class ReviewLine:
    """A review queue with a random audit: how often people confirm the verdicts.

    ``weighted`` is about all cells, weighted by their probabilities of being reviewed; ``hard`` is
    about the ``queued`` cells that a rule selected. ``audited`` cells were drawn at random;
    ``missing`` ones are still open. ``only`` says what the queue is limited to, if anything: "all
    cells" then means these.
    """

    queue: int
    name: str
    audited: int
    queued: int
    missing: int
    weighted: Estimate
    hard: Estimate
    only: str = ""


class CorrectedLine(NamedTuple):
    """A mean of all items or some: by the votes, and corrected by people's random labels.

    ``labels`` is the mean of people's labels alone. If only ``said`` is known, ``mean`` says why.
    """

    name: str
    cells: int
    labelled: int
    said: float | None
    mean: Estimate
    labels: Estimate


class Training(NamedTuple):
    """What an offline judge learned for a criterion; ``reason`` says why it is switched off."""

    criterion: str
    trained: bool
    n: int
    accuracy: float | None
    majority: float | None
    reason: str


@dataclass(frozen=True)
class JudgeFacts:
    """A judge in the report. ``settings`` are those that differ from the default, in words."""

    name: str
    kind: str
    model: str
    weight: float
    shadow: bool
    settings: Mapping[str, str]
    training: tuple[Training, ...] = ()

    @property
    def switched_off(self) -> tuple[str, ...]:
        """Return the criteria for which this judge was not usable."""
        return tuple(line.criterion for line in self.training if not line.trained)


@dataclass(frozen=True)
class Setup:
    """What was graded, and how. Scores follow version ``rubric_number`` of the rubric, with its
    hash; judges were asked ``asked_number``. ``learned_from`` counts the labelled items that judges
    learned from, ``twins`` describes items with the same text as another. ``fitted`` describes the
    fit for each criterion settled by the rule calibrated.

    ``imported`` is the source of imported votes, else empty.
    """

    run: int
    name: str
    status: str
    message: str
    rubric: str
    rubric_number: int
    rubric_hash: str
    asked_number: int
    dataset: str
    dataset_number: int
    dataset_hash: str
    panel: str
    panel_hash: str
    judges: tuple[JudgeFacts, ...]
    rules: Mapping[str, str]
    abstention: str
    asking: Mapping[str, str]
    seed: int
    replicates: int
    learned_from: int
    twins: str
    fitted: Mapping[str, str]
    versions: Mapping[str, str]
    imported: Mapping[str, Any]
    created: str
    started: str | None
    finished: str | None


@dataclass(frozen=True)
class ReportCounts:
    """The numbers of a run. ``cost`` is in US dollars over the calls with a known price.

    ``complete`` items were fully assessed, ``ungraded`` items too little for a grade. ``failures``
    counts open failures by kind; ``missing`` counts cells without a verdict, ``cells`` all of them.
    ``adjudicated`` verdicts are a person's, ``unvoted`` ones an option that no judge voted for,
    ``tied`` ones were decided by a rule for ties.
    """

    items: int
    scored: int
    complete: int
    ungraded: int
    cells: int
    missing: int
    abstained: int
    adjudicated: int
    unvoted: int
    tied: int
    planned: int
    spared: int
    votes: int
    abstentions: int
    failures: Mapping[str, int]
    calls: int
    lost_calls: int
    cached: int
    tokens_in: int
    tokens_out: int
    cost: float
    cost_unknown: int
    saved: float
    seconds: float


@dataclass(frozen=True)
class ScoreSlice:
    """The scores of some items. ``outcomes`` are shares of all of them: pass, fail, review, none.

    It is empty if no item has an outcome. ``waiting`` items need a person, whatever their outcome.
    """

    name: str
    items: int
    scored: int
    mean: Estimate
    outcomes: Mapping[str, Estimate]
    waiting: Estimate


@dataclass(frozen=True)
class CriterionLine:
    """A criterion. ``verdicts`` counts items by option label, worst option first as written.

    ``options`` are the options' indices into the criterion's choices, ``values`` their values;
    ``question`` is the criterion's own name, which differs from ``name`` if items ask different
    questions under one name. ``mean`` is the mean value of its verdicts. ``labelled`` items have
    both a verdict and the reference's answer; accuracy, ``commonest`` (the accuracy of always
    giving the reference's commonest answer) and kappa are over them.
    """

    name: str
    question: str
    scale: str
    weight: float
    labels: tuple[str, ...]
    options: tuple[int, ...]
    values: tuple[float, ...]
    verdicts: tuple[int, ...]
    abstained: int
    missing: int
    mean: Estimate
    alpha: Estimate
    labelled: int
    accuracy: Estimate
    commonest: Estimate
    kappa: Estimate
    kappa_weights: str


@dataclass(frozen=True)
class RaterLine:
    """A rater. ``mean`` is the mean score by its own answers under the rubric's policy.

    It is over the ``scored`` items, with an answer or abstention on every criterion.
    """

    name: str
    kind: str
    answers: int
    abstained: int
    failed: int
    scored: int
    mean: Estimate


@dataclass(frozen=True)
class ItemLine:
    """An item to look at first. ``low`` and ``high`` differ if a gate could not be decided.

    ``coverage`` is the assessed share of the weight.
    """

    id: str
    score: float
    low: float | None
    high: float | None
    outcome: str | None
    review: bool
    complete: bool
    coverage: float | None
    system: str
    preview: str


@dataclass(frozen=True)
class GateLine:
    """A gate or pre-check: on how many items it ``fired``, changed the score, or was undecided."""

    name: str
    kind: str
    fired: int
    moved: int
    undecided: int


@dataclass(frozen=True)
class RunReport:
    """Everything about a run, with its uncertainty. ``made`` is the time, as ISO UTC text.

    ``reference`` says what verdicts are compared with, or is empty; ``reference_scores`` are those
    by labels, ``None`` if labels are not the reference. ``limits`` and ``findings`` are sentences,
    and so is ``asked_again``, the findings of the newest probe and of the newest drift check;
    ``conclusion`` says which criteria can be trusted, and what would help. There are
    ``more_criteria`` without a line, because there are too many. ``stand_in`` says whether judges
    may replace people, as ``alt_test`` of ``metrics``; ``None`` unless people also rated.
    ``labels_declared`` says who declared the labels behind ``corrected`` as drawn at random.
    ``trust`` says how often the verdicts in force are right, as ``trust`` of ``metrics``. ``level``
    and ``interval`` are the level and method of intervals.
    """

    made: str
    setup: Setup
    counts: ReportCounts
    scores: ScoreSlice
    least: float | None
    median: float | None
    most: float | None
    bins: tuple[tuple[float, float, int], ...]
    systems: tuple[ScoreSlice, ...]
    tags: tuple[ScoreSlice, ...]
    splits: tuple[ScoreSlice, ...]
    reference: str
    labelled_items: int
    criteria: tuple[CriterionLine, ...]
    more_criteria: int
    raters: tuple[RaterLine, ...]
    reference_scores: RaterLine | None
    worst: tuple[ItemLine, ...]
    best: tuple[ItemLine, ...]
    gates: tuple[GateLine, ...]
    reviews: tuple[ReviewLine, ...]
    corrected: tuple[CorrectedLine, ...]
    systems_by_people: str
    findings: tuple[str, ...]
    checks: str
    limits: tuple[str, ...]
    conclusion: Conclusion | None
    resamples: int
    seed: int
    asked_again: tuple[str, ...] = ()
    stand_in: Mapping[str, Any] | None = None
    labels_declared: str = ""
    trust: Mapping[str, Any] = field(default_factory=dict)
    level: float = USUAL.level
    interval: str = USUAL.method

    def to_dict(self) -> dict[str, Any]:
        """Return JSON-ready plain data; every estimate becomes an object of its fields."""
        conclusion = self.conclusion
        sentences = {
            "conclusion": conclusion.finding if conclusion else "",
            "advice": conclusion.advice if conclusion else "",
        }
        data = {}
        for name in self.__dataclass_fields__:
            if name == "conclusion":
                data.update(sentences)
            else:
                data[name] = _plain_value(getattr(self, name))
        return data


def _plain_value(value: Any) -> Any:
    if isinstance(value, Estimate):
        share = value.hits is not None
        names = ("hits", "n", "low", "high", "value") if share else Estimate._fields[:5]
        return {name: getattr(value, name) for name in names}
    if isinstance(value, tuple) and hasattr(value, "_asdict"):
        return {name: _plain_value(part) for name, part in value._asdict().items()}
    if isinstance(value, Mapping):
        return {str(name): _plain_value(part) for name, part in value.items()}
    if isinstance(value, list | tuple):
        return [_plain_value(part) for part in value]
    if hasattr(value, "__dataclass_fields__"):
        return {name: _plain_value(getattr(value, name)) for name in value.__dataclass_fields__}
    return value


#: The address parameters of the Run page that select some of its items.
Link = Mapping[str, str]
OUTCOME = {"pass": "pass", "fail": "fail", "review": "need a person", "none": "have no outcome"}
KINDS = {
    "llm": "model",
    "offline": "offline judge",
    "human": "person",
    "reviewer": "reviewer",
    "classifier": "offline: classifier",
    "neighbours": "offline: nearest labelled neighbours",
    "check": "rules",
    "command": "a program",
    "function": "Python code",
    "person": "person",
    "imported": "imported model",
    "imported_offline": "imported offline judge",
    "reference": "reference",
}


def share_cell(estimate: Estimate | None, link: Link | None = None) -> TextCell:
    """Return a share with its count and interval.

    >>> share_cell(Estimate.share(3, 4)).below
    '3 of 4; 30% to 95%'
    """
    if estimate is None or not estimate.n:
        return TextCell(DASH)
    share, ends, _ = estimate.words(percent)
    below = f"{count(estimate.hits)} of {count(estimate.n)}; {ends}"
    return TextCell(share, below, link if link and estimate.hits else {})


def reported_number(value: int, link: Link | None = None) -> TextCell:
    """Return a count, linked to what it counts."""
    return TextCell(count(value), "", link if link and value else {})


def rater_kind(name: str, *, capital: bool = False) -> str:
    """Return the kind of a rater or judge, in words."""
    title = KINDS.get(name, name)
    return title[:1].upper() + title[1:] if capital else title


def reference_name(report: RunReport) -> Literal["labels", "people's majority"]:
    """Return the reference that verdicts are compared with."""
    return "people's majority" if report.reference == "people" else "labels"


def day_and_time(moment: str | None) -> str:
    """Return an ISO moment to the minute, in UTC.

    >>> day_and_time("2026-01-02T10:00:00.000Z")
    '2026-01-02 10:00 UTC'
    """
    return DASH if moment is None else f"{moment[:10]} {moment[11:16]} UTC"
