"""Which criteria can be trusted, by one rule from existing figures, in one paragraph.

The Agreement page, the report and ``metrics --json`` share this paragraph.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from math import ceil
from typing import Any, Literal, NamedTuple

from core.metrics.bias.effects import BOUNDS, FEW
from core.metrics.estimate import Estimate, surely_below
from core.services.agreement import rater_pairs, reliability
from core.services.agreement.rater_pairs import RESAMPLES, SEED
from core.services.agreement.rating_sheet import Sheet, name_of
from core.services.agreement.ratings import LABELS, NOT_ASKED, PANEL, PEOPLE, labels_unlike
from core.services.results.fair_sample import UnfairLabels
from core.text.names import visible
from core.text.numbers import count, percent, plural, score

Standing = Literal["trusted", "not_trusted", "undecided", "too_few", "unknown"]
STANDINGS: tuple[Standing, ...] = ("trusted", "not_trusted", "undecided", "too_few", "unknown")
#: The lowest kappa of a trusted criterion, as in the findings.
BOUND = BOUNDS["agreement"].value
#: The most criteria named per standing (trusted, undecided, ...); others are only counted.
NAMED = 3
#: The factor by which an interval must be narrower for a power of 80% instead of 50%.
FOR_80 = (1.959964 + 0.841621) / 1.959964
#: More labels are not advised beyond this multiple of the existing labels.
WORTH = 10
_REFERENCES = {LABELS: "the labels", PEOPLE: "the majority of people", PANEL: "the panel"}
_RATERS = {PANEL: "the panel's verdicts", PEOPLE: "the answers of most people"}


class Known(NamedTuple):
    """The figures of a criterion: agreement beyond chance and, with a reference, two accuracies: of
    the answers, and of always giving the ``commonest`` answer. An ``ordered`` criterion has ordered
    options.
    """

    name: str
    agreement: Estimate
    accuracy: Estimate | None = None
    commonest: float | None = None
    ordered: bool = False

    @property
    def beaten_by_commonest(self) -> bool:
        """Return whether always giving the commonest answer is significantly more accurate."""
        accuracy, commonest = self.accuracy, self.commonest
        if accuracy is None or accuracy.high is None or commonest is None:
            return False
        return surely_below(accuracy.high, commonest, accuracy.n)

    @property
    def no_better(self) -> bool:
        """Return whether always giving the commonest answer may be as accurate or better."""
        commonest = self.commonest
        return commonest is not None and self._may_be_at_most(commonest)

    @property
    def doubtful(self) -> bool:
        """Return whether the true accuracy may be at most that of the commonest, or 50%."""
        return self.no_better or self._may_be_at_most(0.5)

    def _may_be_at_most(self, share: float) -> bool:
        accuracy = self.accuracy
        return accuracy is not None and accuracy.low is not None and accuracy.low <= share

    @property
    def interval_conclusion(self) -> Standing:
        """Return the standing, decided by the whole interval instead of the value."""
        _, low, high, _, n, _ = self.agreement
        if n < FEW:
            return "too_few"
        if self.beaten_by_commonest:
            return "not_trusted"
        if low is None or high is None:
            return "unknown"
        if low >= BOUND:
            return "undecided" if self.doubtful else "trusted"
        return "not_trusted" if high < BOUND else "undecided"


@dataclass(frozen=True)
class Conclusion:
    """The standing of every criterion. ``reference`` and ``rater`` are columns. Without a reference
    both are empty, and ``among`` (judges, or people) are compared with each other. In
    ``partly_labelled`` data some cells have no label. ``unfair_labels`` says by criterion why its
    labels are not a fair sample.
    """

    criteria: tuple[Known, ...]
    reference: str = ""
    rater: str = ""
    among: str = "judges"
    unfair_labels: Mapping[str, UnfairLabels] = field(default_factory=dict)
    items: int = 0
    partly_labelled: bool = False

    def of(self, standing: Standing) -> list[Known]:
        """Return the criteria with this standing, least agreement first."""
        criteria = [
            criterion for criterion in self.criteria if self.standing_of(criterion) == standing
        ]
        return sorted(criteria, key=lambda criterion: criterion.agreement.value or 0.0)

    def standing_of(self, criterion: Known) -> Standing:
        """Return a criterion's standing. Labels on easy cells only refute; on hard cells they only
        confirm.
        """
        bias = ""
        if criterion.name in self.unfair_labels:
            _, harder = self.unfair_labels[criterion.name]
            bias = "not_trusted" if harder else "trusted"
        return (
            "undecided" if criterion.interval_conclusion == bias else criterion.interval_conclusion
        )

    @property
    def figure(self) -> str:
        """Return the name of the agreement figure."""
        return "kappa" if self.reference else "Krippendorff's alpha"

    @property
    def finding(self) -> str:
        """Return which criteria are trusted, not trusted or undecided, and by which rule."""
        return " ".join(part for part in (*_findings(self), _standings_legend(self)) if part)

    @property
    def advice(self) -> str:
        """Return the most helpful next steps; empty if there are none."""
        return _next_steps(self)

    @property
    def sentence(self) -> str:
        """Return the whole paragraph."""
        if not self.criteria:
            return ""
        return f"{self.finding} {self.advice}".rstrip()

    def as_data(self) -> dict[str, Any]:
        """Return the paragraph and the figures behind it, as in ``metrics --json``."""
        names: Mapping[str, list[str]] = {
            standing: [criterion.name for criterion in self.of(standing)] for standing in STANDINGS
        }
        against = {LABELS: "gold", PEOPLE: "human"}
        reference = against.get(self.reference) or (
            name_of(self.reference) if self.reference else None
        )
        return {
            "sentence": self.sentence,
            "reference": reference,
            "figure": self.figure,
            "bound": BOUND,
            "fewest": FEW,
            **names,
        }


def conclusion_on(
    sheet: Sheet,
    reference: str = "",
    rater: str = "",
    *,
    resamples: int = RESAMPLES,
    seed: int = SEED,
) -> Conclusion:
    """Return the conclusion on a rater (by default the panel) against labels or people.

    Without labels and people, judges are compared with each other.
    """
    if reference not in (LABELS, PEOPLE, *sheet.people) or not rater:
        reference, rater = likeliest_pair(sheet)
    if reference:
        return conclusion_of_lines(
            rater_pairs.compare_pair(sheet, reference, rater, resamples=resamples, seed=seed),
            reference,
            rater,
            sheet,
        )
    names = [criterion.name for criterion in sheet.criteria]
    kind = "" if sheet.judges else reliability.HUMAN
    alphas = reliability.alphas_of_kind(sheet, kind, resamples=resamples, seed=seed)
    return conclusion_of_alphas(names, alphas, people=bool(kind))


def likeliest_pair(sheet: Sheet) -> tuple[str, str]:
    """Return the reference and the rater of a run's report; both empty without a reference."""
    if sheet.labelled:
        return LABELS, PANEL
    if sheet.judges and sheet.people:
        return PEOPLE if len(sheet.people) > 1 else sheet.people[0], PANEL
    return "", ""


