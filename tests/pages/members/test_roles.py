"""Every page of a server for a team, as every role: what it shows, and what its buttons may do."""

from __future__ import annotations

import pytest
from streamlit.testing.v1 import AppTest

from core.domain.access import TEAM_ROLES, TeamRole
from core.domain.runs import Run
from core.errors import NotAllowed
from core.services.access import members, spending
from core.services.access.spending import MonthlySpending
from core.store.store import Store
from pages.ui import resources, routes, state
from pages.ui.routes import Screen
from tests.pages.conftest import open_page, shown
from tests.pages.members.conftest import as_member
from tests.services import reviewed
from tests.services.access.made import member

RUN_PAGES = [routes.RUN, routes.AGREEMENT, routes.REPORT]


def words(app: AppTest) -> str:
    assert not app.exception
    return shown(app) + " ".join(str(one.value) for one in app.error)


@pytest.mark.parametrize("page", RUN_PAGES, ids=lambda page: page.url)
@pytest.mark.parametrize("role", TEAM_ROLES)
def test_the_pages_of_a_run_show_nothing_to_who_reviews_it_blind(
    store: Store, run: Run, monkeypatch: pytest.MonkeyPatch, role: TeamRole, page: Screen
) -> None:
    as_member(monkeypatch, store, role)
    said = words(open_page(page, **{state.RUN: str(run.id)}))
    kept_out = role in ("reviewer", "adjudicator")
    assert ("You are to review 8 cells of run" in said) == kept_out
    if kept_out:
        # The names of the votes' judges and of whoever wrote an item.
        assert not [name for name in ("bob", "secret-system", "secret-tag") if name in said]


@pytest.mark.parametrize("role", ["reviewer", "adjudicator"])
def test_nor_does_an_item_a_comparison_a_dataset_or_what_review_found(
    store: Store, run: Run, monkeypatch: pytest.MonkeyPatch, role: TeamRole
) -> None:
    as_member(monkeypatch, store, role)
    other = reviewed.graded(store, 4)
    for page, address in (
        (routes.RUN, {state.RUN: str(run.id), state.ITEM: "i0"}),
        (routes.COMPARE, {"a": str(run.id), "b": str(other.id)}),
        (routes.DATASETS, {state.DATASET: str(run.dataset_id)}),
        (routes.DATASETS, {state.DATASET: str(run.dataset_id), state.ITEM: "i0"}),
        (routes.RECORD, {state.RUN: str(run.id), state.ITEM: "i0", state.CRITERION: "Right"}),
    ):
        said = words(open_page(page, **address))
        assert "secret-label" not in said, page.url
        assert "secret-system" not in said, page.url
        assert "You are to review" in said or page == routes.RECORD, page.url


@pytest.mark.parametrize("role", TEAM_ROLES)
def test_only_an_admin_sees_members_providers_and_the_record(
    store: Store, run: Run, monkeypatch: pytest.MonkeyPatch, role: TeamRole
) -> None:
    as_member(monkeypatch, store, role)
    for view, word in (
        ("", "end disagreements between reviewers"),
        ("providers", "VLLM_KEY"),
        ("record", ""),
        ("spending", "Nothing was spent"),
    ):
        said = words(open_page(routes.MEMBERS, **({state.VIEW: view} if view else {})))
        if role == "admin":
            assert word in said
        else:
            assert "only an admin may" in said
            assert "VLLM_KEY" not in said
            assert "example.org" not in said.replace(f"{role}&#64;example.org", "")


def test_an_admin_gives_a_role_and_it_counts_at_once(
    store: Store, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    members.put(store, "ann@example.org", "viewer")
    as_member(monkeypatch, store, "admin")
    app = open_page(routes.MEMBERS)
    app.selectbox(key=state.key("members_field", "ann@example.org", "role")).set_value("lead").run()
    assert store.members.get("ann@example.org").role == "lead"
    app.toggle(key=state.key("members_field", "ann@example.org", "in")).set_value(False).run()
    assert store.members.get("ann@example.org").disabled
    app.text_input(key=state.key("members_field", "email")).set_value("new@example.org")
    next(one for one in app.button if one.label == "Add").click().run()
    assert store.members.get("new@example.org").role == "viewer"
    app.text_input(key=state.key("members_field", "email")).set_value("\u0430nn@example.org")
    next(one for one in app.button if one.label == "Add").click().run()
    assert "U&#43;0430 CYRILLIC SMALL LETTER A" in words(app)
    said = words(open_page(routes.MEMBERS, **{state.VIEW: "record"}))
    assert "access.members" not in said
    assert "ann" in said


@pytest.mark.parametrize("role", ["viewer", "reviewer", "adjudicator", "author", "lead"])
def test_the_judges_page_tells_nobody_but_an_admin_which_variables_there_are(
    store: Store, run: Run, monkeypatch: pytest.MonkeyPatch, role: TeamRole
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "planted")
    as_member(monkeypatch, store, role)
    for address in ({}, {"judge": "new"}):
        said = words(open_page(routes.JUDGES, **address))
        assert "OPENAI_API_KEY" not in said
        assert "is set" not in said


def test_somebody_without_a_role_sees_the_sign_in_page_and_nothing_else(
    store: Store, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    for claims in (None, {"email": "eve@elsewhere.net", "email_verified": True, "iat": 1}):
        monkeypatch.setattr(resources, "claims", lambda claims=claims: claims)
        for page in (*RUN_PAGES, routes.START, routes.DATASETS, routes.MEMBERS):
            said = words(open_page(page, **{state.RUN: str(run.id)}))
            assert "secret-" not in said
            assert "Answers" not in said


def test_an_admin_sees_what_was_spent_by_whom_and_what_is_held(
    store: Store, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    as_member(monkeypatch, store, "admin")
    # $2.00 a month for all at vllm, $1.50 for one person (made.CONFIG).
    shares = [
        MonthlySpending("vllm", "ann@example.org", 1.0, 0.25),
        MonthlySpending("vllm", "", 0.5, 0.0),
    ]
    monkeypatch.setattr(spending, "spending_shares", lambda store, month: shares)
    app = open_page(routes.MEMBERS, **{state.VIEW: "spending"})
    said = words(app)
    for words_ in ("$1.50", "$0.25", "$2.00", "the terminal", "ann@example.org", "no limit"):
        assert words_ in said, words_
    rows = said.replace("\\", "")
    # Ann: 1.50 - 1.00 - 0.25; all: 2.00 - 1.50 - 0.25.
    assert rows.count("$0.25") == 4
    csv = spending.spending_csv(store.acting(member("admin")), "2026-11").decode("utf-8-sig")
    assert csv.splitlines() == [
        "month,provider,person,spent,held,limit,limit_person",
        "2026-11,vllm,ann@example.org,1.0,0.25,2.0,1.5",
        "2026-11,vllm,,0.5,0.0,2.0,1.5",
    ]
    with pytest.raises(NotAllowed):
        spending.spending_csv(store.acting(member("lead")), "2026-11")
