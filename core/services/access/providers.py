"""Which addresses and keys a judge may use on a server for a team: those that an admin listed.

An address is usable only together with its own key variable, so that no one can send a key to
another place, or ask an address that nobody listed. Alone on a machine its person allows what goes
where (`permits`).
"""

from __future__ import annotations

from collections.abc import Iterable

from core.domain.access import Actor, ListedProvider, TeamAccess
from core.domain.panel import Judge
from core.domain.secrets import variables
from core.errors import InputError, Problem
from core.judging.keys import led_elsewhere
from core.services.access import permits
from core.settings import load_settings
from core.store.store import Store


def listed(access: TeamAccess, actor: Actor) -> list[ListedProvider]:
    """The providers that this actor may use, as they are listed."""
    every = actor.may("set judges")
    return [provider for provider in access.providers if every or actor.role in provider.roles]


def usable(store: Store) -> list[ListedProvider] | None:
    """The providers that whoever acts may put behind a judge; ``None``: any address may be used."""
    access = load_settings().access
    return None if access is None else listed(access, store.actor)


def of_judge(access: TeamAccess, judge: Judge) -> ListedProvider | None:
    """The provider that serves this judge, or ``None``."""
    for provider in access.providers:
        if provider.serves(judge):
            return provider
    return None


def require_listed(judges: Iterable[Judge], actor: Actor | None = None) -> None:
    """Refuse judges whose address and key no listed provider has, or none that the actor may use.

    Without an actor only the list counts (a run that is worked off long after it was started).
    Where no configuration is, nothing is refused.

    Raises:
        InputError: every judge that is not served, and what would serve it.
    """
    access = load_settings().access
    if access is None:
        return
    problems = [
        problem for judge in judges if (problem := _refused(access, judge, actor)) is not None
    ]
    if problems:
        raise InputError("These judges cannot be asked from this server.", tuple(problems))


def require_allowed(judges: Iterable[Judge], actor: Actor | None = None, source: str = "") -> None:
    """Refuse judges that may not be asked from here: before any plan, and once more at the call.

    On a server for a team the list of its admin counts, else what this machine's person allowed.

    Raises:
        InputError: every judge that may not be asked, and why.
    """
    judges = tuple(judges)
    require_listed(judges, actor)
    if problems := permits.strange_words(judges):
        raise InputError(permits.REFUSED, problems, source)


def require_kept(store: Store, judges: Iterable[Judge]) -> None:
    """Refuse a visitor of an app without a sign-in every judge that its owner has not kept.

    What a visitor asks goes to the address, with the key, that stands on the Judges page.

    Raises:
        InputError: every judge that is not kept so.
    """
    if store.actor.via != "visitor":
        return
    rows = (*store.judges.list(), *store.judges.list(archived=True))
    asked = {_asks(row.judge) for row in rows}
    asked |= {_asks(judge) for panel in store.panels.list() for judge in panel.panel.judges}
    mend = "Whoever sits at that machine can add it on the Judges page."
    problems = tuple(
        Problem("is no judge of this app.", mend, (judge.name,))
        for judge in judges
        if not judge.offline and judge.askable and _asks(judge) not in asked
    )
    if problems:
        raise InputError("These judges cannot be asked from elsewhere.", problems)


def _asks(judge: Judge) -> str:
    """Where a judge is asked, with what, in words that are equal for equals."""
    where = (judge.api_base, judge.replicas, judge.key_env)
    return str((judge.model, where, sorted(judge.params.items())))


def _refused(access: TeamAccess, judge: Judge, actor: Actor | None) -> Problem | None:
    if judge.offline or not judge.askable:
        return None
    mend = "Choose a provider that an admin listed, with its own address and key."
    if variables(judge.params):
        return Problem("names variables in its params.", mend, (judge.name, "params"))
    for setting, field in led_elsewhere(judge):
        return Problem(f"may be led elsewhere by {setting}.", mend, (judge.name, field))
    provider = of_judge(access, judge)
    if provider is None:
        return Problem(
            "is asked at an address, or with a key, that is not listed.",
            mend,
            (judge.name, "api_base"),
        )
    # Each of its addresses is asked with the key, as if it were the only one.
    for address in judge.replicas:
        alone = judge.model_copy(update={"api_base": address, "replicas": ()})
        if (problem := _refused(access, alone, actor)) is not None:
            message = f"has the further address {address}, which {problem.message}"
            return Problem(message, problem.mend, (judge.name, "replicas"))
    may = actor is None or actor.may("set judges") or actor.role in provider.roles
    if not may:
        message = f"uses {provider.name}, which is for {' and '.join(sorted(provider.roles))}."
        return Problem(message, "Ask one of them to start it.", (judge.name, "api_base"))
    return None
