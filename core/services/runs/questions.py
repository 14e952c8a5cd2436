"""The questions of each round: cells together or apart, and cascades that stop early."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import islice, product
from statistics import fmean

from core.domain.dataset import Item, Pair
from core.domain.panel import Cascade, Judge, Panel, Rules, instructions_for
from core.domain.rubric import Criterion, Rubric
from core.domain.runs import RunPlan
from core.domain.votes import BallotRow, Cell, ItemBallots
from core.judging.prompts.few_shot import ExampleBank
from core.judging.prompts.layouts import Layout, layout_for
from core.judging.prompts.parts import balanced_order, reversed_order, shown_order
from core.judging.protocol import Ask, Example, Question
from core.scoring.gates import evaluate_gates
from core.scoring.verdict import Ballot, settle
from core.services.results.scored_items import labels_of, rubric_in_force
from core.services.results.verdicts import RubricOf, VoteCounting, answers_of

#: The number of items and of questions that decide the layout: several, to see what they share.
_SAMPLED_ITEMS, _SAMPLED_QUESTIONS = 4, 64

#: Decides whether a cell (item id, criterion name) is graded at all.
Wanted = Callable[[str, str], bool]


def wants_every_cell(item: str, criterion: str) -> bool:
    """Return ``True``, since every cell is wanted."""
    return True


def is_first_order(item: Item) -> bool:
    """Return whether an item shows the first or only order of a comparison."""
    return isinstance(item.submission, Pair) and item.meta.get("leads") is True


#: The detail of runs that grade edited copies of texts. The same key in an item's ``meta`` names
#: the original (``of``), and says whether the options are reversed (``reversed``).
PROBE = "probe"


@dataclass(frozen=True)
class QuestionBuilder:
    """Builds the questions of a run. Examples are drawn from ``teachers``, labelled items."""

    rubric: Rubric
    plan: RunPlan
    items: Sequence[Item]
    teachers: Sequence[Item] = ()

    def questions(
        self,
        judge: Judge,
        answered: set[Cell],
        wanted: Wanted = wants_every_cell,
        only: Collection[str] | None = None,
    ) -> Iterator[Question]:
        """Yield a judge's remaining questions item by item, so that calls about one item are close.

        ``only`` limits them to these item ids.
        """
        together = judge.mode_in(self.plan.panel.asking) == "rubric" and not judge.offline
        layout = self._prompt_layout(judge)
        for position, item in self._chosen_items(only):
            in_force = rubric_in_force(item, self.rubric)
            for replicate in range(answers_of(judge, self.plan.panel, self.plan.replicates)):
                asks = [
                    Ask(
                        cell,
                        criterion,
                        self._option_order(criterion, judge, item, position, replicate),
                    )
                    for criterion in in_force.criteria
                    if (cell := Cell(item.id, criterion.name, judge.name, replicate))
                    not in answered
                    and wanted(item.id, criterion.name)
                ]
                if together and asks:
                    yield self._question_of(judge, item, in_force, asks, layout)
                elif not together:
                    for ask in asks:
                        yield self._question_of(judge, item, in_force, [ask], layout)

    def _chosen_items(self, only: Collection[str] | None) -> Iterator[tuple[int, Item]]:
        """Return items with their position in the run, by which option orders are balanced."""
        if only is None:
            return enumerate(self.items)
        return (
            (place, self.items[place]) for place in sorted(map(self._item_places.__getitem__, only))
        )

    @cached_property
    def _item_places(self) -> dict[str, int]:
        return {item.id: place for place, item in enumerate(self.items)}

    def _question_of(
        self, judge: Judge, item: Item, rubric: Rubric, asks: Sequence[Ask], layout: Layout
    ) -> Question:
        first, *others = asks
        shown = (first.cell, item, rubric, first.criterion, first.order, self.plan.seed)
        if judge.offline:
            return Question(*shown)
        asking = self.plan.panel.asking
        contest = self.plan.details.get("contest", {})
        examples = asks if asking.few_shot else ()
        return Question(
            *shown,
            more=tuple(others),
            examples=tuple(
                e for ask in examples for e in self._examples_for(ask.criterion, rubric, item)
            ),
            mode=judge.mode_in(asking),
            layout=layout,
            style=asking.style,
            instructions=instructions_for(
                judge, asking, rubric.name, [ask.criterion.name for ask in asks]
            ),
            summarise=bool(contest.get("summaries")) and is_first_order(item),
        )

    def _option_order(
        self, criterion: Criterion, judge: Judge, item: Item, position: int, replicate: int
    ) -> tuple[int, ...]:
        """Return the order of options; a replicate that checks order gets the reverse of its
        partner's.
        """
        replicates = self.plan.replicates
        if replicate >= replicates:
            partner = self._option_order(criterion, judge, item, position, replicate - replicates)
            return reversed_order(criterion, partner)
        if self.plan.panel.asking.balanced and judge.shuffle:
            return balanced_order(
                criterion, seed=self.plan.seed, judge=judge.name, turn=position + replicate
            )
        facts = item.meta[PROBE] if PROBE in self.plan.details else {"of": item.id}
        shown = shown_order(
            criterion,
            seed=self.plan.seed,
            item=facts["of"],
            judge=judge.name,
            replicate=replicate,
            shuffle=judge.shuffle,
        )
        return reversed_order(criterion, shown) if facts.get("reversed") else shown

    def _prompt_layout(self, judge: Judge) -> Layout:
        """Return which part comes first in this judge's prompts, decided by the whole run."""
        panel = self.plan.panel
        if judge.offline or panel.asking.layout != "auto":
            return "criterion_first" if panel.asking.layout == "criterion_first" else "item_first"
        asking = panel.asking.model_copy(update={"layout": "item_first"})
        plan = replace(self.plan, panel=panel.model_copy(update={"asking": asking}))
        sampled = replace(self, plan=plan, items=self.items[:_SAMPLED_ITEMS])
        sample = list(islice(sampled.questions(judge, set()), _SAMPLED_QUESTIONS))
        return layout_for(sample, len(self.items), shuffled=judge.shuffle)

    def _examples_for(
        self, criterion: Criterion, rubric: Rubric, item: Item
    ) -> tuple[Example, ...]:
        if not self.plan.panel.asking.few_shot or rubric is not self.rubric:
            return ()
        bank = self._example_banks.get(criterion.name)
        return bank.for_item(item) if bank else ()

    @cached_property
    def _example_banks(self) -> dict[str, ExampleBank]:
        k, seed = self.plan.panel.asking.few_shot, self.plan.seed
        return {
            name: ExampleBank(self.rubric.criterion(name), labelled, k, seed=seed)
            for name, labelled in self._labelled_items.items()
        }

    @cached_property
    def _labelled_items(self) -> dict[str, list[tuple[Item, int, str]]]:
        labelled: dict[str, list[tuple[Item, int, str]]] = {}
        with_reasons = self.plan.panel.asking.few_shot_reasons
        for item in self.teachers:
            if item.rubric is not None:
                continue
            for name, index in labels_of(item, self.rubric).items():
                reason = item.labels[name].reason if with_reasons else ""
                labelled.setdefault(name, []).append((item, index, reason))
        return labelled


