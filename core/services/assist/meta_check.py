"""The rubric check by a panel: our meta-rubric, graded by the normal engine like any rubric.

Every criterion is an item, judged by the criteria of ``sample_rubrics/meta``; the whole rubric is
another item. With a task description, questions about the task are added. A finding is a verdict
that costs points, with the judges' reason, the criteria it names and their agreement.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

from core.domain.dataset import Dataset, Item
from core.domain.panel import Panel
from core.domain.rubric import Criterion, Rubric
from core.domain.runs import RunRow
from core.domain.votes import Verdict, VoteRow
from core.formats.rubrics.rubric_file import parse_rubric
from core.judging.writing.prompts import criterion_text, rubric_text
from core.services.access.allowing import allowed
from core.services.results.scored_items import resolved_items, rubric_in_force
from core.services.runs.cost_estimate import CostEstimate
from core.services.spot import trials
from core.services.spot.trials import HELP, Trial
from core.settings import SAMPLES
from core.store.store import Store
from core.text.names import fold

FOLDER = SAMPLES / "meta"
#: The id of the item for the whole rubric; criteria are ``criterion 1`` and so on.
WHOLE = "the whole rubric"
_PLACE = "metacheck/"


@dataclass(frozen=True)
class MetaRequest:
    """The rubric to check, and the panel. ``task`` is the prompt of the graded texts, or empty."""

    rubric: Rubric
    panel: Panel
    subject: str
    task: str = ""
    budget: float | None = None
    seed: int = 0


@dataclass(frozen=True)
class MetaFinding:
    """A question of the meta-rubric whose answer costs points.

    ``criteria`` are the names it is about: the item's own or, for the whole rubric, those that the
    judges named, if any. ``weight`` is its importance; ``agreement`` is the share of votes for this
    answer, in [0, 1].
    """

    question: str
    requirement: str
    criteria: tuple[str, ...]
    reason: str
    quotes: tuple[str, ...]
    weight: float
    agreement: float | None
    option: str
    item: str
    stale: bool


@dataclass(frozen=True)
class MetaCheck:
    """A check's results so far. ``asked`` counts answered questions, ``open`` counts unanswered
    questions.
    """

    row: RunRow
    findings: tuple[MetaFinding, ...]
    asked: int
    abstained: int
    open: int


def is_available() -> bool:
    """Return whether the files of the meta-rubric are installed with the program."""
    return FOLDER.is_dir()


@lru_cache(maxsize=8)
def meta_rubric(name: str) -> Rubric:
    """Return one file of the meta-rubric, e.g. ``criterion`` or ``rubric-in-task``."""
    path = FOLDER / f"{name}.yaml"
    return parse_rubric(path.read_bytes(), path.name).value


def meta_questions(part: str, *, in_task: bool) -> Rubric:
    """Return the questions about a ``criterion`` or the ``rubric``, with or without a task."""
    base = meta_rubric(part)
    if not in_task:
        return base
    in_task_questions = meta_rubric(f"{part}-in-task")
    return base.model_copy(update={"criteria": (*base.criteria, *in_task_questions.criteria)})


def _check_trial(request: MetaRequest) -> Trial:
    criteria = [criterion.name for criterion in request.rubric.criteria]
    return Trial(
        name=f"Check by judges: {request.rubric.name}",
        rubric=_questions_for(request, "criterion"),
        panel=request.panel,
        texts=Dataset(name=f"Check: {request.rubric.name}"[:200], items=_check_items(request)),
        source="help",
        seed=request.seed,
        budget=request.budget,
        details={HELP: {"check": request.subject, "criteria": criteria}},
    )


def _check_items(request: MetaRequest) -> tuple[Item, ...]:
    items = [
        Item(id=f"criterion {number}", submission=_criterion_text(criterion), prompt=request.task)
        for number, criterion in enumerate(request.rubric.criteria, start=1)
    ]
    text, rubric_questions = (
        rubric_text(request.rubric, weights=True),
        _questions_for(request, "rubric"),
    )
    return (*items, Item(id=WHOLE, submission=text, prompt=request.task, rubric=rubric_questions))


def _questions_for(request: MetaRequest, part: str) -> Rubric:
    return meta_questions(part, in_task=bool(request.task.strip()))


def estimate(store: Store, request: MetaRequest) -> CostEstimate:
    """Return the estimate of a check, without storing anything."""
    return trials.estimate_trial(store, _check_trial(request))


@allowed("write")
def start(store: Store, request: MetaRequest) -> int:
    """Start a check; return its run's id, to follow like any run."""
    run_id = trials.begin(store, _check_trial(request))
    store.settings.put(f"{_PLACE}{request.subject}", run_id)
    return run_id


def latest_check(store: Store, subject: str) -> int | None:
    """Return the run of the newest check of that subject, or ``None``."""
    run_id = store.settings.get(f"{_PLACE}{subject}")
    return int(run_id) if run_id is not None else None


