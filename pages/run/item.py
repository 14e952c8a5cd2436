"""One item of a run: what was judged, its score, its verdicts and every vote."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from functools import partial

import streamlit as st

from core.domain.dataset import Item, Pair, Sections, output_of
from core.scoring.trace import ScorePart, Trace
from core.services.datasets import splits
from core.services.results import browsing, item_view
from core.services.results.item_view import CriterionView, ItemView
from core.services.review import audit_trail
from core.text import numbers as fmt
from core.text.quotes import find_quote
from pages.run import criterion, filters
from pages.run.filters import ITEM_ACT, ITEM_OPEN
from pages.ui import routes, state
from pages.ui.grid import cells
from pages.ui.items import context_words
from pages.ui.places import work
from pages.ui.resources import remembered, store
from pages.ui.text import draw_prose, esc, label, one_line
from pages.ui.widgets import (
    draw_row,
    draw_table,
    outcome_tags,
    partly_tags,
    show_flash,
    shown_errors,
    tag,
)

ITEM_MARKS = "item_marks"


#: Longer texts are cut here until the rest is requested.
CUT = 60_000


def show_submission(view: ItemView) -> None:
    """Draw the item's texts; closed parts are not built."""
    item = view.item
    tags = [tag(f"system {item.system}")] if item.system else []
    tags += [tag(f"{item.split} part")] if item.split else []
    tags += [tag(item_tag) for item_tag in item.tags]
    if tags:
        draw_row(tags)
    _folded_text("Prompt", "chat_bubble", item.prompt)
    for name, text in item.context.items():
        _folded_text(context_words(name), "article", text)
    _show_submission(view)
    _folded_text("Reference", "menu_book", item.reference)
    _folded_text("About this item", "info", item.description)


def _folded_text(title: str, icon: str, text: str) -> None:
    if not text:
        return
    key = state.key(ITEM_OPEN, title)
    part = st.expander(label(title), icon=f":material/{icon}:", key=key, on_change="rerun")
    if part.open:
        with part:
            _show_text(text, title, [])


def _show_submission(view: ItemView) -> None:
    item = view.item
    quotes = [q for c in view.criteria for v in c.votes if v.vote for q in v.vote.evidence]
    with st.container(horizontal=True, vertical_alignment="center"):
        st.html('<div class="rs-section">Submission</div>')
        st.space("stretch")
        if quotes:
            key = state.key(ITEM_MARKS)
            state.seed(key, True)
            st.toggle("Mark the judges' quotes", key=key, persist_state="session")
    wanted = quotes if quotes and state.get(state.key(ITEM_MARKS)) else []
    # Findings of a pre-check are always marked, because a person must look at them.
    checks = view.trace.checks if view.trace else ()
    wanted = wanted + [finding.text for mark in checks for finding in mark.found]
    with st.container(border=True):
        for number, (speaker, text) in enumerate(text_pieces(item)):
            if speaker:
                st.html(f'<div class="rs-quiet"><b>{esc(speaker)}</b></div>')
            _show_text(text, f"submission {number}", wanted)
    if isinstance(item.submission, Sections) and item.thinking:
        _folded_text("The model's thinking", "psychology", item.thinking)


def text_pieces(item: Item) -> Iterator[tuple[str, str]]:
    """Return the texts with their speakers: one, or one for every turn or answer of a pair."""
    if isinstance(item.submission, Pair):
        yield "Answer A", output_of(item.submission.first)
        yield "Answer B", output_of(item.submission.second)
        return
    if isinstance(item.submission, str | Sections):
        yield "", item.output
        return
    for turn in item.submission:
        yield turn.role, turn.content


def _show_text(text: str, name: str, quotes: list[str]) -> None:
    key = state.key(ITEM_OPEN, "whole", name)
    is_whole = len(text) <= CUT or state.get(key)
    shown = text if is_whole else text[:CUT]
    spans = [span for quote in set(quotes) if (span := find_quote(shown, quote))]
    if text.strip():
        draw_prose(shown, spans, height=560)
    else:
        st.html('<span class="rs-quiet">Empty.</span>')
    if not is_whole:
        st.button(
            f"Show the other {fmt.count(len(text) - CUT)} characters",
            key=state.key(ITEM_ACT, "whole", name),
            type="tertiary",
            on_click=state.put,
            args=(key, True),
        )


