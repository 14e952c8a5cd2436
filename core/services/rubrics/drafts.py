"""A rubric during editing: plain data that may be invalid, so that no edit is lost.

A draft is JSON, kept in a tab's session and in the store's drafts. Criteria and options have a
permanent ``uid``, so that widgets, gates and messages still refer to them after they are renamed or
moved. Only ``rubric_from`` turns a draft into a rubric.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from typing import Any, cast, get_args

from core.domain import base
from core.domain.rubric import Criterion, Option, Rubric, Scale
from core.errors import InputError, Problem
from core.identity import content_hash
from core.services.rubrics.draft_shapes import (
    CheckDraft,
    CriterionDraft,
    GateDraft,
    OptionDraft,
    RubricDraft,
    UidSource,
    criterion_draft,
    data_of,
    new_draft,
    option_draft,
    started_draft,
)
from core.text.names import fold


def draft_from(
    rubric: Rubric, *, rubric_id: int | None = None, parent: int | None = None
) -> RubricDraft:
    """Return the draft of a rubric, ready for changes."""
    draft = new_draft()
    draft["rubric_id"], draft["parent"] = rubric_id, parent
    draft["base"] = rubric_hash(rubric) if rubric_id is not None else None
    return with_rubric(draft, rubric)


def with_rubric(draft: RubricDraft, rubric: Rubric) -> RubricDraft:
    """Return the draft with the rubric's content; parts with the same name keep their uid.

    This is how text edited by hand returns to the form.
    """
    by_name = {fold(c["name"]): c for c in draft["criteria"]}
    serial = UidSource(draft["serial"])
    criteria = [_criterion_draft(c, by_name.get(fold(c.name)), serial) for c in rubric.criteria]
    gates = _lookup_by_name((g["gate"], g["uid"]) for g in draft["gates"])
    checks = _lookup_by_name((c["check"], c["uid"]) for c in draft["prechecks"])
    changed: RubricDraft = {
        **draft,
        **data_of(rubric),  # type: ignore[typeddict-item]
        "criteria": criteria,
        "gates": [
            linked_gate(_plain_data(gate), gates(gate.name) or serial.next("g"), criteria)
            for gate in rubric.gates
        ],
        "prechecks": [
            CheckDraft(uid=checks(check.name) or serial.next("p"), check=_plain_data(check))
            for check in rubric.prechecks
        ],
        "decision": None if rubric.decision is None else _plain_data(rubric.decision),
    }
    return {**changed, "serial": serial.last}


def complete_draft(stored: dict[str, Any]) -> RubricDraft:
    """Return a stored draft, perhaps of an older version, with all current fields of a draft."""
    new = new_draft()
    scoring = {**new["scoring"], **stored.get("scoring", {})}
    draft = cast("RubricDraft", {**new, **stored, "scoring": scoring})
    serial = UidSource(draft["serial"])
    gates = [cast("GateDraft", {"uid": "", **gate}) for gate in draft["gates"]]
    draft["gates"] = [gate if gate["uid"] else {**gate, "uid": serial.next("g")} for gate in gates]
    draft["criteria"] = [_completed_criterion(criterion) for criterion in draft["criteria"]]
    draft["serial"] = serial.last
    return draft


def _completed_criterion(kept: CriterionDraft) -> CriterionDraft:
    template = criterion_draft(Criterion.model_construct(name="", requirement=""), "", [])
    option = option_draft(Option.model_construct(label=""), "")

    def with_all_fields(options: list[OptionDraft]) -> list[OptionDraft]:
        return [{**option, **stored} for stored in options]

    complete: CriterionDraft = {**template, **kept}
    parked = {scale: with_all_fields(options) for scale, options in complete["parked"].items()}
    return {**complete, "options": with_all_fields(complete["options"]), "parked": parked}


def _plain_data(noun: base.Noun) -> dict[str, Any]:
    return noun.model_dump(mode="json", by_alias=True, exclude_none=True)


def _lookup_by_name(named: Iterable[tuple[dict[str, Any], str]]) -> Callable[[str], str | None]:
    """Return a lookup of uids by rule name that returns each uid once, since names may repeat."""
    uids_by_name: dict[str, list[str]] = {}
    for data, uid in named:
        uids_by_name.setdefault(fold(data.get("name", "")), []).append(uid)

    def take_uid(name: str) -> str | None:
        uids = uids_by_name.get(fold(name))
        return uids.pop(0) if uids else None

    return take_uid


def _criterion_draft(
    criterion: Criterion, former: CriterionDraft | None, serial: UidSource
) -> CriterionDraft:
    uids = {fold(option["label"]): option["uid"] for option in former["options"]} if former else {}
    uid = former["uid"] if former else serial.next("c")
    options = [
        option_draft(option, uids.get(fold(option.label)) or serial.next("o"))
        for option in criterion.options
    ]
    draft = criterion_draft(criterion, uid, options)
    return {**draft, "parked": former["parked"]} if former else draft


def draft_from_data(data: Mapping[str, Any]) -> RubricDraft:
    """Return the draft of a rubric's plain data, which may be invalid, with every value that fits a
    field. It reads name, guidelines and criteria; the editor reports missing or wrong values. An
    unknown scale becomes nominal if there are options, else binary.
    """
    draft = {
        **new_draft(),
        "name": _text_at(data, "name"),
        "guidelines": _text_at(data, "guidelines"),
    }
    serial = UidSource(0)
    criteria = [_criterion_from(criterion, serial) for criterion in data.get("criteria", ())]
    return cast("RubricDraft", {**draft, "criteria": criteria, "serial": serial.last})


def _criterion_from(data: Mapping[str, Any], serial: UidSource) -> CriterionDraft:
    try:
        return _criterion_draft(base.build_model(Criterion, dict(data), "criterion"), None, serial)
    except InputError:
        raw_options = data.get("options")
        fields: dict[str, Any] = {
            "weight": _number_or_none(data.get("weight", Criterion.model_fields["weight"].default)),
            "scale": _scale_of(data.get("scale"), bool(raw_options)),
        }
        name, requirement = _text_at(data, "name"), _text_at(data, "requirement")
        loose = Criterion.model_construct(name=name, requirement=requirement, **fields)
        uid, options = serial.next("c"), raw_options if isinstance(raw_options, list) else ()
        kept_options = [
            Option.model_construct(
                label=_text_at(option, "label"),
                description=_text_at(option, "description"),
                value=_number_or_none(option.get("value")),
            )
            for option in options
            if isinstance(option, dict)
        ]
        return criterion_draft(
            loose, uid, [option_draft(o, serial.next("o")) for o in kept_options]
        )


def _scale_of(scale: object, options: bool) -> str:
    if scale in get_args(Scale):
        return str(scale)
    return "nominal" if options else "binary"


def _text_at(data: Mapping[str, Any], key: str) -> str:
    value = data.get(key)
    return "" if value is None else str(value)


def _number_or_none(value: object) -> float | None:
    is_number = (
        isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)
    )
    return float(value) if is_number and isinstance(value, int | float) else None


def linked_gate(
    data: dict[str, Any], uid: str, criteria: list[CriterionDraft], subject_uid: str | None = None
) -> GateDraft:
    """Return the draft of a gate (its plain data), linked to its criterion and options by uid.

    ``subject_uid`` decides if several criteria temporarily share the name.
    """
    named_so = [c for c in criteria if c["name"] == data["when"].get("criterion")]
    named_so.sort(key=lambda c: c["uid"] != subject_uid)
    subject = named_so[0] if named_so else None
    options = (
        {fold(option["label"]): option["uid"] for option in subject["options"]} if subject else {}
    )
    named = [label for label in _labels_in(data["when"]) if fold(label) in options]
    return GateDraft(
        uid=uid,
        gate=data,
        criterion=subject["uid"] if subject else None,
        options={label: options[fold(label)] for label in named},
    )


def _labels_in(condition: dict[str, Any]) -> list[str]:
    labels = list[str]()
    for name, value in condition.items():
        if name not in ("criterion", "tag"):
            labels += [v for v in (value if isinstance(value, list) else [value]) if _is_word(v)]
    return labels


def _is_word(value: Any) -> bool:
    return isinstance(value, str)


def draft_payload(draft: RubricDraft) -> dict[str, Any]:
    """Return the draft as a rubric's plain data, valid or not; gates use current names."""
    scoring: dict[str, Any] = dict(draft["scoring"])
    if scoring["partial_credit"] is None:
        del scoring["partial_credit"]
    data = {name: draft[name] for name in Rubric.model_fields}  # type: ignore[literal-required]
    return {
        **data,
        "criteria": [_criterion_payload(c) for c in draft["criteria"]],
        "scoring": scoring,
        "gates": gates_of(draft),
        "prechecks": [c["check"] for c in draft["prechecks"]],
    }


