"""What is asked: which cells together, options in which order, and with which examples."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import islice

from core.domain.dataset import Item, Pair
from core.domain.panel import Judge
from core.domain.rubric import Criterion, Rubric
from core.domain.runs import RunPlan
from core.domain.votes import Cell
from core.judging.examples import ExampleBank
from core.judging.layouts import Layout, layout_for
from core.judging.order import balanced_order, reversed_order, shown_order
from core.judging.protocol import Ask, Example, Question
from core.services.counting import answers_of
from core.services.truth import effective, labels_of

#: How much is looked at to choose a layout: it takes several items to see what they share.
_SAMPLED_ITEMS, _SAMPLED_QUESTIONS = 4, 64

#: Decides whether a cell (item id, criterion name) is asked about at all.
Wanted = Callable[[str, str], bool]


def everything(item: str, criterion: str) -> bool:
    """Every cell is wanted."""
    return True


def leads(item: Item) -> bool:
    """Whether it is the only or the first order in which two answers are compared."""
    return isinstance(item.submission, Pair) and item.meta.get("leads") is True


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
        layout = self._layout(judge)
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
                    yield self._question(judge, item, in_force, asks, layout)
                elif not whole:
                    for ask in asks:
                        yield self._question(judge, item, in_force, [ask], layout)

    def _question(
        self, judge: Judge, item: Item, rubric: Rubric, asks: Sequence[Ask], layout: Layout
    ) -> Question:
        first, *more = asks
        question = Question(first.cell, item, rubric, first.criterion, first.order, self.plan.seed)
        if judge.offline:
            return question
        asking = self.plan.panel.asking
        contest = self.plan.details.get("contest", {})
        return replace(
            question,
            more=tuple(more),
            examples=tuple(e for ask in asks for e in self._examples(ask.criterion, rubric, item)),
            mode=asking.mode,
            layout=layout,
            summarise=bool(contest.get("summaries")) and leads(item),
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

    def _layout(self, judge: Judge) -> Layout:
        """What comes first in this judge's prompts. It depends on the run, not on what is left."""
        panel = self.plan.panel
        if judge.offline or panel.asking.layout != "auto":
            return "criterion_first" if panel.asking.layout == "criterion_first" else "item_first"
        asking = panel.asking.model_copy(update={"layout": "item_first"})
        plan = replace(self.plan, panel=panel.model_copy(update={"asking": asking}))
        some = replace(self, plan=plan, items=self.items[:_SAMPLED_ITEMS])
        sample = list(islice(some.questions(judge, set()), _SAMPLED_QUESTIONS))
        return layout_for(sample, len(self.items), shuffled=judge.shuffle)

    def _examples(self, criterion: Criterion, rubric: Rubric, item: Item) -> tuple[Example, ...]:
        if not self.plan.panel.asking.few_shot or rubric is not self.rubric:
            return ()
        bank = self._banks.get(criterion.name)
        return bank.for_item(item) if bank else ()

    @cached_property
    def _banks(self) -> dict[str, ExampleBank]:
        k, seed = self.plan.panel.asking.few_shot, self.plan.seed
        return {
            name: ExampleBank(self.rubric.criterion(name), found, k, seed=seed)
            for name, found in self._labelled.items()
        }

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
