"""The Judges page: judges, panels and keys, and no secret anywhere."""

from __future__ import annotations

import threading
import time
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from core import clock
from core.domain.panel import Judge
from core.judging.local import model_file
from core.services.judges import connection, registry
from core.store.store import Store
from pages.judges.fields import JUDGE_ACT, JUDGE_FIELD, JUDGES_ACT, JUDGES_ARCHIVED, JUDGES_VIEW
from pages.judges.panel import PANEL_ACT, PANEL_FIELD
from pages.ui import routes, state
from tests import provider
from tests.pages.conftest import open_page, shown
from tests.provider import Provider

PAGE = routes.JUDGES
PASTED = "sk-proj-4fA9bC2dE7gH1jK5mN8p"
HOSTILE = "**b** ![x](http://127.0.0.1:9/x) <script>alert(1)</script> \u202eevil"


def field(app: AppTest, name: str, reference: str = state.NEW) -> str:
    return state.key(JUDGE_FIELD, reference, name)


def save(app: AppTest, reference: str = state.NEW, act: str = "save") -> AppTest:
    app.button(key=state.key(JUDGE_ACT, reference, act)).click().run()
    assert not app.exception
    return app


def filled(**texts: str) -> AppTest:
    app = open_page(PAGE, judge=state.NEW)
    for name, text in texts.items():
        app.text_input(key=field(app, name)).set_value(text)
    return app


def test_the_offline_judges_and_their_panel_are_there_from_the_start() -> None:
    app = open_page(PAGE)

    assert {"Text classifier", "Nearest neighbours"} <= {b.label for b in app.button}
    app.session_state[JUDGES_VIEW] = "panels"
    app.run()
    assert "Offline panel" in {b.label for b in app.button}


def test_a_judge_is_made_with_its_settings(store: Store) -> None:
    more = "http://gpu2:8000/v1  http://gpu3:8000/v1"
    app = filled(name="Small", model="mock", api_base="http://localhost:8000/v1", replicas=more)
    app.number_input(key=field(app, "temperature")).set_value(0.5)
    app.selectbox(key=field(app, "thinking")).set_value("budget")
    app.number_input(key=field(app, "budget")).set_value(3000)
    app.toggle(key=field(app, "logprobs")).set_value(True)

    save(app)

    judge = registry.get_judge(store, "Small").judge
    assert (judge.model, judge.api_base) == ("mock", "http://localhost:8000/v1")
    assert judge.replicas == ("http://gpu2:8000/v1", "http://gpu3:8000/v1")
    assert "and 2 further addresses" in shown(open_page(PAGE))
    assert (judge.temperature, judge.thinking, judge.tries) == (0.5, 3000, 5)
    assert (judge.logprobs, judge.shuffle) == (True, True)
    assert state.JUDGE not in app.query_params


def test_a_pasted_key_is_taken_out_of_the_session_and_shown_nowhere(store: Store) -> None:
    app = filled(name="GPT", model="openai/gpt-4.1-mini", key_env=PASTED)

    save(app)

    assert app.text_input(key=field(app, "key_env")).value == ""
    assert PASTED not in str(app.session_state.to_dict())
    assert PASTED not in shown(app)
    assert "is not the name of an environment variable" in shown(app)
    assert "Environment variable of the key" in shown(app)
    assert app.text_input(key=field(app, "model")).value == "openai/gpt-4.1-mini"
    assert store.drafts.list() == []


def test_what_is_typed_stays_in_the_browser_until_it_is_saved() -> None:
    app = filled(name="GPT", key_env=PASTED)

    app.segmented_control(key=field(app, "kind")).set_value("llm").run()

    assert PASTED not in shown(app) + str(app.session_state.to_dict())


def test_a_login_in_the_address_is_refused_and_taken_out() -> None:
    app = save(filled(name="a", model="m", api_base="http://me:hunter22@localhost:8000/v1"))

    assert "holds a password or a key" in shown(app)
    assert "hunter22" not in shown(app) + str(app.session_state.to_dict())


def test_what_is_wrong_is_said_beside_the_setting_and_nothing_is_saved(store: Store) -> None:
    app = save(filled(name="  ", model=""))

    assert "<b>Name</b> is empty." in shown(app)
    assert "<b>Model</b> is empty." in shown(app)
    assert store.judges.list() == registry.list_judges(store) == []


