"""Changes to a draft's gates, pre-checks, decision and length penalty; each returns a new draft.

An unknown uid changes nothing. Conditions and effects are plain data with the keys of
``core.domain``. Missing parts are absent, and ``problems_of`` reports them.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal

from core.domain.gates import LengthPenalty
from core.services.rubrics.draft_shapes import (
    CheckDraft,
    CriterionDraft,
    GateDraft,
    RubricDraft,
    UidSource,
)
from core.services.rubrics.drafts import gate_payload, linked_gate
from core.services.rubrics.path_edit import (
    index_by_uid,
    numbered_name,
    with_change_at,
    with_copy,
    with_value_at,
    without_object,
)
from core.text.names import fold

Predicate = Literal["below", "at_most", "above", "at_least", "is", "in", "abstained"]
PREDICATES: tuple[Predicate, ...] = (
    *("below", "at_most", "above", "at_least", "is", "in", "abstained"),
)
EffectName = Literal["cap", "multiply", "fail", "review", "flag"]
EFFECTS: tuple[EffectName, ...] = ("cap", "multiply", "fail", "review", "flag")
_FIRST: dict[EffectName, Any] = {"cap": 0.5, "multiply": 0.5, "flag": "look here"}


def add_gate(draft: RubricDraft) -> tuple[RubricDraft, str]:
    """Return the draft with a new gate on its first criterion, and the gate's uid."""
    serial = UidSource(draft["serial"])
    uid = serial.next("g")
    criteria = draft["criteria"]
    name = free_rule_name(draft, "Gate")
    data: dict[str, Any] = {"name": name, "when": {}, "then": {"cap": 0.5, "reason": ""}}
    data["on_missing"] = "review"
    if criteria:
        data["when"] = {"criterion": criteria[0]["name"], **_first_predicate(criteria[0])}
    gate = linked_gate(data, uid, criteria, criteria[0]["uid"] if criteria else None)
    return {**draft, "gates": [*draft["gates"], gate], "serial": serial.last}, uid


def _first_predicate(criterion: CriterionDraft) -> dict[str, Any]:
    """Return the commonest condition: not met, or below the second level."""
    scored = [option for option in criterion["options"] if not option["na"]]
    if criterion["scale"] == "binary" or len(scored) < 2:
        return {"is": scored[-1]["label"]} if scored else {"abstained": True}
    if criterion["scale"] == "ordinal":
        rising = sorted(scored, key=lambda option: option["value"] or 0.0)
        return {"below": rising[1]["label"]}
    return {"is": min(scored, key=lambda option: option["value"] or 0.0)["label"]}


def free_rule_name(draft: RubricDraft, stem: str) -> str:
    """Return ``stem`` with the lowest number that no gate or pre-check has."""
    taken_names = [g["gate"].get("name", "") for g in draft["gates"]]
    taken_names += [c["check"].get("name", "") for c in draft["prechecks"]]
    return numbered_name(stem, taken_names)


def current_gate_data(draft: RubricDraft, uid: str) -> dict[str, Any]:
    """Return a gate's plain data with current names; empty if it does not exist."""
    gate = next((g for g in draft["gates"] if g["uid"] == uid), None)
    return {} if gate is None else copy.deepcopy(gate_payload(gate, draft["criteria"]))


def _with_gate(
    draft: RubricDraft,
    uid: str,
    change: Callable[[dict[str, Any]], dict[str, Any]],
    subject: str | None = None,
) -> RubricDraft:
    def with_change(gate: GateDraft) -> GateDraft:
        data = change(copy.deepcopy(gate_payload(gate, draft["criteria"])))
        return linked_gate(data, uid, draft["criteria"], subject or gate["criterion"])

    return with_change_at(draft, ("gates", uid), with_change)


def _put_in_gate(draft: RubricDraft, uid: str, path: Sequence[str], value: Any) -> RubricDraft:
    return _with_gate(draft, uid, lambda data: with_value_at(data, path, value))


