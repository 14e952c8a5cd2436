"""Rubrics in and out: a file, pasted text or lines, a sample; and the export of a rubric."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any

import streamlit as st

from core.domain.rubric import Criterion, Rubric
from core.errors import InputError, Problem
from core.formats.rubrics.foreign import Scaling
from core.formats.source.parsed import Parsed
from core.services.rubrics import draft_criteria, import_export, library
from core.services.rubrics.draft_shapes import TEMPLATE_WORDS, Template
from core.services.rubrics.drafts import draft_from
from core.services.rubrics.import_export import (
    SHARE_FORMS,
    SHARE_WORDS,
    Pasted,
    PastedLine,
    RubricExport,
    ShareForm,
    read_paste,
    with_criteria_added,
    with_lines_added,
)
from core.text import numbers as fmt
from pages.ui import drafts, state
from pages.ui.drafts import (
    RUBRIC_NOTICES,
    RUBRICS_ACT,
    RUBRICS_FILE,
    RUBRICS_POINTS,
    RUBRICS_REFUSED,
    RUBRICS_TEXT,
    open_rubric,
    start_draft,
)
from pages.ui.text import draw_raw, esc, label, one_line
from pages.ui.widgets import draw_row, draw_table, problem_list, shown_errors, tag


def import_panel() -> None:
    """Turn a file or pasted text into a draft; show problems with their lines."""
    with st.container(border=True):
        st.subheader("Import a rubric", anchor=False)
        st.caption(
            "YAML, JSON (also that of autorubric, unitxt and EvalAssist), a rubric of Canvas, or a "
            "table with one level per row. Nothing is saved before you have reviewed the rubric."
        )
        left, right = st.columns(2)
        left.file_uploader(
            "File",
            type=["yaml", "yml", "json", "csv", "tsv", "xlsx", "ods", "docx", "md"],
            key=RUBRICS_FILE,
        )
        with right, st.container(key="rs_source"):
            st.text_area("Or paste it here", key=RUBRICS_TEXT, height=160)
        _points_choice()
        st.button(
            "Read it",
            key=state.key(RUBRICS_ACT, "read"),
            type="primary",
            on_click=_on_read,
        )
        refused = state.get(RUBRICS_REFUSED)
        if refused:
            st.error(label(refused["message"]), icon=":material/error:")
            problem_list(_problems_of_input(refused["problems"]))


POINTS: dict[Scaling, str] = {"ratio": "Of the most", "range": "Above the minimum, as in Moodle"}


def _points_choice() -> None:
    """Ask how points become values; only tables have points."""
    if not import_export.is_table(*_typed_or_uploaded()):
        return
    state.seed(RUBRICS_POINTS, "ratio")
    st.segmented_control(
        "Points count",
        list(POINTS),
        format_func=POINTS.__getitem__,
        key=RUBRICS_POINTS,
        required=True,
        help="The two methods differ if the lowest level of a criterion earns points. With "
        "levels of 2, 4 and 8 points, a 2 is 25% of the maximum, or 0% of the range above "
        "the minimum.",
    )


def _typed_or_uploaded() -> tuple[bytes | str, str]:
    upload: Any = state.get(RUBRICS_FILE)
    if upload:
        return upload.getvalue(), str(upload.name)
    return str(state.get(RUBRICS_TEXT) or ""), "pasted text"


def _on_read() -> None:
    state.drop(RUBRICS_REFUSED)
    data, file = _typed_or_uploaded()
    try:
        *others, last = import_export.rubrics_in(data, file, state.get(RUBRICS_POINTS) or "ratio")
    except InputError as error:
        message = f"{error.where}: {error.message}" if error.where else error.message
        state.put(
            RUBRICS_REFUSED, {"message": message, "problems": _plain_problems(error.problems)}
        )
        return
    with shown_errors():
        for draft_read in others:
            _keep_draft(draft_read)
        name = _keep_draft(Parsed(last.value, (*last.notices, *_comment_notices())))
        open_rubric(name)
        note = f" {len(others)} more are in the list of rubrics." if others else ""
        state.flash(f"The rubric was read. Review it, then save.{note}")


def _keep_draft(parsed: Parsed[Rubric]) -> str:
    """Store a parsed rubric as a draft with its notices; return the draft's name."""
    name = start_draft(draft_from(parsed.value))
    state.put(state.key(RUBRIC_NOTICES, name), _plain_problems(parsed.notices))
    return name


def _comment_notices() -> list[Problem]:
    """Return a notice if the given text has comments, which are not kept."""
    data, file = _typed_or_uploaded()
    if import_export.is_table(data, file):
        return []
    text = data.decode("utf-8", "replace") if isinstance(data, bytes) else data
    comment_loss = library.lost_comments(text)
    return [Problem(comment_loss)] if comment_loss else []


