"""A judge of checks: its rules in a list, and further checks as YAML."""

from __future__ import annotations

import secrets
from collections.abc import Mapping, Sequence
from typing import Any

import streamlit as st

from core.domain.checks import Looked
from core.domain.rubric import MET, UNMET
from core.services.judges import check_rules
from core.services.judges.check_rules import MOST_TEXT, RANGE_TESTS, TEXT_TESTS, RuleRow, Test
from core.services.judges.registry import JudgeEntry
from core.services.rubrics import library
from core.text.names import visible
from pages.judges import fields
from pages.judges.fields import JUDGE_ACT, JUDGE_FIELD
from pages.ui import state
from pages.ui.resources import remembered, store
from pages.ui.text import esc, label
from pages.ui.widgets import shown_errors

#: The rules' plain data in this tab, by judge and rule id, and the rules' order.
ROWS, ORDER = "rows", "order"

TESTS: Mapping[Test, str] = {
    "contains": "contains",
    "lacks": "does not contain",
    "equals": "equals",
    "regex": "matches a regular expression",
    "words": "has this many words",
    "characters": "has this many characters",
    "number": "gives a number within",
    "json_schema": "is JSON",
}
LOOKED: Mapping[Looked, str] = {
    "submission": "Submission",
    "thinking": "Thinking",
    "prompt": "Prompt",
    "reference": "Reference",
    "description": "Description",
}
#: The most rubrics whose criteria are offered.
MOST_RUBRICS = 200


def seed_rules(reference: str, saved: JudgeEntry | None) -> None:
    """Load the saved rules into this tab, unless it already has some."""
    if state.get(_rules_key(reference, ORDER)) is not None:
        return
    rows, text = check_rules.rows_of(saved.judge.checks if saved else {})
    state.put(_rules_key(reference, ORDER), [])
    state.put(_rules_key(reference, "yaml"), text)
    for row in rows if rows or text else [check_rules.new_row()]:
        _append_rule(reference, row)


def show(reference: str) -> None:
    """Draw every rule, the button that adds one, and further checks as text."""
    st.html('<div class="rs-section">What it checks</div>')
    st.caption(
        "The first rule that holds gives a criterion's answer; if none holds, the last "
        "rule gives it. If the last rule is empty, the judge abstains, and in a panel the "
        "others decide. In texts, {reference}, {prompt} and {meta.KEY} are replaced by the "
        "item's own."
    )
    options, order = known_options(), list(state.get(_rules_key(reference, ORDER)))
    rows = [_current_rule(reference, uid) for uid in order]
    for number, uid in enumerate(order, start=1):
        # Leaving the page removes the widgets; this keeps their values.
        state.put(_rules_key(reference, ROWS, uid), rows[number - 1])
        later = [row["criterion"] for row in rows[number:]]
        _draw_rule(reference, uid, number, rows[number - 1]["criterion"] not in later, options)
    st.button(
        "Add a rule",
        key=state.key(JUDGE_ACT, reference, "add"),
        icon=":material/add:",
        on_click=_on_add,
        args=(reference,),
    )
    _further_field(reference)


def known_options() -> dict[str, list[str]]:
    """Return the criteria of the stored rubrics, each with its options' labels."""
    versions = tuple(row.version_id for row in library.rubric_rows(store())[:MOST_RUBRICS])

    def current_names() -> dict[str, list[str]]:
        options = dict[str, list[str]]()
        for version in versions:
            for criterion in library.version_by_id(store(), version).rubric.criteria:
                labels = options.setdefault(criterion.name, [])
                labels += [
                    option.label for option in criterion.choices if option.label not in labels
                ]
        return options

    return remembered("options by criterion", versions, current_names)


def form_rows(reference: str) -> list[RuleRow]:
    """Return the rules in the form."""
    return [_current_rule(reference, uid) for uid in state.get(_rules_key(reference, ORDER)) or []]


def further_checks(reference: str) -> str:
    """Return the further checks in the form."""
    return str(state.get(_rules_key(reference, "yaml")) or "")


def on_save(reference: str) -> None:
    """Save the judge with the rules in the form."""

    def form_settings() -> dict[str, Any]:
        typed_rules = {
            name: state.get(fields.field_key(reference, name)) for name in fields.OFFLINE_FIELDS
        }
        checks = check_rules.checks_from(form_rows(reference), further_checks(reference))
        return {**typed_rules, "kind": "check", "checks": checks}

    fields.save_judge(reference, form_settings)


def _rules_key(reference: str, *ids: str) -> str:
    return state.key(JUDGE_FIELD, reference, *ids)


def _current_rule(reference: str, uid: str) -> RuleRow:
    """Return a rule as its widgets show it; hidden fields keep their values."""
    saved_row: RuleRow = state.get(_rules_key(reference, ROWS, uid))
    now = {
        name: state.get(_rules_key(reference, uid, name), value)
        for name, value in saved_row.items()
    }
    now["otherwise"] = now["otherwise"] or ""
    for name in ("criterion", "then", "text"):
        now[name] = now[name] or ""
    return now  # type: ignore[return-value]


def _append_rule(reference: str, row: RuleRow) -> None:
    uid = secrets.token_hex(4)
    state.put(_rules_key(reference, ROWS, uid), row)
    order = state.get(_rules_key(reference, ORDER))
    state.put(_rules_key(reference, ORDER), [*order, uid])


