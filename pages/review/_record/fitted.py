"""The rule `calibrated`: judges weighted by how right they were where people decided."""

from __future__ import annotations

import streamlit as st

from core.services import calibrating, fitting
from core.services.calibrating import Offer
from core.services.queueing import QueueRow
from pages.review._record.keeping import kept
from pages.review._record.words import quiet, said, section
from pages.ui import format as fmt
from pages.ui import record_keys as keys
from pages.ui import state
from pages.ui.resources import store
from pages.ui.text import esc, one_line
from pages.ui.widgets import shown_errors, table, tag


def show(queue: QueueRow) -> None:
    """What fitting came to per criterion, and the way there and back."""
    run_id = queue.run_id
    section("Weigh judges by what people decided")
    found = kept("fitted", queue, lambda: calibrating.offers(store(), run_id))
    table(
        ("Criterion", "", "Plain rule", "Calibrated", "Mended", "Spoilt", "Labels"),
        (_line(one) for one in found),
        name="The rule calibrated, by criterion",
        numbers=(2, 3, 4, 5, 6),
    )
    _reliance(found)
    _buttons(run_id, found)
    st.caption(
        "Each judge counts by how its answers go with the truth where that is known: labels of the "
        "dataset, and what people settled. Every item is settled by weights that had not seen its "
        "own label, so that the two shares can be compared. It is offered only where it was right "
        "more often than the rule in force. No judge is asked again."
    )


def _line(one: Offer) -> list[str]:
    name, fitted = esc(one_line(one.criterion, 80)), one.fitted
    if fitted is None:
        return [f"{name}<br>{quiet(one.words)}", tag("too little"), *[fmt.DASH] * 5]
    mark = tag("in use", "info") if one.used else tag("no better")
    if one.offered and not one.used:
        mark = tag("✓ offered", "good")
    return [
        name,
        mark,
        f"{fmt.percent(fitted.plain_right / fitted.labels)}<br>{quiet(_plain(fitted.plain))}",
        fmt.percent(fitted.right / fitted.labels),
        fmt.count(fitted.gained),
        fmt.count(fitted.lost),
        fmt.count(fitted.labels),
    ]


def _plain(rule: str) -> str:
    return rule.replace("_", " ")


def _reliance(found: list[Offer]) -> None:
    known = [one for one in found if one.fitted is not None]
    if not known:
        return
    with st.expander("How far each judge is listened to", icon=":material/hearing:"):
        for one in known:
            if one.fitted is None:
                continue
            rows = fitting.heard(one.fitted).items()
            table(
                (one_line(one.criterion, 80), "From 0 (as chance) to 1"),
                ([esc(judge), fmt.score(value)] for judge, value in rows),
                name=f"How far judges are listened to on {one.criterion}",
                numbers=(1,),
            )


def _buttons(run_id: int, found: list[Offer]) -> None:
    offered = [one for one in found if one.offered and not one.used]
    used = [one for one in found if one.used]
    if not offered and not used:
        said("There is nothing to use yet: calibrated beats the plain rule on no criterion.")
    with st.container(horizontal=True):
        if offered:
            names = "it" if len(offered) == 1 else f"it on {len(offered)} criteria"
            st.button(
                f"Use {names}",
                key=state.key(keys.RECORD_ACT, "use"),
                type="primary",
                icon=":material/balance:",
                help="Verdicts and scores are derived anew from the same votes.",
                on_click=_use,
                args=(run_id, True),
            )
        if used:
            st.button(
                "Back to the plain rule",
                key=state.key(keys.RECORD_ACT, "plain"),
                icon=":material/undo:",
                on_click=_use,
                args=(run_id, False),
            )


def _use(run_id: int, calibrated: bool) -> None:
    with shown_errors():
        offers = calibrating.offers(store(), run_id) if calibrated else []
        chosen = [one.fitted for one in offers if one.fitted is not None and one.offered]
        items = calibrating.use(store(), run_id, chosen)
        state.flash(f"{fmt.plural(items, 'item')} settled anew, without a call.")
