"""Which criteria can be trusted, in one paragraph, by one rule from existing figures.

The Agreement page, the report and ``metrics --json`` share its words.
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
#: The lowest kappa of a trusted criterion, the same as in the findings.
BOUND = BOUNDS["agreement"].null.value
#: The most criteria named per standing (trusted, undecided, ...); the rest are only counted.
NAMED = 3
#: How much narrower an interval must be for a power of 80% instead of 50%.
FOR_80 = (1.959964 + 0.841621) / 1.959964
#: No advice to add labels if it takes more than this multiple of the existing ones.
WORTH = 10
_REFERENCES = {LABELS: "the labels", PEOPLE: "the majority of people", PANEL: "the panel"}
_RATERS = {PANEL: "the panel's verdicts", PEOPLE: "the answers of most people"}


class Known(NamedTuple):
    """The figures of a criterion: agreement beyond chance and, with a reference, how often answers
    are right, and how often always giving the ``commonest`` answer would be. The options of an
    ``ordered`` criterion have an order.
    """

    name: str
    agreement: Estimate
    accuracy: Estimate | None = None
    commonest: float | None = None
    ordered: bool = False

    @property
    def beaten(self) -> bool:
        """Return whether always giving the most common answer is significantly more accurate."""
        accuracy, other = self.accuracy, self.commonest
        if accuracy is None or accuracy.high is None or other is None:
            return False
        return surely_below(accuracy.high, other, accuracy.n)

    @property
    def no_better(self) -> bool:
        """Return whether answers are not significantly more accurate than the most common one
        always.
        """
        other = self.commonest
        return other is not None and self._at_most(other)

    @property
    def doubtful(self) -> bool:
        """Return whether answers are not significantly more accurate than that one, or than 50%."""
        return self.no_better or self._at_most(0.5)

    def _at_most(self, share: float) -> bool:
        accuracy = self.accuracy
        return accuracy is not None and accuracy.low is not None and accuracy.low <= share

    @property
    def standing(self) -> Standing:
        """The standing by the whole interval, never by the value alone."""
        _, low, high, _, n, _ = self.agreement
        if n < FEW:
            return "too_few"
        if self.beaten:
            return "not_trusted"
        if low is None or high is None:
            return "unknown"
        if low >= BOUND:
            return "undecided" if self.doubtful else "trusted"
        return "not_trusted" if high < BOUND else "undecided"


@dataclass(frozen=True)
class Conclusion:
    """The standing of every criterion. ``reference`` and ``rater`` are columns; both are empty if
    ``among`` (judges, or people) are compared with each other, for lack of a reference. ``partly``:
    only some cells have labels; ``unlike``: these are surely not a fair sample.
    """

    criteria: tuple[Known, ...]
    reference: str = ""
    rater: str = ""
    among: str = "judges"
    unlike: Mapping[str, UnfairLabels] = field(default_factory=dict)
    items: int = 0
    partly: bool = False

    def of(self, standing: Standing) -> list[Known]:
        """Return the criteria with this standing, least agreement first."""
        criteria = [
            criterion for criterion in self.criteria if self.standing_of(criterion) == standing
        ]
        return sorted(criteria, key=lambda criterion: criterion.agreement.value or 0.0)

    def standing_of(self, one: Known) -> Standing:
        """Return a criterion's standing: labels on easy cells only refute, on hard ones only
        confirm.
        """
        unlike = self.unlike.get(one.name)
        only = "" if unlike is None else "not_trusted" if unlike.harder else "trusted"
        return "undecided" if one.standing == only else one.standing

    @property
    def figure(self) -> str:
        """The name of the figure that tells agreement."""
        return "kappa" if self.reference else "Krippendorff's alpha"

    @property
    def finding(self) -> str:
        """What is trusted, what is not, what is undecided, and the rule for it."""
        return " ".join(part for part in (*_said(self), _why(self)) if part)

    @property
    def advice(self) -> str:
        """What would help most; empty if nothing is undecided."""
        return _help(self)

    @property
    def sentence(self) -> str:
        """The whole paragraph."""
        if not self.criteria:
            return ""
        return f"{self.finding} {self.advice}".rstrip()

    def as_data(self) -> dict[str, Any]:
        """Return the paragraph and its basis, as in ``metrics --json``."""
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


def conclude(
    sheet: Sheet,
    reference: str = "",
    rater: str = "",
    *,
    resamples: int = RESAMPLES,
    seed: int = SEED,
) -> Conclusion:
    """Return the conclusion on a rater against labels or people; by default on the panel.

    Without labels and people judges are compared with each other.
    """
    if reference not in (LABELS, PEOPLE, *sheet.people) or not rater:
        reference, rater = likeliest(sheet)
    if reference:
        return of_lines(
            rater_pairs.compare(sheet, reference, rater, resamples=resamples, seed=seed),
            reference,
            rater,
            sheet,
        )
    names = [asked.name for asked in sheet.criteria]
    kind = "" if sheet.judges else reliability.HUMAN
    alphas = reliability.alphas(sheet, kind, resamples=resamples, seed=seed)
    return of_alphas(names, alphas, people=bool(kind))


def likeliest(sheet: Sheet) -> tuple[str, str]:
    """Return the reference and the rater of a run's report; both empty if there are none."""
    if sheet.labelled:
        return LABELS, PANEL
    if sheet.judges and sheet.people:
        return PEOPLE if len(sheet.people) > 1 else sheet.people[0], PANEL
    return "", ""