def gates_of(draft: RubricDraft) -> list[dict[str, Any]]:
    """Return the gates as plain data, with current names of criteria and options."""
    return [gate_payload(g, draft["criteria"]) for g in draft["gates"]]


def _criterion_payload(criterion: CriterionDraft) -> dict[str, Any]:
    data: dict[str, Any] = {k: v for k, v in criterion.items() if k not in ("uid", "parked")}
    data["section"] = criterion["section"] or None
    data["options"] = [_option_payload(option) for option in criterion["options"]]
    return data


def _option_payload(option: OptionDraft) -> dict[str, Any]:
    data: dict[str, Any] = {k: v for k, v in option.items() if k != "uid"}
    if option["na"]:
        data["value"] = None
    return data


def gate_payload(gate: GateDraft, criteria: list[CriterionDraft]) -> dict[str, Any]:
    """Return a gate as plain data, with current names of its criterion and options."""
    subject = next((c for c in criteria if c["uid"] == gate["criterion"]), None)
    if subject is None:
        return gate["gate"]
    labels = {option["uid"]: option["label"] for option in subject["options"]}
    renamed = {old: labels[uid] for old, uid in gate["options"].items() if uid in labels}

    def with_current_names(value: Any) -> Any:
        if isinstance(value, list):
            return [with_current_names(v) for v in value]
        return renamed.get(value, value) if _is_word(value) else value

    when = {
        k: v if k in ("criterion", "tag") else with_current_names(v)
        for k, v in gate["gate"]["when"].items()
    }
    return {**gate["gate"], "when": {**when, "criterion": subject["name"]}}


