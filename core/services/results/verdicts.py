"""Which votes count, and the verdicts and scores derived from them by pure functions."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from statistics import fmean
from types import MappingProxyType
from typing import Any, NamedTuple

from core.domain.dataset import Item
from core.domain.panel import Judge, Panel, Rules
from core.domain.review import SettledCell
from core.domain.rubric import Criterion, Rubric
from core.domain.runs import Derive, ItemResult, RunPlan
from core.domain.votes import ADJUDICATED, BallotRow, ItemBallots, Verdict
from core.domain.weight_fit import Fitted, Weights
from core.scoring import ItemScore, MeasuredTexts, Texts, measured_texts, needs_texts, score_item
from core.scoring.verdict import Ballot, settle

# Which votes count towards a verdict. Votes of shadow judges do not. A flipped answer only checks
# the unflipped one: if the two differ, ``require_both`` turns them into an abstention. In a
# cascade, only votes of the last stage asked count. All votes are stored; this only reads them.


@dataclass(frozen=True)
class VoteCounting:
    """How votes count. By default all votes count equally, as imports need.

    ``weights`` maps raters to weights (default 1). ``flip_from`` is the first replicate that
    repeats another with the options reversed (``None`` without such replicates); ``require_both``
    turns two differing answers into one abstention. ``stages`` maps judges to their stage; ``None``
    without a cascade.
    """

    weights: Mapping[str, float] = field(default_factory=dict)
    planned: int | None = None
    shadows: frozenset[str] = frozenset()
    flip_from: int | None = None
    require_both: bool = False
    stages: Mapping[str, int] | None = None
    planned_by_stage: Mapping[int, int] = field(default_factory=dict)

    def count(self, rows: Sequence[BallotRow]) -> list[Ballot]:
        """Return the ballots that decide a cell."""
        if not (self.shadows or self.stages or self.flip_from is not None):
            weight = self.weights.get
            return [
                Ballot(r.option, r.abstained, weight(r.judge, 1.0), r.judge, r.chances)
                for r in rows
            ]
        counted = [r for r in rows if r.judge not in self.shadows]
        if self.stages is not None and counted:
            last = max(self.stages[r.judge] for r in counted)
            counted = [r for r in counted if self.stages[r.judge] == last]
        return self._without_flips(counted)

    def planned_for(self, rows: Sequence[BallotRow]) -> int | None:
        """Return the planned number of ballots that decide a cell; ``None`` for imports."""
        stages = [self.stages[r.judge] for r in rows if self.stages and r.judge not in self.shadows]
        return self.planned_by_stage[max(stages)] if stages else self.planned

    def _without_flips(self, rows: Sequence[BallotRow]) -> list[Ballot]:
        if self.flip_from is None:
            return [self._ballot_from(r) for r in rows]
        flipped = {
            (r.judge, r.replicate - self.flip_from): r
            for r in rows
            if r.replicate >= self.flip_from
        }
        ballots = []
        for row in rows:
            if row.replicate >= self.flip_from:
                continue
            twin = flipped.get((row.judge, row.replicate))
            if not self.require_both or twin is None or twin.option == row.option:
                ballots.append(self._ballot_from(row))
            else:
                ballots.append(Ballot(None, True, self.weights.get(row.judge, 1.0), row.judge))
        return ballots

    def _ballot_from(self, row: BallotRow) -> Ballot:
        weight = self.weights.get(row.judge, 1.0)
        return Ballot(row.option, row.abstained, weight, row.judge, row.chances)


def counting_of(plan: RunPlan) -> VoteCounting:
    """Return how the votes of a run count."""
    panel = plan.panel
    counted = [j for j in panel.judges if not j.shadow]
    models = [j for j in panel.judges if j.askable and not j.offline]
    flips = panel.asking.flip != "off" and bool(models)
    by_stage: dict[int, int] = {}
    for judge in counted:
        by_stage[judge.stage] = by_stage.get(judge.stage, 0) + plan.replicates
    return VoteCounting(
        weights={j.name: j.weight for j in panel.judges},
        # An import's votes are complete: nothing was planned, so no vote is missing.
        planned=len(counted) * plan.replicates if panel.askable else None,
        shadows=frozenset(j.name for j in panel.judges if j.shadow),
        flip_from=plan.replicates if flips else None,
        require_both=panel.asking.flip == "require",
        stages={j.name: j.stage for j in panel.judges} if panel.cascade else None,
        planned_by_stage=by_stage,
    )


def answers_of(judge: Judge, panel: Panel, replicates: int) -> int:
    """Return a judge's number of answers per cell: its replicates, doubled if also flipped."""
    flipped = panel.asking.flip != "off" and judge.askable and not judge.offline
    return replicates * (2 if flipped else 1)


