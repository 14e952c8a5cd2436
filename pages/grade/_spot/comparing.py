"""The check beside an earlier one of the same submission: which verdicts changed."""

from __future__ import annotations

import streamlit as st

from core.files.visible import visible
from core.services import numbers as fmt
from core.services import spot_compare
from core.services.spot_compare import Comparison, Pair
from pages.ui import state
from pages.ui.resources import store
from pages.ui.text import esc
from pages.ui.widgets import table

SPOT_BESIDE = "spot_beside"


def show(run_id: int) -> None:
    """The table of both verdicts, where there is an earlier check of the same submission."""
    rows = {r.id: r for r in spot_compare.earlier(store(), run_id) if not r.active}
    if not rows:
        return
    key = state.key(SPOT_BESIDE, run_id)
    state.seed(key, next(iter(rows)))
    found = spot_compare.compare(store(), state.get(key), run_id)
    changed = f"{found.changed or 'none'} of {fmt.plural(found.compared, 'verdict')} changed"
    words = f"Beside check {found.before.run.id}: {changed}"
    icon = ":material/difference:" if found.changed else ":material/equal:"
    with st.expander(words, icon=icon, key=state.key(SPOT_BESIDE, run_id, "open")):
        st.selectbox(
            "Earlier checks of this submission",
            list(rows),
            format_func=lambda i: (
                f"check {i} · {visible(rows[i].rubric_name)} · {fmt.ago(rows[i].created)}"
            ),
            key=key,
        )
        _comparison(found)


def _comparison(found: Comparison) -> None:
    different = ", ".join(found.setup) or "nothing: the same question, asked twice"
    st.html(f'<span class="rs-quiet">What was different: {esc(different)}.</span>')
    before, after = found.before, found.after
    score = ("Score", fmt.score(before.row.score), fmt.score(after.row.score))
    table(
        ["Criterion", f"Check {before.run.id}", f"Check {after.run.id}"],
        [*map(_pair, found.pairs), [f"<b>{esc(cell)}</b>" for cell in score]],
        name="Verdicts of both checks",
    )


def _pair(pair: Pair) -> list[str]:
    before, after = esc(pair.before or "no verdict"), esc(pair.after or "no verdict")
    return [esc(pair.criterion), before, f"<b>≠ {after}</b>" if pair.changed else after]
