"""Members: one row each, with role and a switch; a form for a new member."""

from __future__ import annotations

from typing import cast

import streamlit as st

from core.domain.access import TEAM_ROLES, MemberRow, TeamAccess, TeamRole
from core.services.access import members
from core.text import numbers as fmt
from core.text.addresses import why_not_address
from pages.ui import state
from pages.ui.resources import store
from pages.ui.text import esc, label
from pages.ui.widgets import shown_errors

FIELD = "members_field"
ACT = "members_act"


def show(access: TeamAccess) -> None:
    """Draw everyone who signed in or was added, and the form that adds a member."""
    rows = members.all_members(store())
    st.html(f'<span class="rs-quiet rs-num">{fmt.plural(len(rows), "member")}</span>')
    for row in rows:
        _member_row(row, fixed=row.email in access.admins)
    _add_form(access)


def _member_row(row: MemberRow, *, fixed: bool) -> None:
    key = state.key(FIELD, row.email)
    with st.container(border=True, horizontal=True, vertical_alignment="center", gap="small"):
        with st.container(width="stretch"):
            since = f"since {fmt.time_ago(row.created)}" + (
                ", switched off" if row.disabled else ""
            )
            since = why_not_address(row.email) or since
            since = "an admin by the server's configuration" if fixed else since
            st.html(f'<b>{esc(row.email)}</b><br><span class="rs-quiet">{esc(since)}</span>')
        state.put(state.key(key, "role"), row.role)
        st.selectbox(
            label(f"Role of {row.email}"),
            TEAM_ROLES,
            key=state.key(key, "role"),
            disabled=fixed,
            width=150,
            label_visibility="collapsed",
            on_change=_on_change,
            args=(row, key),
        )
        state.put(state.key(key, "in"), not row.disabled)
        st.toggle(
            "May sign in",
            key=state.key(key, "in"),
            disabled=fixed,
            on_change=_on_change,
            args=(row, key),
        )


def _on_change(row: MemberRow, key: str) -> None:
    role, may = state.get(state.key(key, "role")), state.get(state.key(key, "in"))
    with shown_errors():
        members.put(store(), row.email, cast("TeamRole", role), disabled=not may)


def _add_form(access: TeamAccess) -> None:
    st.subheader("Add a member", anchor=False)
    allowed = sorted(access.domains) + sorted(access.emails)
    if allowed:
        st.caption(
            f"Anyone who signs in with an address of {label(', '.join(allowed))} becomes a member "
            f"with the role {access.new_members}."
        )
    with (
        st.form(state.key(FIELD, "new"), border=False, clear_on_submit=True),
        st.container(horizontal=True, vertical_alignment="bottom"),
    ):
        st.text_input("E-mail address", key=state.key(FIELD, "email"), max_chars=254, width=320)
        st.selectbox("Role", TEAM_ROLES, key=state.key(FIELD, "role"), width=150)
        st.form_submit_button("Add", type="primary", on_click=_on_add)


def _on_add() -> None:
    email = str(state.get(state.key(FIELD, "email")) or "")
    with shown_errors():
        row = members.put(store(), email, state.get(state.key(FIELD, "role")))
        state.flash(f"{row.email} can now sign in.")
