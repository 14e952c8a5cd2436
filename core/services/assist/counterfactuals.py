"""Counterfactual edits: an item is changed so that only one criterion should get another answer.

Graded together with the original, they show whether judges notice, and whether other verdicts stay.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from core import clock
from core.domain.dataset import Dataset, Item
from core.domain.library import DatasetVersion
from core.domain.panel import Judge, Panel
from core.domain.rubric import Rubric
from core.domain.runs import HelpTask
from core.domain.votes import Verdict
from core.errors import InputError, Problem
from core.judging.prompts.assembly import Prompt
from core.judging.prompts.reply_parsing import Unreadable
from core.judging.writing.prompts import edit_writing
from core.judging.writing.replies import read_edit
from core.judging.writing.writer import writer_of
from core.metrics.estimate import Estimate
from core.services.access.allowing import allowed
from core.services.assist import help_tasks
from core.services.assist.help_tasks import TaskCost, cost_estimate
from core.services.assist.task_context import TaskContext
from core.services.results.scored_items import resolved_items
from core.services.runs.planning import RunRequest
from core.store.store import Store

KIND = "edits"
#: The suffix of an edited item's id, its tag, and the detail of runs that grade such items.
SUFFIX, COUNTERFACTUAL, DETAIL = "~edited", "counterfactual", "counterfactual"
MOST = 100


@dataclass(frozen=True)
class EditRequest:
    """The items to change, so that ``criterion`` should be answered with choice ``aimed``."""

    judge: Judge
    rubric: Rubric
    criterion: str
    aimed: int
    dataset_version: int
    items: tuple[str, ...]
    subject: str = ""
    seed: int = 0
    budget: float | None = None


@dataclass(frozen=True)
class EditPair:
    """An item before and after the edit: the verdicts of ``criterion``, which was to get another
    answer, and other verdicts that changed.

    ``before`` and ``after`` are labels, ``None`` without a verdict. ``moved`` maps other criteria
    to both labels; ``compared`` counts those with both verdicts. ``counts``: both have a verdict,
    and the original did not have the aimed option already.
    """

    item: str
    criterion: str
    what: str
    before: str | None
    after: str | None
    moved: dict[str, tuple[str, str]]
    compared: int
    counts: bool
    noticed: bool


def estimate(store: Store, request: EditRequest) -> TaskCost:
    """Return the expected cost: one call per item."""
    items = _items_to_edit(store, request)
    writings = [_edit_request(item, request) for item in items]
    longest = max((len(item.output) // 4 for item in items), default=0)
    return cost_estimate(request.judge, writings, longest + 50)


@allowed("write")
def begin(store: Store, request: EditRequest) -> int:
    """Start editing; return the task's id. Raise ``InputError`` for no items, too many, or
    chats.
    """
    items = _items_to_edit(store, request)
    problems = [
        Problem("is not one text.", "Choose items whose submission is a text.", (item.id,))
        for item in items
        if not isinstance(item.submission, str)
    ]
    if not 0 < len(items) <= MOST:
        problems.append(Problem(f"names {len(items)} items.", f"Choose 1 to {MOST}.", ("items",)))
    if problems:
        raise InputError("These items cannot be changed.", tuple(problems))
    data = help_tasks.request_data(replace(request, items=tuple(item.id for item in items)))
    return help_tasks.begin(store, KIND, request.subject, data, len(items), request.budget)


async def work(context: TaskContext) -> None:
    """Request every item's edit, in parallel."""
    request = request_of(context.task)
    items = await context.io(_items_to_edit, context.store, request)
    judge = writer_of(request.judge)

    async def edit_item(item: Item) -> None:
        def read(text: str | None) -> object:
            return read_edit(text, item.output)

        await context.write(f"edit/{item.id}", judge, _edit_request(item, request), read)

    await context.all(edit_item(item) for item in items)


def request_of(task: HelpTask) -> EditRequest:
    """Return the request of a task."""
    return help_tasks.request_from(EditRequest, task)


def edited_items(store: Store, task: HelpTask) -> list[tuple[Item, str, str]]:
    """Return the items edited so far, with their new submissions and what was changed."""
    edits = []
    values = {
        s.name: s.value for s in help_tasks.steps_of_task(store, task.id) if s.failure is None
    }
    for item in _items_to_edit(store, request_of(task)):
        change = read_edit(values.get(f"edit/{item.id}"), item.output)
        if not isinstance(change, Unreadable):
            edits.append((item, *change))
    return edits