def conclusion_of_lines(
    lines: Sequence[rater_pairs.PairLine], reference: str, rater: str, sheet: Sheet
) -> Conclusion:
    """Return the conclusion from the figures of a pair."""
    return conclusion_of_figures(map(criterion_figures, lines), reference, rater, sheet)


def criterion_figures(line: rater_pairs.PairLine) -> Known:
    """Return the figures of a criterion from a pair's line."""
    agreement = line.kappa._replace(n=line.n)
    ordered = line.scale == "ordinal"
    return Known(line.name, agreement, line.accuracy, line.commonest.value, ordered)


def conclusion_of_figures(
    figures: Iterable[Known], reference: str, rater: str, sheet: Sheet
) -> Conclusion:
    """Return the conclusion from the figures of a sheet's criteria."""
    unfair_labels = labels_unlike(sheet.criteria) if reference == LABELS else {}
    labelled = [criterion for criterion in sheet.criteria if (criterion.gold >= 0).any()]
    missing = (((c.columns[LABELS] == NOT_ASKED) & (c.panel >= 0)).any() for c in labelled)
    return Conclusion(
        *(tuple(figures), reference, rater),
        unfair_labels=unfair_labels,
        items=len(sheet.items),
        partly_labelled=reference == LABELS and any(missing),
    )


