"""Verdicts that flipped: each direction opens its items, each item both runs' votes."""

from __future__ import annotations

import streamlit as st

from core.domain.runs import Run
from core.services.comparison.paired_runs import Flip
from core.services.comparison.run_comparison import RunComparison
from core.services.results import item_view
from core.services.results.item_view import CriterionView
from core.text import numbers as fmt
from core.text.names import fold
from pages.compare import selection as keys
from pages.ui import routes, state
from pages.ui.items import standing_tags, verdict_chips, vote_card, which_answer
from pages.ui.places import work
from pages.ui.resources import store
from pages.ui.text import esc, label, prose
from pages.ui.widgets import empty_state, row, tag

ROWS, PAGE = 20, 10


def show(found: RunComparison) -> None:
    """The directions; of the open one its items; of the chosen item the votes side by side."""
    if not found.flips:
        same = sum(one.same for one in found.deltas.criteria)
        empty_state("No verdict flipped", f"All {fmt.count(same)} verdicts are the same in both.")
        return
    _summary(found)
    at = state.address_id(keys.FLIP)
    shown = list(enumerate(found.flips))
    _rows(found, shown[:ROWS], at)
    if len(shown) > ROWS:
        with st.expander(
            f"{len(shown) - ROWS} more directions", expanded=at is not None and at >= ROWS
        ):
            _rows(found, shown[ROWS:], at)


def _summary(found: RunComparison) -> None:
    flipped = sum(len(flip.items) for flip in found.flips)
    mended, broken = (sum(getattr(f, name) for f in found.flips) for name in ("mended", "broken"))
    row(
        [
            tag(f"{fmt.count(flipped)} verdicts flipped"),
            tag(f"✓ {fmt.count(mended)} right in B only", "good"),
            tag(f"✕ {fmt.count(broken)} right in A only", "bad"),
        ]
    )


def _rows(found: RunComparison, flips: list[tuple[int, Flip]], at: int | None) -> None:
    for number, flip in flips:
        _line(number, flip, opened=number == at)
        if number == at:
            _open(found, flip)


def _line(number: int, flip: Flip, *, opened: bool) -> None:
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        st.button(
            label(f"{flip.criterion}: {flip.before} → {flip.after}", 90),
            key=state.key(keys.COMPARE_ACT, "flip", number),
            type="tertiary",
            icon=f":material/{'expand_more' if opened else 'chevron_right'}:",
            on_click=_on_flip,
            args=(None if opened else number,),
        )
        parts = [tag(fmt.plural(len(flip.items), "item"))]
        parts += [tag(f"✓ {flip.mended} right now", "good")] if flip.mended else []
        parts += [tag(f"✕ {flip.broken} right before", "bad")] if flip.broken else []
        row(parts, width="content")


def _on_flip(number: int | None) -> None:
    state.set_address(**{keys.FLIP: number, state.PAGE: None, state.ITEM: None})


def _open(found: RunComparison, flip: Flip) -> None:
    with st.container(border=True):
        st.html(
            f'<div class="rs-section">{esc(flip.criterion)}: {esc(flip.before)} → '
            f"{esc(flip.after)}</div>"
        )
        second = found.runs[1]
        name = f"{flip.criterion}: {flip.before} to {flip.after}"
        work.offer_work(second.id, flip.items, name, criterion=_called(second, flip.criterion))
        pages = -(-len(flip.items) // PAGE)
        page = min(max(1, state.address_id(state.PAGE) or 1), pages)
        part = flip.items[(page - 1) * PAGE : page * PAGE]
        asked = state.address(state.ITEM)
        chosen = asked if asked in flip.items else part[0]
        key = state.key(keys.COMPARE_FIELD, "item", flip.criterion, page)
        state.put(key, chosen if chosen in part else None)
        st.pills(
            "Items",
            list(part),
            key=key,
            format_func=lambda one: label(one, 40),
            on_change=_on_item,
            args=(key,),
        )
        if pages > 1:
            at = state.key(keys.COMPARE_FIELD, state.PAGE, page)
            st.pagination(pages, default=page, key=at, on_change=_on_page, args=(at,))
        _beside(found, flip, chosen)


def _on_item(key: str) -> None:
    state.set_address(**{state.ITEM: state.get(key)})


def _on_page(key: str) -> None:
    state.set_address(**{state.PAGE: state.get(key), state.ITEM: None})


def _beside(found: RunComparison, flip: Flip, item: str) -> None:
    """The text, then the votes of both runs about it."""
    views = [item_view.item_view(store(), run.id, item) for run in found.runs]
    with st.expander("What was judged", icon=":material/description:"):
        prose(views[0].item.text, height=360)
    for column, side, run, view in zip(st.columns(2), "AB", found.runs, views, strict=True):
        with column:
            routes.link(
                routes.RUN,
                label(f"{side}: run {run.id}, {run.name}", 70),
                {
                    **work.first_of(run.id, flip.items, _called(run, flip.criterion)),
                    state.ITEM: item,
                },
            )
            _votes(_criterion(view.criteria, flip.criterion), view.item.text)


def _called(run: Run, name: str) -> str:
    """What a run calls a criterion; case and spaces do not count when two are compared."""
    names = (c.name for c in item_view.rubric_of(store(), run).criteria)
    return next((one for one in names if fold(one) == fold(name)), name)


def _criterion(criteria: tuple[CriterionView, ...], name: str) -> CriterionView | None:
    return next((c for c in criteria if fold(c.criterion.name) == fold(name)), None)


def _votes(view: CriterionView | None, text: str) -> None:
    if view is None:
        st.caption("This item's own rubric asks this under another name.")
        return
    chosen = None if view.verdict is None else view.verdict.option
    words = "<b>Verdict</b>" if view.verdict is not None else tag("No verdict", "warn")
    row([words, *verdict_chips(view.criterion, view.verdict)])
    if view.truth_label is not None:
        right = chosen is not None and chosen == view.truth
        row(
            [
                tag(
                    f"{'✓' if right else '✕'} the label is {view.truth_label}",
                    "good" if right else "bad",
                )
            ]
        )
    for vote in view.votes:
        if vote.result is not None:
            st.html(
                vote_card(
                    view.criterion,
                    vote.result,
                    which=which_answer(vote),
                    text=text,
                    marks=standing_tags(vote),
                )
            )
