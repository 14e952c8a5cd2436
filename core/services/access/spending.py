"""Monthly spending by provider: what was spent, what running work reserves, and the limits.

Runs, drafts by models and connection tests all count. Running work reserves the rest of its budget,
so that two runs started together cannot spend the same money twice. At its end it frees what it did
not need.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from core import clock
from core.domain.access import ListedProvider
from core.domain.panel import Judge
from core.domain.runs import Run
from core.errors import InputError, Problem
from core.formats.source.csv_writer import csv_bytes, csv_text
from core.judging.asking.call_costs import price_of
from core.services.access.allowing import allowed, require
from core.services.access.providers import provider_of_judge, require_allowed, require_saved_judges
from core.settings import load_settings
from core.store.store import Store

#: Work without a budget reserves this multiple of its expected cost, and at least this share of the
#: amount left.
TIMES, LEAST = 2.0, 0.05


@dataclass(frozen=True, slots=True)
class MonthlySpending:
    """What a person spent on a provider in a month, and reserves now, in US dollars.

    ``person`` is empty for work from the terminal, or from before there was a sign-in.
    """

    provider: str
    person: str
    spent: float
    held: float


def spending_shares(
    store: Store, month: str, apart_from: int | None = None
) -> list[MonthlySpending]:
    """Return spending by provider and person; calls without a known price cost 0 here.

    ``month`` is ``2026-11`` (UTC). ``apart_from`` is a run whose own reserve does not count.
    """
    access = load_settings().access
    by_share = dict[tuple[str, str], list[float]]()

    def add_amounts(person: str, judges: Iterable[Judge], amounts: tuple[float, float]) -> None:
        listed = [
            provider
            for judge in judges
            if access and (provider := provider_of_judge(access, judge))
        ]
        for name in {provider.name for provider in listed}:
            sums = by_share.setdefault((name, person), [0.0, 0.0])
            for index, amount in enumerate(amounts):
                sums[index] += amount

    for person, judge, cost in (*store.runs.costs_by_judge(month), *store.helps.costs(month)):
        add_amounts(person, [judge], (cost, 0.0))
    for test in store.settings.get(_tests_key(month), []):
        add_amounts(test["person"], [Judge.model_validate(test["judge"])], (test["cost"], 0.0))
    if month == clock.now()[:7]:
        for person, judges, remaining_share in (
            *store.runs.active_budgets(apart_from),
            *store.helps.active_budgets(),
        ):
            add_amounts(person, judges, (0.0, remaining_share))
    return [
        MonthlySpending(name, person_name, *sums)
        for (name, person_name), sums in sorted(by_share.items())
    ]


def within_limits(
    store: Store, judges: Sequence[Judge], budget: float | None, expected: float | None = None
) -> float | None:
    """Return the budget of new work, lowered to what the month has left; ``None``: no limit.

    Call it in the transaction that stores the work; from then on its reserved cost counts towards
    the month.

    Args:
        store: acts for the user who starts the work.
        judges: the judges that it calls.
        budget: the budget of the work, if it has one.
        expected: the approximate cost of the work, in US dollars.

    Raises:
        InputError: a judge is not served by a listed provider (or, for a visitor, is not saved),
            a month's limit is used up, or a price is unknown, so that the limit could not be kept.
    """
    require_saved_judges(store, judges)
    require_allowed(judges, store.actor)
    limited = _limited_providers(judges)
    if not limited or store.actor.trusted:
        return budget
    _require_prices(judges, limited)
    amount_left = _require_amount_left(store, limited)
    if budget is None and expected is not None:
        budget = max(TIMES * expected, LEAST * amount_left)
    return amount_left if budget is None else min(budget, amount_left)


def require_amount_left(store: Store, judge: Judge) -> None:
    """Raise ``InputError`` if the month has nothing left for a judge's call."""
    limited = _limited_providers([judge])
    if limited and not store.actor.trusted:
        _require_amount_left(store, limited)


