"""Verdicts that flipped: each direction leads to its items, both runs side by side."""

from __future__ import annotations

import streamlit as st

from core.services.comparison.paired_runs import VerdictFlip
from core.services.comparison.run_comparison import RunComparison
from core.text import numbers as fmt
from pages.compare import selection as keys
from pages.compare.beside import direction_words
from pages.ui import state
from pages.ui.text import label
from pages.ui.widgets import draw_row, empty_state, tag

#: The number of directions visible at first; others are folded.
FIRST = 3


def show(comparison: RunComparison) -> None:
    """Draw how many verdicts flipped, and a button per direction that shows its items."""
    if not comparison.flips:
        same = sum(criterion.same for criterion in comparison.deltas.criteria)
        empty_state("No verdict flipped", f"All {fmt.count(same)} verdicts are the same in both.")
        return
    flipped = [item for flip in comparison.flips for item in flip.items]
    items = fmt.plural(len(set(flipped)), "item")
    mended, broken = (
        sum(getattr(f, name) for f in comparison.flips) for name in ("mended", "broken")
    )
    draw_row(
        [
            tag(f"{fmt.plural(len(flipped), 'verdict')} on {items} flipped"),
            tag(f"✓ {fmt.count(mended)} right in B only", "good"),
            tag(f"✕ {fmt.count(broken)} right in A only", "bad"),
        ]
    )
    often = sorted(enumerate(comparison.flips), key=lambda flip: -len(flip[1].items))
    for number, flip in often[:FIRST]:
        _flip_line(number, flip)
    if often[FIRST:]:
        with st.expander(f"{len(often) - FIRST} more kinds of flips"):
            for number, flip in often[FIRST:]:
                _flip_line(number, flip)


def _flip_line(number: int, flip: VerdictFlip) -> None:
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        st.button(
            label(direction_words(flip), 90),
            key=state.key(keys.COMPARE_ACT, "flip", number),
            type="tertiary",
            icon=":material/chevron_right:",
            on_click=keys.show_flip_items,
            args=(number,),
        )
        parts = [tag(fmt.plural(len(flip.items), "item"))]
        parts += [tag(f"✓ {flip.mended} right now", "good")] if flip.mended else []
        parts += [tag(f"✕ {flip.broken} right before", "bad")] if flip.broken else []
        draw_row(parts, width="content")
