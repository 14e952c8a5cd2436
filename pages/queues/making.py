"""A new queue: its run, its cells, their order, and how they are reviewed."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import streamlit as st

from core.domain.base import build_model
from core.domain.review import Order, QueueRule, QueueSettings, Seat
from core.domain.rubric import Rubric
from core.domain.runs import RunRow
from core.services.queueing import queue_cells
from core.services.results import browsing
from core.services.review import queues, reviewers
from core.services.rubrics import library
from core.services.runs import lifecycle
from core.text import numbers as fmt
from pages.queues import outlook
from pages.queues.outlook import NAMED, QUEUE_FIELD, QUEUES_ACT
from pages.ui import state
from pages.ui.places import work
from pages.ui.resources import store
from pages.ui.text import esc, label, one_line
from pages.ui.widgets import empty_state, page_header, shown_errors

#: Returns the state key of a form field, and gives the field its first value if it has none.
Key = Callable[[str, Any], str]
MODES: dict[str, str] = {
    "until_commit": "Blind until the verdict, then shown",
    "blind": "Blind, never shown",
    "assisted": "Shown at once on a random share of items",
}
POLICIES: dict[str, str] = {
    "unanimous": "All reviewers agree; else an adjudicator decides",
    "majority": "Most reviewers agree; else an adjudicator decides",
    "adjudicator": "An adjudicator always decides",
}
ASSIGNMENTS: dict[str, str] = {
    "pool": "Any free reviewer",
    "round_robin": "Assigned in turn",
    "named": "These people",
}


def settings_form(
    form: str, now: QueueSettings, order: Order
) -> tuple[QueueSettings | None, Order]:
    """Return the settings in the form, or `None` after showing why they conflict."""

    def field_key(field: str, value: Any) -> str:
        name = state.key(QUEUE_FIELD, form, field)
        state.seed(name, value)
        return name

    chosen_order = st.selectbox(
        "Order",
        list(queues.QUEUE_ORDERS),
        key=field_key("order", order),
        format_func=lambda order: queues.QUEUE_ORDERS[order][0],
    )
    st.caption(label(queues.QUEUE_ORDERS[chosen_order][1]))
    fields = {
        **_vote_display(field_key, now),
        **_reviewers_per_cell(field_key, now),
        **_people_settings(field_key, now),
    }
    minutes = st.number_input(
        "Minutes that an item stays reserved",
        0.5,
        600.0,
        key=field_key("lease", now.lease_seconds / 60),
        help="After this time without activity, the item goes to others. Drafts are kept.",
    )
    settings = None
    with shown_errors():
        settings = build_model(
            QueueSettings, {**fields, "lease_seconds": 60 * minutes}, "These settings"
        )
    return settings, chosen_order


def _vote_display(key: Key, settings: QueueSettings) -> dict[str, Any]:
    mode = st.selectbox(
        "Judges' votes",
        list(MODES),
        key=key("mode", str(settings.mode)),
        format_func=MODES.__getitem__,
    )
    share = settings.assisted_share
    if mode == "assisted":
        share = _share_field(
            "Share of assisted items, in %",
            key("assisted", round(100 * share)),
            "The other items are blind until the verdict, so that anchoring can be measured.",
        )
    same = mode != "blind" and st.checkbox(
        "Confirm a verdict automatically if the panel agrees",
        key=key("same", settings.confirm_same),
        help=(
            "This saves the second key press, because the verdict was given blind. The record "
            "notes such confirmations, and the effect of seeing the votes is measured without "
            "them."
        ),
        persist_state="page",
    )
    return {"mode": mode, "assisted_share": share, "confirm_same": same}


def _reviewers_per_cell(key: Key, settings: QueueSettings) -> dict[str, Any]:
    each = st.number_input("Reviewers per item", 1, 5, key=key("reviewers", settings.reviewers))
    overlap, policy = settings.overlap_share, str(settings.policy)
    if each > 1:
        overlap = _share_field(
            "On this share of the items, in %",
            key("overlap", round(100 * overlap)),
            "One reviewer reviews each of the other items.",
        )
        policy = st.selectbox(
            "A cell is settled when",
            list(POLICIES),
            key=key("policy", policy),
            format_func=POLICIES.__getitem__,
            persist_state="page",
        )
    return {"reviewers": each, "overlap_share": overlap, "policy": policy}


def _people_settings(key: Key, settings: QueueSettings) -> dict[str, Any]:
    assignment = st.selectbox(
        "Who reviews",
        list(ASSIGNMENTS),
        key=key("assignment", str(settings.assignment)),
        format_func=ASSIGNMENTS.__getitem__,
    )
    people: list[str] = []
    if assignment != "pool":
        names = dict.fromkeys(
            [*settings.assignees, *(r.name for r in reviewers.all_reviewers(store()))]
        )
        people = st.multiselect(
            "People",
            list(names),
            key=key("people", list(settings.assignees)),
            accept_new_options=True,
            persist_state="page",
        )
    return {"assignment": assignment, "assignees": people}


def _share_field(caption: str, key: str, help: str) -> float:
    """Return a share between 0 and 1, entered in percent."""
    return float(st.slider(caption, 0, 100, key=key, help=help, persist_state="page")) / 100


RUNS = 100
#: The number of random cells drawn of each criterion if an address asks for them.
SOME = 20


def show(seat: Seat) -> None:
    """Draw the form and the live counts of what it would queue."""
    page_header(
        "New queue",
        "Choose the cells for people to review; the counts follow your choice. A cell is one "
        "criterion of one item.",
    )
    st.button("All queues", icon=":material/arrow_back:", type="tertiary", on_click=_leave_form)
    run = choose_run()
    if run is None:
        empty_state("No run has votes yet", "Grade something, or import votes, first.")
        return
    left, right = st.columns([3, 2], gap="large")
    exactly = _rule_from_address(run)
    with left:
        rule = _chosen_rule(run) if exactly is None else _exact_rule(exactly)
        with st.expander("How the queue is reviewed", expanded=False):
            settings, order = settings_form("new", queues.USUAL, "impact")
    with right:
        outlook.show(seat, run, rule, settings, order)


def _leave_form() -> None:
    state.drop(QUEUE_FIELD)
    state.set_address(**{**NAMED, state.NEW: None})


def _rule_from_address(run: RunRow) -> QueueRule | None:
    """Return the rule for exactly the cells that the address names; `None` if it names no cells."""
    word, criterion = state.address(state.SET), state.address(state.CRITERION)
    items = None if word is None else browsing.items_of_set(store(), run.id, word)
    criteria = None if criterion is None else (criterion,)
    if state.address(state.RULE) == work.SPLIT:
        return queue_cells.rule_for_splits(items)
    if state.address(state.RULE) == work.RANDOM:
        rubric = library.version_by_id(store(), run.rubric_version_id).rubric
        most = SOME * len(criteria or rubric.criteria)
        return QueueRule.only(audit_share=1.0, most=most, criteria=criteria)
    if items is None:
        return None
    return QueueRule.only(everything=True, items=items, criteria=criteria)


def _exact_rule(rule: QueueRule) -> QueueRule:
    """Show the set of cells that another page linked to; return its rule."""
    if rule.split:
        head = "Where judges disagree"
        about = "unsettled cells"
    elif rule.only_draws:
        head = "Cells drawn at random"
        about = "their labels represent all cells; labels on doubtful cells do not"
    else:
        head = f"Exactly these {fmt.plural(len(rule.items or ()), 'item')}"
        about = (
            f"on {', '.join(rule.criteria)}"
            if rule.criteria
            else "with all criteria of these items"
        )
    st.html(f'<div class="rs-section">{esc(head)}</div><div>{esc(about)}</div>')
    st.button(
        "Select by a rule instead",
        key=state.key(QUEUES_ACT, "by rule"),
        type="tertiary",
        on_click=state.set_address,
        kwargs=dict(NAMED),
    )
    return rule.model_copy(update={"most": _cap_field(rule.most)})


def choose_run() -> RunRow | None:
    """Return the run in the address or the chosen one, or `None` if no run has votes."""
    rows = lifecycle.newest_with_votes(store(), RUNS)
    if not rows:
        return None
    by_id = {row.id: row for row in rows}
    key = state.key(QUEUE_FIELD, "run")
    run_id = state.address_id(state.RUN)
    if run_id is not None and run_id not in by_id:
        state.report_unknown(state.RUN, run_id)
    state.seed(key, run_id if run_id in by_id else rows[0].id)
    if run_id in by_id and (state.address(state.SET) or state.address(state.RULE)):
        # The cells belong to that run, so it replaces an earlier choice.
        state.put(key, run_id)
    chosen = st.selectbox(
        "Run",
        list(by_id),
        key=key,
        format_func=lambda i: f"{one_line(by_id[i].name, 80)} · run {i}",
    )
    return by_id[chosen]


def _check_box(field: str, caption: str, default: bool, help: str | None = None) -> bool:
    key = state.key(QUEUE_FIELD, field)
    state.seed(key, default)
    return st.checkbox(caption, key=key, help=help, persist_state="page")


def _limit_field(
    field: str, caption: str, default: float, most: float, help: str, ticked: bool = False
) -> float | None:
    """Return a number that is entered only if its box is ticked; else `None`."""
    if not _check_box(field, caption, ticked, help):
        return None
    key = state.key(QUEUE_FIELD, field, "limit")
    state.seed(key, default)
    return float(
        st.number_input(
            caption,
            0.01,
            most,
            step=0.05,
            key=key,
            label_visibility="collapsed",
            persist_state="page",
        )
    )


def _chosen_rule(run: RunRow) -> QueueRule:
    rubric = library.version_by_id(store(), run.rubric_version_id).rubric
    st.html('<div class="rs-section">Which cells</div>')
    with st.grid(2, min_column_width=260):
        with st.container():
            split = _check_box("split", "Judges disagree", True)
            abstention = _check_box("abstention", "A judge abstained", True)
            failure = _check_box("failure", "A judge failed, or no judge answered", True)
            flip = _check_box("flip", "Answers depend on the order of options", True)
        with st.container():
            gate = _check_box(
                "near_gate",
                "A gate depends on the cell",
                False,
                "Another option of this cell would make a gate fire, or stop it from firing. With "
                "two options this is always true, so every cell that such a gate looks at is "
                "queued.",
            )
            margin = _limit_field(
                "margin",
                "Votes are close",
                0.34,
                1.0,
                "The top option leads the second by less than this share of votes.",
            )
            mark = _limit_field(
                f"near_mark {run.id}",
                "Near a pass mark",
                0.05,
                100.0,
                "The score is this close to a pass mark, and the cell can move it across.",
                ticked=rubric.decision is not None,
            )
            everything = _check_box("everything", "Everything", False, "All cells of the run.")
    most = _cap_field()
    audit, gold = _draw_shares(capped=most is not None)
    return QueueRule(
        split=split,
        margin=margin,
        abstention=abstention,
        failure=failure,
        near_gate=gate,
        near_mark=mark,
        flip=flip,
        everything=everything,
        criteria=_chosen_criteria(run, rubric),
        audit_share=audit / 100,
        gold_share=gold / 100,
        most=most,
    )


def _cap_field(cap: int | None = None) -> int | None:
    """Return the cap on the number of cells, or `None` if its box is not ticked."""
    if not _check_box("most", "Maximum number of cells", cap is not None, outlook.CAP):
        return None
    key = state.key(QUEUE_FIELD, "most", "limit")
    state.seed(key, cap or 40)
    return int(
        st.number_input(
            "Maximum number of cells",
            1,
            100_000,
            step=10,
            key=key,
            label_visibility="collapsed",
            persist_state="page",
        )
    )


def _draw_shares(*, capped: bool) -> tuple[int, int]:
    """Return the shares of the random audit and of cells with a known label, in percent."""
    key = state.key(QUEUE_FIELD, "audit")
    state.seed(key, 10)
    audit = st.slider(
        "Random audit (% of the cap)" if capped else "Random audit (% of all other cells)",
        0,
        100,
        key=key,
        help=(
            "Only an audit finds cells on which all judges are wrong, and lets you estimate "
            "errors in unreviewed cells."
        )
        + (
            ""
            if capped
            else (" Each cell is drawn with this chance, so the number of cells varies.")
        ),
    )
    key = state.key(QUEUE_FIELD, "gold")
    state.seed(key, 0)
    gold = st.slider(
        "Checks with labelled cells (% of the cap)"
        if capped
        else "Checks with labelled cells (% of the other cells)",
        0,
        100,
        key=key,
        help="These cells look like all others. Each reviewer's answer is compared with the label, "
        "and shown to that reviewer and to leads.",
    )
    return audit, gold


def _chosen_criteria(run: RunRow, rubric: Rubric) -> tuple[str, ...] | None:
    names = [c.name for c in rubric.criteria]
    chosen = st.multiselect(
        "Only these criteria",
        names,
        key=state.key(QUEUE_FIELD, "criteria", run.id),
        placeholder="All criteria",
        format_func=lambda name: one_line(name, 80),
        persist_state="page",
    )
    return tuple(chosen) or None
