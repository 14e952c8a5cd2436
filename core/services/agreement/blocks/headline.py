"""The conclusion on all criteria in one line."""

from __future__ import annotations

from collections.abc import Mapping

from core.services.agreement.conclusion import Conclusion, Standing, rater_words
from core.text.names import visible
from core.text.numbers import count, plural, score


def headline(found: Conclusion) -> str:
    """Return how many criteria have which standing, and the weakest one, in a line.

    >>> from core.metrics.estimate import Estimate
    >>> from core.services.agreement.conclusion import Known
    >>> headline(Conclusion((Known("Clear", Estimate(0.5, 0.45, 0.6, n=90)),)))
    'Judges agree on 1 of 1 criterion.'
    """
    heads: Mapping[Standing, str] = {
        "not_trusted": "do not trust them on" if found.reference else "they disagree on",
        "undecided": "undecided on",
        "too_few": "too few items to tell on",
        "unknown": "no result on",
    }
    trusted = count(len(found.of("trusted"))) if found.of("trusted") else "none"
    whole = plural(len(found.criteria), "criterion", "criteria")
    first = (
        f"Trust {rater_words(found)} on {trusted} of {whole}"
        if found.reference
        else f"{found.among.capitalize()} agree on {trusted} of {whole}"
    )
    silent = sum(not criterion.agreement.n for criterion in found.of("too_few"))
    sizes = {name: len(found.of(name)) - silent * (name == "too_few") for name in heads}
    rest = [f"{heads[name]} {count(n)}" for name, n in sizes.items() if n]
    rest += [f"no answers on {count(silent)}"] if silent else []
    return f"{'; '.join([first, *rest])}.{_weakest(found)}"


def _weakest(found: Conclusion) -> str:
    """Return the criterion of least agreement, of several that are compared and not all trusted."""
    measured = [criterion for criterion in found.criteria if criterion.agreement.value is not None]
    least = min(measured, key=lambda criterion: criterion.agreement.value or 0.0, default=None)
    if least is None or len(measured) < 2 or found.standing_of(least) == "trusted":
        return ""
    figure = f"{found.figure} {score(least.agreement.value)}"
    return f" Weakest: {visible(least.name)} ({figure})."
