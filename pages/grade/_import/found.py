"""What was found in a file of votes: problems with their lines, or counts, raters, first votes."""

from __future__ import annotations

from itertools import islice

import streamlit as st

from core.domain.rubric import Rubric
from core.files.vote_bundle import VoteBundle
from core.files.votes import ImportedVote
from core.services import numbers as fmt
from core.services.importing import Preview
from core.services.importing_files import CheckedVotes
from pages.ui.text import esc, one_line
from pages.ui.widgets import Figure, figures, problem_list, table, tag

KINDS = {"human": "person", "llm": "model", "offline": "offline judge"}
FEW, MOST_RATERS, FIRST = 6, 200, 5


def show(checked: CheckedVotes) -> bool:
    """The findings; whether there is something to import."""
    bundle, preview = checked.bundle, checked.preview
    if bundle is None or preview is None:
        count = fmt.plural(len(checked.problems), "problem")
        st.error(f"{count} to mend before this can be imported.", icon=":material/error:")
        problem_list(checked.problems)
        return False
    _summary(preview)
    if bundle.notices:
        few = len(bundle.notices) <= FEW
        with st.expander(fmt.plural(len(bundle.notices), "notice"), expanded=few):
            problem_list(bundle.notices)
    _raters(preview)
    _first(bundle)
    return True


def _summary(preview: Preview) -> None:
    if preview.run is not None:
        st.info(
            f"These votes are here already, as run {preview.run}. Importing them again adds "
            "nothing.",
            icon=":material/info:",
        )
    if not preview.raters:
        st.warning("There are no votes in it: only its rubric and its items will be kept.")
    figures(
        [
            Figure("Votes", fmt.count(preview.votes), "Abstentions among them."),
            Figure("Abstentions", fmt.count(preview.abstentions)),
            Figure("Empty answers", fmt.count(preview.failures), "Failures to answer, no votes."),
            Figure("Raters", fmt.count(len(preview.raters))),
            Figure("Items", fmt.count(preview.items)),
            Figure("Criteria", fmt.count(preview.criteria)),
        ],
        6,
    )


def _raters(preview: Preview) -> None:
    if not preview.raters:
        return
    with st.expander(fmt.plural(len(preview.raters), "rater"), expanded=len(preview.raters) <= FEW):
        if not all(rater.counts for rater in preview.raters):
            st.caption(
                "Models rated too, so people are measured without counting towards verdicts."
            )
        table(
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


def _first(bundle: VoteBundle) -> None:
    if not bundle.votes.rows:
        return
    own = {item.id: item.rubric for item in bundle.dataset.items if item.rubric}
    st.html('<div class="rs-section">The first votes as they are read</div>')
    table(
        ("Item", "Criterion", "Rater", "Answer", "Line"),
        (
            [
                esc(one_line(row.cell.item, 60)),
                esc(one_line(row.criterion, 60)),
                f"{esc(one_line(row.rater, 60))} {tag(KINDS[row.kind])}",
                _answer(row, own.get(row.cell.item) or bundle.rubric),
                esc(str(row.line or "")),
            ]
            for row in islice(bundle.votes.rows, FIRST)
        ),
        name="The first votes",
        numbers=(4,),
    )


def _answer(row: ImportedVote, rubric: Rubric) -> str:
    if row.failed:
        return tag("✕ no answer", "bad")
    if row.option is None:
        return tag("abstains", "warn")
    label = esc(rubric.criterion(row.criterion).choices[row.option].label)
    return f"{label} {tag('abstains', 'warn')}" if row.abstained else label
