"""What a version of the rubric does to a run that is graded already: figures, votes moved."""

from __future__ import annotations

import streamlit as st

from core import figures as draw
from core.domain.library import RubricVersion, RubricVersionInfo
from core.domain.rubric import Criterion, Rubric
from core.domain.runs import Run, RunRow
from core.errors import NotFound
from core.rubric_diff.edits import Moves, VersionEdits, option_guess, same_choices
from core.services.results import item_view
from core.services.rubrics import library
from core.services.runs import lifecycle
from core.services.versions import follow_version, score_changes
from core.services.versions.score_changes import Moved, ScoreDifference
from core.text import numbers as fmt
from pages.rubric.versions import applying, history
from pages.ui import drafts, routes, state
from pages.ui.places import work
from pages.ui.resources import store
from pages.ui.text import esc, label, one_line
from pages.ui.widgets import (
    LabelledFigure,
    empty_state,
    figures,
    page_header,
    row,
    show_flash,
    shown_errors,
    table,
    tag,
)

#: What stands for "nowhere": no option, and no criterion.
NO_PLACE, GONE = -1, ""


def choose(run_id: int, before: Rubric, after: Rubric, found: VersionEdits) -> Moves:
    """The mapping as it is chosen; what goes without saying is not asked about."""
    renamed = _renamed(run_id, before, after, found)
    news = {c.name: c for c in after.criteria}
    options: dict[str, tuple[int | None, ...]] = {}
    for old in before.criteria:
        new = news.get(renamed.get(old.name, old.name))
        taken = new is not None and new.name in renamed.values()
        if new is None or (taken and old.name not in renamed) or same_choices(old, new):
            continue
        options[old.name] = _options(run_id, old, new)
    return Moves(renamed, options)


def _renamed(run_id: int, before: Rubric, after: Rubric, found: VersionEdits) -> dict[str, str]:
    names = {c.name for c in after.criteria}
    gone = [c.name for c in before.criteria if c.name not in names]
    fresh = [*found.added, *found.moves.renamed.values()]
    if not gone or not fresh:
        return {}
    st.html('<div class="rs-section">Which criteria are the same?</div>')
    chosen: dict[str, str] = {}
    for old in gone:
        free = [GONE, *(name for name in fresh if name not in chosen.values())]
        key = state.key(applying.SPREAD_MOVE, run_id, "criterion", old, *sorted(free))
        guess = found.moves.renamed.get(old, GONE)
        state.seed(key, guess if guess in free else GONE)
        new = st.selectbox(
            label(f"{old} became", 80),
            free,
            key=key,
            format_func=lambda name: one_line(name, 80) or "It was removed",
        )
        if new:
            chosen[old] = new
    return chosen


def _options(run_id: int, old: Criterion, new: Criterion) -> tuple[int | None, ...]:
    st.html('<div class="rs-section">Where do the votes go?</div>')
    st.caption(
        label(f"{new.name}: every option that judges could choose, and what it is now.", 200)
    )
    guess = option_guess(old, new)
    words: dict[int, str] = {
        NO_PLACE: "It does not count (and can be asked again)",
        **{at: one_line(o.label, 60) for at, o in enumerate(new.choices)},
    }
    places: list[int | None] = []
    with st.grid(3, min_column_width=190):
        for at, option in enumerate(old.choices):
            key = state.key(applying.SPREAD_MOVE, run_id, "option", old.name, at, len(new.choices))
            state.seed(key, NO_PLACE if guess[at] is None else guess[at])
            place: int = st.selectbox(
                label(f"{option.label} is now", 60),
                list(words),
                key=key,
                format_func=words.__getitem__,
            )
            places.append(None if place == NO_PLACE else place)
    return tuple(places)


RUNS_SHOWN = 8


