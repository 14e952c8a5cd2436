"""What each system earned by criterion, and the difference between two of them.

It is shown in one line above the grid and, column by column, at the grid's foot.
"""

from __future__ import annotations

from typing import NamedTuple

import streamlit as st

from core.domain.rubric import Rubric
from core.domain.runs import Run
from core.metrics.estimate import USUAL, Estimate
from core.metrics.intervals.means import Difference
from core.services.pairwise import system_answers, system_gaps
from core.services.pairwise.system_answers import SharedTasks, shared_tasks
from core.services.results.grid import SystemMeans
from core.text import numbers as fmt
from core.text.numbers import Form
from pages.run import filters
from pages.run.filters import BESIDE, CELL, DIFFER, RUN_FILTER
from pages.ui import state
from pages.ui.grid.cells import ShownCell
from pages.ui.grid.run_cells import share_text
from pages.ui.resources import remembered, shared_value, store
from pages.ui.text import esc, label, one_line
from pages.ui.widgets import chosen_confidence, draw_table

#: With at most this many systems, each has a line at the grid's foot; otherwise a table lists them.
LINES = 4
#: An explanation of the figures.
TELLS = (
    "For each criterion, the share of its best value that verdicts earned; for a "
    "penalty, the share that was not deducted. Means are over all items of a system. "
    "Differences, second minus first, and their intervals (95%, or as chosen on "
    "Agreement) are over the tasks that both answered (paired resampling). Better: the "
    "p, corrected for the number of criteria (Holm 1979), is below 0.05."
)
APART = "The systems answered different items, so a difference may lie in the items. "


class Systems(NamedTuple):
    """The systems of a run: all means, the tasks they share, the two compared, their gaps."""

    means: list[SystemMeans]
    tasks: SharedTasks
    pair: tuple[str, str] | None
    gaps: dict[str, Difference]
    by_people: str = ""


def systems_of_run(run: Run, means: list[SystemMeans], cache_key: tuple[object, ...]) -> Systems:
    """Return the systems of a run; empty if its items name fewer than two systems."""
    if len(means) < 3:
        return Systems([], SharedTasks((), {}), None, {})
    # The questions of a run never change.
    tasks = shared_value("tasks", (run.id,), lambda: shared_tasks(store(), run))
    pair = _compared_pair(tasks, {mean.system: mean for mean in means})
    gaps: dict[str, Difference] = {}
    people = ""
    if pair is not None:
        confidence = chosen_confidence()
        people = remembered(
            "by people",
            (*cache_key, *confidence),
            lambda: _lead_by_people(run, tasks, confidence.level),
        )
        gaps = remembered(
            "gaps",
            (*cache_key, *pair, *confidence),
            lambda: system_gaps.gaps_between(store(), run, tasks, *pair, confidence=confidence),
        )
    return Systems(means[1:], tasks, pair, gaps, people)


def _lead_by_people(run: Run, tasks: SharedTasks, level: float) -> str:
    """Return which system leads by labels drawn at random; empty without such labels."""
    corrected = system_gaps.corrected_systems(store(), run, "", tasks, level)
    return "" if corrected.reason else system_gaps.in_words(corrected)


def _compared_pair(tasks: SharedTasks, means: dict[str, SystemMeans]) -> tuple[str, str] | None:
    """Return the two systems to compare: those in the address, else the top two by score.

    ``None`` if fewer than two answered the same tasks.
    """
    if len(tasks.systems) < 2:
        return None
    named_systems = tuple(
        state.address_in(system, tasks.systems) for system in (state.FIRST, state.SECOND)
    )
    names = sorted(tasks.systems, key=lambda name: -(means[name].score.value or 0.0))
    compared = sorted(names[:2], key=list(tasks.systems).index)
    first = named_systems[0] if named_systems[0] in tasks.systems else compared[0]
    rest = [name for name in tasks.systems if name != first]
    second = (
        named_systems[1]
        if named_systems[1] in rest
        else next(n for n in (*compared[::-1], *rest) if n != first)
    )
    return str(first), str(second)


