"""Systems ranked from pointwise scores."""

from __future__ import annotations

from collections import Counter
from collections.abc import Container, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np

from core.domain.dataset import Dataset
from core.metrics.estimate import Estimate
from core.metrics.measure import Array, Ratings
from core.metrics.ranking.contests import ContestTable, win_rates
from core.metrics.ranking.ranks import (
    as_contests,
    borda,
    kendall_tau,
    means,
    mid_ranks,
    ordered,
    spearman_rho,
    z_scores,
)
from core.scoring import score_item
from core.services.agreement.ratings import Rated, Rater
from core.services.pairwise.leaderboard_parts import Methods, side_by_side
from core.services.pairwise.system_answers import ContestField, join
from core.services.results.verdicts import texts_from
from core.text.model_names import related
from core.text.numbers import count, plural

#: Whose scores of a system are left out of its ranking unless somebody asks for them.
EXCLUDED = ("self", "family")


# Systems ranked from pointwise scores: every answer graded alone, then put in order.
#
# A ballot is what one judge's scores say of several systems on one task. Ranks come from the gated
# score and, where that is level, from the score before gates; never from a list that a judge wrote
# itself. A judge's ballot leaves out its own answers and those of its family, and moves the rest
# together.

#: The mean of every judge's own scores. Another number than the mean score of a report, which is of
#: the panel's verdicts; so it has another name, on every surface.
JUDGES_MEAN = "judges' mean score"


@dataclass(frozen=True)
class Ballots:
    """Scores of shape (ballots, systems), NaN where a ballot has none; ``base`` before gates.

    ``judge`` and ``task`` number each ballot's; ``excluded`` counts answers left out because judge
    and system are related, ``incomplete`` those with a failed or missing vote, ``ungraded`` those
    of which too little was assessed.
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
        """What orders the systems of each ballot: the gated score, then the base."""
        return ordered(self.scores, self.base)

    @property
    def contests(self) -> ContestTable:
        """Every two systems of a ballot as a contest."""
        return as_contests(self.keys, self.task)


class JudgeView(NamedTuple):
    """How one judge sees the systems. ``scores`` are means, ``ranks`` their mid-ranks; ``offset``
    is how much higher it scores than the mean of all judges on what it shares with others.
    """

    judge: str
    kind: str
    scores: tuple[float | None, ...]
    ranks: tuple[float | None, ...]
    offset: Estimate


class JudgeLikeness(NamedTuple):
    """Do two judges rank the systems alike?"""

    one: str
    other: str
    spearman: Estimate
    kendall: Estimate


@dataclass(frozen=True)
class Listwise:
    """Ways to rank side by side, the judges' own views, and how alike those are."""

    ballots: Ballots
    methods: Methods
    judges: tuple[JudgeView, ...]
    likeness: tuple[JudgeLikeness, ...]
    notices: tuple[str, ...]


def ballots_of(
    rated: Rated,
    *,
    by: str | None = None,
    exclude: Sequence[str] = EXCLUDED,
    models: Mapping[str, str] | None = None,
) -> Ballots:
    """The ballots of a run's or folder's judges (people among them).

    ``by`` joins items to tasks as ``contest_field.join`` does. ``exclude`` leaves out answers of
    the judge's own model (``self``) and of its family (``family``); ``models`` gives the models of
    judges by name, else their names are taken for them.

    Raises:
        InputError: items that name no system, or belong to no task.
    """
    field = join([Dataset(name="source", items=rated.items)], by=by)
    scored = SystemScores(rated)
    known = models or {}
    rows: list[tuple[list[float], list[float], int, int]] = []
    counts = Counter[str]()
    for number, rater in enumerate(rated.graders):
        model = known.get(rater.name.partition("|")[0], rater.name)
        kin = {s for s in field.systems if related(model, s) in exclude}
        for at in range(len(field.tasks)):
            score, base = _line(scored, rater, field, at, kin, counts)
            if sum(not np.isnan(s) for s in score) > 1:
                rows.append((score, base, number, at))
    n = len(field.systems)
    return Ballots(
        systems=field.systems,
        judges=rated.graders,
        tasks=tuple(task.id for task in field.tasks),
        scores=np.array([r[0] for r in rows], np.float64).reshape(-1, n),
        base=np.array([r[1] for r in rows], np.float64).reshape(-1, n),
        judge=np.array([r[2] for r in rows], np.int64),
        task=np.array([r[3] for r in rows], np.int64),
        excluded=counts["excluded"],
        incomplete=counts["incomplete"],
        ungraded=counts["ungraded"],
        notices=(*field.notices, *_unheard(rated)),
    )


def _unheard(rated: Rated) -> Iterator[str]:
    """That labels have no say in ranks by votes, where there are any."""
    labelled = int(np.any([(one.gold >= 0) for one in rated.criteria], axis=0).sum())
    if labelled:
        yield (
            f"Ranks go by the votes; labels of {count(labelled)} of "
            f"{plural(len(rated.of.ids), 'item')} have no say in them. Where labels are known to "
            "be drawn at random, the systems' means are corrected by them."
        )