def test_a_judge_is_edited_where_its_settings_stand(store: Store) -> None:
    row = registry.save_judge(store, {"name": "a", "model": "m", "tries": 3})
    ref = str(row.id)
    app = open_page(PAGE, judge=ref)
    assert app.number_input(key=field(app, "tries", ref)).value == 3

    app.number_input(key=field(app, "tries", ref)).set_value(2)
    save(app, ref)

    assert registry.get_judge(store, "a").judge.tries == 2


#: A model with another value than the usual one in every field that means something for models.
UNUSUAL: dict[str, object] = {
    "name": "ada",
    "weight": 2.0,
    "model": "tiny",
    "api_base": "http://localhost:8000/v1",
    "replicas": ("http://localhost:8001/v1",),
    "key_env": "ADA_KEY",
    "door": "openai",
    "temperature": 0.5,
    "max_tokens": 300,
    "timeout": 30.0,
    "tries": 2,
    "concurrency": 4,
    "thinking": "low",
    "price_in": 1.0,
    "price_out": 2.0,
    "shuffle": False,
    "logprobs": True,
    "decides": True,
    "template": "shieldgemma",
    "stage": 1,
    "shadow": True,
    "requests_per_minute": 50,
    "tokens_per_minute": 10_000,
    "params": {"top_p": 0.5},
    "instructions": "Be brief.",
}


def test_saving_a_judge_as_it_is_keeps_every_field(store: Store) -> None:
    judge = Judge.model_validate(UNUSUAL)
    # Rules and programs are other kinds of judges.
    assert {*judge.given()} == {*Judge.model_fields} - {"kind", "checks", "command"}
    row = store.judges.save(judge, now=clock.now())
    app = open_page(PAGE, judge=row.id)
    save(app, str(row.id))
    assert registry.get_judge(store, "ada").judge == judge


def after_the_test(app: AppTest, store: Store, judge: str) -> str:
    """The page once the test of ``judge`` is over."""
    until = time.monotonic() + 60
    while connection.is_running(store, judge):
        assert time.monotonic() < until
        time.sleep(0.02)
    app.run()
    assert not app.exception
    return shown(app)


def test_a_connection_test_shows_answer_tokens_cost_and_tries(store: Store) -> None:
    with Provider() as server:
        app = filled(name="local", model="small", api_base=server.url)
        app.number_input(key=field(app, "price_in")).set_value(1.0)
        app.number_input(key=field(app, "price_out")).set_value(2.0)
        save(app, act="test")
        words = after_the_test(app, store, "local")

    assert "✓ It works" in words
    # 1,000 tokens in at $1 and 50 out at $2 per million.
    assert "1,050 tokens · cost $0.0011 · 1 try" in words


