"""Rank systems by pointwise scores."""

from __future__ import annotations

from collections import Counter
from collections.abc import Container, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np

from core.domain.dataset import Dataset, Item
from core.metrics.estimate import Estimate
from core.metrics.measure import Array, Ratings
from core.metrics.ranking.contests import ContestTable, win_rates
from core.metrics.ranking.ranks import (
    ballot_means,
    borda_points,
    contests_of_ballots,
    kendall_tau,
    keys_with_ties_broken,
    mid_ranks,
    spearman_rho,
    z_scores,
)
from core.scoring import score_item
from core.services.agreement.ratings import Rated, Rater
from core.services.pairwise.leaderboard_parts import Methods, side_by_side, winner_differs
from core.services.pairwise.system_answers import join_datasets
from core.services.results.verdicts import texts_of_item
from core.text.model_names import relation_of
from core.text.numbers import count, plural

#: The scores that a ranking excludes by default: scores of a judge's own model, and of its model
#: family.
EXCLUDED = ("self", "family")


# Systems ranked by pointwise scores: every answer is graded alone.
#
# A ballot is one judge's scores of several systems on one task. Ranks come from the gated score
# and, in a tie, from the score before gates, never from a list that a judge wrote. A judge's ballot
# leaves out its own answers and those of its family, and closes the gap.

#: The mean of every judge's own scores. A report's mean score is another figure: of the panel's
#: verdicts.
JUDGES_MEAN = "judges' mean score"


@dataclass(frozen=True)
class Ballots:
    """Scores of shape (ballots, systems), NaN if missing; ``base`` has the scores before gates.

    ``judge`` and ``task`` are each ballot's numbers. ``excluded`` counts answers left out because
    judge and system are related, ``incomplete`` those with a failed or missing vote, ``ungraded``
    those with too little assessed.
    """

    systems: tuple[str, ...]
    judges: tuple[Rater, ...]
    tasks: tuple[str, ...]
    scores: Array
    base: Array
    judge: Ratings
    task: Ratings
    excluded: int
    incomplete: int
    ungraded: int
    notices: tuple[str, ...]

    @property
    def keys(self) -> Array:
        """Return the sort keys of each ballot's systems: the gated score, then the base."""
        return keys_with_ties_broken(self.scores, self.base)

    @property
    def contests(self) -> ContestTable:
        """Return every pair of systems of a ballot as a contest."""
        return contests_of_ballots(self.keys, self.task)


class JudgeView(NamedTuple):
    """One judge's view of the systems. ``scores`` are means, ``ranks`` their mid-ranks; ``offset``
    is its mean less that of all judges on shared answers.
    """

    judge: str
    kind: str
    scores: tuple[float | None, ...]
    ranks: tuple[float | None, ...]
    offset: Estimate


@dataclass(frozen=True)
class Listwise:
    """A comparison of ranking methods, the judges' own views, and how similar those are.

    ``likeness`` has the names of two judges, with Spearman's rho and Kendall's tau.
    """

    ballots: Ballots
    methods: Methods
    judges: tuple[JudgeView, ...]
    likeness: tuple[tuple[str, str, Estimate, Estimate], ...]
    notices: tuple[str, ...]


def ballots_of(
    rated: Rated,
    *,
    note_key: str | None = None,
    exclude: Sequence[str] = EXCLUDED,
    models: Mapping[str, str] | None = None,
) -> Ballots:
    """Return the ballots of the judges and people of a run or folder.

    ``note_key`` joins items to tasks as in ``contest_field.join``. ``exclude`` drops answers of the
    judge's own model (``self``) and its family (``family``). ``models`` maps judges to models; by
    default a judge's name is its model.

    Raises:
        InputError: items without a system, or without a task.
    """
    field = join_datasets([Dataset(name="source", items=rated.items)], note_key=note_key)
    scored = SystemScores(rated)
    model_names = models or {}
    rows: list[tuple[list[float], list[float], int, int]] = []
    counts = Counter[str]()
    for number, rater in enumerate(rated.graders):
        model = model_names.get(rater.name.partition("|")[0], rater.name)
        related = {s for s in field.systems if relation_of(model, s) in exclude}
        for index, answers in enumerate(field.tasks.values()):
            items = [answers.get(system) for system in field.systems]
            score, base = _ballot_of(scored, rater, field.systems, items, related, counts)
            if sum(not np.isnan(s) for s in score) > 1:
                rows.append((score, base, number, index))
    n = len(field.systems)
    return Ballots(
        systems=field.systems,
        judges=rated.graders,
        tasks=tuple(field.tasks),
        scores=np.array([r[0] for r in rows], np.float64).reshape(-1, n),
        base=np.array([r[1] for r in rows], np.float64).reshape(-1, n),
        judge=np.array([r[2] for r in rows], np.int64),
        task=np.array([r[3] for r in rows], np.int64),
        excluded=counts["excluded"],
        incomplete=counts["incomplete"],
        ungraded=counts["ungraded"],
        notices=(*field.notices, *_ignored_label_notes(rated)),
    )


def _ignored_label_notes(rated: Rated) -> Iterator[str]:
    """Yield a note that ranks by votes ignore labels, if there are any."""
    labelled = int(np.any([(criterion.gold >= 0) for criterion in rated.criteria], axis=0).sum())
    if labelled:
        yield (
            f"Ranks go by the votes; labels of {count(labelled)} of "
            f"{plural(len(rated.of.ids), 'item')} have no say in them. Where labels are known to "
            "be drawn at random, the systems' means are corrected by them."
        )


