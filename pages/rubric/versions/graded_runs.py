"""The effect of a rubric's version on a graded run: figures, and votes that move."""

from __future__ import annotations

import streamlit as st

from core import figures as draw
from core.domain.library import RubricVersion, RubricVersionInfo
from core.domain.rubric import Criterion, Rubric
from core.domain.runs import Run, RunRow
from core.errors import NotFound
from core.rubric_diff.edits import VersionEdits, VersionMapping, option_guess, same_choices
from core.services.results import item_view
from core.services.rubrics import library
from core.services.runs import lifecycle
from core.services.versions import follow_version, score_changes
from core.services.versions.score_changes import ChangedItem, ScoreDifference
from core.text import numbers as fmt
from pages.rubric.versions import applying, history
from pages.ui import drafts, routes, state
from pages.ui.places import work
from pages.ui.resources import store
from pages.ui.text import esc, label, one_line
from pages.ui.widgets import (
    LabelledFigure,
    draw_row,
    draw_table,
    empty_state,
    page_header,
    show_figures,
    show_flash,
    shown_errors,
    tag,
)

#: The values that stand for no option and for no criterion.
NO_OPTION, NO_CRITERION = -1, ""


def choose_mapping(
    run_id: int, before: Rubric, after: Rubric, edits: VersionEdits
) -> VersionMapping:
    """Return the chosen mapping; obvious matches are not asked about."""
    renamed = _renamed_criteria(run_id, before, after, edits)
    news = {c.name: c for c in after.criteria}
    options: dict[str, tuple[int | None, ...]] = {}
    for old in before.criteria:
        new = news.get(renamed.get(old.name, old.name))
        is_taken = new is not None and new.name in renamed.values()
        if new is None or (is_taken and old.name not in renamed) or same_choices(old, new):
            continue
        options[old.name] = _option_mapping(run_id, old, new)
    return VersionMapping(renamed, options)


def _renamed_criteria(
    run_id: int, before: Rubric, after: Rubric, edits: VersionEdits
) -> dict[str, str]:
    names = {c.name for c in after.criteria}
    removed = [c.name for c in before.criteria if c.name not in names]
    added = [*edits.added, *edits.moves.renamed.values()]
    if not removed or not added:
        return {}
    st.html('<div class="rs-section">Which criteria are the same?</div>')
    chosen: dict[str, str] = {}
    for old in removed:
        unused = [NO_CRITERION, *(name for name in added if name not in chosen.values())]
        key = state.key(applying.SPREAD_MOVE, run_id, "criterion", old, *sorted(unused))
        guess = edits.moves.renamed.get(old, NO_CRITERION)
        state.seed(key, guess if guess in unused else NO_CRITERION)
        new = st.selectbox(
            label(f"{old} became", 80),
            unused,
            key=key,
            format_func=lambda name: one_line(name, 80) or "It was removed",
        )
        if new:
            chosen[old] = new
    return chosen


def _option_mapping(run_id: int, old: Criterion, new: Criterion) -> tuple[int | None, ...]:
    st.html('<div class="rs-section">Where do the votes go?</div>')
    st.caption(
        label(
            f"{new.name}: every option that judges could choose, and the option that replaces it.",
            200,
        )
    )
    guess = option_guess(old, new)
    captions: dict[int, str] = {
        NO_OPTION: "Drop the vote (judges can be asked again)",
        **{index: one_line(o.label, 60) for index, o in enumerate(new.choices)},
    }
    places: list[int | None] = []
    with st.grid(3, min_column_width=190):
        for index, option in enumerate(old.choices):
            key = state.key(
                applying.SPREAD_MOVE, run_id, "option", old.name, index, len(new.choices)
            )
            state.seed(key, NO_OPTION if guess[index] is None else guess[index])
            place: int = st.selectbox(
                label(f"{option.label} is now", 60),
                list(captions),
                key=key,
                format_func=captions.__getitem__,
            )
            places.append(None if place == NO_OPTION else place)
    return tuple(places)


RUNS_SHOWN = 8


def runs_card(name: str) -> None:
    """List the graded runs that used a version of this rubric, if any."""
    rubric_id = drafts.draft(name)["rubric_id"]
    if rubric_id is None:
        return
    runs = [
        run
        for used in score_changes.uses_of_versions(store(), rubric_id).values()
        for run in used.asked
        if run.votes
    ]
    if not runs:
        return
    runs.sort(key=lambda run: -run.id)
    newest = library.version_history(store(), rubric_id)[0]
    older = sum(run.scored_version_id != newest.id for run in runs)
    behind = f"{fmt.plural(older, 'run')} behind version {newest.number}" if older else "up to date"
    with st.expander(f"Graded runs · {behind}", icon=":material/history:", expanded=bool(older)):
        for run in runs[:RUNS_SHOWN]:
            _run_line(name, run, newest)
        if len(runs) > RUNS_SHOWN:
            st.caption(f"And {len(runs) - RUNS_SHOWN} older ones, on the Runs page.")