def test_a_model_file_becomes_a_judge_and_one_that_is_none_is_refused(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun = list[str]()
    monkeypatch.setattr(connection, "begin", lambda held, judge: begun.append(judge.model))
    monkeypatch.setattr(model_file, "find_spec", lambda name: True)
    path = tmp_path / "small.gguf"
    path.write_bytes(b"no model")
    app = open_page(PAGE)
    app.text_input(key=state.key(JUDGES_ACT, "file")).set_value(str(path))
    app.button(key=state.key(JUDGES_ACT, "start_file")).click().run()
    assert "is no GGUF file" in shown(app)

    path.write_bytes(b"GGUF")
    app.button(key=state.key(JUDGES_ACT, "start_file")).click().run()
    assert begun == [f"file:{path}"] == [registry.get_judge(store, "small").judge.model]


def test_a_failed_connection_test_says_what_to_do(store: Store) -> None:
    with Provider() as server:
        server.say(provider.status(401, "bad key"))
        app = save(filled(name="a", model="m", api_base=server.url), act="test")
        words = after_the_test(app, store, "a")

    assert "✕ No answer: " in words
    assert "Check that the variable holds the right key" in words


def test_a_missing_variable_is_named_and_its_state_shown(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    registry.save_judge(store, {"name": "a", "model": "m", "key_env": "MY_TEST_KEY"})
    assert "✕ MY_TEST_KEY is not set" in shown(open_page(PAGE))

    monkeypatch.setenv("MY_TEST_KEY", "secret-value")

    words = shown(open_page(PAGE))
    assert "✓ MY_TEST_KEY is set" in words
    assert "secret-value" not in words


def test_a_judge_that_came_with_a_file_says_what_it_would_send_where(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MY_TEST_KEY", "secret-value")
    theirs = Judge(name="a", model="m", api_base="http://b.example/v1", key_env="MY_TEST_KEY")
    store.judges.save(theirs, now=clock.now())
    app = open_page(PAGE)
    assert "✕ would send MY_TEST_KEY to b.example (http://b.example/v1)." in shown(app)
    key = state.key(JUDGES_ACT, "menu", registry.get_judge(store, "a").row.id)
    app.menu_button(key=key).click("Allow").run()
    assert "would send" not in shown(app)
    assert registry.get_judge(store, "a").secrets_not_allowed == ()


def test_the_list_says_how_far_a_test_is(store: Store) -> None:
    answered = threading.Event()
    with Provider() as server:
        server.rule = lambda body: provider.ok() if answered.wait(60) else provider.status(500)
        judge = Judge(name="local", model="openai/x", api_base=server.url)
        registry.save_judge(store, judge.model_dump())
        connection.begin(store, judge)
        assert "Asking a small question." in shown(open_page(PAGE))
        answered.set()
        while connection.is_running(store, "local"):
            time.sleep(0.01)
    assert "Asking a small question." not in shown(open_page(PAGE))


def test_keys_are_listed_by_name_only(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MISTRAL_API_KEY", "secret-value")
    app = open_page(PAGE)
    app.session_state[JUDGES_VIEW] = "keys"
    app.run()

    words = shown(app)
    assert "OPENAI_API_KEY" in words
    assert "secret-value" not in words


def test_an_offline_judge_says_what_it_needs(store: Store) -> None:
    registry.ensure_defaults(store)
    row = registry.get_judge(store, "Text classifier").row
    app = open_page(PAGE, judge=str(row.id))

    assert "switches itself off" in shown(app)
    assert "model" not in {w.key.rpartition("/")[2] for w in app.text_input if w.key}


def test_a_panel_is_made_and_changed(store: Store) -> None:
    registry.ensure_defaults(store)
    app = open_page(PAGE, panel=state.NEW)
    app.text_input(key=state.key(PANEL_FIELD, state.NEW, "name")).set_value("Mine")
    app.multiselect(key=state.key(PANEL_FIELD, state.NEW, "judges")).set_value(["Text classifier"])
    app.radio(key=state.key(PANEL_FIELD, state.NEW, "ordinal")).set_value("median")
    app.button(key=state.key(PANEL_ACT, state.NEW, "save")).click().run()

    assert not app.exception
    mine = next(p for p in registry.list_panels(store) if p.name == "Mine")
    assert mine.panel.rules.ordinal == "median"
    assert [j.name for j in mine.panel.judges] == ["Text classifier"]
    assert "Mine" in {b.label for b in app.button}


def test_a_panel_without_judges_is_refused_in_words() -> None:
    app = open_page(PAGE, panel=state.NEW)
    app.button(key=state.key(PANEL_ACT, state.NEW, "save")).click().run()

    assert "A panel needs at least one judge." in shown(app)
    assert "Give the panel a name." in shown(app)


def test_a_judge_is_archived_and_restored(store: Store) -> None:
    row = registry.save_judge(store, {"name": "a", "model": "m"})
    app = open_page(PAGE)
    app.session_state[JUDGES_ARCHIVED] = True
    registry.archive_judge(store, "a")
    app.run()

    app.button(key=state.key(JUDGES_ACT, "restore", row.id)).click().run()

    assert registry.get_judge(store, "a").judge.model == "m"


def test_hostile_names_are_shown_as_they_are(store: Store) -> None:
    row = registry.save_judge(store, {"name": HOSTILE, "model": HOSTILE})
    registry.save_panel(store, HOSTILE, [row.name], {})

    for app in (open_page(PAGE), open_page(PAGE, judge=str(row.id))):
        assert "<script>" not in shown(app)
        assert "![x]" not in "".join([b.label for b in app.button] + [t.value for t in app.title])


@pytest.mark.parametrize("address", [{"judge": "999"}, {"judge": "x"}, {"panel": "999"}])
def test_an_address_of_nothing_says_so(address: dict[str, str]) -> None:
    assert "No such" in shown(open_page(PAGE, **address))
