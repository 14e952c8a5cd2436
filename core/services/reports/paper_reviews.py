"""The report's section on reviews, and their estimates for all cells."""

from __future__ import annotations

from core.blocks.blocks import Section, Sentences, TableBlock, TextCell
from core.blocks.estimates import estimate_cell, measured_share
from core.metrics.estimate import pooled_share
from core.services.reports.report_values import RunReport, reported_number
from core.text.numbers import count, level_words, percent, plural, score

_NOTE = (
    "All cells: the share of verdicts that people give as well. Picked cells count once each; the "
    "random audit stands for all others (Holt and Smith 1979). Where a queue is narrowed, they are "
    "all of what it is about. "
    "Picked cells: those that the queue's rule took because they "
    "were doubtful; they say nothing of the others."
)


def reviews_section(report: RunReport) -> list[Section]:
    """Return the accuracy on all cells and on hard cells, for every queue with an audit."""
    if not report.reviews:
        declared = _corrected_blocks(report) if report.labels_declared else []
        return [Section("As people's labels have it", tuple(declared))] if declared else []
    rows = tuple(
        (
            TextCell(
                review.name, f"queue {review.queue}{f', {review.only}' if review.only else ''}"
            ),
            measured_share(review.weighted),
            measured_share(review.hard),
            reported_number(review.queued),
            reported_number(review.audited),
            reported_number(review.missing),
        )
        for review in report.reviews
    )
    headings = ("Queue", "All cells", "Picked cells", "Picked", "Drawn at random", "Open")
    table = TableBlock("Verdicts that people confirm", headings, rows, (1, 2, 3, 4, 5), _NOTE)
    return [Section("Reviewed by people", (table, *_corrected_blocks(report)))]


_CORRECTED_NOTE = (
    "What the votes say of all cells, corrected by how far they were off where people looked at "
    "random (prediction-powered inference, Angelopoulos and others 2023). However wrong the "
    "judges are, the interval holds. Points by weight, before gates and penalties."
)


def _corrected_blocks(report: RunReport) -> list[TableBlock | Sentences]:
    """Return means corrected by people's random labels, and the system that leads by them."""
    if not report.corrected:
        return []
    rows = tuple(
        (
            TextCell(line.name, ""),
            TextCell(score(line.said)),
            estimate_cell(line.mean),
            estimate_cell(line.labels),
            reported_number(line.cells),
            reported_number(line.labelled),
        )
        for line in report.corrected
    )
    headings = ("Mean of", "Votes say", "Corrected", "Labels alone", "Cells", "Labelled")
    title = "Means as people would have them"
    table = TableBlock(title, headings, rows, (1, 2, 3, 4, 5), _CORRECTED_NOTE)
    sentence = report.systems_by_people or report.labels_declared
    return [table, *([Sentences((sentence,))] if sentence else [])]


def reviews_summary(report: RunReport) -> list[str]:
    """Return a sentence on a review queue that represents all cells, or all of its part; empty
    without such a queue.

    It uses the newest queue over everything, or else the newest.
    """
    estimated = [review for review in report.reviews if review.weighted.value is not None]
    if not estimated:
        return []
    review = max(estimated, key=lambda line: (not line.only, line.queue))
    lines = [review] if review.only else [line for line in report.reviews if not line.only]
    picked = pooled_share([line.hard for line in lines])
    rules = "rules" if len(lines) > 1 else "a rule"
    hard = (
        f"people confirm {percent(picked.value)} of the {count(picked.n)} verdicts that {rules} "
        "picked as doubtful."
        if picked.value is not None
        else ""
    )
    if not review.only:
        # The first statement in the list is about all verdicts.
        return [hard[:1].upper() + hard[1:]] if hard else []
    share, ends, _ = review.weighted.words(percent)
    sentence = (
        f"On {review.only} people confirm an estimated {share} of the votes' "
        f"verdicts ({level_words(report.level)} interval {ends}; "
        f"{plural(review.audited, 'cell')} drawn at random)"
    )
    return [f"{sentence}; {hard}" if hard else f"{sentence}."]
