"""Ten texts graded by hand, as part of the judges' step: one question at a time, by key or
click.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import streamlit as st

from core.domain.dataset import Item
from core.domain.library import DatasetVersion, RubricVersion
from core.domain.rubric import Criterion
from core.services.guided import grading, judging, learning, own_grades
from core.services.guided.learning import LearntSoFar
from core.services.guided.own_grades import TEN, Sitting
from core.text import numbers as fmt
from pages.grade import steps
from pages.grade.rubric import draw_marks_button
from pages.grade.steps import GRADE_ACT, Path
from pages.ui import resources, routes, state
from pages.ui.items import show_texts
from pages.ui.places import settling
from pages.ui.places.ten_more import learnt_html
from pages.ui.resources import store
from pages.ui.text import esc, label
from pages.ui.widgets import shown_errors

#: With more labels a run's report shows the learning, and computing it here would take a while.
MOST = 200
DRAWN = "Texts are drawn at random; judges' answers are hidden. You can use the digit keys."
LEFT_OPEN = (
    "You grade texts that judges left open; then the judges grade the others again. These texts "
    "are not drawn at random, so your grades estimate nothing about the others."
)
PICKED = (
    "Texts with a reference are sorted by how close they are to it; sorting grades none "
    "of them. Judges' answers are hidden."
)

#: The help of sittings with picked texts, by their kind.
HELP = {"all": PICKED, "open": LEFT_OPEN}


def open_sitting(path: Path) -> Sitting | None:
    """Return the unfinished sitting, if texts and rubric are chosen; else ``None``."""
    if path.dataset is None or path.rubric is None:
        return None
    return own_grades.unfinished_sitting(store(), path.dataset, path.rubric)


def draw_begin_button(path: Path, kind: str, *, first: bool, ids: tuple[str, ...] = ()) -> None:
    """Draw the button that begins a sitting: the next ten texts, or the picked ones.

    Kind ``"open"`` picks texts that judges left without a grade.
    """
    if path.dataset is None or path.rubric is None:
        return
    if kind in HELP and not ids:
        return
    remaining = len(ids) or min(
        TEN, len(own_grades.unlabelled_ids(store(), path.dataset, path.rubric))
    )
    if not remaining:
        return
    words = {
        "first": f"Grade {remaining} yourself",
        "more": f"Grade {remaining} more yourself",
        "all": f"Grade all {remaining} yourself",
        "open": f"Grade {remaining}, judges learn again",
    }
    st.button(
        words[kind],
        key=state.key(GRADE_ACT, "own", kind),
        type="primary" if first else "secondary",
        icon=":material/edit_note:",
        help=HELP.get(kind, DRAWN),
        on_click=_on_begin,
        args=(path.dataset, path.rubric, ids),
    )


def open_texts(path: Path, ungraded: Sequence[str]) -> tuple[str, ...]:
    """Return the texts that the button ``"open"`` is for."""
    if path.dataset is None or path.rubric is None:
        return ()
    return own_grades.next_open_texts(store(), path.dataset, path.rubric, set(ungraded))


def _on_begin(dataset: DatasetVersion, rubric: RubricVersion, ids: tuple[str, ...]) -> None:
    with shown_errors():
        own_grades.begin(store(), dataset, rubric, ids)
        state.set_address(**{state.RUN: None, state.TRIED: None})


def offer_judges(path: Path, reason: str, *, first: bool) -> None:
    """Draw, after `reason`, how judges that need no model can grade these texts, which have no
    labels.
    """
    if path.dataset is not None and not ungraded_texts(path):
        marked = f"All {path.dataset.items} texts have your marks. With {judging.LEAST} such texts "
        learn = "or more, judges on this machine can learn from most of them and be tested on the "
        st.caption(label(f"{marked}{learn}others.", 200))
        change_last_answers(path)
        return
    few = path.dataset is not None and path.dataset.items < TEN
    ways_note = (
        f"Judges on this machine learn from at least {TEN} graded texts. Grade these few yourself, "
        "or add a model."
        if few
        else "You need no model: grade ten texts yourself. Judges on this machine learn from them "
        "and grade the others."
    )
    st.caption(label(f"{reason} {ways_note}".strip(), 200))
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        draw_begin_button(path, "first", first=first)
        draw_begin_button(path, "all", first=False, ids=_few_enough_texts(path))
        # Marks that came with the texts need no file.
        if path.dataset is not None and not draw_marks_button(path.dataset, first=False):
            address = {state.DATASET: state.NEW, state.INTO: path.dataset.dataset_id}
            routes.draw_link(routes.DATASETS, "Add marks that I have", address, icon="label")
        change_last_answers(path)


def _few_enough_texts(path: Path) -> tuple[str, ...]:
    """Return all texts if they are few enough to grade by hand, but more than ten."""
    few = path.dataset is not None and TEN < path.dataset.items <= MOST
    return ungraded_texts(path) if few else ()


def ungraded_texts(path: Path) -> tuple[str, ...]:
    """Return the texts without a grade."""
    if path.dataset is None or path.rubric is None:
        return ()
    return tuple(own_grades.unlabelled_ids(store(), path.dataset, path.rubric))


def graded_count(path: Path) -> int:
    """Return how many texts have a grade by labels, if a person can have graded them all."""
    if (
        path.dataset is None
        or path.rubric is None
        or path.dataset.items > MOST
        or ungraded_texts(path)
    ):
        return 0
    cache_key = (path.dataset.id, path.rubric.id, grading.last_event(store()))
    version, rubric = path.dataset.id, path.rubric.rubric
    return resources.remembered(
        "own grades", cache_key, lambda: grading.count_graded_by_labels(store(), version, rubric)
    )


def show(path: Path, sitting: Sitting) -> None:
    """Draw the sitting: the text, one question, and a button for each answer."""
    assert path.dataset is not None
    assert path.rubric is not None
    dataset_and_rubric = (path.dataset, path.rubric)
    with st.container(border=True), shown_errors():
        count = len(sitting.items)
        steps.show_title("judges", f"you grade: {sitting.done} of {fmt.plural(count, 'text')} done")
        if sitting.open is not None:
            item, criterion = sitting.open
            show_texts(item, "Text")
            _draw_question(dataset_and_rubric, item, criterion)
        with st.container(horizontal=True, vertical_alignment="center", gap="small"):
            if sitting.done:
                st.button(
                    f"Learn from {'the' if sitting.open else 'these'} {sitting.done}",
                    key=state.key(GRADE_ACT, "own", "learn"),
                    type="secondary" if sitting.open else "primary",
                    icon=":material/school:",
                    on_click=_on_finish,
                    args=dataset_and_rubric,
                )
            if sitting.answers:
                draw_back_button(path, "Back", type="secondary")
            if not sitting.done:
                st.button(
                    "Stop",
                    key=state.key(GRADE_ACT, "own", "stop"),
                    icon=":material/close:",
                    on_click=_on_finish,
                    args=dataset_and_rubric,
                )
            st.caption(
                "Grading ends with your last answer. You can still go back then.", width="content"
            )


def draw_back_button(
    path: Path, words: str, *, type: Literal["secondary", "tertiary"] = "tertiary"
) -> None:
    """Draw the button that takes the last answer back, also after the sitting was handed in."""
    st.button(
        words,
        key=state.key(GRADE_ACT, "own", "back"),
        type=type,
        icon=":material/undo:",
        shortcut="U",
        on_click=_on_back,
        args=(path.dataset, path.rubric),
    )


def change_last_answers(path: Path) -> None:
    """Draw the button back into the last sitting, if it was handed in."""
    if path.dataset is None or path.rubric is None:
        return
    if own_grades.finished_sitting(store(), path.dataset, path.rubric) is not None:
        draw_back_button(path, "Change my last answers")


def _draw_question(
    dataset_and_rubric: tuple[DatasetVersion, RubricVersion], item: Item, criterion: Criterion
) -> None:
    st.html(
        f'<h3 class="rs-cell">{esc(criterion.name)}</h3>'
        f'<div class="rs-quiet">{esc(criterion.requirement)}</div>'
    )
    with st.container(gap="xsmall", key="rs_options"):
        keys = settling.option_keys(criterion.choices)
        for index, (option, key) in enumerate(zip(criterion.choices, keys, strict=True)):
            st.button(
                label(option.label)
                + (f"  \n{label(option.description)}" if option.description else ""),
                key=state.key(GRADE_ACT, "own", item.id, criterion.name, index),
                shortcut=key,
                width="stretch",
                wrap=True,
                on_click=_on_answer,
                args=(*dataset_and_rubric, item.id, criterion.name, option.label),
            )


def _on_answer(
    dataset: DatasetVersion, rubric: RubricVersion, item_id: str, criterion: str, answer: str
) -> None:
    with shown_errors():
        was_finished = own_grades.finished_sitting(store(), dataset, rubric)
        if was_finished is not None and criterion in was_finished.given.get(item_id, {}):
            return  # This is a second press of the key; the first press submitted the answers.
        own_grades.answer(store(), dataset, rubric, item_id, criterion, answer)
        now = own_grades.unfinished_sitting(store(), dataset, rubric)
        if now is not None and now.open is None:
            _grade_remaining_texts(_finish_sitting(dataset, rubric), rubric)


def _on_back(dataset: DatasetVersion, rubric: RubricVersion) -> None:
    with shown_errors():
        own_grades.take_back(store(), dataset, rubric)
        state.set_address(**{state.RUN: None, state.TRIED: None})


def _on_finish(dataset: DatasetVersion, rubric: RubricVersion) -> None:
    with shown_errors():
        _finish_sitting(dataset, rubric)


def _finish_sitting(dataset: DatasetVersion, rubric: RubricVersion) -> DatasetVersion:
    version = own_grades.finish(store(), dataset, rubric)
    if version.id != dataset.id:
        added = version.labelled - dataset.labelled
        state.flash(f"{fmt.plural(added, 'text')} graded by you." if added else "Answers changed.")
        state.set_address(**{state.JUDGE: judging.learners(store())})
    return version


def _grade_remaining_texts(dataset: DatasetVersion, rubric: RubricVersion) -> None:
    """Grade the texts without a grade, on this machine, if judges learned anything."""
    path, names = Path(dataset, rubric, None, None), judging.learners(store())
    if ungraded_texts(path) and not no_judge_can_grade(path, names):
        panel = judging.panel_of(store(), names)
        request = grading.run_request(store(), rubric.id, dataset.id, panel)
        state.set_address(**{state.RUN: grading.start(store(), request)})


def _current_learning(path: Path) -> LearntSoFar | None:
    """Return what judges learned of each criterion; ``None`` if labels are too many to compute it
    here.
    """
    if path.dataset is None or path.rubric is None or path.dataset.labelled > MOST:
        return None
    cache_key = (path.dataset.id, path.rubric.id)
    dataset, rubric = path.dataset, path.rubric
    # If all texts are labelled, a run holds a part back to grade it.
    part = 1.0 if ungraded_texts(path) else judging.LEARN_FROM
    with st.spinner("Learning from your grades"):
        result: LearntSoFar = resources.remembered(
            "learning", cache_key, lambda: learning.learning(store(), dataset, rubric, part)
        )
    return result


def no_judge_can_grade(path: Path, names: Sequence[str]) -> bool:
    """Return whether all of these judges learn, and can judge no criterion of these texts yet."""
    if not set(names) <= set(judging.learners(store())):
        return False
    learned = _current_learning(path)
    return learned is not None and all(criterion.off for criterion in learned.criteria)


def show_learnt(path: Path) -> None:
    """Draw what judges learned of each criterion, and the button to grade ten more."""
    learned = _current_learning(path)
    if learned is None:
        return
    st.html(
        '<div class="rs-section">How well judges on this machine give your grades</div>'
        f"{learnt_html(learned)}"
    )
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        # Otherwise the last step shows these figures.
        if not all(criterion.off for criterion in learned.criteria):
            draw_begin_button(path, "more", first=False)
        change_last_answers(path)
        st.caption(label(learned.words), width="content")
