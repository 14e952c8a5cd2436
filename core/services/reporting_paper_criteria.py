"""Criteria and raters of a report, as sections of its paper."""

from __future__ import annotations

from core.files.paper import BarPiece, Bars, Block, Forest, PaperTable, Reach, Section, Words
from core.services.numbers import percent, weight
from core.services.reporting_values import CriterionLine, RaterLine, Report
from core.services.reporting_words import figure, kind, number, reference

_ALPHA = (
    "Alpha: agreement among all {whom} (Krippendorff), ordinal on ordinal criteria, else nominal; "
    "1 is perfect, 0 is what chance gives."
)


def criteria_section(report: Report) -> list[Section]:
    """Verdicts by criterion, and how far they can be trusted."""
    if not report.criteria or not report.counts.votes:
        return []
    blocks: list[Block] = [_bars(report), _verdicts(report)]
    if report.reference:
        blocks.append(_forest(report))
    blocks.append(_trust(report))
    return [Section("Criteria", tuple(blocks))]


def _bars(report: Report) -> Bars:
    rows = tuple((line.name, _pieces(line)) for line in report.criteria)
    return Bars("Verdicts by criterion", rows)


def _pieces(line: CriterionLine) -> tuple[BarPiece, ...]:
    given = zip(line.labels, line.values, line.verdicts, line.options, strict=True)
    pieces = [BarPiece(label, value, n, option) for label, value, n, option in given]
    return (*pieces, BarPiece("abstained", None, line.abstained, None))


def _verdicts(report: Report) -> PaperTable:
    rows = []
    for line in report.criteria:
        total = sum(line.verdicts) + line.abstained
        for piece in _pieces(line):
            if piece.value is None and not piece.items:
                continue
            verdict = "" if piece.option is None else str(piece.option)
            rows.append(
                (
                    Words(line.name),
                    Words(piece.label),
                    number(piece.items, {"criterion": line.question, "verdict": verdict}),
                    Words(percent(piece.items / total if total else None)),
                )
            )
        if line.missing:
            only = {"only": "incomplete"}
            missing = (Words("no verdict"), number(line.missing, only), Words(percent(None)))
            rows.append((Words(line.name), *missing))
    heads = ("Criterion", "Verdict", "Items", "Share")
    note = "Shares are of the items that have a verdict, abstentions included."
    return PaperTable("Verdicts, counted", heads, tuple(rows), (2, 3), note)


def _forest(report: Report) -> Forest:
    rows = tuple(
        Reach(line.name, value, line.accuracy.low, line.accuracy.high, line.commonest.value)
        for line in report.criteria
        if (value := line.accuracy.value) is not None
    )
    name = f"Accuracy against the {reference(report)}, by criterion"
    return Forest(name, rows, marks="always giving the commonest answer", axis="Accuracy")


def _trust(report: Report) -> PaperTable:
    whom = "people" if all(r.kind == "human" for r in report.raters) else "judges"
    alpha = f"{whom.capitalize()}' alpha" if whom == "judges" else "People's alpha"
    heads = ["Criterion", "Mean value", alpha]
    note = "Mean value: of the verdicts that are no abstention. " + _ALPHA.format(whom=whom)
    if report.reference:
        heads += ["Compared", "Accuracy", "Commonest answer", "Kappa"]
        note += (
            f" Compared: {_compared(report, whom)} and the {reference(report)}. Accuracy: the "
            "share of "
            "them on which the two are the same. Commonest answer: the accuracy of always giving "
            "it. Kappa: agreement beyond chance (Cohen 1960), quadratic on ordinal criteria."
        )
    rows = tuple(_trust_row(line, bool(report.reference)) for line in report.criteria)
    return PaperTable(
        "How far verdicts can be trusted", tuple(heads), rows, tuple(range(1, len(heads))), note
    )


def _compared(report: Report, whom: str) -> str:
    """What stands beside the reference: the same as on the Agreement page."""
    if report.setup.imported:
        return f"items with a majority of the {whom}' votes".replace("people'", "people's")
    if report.counts.adjudicated:
        return "items with a verdict by votes, before people settled any,"
    return "items with a verdict"


def _trust_row(line: CriterionLine, compared: bool) -> tuple[Words, ...]:
    row = (
        Words(line.name, f"{line.scale}, weight {weight(line.weight)}"),
        figure(line.mean),
        figure(line.alpha),
    )
    if not compared:
        return row
    return (
        *row,
        number(line.labelled, {"to": "agreement", "view": "one", "criterion": line.name}),
        figure(line.accuracy, share=True),
        Words(percent(line.commonest.value)),
        figure(line.kappa),
    )


def raters_section(report: Report) -> list[Section]:
    """Every rater's own scores and answers."""
    lines = [*report.raters, *((report.reference_scores,) if report.reference_scores else ())]
    if not report.raters:
        return []
    heads = ("Rater", "Answers", "Abstained", "Failed", "Items scored", "Own mean score")
    note = (
        "Own mean score: what the rater's answers alone give under the rubric, over the items on "
        "which it gave a verdict on every criterion: an answer, or that it cannot be assessed."
    )
    rows = tuple(map(_rater, lines))
    return [Section("Raters", (PaperTable("Raters", heads, rows, (1, 2, 3, 4, 5), note),))]


def _rater(line: RaterLine) -> tuple[Words, ...]:
    return (
        Words(line.name, kind(line.kind)),
        number(line.answers),
        number(line.abstained, {"only": "abstentions"}),
        number(line.failed, {"only": "failures"}),
        number(line.scored),
        figure(line.mean),
    )
