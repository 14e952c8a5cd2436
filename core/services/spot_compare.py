"""Two spot checks of the same submission, side by side: which verdicts changed."""

from __future__ import annotations

from dataclasses import dataclass

from core.domain.runs import Run, RunRow
from core.services.spot import item_of
from core.services.viewing import CriterionView, ItemView, item_view
from core.store.store import Store


@dataclass(frozen=True)
class Pair:
    """One criterion in both checks. A label is ``None`` where that check has no verdict.

    ``changed`` is ``None`` where they cannot be compared: one has no verdict, or not the criterion.
    """

    criterion: str
    before: str | None
    after: str | None
    changed: bool | None


@dataclass(frozen=True)
class Comparison:
    """What changed between two checks, and ``setup``: what was set differently, in words."""

    before: ItemView
    after: ItemView
    pairs: tuple[Pair, ...]
    setup: tuple[str, ...]

    @property
    def changed(self) -> int:
        """Criteria whose verdict is another one."""
        return sum(pair.changed is True for pair in self.pairs)

    @property
    def compared(self) -> int:
        """Criteria that have a verdict in both."""
        return sum(pair.changed is not None for pair in self.pairs)


def earlier(store: Store, run_id: int, limit: int = 200) -> list[RunRow]:
    """Checks of the same submission made before this one, newest first.

    Looks at the latest ``limit`` checks.
    """
    run, item = store.runs.row(run_id), item_of(store, run_id)
    return [
        row
        for row in store.runs.list(kind="spot", limit=limit)
        if row.id < run_id
        and row.dataset_version_id == run.dataset_version_id
        and item_of(store, row.id) == item
    ]


def compare(store: Store, before_id: int, after_id: int) -> Comparison:
    """Two checks, criterion by criterion (matched by name), in the later one's order."""
    before = item_view(store, before_id, item_of(store, before_id))
    after = item_view(store, after_id, item_of(store, after_id))
    old = {view.criterion.name: view for view in before.criteria}
    new = {view.criterion.name: view for view in after.criteria}
    names = [*new, *(name for name in old if name not in new)]
    pairs = tuple(_pair(name, old.get(name), new.get(name)) for name in names)
    return Comparison(before, after, pairs, tuple(_setup(before.run, after.run)))


def _pair(name: str, old: CriterionView | None, new: CriterionView | None) -> Pair:
    before = None if old is None else old.verdict_label
    after = None if new is None else new.verdict_label
    changed = None if before is None or after is None else before != after
    return Pair(name, before, after, changed)


def _setup(before: Run, after: Run) -> list[str]:
    found = list[str]()
    if before.rubric_version_id != after.rubric_version_id:
        found.append("another rubric or version")
    old = {judge.name: judge for judge in before.panel.judges}
    new = {judge.name: judge for judge in after.panel.judges}
    if old.keys() != new.keys():
        found.append("other judges")
    elif old != new:
        found.append("other settings of a judge")
    if before.panel.rules != after.panel.rules:
        found.append("other aggregation rules")
    if before.panel.asking != after.panel.asking:
        found.append("asked in another way")
    if before.plan.replicates != after.plan.replicates:
        found.append("another number of replicates")
    if before.plan.calibration != after.plan.calibration:
        found.append("other labelled items to learn from")
    if before.plan.seed != after.plan.seed:
        found.append("another seed")
    return found
