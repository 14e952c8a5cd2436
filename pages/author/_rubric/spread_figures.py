"""The difference that a version makes to a run, in figures, a plot and a table."""

from __future__ import annotations

import streamlit as st

from core import figures as draw
from core.services import numbers as fmt
from core.services.differing import Moved
from core.services.propagating import Difference
from pages.ui import state
from pages.ui import version_keys as keys
from pages.ui.text import esc
from pages.ui.widgets import Figure, empty_state, figures, table, tag

SHOWN = 50
OUTCOMES = {"pass": "passes", "fail": "fails", "review": "for review", "none": "no outcome"}


def show(found: Difference) -> None:
    """Everything there is to see before anybody decides."""
    st.html('<div class="rs-section">What happens to the scores</div>')
    if not found.items:
        empty_state("No votes", "No item of this run has a vote yet.")
        return
    figures(_figures(found))
    if found.crossed:
        _crossed(found)
    if not found.moved:
        st.caption("No score and no outcome changes.")
    else:
        _plot(found)
        _items(found)
    if found.flips:
        _flips(found)


def _figures(found: Difference) -> list[Figure]:
    largest = found.largest
    change = None if largest is None else largest.change
    mean = f"{fmt.score(found.mean_before)} → {fmt.score(found.mean_after)}"
    values = [
        Figure("Items that change", f"{fmt.count(len(found.moved))} of {fmt.count(found.items)}"),
        Figure("Up · down", f"{fmt.count(found.up)} · {fmt.count(found.down)}"),
        Figure(
            "Largest change",
            fmt.DASH if change is None else _signed(change),
            "" if largest is None else f"Item {largest.item_id}",
        ),
        Figure("Mean score", mean),
    ]
    if found.stale:
        values.append(
            Figure("Stale cells", fmt.count(found.stale), "Judges were asked something else.")
        )
    if found.open:
        values.append(Figure("Open cells", fmt.count(found.open), "Nobody was asked this yet."))
    return values


def _crossed(found: Difference) -> None:
    table(
        ("Outcome before", "Outcome after", "Items"),
        (
            (esc(OUTCOMES[one]), esc(OUTCOMES[other]), fmt.count(items))
            for (one, other), items in sorted(found.crossed.items())
        ),
        name="Items that cross over",
        numbers=(2,),
    )


def _plot(found: Difference) -> None:
    st.plotly_chart(
        draw.before_after(found.bins),
        key=state.key(keys.SPREAD_ACT, "plot"),
        config={"displayModeBar": False},
        alt=f"Scores of {found.items} items before and after: the mean goes from "
        f"{fmt.score(found.mean_before)} to {fmt.score(found.mean_after)}.",
    )


def _items(found: Difference) -> None:
    with st.expander(f"Items that change ({fmt.count(len(found.moved))})"):
        table(
            ("Item", "Before", "After", "Change", "Outcome"),
            (_item(one) for one in found.moved[:SHOWN]),
            name="Items that change, the largest change first",
            numbers=(1, 2, 3),
        )
        if len(found.moved) > SHOWN:
            st.caption(f"The first {SHOWN}, by the size of their change.")


def _item(one: Moved) -> list[str]:
    change = fmt.DASH if one.change is None else _signed(one.change)
    before, after = one.outcome_before or "none", one.outcome_after or "none"
    outcome = "" if before == after else esc(f"{OUTCOMES[before]} → {OUTCOMES[after]}")
    return [esc(one.item_id), fmt.score(one.before), fmt.score(one.after), change, outcome]


def _flips(found: Difference) -> None:
    with st.expander("Verdicts that change"):
        table(
            ("Criterion", "Better", "Worse", "Otherwise"),
            (
                [
                    esc(one.criterion),
                    tag(f"↑ {fmt.count(one.up)}", "good") if one.up else "0",
                    tag(f"↓ {fmt.count(one.down)}", "bad") if one.down else "0",
                    fmt.count(one.other),
                ]
                for one in found.flips
            ),
            name="Verdicts that change",
            numbers=(1, 2, 3),
        )


def _signed(change: float) -> str:
    return f"{'+' if change > 0 else fmt.MINUS}{fmt.score(abs(change))}"