def of_lines(
    lines: Sequence[rater_pairs.PairLine], reference: str, rater: str, sheet: Sheet
) -> Conclusion:
    """Return the conclusion from given figures."""
    return of_known(map(known_of, lines), reference, rater, sheet)


def known_of(line: rater_pairs.PairLine) -> Known:
    """Return the figures of a criterion from a pair's line."""
    agreement = line.kappa._replace(n=line.n)
    ordered = line.scale == "ordinal"
    return Known(line.name, agreement, line.accuracy, line.commonest.value, ordered)


def of_known(known: Iterable[Known], reference: str, rater: str, sheet: Sheet) -> Conclusion:
    """Return the conclusion from the figures of a sheet's criteria."""
    unlike = labels_unlike(sheet.criteria) if reference == LABELS else {}
    labelled = [criterion for criterion in sheet.criteria if (criterion.gold >= 0).any()]
    partly = any(
        ((criterion.columns[LABELS] == NOT_ASKED) & (criterion.panel >= 0)).any()
        for criterion in labelled
    )
    return Conclusion(
        *(tuple(known), reference, rater),
        unlike=unlike,
        items=len(sheet.items),
        partly=partly and reference == LABELS,
    )


def of_alphas(
    names: Sequence[str], alphas: Sequence[Estimate], *, people: bool = False
) -> Conclusion:
    """Return the conclusion if judges, or people, are only compared with each other."""
    criteria = tuple(Known(*pair) for pair in zip(names, alphas, strict=True))
    return Conclusion(criteria, among="people" if people else "judges")


def _reference(found: Conclusion) -> str:
    return _REFERENCES.get(found.reference) or visible(name_of(found.reference))


def rater_words(found: Conclusion) -> str:
    """Return what the rater's answers are called within a sentence."""
    return _RATERS.get(found.rater) or f"{visible(name_of(found.rater))}'s answers"


def _said(found: Conclusion) -> Iterator[str]:
    """Sentences on what is trusted, what is not, and what is undecided."""
    by_standing = {standing: found.of(standing) for standing in STANDINGS}
    whole = plural(len(found.criteria), "criterion", "criteria")
    trusted = by_standing["trusted"]
    number = count(len(trusted)) if trusted else "none"
    ends = f"{_named(found, trusted)}." if trusted else "."
    if found.reference:
        partly = found.partly and not found.unlike
        given = ", if the labelled items are like the others" if partly and trusted else ""
        yield f"Trust {rater_words(found)} on {number} of {whole}{given}{ends}"
        heads = ("Do not trust them on", "Undecided on")
    else:
        yield (
            "There are no labels, so it is unknown which verdicts are right. Among each other, "
            f"{found.among} agree on {number} of {whole}{ends}"
        )
        heads = ("They disagree on", "Undecided on")
    for head, standing in zip(heads, ("not_trusted", "undecided"), strict=True):
        ones = by_standing[standing]  # type: ignore[index]
        if ones:
            yield f"{head} {count(len(ones))}{_named(found, ones)}."
    what = _counted(found)
    few = by_standing["too_few"]
    if few:
        named = _listed(
            [f"{visible(criterion.name)} ({count(criterion.agreement.n)})" for criterion in few]
        )
        yield f"Too few {what} to tell on {count(len(few))}, {FEW} are needed: {named}."
    if by_standing["unknown"]:
        named = _listed([visible(criterion.name) for criterion in by_standing["unknown"]])
        yield f"No result for {named}: {_reason(by_standing['unknown'][0])}"


def _counted(found: Conclusion) -> str:
    if found.reference == LABELS:
        return "items with a label and an answer"
    return "items that both answered" if found.reference else "items that two answered"


def _reason(one: Known) -> str:
    return one.agreement.reason or "No interval was made."


