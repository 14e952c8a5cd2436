"""What offline judges learned from a number of grades, and what more grades would gain."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from core.domain.dataset import Item
from core.domain.library import DatasetVersion, RubricVersion
from core.domain.panel import Judge
from core.domain.rubric import Criterion
from core.judging.offline import TrainingReport, train
from core.metrics.estimate import Estimate
from core.services.guided.own_grades import TEN, in_draw_order
from core.services.results.scored_items import labels_of, rubric_in_force
from core.services.runs.candidates import Candidates
from core.store.store import Store
from core.text.numbers import interval, percent, plural, score

#: With this many labels, ten more raise kappa by less than .02 on average
#: (bench/learning_curve.py).
MANY = 70
#: A kappa that is surely above this is good enough, whatever the number of grades.
GOOD = 0.6
#: If kappa's interval is wider, the interval with twice as many labels is not shown.
WIDEST = 1.0
#: The seed of what is shown as learned, and of runs on this path.
SEED = 1
_JUDGE = Judge(name="learning", kind="classifier")


@dataclass(frozen=True)
class LearntCriterion:
    """What a judge of a criterion learned.

    ``kappa`` is out of fold, weighted for ordered options, with ``low`` and ``high`` (95%). ``off``
    says why there is no judge yet.
    """

    criterion: str
    labels: int
    kappa: float | None = None
    low: float | None = None
    high: float | None = None
    off: str = ""

    @property
    def interval_if_doubled(self) -> tuple[float | None, float | None]:
        """Return kappa's interval with twice as many labels if kappa stays what it is.

        Both ends are ``None`` if it is undefined. A rise is not predicted: the difference between
        half the labels and all of them is chance.
        """
        if self.kappa is None or self.low is None or self.high is None:
            return None, None
        below, above = ((end - self.kappa) / 2**0.5 for end in (self.low, self.high))
        return self.kappa + below, self.kappa + above

    @property
    def enough(self) -> bool:
        """Return whether ten more labels would hardly improve the judge."""
        surely_good = self.low is not None and self.low >= GOOD
        return not self.off and (surely_good or self.labels >= MANY)

    @property
    def words(self) -> str:
        """Return what the judge learned, in a sentence."""
        if self.off or self.kappa is None:
            return f"not yet. {self.off}"
        now = Estimate(self.kappa, self.low, self.high).words(score).inline
        sentence = f"kappa {now} with {self.labels} labels."
        if self.low is None or self.high is None or self.high - self.low > WIDEST:
            return sentence
        return (
            f"{sentence} With {2 * self.labels} you would know it more exactly: "
            f"{interval(*self.interval_if_doubled)} if it stays {score(self.kappa)}."
        )


@dataclass(frozen=True)
class LearntSoFar:
    """What judges of all criteria learned, and how many texts are ``left`` to grade by hand."""

    criteria: tuple[LearntCriterion, ...]
    left: int = TEN

    @property
    def enough(self) -> bool:
        """Return whether ten more grades would hardly improve any judge."""
        return all(criterion.enough for criterion in self.criteria)

    @property
    def words(self) -> str:
        """Return advice on whether to continue grading, in a sentence."""
        without_judge = sum(bool(report.off) for report in self.criteria)
        next_texts = "ten more" if self.left >= TEN else f"the other {self.left}"
        if without_judge:
            advice = f": grade {next_texts}" if self.left else ""
            criteria = plural(without_judge, "criterion", "criteria")
            return f"{criteria} of {len(self.criteria)} cannot be judged yet{advice}."
        if not self.left:
            return "You have graded all texts."
        next_texts = next_texts.capitalize()
        if self.enough:
            return f"{next_texts} would hardly change it: this is enough."
        return f"{next_texts} would make it better."


def learning(
    store: Store, version: DatasetVersion, rubric: RubricVersion, part: float = 1.0
) -> LearntSoFar:
    """Return what judges learn from a part of a version's labelled texts, by cross-validation."""
    everyone = Candidates(store, version.id, rubric.rubric)
    ids = [candidate.id for candidate in everyone.everyone if candidate.text]
    items = everyone.read(ids)
    order = in_draw_order(ids, version)
    place = {item_id: index for index, item_id in enumerate(order)}
    labels_by_item = {
        candidate.id
        for candidate in everyone.everyone
        if candidate.teaches and candidate.split != "evaluation"
    }
    labelled = sorted((i for i in items if i.id in labels_by_item), key=lambda item: place[item.id])
    labelled = labelled[: round(part * len(labelled))]
    labels = [(item, labels_of(item, rubric_in_force(item, rubric.rubric))) for item in labelled]
    return LearntSoFar(
        tuple(
            curve_of(
                criterion,
                [(item, item_labels[name]) for item, item_labels in labels if name in item_labels],
                items,
            )
            for criterion in rubric.rubric.criteria
            if (name := criterion.name)
        ),
        sum(not candidate.teaches for candidate in everyone.everyone if candidate.text),
    )


def curve_of(
    criterion: Criterion, pairs: Sequence[tuple[Item, int]], items: Sequence[Item]
) -> LearntCriterion:
    """Return what a judge of ``criterion`` learns from labelled items, in the order of their draw.

    ``items`` are all items that it would judge.
    """
    name = criterion.name
    result = train(_JUDGE, criterion, pairs, items, seed=SEED)
    n = len(pairs)
    if isinstance(result, TrainingReport):
        return LearntCriterion(name, n, off=_why_off(result))
    report = result.report
    kappa = report.kappa if report.weighted_kappa is None else report.weighted_kappa
    return LearntCriterion(name, n, kappa, *(report.kappa_range or (None, None)))


def _why_off(report: TrainingReport) -> str:
    if report.accuracy is None or report.majority is None:
        return report.reason
    return (
        f"Right on {percent(report.accuracy)} of {report.used}, always {report.baseline} on "
        f"{percent(report.majority)}: chance could do that."
    )