def _on_add(reference: str) -> None:
    with shown_errors():
        before = form_rows(reference)
        _append_rule(reference, check_rules.new_row(before[-1]["criterion"] if before else ""))


def _on_remove(reference: str, uid: str) -> None:
    with shown_errors():
        order = state.get(_rules_key(reference, ORDER))
        state.put(
            _rules_key(reference, ORDER), [other_uid for other_uid in order if other_uid != uid]
        )
        state.drop(JUDGE_FIELD, reference, ROWS, uid)
        state.drop(JUDGE_FIELD, reference, uid)


def _draw_rule(
    reference: str, uid: str, number: int, last: bool, choices: dict[str, list[str]]
) -> None:
    row = _current_rule(reference, uid)
    with st.container(border=True, key=f"rule-{uid}"):
        with st.container(horizontal=True, vertical_alignment="center"):
            st.html(f'<b class="rs-num">{esc(f"Rule {number}")}</b>')
            st.space("stretch")
            st.button(
                f"Remove rule {number}",
                key=state.key(JUDGE_ACT, reference, "remove", uid),
                type="tertiary",
                icon=":material/close:",
                on_click=_on_remove,
                args=(reference, uid),
            )
        with st.container(horizontal=True, vertical_alignment="bottom"):
            _typed_choice(reference, uid, "criterion", "Criterion", list(choices), width=220)
            _fixed_choice(reference, uid, "test", "Test", TESTS, width=240)
            _value_field(reference, uid, row)
        with st.container(horizontal=True, vertical_alignment="bottom"):
            _fixed_choice(reference, uid, "of", "In", LOOKED, width=150)
            options = choices.get(row["criterion"], [MET, UNMET])
            _typed_choice(reference, uid, "then", "Where it holds", options, width=190)
            if last:
                _typed_choice(
                    reference, uid, "otherwise", "Otherwise", options, width=190, empty="Abstains"
                )
            if row["test"] in TEXT_TESTS:
                key = _rules_key(reference, uid, "ignore_case")
                state.seed(key, row["ignore_case"])
                st.checkbox("Ignore case", key=key, persist_state="page", width="content")
        _warn_of_unknown(row, choices, last)


def _warn_of_unknown(row: RuleRow, choices: dict[str, list[str]], last: bool) -> None:
    """Warn if the criterion is known and has no such option."""
    options = choices.get(row["criterion"])
    labels = [row["then"], row["otherwise"] if last else ""]
    unknown = [
        option_label
        for option_label in labels
        if option_label and options is not None and option_label not in options
    ]
    if unknown and options is not None:
        caption = f"{row['criterion']} has no option {unknown[0]}; it has {', '.join(options)}."
        st.caption(f":material/warning: {label(caption, 300)}")


def _value_field(reference: str, uid: str, row: RuleRow) -> None:
    if row["test"] in TEXT_TESTS:
        key = _rules_key(reference, uid, "text")
        state.seed(key, row["text"])
        st.text_input(
            "Text" if row["test"] != "regex" else "Expression",
            key=key,
            max_chars=MOST_TEXT,
            autocomplete="off",
            persist_state="page",
            width=260,
        )
    elif row["test"] in RANGE_TESTS:
        for name, caption in (("low", "At least"), ("high", "At most")):
            key = _rules_key(reference, uid, name)
            value = state.get(key, row[name])  # type: ignore[literal-required]
            state.seed(key, None if value is None else float(value))
            st.number_input(
                caption,
                value=None,
                step=1.0,
                format="%.12g",
                key=key,
                persist_state="page",
                width=125,
            )


def _fixed_choice(
    reference: str, uid: str, name: str, caption: str, options: Mapping[Any, str], *, width: int
) -> None:
    key = _rules_key(reference, uid, name)
    state.seed(key, _current_rule(reference, uid)[name])  # type: ignore[literal-required]
    st.selectbox(
        caption,
        list(options),
        format_func=options.__getitem__,
        key=key,
        persist_state="page",
        width=width,
    )


def _typed_choice(
    reference: str,
    uid: str,
    name: str,
    caption: str,
    options: Sequence[str],
    *,
    width: int,
    empty: str = "Choose or type",
) -> None:
    """Draw a choice of several names, or another that is typed."""
    key = _rules_key(reference, uid, name)
    now = _current_rule(reference, uid)[name]  # type: ignore[literal-required]
    state.seed(key, now or None)
    st.selectbox(
        caption,
        options if not now or now in options else [*options, now],
        index=None,
        format_func=visible,
        key=key,
        accept_new_options=True,
        placeholder=empty,
        persist_state="page",
        width=width,
    )


def _further_field(reference: str) -> None:
    key = _rules_key(reference, "yaml")
    checks = further_checks(reference)
    with st.expander("Further checks, as YAML", expanded=bool(checks.strip())):
        st.caption(
            "For rules that the lines above cannot express: tests joined by all or any, a JSON "
            "schema, several texts at once. Give each criterion its rules here or above, not both."
        )
        st.text_area(
            "Further checks",
            key=key,
            height=160,
            max_chars=100_000,
            persist_state="page",
            label_visibility="collapsed",
            placeholder="depth:\n  rules:\n  - {when: {all: [{words: {min: 200}}, "
            "{contains: because}]}, then: deep}",
        )