def _named(found: Conclusion, ones: Sequence[Known]) -> str:
    first = ", the least agreement first" if ones[NAMED:] else ""
    return f"{first}: {_listed([_with_figure(found, criterion) for criterion in ones])}"


def _listed(names: Sequence[str]) -> str:
    shown = [*names[:NAMED], *([f"{count(len(names) - NAMED)} more"] if names[NAMED:] else [])]
    return shown[0] if len(shown) == 1 else f"{', '.join(shown[:-1])} and {shown[-1]}"


def _with_figure(found: Conclusion, one: Known) -> str:
    right = None if one.accuracy is None else one.accuracy.words(percent)
    if one.beaten and right is not None:
        return (
            f"{visible(one.name)} (right on {right.value}, {right.ends}; "
            f"always the most common answer: {percent(one.commonest)})"
        )
    figure = "quadratic kappa" if one.ordered and found.reference else found.figure
    same = "right on" if found.reference == LABELS else "the same option on"
    often = "" if right is None else f"; {same} {right.value}"
    if right is not None and one.doubtful:
        often += f", {right.ends}"
    if often and one.no_better:
        often += f"; always the most common answer on {percent(one.commonest)}"
    agreed = one.agreement.words(score)
    return f"{visible(one.name)} ({figure} {agreed.value}, {agreed.ends}{often})"


def _why(found: Conclusion) -> str:
    """Return the meaning of the words; empty if nothing was decided."""
    if not any(found.of(standing) for standing in ("trusted", "not_trusted", "undecided")):
        return ""
    unlike = next(iter(found.unlike.values()), None)
    if unlike is not None:
        what = "refuted" if unlike.harder else "trusted"
        which = "these labels" if len(found.unlike) == len(found.criteria) else "such labels"
        return (
            f"Nothing is {what} by {which}, because they are not a fair sample: {unlike.words}. "
            "For each criterion only labels drawn at random would tell."
        )
    surely = f"its whole 95% interval is {score(BOUND)} or higher"
    if not found.reference:
        return (
            f"Alpha is the agreement of the {found.among} beyond chance: 0 is chance, 1 perfect. "
            f"Agreed: {surely}. Disagreed: it is lower. Undecided: it is across {score(BOUND)}."
        )
    if any(criterion.accuracy is not None for criterion in found.criteria):
        surely += (
            ", and answers are right significantly more often than wrong, and than always giving "
            "the most common one"
        )
    return (
        f"Kappa is agreement with {_reference(found)} beyond chance: 0 is chance, 1 perfect. "
        f"Trusted: {surely}. Not trusted: the interval is below {score(BOUND)}. Undecided: "
        "anything else."
    )


def _help(found: Conclusion) -> str:
    """Return what would help most: labels, clearer wording, or labels on nearly decided
    criteria.
    """
    parts = []
    doubtful = found.of("not_trusted")
    if doubtful:
        two = f"{rater_words(found)} and {_reference(found)} differ"
        where = two if found.reference else "they differ"
        parts.append(
            f"read the items on which {where} for {visible(doubtful[0].name)} and say in the "
            "criterion what decides them"
        )
    if not found.reference:
        parts.append(f"label {FEW} items or more, picked at random")
    else:
        needed = [
            (n, visible(criterion.name))
            for criterion in found.of("undecided")
            if (n := labels_needed(criterion))
        ]
        if needed:
            n, name = min(needed, key=lambda pair: pair[0])
            more = 0 < found.items < n
            here = f" (there are {plural(found.items, 'item')} here)" if more else ""
            parts.append(
                f"about {count(n)} {_counted(found)} in all{here} would decide {name} "
                "in 80 of 100 cases, if its kappa stays as it is"
            )
        if found.of("too_few"):
            parts.append(f"at least {FEW} {_counted(found)} where there are too few")
    return f"What would help: {'; '.join(parts)}." if parts else ""


def labels_needed(one: Known) -> int | None:
    """Return roughly how many items in all would decide an undecided criterion, rounded to tens.

    An interval shrinks with the root of the number of items, and kappa itself may come out lower:
    this many decide it in 80% of cases. ``None`` if that is more than ``WORTH`` times as many: the
    agreement is then close to the bound.
    """
    value, low, high, _, n, _ = one.agreement
    if one.standing != "undecided" or one.doubtful or value is None or low is None or high is None:
        return None
    away = abs(value - BOUND)
    half = FOR_80 * (value - low if value >= BOUND else high - value)
    if not away or (half / away) ** 2 > WORTH:
        return None
    return ceil(n * (half / away) ** 2 / 10) * 10
