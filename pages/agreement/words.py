"""The names and meanings of figures, and how to write one with its interval."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from core.metrics.agreement.known_figures import KNOWN
from core.metrics.estimate import Estimate
from core.services.agreement import ratings
from core.services.agreement.rater_pairs import bias_direction
from core.services.agreement.rating_sheet import FEW, Sheet
from core.services.agreement.ratings import LABELS, PEOPLE, CriterionRatings
from core.services.review import corrected_estimates
from core.text import numbers as fmt
from pages.agreement.selection import RatedSelection
from pages.ui.resources import remembered, store
from pages.ui.text import esc, label

STRENGTH = (
    "Landis and Koch (1977) called a kappa up to 0.20 slight, up to 0.40 fair, up to "
    "0.60 moderate, up to 0.80 substantial, and higher values almost perfect. These "
    "words are a convention: what is enough depends on what the grades are for."
)
KINDS = {
    "human": "People",
    "llm": "LLM judges",
    "offline": "Offline judges",
    "reviewer": "Reviewers",
}
#: The subject of each check.
FINDING_NAMES = {
    "position": "Position of options",
    "flips": "Order reversed",
    "inconsistency": "Self-consistency",
    "verbosity": "Length of the text",
    "own_maker": "Answers of its own maker",
    "leniency": "Leniency or severity",
    "leaning": "Options without an order",
    "extremes": "Ends of the scale",
    "halo": "Halo",
    "abstention": "Abstentions",
    "agreement": "Agreement on the criterion",
    "discrimination": "Discrimination",
    "unused": "Unused option",
    "merge": "Options that could be merged",
    "redundancy": "Redundant criteria",
}
#: The meaning of each check's estimate.
ESTIMATES = {
    "position": "Pull of the position",
    "flips": "Share of changed answers",
    "inconsistency": "Share of changed answers",
    "verbosity": "Value gained by a doubled length",
    "own_maker": "Value gained by its own maker's answers",
    "leniency": "Mean difference of values",
    "leaning": "Difference of shares",
    "extremes": "Difference of shares",
    "halo": "Difference of correlations",
    "abstention": "Difference of shares",
    "agreement": "Krippendorff's alpha",
    "discrimination": "Correlation with the rest",
    "unused": "Share of items",
    "merge": "Alpha between the two criteria",
    "redundancy": "Association",
}


def equal_answers_name(sheet: Sheet, reference: str) -> str:
    """Return the name of the share of equal answers: accuracy only against people or labels."""
    right = (LABELS, PEOPLE, *sheet.people, *sheet.reviewers)
    return "Accuracy" if reference in right else "Agreement"


def estimate_row(
    name: str, estimate: Estimate, ratings: CriterionRatings | None = None, same: str = ""
) -> list[str]:
    """Return a line of a table of figures: its name, its value, its interval, its n.

    On a criterion, the direction of a bias is named by the option (``leaning``). ``same`` is the
    name of accuracy here (``equal_answers_name``).
    """
    known = KNOWN[name]
    title, meaning = known.title, known.meaning
    if name == "accuracy" and same:
        title = same
    if ratings is not None:
        direction = bias_direction(name, ratings.scale, ratings.labels, estimate)
        if direction is not None:
            text, meaning, estimate = direction
            title = text[0].upper() + text[1:]
    value, ends, reason = estimate.words(fmt.percent if known.share else fmt.score)
    if "p value" in known.traits and estimate.value is not None:
        value, ends = esc(fmt.p_value(estimate.value)), fmt.DASH
    return [
        f'{esc(title)}<br><span class="rs-quiet">{esc(meaning)}</span>',
        value,
        ends or f'<span class="rs-quiet rs-wrap">{esc(reason)}</span>',
        fmt.count(estimate.n),
    ]


def show_section(words: str) -> None:
    """Draw the heading of a part of the page."""
    st.html(f'<div class="rs-section">{esc(words)}</div>')


def few_items_warning(n: int) -> str:
    """Return a warning if there are few items, else an empty string."""
    if not 0 < n < FEW:
        return ""
    return f"Only {fmt.plural(n, 'item')}: a share of one half is uncertain by 14 points or more."


def sentence_list(sentences: Sequence[str], *, none: str) -> None:
    """Draw sentences as a list, or ``none`` if there are none."""
    lines = "".join(f"<li>{esc(sentence)}</li>" for sentence in sentences)
    prose = f'<div class="rs-prose">{esc(none)}</div>'
    st.html(f'<ul class="rs-list">{lines}</ul>' if lines else prose)


def show_remarks(chosen: RatedSelection) -> None:
    """Show how reviewers count as raters, and which labels come from review."""
    if chosen.whole.reviewers:
        _reviewers_as_raters(chosen)
    if ratings.LABELS in (chosen.reference, chosen.rater):
        _review_remark(chosen)


def _review_remark(chosen: RatedSelection) -> None:
    """Show which labels come from review, and the accuracy over all cells where it is known."""
    review = remembered(
        "labels from review",
        chosen.run_about,
        lambda: corrected_estimates.selection_of(store(), chosen.run_id),
    )
    if review is not None:
        st.caption(label(corrected_estimates.selection_warning(review)))


def _reviewers_as_raters(chosen: RatedSelection) -> None:
    """Show which answers of reviewers are compared, and warn of a circular comparison."""
    words = (
        "Reviewers of this run also count as raters, with the first verdicts that they gave "
        "before they saw the votes."
    )
    pair = {chosen.reference, chosen.rater}
    if ratings.LABELS in pair and pair & {ratings.PEOPLE, *chosen.whole.reviewers}:
        words += (
            " Labels include the reviewers' final verdicts, so this pair partly compares "
            "people with themselves."
        )
    st.caption(words)
