"""Two runs compared as blocks, for the page and a terminal."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial

from core.blocks.blocks import Block, Facts, Reach, Section, Sentences, TableBlock, Words
from core.blocks.estimates import measured, measured_share
from core.domain.runs import Run
from core.scoring.explanation import ungraded_sides
from core.services.comparison import rightness, run_comparison
from core.services.comparison.costs import Point, Spent
from core.services.comparison.differences import LEVEL, Delta
from core.services.comparison.in_words import NAMED, in_words, trust_words
from core.services.comparison.run_comparison import FEW, RunComparison
from core.text.numbers import (
    DASH,
    cost,
    count,
    level_words,
    p_value,
    percent,
    plural,
    points,
    score,
)

#: The figures that are compared criterion by criterion (fields of ``CriterionDelta``).
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
#: So many rows of a long table are shown at first.
FIRST = 12
#: So many items of a flip are named.
EXAMPLES = 3


def comparison_sections(found: RunComparison) -> tuple[Section, ...]:
    """The whole comparison, to be read from top to bottom."""
    sides = zip("AB", found.runs, strict=True)
    runs = Facts("Runs", tuple((side, Words(_run(run))) for side, run in sides))
    tables = (_differences(found, name) for name in FIGURES)
    lacking = Sentences(tuple(ungraded_sides(found.ungraded)))
    return (
        Section("", (runs, Sentences(opening(found)))),
        Section("What changed", changed(found)),
        Section("Items", (items(found), *unfinished(found))),
        Section(
            "Differences on the same items (B minus A)",
            (overall(found), lacking, *tables, intervals(found)),
        ),
        Section("Verdicts that flipped", (flips(found),)),
        Section("Cost", (_spent(found),)),
    )


def _differences(found: RunComparison, name: str) -> Block:
    """The table of a figure; where it is undefined everywhere, that in a sentence."""
    moved = [delta.difference for _, delta in figure_rows(found, name)]
    if not moved or any(one.value is not None for one in moved):
        return difference_table(found, name)
    return Sentences((f"{FIGURES[name]}: {moved[0].words(score).inline}.",))


def _run(run: Run) -> str:
    judges = ", ".join(judge.name for judge in run.panel.judges)
    return (
        f"run {run.id}, {run.name} ({run.rubric_name} {run.version_words} on "
        f"{run.dataset_name} version {run.dataset_number}; {judges})"
    )


def opening(found: RunComparison) -> tuple[str, ...]:
    """How right each run is, which one is better, and what that says of all cells."""
    moved = found.deltas
    lines = (
        *trust_words(found.trust),
        in_words(moved.criteria, moved.decided),
        rightness.in_words(found.corrected),
        *run_comparison.stand_in_words(found),
    )
    return tuple(line for line in lines if line)


def changed(found: RunComparison) -> tuple[Block, ...]:
    """What differs between the plans of the runs, and criteria that cannot be compared."""
    rows = tuple(
        (Words(c.area), Words(c.what), Words(c.before or "nothing"), Words(c.after or "nothing"))
        for c in found.changed
    )
    none = "Nothing: same rubric, dataset, panel and seed. What differs below is chance."
    heads = ("Part", "What", "A", "B")
    apart = tuple(f"{name} cannot be compared. {why}" for name, why in found.apart.items())
    first = TableBlock("What changed", heads, rows, first=FIRST) if rows else Sentences((none,))
    return (first, *([Sentences(apart, listed=True)] if apart else []))


def changed_line(found: RunComparison) -> str:
    """What differs between the plans, the first few by name."""
    if not found.changed:
        return "Nothing changed: what differs is chance."
    said = [f"{one.area} {one.what}" for one in found.changed]
    more = [f"{count(len(said) - NAMED)} more"] if said[NAMED:] else []
    return f"Changed: {', '.join([*said[:NAMED], *more])}."


def items(found: RunComparison) -> Sentences:
    """How many items both runs share, and what became of the others."""
    match = found.match
    parts = [f"{plural(len(match.both), 'item')} in both"]
    for words, ids in (
        ("only in A", match.only_first),
        ("only in B", match.only_second),
        ("left out because their text changed", match.reworded),
        ("with another label in B, which counts for both", match.relabelled),
    ):
        parts += [f"{count(len(ids))} {words}"] if ids else []
    few = " Few items: every figure is uncertain." if len(match.both) < FEW else ""
    return Sentences((f"{', '.join(parts)}.{few}",), kind="quiet")


def unfinished(found: RunComparison) -> Iterator[Sentences]:
    """A warning where votes are still to come."""
    going = [str(run.id) for run in found.runs if run.status != "done"]
    if going:
        line = f"Not finished: run {' and run '.join(going)}. "
        yield Sentences((f"{line}What is shown holds for the votes there are.",), kind="warning")


def overall(found: RunComparison) -> Facts:
    """The mean score, accuracy and cost of both, and how far they moved."""
    first, second = found.spent
    level = found.how.level
    return Facts(
        "Figures",
        (
            _moved("Mean score", found.deltas.score, level),
            _moved("Accuracy", found.deltas.accuracy, level, share=True),
            ("Calls", Words(f"{count(first.calls)} → {count(second.calls)}")),
            ("Cost, paid now", Words(f"{cost(first.now)} → {cost(second.now)}")),
        ),
        large=True,
    )


def _moved(name: str, delta: Delta, level: float, *, share: bool = False) -> tuple[str, Words]:
    said = delta.difference.words(partial(points, share=share))
    words = Words(said.value, f"{level_words(level)}: {said.ends}" if said.ends else said.why)
    if delta.difference.value is None:
        return name, words
    form = percent if share else score
    return f"{name}: {form(delta.first.value)} → {form(delta.second.value)}", words


def figure_rows(found: RunComparison, name: str) -> list[tuple[str, Delta]]:
    """What a figure is of: every criterion, and for accuracy all together."""
    rows = [(ALL, found.deltas.accuracy)] if name == "accuracy" else []
    return rows + [(one.name, getattr(one, name)) for one in found.deltas.criteria]


def difference_table(found: RunComparison, name: str) -> TableBlock:
    """A figure of both runs, criterion by criterion."""
    share = name == "accuracy"
    return TableBlock(
        f"Differences in {FIGURES[name]}",
        ("Criterion", "Items", "A", "B", "Difference", "p", "p, corrected"),
        tuple(_difference(row, delta, share) for row, delta in figure_rows(found, name)),
        numbers=(1, 2, 3, 4, 5, 6),
        note=SAYS[name],
    )


def intervals(found: RunComparison) -> Sentences:
    """How intervals were made, and what makes a difference sure."""
    line = (
        f"Intervals: {level_words(found.how.level)}, from {count(found.resamples)} resamples of "
        "the items, the same for both runs. p, corrected: for the number of criteria (Holm 1979). "
        f"Sure, and filled in a plot, is a corrected p below {score(LEVEL)}; an interval is of one "
        "criterion alone and may leave out no difference before that."
    )
    return Sentences((line,) if found.resamples else (), kind="quiet")


def _difference(name: str, delta: Delta, share: bool) -> tuple[Words, ...]:
    unit = " cells" if name == ALL else ""
    form = percent if share else score
    known = delta.difference.value is not None
    return (
        Words(name),
        Words(f"{count(delta.n)}{unit}", "few" if 0 < delta.n < FEW else ""),
        Words(form(delta.first.value)),
        Words(form(delta.second.value)),
        _drawn(name, delta, share),
        _p(delta.p.value if known else None),
        _p(delta.p_holm if known else None),
    )


def _drawn(name: str, delta: Delta, share: bool) -> Words:
    """The difference with its interval, as a bar whose middle line is no difference."""
    words = measured(delta.difference, partial(points, share=share))
    value, low, high, *_ = delta.difference
    if value is None:
        return words
    sure = "sure" if delta.significant else "within chance"
    says = f"{name}: {words.flat}, {sure}; left of the line A is higher, right of it B"
    least, most = (None if end is None else end + 0.5 for end in (low, high))
    return words._replace(reach=Reach(says, value + 0.5, least, most, 0.5))


def _p(value: float | None) -> Words:
    return Words(DASH if value is None else p_value(value))


def flips(found: RunComparison) -> Block:
    """Which verdicts changed, and how many of them for the better."""
    if not found.flips:
        same = sum(one.same for one in found.deltas.criteria)
        return Sentences((f"None: all {count(same)} verdicts are the same in both.",))
    return TableBlock(
        "Verdicts that flipped",
        ("Criterion", "A", "B", "Items", "Right in B only", "Right in A only", ""),
        tuple(
            (
                *map(Words, (one.criterion, one.before, one.after)),
                *map(Words, map(count, (len(one.items), one.mended, one.broken))),
                Words(", ".join(one.items[:EXAMPLES]) + (", ..." if one.items[EXAMPLES:] else "")),
            )
            for one in found.flips
        ),
        numbers=(3, 4, 5),
        first=FIRST,
    )


_SPENT = ("Paid now", "Saved", "Calls")


def _spent(found: RunComparison) -> TableBlock:
    sides = zip("AB", found.spent, strict=True)
    rows = tuple((Words(side, one.reason), *_costs(one)) for side, one in sides)
    return TableBlock("Cost", ("Run", *_SPENT), rows, numbers=(1, 2, 3))


def _costs(one: Spent) -> tuple[Words, ...]:
    saved = cost(one.saved) if one.cached else DASH
    return Words(cost(one.now)), Words(saved), Words(count(one.calls))


def cost_table(found: Sequence[Point], level: float) -> TableBlock:
    """Accuracy beside cost, run by run."""
    return TableBlock(
        "Accuracy and cost of the runs",
        ("Run", "Accuracy", "Cells decided", "Per 1,000 items", *_SPENT, ""),
        tuple(
            (
                Words(f"{one.run_id}: {one.name}"),
                measured_share(one.accuracy),
                Words(f"{count(one.decided)} of {count(one.labelled)}"),
                Words(cost(one.per_thousand), one.spent.reason),
                *_costs(one.spent),
                Words("◆ efficient", tone="good") if one.efficient else Words(""),
            )
            for one in found
        ),
        numbers=(1, 2, 3, 4, 5, 6),
        note="Efficient: no other run is at least as accurate for no more money. Cost per 1,000 "
        "items is what was paid now and, for answers kept from earlier runs (saved), what they "
        "cost then: what the run would cost from nothing. Accuracy: over the labelled cells of all "
        "criteria that every run graded, abstentions left out; "
        f"{level_words(level)} intervals by resampling items.",
    )
