"""Grade my texts, on one page: texts, rubric, judges, a trial on three texts, grades.

`?dataset=ID&rubric=ID&judge=NAME&run=ID`: the address has the settled parts, so that every step
survives leaving the page and reloading.
"""

from __future__ import annotations

from pages.grade import grading, judges, own, rubric, steps, texts, trial
from pages.ui import resources, state
from pages.ui.widgets import page_header, show_flash, shown_errors


def show() -> None:
    """Draw the whole path: settled steps in one line each, the next step open."""
    page_header(
        "Grade my texts",
        "No model? Grade ten texts yourself in step 3: judges on this machine learn from them. "
        "Nothing is sent before you press Test, Try or Grade.",
    )
    show_flash()
    path = steps.read_path()
    texts.show(path)
    if path.dataset is None and path.rubric is None and not resources.held_files("rubric"):
        steps.show_all_waiting("rubric")
        return
    rubric.show(path)
    if path.dataset is None or path.rubric is None:
        steps.show_all_waiting("judges")
        return
    run = grading.run_of(path)
    if run is not None:
        names = tuple(judge.name for judge in run.panel.judges)
        steps.show_folded(
            "judges",
            judges.judge_names_line(names),
            show_content=lambda: own.change_last_answers(path),
            change=grading.on_other_judges,
        )
        grading.show(path, run)
        return
    names = judges.show(path)
    tried = trial.show(path, names)
    grading.plan_grading(path, names, tried)


if state.is_arriving():
    state.put(steps.GRADE_OPEN, None)
state.note_arrival()
with shown_errors():
    show()
