"""Read the configuration of a team server (TOML; ``docs/access.md``)."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from typing import Any

from core.domain.access import (
    MAX_SESSIONS,
    TEAM_ROLES,
    ListedProvider,
    TeamAccess,
    TeamRole,
    Workspace,
)
from core.errors import InputError, Problem
from core.text.addresses import why_not_address, why_not_domain


def team_access(path: str) -> TeamAccess | None:
    """Return the configuration in a file, read again when it changes; ``None`` without a path.

    Raises:
        InputError: the file cannot be read, or has unknown or invalid keys.
    """
    if not path:
        return None
    file = Path(path).expanduser()
    try:
        stat = file.stat()
        return _read_access(file, stat.st_mtime_ns, stat.st_size)
    except OSError as error:
        raise InputError(f"cannot be read: {error.strerror}.", (), path) from None


@lru_cache(maxsize=4)
def _read_access(file: Path, _changed: int, _size: int) -> TeamAccess:
    import tomllib

    try:
        data = tomllib.loads(file.read_text(encoding="utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise InputError(f"is not TOML: {error}.", (), str(file)) from None
    reading = _Reading()
    reading.known(data, ("access", "provider", "workspace"), ())
    access = reading.section(data, "access")
    providers = tuple(
        reading.provider(provider, ("provider", at))
        for at, provider in enumerate(reading.tables(data, "provider"))
    )
    team = reading.access(access, providers)
    team = replace(team, workspaces=reading.workspaces(data, file.absolute().parent, team))
    if reading.problems:
        raise InputError("This configuration cannot be used.", tuple(reading.problems), str(file))
    return team


_NAME = re.compile(r"[a-z0-9][a-z0-9-]{0,39}")


class _Reading:
    """Reads plain data and collects every problem in it."""

    def __init__(self) -> None:
        self.problems: list[Problem] = []

    def known(self, table: Mapping[str, Any], names: Collection[str], at: tuple[Any, ...]) -> None:
        """Add a problem for every key that is not one of these names."""
        for name in table:
            if name not in names:
                words = f"Use {', '.join(names)}."
                self.problems.append(Problem("is not known here.", words, (*at, name)))

    def section(self, table: Mapping[str, Any], name: str) -> Mapping[str, Any]:
        """Return a required table; a missing one is a problem."""
        section = table.get(name)
        if not isinstance(section, dict):
            self.problems.append(Problem("is missing.", f"Begin a section [{name}].", (name,)))
            return {}
        return section

    def tables(self, parent: Mapping[str, Any], name: str) -> list[Mapping[str, Any]]:
        """Return an array of tables, empty by default."""
        tables = parent.get(name, [])
        if not isinstance(tables, list) or not all(isinstance(table, dict) for table in tables):
            self.problems.append(Problem("is no list.", f"Write [[{name}]] for each.", (name,)))
            return []
        return tables

    def access(self, table: Mapping[str, Any], providers: tuple[ListedProvider, ...]) -> TeamAccess:
        """Return the parsed section ``[access]``."""
        at = ("access",)
        names = (
            *("login", "allowed_domains", "allowed_emails", "admins", "new_members"),
            *("require_verified", "session_hours", "hosts", "max_sessions"),
        )
        self.known(table, names, at)
        if table and table.get("login", "required") != "required":
            self.problems.append(
                Problem('must be "required".', "Leave the file away to work alone.", (*at, "login"))
            )
        admins = self.lower_case_list(table, "admins", at, why_not_address)
        if table and not admins:
            self.problems.append(
                Problem("names no one.", "Give at least one e-mail address.", (*at, "admins"))
            )
        hours = self.number(table, "session_hours", at)
        return TeamAccess(
            admins=admins,
            domains=self.lower_case_list(table, "allowed_domains", at, why_not_domain),
            emails=self.lower_case_list(table, "allowed_emails", at, why_not_address),
            new_members=self.role(table.get("new_members", "viewer"), (*at, "new_members")),
            require_verified=self.flag(table, "require_verified", at),
            session_hours=12.0 if hours is None else hours,
            hosts=self.texts(table, "hosts", at),
            max_sessions=int(self.number(table, "max_sessions", at) or MAX_SESSIONS),
            providers=providers,
        )

    def workspaces(
        self, parent: Mapping[str, Any], folder: Path, access: TeamAccess
    ) -> tuple[Workspace, ...]:
        """Return all workspaces; a repeated name or data file is a problem."""
        workspaces = list[Workspace]()
        for number, table in enumerate(self.tables(parent, "workspace")):
            at = ("workspace", number)
            workspace = self.workspace(table, folder, access, at)
            if workspace.name in [earlier.name for earlier in workspaces]:
                self.problems.append(Problem("is there twice.", "", (*at, "name")))
            if workspace.data.resolve() in [earlier.data.resolve() for earlier in workspaces]:
                advice = "Give each workspace a file of its own."
                self.problems.append(Problem("is another's data file.", advice, (*at, "data")))
            workspaces.append(workspace)
        return tuple(workspaces)

    def workspace(
        self, table: Mapping[str, Any], folder: Path, access: TeamAccess, at: tuple[Any, ...]
    ) -> Workspace:
        """Return a table ``[[workspace]]``; a relative data path starts at ``folder``."""
        self.known(table, ("name", "title", "data", "new_members"), at)
        name, data = self.text(table, "name", at), self.text(table, "data", at)
        if not _NAME.fullmatch(name):
            advice = (
                "Use 1 to 40 small letters, digits and hyphens, because it is part of addresses."
            )
            self.problems.append(Problem("is not a name of a workspace.", advice, (*at, "name")))
        if not data:
            advice = f'Name its data file, e.g. data = "{name or "team"}.db".'
            self.problems.append(Problem("is missing.", advice, (*at, "data")))
        role_name = table.get("new_members", access.new_members)
        role = None if role_name == "none" else self.role(role_name, (*at, "new_members"))
        title = self.text(table, "title", at) or name
        return Workspace(name, title, (folder / Path(data).expanduser()).absolute(), role)

    def provider(self, table: Mapping[str, Any], at: tuple[Any, ...]) -> ListedProvider:
        """Return a table ``[[provider]]``."""
        names = ("name", "address", "key_env", "models", "roles", "monthly_usd", "person_usd")
        self.known(table, names, at)
        texts = {name: self.text(table, name, at) for name in ("name", "address", "key_env")}
        models = self.texts(table, "models", at)
        if not texts["name"]:
            self.problems.append(Problem("is missing.", "Give the provider a name.", (*at, "name")))
        if not texts["address"] and not models:
            advice = 'Give its address, or say which models it has (models = ["openai/"]).'
            self.problems.append(Problem("is missing.", advice, (*at, "address")))
        role_names = (
            self.texts(table, "roles", at) if "roles" in table else ("author", "lead", "admin")
        )
        return ListedProvider(
            **texts,
            models=models,
            roles=frozenset(self.role(role, (*at, "roles")) for role in role_names),
            monthly_usd=self.number(table, "monthly_usd", at),
            person_usd=self.number(table, "person_usd", at),
        )

    def text(self, table: Mapping[str, Any], name: str, at: tuple[Any, ...]) -> str:
        """Return a text, by default empty; another type is a problem."""
        text = table.get(name, "")
        if isinstance(text, str):
            return text.strip()
        self.problems.append(Problem("is no text.", "Write it in quotes.", (*at, name)))
        return ""

    def texts(self, table: Mapping[str, Any], name: str, at: tuple[Any, ...]) -> tuple[str, ...]:
        """Return a list of texts, by default empty; another type is a problem."""
        texts = table.get(name, [])
        if isinstance(texts, list) and all(isinstance(text, str) for text in texts):
            return tuple(text.strip() for text in texts if text.strip())
        self.problems.append(
            Problem("is not a list of texts.", 'Write ["one", "two"].', (*at, name))
        )
        return ()

    def lower_case_list(
        self,
        table: Mapping[str, Any],
        name: str,
        at: tuple[Any, ...],
        why_not: Callable[[str], str],
    ) -> frozenset[str]:
        """Return a list of addresses or domains, in lower case; invalid ones are a problem."""
        texts = table[name] if self.texts(table, name, at) else ()
        for text in texts:
            if reason := why_not(text):
                self.problems.append(Problem(reason, "", (*at, name)))
        return frozenset(map(str.lower, texts))

    def flag(self, table: Mapping[str, Any], name: str, at: tuple[Any, ...]) -> bool:
        """Return a flag, true by default; a value of another type is a problem."""
        value = table.get(name, True)
        if not isinstance(value, bool):
            self.problems.append(Problem("is neither true nor false.", "", (*at, name)))
        return value is not False

    def number(self, table: Mapping[str, Any], name: str, at: tuple[Any, ...]) -> float | None:
        """Return a number above 0, or ``None`` if missing."""
        value = table.get(name)
        if value is None:
            return None
        if isinstance(value, bool) or not isinstance(value, int | float) or not value > 0:
            self.problems.append(Problem("is no number above 0.", "", (*at, name)))
            return None
        return float(value)

    def role(self, value: object, at: tuple[Any, ...]) -> TeamRole:
        """Return a role; an unknown one is a problem."""
        if value in TEAM_ROLES:
            return value
        words = f"Use one of {', '.join(TEAM_ROLES)}."
        self.problems.append(Problem("is no role.", words, at))
        return "viewer"
