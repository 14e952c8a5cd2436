"""What a planned contest will take, and the button that starts it."""

from __future__ import annotations

import streamlit as st

from core.errors import InputError
from core.services import contest_choices, contests
from core.services import numbers as fmt
from core.services.contest_choices import Outlook
from core.services.contests import ContestRequest
from core.services.estimating import JudgeEstimate
from pages.grade._runs.judging import PLAN_FIELD
from pages.ui import contest_keys as keys
from pages.ui import routes, state
from pages.ui.resources import remembered, store
from pages.ui.text import esc, label
from pages.ui.widgets import Figure, figures, problem_list, table


def show(request: ContestRequest | None) -> None:
    """The estimate and Start; or why there can be no contest."""
    with st.container(border=True):
        st.html('<div class="rs-section">What it will take</div>')
        found = None if request is None else outlook_of(request)
        if found is not None and request is not None:
            _words(request, found)
        elif request is None:
            st.caption("Choose what is compared and who judges, and the estimate appears here.")
        pressed = st.button(
            "Start",
            key=state.key(keys.CONTEST_ACT, "start"),
            type="primary",
            icon=":material/play_arrow:",
            disabled=found is None,
            width="stretch",
        )
    if pressed and request is not None:
        run_id = contests.start(store(), request)
        state.drop(PLAN_FIELD, "seed")
        state.drop(keys.CONTEST_FORM, "name")
        routes.go(routes.CONTESTS, {state.RUN: run_id})


def outlook_of(request: ContestRequest) -> Outlook | None:
    """What a request will take; `None`, and the reason on the page, where it cannot be."""
    about = (contests.request_hash(request), request.join, request.bouts, request.seed)
    try:
        return remembered("contest", about, lambda: contest_choices.outlook(store(), request))
    except InputError as error:
        st.error(label(error.message), icon=":material/error:")
        problem_list(error.problems)
        return None


def _words(request: ContestRequest, found: Outlook) -> None:
    estimate = found.estimate
    figures(
        [
            Figure("Contests", fmt.count(found.contests)),
            Figure("Calls to models", fmt.count(estimate.calls)),
            Figure("Votes", fmt.count(estimate.votes)),
            Figure("Cost", ("about " if estimate.cost else "") + fmt.cost(estimate.cost)),
        ],
        columns=2,
    )
    orders = "both orders" if request.design.orders == "both" else "one order"
    first = " of the first round" if request.design.kind == "adaptive" else ""
    asked = len(request.questions)
    said = [
        fmt.plural(len(request.systems), "system"),
        orders,
        f"{fmt.plural(found.contests, 'contest')}{first} on {fmt.plural(found.tasks, 'task')}",
    ]
    said += [fmt.plural(asked, "question")] if asked > 1 else []
    said.append(fmt.plural(estimate.calls, "call"))
    st.caption(", ".join(said) + ".")
    table(
        ("Judge", "Calls", "Tokens in", "Tokens out", "Cost"),
        map(_line, estimate.judges),
        name="The estimate for every judge",
        numbers=(1, 2, 3, 4),
    )
    for notice in found.notices:
        st.caption(label(notice))
    if any(one.cost is None for one in estimate.judges):
        st.warning(
            "The price of a judge is not known, so the cost is not.", icon=":material/payments:"
        )


def _line(one: JudgeEstimate) -> list[str]:
    tokens = [fmt.tokens(n).removesuffix(" tokens") for n in (one.tokens_in, one.tokens_out)]
    return [esc(one.name), fmt.count(one.calls), *tokens, fmt.cost(one.cost)]