@allowed("set judges")
def note_test(store: Store, person: str, judge: Judge, cost: float) -> None:
    """Add the cost of a connection test to this person's month."""
    record = {"person": person, "judge": judge.model_dump(mode="json"), "cost": cost}
    store.settings.add(_tests_key(clock.now()[:7]), record)


def _tests_key(month: str) -> str:
    return f"connection-spent/{month}"


def _require_amount_left(store: Store, limited: Sequence[ListedProvider]) -> float:
    amount_left = min(
        _amount_left(spending_shares(store, clock.now()[:7]), provider, store.actor.name)
        for provider in limited
    )
    if amount_left <= 0:
        names = " and ".join(provider.name for provider in limited)
        raise InputError(
            f"This month's budget of {names} is spent or reserved by running tasks. It starts "
            "again on the first day of the month (UTC); an admin may raise the limit."
        )
    return amount_left


def is_limited(judges: Sequence[Judge]) -> bool:
    """Return whether a monthly limit applies to one of these judges."""
    return bool(_limited_providers(judges))


def limit_of_run(store: Store, run: Run) -> float | None:
    """Return what a run may cost in total: its budget, or less if the month has less left.

    ``None`` means no limit. It is checked when work begins, which may be long after the run was
    created. Runs from the terminal have only their own budget.
    """
    person, limited = store.runs.made_by(run.id), _limited_providers(run.panel.judges)
    if not limited or "@" not in person:
        return run.plan.budget
    now = spending_shares(store, clock.now()[:7], apart_from=run.id)
    limit = run.cost + max(0.0, min(_amount_left(now, provider, person) for provider in limited))
    return limit if run.plan.budget is None else min(run.plan.budget, limit)


def _limited_providers(judges: Iterable[Judge]) -> list[ListedProvider]:
    access = load_settings().access
    served = [
        provider for judge in judges if access and (provider := provider_of_judge(access, judge))
    ]
    by_name = {provider.name: provider for provider in served}
    return [
        provider
        for provider in by_name.values()
        if (provider.monthly_usd, provider.person_usd) != (None, None)
    ]


def _require_prices(judges: Iterable[Judge], limited: Iterable[ListedProvider]) -> None:
    names = [
        j.name
        for j in judges
        if any(provider.serves(j) for provider in limited) and price_of(j) is None
    ]
    if names:
        advice = "An admin enters its prices on the Judges page."
        message = "has no known price, so the month's limit of its provider could not be kept."
        problems = tuple(Problem(message, advice, (name,)) for name in names)
        raise InputError("These judges cannot be asked from this server.", problems)


def _amount_left(
    current: Iterable[MonthlySpending], provider: ListedProvider, person: str
) -> float:
    """Return the amount left of a provider's limits for a person; infinite without limits."""
    used = [share for share in current if share.provider == provider.name]
    by_all = sum(share.spent + share.held for share in used)
    own_use = sum(share.spent + share.held for share in used if share.person == person)
    limits = ((provider.monthly_usd, by_all), (provider.person_usd, own_use))
    return min(float("inf") if limit is None else limit - spent for limit, spent in limits)


def spending_of_month(store: Store, month: str) -> list[MonthlySpending]:
    """Return a month's spending, for users who may see everyone's."""
    require(store, "administer")
    return spending_shares(store, month)


def spending_csv(store: Store, month: str) -> bytes:
    """Return a month's spending as CSV: a row per provider and person, in US dollars."""
    access = load_settings().access
    limits = {provider.name: provider for provider in access.providers} if access else {}
    columns = ("month", "provider", "person", "spent", "held", "limit", "limit_person")
    rows = list[tuple[str | float, ...]]()
    for share in spending_of_month(store, month):
        listed = limits[share.provider]
        spending_limits = (listed.monthly_usd, listed.person_usd)
        bounds = tuple("" if limit is None else limit for limit in spending_limits)
        rows.append((month, share.provider, share.person, share.spent, share.held, *bounds))
    return csv_bytes(csv_text(columns, rows))