def show_notices(name: str) -> None:
    """Show the notices from reading this draft's file."""
    notices = state.get(state.key(RUBRIC_NOTICES, name))
    if notices:
        st.info("Noticed while reading the file:", icon=":material/info:")
        problem_list(_problems_of_input(notices))


def _plain_problems(problems: Sequence[Problem]) -> list[dict[str, Any]]:
    # The session holds plain data only.
    return [{**dataclasses.asdict(p), "path": list(p.path)} for p in problems]


def _problems_of_input(plain: list[dict[str, Any]]) -> list[Problem]:
    return [Problem(**{**p, "path": tuple(p["path"])}) for p in plain]


def samples_panel() -> None:
    """Offer the rubrics that come with the program."""
    with st.container(border=True):
        st.subheader("Start from a sample", anchor=False)
        st.caption("A sample opens as your own unsaved rubric.")
        with st.grid(3, min_column_width=240):
            for file, rubric in library.all_samples().items():
                with st.container(border=True, height="stretch"):
                    st.html(f"<b>{esc(rubric.name)}</b>")
                    st.html(f'<span class="rs-quiet">{esc(rubric.description)}</span>')
                    st.space("stretch")
                    with st.container(horizontal=True, vertical_alignment="center"):
                        st.button(
                            "Use this",
                            key=state.key(RUBRICS_ACT, "sample", file),
                            on_click=_on_sample,
                            args=(file,),
                        )
                        draw_row([tag(fmt.plural(len(rubric.criteria), "criterion", "criteria"))])


def _on_sample(file: str) -> None:
    with shown_errors():
        start_draft(draft_from(library.all_samples()[file]))


PASTE_TEXT = "paste_text"
PASTE_KIND = "paste_kind"
PASTE_ACT = "paste_act"

EXAMPLE = "Cites a source (10 points)\n[-5] Invents facts\n# Style\nTone: The reply is warm."
SHOWN = 60


def show(name: str) -> None:
    """Draw the field, a preview of its lines, and one button to add them all."""
    with st.expander("Paste many", icon=":material/content_paste:"):
        text = st.text_area(
            "One requirement per line, or a table",
            key=state.key(PASTE_TEXT, name),
            placeholder=EXAMPLE,
            height=140,
            max_chars=200_000,
            help="Bullets, numbers, points in brackets, headings as sections, and columns from "
            "a spreadsheet (name, requirement, weight) are understood. A table with a "
            "column for each level is understood, too, if you paste its headings.",
        )
        pasted: Pasted = (), (), ()
        with shown_errors():
            pasted = read_paste(text or "")
        lines, criteria, notices = pasted
        count = len(lines) + len(criteria)
        if lines:
            _preview_lines(lines)
        if criteria:
            _preview_grid(criteria)
        if notices:
            problem_list(notices)
        caption = f"Add {fmt.plural(count, 'criterion', 'criteria')}"
        with st.container(horizontal=True, vertical_alignment="bottom"):
            kind: Template = st.selectbox(
                "Answers of each",
                list(TEMPLATE_WORDS),
                key=state.key(PASTE_KIND, name),
                format_func=TEMPLATE_WORDS.__getitem__,
                width=180,
                disabled=bool(criteria),
                help="A table with levels defines its own answers.",
            )
            st.button(
                caption if count else "Add criteria",
                key=state.key(PASTE_ACT, name, "add"),
                type="primary",
                icon=":material/playlist_add:",
                on_click=_on_add,
                args=(name, kind),
            )


def offer_parting(name: str, uid: str, requirement: str) -> None:
    """Offer to split several lines pasted into one criterion into a criterion each."""
    lines = len([line for line in requirement.splitlines() if line.strip()])
    if lines < 2:
        return
    st.button(
        f"Make {fmt.plural(lines, 'criterion', 'criteria')} of these lines",
        key=state.key(PASTE_ACT, name, "part", uid),
        icon=":material/playlist_add:",
        help="Each line becomes its own criterion, as with Paste many. Undo reverses this.",
        on_click=_on_part,
        args=(name, uid),
    )


def _on_part(name: str, uid: str) -> None:
    with shown_errors():
        draft = drafts.draft(name)
        requirement = next(c["requirement"] for c in draft["criteria"] if c["uid"] == uid)
        lines, criteria, _ = read_paste(requirement)
        draft = with_criteria_added(draft_criteria.remove_criterion(draft, uid), criteria)
        drafts.change_draft(name, with_lines_added(draft, lines, "yes_no"))


