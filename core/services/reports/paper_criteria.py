"""The annex of a report on its criteria: verdicts counted, and how far they can be trusted."""

from __future__ import annotations

from core.blocks.blocks import (
    BarPiece,
    Bars,
    Block,
    Forest,
    IntervalCell,
    Section,
    Sentences,
    TableBlock,
    TextCell,
)
from core.blocks.estimates import estimate_cell, measured_share
from core.services.agreement.ratings import JUDGE_KINDS
from core.services.reports.paper_sections import ALPHA
from core.services.reports.report_values import (
    CriterionLine,
    RunReport,
    reference_name,
    reported_number,
)
from core.text.numbers import (
    count,
    percent,
    plural,
    weight,
)


def criteria_section(report: RunReport) -> list[Section]:
    """Return the verdicts by criterion, and how far they can be trusted."""
    if not report.criteria or not report.counts.votes:
        return []
    blocks: list[Block] = [_verdict_bars(report), _verdict_table(report)]
    if report.conclusion:
        blocks.append(Sentences((report.conclusion.finding, *_accuracy_lines(report))))
    if report.reference:
        blocks.append(_agreement_forest(report))
    blocks.append(_trust_table(report))
    return [Section("Criteria", tuple(blocks))]


def _accuracy_lines(report: RunReport) -> list[str]:
    compared = [
        (line.accuracy.value, line.commonest.value, line.accuracy.low)
        for line in report.criteria
        if line.accuracy.value is not None and line.commonest.value is not None
    ]
    if not compared:
        return []
    low, high = min(a for a, *_ in compared), max(a for a, *_ in compared)
    span = percent(low) if percent(low) == percent(high) else f"{percent(low)} to {percent(high)}"
    better = sum(a > c for a, c, _ in compared)
    surely = sum(end is not None and end > c for _, c, end in compared)
    before = "Before people settled any, verdicts" if report.counts.adjudicated else "Verdicts"
    right = (
        f"as the majority of people on {span} of the items that people rated"
        if report.reference == "people"
        else f"right on {span} of the labelled items"
    )
    return [
        f"{before} by criterion: {right}; on {count(better)} of "
        f"{plural(len(compared), 'criterion', 'criteria')} that is more than always giving the "
        f"most common answer would reach{f', significantly on {count(surely)}' if better else ''}."
    ]


def _verdict_bars(report: RunReport) -> Bars:
    rows = tuple((line.name, _bar_pieces(line)) for line in report.criteria)
    return Bars("Verdicts by criterion", rows)


def _bar_pieces(line: CriterionLine) -> tuple[BarPiece, ...]:
    # A penalty's best option deducts no points.
    earned = line.values if line.weight >= 0 else [max(line.values) - v for v in line.values]
    columns = zip(line.labels, earned, line.verdicts, line.options, strict=True)
    pieces = [BarPiece(label, value, n, option) for label, value, n, option in columns]
    return (*pieces, BarPiece("abstained", None, line.abstained, None))


def _verdict_table(report: RunReport) -> TableBlock:
    rows = []
    for line in report.criteria:
        total = sum(line.verdicts) + line.abstained
        for piece in _bar_pieces(line):
            if piece.value is None and not piece.items:
                continue
            verdict = "" if piece.option is None else str(piece.option)
            rows.append(
                (
                    TextCell(line.name),
                    TextCell(piece.label),
                    reported_number(piece.items, {"criterion": line.question, "verdict": verdict}),
                    TextCell(percent(piece.items / total if total else None)),
                )
            )
        if line.missing:
            missing = (
                TextCell("no verdict"),
                reported_number(line.missing, {"criterion": line.question, "verdict": "none"}),
                TextCell(percent(None)),
            )
            rows.append((TextCell(line.name), *missing))
    headings = ("Criterion", "Verdict", "Items", "Share")
    note = "Shares are of the items that have a verdict, abstentions included."
    return TableBlock("Verdicts, counted", headings, tuple(rows), (2, 3), note)


def _agreement_forest(report: RunReport) -> Forest:
    rows = tuple(
        IntervalCell(line.name, value, line.accuracy.low, line.accuracy.high, line.commonest.value)
        for line in report.criteria
        if (value := line.accuracy.value) is not None
    )
    name = f"Accuracy against the {reference_name(report)}, by criterion"
    return Forest(name, rows, marks="always giving the most common answer", axis="Accuracy")


def _trust_table(report: RunReport) -> TableBlock:
    judged = any(rater.kind in JUDGE_KINDS for rater in report.raters)
    among = "judges" if judged else "people"
    alpha = f"{among.capitalize()}' alpha" if among == "judges" else "People's alpha"
    headings = ["Criterion", "Mean value", alpha]
    note = "Mean value: of the verdicts other than abstentions. " + ALPHA.format(whom=among)
    if report.reference:
        headings += ["Compared", "Accuracy", "Most common answer", "Kappa"]
        note += (
            f" Compared: {_compared_items(report)} and the {reference_name(report)}. Accuracy: the "
            "share of "
            "them on which the two are the same. Most common answer: the accuracy of always giving "
            "it. Kappa: agreement beyond chance (Cohen 1960), quadratic on ordinal criteria."
        )
    rows = tuple(_trust_row(line, bool(report.reference)) for line in report.criteria)
    return TableBlock(
        "How far verdicts can be trusted",
        tuple(headings),
        rows,
        tuple(range(1, len(headings))),
        note,
    )


def _compared_items(report: RunReport) -> str:
    """Return the items that are compared with the reference, in words."""
    if report.counts.adjudicated:
        return "items with a verdict by votes, before people settled any,"
    return "items with a verdict"


def _trust_row(line: CriterionLine, compared: bool) -> tuple[TextCell, ...]:
    row = (
        TextCell(line.name, f"{line.scale}, weight {weight(line.weight)}"),
        estimate_cell(line.mean),
        estimate_cell(line.alpha),
    )
    if not compared:
        return row
    return (
        *row,
        reported_number(line.labelled, {"to": "agreement", "view": "one", "criterion": line.name}),
        measured_share(line.accuracy),
        TextCell(percent(line.commonest.value)),
        estimate_cell(line.kappa),
    )
