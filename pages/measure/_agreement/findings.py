"""What to look at: what ails judges and criteria, each a plain sentence with its evidence."""

from __future__ import annotations

import streamlit as st

from core.services import numbers as fmt
from core.services.ailing_plates import Shown
from core.services.diagnosing import Look, look
from pages.measure._agreement import evidence
from pages.measure._agreement.choosing import Chosen, switch
from pages.measure._agreement.words import AILMENTS
from pages.ui import agreement_keys as keys
from pages.ui import state
from pages.ui.resources import remembered, store
from pages.ui.text import esc, label
from pages.ui.widgets import table


def show(chosen: Chosen) -> None:
    """The findings of the whole run, the serious first, beside the evidence of the chosen one."""
    if chosen.part:
        st.caption("All items of the run are examined, whatever is chosen above.")
    found = remembered("ailments", chosen.run_about, lambda: look(store(), chosen.run_id))
    if found.findings:
        _findings(chosen, found)
    elif found.made:
        st.html(
            f'<div class="rs-prose">Nothing found among {fmt.plural(found.made, "check")}.</div>'
        )
    else:
        st.html('<div class="rs-prose">Too little is known for any check.</div>')
    st.caption(found.promise)
    _unmade(found)


def _findings(chosen: Chosen, found: Look) -> None:
    roles = {one.finding.role for one in found.findings}
    shown = list(enumerate(found.findings))
    if len(roles) > 1:
        only = switch(
            "About",
            keys.ABOUT,
            (("all", "Everything"), ("judge", "Judges"), ("criterion", "Criteria")),
        )
        shown = [(at, one) for at, one in shown if only in ("all", one.finding.role)]
    places = [str(at) for at, _ in shown]
    asked = state.address(keys.FINDING)
    at = asked if asked in places else places[0]
    left, right = st.columns(2, gap="large")
    with left, st.container(height=680 if len(shown) > 8 else "content", border=False):
        _list(places, at, found)
    with right:
        evidence.show(chosen, found.findings[int(at)])


def _list(places: list[str], at: str, found: Look) -> None:
    key = state.key(keys.AGREEMENT_FIELD, keys.FINDING)
    state.put(key, at)
    st.radio(
        "Findings",
        places,
        key=key,
        format_func=lambda one: label(found.findings[int(one)].finding.sentence),
        captions=[_caption(found.findings[int(one)]) for one in places],
        label_visibility="collapsed",
        on_change=_on_choice,
        args=(key,),
    )


def _caption(one: Shown) -> str:
    weight = "only observed" if one.finding.false_alarms is None else one.finding.severity
    return f"{AILMENTS[one.finding.kind]}, {weight}"


def _on_choice(key: str) -> None:
    state.set_address(**{keys.FINDING: state.get(key)})


def _unmade(found: Look) -> None:
    if not found.unmade:
        return
    with st.expander("What could not be examined", icon=":material/help:"):
        table(
            ("What", "Why", "How many"),
            ([esc(AILMENTS[kind]), esc(why), fmt.count(n)] for kind, why, n in found.unmade),
            name="What could not be examined",
            numbers=(2,),
        )
