"""What the planned run will take, and the button that starts it."""

from __future__ import annotations

import streamlit as st

from core.errors import InputError
from core.services import estimating, grading
from core.services import numbers as fmt
from core.services.estimating import Estimate, JudgeEstimate
from core.services.planning import RunRequest
from pages.grade._runs.judging import PLAN_FIELD, RUNS_ACT
from pages.ui import routes, state
from pages.ui.resources import remembered, store
from pages.ui.text import esc, label
from pages.ui.widgets import Figure, figures, problem_list, table


def show(request: RunRequest | None) -> None:
    """The estimate of a request and Start; or why there can be no run."""
    with st.container(border=True):
        st.html('<div class="rs-section">What it will take</div>')
        estimate = None if request is None else _estimate(request)
        if estimate is not None:
            _figures(estimate)
        elif request is None:
            st.caption("Choose who judges, and the estimate appears here.")
        _start(request if estimate is not None else None)


def _estimate(request: RunRequest) -> Estimate | None:
    # The seed draws which items and orders, not how many; only drawn items differ in length.
    about = (
        request.rubric_version,
        request.dataset_version,
        request.panel.model_dump_json(),
        request.seed if request.drawn else None,
        request.replicates,
        request.label_share,
        request.limit,
        request.drawn,
    )
    try:
        return remembered("estimate", about, lambda: estimating.estimate(store(), request))
    except InputError as error:
        st.error(label(error.message), icon=":material/error:")
        problem_list(error.problems)
        return None


def _figures(estimate: Estimate) -> None:
    most = "at most " if estimate.at_most else ""
    about = most or "about " if estimate.cost else ""
    figures(
        [
            Figure("Items", fmt.count(estimate.items)),
            Figure("Votes", most + fmt.count(estimate.votes)),
            Figure("Calls to models", (most if estimate.calls else "") + fmt.count(estimate.calls)),
            Figure("Cost", about + fmt.cost(estimate.cost)),
        ],
        columns=2,
    )
    if estimate.at_most:
        st.caption(
            "This is if nothing is spared; what stages or early stops spare shows afterwards."
        )
    if estimate.calibration:
        learned = fmt.plural(estimate.calibration, "labelled item")
        offline = any(not one.calls for one in estimate.judges)
        verb = "Offline judges learn from" if offline else "Examples are drawn from"
        st.caption(f"{verb} {learned}; those are not graded.")
        if estimate.twins:
            st.caption(estimate.twins.in_words())
    if estimate.calls:
        table(
            ("Judge", "Calls", "Tokens in", "Tokens out", "Cost"),
            (_line(one) for one in estimate.judges),
            name="The estimate for every judge",
            numbers=(1, 2, 3, 4),
        )
        st.caption(_time(estimate))
    unpriced = [one.name for one in estimate.judges if one.cost is None]
    if unpriced:
        st.warning(
            label(
                f"The price of {', '.join(unpriced)} is not known, so the cost is not, and a "
                "budget cannot stop the run. Enter prices on the Judges page."
            ),
            icon=":material/payments:",
        )


def _line(one: JudgeEstimate) -> list[str]:
    tokens = [fmt.tokens(n).removesuffix(" tokens") for n in (one.tokens_in, one.tokens_out)]
    return [esc(one.name), fmt.count(one.calls), *tokens, fmt.cost(one.cost)]


def _time(estimate: Estimate) -> str:
    words = "Tokens are estimated at 4 characters each and 150 for an answer."
    if estimate.seconds is None:
        return f"{words} The time is not known: test the connection on the Judges page to learn it."
    return f"{words} It takes about {fmt.seconds(estimate.seconds)}, as fast as the last test."


def _start(request: RunRequest | None) -> None:
    pressed = st.button(
        "Start",
        key=state.key(RUNS_ACT, "start"),
        type="primary",
        icon=":material/play_arrow:",
        disabled=request is None,
        width="stretch",
    )
    if pressed and request is not None:
        run_id = grading.start(store(), request)
        state.drop(PLAN_FIELD, "seed")
        routes.go(routes.RUN, {state.RUN: run_id})