def set_gate(draft: RubricDraft, uid: str, name: str, value: Any) -> RubricDraft:
    """Return the draft with a gate's ``name`` or ``on_missing`` changed."""
    return _put_in_gate(draft, uid, (name,), value)


def set_subject(
    draft: RubricDraft, uid: str, *, criterion: str | None = None, tag: str = ""
) -> RubricDraft:
    """Return the draft with a gate on another criterion (its uid), or on criteria with a tag.

    The condition stays if it fits the new subject; otherwise the default one replaces it.
    """
    criteria = gate_subjects(draft, criterion=criterion, tag=tag)
    if not criteria:
        return draft

    def changed_data(data: dict[str, Any]) -> dict[str, Any]:
        predicate = predicate_of(data["when"])
        condition: dict[str, Any] = {predicate: data["when"][predicate]} if predicate else {}
        if not predicate or not _threshold_fits(data["when"][predicate], criteria):
            condition = _first_predicate(criteria[0])
        if criterion is not None:
            return {**data, "when": {"criterion": criteria[0]["name"], **condition}}
        count = data["when"].get("count_at_least") or 1
        return {**data, "when": {"tag": tag, **condition, "count_at_least": count}}

    return _with_gate(draft, uid, changed_data, criterion)


def gate_subjects(
    draft: RubricDraft, *, criterion: str | None = None, tag: str = ""
) -> list[CriterionDraft]:
    """Return the criteria that a gate on this criterion (uid) or tag considers."""
    if criterion is not None:
        return [c for c in draft["criteria"] if c["uid"] == criterion]
    return [c for c in draft["criteria"] if tag in c["tags"]]


def _threshold_fits(threshold: Any, criteria: Sequence[CriterionDraft]) -> bool:
    labels = threshold if isinstance(threshold, list) else [threshold]
    existing = {fold(option["label"]) for c in criteria for option in c["options"]}
    return all(fold(label) in existing for label in labels if isinstance(label, str))


def predicate_of(condition: Mapping[str, Any]) -> Predicate | None:
    """Return the predicate of a condition's plain data, or ``None``."""
    return next((name for name in PREDICATES if condition.get(name) is not None), None)


def set_condition(
    draft: RubricDraft, uid: str, predicate: Predicate, threshold: Any
) -> RubricDraft:
    """Return the draft with a gate's predicate and threshold: a label, labels, or a value."""

    def changed_data(data: dict[str, Any]) -> dict[str, Any]:
        subject = {k: v for k, v in data["when"].items() if k not in PREDICATES}
        return {**data, "when": {**subject, predicate: threshold}}

    return _with_gate(draft, uid, changed_data)


def set_count(draft: RubricDraft, uid: str, count: int) -> RubricDraft:
    """Return the draft with the number of tagged criteria that a gate requires."""
    return _put_in_gate(draft, uid, ("when", "count_at_least"), count)


def effects_of(effect: Mapping[str, Any]) -> list[EffectName]:
    """Return the effects in a gate's plain data."""
    verdict = effect.get("verdict")
    return [
        name
        for name in EFFECTS
        if (verdict == name if name in ("fail", "review") else effect.get(name) is not None)
    ]


def set_effects(draft: RubricDraft, uid: str, wanted: Sequence[str]) -> RubricDraft:
    """Return the draft with exactly these effects; new effects start with a default value.

    Fail and review exclude each other; the new effect wins.
    """

    def changed_data(data: dict[str, Any]) -> dict[str, Any]:
        then, before = data["then"], effects_of(data["then"])
        verdicts = [name for name in wanted if name in ("fail", "review")]
        new_verdicts = [name for name in verdicts if name not in before] or verdicts
        effects: dict[str, Any] = {
            name: then.get(name) if then.get(name) is not None else _FIRST[name]
            for name in ("cap", "multiply", "flag")
            if name in wanted
        }
        if new_verdicts:
            effects["verdict"] = new_verdicts[-1]
        return {**data, "then": {**effects, "reason": then.get("reason", "")}}

    return _with_gate(draft, uid, changed_data)