def show_conclusion(systems: Systems, rubric: Rubric) -> None:
    """Draw one line: which scores higher, and on which criteria the difference is certain."""
    if len(systems.means) > LINES:
        with st.expander(f"Shares earned by all {len(systems.means)} systems", type="compact"):
            _means_table(rubric, systems.means)
    if systems.pair is None:
        return
    first, second = systems.pair
    score = systems.gaps[""]
    value, low = score.value[:2]
    if value is None:
        return
    better, other = (second, first) if value > 0 else (first, second)
    head = f"Undecided between {first} and {second}"
    if score.significant:
        head = f"{better} scores higher than {other}"
    sides = {second: list[str](), first: list[str]()}
    for name, gap in systems.gaps.items():
        if name and gap.significant:
            sides[second if (gap.value.value or 0.0) > 0 else first].append(name)
    parts = [
        f"{system} is better on {', '.join(names)}" for system, names in sides.items() if names
    ]
    parts = parts or ["no criterion shows a certain difference"]
    form = _number_formats(systems)[1]
    ends = "" if low is None else f", {_interval_words(score.value, form)}"
    tasks = fmt.plural(score.value.n, "shared task")
    sentence = f"{head} ({form(value)}{ends}; {tasks}). {_as_sentence('; '.join(parts))}."
    st.html(f"<b>{esc(one_line(sentence, 700))}</b>")
    if systems.by_people:
        st.caption(label(systems.by_people))


def _as_sentence(text: str) -> str:
    return text[:1].upper() + text[1:] if text.startswith("on no") else text


def _interval_words(gap: Estimate, form: Form) -> str:
    level, figure = chosen_confidence().level, gap.words(form)
    head = "" if level == USUAL.level or not figure.ends else f"{fmt.level_words(level)}: "
    return head + figure.below


def draw_controls(systems: Systems) -> None:
    """Draw the choice of the two systems, and whether their answers are shown side by side."""
    if systems.pair is None:
        return
    if len(systems.tasks.systems) > 2:
        _choose_task(state.FIRST, "First system", systems.pair[0], systems.tasks)
        _choose_task(state.SECOND, "Second system", systems.pair[1], systems.tasks)
    _draw_toggle(BESIDE, "Side by side", "One row per task, with every system's answer.")
    if state.address(BESIDE):
        pair_words = " and ".join(systems.pair)
        _draw_toggle(
            DIFFER, "Only tasks that differ", f"Tasks whose verdicts differ between {pair_words}."
        )


def differing_tasks(
    run: Run, systems: Systems, cache_key: tuple[object, ...]
) -> frozenset[str] | None:
    """Return the tasks on which the two differ, if only those are shown; else ``None``."""
    pair = systems.pair
    if pair is None or not state.address(BESIDE) or not state.address(DIFFER):
        return None
    return remembered(
        "tasks that differ",
        (*cache_key, *pair),
        lambda: frozenset(system_answers.differing_tasks(store(), run, systems.tasks, pair)),
    )


def _draw_toggle(place: str, title: str, help: str) -> None:
    key = state.key(RUN_FILTER, place)
    state.put(key, bool(state.address(place)))
    st.toggle(title, key=key, on_change=_on_toggle, args=(place, key), help=label(help))


def _choose_task(place: str, title: str, name: str, tasks: SharedTasks) -> None:
    key = state.key(RUN_FILTER, "system", place)
    state.put(key, name)
    st.selectbox(
        title,
        list(tasks.systems),
        key=key,
        format_func=lambda system: one_line(system, 60),
        label_visibility="collapsed",
        width=130,
        on_change=lambda: state.set_address(**{place: state.get(key)}),
    )


def _on_toggle(place: str, key: str) -> None:
    state.set_address(**{place: "1" if state.get(key) else None, CELL: None, state.PAGE: None})


