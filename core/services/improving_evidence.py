"""What speaks for changing a rubric's words: findings, and cells where people and judges differ."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from core.domain.dataset import Item
from core.domain.review import Case
from core.domain.rubric import Criterion, Rubric
from core.domain.runs import CellRow
from core.identity import seeded
from core.services.checking import after, checker
from core.services.preparing import resolved_items
from core.services.truth import effective
from core.services.viewing import choice_label
from core.store.store import Store

#: So many cases are shown per criterion.
CASES = 4
Findings = dict[str, list[str]]


def offline_findings(rubric: Rubric) -> Findings:
    """What the offline check says, by criterion; the empty name is the rubric as a whole."""
    found: Findings = {}
    for finding in checker.check(rubric):
        at = finding.criterion
        name = "" if at is None else rubric.criteria[at].name
        found.setdefault(name, []).append(f"{finding.sentence} {finding.mend}".strip())
    return found


def findings_after(store: Store, run_id: int) -> Findings:
    """What a run's votes say of its criteria."""
    found: Findings = {}
    for one in after.heard(store, run_id).told:
        found.setdefault(one.criterion, []).append(one.sentence)
    return found


def merged(*all_of: Mapping[str, Sequence[str]]) -> Findings:
    """Findings of several sources as one, each sentence once.

    >>> merged({"a": ["x"]}, {"a": ["x", "y"]})
    {'a': ['x', 'y']}
    """
    whole: Findings = {}
    for one in all_of:
        for name, sentences in one.items():
            whole[name] = list(dict.fromkeys([*whole.get(name, []), *sentences]))
    return whole


def cases_of(
    store: Store, run_id: int, names: Sequence[str], *, most: int = CASES, seed: int = 0
) -> list[Case]:
    """Cells of a run where people chose another option than the judges did, drawn by the seed.

    What people chose is what they settled, else the dataset's label; abstentions are no case.
    """
    run = store.runs.get(run_id)
    rubric = store.rubrics.version(run.rubric_version_id).rubric
    ids = store.runs.item_ids(run_id)
    items = {i.id: i for i in resolved_items(store, run.dataset_version_id, ids)}
    missed: dict[str, list[CellRow]] = {}
    for cell in store.results.all_cells(run_id):
        item = items[cell.item_id]
        criterion = _criterion(effective(item, rubric), cell.criterion)
        if cell.criterion in names and criterion is not None:
            truth = item.truth(criterion)
            if truth is not None and cell.judged is not None and truth != cell.judged:
                missed.setdefault(cell.criterion, []).append(cell)
    found = list[Case]()
    for name, cells in missed.items():
        seeded("cases", seed, name).shuffle(cells)
        found += [_case(store, run_id, items[c.item_id], rubric, c) for c in cells[:most]]
    return found


def _criterion(rubric: Rubric, name: str) -> Criterion | None:
    return next((c for c in rubric.criteria if c.name == name), None)


def _case(store: Store, run_id: int, item: Item, rubric: Rubric, cell: CellRow) -> Case:
    criterion = effective(item, rubric).criterion(cell.criterion)
    label = item.labels[criterion.name]
    votes = [v for v in store.votes.for_item(run_id, item.id) if v.cell.criterion == cell.criterion]
    reasons = [v.reason for v in votes if v.option == cell.judged and v.reason]
    return Case(
        criterion=criterion.name,
        text=item.output,
        people=label.label,
        judges=choice_label(criterion, cell.judged, cell.abstained) or "",
        why_people=label.reason,
        why_judges=reasons[0] if reasons else "",
    )
