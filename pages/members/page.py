"""Members: people's roles, the allowed providers, and the record of changes."""

from __future__ import annotations

import streamlit as st

from core.domain.access import MAY, TEAM_ROLES, VERB_WORDS, ListedProvider, TeamAccess, allow
from core.text import numbers as fmt
from pages.members import people, record, spending
from pages.ui import routes, state
from pages.ui.resources import actor, current_settings
from pages.ui.text import esc
from pages.ui.widgets import choose_one, draw_table, page_header, show_flash

VIEW = "members_view"
VIEWS = {
    "people": "Members",
    "providers": "Providers",
    "spending": "Spending",
    "record": "Record of changes",
}


def _show_view() -> None:
    page_header("Members", "Roles, allowed providers, spending limits, and the record of changes.")
    access = current_settings().access
    if access is None:
        st.info("Sign-in is off: anyone at this machine may do everything.")
        routes.draw_link(routes.DOCUMENTS, "How to give others access", {state.DOCUMENT: "access"})
        return
    allow(actor(), "administer")
    show_flash()
    key = state.key(VIEW)
    state.put(key, state.address_in(state.VIEW, VIEWS) or "people")
    view = choose_one(
        "View", list(VIEWS), key=key, format_func=VIEWS.__getitem__, on_change=_on_view, args=(key,)
    )
    if view == "providers":
        _show_providers(access)
    elif view == "spending":
        spending.show(access)
    elif view == "record":
        record.show()
    else:
        people.show(access)
        _show_roles()


def _on_view(key: str) -> None:
    view = state.get(key)
    state.set_address(**{state.VIEW: None if view == "people" else view, state.PAGE: None})


def _show_roles() -> None:
    st.subheader("What the roles may do", anchor=False)
    draw_table(
        ("", *TEAM_ROLES),
        (
            [esc(VERB_WORDS[verb]), *("✓" if role in may else "–" for role in TEAM_ROLES)]
            for verb, may in MAY.items()
            if verb != "draft"
        ),
        name="What each role may do",
    )


def _show_providers(access: TeamAccess) -> None:
    st.caption(
        "Each address gets only its own key. The list is part of the server's configuration and "
        "is changed there."
    )
    if not access.providers:
        st.info("No provider is listed, so only offline judges and checks can grade.")
        return
    draw_table(
        ("Provider", "Address", "Key variable", "For", "Limit a month", "For a person"),
        map(_provider_row, access.providers),
        name="The providers that may be asked",
        numbers=(4, 5),
    )


def _provider_row(provider: ListedProvider) -> list[str]:
    limits = (provider.monthly_usd, provider.person_usd)
    return [
        esc(provider.name),
        esc(provider.address or " ".join(provider.models)),
        esc(provider.key_env or "none"),
        esc(", ".join(role for role in TEAM_ROLES if role in provider.roles)),
        *("no limit" if limit is None else fmt.cost(limit) for limit in limits),
    ]


_show_view()