def show_score(view: ItemView) -> None:
    """Draw the score in one line, and its calculation on request."""
    trace, item = view.trace, view.row
    if trace is None:
        st.html('<b>No score yet.</b> <span class="rs-quiet">No judge has answered.</span>')
        return
    shown = fmt.score(item.score) if item.score is not None else "No grade"
    interval = ""
    if item.low is not None and item.high is not None and item.low < item.high:
        interval = f" (between {fmt.interval(item.low, item.high).replace(' to ', ' and ')})"
    head = (
        f'<span class="rs-num" style="font-size:1.5rem;font-weight:600">{shown}</span> '
        f'<span class="rs-quiet">{"" if item.score is None else "score"}{esc(interval)}</span>'
    )
    draw_row([head, *_item_marks(view, trace)])
    with st.container(horizontal=True, gap="small"):
        with st.expander("How this score was calculated", type="compact"):
            lines = "".join(f"<li>{esc(line)}</li>" for line in view.sentences)
            st.html(f'<ul class="rs-list">{lines}</ul>')
        _points_table(trace)


def _item_marks(view: ItemView, trace: Trace) -> list[str]:
    marks = outcome_tags(trace)
    marks += partly_tags(trace)
    if view.row.failures:
        marks.append(tag(fmt.plural(view.row.failures, "failure"), "bad"))
    if view.row.agreement is not None and view.row.votes > len(trace.criteria):
        marks.append(tag(f"{fmt.percent(view.row.agreement)} agreement, mean of criteria"))
    return marks


def _points_table(trace: Trace) -> None:
    part = st.expander(
        "Points by criterion",
        key=state.key(ITEM_OPEN, "points"),
        on_change="rerun",
        type="compact",
    )
    if not part.open:
        return
    with part:
        draw_table(
            ("Criterion", "Weight", "Value", "Points"),
            map(_part_row, trace.criteria),
            name="Points by criterion",
            numbers=(1, 2, 3),
        )


def _part_row(part: ScorePart) -> list[str]:
    value = fmt.score(part.value)
    if part.missing:
        value = "no verdict"
    elif part.abstained:
        value = "abstained"
    return [esc(part.name), fmt.weight(part.weight), value, fmt.number(part.points)]


def example_button(view: ItemView) -> None:
    """Draw the button that makes a labelled item an example, if it is still in its dataset."""
    if not view.item.labels:
        return
    now = splits.part_of(store(), view.run.dataset_version_id, view.item.id)
    if now is None:
        return
    example = now[0] == "calibration"
    with st.container(horizontal=True, vertical_alignment="center"):
        if example:
            draw_row([tag("example for later runs", "info")], width="content")
        st.button(
            "Use for evaluation" if example else "Use as example",
            key=state.key(ITEM_ACT, "split"),
            type="tertiary",
            icon=":material/undo:" if example else ":material/school:",
            on_click=_on_split,
            args=(view.run.dataset_version_id, view.item.id, example),
            help="Judges of later runs no longer see this item, and it is graded and counted again."
            if example
            else "Puts this item and its labels into the dataset's calibration part: judges of "
            "later runs learn from it, and it leaves their figures of evaluation. This can "
            "be undone. Existing runs keep their version.",
        )


def _on_split(version: int, item_id: str, example: bool) -> None:
    with shown_errors():
        version_made = splits.set_split(
            store(), version, item_id, "evaluation" if example else "calibration"
        )
        _, examples = splits.part_of(store(), version_made.id, item_id) or (None, 0)
        count = fmt.plural(examples, "example")
        head = f"Dataset version {version_made.number}, with {count}."
        if example:
            state.flash(f"{head} Later runs grade and count this item again.")
        else:
            state.flash(f"{head} Later runs leave this item out of their evaluation figures.")


#: The height of the matrix in pixels; rubrics may have hundreds of criteria, which scroll.
HEIGHT = 330
ALL = "all judges"


def show(run_id: int, item_id: str) -> None:
    """Draw the whole screen of an item."""
    view = item_view.item_view(store(), run_id, item_id)
    _item_bar(view)
    title = view.item.title
    st.title(label(title, 120), anchor=False)
    details = f"{one_line(view.run.name, 100)} · run {run_id}"
    st.caption(label(details if title == item_id else f"{details} · {item_id}"))
    show_flash()
    left, right = st.columns([1, 2], gap="medium")
    with left, st.container(key="rs_beside"):
        show_submission(view)
        example_button(view)
    with right, st.container(gap="xsmall"):
        show_score(view)
        with st.container(horizontal=True):
            work.link_to_settling(run_id, item_id)
            routes.draw_link(
                routes.QUEUES,
                "Request a regrade",
                {state.SHOW: state.REGRADES, state.RUN: run_id, state.ITEM: item_id},
                icon="contact_support",
                help="A note for reviewers. The settled verdict holds until they decide.",
            )
        st.fragment(_show_criteria)(view)


