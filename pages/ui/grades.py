"""The grades of a run: how often its verdicts are right; and writing grades into a file of Canvas
or Moodle: choose the file, review the changes, download the result.
"""

from __future__ import annotations

from typing import Any

import streamlit as st

from core.errors import InputError, RubricStudioError
from core.formats.office.workbook import SheetNotChosen
from core.formats.report.rosters import KIND_WORDS, Roster, read_roster
from core.formats.rubrics.foreign import Scaling
from core.services.agreement import load_ratings, overall
from core.services.agreement.overall import Trust
from core.services.exports import grade_lists
from core.services.exports.grade_lists import Filled, GradeChange, GradeChoices
from core.services.results import browsing
from core.text import numbers as fmt
from pages.ui import state
from pages.ui.resources import remembered, store
from pages.ui.text import esc, label, one_line
from pages.ui.widgets import chosen_confidence, draw_table, problem_list, sheet_choice, tag

# The keys of the dialog that writes grades into files of Canvas and Moodle.

GRADES_ACT = "grades_act"
GRADES_FILE = "grades_file"
GRADES_FIELD = "grades_field"


#: The number of changes shown; all are written.
SHOWN = 200
SCALINGS: dict[Scaling, str] = {"ratio": "Of the most", "range": "Above the worst answers"}
FORMATS = (
    "Canvas: a rubric assessment file or a gradebook. Moodle: an offline grading worksheet or a "
    "gradebook. Any other table works once you choose the meaning of its columns."
)


def grades_button(run_id: int) -> None:
    """Draw the button that opens the dialog of grade lists."""
    pressed = st.button(
        "Grades for Canvas / Moodle",
        key=state.key(GRADES_ACT, "open", run_id),
        icon=":material/school:",
        help="Writes the grades into the file that your learning platform exported.",
    )
    if pressed:
        _grades_dialog(run_id)


@st.dialog("Grades for Canvas or Moodle", width="large")
def _grades_dialog(run_id: int) -> None:
    grades_panel(run_id)


def grades_panel(run_id: int) -> None:
    """Take the file, ask what it leaves open, show the changes, and offer the filled file."""
    st.caption(
        f"{FORMATS} Only grades change in the file, byte for byte; students without a final "
        "score are left alone. Nothing is sent anywhere."
    )
    upload: Any = st.file_uploader(
        "The file as your platform exported it",
        type=["csv", "tsv", "txt", "xlsx"],
        key=state.key(GRADES_FILE, run_id),
    )
    if upload is None:
        return
    try:
        roster = _read_roster(upload)
        if roster is None:
            return
        choices = _chosen_options(upload.file_id, roster)
        if roster.kind == "table" and not (choices.match and choices.grade and choices.maximum):
            st.info("Choose the meaning of the columns.", icon=":material/info:")
            return
        filled = grade_lists.fill(store(), run_id, upload.getvalue(), upload.name, choices)
    except RubricStudioError as error:
        message = error.message if isinstance(error, InputError) else str(error)
        st.error(label(message), icon=":material/error:")
        problem_list(error.problems if isinstance(error, InputError) else ())
        return
    _show_result(run_id, filled)


def _read_roster(upload: Any) -> Roster | None:
    """Return the list of students; of a workbook with several sheets, from the chosen sheet."""
    data, key = upload.getvalue(), state.key(GRADES_FIELD, upload.file_id, "sheet")
    try:
        return read_roster(data, upload.name)
    except SheetNotChosen as error:
        sheet = sheet_choice(error.sheets, key)
        return None if sheet is None else read_roster(data, upload.name, sheet)


def _chosen_options(file: str, roster: Roster) -> GradeChoices:
    """Return the choices that the file leaves open, as the person makes them."""
    in_form = roster.kind not in ("table",)
    st.caption(f"This is {KIND_WORDS[roster.kind]} with {_students_words(len(roster.students))}.")
    left, middle, right = st.columns(3)
    match = grade = maximum = None
    with left:
        match = _column_choice(
            "Students are identified by", file, "match", roster.who, optional=in_form
        )
    if roster.kind != "canvas_rubric":
        with middle:
            single = len(roster.grades) == 1
            grade = _column_choice(
                "Column for the grade", file, "grade", roster.grades, optional=single
            )
        if roster.kind in ("table", "moodle_gradebook") or _lacks_maximums(roster):
            maximum = right.number_input(
                "Grade for a full score",
                min_value=0.01,
                value=100.0,
                key=state.key(GRADES_FIELD, file, "maximum"),
            )
    return GradeChoices(
        match=match,
        grade=grade,
        maximum=maximum,
        scaling=_scaling_fields(file, roster),
        sheet=state.get(state.key(GRADES_FIELD, file, "sheet")),
        overwrite=st.toggle(
            "Overwrite existing grades",
            key=state.key(GRADES_FIELD, file, "overwrite"),
        ),
    )


