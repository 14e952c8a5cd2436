"""The table of criteria: agreement, number of items, and whether each criterion can be trusted."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from core.blocks.blocks import IntervalCell, TableBlock, TextCell, Tone
from core.blocks.estimates import estimate_cell, measured_share
from core.metrics.estimate import Estimate
from core.services.agreement.conclusion import BOUND, Conclusion, Known, Standing, labels_needed
from core.services.agreement.rater_pairs import PairLine
from core.text.numbers import DASH, count, score

_TONES: Mapping[Standing, Tone] = {
    "trusted": "good",
    "not_trusted": "bad",
    "undecided": "neutral",
    "too_few": "warn",
    "unknown": "warn",
}
_WORDS: Mapping[Standing, tuple[str, str]] = {
    "trusted": ("✓ trusted", "✓ agreed"),
    "not_trusted": ("✕ not trusted", "✕ disagreed"),
    "undecided": ("undecided", "undecided"),
    "too_few": ("too few items", "too few items"),
    "unknown": ("unknown", "unknown"),
}


def criteria_table(
    figures: Sequence[Known],
    conclusion: Conclusion | None,
    *,
    same: str = "Accuracy",
    pair: Mapping[str, str] | None = None,
    left_out: Mapping[str, str] | None = None,
) -> TableBlock:
    """Return the table of criteria for a pair of raters, with agreement beyond chance as a bar.

    Criteria that are not trusted come first, and among equals the least agreement.

    Without a pair it shows the agreement among judges, or among people.

    Args:
        figures: the figures of each criterion.
        conclusion: the conclusion from them; ``None`` if the pair has neither a person nor labels.
        same: the column title for the share of equal answers.
        pair: the address of the pair; a criterion's link adds its name.
        left_out: the items left out of each criterion, in words.
    """
    compared = any(criterion.accuracy is not None for criterion in figures)
    view = "one" if compared else "raters"
    rows = []
    for criterion in _sort_worst_first(figures, conclusion):
        link = {"to": "agreement", "view": view, "criterion": criterion.name, **(pair or {})}
        standing_cells = [] if conclusion is None else [_standing_cell(conclusion, criterion)]
        items = TextCell(count(criterion.agreement.n), (left_out or {}).get(criterion.name, ""))
        right = [_accuracy_cell(criterion), _difference_count_cell(criterion)] if compared else []
        rows.append(
            (
                TextCell(criterion.name, link=link),
                *standing_cells,
                _agreement_bar(criterion.agreement),
                items,
                *right,
            )
        )
    figure = "Kappa" if compared else "Alpha"
    headings = [
        "Criterion",
        *([] if conclusion is None else ["Trusted?" if conclusion.reference else "Agreed?"]),
    ]
    headings += [f"{figure}, enough from {score(BOUND)}", "Items"]
    first = len(headings) - 1
    headings += [same, "Items differ"] if compared else []
    numbers = tuple(range(first, len(headings)))
    return TableBlock("Agreement per criterion", tuple(headings), tuple(rows), numbers)


def _sort_worst_first(figures: Sequence[Known], conclusion: Conclusion | None) -> list[Known]:
    def rank(criterion: Known) -> tuple[bool, bool, float]:
        trusted = conclusion is not None and conclusion.standing_of(criterion) == "trusted"
        value = criterion.agreement.value
        return trusted, value is None, value or 0.0

    return sorted(figures, key=rank)


def _agreement_bar(agreement: Estimate) -> TextCell:
    if agreement.value is None:
        return TextCell(DASH)
    sentence = f"{agreement.words(score).inline}; the dotted line is {score(BOUND)}"
    bar = IntervalCell(sentence, agreement.value, agreement.low, agreement.high, BOUND)
    return estimate_cell(agreement)._replace(reach=bar)


def _accuracy_cell(criterion: Known) -> TextCell:
    if criterion.accuracy is None or criterion.accuracy.value is None:
        return TextCell(DASH)
    return measured_share(criterion.accuracy)


def _difference_count_cell(criterion: Known) -> TextCell:
    """Return the number of items on which the pair differs."""
    if criterion.accuracy is None or criterion.accuracy.value is None:
        return TextCell(DASH)
    return TextCell(count(round((1 - criterion.accuracy.value) * criterion.agreement.n)))


def left_out_words(lines: Sequence[PairLine]) -> dict[str, str]:
    """Return, by criterion, how many items are left out and why, in words."""
    words = ("abstained", "cannot assess", "tied")
    counts = {line.name: (line.abstained, line.unassessed, line.tied) for line in lines}
    return {
        name: ", ".join(
            f"{count(n)} {left_out_kind}"
            for n, left_out_kind in zip(numbers, words, strict=True)
            if n
        )
        for name, numbers in counts.items()
    }


def _standing_cell(conclusion: Conclusion, criterion: Known) -> TextCell:
    standing = conclusion.standing_of(criterion)
    if not criterion.agreement.n:
        return TextCell("no answers to compare", tone="warn")
    text = _WORDS[standing][0 if conclusion.reference else 1]
    needed = labels_needed(criterion) if standing == "undecided" else None
    return TextCell(
        text, f"needs about {count(needed)} items" if needed else "", tone=_TONES[standing]
    )
