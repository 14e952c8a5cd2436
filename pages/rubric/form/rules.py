"""The rules applied after the points, a line each; the open cards of the decision and the
penalty.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import streamlit as st

from core.rubric_diff.wording import check_words, decision_words, gate_words, penalty_words
from core.services.rubrics import draft_rules
from core.services.rubrics.draft_shapes import RubricDraft
from core.services.rubrics.drafts import gates_of
from core.services.rubrics.prompt_preview import penalty_examples
from core.text import numbers as fmt
from pages.rubric.form import gate_cards, pre_checks
from pages.ui import drafts, state
from pages.ui.drafts import RUBRIC_ACT
from pages.ui.text import esc, label, one_line
from pages.ui.widgets import Tone, draw_row, draw_table, shown_errors, tag


def decision_card(name: str, uid: str) -> None:
    """Draw the thresholds, in units of the score, and a picture of them."""
    draft = drafts.draft(name)
    decision = draft["decision"] or {}
    normalized = draft["scoring"]["normalize"]
    unit: dict[str, Any] = {"min_value": 0.0, "max_value": 1.0} if normalized else {}
    passing = decision.get("pass_at")
    floor = decision.get("fail_below")
    with st.container(horizontal=True, vertical_alignment="bottom"):
        for field, caption, value, help_text in (
            ("pass_at", "Passes from", passing, "A score on the threshold passes."),
            (
                "fail_below",
                "Fails below",
                passing if floor is None else floor,
                (
                    "Below the first threshold. A person decides on scores between the two "
                    "thresholds."
                ),
            ),
        ):
            st.number_input(
                caption,
                step=0.05 if normalized else 1.0,
                format="%.4g",
                help=help_text,
                width=150,
                **drafts.widget_arguments(
                    name, _as_share(value, normalized), uid, field, _on_threshold
                ),
                **unit,
            )
        st.number_input(
            "Review within",
            step=0.01 if normalized else 1.0,
            format="%.4g",
            key=drafts.synced_key(
                name, _as_share(decision.get("review_within", 0.0), normalized), uid, "within"
            ),
            help=(
                "Within this distance of a threshold, on either side, a person decides. 0: never."
            ),
            width=150,
            on_change=_on_within,
            args=(name, uid),
            **{**unit, "min_value": 0.0},
        )
    if normalized and passing is not None:
        st.html(_decision_bar(decision))
    st.caption(
        "Gates and pre-checks come first: the items that they fail or send to a person are not "
        "decided here. Items with a missing verdict, or with a gate that cannot be decided, go "
        "to a person."
    )


def _as_share(value: Any, normalized: bool) -> float | None:
    if value is None:
        return None
    return min(1.0, max(0.0, float(value))) if normalized else float(value)


def _decision_bar(decision: Mapping[str, Any]) -> str:
    """Return a bar of the scores from 0 to 1: fails, for review, passes."""
    within = float(decision.get("review_within") or 0.0)
    high = float(decision["pass_at"])
    low = float(decision.get("fail_below", high))
    low, high = max(0.0, low - within), min(1.0, high + within)
    parts = (
        ("✕ fails", "bad", low, f"below {fmt.score(low)}"),
        ("a person", "warn", high - low, f"{fmt.score(low)} to {fmt.score(high)}"),
        ("✓ passes", "good", 1.0 - high, f"from {fmt.score(high)}"),
    )
    cells = "".join(
        f'<div class="rs-{tone} rs-cut" style="flex:{size:.4f} 1 0;min-width:0;padding:.15rem .5rem'
        f'" title="{esc(caption)}: {caption_place}">{esc(caption)}'
        f' <small class="rs-num">{caption_place}</small></div>'
        for caption, tone, size, caption_place in parts
        if size > 1e-9
    )
    return (
        '<div role="img" aria-label="The scores that fail, go to a person, and pass" '
        f'style="display:flex;gap:2px;border-radius:.45rem;overflow:hidden">{cells}</div>'
    )


def _on_threshold(name: str, uid: str, field: str) -> None:
    with shown_errors():
        value = state.get(drafts.field_key(name, uid, field))
        draft = drafts.draft(name)
        decision = draft["decision"] or {}
        if value is None:
            return
        if field == "fail_below" and value == decision.get("pass_at"):
            value = None
        drafts.change_draft(name, draft_rules.set_decision(draft, **{field: value}))


def _on_within(name: str, uid: str) -> None:
    with shown_errors():
        value = state.get(drafts.field_key(name, uid, "within")) or None
        drafts.change_draft(name, draft_rules.set_decision(drafts.draft(name), review_within=value))


TEXTS = {"all": "all of it", "output": "the output only", "thinking": "the thinking only"}


def penalty_card(name: str, uid: str) -> None:
    """Draw what is counted, the free length, and the cost beyond it."""
    penalty = drafts.draft(name)["scoring"]["length_penalty"] or {}
    with st.container(horizontal=True, vertical_alignment="bottom"):
        st.selectbox(
            "Count",
            ["words", "tokens"],
            width=125,
            **drafts.widget_arguments(name, penalty.get("count"), uid, "count", _on_field),
        )
        st.selectbox(
            "of",
            list(TEXTS),
            format_func=TEXTS.__getitem__,
            width=180,
            **drafts.widget_arguments(name, penalty.get("of"), uid, "of", _on_field),
        )
    with st.container(horizontal=True, vertical_alignment="bottom"):
        for field, caption, least in (
            ("free_budget", "Free up to", 0),
            ("max_cap", "Full from", 1),
        ):
            st.number_input(
                caption,
                min_value=least,
                step=100,
                width=125,
                **drafts.widget_arguments(name, penalty.get(field), uid, field, _on_field),
            )
        for field, caption, step in (
            ("penalty_at_cap", "Full penalty", 0.05),
            ("exponent", "Exponent", 0.1),
        ):
            st.number_input(
                caption,
                min_value=0.0,
                step=step,
                format="%.4g",
                width=125,
                help=(
                    "At 1 the penalty rises evenly; above 1 it starts gently and then rises fast."
                )
                if field == "exponent"
                else "Deducted from the score, in units of the score.",
                **drafts.widget_arguments(name, penalty.get(field), uid, field, _on_field),
            )
    _penalty_examples(penalty)


def _penalty_examples(penalty: dict[str, Any]) -> None:
    examples = penalty_examples(penalty)
    if not examples:
        return
    draw_row([f'<span class="rs-quiet">What is taken, by {esc(str(penalty["count"]))}:</span>'])
    draw_table(
        [fmt.count(n) for n, _ in examples],
        [[fmt.score(deducted) for _, deducted in examples]],
        name="How many points the length penalty deducts",
        numbers=range(len(examples)),
    )


def _on_field(name: str, uid: str, field: str) -> None:
    with shown_errors():
        value = state.get(drafts.field_key(name, uid, field))
        if value is not None:
            drafts.change_draft(name, draft_rules.set_penalty(drafts.draft(name), **{field: value}))


Adder = Callable[[RubricDraft], tuple[RubricDraft, str]]


class RuleCard(NamedTuple):
    """One rule as a line: its card's uid, its kind, its name, and its effect as a text."""

    uid: str
    kind: str
    tone: Tone
    name: str
    words: str
    card: Callable[[str, str], None]
    many: bool


