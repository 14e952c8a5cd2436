"""Which system beats which, and the contests behind each cell with the votes in both orders."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from core import figures as draw
from core.domain.dataset import Pair
from core.domain.votes import Vote
from core.services.pairwise.contest_votes import Contest, ContestOutcome, ShownAnswers
from core.services.pairwise.design import choice_of
from core.services.reports.leaderboard_blocks import WHY
from core.services.results import item_view
from core.services.results.item_view import CriterionView, ItemView, VoteView
from core.text import numbers as fmt
from core.text.quotes import find_quote
from pages.pairwise import selection
from pages.pairwise.selection import ContestSelection
from pages.ui import routes, state
from pages.ui.items import (
    answer_label,
    context_words,
    show_folded,
    side_by_side,
    standing_tags,
    vote_card,
)
from pages.ui.resources import store
from pages.ui.text import esc, label, one_line
from pages.ui.widgets import draw_row, draw_table, tag

NAMED = 40


def outcome_tag(outcome: ContestOutcome, contest: Contest) -> str:
    """Return the HTML of a contest's outcome."""
    if outcome.winner is None:
        return tag(f"undecided: {WHY[outcome.why]}", "warn")
    reason = f", {WHY[outcome.why]}" if outcome.why else ""
    if outcome.winner in ("first", "second"):
        return tag(
            f"{_short_name(contest.first if outcome.winner == 'first' else contest.second)} won",
            "good",
        )
    return tag(("both bad" if outcome.winner == "both_bad" else "tie") + reason)


def _short_name(name: str) -> str:
    return name if len(name) <= NAMED else name[: NAMED - 1] + "…"


def show_contest(chosen: ContestSelection, at: int, order: Sequence[int]) -> None:
    """Draw the contest at a place; ``order`` lists the places to step through."""
    held = chosen.contests.held[at]
    with st.container(border=True):
        st.html(f'<div class="rs-section">{esc(held.task)}: {esc(held.question)}</div>')
        lengths = " and ".join(fmt.plural(count, "word") for count in held.lengths)
        quiet = f'<span class="rs-quiet rs-num">{esc(lengths)}</span>'
        draw_row([outcome_tag(chosen.outcome(held), held), quiet])
        leading = next((s for s in held.shown if not s.swapped), held.shown[0])
        view = item_view.item_view(store(), held.run_id, leading.item_id)
        _show_answers(held, view, leading)
        _show_orders(chosen, held)
        _step_buttons(order, order.index(at))


def _show_answers(contest: Contest, view: ItemView, leading: ShownAnswers) -> None:
    show_folded("Task", view.item.prompt, opened=len(view.item.prompt) < 500)
    for name, text in view.item.context.items():
        show_folded(context_words(name), text)
    show_folded("Reference", view.item.reference)
    pair = view.item.submission
    assert isinstance(pair, Pair), "a contest compares pairs"
    answers = (pair.second, pair.first) if leading.swapped else (pair.first, pair.second)
    key = state.key(selection.CONTEST_FIELD, "mark")
    state.seed(key, True)
    mark = st.toggle("Mark what differs", key=key, persist_state="session")
    headings = tuple(f"<b>{esc(name)}</b>" for name in (contest.first, contest.second))
    side_by_side((headings[0], headings[1]), answers, mark=bool(mark))


def _show_orders(chosen: ContestSelection, contest: Contest) -> None:
    with st.grid(2, min_column_width=300):
        for shown in sorted(contest.shown, key=lambda value: value.swapped):
            with st.container(gap="xsmall"):
                _show_order(chosen, contest, shown)


def _show_order(chosen: ContestSelection, contest: Contest, shown: ShownAnswers) -> None:
    a, b = (contest.second, contest.first) if shown.swapped else (contest.first, contest.second)
    st.html(f'<div class="rs-section">Shown as A: {esc(a)}<br>Shown as B: {esc(b)}</div>')
    view = item_view.item_view(store(), contest.run_id, shown.item_id)
    criterion = _criterion_view(view, contest.question)
    answered = [answer for answer in criterion.votes if answer.result is not None]
    for answer in answered:
        if chosen.judge not in (None, answer.cell.judge):
            continue
        if isinstance(answer.result, Vote):
            _show_vote(
                answer, answer.result, _choice_words(criterion, answer.result, a, b), view.item.text
            )
        elif answer.result is not None:
            st.html(vote_card(criterion.criterion, answer.result, which=answer_label(answer)))
    if not answered:
        st.caption("No answers in this order.")
    routes.draw_link(
        routes.RUN, "Request and response", {state.RUN: contest.run_id, state.ITEM: shown.item_id}
    )


