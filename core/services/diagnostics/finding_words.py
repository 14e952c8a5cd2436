"""The sentences in which findings are put: what, how much, how sure, from how many."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from core.metrics.bias.criteria import Agreement, Merge
from core.metrics.bias.effects import BiasEffect, Finding, Kind
from core.metrics.bias.judge_bias import Halo, Pull
from core.text.numbers import percent, score


def _points(value: float) -> str:
    return score(abs(value))


def _share(value: float) -> str:
    return percent(abs(value))


def _percentage_points(effect: BiasEffect) -> str:
    return f"{abs(_of(effect)) * 100:.0f} percentage points"


def _of(effect: BiasEffect) -> float:
    return 0.0 if effect.estimate is None else effect.estimate


def _sized(effect: BiasEffect) -> BiasEffect:
    """The effect without its sign, where the sentence says its direction in words."""
    if _of(effect) >= 0 or effect.low is None or effect.high is None:
        return effect
    return effect._replace(estimate=-_of(effect), low=-effect.high, high=-effect.low)


def sure(effect: BiasEffect, *, shares: bool = False, of: str = "items") -> str:
    """The interval, or why there is none, and n in brackets."""
    _, ends, why = effect.figure.words(percent if shares else score)
    if ends:
        return f"(95% interval {ends}, {effect.n:,} {of})"
    if effect.reason:
        return f"({why.removesuffix('.')}; {effect.n:,} {of})"
    return f"(the same on all of {effect.n:,} {of})"


def position(judge: str, pull: Pull) -> str:
    """Drawn to a place, or away from it."""
    effect = pull.effect
    if _of(effect) > 0:
        what = f"gives {_share(_of(effect))} of its answers to the option shown {pull.place}"
        why = f"because of its place: it chose it in {_share(pull.share)} of {effect.n:,} answers"
    else:
        what = f"shuns the option shown {pull.place}"
        why = f"because of its place: it chose it in {_share(pull.share)} of {effect.n:,} answers"
    size, ends, _ = effect.figure.words(percent)
    return (
        f"{judge} {what} {why}, where {_share(pull.expected)} would be expected "
        f"(pull {size}, 95% interval {ends})."
    )


def flips(judge: str, effect: BiasEffect) -> str:
    """Answers that depend on the order."""
    return (
        f"{judge} changes {_share(_of(effect))} of its answers when the order of the options is "
        f"reversed {sure(effect, shares=True)}."
    )


def inconsistency(judge: str, effect: BiasEffect) -> str:
    """Answers that differ when asked again."""
    return (
        f"{judge} contradicts itself: asked the same again, {_share(_of(effect))} of its answers "
        f"differ {sure(effect, shares=True)}."
    )


def verbosity(judge: str, effect: BiasEffect) -> str:
    """Length that goes with more, or with less; why is not known."""
    more = "more" if _of(effect) > 0 else "less"
    return (
        f"{judge} gives longer answers {more}: among those with the same label, twice the words go "
        f"with {_points(_of(effect))} {more} of an option's value {sure(_sized(effect))}. That "
        "is a correlation and may be deserved, for labels err and tell levels only; probes tell "
        "causes."
    )


def verbosity_together(
    names: Sequence[str], among: int, called: str, more: str, sizes: Sequence[float]
) -> str:
    """The same of several ``among`` judges, which is the likelier to be deserved."""
    who = f"{len(names)} of {among} {called}"
    if len(names) == among:
        who = f"{'Both' if among == 2 else f'All {among}'} {called}"
    least, most = _points(min(sizes)), _points(max(sizes))
    size = most if least == most else f"{least} to {most}"
    return (
        f"{who} ({', '.join(names)}) give longer answers {more}: among those with the same label, "
        f"twice the words go with {size} {more} of an option's value. That is a correlation and "
        f"may be deserved, the more so as several {called} see it, for labels err and tell levels "
        "only; probes tell causes."
    )


def own_maker(judge: str, effect: BiasEffect) -> str:
    """More for answers of its own maker's models; why is not known."""
    return (
        f"{judge} gives answers by its own maker's models more than those by others: among answers "
        f"with the same label {_points(_of(effect))} more of an option's value {sure(effect)}. "
        "That is a correlation and may be deserved, for labels err and tell levels only; a probe "
        "under its own maker's name tells whether the name is the cause."
    )


def leniency(judge: str, effect: BiasEffect, versus: str) -> str:
    """Too kind, or too strict."""
    word = "lenient" if _of(effect) > 0 else "severe"
    more = "more" if _of(effect) > 0 else "less"
    return (
        f"{judge} is more {word} than {versus}: its options are worth {_points(_of(effect))} "
        f"{more} on the same cells {sure(_sized(effect))}."
    )


def leaning(
    judge: str, criterion: str, labels: tuple[str, ...], level: int, effect: BiasEffect, versus: str
) -> str:
    """Gives an option too often, or too seldom, where options have no order."""
    more = _of(effect) > 0
    if len(labels) == 2 and not more:
        level, more = 1 - level, True
    return (
        f"{judge} gives “{labels[level]}” of {criterion} {_percentage_points(effect)} "
        f"{'more' if more else 'less'} often than {versus} {sure(_sized(effect), shares=True)}. "
        "These options have no order; if they stand for places, asking in the other order would "
        "tell whether the place draws."
    )


def leaning_together(
    sentence: str, model: str, judges: int, asking: int, sizes: Sequence[float]
) -> str:
    """The same of several judges that ask one model; the sentence is that of the one most so."""
    least, most = (f"{size * 100:.0f}" for size in (min(sizes), max(sizes)))
    span = f"by {least} to {most}" if least != most else f"by {most}"
    return (
        f"{judges} of {asking} judges of {model} lean alike, {span} percentage points. The most: "
        f"{sentence}"
    )


