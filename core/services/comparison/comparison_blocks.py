"""The comparison of two runs as blocks, for the page and a terminal."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from core.blocks.blocks import (
    Block,
    IntervalCell,
    NamedValues,
    Section,
    Sentences,
    TableBlock,
    TextCell,
)
from core.blocks.estimates import estimate_cell, measured_share
from core.domain.runs import Run
from core.metrics.intervals.means import LEVEL
from core.scoring.explanation import ungraded_sides
from core.services.comparison import rightness, run_comparison
from core.services.comparison.costs import CostPoint, RunSpending
from core.services.comparison.differences import FigureDelta
from core.services.comparison.in_words import NAMED, comparison_words, trust_words
from core.services.comparison.run_comparison import FEW, RunChange, RunComparison
from core.text.numbers import (
    DASH,
    Form,
    cost,
    count,
    level_words,
    p_value,
    plural,
    score,
)

#: The figures compared criterion by criterion (fields of ``CriterionDelta``).
FIGURES: dict[str, str] = {
    "accuracy": "Accuracy",
    "kappa": "Kappa",
    "agreement": "Judges' agreement",
}
SAYS: dict[str, str] = {
    "accuracy": "Accuracy: the share of labelled items on which the verdict is the label, where "
    "both runs decide. p: McNemar's exact test on the items that only one of the runs gets right; "
    "of all criteria together, from the resamples, since an item's cells hang together.",
    "kappa": "Kappa: agreement of verdicts and labels beyond chance, with quadratic weights on "
    "ordinal criteria. p: from the resamples.",
    "agreement": "Judges' agreement: Krippendorff's alpha among the judges of each run, ordinal on "
    "ordinal criteria. p: from the resamples.",
}
ALL = "All criteria together"
#: The number of rows of a long table that are shown at first.
FIRST = 12
#: The number of items named for each flip.
EXAMPLES = 3


def comparison_sections(result: RunComparison) -> tuple[Section, ...]:
    """Return the whole comparison, in reading order."""
    sides = zip("AB", result.runs, strict=True)
    runs = NamedValues("Runs", tuple((side, TextCell(_run_words(run))) for side, run in sides))
    tables = (_difference_block(result, name) for name in FIGURES)
    ungraded_note = Sentences(tuple(ungraded_sides(result.ungraded)))
    return (
        Section("", (runs, Sentences(opening_sentences(result)))),
        Section("What changed", change_blocks(result)),
        Section("Items", (item_sentences(result), *unfinished_warnings(result))),
        Section(
            "Differences on the same items (B minus A)",
            (overall_figures(result), ungraded_note, *tables, interval_sentences(result)),
        ),
        Section("Verdicts that flipped", (flip_blocks(result),)),
        Section("Cost", (_spending_table(result),)),
    )


def _difference_block(result: RunComparison, name: str) -> Block:
    """Return a figure's table, or a sentence if it is undefined everywhere."""
    differences = [delta.difference for _, delta in figure_rows(result, name)]
    if not differences or any(gap.value is not None for gap in differences):
        return difference_table(result, name)
    return Sentences((f"{FIGURES[name]}: {differences[0].words(score).inline}.",))


def _run_words(run: Run) -> str:
    judges = ", ".join(judge.name for judge in run.panel.judges)
    return (
        f"run {run.id}, {run.name} ({run.rubric_name} {run.version_words} on "
        f"{run.dataset_name} version {run.dataset_number}; {judges})"
    )


def opening_sentences(result: RunComparison) -> tuple[str, ...]:
    """Return each run's accuracy, which run is better, and what this means for all cells."""
    deltas = result.deltas
    lines = (
        *trust_words(result.trust),
        comparison_words(deltas.criteria, deltas.decided),
        rightness.accuracy_words(result.corrected),
        *run_comparison.stand_in_words(result),
    )
    return tuple(line for line in lines if line)


def change_blocks(result: RunComparison) -> tuple[Block, ...]:
    """Return the differences between the runs' plans, and criteria that cannot be compared."""
    rows = tuple(
        (
            TextCell(c.area),
            TextCell(c.what),
            TextCell(c.before or "nothing"),
            TextCell(c.after or "nothing"),
        )
        for c in result.changed
    )
    same = "Nothing: same rubric, dataset, panel and seed. What differs below is chance."
    headings = ("Part", "What", "A", "B")
    not_comparable = tuple(
        f"{name} cannot be compared. {reason}" for name, reason in result.apart.items()
    )
    first = TableBlock("What changed", headings, rows, first=FIRST) if rows else Sentences((same,))
    return (first, *([Sentences(not_comparable, listed=True)] if not_comparable else []))


