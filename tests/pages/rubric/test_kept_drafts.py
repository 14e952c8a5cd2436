"""Drafts of other browsers are folded where a rubric is chosen: Spot check and Test data."""

from __future__ import annotations

from core.services.rubrics import library
from core.services.rubrics.drafts import draft_from
from core.store.store import Store
from pages.test_data.submissions import DATA_FIELD
from pages.ui import routes, state
from pages.ui.trial.kept_drafts import OTHERS
from tests.pages.conftest import open_page
from tests.pages.rubric.rubric_page import done
from tests.services.assist.made import RUBRIC


def test_where_a_rubric_is_chosen_own_drafts_come_first_and_others_on_request(
    store: Store,
) -> None:
    for name, browser, author in (
        ("new-a", "this one", ""),
        ("new-b", "another", ""),
        ("new-c", "another", "Lea"),
    ):
        draft = draft_from(RUBRIC.model_copy(update={"name": name}))
        library.keep(store, name, draft, browser=browser, author=author)
    for page, key, of in (
        (routes.SPOT_CHECK, state.key(state.SPOT_FIELD, "rubric"), "new-{} · unsaved draft{}"),
        (routes.TEST_DATA, state.key(DATA_FIELD, "rubric"), "new-{} (unsaved changes{})"),
    ):
        app = open_page(page)
        assert app.selectbox(key=key).options == [of.format("a", "")]

        others = app.toggle(key=state.key(OTHERS))
        assert others.label == "Also 2 drafts of other browsers"
        app = done(others.set_value(True))
        first, *rest = app.selectbox(key=key).options
        assert first == of.format("a", "")
        # Both may have been stored within one millisecond.
        assert set(rest) == {of.format("b", " by another browser"), of.format("c", " by Lea")}


def test_a_chosen_draft_of_another_browser_stays_chosen(store: Store) -> None:
    library.keep(store, "new-b", draft_from(RUBRIC), browser="another", author="")
    app = open_page(routes.TEST_DATA, rubric="new-b")
    assert app.selectbox(key=state.key(DATA_FIELD, "rubric")).value == "new-b"