# Cascades and early stops: which judges grade which cells in which round.
#
# A round depends only on votes of earlier rounds, so a resumed run takes the same decisions as
# before the kill.

#: With more outstanding votes than this, a verdict is assumed to be changeable.
MOST_OUTSTANDING = 4


@dataclass(frozen=True)
class AskingRound:
    """The judges of one round. ``earlier`` judges graded before in this stage; ``later`` follow."""

    judges: tuple[Judge, ...]
    stage: int
    earlier: tuple[Judge, ...] = ()
    later: tuple[Judge, ...] = ()


def rounds_of(panel: Panel) -> list[AskingRound]:
    """Return a panel's rounds: a single one, one per stage, or one per judge if it may stop
    early.
    """
    stages = sorted({j.stage for j in panel.judges}) if panel.cascade else [0]
    rounds = []
    for stage in stages:
        members = [j for j in panel.judges if not panel.cascade or j.stage == stage]
        if not panel.early_stop:
            rounds.append(AskingRound(tuple(members), stage))
            continue
        # Shadows do not vote, so other votes never make asking them unnecessary: they are all asked
        # in the first round. Among the voters, offline judges cost nothing and go first.
        voters = sorted((j for j in members if not j.shadow), key=lambda j: not j.offline)
        shadows = tuple(j for j in members if j.shadow)
        for index, judge in enumerate(voters):
            with_it = (judge, *shadows) if index == 0 else (judge,)
            rounds.append(AskingRound(with_it, stage, tuple(voters[:index]), tuple(voters[index:])))
    return rounds


