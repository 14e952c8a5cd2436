"""Start: three ways in, a drop zone for any file, the user's own work, and a graded example."""

from __future__ import annotations

from pathlib import Path

import streamlit as st

from core.domain.runs import RunRow
from core.services.guided import grading
from core.services.reports import worked_example
from core.services.runs import lifecycle
from core.services.runs.lifecycle import library_counts
from core.services.spot.trials import HELP
from core.text import numbers as fmt
from pages.start import drop, example
from pages.ui import resources, routes, state
from pages.ui.resources import disabled_without, store
from pages.ui.run_status import status_tag
from pages.ui.text import esc, one_line
from pages.ui.widgets import LabelledFigure, page_header, show_figures

LATEST = 5
START_WAY = "start_way"


def _has_own_work() -> bool:
    """Return whether there is any work other than the example."""
    have, example = library_counts(store()), worked_example.example_run(store())
    n_examples = 0 if example is None else 1
    return max(have.rubrics, have.datasets, have.runs) > n_examples or bool(have.spot_checks)


def show_own_work() -> None:
    """Draw the user's own work, and the last runs."""
    if not _has_own_work():
        return
    have, example = library_counts(store()), worked_example.example_run(store())
    with st.container(horizontal=True, vertical_alignment="center"):
        st.subheader("Your work", anchor=False, width="content")
        st.space("stretch")
        if example is not None:  # The example is further down, out of sight on most screens.
            routes.draw_link(routes.RUN, "Worked example", {state.RUN: example}, icon="school")
    show_figures(
        [
            LabelledFigure("Rubrics", fmt.count(have.rubrics)),
            LabelledFigure("Datasets", fmt.count(have.datasets)),
            LabelledFigure("Runs", fmt.count(have.runs)),
            LabelledFigure("Spot checks", fmt.count(have.spot_checks)),
        ]
    )
    for run in _latest_runs(example):
        _run_card(run)


def _latest_runs(example: int | None) -> list[RunRow]:
    """Return the newest runs and spot checks together, without the example."""
    runs = lifecycle.newest_runs(store(), limit=LATEST + 1)
    spots = lifecycle.newest_runs(store(), kind="spot", limit=LATEST, without=HELP)
    newest = sorted([r for r in runs if r.id != example] + spots, key=lambda r: -r.id)
    return newest[:LATEST]


def _run_card(run: RunRow) -> None:
    spot = run.kind == "spot"
    page = routes.SPOT_CHECK if spot else routes.RUN
    details = f"{fmt.plural(run.votes, 'vote')} · {fmt.time_ago(run.created)}"
    with st.container(border=True, horizontal=True, vertical_alignment="center", gap="small"):
        with st.container(width="stretch"):
            st.html(
                f'<div class="rs-row"><b>{esc(one_line(run.name, 90))}</b>{status_tag(run)}</div>'
                f'<span class="rs-quiet">{esc(details)}</span>'
            )
        routes.draw_link(page, "Open", {state.RUN: run.id}, icon="")


#: What a first-time visitor sees of the example: the picture, its words, and its screen.
PICTURES = (
    ("grid", "Every verdict, and the votes behind it", routes.RUN),
    ("agreement", "How reliable each criterion is", routes.AGREEMENT),
    ("item", "One text, its votes and its score", routes.RUN),
)
FOLDER = Path(__file__).with_name("pictures")


def _show_pictures() -> None:
    """Draw three pictures of the example run, each with a link, unless there are other runs."""
    run_id = worked_example.example_run(store())
    telling = None if run_id is None else worked_example.telling_item(store(), run_id)
    if telling is None or library_counts(store()).runs > 1:
        return
    theme = "dark" if st.context.theme.type == "dark" else "light"
    with st.grid(3, min_column_width=230):
        for name, caption, page in PICTURES:
            with st.container(gap="xxsmall", key=f"rs_picture_{name}"):
                st.image(FOLDER / f"{name}-{theme}.png", alt=caption)
                item = {state.ITEM: telling[0]} if name == "item" else {}
                routes.draw_link(page, caption, {state.RUN: run_id, **item}, icon="arrow_forward")


def _show_ways_in() -> None:
    """Draw the three ways in, the commonest first."""
    with st.container(horizontal=True, vertical_alignment="center"):
        for text, icon, kind, page in (
            ("Grade my texts", "grading", "primary", routes.GRADE),
            ("Review my tool's results", "upload", "secondary", routes.IMPORT_VOTES),
            ("Compare two prompts", "swords", "secondary", routes.CONTESTS),
        ):
            if st.button(
                text,
                key=state.key(START_WAY, page.url),
                type="primary" if kind == "primary" else "secondary",
                icon=f":material/{icon}:",
                **disabled_without("write"),
            ):
                _go_with_input(page)


def _go_with_input(page: routes.Screen) -> None:
    """Go to a screen with its first input; a contest needs answers of two systems first."""
    if page != routes.CONTESTS:
        drop.keep_dropped_files()
        routes.go_to(page)
    dataset = None if resources.held_files("start") else grading.dataset_to_compare(store())
    if dataset is not None:
        routes.go_to(page, {state.PLAN: state.NEW, state.DATASET: dataset})
    # Dropped files stay: now the program knows that they are to be compared.
    state.put(drop.START_PAIRS, True)


page_header(
    "Rubric Studio",
    "Grade texts by a rubric, with models or with judges that learn from your labels. Nothing "
    "is sent before you confirm.",
)
_show_ways_in()
drop.show()
show_own_work()
_show_pictures()
example.show()
