"""A fitted rule in words: its effect, its performance, and whether it is offered."""

from __future__ import annotations

from collections.abc import Mapping

from core.domain.weight_fit import Fitted
from core.text.numbers import percent, score


def fit_effect(fitted: Fitted) -> str:
    """Return the effect of the fitted rule in a few words.

    >>> from core.domain.weight_fit import Weights
    >>> alone = Weights(prior=(), judges={"ann": ()})
    >>> fit_effect(Fitted.model_construct(kind="judge", weights=alone))
    "ann's votes alone"
    """
    judges = list(fitted.weights.judges)
    if fitted.kind == "judge":
        return f"{judges[0]}'s votes alone"
    if fitted.kind == "severity":
        return "the mean of the votes, less what each judge gives more than others for one work"
    if fitted.kind == "latent":
        return "what every judge's votes mean by who agrees with whom, learnt from no label"
    if fitted.kind == "line":
        return "the mean of the votes, moved and stretched to the labels"
    if len(judges) == 1:
        return f"{judges[0]}'s votes, read as what they meant on labelled items"
    return "every judge's votes, weighted by what they said of the labels"


def fit_explanation(fitted: Fitted) -> str:
    """Return the explanation of a fit: its quantities and its method."""
    n = fitted.labels
    hits, plain = fitted.right, fitted.plain_right
    nearer = ""
    if fitted.far is not None and fitted.plain_far is not None:
        nearer = (
            f"missed by {score(fitted.far)} levels on average and {fitted.plain} by "
            f"{score(fitted.plain_far)}; it "
        )
    return (
        f"On {n} labelled items, each settled by a rule that was chosen and fitted without it, "
        f"calibrated {nearer}was right on {hits} ({percent(hits / n)}) and {fitted.plain} on "
        f"{plain} ({percent(plain / n)}): {fitted.gained} corrected, {fitted.lost} spoilt"
        f"{_kappa_words(fitted)}. {_offer_text(fitted)}"
    )


def _kappa_words(fitted: Fitted) -> str:
    if fitted.kappa is None or fitted.plain_kappa is None:
        return ""
    return f"; beyond chance kappa is {score(fitted.kappa)} against {score(fitted.plain_kappa)}"


def _offer_text(fitted: Fitted) -> str:
    ordinal = fitted.far is not None
    if not fitted.better:
        return f"It is not offered, because {_why_not_offered(fitted)}."
    if ordinal:
        return f"Offered: {fit_effect(fitted)}, because that was nearer to the labels."
    if fitted.right > fitted.plain_right:
        return f"Offered: {fit_effect(fitted)}, because that was right more often."
    return (
        f"Offered: {fit_effect(fitted)}, which is ahead when all labels choose; "
        "on so few it is not sure."
    )


def _why_not_offered(fitted: Fitted) -> str:
    if fitted.constant:
        return f"it says {fitted.constant} of every cell of the run, whatever the judges say"
    if fitted.far is not None and fitted.plain_far is not None:
        ahead, advantage = fitted.far < fitted.plain_far, "significantly nearer to the labels"
    else:
        ahead, advantage = fitted.gained > fitted.lost, "right more often"
    if ahead and fitted.kappa is not None and fitted.kappa < (fitted.plain_kappa or 0.0):
        return f"it agrees with the labels less than {fitted.plain} does, beyond chance"
    return f"it was not {advantage}"


def judge_influence(fitted: Fitted) -> Mapping[str, float]:
    """Return how much each judge counts, from 0 (no better than chance) to 1."""
    return dict(sorted(fitted.reliance.items(), key=lambda pair: (-pair[1], pair[0])))