def answers_per_cell(panel: Panel, replicates: int) -> int:
    """Return the largest number of answers that a cell can get from all judges."""
    return sum(answers_of(judge, panel, replicates) for judge in panel.judges)


def calls_of(judge: Judge, panel: Panel, replicates: int, *, items: int, cells: int) -> int:
    """Return a judge's number of calls for this many items and (item, criterion) cells."""
    if judge.offline or not judge.askable:
        return 0
    mode = judge.mode_in(panel.asking)
    questions = items if mode == "rubric" else cells
    steps = 2 if mode == "two_step" else 1
    return questions * steps * answers_of(judge, panel, replicates)


RubricOf = Callable[[str], Rubric]
#: People's settlements of these items, by item id and criterion name.
SettledOf = Callable[[Sequence[str]], Mapping[str, Mapping[str, SettledCell]]]
NOTHING_FITTED: Mapping[str, Fitted] = MappingProxyType({})


def result_deriver(
    rules: Rules,
    counting: VoteCounting,
    rubric_of: RubricOf,
    texts_of: Callable[[str], Texts] | None = None,
    settled_of: SettledOf | None = None,
    fitted: Mapping[str, Fitted] = NOTHING_FITTED,
) -> Derive:
    """Return the function from items' votes to their verdicts and scores.

    ``counting`` determines which votes count, ``rubric_of`` the rubric in force for an item id, and
    ``texts_of`` its texts, needed only if a rubric uses them. ``settled_of`` returns people's
    settlements, which override votes; it is called each time. ``fitted`` has the rules fitted on
    labelled items, by criterion; they replace ``rules`` if they fit.
    """
    measured: dict[str, MeasuredTexts] = {}
    equal_votes = EqualVotesCache(rules, counting, fitted)

    def derive_results(items: Sequence[ItemBallots]) -> list[ItemResult]:
        equal_votes.keep_small()
        decided = settled_of([item.item_id for item in items]) if settled_of else {}
        return [_item_result(item, decided.get(item.item_id, {})) for item in items]

    def _item_result(item: ItemBallots, decided: Mapping[str, SettledCell]) -> ItemResult:
        rubric = rubric_of(item.item_id)
        by_criterion: dict[str, list[BallotRow]] = {}
        for row in item.ballots:
            by_criterion.setdefault(row.criterion, []).append(row)
        verdicts = list[Verdict | None]()
        for c in rubric.criteria:
            failures = item.failures.get(c.name, 0)
            verdict = None
            if c.name in by_criterion:
                verdict = equal_votes.settled(c, by_criterion[c.name], failures)
            if c.name in decided:
                verdict = adjudicated_verdict(c, verdict, decided[c.name], failures)
            verdicts.append(verdict)
        texts = _measured_texts(item.item_id, rubric)
        return item_result(item.item_id, rubric, verdicts, texts, equal_votes)

    def _measured_texts(item_id: str, rubric: Rubric) -> MeasuredTexts | None:
        # Measured once, since an item is derived again with every batch of its votes.
        if texts_of and needs_texts(rubric) and item_id not in measured:
            measured[item_id] = measured_texts(rubric, texts_of(item_id))
        return measured.get(item_id)

    return derive_results


class DerivedFrom(NamedTuple):
    """The inputs of a run's results other than its votes."""

    plan: RunPlan
    rubric: Rubric
    items: Sequence[Item]


#: The most verdicts, and the most scores, that are cached at once.
_MOST_ALIKE = 50_000


