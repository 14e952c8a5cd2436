"""What reviewing says of all verdicts, as a section of a report's paper."""

from __future__ import annotations

from core.files.paper import PaperTable, Section, Words
from core.services.numbers import percent, plural
from core.services.reporting_values import Report
from core.services.reporting_words import figure, number

_NOTE = (
    "All cells: the share of verdicts that people give as well, each decided cell weighted by the "
    "inverse of the chance that it had of being reviewed (Hajek 1971); the random audit speaks for "
    "the cells that nobody looked at. Where a queue is narrowed, they are all of what it is about. "
    "Picked cells: those that the queue's rule took because they "
    "were doubtful; they say nothing of the others."
)


def reviews_section(report: Report) -> list[Section]:
    """Accuracy on all cells beside that on the hard ones, for every queue with an audit."""
    if not report.reviews:
        return []
    rows = tuple(
        (
            Words(one.name, f"queue {one.queue}{f', {one.only}' if one.only else ''}"),
            figure(one.weighted, share=True),
            figure(one.hard, share=True),
            number(one.queued),
            number(one.audited),
            number(one.missing),
        )
        for one in report.reviews
    )
    heads = ("Queue", "All cells", "Picked cells", "Picked", "Drawn at random", "Open")
    table = PaperTable("Verdicts that people confirm", heads, rows, (1, 2, 3, 4, 5), _NOTE)
    return [Section("Reviewed by people", (table,))]


def reviews_summary(report: Report) -> list[str]:
    """A sentence of a queue that can speak of all cells, or of what it is about; none without one.

    The newest that looked at everything, or else the newest.
    """
    known = [one for one in report.reviews if one.weighted.value is not None]
    if not known:
        return []
    one = max(known, key=lambda line: (not line.only, line.queue))
    drawn = plural(one.audited, "cell")
    hard = (
        f", and {percent(one.hard.value)} of those that a rule picked as doubtful"
        if one.hard.value is not None
        else ""
    )
    ends = f"{percent(one.weighted.low)} to {percent(one.weighted.high)}"
    return [
        f"People confirm an estimated {percent(one.weighted.value)} of all verdicts"
        f"{f' on {one.only}' if one.only else ''} (95 % interval {ends}; {drawn} drawn at random)"
        f"{hard}."
    ]
