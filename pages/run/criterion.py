"""One criterion of an item: the verdict, its label, every vote, and who settled it."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial

import streamlit as st

from core.domain.runs import Run
from core.services.results import grid, item_view
from core.services.results.grid import GridItem
from core.services.results.item_view import CriterionView, VoteView
from core.services.review import audit_trail
from core.services.review.audit_trail import CellDecision
from core.text import numbers as fmt
from core.text.names import visible
from pages.run.filters import CELL, ITEM_OPEN, see, see_next
from pages.ui import routes, state
from pages.ui.grid.cells import HeadCell, ShownCell, cell_of, tone_of
from pages.ui.items import (
    FAILURE_WORDS,
    STANDINGS,
    standing_tags,
    verdict_chips,
    vote_card,
    which_answer,
)
from pages.ui.places import settling, work
from pages.ui.resources import store
from pages.ui.text import esc, label, one_line
from pages.ui.trial.votes import show_call
from pages.ui.widgets import row, tag


def show(
    view: CriterionView,
    text: str,
    *,
    over: bool,
    decided: Callable[[], object] | None = None,
    judge: str = "",
) -> None:
    """Draw a criterion's verdict and every vote on it.

    Quotes are looked up in the submission `text`. `over`: no more questions will be asked, so
    unasked ones were not needed. `decided` draws who settled it, if people did. `judge` is the
    judge whose answers are shown; empty for all.
    """
    criterion = view.criterion
    with st.container(border=True):
        weight = f"weight {fmt.weight(criterion.weight)}"
        st.html(
            f'<div class="rs-row"><b>{esc(criterion.name)}</b>'
            f'<span class="rs-quiet">{esc(weight)} · {esc(criterion.scale)}</span></div>'
            f'<div class="rs-prose rs-quiet">{esc(criterion.requirement)}</div>'
        )
        _verdict(view, settled=decided is not None)
        if decided is not None:
            decided()
        if judge:
            view = replace(view, votes=tuple(v for v in view.votes if v.cell.judge == judge))
        for together in _groups(view):
            _votes(view, together, text)
        _silent(view, over=over)


def _votes(view: CriterionView, together: list[VoteView], text: str) -> None:
    """Draw answers side by side: as one element, which is faster, if none can be opened."""
    if all(vote.call_id is None for vote in together):
        st.html(f'<div class="rs-cards">{"".join(_vote(view, v, text) for v in together)}</div>')
        return
    with st.grid(2, min_column_width=235):
        for vote in together:
            with st.container(gap="xsmall"):
                st.html(_vote(view, vote, text))
                _call(vote)


def _groups(view: CriterionView) -> list[list[VoteView]]:
    """Return the answers as they are laid out: one in the reversed order next to its twin."""
    pairs, alone = dict[tuple[str, int], list[VoteView]](), list[VoteView]()
    for vote in view.votes:
        if vote.result is not None:
            number = vote.cell.replicate if vote.repeats is None else vote.repeats
            pairs.setdefault((vote.cell.judge, number), []).append(vote)
    groups = list[list[VoteView]]()
    for pair in pairs.values():
        if len(pair) > 1:
            groups.append(pair)
        else:
            alone += pair
    return [alone, *groups] if alone else groups


def _silent(view: CriterionView, *, over: bool) -> None:
    """Draw a line on judges that were not asked."""
    names = dict.fromkeys(v.cell.judge for v in view.votes if v.result is None)
    if names:
        state_text = "Not needed" if over else "Not asked yet"
        row([_quiet(f"{state_text}: {', '.join(names)}")])


def _verdict(view: CriterionView, *, settled: bool) -> None:
    verdict = view.verdict
    if verdict is None:
        row([tag("No verdict", "warn"), _quiet("No judge has given a vote here."), *_label(view)])
        return
    outside = [tag("Abstained")] if verdict.abstained and verdict.option is None else []
    row(["<b>Verdict</b>", *outside, *verdict_chips(view.criterion, verdict)])
    if said := _each_vote(view):
        row([_quiet(said)])
    # The label of a settled cell is what people settled, so a match proves nothing.
    row([*([] if settled else _label(view)), *_order_tag(view), _quiet(_certainty(view))])
    if verdict.warning:
        st.warning(label(verdict.warning))


def _each_vote(view: CriterionView) -> str:
    """Return who voted what, of two to six votes: those with reasons may be out of sight."""
    votes = [v for v in view.votes if v.vote is not None]
    named = [f"{one_line(v.cell.judge, 40)}: {_answer(v)}" for v in votes]
    return " · ".join(named) if 1 < len(votes) <= 6 else ""


def _order_tag(view: CriterionView) -> list[str]:
    """Return a tag if answers depend on the order in which options were shown."""
    return [tag("answers differ by order", "warn")] if view.flipped_pairs else []


def _certainty(view: CriterionView) -> str:
    """Return how certain the verdict is, if that is defined."""
    verdict = view.verdict
    if verdict is None:
        return ""
    parts = [fmt.plural(verdict.votes, "vote")]
    if verdict.abstentions:
        parts.append(fmt.plural(verdict.abstentions, "abstention"))
    if verdict.failures:
        parts.append(fmt.plural(verdict.failures, "failure"))
    if verdict.votes > 1:
        for name, value in (
            ("agreement", verdict.agreement),
            ("margin", verdict.margin),
            ("entropy", verdict.entropy),
        ):
            parts.append(f"{name} {fmt.score(value)}")
        rule = "people" if verdict.rule == "adjudicated" else verdict.rule.replace("_", " ")
        by = "a tie, which takes the worse answer" if verdict.tie else f"settled by {rule}"
        parts.append(by)
    if verdict.continuous is not None and (verdict.votes > 1 or verdict.rule == "soft_mean"):
        rule = verdict.rule.replace("_", " ")
        parts.append(f"{rule} before snapping {fmt.score(verdict.continuous)}")
    if verdict.coverage is not None and verdict.coverage < 1:
        parts.append(f"coverage {fmt.percent(verdict.coverage)}")
    return " · ".join(parts)


def _label(view: CriterionView) -> list[str]:
    if view.truth_label is None:
        return []
    label_text = f"the label is {view.truth_label}"
    if view.truth is None:
        return [tag(f"{label_text}, which is not an option of this criterion", "warn")]
    verdict = view.verdict
    if verdict is None:
        marks = [tag(label_text)]
    elif verdict.abstained:
        marks = [tag(f"◦ abstained; {label_text}")]
    elif verdict.option == view.truth:
        marks = [tag(f"✓ right: {label_text}", "good")]
    else:
        marks = [tag(f"✕ wrong: {label_text}", "bad")]
    return [*marks, _quiet(f"because: {view.truth_reason}")] if view.truth_reason else marks


def _vote(view: CriterionView, vote: VoteView, text: str) -> str:
    result = vote.result
    if result is None:
        return ""
    marks = _mark(view, vote) + standing_tags(vote) + _earlier_attempts(vote)
    return vote_card(view.criterion, result, which=which_answer(vote), text=text, marks=marks)


def _mark(view: CriterionView, vote: VoteView) -> str:
    if view.truth is None or vote.vote is None or vote.vote.abstained:
        return ""
    right = vote.vote.option == view.truth
    return tag("✓ as labelled", "good") if right else tag("✕ not as labelled", "bad")


def _earlier_attempts(vote: VoteView) -> str:
    """Return HTML of earlier attempts that failed."""
    kinds = [FAILURE_WORDS.get(f.kind, f.kind) for f in vote.attempts if not f.open]
    return _quiet(f"failed before: {', '.join(kinds)}") if kinds else ""


def _call(vote: VoteView) -> None:
    """Draw the prompt and the raw reply, loaded only when they are opened."""
    result = vote.vote or vote.failure
    if result is None or result.call_id is None:
        return
    part = st.expander(
        "Prompt, reply and cost",
        key=state.key(ITEM_OPEN, "call", result.call_id, *vote.cell[1:]),
        on_change="rerun",
        type="compact",
    )
    if not part.open:
        return
    call = item_view.call_of(store(), result)
    if call is not None:
        with part:
            show_call(call)


def _quiet(text: str) -> str:
    return f'<span class="rs-quiet rs-num">{esc(text)}</span>'


def settled_by(run_id: int, item_id: str, criterion: str, decision: CellDecision) -> None:
    """Draw one line with names, day, how they settled it, and the verdict of the votes."""
    settled = decision.settled
    active = settled.state == "active"
    people = ", ".join(settled.people)
    mark = (
        tag(f"settled by {people}", "info") if active else tag(f"{settled.state}: {people}", "warn")
    )
    option = "not assessable" if settled.uncertain else settled.label or ""
    gave = (
        "the votes gave nothing" if decision.voted is None else f"the votes gave {decision.voted}"
    )
    parts = [f"as {option}", fmt.day(decision.when), decision.how, gave]
    row([mark, f'<span class="rs-quiet">{esc(" · ".join(parts))}</span>'])
    if settled.note:
        st.html(f'<div class="rs-quote">{esc(settled.note)}</div>')
    routes.link(
        routes.RECORD,
        "Timeline",
        {state.RUN: run_id, state.ITEM: item_id, state.CRITERION: criterion},
        icon="history",
    )


# The criteria of an item by its judges.


def matrix(views: Sequence[CriterionView]) -> tuple[list[HeadCell], list[list[ShownCell]]]:
    """Return a row per criterion: its label, its verdict, and every judge's answer."""
    judges = list(dict.fromkeys(vote.cell.judge for view in views for vote in view.votes))
    labelled = any(view.truth_label is not None for view in views)
    names = ["Criterion", *(["Label"] if labelled else []), "Verdict", *judges]
    return [HeadCell(one_line(name, 60)) for name in names], [
        [
            ShownCell(one_line(view.criterion.name, 60), opens=json.dumps([view.criterion.name])),
            *([_true(view)] if labelled else []),
            _settled(view),
            *(_judge_answers(view, judge) for judge in judges),
        ]
        for view in views
    ]


