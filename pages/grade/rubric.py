"""Step 2, the rubric: dropped, pasted, chosen or drafted; and the labels in the texts."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import streamlit as st

from core.domain.library import DatasetVersion, RubricVersion
from core.domain.rubric import Criterion, Rubric
from core.errors import InputError
from core.formats.source.parsed import Parsed
from core.services.assist import help_tasks, rubric_draft
from core.services.assist.rubric_draft import DraftRequest
from core.services.datasets import catalog
from core.services.guided import marks
from core.services.guided.dropped import in_words, pasted_rubric, rubrics, unasked_rubric
from core.services.guided.marks import Marks
from core.services.rubrics import library
from core.services.rubrics.draft_shapes import RubricDraft
from core.services.rubrics.drafts import rubric_from
from core.text import numbers as fmt
from pages.grade import steps
from pages.grade.steps import GRADE_ACT, Path, field_key, settle_parts
from pages.ui import drafts, model_help, resources, routes, state
from pages.ui.resources import store
from pages.ui.text import distinct_names, esc, label, one_line
from pages.ui.widgets import draw_table, problem_list, show_refusal, shown_errors

WAYS = {
    "drop": "Drop a file",
    "paste": "Paste",
    "here": "Choose one",
    "draft": "Draft with a model",
}
SAMPLE = "sample:"


def show(path: Path) -> None:
    """Draw the step, folded once settled; below it the labels that the texts contain."""
    if path.rubric is not None and not steps.is_open("rubric", True):
        _show_settled(path.rubric)
        if path.dataset is not None:
            _show_labels(path.dataset, path.rubric.rubric)
        return
    with st.container(border=True), shown_errors():
        steps.show_title("rubric", "the criteria for the grades")
        _choose_rubric(path)
        steps.draw_close_unchanged("rubric")


def _show_settled(version: RubricVersion) -> None:
    rubric = version.rubric
    address = {state.RUBRIC: version.rubric_id}
    steps.show_folded(
        "rubric",
        f"{one_line(rubric.name, 70)}: {in_words(rubric)}",
        show_content=lambda: _show_rubric(rubric, address),
    )


def _show_rubric(rubric: Rubric, address: dict[str, int]) -> None:
    with st.popover("Criteria", icon=":material/checklist:", type="tertiary"):
        criteria_list(rubric)
    routes.draw_link(routes.RUBRICS, "Edit", address, icon="edit_note")


def criteria_list(rubric: Rubric) -> None:
    """Draw the criteria as a compact list, with the points that each can earn."""
    draw_table(
        ("Criterion", "Points", "Answers"),
        (
            [
                f"<b>{esc(one_line(criterion.name, 60))}</b><br>"
                f'<span class="rs-quiet">{esc(one_line(criterion.requirement, 140))}</span>',
                f"{criterion.weight:g}",
                esc(one_line(_answers_words(criterion), 160)),
            ]
            for criterion in rubric.criteria
        ),
        name="The criteria",
        numbers=(1,),
    )


def _answers_words(criterion: Criterion) -> str:
    """Return the options with the points that each earns."""
    parts = [
        option.label
        if option.value is None
        else f"{option.label} ({option.value * criterion.weight:g})"
        for option in criterion.options
    ]
    return " · ".join(parts) or "yes or no"


def _choose_rubric(path: Path) -> None:
    files = resources.held_files("rubric")
    if files:
        resources.draw_held_files("rubric", files)
        _show_parsed(lambda: rubrics(files), ", ".join(file.name for file in files))
        return
    draw_marks_button(path.dataset, first=True)
    source = steps.chosen_way("rubric", WAYS)
    if source == "paste":
        text = steps.paste_box(
            "rubric",
            "A table of criteria and levels with its headings, one requirement per line with "
            "its points, or YAML.",
        )
        if text:
            _show_parsed(lambda: (pasted_rubric(text),), "pasted text")
    elif source == "here":
        _choose_stored()
    elif source == "draft":
        _draft_by_model(path.dataset)
    else:
        uploads = st.file_uploader(
            "A table of criteria and levels (.docx, .xlsx, .csv), YAML, JSON or Canvas",
            accept_multiple_files=True,
            key=field_key("rubric", "file"),
        )
        if uploads:
            resources.hold_files("rubric", resources.dropped_files(uploads))
            st.rerun()


def dropped_rubric() -> tuple[Rubric, str] | None:
    """Return the rubric that was dropped and its source, if there is nothing to ask about it."""
    files = resources.held_files("rubric")
    rubric = None if state.address_id(state.RUBRIC) is not None else unasked_rubric(files)
    return None if rubric is None else (rubric, files[0].name)


def draw_marks_button(dataset: DatasetVersion | None, *, first: bool) -> bool:
    """Draw the button that turns the marks in the texts into the criterion; return whether there
    are any.
    """
    if dataset is None:
        return False
    rubric: Rubric | None = resources.remembered(
        "rubric of marks", (dataset.id,), lambda: marks.as_rubric(store(), dataset.id)
    )
    if rubric is None:
        return False
    most = len(rubric.criteria[0].options) - 1
    st.button(
        label(f"Grade by “{one_line(rubric.name, 40)}” alone, 0 to {most}"),
        key=state.key(GRADE_ACT, "by marks", first),
        type="primary" if first else "secondary",
        icon=":material/check:",
        help="The marks in your texts become labels of this one criterion.",
        on_click=_on_marks,
        args=(dataset, rubric),
    )
    return True


def _on_marks(dataset: DatasetVersion, rubric: Rubric) -> None:
    with shown_errors():
        version = marks.take_as_rubric(store(), dataset, rubric)
        settle_parts(**{state.RUBRIC: version.rubric_id, state.DRAFT: None})


def _show_parsed(parse: Callable[[], Sequence[Parsed[Rubric]]], source: str) -> None:
    try:
        parsed = parse()
    except InputError as error:
        show_refusal(error)
        return
    _offer_rubrics(parsed, source)


def _offer_rubrics(rubrics: Sequence[Parsed[Rubric]], source: str) -> None:
    """Show the parsed rubric, and the button that takes it."""
    parsed = rubrics[0]
    if len(rubrics) > 1:
        titles = distinct_names(
            {index: parsed.value.name for index, parsed in enumerate(rubrics)}, 80
        )
        index = st.selectbox(
            "Which of them",
            range(len(rubrics)),
            format_func=titles.__getitem__,
            key=field_key("rubric", "which", source),
        )
        parsed = rubrics[index or 0]
    criteria_list(parsed.value)
    if parsed.notices:
        with st.expander(fmt.plural(len(parsed.notices), "remark")):
            problem_list(parsed.notices)
    _use_rubric(parsed.value, source)


def _use_rubric(rubric: Rubric, source: str) -> None:
    if st.button(
        label(f"Use this rubric ({in_words(rubric)})"),
        key=state.key(GRADE_ACT, "rubric"),
        type="primary",
        icon=":material/check:",
    ):
        version = catalog.keep_rubric(store(), rubric, source)
        steps.discard_input("rubric")
        settle_parts(**{state.RUBRIC: version.rubric_id, state.DRAFT: None})
        st.rerun()


def _choose_stored() -> None:
    names: dict[str, str] = {
        str(row.id): f"{row.name} ({fmt.plural(row.criteria, 'criterion', 'criteria')})"
        for row in library.rubric_rows(store())
    }
    samples = library.all_samples()
    names |= {f"{SAMPLE}{file}": f"Sample: {rubric.name}" for file, rubric in samples.items()}
    shown = distinct_names(names, 90)
    key = field_key("rubric", "known")
    chosen: str | None = st.selectbox(
        "Rubric",
        list(names),
        index=None,
        format_func=shown.__getitem__,
        key=key,
        placeholder="Your own rubric, or a sample",
    )
    routes.draw_link(routes.LIBRARY, "Choose criteria from the library instead")
    if chosen is None:
        return
    if not chosen.startswith(SAMPLE):
        settle_parts(**{state.RUBRIC: int(chosen)})
        state.drop(key)
        st.rerun()
    sample = samples[chosen.removeprefix(SAMPLE)]
    criteria_list(sample)
    _use_rubric(sample, "sample")


def _draft_by_model(dataset: DatasetVersion | None) -> None:
    """Let a model draft from a description, and from labelled texts if there are any."""
    if not model_help.model_ready():
        return
    task = st.text_area(
        "The task",
        key=field_key("rubric", "task"),
        height=120,
        persist_state="session",
        placeholder="The task that the texts answer, word for word if possible.",
    )
    judge = model_help.chosen_writer("grade")
    examples = dataset.id if dataset is not None and dataset.labelled else None
    request = DraftRequest(judge, task or "", dataset_version=examples)
    model_help.cost_line(rubric_draft.estimate(store(), request))
    started = state.address_id(state.DRAFT)
    result = None if started is None else help_tasks.look(store(), started)
    if st.button(
        "Draft it",
        key=state.key(GRADE_ACT, "draft"),
        icon=":material/auto_awesome:",
        disabled=result is not None and result.active,
    ):
        state.set_address(**{state.DRAFT: rubric_draft.begin(store(), request)})
        st.rerun()
    if result is not None:
        model_help.show_progress(result)
        draft = rubric_draft.drafted_rubric(store(), result)
        if draft is not None:
            _show_draft_result(draft)


def _show_draft_result(draft: RubricDraft) -> None:
    try:
        rubric = rubric_from(draft)
    except InputError as error:
        st.warning("The draft is not a complete rubric yet. Open it in the editor to complete it.")
        problem_list(error.problems)
    else:
        criteria_list(rubric)
        _use_rubric(rubric, "drafted by a model")
    if st.button(
        "Open the draft in the editor",
        key=state.key(GRADE_ACT, "open draft"),
        icon=":material/edit_note:",
    ):
        routes.go_to(routes.RUBRICS, {state.RUBRIC: drafts.start_draft(draft)})


def _show_labels(dataset: DatasetVersion, rubric: Rubric) -> None:
    """Show the labels that came with the texts: how many, and those that match no option."""
    cache_key = (dataset.id, rubric.model_dump_json())
    marks_found = resources.remembered(
        "marks", cache_key, lambda: marks.find_marks(store(), dataset.id, rubric)
    )
    if marks_found.settled:
        return
    with st.container(border=True), shown_errors():
        counted = ", ".join(
            f"{name} ({fmt.plural(n, 'text')})" for name, n in marks_found.marked.items()
        )
        st.html(
            f'<div class="rs-section">Your texts bring marks for {esc(one_line(counted, 300))}'
            '</div><span class="rs-quiet">As labels they show how well judges do, and judges that '
            "need no model learn from them.</span>"
        )
        words_meant = _meanings_of_labels(rubric, marks_found)
        if st.button(
            "Use the marks as labels",
            key=state.key(GRADE_ACT, "marks"),
            icon=":material/label:",
            disabled=any(
                len(words_meant[name]) < len(labels) for name, labels in marks_found.words.items()
            ),
        ):
            marks.take(store(), dataset, rubric, words_meant)
            settle_parts()
            st.rerun()


def _meanings_of_labels(rubric: Rubric, marks: Marks) -> dict[str, dict[str, str]]:
    """Draw a choice for each label that is no option; return the options chosen so far."""
    chosen: dict[str, dict[str, str]] = {}
    for name, labels in marks.words.items():
        options = [option.label for option in rubric.criterion(name).choices]
        chosen[name] = {}
        with st.grid(4, min_column_width=160):
            for word, probably in labels.items():
                key = field_key("marks", name, word)
                state.guess(key, probably)
                chosen_option = st.selectbox(
                    label(f"“{one_line(word, 30)}” for {name}", 70),
                    options,
                    index=None,
                    format_func=lambda option: one_line(option, 60),
                    key=key,
                    placeholder="Choose an option",
                )
                if chosen_option is not None:
                    chosen[name][word] = chosen_option
    return chosen
