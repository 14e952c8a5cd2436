"""Test data written by a model, and how often judges choose the option it was written for.

The aimed option is stored with the submission (``meta["aimed"]`` and tags), but is not a label,
since no person has checked it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from core import clock
from core.domain.dataset import Dataset, Item
from core.domain.library import DatasetVersion
from core.domain.panel import Asking, Judge, Panel
from core.domain.rubric import Criterion, Rubric
from core.domain.runs import HelpTask
from core.domain.votes import Verdict
from core.errors import InputError, Problem
from core.judging.near_duplicates import TextFingerprint, fingerprint_of
from core.judging.prompts.reply_parsing import Unreadable
from core.judging.writing.prompts import Length, generate_writing, tasks_writing
from core.judging.writing.replies import read_submission, read_tasks
from core.judging.writing.writer import PartialReply, WritingFailure, writer_of
from core.metrics.estimate import Estimate
from core.services.access.allowing import allowed
from core.services.assist import help_tasks
from core.services.assist.help_tasks import TaskCost, cost_estimate
from core.services.assist.task_context import TaskContext
from core.services.results.scored_items import resolved_items
from core.services.runs import lifecycle
from core.services.runs.planning import RunRequest
from core.store.store import Store

KIND = "data"
#: The tag of every generated item, and the tag of items between two options.
GENERATED, BORDERLINE = "generated", "borderline"
MOST = 200
_EARLIER = 8
#: Submissions written one after another: the indices of the options, one or two, and how many.
SubmissionLane = tuple[tuple[int, ...], int]
_TOKENS_OUT = {"short": 60, "medium": 160, "long": 500}
_NEAR_COPY = "The submission was the same as an earlier one."


@dataclass(frozen=True)
class DataRequest:
    """The submissions to write. ``counts`` is keyed by index into ``choices``; ``tasks`` are the
    prompts.

    Without tasks, ``invent`` tasks are written first (0: submissions without a task).
    """

    judge: Judge
    criterion: Criterion
    counts: Mapping[int, int]
    borderline: int = 0
    tasks: tuple[str, ...] = ()
    invent: int = 0
    length: Length = "medium"
    subject: str = ""
    seed: int = 0
    budget: float | None = None


def submission_lanes(
    criterion: Criterion, counts: Mapping[int, int], borderline: int
) -> list[SubmissionLane]:
    """Return the submissions to write per option; borderline submissions alternate between pairs.

    >>> met = Criterion(name="c", requirement="r")
    >>> submission_lanes(met, {0: 2}, 1)
    [((0,), 2), ((0, 1), 1)]
    """
    lanes: list[SubmissionLane] = [((index,), counts[index]) for index in sorted(counts)]
    pairs = list(zip(criterion.scored, criterion.scored[1:], strict=False))
    per_pair, remainder = divmod(borderline, len(pairs))
    lanes += [(pair, per_pair + (place < remainder)) for place, pair in enumerate(pairs)]
    return [(aimed, number) for aimed, number in lanes if number]


def estimate(request: DataRequest) -> TaskCost:
    """Return the expected cost: one call per submission, and one to invent tasks."""
    lanes_to_write = submission_lanes(request.criterion, request.counts, request.borderline)
    task = request.tasks[0] if request.tasks else ""
    writings = [
        generate_writing(
            request.criterion, aimed, task, request.length, (), (1, number), request.seed
        )
        for aimed, number in lanes_to_write
        for _ in range(number)
    ]
    if request.invent and not request.tasks:
        writings.append(tasks_writing(request.criterion, request.invent, request.seed))
    return cost_estimate(request.judge, writings, _TOKENS_OUT[request.length])


@allowed("write")
def begin(store: Store, request: DataRequest) -> int:
    """Start writing; return the task's id. Raise ``InputError`` for no submissions, or too many."""
    total = sum(number for _, number in _lanes_of_request(request))
    if not 0 < total <= MOST:
        raise InputError(
            "This cannot be written.",
            (Problem(f"asks for {total} submissions.", f"Ask for 1 to {MOST}.", ("counts",)),),
        )
    tasks = tuple(task for task in request.tasks if task.strip())
    data = help_tasks.request_data(replace(request, tasks=tasks))
    inventing = bool(request.invent and not data["tasks"])
    return help_tasks.begin(store, KIND, request.subject, data, total + inventing, request.budget)


def _lanes_of_request(request: DataRequest) -> list[SubmissionLane]:
    return submission_lanes(request.criterion, request.counts, request.borderline)