def check_result(store: Store, run_id: int, now: Rubric | None = None) -> MetaCheck:
    """Return a check's results so far, the most important first.

    ``now`` is the current rubric: findings on a criterion whose wording changed are ``stale``.
    """
    run = store.runs.get(run_id)
    names: list[str] = run.plan.details["help"]["criteria"]
    asked_of = store.rubrics.version(run.rubric_version_id).rubric
    items = resolved_items(store, run.dataset_version_id, store.runs.item_ids(run_id))
    cells: dict[str, list[Verdict]] = {}
    for item_id, cell in store.results.verdicts(run_id):
        cells.setdefault(item_id, []).append(cell)
    meta_findings = list[MetaFinding]()
    for item in items:
        votes = store.votes.for_item(run_id, item.id) if item.id in cells else []
        rubric = rubric_in_force(item, asked_of)
        stale = now is not None and item.submission != _item_text(now, names, item.id)
        meta_findings += _findings_of_item(
            item, rubric, cells.get(item.id, []), votes, names, stale
        )
    all_cells = [cell for of_item in cells.values() for cell in of_item]
    planned = sum(len(rubric_in_force(item, asked_of).criteria) for item in items)
    return MetaCheck(
        row=run,
        findings=tuple(sorted(meta_findings, key=lambda finding: -finding.weight)),
        asked=len(all_cells),
        abstained=sum(cell.abstained for cell in all_cells),
        open=planned - len(all_cells),
    )


def _findings_of_item(
    item: Item,
    rubric: Rubric,
    cells: Sequence[Verdict],
    votes: Sequence[VoteRow],
    names: Sequence[str],
    stale: bool,
) -> Iterator[MetaFinding]:
    for cell in cells:
        question = rubric.criterion(cell.criterion)
        if cell.option is None or cell.abstained or not _has_better_answer(question, cell.option):
            continue
        matching = [
            v for v in votes if v.cell.criterion == cell.criterion and v.option == cell.option
        ]
        quotes = tuple(dict.fromkeys(quote for vote in matching for quote in vote.evidence))
        reason = next((vote.reason for vote in matching if vote.reason), "")
        yield MetaFinding(
            question=question.name,
            requirement=question.requirement,
            criteria=criteria_named(item, names, (*quotes, *(vote.reason for vote in matching))),
            reason=reason,
            quotes=quotes[:3],
            weight=abs(question.weight),
            agreement=cell.agreement,
            option=question.choices[cell.option].description,
            item=item.id,
            stale=stale,
        )


def _has_better_answer(question: Criterion, option: int) -> bool:
    """Return whether another answer would be better, given the sign of the weight."""
    value = question.value_of(option)
    best = [v for v in question.values if v is not None]
    if value is None:
        return False
    return value < max(best) if question.weight >= 0 else value > min(best)


def criteria_named(item: Item, names: Sequence[str], texts: Sequence[str]) -> tuple[str, ...]:
    """Return the criteria that a finding is about.

    For an item of one criterion, that is the criterion. For the whole rubric, they are those whose
    name the judges wrote, or whose text they quoted.
    """
    if item.id != WHOLE:
        return (names[int(item.id.rpartition(" ")[2]) - 1],)
    folded = [fold(text) for text in texts if fold(text)]
    blocks = _criterion_blocks(item.output, names)
    return tuple(
        name
        for name in names
        if any(
            _contains_name(text, fold(name)) or (len(text) > 15 and text in blocks[name])
            for text in folded
        )
    )


def _criterion_blocks(text: str, names: Sequence[str]) -> dict[str, str]:
    """Return the folded text of each criterion in a rubric, as ``rubric_text`` writes it."""
    block_starts = [text.find(f"c{number} (") for number in range(1, len(names) + 1)]
    ends = [*block_starts[1:], len(text)]
    return {
        name: fold(text[start:end])
        for name, start, end in zip(names, block_starts, ends, strict=True)
    }


def _contains_name(text: str, name: str) -> bool:
    """Return whether a text contains a name as whole words.

    >>> _contains_name("limit and tone overlap", "tone"), _contains_name("toneless", "tone")
    (True, False)
    """
    position = text.find(name)
    while position >= 0:
        before, after = (
            text[position - 1 : position],
            text[position + len(name) : position + len(name) + 1],
        )
        if not before.isalnum() and not after.isalnum():
            return True
        position = text.find(name, position + 1)
    return False


def _item_text(rubric: Rubric, names: Sequence[str], item: str) -> str | None:
    if item == WHOLE:
        return rubric_text(rubric, weights=True)
    name = names[int(item.rpartition(" ")[2]) - 1]
    criterion = next((c for c in rubric.criteria if c.name == name), None)
    return None if criterion is None else _criterion_text(criterion)


def _criterion_text(criterion: Criterion) -> str:
    return f"{criterion.name}\n{criterion_text(criterion)}"
