"""Which addresses and keys a judge may use on a server for a team: those that an admin listed.

An address is usable only together with its own key variable, so that no one can send a key to
another place, or ask an address that nobody listed. Alone on a machine everything is allowed.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from core import clock
from core.domain.access import Actor, ListedProvider, TeamAccess
from core.domain.panel import Judge
from core.domain.secrets import variables
from core.errors import InputError, Problem
from core.judging.asking.call_costs import price_of
from core.settings import load_settings
from core.store.store import Store


class MonthlySpend(NamedTuple):
    """What calls to a provider cost this month, in US dollars: by all, and by whoever asks."""

    by_all: float
    by_me: float


def listed(access: TeamAccess, actor: Actor) -> list[ListedProvider]:
    """The providers that this actor may use, as they are listed."""
    every = actor.may("set judges")
    return [one for one in access.providers if every or actor.role in one.roles]


def usable(store: Store) -> list[ListedProvider] | None:
    """The providers that whoever acts may put behind a judge; ``None``: any address may be used."""
    access = load_settings().access
    return None if access is None else listed(access, store.actor)


def of_judge(access: TeamAccess, judge: Judge) -> ListedProvider | None:
    """The provider that serves this judge, or ``None``."""
    for one in access.providers:
        if one.serves(judge):
            return one
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
    problems = [found for one in judges if (found := _refused(access, one, actor)) is not None]
    if problems:
        raise InputError("These judges cannot be asked from this server.", tuple(problems))


def _refused(access: TeamAccess, judge: Judge, actor: Actor | None) -> Problem | None:
    if judge.offline or not judge.askable:
        return None
    mend = "Choose a provider that an admin listed, with its own address and key."
    if variables(judge.params):
        return Problem("names variables in its params.", mend, (judge.name, "params"))
    one = of_judge(access, judge)
    if one is None:
        return Problem(
            "is asked at an address, or with a key, that is not listed.",
            mend,
            (judge.name, "api_base"),
        )
    may = actor is None or actor.may("set judges") or actor.role in one.roles
    if not may:
        words = f"uses {one.name}, which is for {' and '.join(sorted(one.roles))}."
        return Problem(words, "Ask one of them to start it.", (judge.name, "api_base"))
    return None


def within_limits(store: Store, judges: Sequence[Judge], budget: float | None) -> float | None:
    """The budget of a run, made smaller where a provider's month has less left than it asks.

    ``None``: no limit. Runs that are under way at once are not counted against each other before
    their calls are answered.

    Raises:
        InputError: a judge is not served by a listed provider, nothing is left of a month's limit,
            or a price is not known, so that the limit could not be kept.
    """
    require_listed(judges, store.actor)
    access = load_settings().access
    if access is None or store.actor.trusted:
        return budget
    month = clock.now()[:7]
    limited = {
        one.name: one
        for judge in judges
        if (one := of_judge(access, judge)) is not None
        and (one.monthly_usd is not None or one.person_usd is not None)
    }
    unpriced = [
        judge.name
        for judge in judges
        if (one := of_judge(access, judge)) is not None
        and one.name in limited
        and price_of(judge) is None
    ]
    if unpriced:
        mend = "An admin enters its prices on the Judges page."
        words = "has no known price, so the month's limit of its provider could not be kept."
        problems = tuple(Problem(words, mend, (name,)) for name in unpriced)
        raise InputError("These judges cannot be asked from this server.", problems)
    for one in limited.values():
        left = _left(one, spent(store, one, month, store.actor.name))
        if left <= 0:
            raise InputError(
                f"Nothing is left of what may be spent on {one.name} this month. It begins anew on "
                "the first day of the next (UTC); an admin may raise the limit."
            )
        budget = left if budget is None else min(budget, left)
    return budget


def _left(one: ListedProvider, used: MonthlySpend) -> float:
    by_all = float("inf") if one.monthly_usd is None else one.monthly_usd - used.by_all
    mine = float("inf") if one.person_usd is None else one.person_usd - used.by_me
    return min(by_all, mine)


def spent(store: Store, provider: ListedProvider, month: str, person: str) -> MonthlySpend:
    """What this provider's calls cost in a month (``2026-11``, UTC).

    ``person`` is who made the runs that count as theirs. Calls without a known price cost 0 here.
    """
    by_all = by_me = 0.0
    for made_by, judge, cost in store.runs.costs_by_judge(month):
        if provider.serves(judge):
            by_all += cost
            by_me += cost if made_by == person else 0.0
    return MonthlySpend(by_all, by_me)