def _true(view: CriterionView) -> ShownCell:
    if view.truth_label is None:
        return ShownCell("")
    value = None if view.truth is None else view.criterion.values[view.truth]
    verdict = view.verdict
    decided = verdict is not None and verdict.option is not None and not verdict.abstained
    sign = "" if not decided or verdict is None else "✓" if verdict.option == view.truth else "✗"
    comparison = {"✓": ", as the verdict", "✗": ", not as the verdict", "": ""}[sign]
    label_text = one_line(view.truth_label, 40)
    tells = f"{visible(view.criterion.name)}, label: {label_text}{comparison}"
    opens = json.dumps([view.criterion.name])
    return ShownCell(label_text, tone_of(grid.earned(view.criterion, value)), sign, tells, opens)


def _settled(view: CriterionView) -> ShownCell:
    failures = sum(vote.failure is not None for vote in view.votes)
    name = view.criterion.name
    cell = grid.cell_of(view.criterion, view.verdict, failures)
    return cell_of(cell, json.dumps([name]), where=f"{name}, verdict")


def _judge_answers(view: CriterionView, judge: str) -> ShownCell:
    """Return a judge's answers to a criterion: the option once, or each if they differ."""
    votes = [v for v in view.votes if v.cell.judge == judge and v.result is not None]
    if not votes:
        return ShownCell("")
    answers = list(dict.fromkeys(map(_answer, votes)))
    chosen = votes[0].vote.option if votes[0].vote else None
    value = None if chosen is None else view.criterion.values[chosen]
    standing = STANDINGS[votes[0].standing]
    signs = [*(["≠"] if len(answers) > 1 else []), *(["·"] if standing else [])]
    text = " / ".join(answers)
    more = f", {standing}" if standing else ""
    name = view.criterion.name
    return ShownCell(
        text,
        tone_of(grid.earned(view.criterion, value)),
        " ".join(signs),
        f"{visible(judge)}, {visible(name)}: {text}{more}",
        json.dumps([name, judge]),
    )