async def work(context: TaskContext) -> None:
    """Invent tasks if none are given, then write the lanes in parallel."""
    request = request_of(context.task)
    tasks = await _given_or_invented_tasks(context, request)
    if isinstance(tasks, WritingFailure):
        return
    prints = list[TextFingerprint]()
    await context.all(
        _write_lane(context, request, lane, tasks, prints) for lane in _lanes_of_request(request)
    )


async def _given_or_invented_tasks(
    context: TaskContext, request: DataRequest
) -> tuple[str, ...] | WritingFailure:
    if request.tasks or not request.invent:
        return request.tasks
    writing = tasks_writing(request.criterion, request.invent, request.seed)
    judge = writer_of(request.judge, varied=True)
    result = await context.write(
        "tasks", judge, writing, lambda text: read_tasks(text, request.invent)
    )
    return result if isinstance(result, WritingFailure) else result.value


async def _write_lane(
    context: TaskContext,
    request: DataRequest,
    lane: SubmissionLane,
    tasks: Sequence[str],
    prints: list[TextFingerprint],
) -> None:
    judge = writer_of(request.judge, varied=True)
    aimed, count = lane
    earlier = list[str]()

    def read(text: str | None) -> str | Unreadable:
        submission = read_submission(text)
        copied = isinstance(submission, str) and any(
            _fingerprint_of(submission).is_near(other) for other in prints
        )
        return Unreadable("malformed", _NEAR_COPY) if copied else submission

    for number in range(1, count + 1):
        task = tasks[(number - 1) % len(tasks)] if tasks else ""
        place = (number, count)
        recent = earlier[-_EARLIER:]
        writing = generate_writing(
            request.criterion, aimed, task, request.length, recent, place, request.seed
        )
        submission = await context.write(_step_name(aimed, number), judge, writing, read)
        if isinstance(submission, str):
            earlier.append(submission)
            prints.append(_fingerprint_of(submission))


def _step_name(aimed: tuple[int, ...], number: int) -> str:
    return f"{'-'.join(map(str, aimed))}/{number}"


def _fingerprint_of(text: str) -> TextFingerprint:
    return fingerprint_of(Item(id="written", submission=text))


def request_of(task: HelpTask) -> DataRequest:
    """Return the request of a task."""
    return help_tasks.request_from(DataRequest, task)


def written_so_far(store: Store, task: HelpTask) -> list[Item]:
    """Return the submissions written so far as items, by option; ``aim_of_item`` names the option.

    No two have the same id.
    """
    request = request_of(task)
    values = {
        s.name: s.value for s in help_tasks.steps_of_task(store, task.id) if s.failure is None
    }
    invented = read_tasks(values.get("tasks"), request.invent) if "tasks" in values else None
    tasks = request.tasks or (invented.value if isinstance(invented, PartialReply) else ())
    items, used = list[Item](), Counter[str]()
    for indices, count in _lanes_of_request(request):
        aimed = tuple(request.criterion.choices[index].label for index in indices)
        slug = "".join(c if c.isalnum() else "-" for c in "~".join(aimed).casefold())[:60]
        for number in range(1, count + 1):
            submission = read_submission(values.get(_step_name(indices, number)))
            if isinstance(submission, str):
                name = f"{slug}-{number:02}"
                used[name] += 1
                name += f"~{used[name]}" if used[name] > 1 else ""
                prompt = tasks[(number - 1) % len(tasks)] if tasks else ""
                meta = _origin(request, aimed, task)
                tags = (GENERATED, BORDERLINE if aimed[1:] else f"aimed: {aimed[0]}"[:100])
                items.append(
                    Item(id=name, submission=submission, prompt=prompt, tags=tags, meta=meta)
                )
    return items


def _origin(request: DataRequest, aimed: tuple[str, ...], task: HelpTask) -> dict[str, Any]:
    aim = {"criterion": request.criterion.name, "options": list(aimed), "verified": False}
    return {"aimed": aim, "written_by": request.judge.name, "help_task": task.id}


@allowed("write")
def as_dataset(store: Store, task: HelpTask, name: str) -> DatasetVersion:
    """Store the submissions as a dataset; equal submissions return the existing dataset.

    Raises ``InputError`` if nothing was written.
    """
    written = written_so_far(store, task)
    if not written:
        raise InputError("Nothing has been written yet.")
    dataset = Dataset(
        name=name.strip() or f"Test data: {request_of(task).criterion.name}"[:200],
        description="Written by a model. Target options are not labels; no person checked them.",
        items=tuple(written),
    )
    return help_tasks.keep_dataset(store, task, dataset)


