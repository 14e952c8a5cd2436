"""Proposals to mend a rubric's words, each a piece that a person takes or leaves.

A proposal replaces one text. Options, scale, values, weights and rules are never dropped: what a
proposal does not name cannot change, and a change of a label or a weight is a piece of its own.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Literal

from core.domain.names import fold
from core.domain.panel import Judge
from core.domain.review import Case
from core.domain.rubric import Rubric
from core.domain.runs import HelpTask
from core.errors import InputError
from core.judging import authoring_changes as changes_
from core.judging.authoring import Failed, Writing, writer_of
from core.judging.authoring_prompts import revise_writing
from core.judging.authoring_replies import ProposedChange, ProposedChanges, read_changes
from core.judging.fences import one_line
from core.judging.parsing import Unreadable
from core.services import draft_edits as edits
from core.services import draft_options as options
from core.services import helping
from core.services.draft_types import CriterionDraft, Draft
from core.services.drafts import rubric_from
from core.services.helping import Wish
from core.services.helping_cost import Outlook, outlook
from core.services.helping_desk import Desk
from core.store.store import Store

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
class Piece:
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


def estimate(request: ImproveRequest) -> Outlook:
    """What it will take: one call for each criterion."""
    return outlook(
        request.judge, [_writing(request, name) for name in request.targets], _TOKENS_OUT
    )


def begin(store: Store, request: ImproveRequest) -> int:
    """Start asking for proposals; returns the task's id."""
    if not request.targets:
        raise InputError("Choose at least one criterion to improve.")
    wanted = {
        "judge": request.judge.model_dump(mode="json"),
        "rubric": request.rubric.model_dump(mode="json", by_alias=True),
        "targets": list(request.targets),
        "findings": {name: list(said) for name, said in request.findings.items()},
        "cases": [asdict(case) for case in request.cases],
        "seed": request.seed,
    }
    wish = Wish(KIND, request.subject, wanted, len(request.targets), request.budget)
    return helping.begin(store, wish)


async def work(desk: Desk) -> None:
    """Ask for proposals, criterion by criterion, all at once."""
    request = _request(desk.request, desk.task.subject)
    await desk.all(propose(desk, request, name, f"revise/{name}") for name in request.targets)


async def propose(
    desk: Desk, request: ImproveRequest, name: str, step: str
) -> ProposedChanges | Failed:
    """The changes to one criterion; every one of them can be made."""

    def read(text: str | None) -> ProposedChanges | Unreadable:
        return readable(text, request.rubric, name)

    return await desk.write(step, writer_of(request.judge), _writing(request, name), read)


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


def pieces(store: Store, task: HelpTask) -> list[Piece]:
    """What was proposed so far, in the order of the criteria."""
    rubric = _rubric(task.request)
    found = list[Piece]()
    kept = {s.name: s.value for s in helping.steps(store, task.id) if s.failure is None}
    for name in task.request["targets"]:
        read = readable(kept.get(f"revise/{name}"), rubric, name)
        if not isinstance(read, Unreadable):
            found += pieces_of(rubric, read.changes)
    return found


def pieces_of(rubric: Rubric, found: Sequence[ProposedChange]) -> list[Piece]:
    """Changes as pieces beside what they replace."""
    return [
        Piece(
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


def state_of(draft: Draft, piece: Piece) -> State:
    """``open`` where the draft still says what the piece replaces, ``taken`` where it says the new
    text, ``passed`` where it says something else by now.
    """
    if piece.part == "label" and _text_in(draft, piece) is None:
        return "taken" if _criterion_has(draft, piece, piece.after) else "passed"
    now = _text_in(draft, piece)
    if now is not None and now.strip() == piece.before.strip():
        return "open"
    return "taken" if now is not None and now.strip() == piece.after.strip() else "passed"


def take(draft: Draft, piece: Piece) -> Draft:
    """The draft with one piece accepted; as it was where its place says something else by now."""
    if state_of(draft, piece) != "open":
        return draft
    if piece.part == "guidelines":
        return edits.set_field(draft, "guidelines", piece.after)
    criterion = _find(draft, piece.criterion)
    if criterion is None:
        return draft
    uid = criterion["uid"]
    if piece.part == "requirement":
        return edits.set_criterion(draft, uid, "requirement", piece.after)
    if piece.part == "weight":
        return edits.set_criterion(draft, uid, "weight", float(piece.after))
    option = next(o["uid"] for o in criterion["options"] if fold(o["label"]) == fold(piece.option))
    what = "description" if piece.part == "option" else "label"
    return options.set_option(draft, uid, option, what, piece.after)


def rubric_of(draft: Draft) -> Rubric:
    """The draft as a rubric, to be improved; ``InputError`` where it is none yet."""
    return rubric_from(draft)


def _text_in(draft: Draft, piece: Piece) -> str | None:
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


def _criterion_has(draft: Draft, piece: Piece, label: str) -> bool:
    criterion = _find(draft, piece.criterion)
    return criterion is not None and any(
        fold(o["label"]) == fold(label) for o in criterion["options"]
    )


def _find(draft: Draft, name: str) -> CriterionDraft | None:
    return next((c for c in draft["criteria"] if fold(c["name"]) == fold(name)), None)


def _writing(request: ImproveRequest, name: str) -> Writing:
    own = {key: said for key, said in request.findings.items() if key in (name, "")}
    cases = [case for case in request.cases if case.criterion == name]
    return revise_writing(request.rubric, [name], own, cases, request.seed)


def _rubric(request: Mapping[str, Any]) -> Rubric:
    return Rubric.model_validate(request["rubric"])


def _request(asked: Mapping[str, Any], subject: str) -> ImproveRequest:
    return ImproveRequest(
        judge=helping.writer_from(asked),
        rubric=_rubric(asked),
        subject=subject,
        targets=tuple(asked["targets"]),
        findings=asked["findings"],
        cases=tuple(Case(**case) for case in asked["cases"]),
        seed=asked["seed"],
    )
