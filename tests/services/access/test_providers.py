"""On a server for a team a key goes to its own address and nowhere else, within its limits."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from core import clock
from core.domain.access import LOCAL, VISITOR, Actor, TeamAccess
from core.domain.dataset import Dataset, Item
from core.domain.panel import Judge, Panel
from core.domain.rubric import Criterion, Rubric
from core.domain.runs import HelpStep
from core.errors import InputError, NotAllowed
from core.services.access import providers, spending
from core.services.access.spending import MonthlySpending
from core.services.judges import connection, registry
from core.services.runs import lifecycle
from core.services.runs.planning import RunRequest
from core.services.runs.ready_run import Providers
from core.services.runs.runner import work_here
from core.store.store import Store
from tests.provider import Provider
from tests.services.access.made import CONFIG, member, team

RUBRIC = Rubric(name="R", criteria=(Criterion(name="c", requirement="It is kind."),))
DATASET = Dataset(name="D", items=(Item(id="a", submission="Hello."),))
VLLM = {"model": "qwen", "api_base": "http://10.0.0.5:8000/v1", "key_env": "VLLM_KEY"}


@pytest.fixture
def provider() -> Iterator[Provider]:
    with Provider() as server:
        yield server


@pytest.fixture
def access(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> TeamAccess:
    return team(tmp_path, monkeypatch)


def judge(**settings: object) -> Judge:
    return Judge.model_validate({"name": "J", **VLLM, **settings})


@pytest.mark.parametrize(
    "settings",
    [
        {},
        {"api_base": "http://10.0.0.5:8000/v1/"},
        {"model": "openai/gpt", "api_base": "", "key_env": ""},
        {"kind": "classifier", "model": "", "api_base": "", "key_env": ""},
    ],
)
def test_a_listed_address_with_its_own_key_may_be_used(
    access: TeamAccess, settings: dict[str, object]
) -> None:
    providers.require_listed([judge(**settings)], member("author"))


@pytest.mark.parametrize(
    "settings",
    [
        # The attacks B1 and B2 of the first round: any variable, any address.
        {"key_env": "AWS_SECRET_ACCESS_KEY"},
        {"key_env": "PATH"},
        {"key_env": ""},
        {"api_base": "http://127.0.0.1:9/v1"},
        {"api_base": "http://10.0.0.5:8000/v1", "key_env": "OPENAI_API_KEY"},
        {"api_base": "http://10.0.0.5:8000/v1.evil.example/v1"},
        {"api_base": "http://169.254.169.254/latest"},
        {"replicas": ["http://127.0.0.1:9/v1"]},
        {"replicas": ["http://10.0.0.6:8000/v1", "http://169.254.169.254/latest"]},
        {"model": "openai/gpt", "api_base": "", "key_env": "DATABASE_URL"},
        {"model": "anthropic/claude", "api_base": "", "key_env": ""},
        {"params": {"extra_headers": {"x": {"env": "AWS_SECRET_ACCESS_KEY"}}}},
        {"door": "litellm", "params": {"aws_sts_endpoint": "https://evil.example"}},
    ],
)
def test_what_is_not_listed_is_refused_to_everybody_also_to_an_admin(
    store: Store, access: TeamAccess, settings: dict[str, object]
) -> None:
    one = judge(**settings)
    with pytest.raises(InputError, match="cannot be asked from this server"):
        providers.require_listed([one])
    with pytest.raises(InputError):
        registry.save_judge(store.acting(member("admin")), one.model_dump(exclude_defaults=True))
    with pytest.raises(InputError):
        connection.begin(store.acting(member("admin")), one)
    with pytest.raises(InputError):
        connection.check_connection(one)
    # A run that was planned before the list was made shorter asks nothing either.
    with pytest.raises(InputError):
        Providers().judge(one)
    assert registry.list_judges(store) == []


def test_no_key_leaves_for_an_address_that_is_not_listed(
    access: TeamAccess, provider: Provider, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "planted-secret-value")
    one = judge(api_base=provider.url, key_env="AWS_SECRET_ACCESS_KEY")
    with pytest.raises(InputError):
        connection.check_connection(one)
    assert provider.count == 0


def test_a_provider_is_for_its_roles(access: TeamAccess) -> None:
    with pytest.raises(InputError, match="is for author and lead"):
        providers.require_listed([judge()], member("reviewer"))
    # Who sets judges up tests them, too.
    for who in (member("admin"), member("author"), LOCAL):
        providers.require_listed([judge()], who)
    assert [one.name for one in providers.allowed_providers(access, member("lead"))] == [
        "vllm",
        "openai",
    ]
    assert providers.allowed_providers(access, member("viewer")) == []


def test_alone_on_a_machine_every_address_may_be_used_but_visitors_set_no_judges(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("RUBRIC_STUDIO_CONFIG", raising=False)
    providers.require_listed([judge(api_base="http://127.0.0.1:9/v1")], LOCAL)
    with pytest.raises(NotAllowed):
        registry.save_judge(store.acting(VISITOR), {"name": "J", **VLLM})
    with pytest.raises(NotAllowed):
        connection.begin(store.acting(VISITOR), judge())


def spend(store: Store, provider: Provider, made_by: Actor) -> float:
    """One run of one call by somebody; returns what it cost."""
    rubric = store.rubrics.create(RUBRIC, now=clock.now()).id
    dataset = store.datasets.create(DATASET, now=clock.now()).id
    request = RunRequest(rubric, dataset, Panel(judges=(priced(provider.url),)))
    run_id = lifecycle.start(store.acting(made_by), request)
    assert work_here(store, run_id) == "done"
    return store.runs.row(run_id).cost


def test_a_run_ends_where_the_month_has_nothing_left(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, provider: Provider
) -> None:
    # 1,000 tokens in at $1,000 a million: $1 a call. $2.00 a month for all, $1.50 for one person.
    team(tmp_path, monkeypatch, CONFIG.replace("http://10.0.0.5:8000/v1", provider.url))
    monkeypatch.setenv("VLLM_KEY", "k")
    ann, bob = member("author", "ann@example.org"), member("lead", "bob@example.org")
    assert spend(store, provider, ann) == pytest.approx(1.0)
    month = clock.now()[:7]
    assert spending.spending_shares(store, month) == [MonthlySpending("vllm", ann.name, 1.0, 0.0)]
    assert spending.spending_shares(store, "2001-01") == []
    one = [priced(provider.url)]
    assert spending.within_limits(store.acting(ann), one, None) == pytest.approx(0.5)
    assert spending.within_limits(store.acting(bob), one, 0.25) == 0.25
    assert spending.within_limits(store.acting(bob), one, 5.0) == pytest.approx(1.0)
    assert spending.within_limits(store, one, None) is None
    assert spend(store, provider, bob) == pytest.approx(1.0)
    with pytest.raises(InputError, match="budget of vllm"):
        spending.within_limits(store.acting(bob), one, None)
    unpriced = [one[0].model_copy(update={"price_in": None, "price_out": None})]
    with pytest.raises(InputError) as error:
        spending.within_limits(store.acting(bob), unpriced, None)
    assert "has no known price" in str(error.value)


def priced(address: str) -> Judge:
    """A judge at a listed address that costs a dollar a call."""
    return Judge(
        name="ada", model="ada", api_base=address, key_env="VLLM_KEY", price_in=1000, price_out=0
    )


def test_two_that_are_under_way_cannot_spend_the_same_money(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, provider: Provider
) -> None:
    # $2.00 a month for all, $1.50 for one person, $1.00 a call (as above).
    team(tmp_path, monkeypatch, CONFIG.replace("http://10.0.0.5:8000/v1", provider.url))
    monkeypatch.setenv("VLLM_KEY", "k")
    ann, bob = member("author", "ann@example.org"), member("lead", "bob@example.org")
    rubric = store.rubrics.create(RUBRIC, now=clock.now()).id
    dataset = store.datasets.create(DATASET, now=clock.now()).id
    month, panel = clock.now()[:7], Panel(judges=(priced(provider.url),))

    def begun(who: Actor, budget: float | None) -> int:
        request = RunRequest(rubric, dataset, panel, budget=budget)
        return lifecycle.start(store.acting(who), request)

    first = begun(ann, 1.2)
    assert spending.spending_shares(store, month) == [
        MonthlySpending("vllm", ann.name, 0.0, pytest.approx(1.2))
    ]
    # Of Ann's own 1.50 there is 0.30 left; of everybody's 2.00 there is 0.80.
    assert store.runs.get(begun(ann, 5.0)).plan.budget == pytest.approx(0.3)
    assert store.runs.get(begun(bob, 5.0)).plan.budget == pytest.approx(0.5)
    with pytest.raises(InputError, match="is spent or reserved by running tasks"):
        begun(bob, None)
    # What is not needed is given back: one call of a dollar.
    assert work_here(store, first) == "done"
    assert spending.spending_shares(store, month)[0].spent == pytest.approx(1.0)
    assert sum(share.held for share in spending.spending_shares(store, month)) == pytest.approx(0.8)
    assert store.runs.get(begun(bob, None)).plan.budget == pytest.approx(0.2)


def test_without_a_budget_twice_what_is_expected_is_held_and_not_the_whole_month(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    team(tmp_path, monkeypatch, CONFIG.replace("person_usd = 1.5", "").replace("2.0", "200.0"))
    asked = [priced("http://10.0.0.5:8000/v1")]
    ann = store.acting(member("author", "ann@example.org"))
    assert spending.within_limits(ann, asked, None, 30.0) == pytest.approx(60.0)
    # A twentieth of what is left where little is expected, all of it where too much is.
    assert spending.within_limits(ann, asked, None, 0.01) == pytest.approx(10.0)
    assert spending.within_limits(ann, asked, None, 500.0) == pytest.approx(200.0)
    assert spending.within_limits(ann, asked, None, None) == pytest.approx(200.0)


def test_a_models_help_counts_as_its_makers_and_is_held_while_it_works(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    team(tmp_path, monkeypatch)
    month = clock.now()[:7]
    writer = priced("http://10.0.0.5:8000/v1").model_dump(mode="json")
    ann = store.acting(member("author", "ann@example.org"))
    with ann.authorised("write", "test", None, clock.now()):
        task = ann.helps.create(
            "draft", "x", {"judge": writer}, planned=2, budget=0.9, now=clock.now()
        )
    assert spending.spending_shares(store, month) == [
        MonthlySpending("vllm", "ann@example.org", 0.0, 0.9)
    ]
    assert store.helps.claim(task, "me", at=clock.seconds_now(), seconds=60, now=clock.now())
    step = HelpStep(0, "one", "words", None, "", None, asked=True, cost=0.25, created="")
    lease = store.helps.get(task).lease
    store.helps.keep(lease, step, now=clock.now())
    (share,) = spending.spending_shares(store, month)
    assert (share.spent, share.held) == (0.25, pytest.approx(0.65))
    store.helps.end(lease, "done", now=clock.now())
    assert spending.spending_shares(store, month) == [
        MonthlySpending("vllm", "ann@example.org", 0.25, 0.0)
    ]
    assert spending.within_limits(ann, [priced("http://10.0.0.5:8000/v1")], None) == 1.25


def test_a_test_of_a_connection_counts_as_its_askers_and_is_refused_where_nothing_is_left(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, provider: Provider
) -> None:
    # $1 a call; $2.00 a month for all, $1.50 for one person (as above).
    team(tmp_path, monkeypatch, CONFIG.replace("http://10.0.0.5:8000/v1", provider.url))
    monkeypatch.setenv("VLLM_KEY", "k")
    alice = store.acting(member("admin", "alice@example.org"))
    tested = priced(provider.url)
    for _ in range(2):
        connection.begin(alice, tested)
        while connection.is_running(alice, tested.name):
            time.sleep(0.01)
    (share,) = spending.spending_shares(store, clock.now()[:7])
    assert (share.person, share.spent) == ("alice@example.org", pytest.approx(2.0))
    with pytest.raises(InputError, match="budget of vllm"):
        connection.begin(alice, tested)


def test_work_that_begins_late_has_what_the_month_has_left_then(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, provider: Provider
) -> None:
    config = CONFIG.replace("http://10.0.0.5:8000/v1", provider.url)
    team(tmp_path, monkeypatch, config)
    monkeypatch.setenv("VLLM_KEY", "k")
    rubric = store.rubrics.create(RUBRIC, now=clock.now()).id
    dataset = store.datasets.create(DATASET, now=clock.now()).id
    request = RunRequest(rubric, dataset, Panel(judges=(priced(provider.url),)), budget=1.4)
    run_id = lifecycle.start(store.acting(member("author", "ann@example.org")), request)
    assert spending.limit_of_run(store, store.runs.get(run_id)) == pytest.approx(1.4)
    team(tmp_path, monkeypatch, config.replace("monthly_usd = 2.0", "monthly_usd = 0.1"))
    assert spending.limit_of_run(store, store.runs.get(run_id)) == pytest.approx(0.1)
    # What the terminal made has its own budget alone.
    own = lifecycle.start(store, request)
    assert spending.limit_of_run(store, store.runs.get(own)) == pytest.approx(1.4)
