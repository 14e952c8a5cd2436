"""Actors, roles and what a role may do.

In *local* mode, a single user's machine, the user may do everything. On a team server every member
has one role. The table is that of ``docs/access.md``; nothing else decides.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, get_args

from core.errors import NotAllowed

if TYPE_CHECKING:
    from core.domain.panel import Judge

TeamRole = Literal["viewer", "reviewer", "adjudicator", "author", "lead", "admin"]
Verb = Literal[
    "read", "draft", "review", "adjudicate", "write", "organise", "set judges", "administer",
    "see blind cells",
]  # fmt: skip
#: How an actor connects: on a page after signing in (``page``); on a page of an app without a login
#: from another machine (``visitor``); on this machine, from a page without a login, a terminal or a
#: program (``local``).
Way = Literal["page", "visitor", "local"]

#: The default limit of pages that members may have open at once.
MAX_SESSIONS = 300
TEAM_ROLES: tuple[TeamRole, ...] = get_args(TeamRole)
_WRITERS = frozenset[TeamRole]({"author", "lead", "admin"})
_REVIEWERS = frozenset[TeamRole]({"reviewer", "adjudicator", "lead"})
#: The roles that may use each verb.
MAY: dict[Verb, frozenset[TeamRole]] = {
    "read": frozenset(TEAM_ROLES),
    "draft": frozenset(TEAM_ROLES),
    "review": _REVIEWERS,
    "adjudicate": frozenset({"adjudicator", "lead"}),
    "write": _WRITERS,
    "organise": frozenset({"lead", "admin"}),
    "see blind cells": frozenset({"lead", "admin"}),
    "set judges": frozenset({"admin"}),
    "administer": frozenset({"admin"}),
}
#: Each verb in words, for the end of a sentence, after "may".
VERB_WORDS: dict[Verb, str] = {
    "read": "read rubrics, datasets and reports",
    "draft": "keep drafts",
    "review": "review items",
    "adjudicate": "end disagreements between reviewers",
    "write": "write rubrics and datasets, try judges and start runs",
    "organise": "make queues, assign, apply versions to runs and export what names people",
    "see blind cells": "see votes and labels of what is to be reviewed blind",
    "set judges": "change judges and panels",
    "administer": "change members, read the record of changes and copy the data file",
}


@dataclass(frozen=True, slots=True)
class Actor:
    """The person or program that acts.

    ``name`` is an e-mail address, or empty without sign-in. ``role`` is ``None`` for an actor who
    may do nothing (not signed in, not a member, disabled), and ``refused`` says why. ``audited``:
    this actor's changes are recorded.
    """

    name: str = ""
    role: TeamRole | None = None
    via: Way = "page"
    refused: str = field(default="", compare=False)
    audited: bool = True

    @property
    def trusted(self) -> bool:
        """Return whether this is the local user, who may do everything."""
        return self.via == "local"

    def may(self, verb: Verb) -> bool:
        """Return whether this actor's role permits the verb.

        >>> Actor("ann@example.org", "reviewer").may("write")
        False
        """
        return self.trusted or (self.role is not None and self.role in MAY[verb])


@dataclass(frozen=True, slots=True)
class MemberRow:
    """A member of the team. Times are ISO UTC; sign-ins before ``signed_out`` are void."""

    email: str
    role: TeamRole
    disabled: bool
    created: str
    updated: str
    signed_out: str | None


@dataclass(frozen=True, slots=True)
class AuditRow:
    """An entry of the audit log: who did what, when, to what (plain data).

    ``before`` and ``after`` are ``None`` if the change has its own history (versions, reviews).
    """

    id: int
    at: str
    actor: str
    role: str | None
    via: str
    verb: str
    act: str
    object: Any
    before: Any
    after: Any


@dataclass(frozen=True, slots=True)
class ListedProvider:
    """A provider listed by an admin: an address with its key.

    ``address`` is empty for a provider that litellm recognises by the first part of a model's name;
    ``models`` holds that part (``openai/``). ``key_env`` is the *name* of a variable, or empty.
    ``monthly_usd`` limits what all members together may spend there in a calendar month (UTC),
    ``person_usd`` what each of them may; ``None``: no limit.
    """

    name: str
    address: str = ""
    key_env: str = ""
    models: tuple[str, ...] = ()
    roles: frozenset[TeamRole] = _WRITERS
    monthly_usd: float | None = None
    person_usd: float | None = None

    def serves(self, judge: Judge) -> bool:
        """Return whether this judge uses this provider and no other."""
        pair = (self.address.rstrip("/"), self.key_env)
        if (judge.api_base.rstrip("/"), judge.key_env) != pair:
            return False
        return not self.models or any(judge.model.startswith(start) for start in self.models)


@dataclass(frozen=True, slots=True)
class Workspace:
    """A team's part of a server, with its own data file and members.

    ``name`` is part of addresses, ``title`` is shown. ``new_members`` is the role given on first
    sign-in; ``None``: only members added by an admin may enter.
    """

    name: str
    title: str
    data: Path
    new_members: TeamRole | None


@dataclass(frozen=True, slots=True)
class TeamAccess:
    """Who may sign in to a team server, and limits of the server.

    People with addresses in ``domains`` and ``emails`` become members by signing in (as
    ``new_members``). If both are empty, only ``admins`` and people added by an admin may sign in.
    ``session_hours``: how long a sign-in lasts; ``max_sessions``: how many pages members may have
    open. Without ``workspaces`` there is one data file, set by the environment.
    """

    admins: frozenset[str]
    domains: frozenset[str] = frozenset()
    emails: frozenset[str] = frozenset()
    new_members: TeamRole = "viewer"
    require_verified: bool = True
    session_hours: float = 12.0
    hosts: tuple[str, ...] = ()
    max_sessions: int = MAX_SESSIONS
    providers: tuple[ListedProvider, ...] = ()
    workspaces: tuple[Workspace, ...] = ()

    def scoped(self, workspace: Workspace) -> TeamAccess:
        """Return the settings that apply within a workspace."""
        if workspace.new_members is None:
            return replace(self, domains=frozenset(), emails=frozenset())
        return replace(self, new_members=workspace.new_members)


LOCAL = Actor("", "admin", "local", audited=False)
#: A visitor from another machine to an app without a login.
VISITOR = Actor("", "lead", "visitor", audited=False)
NOBODY = Actor(refused="You are not signed in.")


def allow(actor: Actor, verb: Verb) -> None:
    """Raise ``NotAllowed``, naming the roles that may, unless the actor may use the verb.

    >>> allow(Actor("ann@example.org", "reviewer"), "set judges")
    Traceback (most recent call last):
    core.errors.NotAllowed: You are a reviewer here; only an admin may change judges and panels.
    """
    if actor.may(verb):
        return
    if actor.role is None:
        raise NotAllowed(actor.refused or NOBODY.refused)
    roles = " or ".join(role for role in TEAM_ROLES if role in MAY[verb])
    raise NotAllowed(
        f"You are {_article(actor.role)} here; only {_article(roles)} may {VERB_WORDS[verb]}."
    )


def _article(words: str) -> str:
    return f"{'an' if words.startswith('a') else 'a'} {words}"
