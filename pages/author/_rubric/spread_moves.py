"""How votes of renamed criteria and of other options are read: a table to be looked over."""

from __future__ import annotations

import streamlit as st

from core.domain.rubric import Criterion, Rubric
from core.services.versioning import Edits, Moves, option_guess
from core.services.versioning_edits import same_choices
from pages.ui import state
from pages.ui import version_keys as keys
from pages.ui.text import label, one_line

#: What stands for "nowhere": no option, and no criterion.
NO_PLACE, GONE = -1, ""


def choose(run_id: int, before: Rubric, after: Rubric, found: Edits) -> Moves:
    """The mapping as it is chosen; what goes without saying is not asked about."""
    renamed = _renamed(run_id, before, after, found)
    news = {c.name: c for c in after.criteria}
    options: dict[str, tuple[int | None, ...]] = {}
    for old in before.criteria:
        new = news.get(renamed.get(old.name, old.name))
        taken = new is not None and new.name in renamed.values()
        if new is None or (taken and old.name not in renamed) or same_choices(old, new):
            continue
        options[old.name] = _options(run_id, old, new)
    return Moves(renamed, options)


def _renamed(run_id: int, before: Rubric, after: Rubric, found: Edits) -> dict[str, str]:
    names = {c.name for c in after.criteria}
    gone = [c.name for c in before.criteria if c.name not in names]
    fresh = [*found.added, *found.moves.renamed.values()]
    if not gone or not fresh:
        return {}
    st.html('<div class="rs-section">Which criteria are the same?</div>')
    chosen: dict[str, str] = {}
    for old in gone:
        free = [GONE, *(name for name in fresh if name not in chosen.values())]
        key = state.key(keys.SPREAD_MOVE, run_id, "criterion", old, *sorted(free))
        guess = found.moves.renamed.get(old, GONE)
        state.seed(key, guess if guess in free else GONE)
        new = st.selectbox(
            label(f"{old} became", 80),
            free,
            key=key,
            format_func=lambda name: one_line(name, 80) or "It was removed",
        )
        if new:
            chosen[old] = new
    return chosen


def _options(run_id: int, old: Criterion, new: Criterion) -> tuple[int | None, ...]:
    st.html('<div class="rs-section">Where do the votes go?</div>')
    st.caption(
        label(f"{new.name}: every option that judges could choose, and what it is now.", 200)
    )
    guess = option_guess(old, new)
    words: dict[int, str] = {
        NO_PLACE: "It does not count (and can be asked again)",
        **{at: one_line(o.label, 60) for at, o in enumerate(new.choices)},
    }
    places: list[int | None] = []
    with st.grid(3, min_column_width=190):
        for at, option in enumerate(old.choices):
            key = state.key(keys.SPREAD_MOVE, run_id, "option", old.name, at, len(new.choices))
            state.seed(key, NO_PLACE if guess[at] is None else guess[at])
            place: int = st.selectbox(
                label(f"{option.label} is now", 60),
                list(words),
                key=key,
                format_func=words.__getitem__,
            )
            places.append(None if place == NO_PLACE else place)
    return tuple(places)
