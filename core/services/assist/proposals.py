"""Proposals to improve a rubric's wording, piece by piece, with their evidence.

A proposal replaces one text. Options, scale, values, weights and rules are never dropped: a
proposal changes only what it names, and a change of a label or a weight is a separate piece.
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
from core.identity import seeded_random
from core.judging.prompts.assembly import Prompt
from core.judging.prompts.parts import one_line
from core.judging.prompts.reply_parsing import Unreadable
from core.judging.writing import replies as changes_
from core.judging.writing.prompts import revise_writing
from core.judging.writing.replies import ProposedChange, read_changes
from core.judging.writing.writer import PartialReply, WritingFailure, writer_of
from core.lint import check
from core.services.access.allowing import allowed
from core.services.assist import help_tasks
from core.services.assist.help_tasks import TaskCost, cost_estimate
from core.services.assist.task_context import TaskContext
from core.services.diagnostics import diagnosis
from core.services.results.item_view import choice_label
from core.services.results.scored_items import resolved_items, rubric_in_force
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
    """The criteria to improve, and the evidence. ``subject`` names the draft."""

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
    """One proposed change with the text it replaces. ``option`` is a label, or empty.

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
    """Return the expected cost: one call per criterion."""
    return cost_estimate(
        request.judge, [_revise_request(request, name) for name in request.targets], _TOKENS_OUT
    )


@allowed("write")
def begin(store: Store, request: ImproveRequest) -> int:
    """Start the proposals; return the task's id. Raise ``InputError`` without a criterion."""
    if not request.targets:
        raise InputError("Choose at least one criterion to improve.")
    data = help_tasks.request_data(request)
    steps = len(request.targets)
    return help_tasks.begin(store, KIND, request.subject, data, steps, request.budget)


async def work(context: TaskContext) -> None:
    """Request proposals for all criteria in parallel."""
    request = help_tasks.request_from(ImproveRequest, context.task)
    await context.all(
        propose_changes(context, request, name, f"revise/{name}") for name in request.targets
    )


async def propose_changes(
    context: TaskContext, request: ImproveRequest, name: str, step: str
) -> PartialReply[tuple[ProposedChange, ...]] | WritingFailure:
    """Return the valid changes to one criterion, or the failure."""

    def read(text: str | None) -> PartialReply[tuple[ProposedChange, ...]] | Unreadable:
        return valid_changes(text, request.rubric, name)

    return await context.write(step, writer_of(request.judge), _revise_request(request, name), read)


def valid_changes(
    text: str | None, rubric: Rubric, name: str
) -> PartialReply[tuple[ProposedChange, ...]] | Unreadable:
    """Return the changes in a reply that keep the rubric valid; others are dropped."""
    reply = read_changes(text, rubric, [name])
    if isinstance(reply, Unreadable):
        return reply
    # Gates are left out: they name options by label, and the editor updates them when options are
    # renamed.
    plain = rubric.model_copy(update={"gates": ()})
    accepted, dropped = list(reply.value), list(reply.dropped)
    if _why_invalid(plain, accepted):
        # Changes are applied and checked one after another, so that only invalid changes are
        # dropped.
        accepted = []
        for change in reply.value:
            reason = _why_invalid(plain, [*accepted, change])
            if reason:
                dropped.append(f"With “{one_line(change.to)}” the rubric is invalid: {reason}")
            else:
                accepted.append(change)
    if dropped and not accepted:
        return Unreadable("malformed", " ".join(dropped))
    new = [
        each for each in accepted if changes_.text_before_change(rubric, each).strip() != each.to
    ]
    return PartialReply(tuple(new), tuple(dropped))


def _why_invalid(rubric: Rubric, accepted: Sequence[ProposedChange]) -> str:
    """Return why these changes make the rubric invalid; empty if it stays valid."""
    try:
        changes_.apply_changes(rubric, accepted)
    except InputError as error:
        return str(error.problems[0] if error.problems else error)
    return ""


def pieces_so_far(store: Store, task: HelpTask) -> list[ProposalPiece]:
    """Return the proposals so far, in the order of the criteria."""
    rubric = Rubric.model_validate(task.request["rubric"])
    proposed = list[ProposalPiece]()
    values = {
        s.name: s.value for s in help_tasks.steps_of_task(store, task.id) if s.failure is None
    }
    for name in task.request["targets"]:
        revised = valid_changes(values.get(f"revise/{name}"), rubric, name)
        if not isinstance(revised, Unreadable):
            proposed += pieces_of(rubric, revised.value)
    return proposed


def pieces_of(rubric: Rubric, proposed: Sequence[ProposedChange]) -> list[ProposalPiece]:
    """Return changes as pieces with the texts they replace."""
    return [
        ProposalPiece(
            key=f"{change.criterion}/{change.part}/{change.option}",
            criterion=change.criterion,
            part=change.part,
            option=_piece_label(rubric, change),
            before=changes_.text_before_change(rubric, change),
            after=change.to,
            why=change.why,
        )
        for change in proposed
    ]


def _piece_label(rubric: Rubric, change: ProposedChange) -> str:
    if change.option is None:
        return ""
    return rubric.criterion(change.criterion).options[change.option].label


