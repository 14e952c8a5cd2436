"""What is asked: which cells together, options in which order, and with which examples."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from core.domain.dataset import Item
from core.domain.panel import Judge
from core.domain.rubric import Criterion, Rubric
from core.domain.votes import Cell
from core.judging.order import balanced_order, reversed_order, shown_order
from core.judging.protocol import Ask, Example, Question
from core.services.counting import answers_of
from core.services.truth import effective, labels_of
from core.store.run_rows import RunPlan

#: Decides whether a cell (item id, criterion name) is asked about at all.
Wanted = Callable[[str, str], bool]


def everything(item: str, criterion: str) -> bool:
    """Every cell is wanted."""
    return True


@dataclass(frozen=True)
class Asker:
    """Makes the questions of a run. ``teachers`` are the labelled items examples are drawn from."""

    rubric: Rubric
    plan: RunPlan
    items: Sequence[Item]
    teachers: Sequence[Item] = ()

    def questions(
        self, judge: Judge, done: set[Cell], wanted: Wanted = everything
    ) -> Iterator[Question]:
        """What is left to ask one judge, item by item: calls about an item are neighbours."""
        whole = self.plan.panel.asking.mode == "rubric" and not judge.offline
        for position, item in enumerate(self.items):
            in_force = effective(item, self.rubric)
            for replicate in range(answers_of(judge, self.plan.panel, self.plan.replicates)):
                asks = [
                    Ask(cell, criterion, self._order(criterion, judge, item, position, replicate))
                    for criterion in in_force.criteria
                    if (cell := Cell(item.id, criterion.name, judge.name, replicate)) not in done
                    and wanted(item.id, criterion.name)
                ]
                if whole and asks:
                    yield self._question(judge, item, in_force, asks)
                elif not whole:
                    for ask in asks:
                        yield self._question(judge, item, in_force, [ask])

    def _question(self, judge: Judge, item: Item, rubric: Rubric, asks: Sequence[Ask]) -> Question:
        first, *more = asks
        question = Question(first.cell, item, rubric, first.criterion, first.order, self.plan.seed)
        if judge.offline:
            return question
        asking = self.plan.panel.asking
        return replace(
            question,
            more=tuple(more),
            examples=tuple(e for ask in asks for e in self._examples(ask.criterion, rubric, item)),
            mode=asking.mode,
            layout="criterion_first" if asking.layout == "criterion_first" else "item_first",
        )

    def _order(
        self, criterion: Criterion, judge: Judge, item: Item, position: int, replicate: int
    ) -> tuple[int, ...]:
        """The order options are shown in; a flipped answer is shown its twin's order reversed."""
        own = self.plan.replicates
        if replicate >= own:
            twin = self._order(criterion, judge, item, position, replicate - own)
            return reversed_order(criterion, twin)
        if self.plan.panel.asking.balanced and judge.shuffle:
            return balanced_order(
                criterion, seed=self.plan.seed, judge=judge.name, turn=position + replicate
            )
        return shown_order(
            criterion,
            seed=self.plan.seed,
            item=item.id,
            judge=judge.name,
            replicate=replicate,
            shuffle=judge.shuffle,
        )

    def _examples(self, criterion: Criterion, rubric: Rubric, item: Item) -> tuple[Example, ...]:
        asking = self.plan.panel.asking
        if not asking.few_shot or rubric is not self.rubric:
            return ()
        from core.judging.examples import draw

        return draw(
            criterion,
            self._labelled.get(criterion.name, ()),
            asking.few_shot,
            seed=self.plan.seed,
            item=item,
        )

    @cached_property
    def _labelled(self) -> dict[str, list[tuple[Item, int, str]]]:
        found: dict[str, list[tuple[Item, int, str]]] = {}
        with_reasons = self.plan.panel.asking.few_shot_reasons
        for item in self.teachers:
            if item.rubric is not None:
                continue
            for name, index in labels_of(item, self.rubric).items():
                reason = item.labels[name].reason if with_reasons else ""
                found.setdefault(name, []).append((item, index, reason))
        return found
