"""The accuracy of all verdicts, which of them may be accepted unseen, and corrected scores."""

from __future__ import annotations

from typing import TYPE_CHECKING

import streamlit as st

from core import figures as draw
from core.domain.review_records import QueueRow
from core.metrics.estimate import USUAL, Estimate
from core.services.review import corrected_estimates, random_audit, random_labels
from core.services.review.corrected_estimates import CorrectedMean
from core.services.review.random_audit import UnauditedCells, VerdictAccuracy, scope_words
from core.text import numbers as fmt
from pages.review_findings.words import (
    RECORD_FIELD,
    cached_figure,
    quiet_html,
    show_section,
    show_sentences,
)
from pages.ui import routes, state
from pages.ui.resources import store
from pages.ui.text import esc, label, one_line
from pages.ui.widgets import draw_table, figure_cell, tag

if TYPE_CHECKING:
    from core.metrics.intervals.acceptance import Acceptance

RECORD_CHART = "record_chart"


HIT_RATES_SAY = (
    "By hit rates, for questions with two answers: the share of true cells that votes "
    "find (sensitivity), the share of false cells that they clear (specificity), and "
    "from both the share of cells that are true (Rogan and Gladen 1978), with the "
    "uncertainty of both rates (Lang and Reiczigel 2014; Lee and others 2025). This "
    "figure is about cells like these; Corrected is about these alone."
)
#: The default share of accepted verdicts that may disagree with people, in %.
MAY_DISAGREE = 10
ALL = "All criteria, by weight"


def show(queue: QueueRow) -> None:
    """Draw the view."""
    if queue.rule.drawn is not None:
        _accuracy_by_texts(queue)
        _show_scores(queue)
        return
    share = _chosen_alpha(queue) / 100
    right = cached_figure("right", queue, lambda: random_audit.verdict_accuracy(store(), queue.id))
    rest = cached_figure(
        "unseen", queue, lambda: random_audit.unaudited_cells(store(), queue.id, share), share
    )
    _show_accuracy(queue, right, rest)
    _show_acceptance(queue, rest)
    _show_scores(queue)


def _accuracy_by_texts(queue: QueueRow) -> None:
    """Draw how often people confirm the verdicts, by texts that were drawn whole."""
    show_section("How often people confirm the verdicts")

    def measured_accuracy() -> tuple[str, Estimate, int]:
        labels = random_labels.labels_of_queue(store(), queue)
        share, cells, _ = random_labels.confirmed_share(labels, USUAL.level)
        return labels.reason or share.reason, share, cells

    reason, share, cells = cached_figure("texts", queue, measured_accuracy)
    number = f"{fmt.plural(cells, 'cell')} of texts drawn at random"
    show_sentences(reason or f"Of all cells {share.words(fmt.percent).inline}, by {number}.")


def _show_accuracy(queue: QueueRow, rightness: VerdictAccuracy, unseen: UnauditedCells) -> None:
    show_section("How often people confirm the verdicts")
    lines = [
        (
            "All cells",
            rightness.weighted,
            rightness.audited + rightness.queued + rightness.others,
            _label_sources(rightness),
        ),
        (
            "Picked as doubtful",
            rightness.hard,
            rightness.queued,
            "hard cells; do not generalise",
        ),
        (
            "Never looked at",
            unseen.accuracy,
            unseen.audited,
            _rest_words(unseen),
        ),
    ]
    dots = [
        (name, estimate._replace(n=n))
        for name, estimate, n, _ in lines
        if estimate.value is not None
    ]
    if dots:
        st.plotly_chart(
            draw.forest(dots, "Share of verdicts that people confirm"),
            key=state.key(RECORD_CHART, "right", queue.id),
            config={"displayModeBar": False},
            alt="Shares with their intervals, as in the table below.",
        )
    draw_table(
        ("Cells", "Confirmed", "Decided"),
        (
            [
                f"{esc(name)}<br>{quiet_html(about)}",
                figure_cell(estimate, fmt.percent),
                fmt.count(n),
            ]
            for name, estimate, n, about in lines
        ),
        name="How often people confirm the verdicts",
        numbers=(1, 2),
    )
    _offer_more_audit(queue, unseen)
    scope = label(scope_words(queue.rule))
    st.caption(
        "A queue holds the hard cells; they alone say nothing about the rest. **All cells**: "
        "each cell picked as doubtful counts once, and the random audit stands for all others "
        "(Holt and Smith 1979). **Never looked at**: exact bounds for the cells that nobody has "
        "reviewed, from the random audit and from what is known by now about the other cells. In "
        "this figure, a cell that nobody can assess counts against its verdict; the other two "
        "figures leave such cells out." + (f" This queue covers {scope}." if scope else "")
    )