def conclusion_of_alphas(
    names: Sequence[str], alphas: Sequence[Estimate], *, people: bool = False
) -> Conclusion:
    """Return the conclusion if judges, or people, are only compared with each other."""
    criteria = tuple(Known(*pair) for pair in zip(names, alphas, strict=True))
    return Conclusion(criteria, among="people" if people else "judges")


def _reference(conclusion: Conclusion) -> str:
    return _REFERENCES.get(conclusion.reference) or visible(name_of(conclusion.reference))


def rater_words(conclusion: Conclusion) -> str:
    """Return the name of the rater's answers within a sentence."""
    return _RATERS.get(conclusion.rater) or f"{visible(name_of(conclusion.rater))}'s answers"


def _findings(conclusion: Conclusion) -> Iterator[str]:
    """Yield sentences on the criteria that are trusted, not trusted, and undecided."""
    by_standing = {standing: conclusion.of(standing) for standing in STANDINGS}
    total = plural(len(conclusion.criteria), "criterion", "criteria")
    trusted = by_standing["trusted"]
    number = count(len(trusted)) if trusted else "none"
    ends = f"{_listed_criteria(conclusion, trusted)}." if trusted else "."
    if conclusion.reference:
        partly = conclusion.partly_labelled and not conclusion.unfair_labels
        condition = ", if the labelled items are like the others" if partly and trusted else ""
        yield f"Trust {rater_words(conclusion)} on {number} of {total}{condition}{ends}"
        headings = ("Do not trust them on", "Undecided on")
    else:
        yield (
            "There are no labels, so it is unknown which verdicts are right. Among each other, "
            f"{conclusion.among} agree on {number} of {total}{ends}"
        )
        headings = ("They disagree on", "Undecided on")
    for head, standing in zip(headings, ("not_trusted", "undecided"), strict=True):
        criteria = by_standing[standing]  # type: ignore[index]
        if criteria:
            yield f"{head} {count(len(criteria))}{_listed_criteria(conclusion, criteria)}."
    unit = _unit_word(conclusion)
    too_few = by_standing["too_few"]
    if too_few:
        named = _listed(
            [f"{visible(criterion.name)} ({count(criterion.agreement.n)})" for criterion in too_few]
        )
        yield f"Too few {unit} to tell on {count(len(too_few))}, {FEW} are needed: {named}."
    if by_standing["unknown"]:
        named = _listed([visible(criterion.name) for criterion in by_standing["unknown"]])
        reason = by_standing["unknown"][0].agreement.reason or "No interval was made."
        yield f"No result for {named}: {reason}"


def _unit_word(conclusion: Conclusion) -> str:
    if conclusion.reference == LABELS:
        return "items with a label and an answer"
    return "items that both answered" if conclusion.reference else "items that two answered"


def _listed_criteria(conclusion: Conclusion, criteria: Sequence[Known]) -> str:
    first = ", the least agreement first" if criteria[NAMED:] else ""
    return f"{first}: {_listed([_with_figure(conclusion, criterion) for criterion in criteria])}"


def _listed(names: Sequence[str]) -> str:
    shown = [*names[:NAMED], *([f"{count(len(names) - NAMED)} more"] if names[NAMED:] else [])]
    return shown[0] if len(shown) == 1 else f"{', '.join(shown[:-1])} and {shown[-1]}"