ADD: Mapping[str, tuple[str, str, Adder]] = {
    "gate": (
        "Gate",
        "Lowers the score, fails the item or sends it to a person, depending on a verdict.",
        draft_rules.add_gate,
    ),
    "check": (
        "Pre-check",
        "Looks for phrases in the text, and sends items that contain them to a person.",
        draft_rules.add_check,
    ),
    "decision": (
        "Decision",
        "Sets the score from which an item passes.",
        lambda draft: (draft_rules.set_decision(draft), drafts.DECISION),
    ),
    "penalty": (
        "Length penalty",
        "Deducts points from long texts.",
        lambda draft: (draft_rules.set_penalty(draft), drafts.PENALTY),
    ),
}


def show(name: str) -> None:
    """Draw every rule in the order of application, and the buttons that add one."""
    draft = drafts.draft(name)
    rules = rule_cards(draft)
    st.html('<div class="rs-section">Rules on top of the points</div>')
    if not rules:
        st.caption("No rules: the score comes from the points alone, with no pass or fail.")
    with st.container(gap="xxsmall"):
        for rule in rules:
            if drafts.open_card(name) == rule.uid:
                _open_card(name, rule)
            else:
                _closed_card(name, rule)
    _add_buttons(name, draft)


def rule_cards(draft: RubricDraft) -> list[RuleCard]:
    """Return the rules of a draft: gates, pre-checks, the length penalty, the decision."""
    rules = [
        RuleCard(
            g["uid"], "Gate", "info", data.get("name", ""), gate_words(data), gate_cards.show, True
        )
        for g, data in zip(draft["gates"], gates_of(draft), strict=True)
    ]
    rules += [
        RuleCard(
            c["uid"],
            "Pre-check",
            "warn",
            c["check"].get("name", ""),
            check_words(c["check"]),
            pre_checks.show,
            True,
        )
        for c in draft["prechecks"]
    ]
    penalty, decision = draft["scoring"]["length_penalty"], draft["decision"]
    if penalty is not None:
        caption = penalty_words(penalty)
        rules.append(RuleCard(drafts.PENALTY, "Length", "bad", "", caption, penalty_card, False))
    if decision is not None:
        caption = decision_words(decision)
        rules.append(
            RuleCard(drafts.DECISION, "Decision", "good", "", caption, decision_card, False)
        )
    return rules