def _label_sources(rightness: VerdictAccuracy) -> str:
    if not rightness.others:
        return "estimated from the two rows below"
    return f"from the two rows below, and {fmt.plural(rightness.others, 'cell')} settled elsewhere"


def _rest_words(unseen: UnauditedCells) -> str:
    text = f"{fmt.plural(unseen.rest, 'cell')}, from the random audit"
    if not unseen.elsewhere:
        return text
    return f"{text}, and {fmt.count(unseen.elsewhere)} more that were settled without a draw"


def _offer_more_audit(queue: QueueRow, unseen: UnauditedCells) -> None:
    if unseen.behind:
        show_sentences(
            f"{fmt.plural(unseen.behind, 'cell')} got a verdict after the audit sample was drawn. "
            "Update the queue to estimate the unreviewed cells."
        )
    elif unseen.missing:
        show_sentences(_audit_so_far(unseen))
    elif unseen.audited < 10 and unseen.rest:
        more = 10 - unseen.audited
        show_sentences(
            f"{more} more random {'cell' if more == 1 else 'cells'} would be enough to estimate "
            "the unreviewed cells. Make a further queue with a larger audit share."
        )
        with st.container(horizontal=True):
            for text, new, icon in (
                ("How many labels?", "labels", "straighten"),
                ("New queue", "queue", "add"),
            ):
                address = {state.NEW: new, state.RUN: queue.run_id}
                routes.draw_link(routes.QUEUES, text, address, icon=icon)


def _audit_so_far(unseen: UnauditedCells) -> str:
    """Return what the decided cells of a random audit show while others are open."""
    drawn = unseen.audited + unseen.missing
    if not unseen.audited:
        return (
            f"No cell of the random audit ({fmt.count(drawn)}) is decided yet. These cells are "
            "unmarked and mixed into the queue's order."
        )
    sentence = (
        f"Of {fmt.plural(drawn, 'cell')} drawn at random {fmt.count(unseen.audited)} "
        f"{'is' if unseen.audited == 1 else 'are'} decided: people gave the panel's verdict on "
        f"{fmt.count(unseen.right)}."
    )
    if unseen.so_far is None:
        return f"{sentence} The rest are unmarked and mixed into the queue's order."
    low, high = map(fmt.percent, unseen.so_far)
    return (
        f"{sentence} Whatever the other {fmt.count(unseen.missing)} turn out to be, people would "
        f"confirm {low} to {high} of the {fmt.plural(unseen.rest, 'cell')} that are not reviewed "
        "(95%)."
    )


def _chosen_alpha(queue: QueueRow) -> int:
    key = state.key(RECORD_FIELD, "alpha", queue.id)
    return int(state.get(key) or MAY_DISAGREE)


def _show_acceptance(queue: QueueRow, unseen: UnauditedCells) -> None:
    show_section("Verdicts to accept without review")
    key = state.key(RECORD_FIELD, "alpha", queue.id)
    state.seed(key, MAY_DISAGREE)
    st.slider(
        "At most this share of the accepted verdicts may disagree with people, in %",
        1,
        50,
        key=key,
        width=620,
    )
    promise = unseen.acceptance
    if promise is None:
        show_sentences(f"Not known: {unseen.accuracy.reason}")
        return
    show_sentences(_promise_words(promise, unseen))
    if promise.steps:
        with st.popover("The thresholds that were tested", icon=":material/table_rows:"):
            _show_tested(promise)
    st.caption(
        "Thresholds are tested from the surest verdicts down. Testing stops at the first "
        "that fails, so that the promise is kept however many are tested (fixed-sequence "
        "testing, as in Jung, Brahman and Choi 2024; here with the exact test for a finite "
        "number). All random audits of a run, including those of archived queues, together "
        f"break a promise in at most 5% of runs. This is audit {unseen.draw} and may do so "
        f"in {fmt.percent(unseen.delta, 2)}, so drawing again until something is accepted "
        "gains nothing. Cells settled by other means stay among those that the audit was "
        "drawn from: the bound is on the wrong cells among all of them, less the wrong "
        "ones already known; all thresholds are then bounded at once. Nothing is accepted "
        "automatically: you decide."
    )


def _promise_words(promise: Acceptance, unseen: UnauditedCells) -> str:
    if promise.threshold is not None:
        return (
            f"{fmt.count(promise.accepted)} of {fmt.plural(unseen.rest, 'cell')} unreviewed: those "
            f"on which at least {fmt.percent(promise.threshold)} of the votes agree. With "
            f"{fmt.percent(1 - unseen.delta, 1)} confidence no more than "
            f"{fmt.percent(promise.bound, 1)} of them disagree with people."
        )
    more = (
        f" About {fmt.plural(promise.more, 'random label')} more would be enough if "
        "verdicts disagree as often as so far."
        if promise.more
        else ""
    )
    return f"Nothing yet. {_no_promise_reason(promise)}{more}"