def changed_line(result: RunComparison) -> str:
    """Return the differences between the plans, the first few by name."""
    if not result.changed:
        return "Nothing changed: what differs is chance."
    names = [_change_words(change) for change in result.changed]
    unlisted = [f"{count(len(names) - NAMED)} more"] if names[NAMED:] else []
    return f"Changed: {', '.join([*names[:NAMED], *unlisted])}."


def _change_words(change: RunChange) -> str:
    """Return the changed field, and whether only one of the runs has it."""
    only_words = {(True, False): " (only in B)", (False, True): " (only in A)"}
    side = only_words.get((change.before is None, change.after is None), "")
    return f"{change.area}, {change.what}{side}"


def item_sentences(result: RunComparison) -> Sentences:
    """Return the number of shared items, and what happened to the others."""
    match = result.match
    parts = [f"{plural(len(match.both), 'item')} in both"]
    for group, ids in (
        ("only in A", match.only_first),
        ("only in B", match.only_second),
        ("left out because their text changed", match.reworded),
        ("with another label in B, which counts for both", match.relabelled),
    ):
        parts += [f"{count(len(ids))} {group}"] if ids else []
    warning = " Few items: every figure is uncertain." if len(match.both) < FEW else ""
    return Sentences((f"{', '.join(parts)}.{warning}",), kind="quiet")


def unfinished_warnings(result: RunComparison) -> Iterator[Sentences]:
    """Yield a warning while votes are missing."""
    going = [str(run.id) for run in result.runs if run.status != "done"]
    if going:
        line = f"Not finished: run {' and run '.join(going)}. "
        yield Sentences((f"{line}The figures are of the votes so far.",), kind="warning")


def overall_figures(result: RunComparison) -> NamedValues:
    """Return the mean score, accuracy and cost of both runs, and the differences."""
    first, second = result.spent
    level = result.confidence.level
    calls = (
        ("Calls", TextCell(f"{count(first.calls)} → {count(second.calls)}")),
        ("Cost, paid now", TextCell(f"{cost(first.now)} → {cost(second.now)}")),
    )
    return NamedValues(
        "Figures",
        (
            _difference_row("Mean score", result.deltas.score, level),
            _difference_row("Accuracy", result.deltas.accuracy, level, share=True),
            *(calls if first.calls or second.calls else ()),
        ),
        large=True,
    )


def _difference_row(
    name: str, delta: FigureDelta, level: float, *, share: bool = False
) -> tuple[str, TextCell]:
    form, change = delta.forms(share=share)
    text = delta.difference.words(change)
    value = TextCell(text.value, f"{level_words(level)}: {text.ends}" if text.ends else text.why)
    if delta.difference.value is None:
        return name, value
    return f"{name}: {form(delta.first.value)} → {form(delta.second.value)}", value


def figure_rows(result: RunComparison, name: str) -> list[tuple[str, FigureDelta]]:
    """Return a figure's rows: every criterion, and for accuracy all criteria together."""
    rows = [(ALL, result.deltas.accuracy)] if name == "accuracy" else []
    return rows + [(row.name, getattr(row, name)) for row in result.deltas.criteria]


def difference_table(result: RunComparison, name: str) -> TableBlock:
    """Return the table of a figure of both runs, criterion by criterion."""
    share = name == "accuracy"
    figures = figure_rows(result, name)
    ends = [end for _, delta in figures for end in delta.difference[:3] if end is not None]
    widest = max(map(abs, ends), default=0.0) or 1.0
    rows = [_difference_cells(row, delta, share, widest) for row, delta in figures]
    # The reason why known differences lack an interval; if several share it, it is stated once
    # below.
    are_known = [delta.difference.value is not None for _, delta in figures]
    reason = Counter(
        row[4].below
        for row, is_known, (_, delta) in zip(rows, are_known, figures, strict=True)
        if is_known and delta.difference.low is None
    )
    often = [words for words, times in reason.items() if words and times > 1]
    rows = [
        (*row[:4], row[4]._replace(below=""), *row[5:])
        if is_known and row[4].below in often
        else row
        for row, is_known in zip(rows, are_known, strict=True)
    ]
    return TableBlock(
        f"Differences in {FIGURES[name]}",
        ("Criterion", "Items", "A", "B", "Difference", "p", "p, corrected"),
        tuple(rows),
        numbers=(1, 2, 3, 4, 5, 6),
        note=" ".join([SAYS[name], *(f"{words[0].upper()}{words[1:]}" for words in often)]),
    )


