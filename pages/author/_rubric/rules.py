"""The rules on top of the points: a line each while closed, a card while open; adding one."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import NamedTuple

import streamlit as st

from core.services import draft_gates as gates
from core.services import draft_rules as rules
from core.services.draft_types import Draft
from core.services.drafts import gates_of
from core.services.rubric_words import check_words, decision_words, gate_words, penalty_words
from pages.author._rubric import check_card, decision_card, gate_card, penalty_card, work
from pages.author._rubric.going import RUBRIC_ACT
from pages.ui import state
from pages.ui.text import esc, label, one_line
from pages.ui.widgets import Tone, row, shown_errors, tag

Adder = Callable[[Draft], tuple[Draft, str]]


class Rule(NamedTuple):
    """One rule as a line: its card's uid, what it is, its name, and what it does in words."""

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
        "Holds the score down, fails the item or calls a person when a verdict says so.",
        gates.add_gate,
    ),
    "check": (
        "Pre-check",
        "Looks for phrases in the text itself and sends what it finds to a person.",
        rules.add_check,
    ),
    "decision": (
        "Decision",
        "Says from which score on an item passes.",
        lambda draft: (rules.set_decision(draft), work.DECISION),
    ),
    "penalty": (
        "Length penalty",
        "Takes points from long texts.",
        lambda draft: (rules.set_penalty(draft), work.PENALTY),
    ),
}


def show(name: str) -> None:
    """Every rule in the order in which they act, and the buttons that add one."""
    draft = work.draft(name)
    found = rules_of(draft)
    st.html('<div class="rs-section">Rules on top of the points</div>')
    if not found:
        st.caption("None: the score is the share of points, and nothing is decided by it.")
    with st.container(gap="xxsmall"):
        for rule in found:
            if work.open_card(name) == rule.uid:
                _open(name, rule)
            else:
                _closed(name, rule)
    _add(name, draft)


def rules_of(draft: Draft) -> list[Rule]:
    """The rules of a draft: gates, pre-checks, the length penalty, the decision."""
    found = [
        Rule(g["uid"], "Gate", "info", data.get("name", ""), gate_words(data), gate_card.show, True)
        for g, data in zip(draft["gates"], gates_of(draft), strict=True)
    ]
    found += [
        Rule(
            c["uid"],
            "Pre-check",
            "warn",
            c["check"].get("name", ""),
            check_words(c["check"]),
            check_card.show,
            True,
        )
        for c in draft["prechecks"]
    ]
    penalty, decision = draft["scoring"]["length_penalty"], draft["decision"]
    if penalty is not None:
        words = penalty_words(penalty)
        found.append(Rule(work.PENALTY, "Length", "bad", "", words, penalty_card.show, False))
    if decision is not None:
        words = decision_words(decision)
        found.append(Rule(work.DECISION, "Decision", "good", "", words, decision_card.show, False))
    return found


def _closed(name: str, rule: Rule) -> None:
    with st.container(horizontal=True, vertical_alignment="center", gap="small", wrap=False):
        _toggle(name, rule, "chevron_right")
        kind = tag(rule.kind, rule.tone) if rule.name else ""
        st.html(
            f'<div class="rs-line">{kind}'
            f'<span class="rs-cut rs-quiet">{esc(one_line(rule.words, 200))}</span></div>'
        )


def _toggle(name: str, rule: Rule, icon: str) -> None:
    words = rule.name or {"Length": "Length penalty"}.get(rule.kind, rule.kind)
    st.button(
        label(words, 40),
        key=state.key(RUBRIC_ACT, name, "toggle", rule.uid),
        type="tertiary",
        icon=f":material/{icon}:",
        on_click=work.toggle_card,
        args=(name, rule.uid),
    )


def _open(name: str, rule: Rule) -> None:
    with st.container(border=True, key=f"rubric_card_{name}_{rule.uid}"):
        with st.container(horizontal=True, vertical_alignment="center"):
            _toggle(name, rule, "expand_more")
            if rule.name:
                row([tag(rule.kind, rule.tone)], width="content")
            st.space("stretch")
            _actions(name, rule)
        st.html(f'<div class="rs-quote" aria-live="polite">{esc(rule.words)}</div>')
        rule.card(name, rule.uid)


def _actions(name: str, rule: Rule) -> None:
    acts = [("copy", "Copy", "content_copy")] if rule.many else []
    acts.append(("remove", "Remove", "delete"))
    for act, words, icon in acts:
        st.button(
            words,
            key=state.key(RUBRIC_ACT, name, act, rule.uid),
            type="tertiary",
            icon=f":material/{icon}:",
            on_click=_on_act,
            args=(name, act, rule.uid),
        )


def _on_act(name: str, act: str, uid: str) -> None:
    with shown_errors():
        draft = work.draft(name)
        if act == "copy":
            grown, twin = rules.duplicate_rule(draft, uid)
            work.change(name, grown)
            work.keep_open(name, twin)
        elif uid == work.DECISION:
            work.change(name, rules.drop_decision(draft))
        elif uid == work.PENALTY:
            work.change(name, rules.drop_penalty(draft))
        else:
            work.change(name, rules.remove_rule(draft, uid))


def _add(name: str, draft: Draft) -> None:
    there = {
        "gate": not draft["criteria"],
        "decision": draft["decision"] is not None,
        "penalty": draft["scoring"]["length_penalty"] is not None,
    }
    st.caption("Add a rule")
    with st.container(horizontal=True):
        for kind, (words, says, _) in ADD.items():
            st.button(
                words,
                key=state.key(RUBRIC_ACT, name, "rule", kind),
                icon=":material/add:",
                help=says,
                disabled=there.get(kind, False),
                on_click=_on_add,
                args=(name, kind),
            )


def _on_add(name: str, kind: str) -> None:
    with shown_errors():
        grown, uid = ADD[kind][2](work.draft(name))
        work.change(name, grown)
        work.keep_open(name, uid)
