"""A provider that answers by the request alone, and a small run to ask of it."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from core import clock
from core.domain.panel import Asking, Judge, Panel
from core.formats.folder import read_dataset_file, read_rubric_file
from core.services.access.permits import allow_sendings
from core.services.runs import worker
from core.services.runs.batches import context, lanes, sending, working
from core.services.runs.planning import RunRequest
from core.store.store import Store
from tests.judging.wire import KEY
from tests.new_store import new_store
from tests.provider import Provider
from tests.services.runs.batch_world import ELSEWHERE, MODELS, There
from tests.services.runs.world import by_message, by_request, write_files


@pytest.fixture
def provider() -> Iterator[Provider]:
    with Provider() as server:
        server.rule = by_request
        yield server


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return new_store(tmp_path / "studio.db")


@pytest.fixture
def request_(store: Store, tmp_path: Path, provider: Provider) -> RunRequest:
    """4 items x 3 criteria, asked of one judge at $100 per million tokens in and nothing out."""
    rubric, dataset = write_files(tmp_path, items=4)
    judge = Judge(name="ada", model="ada", api_base=provider.url, price_in=100, price_out=0)
    return RunRequest(
        rubric_version=store.rubrics.create(read_rubric_file(rubric).value, now=clock.now()).id,
        dataset_version=store.datasets.create(read_dataset_file(dataset).value, now=clock.now()).id,
        panel=Panel(judges=(judge,)),
        seed=1,
    )


@pytest.fixture
def soon(monkeypatch: pytest.MonkeyPatch) -> None:
    """Looks at batches follow at once, so that no test waits."""
    monkeypatch.setattr(lanes, "SOONEST_LOOK", 0.01)
    monkeypatch.setattr(context, "FIRST_PAUSE", 0.01)
    monkeypatch.setattr(working, "FIRST_PAUSE", 0.01)
    monkeypatch.setattr(sending, "FIRST_PAUSE", 0.01)
    monkeypatch.setattr(sending, "SETTLED", 0.05)
    monkeypatch.setattr(working, "LOOK_EVERY", 0.01)
    monkeypatch.setattr(worker, "BEAT_EVERY", 0.05)


@pytest.fixture(params=("openai", *ELSEWHERE))
def there(
    request: pytest.FixtureRequest,
    request_: RunRequest,
    provider: Provider,
    monkeypatch: pytest.MonkeyPatch,
) -> There:
    name = request.param
    monkeypatch.setenv("OWN_KEY", KEY)
    monkeypatch.setenv("AZURE_API_BASE", provider.url)
    monkeypatch.setenv("ANTHROPIC_API_BASE", provider.url.removesuffix("/v1"))
    judge = Judge(
        name="ada",
        model=MODELS[name],
        api_base=provider.url if name in ("openai", "mistral", "groq") else "",
        key_env="OWN_KEY",
        price_in=100,
        price_out=0,
    )
    allow_sendings([judge])
    panel = Panel(judges=(judge,), asking=Asking(cache=False))
    claude = name == "anthropic"
    batches = provider.message_batches if claude else provider.batches
    answer = by_message if claude else by_request
    provider.rule = answer
    return There(name, provider, batches, answer, replace(request_, panel=panel))
