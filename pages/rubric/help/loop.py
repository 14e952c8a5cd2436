"""The loop: proposals measured on labelled items that no proposal has seen, round after round."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from core.domain.rubric import Rubric
from core.domain.runs import HelpTask
from core.services.assist import help_tasks, improvement_loop, proposals
from core.services.assist.improvement_loop import LoopRequest, LoopRound
from core.services.comparison.differences import Delta
from core.services.spot import trials
from core.services.spot.trials import Teacher
from core.text import numbers as fmt
from pages.rubric.help import improvement
from pages.ui import model_help, routes, state
from pages.ui.resources import remembered, store
from pages.ui.text import esc, label, one_line
from pages.ui.widgets import show_flash, tag


def show(name: str, rubric: Rubric) -> None:
    """What to loop over and with whom; then its rounds."""
    st.caption(
        "A model proposes new words, judges grade labelled items before and after, and a round "
        "goes on only while more answers are right on items that no proposal has seen. Only "
        "wording changes by itself, and nothing is taken over until you take it."
    )
    show_flash()
    teachers = trials.teachers(store(), rubric)
    if not teachers:
        st.info("This needs a dataset with labels for these criteria.", icon=":material/dataset:")
        routes.link(routes.DATASETS, "Datasets")
        return
    chosen = _labelled(name, teachers)
    panel = model_help.panel("Who grades", name, "loop")
    judge = model_help.writer(name, "loop")
    if panel is None:
        return
    targets = _targets(name, [c.name for c in rubric.criteria if c.name not in chosen.untaught])
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
        budget=model_help.budget(name, "loop"),
    )
    model_help.outlook(improvement_loop.estimate(store(), request))
    task = help_tasks.latest(store(), improvement_loop.KIND, request.subject)
    if _start(name, disabled=not targets or (task is not None and task.active)):
        improvement_loop.begin(store(), request)
        st.rerun()
    if task is not None:
        model_help.progress(task, more_cost=improvement_loop.runs_cost(store(), task))
        _show(name, task)


def _labelled(name: str, teachers: Sequence[Teacher]) -> Teacher:
    """The dataset whose labels measure the rounds."""
    known = {one.row.version_id: one for one in teachers}
    titles = {
        version: f"{one.row.name} ({fmt.plural(one.labels, 'label')})"
        for version, one in known.items()
    }
    version: int = st.selectbox(
        "Labelled items",
        list(titles),
        key=state.key(model_help.HELP_FIELD, name, "dataset"),
        format_func=lambda one: one_line(titles[one], 70),
        persist_state="session",
    )
    return known[version]


def _start(name: str, *, disabled: bool) -> bool:
    return st.button(
        "Start the rounds",
        key=state.key(model_help.HELP_ACT, name, "loop"),
        type="primary",
        icon=":material/autorenew:",
        disabled=disabled,
    )


def _targets(name: str, names: list[str]) -> tuple[str, ...]:
    """Those of the labelled criteria that are to be improved."""
    key = state.key(model_help.HELP_FIELD, name, "targets")
    kept = [one for one in state.get(key) or names if one in names]
    state.put(key, kept)
    chosen: list[str] = st.multiselect(
        "Criteria to improve", names, key=key, format_func=lambda one: one_line(one, 50)
    )
    return tuple(chosen)


def _show(name: str, task: HelpTask) -> None:
    about = (task.id, task.done, task.status)
    found = remembered("help_rounds", about, lambda: improvement_loop.rounds(store(), task))
    if not found:
        return
    held = len(task.request["held"])
    st.caption(
        f"{fmt.plural(len(task.request['learn']), 'item')} to learn from, {held} held out. Each "
        "difference is to the best round before, on the same items, with its 95% interval."
    )
    for one in found[1:]:
        st.html(_card(one))
    if len(found) == 1 and not task.active:
        st.caption("No round was measured.")
    if task.result:
        st.html(f"<div>{esc(_end(task.result))}</div>")
    if len(found) > 2:
        st.caption(
            f"{len(found) - 1} wordings were tried on the same held-out items, which favours the "
            "best of them a little. Fresh labels would tell."
        )
    _compare(found)
    improvement.show_pieces(name, improvement_loop.pieces(store(), task), f"loop/{task.id}")


def _card(one: LoopRound) -> str:
    gain = one.gain
    if gain is None:
        return ""
    how = tag("✓ better", "good") if one.kept else tag("no better: left", "neutral")
    first, second = gain.accuracy.first.value, gain.accuracy.second.value
    kappas = "; ".join(
        f"kappa of {one_line(c.name, 40)} {_move(c.kappa)}" for c in gain.criteria if c.kappa.n
    )
    words = fmt.plural(len(one.changes), "change")
    return (
        f'<div class="rs-card"><div class="rs-row"><b>Round {one.number}</b>{how}'
        f'<span class="rs-quiet">{words}</span></div>'
        f'<div class="rs-num">{fmt.percent(first)} → {fmt.percent(second)} right: '
        f"<b>{_difference(gain.accuracy)}</b></div>"
        f'<div class="rs-quiet rs-num">{esc(kappas)}</div></div>'
    )


def _difference(delta: Delta) -> str:
    return esc(delta.difference.words(fmt.share_points).inline)


def _move(delta: Delta) -> str:
    return f"{fmt.score(delta.first.value)} → {fmt.score(delta.second.value)}"


def _end(result: dict[str, object]) -> str:
    best = result["best"]
    said = "The rubric as it was stays best." if not best else f"Round {best} is the best."
    return f"{said} {result['why']}"


def _compare(found: list[LoopRound]) -> None:
    kept = [one for one in found if one.kept and one.held is not None]
    if len(kept) > 1:
        routes.link(
            routes.COMPARE,
            label("Every item before and after"),
            {
                state.RUNS: f"{kept[0].held},{kept[-1].held}",
                state.FIRST: kept[0].held,
                state.SECOND: kept[-1].held,
            },
        )