def set_effect(draft: RubricDraft, uid: str, name: str, value: Any) -> RubricDraft:
    """Return the draft with one effect's number or text, or the reason, changed."""
    return _put_in_gate(draft, uid, ("then", name), value)


def add_check(draft: RubricDraft) -> tuple[RubricDraft, str]:
    """Return the draft with a new pre-check for dangerous instructions, and its uid."""
    serial = UidSource(draft["serial"])
    uid = serial.next("p")
    check: dict[str, Any] = {"name": free_rule_name(draft, "Pre-check"), "action": "flag"}
    check["families"] = ["dangerous_instructions"]
    checks = [*draft["prechecks"], CheckDraft(uid=uid, check=check)]
    return {**draft, "prechecks": checks, "serial": serial.last}, uid


def set_check(draft: RubricDraft, uid: str, name: str, value: Any) -> RubricDraft:
    """Return the draft with one field of a pre-check changed.

    It has a limit (``cap``), at first 0, only if the action caps the score.
    """

    def with_change(check: dict[str, Any]) -> dict[str, Any]:
        edited_check = {**check, name: value}
        if edited_check.get("action") == "cap":
            edited_check.setdefault("cap", 0.0)
        else:
            edited_check.pop("cap", None)
        return {key: part for key, part in edited_check.items() if part is not None}

    return with_change_at(draft, ("prechecks", uid, "check"), with_change)


def remove_rule(draft: RubricDraft, uid: str) -> RubricDraft:
    """Return the draft without a gate or a pre-check."""
    return {
        **draft,
        "gates": without_object(draft["gates"], uid),
        "prechecks": without_object(draft["prechecks"], uid),
    }


def duplicate_rule(draft: RubricDraft, uid: str) -> tuple[RubricDraft, str]:
    """Return the draft with a copy of a gate or pre-check after it, and the copy's uid."""
    if index_by_uid([*draft["gates"], *draft["prechecks"]], uid) is None:
        return draft, uid
    serial = UidSource(draft["serial"])
    new_uid = serial.next(uid[:1])

    def rule_twin(rule: dict[str, Any]) -> dict[str, Any]:
        kind = "gate" if "gate" in rule else "check"
        name = f"{str(rule[kind].get('name', ''))[:180]} copy".strip()
        data = {**rule[kind], "name": free_rule_name(draft, name)}
        return copy.deepcopy({**rule, "uid": new_uid, kind: data})

    gates, checks = (with_copy(draft[kind], uid, rule_twin) for kind in ("gates", "prechecks"))
    return {**draft, "gates": gates, "prechecks": checks, "serial": serial.last}, new_uid


def set_decision(draft: RubricDraft, **fields: Any) -> RubricDraft:
    """Return the draft with fields of its decision changed; ``None`` removes one."""
    decision = {**(draft["decision"] or first_decision(draft)), **fields}
    return {**draft, "decision": {key: part for key, part in decision.items() if part is not None}}


def first_decision(draft: RubricDraft) -> dict[str, Any]:
    """Return a decision to start with: 70% of the possible score."""
    if draft["scoring"]["normalize"]:
        return {"pass_at": 0.7}
    weights = [c["weight"] or 0.0 for c in draft["criteria"]]
    return {"pass_at": round(0.7 * sum(w for w in weights if w > 0), 2)}


def drop_decision(draft: RubricDraft) -> RubricDraft:
    """Return the draft without a decision."""
    return {**draft, "decision": None}


def set_penalty(draft: RubricDraft, **fields: Any) -> RubricDraft:
    """Return the draft with fields of its length penalty changed, created if it had none."""
    penalty = draft["scoring"]["length_penalty"] or LengthPenalty().model_dump(mode="json")
    return with_value_at(draft, ("scoring", "length_penalty"), {**penalty, **fields})


def drop_penalty(draft: RubricDraft) -> RubricDraft:
    """Return the draft without a length penalty."""
    return with_value_at(draft, ("scoring", "length_penalty"), None)