def listwise(ballots: Ballots) -> Listwise:
    """All ways to rank the systems from ballots, side by side."""
    table = ballots.contests
    z = z_scores(ballots.scores)
    methods = side_by_side(
        {
            JUDGES_MEAN: _list(means(ballots.scores)),
            "Borda": _list(means(borda(ballots.keys))),
            "z-mean": _list(means(z)),
            "win rate": _list(win_rates(table.pairs, table.totals(), table.systems)),
        },
        ballots.systems,
    )
    views = tuple(_view(ballots, number) for number in range(len(ballots.judges)))
    views = tuple(view for view in views if any(s is not None for s in view.scores))
    likeness = tuple(
        JudgeLikeness(
            one.judge,
            other.judge,
            spearman_rho(_array(one.scores), _array(other.scores)),
            kendall_tau(_array(one.scores), _array(other.scores)),
        )
        for at, one in enumerate(views)
        for other in views[at + 1 :]
    )
    return Listwise(ballots, methods, views, likeness, tuple(_notices(ballots, z, methods)))


#: Why a rater's answers to an item give no score that counts.
LeftOut = Literal["incomplete", "ungraded"]


class SystemScores:
    """Scores of raters' answers, each computed once."""

    def __init__(self, rated: Rated) -> None:
        self._rated = rated
        self._items = {item.id: item for item in rated.items}

    def of(self, rater: Rater, item_id: str) -> tuple[float, float] | LeftOut | None:
        """Total and base, or why they are left out; ``None`` where nothing was answered."""
        answers = self._rated.answers_of(rater, item_id)
        if not answers:
            return None
        item = self._items[item_id]
        found = score_item(self._rated.of.rubric_of(item_id), answers, texts=texts_from(item))
        if any(part.missing for part in found.trace.criteria):
            return "incomplete"
        if found.score is None or found.trace.base is None:
            return "ungraded"
        return found.score, found.trace.base


def _line(
    scored: SystemScores,
    rater: Rater,
    field: ContestField,
    at: int,
    kin: Container[str],
    counts: Counter[str],
) -> tuple[list[float], list[float]]:
    """One ballot: the scores of a task's systems and their bases, NaN where there is none."""
    line: list[float] = []
    bases: list[float] = []
    for system in field.systems:
        item = field.tasks[at].answers.get(system)
        found = None if item is None else scored.of(rater, item.id)
        if found is not None and system in kin:
            counts["excluded"] += 1
            found = None
        if isinstance(found, str):
            counts[found] += 1
            found = None
        line.append(float("nan") if found is None else found[0])
        bases.append(float("nan") if found is None else found[1])
    return line, bases


def _view(ballots: Ballots, number: int) -> JudgeView:
    judge = ballots.judges[number]
    own = ballots.judge == number
    mean = means(ballots.scores[own])
    gaps: list[float] = []
    for row in np.flatnonzero(own):
        others = ballots.scores[(ballots.task == ballots.task[row]) & ~own]
        gaps += (ballots.scores[row] - means(others)).tolist() if len(others) else []
    shared = [gap for gap in gaps if not np.isnan(gap)]
    offset = (
        Estimate.defined(float(np.mean(shared)), len(shared))
        if shared
        else Estimate.undefined("No other judge scored the same answers.")
    )
    return JudgeView(
        judge.name, judge.kind, tuple(_list(mean)), tuple(_list(mid_ranks(mean))), offset
    )


def _notices(ballots: Ballots, z: Array, methods: Methods) -> list[str]:
    said = list(ballots.notices)
    if ballots.excluded:
        said.append(
            f"{ballots.excluded} scores of a judge for its own or its family's answers are left "
            "out."
        )
    said += left_out_words({"incomplete": ballots.incomplete, "ungraded": ballots.ungraded})
    level = int(np.isnan(z).all(axis=1).sum()) if len(z) else 0
    if level and len(ballots.systems) < 3:
        said.append("There is no z-mean: it needs three systems.")
    elif level:
        said.append(
            f"{level} of {len(z)} times a judge scored all systems of a task alike; the z-mean "
            "leaves these out."
        )
    if methods.winner_differs:
        names = "; ".join(f"{w.name}: {', '.join(w.winners)}" for w in methods.ways if w.winners)
        said.append(f"The winner depends on the method. {names}.")
    return said


def left_out_words(counts: Mapping[LeftOut, int]) -> list[str]:
    """How many scores count nowhere, by the reason.

    >>> left_out_words({"incomplete": 0, "ungraded": 2})
    ['2 answers have no grade: too little was assessed.']
    """
    said = list[str]()
    if n := counts["incomplete"]:
        said.append(f"{n} scores with a failed or missing vote are left out.")
    if n := counts["ungraded"]:
        verb = "has" if n == 1 else "have"
        said.append(f"{plural(n, 'answer')} {verb} no grade: too little was assessed.")
    return said


def _list(values: Array) -> list[float | None]:
    return [None if np.isnan(v) else float(v) for v in values]


def _array(values: Sequence[float | None]) -> list[float]:
    return [float("nan") if v is None else v for v in values]
