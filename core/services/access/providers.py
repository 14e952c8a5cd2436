"""The addresses and keys that judges may use on a team's server: an admin lists them.

An address may be used only with its own key variable, so that no key is sent to another address and
no unlisted address is called. Without a team, the machine's user decides (`permits`).
"""

from __future__ import annotations

from collections.abc import Iterable

from core.domain.access import Actor, ListedProvider, TeamAccess
from core.domain.panel import Judge
from core.domain.secrets import variable_names
from core.errors import InputError, Problem
from core.judging.keys import redirecting_settings
from core.services.access import permits
from core.settings import load_settings
from core.store.store import Store


def allowed_providers(access: TeamAccess, actor: Actor) -> list[ListedProvider]:
    """Return the listed providers that this user may use."""
    sees_all = actor.may("set judges")
    return [provider for provider in access.providers if sees_all or actor.role in provider.roles]


def usable_providers(store: Store) -> list[ListedProvider] | None:
    """Return the providers that the current user may choose for a judge; ``None`` allows any
    address.
    """
    access = load_settings().access
    return None if access is None else allowed_providers(access, store.actor)


def provider_of_judge(access: TeamAccess, judge: Judge) -> ListedProvider | None:
    """Return the provider that serves this judge, or ``None``."""
    for provider in access.providers:
        if provider.serves(judge):
            return provider
    return None


def require_listed(judges: Iterable[Judge], actor: Actor | None = None) -> None:
    """Raise an error for judges without a listed provider, or without one that this user may use.

    Without a user only the list counts (for a run that continues long after it was started).
    Without a configuration every judge passes.

    Raises:
        InputError: every judge that is not served, and what would serve it.
    """
    access = load_settings().access
    if access is None:
        return
    problems = [
        problem
        for judge in judges
        if (problem := _refusal_of_judge(access, judge, actor)) is not None
    ]
    if problems:
        raise InputError("These judges cannot be asked from this server.", tuple(problems))


def require_allowed(judges: Iterable[Judge], actor: Actor | None = None, source: str = "") -> None:
    """Raise an error for judges that may not be called from here: before a plan, and before the
    call.

    On a team's server the admin's list counts, otherwise what this machine's user allowed.

    Raises:
        InputError: every judge that may not be called, and why.
    """
    judges = tuple(judges)
    require_listed(judges, actor)
    if problems := permits.unlisted_problems(judges):
        raise InputError(permits.REFUSED, problems, source)


def require_saved_judges(store: Store, judges: Iterable[Judge]) -> None:
    """Raise an error for judges that the owner has not saved, if a visitor uses an app without
    sign-in.

    Visitors' calls go to the addresses, with the keys, of the Judges page.

    Raises:
        InputError: every judge that is not saved.
    """
    if store.actor.via != "visitor":
        return
    rows = (*store.judges.list(), *store.judges.list(archived=True))
    saved = {_identity_of_calls(row.judge) for row in rows}
    saved |= {
        _identity_of_calls(judge) for panel in store.panels.list() for judge in panel.panel.judges
    }
    advice = "Add it on the Judges page of that machine."
    problems = tuple(
        Problem("is not a judge of this app.", advice, (judge.name,))
        for judge in judges
        if not judge.offline and judge.askable and _identity_of_calls(judge) not in saved
    )
    if problems:
        raise InputError("These judges cannot be asked from elsewhere.", problems)


def _identity_of_calls(judge: Judge) -> str:
    """Return a text that is equal for judges with the same addresses and settings."""
    destination = (judge.api_base, judge.replicas, judge.key_env)
    return str((judge.model, destination, sorted(judge.params.items())))


def _refusal_of_judge(access: TeamAccess, judge: Judge, actor: Actor | None) -> Problem | None:
    if judge.offline or not judge.askable:
        return None
    advice = "Choose a provider that an admin listed, with its own address and key."
    if variable_names(judge.params):
        return Problem("names variables in its params.", advice, (judge.name, "params"))
    for setting, field in redirecting_settings(judge):
        return Problem(f"may be led elsewhere by {setting}.", advice, (judge.name, field))
    provider = provider_of_judge(access, judge)
    if provider is None:
        return Problem(
            "is asked at an address, or with a key, that is not listed.",
            advice,
            (judge.name, "api_base"),
        )
    # Each address of the judge is called with the key.
    for address in judge.replicas:
        at_address = judge.model_copy(update={"api_base": address, "replicas": ()})
        if (problem := _refusal_of_judge(access, at_address, actor)) is not None:
            message = f"has the further address {address}, which {problem.message}"
            return Problem(message, problem.mend, (judge.name, "replicas"))
    may = actor is None or actor.may("set judges") or actor.role in provider.roles
    if not may:
        message = f"uses {provider.name}, which is for {' and '.join(sorted(provider.roles))}."
        return Problem(message, "Ask one of them to start it.", (judge.name, "api_base"))
    return None