def _answer(vote: VoteView) -> str:
    if vote.vote is None:
        kind = vote.failure.kind if vote.failure else ""
        return f"✕ {FAILURE_WORDS.get(kind, kind)}"
    return "abstained" if vote.vote.abstained else one_line(vote.label or "", 40)


# A cell of the grid, opened next to it.

RUN_GRID = "run_grid"


def beside_grid(run: Run, items: Sequence[GridItem], item_id: str, name: str) -> None:
    """Draw the open cell: its verdict, every vote, and the steps to other cells."""
    view = item_view.item_view(store(), run.id, item_id)
    of = next(shown for shown in view.criteria if shown.criterion.name == name)
    with st.container(horizontal=True, vertical_alignment="center", gap="xsmall"):
        st.html(f"<b>{esc(one_line(item_id, 60))}</b>", width="content")
        st.space("stretch")
        # Screen readers get their words; other users see the icon, the key, and a tooltip.
        with st.container(horizontal=True, gap="xsmall", key="rs_steps", width="content"):
            _steps(items, item_id, name)
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        routes.link(
            routes.RUN,
            "Open the item",
            {**_kept_address(), state.ITEM: item_id, state.AT: name},
            icon="description",
        )
        title = f"{one_line(name, 80)}: {one_line(item_id, 80)}"
        work.review(run.id, [item_id], title, criterion=name)
    if settling.may_settle() and not settling.selected():
        with st.container(horizontal=True, vertical_alignment="center", gap="small"):
            st.html('<span class="rs-quiet">Settle as</span>', width="content")
            go_on = partial(see_next, items, item_id, name)
            settling.form(run.id, [(item_id, name)], of.criterion, "cell", go_on)
    settled = audit_trail.decided(store(), run.id, item_id).get(name)
    line = None if settled is None else partial(settled_by, run.id, item_id, name, settled)
    show(of, view.item.text, over=run.status == "done", decided=line)


