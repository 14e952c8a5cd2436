"""Similar answers in groups: look at one, untick members, settle the others at once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import streamlit as st

from core.domain.dataset import Item
from core.domain.review import Closeness, ReviewerAnswer
from core.domain.rubric import Criterion, Rubric
from core.domain.runs import Run
from core.services.labelling import answer_groups, settle_at_sight
from core.services.results import browsing
from core.text import numbers as fmt
from pages.ui import identity, routes, state
from pages.ui.places import settling
from pages.ui.resources import disabled_without, remembered, store
from pages.ui.text import esc, label, one_line
from pages.ui.widgets import choose_one, draw_table, empty_state, shown_errors

ALIKE = "run_alike"
CLOSENESS: dict[Closeness, str] = {
    "same": "Same words",
    "near": "Nearly the same",
    "related": "Related",
}
#: The number of members listed at once; a larger group continues below them.
SHOWN = 20
#: The number of members drawn to be checked singly.
SINGLY = 10


def show(run: Run, rubric: Rubric) -> None:
    """Draw the next open group with its members, and the progress."""
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        criterion = _chosen_criterion(rubric)
        key = state.key(ALIKE, "closeness")
        state.seed(key, "near")
        closeness = choose_one("How close", CLOSENESS, key=key)
    if criterion is None or closeness is None:
        return
    # Texts never change; settlements do, and the groups show them.
    cache_key = (*browsing.results_state(store(), run), criterion.name, closeness)
    every_group, settled = remembered(
        "answers alike",
        cache_key,
        lambda: answer_groups.answer_groups(store(), run, criterion.name, closeness),
    )
    groups_of_several = [group for group in every_group if len(group) > 1]
    if not groups_of_several:
        empty_state(
            "No two answers are this close",
            "Choose a looser closeness, or grade answers one by one.",
        )
        return
    open_groups = [
        group for group in groups_of_several if any(item.id not in settled for item in group)
    ]
    _show_progress(every_group, len(groups_of_several), len(open_groups))
    settling.show_last(run.id)
    if open_groups:
        _show_group(run, criterion, open_groups[0], settled)
    else:
        st.html("<b>Every group is settled.</b>")
    if len(open_groups) < len(groups_of_several):
        _show_checked(run, criterion)


def _chosen_criterion(rubric: Rubric) -> Criterion | None:
    names = [criterion_name.name for criterion_name in rubric.criteria]
    if not names:
        return None
    key = state.key(ALIKE, "criterion")
    state.seed(key, state.address_in(state.CRITERION, names) or names[0])
    chosen = st.selectbox(
        "Criterion",
        names,
        key=key,
        format_func=lambda criterion_name: f"Criterion: {one_line(criterion_name, 60)}",
        label_visibility="collapsed",
        width=320,
    )
    return rubric.criterion(str(chosen))


def _show_progress(groups: Sequence[Sequence[Item]], of_several: int, still_open: int) -> None:
    answers = sum(map(len, groups))
    text = (
        f"{fmt.plural(answers, 'answer')} take {fmt.plural(len(groups), 'decision')}: "
        f"{fmt.plural(of_several, 'group')} ({fmt.count(of_several - still_open)} settled) and "
        f"{fmt.count(len(groups) - of_several)} answers without a group."
    )
    st.html(f"<b>{esc(text)}</b>")


def _show_group(
    run: Run, criterion: Criterion, group: Sequence[Item], settled: Mapping[str, int | None]
) -> None:
    """Draw the members, each of which can be left out, and the options."""
    with st.container(border=True, gap="xsmall"):
        if group[0].prompt:
            st.html(f'<span class="rs-quiet">{esc(one_line(group[0].prompt, 300))}</span>')
        st.html(f"<b>{esc(fmt.plural(len(group), 'answer'))} alike</b>")
        chosen = [item for item in group[:SHOWN] if _show_member(criterion, item, settled)]
        if further := group[SHOWN:]:
            with st.expander(f"{fmt.count(len(further))} more"):
                chosen += [item for item in further if _show_member(criterion, item, settled)]
        settling.ask_name()
        cells = [(item.id, criterion.name) for item in chosen]
        note = f"One of {fmt.plural(len(chosen), 'answer')} alike."
        with st.container(horizontal=True, gap="small"):
            for index, option in enumerate(criterion.options):
                st.button(
                    label(one_line(option.label, 40)),
                    key=state.key(ALIKE, "as", index),
                    shortcut=str(index + 1) if index < 9 else None,
                    on_click=_settle_group,
                    args=(run.id, cells, ReviewerAnswer(index, note=note), option.label),
                    **(disabled_without("adjudicate") or {"disabled": not cells}),
                )
            st.button(
                "Split the group: grade one by one",
                key=state.key(ALIKE, "apart"),
                type="tertiary",
                help="Skips the group for now. Choose a stricter closeness to see its parts.",
                on_click=_stricter_button,
            )


def _show_member(criterion: Criterion, item: Item, settled: Mapping[str, int | None]) -> bool:
    """Draw one answer with a tick box; return whether it is ticked. Settled answers start
    unticked.
    """
    option = settled.get(item.id)
    mark = "" if option is None else f" (settled: {criterion.options[option].label})"
    key = state.key(ALIKE, "member", criterion.name, item.id)
    state.seed(key, item.id not in settled)
    return st.checkbox(label(f"{one_line(item.output, 400)}{mark}"), key=key)


def _stricter_button() -> None:
    key = state.key(ALIKE, "closeness")
    order = list(CLOSENESS)
    state.put(key, order[max(0, order.index(state.get(key)) - 1)])


def _settle_group(
    run_id: int, cells: Sequence[tuple[str, str]], answer: ReviewerAnswer, words: str
) -> None:
    with shown_errors():
        settling.settle_cells(run_id, cells, answer, words, settle_at_sight.BY_GROUPS)
        state.drop(ALIKE, "member")


def _show_checked(run: Run, criterion: Criterion) -> None:
    """Draw what single verdicts show about the groups, and the button that draws more members."""
    drawn, same, differing = answer_groups.check_against_group(store(), run.id, criterion.name)
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        if same.value is not None:
            share = same.words(fmt.percent).inline
            sentence = f"Checked one by one, {share} of members match the verdict of their group."
            st.html(f"<div>{esc(sentence)}</div>", width="content")
        st.button(
            f"Check {SINGLY} members one by one",
            key=state.key(ALIKE, "singly"),
            icon=":material/fact_check:",
            on_click=_draw_members,
            args=(run.id, criterion.name),
            help="Drawn at random from the settled groups, and shown without the group's verdict.",
            **disabled_without("organise"),
        )
        if drawn:
            routes.draw_link(routes.QUEUES, "Its queue", {state.RUN: run.id}, icon="rate_review")
    if differing:
        rows = [[esc(one_line(item, 80))] for item in differing]
        draw_table(("Different from the verdict of their group",), rows, name="Members that differ")


def _draw_members(run_id: int, criterion: str) -> None:
    with shown_errors():
        seat = identity.take_seat(identity.known_name())
        settle_at_sight.check_singly(store(), seat, run_id, criterion, SINGLY)
