"""Changes to a draft's gates.

As in ``draft_edits``: each returns a new draft, and an unknown uid changes nothing. Conditions and
effects are plain data with the keys of ``core.domain``; what is not filled in yet is absent, and
``problems_of`` says so.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal

from core.domain.names import fold
from core.services.draft_types import CriterionDraft, Draft, GateDraft, Serial
from core.services.drafts import gate_payload, linked

Predicate = Literal["below", "at_most", "above", "at_least", "is", "in", "abstained"]
PREDICATES: tuple[Predicate, ...] = (
    *("below", "at_most", "above", "at_least", "is", "in", "abstained"),
)
EffectName = Literal["cap", "multiply", "fail", "review", "flag"]
EFFECTS: tuple[EffectName, ...] = ("cap", "multiply", "fail", "review", "flag")
_FIRST: dict[EffectName, Any] = {"cap": 0.5, "multiply": 0.5, "flag": "look here"}


def add_gate(draft: Draft) -> tuple[Draft, str]:
    """The draft with one more gate, on its first criterion, and that gate's uid."""
    serial = Serial(draft["serial"])
    uid = serial.next("g")
    criteria = draft["criteria"]
    name = free_rule_name(draft, "Gate")
    data: dict[str, Any] = {"name": name, "when": {}, "then": {"cap": 0.5, "reason": ""}}
    data["on_missing"] = "review"
    if criteria:
        data["when"] = {"criterion": criteria[0]["name"], **_first_predicate(criteria[0])}
    gate = linked(data, uid, criteria, criteria[0]["uid"] if criteria else None)
    return {**draft, "gates": [*draft["gates"], gate], "serial": serial.last}, uid


def _first_predicate(criterion: CriterionDraft) -> dict[str, Any]:
    """The condition that is meant most often: not met, or below the second level."""
    scored = [o for o in criterion["options"] if not o["na"]]
    if criterion["scale"] == "binary" or len(scored) < 2:
        return {"is": scored[-1]["label"]} if scored else {"abstained": True}
    if criterion["scale"] == "ordinal":
        rising = sorted(scored, key=lambda o: o["value"] or 0.0)
        return {"below": rising[1]["label"]}
    return {"is": min(scored, key=lambda o: o["value"] or 0.0)["label"]}


def free_rule_name(draft: Draft, stem: str) -> str:
    """``stem`` with the lowest number that no gate and no pre-check has."""
    taken = {fold(g["gate"].get("name", "")) for g in draft["gates"]}
    taken |= {fold(c["check"].get("name", "")) for c in draft["prechecks"]}
    number = 1
    while fold(f"{stem} {number}") in taken:
        number += 1
    return f"{stem} {number}"


def gate_now(draft: Draft, uid: str) -> dict[str, Any]:
    """A gate's plain data, naming things as they are called now; empty where there is none."""
    found = next((g for g in draft["gates"] if g["uid"] == uid), None)
    return {} if found is None else copy.deepcopy(gate_payload(found, draft["criteria"]))


def _with_gate(
    draft: Draft,
    uid: str,
    change: Callable[[dict[str, Any]], dict[str, Any]],
    subject: str | None = None,
) -> Draft:
    def changed(gate: GateDraft) -> GateDraft:
        if gate["uid"] != uid:
            return gate
        data = change(copy.deepcopy(gate_payload(gate, draft["criteria"])))
        return linked(data, uid, draft["criteria"], subject or gate["criterion"])

    return {**draft, "gates": [changed(g) for g in draft["gates"]]}


def set_gate(draft: Draft, uid: str, name: str, value: Any) -> Draft:
    """The draft with a gate's ``name`` or ``on_missing`` changed."""
    return _with_gate(draft, uid, lambda data: {**data, name: value})


def set_subject(draft: Draft, uid: str, *, criterion: str | None = None, tag: str = "") -> Draft:
    """The draft with a gate on another criterion (its uid), or on the criteria with a tag.

    The condition stays where it fits the new subject; otherwise the usual one takes its place.
    """
    over = subjects(draft, criterion=criterion, tag=tag)
    if not over:
        return draft

    def change(data: dict[str, Any]) -> dict[str, Any]:
        predicate = predicate_of(data["when"])
        kept: dict[str, Any] = {predicate: data["when"][predicate]} if predicate else {}
        if not predicate or not _fits(data["when"][predicate], over):
            kept = _first_predicate(over[0])
        if criterion is not None:
            return {**data, "when": {"criterion": over[0]["name"], **kept}}
        count = data["when"].get("count_at_least") or 1
        return {**data, "when": {"tag": tag, **kept, "count_at_least": count}}

    return _with_gate(draft, uid, change, criterion)


def subjects(draft: Draft, *, criterion: str | None = None, tag: str = "") -> list[CriterionDraft]:
    """The criteria that a gate on this criterion (uid) or tag looks at."""
    if criterion is not None:
        return [c for c in draft["criteria"] if c["uid"] == criterion]
    return [c for c in draft["criteria"] if tag in c["tags"]]


def _fits(threshold: Any, over: Sequence[CriterionDraft]) -> bool:
    labels = threshold if isinstance(threshold, list) else [threshold]
    known = {fold(o["label"]) for c in over for o in c["options"]}
    return all(fold(label) in known for label in labels if isinstance(label, str))


def predicate_of(when: Mapping[str, Any]) -> Predicate | None:
    """The predicate of a condition's plain data, or ``None`` where it has none yet."""
    return next((name for name in PREDICATES if when.get(name) is not None), None)


def set_condition(draft: Draft, uid: str, predicate: Predicate, threshold: Any) -> Draft:
    """The draft with a gate's predicate and what it compares with: a label, labels, a value."""

    def change(data: dict[str, Any]) -> dict[str, Any]:
        subject = {k: v for k, v in data["when"].items() if k not in PREDICATES}
        return {**data, "when": {**subject, predicate: threshold}}

    return _with_gate(draft, uid, change)


def set_count(draft: Draft, uid: str, count: int) -> Draft:
    """The draft with how many of the tagged criteria a gate asks for."""
    return _with_gate(
        draft, uid, lambda data: {**data, "when": {**data["when"], "count_at_least": count}}
    )


def effects_of(then: Mapping[str, Any]) -> list[EffectName]:
    """The effects that a gate's plain data names."""
    verdict = then.get("verdict")
    return [
        name
        for name in EFFECTS
        if (verdict == name if name in ("fail", "review") else then.get(name) is not None)
    ]


def set_effects(draft: Draft, uid: str, wanted: Sequence[str]) -> Draft:
    """The draft with exactly these effects; what is new starts with a usual value.

    Of fail and review only one can stand: the one that was not there before.
    """

    def change(data: dict[str, Any]) -> dict[str, Any]:
        then, before = data["then"], effects_of(data["then"])
        verdicts = [name for name in wanted if name in ("fail", "review")]
        fresh = [name for name in verdicts if name not in before] or verdicts
        kept: dict[str, Any] = {
            name: then.get(name) if then.get(name) is not None else _FIRST[name]
            for name in ("cap", "multiply", "flag")
            if name in wanted
        }
        if fresh:
            kept["verdict"] = fresh[-1]
        return {**data, "then": {**kept, "reason": then.get("reason", "")}}

    return _with_gate(draft, uid, change)


def set_effect(draft: Draft, uid: str, name: str, value: Any) -> Draft:
    """The draft with one effect's number or words, or the reason, changed."""
    return _with_gate(draft, uid, lambda data: {**data, "then": {**data["then"], name: value}})