def _closed_card(name: str, rule: RuleCard) -> None:
    with st.container(horizontal=True, vertical_alignment="center", gap="small", wrap=False):
        _toggle_button(name, rule, "chevron_right")
        kind = tag(rule.kind, rule.tone) if rule.name else ""
        st.html(
            f'<div class="rs-line">{kind}'
            f'<span class="rs-cut rs-quiet">{esc(one_line(rule.words, 200))}</span></div>'
        )


def _toggle_button(name: str, rule: RuleCard, icon: str) -> None:
    caption = rule.name or {"Length": "Length penalty"}.get(rule.kind, rule.kind)
    st.button(
        label(caption, 40),
        key=state.key(RUBRIC_ACT, name, "toggle", rule.uid),
        type="tertiary",
        icon=f":material/{icon}:",
        on_click=drafts.toggle_card,
        args=(name, rule.uid),
    )


def _open_card(name: str, rule: RuleCard) -> None:
    with st.container(border=True, key=f"rubric_card_{name}_{rule.uid}"):
        with st.container(horizontal=True, vertical_alignment="center"):
            _toggle_button(name, rule, "expand_more")
            if rule.name:
                draw_row([tag(rule.kind, rule.tone)], width="content")
            st.space("stretch")
            _card_actions(name, rule)
        st.html(f'<div class="rs-quote" aria-live="polite">{esc(rule.words)}</div>')
        rule.card(name, rule.uid)


def _card_actions(name: str, rule: RuleCard) -> None:
    acts = [("copy", "Copy", "content_copy")] if rule.many else []
    acts.append(("remove", "Remove", "delete"))
    for act, caption, icon in acts:
        st.button(
            caption,
            key=state.key(RUBRIC_ACT, name, act, rule.uid),
            type="tertiary",
            icon=f":material/{icon}:",
            on_click=_on_act,
            args=(name, act, rule.uid),
        )


def _on_act(name: str, act: str, uid: str) -> None:
    with shown_errors():
        draft = drafts.draft(name)
        if act == "copy":
            changed, copy = draft_rules.duplicate_rule(draft, uid)
            drafts.change_draft(name, changed)
            drafts.set_open_card(name, copy)
        elif uid == drafts.DECISION:
            drafts.change_draft(name, draft_rules.drop_decision(draft))
        elif uid == drafts.PENALTY:
            drafts.change_draft(name, draft_rules.drop_penalty(draft))
        else:
            drafts.change_draft(name, draft_rules.remove_rule(draft, uid))


def _add_buttons(name: str, draft: RubricDraft) -> None:
    unavailable = {
        "gate": not draft["criteria"],
        "decision": draft["decision"] is not None,
        "penalty": draft["scoring"]["length_penalty"] is not None,
    }
    st.caption("Add a rule")
    with st.container(horizontal=True):
        for kind, (caption, description, _) in ADD.items():
            st.button(
                caption,
                key=state.key(RUBRIC_ACT, name, "rule", kind),
                icon=":material/add:",
                help=description,
                disabled=unavailable.get(kind, False),
                on_click=_on_add,
                args=(name, kind),
            )


def _on_add(name: str, kind: str) -> None:
    with shown_errors():
        changed, uid = ADD[kind][2](drafts.draft(name))
        drafts.change_draft(name, changed)
        drafts.set_open_card(name, uid)