def state_of(draft: RubricDraft, piece: ProposalPiece) -> State:
    """Return ``open`` if the draft still has the text that the piece replaces, ``taken`` if it has
    the new text, ``passed`` if it has another text.
    """
    if piece.part == "label" and _text_in_draft(draft, piece) is None:
        return "taken" if _criterion_has_text(draft, piece, piece.after) else "passed"
    current = _text_in_draft(draft, piece)
    if current is not None and current.strip() == piece.before.strip():
        return "open"
    return "taken" if current is not None and current.strip() == piece.after.strip() else "passed"


def take_piece(draft: RubricDraft, piece: ProposalPiece) -> RubricDraft:
    """Return the draft with one piece accepted, or unchanged if its place has another text."""
    if state_of(draft, piece) != "open":
        return draft
    if piece.part == "guidelines":
        return draft_criteria.set_field(draft, "guidelines", piece.after)
    criterion = _find_criterion(draft, piece.criterion)
    if criterion is None:
        return draft
    uid = criterion["uid"]
    if piece.part == "requirement":
        return draft_criteria.set_criterion(draft, uid, "requirement", piece.after)
    if piece.part == "weight":
        return draft_criteria.set_criterion(draft, uid, "weight", float(piece.after))
    option = next(
        option_draft["uid"]
        for option_draft in criterion["options"]
        if fold(option_draft["label"]) == fold(piece.option)
    )
    field = "description" if piece.part == "option" else "label"
    return draft_criteria.set_option(draft, uid, option, field, piece.after)


def rubric_of(draft: RubricDraft) -> Rubric:
    """Return the draft as a rubric to improve; raise ``InputError`` if it is invalid."""
    return rubric_from(draft)


def _text_in_draft(draft: RubricDraft, piece: ProposalPiece) -> str | None:
    if piece.part == "guidelines":
        return draft["guidelines"]
    criterion = _find_criterion(draft, piece.criterion)
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


def _criterion_has_text(draft: RubricDraft, piece: ProposalPiece, label: str) -> bool:
    criterion = _find_criterion(draft, piece.criterion)
    return criterion is not None and any(
        fold(option_draft["label"]) == fold(label) for option_draft in criterion["options"]
    )


def _find_criterion(draft: RubricDraft, name: str) -> CriterionDraft | None:
    return next((c for c in draft["criteria"] if fold(c["name"]) == fold(name)), None)


def _revise_request(request: ImproveRequest, name: str) -> Prompt:
    own_findings = {
        key: sentences for key, sentences in request.findings.items() if key in (name, "")
    }
    cases = [case for case in request.cases if case.criterion == name]
    return revise_writing(request.rubric, [name], own_findings, cases, request.seed)


#: The number of cases shown per criterion.
CASES = 4
Findings = dict[str, list[str]]


def offline_findings(rubric: Rubric) -> Findings:
    """Return the offline check's findings by criterion; the empty name is the whole rubric."""
    by_criterion: Findings = {}
    for finding in check.check(rubric):
        place = finding.criterion
        name = "" if place is None else rubric.criteria[place].name
        by_criterion.setdefault(name, []).append(f"{finding.sentence} {finding.mend}".strip())
    return by_criterion


def findings_after(store: Store, run_id: int) -> Findings:
    """Return the findings of a run's votes on its criteria."""
    by_criterion: Findings = {}
    for finding in diagnosis.run_findings(store, run_id).findings:
        by_criterion.setdefault(finding.subject, []).append(finding.sentence)
    return by_criterion


def merge_findings(*all_of: Mapping[str, Sequence[str]]) -> Findings:
    """Merge findings of several sources, each sentence once.

    >>> merge_findings({"a": ["x"]}, {"a": ["x", "y"]})
    {'a': ['x', 'y']}
    """
    together: Findings = {}
    for findings in all_of:
        for name, sentences in findings.items():
            together[name] = list(dict.fromkeys([*together.get(name, []), *sentences]))
    return together


def cases_of(store: Store, run_id: int, names: Sequence[str], *, seed: int = 0) -> list[Case]:
    """Return cells of a run on which people and judges chose different options, drawn by the seed.

    People's choice is the settled verdict, else the dataset's label; abstentions do not count.
    """
    run = store.runs.get(run_id)
    rubric = store.rubrics.version(run.rubric_version_id).rubric
    ids = store.runs.item_ids(run_id)
    items = {i.id: i for i in resolved_items(store, run.dataset_version_id, ids)}
    missed: dict[str, list[tuple[Item, Verdict]]] = {}
    for item_id, cell in store.results.verdicts(run_id):
        item = items[item_id]
        criterion = _criterion_named(rubric_in_force(item, rubric), cell.criterion)
        if cell.criterion in names and criterion is not None:
            truth = item.truth(criterion)
            if truth is not None and cell.judged is not None and truth != cell.judged:
                missed.setdefault(cell.criterion, []).append((item, cell))
    cases = list[Case]()
    for name, cells in missed.items():
        seeded_random("cases", seed, name).shuffle(cells)
        cases += [_case_of_cell(store, run_id, item, rubric, cell) for item, cell in cells[:CASES]]
    return cases


def _criterion_named(rubric: Rubric, name: str) -> Criterion | None:
    return next((c for c in rubric.criteria if c.name == name), None)


def _case_of_cell(store: Store, run_id: int, item: Item, rubric: Rubric, cell: Verdict) -> Case:
    criterion = rubric_in_force(item, rubric).criterion(cell.criterion)
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