def runs_card(name: str) -> None:
    """Nothing, while no run with votes asked a version of this rubric."""
    rubric_id = drafts.draft(name)["rubric_id"]
    if rubric_id is None:
        return
    runs = [
        run
        for used in score_changes.uses(store(), rubric_id).values()
        for run in used.asked
        if run.votes
    ]
    if not runs:
        return
    runs.sort(key=lambda run: -run.id)
    newest = library.history(store(), rubric_id)[0]
    older = sum(run.scored_version_id != newest.id for run in runs)
    behind = f"{fmt.plural(older, 'run')} behind version {newest.number}" if older else "up to date"
    with st.expander(f"Graded runs · {behind}", icon=":material/history:", expanded=bool(older)):
        for run in runs[:RUNS_SHOWN]:
            _line(name, run, newest)
        if len(runs) > RUNS_SHOWN:
            st.caption(f"And {len(runs) - RUNS_SHOWN} older ones, on the Runs page.")


def _line(name: str, run: RunRow, newest: RubricVersionInfo) -> None:
    follows = run.scored_version_id == newest.id
    with st.container(horizontal=True, vertical_alignment="center"):
        row(
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
            help="It is being graded." if busy else None,
            on_click=_on_open,
            args=(run.id,),
        )


def _on_open(run_id: int) -> None:
    state.drop(applying.SPREAD_VERSION, run_id)
    state.set_address(**{state.RUN: run_id})


SHOWN = 50
OUTCOMES = {"pass": "passes", "fail": "fails", "review": "for review", "none": "no outcome"}


def difference_figures(run: Run, found: ScoreDifference) -> None:
    """Everything there is to see before anybody decides."""
    st.html('<div class="rs-section">What happens to the scores</div>')
    if not found.items:
        empty_state("No votes", "No item of this run has a vote yet.")
        return
    figures(_figures(found))
    if found.crossed:
        _crossed(found)
    if not found.moved:
        st.caption("No score and no outcome changes.")
    else:
        _plot(found)
        _items(run, found)
    if found.flips:
        _flips(run, found)


def _figures(found: ScoreDifference) -> list[LabelledFigure]:
    largest = found.largest
    change = None if largest is None else largest.change
    mean = f"{fmt.score(found.mean_before)} → {fmt.score(found.mean_after)}"
    values = [
        LabelledFigure(
            "Items that change", f"{fmt.count(len(found.moved))} of {fmt.count(found.items)}"
        ),
        LabelledFigure("Up · down", f"{fmt.count(found.up)} · {fmt.count(found.down)}"),
        LabelledFigure(
            "Largest change",
            fmt.DASH if change is None else _signed(change),
            "" if largest is None else f"Item {largest.item_id}",
        ),
        LabelledFigure("Mean score", mean),
    ]
    if found.stale:
        values.append(
            LabelledFigure(
                "Stale cells", fmt.count(found.stale), "Judges were asked something else."
            )
        )
    if found.open:
        values.append(
            LabelledFigure("Open cells", fmt.count(found.open), "Nobody was asked this yet.")
        )
    return values


def _crossed(found: ScoreDifference) -> None:
    table(
        ("Outcome before", "Outcome after", "Items"),
        (
            (esc(OUTCOMES[one]), esc(OUTCOMES[other]), fmt.count(items))
            for (one, other), items in sorted(found.crossed.items())
        ),
        name="Items that cross over",
        numbers=(2,),
    )


def _plot(found: ScoreDifference) -> None:
    st.plotly_chart(
        draw.before_after(found.bins),
        key=state.key(applying.SPREAD_ACT, "plot"),
        config={"displayModeBar": False},
        alt=f"Scores of {found.items} items before and after: the mean goes from "
        f"{fmt.score(found.mean_before)} to {fmt.score(found.mean_after)}.",
    )


def _items(run: Run, found: ScoreDifference) -> None:
    ids = [one.item_id for one in found.moved]
    work.offer_work(run.id, ids, "Items that another version changes")
    with st.expander(f"Items that change ({fmt.count(len(found.moved))})"):
        table(
            ("Item", "Before", "After", "Change", "Outcome"),
            (_item(one) for one in found.moved[:SHOWN]),
            name="Items that change, the largest change first",
            numbers=(1, 2, 3),
        )
        if len(found.moved) > SHOWN:
            st.caption(f"The first {SHOWN}, by the size of their change.")


