"""The rule ``calibrated``: weights fitted on labelled cells, offered only if better."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from math import sqrt
from typing import TYPE_CHECKING

from core.domain.panel import Rules
from core.domain.rubric import Criterion
from core.domain.runs import RESTING
from core.domain.votes import BallotRow
from core.domain.weight_fit import Fitted, Kind, Weights, weights_as_shares
from core.errors import Conflict, InputError, Problem
from core.identity import seeded_random
from core.scoring.verdict import Ballot, log_weights, settle
from core.services.access.allowing import allowed
from core.services.results.scored_items import (
    derive_of_run,
    fitted_of,
    keep_fitted,
    resolved_items,
    scored_rubric,
)
from core.services.results.verdicts import counting_of
from core.services.results.weight_fit_kinds import (
    PLAIN,
    FoldRule,
    LabelledCell,
    LearnedCells,
    unique_ballots,
    usable_cells,
)
from core.services.results.weight_fit_words import fit_explanation
from core.store.store import Store

if TYPE_CHECKING:
    from core.metrics.weight_fit import Flags, Floats, Levels


# Fits the rule ``calibrated`` for a criterion on labelled cells.
#
# Several kinds of rule, including the plain one, are compared on labels held out from their fit.
# The printed figures are stricter: how the whole procedure, choice and fit, performs on labels held
# out from both (nested cross-validation; Varma and Simon 2006).

#: A kind is chosen if it leads the plain rule by this many standard errors. If only right answers
#: count, labels help a panel a lot; a mean of several ordered votes is hard to beat, especially for
#: a rule with many numbers. Tried in ``bench/calibrated.py``.
AHEAD_ORDERED: Mapping[Kind, float] = {
    "line": 1.3,
    "severity": 1.3,
    "weights": 2.5,
    "judge": 2.5,
    "latent": 2.5,
}
#: A kind that was fitted without labels must also lead significantly, if only right answers count.
AHEAD_LATENT = 2.0
AHEAD_ONE_JUDGE = 1.0


def fit_criterion(
    criterion: Criterion,
    cells: Iterable[LabelledCell],
    rules: Rules,
    others: Sequence[Sequence[Ballot]] = (),
) -> Fitted | str:
    """Return the rule fitted on labelled cells and evaluated on held-out ones; or why there is
    none.

    ``others`` are the votes on unlabelled cells, which some kinds also use. Folds are drawn from
    the items' ids alone, so the same labels give the same rule; items with the same text share a
    fold.
    """
    labelled = sorted(usable_cells(criterion, list(cells)), key=lambda c: c.item_id)
    reason = _too_few_labels(criterion, labelled)
    return reason or _Trial(criterion, labelled, rules, others).fitted()


class _Trial:
    """All kinds of rule on all folds of a criterion's labels; each fit is made once."""

    def __init__(
        self,
        criterion: Criterion,
        labelled_cells: Sequence[LabelledCell],
        rules: Rules,
        others: Sequence[Sequence[Ballot]],
    ) -> None:
        import numpy as np

        self.criterion, self.known, self.rules = criterion, labelled_cells, rules
        self.lesson = LearnedCells(criterion, labelled_cells, others)
        self.fold = _cell_folds(criterion, labelled_cells)
        self.folds = range(int(self.fold.max()) + 1)
        # Cells with equal votes share one computation.
        self.said, index_of_ballots = self.lesson.said, self.lesson.alike
        self.by_fold = [
            (
                in_fold := np.flatnonzero(self.fold == at),
                *np.unique(index_of_ballots[in_fold], return_inverse=True),
            )
            for at in self.folds
        ]
        options = (None, *range(len(criterion.choices)))
        #: Two tables with a row per chosen option ("no option" first) and a column per true option:
        #: the loss, and whether the choice is right.
        self.costs = np.array([[self.lesson.loss(o, t) for t in criterion.scored] for o in options])
        self.hits = np.array([[float(o == t) for t in criterion.scored] for o in options])
        self._apart = cache(self._rule_without)
        self._lost = cache(self._cell_losses)
        self._option = cache(self._settled_option)
        self.plain = self._worth_per_cell(self.costs, lambda _: PLAIN)

    def fitted(self) -> Fitted:
        """Return the rule whose kind all labels choose."""
        choice = self._chosen_kind(None)
        kind = choice or self._closest_kind
        weights = self._apart((kind, frozenset()))
        rules = [(self._chosen_kind(at), frozenset({at})) for at in self.folds]
        hit, far, kappa = self._held_out_cells(rules.__getitem__)
        plain_hit, plain_far, plain_kappa = self._held_out_cells(lambda _: PLAIN)
        gained, lost = int((hit & ~plain_hit).sum()), int((plain_hit & ~hit).sum())
        ordinal = self.lesson.ordinal
        ahead = far < plain_far if ordinal else gained > lost
        constant = self._constant_option(weights)
        return Fitted(
            criterion=self.criterion.name,
            options=tuple(self.criterion.choices[i].label for i in self.criterion.scored),
            kind=kind,
            weights=weights,
            folds=tuple(map(self._rule_weights, rules)),
            held={c.item_id: int(at) for c, at in zip(self.known, self.fold, strict=True)},
            plain=self.criterion.aggregation or getattr(self.rules, self.criterion.scale),
            labels=len(self.known),
            right=int(hit.sum()),
            plain_right=int(plain_hit.sum()),
            gained=gained,
            lost=lost,
            far=far if ordinal else None,
            plain_far=plain_far if ordinal else None,
            kappa=kappa,
            plain_kappa=plain_kappa,
            constant=constant,
            offered=choice is not None and not constant and ahead and kappa >= plain_kappa - 1e-9,
            reliance=self.lesson.reliance() if kind == "weights" else {},
        )

    def _held_out_cells(self, rule: Callable[[int], FoldRule]) -> tuple[Flags, float, float]:
        """Return which labelled cells are right if each is settled by its fold's rule, which was
        fitted without it; and the mean loss, and kappa (weighted by the loss).
        """
        import numpy as np

        options = np.arange(len(self.costs))[:, None] + np.zeros_like(self.costs)
        chosen = self._worth_per_cell(options, rule).astype(np.int64)
        cost = self.costs[chosen, self.lesson.truth]
        # Cohen (1968): the expected loss if the same answers were assigned at random.
        dealt = float(self.costs[chosen][:, self.lesson.truth].mean())
        far = float(cost.mean())
        return self.hits[chosen, self.lesson.truth] > 0, far, 1 - far / dealt

    def _constant_option(self, weights: Weights) -> str:
        """Return the option that a rule gives in every cell; empty if its options differ."""
        everything, _ = unique_ballots([*self.said, *self.lesson.others])
        verdicts = (
            settle(self.criterion, ballots, self.rules, weights=weights) for ballots in everything
        )
        options = {ballots.option for ballots in verdicts if ballots is not None}
        only_option = options.pop() if len(options) == 1 else None
        return "" if only_option is None else self.criterion.choices[only_option].label

    @cached_property
    def _closest_kind(self) -> Kind:
        """Return the kind with the least mean loss."""
        return min(self.lesson.kinds, key=lambda kind: float(self._lost(kind, None).mean()))

    def _chosen_kind(self, without: int | None) -> Kind | None:
        """Return the kind chosen by the labels outside one fold; ``None`` for the plain rule."""
        import numpy as np

        best, least = None, float("inf")
        outside = self.fold != without if without is not None else np.ones(len(self.known), bool)
        for kind in self.lesson.kinds:
            loss = self._lost(kind, without)[outside]
            gain = self.plain[outside] - loss
            error = float(gain.std(ddof=1)) / sqrt(len(gain))
            ahead = float(gain.mean())
            if ahead > max(self._gain_over_next(kind) * error, 1e-9) and loss.mean() < least - 1e-9:
                best, least = kind, float(loss.mean())
        return best

    def _gain_over_next(self, kind: Kind) -> float:
        if not self.lesson.ordinal:
            return AHEAD_LATENT if kind == "latent" else 0.0
        return AHEAD_ONE_JUDGE if len(self.lesson.judges) == 1 else AHEAD_ORDERED[kind]

    def _cell_losses(self, kind: Kind, without: int | None) -> Floats:
        """Return each cell's loss under a rule fitted without its fold and fold ``without``."""
        excluded = frozenset() if without is None else frozenset({without})
        return self._worth_per_cell(self.costs, lambda at: (kind, excluded | {at}))

    def _worth_per_cell(self, worth: Floats, rule: Callable[[int], FoldRule]) -> Floats:
        """Return, for all cells, the worth of the option that their fold's rule gives."""
        import numpy as np

        credit = np.zeros(len(self.known))
        for index, (in_fold, numbers, place) in enumerate(self.by_fold):
            used = rule(index)
            options = np.array([self._option(number, used) for number in numbers.tolist()])
            credit[in_fold] = worth[options[place] + 1, self.lesson.truth[in_fold]]
        return credit

    def _rule_without(self, rule: FoldRule) -> Weights:
        import numpy as np

        kind, left = rule
        assert kind is not None, "the plain rule has no weights"
        teaches = np.ones(len(self.folds), np.bool_)
        teaches[list(left)] = False
        return self.lesson.fit(kind, np.flatnonzero(teaches[self.fold]))

    def _rule_weights(self, rule: FoldRule) -> Weights | None:
        kind, _ = rule
        return None if kind is None else self._apart(rule)

    def _settled_option(self, number: int, rule: FoldRule) -> int:
        """Return the option of cells with these votes, or -1 without an option."""
        verdict = settle(
            self.criterion, self.said[number], self.rules, weights=self._rule_weights(rule)
        )
        return -1 if verdict is None or verdict.option is None else verdict.option


