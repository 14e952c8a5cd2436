"""Proposals to mend a rubric's words, piece by piece, and the evidence they rest on.

A proposal replaces one text. Options, scale, values, weights and rules are never dropped: what a
proposal does not name cannot change, and a change of a label or a weight is a piece of its own.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from core.domain.dataset import Item
from core.domain.panel import Judge
from core.domain.review import Case
from core.domain.rubric import Criterion, Rubric
from core.domain.runs import HelpTask
from core.domain.votes import Verdict
from core.errors import InputError
from core.identity import seeded
from core.judging.prompts.parts import one_line
from core.judging.prompts.reply_parsing import Unreadable
from core.judging.writing import replies as changes_
from core.judging.writing.prompts import revise_writing
from core.judging.writing.replies import ProposedChange, ProposedChanges, read_changes
from core.judging.writing.writer import Failed, Writing, writer_of
from core.lint import check
from core.services.access.allowing import allowed
from core.services.assist import help_tasks
from core.services.assist.help_tasks import TaskCost, outlook
from core.services.assist.task_context import TaskContext
from core.services.diagnostics import diagnosis
from core.services.results.item_view import choice_label
from core.services.results.scored_items import effective, resolved_items
from core.services.rubrics import draft_criteria
from core.services.rubrics.draft_shapes import CriterionDraft, RubricDraft
from core.services.rubrics.drafts import rubric_from
from core.store.store import Store
from core.text.names import fold

KIND = "improve"
_TOKENS_OUT = 500
State = Literal["open", "taken", "passed"]


@dataclass(frozen=True)
class ImproveRequest:
    """What to mend: criteria by name, and what speaks for it. ``subject`` names the draft."""

    judge: Judge
    rubric: Rubric
    subject: str
    targets: tuple[str, ...]
    findings: Mapping[str, Sequence[str]]
    cases: tuple[Case, ...] = ()
    seed: int = 0
    budget: float | None = None


@dataclass(frozen=True, slots=True)
class ProposalPiece:
    """One proposed change beside the text it replaces. ``option`` is a label, or empty.

    ``criterion`` is empty for the guidelines. ``part`` is a name of ``authoring_prompts.PARTS``.
    """

    key: str
    criterion: str
    part: str
    option: str
    before: str
    after: str
    why: str


def estimate(request: ImproveRequest) -> TaskCost:
    """What it will take: one call for each criterion."""
    return outlook(
        request.judge, [_writing(request, name) for name in request.targets], _TOKENS_OUT
    )


@allowed("write")
def begin(store: Store, request: ImproveRequest) -> int:
    """Start asking for proposals; returns the task's id."""
    if not request.targets:
        raise InputError("Choose at least one criterion to improve.")
    wanted = help_tasks.request_data(request)
    steps = len(request.targets)
    return help_tasks.begin(store, KIND, request.subject, wanted, steps, request.budget)


async def work(context: TaskContext) -> None:
    """Ask for proposals, criterion by criterion, all at once."""
    request = help_tasks.request_from(ImproveRequest, context.task)
    await context.all(propose(context, request, name, f"revise/{name}") for name in request.targets)


async def propose(
    context: TaskContext, request: ImproveRequest, name: str, step: str
) -> ProposedChanges | Failed:
    """The changes to one criterion; every one of them can be made."""

    def read(text: str | None) -> ProposedChanges | Unreadable:
        return readable(text, request.rubric, name)

    return await context.write(step, writer_of(request.judge), _writing(request, name), read)


def readable(text: str | None, rubric: Rubric, name: str) -> ProposedChanges | Unreadable:
    """The changes in a reply with which the rubric is still a rubric; the others are left out."""
    found = read_changes(text, rubric, [name])
    if isinstance(found, Unreadable):
        return found
    # A gate names options by label; in the editor it follows a renamed one by itself.
    plain = rubric.model_copy(update={"gates": ()})
    made, dropped = list(found.changes), list(found.dropped)
    if _trouble(plain, made):
        # One after the other, so that only what does the harm is left out.
        made = []
        for change in found.changes:
            why = _trouble(plain, [*made, change])
            if why:
                dropped.append(f"With “{one_line(change.to)}” it is no rubric: {why}")
            else:
                made.append(change)
    if dropped and not made:
        return Unreadable("malformed", " ".join(dropped))
    new = [one for one in made if changes_.before(rubric, one).strip() != one.to]
    return ProposedChanges(tuple(dropped), tuple(new))


def _trouble(rubric: Rubric, made: Sequence[ProposedChange]) -> str:
    """Why the rubric with these changes is none; empty where it is one."""
    try:
        changes_.changed(rubric, made)
    except InputError as error:
        return str(error.problems[0] if error.problems else error)
    return ""


def pieces(store: Store, task: HelpTask) -> list[ProposalPiece]:
    """What was proposed so far, in the order of the criteria."""
    rubric = Rubric.model_validate(task.request["rubric"])
    found = list[ProposalPiece]()
    kept = {s.name: s.value for s in help_tasks.steps(store, task.id) if s.failure is None}
    for name in task.request["targets"]:
        read = readable(kept.get(f"revise/{name}"), rubric, name)
        if not isinstance(read, Unreadable):
            found += pieces_of(rubric, read.changes)
    return found