def _choice_words(criterion: CriterionView, vote: Vote, a: str, b: str) -> str:
    """Return the system that a vote chose, and its name on the judge's screen."""
    choice = choice_of(criterion.criterion, vote.option)
    if choice in ("A", "B"):
        return tag(f"{choice}: {_short_name(a if choice == 'A' else b)}", "info")
    return tag({"tie": "tie", "both_bad": "both bad"}.get(choice, "abstained"))


def _show_vote(view: VoteView, vote: Vote, choice: str, text: str) -> None:
    which = f'<span class="rs-quiet">{esc(answer_label(view))}</span>' if answer_label(view) else ""
    quotes = "".join(
        f'<div class="rs-quote">{esc(quote)}'
        + ("" if find_quote(text, quote) else f" {tag('quote not found', 'warn')}")
        + "</div>"
        for quote in vote.evidence
    )
    reason = f'<div class="rs-prose">{esc(vote.reason)}</div>' if vote.reason else ""
    head = f"<b>{esc(vote.cell.judge)}</b>{which}{choice}{standing_tags(view)}"
    st.html(f'<div class="rs-card"><div class="rs-row">{head}</div>{quotes}{reason}</div>')


def _criterion_view(view: ItemView, question: str) -> CriterionView:
    return next(criterion for criterion in view.criteria if criterion.criterion.name == question)


def _step_buttons(order: Sequence[int], place: int) -> None:
    """Draw buttons for the previous and next contest of the list shown."""
    with st.container(horizontal=True):
        for caption, to, shortcut in (
            ("Previous", place - 1, "Left"),
            ("Next", place + 1, "Right"),
        ):
            st.button(
                label(caption),
                key=state.key(selection.CONTEST_ACT, caption),
                shortcut=shortcut,
                disabled=not 0 <= to < len(order),
                on_click=state.set_address,
                kwargs={selection.BOUT: order[to] if 0 <= to < len(order) else None},
            )


PAGE = 12
#: With at least this many systems, the picture's cells have no room for text.
ROOM = 8
Cell = tuple[int, int]


def show(chosen: ContestSelection) -> None:
    """Draw the matrix, the contests of the chosen cell, and the open contest."""
    cell = _chosen_cell(len(chosen.contests.systems))
    _draw_matrix(chosen, cell)
    _contest_list(chosen, _contests_of_cell(chosen, cell), cell)


def _chosen_cell(systems: int) -> Cell | None:
    row, _, column = (state.address(selection.CELL) or "").partition("-")
    at = state.as_id(row), state.as_id(column)
    if at[0] is None or at[1] is None or at[0] == at[1] or max(at[0], at[1]) >= systems:
        return None
    return at[0], at[1]


def _draw_matrix(chosen: ContestSelection, cell: Cell | None) -> None:
    systems = chosen.contests.systems
    matrix = selection.leaderboard_for(chosen).matrix
    size = range(len(systems))
    counts = [[float(matrix.contests[i, j]) if i != j else 0.0 for j in size] for i in size]
    shares = [[float(matrix.share[i, j]) if counts[i][j] else None for j in size] for i in size]
    captions = [
        [
            _cell_words(shares[i][j], counts[i][j], short=len(systems) > ROOM) if i != j else ""
            for j in size
        ]
        for i in size
    ]
    key = state.key(
        selection.CONTEST_CHART, "wins", state.address(selection.CELL) or "", *chosen.about[-1:]
    )
    st.plotly_chart(
        draw.win_cells(systems, shares, captions, cell),
        key=key,
        on_select=lambda: _on_click(key),
        selection_mode="points",
        config={"displayModeBar": False},
        alt="Win matrix: the share of points that the row's system has against the column's. The "
        "table below has its counts.",
    )
    with st.expander("As a table", icon=":material/table_rows:"):
        draw_table(
            ("Row \\ against", *systems),
            (
                [
                    esc(systems[i]),
                    *(
                        fmt.DASH
                        if not counts[i][j]
                        else f"{fmt.percent(shares[i][j])}<br><span class='rs-quiet'>"
                        f"{matrix.wins[i, j]:g} won, {matrix.ties[i, j]:g} tied, "
                        f"{matrix.wins[j, i]:g} lost</span>"
                        for j in size
                    ),
                ]
                for i in size
            ),
            name="Win matrix",
        )


