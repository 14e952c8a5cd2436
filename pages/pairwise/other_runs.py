"""Systems ranked by the scores of any other run, same tasks or not; judges in both orders."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import streamlit as st

from core.blocks.blocks import Section
from core.domain.runs import Run
from core.errors import InputError
from core.metrics.estimate import Estimate
from core.services.agreement.load_ratings import of_run
from core.services.pairwise import contests, system_gaps
from core.services.pairwise.pointwise_ranks import Listwise
from core.services.pairwise.position_bias import OrderCheck, checks_of
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
    confidence,
    empty_state,
    figure_cell,
    interval_choice,
    level_words,
    table,
)

WHOLE = ""
#: From so many rows on, the table scrolls by itself.
ROWS, TALL = 40, 640


def show(run: Run) -> None:
    """Whatever the run has of the two."""
    part = _part(run)
    about = (run.id, run.votes, run.failures_open, part)
    checks = remembered("orders", about, lambda: checks_of(of_run(store(), run.id), part))
    if checks:
        _checks(checks, part)
    ranked = _ranked(run)
    if not checks and not ranked:
        empty_state(
            "Nothing compares systems here",
            "This run's items do not name two systems or more that were scored, and no rater "
            "answered in two orders.",
        )


def _part(run: Run) -> str:
    names = remembered(
        "parts", (run.dataset_version_id,), lambda: contests.orders_parts(store(), run.id)
    )
    if not names or run.panel.askable:
        return WHOLE
    return _noted("Apart by", keys.PART, names, ("the note", "nothing: all items"), 320)


def _noted(
    title: str, parameter: str, names: Sequence[str], words: tuple[str, str], width: int
) -> str:
    """A note of the items, chosen by name, or ``WHOLE``; the address keeps it.

    ``words`` stand before a note's name, and for none.
    """
    key = state.key(keys.CONTEST_FIELD, parameter)
    state.put(key, state.address_in(parameter, [WHOLE, *names]) or WHOLE)
    st.selectbox(
        title,
        [WHOLE, *names],
        key=key,
        format_func=lambda one: f"{words[0]} {one_line(one, 60)}" if one else words[1],
        width=width,
        on_change=lambda: state.set_address(**{parameter: state.get(key) or None}),
    )
    return str(state.get(key))


def _checks(checks: Sequence[OrderCheck], part: str) -> None:
    st.html('<div class="rs-section">Judges asked in both orders</div>')
    several = len({one.criterion for one in checks}) > 1
    heads = [
        "Judge",
        *(["Part"] if part else []),
        *(["Criterion"] if several else []),
        "Items",
        "No answer",
        "Accuracy",
        "Same in both orders",
        "Kappa between orders",
        "Same, as published",
        "Kappa, as published",
    ]
    first = len(heads) - 7
    with st.container(height=TALL if len(checks) > ROWS else "content", border=False):
        _table(checks, heads, first, part=bool(part), several=several)
    st.caption(
        "Accuracy: over both orders, a missing answer is wrong. Same and kappa (Cohen's) leave "
        "missing answers out. As published: LLMBar's conventions, in which two missing answers are "
        "the same choice and kappa tells the first answer from all else."
    )


def _table(
    checks: Sequence[OrderCheck], heads: Sequence[str], first: int, *, part: bool, several: bool
) -> None:
    table(
        heads,
        (
            [
                esc(one.rater),
                *([esc(one.part)] if part else []),
                *([esc(one.criterion)] if several else []),
                fmt.count(one.items),
                fmt.count(one.empty),
                figure_cell(one.accuracy, PERCENT, interval=False),
                figure_cell(one.agreement, PERCENT, interval=False),
                figure_cell(one.kappa, FINE, interval=False),
                figure_cell(one.agreement_as_published, PERCENT, interval=False),
                figure_cell(one.kappa_as_published, FINE, interval=False),
            ]
            for one in checks
        ),
        name="Judges asked in both orders",
        numbers=range(first, len(heads)),
    )


#: As finely as papers give them.
PERCENT, FINE = partial(fmt.percent, digits=1), partial(fmt.score, digits=3)


def _ranked(run: Run) -> bool:
    """Systems by scores; `False` where the run has none to rank."""
    if len(contests.systems_of(store(), run)) < 2:
        return False
    st.html('<div class="rs-section">Systems ranked by their scores</div>')
    by = _join(run)
    try:
        level = confidence().level
        about = (run.id, run.votes, run.failures_open, by, level)
        found = remembered(
            "listwise", about, lambda: contests.scores_ranked(store(), run.id, by, level)
        )
    except InputError as error:
        st.warning(_in_full(error), icon=":material/link_off:")
        return True
    interval_choice(methods=False)
    if isinstance(found, Listwise):
        _listwise(found, about)
    else:
        show_sections(unmatched_sections(found))
    _by_people(run, about)
    return True


def _join(run: Run) -> str | None:
    """What tells that answers belong to one task; ``None``: their prompts do."""
    about = (run.dataset_version_id,)
    names = remembered("meta", about, lambda: contests.meta_names(store(), *about))
    if not names:
        return None
    title = "Answers belong to the same task if they have"
    words = ("the same note", "the same prompt, word for word")
    return _noted(title, keys.JOIN, names, words, 400) or None


def _in_full(error: InputError) -> str:
    """The message with the first of its problems and how to mend it."""
    first = [f"{one.message} {one.mend}" for one in error.problems[:1]]
    return label(" ".join([error.message, *first]))


def _listwise(found: Listwise, about: tuple[object, ...]) -> None:
    for notice in found.notices:
        st.caption(label(notice))
    ballots = found.ballots
    strengths = remembered(
        "ballots",
        about,
        lambda: rank_report.ballots_board(ballots, level=confidence().level),
    )
    show_sections(
        [
            Section("", (blocks.limits(strengths),)),
            blocks.standings(strengths, confidence().level),
            blocks.methods(found.methods, ballots.systems, strengths),
        ]
    )
    table(
        ("Judge", *found.ballots.systems, "Scores higher than others by"),
        (
            [
                esc(view.judge),
                *(fmt.score(score) for score in view.scores),
                figure_cell(view.offset, FINE, interval=False),
            ]
            for view in found.judges
        ),
        name="Mean scores by every judge",
        numbers=range(1, len(found.ballots.systems) + 2),
    )
    if found.likeness:
        table(
            ("Two judges", "Spearman", "Kendall"),
            (
                [
                    f"{esc(one.one)} and {esc(one.other)}",
                    figure_cell(one.spearman, FINE, interval=False),
                    figure_cell(one.kendall, FINE, interval=False),
                ]
                for one in found.likeness
            ),
            name="Do judges rank the systems alike?",
            numbers=(1, 2),
        )


# Systems as people would grade all their answers, beside what the votes alone say.

#: More pairs than these are told of by the places alone.
PAIRS_SHOWN = 30
BY_PEOPLE_SAYS = (
    "Prediction-powered inference (Angelopoulos and others 2023): what the votes say of all "
    "answers, corrected by how far they were off where people looked at random. Means speak of "
    "these answers; differences of such answers to such tasks, task by task, with p corrected for "
    "the number of pairs (Holm 1979). However wrong the judges are, the intervals hold."
)


def _by_people(run: Run, about: tuple[object, ...]) -> None:
    """The section; where labels cannot speak for all answers, why."""
    found = remembered(
        "by people",
        (*about, *browsing.stands_on(store(), run)),
        lambda: system_gaps.corrected_systems(store(), run, level=confidence().level),
    )
    st.html('<div class="rs-section">Systems as people would grade them</div>')
    st.html(f'<div class="rs-prose">{esc(system_gaps.in_words(found))}</div>')
    if found.reason:
        if found.systems:
            planned = {state.NEW: "labels", state.RUN: run.id}
            routes.link(routes.QUEUES, "How many labels?", planned, icon="straighten")
        return
    table(
        ("System", "Votes say", "Corrected", "People's labels alone", "Places", "Labelled"),
        (_system_row(one) for one in found.systems),
        name="Mean scores, corrected by people's labels",
        numbers=(1, 2, 3, 4, 5),
    )
    st.caption(
        "Points by weight as a share of what could be reached. Places: those that differences "
        "larger than chance leave open. Below each figure: "
        f"{level_words()} interval.",
        help=BY_PEOPLE_SAYS,
    )
    if 0 < len(found.gaps) <= PAIRS_SHOWN:
        _pairs_of(found)


def _system_row(one: SystemMean) -> list[str]:
    powered = one.mean.powered
    places = fmt.DASH if one.places is None else "to".join(f" {at} " for at in one.places).strip()
    if one.places is not None and one.places[0] == one.places[1]:
        places = str(one.places[0])
    return [
        esc(one_line(one.system, NAMED)),
        fmt.score(one.mean.said),
        *(
            figure_cell(Estimate.undefined(one.mean.reason) if mean is None else mean)
            for mean in ((None, None) if powered is None else (powered.mean, powered.labels))
        ),
        places,
        f"{fmt.count(one.mean.labelled)} of {fmt.count(one.mean.cells)}",
    ]


def _pairs_of(found: CorrectedSystems) -> None:
    with st.expander("Every two of them", icon=":material/table_rows:"):
        table(
            ("Second minus first", "Votes say", "Corrected", "p, corrected", ""),
            (_pair_row(one) for one in found.gaps),
            name="Differences of systems, corrected",
            numbers=(1, 2, 3),
        )


def _pair_row(one: SystemsApart) -> list[str]:
    return [
        f"{esc(one_line(one.second, NAMED))} minus {esc(one_line(one.first, NAMED))}",
        fmt.points(one.found.raw),
        figure_cell(one.found.gap, fmt.points),
        fmt.DASH if one.p is None else fmt.p_value(one.p),
        f"{esc(one_line(one.better, NAMED))} better" if one.better else "undecided",
    ]
