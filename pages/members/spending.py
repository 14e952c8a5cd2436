"""Spending: a month's cost by provider and person, against its limits; with a download."""

from __future__ import annotations

from datetime import date

import streamlit as st

from core import clock
from core.domain.access import ListedProvider, TeamAccess
from core.services.access import spending
from core.services.access.spending import MonthlySpending
from core.text import numbers as fmt
from pages.ui import state
from pages.ui.resources import make_later, store
from pages.ui.text import esc
from pages.ui.widgets import draw_table, empty_state

CHOICE = "spending_month"
#: The most months offered.
MONTHS = 12


def show(access: TeamAccess) -> None:
    """Draw the month, all providers, and everyone's spending there."""
    with st.container(horizontal=True, vertical_alignment="bottom"):
        month = st.selectbox("Month (UTC)", _month_names(), key=CHOICE, width=160)
        st.download_button(
            "As CSV",
            data=make_later(lambda held: spending.spending_csv(held, month)),
            file_name=f"spending-{month}.csv",
            mime="text/csv",
            icon=":material/download:",
            key=state.key(CHOICE, "file"),
            on_click="ignore",
        )
    st.caption(
        "Runs, spot checks, contests and help by a model count alike. A running task "
        "reserves the rest of its budget; without a budget, it reserves twice its expected "
        "cost. Calls without a known price count as free."
    )
    shares = spending.spending_of_month(store(), month)
    if not access.providers:
        empty_state(
            "No provider is listed", "Without a provider, only offline judges and checks can grade."
        )
        return
    draw_table(
        ("Provider", "Spent", "Held", "Limit", "Left"),
        (_provider_row(provider, shares) for provider in access.providers),
        name="What each provider cost",
        numbers=(1, 2, 3, 4),
    )
    st.subheader("By person", anchor=False)
    if not shares:
        empty_state(
            "Nothing was spent", "Shows the cost of runs and help, by the member who started them."
        )
        return
    limits = {provider.name: provider.person_usd for provider in access.providers}
    draw_table(
        ("Who", "Provider", "Spent", "Held", "Limit for a person", "Left"),
        (
            [
                esc(share.person or "the terminal"),
                esc(share.provider),
                *_amount_cells([share], limits[share.provider]),
            ]
            for share in sorted(shares, key=lambda share: (-share.spent - share.held, share.person))
        ),
        name="What each person spent",
        numbers=(2, 3, 4, 5),
    )


def _provider_row(provider: ListedProvider, shares: list[MonthlySpending]) -> list[str]:
    provider_shares = [share for share in shares if share.provider == provider.name]
    return [esc(provider.name), *_amount_cells(provider_shares, provider.monthly_usd)]


def _amount_cells(shares: list[MonthlySpending], limit: float | None) -> list[str]:
    """Return the amounts spent and reserved, the limit, and what is left."""
    spent, held = sum(share.spent for share in shares), sum(share.held for share in shares)
    remaining = "–" if limit is None else fmt.cost(max(0.0, limit - spent - held))
    return [
        fmt.cost(spent),
        fmt.cost(held) if held else "–",
        "no limit" if limit is None else fmt.cost(limit),
        remaining,
    ]


def _month_names() -> list[str]:
    now = date.fromisoformat(clock.now()[:10])
    ago = [now.year * 12 + now.month - 1 - months_back for months_back in range(MONTHS)]
    return [f"{at // 12}-{at % 12 + 1:02}" for at in ago]
