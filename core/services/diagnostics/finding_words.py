"""Sentences for findings: the effect, its size, its certainty, and the number of items."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from core.metrics.bias.criteria import Agreement, Merge
from core.metrics.bias.effects import BiasEffect, Finding, Kind
from core.metrics.bias.judge_bias import Halo, PositionPull
from core.text.numbers import percent, score


def _points(value: float) -> str:
    return score(abs(value))


def _share(value: float) -> str:
    return percent(abs(value))


def _percentage_points(effect: BiasEffect) -> str:
    return f"{abs(_size(effect)) * 100:.0f} percentage points"


def _size(effect: BiasEffect) -> float:
    return 0.0 if effect.estimate is None else effect.estimate


def _unsigned(effect: BiasEffect) -> BiasEffect:
    """Return the effect without its sign, for sentences that state the side."""
    if _size(effect) >= 0 or effect.low is None or effect.high is None:
        return effect
    return effect._replace(estimate=-_size(effect), low=-effect.high, high=-effect.low)


def interval_and_n(effect: BiasEffect, *, shares: bool = False, items: str = "items") -> str:
    """Return, in parentheses, the interval (or why it is missing) and n."""
    _, ends, reason = effect.figure.words(percent if shares else score)
    if ends:
        return f"(95% interval {ends}, {effect.n:,} {items})"
    if effect.reason:
        return f"({reason.removesuffix('.')}; {effect.n:,} {items})"
    return f"(the same on all of {effect.n:,} {items})"


def position_words(judge: str, pull: PositionPull) -> str:
    """Describe a position bias towards or away from a position."""
    effect = pull.effect
    if _size(effect) > 0:
        finding = f"gives {_share(_size(effect))} of its answers to the option shown {pull.place}"
        because = (
            f"because of its place: it chose it in {_share(pull.share)} of {effect.n:,} answers"
        )
    else:
        finding = f"shuns the option shown {pull.place}"
        because = (
            f"because of its place: it chose it in {_share(pull.share)} of {effect.n:,} answers"
        )
    size, ends, _ = effect.figure.words(percent)
    return (
        f"{judge} {finding} {because}, where {_share(pull.expected)} would be expected "
        f"(pull {size}, 95% interval {ends})."
    )


def flip_words(judge: str, effect: BiasEffect) -> str:
    """Describe answers that depend on the order of options."""
    return (
        f"{judge} changes {_share(_size(effect))} of its answers when the order of the options is "
        f"reversed {interval_and_n(effect, shares=True)}."
    )


def inconsistency_words(judge: str, effect: BiasEffect) -> str:
    """Describe answers that differ when the question is repeated."""
    return (
        f"{judge} contradicts itself: asked the same again, {_share(_size(effect))} of its answers "
        f"differ {interval_and_n(effect, shares=True)}."
    )


def verbosity_words(judge: str, effect: BiasEffect) -> str:
    """Describe a judge that gives longer answers more, or less; the cause is unknown."""
    more = "more" if _size(effect) > 0 else "less"
    return (
        f"{judge} gives longer answers {more}: among those with the same label, twice the words go "
        f"with {_points(_size(effect))} {more} of an option's value "
        f"{interval_and_n(_unsigned(effect))}. That "
        "is a correlation and may be deserved, for labels err and tell levels only; probes tell "
        "causes."
    )


def joint_verbosity_words(
    names: Sequence[str], judges: int, noun: str, more: str, sizes: Sequence[float]
) -> str:
    """Describe an effect of length that several of ``judges`` share, and so more likely deserve.

    ``noun`` names the judges in the plural; ``more`` is what longer answers get more of.
    """
    subject = f"{len(names)} of {judges} {noun}"
    if len(names) == judges:
        subject = f"{'Both' if judges == 2 else f'All {judges}'} {noun}"
    smallest, largest = _points(min(sizes)), _points(max(sizes))
    size = largest if smallest == largest else f"{smallest} to {largest}"
    return (
        f"{subject} ({', '.join(names)}) give longer answers {more}: among those with the same "
        f"label, twice the words go with {size} {more} of an option's value. That is a correlation "
        f"and may be deserved, the more so as several {noun} see it, for labels err and tell "
        "levels only; probes tell causes."
    )


def own_maker_words(judge: str, effect: BiasEffect) -> str:
    """Describe higher values for answers by the maker's own models; the cause is unknown."""
    return (
        f"{judge} gives answers by its own maker's models more than those by others: among answers "
        f"with the same label {_points(_size(effect))} more of an option's value "
        f"{interval_and_n(effect)}. "
        "That is a correlation and may be deserved, for labels err and tell levels only; a probe "
        "under its own maker's name tells whether the name is the cause."
    )