def foot_lines(systems: Systems, rubric: Rubric) -> list[list[ShownCell]]:
    """Return lines at the grid's foot: each system's means, and the difference of the two."""
    of_pair = [
        means for means in systems.means if systems.pair is None or means.system in systems.pair
    ]
    shown = systems.means if len(systems.means) <= LINES else of_pair if systems.pair else []
    # Systems are in the order of the data, as in the difference.
    place_of = {name: index for index, name in enumerate(systems.tasks.systems)}
    shown = sorted(shown, key=lambda means: place_of.get(means.system, len(place_of)))
    rows = [_means_line(systems, means, rubric) for means in shown]
    if systems.pair is not None:
        names = ["", *(c.name for c in rubric.criteria)]
        gaps = (_gap_cell(systems, name, systems.pair) for name in names)
        rows.append([ShownCell("Difference", tells=TELLS), *gaps])
    return rows


def _number_formats(systems: Systems) -> tuple[Form, Form]:
    """Return the formats of a score, and of the difference between the two compared systems."""
    if systems.pair is None or (value := systems.gaps[""].value.value) is None:
        return fmt.score, fmt.points
    scores = {means.system: means.score.value or 0.0 for means in systems.means}
    first, second = systems.pair
    return fmt.forms_of_change(scores[first], scores[second], value)


def _means_line(systems: Systems, means: SystemMeans, rubric: Rubric) -> list[ShownCell]:
    # The head's means follow the filter; these do not.
    all_items = ", all items" if filters.shown_selection().filtered else ""
    name = one_line(means.system, 40) + all_items
    cells = [ShownCell(name, tells=f"Means of {means.system}. {TELLS}")]
    compared = systems.pair is not None and means.system in systems.pair
    form = _number_formats(systems)[0] if compared else fmt.score
    cells.append(ShownCell(form(means.score.value), tells=_item_count_text(means.score)))
    for criterion in rubric.criteria:
        mean = means.criteria[criterion.name]
        cells.append(
            ShownCell(
                share_text(mean),
                tells=f"{criterion.name}: {share_text(mean)}, {_item_count_text(mean)}",
            )
        )
    return cells


def _item_count_text(mean: Estimate) -> str:
    return f"mean of {fmt.plural(mean.n, 'item')}"


def _gap_cell(systems: Systems, criterion: str, pair: tuple[str, str]) -> ShownCell:
    gap, form = systems.gaps[criterion], fmt.points if criterion else _number_formats(systems)[1]
    value = gap.value.value
    name = criterion or "Score"
    if value is None:
        return ShownCell(fmt.DASH, tells=f"{name}: {gap.value.reason}")
    better = pair[1] if value > 0 else pair[0]
    words = f"{one_line(better, 20)} better" if gap.significant else "undecided"
    ends = _interval_words(gap.value, form)
    tells = f"{name}: {pair[1]} minus {pair[0]} {form(value)}, {ends}: {words}"
    tone = ("t4" if value > 0 else "t1") if gap.significant else "plain"
    return ShownCell(f"{form(value)} {words}", tone, "", tells, note=ends)  # type: ignore[arg-type]


def gap_words(systems: Systems, name: str) -> str:
    """Return the difference on a criterion in words (`""`: by score); empty unless the run has
    exactly two systems.
    """
    if systems.pair is None or len(systems.tasks.systems) > 2:
        return ""
    shown = _gap_cell(systems, name, systems.pair)
    return f"{shown.words} {shown.note}".strip()


def _means_table(rubric: Rubric, means: list[SystemMeans]) -> None:
    rows = [["Score", *(fmt.score(system.score.value) for system in means)]]
    for criterion in rubric.criteria:
        shares = (share_text(system.criteria[criterion.name]) for system in means)
        rows.append([esc(one_line(criterion.name, 60)), *shares])
    draw_table(
        ["", *(one_line(system.system, 40) for system in means)],
        rows,
        name="Share earned by each system",
        numbers=range(1, len(means) + 1),
    )
    st.caption(TELLS)