def _show_tested(promise: Acceptance) -> None:
    known = any(step.known.n for step in promise.steps)
    elsewhere = ("Settled elsewhere", "Disagree") if known else ()
    draw_table(
        ("Votes that agree", "Labels there", "Disagree", *elsewhere, "Unseen", "At most", ""),
        (
            [
                f"from {fmt.percent(step.threshold)}",
                fmt.count(step.labels),
                fmt.count(step.wrong),
                *([fmt.count(step.known.n), fmt.count(step.known.wrong)] if known else []),
                fmt.count(step.unseen),
                fmt.percent(step.bound, 1),
                tag("✓ holds", "good") if step.held else tag("✕ not met", "bad"),
            ]
            for step in promise.steps
        ),
        name="Thresholds tested",
        numbers=tuple(range(1, 5 + len(elsewhere))),
    )


def _no_promise_reason(promise: Acceptance) -> str:
    from core.metrics.intervals.acceptance import nearest_failed_step

    step = nearest_failed_step(promise.steps)
    if step is None:
        return promise.reason
    sentence = (
        f"Of {fmt.plural(step.labels, 'random label')} on which at least "
        f"{fmt.percent(step.threshold)} of the votes agree, {fmt.count(step.wrong)} disagree with "
        "people"
    )
    if step.known.n:
        return (
            f"{sentence}, and {fmt.count(step.known.wrong)} of {fmt.count(step.known.n)} that "
            f"were settled elsewhere do. Of the {fmt.count(step.unseen)} that are left, up to "
            f"{fmt.percent(step.bound, 1)} may disagree. A further queue with a random audit of "
            "what is left would represent only these."
        )
    means = "That is too many." if promise.more else "More labels would hardly help."
    return (
        f"{sentence}, so up to {fmt.percent(step.bound, 1)} of such verdicts may disagree. {means}"
    )


def _show_scores(queue: QueueRow) -> None:
    lines = cached_figure(
        "scores", queue, lambda: corrected_estimates.corrected_means(store(), queue.id)
    )
    show_section("Scores, corrected by people's decisions")
    reasons = {line.reason for line in lines if line.powered is None}
    if len(reasons) == 1 and all(line.powered is None for line in lines):
        show_sentences(f"Not known yet: {reasons.pop()}")
        return
    rates = any(line.rates is not None for line in lines)
    draw_table(
        (
            "Mean value",
            "Votes say",
            "Corrected",
            "People's labels alone",
            *(["By hit rates"] if rates else []),
            "Cells",
            "Labelled",
        ),
        (_score_line(line, rates=rates) for line in lines),
        name="Mean values, corrected",
        numbers=range(1, 7 if rates else 6),
    )
    st.caption(
        "The votes on all cells, corrected by their error on the cells that "
        "people checked (prediction-powered inference, Angelopoulos and others 2023). The "
        "interval holds however wrong the judges are; the better they are, the narrower it "
        "is. All criteria, by weight: the mean score where items have all criteria, before "
        "gates and penalties.",
        help=HIT_RATES_SAY if rates else None,
    )


def _rates_words(corrected: CorrectedMean) -> str:
    if corrected.rates is None:
        return fmt.DASH
    share, detected, cleared = (
        corrected.rates.share,
        corrected.rates.found.value,
        corrected.rates.cleared.value,
    )
    text = figure_cell(share, fmt.percent)
    if share.value is None:
        return text
    return (
        f"{text}<br>{quiet_html(f'finds {fmt.percent(detected)}, clears {fmt.percent(cleared)}')}"
    )


def _score_line(corrected: CorrectedMean, *, rates: bool) -> list[str]:
    powered = corrected.powered
    name = one_line(corrected.criterion, 80) if corrected.criterion else ALL
    labels_note = (
        quiet_html(f"weight of the judges' votes: {fmt.percent(powered.listened)}")
        if powered is not None
        and powered.mean.value is not None
        and corrected.labelled < corrected.cells
        else ""
    )
    return [
        f"{esc(name)}<br>{labels_note}" if labels_note else esc(name),
        fmt.score(corrected.said),
        figure_cell(Estimate.undefined(corrected.reason) if powered is None else powered.mean),
        fmt.DASH if powered is None else figure_cell(powered.labels),
        *([_rates_words(corrected)] if rates else []),
        fmt.count(corrected.cells),
        fmt.count(corrected.labelled),
    ]