def _cell_folds(criterion: Criterion, cells: Sequence[LabelledCell]) -> Levels:
    """Return the fold of every cell; cells of a group share a fold."""
    import numpy as np

    from core.metrics import weight_fit

    seed = seeded_random("calibrated", criterion.name, *(c.item_id for c in cells)).getrandbits(64)
    groups: dict[str, int] = {}
    group_of = [groups.setdefault(c.group or c.item_id, len(groups)) for c in cells]
    return weight_fit.folds_of(len(groups), np.random.default_rng(seed))[group_of]


def _too_few_labels(criterion: Criterion, cells: Sequence[LabelledCell]) -> str:
    from core.metrics.weight_fit import FEWEST

    if len(cells) < FEWEST:
        items = "item has" if len(cells) == 1 else "items have"
        return (
            f"{len(cells)} {items} a label and votes; {FEWEST} are needed. "
            f"Label {FEWEST - len(cells)} more."
        )
    different = len({c.group or c.item_id for c in cells})
    if different < FEWEST:
        return (
            f"The {len(cells)} labelled items are {different} different texts; {FEWEST} are needed."
        )
    truths = {c.truth for c in cells}
    if len(truths) == 1:
        label = criterion.choices[truths.pop()].label
        return f"All {len(cells)} labels are {label!r}: label items that are not."
    return ""


