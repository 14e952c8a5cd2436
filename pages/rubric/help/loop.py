"""The loop: rounds of proposals, measured on labelled items that no proposal has seen."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from core.domain.rubric import Rubric
from core.domain.runs import HelpTask
from core.services.assist import help_tasks, improvement_loop, proposals
from core.services.assist.improvement_loop import LoopRequest, LoopRound
from core.services.comparison.differences import FigureDelta
from core.services.spot import trials
from core.services.spot.trials import Teacher
from core.text import numbers as fmt
from pages.rubric.help import improvement
from pages.ui import model_help, routes, state
from pages.ui.resources import remembered, store
from pages.ui.text import esc, label, one_line
from pages.ui.widgets import show_flash, tag


def show(name: str, rubric: Rubric) -> None:
    """Draw the choice of targets and models; then the rounds."""
    st.caption(
        "A model proposes new wording, and judges grade labelled items before and after. Rounds "
        "continue only while more answers are right on items that were not used for proposals. "
        "Only wording is changed, and your rubric stays as it is until you accept a change."
    )
    show_flash()
    teachers = trials.teaching_datasets(store(), rubric)
    if not teachers:
        st.info("This needs a dataset with labels for these criteria.", icon=":material/dataset:")
        routes.draw_link(routes.DATASETS, "Datasets")
        return
    chosen = _labelled_dataset(name, teachers)
    panel = model_help.chosen_panel("Who grades", name, "loop")
    judge = model_help.chosen_writer(name, "loop")
    if panel is None:
        return
    targets = _target_criteria(
        name, [c.name for c in rubric.criteria if c.name not in chosen.untaught]
    )
    rounds: int = st.number_input(
        "Rounds at most", 1, 10, 3, key=state.key(model_help.HELP_FIELD, name, "rounds"), width=160
    )
    request = LoopRequest(
        judge=judge,
        panel=panel,
        rubric=rubric,
        subject=f"rubric/{name}",
        targets=targets,
        dataset_version=chosen.row.version_id,
        findings=proposals.offline_findings(rubric),
        rounds=rounds,
        budget=model_help.chosen_budget(name, "loop"),
    )
    model_help.cost_line(improvement_loop.estimate(store(), request))
    task = help_tasks.latest(store(), improvement_loop.KIND, request.subject)
    if _start_button(name, disabled=not targets or (task is not None and task.active)):
        improvement_loop.begin(store(), request)
        st.rerun()
    if task is not None:
        model_help.show_progress(task, more_cost=improvement_loop.runs_cost(store(), task))
        _show_rounds(name, task)


def _labelled_dataset(name: str, teachers: Sequence[Teacher]) -> Teacher:
    """Return the chosen dataset, whose labels measure the rounds."""
    by_version = {teacher.row.version_id: teacher for teacher in teachers}
    titles = {
        version: f"{teacher.row.name} ({fmt.plural(teacher.labels, 'label')})"
        for version, teacher in by_version.items()
    }
    version: int = st.selectbox(
        "Labelled items",
        list(titles),
        key=state.key(model_help.HELP_FIELD, name, "dataset"),
        format_func=lambda teacher: one_line(titles[teacher], 70),
        persist_state="session",
    )
    return by_version[version]


def _start_button(name: str, *, disabled: bool) -> bool:
    return st.button(
        "Start the rounds",
        key=state.key(model_help.HELP_ACT, name, "loop"),
        type="primary",
        icon=":material/autorenew:",
        disabled=disabled,
    )


def _target_criteria(name: str, names: list[str]) -> tuple[str, ...]:
    """Return the labelled criteria to improve."""
    key = state.key(model_help.HELP_FIELD, name, "targets")
    wanted = [criterion for criterion in state.get(key) or names if criterion in names]
    state.put(key, wanted)
    chosen: list[str] = st.multiselect(
        "Criteria to improve", names, key=key, format_func=lambda criterion: one_line(criterion, 50)
    )
    return tuple(chosen)


def _show_rounds(name: str, task: HelpTask) -> None:
    cache_key = (task.id, task.done, task.status)
    rounds = remembered(
        "help_rounds", cache_key, lambda: improvement_loop.rounds_so_far(store(), task)
    )
    if not rounds:
        return
    held_out = len(task.request["held"])
    st.caption(
        f"{fmt.plural(len(task.request['learn']), 'item')} to learn from, {held_out} held out. "
        "Each round is compared with the best earlier one on the same items; 95% intervals."
    )
    for loop_round in rounds[1:]:
        st.html(_round_card(loop_round))
    if len(rounds) == 1 and not task.active:
        st.caption("No round was measured.")
    if task.result:
        st.html(f"<div>{esc(_end_words(task.result))}</div>")
    if len(rounds) > 2:
        st.caption(
            f"{len(rounds) - 1} wordings were tried on the same held-out items, which favours the "
            "best of them a little. New labels would show by how much."
        )
    _compare_rounds(rounds)
    improvement.show_pieces(
        name, improvement_loop.proposed_pieces(store(), task), f"loop/{task.id}"
    )


def _round_card(loop_round: LoopRound) -> str:
    gain = loop_round.gain
    if gain is None:
        return ""
    result = tag("✓ better", "good") if loop_round.kept else tag("no better: left", "neutral")
    right = gain.accuracy
    form, change = right.forms(share=True)
    ends = f"{form(right.first.value)} → {form(right.second.value)}"
    gap = esc(right.difference.words(change).inline)
    kappas = "; ".join(
        f"kappa of {one_line(c.name, 40)} {_move_words(c.kappa)}"
        for c in gain.criteria
        if c.kappa.n
    )
    caption = fmt.plural(len(loop_round.changes), "change")
    return (
        f'<div class="rs-card"><div class="rs-row"><b>Round {loop_round.number}</b>{result}'
        f'<span class="rs-quiet">{caption}</span></div>'
        f'<div class="rs-num">{ends} right: <b>{gap}</b></div>'
        f'<div class="rs-quiet rs-num">{esc(kappas)}</div></div>'
    )


def _move_words(delta: FigureDelta) -> str:
    return f"{fmt.score(delta.first.value)} → {fmt.score(delta.second.value)}"


def _end_words(result: dict[str, object]) -> str:
    best = result["best"]
    summary = "The original rubric is still the best." if not best else f"Round {best} is the best."
    return f"{summary} {result['why']}"


def _compare_rounds(rounds: list[LoopRound]) -> None:
    measured = [
        loop_round for loop_round in rounds if loop_round.kept and loop_round.held is not None
    ]
    if len(measured) > 1:
        routes.draw_link(
            routes.COMPARE,
            label("Every item before and after"),
            {
                state.RUNS: f"{measured[0].held},{measured[-1].held}",
                state.FIRST: measured[0].held,
                state.SECOND: measured[-1].held,
            },
        )