def _with_figure(conclusion: Conclusion, criterion: Known) -> str:
    right = None if criterion.accuracy is None else criterion.accuracy.words(percent)
    if criterion.beaten_by_commonest and right is not None:
        return (
            f"{visible(criterion.name)} (right on {right.value}, {right.ends}; "
            f"always the most common answer: {percent(criterion.commonest)})"
        )
    figure = "quadratic kappa" if criterion.ordered and conclusion.reference else conclusion.figure
    same = "right on" if conclusion.reference == LABELS else "the same option on"
    often = "" if right is None else f"; {same} {right.value}"
    if right is not None and criterion.doubtful:
        often += f", {right.ends}"
    if often and criterion.no_better:
        often += f"; always the most common answer on {percent(criterion.commonest)}"
    agreed = criterion.agreement.words(score)
    return f"{visible(criterion.name)} ({figure} {agreed.value}, {agreed.ends}{often})"


def _standings_legend(conclusion: Conclusion) -> str:
    """Return the meaning of the standings; empty if no criterion was decided or undecided."""
    if not any(conclusion.of(standing) for standing in ("trusted", "not_trusted", "undecided")):
        return ""
    if conclusion.unfair_labels:
        shares, harder = next(iter(conclusion.unfair_labels.values()))
        verb = "refuted" if harder else "trusted"
        everywhere = len(conclusion.unfair_labels) == len(conclusion.criteria)
        labels = "these labels" if everywhere else "such labels"
        return (
            f"Nothing is {verb} by {labels}, because they are not a fair sample: {shares}. "
            "For each criterion only labels drawn at random would tell."
        )
    surely = f"its whole 95% interval is {score(BOUND)} or higher"
    if not conclusion.reference:
        return (
            f"Alpha is the agreement of the {conclusion.among} beyond chance: 0 is chance, 1 "
            f"perfect. Agreed: {surely}. Disagreed: it is lower. Undecided: it is across "
            f"{score(BOUND)}."
        )
    if any(criterion.accuracy is not None for criterion in conclusion.criteria):
        surely += (
            ", and answers are right significantly more often than wrong, and than always giving "
            "the most common one"
        )
    return (
        f"Kappa is agreement with {_reference(conclusion)} beyond chance: 0 is chance, 1 perfect. "
        f"Trusted: {surely}. Not trusted: the interval is below {score(BOUND)}. Undecided: "
        "anything else."
    )


def _next_steps(conclusion: Conclusion) -> str:
    """Return the most helpful steps: clearer wording, or more labels."""
    parts = []
    doubtful = conclusion.of("not_trusted")
    if doubtful:
        where_words = f"{rater_words(conclusion)} and {_reference(conclusion)} differ"
        place = where_words if conclusion.reference else "they differ"
        parts.append(
            f"read the items on which {place} for {visible(doubtful[0].name)} and say in the "
            "criterion what decides them"
        )
    if not conclusion.reference:
        parts.append(f"label {FEW} items or more, picked at random")
    else:
        needed = [
            (n, visible(criterion.name))
            for criterion in conclusion.of("undecided")
            if (n := labels_needed(criterion))
        ]
        if needed:
            n, name = min(needed, key=lambda pair: pair[0])
            too_few = 0 < conclusion.items < n
            present = f" (there are {plural(conclusion.items, 'item')} here)" if too_few else ""
            parts.append(
                f"about {count(n)} {_unit_word(conclusion)} in all{present} would decide {name} "
                "in 80 of 100 cases, if its kappa stays as it is"
            )
        if conclusion.of("too_few"):
            parts.append(f"at least {FEW} {_unit_word(conclusion)} on each criterion")
    return f"What would help: {'; '.join(parts)}." if parts else ""


def labels_needed(criterion: Known) -> int | None:
    """Return roughly how many items in total would decide an undecided criterion, rounded to tens.

    An interval shrinks with the root of the number of items, and kappa may also come out lower:
    this number decides the criterion in 80% of cases. ``None`` if it is more than ``WORTH`` times
    the present number: the agreement is then close to the bound.
    """
    value, low, high, _, n, _ = criterion.agreement
    if (
        criterion.interval_conclusion != "undecided"
        or criterion.doubtful
        or value is None
        or low is None
        or high is None
    ):
        return None
    distance = abs(value - BOUND)
    half = FOR_80 * (value - low if value >= BOUND else high - value)
    if not distance or (half / distance) ** 2 > WORTH:
        return None
    return ceil(n * (half / distance) ** 2 / 10) * 10
