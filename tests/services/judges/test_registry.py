"""Judges and panels are kept by name; keys are known by name only."""

from __future__ import annotations

import time

import pytest

from core.domain.panel import Judge
from core.errors import InputError, NotFound
from core.judging.keys import key_names
from core.services.judges import connection, registry
from core.services.judges.panel_setup import values_of_secrets
from core.store.store import Store
from tests import provider
from tests.provider import Provider

PASTED = "sk-proj-4fA9bC2dE7gH1jK5mN8p"
LIKE_A_NAME = "gsk_4fA9bC2dE7gH1jK5mN8p"


def names(store: Store) -> list[str]:
    return [entry.name for entry in registry.list_judges(store)]


def test_the_offline_judges_and_their_panel_exist_from_the_start(store: Store) -> None:
    registry.ensure_defaults(store)

    assert names(store) == ["Nearest neighbours", "Text classifier"]
    (panel,) = registry.list_panels(store)
    assert panel.name == "Offline panel"
    assert [j.kind for j in panel.panel.judges] == ["classifier", "neighbours"]


def test_a_default_that_was_put_away_does_not_come_back(store: Store) -> None:
    registry.ensure_defaults(store)
    registry.archive_judge(store, "Text classifier")

    registry.ensure_defaults(store)

    assert names(store) == ["Nearest neighbours"]
    assert [e.name for e in registry.list_judges(store, archived=True)] == ["Text classifier"]


def test_blank_fields_take_the_defaults(store: Store) -> None:
    row = registry.save_judge(
        store, {"name": " GPT  mini ", "model": "openai/gpt-4.1-mini", "temperature": None}
    )

    assert row.judge == Judge(name="GPT mini", model="openai/gpt-4.1-mini")


@pytest.mark.parametrize("pasted", [PASTED, LIKE_A_NAME])
@pytest.mark.parametrize("field", ["key_env", "name", "model"])
def test_a_pasted_key_is_refused_and_never_repeated(store: Store, field: str, pasted: str) -> None:
    settings = {"name": "GPT", "model": "openai/gpt-4.1-mini", field: pasted}

    with pytest.raises(InputError) as refused:
        registry.save_judge(store, settings)

    assert [p.path for p in refused.value.problems] == [(field,)]
    assert pasted not in str(refused.value)
    assert names(store) == []


@pytest.mark.parametrize(
    "address",
    ["http://me:pass@localhost:8000/v1", "https://x.example/v1?api_key=abcdef", "http://:8000"],
)
def test_an_address_with_a_secret_or_without_a_host_is_refused_unrepeated(
    store: Store, address: str
) -> None:
    with pytest.raises(InputError) as refused:
        registry.save_judge(store, {"name": "a", "model": "m", "api_base": address})

    assert [p.path for p in refused.value.problems] == [("api_base",)]
    assert address not in str(refused.value)


def test_every_problem_is_named_at_once(store: Store) -> None:
    with pytest.raises(InputError) as refused:
        registry.save_judge(store, {"name": " ", "model": "m", "tries": 0, "timeout": -1})

    assert {p.path for p in refused.value.problems} == {("name",), ("tries",), ("timeout",)}


def test_a_name_that_is_taken_is_refused(store: Store) -> None:
    registry.save_judge(store, {"name": "a", "model": "m"})
    registry.save_judge(store, {"name": "b", "model": "m"})

    with pytest.raises(InputError, match="already another judge's"):
        registry.save_judge(store, {"name": "a", "model": "x"}, former="b")

    assert registry.get_judge(store, "a").judge.model == "m"


def test_a_renamed_judge_keeps_its_seat_on_saved_panels(store: Store) -> None:
    registry.save_judge(store, {"name": "a", "model": "m"})
    registry.save_judge(store, {"name": "b", "model": "m"})
    panel = registry.save_panel(store, "Both", ["a", "b"], {})

    registry.save_judge(store, {"name": "c", "model": "better"}, former="a")

    seats = registry.get_panel(store, panel.id).panel.judges
    assert [(j.name, j.model) for j in seats] == [("c", "better"), ("b", "m")]
    assert names(store) == ["b", "c"]
    assert registry.get_judge(store, "c").panels == ("Both",)


def test_a_panel_keeps_the_judge_that_was_put_away(store: Store) -> None:
    registry.save_judge(store, {"name": "a", "model": "m"})
    panel = registry.save_panel(store, "Solo", ["a"], {})
    registry.archive_judge(store, "a")

    again = registry.save_panel(store, "Solo", ["a"], {"ordinal": "median"}, panel_id=panel.id)

    assert again.id == panel.id
    assert again.panel.rules.ordinal == "median"
    with pytest.raises(NotFound):
        registry.save_panel(store, "Other", ["a"], {})


def test_a_panel_without_judges_or_with_a_wrong_rule_is_refused(store: Store) -> None:
    registry.save_judge(store, {"name": "a", "model": "m"})

    with pytest.raises(InputError, match="at least one judge"):
        registry.save_panel(store, "Empty", [], {})
    with pytest.raises(InputError, match="not a rule for binary"):
        registry.save_panel(store, "Wrong", ["a"], {"binary": "median"})