def _run_line(name: str, run: RunRow, newest: RubricVersionInfo) -> None:
    follows = run.scored_version_id == newest.id
    with st.container(horizontal=True, vertical_alignment="center"):
        draw_row(
            [
                f"<b>{run.id}</b> {esc(one_line(run.name, 50))}",
                tag(f"version {run.scored_number}", "good" if follows else "warn"),
            ],
            width="content",
        )
        st.space("stretch")
        busy = lifecycle.is_stalled(run) or run.active
        st.button(
            "What it has" if follows else label(f"What version {newest.number} would change"),
            key=state.key(applying.SPREAD_ACT, name, "open", run.id),
            type="tertiary",
            icon=":material/difference:",
            disabled=busy,
            help="This run is being graded." if busy else None,
            on_click=_on_open,
            args=(run.id,),
        )


def _on_open(run_id: int) -> None:
    state.drop(applying.SPREAD_VERSION, run_id)
    state.set_address(**{state.RUN: run_id})


SHOWN = 50
OUTCOMES = {"pass": "passes", "fail": "fails", "review": "for review", "none": "no outcome"}


def difference_figures(run: Run, difference: ScoreDifference) -> None:
    """Draw every figure needed for the decision."""
    st.html('<div class="rs-section">What happens to the scores</div>')
    if not difference.items:
        empty_state("No votes", "No item of this run has a vote yet.")
        return
    show_figures(_difference_figures(difference))
    if difference.crossed:
        _crossed_thresholds(difference)
    if not difference.moved:
        st.caption("No score and no outcome changes.")
    else:
        _difference_plot(difference)
        _changed_items(run, difference)
    if difference.flips:
        _show_flips(run, difference)


def _difference_figures(difference: ScoreDifference) -> list[LabelledFigure]:
    largest = difference.largest
    change = None if largest is None else largest.change
    mean = f"{fmt.score(difference.mean_before)} → {fmt.score(difference.mean_after)}"
    values = [
        LabelledFigure(
            "Items that change",
            f"{fmt.count(len(difference.moved))} of {fmt.count(difference.items)}",
        ),
        LabelledFigure(
            "Up · down", f"{fmt.count(difference.rising)} · {fmt.count(difference.falling)}"
        ),
        LabelledFigure(
            "Largest change",
            fmt.DASH if change is None else signed_text(change),
            "" if largest is None else f"Item {largest.item_id}",
        ),
        LabelledFigure("Mean score", mean),
    ]
    if difference.stale:
        values.append(
            LabelledFigure(
                "Stale cells",
                fmt.count(difference.stale),
                ("Judges were asked a different question."),
            )
        )
    if difference.open:
        values.append(
            LabelledFigure(
                "Open cells",
                fmt.count(difference.open),
                ("Judges have not been asked this question yet."),
            )
        )
    return values


def _crossed_thresholds(difference: ScoreDifference) -> None:
    draw_table(
        ("Outcome before", "Outcome after", "Items"),
        (
            (esc(OUTCOMES[before]), esc(OUTCOMES[after]), fmt.count(items))
            for (before, after), items in sorted(difference.crossed.items())
        ),
        name="Items that cross a pass mark",
        numbers=(2,),
    )


def _difference_plot(difference: ScoreDifference) -> None:
    st.plotly_chart(
        draw.before_after(difference.bins),
        key=state.key(applying.SPREAD_ACT, "plot"),
        config={"displayModeBar": False},
        alt=f"Scores of {difference.items} items before and after: the mean goes from "
        f"{fmt.score(difference.mean_before)} to {fmt.score(difference.mean_after)}.",
    )


def _changed_items(run: Run, difference: ScoreDifference) -> None:
    ids = [item.item_id for item in difference.moved]
    work.offer_work(run.id, ids, "Items whose result differs in another version")
    with st.expander(f"Items that change ({fmt.count(len(difference.moved))})"):
        draw_table(
            ("Item", "Before", "After", "Change", "Outcome"),
            (_item_row(item) for item in difference.moved[:SHOWN]),
            name="Items that change, the largest change first",
            numbers=(1, 2, 3),
        )
        if len(difference.moved) > SHOWN:
            st.caption(f"The first {SHOWN}, by the size of their change.")


