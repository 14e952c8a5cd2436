"""Begin reviewing: everything that is there for me, or one criterion, or what is flagged."""

from __future__ import annotations

import streamlit as st

from core.domain.review import Seat
from core.domain.review_records import QueueFilter, QueueRow
from core.services import authoring, claiming, viewing
from core.services import numbers as fmt
from core.services.claiming import Standing
from pages.review._queues.settings_form import QUEUE_ACT, QUEUE_FIELD
from pages.ui import routes, state
from pages.ui.resources import store
from pages.ui.text import label, one_line


def show(who: Seat, queue: QueueRow, standing: Standing) -> None:
    """The button that opens the reviewing screen, what narrows it, and the way to the run."""
    where = _filter(who, queue)
    if where != QueueFilter():
        standing = claiming.standing(store(), who, queue.id, where)
    mine = any(h.reviewer == who.name for h in standing.held)
    with st.container(horizontal=True, vertical_alignment="center"):
        if queue.archived is None and (standing.available or mine):
            words = "Go on reviewing" if mine else "Start reviewing"
            left = f" ({fmt.plural(standing.available, 'item')})" if standing.available else ""
            if st.button(
                words + left,
                key=state.key(QUEUE_ACT, "start"),
                type="primary",
                icon=":material/play_arrow:",
                shortcut="Enter",
            ):
                routes.go(routes.REVIEW_ITEM, _address(queue, where))
        routes.link(routes.RUN, "The run", {state.RUN: queue.run_id})
    if queue.archived is None and standing.why:
        st.info(label(standing.why), icon=":material/inbox:")


def _filter(who: Seat, queue: QueueRow) -> QueueFilter:
    run = viewing.require_run(store(), queue.run_id)
    rubric = authoring.version(store(), run.rubric_version_id).rubric
    queued = [c.name for c in rubric.criteria if queue.rule.criteria in (None, ())] or [
        c.name for c in rubric.criteria if c.name in (queue.rule.criteria or ())
    ]
    if len(queued) < 2 and not who.resolves:
        return QueueFilter()
    with st.container(horizontal=True, vertical_alignment="bottom"):
        criterion = st.selectbox(
            "Review",
            [None, *queued],
            key=state.key(QUEUE_FIELD, "criterion", queue.id),
            format_func=lambda name: "All criteria" if name is None else one_line(name, 80),
            width=320,
        )
        flagged = who.resolves and st.toggle(
            "Only what is flagged", key=state.key(QUEUE_FIELD, "flagged", queue.id)
        )
    return QueueFilter(criterion=criterion, flagged=bool(flagged))


def _address(queue: QueueRow, where: QueueFilter) -> dict[str, str]:
    parts = {state.QUEUE: str(queue.id)}
    if where.criterion is not None:
        parts[state.CRITERION] = where.criterion
    if where.flagged:
        parts[state.FLAGGED] = "yes"
    return parts