def test_a_restored_judge_is_in_use_again(store: Store) -> None:
    registry.save_judge(store, {"name": "a", "model": "m"})
    registry.archive_judge(store, "a")
    (away,) = registry.list_judges(store, archived=True)

    registry.restore_judge(store, away.row.id)

    assert names(store) == ["a"]
    assert registry.list_judges(store, archived=True) == []


@pytest.mark.parametrize(
    ("settings", "variable"),
    [
        ({"model": "openai/gpt-4.1-mini"}, "OPENAI_API_KEY"),
        ({"model": "claude-sonnet-4-5"}, "ANTHROPIC_API_KEY"),
        ({"model": "mistral/mistral-small-latest"}, "MISTRAL_API_KEY"),
        ({"model": "ollama/llama3.1"}, ""),
        ({"model": "openai/local", "api_base": "http://localhost:8000/v1"}, ""),
    ],
)
def test_the_usual_variable_of_a_provider_is_known(settings: dict[str, str], variable: str) -> None:
    judge = Judge(name="j", **settings)  # type: ignore[arg-type]
    assert next(iter(key_names(judge)), "") == variable


def test_a_key_that_only_litellm_looks_up_is_hidden_in_what_a_provider_says(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("GOOGLE_API_KEY", "words-of-no-usual-shape")
    judge = Judge(name="j", model="gemini/x")
    assert values_of_secrets(judge) == {"GOOGLE_API_KEY": "words-of-no-usual-shape"}


def test_whether_a_key_is_set_is_said_without_its_value(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    registry.save_judge(store, {"name": "a", "model": "m", "key_env": "MY_TEST_KEY"})
    assert registry.get_judge(store, "a").key == "not set"

    monkeypatch.setenv("MY_TEST_KEY", "secret-value")

    entry = registry.get_judge(store, "a")
    assert (entry.key, entry.key_env) == ("set", "MY_TEST_KEY")
    assert "secret-value" not in repr(entry)


def local(provider_: Provider, **settings: object) -> Judge:
    return Judge(name="local", model="small", api_base=provider_.url, **settings)  # type: ignore[arg-type]


def test_a_connection_test_says_answer_tokens_and_tries() -> None:
    with Provider() as server:
        result = connection.check_connection(local(server, price_in=1.0, price_out=2.0))

    assert (result.ok, result.answer, result.right) == (True, "MET", True)
    assert (result.tokens_in, result.tokens_out, result.tries) == (1000, 50, 1)
    # The provider counts 1,000 tokens in at 1 dollar and 50 out at 2 dollars per million.
    assert result.cost == pytest.approx(1000e-6 + 100e-6)
    assert result.seconds is not None


def test_a_wrong_answer_is_an_answer() -> None:
    with Provider() as server:
        server.say(provider.ok(2))
        result = connection.check_connection(local(server))

    assert (result.ok, result.answer, result.right) == (True, "UNMET", False)


@pytest.mark.parametrize(
    ("answers", "kind"),
    [
        ([provider.status(401, "no")], "auth"),
        ([provider.status(404, "no")], "not_found"),
        ([provider.malformed(), provider.malformed()], "malformed"),
        ([provider.refusal()], "refusal"),
    ],
)
def test_a_failure_is_told_by_its_kind(answers: list[provider.Answer], kind: str) -> None:
    with Provider() as server:
        server.say(*answers)
        result = connection.check_connection(local(server))

    assert (result.ok, result.failure, result.answer) == (False, kind, "")
    assert result.message


def test_a_silent_provider_is_given_up_after_the_timeout() -> None:
    with Provider() as server:
        server.say(provider.stall(), provider.stall())
        result = connection.check_connection(local(server), timeout=0.2)

    assert result.failure == "timeout"


def test_a_test_under_way_tells_a_server_that_works_from_one_that_is_not_there(
    store: Store,
) -> None:
    with Provider() as server:
        server.say(provider.Answer(body=provider.ok().body, stall=0.3))
        judge = local(server)
        assert connection.test_progress(store, judge.name) == ""
        connection.begin(store, judge)
        seen = set[str]()
        while words := connection.test_progress(store, judge.name):
            seen.add(words.rpartition(" for ")[0])

    assert "connected, working" in seen <= {"connecting", "connected, working"}
    result = connection.last_result(store, judge.name)
    assert result is not None
    assert result.ok


def test_a_missing_key_is_told_without_asking() -> None:
    with Provider() as server:
        result = connection.check_connection(local(server, key_env="NO_SUCH_KEY_HERE"))
        asked = server.count

    assert result.failure == "missing_key"
    assert asked == 0


def test_an_offline_judge_has_nothing_to_connect_to() -> None:
    with pytest.raises(InputError, match="labelled items"):
        connection.check_connection(registry.OFFLINE_JUDGES[0])


def test_the_last_result_is_kept_and_holds_until_the_settings_change(store: Store) -> None:
    with Provider() as server:
        judge = local(server)
        registry.save_judge(store, judge.model_dump())
        connection.begin(store, judge)
        while connection.is_running(store, judge.name):
            time.sleep(0.01)
    entry = registry.get_judge(store, "local")
    assert entry.last_test is not None
    assert (entry.last_test.answer, entry.test_holds) == ("MET", True)

    registry.save_judge(store, {**judge.model_dump(), "temperature": 0.5}, former="local")

    assert not registry.get_judge(store, "local").test_holds
