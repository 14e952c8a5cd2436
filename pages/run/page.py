"""Run: the progress of one run, its plan, and its views (`?run=ID`, one item with `&item=ID`)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import streamlit as st

from core.domain.panel import Judge, Panel
from core.domain.rubric import Rubric
from core.domain.runs import Run
from core.services.datasets.twins import twins_of
from core.services.imports import vote_import
from core.services.results import item_view, scored_items
from core.services.rubrics import library
from core.services.runs import planning
from core.services.runs.batches import lanes
from core.text import numbers as fmt
from pages.run import figures, grid, item
from pages.ui import asking_words as words
from pages.ui import routes, state
from pages.ui.asking_words import SCALE_NAMES, rule_label
from pages.ui.places import alike, run_head
from pages.ui.resources import require_seen, store
from pages.ui.text import esc, one_line
from pages.ui.widgets import draw_row, draw_table, empty_state, page_header, tag


def show_scoring_version(run: Run) -> None:
    """Draw a line, if needed: another version, stale cells, a newer version."""
    if run.kind != "run" or not run.votes:
        return
    newest = library.latest_number(store(), run.rubric_id)
    parts = []
    if run.scored_version_id != run.rubric_version_id:
        words = f"Scored under version {run.scored_number}; judges were asked {run.rubric_number}"
        parts.append(tag(words, "info"))
    cells = len(scored_items.stale_cells(store(), run.id))
    if cells:
        parts.append(tag(f"{fmt.plural(cells, 'cell')} stale: the question has changed", "warn"))
    if newest > run.scored_number:
        parts.append(
            f'<span class="rs-quiet">{esc(f"The rubric has version {newest} by now.")}</span>'
        )
    if not parts:
        return
    with st.container(horizontal=True, vertical_alignment="center"):
        draw_row(parts, width="content")
        routes.draw_link(
            routes.RUBRICS,
            "Changes under another version",
            {state.RUBRIC: run.rubric_id, state.RUN: run.id},
            icon="difference",
        )


KIND_WORDS = {"human": "person", "llm": "model", "offline": "offline judge"}
_WORTH_IT = (
    "Significantly better than always giving the most common answer, or significantly "
    "in the order of the labels."
)


def show_plan(run: Run, rubric: Rubric) -> None:
    """Draw the plan, the judges, and the training reports."""
    with st.container(horizontal=True):
        for page, description, parameters in (
            (
                routes.RUBRICS,
                "The rubric's version",
                {state.RUBRIC: run.rubric_id, state.VERSION: run.rubric_version_id},
            ),
            (routes.DATASETS, "The dataset", {state.DATASET: run.dataset_id}),
        ):
            routes.draw_link(page, description, parameters, icon="arrow_outward")
    draw_table(("", ""), _run_facts(run, rubric), name="The plan of this run")
    if not run.panel.askable:
        _show_raters(run.panel)
        return
    st.html('<div class="rs-section">Judges</div>')
    draw_table(
        ("Judge", "Model or method", "Weight", "Options shown", "Settings"),
        map(_judge_row, run.panel.judges),
        name="The judges of this run",
        numbers=(2,),
    )
    if cluster := run.notes.get("cluster"):
        _show_cluster(cluster)
    for name, reports in run.notes.get("training", {}).items():
        _show_training(
            name, {c.name: reports[c.name] for c in rubric.criteria if c.name in reports}
        )
    if any(judge.learns for judge in run.panel.judges):
        address = {state.DATASET: run.dataset_id, state.RUBRIC: run.rubric_id}
        routes.draw_link(
            routes.GRADE, "Grade more texts yourself and retrain", address, icon="edit_note"
        )


def _show_cluster(facts: Mapping[str, Any]) -> None:
    """Show where models were called, if not only on this machine."""
    st.html('<div class="rs-section">Cluster</div>')
    many, address = fmt.plural(int(facts["workers"]), "worker"), one_line(str(facts["address"]), 80)
    parts = [f"<span>Models were asked by {many} of the cluster at {esc(address)}.</span>"]
    if str(facts["dashboard"]).startswith(("http://", "https://")):
        link = esc(str(facts["dashboard"]))
        parts.append(
            f'<a href="{link}" target="_blank" rel="noreferrer">Dask\'s own pages of it</a>'
        )
    draw_row(parts)


def _show_raters(panel: Panel) -> None:
    """Draw the raters of imported votes, and whether their votes count."""
    st.html('<div class="rs-section">Raters</div>')
    draw_table(
        ("Rater", "Is a", "Weight", "Counts towards verdicts"),
        (
            [
                esc(judge.name),
                tag(KIND_WORDS[judge.rater_kind]),
                fmt.number(judge.weight),
                "no: models rated, too" if judge.shadow else "yes",
            ]
            for judge in panel.judges
        ),
        name="The raters of these votes",
        numbers=(2,),
    )


def _run_facts(run: Run, rubric: Rubric) -> list[tuple[str, str]]:
    plan = run.plan
    rules = (
        f"{SCALE_NAMES[scale].lower()}: {rule_label(getattr(run.panel.rules, scale)).lower()}"
        for scale in planning.scales_of(rubric)
    )
    of_all = [
        ("Rubric", f"{run.rubric_name}, {run.version_words}"),
        ("Dataset", f"{run.dataset_name}, version {run.dataset_number}"),
        ("Items", fmt.count(run.items)),
        ("How votes become a verdict", "; ".join(rules) or "by each criterion's own rule"),
    ]
    hashes = [
        ("Versions", ", ".join(f"{name} {number}" for name, number in plan.versions.items())),
        ("Plan, content hash", fmt.short_hash(run.plan_hash)),
        ("Panel, content hash", fmt.short_hash(run.panel_hash)),
    ]
    facts = [
        ("Panel", run.panel.name),
        ("Seed", str(plan.seed)),
        ("Votes per judge", str(plan.replicates)),
        *_asking_facts(run.panel),
        *([("Models are asked", "in batches, at half the price")] if _is_batched(run) else []),
        ("Budget", "no limit" if plan.budget is None else fmt.cost(plan.budget)),
        ("Judges learned from", _calibration_words(plan.calibration)),
    ]
    times = [
        ("Created", run.created),
        ("Started", run.started or fmt.DASH),
        ("Finished", run.finished or fmt.DASH),
    ]
    if not run.panel.askable:
        facts, times = [("Imported from", vote_import.origin_words(plan.details))], times[:1]
    shown = [*of_all, *facts, *hashes, *times]
    return [(f"<b>{esc(name)}</b>", esc(value)) for name, value in shown]


def _is_batched(run: Run) -> bool:
    return bool(run.plan.details.get(lanes.BATCH))


def _asking_facts(panel: Panel) -> list[tuple[str, str]]:
    """Return how judges were asked, and in which stages."""
    stages = {judge.name: judge.stage for judge in panel.judges}
    shadows = frozenset(judge.name for judge in panel.judges if judge.shadow)
    when = "all judges at once"
    if panel.cascade is not None:
        lines = words.stage_lines(panel.cascade, stages, shadows)
        when = ". ".join(f"{judge_names}; {then}" for judge_names, then in lines)
    seats = [("Stages", when), ("Early stop", "on" if panel.early_stop else "off")]
    if all(judge.offline for judge in panel.judges):
        return seats
    asking = panel.asking
    reasons = "with" if asking.few_shot_reasons else "without"
    examples = f"{asking.few_shot} for every criterion, {reasons} reasons"
    return [
        ("Each question", words.MODES[asking.mode][0]),
        ("Examples (few-shot)", examples if asking.few_shot else "none"),
        ("Orders of options", "balanced" if asking.balanced else "drawn by the seed"),
        ("Reversed order", words.FLIPS[asking.flip][0]),
        ("First in the prompt", words.LAYOUTS[asking.layout]),
        ("Kept answers", "used again" if asking.cache else "not used"),
        ("Instructions", one_line(asking.instructions, 200) or "none"),
        *seats,
    ]


def _calibration_words(calibration: Mapping[str, Any]) -> str:
    learned = len(calibration.get("items", ()))
    if not learned:
        return "nothing"
    twins = twins_of(calibration).in_words()
    graded = f"{fmt.plural(learned, 'labelled item')}, which are not graded"
    return f"{graded}. {twins}" if twins else graded


def _judge_row(judge: Judge) -> list[str]:
    settings = [
        f"{name.replace('_', ' ')} {value}"
        for name, value in judge.model_dump(exclude_defaults=True).items()
        if name
        not in ("name", "kind", "model", "weight", "shuffle", "params", "stage", "shadow", "checks")
    ]
    settings += ["shadow: does not count"] if judge.shadow else []
    order = "as written" if not judge.shuffle else "in a random order for each question"
    order = "none: this judge reads only the text" if judge.offline else order
    return [
        esc(judge.name),
        esc(words.who_answers(judge)),
        fmt.number(judge.weight),
        order,
        esc(", ".join(settings) or "defaults"),
    ]


def _show_training(name: str, reports: Mapping[str, Any]) -> None:
    """Draw an offline judge's results in cross-validation, and for which criteria it is switched
    off.
    """
    trained_count = sum(bool(report.get("trained")) for report in reports.values())
    st.html(
        f'<div class="rs-section">{esc(name)}: on for {trained_count} of '
        f"{fmt.plural(len(reports), 'criterion', 'criteria')}</div>"
    )
    draw_table(
        ("Criterion", "", "Labels", "Right", "Most common answer", "Kappa", "Answers", "Why"),
        (_report_row(criterion, report) for criterion, report in reports.items()),
        name=f"Training of {name}",
        numbers=(2, 3, 4, 5, 6),
    )
    st.caption(
        "Measured on labelled items that the judge had not learned from (cross-validation), if it "
        "answered every one. Kappa: quadratic where options have an order, with its 95% interval. "
        "Answers: the share of items on which it is sure enough to vote."
    )


def _report_row(criterion: str, report: Mapping[str, Any]) -> list[str]:
    is_trained = bool(report.get("trained"))
    return [
        esc(criterion),
        tag("✓ on", "good") if is_trained else tag("◼ off", "warn"),
        fmt.count(report.get("n")),
        fmt.percent(report.get("accuracy")),
        fmt.percent(report.get("majority")),
        _kappa_words(report),
        fmt.percent(report.get("coverage")) if is_trained else fmt.DASH,
        f'<span class="rs-quiet">{esc(str(report.get("reason") or _WORTH_IT))}</span>',
    ]


def _kappa_words(report: Mapping[str, Any]) -> str:
    weighted, ends = report.get("weighted_kappa"), report.get("kappa_range")
    range_ = f" ({fmt.score(ends[0])} to {fmt.score(ends[1])})" if ends else ""
    return fmt.score(report.get("kappa") if weighted is None else weighted) + range_


RUN_VIEW = "run_view"

VIEWS = {
    "items": "Items",
    "alike": "Answers alike",
    "scores": "Scores and verdicts",
    "labels": "Against labels",
    "orders": "Order of options",
    "plan": "What was run",
}


def show_without_run() -> None:
    """Draw the screen without a run in the address."""
    page_header("Run")
    empty_state(
        "No run is chosen",
        "Choose a run from the list.",
        lambda: routes.draw_link(routes.RUNS, "All runs"),
    )


def show(run_id: int) -> None:
    """Draw the whole page of a run."""
    run = item_view.require_run(store(), run_id)
    with run_head.show_head(run, routes.RUN):
        view = _chosen_view(run)
    _show_addresses(run)
    show_scoring_version(run)
    _show_view(run, view)


def _show_addresses(run: Run) -> None:
    """Draw the state of each address of judges that have several."""
    lines = [
        [esc(judge), esc(address), *_address_row(address_facts, active=run.active)]
        for judge, addresses in run.notes.get("addresses", {}).items()
        for address, address_facts in addresses.items()
    ]
    if not lines:
        return
    down = sum(_LEFT in line[-1] for line in lines)
    words = f"Calls went to {fmt.plural(len(lines), 'address', 'addresses')}"
    with st.expander(f"{words}, {down} of them {_LEFT}" if down else words):
        draw_table(
            ("Judge", "Address", "Answered", "Lost", "Now"),
            lines,
            name="The addresses of judges",
            numbers=(2, 3),
        )
        st.caption(
            "Questions that failed at an address were asked at another; only questions without "
            "any answer failed."
        )


_LEFT = "left alone"


def _address_row(facts: Mapping[str, Any], *, active: bool) -> list[str]:
    down = _LEFT if active else f"{_LEFT} at the end"
    state_tag = (
        tag(f"✕ {down}", "warn") if facts["down"] else tag("✓ asked", "good") if active else ""
    )
    return [fmt.count(facts["answered"]), fmt.count(facts["lost"]), state_tag]


def _chosen_view(run: Run) -> str:
    """Return the view of the run, chosen at the end of its row of tabs."""
    key = state.key(RUN_VIEW)
    views = [name for name in VIEWS if name != "orders" or run.panel.asking.flip != "off"]
    state.put(key, state.address_in(state.VIEW, views) or "items")
    chosen: str = st.selectbox(
        "Show",
        views,
        key=key,
        format_func=lambda view: f"Show: {VIEWS[view]}",
        label_visibility="collapsed",
        width=210,
        on_change=_on_view,
        args=(key,),
    )
    return chosen


def _show_view(run: Run, view: str) -> None:
    rubric = item_view.rubric_of(store(), run)
    match view:
        case "alike":
            alike.show(run, rubric)
        case "scores":
            figures.show(run, rubric)
        case "labels":
            figures.show_against_labels(run)
        case "orders":
            figures.show_both_orders(run)
        case "plan":
            show_plan(run, rubric)
        case _:
            grid.show(run, rubric)


def _on_view(key: str) -> None:
    view = state.get(key)
    state.set_address(**{state.VIEW: None if view == "items" else view})


_run = state.address_id(state.RUN)
_item = state.address(state.ITEM)
if _run is not None:
    require_seen(_run)
if _run is None:
    show_without_run()
elif _item is None:
    show(_run)
else:
    item.show(_run, _item)