def _cell_words(share: float | None, contests: float, *, short: bool) -> str:
    if share is None:
        return ""
    return fmt.percent(share) if short else f"{fmt.percent(share)} of {contests:g}"


def _on_click(key: str) -> None:
    points = state.get(key, {}).get("selection", {}).get("points", [])
    if points:
        row, column = points[0]["customdata"][:2]
        _open_cell(None if row == column else f"{row}-{column}")


def _open_cell(cell: str | None) -> None:
    state.set_address(**{selection.CELL: cell, state.PAGE: None, selection.BOUT: None})


def _contests_of_cell(chosen: ContestSelection, cell: Cell | None) -> list[tuple[int, Contest]]:
    if cell is None:
        return chosen.matching_contests()
    return chosen.matching_contests(frozenset(chosen.contests.systems[at] for at in cell))


def _contest_list(
    chosen: ContestSelection, contests: list[tuple[int, Contest]], cell: Cell | None
) -> None:
    _cell_picker(chosen, cell)
    if not contests:
        st.caption("These two systems never met.")
        return
    pages = -(-len(contests) // PAGE)
    opened, order = state.address_id(selection.BOUT), [at for at, _ in contests]
    # Go to the page that contains the open contest, so that stepping starts there.
    number = order.index(opened) // PAGE + 1 if opened in order else state.address_id(state.PAGE)
    page = min(max(1, number or 1), pages)
    st.caption(
        f"{fmt.plural(len(contests), 'contest')}. Open a contest to see both answers and its votes."
    )
    with st.container(gap="xxsmall"):
        for at, held in contests[(page - 1) * PAGE : page * PAGE]:
            _contest_line(chosen, at, held, opened=at == opened)
            if at == opened:
                show_contest(chosen, at, order)
    if pages > 1:
        # Each page has its own key: a widget whose value is set beforehand may have no default.
        key = state.key(selection.CONTEST_FIELD, state.PAGE, page)
        st.pagination(pages, default=page, key=key, on_change=_on_page, args=(key,))


def _cell_picker(chosen: ContestSelection, cell: Cell | None) -> None:
    systems = chosen.contests.systems
    names = {
        f"{i}-{j}": f"{one_line(system, 40)} against {one_line(other, 40)}"
        for i, system in enumerate(systems)
        for j, other in enumerate(systems)
        if i != j
    }
    key = state.key(selection.CONTEST_FIELD, selection.CELL)
    state.put(key, None if cell is None else f"{cell[0]}-{cell[1]}")
    st.selectbox(
        "Contests between",
        list(names),
        index=None,
        key=key,
        format_func=lambda name: names.get(name, name),
        placeholder="All systems; click a cell, or pick two",
        on_change=lambda: _open_cell(state.get(key)),
    )


def _on_page(key: str) -> None:
    state.set_address(**{state.PAGE: state.get(key), selection.BOUT: None})


def _contest_line(chosen: ContestSelection, at: int, contest: Contest, *, opened: bool) -> None:
    question = f" · {contest.question}" if len(chosen.contests.questions) > 1 else ""
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        st.button(
            label(f"{contest.task}: {contest.first} against {contest.second}{question}", 110),
            key=state.key(selection.CONTEST_ACT, "open", at),
            type="tertiary",
            icon=f":material/{'expand_more' if opened else 'chevron_right'}:",
            on_click=state.set_address,
            kwargs={selection.BOUT: None if opened else at},
        )
        st.html(outcome_tag(chosen.outcome(contest), contest), width="content")
