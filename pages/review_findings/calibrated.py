"""The rule `calibrated`: judges weighted by their accuracy on cells that people decided."""

from __future__ import annotations

import streamlit as st

from core.domain.review_records import QueueRow
from core.domain.weight_fit import Fitted
from core.services.results import weight_fit, weight_fit_words
from core.services.results.weight_fit import FittedOffer
from core.text import numbers as fmt
from pages.review_findings.words import (
    RECORD_ACT,
    cached_figure,
    quiet_html,
    show_section,
    show_sentences,
)
from pages.ui import state
from pages.ui.resources import store
from pages.ui.text import esc, one_line
from pages.ui.widgets import draw_table, shown_errors, tag


def show(queue: QueueRow) -> None:
    """Draw the fit of each criterion, and the buttons to use it or the plain rules."""
    run_id = queue.run_id
    show_section("Weight judges by people's decisions")
    offers = cached_figure("fitted", queue, lambda: weight_fit.fitted_offers(store(), run_id))
    draw_table(
        ("Criterion", "", "Plain rule", "Calibrated", "Now right", "Made worse", "Labels"),
        (_offer_row(offer) for offer in offers),
        name="The rule calibrated, by criterion",
        numbers=(2, 3, 4, 5, 6),
    )
    _show_reliance(offers)
    _use_buttons(run_id, offers)
    st.caption(
        "Labels of the dataset and verdicts settled by people show how reliable each judge "
        "is. Three rules are tried: all judges by their weight, the best judge alone, and, "
        "if levels have an order, the mean of the votes, shifted towards the labels. Both "
        "columns are measured on held-out labels: no item influences the rule that settles "
        "it. The measure is the distance to the label if levels have an order, otherwise "
        "the share of right answers. The calibrated rule is offered if it is better by this "
        "measure, its kappa is no lower, and it does not give the same answer on every cell. "
        "No judge is asked again."
    )


def _offer_row(offer: FittedOffer) -> list[str]:
    name, fitted = esc(one_line(offer.criterion, 80)), offer.fitted
    if fitted is not None:
        name = f"{name}<br>{quiet_html(weight_fit_words.fit_effect(fitted))}"
    else:
        return [f"{name}<br>{quiet_html(offer.words)}", tag("too little"), *[fmt.DASH] * 5]
    return [
        name,
        fit_mark(offer, fitted),
        _accuracy_words(fitted.plain_right, fitted.labels, fitted.plain_far, fitted.plain_kappa)
        + f"<br>{quiet_html(fitted.plain.replace('_', ' '))}",
        _accuracy_words(fitted.right, fitted.labels, fitted.far, fitted.kappa),
        fmt.count(fitted.gained),
        fmt.count(fitted.lost),
        fmt.count(fitted.labels),
    ]


def fit_mark(offer: FittedOffer, fitted: Fitted) -> str:
    """Return the HTML that says whether a fit is used, offered, or neither."""
    if offer.used:
        return tag("in use", "info")
    if not offer.offered:
        return tag("a constant", "warn") if fitted.constant else tag("no better")
    return tag("✓ offered", "good")


def _accuracy_words(
    n_right: int, labels: int, difference: float | None, kappa: float | None
) -> str:
    share = f"{fmt.percent(n_right / labels)} right"
    if difference is not None:
        share = f"{fmt.score(difference)} levels off<br>{quiet_html(share)}"
    return share if kappa is None else f"{share}<br>{quiet_html(f'kappa {fmt.score(kappa)}')}"


def _show_reliance(offers: list[FittedOffer]) -> None:
    fitted = [offer for offer in offers if offer.fitted is not None and offer.fitted.reliance]
    if not fitted:
        return
    with st.popover("Influence of each judge", icon=":material/hearing:"):
        for offer in fitted:
            if offer.fitted is None:
                continue
            rows = weight_fit_words.judge_influence(offer.fitted).items()
            draw_table(
                (one_line(offer.criterion, 80), "From 0 (as chance) to 1"),
                ([esc(judge), fmt.score(value)] for judge, value in rows),
                name=f"Influence of each judge on {offer.criterion}",
                numbers=(1,),
            )


def _use_buttons(run_id: int, offers: list[FittedOffer]) -> None:
    offered = [offer for offer in offers if offer.offered and not offer.used]
    used = [offer for offer in offers if offer.used]
    if not offered and not used:
        show_sentences(
            "There is nothing to use yet: on no criterion is the calibrated rule ahead of the "
            "plain rule."
        )
    with st.container(horizontal=True):
        if offered:
            names = "it" if len(offered) == 1 else f"calibrated rule on {len(offered)} criteria"
            st.button(
                f"Use {names}",
                key=state.key(RECORD_ACT, "use"),
                type="primary",
                icon=":material/balance:",
                help="Verdicts and scores are computed again from the same votes.",
                on_click=_use_fit,
                args=(run_id, True),
            )
        if used:
            st.button(
                "Return to the plain rule",
                key=state.key(RECORD_ACT, "plain"),
                icon=":material/undo:",
                on_click=_use_fit,
                args=(run_id, False),
            )


def _use_fit(run_id: int, calibrated: bool) -> None:
    with shown_errors():
        offers = weight_fit.fitted_offers(store(), run_id) if calibrated else []
        chosen = [offer.fitted for offer in offers if offer.fitted is not None and offer.offered]
        items = weight_fit.use(store(), run_id, chosen)
        state.flash(f"{fmt.plural(items, 'item')} settled again, without calls.")
