"""Members of a team: who may sign in, in which role, and how long a sign-in lasts."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from core import clock
from core.domain.access import TEAM_ROLES, Actor, AuditRow, MemberRow, TeamAccess, TeamRole
from core.errors import InputError
from core.formats.source.csv_writer import csv_bytes, csv_text
from core.services.access.allowing import allowed, require
from core.settings import load_settings
from core.store.store import Store
from core.text.addresses import why_not_address


def actor(
    store: Store, access: TeamAccess, claims: Mapping[str, Any] | None, *, join: bool = True
) -> Actor:
    """Return the current user, from the login provider's claims (``None``: not signed in).

    It is checked on every rerun of a page, so that members who were switched off, or signed out in
    another window, are out at once. ``store`` acts for the program itself. Without ``join`` the
    check adds no member.
    """
    if claims is None:
        return Actor(refused="You are not signed in.")
    email = address_in(claims)
    refused = _refused_claims(access, claims, email)
    if refused:
        return Actor(email, refused=refused)
    row = store.members.find(email)
    if row is None and not _may_join(access, email):
        return Actor(email, refused=f"{email} is not a member here. Ask an admin to add you.")
    if row is not None and row.disabled and email not in access.admins:
        return Actor(email, refused=f"{email} was switched off here. Ask an admin.")
    issued = _sign_in_seconds(claims.get("iat"))
    if row is not None and row.signed_out and issued < _seconds_of_iso(row.signed_out):
        return Actor(email, refused="You signed out.")
    if row is None:
        role: TeamRole = "admin" if email in access.admins else access.new_members
        if not join or store.read_only:
            return Actor(email, role)
        row = store.members.put(email, role, disabled=False, now=clock.now())
    return Actor(email, "admin" if email in access.admins else row.role)


def address_in(claims: Mapping[str, Any] | None) -> str:
    """Return the login provider's e-mail address; empty if it gives none.

    Case does not count in addresses; look-alike letters do: they make a different person.
    """
    return str((claims or {}).get("email") or "").lower()


def _refused_claims(access: TeamAccess, claims: Mapping[str, Any], email: str) -> str:
    """Return why a sign-in is refused; empty if it is accepted."""
    if not email:
        return "Your provider gives no e-mail address, so this app cannot tell who you are."
    if reason := why_not_address(str(claims.get("email"))):
        return f"Your provider's name for you cannot be a member's here: {reason}"
    # Some providers send this claim as text, or not at all; only a plain ``True`` counts.
    if access.require_verified and claims.get("email_verified") is not True:
        return f"Your provider does not say that {email} is verified."
    issued = _sign_in_seconds(claims.get("iat"))
    if clock.seconds_now() - issued > 3600 * access.session_hours:
        return "Your sign-in is over. Sign in again."
    return ""


def _may_join(access: TeamAccess, email: str) -> bool:
    domain = email.rpartition("@")[2]
    return email in access.admins or email in access.emails or domain in access.domains


def _sign_in_seconds(issued: object) -> float:
    """Return the time of a sign-in; without a time it counts as too old."""
    is_number = isinstance(issued, int | float) and not isinstance(issued, bool)
    return float(issued) if is_number else 0.0  # type: ignore[arg-type]


def _seconds_of_iso(iso: str) -> int:
    # Providers give whole seconds, so a new sign-in within this second counts.
    return int(datetime.fromisoformat(iso).astimezone(UTC).timestamp())


def sign_out(store: Store) -> None:
    """End every sign-in of the current user: other tabs, other windows, copied cookies."""
    if store.actor.role is not None and not store.actor.trusted:
        _sign_out(store, store.actor.name)


@allowed("draft")
def _sign_out(store: Store, email: str) -> None:
    store.members.sign_out(email, now=clock.now())


def all_members(store: Store) -> list[MemberRow]:
    """Return all members, by address."""
    require(store, "administer")
    return store.members.list()


def recorded_people(store: Store) -> Sequence[str]:
    """Return everyone in the record of changes; the empty name means the terminal."""
    require(store, "administer")
    return store.audit.actors()


def audit_size(store: Store, member: str | None = None) -> int:
    """Return the number of lines in the record of changes, of all members or of one."""
    require(store, "administer")
    return store.audit.count(actor=member)


def audit_lines(
    store: Store, member: str | None = None, *, offset: int = 0, limit: int = 100
) -> list[AuditRow]:
    """Return lines of the record of changes, the newest first."""
    require(store, "administer")
    return store.audit.list(actor=member, offset=offset, limit=limit)


def audit_csv(store: Store) -> bytes:
    """Return the whole record of changes as CSV, oldest first, with formulas made harmless."""
    columns = ("id", "at", "actor", "role", "via", "verb", "act", "object", "before", "after")
    rows = list[tuple[str | int, ...]]()
    for row in reversed(audit_lines(store, limit=-1)):
        plain = [
            json.dumps(part, ensure_ascii=False) for part in (row.object, row.before, row.after)
        ]
        actor_fields = (row.actor, row.role or "", row.via, row.verb, row.act)
        rows.append((row.id, row.at, *actor_fields, *plain))
    return csv_bytes(csv_text(columns, rows))


@allowed("administer")
def put(store: Store, email: str, role: TeamRole, *, disabled: bool = False) -> MemberRow:
    """Add a member, change a member's role, or switch one off or on again.

    Raises:
        InputError: the app has no members, the address or the role is invalid, or the
            configuration names this admin.
    """
    access = load_settings().access
    if access is None:
        raise InputError("This app works alone and has no members. See docs/access.md.")
    if reason := why_not_address(email):
        raise InputError(reason)
    email = email.lower()
    if role not in TEAM_ROLES:
        raise InputError(f"{role!r} is not a role. Use one of {', '.join(TEAM_ROLES)}.")
    if email in access.admins and (role != "admin" or disabled):
        raise InputError(
            f"{email} is an admin by the server's configuration. Change it there (admins)."
        )
    former = store.members.find(email)
    if former is not None:
        store.on_record(before={"role": former.role, "disabled": former.disabled})
    store.on_record(after={"role": role, "disabled": disabled})
    return store.members.put(email, role, disabled=disabled, now=clock.now())