def compare_methods(ballots: Ballots) -> Listwise:
    """Return all ranking methods on the ballots, compared."""
    table = ballots.contests
    z = z_scores(ballots.scores)
    methods = side_by_side(
        {
            JUDGES_MEAN: _as_list(ballot_means(ballots.scores)),
            "Borda": _as_list(ballot_means(borda_points(ballots.keys))),
            "z-mean": _as_list(ballot_means(z)),
            "win rate": _as_list(win_rates(table.pairs, table.totals(), table.systems)),
        },
        ballots.systems,
    )
    views = tuple(_judge_view(ballots, number) for number in range(len(ballots.judges)))
    views = tuple(view for view in views if any(s is not None for s in view.scores))
    likeness = tuple(
        (
            first.judge,
            second.judge,
            spearman_rho(_as_array(first.scores), _as_array(second.scores)),
            kendall_tau(_as_array(first.scores), _as_array(second.scores)),
        )
        for index, first in enumerate(views)
        for second in views[index + 1 :]
    )
    return Listwise(ballots, methods, views, likeness, tuple(_method_notices(ballots, z, methods)))


#: Why a rater's answers to an item have no score.
LeftOut = Literal["incomplete", "ungraded"]


class SystemScores:
    """Scores of raters' answers, each computed once."""

    def __init__(self, rated: Rated) -> None:
        self._rated = rated
        self._items = {item.id: item for item in rated.items}

    def of(self, rater: Rater, item_id: str) -> tuple[float, float] | LeftOut | None:
        """Return a rater's score of an item: total and base. Return the reason if there is no
        score, or ``None`` if there are no answers.
        """
        answers = self._rated.answers_of(rater, item_id)
        if not answers:
            return None
        item = self._items[item_id]
        result = score_item(self._rated.of.rubric_of(item_id), answers, texts=texts_of_item(item))
        if any(part.missing for part in result.trace.criteria):
            return "incomplete"
        if result.score is None or result.trace.base is None:
            return "ungraded"
        return result.score, result.trace.base


def _ballot_of(
    scored: SystemScores,
    rater: Rater,
    systems: Sequence[str],
    items: Sequence[Item | None],
    related: Container[str],
    counts: Counter[str],
) -> tuple[list[float], list[float]]:
    """Return one ballot: the scores of a task's systems and their bases, NaN if missing."""
    line: list[float] = []
    bases: list[float] = []
    for system, item in zip(systems, items, strict=True):
        result = None if item is None else scored.of(rater, item.id)
        if result is not None and system in related:
            counts["excluded"] += 1
            result = None
        if isinstance(result, str):
            counts[result] += 1
            result = None
        line.append(float("nan") if result is None else result[0])
        bases.append(float("nan") if result is None else result[1])
    return line, bases


def _judge_view(ballots: Ballots, number: int) -> JudgeView:
    judge = ballots.judges[number]
    own_rows = ballots.judge == number
    mean = ballot_means(ballots.scores[own_rows])
    gaps: list[float] = []
    for row in np.flatnonzero(own_rows):
        other_scores = ballots.scores[(ballots.task == ballots.task[row]) & ~own_rows]
        gaps += (
            (ballots.scores[row] - ballot_means(other_scores)).tolist() if len(other_scores) else []
        )
    shared = [gap for gap in gaps if not np.isnan(gap)]
    offset = (
        Estimate.defined(float(np.mean(shared)), len(shared))
        if shared
        else Estimate.undefined("No other judge scored the same answers.")
    )
    return JudgeView(
        judge.name, judge.kind, tuple(_as_list(mean)), tuple(_as_list(mid_ranks(mean))), offset
    )


def _method_notices(ballots: Ballots, z: Array, methods: Methods) -> list[str]:
    notices = list(ballots.notices)
    if ballots.excluded:
        notices.append(
            f"{ballots.excluded} scores of a judge for its own or its family's answers are left "
            "out."
        )
    notices += left_out_words({"incomplete": ballots.incomplete, "ungraded": ballots.ungraded})
    level = int(np.isnan(z).all(axis=1).sum()) if len(z) else 0
    if level and len(ballots.systems) < 3:
        notices.append("There is no z-mean: it needs three systems.")
    elif level:
        notices.append(
            f"{level} of {len(z)} times a judge gave all systems of a task the same score; the "
            "z-mean leaves these out."
        )
    if winner_differs(methods):
        names = "; ".join(f"{w.name}: {', '.join(w.winners)}" for w in methods if w.winners)
        notices.append(f"The winner depends on the method. {names}.")
    return notices


def left_out_words(counts: Mapping[LeftOut, int]) -> list[str]:
    """Return how many scores are left out, by reason.

    >>> left_out_words({"incomplete": 0, "ungraded": 2})
    ['2 answers have no grade: too little was assessed.']
    """
    sentences = list[str]()
    if n := counts["incomplete"]:
        sentences.append(f"{n} scores with a failed or missing vote are left out.")
    if n := counts["ungraded"]:
        verb = "has" if n == 1 else "have"
        sentences.append(f"{plural(n, 'answer')} {verb} no grade: too little was assessed.")
    return sentences


def _as_list(values: Array) -> list[float | None]:
    return [None if np.isnan(v) else float(v) for v in values]


def _as_array(values: Sequence[float | None]) -> list[float]:
    return [float("nan") if v is None else v for v in values]