def leniency_words(judge: str, effect: BiasEffect, versus: str) -> str:
    """Describe a judge that is too lenient, or too severe."""
    word = "lenient" if _size(effect) > 0 else "severe"
    more = "more" if _size(effect) > 0 else "less"
    return (
        f"{judge} is more {word} than {versus}: its options are worth {_points(_size(effect))} "
        f"{more} on the same cells {interval_and_n(_unsigned(effect))}."
    )


def option_bias_words(
    judge: str, criterion: str, labels: tuple[str, ...], level: int, effect: BiasEffect, versus: str
) -> str:
    """Describe an option that is given too often, or too rarely, where options have no order."""
    more = _size(effect) > 0
    if len(labels) == 2 and not more:
        level, more = 1 - level, True
    return (
        f"{judge} gives “{labels[level]}” of {criterion} {_percentage_points(effect)} "
        f"{'more' if more else 'less'} often than {versus} "
        f"{interval_and_n(_unsigned(effect), shares=True)}. "
        "These options have no order; if they stand for places, asking in the other order would "
        "tell whether the place draws."
    )


def leaning_together(
    sentence: str, model: str, judges: int, asking: int, sizes: Sequence[float]
) -> str:
    """Describe a leaning that several judges of one model share, with the sentence of the extreme
    judge.
    """
    least, most = (f"{size * 100:.0f}" for size in (min(sizes), max(sizes)))
    span = f"by {least} to {most}" if least != most else f"by {most}"
    return (
        f"{judges} of {asking} judges of {model} lean alike, {span} percentage points. The most: "
        f"{sentence}"
    )


def extremes_words(judge: str, effect: BiasEffect, versus: str) -> str:
    """Describe a judge that prefers the middle, or the ends, of a scale."""
    more = "more" if _size(effect) > 0 else "less"
    return (
        f"{judge} picks the lowest or highest option {_percentage_points(effect)} {more} often "
        f"than {versus} {interval_and_n(_unsigned(effect), shares=True)}."
    )


def halo_words(judge: str, result: Halo, reference: str) -> str:
    """Describe a halo: answers to different criteria that are too similar."""
    return (
        f"{judge}'s answers go together more between criteria than {reference} account for: they "
        f"correlate {score(result.own or 0.0)}, of which {reference} account for "
        f"{score(result.reference or 0.0)}; the difference is {score(_size(result.effect))} "
        f"{interval_and_n(result.effect)}. One impression may colour all."
    )


def abstention_words(judge: str, effect: BiasEffect, versus: str) -> str:
    """Describe a judge that abstains where others decide."""
    return (
        f"{judge} abstains {_percentage_points(effect)} more often than {versus} "
        f"{interval_and_n(effect, shares=True)}."
    )


def agreement_words(criterion: str, result: Agreement, who: str) -> str:
    """Describe a criterion that raters interpret differently."""
    alternatives_agree = (
        ""
        if result.alike.value is None
        else f" They answer alike in {percent(result.alike.value)}."
    )
    return (
        f"{who} hardly agree on {criterion}: Krippendorff's alpha is {score(_size(result.effect))} "
        f"{interval_and_n(result.effect)}.{alternatives_agree}"
    )


