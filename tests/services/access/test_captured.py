"""Attacks B1 and B2 by their own steps, in both modes: two servers that must not hear anything.

One captures what is sent to an address that nobody listed, the other stands for a server within
the network, to which the first leads on.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from core import clock
from core.domain.access import VISITOR, Actor
from core.domain.dataset import Dataset, Item
from core.domain.panel import Judge, Panel
from core.domain.rubric import Criterion, Rubric
from core.errors import InputError, RubricStudioError
from core.services.assist import help_tasks
from core.services.judges import connection, registry
from core.services.runs import lifecycle
from core.services.runs.planning import RunRequest
from core.services.runs.runner import work_here
from core.store.store import Store
from tests.provider import Answer, Provider
from tests.services.access.made import CONFIG, member, team

SECRET = "planted-secret-of-the-server"
RUBRIC = Rubric(name="R", criteria=(Criterion(name="c", requirement="It is kind."),))
DATASET = Dataset(name="D", items=(Item(id="a", submission="Hello."),))


@pytest.fixture
def servers(monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[Provider, Provider]]:
    """The capture server, which leads on to the internal one, and that one."""
    for name in ("AWS_SECRET_ACCESS_KEY", "VLLM_KEY"):
        monkeypatch.setenv(name, SECRET)
    with Provider() as capture, Provider() as internal:
        there = f"{internal.url}/chat/completions"
        capture.rule = lambda body: Answer(307, headers={"Location": there})
        yield capture, internal


def attempts(theirs: Store, judge: Judge) -> dict[str, Callable[[], object]]:
    """Everything by which a model can be asked, with a judge of their own making."""
    given = judge.model_dump(mode="json", exclude_defaults=True)
    rubric = theirs.rubrics.list()[0].version_id
    dataset = theirs.datasets.list()[0].version_id
    request = RunRequest(rubric, dataset, Panel(judges=(judge,)))
    return {
        "keep it": lambda: registry.save_judge(theirs, given),
        "test it": lambda: connection.begin(theirs, judge),
        "run it": lambda: lifecycle.start(theirs, request),
        "have it help": lambda: help_tasks.begin(
            theirs, *("draft", "x", {"judge": given, "notes": "n"}, 1)
        ),
    }


def try_all(store: Store, who: Actor, judge: Judge) -> list[str]:
    """What of it was let begin; all of that is worked off to its end."""
    let = []
    for name, attempt in attempts(store.acting(who), judge).items():
        with suppress(RubricStudioError):
            attempt()
            let.append(name)
    for row in store.runs.list(limit=50):
        if row.active:
            work_here(store, row.id)
    for task in store.helps.list():
        help_tasks.wait_for_task(store, task.id, 20)
    return let


@pytest.fixture
def kept(store: Store) -> Store:
    """With something to ask about."""
    store.rubrics.create(RUBRIC, now=clock.now())
    store.datasets.create(DATASET, now=clock.now())
    return store


ROLES = ("viewer", "reviewer", "adjudicator", "author", "lead", "admin")


@pytest.mark.parametrize("key", ["AWS_SECRET_ACCESS_KEY", "VLLM_KEY", ""])
def test_in_a_team_nobody_reaches_an_address_that_is_not_listed(
    kept: Store,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    servers: tuple[Provider, Provider],
    key: str,
) -> None:
    team(tmp_path, monkeypatch)
    stranger = Actor("eve@elsewhere.example", refused="eve is not a member here.")
    for who in (stranger, *(member(role) for role in ROLES)):  # type: ignore[arg-type]
        for server in servers:
            judge = Judge(name="J", model="m", api_base=server.url, key_env=key)
            assert try_all(kept, who, judge) == [], who
    assert [server.count for server in servers] == [0, 0]


def test_a_visitor_of_an_app_without_a_sign_in_reaches_nothing_of_their_own_choice(
    kept: Store, monkeypatch: pytest.MonkeyPatch, servers: tuple[Provider, Provider]
) -> None:
    monkeypatch.delenv("RUBRIC_STUDIO_CONFIG", raising=False)
    for server in servers:
        judge = Judge(name="J", model="m", api_base=server.url, key_env="AWS_SECRET_ACCESS_KEY")
        assert try_all(kept, VISITOR, judge) == []
    assert [server.count for server in servers] == [0, 0]
    # The same with a judge of the machine's owner, and one thing of it changed.
    capture, internal = servers
    own = Judge(name="J", model="m", api_base=internal.url, key_env="VLLM_KEY")
    registry.save_judge(kept, own.model_dump(mode="json", exclude_defaults=True))
    for change in ({"api_base": capture.url}, {"key_env": "AWS_SECRET_ACCESS_KEY"}):
        assert try_all(kept, VISITOR, own.model_copy(update=change)) == []
    other = own.model_copy(update={"api_base": capture.url})
    panel = Panel(judges=(other,)).model_dump(mode="json")
    wish = {"judge": own.model_dump(mode="json"), "panel": panel}
    with pytest.raises(InputError, match="cannot be asked from elsewhere"):
        help_tasks.begin(kept.acting(VISITOR), "loop", "x", wish, 1)
    assert [server.count for server in servers] == [0, 0]
    assert "run it" in try_all(kept, VISITOR, own)
    assert internal.count > 0


def test_a_listed_provider_leads_nobody_on_to_another_server(
    kept: Store,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    servers: tuple[Provider, Provider],
) -> None:
    capture, internal = servers
    limits = "monthly_usd = 2.0\nperson_usd = 1.5\n"
    config = CONFIG.replace("http://10.0.0.5:8000/v1", capture.url).replace(limits, "")
    team(tmp_path, monkeypatch, config)
    judge = Judge(name="J", model="m", api_base=capture.url, key_env="VLLM_KEY")
    assert try_all(kept, member("author"), judge) == ["run it", "have it help"]
    assert capture.count > 0
    assert internal.count == 0
    assert SECRET not in str([row.message for row in kept.runs.list(limit=50)])