def interval_sentences(result: RunComparison) -> Sentences:
    """Return how intervals were computed, and what makes a difference sure."""
    line = (
        f"Intervals: {level_words(result.confidence.level)}, from {count(result.resamples)} "
        "resamples of the items, the same for both runs. p, corrected: for the number of criteria "
        "(Holm 1979). "
        f"Sure, and filled in a plot, is a corrected p below {score(LEVEL)}; an interval is of one "
        "criterion alone and may leave out no difference before that."
    )
    return Sentences((line,) if result.resamples else (), kind="quiet")


def _difference_cells(
    name: str, delta: FigureDelta, share: bool, widest: float
) -> tuple[TextCell, ...]:
    unit = " cells" if name == ALL else ""
    form, change = delta.forms(share=share)
    defined = delta.difference.value is not None
    return (
        TextCell(name),
        TextCell(f"{count(delta.n)}{unit}", "few" if 0 < delta.n < FEW else ""),
        TextCell(form(delta.first.value)),
        TextCell(form(delta.second.value)),
        _difference_bar(name, delta, change, widest),
        _p_value_words(delta.p.value if defined else None),
        _p_value_words(delta.p_holm if defined else None),
    )


def _difference_bar(name: str, delta: FigureDelta, change: Form, widest: float) -> TextCell:
    """Return the difference with its interval, as a bar on a scale from minus to plus
    ``widest``.
    """
    cell = estimate_cell(delta.difference, change)
    value, low, high, *_ = delta.difference
    if value is None:
        return cell
    certainty = "sure" if delta.significant else "within chance"
    tooltip = f"{name}: {cell.flat}, {certainty}; left of the line A is higher, right of it B"
    least, most = (None if end is None else (1 + end / widest) / 2 for end in (low, high))
    return cell._replace(reach=IntervalCell(tooltip, (1 + value / widest) / 2, least, most, 0.5))


def _p_value_words(value: float | None) -> TextCell:
    return TextCell(DASH if value is None else p_value(value))


def flip_blocks(result: RunComparison) -> Block:
    """Return the verdicts that changed, and how many became right."""
    if not result.flips:
        same = sum(row.same for row in result.deltas.criteria)
        return Sentences((f"None: all {count(same)} verdicts are the same in both.",))
    return TableBlock(
        "Verdicts that flipped",
        ("Criterion", "A", "B", "Items", "Right in B only", "Right in A only", ""),
        tuple(
            (
                *map(TextCell, (flip.criterion, flip.before, flip.after)),
                *map(TextCell, map(count, (len(flip.items), flip.mended, flip.broken))),
                TextCell(
                    ", ".join(flip.items[:EXAMPLES]) + (", ..." if flip.items[EXAMPLES:] else "")
                ),
            )
            for flip in result.flips
        ),
        numbers=(3, 4, 5),
        first=FIRST,
    )


_SPENT = ("Paid now", "Saved", "Calls")


def _spending_table(result: RunComparison) -> TableBlock:
    sides = zip("AB", result.spent, strict=True)
    rows = tuple((TextCell(side, run.reason), *_cost_cells(run)) for side, run in sides)
    return TableBlock("Cost", ("Run", *_SPENT), rows, numbers=(1, 2, 3))


def _cost_cells(run: RunSpending) -> tuple[TextCell, ...]:
    saved = cost(run.saved) if run.cached else DASH
    return TextCell(cost(run.now)), TextCell(saved), TextCell(count(run.calls))


def cost_table(runs: Sequence[CostPoint], level: float) -> TableBlock:
    """Return accuracy and cost, run by run."""
    return TableBlock(
        "Accuracy and cost of the runs",
        ("Run", "Accuracy", "Cells decided", "Per 1,000 items", *_SPENT, ""),
        tuple(
            (
                TextCell(f"{run.run_id}: {run.name}"),
                measured_share(run.accuracy),
                TextCell(f"{count(run.decided)} of {count(run.labelled)}"),
                TextCell(cost(run.per_thousand), run.spent.reason),
                *_cost_cells(run.spent),
                TextCell("◆ efficient", tone="good") if run.efficient else TextCell(""),
            )
            for run in runs
        ),
        numbers=(1, 2, 3, 4, 5, 6),
        note="Efficient: no other run is at least as accurate for no more money. Cost per 1,000 "
        "items is what was paid now and, for answers kept from earlier runs (saved), what they "
        "cost then: what the run would cost from nothing. Accuracy: over the labelled cells of all "
        "criteria that every run graded, abstentions left out; "
        f"{level_words(level)} intervals by resampling items.",
    )
