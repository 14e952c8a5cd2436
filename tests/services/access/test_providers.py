"""On a server for a team a key goes to its own address and nowhere else, within its limits."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from core import clock
from core.domain.access import LOCAL, VISITOR, Actor, TeamAccess
from core.domain.dataset import Dataset, Item
from core.domain.panel import Judge, Panel
from core.domain.rubric import Criterion, Rubric
from core.errors import InputError, NotAllowed
from core.services.access import providers
from core.services.judges import connection, registry
from core.services.runs import lifecycle
from core.services.runs.planning import RunRequest
from core.services.runs.ready_run import Providers
from core.services.runs.runner import work_here
from core.settings import load_settings
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
        {"model": "openai/gpt", "api_base": "", "key_env": "DATABASE_URL"},
        {"model": "anthropic/claude", "api_base": "", "key_env": ""},
        {"params": {"extra_headers": {"x": {"env": "AWS_SECRET_ACCESS_KEY"}}}},
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
    assert [one.name for one in providers.listed(access, member("lead"))] == ["vllm", "openai"]
    assert providers.listed(access, member("viewer")) == []


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
    access = load_settings().access
    assert access is not None
    month = clock.now()[:7]
    assert providers.spent(store, access.providers[0], month, ann.name) == (1.0, 1.0)
    assert providers.spent(store, access.providers[0], month, bob.name) == (1.0, 0.0)
    assert providers.spent(store, access.providers[0], "2001-01", ann.name) == (0.0, 0.0)
    one = [priced(provider.url)]
    assert providers.within_limits(store.acting(ann), one, None) == pytest.approx(0.5)
    assert providers.within_limits(store.acting(bob), one, 0.25) == 0.25
    assert providers.within_limits(store.acting(bob), one, 5.0) == pytest.approx(1.0)
    assert providers.within_limits(store, one, None) is None
    assert spend(store, provider, bob) == pytest.approx(1.0)
    with pytest.raises(InputError, match="Nothing is left of what may be spent on vllm"):
        providers.within_limits(store.acting(bob), one, None)
    unpriced = [one[0].model_copy(update={"price_in": None, "price_out": None})]
    with pytest.raises(InputError) as error:
        providers.within_limits(store.acting(bob), unpriced, None)
    assert "has no known price" in str(error.value)


def priced(address: str) -> Judge:
    """A judge at a listed address that costs a dollar a call."""
    return Judge(
        name="ada", model="ada", api_base=address, key_env="VLLM_KEY", price_in=1000, price_out=0
    )