def _kept_address() -> dict[str, object]:
    """Return the address without the open cell, to which the item's page returns."""
    return {n: v for n, v in st.query_params.to_dict().items() if n != CELL}


def _steps(items: Sequence[GridItem], item_id: str, name: str) -> None:
    """Draw the buttons to the neighbouring cells and the one that closes."""
    ids = [item.row.item_id for item in items]
    cells = list(items[ids.index(item_id)].cells)
    row, column = ids.index(item_id), cells.index(name)
    ways = (
        ("Previous criterion", "chevron_left", "Left", row, column - 1),
        ("Next criterion", "chevron_right", "Right", row, column + 1),
        ("Item above", "expand_less", "K", row - 1, column),
        ("Item below", "expand_more", "J", row + 1, column),
    )
    for title, icon, shortcut, r, c in ways:
        there = 0 <= r < len(items) and 0 <= c < len(list(items[r].cells))
        to = (ids[r], list(items[r].cells)[c]) if there else (item_id, name)
        st.button(
            title,
            key=state.key(RUN_GRID, title),
            icon=f":material/{icon}:",
            help=title,
            type="tertiary",
            shortcut=shortcut,
            disabled=not there,
            on_click=see,
            args=to,
        )
    st.button(
        "Close",
        key=state.key(RUN_GRID, "close"),
        icon=":material/close:",
        help="Close",
        type="tertiary",
        shortcut="Escape",
        on_click=state.set_address,
        kwargs={CELL: None},
    )
