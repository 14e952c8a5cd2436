"""A server for a team from its terminal: what is open to whom, and who is a member."""

from __future__ import annotations

from pathlib import Path
from typing import Any, cast

import click

from core.cli import common
from core.cli.common import db_option, open_db, settings_with
from core.domain.access import MAY, TEAM_ROLES, VERB_WORDS, TeamAccess, TeamRole
from core.settings import Settings, load_settings
from core.text.addresses import why_not_address


@click.group()
def access() -> None:
    """Who may do what on a server for a team (docs/access.md)."""


@access.command("check")
@click.option("--json", "as_json", is_flag=True, help="The same as JSON on stdout.")
def access_check(as_json: bool) -> None:
    """Say what is open to whom: how people come in, what each role may do, what may be asked.

    Reads the configuration (RUBRIC_STUDIO_CONFIG) and changes nothing.
    """
    with common.plain_errors(as_json):
        common.report(_found(load_settings()), _as_text, as_json)


@access.command("members")
@db_option
@click.option("--json", "as_json", is_flag=True, help="The same as JSON on stdout.")
def access_members(db: Path | None, as_json: bool) -> None:
    """List the members: address, role, and whether they may sign in."""
    with common.plain_errors(as_json):
        found = {"members": _members(settings_with(db).db)}
        common.report(found, _members_text, as_json)


@access.command("set")
@click.argument("email")
@click.argument("role", type=click.Choice(TEAM_ROLES))
@click.option("--off", is_flag=True, help="They may not sign in any more; what they did stays.")
@db_option
def access_set(email: str, role: str, off: bool, db: Path | None) -> None:
    """Make EMAIL a member with this ROLE, or give another role."""
    from core.services.access import members

    with common.plain_errors():
        row = members.put(open_db(db), email, cast("TeamRole", role), disabled=off)
        common.tell(f"{row.email}: {row.role}{', may not sign in' if row.disabled else ''}")


def _found(settings: Settings) -> dict[str, Any]:
    team = settings.access
    found: dict[str, Any] = {"mode": "local" if team is None else "team"}
    if team is None:
        found["open"] = settings.open
        return found
    return {
        **found,
        "admins": sorted(team.admins),
        "become_members": sorted([*team.domains, *team.emails]),
        "new_members": team.new_members,
        "require_verified": team.require_verified,
        "session_hours": team.session_hours,
        "hosts": list(team.hosts),
        "may": {verb: [role for role in TEAM_ROLES if role in may] for verb, may in MAY.items()},
        "providers": _providers(team),
        "workspaces": [_workspace(one) for one in settings.each() if one.workspace],
    }


def _workspace(settings: Settings) -> dict[str, Any]:
    """A workspace, and who is what there; what is not made yet stays so."""
    one = settings.workspace
    assert one is not None
    return {
        "name": one.name,
        "title": one.title,
        "data": str(one.data),
        "new_members": one.new_members,
        "members": _members(one.data) if one.data.exists() else [],
    }


def _members(db: Path) -> list[dict[str, Any]]:
    from core.services.access import members

    rows = members.everyone(open_db(db))
    return [{"email": r.email, "role": r.role, "may_sign_in": not r.disabled} for r in rows]


def _providers(team: TeamAccess) -> list[dict[str, Any]]:
    return [
        {
            "name": one.name,
            "address": one.address,
            "key_env": one.key_env,
            "models": list(one.models),
            "roles": [role for role in TEAM_ROLES if role in one.roles],
            "monthly_usd": one.monthly_usd,
            "person_usd": one.person_usd,
        }
        for one in team.providers
    ]


def _as_text(found: dict[str, Any]) -> str:
    if found["mode"] == "local":
        others = (
            "Other machines may open it, too, and then do everything but change judges (--open)."
            if found["open"]
            else "Nobody else is let in: --host elsewhere is refused without --open or [access]."
        )
        return f"Local: whoever sits at this machine may do everything. {others}"
    verified = "verified" if found["require_verified"] else "also unverified"
    lines = [
        f"Team: everybody signs in ({verified} e-mail addresses), every "
        f"{found['session_hours']:g} hours.",
        f"Admins: {', '.join(found['admins'])}",
        "Become members by signing in: "
        + (", ".join(found["become_members"]) or "nobody")
        + f" (as {found['new_members']})",
        f"Names of the server: {', '.join(found['hosts']) or 'those it listens on'}",
        "",
    ]
    lines += [f"{', '.join(may)} may {VERB_WORDS[verb]}" for verb, may in found["may"].items()]
    lines += ["", *map(_provider_line, found["providers"])]
    if not found["providers"]:
        lines.append("No provider is listed.")
    for one in found["workspaces"]:
        new = one["new_members"]
        joins = f"who signs in is {new}" if new else "an admin adds its members"
        lines += ["", f"Workspace {one['name']} ({one['title']}): {one['data']}; {joins}"]
        lines.append(_members_text(one))
    return "\n".join(lines)


def _provider_line(one: dict[str, Any]) -> str:
    where = one["address"] or ", ".join(one["models"])
    key = f"with the key in {one['key_env']}" if one["key_env"] else "without a key"
    limits = [
        f"{words} {one[name]:g} US dollars a month"
        for name, words in (("monthly_usd", "at most"), ("person_usd", "a person"))
        if one[name] is not None
    ]
    return f"{one['name']}: {where} {key}, for {', '.join(one['roles'])}" + "".join(
        f", {words}" for words in limits
    )


def _members_text(found: dict[str, Any]) -> str:
    rows = found["members"]
    return (
        "\n".join(
            f"{one['email']}: {one['role']}{'' if one['may_sign_in'] else ', may not sign in'}"
            + (f" ({why})" if (why := why_not_address(one["email"])) else "")
            for one in rows
        )
        or "Nobody has signed in yet."
    )