def extremes(judge: str, effect: BiasEffect, versus: str) -> str:
    """Keeps to the middle, or to the ends."""
    more = "more" if _of(effect) > 0 else "less"
    return (
        f"{judge} picks the lowest or highest option {_percentage_points(effect)} {more} often "
        f"than {versus} {sure(_sized(effect), shares=True)}."
    )


def halo(judge: str, found: Halo, truth: str) -> str:
    """One impression for everything."""
    return (
        f"{judge}'s answers go together more between criteria than {truth} account for: they "
        f"correlate {score(found.own or 0.0)}, of which {truth} account for "
        f"{score(found.reference or 0.0)}; the difference is {score(_of(found.effect))} "
        f"{sure(found.effect)}. One impression may colour all."
    )


def abstention(judge: str, effect: BiasEffect, versus: str) -> str:
    """Will not say where others do."""
    return (
        f"{judge} abstains {_percentage_points(effect)} more often than {versus} "
        f"{sure(effect, shares=True)}."
    )


def drift(judge: str, effect: BiasEffect, earlier: str) -> str:
    """Not as kind as it was."""
    where = "higher" if _of(effect) > 0 else "lower"
    return (
        f"{judge} has drifted: on the same items and criteria its options are worth "
        f"{_points(_of(effect))} {where} than in {earlier} {sure(_sized(effect))}."
    )


def agreement(criterion: str, found: Agreement, who: str) -> str:
    """Raters do not understand it alike."""
    alike = (
        "" if found.alike.value is None else f" They answer alike in {percent(found.alike.value)}."
    )
    return (
        f"{who} hardly agree on {criterion}: Krippendorff's alpha is {score(_of(found.effect))} "
        f"{sure(found.effect)}.{alike}"
    )


def discrimination(criterion: str, effect: BiasEffect) -> str:
    """It goes its own way."""
    turned = (
        "It may be turned round, "
        if (effect.high or 0.0) < 0
        else "It may not tell good items from poor ones, "
    )
    return (
        f"{criterion} hardly goes with the rest: its verdicts correlate {score(_of(effect))} with "
        f"the mean of the other criteria {sure(effect)}. {turned}or it asks something else."
    )


def unused(
    criterion: str,
    option: str,
    picked: int,
    effect: BiasEffect,
    labelled: int,
    called: tuple[str, str],
) -> str:
    """Nobody picks an option; ``called`` are the names of the truth and of a rater."""
    truth, rater = called
    who = (
        f"{rater.capitalize()}s picked only {picked} times" if picked else f"No {rater} ever picked"
    )
    people = f" {truth[0].upper()}{truth[1:]} have it {labelled} times." if labelled else ""
    return (
        f"{who} “{option}” of {criterion} on {effect.n:,} items "
        f"(95% interval 0% to {percent(effect.high or 0.0, 1)}).{people}"
    )


def merge(criterion: str, labels: tuple[str, ...], found: Merge, who: str) -> str:
    """Two options that nobody can tell apart."""
    before, after = (figure.value or 0.0 for figure in found.agreement)
    right = [figure.value for figure in found.accuracy]
    accuracy = (
        f" and the accuracy of single answers from {percent(right[0])} to {percent(right[1])}"
        if right[0] is not None and right[1] is not None
        else ""
    )
    return (
        f"{who} hardly agree on “{labels[found.first]}” or “{labels[found.second]}” of "
        f"{criterion}: between these two their alpha is {score(_of(found.apart))} "
        f"{sure(found.apart)}. As one option, alpha would go from {score(before)} to "
        f"{score(after)}{accuracy}."
    )


def redundancy(
    first: str, second: str, effect: BiasEffect, in_truth: float | None, truth: str
) -> str:
    """Two criteria that are one."""
    how = "the same answer" if _of(effect) > 0 else "opposite answers"
    known = "" if in_truth is None else f" In {truth} the correlation is {score(in_truth)}."
    return (
        f"{first} and {second} nearly always get {how}: their verdicts correlate "
        f"{score(_of(effect))} {sure(effect)}.{known}"
    )


#: What findings of each kind come from.
CAUSES: Mapping[Kind, str] = {
    "position": "The order in which options stand",
    "flips": "The order in which options stand",
    "inconsistency": "Answers that change from time to time",
    "drift": "Answers that change from time to time",
    "verbosity": "The length of the text",
    "own_maker": "Who wrote the answer",
    "leniency": "Another yardstick than the reference's",
    "leaning": "Another yardstick than the reference's",
    "extremes": "Another yardstick than the reference's",
    "halo": "One impression for all criteria",
    "abstention": "Abstaining more than the reference",
    "agreement": "Words that raters understand differently",
    "discrimination": "Words that raters understand differently",
    "unused": "Options that nobody needs or tells apart",
    "merge": "Options that nobody needs or tells apart",
    "redundancy": "Criteria that ask the same",
}


class CauseGroup(NamedTuple):
    """Findings of one cause, by the places they have in the list of all.

    ``about`` is the model of the judges, or the judge where it has none, or ``Criteria``.
    """

    cause: str
    about: str
    places: tuple[int, ...]


def by_cause(findings: Sequence[Finding], models: Mapping[str, str]) -> tuple[CauseGroup, ...]:
    """The findings by cause and model, in the order in which each is met first.

    ``models`` are those of judges by name.
    """
    found: dict[tuple[str, str], list[int]] = {}
    for place, one in enumerate(findings):
        about = "Criteria" if one.role == "criterion" else models.get(one.subject) or one.subject
        found.setdefault((CAUSES[one.kind], about), []).append(place)
    return tuple(CauseGroup(*key, tuple(places)) for key, places in found.items())