def _preview_grid(criteria: tuple[Criterion, ...]) -> None:
    draw_table(
        ("Name", "Levels, lowest first", "Weight", "Section"),
        (
            [
                esc(one_line(criterion.name, 60)),
                "<br>".join(
                    f"<b>{esc(one_line(option.label, 40))}</b> "
                    f"({fmt.number(option.value or 0, 2)}) {esc(one_line(option.description, 90))}"
                    for option in criterion.options
                ),
                esc(fmt.weight(criterion.weight)),
                esc(one_line(criterion.section or "", 40)),
            ]
            for criterion in criteria[:SHOWN]
        ),
        name="Criteria read from the table",
        numbers=(2,),
    )
    if len(criteria) > SHOWN:
        st.caption(f"And {fmt.count(len(criteria) - SHOWN)} more.")


def _preview_lines(lines: tuple[PastedLine, ...]) -> None:
    draw_table(
        ("Name", "Requirement", "Weight", "Section"),
        (
            [
                esc(one_line(line.name, 60)),
                esc(one_line(line.requirement, 120)),
                _weight_html(line),
                esc(one_line(line.section, 40)),
            ]
            for line in lines[:SHOWN]
        ),
        name="Criteria read from the lines",
        numbers=(2,),
    )
    if len(lines) > SHOWN:
        st.caption(f"And {fmt.count(len(lines) - SHOWN)} more.")


def _weight_html(line: PastedLine) -> str:
    weight = esc(fmt.weight(line.weight))
    if line.weight < 0:
        return tag(f"{fmt.weight(line.weight)} penalty", "bad")
    return weight if line.stated else f'<span class="rs-quiet">{weight}</span>'


def _on_add(name: str, kind: Template) -> None:
    with shown_errors():
        lines, criteria, _ = read_paste(str(state.get(state.key(PASTE_TEXT, name)) or ""))
        count = len(lines) + len(criteria)
        if not count:
            raise InputError("Paste or write lines first, one requirement each.")
        draft = with_criteria_added(drafts.draft(name), criteria)
        drafts.change_draft(name, with_lines_added(draft, lines, kind))
        state.put(state.key(PASTE_TEXT, name), "")
        state.flash(f"Added {fmt.plural(count, 'criterion', 'criteria')}.")


RUBRIC_EXPORT = "rubric_export"


#: Longer lists of losses scroll, so that the button below stays visible.
MANY = 6


@st.dialog("Export", width="large")
def export_dialog(rubric: Rubric) -> None:
    """Open the export panel above the page."""
    export_panel(rubric)


def export_panel(rubric: Rubric) -> None:
    """Draw every format, its losses, the download, and the text to read or copy."""
    form: ShareForm = st.selectbox(
        "Form",
        SHARE_FORMS,
        format_func=lambda form: SHARE_WORDS[form].title,
        key=state.key(RUBRIC_EXPORT, "form"),
        help="Other programs read these files. Import reads all these formats except the sheet.",
    )
    st.caption(SHARE_WORDS[form].about)
    try:
        shared = import_export.export_rubric(rubric, form)
    except InputError as error:
        st.error(label(error.message), icon=":material/error:")
        return
    _show_losses(form, shared)
    with st.container(horizontal=True):
        _download_button(shared, f"Download {SHARE_WORDS[form].title}", form, primary=True)
        if form != "sheet":
            _download_button(
                import_export.export_rubric(rubric, "sheet"),
                "Sheet to print",
                "sheet",
                primary=False,
            )
    if form != "sheet":
        draw_raw(shared.text, height=300)


def _show_losses(form: ShareForm, shared: RubricExport) -> None:
    if not shared.losses:
        st.success(
            "Nothing is lost: importing the file gives the same rubric again.",
            icon=":material/check:",
        )
        return
    if form == "sheet":
        st.info(label(shared.losses[0].message), icon=":material/info:")
        return
    st.warning("This form cannot hold everything:", icon=":material/info:")
    with st.container(height=190 if len(shared.losses) > MANY else "content", border=False):
        problem_list(shared.losses)


def export_buttons(rubric: Rubric) -> None:
    """Draw a download per lossless format, and the sheet."""
    with st.container(horizontal=True):
        _download_button(
            import_export.export_rubric(rubric, "yaml"), "Download YAML", "yaml", primary=False
        )
        _download_button(
            import_export.export_rubric(rubric, "json"), "Download JSON", "json", primary=False
        )
        _download_button(
            import_export.export_rubric(rubric, "sheet"), "Sheet to print", "sheet", primary=False
        )


def _download_button(shared: RubricExport, caption: str, form: ShareForm, *, primary: bool) -> None:
    st.download_button(
        caption,
        data=shared.data(),
        file_name=shared.file_name,
        mime=shared.mime,
        icon=":material/print:" if form == "sheet" else ":material/download:",
        type="primary" if primary else "secondary",
        on_click="ignore",
        key=state.key(RUBRIC_EXPORT, "download", form),
    )
