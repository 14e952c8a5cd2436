"""The conclusion on all criteria in one line."""

from __future__ import annotations

from collections.abc import Mapping

from core.services.agreement.conclusion import (
    BOUND,
    Conclusion,
    Known,
    Standing,
    rater_words,
)
from core.text.names import visible
from core.text.numbers import count, plural, score


def headline(conclusion: Conclusion) -> str:
    """Return how many criteria have which standing, and the weakest criterion, in one line.

    >>> from core.metrics.estimate import Estimate
    >>> from core.services.agreement.conclusion import Known
    >>> headline(Conclusion((Known("Clear", Estimate(0.5, 0.45, 0.6, n=90)),)))
    'Judges agree on 1 of 1 criterion.'
    """
    headings: Mapping[Standing, str] = {
        "not_trusted": "do not trust them on" if conclusion.reference else "they disagree on",
        "undecided": "undecided on",
        "too_few": "too few items to tell on",
        "unknown": "no result on",
    }
    trusted = count(len(conclusion.of("trusted"))) if conclusion.of("trusted") else "none"
    total = plural(len(conclusion.criteria), "criterion", "criteria")
    first = (
        f"Trust {rater_words(conclusion)} on {trusted} of {total}"
        if conclusion.reference
        else f"{conclusion.among.capitalize()} agree on {trusted} of {total}"
    )
    without_answers = sum(not criterion.agreement.n for criterion in conclusion.of("too_few"))
    sizes = {
        name: len(conclusion.of(name)) - without_answers * (name == "too_few") for name in headings
    }
    parts = [f"{headings[name]} {count(n)}" for name, n in sizes.items() if n]
    parts += [f"no answers on {count(without_answers)}"] if without_answers else []
    return f"{'; '.join([first, *parts])}.{_weakest_criterion(conclusion)}"


def _weakest_criterion(conclusion: Conclusion) -> str:
    """Return the criterion of least agreement in words; empty if it is trusted or the only one."""
    measured = [
        criterion for criterion in conclusion.criteria if criterion.agreement.value is not None
    ]
    least = min(measured, key=lambda criterion: criterion.agreement.value or 0.0, default=None)
    if least is None or len(measured) < 2 or conclusion.standing_of(least) == "trusted":
        return ""
    figure = f"{conclusion.figure} {score(least.agreement.value)}"
    return f" Weakest: {visible(least.name)} ({figure})."


def undecided_criteria(conclusion: Conclusion) -> str:
    """Return in one line the undecided criteria and the reasons; empty if all are decided.

    >>> from core.metrics.estimate import Estimate
    >>> from core.services.agreement.conclusion import Known
    >>> known = Known("Clear", Estimate(0.5, 0.25, 0.75, n=90))
    >>> undecided_criteria(Conclusion((known,)))
    "Undecided: Clear, Krippendorff's alpha 0.50 (0.25 to 0.75): the interval crosses 0.40."
    """
    parts = [
        f"{visible(criterion.name)}, {conclusion.figure} "
        f"{criterion.agreement.words(score).inline}: {_why_undecided(criterion)}"
        for criterion in conclusion.of("undecided")
    ]
    return f"Undecided: {'; '.join(parts)}." if parts else ""


def _why_undecided(criterion: Known) -> str:
    low, high = criterion.agreement.low, criterion.agreement.high
    if criterion.interval_conclusion != "undecided":
        return "its labels are not a fair sample"
    if low is not None and high is not None and low < BOUND <= high:
        return f"the interval crosses {score(BOUND)}"
    return "answers may be no more often right than the commonest one"