def discrimination_words(criterion: str, effect: BiasEffect) -> str:
    """Describe a criterion that does not correlate with the others."""
    is_reversed = (
        "It may be turned round, "
        if (effect.high or 0.0) < 0
        else "It may not tell good items from poor ones, "
    )
    return (
        f"{criterion} hardly goes with the rest: its verdicts correlate {score(_size(effect))} "
        f"with the mean of the other criteria {interval_and_n(effect)}. "
        f"{is_reversed}or it asks something else."
    )


def unused_option_words(
    criterion: str,
    option: str,
    n_picked: int,
    effect: BiasEffect,
    labelled: int,
    called: tuple[str, str],
) -> str:
    """Describe an option that raters never pick.

    ``called`` names the labels and a rater.
    """
    truth, rater = called
    pickers = (
        f"{rater.capitalize()}s picked only {n_picked} times"
        if n_picked
        else f"No {rater} ever picked"
    )
    people = f" {truth[0].upper()}{truth[1:]} have it {labelled} times." if labelled else ""
    return (
        f"{pickers} “{option}” of {criterion} on {effect.n:,} items "
        f"(95% interval 0% to {percent(effect.high or 0.0, 1)}).{people}"
    )


def merge_words(criterion: str, labels: tuple[str, ...], result: Merge, raters: str) -> str:
    """Describe two options that raters do not distinguish."""
    before, after = (figure.value or 0.0 for figure in result.agreement)
    right = [figure.value for figure in result.accuracy]
    accuracy = (
        f" and the accuracy of single answers from {percent(right[0])} to {percent(right[1])}"
        if right[0] is not None and right[1] is not None
        else ""
    )
    return (
        f"{raters} hardly agree on “{labels[result.first]}” or “{labels[result.second]}” of "
        f"{criterion}: between these two their alpha is {score(_size(result.apart))} "
        f"{interval_and_n(result.apart)}. As one option, alpha would go from {score(before)} to "
        f"{score(after)}{accuracy}."
    )


def redundancy_words(
    first: str, second: str, effect: BiasEffect, in_truth: float | None, reference: str
) -> str:
    """Describe two criteria that measure the same thing."""
    relation = "the same answer" if _size(effect) > 0 else "opposite answers"
    labelled = "" if in_truth is None else f" In {reference} the correlation is {score(in_truth)}."
    return (
        f"{first} and {second} nearly always get {relation}: their verdicts correlate "
        f"{score(_size(effect))} {interval_and_n(effect)}.{labelled}"
    )


#: The cause of findings of each kind.
CAUSES: Mapping[Kind, str] = {
    "position": "The order in which options stand",
    "flips": "The order in which options stand",
    "inconsistency": "Answers that change from time to time",
    "verbosity": "The length of the text",
    "own_maker": "Who wrote the answer",
    "leniency": "Uses the scale unlike the reference",
    "leaning": "Uses the scale unlike the reference",
    "extremes": "Uses the scale unlike the reference",
    "halo": "One impression for all criteria",
    "abstention": "Abstaining more than the reference",
    "agreement": "Words that raters understand differently",
    "discrimination": "Words that raters understand differently",
    "unused": "Options that are not needed or not told apart",
    "merge": "Options that are not needed or not told apart",
    "redundancy": "Criteria that ask the same",
}


def group_by_cause(
    findings: Sequence[Finding], models: Mapping[str, str]
) -> dict[tuple[str, str], list[int]]:
    """Return the indices of findings by cause and subject, in the order of their first finding.

    The subject is the judges' model, or the judge if it has none, or ``Criteria``. ``models`` maps
    judges to models.
    """
    groups: dict[tuple[str, str], list[int]] = {}
    for place, finding in enumerate(findings):
        about = (
            "Criteria"
            if finding.role == "criterion"
            else models.get(finding.subject) or finding.subject
        )
        groups.setdefault((CAUSES[finding.kind], about), []).append(place)
    return groups