def _item_row(changed_item: ChangedItem) -> list[str]:
    change = fmt.DASH if changed_item.change is None else signed_text(changed_item.change)
    before, after = changed_item.outcome_before or "none", changed_item.outcome_after or "none"
    outcome = "" if before == after else esc(f"{OUTCOMES[before]} → {OUTCOMES[after]}")
    return [
        esc(changed_item.item_id),
        fmt.score(changed_item.before),
        fmt.score(changed_item.after),
        change,
        outcome,
    ]


def _show_flips(run: Run, difference: ScoreDifference) -> None:
    with st.expander("Verdicts that change"):
        draw_table(
            ("Criterion", "Better", "Worse", "Otherwise"),
            (
                [
                    esc(flip.criterion),
                    tag(f"↑ {fmt.count(flip.up)}", "good") if flip.up else "0",
                    tag(f"↓ {fmt.count(flip.down)}", "bad") if flip.down else "0",
                    fmt.count(flip.other),
                ]
                for flip in difference.flips
            ),
            name="Verdicts that change",
            numbers=(1, 2, 3),
        )
        for flip in difference.flips:
            st.caption(label(flip.criterion))
            name = f"{flip.criterion}: verdicts that another version changes"
            work.offer_work(run.id, flip.items, name, criterion=flip.was)


def signed_text(change: float) -> str:
    """Return a change of a score with its sign."""
    return f"{'+' if change > 0 else fmt.MINUS}{fmt.score(abs(change))}"


def show(name: str, run_id: int) -> None:
    """Draw the whole screen: the run, the choice of a version, the difference, and the acts."""
    with st.container(horizontal=True):
        st.button(
            "Back to the editor",
            key=state.key(applying.SPREAD_ACT, "editor"),
            type="tertiary",
            icon=":material/arrow_back:",
            on_click=state.set_address,
            kwargs={state.RUBRIC: name, state.RUN: None},
        )
    with shown_errors():
        try:
            run = item_view.require_run(store(), run_id)
        except NotFound as error:
            st.warning(label(str(error)), icon=":material/search_off:")
            return
        page_header(f"Graded run: {one_line(run.name, 80)}", _version_words(run), own_words=False)
        show_flash()
        _run_link(run)
        version_id = _version_choice(run)
        _difference_under(run, version_id)


def _run_link(run: Run) -> None:
    routes.draw_link(routes.RUN, "Open the run", {state.RUN: run.id}, icon="arrow_outward")


def _version_words(run: Run) -> str:
    sentence = f"Judges were asked version {run.rubric_number}"
    if run.scored_version_id == run.rubric_version_id:
        return f"{sentence}; scores follow it, too. Votes and plan are unchanged."
    return f"{sentence}; scores follow version {run.scored_number}. Votes and plan are unchanged."


def _version_choice(run: Run) -> int:
    history = {info.id: info for info in library.version_history(store(), run.rubric_id)}
    key = state.key(applying.SPREAD_VERSION, run.id)
    state.seed(key, next(iter(history)))

    def version_words(version_id: int) -> str:
        info = history[version_id]
        marks = [
            "asked" if version_id == run.rubric_version_id else "",
            "scores follow it" if version_id == run.scored_version_id else "",
        ]
        mark = ", ".join(filter(None, marks))
        return one_line(f"Version {info.number}{f' ({mark})' if mark else ''} {info.note}", 90)

    chosen: int = st.selectbox(
        "Show the run under", list(history), key=key, format_func=version_words
    )
    return chosen


def _difference_under(run: Run, version_id: int) -> None:
    edits = follow_version.version_edits(store(), run.id, version_id)
    version = library.version_by_id(store(), version_id)
    if edits.edits:
        with st.expander(
            f"What differs from version {run.rubric_number}, which judges were asked",
            expanded=len(edits.edits) <= 4,
        ):
            history.show_edits(
                edits.edits, f"Version {run.rubric_number}", f"Version {version.number}"
            )
            history.show_legend(edits.edits)
    if version_id == run.scored_version_id:
        applying.version_acts(run)
    else:
        _draw_other_version(run, version, edits)
    applying.show_history(run)


def _draw_other_version(run: Run, version: RubricVersion, edits: VersionEdits) -> None:
    """Show what a version that scores do not follow would change, and the acts."""
    asked_version = library.version_by_id(store(), run.rubric_version_id)
    moves = choose_mapping(run.id, asked_version.rubric, version.rubric, edits)
    if moves != edits.moves:
        edits = follow_version.version_edits(store(), run.id, version.id, moves)
    difference = follow_version.version_difference(store(), run.id, version.id, moves)
    difference_figures(run, difference)
    applying.apply_version(run, version.id, edits, moves)
