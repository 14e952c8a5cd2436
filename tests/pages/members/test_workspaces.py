"""Two teams on one server: who is in which, what the sidebar offers, and what never goes along."""

from __future__ import annotations

from pathlib import Path

import pytest

from core import clock
from core.services import open_store
from core.services.access import members
from core.settings import load_settings
from pages.ui import identity, resources, routes, state
from tests.pages.conftest import open_page, shown
from tests.services import reviewed
from tests.services.access.made import CONFIG, team
from tests.services.access.test_workspaces import WORKSPACES

CHOICE = state.key("identity", "workspace")


@pytest.fixture
def run_id(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> int:
    """A graded run in Physics; Ann is an author of both, Bob of Physics alone."""
    team(tmp_path, monkeypatch, CONFIG + WORKSPACES)
    physics, chemistry = map(open_store, load_settings().each())
    for email, where in (
        ("ann@example.org", (physics, chemistry)),
        ("bob@example.org", (physics,)),
    ):
        for store in where:
            members.put(store, email, "author")
    made = reviewed.graded(physics, 4).id
    physics.close()
    chemistry.close()
    return made


def signed_in(monkeypatch: pytest.MonkeyPatch, email: str) -> None:
    said = {"email": email, "email_verified": True, "iat": int(clock.seconds_now())}
    monkeypatch.setattr(resources, "claims", lambda: said)
    monkeypatch.setattr(identity, "login_configured", lambda: True)
    monkeypatch.setattr(identity, "claims", lambda: said)


def test_who_is_in_one_sees_no_choice_and_learns_nothing_of_the_other(
    run_id: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    signed_in(monkeypatch, "bob@example.org")
    app = open_page(routes.RUN, run=str(run_id))
    assert "Answers" in shown(app)
    assert app.query_params["w"] == "physics"
    assert CHOICE not in [box.key for box in app.selectbox]
    words = [
        shown(open_page(routes.RUN, run=str(run_id), w=name)) for name in ("chemistry", "biology")
    ]
    # The same sentence for what there is and for what there is not.
    assert words[0] == words[1]
    assert "You have no access to a workspace with that name" in words[0]
    assert "Go to Physics" in words[0]
    assert "Answers" not in words[0]


def test_who_is_in_both_chooses_and_nothing_of_the_one_comes_along(
    run_id: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    signed_in(monkeypatch, "ann@example.org")
    app = open_page(routes.RUN, run=str(run_id), w="physics")
    assert "Answers" in shown(app)
    app.session_state["typed"] = "typed in Physics"
    choice = app.selectbox(key=CHOICE)
    assert choice.options == ["Physics", "chemistry"]
    choice.set_value("chemistry").run()
    assert not app.exception
    assert app.query_params["w"] == "chemistry"
    assert "run" not in app.query_params
    assert "typed" not in app.session_state
    assert "Answers" not in shown(app)
    # Its address opens it again, and its run is not one of the other file.
    assert "Answers" in shown(open_page(routes.RUN, run=str(run_id), w="physics"))
    assert "Answers" not in shown(open_page(routes.RUN, run=str(run_id), w="chemistry"))


def test_an_address_of_another_workspace_takes_nothing_of_the_session_along(
    run_id: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    signed_in(monkeypatch, "ann@example.org")
    app = open_page(routes.SPOT_CHECK, w="physics")
    app.session_state["typed"] = "typed in Physics"
    app.query_params["w"] = "chemistry"
    app.run()
    assert "typed" not in app.session_state
    # Whoever ceases to be a member is out with the next click.
    chemistry = open_store(load_settings().scoped("chemistry"))
    members.put(chemistry, "ann@example.org", "author", disabled=True)
    chemistry.close()
    app.run()
    assert "You have no access to a workspace with that name" in shown(app)


def test_links_name_the_workspace(run_id: int, monkeypatch: pytest.MonkeyPatch) -> None:
    signed_in(monkeypatch, "ann@example.org")
    app = open_page(routes.REPORT, run=str(run_id), w="physics")
    links = [link.proto.query_string for link in app.get("page_link")]
    assert links
    assert all("w=physics" in one for one in links), links
    hrefs = [part.split('"')[0] for part in shown(app).split('href="')[1:]]
    assert all("w=physics" in one for one in hrefs if "?" in one), hrefs


def test_signing_out_counts_in_all_of_them(run_id: int, monkeypatch: pytest.MonkeyPatch) -> None:
    said = {
        "email": "alice@example.org",
        "email_verified": True,
        "iat": int(clock.seconds_now()) - 5,
    }
    monkeypatch.setattr(resources, "claims", lambda: said)
    app = open_page(routes.START, w="physics")
    monkeypatch.setattr("streamlit.logout", lambda: None)
    app.button(key=state.key("identity", "out")).click().run()
    for one in load_settings().each():
        store = open_store(one)
        assert one.access is not None
        assert members.actor(store, one.access, said).refused == "You signed out."
        store.close()