class EqualVotesCache:
    """A cache of results by votes: many items have equal votes, and each distinct set is settled
    once.
    """

    def __init__(self, rules: Rules, counting: VoteCounting, fitted: Mapping[str, Fitted]) -> None:
        self._rules, self._counting, self._fitted = rules, counting, fitted
        self._verdicts: dict[object, Verdict | None] = {}
        self._scores: dict[object, Scored] = {}

    def keep_small(self) -> None:
        """Clear the cache if it has become too large."""
        if max(len(self._verdicts), len(self._scores)) > _MOST_ALIKE:
            self._verdicts, self._scores = {}, {}

    def settled(self, c: Criterion, rows: Sequence[BallotRow], failures: int) -> Verdict | None:
        """Return the verdict of a cell."""
        rule = self._fitted.get(c.name)
        if rule and rule.fits(c):
            return self._settle_cell(c, rows, failures, rule.for_item(rows[0].item_id))
        # The votes without their item. Ids of criteria are safe, since criteria outlive this cache.
        key = (id(c), failures, tuple(row[2:] for row in rows))
        if key not in self._verdicts:
            self._verdicts[key] = self._settle_cell(c, rows, failures, None)
        return self._verdicts[key]

    def _settle_cell(
        self, c: Criterion, rows: Sequence[BallotRow], failures: int, weights: Weights | None
    ) -> Verdict | None:
        return settle(
            c,
            self._counting.count(rows),
            self._rules,
            failures=failures,
            planned=self._counting.planned_for(rows),
            weights=weights,
        )

    def scored(
        self,
        rubric: Rubric,
        options: Mapping[str, int | None],
        texts: Texts | MeasuredTexts | None,
        settled: frozenset[str],
    ) -> Scored:
        """Return the score of these options and its trace as plain data, which must not be
        modified.
        """
        key = (id(rubric), tuple(options.items()), texts, settled)
        if key not in self._scores:
            self._scores[key] = _score_options(rubric, options, texts, settled)
        return self._scores[key]


Scored = tuple[ItemScore, dict[str, Any]]


def _score_options(
    rubric: Rubric,
    options: Mapping[str, int | None],
    texts: Texts | MeasuredTexts | None,
    settled: frozenset[str],
) -> Scored:
    score = score_item(rubric, options, texts=texts, settled=settled)
    return score, score.trace.to_dict()


def adjudicated_verdict(
    criterion: Criterion, voted: Verdict | None, settled: SettledCell, failures: int
) -> Verdict:
    """Return the verdict settled by people, with the votes' agreement unchanged.

    It is an abstention if people could not assess the cell.
    """
    option = criterion.na_index if settled.uncertain else settled.option
    value = None if option is None else criterion.values[option]
    if voted is None:
        doubt = (None, None, None, None, 0.0, 0, 0, failures)
        voted = Verdict(criterion.name, None, False, None, *doubt, ADJUDICATED, False, "")
    return voted._replace(
        option=option,
        abstained=value is None,
        value=value,
        continuous=None,
        rule=ADJUDICATED,
        tie=False,
        warning="",
        voted=voted.option,
    )


def item_result(
    item_id: str,
    rubric: Rubric,
    verdicts: Iterable[Verdict | None],
    texts: Texts | MeasuredTexts | None = None,
    equal_votes: EqualVotesCache | None = None,
) -> ItemResult:
    """Return the score and cells of an item from its verdicts, some of which may be missing.

    ``equal_votes`` caches scores.
    """
    cells = tuple(v for v in verdicts if v is not None)
    options = {v.criterion: v.option for v in cells}
    people = frozenset(v.criterion for v in cells if v.rule == ADJUDICATED)
    score, details = (equal_votes.scored if equal_votes else _score_options)(
        rubric, options, texts, people
    )
    agreements = [v.agreement for v in cells if v.agreement is not None]
    trace = score.trace
    return ItemResult(
        item_id=item_id,
        score=score.score,
        raw=score.raw,
        complete=trace.complete,
        agreement=fmean(agreements) if agreements else None,
        cells=cells,
        trace=details,
        low=trace.low,
        high=trace.high,
        fail=trace.fail,
        review=trace.review,
        outcome=trace.outcome,
    )


def rubric_lookup(rubric: Rubric, items: Sequence[Item]) -> RubricOf:
    """Return the rubric in force per item id: the item's own if it has one, else ``rubric``."""
    own_rubrics = {item.id: item.rubric for item in items if item.rubric is not None}
    return lambda item_id: own_rubrics.get(item_id, rubric)


def texts_lookup(items: Sequence[Item]) -> Callable[[str], Texts]:
    """Return the texts of an item by its id, for length penalties and pre-checks."""
    by_id = {item.id: item for item in items}

    def texts_of(item_id: str) -> Texts:
        item = by_id[item_id]
        return texts_of_item(item)

    return texts_of


def texts_of_item(item: Item) -> Texts:
    """Return the texts of an item. In a conversation, pre-checks skip the user's turns."""
    turns = item.submission if isinstance(item.submission, tuple) else ()
    judged = [turn.content for turn in turns if turn.judged]
    return Texts(item.output, item.thinking, "\n\n".join(judged) if judged else None)