def _lacks_maximums(roster: Roster) -> bool:
    """Return whether the file does not state the maximum of any grade."""
    columns = [roster.table.column(name) for name in roster.grades]
    return all(roster.maximum(roster.students[0], c) is None for c in columns if c is not None)


def _scaling_fields(file: str, roster: Roster) -> Scaling:
    if roster.kind == "canvas_rubric":
        return "ratio"
    key = state.key(GRADES_FIELD, file, "scaling")
    state.seed(key, "ratio")
    chosen: Scaling | None = st.segmented_control(
        "A score counts",
        list(SCALINGS),
        format_func=SCALINGS.__getitem__,
        key=key,
        required=True,
        help="The two methods differ if the worst answers earn points: a ratio keeps these "
        "points, a range (as in Moodle) turns them into 0.",
    )
    return chosen or "ratio"


def _column_choice(
    words: str, file: str, what: str, names: tuple[str, ...], *, optional: bool
) -> str | None:
    chosen: str | None = st.selectbox(
        words,
        names,
        index=None,
        format_func=lambda name: one_line(name, 60),
        placeholder="Found automatically" if optional else "Choose a column",
        key=state.key(GRADES_FIELD, file, what),
    )
    return chosen


def _show_result(run_id: int, filled: Filled) -> None:
    choices = filled.choices
    share = f"{filled.matched:,} of {_students_words(filled.students)}"
    st.html(
        f'<div class="rs-section">{fmt.plural(filled.written, "cell")} will change</div>'
        f'<span class="rs-quiet">{esc(share)} are known, by matching {esc(choices.match or "")} '
        f"with the items' {esc(choices.by or '')}.</span>"
    )
    problem_list(filled.problems)
    if filled.effect:
        st.info(label(filled.effect), icon=":material/balance:")
    st.download_button(
        f"Download {label(filled.name, 60)}",
        data=filled.data,
        file_name=filled.name,
        mime="text/csv",
        type="primary",
        icon=":material/download:",
        disabled=not filled.written,
        on_click="ignore",
        key=state.key(GRADES_ACT, "download", run_id),
    )
    if filled.changes:
        _show_changes(filled.changes)


def _show_changes(changes: tuple[GradeChange, ...]) -> None:
    rows = [
        [
            esc(one_line(change.student, 60)),
            fmt.count(change.line),
            esc(one_line(change.column, 60)),
            esc(one_line(change.old, 60)) or tag("empty"),
            esc(one_line(change.new, 200)),
            tag("left alone", "warn") if change.kept else esc(change.origin),
        ]
        for change in changes[:SHOWN]
    ]
    headings = ["Student", "Line", "Column", "Before", "Grade", "From"]
    draw_table(headings, rows, name="What changes")
    if len(changes) > SHOWN:
        st.caption(f"and {fmt.count(len(changes) - SHOWN)} more.")


def _students_words(number: int) -> str:
    return fmt.plural(number, "student")


def draw_trust(run_id: int, extra_words: str) -> None:
    """Draw the statement on a run's verdicts: its first sentence; the rest and `extra_words`
    folded.
    """
    trust = trust_of(run_id)
    first, stop, details = trust.sentence.partition(". ")
    if details or extra_words:
        below = f'{esc(details)}<div class="rs-row">{extra_words}</div>'
        st.html(
            f"<details class='rs-trust'><summary>{esc(first + stop)}</summary>{below}</details>"
        )
    else:
        st.html(f"<div>{esc(first)}</div>")


def trust_of(run_id: int) -> Trust:
    """Return the statement, computed once for the current votes and settlements."""
    confidence = chosen_confidence()
    cache_key = (*browsing.results_state(store(), store().runs.get(run_id)), confidence.level)
    return remembered(
        "trust",
        cache_key,
        lambda: overall.trust_of(load_ratings.run_ratings(store(), run_id), level=confidence.level),
    )