@dataclass
class Selector:
    """Selects the cells that a round grades, from the votes so far."""

    panel: Panel
    replicates: int
    counting: VoteCounting
    rubric_of: RubricOf
    confidence: dict[tuple[str, str, str], list[float]] = field(default_factory=dict)
    _open: dict[object, bool] = field(default_factory=dict)

    def cells_to_grade(
        self, round_: AskingRound, items: Iterable[ItemBallots]
    ) -> set[tuple[str, str]]:
        """Return the cells, as (item id, criterion), that the round grades."""
        chosen = set()
        for item in items:
            rubric = self.rubric_of(item.item_id)
            rows: dict[str, list[BallotRow]] = {c.name: [] for c in rubric.criteria}
            for row in item.ballots:
                rows[row.criterion].append(row)
            for criterion in rubric.criteria:
                votes = rows[criterion.name]
                failed = item.failures.get(criterion.name, 0)
                if self._round_asks(round_, rubric, criterion, item.item_id, votes, failed):
                    chosen.add((item.item_id, criterion.name))
        return chosen

    def _round_asks(
        self,
        round_: AskingRound,
        rubric: Rubric,
        criterion: Criterion,
        item: str,
        rows: Sequence[BallotRow],
        failed: int,
    ) -> bool:
        cascade = self.panel.cascade
        if cascade is not None:
            for stage in sorted({j.stage for j in self.panel.judges if j.stage < round_.stage}):
                if not self._escalates(cascade, stage, rubric, criterion, item, rows, failed):
                    return False
        if not round_.earlier:
            return True
        names = {j.name for j in round_.earlier}
        cast = self.counting.count([r for r in rows if r.judge in names])
        return self._can_change(criterion, cast, round_.later)

    def _escalates(
        self,
        cascade: Cascade,
        stage: int,
        rubric: Rubric,
        criterion: Criterion,
        item: str,
        rows: Sequence[BallotRow],
        failed: int,
    ) -> bool:
        """Return whether a cell escalates from this stage to the next."""
        names = {j.name for j in self.panel.judges if j.stage == stage and not j.shadow}
        cast = self.counting.count([r for r in rows if r.judge in names])
        verdict = settle(criterion, cast, self.panel.rules)
        if verdict is None:
            return cascade.on_failure
        if verdict.abstained:
            return cascade.on_abstention
        # The entropy decides, not the share of the verdict's option: a rule may choose an option
        # without votes.
        if cascade.on_split and verdict.entropy:
            return True
        if cascade.on_failure and failed and verdict.votes < len(names) * self.replicates:
            return True
        if cascade.below_confidence is not None:
            confidences = [
                c for n in names for c in self.confidence.get((item, criterion.name, n), ())
            ]
            if confidences and fmean(confidences) < cascade.below_confidence:
                return True
        return cascade.near_gate and changes_gate_state(rubric, criterion, verdict.option)

    def _can_change(
        self, criterion: Criterion, cast: Sequence[Ballot], later: Sequence[Judge]
    ) -> bool:
        """Return whether the remaining judges' votes could change the verdict; cached."""
        weights = tuple(j.weight for j in later for _ in range(self.replicates))
        question = (criterion.scale, criterion.values, criterion.weight, criterion.aggregation)
        key = (question, tuple(sorted(((*b[:3], b.chances) for b in cast), key=str)), weights)
        if key not in self._open:
            self._open[key] = can_change(criterion, cast, self.panel.rules, weights)
        return self._open[key]


def can_change(
    criterion: Criterion, cast: Sequence[Ballot], rules: Rules, outstanding: Sequence[float]
) -> bool:
    """Return whether further votes of these weights could change the verdict of ``cast``.

    It is ``True`` without a verdict, or with more than ``MOST_OUTSTANDING`` outstanding votes.

    >>> yes = Ballot(0, False)
    >>> can_change(Criterion(name="a", requirement="Is it?"), [yes, yes], Rules(), [1.0])
    False
    """
    verdict = settle(criterion, list(cast), rules)
    if verdict is None or verdict.abstained or len(outstanding) > MOST_OUTSTANDING:
        return bool(outstanding)
    options = range(len(criterion.choices))
    for answers in product(options, repeat=len(outstanding)):
        further = [
            Ballot(option, criterion.choices[option].na, weight)
            for option, weight in zip(answers, outstanding, strict=True)
        ]
        changed_verdict = settle(criterion, [*cast, *further], rules)
        if changed_verdict is None or changed_verdict.option != verdict.option:
            return True
    return False


def changes_gate_state(rubric: Rubric, criterion: Criterion, option: int | None) -> bool:
    """Return whether a move to a neighbouring option would change a gate's state."""
    if option is None or not any(g.when.criterion == criterion.name for g in rubric.gates):
        return False
    by_value = sorted(criterion.scored, key=lambda i: (criterion.values[i] or 0.0, i))
    rank = by_value.index(option)

    def option_states(index: int) -> list[str]:
        marks = evaluate_gates(rubric, {criterion.name: index})
        return [
            m.state
            for m, g in zip(marks, rubric.gates, strict=True)
            if g.when.criterion == criterion.name
        ]

    neighbours = [by_value[i] for i in (rank - 1, rank + 1) if 0 <= i < len(by_value)]
    return any(option_states(neighbour) != option_states(option) for neighbour in neighbours)