# The rule ``calibrated``: fitted on a run's labelled items, and used by the run without a call.
#
# A criterion's fit is offered only if it beats the rule in force on held-out labels: right more
# often, or closer if levels are ordered; with no lower kappa; and not a constant, which is right
# often if one answer is common but distinguishes nothing.


@dataclass(frozen=True)
class FittedOffer:
    """The result of fitting a criterion. ``fitted`` is ``None`` if there were too few labels.

    ``used``: it settles the run's verdicts now. ``words`` explains it in a sentence or two.
    """

    criterion: str
    fitted: Fitted | None
    used: bool
    words: str

    @property
    def offered(self) -> bool:
        """Return whether the fitted rule may replace the rule in force."""
        return self.fitted is not None and self.fitted.better


def fitted_offers(store: Store, run_id: int) -> list[FittedOffer]:
    """Return a fit per criterion of a run, from all of its labelled items."""
    # Columns need numpy, which reading a rule should not load.
    from core.services.results.weight_fit_cells import cells_of_run

    run = store.runs.get(run_id)
    used = fitted_of(run)
    rubric = scored_rubric(store, run)
    cells = cells_of_run(store, run_id)
    offered = []
    for criterion in rubric.criteria:
        labelled, others = cells[criterion.name]
        result = fit_criterion(criterion, labelled, run.plan.panel.rules, others)
        fitted = result if isinstance(result, Fitted) else None
        sentence = fit_explanation(result) if isinstance(result, Fitted) else result
        offered.append(FittedOffer(criterion.name, fitted, criterion.name in used, sentence))
    return offered