def pieces_of(rubric: Rubric, found: Sequence[ProposedChange]) -> list[ProposalPiece]:
    """Changes as pieces beside what they replace."""
    return [
        ProposalPiece(
            key=f"{change.criterion}/{change.part}/{change.option}",
            criterion=change.criterion,
            part=change.part,
            option=_label(rubric, change),
            before=changes_.before(rubric, change),
            after=change.to,
            why=change.why,
        )
        for change in found
    ]


def _label(rubric: Rubric, change: ProposedChange) -> str:
    if change.option is None:
        return ""
    return rubric.criterion(change.criterion).options[change.option].label


def state_of(draft: RubricDraft, piece: ProposalPiece) -> State:
    """``open`` where the draft still says what the piece replaces, ``taken`` where it says the new
    text, ``passed`` where it says something else by now.
    """
    if piece.part == "label" and _text_in(draft, piece) is None:
        return "taken" if _criterion_has(draft, piece, piece.after) else "passed"
    now = _text_in(draft, piece)
    if now is not None and now.strip() == piece.before.strip():
        return "open"
    return "taken" if now is not None and now.strip() == piece.after.strip() else "passed"


def take(draft: RubricDraft, piece: ProposalPiece) -> RubricDraft:
    """The draft with one piece accepted; as it was where its place says something else by now."""
    if state_of(draft, piece) != "open":
        return draft
    if piece.part == "guidelines":
        return draft_criteria.set_field(draft, "guidelines", piece.after)
    criterion = _find(draft, piece.criterion)
    if criterion is None:
        return draft
    uid = criterion["uid"]
    if piece.part == "requirement":
        return draft_criteria.set_criterion(draft, uid, "requirement", piece.after)
    if piece.part == "weight":
        return draft_criteria.set_criterion(draft, uid, "weight", float(piece.after))
    option = next(o["uid"] for o in criterion["options"] if fold(o["label"]) == fold(piece.option))
    what = "description" if piece.part == "option" else "label"
    return draft_criteria.set_option(draft, uid, option, what, piece.after)


def rubric_of(draft: RubricDraft) -> Rubric:
    """The draft as a rubric, to be improved; ``InputError`` where it is none yet."""
    return rubric_from(draft)


def _text_in(draft: RubricDraft, piece: ProposalPiece) -> str | None:
    if piece.part == "guidelines":
        return draft["guidelines"]
    criterion = _find(draft, piece.criterion)
    if criterion is None:
        return None
    if piece.part == "requirement":
        return criterion["requirement"]
    if piece.part == "weight":
        return None if criterion["weight"] is None else f"{criterion['weight']:g}"
    for option in criterion["options"]:
        if fold(option["label"]) == fold(piece.option):
            return option["description"] if piece.part == "option" else option["label"]
    return None


def _criterion_has(draft: RubricDraft, piece: ProposalPiece, label: str) -> bool:
    criterion = _find(draft, piece.criterion)
    return criterion is not None and any(
        fold(o["label"]) == fold(label) for o in criterion["options"]
    )


def _find(draft: RubricDraft, name: str) -> CriterionDraft | None:
    return next((c for c in draft["criteria"] if fold(c["name"]) == fold(name)), None)


def _writing(request: ImproveRequest, name: str) -> Writing:
    own = {key: said for key, said in request.findings.items() if key in (name, "")}
    cases = [case for case in request.cases if case.criterion == name]
    return revise_writing(request.rubric, [name], own, cases, request.seed)


#: So many cases are shown per criterion.
CASES = 4
Findings = dict[str, list[str]]


def offline_findings(rubric: Rubric) -> Findings:
    """What the offline check says, by criterion; the empty name is the rubric as a whole."""
    found: Findings = {}
    for finding in check.check(rubric):
        at = finding.criterion
        name = "" if at is None else rubric.criteria[at].name
        found.setdefault(name, []).append(f"{finding.sentence} {finding.mend}".strip())
    return found


def findings_after(store: Store, run_id: int) -> Findings:
    """What a run's votes say of its criteria."""
    found: Findings = {}
    for one in diagnosis.heard(store, run_id).findings:
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
    missed: dict[str, list[tuple[Item, Verdict]]] = {}
    for item_id, cell in store.results.verdicts(run_id):
        item = items[item_id]
        criterion = _criterion(effective(item, rubric), cell.criterion)
        if cell.criterion in names and criterion is not None:
            truth = item.truth(criterion)
            if truth is not None and cell.judged is not None and truth != cell.judged:
                missed.setdefault(cell.criterion, []).append((item, cell))
    found = list[Case]()
    for name, cells in missed.items():
        seeded("cases", seed, name).shuffle(cells)
        found += [_case(store, run_id, item, rubric, cell) for item, cell in cells[:most]]
    return found


def _criterion(rubric: Rubric, name: str) -> Criterion | None:
    return next((c for c in rubric.criteria if c.name == name), None)


def _case(store: Store, run_id: int, item: Item, rubric: Rubric, cell: Verdict) -> Case:
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
