"""Changes to a draft's pre-checks, decision and length penalty, and what gates share with them.

As in ``draft_edits``: each returns a new draft, and an unknown uid changes nothing.
"""

from __future__ import annotations

import copy
from collections.abc import Mapping
from typing import Any

from core.domain.rubric import LengthPenalty
from core.services.draft_gates import free_rule_name
from core.services.draft_types import CheckDraft, Draft, GateDraft, Serial


def add_check(draft: Draft) -> tuple[Draft, str]:
    """The draft with one more pre-check, for dangerous instructions, and its uid."""
    serial = Serial(draft["serial"])
    uid = serial.next("p")
    check: dict[str, Any] = {"name": free_rule_name(draft, "Pre-check"), "action": "flag"}
    check["families"] = ["dangerous_instructions"]
    checks = [*draft["prechecks"], CheckDraft(uid=uid, check=check)]
    return {**draft, "prechecks": checks, "serial": serial.last}, uid


def set_check(draft: Draft, uid: str, name: str, value: Any) -> Draft:
    """The draft with one field of a pre-check changed; a cap comes and goes with its action."""

    def changed(check: dict[str, Any]) -> dict[str, Any]:
        fresh = {**check, name: value}
        if fresh.get("action") == "cap":
            fresh.setdefault("cap", 0.0)
        else:
            fresh.pop("cap", None)
        return {key: part for key, part in fresh.items() if part is not None}

    checks = [
        CheckDraft(uid=uid, check=changed(c["check"])) if c["uid"] == uid else c
        for c in draft["prechecks"]
    ]
    return {**draft, "prechecks": checks}


def remove_rule(draft: Draft, uid: str) -> Draft:
    """The draft without a gate or a pre-check."""
    return {
        **draft,
        "gates": [g for g in draft["gates"] if g["uid"] != uid],
        "prechecks": [c for c in draft["prechecks"] if c["uid"] != uid],
    }


def duplicate_rule(draft: Draft, uid: str) -> tuple[Draft, str]:
    """The draft with a copy of a gate or a pre-check after it, and the copy's uid."""
    serial = Serial(draft["serial"])
    fresh = serial.next(uid[:1])
    gates, checks, found = list[GateDraft](), list[CheckDraft](), False
    for gate in draft["gates"]:
        gates.append(gate)
        if gate["uid"] == uid:
            data = {**gate["gate"], "name": _copy_of(draft, gate["gate"])}
            kept = GateDraft(
                uid=fresh, gate=data, criterion=gate["criterion"], options=gate["options"]
            )
            gates.append(copy.deepcopy(kept))
            found = True
    for check in draft["prechecks"]:
        checks.append(check)
        if check["uid"] == uid:
            data = {**check["check"], "name": _copy_of(draft, check["check"])}
            checks.append(copy.deepcopy(CheckDraft(uid=fresh, check=data)))
            found = True
    if not found:
        return draft, uid
    return {**draft, "gates": gates, "prechecks": checks, "serial": serial.last}, fresh


def _copy_of(draft: Draft, rule: Mapping[str, Any]) -> str:
    return free_rule_name(draft, f"{str(rule.get('name', ''))[:180]} copy".strip())


def set_decision(draft: Draft, **fields: Any) -> Draft:
    """The draft with fields of its decision changed; ``None`` takes one away."""
    now = {**(draft["decision"] or first_decision(draft)), **fields}
    return {**draft, "decision": {key: part for key, part in now.items() if part is not None}}


def first_decision(draft: Draft) -> dict[str, Any]:
    """A decision to start from: 70 % of what can be had."""
    if draft["scoring"]["normalize"]:
        return {"pass_at": 0.7}
    weights = [c["weight"] or 0.0 for c in draft["criteria"]]
    return {"pass_at": round(0.7 * sum(w for w in weights if w > 0), 2)}


def drop_decision(draft: Draft) -> Draft:
    """The draft without a decision."""
    return {**draft, "decision": None}


def set_penalty(draft: Draft, **fields: Any) -> Draft:
    """The draft with fields of its length penalty changed; the usual ones where it had none."""
    now = draft["scoring"]["length_penalty"] or LengthPenalty().model_dump(mode="json")
    return {**draft, "scoring": {**draft["scoring"], "length_penalty": {**now, **fields}}}


def drop_penalty(draft: Draft) -> Draft:
    """The draft without a length penalty."""
    return {**draft, "scoring": {**draft["scoring"], "length_penalty": None}}