@allowed("write")
def use(store: Store, run_id: int, fitted: Sequence[Fitted]) -> int:
    """Settle these criteria of a run by their fitted rules, all others by the panel's rules.

    Everything that depends on verdicts is derived again, without calls; an empty sequence restores
    the plain rules. Returns the number of items.

    Raises:
        InputError: a fit did not beat the plain rule, or is of another criterion.
        Conflict: a worker has the run.
    """
    run = store.runs.get(run_id)
    rubric = scored_rubric(store, run)
    by_name = {c.name: c for c in rubric.criteria}
    problems = tuple(
        problem for fit in fitted if (problem := _fit_problem(fit, by_name.get(fit.criterion)))
    )
    if problems:
        raise InputError("These rules cannot be used for this run.", problems)
    if run.status not in RESTING:
        raise Conflict("The run is being graded. Change its rules when it is done.")
    with store.write():
        keep_fitted(store, run_id, fitted)
        run = store.runs.get(run_id)
        items = resolved_items(store, run.plan.dataset_version_id, store.runs.item_ids(run_id))
        return store.results.rebuild(run_id, derive_of_run(store, run, items))


def _fit_problem(fitted: Fitted, criterion: Criterion | None) -> Problem | None:
    if criterion is None or not fitted.fits(criterion):
        return Problem(
            f"The rule for {fitted.criterion!r} was fitted on other options.",
            "Fit it on this run.",
        )
    if not fitted.better:
        return Problem(f"{fitted.criterion!r}: {fit_explanation(fitted)}", "Label more items.")
    return None


def option_probabilities(store: Store, run_id: int) -> dict[tuple[str, str], dict[int, float]]:
    """Return, by (item id, criterion), the probability of each scored option given the labels.

    It covers criteria whose fit beats the rule in force, and cells with a vote of a judge it knows,
    whether or not the run uses the fit. A review order based on it (``impact.WhatIf.impact``) finds
    more errors than one based on votes alone (docs/adjudication.md).
    """
    run = store.runs.get(run_id)
    rubric = scored_rubric(store, run)
    counting = counting_of(run.plan)
    fits = {
        offer.criterion: offer.fitted
        for offer in fitted_offers(store, run_id)
        if offer.fitted and offer.offered
    }
    likelihoods: dict[tuple[str, str], dict[int, float]] = {}
    for votes in store.votes.ballots(run_id) if fits else ():
        rows: dict[str, list[BallotRow]] = {}
        for row in votes.ballots:
            rows.setdefault(row.criterion, []).append(row)
        for name in fits.keys() & rows.keys():
            criterion, ballots = rubric.criterion(name), counting.count(rows[name])
            weights = fits[name].for_item(votes.item_id)
            logs = log_weights(criterion, ballots, weights) if weights else None
            if logs is not None:
                chances = weights_as_shares(tuple(logs.values()))
                likelihoods[votes.item_id, name] = dict(zip(logs, chances, strict=True))
    return likelihoods
