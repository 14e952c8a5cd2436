"""A file of votes: opened once, and its votes and problems, with their lines."""

from __future__ import annotations

from itertools import islice

import streamlit as st

from core.domain.rubric import Rubric
from core.errors import InputError
from core.formats.votes.imported import ImportedVote, VoteBundle
from core.formats.votes.reading import SourceKind
from core.formats.votes.vote_mapping import VoteMapping
from core.services.imports import import_files
from core.services.imports.import_files import CheckedVotes, FileShape
from core.services.imports.vote_import import ImportPreview
from core.text import numbers as fmt
from pages.ui.resources import Upload, store
from pages.ui.text import esc, one_line
from pages.ui.widgets import LabelledFigure, draw_table, problem_list, show_figures, tag

KINDS = {"human": "person", "llm": "model", "offline": "offline judge"}
FEW, MOST_RATERS, FIRST = 6, 200, 5


def show(checked: CheckedVotes) -> bool:
    """Draw the findings; return whether there are votes to import."""
    bundle, preview = checked.bundle, checked.preview
    if bundle is None or preview is None:
        count = fmt.plural(len(checked.problems), "problem")
        st.error(f"{count} to fix before this can be imported.", icon=":material/error:")
        problem_list(checked.problems)
        return False
    _show_summary(preview)
    if bundle.notices:
        few = len(bundle.notices) <= FEW
        with st.expander(fmt.plural(len(bundle.notices), "notice"), expanded=few):
            problem_list(bundle.notices)
    _show_raters(preview)
    _show_first_votes(bundle)
    return True


def _show_summary(preview: ImportPreview) -> None:
    if preview.run is not None:
        st.info(
            f"These votes were already imported as run {preview.run}. Importing them again adds "
            "nothing.",
            icon=":material/info:",
        )
    if not preview.raters:
        st.warning("This file has no votes: only its rubric and items will be stored.")
    show_figures(
        [
            LabelledFigure("Votes", fmt.count(preview.votes), "Abstentions among them."),
            LabelledFigure("Abstentions", fmt.count(preview.abstentions)),
            LabelledFigure(
                "Empty answers",
                fmt.count(preview.failures),
                ("These are failures to answer, not votes."),
            ),
            LabelledFigure("Raters", fmt.count(len(preview.raters))),
            LabelledFigure("Items", fmt.count(preview.items)),
            LabelledFigure("Criteria", fmt.count(preview.criteria)),
        ],
        6,
    )


def _show_raters(preview: ImportPreview) -> None:
    if not preview.raters:
        return
    with st.expander(fmt.plural(len(preview.raters), "rater"), expanded=len(preview.raters) <= FEW):
        if not all(rater.counts for rater in preview.raters):
            st.caption(
                "Models also rated, so answers of people are measured but do not count towards "
                "verdicts."
            )
        draw_table(
            ("Rater", "Is a", "Votes", "Abstentions", "Empty", "Weight", "Counts"),
            (
                [
                    esc(rater.name),
                    tag(KINDS[rater.kind]),
                    fmt.count(rater.votes),
                    fmt.count(rater.abstentions),
                    fmt.count(rater.failures),
                    fmt.number(rater.weight),
                    "yes" if rater.counts else "no",
                ]
                for rater in preview.raters[:MOST_RATERS]
            ),
            name="The raters of this file",
            numbers=(2, 3, 4, 5),
        )
        if len(preview.raters) > MOST_RATERS:
            st.caption(f"and {len(preview.raters) - MOST_RATERS} more.")


def _show_first_votes(bundle: VoteBundle) -> None:
    if not bundle.votes.rows:
        return
    item_rubrics = {item.id: item.rubric for item in bundle.dataset.items if item.rubric}
    st.html('<div class="rs-section">The first votes as they are read</div>')
    draw_table(
        ("Item", "Criterion", "Rater", "Answer", "Line"),
        (
            [
                esc(one_line(row.cell.item, 60)),
                esc(one_line(row.criterion, 60)),
                f"{esc(one_line(row.rater, 60))} {tag(KINDS[row.kind])}",
                _answer_words(row, item_rubrics.get(row.cell.item) or bundle.rubric),
                esc(str(row.line or "")),
            ]
            for row in islice(bundle.votes.rows, FIRST)
        ),
        name="The first votes",
        numbers=(4,),
    )


def _answer_words(row: ImportedVote, rubric: Rubric) -> str:
    if row.failed:
        return tag("✕ no answer", "bad")
    if row.option is None:
        return tag("abstains", "warn")
    label = esc(rubric.criterion(row.criterion).choices[row.option].label)
    return f"{label} {tag('abstains', 'warn')}" if row.abstained else label


# Cached work of the Import votes page: a file opened, and its votes checked.
#
# An imported file belongs to one session, which keeps only the latest.


def look_at_file(
    upload: Upload, shape: SourceKind | None, sheet: str | None = None
) -> FileShape | InputError:
    """Return what the file (or this sheet) seems to be, or why it is unreadable."""
    return _look_at_file(upload.file_id, upload.name, shape, sheet, upload)


@st.cache_resource(max_entries=3, scope="session", show_spinner="Reading the file …")
def _look_at_file(
    key: str, name: str, shape: SourceKind | None, sheet: str | None, _upload: Upload
) -> FileShape | InputError:
    try:
        file_look = import_files.look_at_bytes(_upload.getvalue(), name, sheet=sheet)
        if shape is None or shape == file_look.kind:
            return file_look
        return import_files.look(file_look.source, kind=shape)
    except InputError as error:
        # Cached like a result, so that a bad file is not read again on every rerun.
        return error


def checked_votes(
    key: str,
    file_look: FileShape,
    mapping: VoteMapping | None,
    rubric_version: int | None,
    dataset_version: int | None,
    bins: tuple[str, ...] = (),
) -> CheckedVotes:
    """Check the file's votes under that mapping, with numbers grouped into ``bins``."""
    caption = mapping.model_dump_json() if mapping else ""
    cache_key = (key, file_look.kind, caption, bins, rubric_version, dataset_version)
    return _checked_votes(cache_key, file_look, mapping)


@st.cache_resource(max_entries=1, scope="session", show_spinner="Checking every vote …")
def _checked_votes(
    cache_key: tuple[str, str, str, tuple[str, ...], int | None, int | None],
    _seen: FileShape,
    _mapping: VoteMapping | None,
) -> CheckedVotes:
    *_, bins, rubric_version, dataset_version = cache_key
    return import_files.check(
        store(),
        _seen,
        _mapping,
        rubric_version=rubric_version,
        dataset_version=dataset_version,
        bins=bins,
    )


def forget_file() -> None:
    """Discard the imported file."""
    _look_at_file.clear()
    _checked_votes.clear()


# Keys of the Import votes page, next to those of `state` (used with `state.key`).

# Families of session keys.
FILE = "votes_file"
RUBRIC = "votes_rubric"
DATASET = "votes_dataset"
SHAPE = "votes_shape"
SHEET = "votes_sheet"
FIELD = "votes_field"
RATERS = "votes_raters"
NAME = "votes_name"
STEPS = "votes_steps"
ACT = "votes_act"
DONE = "votes_done"
