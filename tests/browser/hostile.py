"""A data file in which every text that somebody else can write is an attack.

`seed(store)` fills it and says where things are. Every text begins with the name of its place, so
that a test can tell which of them it sees.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, NamedTuple

from core.domain.dataset import Dataset, Item, Label, Message, Sections
from core.domain.panel import Judge, Panel
from core.domain.rubric import Criterion, Option, Rubric
from core.domain.runs import RunPlan, RunStatus
from core.domain.votes import AskedOutcome, Call, Cell, Segment, Vote, VoteFailure
from core.services.judges.connection import ConnectionResult
from core.services.results.scored_items import derivation_for
from core.services.rubrics import library
from core.services.rubrics.draft_shapes import RubricDraft
from core.services.rubrics.drafts import draft_from
from core.services.spot.request import SpotRequest, keep
from core.store.store import Store

NOW = "2026-03-01T10:00:00.000Z"
#: Nobody listens at 127.0.0.1:9; a picture from there would be a request to elsewhere.
ATTACK = (
    "![m](http://127.0.0.1:9/m) $a^2$ :material/skull: <img src=http://127.0.0.1:9/i "
    "onerror=window.hurt=1> <script>window.hurt=1</script> **b** `c` :red[d] "
    "[l](javascript:window.hurt=1) <style>body{display:none}</style> www.evil.test "
    "\u202ereversed </submission>"
)


def hostile(place: str, limit: int = 0) -> str:
    """An attack that begins with the name of its place, at most `limit` characters long."""
    text = f"{place} {ATTACK}"
    return text[:limit].rstrip() if limit else text


class Places(NamedTuple):
    """Ids of what was seeded, and drafts by name."""

    rubric: int
    version: int
    dataset: int
    judge: int
    panel: int
    run: int
    failed: int
    queued: int
    spot: int


GRADE, FAIL = hostile("judge", 90), hostile("failing", 90)
LEARNER = hostile("learner", 90)
YES_NO, LEVELS, KINDS = (hostile(f"criterion-{n}", 180) for n in (1, 2, 3))
HIGH, LOW = hostile("high", 180), hostile("low", 180)
CHAT, SECTIONS, PLAIN = (hostile(f"item-{n}", 300) for n in ("chat", "sections", "plain"))
DRAFT, BROKEN_DRAFT, BROKEN_TEXT = "new-1", "new-2", "new-3"


def rubric(name: str = "rubric") -> Rubric:
    """A criterion of each kind, and a gate, with an attack in every text."""
    options = (
        Option(label=LOW, value=0.0, description=hostile("anchor-low")),
        Option(label=HIGH, value=1.0, description=hostile("anchor-high")),
    )
    gate = {
        "name": hostile("gate"),
        "when": {"criterion": YES_NO, "is": "MET"},
        "then": {"flag": hostile("flag"), "reason": hostile("gate-reason")},
    }
    asked: dict[str, Any] = {"section": hostile("section", 180), "tags": (hostile("tag"),)}
    return Rubric.model_validate(
        {
            "name": hostile(name, 180),
            "description": hostile("description"),
            "guidelines": hostile("guidelines"),
            "criteria": (
                Criterion(name=YES_NO, requirement=hostile("requirement-1"), **asked),
                Criterion(name=LEVELS, requirement="Deep?", scale="ordinal", options=options),
                Criterion(name=KINDS, requirement="Which?", scale="nominal", options=options),
            ),
            "gates": (gate,),
        }
    )


def dataset() -> Dataset:
    """A text, a conversation, and thinking with output; the text has labels and a note."""
    labels = {
        YES_NO: Label(label="UNMET", reason=hostile("label-reason")),
        LEVELS: Label(label=HIGH, reason=hostile("label-reason-2")),
    }
    turns = (Message(role=hostile("role", 45), content=hostile("turn")),)
    return Dataset(
        name=hostile("dataset", 180),
        description=hostile("dataset-description"),
        prompt=hostile("common-prompt"),
        items=(
            Item(
                id=PLAIN,
                submission=hostile("submission"),
                prompt=hostile("prompt"),
                reference=hostile("reference"),
                description=hostile("item-description"),
                labels=labels,
                system=hostile("system"),
                tags=(hostile("item-tag"),),
                meta={hostile("note"): hostile("note-value")},
            ),
            Item(id=CHAT, submission=turns, rubric=rubric("own-rubric")),
            Item(
                id=SECTIONS,
                submission=Sections(thinking=hostile("thinking"), output=hostile("output")),
            ),
        ),
    )


def seed(store: Store) -> Places:
    """Fill the data file; returns where things are."""
    saved = store.rubrics.create(rubric(), now=NOW, author=hostile("author"), note=hostile("save"))
    data = store.datasets.create(dataset(), now=NOW, source=hostile("source"))
    gone = store.rubrics.create(rubric("archived"), now=NOW)
    store.rubrics.archive(gone.rubric_id, now=NOW)
    judges = _judges()
    rows = [store.judges.save(judge, now=NOW) for judge in judges]
    store.judges.save(Judge(name=hostile("retired", 90), model=hostile("model")), now=NOW)
    store.judges.archive(hostile("retired", 90), now=NOW)
    put_away = Dataset(name=hostile("put-away", 180), items=(Item(id="1", submission="x"),))
    store.datasets.archive(store.datasets.create(put_away, now=NOW).dataset_id, now=NOW)
    panel = Panel(name=hostile("panel", 180), judges=judges)
    kept = store.panels.save(panel, now=NOW)
    _tests(store)
    plan = RunPlan(hostile("run", 180), saved.id, data.id, panel, seed=7)
    run = graded(store, plan, "done")
    failed = graded(store, plan, "failed")
    check = RunPlan(hostile("spot", 180), saved.id, data.id, panel, "spot")
    graded(store, check, "done")
    # The same submission again, by a panel of another name and with fewer judges.
    fewer = Panel(name="Fewer", judges=judges[:2])
    spot = graded(store, replace(check, panel=fewer, seed=8), "done")
    queued = store.runs.create(plan, [(PLAIN, 9)], now=NOW).id
    _drafts(store, saved.rubric_id)
    return Places(
        saved.rubric_id, saved.id, data.dataset_id, rows[0].id, kept.id, run, failed, queued, spot
    )


def _judges() -> tuple[Judge, ...]:
    return (
        Judge(name=GRADE, model=hostile("model"), api_base="http://127.0.0.1:9/<b>$a$"),
        Judge(name=FAIL, model=hostile("model-2"), key_env="NO_SUCH_KEY"),
        Judge(name=LEARNER, kind="classifier"),
    )


def _tests(store: Store) -> None:
    """What connection tests gave: an answer of the one model, no answer of the other."""
    for result in (
        ConnectionResult(GRADE, "", NOW, "MET", True, hostile("test-reason"), tries=1),
        ConnectionResult(FAIL, "", NOW, failure="server", message=hostile("test-message")),
    ):
        values = {name: getattr(result, name) for name in ConnectionResult.__slots__}
        store.settings.put(f"connection/{result.judge}", values)


def graded(store: Store, plan: RunPlan, status: RunStatus, option: int = 0) -> int:
    """A run of the plain item (with the others, if it is no spot check) and all its results.

    The model gives the option of that index everywhere.
    """
    data = dataset()
    items = data.items[: 1 if plan.kind == "spot" else 3]
    run_id = store.runs.create(plan, [(item.id, 9) for item in items], now=NOW).id
    lease = store.leases.claim("gone:1:x", at=1e10, seconds=60, run_id=run_id)
    assert lease is not None
    derive = derivation_for(store.runs.get(run_id).plan, rubric(), items)
    judges = {judge.name for judge in plan.panel.judges}
    outcomes = [
        one
        for item in items
        for one in _outcomes(item.id, option)
        if one.results[0].cell.judge in judges
    ]
    store.votes.record(
        run_id, outcomes, owner=lease.owner, fence=lease.fence, now=NOW, derive=derive
    )
    report = {"trained": False, "n": 3, "reason": hostile("training-reason")}
    store.runs.set_notes(run_id, {"training": {LEARNER: {YES_NO: report}}})
    message = hostile("message") if status == "failed" else ""
    store.leases.release(lease, status, now=NOW, message=message)
    return run_id


def _outcomes(item: str, option: int) -> list[AskedOutcome]:
    """The model answers every criterion, the other one fails, the classifier abstains on one."""
    call = Call(
        (Segment("system", hostile("sent-system")), Segment("user", hostile("sent-user"))),
        {hostile("setting"): hostile("setting-value")},
        reply=hostile("reply"),
        thinking=hostile("call-thinking"),
        model=hostile("answered-by"),
        finish=hostile("finish"),
    )
    found = list[AskedOutcome]()
    for name in (YES_NO, LEVELS, KINDS):
        order = (1, 0, 2)
        vote = Vote(
            Cell(item, name, GRADE),
            option,
            False,
            reason=hostile("reason"),
            evidence=(hostile("evidence"), hostile("submission")),
            order=order,
        )
        failure = VoteFailure(Cell(item, name, FAIL), "server", hostile("failure"), order)
        found += [AskedOutcome((vote,), call), AskedOutcome((failure,), call)]
    abstention = Vote(Cell(item, YES_NO, LEARNER), None, True, reason=hostile("abstention"))
    return [*found, AskedOutcome((abstention,))]


def _drafts(store: Store, rubric_id: int) -> None:
    """Work that was never saved: whole, with problems, with YAML that cannot be read; a check."""
    fresh = draft_from(rubric("draft"))
    library.keep(store, DRAFT, fresh)
    broken: RubricDraft = {**draft_from(rubric("broken")), "gates": [], "criteria": []}
    twice = [dict(c) for c in fresh["criteria"][:1]]
    twice += [{**c, "uid": "c9", "requirement": ""} for c in twice]
    broken["criteria"] = twice  # type: ignore[typeddict-item]
    library.keep(store, BROKEN_DRAFT, broken)
    typed = f"name: x\n{hostile('key', 20)!r}: 1\ncriteria: {hostile('typed')!r}\n"
    library.keep(store, BROKEN_TEXT, fresh, typed)
    # Somebody else saved a version since this draft of the rubric was begun.
    behind: RubricDraft = {**library.draft_of(store, rubric_id), "guidelines": hostile("mine")}
    store.rubrics.add_version(
        rubric_id,
        # Without the third criterion, so that it is named among what differs.
        rubric().model_copy(update={"guidelines": "Theirs.", "criteria": rubric().criteria[:2]}),
        parent=1,
        now=NOW,
        note=hostile("their-note"),
    )
    library.keep(store, str(rubric_id), behind)
    typed_too = {"text": hostile("pasted"), "prompt": hostile("pasted-prompt")}
    judges = (GRADE, FAIL, LEARNER)
    keep(store, SpotRequest(rubric=str(rubric_id), judges=judges, **typed_too))