def _item(one: Moved) -> list[str]:
    change = fmt.DASH if one.change is None else _signed(one.change)
    before, after = one.outcome_before or "none", one.outcome_after or "none"
    outcome = "" if before == after else esc(f"{OUTCOMES[before]} → {OUTCOMES[after]}")
    return [esc(one.item_id), fmt.score(one.before), fmt.score(one.after), change, outcome]


def _flips(run: Run, found: ScoreDifference) -> None:
    with st.expander("Verdicts that change"):
        table(
            ("Criterion", "Better", "Worse", "Otherwise"),
            (
                [
                    esc(one.criterion),
                    tag(f"↑ {fmt.count(one.up)}", "good") if one.up else "0",
                    tag(f"↓ {fmt.count(one.down)}", "bad") if one.down else "0",
                    fmt.count(one.other),
                ]
                for one in found.flips
            ),
            name="Verdicts that change",
            numbers=(1, 2, 3),
        )
        for one in found.flips:
            st.caption(label(one.criterion))
            name = f"{one.criterion}: verdicts that another version changes"
            work.offer_work(run.id, one.items, name, criterion=one.was)


def _signed(change: float) -> str:
    return f"{'+' if change > 0 else fmt.MINUS}{fmt.score(abs(change))}"


def show(name: str, run_id: int) -> None:
    """The whole screen: the run, a version to choose, the difference, and what can be done."""
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
        page_header(f"Graded run: {one_line(run.name, 80)}", _stands(run), own_words=False)
        show_flash()
        _run_link(run)
        version_id = _version(run)
        _under(run, version_id)


def _run_link(run: Run) -> None:
    routes.link(routes.RUN, "Open the run", {state.RUN: run.id}, icon="arrow_outward")


def _stands(run: Run) -> str:
    asked = f"Judges were asked version {run.rubric_number}"
    if run.scored_version_id == run.rubric_version_id:
        return f"{asked}, and scores follow it. Votes and plan stay as they are, whatever you do."
    return f"{asked}; scores follow version {run.scored_number}. Votes and plan are as they were."


def _version(run: Run) -> int:
    history = {one.id: one for one in library.history(store(), run.rubric_id)}
    key = state.key(applying.SPREAD_VERSION, run.id)
    state.seed(key, next(iter(history)))

    def words(version_id: int) -> str:
        found = history[version_id]
        marks = [
            "asked" if version_id == run.rubric_version_id else "",
            "scores follow it" if version_id == run.scored_version_id else "",
        ]
        mark = ", ".join(filter(None, marks))
        return one_line(f"Version {found.number}{f' ({mark})' if mark else ''} {found.note}", 90)

    chosen: int = st.selectbox("Look at it under", list(history), key=key, format_func=words)
    return chosen


def _under(run: Run, version_id: int) -> None:
    found = follow_version.edits(store(), run.id, version_id)
    version = library.version(store(), version_id)
    if found.edits:
        with st.expander(
            f"What differs from version {run.rubric_number}, which judges were asked",
            expanded=len(found.edits) <= 4,
        ):
            history.show_edits(
                found.edits, f"Version {run.rubric_number}", f"Version {version.number}"
            )
            history.legend(found.edits)
    if version_id == run.scored_version_id:
        applying.stand(run)
    else:
        _other(run, version, found)
    applying.history(run)


def _other(run: Run, version: RubricVersion, found: VersionEdits) -> None:
    """What a version that scores do not follow would change, and what can be done."""
    asked = library.version(store(), run.rubric_version_id)
    moves = choose(run.id, asked.rubric, version.rubric, found)
    if moves != found.moves:
        found = follow_version.edits(store(), run.id, version.id, moves)
    difference = follow_version.difference(store(), run.id, version.id, moves)
    difference_figures(run, difference)
    applying.apply(run, version.id, found, moves)