def rubric_from(draft: RubricDraft) -> Rubric:
    """Return the draft as a rubric; raise ``InputError`` with every problem."""
    return base.build_model(Rubric, draft_payload(draft), "rubric")


def problems_of(draft: RubricDraft) -> tuple[Problem, ...]:
    """Return why the draft is not a valid rubric; empty if it is."""
    try:
        rubric_from(draft)
    except InputError as error:
        return error.problems
    return ()


def rubric_hash(rubric: Rubric) -> str:
    """Return the content hash of a rubric."""
    return content_hash(rubric.model_dump(mode="json", by_alias=True))


def is_changed(draft: RubricDraft) -> bool:
    """Return whether saving would create a version that differs from the draft's start."""
    if draft["base"] is None:
        return draft_payload(draft) not in (
            draft_payload(new_draft()),
            draft_payload(started_draft()),
        )
    try:
        return rubric_hash(rubric_from(draft)) != draft["base"]
    except InputError:
        return True


def locate_card(draft: RubricDraft, path: tuple[str | int, ...]) -> tuple[str | None, str | None]:
    """Return the uid of the card (criterion, gate, pre-check) and of the option at a path.

    >>> locate_card(new_draft(), ("name",))
    (None, None)
    """
    if len(path) < 2 or not isinstance(path[1], int):
        return None, None
    if path[0] == "gates":
        return draft["gates"][path[1]]["uid"], None
    if path[0] == "prechecks":
        return draft["prechecks"][path[1]]["uid"], None
    criterion = draft["criteria"][path[1]]
    if len(path) > 3 and path[2] == "options" and isinstance(path[3], int):
        return criterion["uid"], criterion["options"][path[3]]["uid"]
    return criterion["uid"], None
