"""Commands of a team server: who has access to what, and who is a member."""

from __future__ import annotations

from pathlib import Path
from typing import Any, cast

import click

from core.cli import common
from core.cli.common import db_option, open_db, settings_for
from core.domain.access import MAY, TEAM_ROLES, VERB_WORDS, TeamAccess, TeamRole
from core.settings import Settings, load_settings
from core.text.addresses import why_not_address


@click.group()
def access() -> None:
    """Manage who may do what on a team's server.

    docs/access.md describes it.
    """


@access.command("check")
@click.option("--json", "as_json", is_flag=True, help="The same as JSON on stdout.")
def access_check(as_json: bool) -> None:
    """Show who may do what.

    Shows how people sign in, what each role may do, and which providers may be called.

    Reads the configuration (RUBRIC_STUDIO_CONFIG) and changes nothing.
    """
    with common.plain_errors(as_json):
        common.print_result(_report_data(load_settings()), _as_text, as_json)


@access.command("members")
@db_option
@click.option("--json", "as_json", is_flag=True, help="The same as JSON on stdout.")
def access_members(db: Path | None, as_json: bool) -> None:
    """List the members with role and right to sign in."""
    with common.plain_errors(as_json):
        report = {"members": _members(settings_for(db).db)}
        common.print_result(report, _members_text, as_json)


@access.command("set")
@click.argument("email")
@click.argument("role", type=click.Choice(TEAM_ROLES))
@click.option("--off", is_flag=True, help="They may not sign in any more; what they did stays.")
@db_option
def access_set(email: str, role: str, off: bool, db: Path | None) -> None:
    """Make EMAIL a member with this ROLE, or change the role."""
    from core.services.access import members

    with common.plain_errors():
        row = members.put(open_db(db), email, cast("TeamRole", role), disabled=off)
        common.print_text(f"{row.email}: {row.role}{', may not sign in' if row.disabled else ''}")


def _report_data(settings: Settings) -> dict[str, Any]:
    team = settings.access
    report: dict[str, Any] = {"mode": "local" if team is None else "team"}
    if team is None:
        report["open"] = settings.open
        return report
    return {
        **report,
        "admins": sorted(team.admins),
        "become_members": sorted([*team.domains, *team.emails]),
        "new_members": team.new_members,
        "require_verified": team.require_verified,
        "session_hours": team.session_hours,
        "hosts": list(team.hosts),
        "may": {verb: [role for role in TEAM_ROLES if role in may] for verb, may in MAY.items()},
        "providers": _providers(team),
        "workspaces": [
            _workspace(workspace_settings)
            for workspace_settings in settings.each()
            if workspace_settings.workspace
        ],
    }


def _workspace(settings: Settings) -> dict[str, Any]:
    """Return a workspace and its members; does not create its data file."""
    workspace = settings.workspace
    assert workspace is not None
    return {
        "name": workspace.name,
        "title": workspace.title,
        "data": str(workspace.data),
        "new_members": workspace.new_members,
        "members": _members(workspace.data) if workspace.data.exists() else [],
    }


def _members(db: Path) -> list[dict[str, Any]]:
    from core.services.access import members

    rows = members.all_members(open_db(db))
    return [{"email": r.email, "role": r.role, "may_sign_in": not r.disabled} for r in rows]


def _providers(team: TeamAccess) -> list[dict[str, Any]]:
    return [
        {
            "name": provider.name,
            "address": provider.address,
            "key_env": provider.key_env,
            "models": list(provider.models),
            "roles": [role for role in TEAM_ROLES if role in provider.roles],
            "monthly_usd": provider.monthly_usd,
            "person_usd": provider.person_usd,
        }
        for provider in team.providers
    ]


def _as_text(report: dict[str, Any]) -> str:
    if report["mode"] == "local":
        from_elsewhere = (
            "Other machines may open it, too, and then do everything but change judges (--open)."
            if report["open"]
            else "Nobody else is let in: --host elsewhere is refused without --open or [access]."
        )
        return f"Local: whoever sits at this machine may do everything. {from_elsewhere}"
    verified = "verified" if report["require_verified"] else "also unverified"
    lines = [
        f"Team: everybody signs in ({verified} e-mail addresses), every "
        f"{report['session_hours']:g} hours.",
        f"Admins: {', '.join(report['admins'])}",
        "Become members by signing in: "
        + (", ".join(report["become_members"]) or "nobody")
        + f" (as {report['new_members']})",
        f"Names of the server: {', '.join(report['hosts']) or 'those it listens on'}",
        "",
    ]
    lines += [f"{', '.join(may)} may {VERB_WORDS[verb]}" for verb, may in report["may"].items()]
    lines += ["", *map(_provider_line, report["providers"])]
    if not report["providers"]:
        lines.append("No provider is listed.")
    for workspace in report["workspaces"]:
        new = workspace["new_members"]
        joins = f"who signs in is {new}" if new else "an admin adds its members"
        lines += [
            "",
            f"Workspace {workspace['name']} ({workspace['title']}): {workspace['data']}; {joins}",
        ]
        lines.append(_members_text(workspace))
    return "\n".join(lines)


def _provider_line(provider: dict[str, Any]) -> str:
    location = provider["address"] or ", ".join(provider["models"])
    key = f"with the key in {provider['key_env']}" if provider["key_env"] else "without a key"
    limits = [
        f"at most {provider[name]:g} US dollars {per} month"
        for name, per in (("monthly_usd", "a"), ("person_usd", "per person and"))
        if provider[name] is not None
    ]
    return f"{provider['name']}: {location} {key}, for {', '.join(provider['roles'])}" + "".join(
        f", {limit}" for limit in limits
    )


def _members_text(report: dict[str, Any]) -> str:
    rows = report["members"]
    return (
        "\n".join(
            f"{row['email']}: {row['role']}{'' if row['may_sign_in'] else ', may not sign in'}"
            + (f" ({reason})" if (reason := why_not_address(row["email"])) else "")
            for row in rows
        )
        or "Nobody has signed in yet."
    )
