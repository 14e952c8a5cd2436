"""Findings of review: the results of a queue, and what they show about all verdicts."""

from __future__ import annotations

from collections.abc import Callable

import streamlit as st

from core.domain.review import Seat
from core.domain.review_records import QueueRow
from core.services.labelling.queue_results import CriterionTrouble, Session
from core.services.results import item_view
from core.services.review import claims, queues
from core.services.review.reviewer_quality import AnchoringEffect, anchoring_effect
from core.services.rubrics import library
from core.text import numbers as fmt
from pages.review_findings import all_cells, calibrated, changed, events, people, unreviewed
from pages.review_findings.words import (
    RECORD_FIELD,
    cached_figure,
    minutes_text,
    share_html,
    show_section,
    show_sentences,
)
from pages.ui import identity, routes, state
from pages.ui.identity import Header
from pages.ui.places import run_head, work
from pages.ui.resources import store
from pages.ui.text import distinct_names, esc, one_line
from pages.ui.widgets import (
    draw_row,
    draw_table,
    empty_state,
    page_header,
    tag,
)


def session_result(seat: Seat, queue: QueueRow) -> None:
    """Draw what people changed, their agreement and time, and faulty criteria."""
    result = changed.show(seat, queue)
    if result.changed:
        text = f"Step through the {fmt.plural(len(result.changed), 'item')} that people changed"
        address = work.address_of_first(queue.run_id, result.changed)
        routes.draw_link(routes.RUN, text, address, icon="menu_book")
    show_sentences(_open_cells_words(result))
    _show_troubles(queue, result)


def _open_cells_words(session: Session) -> str:
    parts = []
    if session.each_seconds is not None:
        parts.append(
            f"{minutes_text(session.minutes)} were spent on "
            f"{fmt.plural(session.timed, 'verdict')}, "
            f"half of them in less than {fmt.seconds(session.each_seconds)}."
        )
    if not session.left:
        parts.append("Nothing is left in this queue.")
        return " ".join(parts)
    parts.append(
        f"{fmt.plural(session.left, 'cell')} are open. Reviewing them is expected to change "
        f"about {fmt.number(session.flips, 2)} outcomes (without pass marks: verdicts), and "
        f"scores by {fmt.score(session.change)} in total."
    )
    if session.left_minutes is not None:
        parts.append(f"At that pace they take {minutes_text(session.left_minutes)}.")
    return " ".join(parts)


def _show_troubles(queue: QueueRow, session: Session) -> None:
    show_section("Criteria that people found at fault")
    if not session.troubles:
        show_sentences("No reviewer called a criterion ambiguous, wrong, or two questions in one.")
        return
    draw_table(
        ("Criterion", "Ambiguous", "Wrong", "Two in one", "Of verdicts"),
        (_trouble_row(trouble) for trouble in session.troubles),
        name="Criteria that people found at fault",
        numbers=(1, 2, 3, 4),
    )
    run = item_view.require_run(store(), queue.run_id)
    rubric = library.version_by_id(store(), run.rubric_version_id)
    routes.draw_link(
        routes.RUBRICS, "Edit the rubric", {state.RUBRIC: rubric.rubric_id}, icon="edit"
    )


def _trouble_row(trouble: CriterionTrouble) -> list[str]:
    counts = (trouble.ambiguous, trouble.wrong, trouble.double, trouble.of)
    return [esc(trouble.criterion), *map(fmt.count, counts)]


def follows_judges(queue: QueueRow) -> None:
    """Draw the shares, and a sentence that sums them up."""
    effect = cached_figure("anchoring", queue, lambda: anchoring_effect(store(), queue.id))
    show_section("Do the judges' votes sway reviewers?")
    if not effect.revealed and not effect.assisted.n:
        show_sentences(
            "Not known: no verdict was confirmed after the votes were shown."
            if queue.settings.mode != "blind"
            else "This queue is blind: people never see the judges' votes."
        )
        return
    rows = (
        ("Verdicts that differed from the judges' and were changed to theirs", effect.toward),
        ("Verdicts that agreed with the judges' and were changed", effect.away),
        ("First verdicts that equal the judges', given without seeing the votes", effect.blind),
        ("First verdicts that equal the judges', given with the votes in view", effect.assisted),
    )
    draw_table(
        ("", "Share"),
        ([esc(text), share_html(estimate)] for text, estimate in rows),
        name="Verdicts before and after the votes were seen",
        numbers=(1,),
    )
    show_sentences(_anchoring_sentence(effect))
    st.caption(
        "Agreement uses people's first verdicts; accuracy uses their final ones. Items whose votes "
        "are shown at once are drawn at random, so the difference from the other items is the "
        "effect of showing votes (interval: Newcombe 1998; it takes cells of one item as "
        "independent and is therefore somewhat too narrow)."
    )


def _anchoring_sentence(anchoring: AnchoringEffect) -> str:
    difference = anchoring.difference
    if difference.value is None or difference.low is None or difference.high is None:
        return difference.reason
    points = f"{abs(difference.value) * 100:.0f} points"
    ends = f"95% interval {difference.words(fmt.score).ends}"
    if difference.low > 0:
        return f"Seeing the votes raises agreement with the judges by {points} ({ends})."
    if difference.high < 0:
        return f"Seeing the votes lowers agreement with the judges by {points} ({ends})."
    size = fmt.score(difference.value)
    return (
        f"Seeing the votes has no significant effect on agreement with the judges: {size} ({ends})."
    )


