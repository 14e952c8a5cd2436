"""Judges' votes on a cell, and other reviewers' verdicts if they differ, after the commit."""

from __future__ import annotations

import streamlit as st

from core.domain.review import WHYS, ReviewerAnswer
from core.domain.rubric import Criterion
from core.services.review.commit_reveal import RevealedCell
from core.text import numbers as fmt
from pages.ui.items import answer_label, standing_tags, verdict_chips, vote_card
from pages.ui.text import esc
from pages.ui.widgets import draw_row, tag

REASONS = {
    "failure": "no judge could answer, or some failed",
    "split": "the judges disagree",
    "margin": "the votes are close",
    "abstention": "a judge abstained",
    "near_gate": "a gate depends on the cell",
    "near_mark": "the score is close to a mark",
    "flip": "answers depend on the order of options",
    "stale": "the question has changed since the vote",
    "chosen": "a reviewer chose the cell",
    "audit": "drawn at random",
    # A known label is described as "drawn at random", so that reviewers do not treat the cell
    # differently.
    "gold": "drawn at random",
    "regrade": "a regrade was requested",
}


def show_summary(cell: RevealedCell) -> None:
    """Draw the panel's verdict, the spread of votes, why the cell was queued, others' verdicts."""
    view = cell.view
    criterion, verdict = view.criterion, view.verdict
    chips = "".join(verdict_chips(criterion, verdict)) if verdict else tag("no verdict", "warn")
    reasons = "; ".join(REASONS.get(reason, reason) for reason in cell.reasons)
    tie = tag("in a tie, the worse answer counts") if verdict and verdict.tie else ""
    draw_row([f"<b>Panel</b>{chips}", tie, _same_words(cell)])
    st.html(
        f'<span class="rs-quiet rs-num">{_vote_spread(cell)}Queued because {esc(reasons)}.</span>'
    )
    for reviewer, note in cell.asked:
        st.html(
            f'<div class="rs-card"><div class="rs-row"><b>Regrade request</b>'
            f'<span class="rs-quiet">from {esc(reviewer)}</span></div>'
            f'<div class="rs-prose">{esc(note)}</div></div>'
        )
    for index, other in enumerate(cell.others):
        _draw_other(cell.view.criterion, chr(ord("A") + index), other)


def show_votes(cell: RevealedCell, text: str) -> None:
    """Draw every judge's vote with its reason and quotes."""
    for vote in cell.view.votes:
        if vote.result is not None:
            st.html(
                vote_card(
                    cell.view.criterion,
                    vote.result,
                    which=answer_label(vote),
                    text=text,
                    marks=standing_tags(vote),
                )
            )


def _same_words(cell: RevealedCell) -> str:
    verdict, first = cell.view.verdict, cell.first
    if verdict is None or first is None:
        return ""
    if verdict.abstained and first.option is not None:
        return tag("left to you", "info")
    if verdict.option == first.option:
        return tag("as you said", "good")
    caption = "not your verdict" + (": they all agree" if cell.unanimous is not None else "")
    return tag(caption, "warn")


def _draw_other(criterion: Criterion, letter: str, answer: ReviewerAnswer) -> None:
    verdict = (
        criterion.choices[answer.option].label
        if answer.option is not None
        else f"cannot assess: {WHYS[answer.why] if answer.why else ''}"
    )
    note = f'<div class="rs-prose rs-quiet">{esc(answer.note)}</div>' if answer.note else ""
    quotes = "".join(f'<div class="rs-quote">{esc(span.quote)}</div>' for span in answer.evidence)
    st.html(
        f'<div class="rs-card"><div class="rs-row"><b>Reviewer {letter}</b>'
        f"{tag(verdict, 'info')}</div>{note}{quotes}</div>"
    )


def _vote_spread(cell: RevealedCell) -> str:
    """Return how many votes each option got; empty for a single vote."""
    votes = [v.vote for v in cell.view.votes if v.vote is not None and v.repeats is None]
    if len(votes) < 2:
        return ""
    counted = (
        f"{esc(option.label)} <b>×{fmt.count(sum(v.option == index for v in votes))}</b>"
        for index, option in enumerate(cell.view.criterion.choices)
        if len(cell.view.criterion.choices) < 8 or any(v.option == index for v in votes)
    )
    return f"Votes: {' · '.join(counted)}. "