@allowed("write")
def as_dataset(store: Store, task: HelpTask, name: str) -> DatasetVersion:
    """Store originals and edits as one dataset. Only the originals have labels.

    Raises ``InputError`` if nothing was edited.
    """
    edits = edited_items(store, task)
    if not edits:
        raise InputError("Nothing has been changed yet.")
    request = request_of(task)
    label = request.rubric.criterion(request.criterion).choices[request.aimed].label
    items = list[Item]()
    for item, submission, what in edits:
        facts = {
            "of": item.id,
            "criterion": request.criterion,
            "aimed": label,
            "what": what,
            "verified": False,
        }
        fields = {
            "id": f"{item.id}{SUFFIX}",
            "submission": submission,
            "labels": {},
            "tags": (*item.tags, COUNTERFACTUAL),
            "meta": {"edit": facts, "written_by": request.judge.name, "help_task": task.id},
        }
        items += [item, item.model_copy(update=fields)]
    title = name.strip() or f"Edits: {request.criterion}"[:200]
    dataset = Dataset(name=title, items=tuple(items))
    return help_tasks.keep_dataset(store, task, dataset)


@allowed("write")
def run_request(store: Store, task: HelpTask, version: int, panel: Panel) -> RunRequest:
    """Return the run in which a panel grades originals and edits with the whole rubric."""
    rubric = request_of(task).rubric
    rubric_version = store.rubrics.version_with_content(rubric, now=clock.now())
    return RunRequest(
        rubric_version=rubric_version.id,
        dataset_version=version,
        panel=panel,
        name=f"Edits: {request_of(task).criterion}"[:200],
        details={DETAIL: request_of(task).criterion},
    )


def edit_pairs(store: Store, run_id: int) -> list[EditPair]:
    """Return how judges reacted to each edit; raise ``InputError`` if the run has no edits."""
    run = store.runs.get(run_id)
    rubric = store.rubrics.version(run.rubric_version_id).rubric
    items = resolved_items(store, run.dataset_version_id, store.runs.item_ids(run_id))
    facts = {i.id: i.meta["edit"] for i in items if isinstance(i.meta.get("edit"), dict)}
    if not facts:
        raise InputError("No item of this run is a changed one.")
    cells = {(item, c.criterion): c for item, c in store.results.verdicts(run_id)}
    return [_edit_pair(rubric, cells, id_, edit) for id_, edit in facts.items()]


def noticed_share(pairs: Sequence[EditPair]) -> Estimate:
    """Return the share of edits after which judges chose the aimed option."""
    return Estimate.share(sum(p.noticed for p in pairs), sum(p.counts for p in pairs))


def still_share(pairs: Sequence[EditPair]) -> Estimate:
    """Return the share of edits after which all other verdicts stayed.

    Judges are inconsistent anyway, so a few changes prove little.
    """
    compared = [pair for pair in pairs if pair.compared]
    return Estimate.share(sum(not pair.moved for pair in compared), len(compared))


def _edit_pair(
    rubric: Rubric,
    cells: Mapping[tuple[str, str], Verdict],
    id_: str,
    facts: Mapping[str, str],
) -> EditPair:
    original, target, aimed = (str(facts[key]) for key in ("of", "criterion", "aimed"))
    sides = {
        c.name: (
            _label_of_item(rubric, cells, original, c.name),
            _label_of_item(rubric, cells, id_, c.name),
        )
        for c in rubric.criteria
    }
    before, after = sides.pop(target)
    labels = {name: (a, b) for name, (a, b) in sides.items() if a is not None and b is not None}
    counts = before is not None and after is not None and before != aimed
    return EditPair(
        item=original,
        criterion=target,
        what=str(facts.get("what", "")),
        before=before,
        after=after,
        moved={name: pair for name, pair in labels.items() if pair[0] != pair[1]},
        compared=len(labels),
        counts=counts,
        noticed=counts and after == aimed,
    )


def _label_of_item(
    rubric: Rubric, cells: Mapping[tuple[str, str], Verdict], item: str, name: str
) -> str | None:
    cell = cells.get((item, name))
    if cell is None or cell.judged is None:
        return None
    return rubric.criterion(name).choices[cell.judged].label


def _items_to_edit(store: Store, request: EditRequest) -> Sequence[Item]:
    return resolved_items(store, request.dataset_version, list(request.items))


def _edit_request(item: Item, request: EditRequest) -> Prompt:
    return edit_writing(item, request.rubric, request.criterion, request.aimed, request.seed)
