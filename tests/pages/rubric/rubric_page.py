"""The rubric page as the tests drive it."""

from __future__ import annotations

from typing import Any

from streamlit.testing.v1 import AppTest

from core.domain.rubric import Rubric
from core.services.rubrics import library
from core.services.rubrics.draft_shapes import RubricDraft
from core.services.rubrics.drafts import draft_from
from core.store.store import Store
from pages.ui import routes, state
from pages.ui.drafts import RUBRIC_ACT, RUBRIC_FIELD, RUBRIC_VIEW, RUBRIC_WORK, RUBRIC_YAML
from tests.services.rubrics.test_drafts import FULL

PAGE = routes.RUBRICS


def saved(store: Store, rubric: Rubric = FULL) -> str:
    return str(library.save(store, "new-x", draft_from(rubric)).rubric_id)


def press(app: AppTest, *ids: object, family: str = RUBRIC_ACT) -> AppTest:
    return done(app.button(key=state.key(family, *ids)).click())


def done(act: Any) -> AppTest:
    app: AppTest = act.run()
    assert not app.exception
    return app


def field(name: str, *ids: str) -> str:
    return state.key(RUBRIC_FIELD, name, *ids)


def name_of(app: AppTest) -> str:
    found = app.query_params[state.RUBRIC]
    return found[0] if isinstance(found, list) else found


def draft_of(app: AppTest) -> RubricDraft:
    draft: RubricDraft = app.session_state[state.key(RUBRIC_WORK, name_of(app))]["draft"]
    return draft


def view(app: AppTest, which: str) -> AppTest:
    key = state.key(RUBRIC_VIEW, name_of(app))
    return done(app.segmented_control(key=key).set_value(which))


def type_yaml(app: AppTest, text: str) -> AppTest:
    key = state.key(RUBRIC_YAML, name_of(app))
    return done(app.text_area(key=key).set_value(text))


def yaml_of(app: AppTest) -> str:
    return str(app.text_area(key=state.key(RUBRIC_YAML, name_of(app))).value)