#: The plan detail which says that the run measures recovery.
DETAIL = "recovery"


@dataclass(frozen=True)
class AimedSubmissions:
    """Submissions for one option (or between two), and the judges' choices, by label.

    ``unanswered`` have no verdict: judges abstained or failed.
    """

    aimed: tuple[str, ...]
    found: Estimate
    chosen: dict[str, int]
    unanswered: int

    @property
    def between(self) -> bool:
        """Return whether the submissions lie between two options; either option then counts as
        found.
        """
        return len(self.aimed) > 1


@allowed("write")
def request(
    store: Store, dataset_version: int, criterion: Criterion, guidelines: str, panel: Panel
) -> RunRequest:
    """Return the run in which a panel grades generated submissions with this one criterion."""
    rubric = Rubric(name=criterion.name, guidelines=guidelines, criteria=(criterion,))
    version = store.rubrics.version_with_content(rubric, now=clock.now())
    return RunRequest(
        rubric_version=version.id,
        dataset_version=dataset_version,
        panel=panel.model_copy(update={"asking": Asking(**{**dict(panel.asking), "few_shot": 0})}),
        name=f"Recovery: {criterion.name}"[:200],
        details={DETAIL: criterion.name},
    )


@allowed("write")
def start(store: Store, run: RunRequest) -> int:
    """Start that run; return its id."""
    return lifecycle.start(store, run)


def recovery_of_run(store: Store, run_id: int) -> tuple[Criterion, list[AimedSubmissions]]:
    """Return a run's criterion, and which options judges chose for the generated submissions.

    Raises ``InputError`` for a run without generated submissions.
    """
    run = store.runs.get(run_id)
    items = resolved_items(store, run.dataset_version_id, store.runs.item_ids(run_id))
    rubric = store.rubrics.version(run.rubric_version_id).rubric
    aims = {item.id: aim for item in items if (aim := aim_of_item(item)) is not None}
    names = {name for name, _ in aims.values()}
    criterion = next((c for c in rubric.criteria if c.name in names), None)
    if criterion is None:
        raise InputError("No item of this run was written for an option of its rubric.")
    aimed = {id_: options for id_, (name, options) in aims.items() if name == criterion.name}
    cells = dict(store.results.verdicts(run_id, criterion.name))
    return criterion, _recovery_of_cells(criterion, aimed, cells)


def found_share(rows: Sequence[AimedSubmissions]) -> Estimate:
    """Return the share of submissions for one option for which judges chose it."""
    single = [row.found for row in rows if not row.between]
    return Estimate.share(sum(row.hits or 0 for row in single), sum(row.n for row in single))


def aim_of_item(item: Item) -> tuple[str, tuple[str, ...]] | None:
    """Return the criterion and the labels that an item was written for, or ``None``."""
    aim = item.meta.get("aimed")
    if not isinstance(aim, dict) or not isinstance(aim.get("options"), list):
        return None
    return str(aim.get("criterion", "")), tuple(str(label) for label in aim["options"])


def _recovery_of_cells(
    criterion: Criterion, aimed: dict[str, tuple[str, ...]], cells: dict[str, Verdict]
) -> list[AimedSubmissions]:
    groups: dict[tuple[str, ...], list[str]] = {}
    for id_, options in aimed.items():
        groups.setdefault(options, []).append(id_)
    verdicts = {id_: _label_of_cell(criterion, cells.get(id_)) for id_ in aimed}
    return [_recovery_row(options, ids, verdicts) for options, ids in groups.items()]


def _label_of_cell(criterion: Criterion, cell: Verdict | None) -> str | None:
    option = None if cell is None else cell.judged
    return None if option is None else criterion.choices[option].label


def _recovery_row(
    options: tuple[str, ...], ids: list[str], verdicts: dict[str, str | None]
) -> AimedSubmissions:
    chosen: dict[str, int] = {}
    for id_ in ids:
        label = verdicts[id_]
        if label is not None:
            chosen[label] = chosen.get(label, 0) + 1
    n = sum(chosen.values())
    hits = sum(chosen.get(option, 0) for option in options)
    return AimedSubmissions(options, Estimate.share(hits, n), chosen, len(ids) - n)
