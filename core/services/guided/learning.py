"""How well offline judges learned from a number of grades, and what more grades would gain."""

from __future__ import annotations

from dataclasses import dataclass

from core.domain.dataset import Item
from core.domain.library import DatasetVersion, RubricVersion
from core.domain.panel import Judge
from core.domain.rubric import Rubric
from core.judging.offline import TrainingReport
from core.metrics.estimate import Estimate
from core.services.guided.own_grades import TEN, drawn_first
from core.services.results.scored_items import effective, labels_of
from core.services.runs.candidates import Candidates
from core.store.store import Store
from core.text.numbers import percent, plural, score

#: The fewest texts for a curve: half of them is the fewest that judges learn from.
FEWEST = 20
#: A gain of kappa from ten more grades that is too small to grade for.
LITTLE = 0.02
_JUDGE = Judge(name="learning", kind="classifier")


@dataclass(frozen=True)
class LearntCriterion:
    """The learning curve of a criterion.

    ``kappa`` is out of fold, weighted where options have an order, with ``low`` and ``high`` (95%).
    ``twice`` is what twice as many labels would give, with its own ends: a curve through half the
    labels and all of them. ``off`` says why there is no judge yet.
    """

    criterion: str
    labels: int
    kappa: float | None = None
    low: float | None = None
    high: float | None = None
    twice: tuple[float, float, float] | None = None
    ten_more: float | None = None
    off: str = ""

    @property
    def words(self) -> str:
        """Return it in a sentence."""
        if self.off or self.kappa is None:
            return f"not yet. {self.off}"
        now = Estimate(self.kappa, self.low, self.high).words(score).inline
        said = f"kappa {now} with {self.labels}"
        if self.twice is None:
            return f"{said}."
        return f"{said}, about {Estimate(*self.twice).words(score).inline} with {2 * self.labels}."


@dataclass(frozen=True)
class LearntSoFar:
    """The learning curves of all criteria."""

    criteria: tuple[LearntCriterion, ...]

    @property
    def enough(self) -> bool:
        """Return whether ten more grades would hardly improve any judge."""
        return all(
            not one.off and one.ten_more is not None and one.ten_more < LITTLE
            for one in self.criteria
        )

    @property
    def words(self) -> str:
        """Return advice on whether to continue grading, in a sentence."""
        off = sum(bool(one.off) for one in self.criteria)
        if off:
            return (
                f"{plural(off, 'criterion', 'criteria')} of {len(self.criteria)} cannot be judged "
                "yet: grade ten more."
            )
        if self.enough:
            return "Ten more would hardly change it: this is enough."
        return "Ten more would make it better."


def learning(store: Store, version: DatasetVersion, rubric: RubricVersion) -> LearntSoFar:
    """Return what judges learn from a dataset version's labels, by cross-validation."""
    everyone = Candidates(store, version.id, rubric.rubric)
    ids = [one.id for one in everyone.everyone if one.text]
    items = everyone.read(ids)
    order = drawn_first(ids, version)
    place = {item_id: at for at, item_id in enumerate(order)}
    taught = {one.id for one in everyone.everyone if one.teaches and one.split != "evaluation"}
    known = sorted((i for i in items if i.id in taught), key=lambda item: place[item.id])
    return LearntSoFar(
        tuple(
            _learnt(rubric.rubric, criterion.name, known, items)
            for criterion in rubric.rubric.criteria
        )
    )


def _learnt(
    rubric: Rubric, name: str, known: list[Item], items: tuple[Item, ...]
) -> LearntCriterion:
    from core.judging.offline import Unfit, train

    criterion = rubric.criterion(name)
    pairs = [
        (item, option)
        for item in known
        if (option := labels_of(item, effective(item, rubric)).get(name)) is not None
    ]
    found = train(_JUDGE, criterion, pairs, items, seed=1)
    report, n = found.report, len(pairs)
    if isinstance(found, Unfit):
        return LearntCriterion(name, n, off=_why_off(report))
    kappa = report.kappa if report.weighted_kappa is None else report.weighted_kappa
    low, high = report.kappa_range or (None, None)
    now = LearntCriterion(name, n, kappa, low, high)
    if n < FEWEST or kappa is None or low is None or high is None:
        return now
    half = train(_JUDGE, criterion, pairs[: n // 2], items, seed=1).report
    before = half.kappa if half.weighted_kappa is None else half.weighted_kappa
    if before is None or half.kappa_range is None:
        return now
    return _with_curve(now, kappa, before, (high - low) / 2, _width(half.kappa_range))


def _why_off(report: TrainingReport) -> str:
    if report.accuracy is None or report.majority is None:
        return report.reason
    return (
        f"Right on {percent(report.accuracy)} of {report.used}, always {report.baseline} on "
        f"{percent(report.majority)}: chance could do that."
    )


def _width(ends: tuple[float, float]) -> float:
    return (ends[1] - ends[0]) / 2


def _with_curve(
    now: LearntCriterion, kappa: float, before: float, wide: float, wider: float
) -> LearntCriterion:
    """Add what more labels would give: kappa falls short of its end by c over the root of n.

    Labels do not make judges worse, so a fall from half to all is chance and counts as no change.
    """
    rise = max(0.0, kappa - before)

    def reached(times: float) -> float:
        return min(1.0, kappa + rise * (1 - float(times**-0.5)) / (2**0.5 - 1))

    part = (1 - 2**-0.5) / (2**0.5 - 1)
    reach = (((1 + part) * wide) ** 2 + (part * wider) ** 2) ** 0.5
    about = reached(2.0)
    ends = max(-1.0, about - reach), min(1.0, about + reach)
    ten = reached((now.labels + TEN) / now.labels) - kappa
    return LearntCriterion(
        now.criterion, now.labels, now.kappa, now.low, now.high, (about, *ends), ten
    )