def _item_bar(view: ItemView) -> None:
    """Draw the link back to the list, and the steps to the items before and after."""
    now = filters.shown_selection()
    cache_key = (*browsing.results_state(store(), view.run), now, view.item.id)
    before, after, place, total = remembered(
        "neighbours",
        cache_key,
        lambda: browsing.neighbours_of(
            store(), view.run.id, view.item.id, now.where, now.sort, now.descending, now.by
        ),
    )
    with st.container(horizontal=True, vertical_alignment="center", key="rs_item_bar"):
        st.button(
            "Items",
            key=state.key(ITEM_ACT, "back"),
            type="tertiary",
            icon=":material/arrow_back:",
            on_click=_leave_item,
        )
        st.space("stretch")
        where = "not in this list" if place is None else f"{fmt.count(place)} of"
        suffix = ", as filtered" if now.filtered else ""
        st.html(f'<span class="rs-quiet rs-num">{where} {fmt.count(total)}{suffix}</span>')
        for title, to, icon, shortcut in (
            ("Previous", before, "chevron_left", "Left"),
            ("Next", after, "chevron_right", "Right"),
        ):
            st.button(
                title,
                key=state.key(ITEM_ACT, title),
                icon=f":material/{icon}:",
                disabled=to is None,
                shortcut=shortcut,
                on_click=_step_button,
                args=(view.item.id, to),
            )


def _go_to_item(item_id: str | None) -> None:
    state.set_address(**{state.ITEM: item_id})


def _leave_item() -> None:
    state.set_address(**dict.fromkeys((state.ITEM, state.AT, state.JUDGE)))


def _step_button(shown: str, to: str | None) -> None:
    # A key pressed twice can arrive with the previous run's item; it is not meant for this one.
    if to is not None and state.address(state.ITEM) == shown:
        state.drop(ITEM_OPEN)
        _go_to_item(to)


def _show_criteria(view: ItemView) -> None:
    """Draw criteria by judges, and below them the open criterion."""
    with shown_errors():
        names = [one.criterion.name for one in view.criteria]
        at = _open_criterion(view, names)
        judges = list(dict.fromkeys(v.cell.judge for one in view.criteria for v in one.votes))
        judge = state.address(state.JUDGE)
        judge = judge if judge in judges else None
        headings, rows = criterion.criterion_rows(view.criteria)
        cells.show_grid(
            state.key(ITEM_ACT, "matrix", view.run.id),
            "Criteria by judges",
            headings,
            rows,
            opened=json.dumps([names[at]] if judge is None else [names[at], judge]),
            on_open=_on_open,
            height=HEIGHT,
        )
        st.html(f'<span class="rs-quiet">{esc(cells.signs_key(rows))}</span>')
        _reading_bar(names, at, judges, judge)
        one = view.criteria[at]
        decision = audit_trail.settled_decisions(store(), view.run.id, view.item.id).get(names[at])
        line = None
        if decision is not None:
            line = partial(criterion.settlement, view.run.id, view.item.id, names[at], decision)
        over = view.run.status == "done"
        rubric = None if view.item.rubric else view.run.rubric_id
        criterion.show(
            one, view.item.text, over=over, decided=line, judge=judge or "", rubric=rubric
        )


def _open_criterion(view: ItemView, names: list[str]) -> int:
    """Return the open criterion: from the address, the filter, or else the most notable: the first
    whose verdict differs from its label, else whose judges failed, else in doubt.
    """
    in_address = [
        name for name in (state.address(state.AT), state.address(state.CRITERION)) if name in names
    ]
    if in_address:
        return names.index(in_address[0])
    tests: tuple[Callable[[CriterionView], object], ...] = (
        lambda line: line.truth is not None and line.verdict and line.verdict.option != line.truth,
        lambda line: line.verdict is None and any(vote.failure for vote in line.votes),
        lambda line: line.verdict and line.verdict.entropy,
    )
    matches = (index for test in tests for index, line in enumerate(view.criteria) if test(line))
    return next(matches, 0)


def _reading_bar(names: list[str], at: int, judges: list[str], judge: str | None) -> None:
    """Draw the choice of the judge whose reasons are shown, and the steps between criteria."""
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        key = state.key(ITEM_ACT, "read")
        state.put(key, judge or ALL)
        st.selectbox(
            "Read",
            [ALL, *judges],
            key=key,
            format_func=lambda name: f"Read {one_line(name, 60)}",
            label_visibility="collapsed",
            width=200,
            on_change=lambda: state.set_address(
                **{state.JUDGE: None if state.get(key) == ALL else state.get(key)}
            ),
        )
        for title, icon, shortcut, to in (
            ("Previous criterion", "expand_less", "K", at - 1),
            ("Next criterion", "expand_more", "J", at + 1),
        ):
            has_criterion = 0 <= to < len(names)
            st.button(
                title,
                key=state.key(ITEM_ACT, title),
                icon=f":material/{icon}:",
                type="tertiary",
                shortcut=shortcut,
                disabled=not has_criterion,
                on_click=state.set_address,
                kwargs={state.AT: names[to] if has_criterion else None},
            )


def _on_open(message: str) -> None:
    name, *judge = json.loads(message)
    state.set_address(**{state.AT: name, state.JUDGE: judge[0] if judge else None})
