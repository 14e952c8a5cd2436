"""Systems ranked by the scores of a run that is not a contest; and judges asked in both orders."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import streamlit as st

from core.blocks.blocks import Section
from core.domain.runs import Run
from core.errors import InputError
from core.metrics.estimate import Estimate
from core.services.agreement.load_ratings import run_ratings
from core.services.pairwise import contests, system_gaps
from core.services.pairwise.pointwise_ranks import Listwise
from core.services.pairwise.position_bias import OrderCheck, order_checks
from core.services.pairwise.system_gaps import CorrectedSystems, SystemMean, SystemsApart
from core.services.pairwise.unmatched_tasks import unmatched_sections
from core.services.reports import leaderboard_blocks as blocks
from core.services.reports import rank_report
from core.services.results import browsing
from core.text import numbers as fmt
from pages.pairwise import selection as keys
from pages.pairwise.leaderboard import NAMED
from pages.ui import routes, state
from pages.ui.blocks.drawn import show_sections
from pages.ui.resources import remembered, store
from pages.ui.text import esc, label, one_line
from pages.ui.widgets import (
    chosen_confidence,
    draw_table,
    empty_state,
    figure_cell,
    interval_choice,
    level_words,
)

WHOLE = ""
#: Tables with at least this many rows scroll; their height in pixels.
ROWS, TALL = 40, 640


def show(run: Run) -> None:
    """Draw what the run has: a ranking, order checks, or both."""
    part = _chosen_part(run)
    cache_key = (run.id, run.votes, run.failures_open, part)
    checks = remembered(
        "orders", cache_key, lambda: order_checks(run_ratings(store(), run.id), part)
    )
    if checks:
        _order_checks(checks, part)
    ranked = _draw_ranking(run)
    if not checks and not ranked:
        empty_state(
            "No comparison of systems",
            "This run's items name fewer than two scored systems, and no rater answered in two "
            "orders.",
        )


def _chosen_part(run: Run) -> str:
    names = remembered(
        "parts", (run.dataset_version_id,), lambda: contests.orders_parts(store(), run.id)
    )
    if not names or run.panel.askable:
        return WHOLE
    return _note_choice("Apart by", keys.PART, names, ("the note", "nothing: all items"), 320)


def _note_choice(
    title: str, parameter: str, names: Sequence[str], caption: tuple[str, str], width: int
) -> str:
    """Return the chosen item note, or ``WHOLE``; the address keeps it.

    ``caption`` has the text before a note's name, and the text for no note.
    """
    key = state.key(keys.CONTEST_FIELD, parameter)
    state.put(key, state.address_in(parameter, [WHOLE, *names]) or WHOLE)
    st.selectbox(
        title,
        [WHOLE, *names],
        key=key,
        format_func=lambda value: f"{caption[0]} {one_line(value, 60)}" if value else caption[1],
        width=width,
        on_change=lambda: state.set_address(**{parameter: state.get(key) or None}),
    )
    return str(state.get(key))


def _order_checks(checks: Sequence[OrderCheck], part: str) -> None:
    st.html('<div class="rs-section">Judges asked in both orders</div>')
    several_criteria = len({check.criterion for check in checks}) > 1
    headings = [
        "Judge",
        *(["Part"] if part else []),
        *(["Criterion"] if several_criteria else []),
        "Items",
        "No answer",
        "Accuracy",
        "Same in both orders",
        "Kappa between orders",
        "Same, as published",
        "Kappa, as published",
    ]
    first = len(headings) - 7
    with st.container(height=TALL if len(checks) > ROWS else "content", border=False):
        _check_table(checks, headings, first, part=bool(part), several_judges=several_criteria)
    st.caption(
        "Accuracy: over both orders; a missing answer counts as wrong. Same and kappa "
        "(Cohen's) leave missing answers out. As published: LLMBar's conventions, by which "
        "two missing answers are the same choice, and kappa compares the first answer with "
        "everything else."
    )


def _check_table(
    checks: Sequence[OrderCheck],
    headings: Sequence[str],
    first: int,
    *,
    part: bool,
    several_judges: bool,
) -> None:
    draw_table(
        headings,
        (
            [
                esc(check.rater),
                *([esc(check.part)] if part else []),
                *([esc(check.criterion)] if several_judges else []),
                fmt.count(check.items),
                fmt.count(check.empty),
                figure_cell(check.accuracy, PERCENT, interval=False),
                figure_cell(check.agreement, PERCENT, interval=False),
                figure_cell(check.kappa, FINE, interval=False),
                figure_cell(check.agreement_as_published, PERCENT, interval=False),
                figure_cell(check.kappa_as_published, FINE, interval=False),
            ]
            for check in checks
        ),
        name="Judges asked in both orders",
        numbers=range(first, len(headings)),
    )


#: The number of decimals that papers give.
PERCENT, FINE = partial(fmt.percent, digits=1), partial(fmt.score, digits=3)


def _draw_ranking(run: Run) -> bool:
    """Draw the ranking by scores; return `False` if the run has none."""
    if len(contests.systems_of(store(), run)) < 2:
        return False
    st.html('<div class="rs-section">Systems ranked by their scores</div>')
    note_key = _join_note(run)
    try:
        level = chosen_confidence().level
        cache_key = (run.id, run.votes, run.failures_open, note_key, level)
        listwise = remembered(
            "listwise", cache_key, lambda: contests.scores_ranked(store(), run.id, note_key, level)
        )
    except InputError as error:
        st.warning(_full_message(error), icon=":material/link_off:")
        return True
    interval_choice(methods=False)
    if isinstance(listwise, Listwise):
        _draw_methods(listwise, cache_key)
    else:
        show_sections(unmatched_sections(listwise))
    _ranking_by_people(run, cache_key)
    return True


def _join_note(run: Run) -> str | None:
    """Return the note that joins answers to one task; ``None``: equal prompts do."""
    cache_key = (run.dataset_version_id,)
    names = remembered("meta", cache_key, lambda: contests.meta_names(store(), *cache_key))
    if not names:
        return None
    title = "Answers belong to the same task if they have"
    caption = ("the same note", "exactly the same prompt")
    return _note_choice(title, keys.JOIN, names, caption, 400) or None


def _full_message(error: InputError) -> str:
    """Return the message with the first of its problems and its fix."""
    first = [f"{problem.message} {problem.mend}" for problem in error.problems[:1]]
    return label(" ".join([error.message, *first]))


def _draw_methods(listwise: Listwise, cache_key: tuple[object, ...]) -> None:
    for notice in listwise.notices:
        st.caption(label(notice))
    ballots = listwise.ballots
    strengths = remembered(
        "ballots",
        cache_key,
        lambda: rank_report.ballots_board(ballots, level=chosen_confidence().level),
    )
    show_sections(
        [
            Section("", (blocks.limit_sentences(strengths),)),
            blocks.standings_section(strengths, chosen_confidence().level),
            blocks.methods_section(listwise.methods, ballots.systems, strengths),
        ]
    )
    draw_table(
        ("Judge", *listwise.ballots.systems, "Scores higher than others by"),
        (
            [
                esc(view.judge),
                *(fmt.score(score) for score in view.scores),
                figure_cell(view.offset, FINE, interval=False),
            ]
            for view in listwise.judges
        ),
        name="Mean scores by every judge",
        numbers=range(1, len(listwise.ballots.systems) + 2),
    )
    if listwise.likeness:
        draw_table(
            ("Two judges", "Spearman", "Kendall"),
            (
                [
                    f"{esc(one)} and {esc(other)}",
                    figure_cell(spearman, FINE, interval=False),
                    figure_cell(kendall, FINE, interval=False),
                ]
                for one, other, spearman, kendall in listwise.likeness
            ),
            name="Do judges rank the systems in the same order?",
            numbers=(1, 2),
        )


# Corrected scores: systems as people would grade all their answers, next to the judges' votes.

#: With more pairs than this, only the ranks are shown.
PAIRS_SHOWN = 30
BY_PEOPLE_SAYS = (
    "Prediction-powered inference (Angelopoulos and others 2023): the votes on all answers, "
    "corrected by their error on the answers that people checked at random. Means are about "
    "these answers. Differences are about answers like these to tasks like these, compared task "
    "by task, with p corrected for the number of pairs (Holm 1979). The intervals hold however "
    "wrong the judges are."
)


def _ranking_by_people(run: Run, cache_key: tuple[object, ...]) -> None:
    """Draw the section, or why the labels cannot represent all answers."""
    corrected = remembered(
        "by people",
        (*cache_key, *browsing.results_state(store(), run)),
        lambda: system_gaps.corrected_systems(store(), run, level=chosen_confidence().level),
    )
    st.html('<div class="rs-section">Systems as people would grade them</div>')
    st.html(f'<div class="rs-prose">{esc(system_gaps.in_words(corrected))}</div>')
    if corrected.reason:
        if corrected.systems:
            planned = {state.NEW: "labels", state.RUN: run.id}
            routes.draw_link(routes.QUEUES, "How many labels?", planned, icon="straighten")
        return
    draw_table(
        ("System", "Votes say", "Corrected", "People's labels alone", "Places", "Labelled"),
        (_system_row(system) for system in corrected.systems),
        name="Mean scores, corrected by people's labels",
        numbers=(1, 2, 3, 4, 5),
    )
    st.caption(
        "Weighted points as a share of the maximum. Places: the ranks that remain "
        f"possible, given the significant differences. The {level_words()} interval is "
        "below each figure.",
        help=BY_PEOPLE_SAYS,
    )
    if 0 < len(corrected.gaps) <= PAIRS_SHOWN:
        _pairs_of_systems(corrected)


def _system_row(system: SystemMean) -> list[str]:
    powered = system.mean.powered
    places = (
        fmt.DASH if system.places is None else "to".join(f" {at} " for at in system.places).strip()
    )
    if system.places is not None and system.places[0] == system.places[1]:
        places = str(system.places[0])
    return [
        esc(one_line(system.system, NAMED)),
        fmt.score(system.mean.said),
        *(
            figure_cell(Estimate.undefined(system.mean.reason) if mean is None else mean)
            for mean in ((None, None) if powered is None else (powered.mean, powered.labels))
        ),
        places,
        f"{fmt.count(system.mean.labelled)} of {fmt.count(system.mean.cells)}",
    ]


def _pairs_of_systems(corrected: CorrectedSystems) -> None:
    with st.expander("All pairs of systems", icon=":material/table_rows:"):
        draw_table(
            ("Second minus first", "Votes say", "Corrected", "p, corrected", ""),
            (_pair_row(gap) for gap in corrected.gaps),
            name="Differences of systems, corrected",
            numbers=(1, 2, 3),
        )


def _pair_row(gap: SystemsApart) -> list[str]:
    return [
        f"{esc(one_line(gap.second, NAMED))} minus {esc(one_line(gap.first, NAMED))}",
        fmt.points(gap.found.raw),
        figure_cell(gap.found.mean, fmt.points),
        fmt.DASH if gap.p is None else esc(fmt.p_value(gap.p)),
        f"{esc(one_line(gap.better_system, NAMED))} better" if gap.better_system else "undecided",
    ]