VIEWS = {
    "session": "People's changes, and their agreement",
    "all": "All cells: unreviewed cells, acceptance, corrected scores",
    "calibrated": "Weights of judges",
    "people": "Reviewers",
    "record": "Record and export",
}
HEADER = Header(
    "Findings of review",
    "Estimates for all unreviewed cells and for the judges, from people's verdicts.",
)
#: The screen that replaces the views if the address names it.
AGAIN = "again"


def show() -> None:
    """Draw the page: below the run's head, except for a blind second look."""
    rows = _queues_of_run()
    if rows and state.address(state.VIEW) == AGAIN:
        if seat := identity.current_seat(HEADER):
            page_header(HEADER.title, HEADER.tells)
            people.second_look(seat, rows[0])
        return
    run = item_view.require_run(store(), rows[0].run_id) if rows else run_head.run_of_page()
    if run is None:
        page_header(HEADER.title, HEADER.tells)
        _show_nothing()
        return
    run_head.show_head(run, routes.RECORD)
    item, criterion = state.address(state.ITEM), state.address(state.CRITERION)
    cell = item and criterion and state.address_id(state.RUN) is not None
    if not rows and not cell:
        unreviewed.show(run)
    elif seat := identity.current_seat(Header(title="")):
        if rows:
            _show_views(seat, _chosen_queue(rows))
        elif item and criterion:
            events.cell_timeline(seat, run.id, item, criterion)
            events.draw_downloads(run.id)


def _show_nothing() -> None:
    empty_state(
        "Nothing has been reviewed yet",
        "People settle cells that judges left in doubt. Their decisions show how far all other "
        "verdicts can be trusted.",
        lambda: routes.draw_link(routes.RUNS, "Runs", icon=""),
    )


def _queues_of_run() -> list[QueueRow]:
    """Return the queues of a run; first the shown one, from the address or the newest."""
    requested = state.address_id(state.QUEUE)
    if requested is None:
        rows = queues.queues_of_run(store(), state.address_id(state.RUN))
        return [row for row in rows if row.run_id == rows[0].run_id]
    first = queues.queue_by_id(store(), requested)
    rest = queues.queues_of_run(store(), first.run_id)
    return [first, *(row for row in rest if row.id != first.id)]


def _chosen_queue(rows: list[QueueRow]) -> QueueRow:
    """Return the shown queue; draw a choice if the run has several."""
    by_id = {queue.id: queue for queue in rows}
    if len(rows) > 1:
        key = state.key(RECORD_FIELD, "queue")
        state.put(key, rows[0].id)
        names = distinct_names({id: by_id[id].name for id in sorted(by_id)}, 80)
        st.selectbox(
            "Queue",
            sorted(by_id, reverse=True),
            key=key,
            format_func=names.__getitem__,
            on_change=_choose_queue,
            args=(key,),
        )
    return rows[0]


def _choose_queue(key: str) -> None:
    dropped = dict.fromkeys((state.RUN, state.ITEM, state.CRITERION))
    state.set_address(**{**dropped, state.QUEUE: state.get(key)})


def _show_views(seat: Seat, queue: QueueRow) -> None:
    progress = queues.queue_progress(store(), queue.id)
    draw_row(
        [
            f'<span class="rs-num">{fmt.count(progress.resolved)} of '
            f"{fmt.plural(progress.total, 'cell')} resolved</span>",
            f'<span class="rs-quiet">{esc(one_line(queue.name, 80))}</span>',
            *([tag("archived")] if queue.archived else []),
        ]
    )
    _draw_link_to_next_item(seat, queue)
    shown: dict[str, Callable[[Seat, QueueRow], None]] = {
        "session": _show_session,
        "all": lambda _, queue: all_cells.show(queue),
        "calibrated": lambda _, queue: calibrated.show(queue),
        "people": people.show,
        "record": _show_record,
    }
    opened = _opened_part()
    for name, show in shown.items():
        # Closed parts are not computed. The key names the part that the address opens, so that a
        # link to another part opens that one.
        fold = st.expander(
            VIEWS[name],
            key=state.key(RECORD_FIELD, "fold", name, opened),
            expanded=name == opened,
            on_change="rerun",
        )
        if fold.open:
            with fold:
                show(seat, queue)


def _draw_link_to_next_item(seat: Seat, queue: QueueRow) -> None:
    """Draw a link to the next item for the current user, if any."""
    remaining = claims.queue_for_person(store(), seat, queue.id).available
    if remaining and queue.archived is None:
        text = f"Continue reviewing: {fmt.plural(remaining, 'item')} left"
        routes.draw_link(routes.REVIEW_ITEM, text, {state.QUEUE: queue.id}, icon="play_arrow")


def _show_session(seat: Seat, queue: QueueRow) -> None:
    session_result(seat, queue)
    follows_judges(queue)


def _show_record(seat: Seat, queue: QueueRow) -> None:
    events.draw_downloads(queue.run_id)
    events.choose_cell(seat, queue)
    events.event_log(seat, queue)


def _opened_part() -> str:
    """Return the part in the address, otherwise the queue's results."""
    requested = state.address_in(state.VIEW, VIEWS)
    return requested or ("record" if state.address(state.ITEM) else "session")


show()
