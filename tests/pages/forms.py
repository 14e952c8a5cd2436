"""Every page with something to fill in, in the states that have a form; and how to fill it in."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from streamlit.proto.WidgetStates_pb2 import WidgetState, WidgetStates
from streamlit.testing.v1 import AppTest
from streamlit.testing.v1 import element_tree as tree

from core.store.store import Store
from pages.datasets.importing import IMPORT_FILE
from pages.imports import reading
from pages.ui import routes, state
from pages.ui.identity import NAME
from pages.ui.routes import Screen
from tests.pages import graded, made, reviewing, spot_checks
from tests.pages.conftest import open_page, visit
from tests.pages.rubric import rubric_page
from tests.services import reviewed

Field = (
    tree.Checkbox
    | tree.Toggle
    | tree.NumberInput
    | tree.TextInput
    | tree.TextArea
    | tree.Selectbox
    | tree.Radio
    | tree.Multiselect
    | tree.Slider
    | tree.ButtonGroup
)
#: What Streamlit calls these; what chooses between views comes last, since it hides others.
KINDS = (
    *("checkbox", "toggle", "number_input", "text_input", "text_area", "selectbox", "radio"),
    *("multiselect", "slider", "button_group"),
)
WIDE = "id,text,kim,lee\na,x,MET,MET\nb,y,UNMET,MET\n"


def _plan(store: Store, page: Screen = routes.RUNS, how: str = "new") -> AppTest:
    spot_checks.model(store, "http://127.0.0.1:9/v1")
    graded.graded(store)
    return open_page(page, plan=how)


def _dataset_import(store: Store) -> AppTest:
    spot_checks.saved_rubric(store)
    app = open_page(routes.DATASETS, dataset=state.NEW)
    app.file_uploader(key=IMPORT_FILE).set_value(("t.csv", made.CSV.encode(), "text/csv"))
    return app.run()


def _votes_import(store: Store) -> AppTest:
    spot_checks.saved_rubric(store)
    app = open_page(routes.IMPORT_VOTES)
    upload = app.file_uploader(key=reading.FILE)
    return upload.set_value(("votes.csv", WIDE.encode(), "text/csv")).run()


def _new_queue(store: Store) -> AppTest:
    run = graded.graded(store)
    reviewed.sit(store, "Lea")
    app = AppTest.from_file(str(reviewing.FRAME), default_timeout=30)
    app.session_state[NAME] = "Lea"
    app.run()
    app.query_params[state.NEW] = "1"
    app.query_params[state.RUN] = str(run)
    return visit(app, routes.QUEUES)


def _spot_check(store: Store) -> AppTest:
    spot_checks.model(store, "http://127.0.0.1:9/v1")
    spot_checks.saved_rubric(store)
    return open_page(routes.SPOT_CHECK)


def _rubric(store: Store) -> AppTest:
    return open_page(routes.RUBRICS, rubric=rubric_page.saved(store))


def _parts(store: Store) -> AppTest:
    return open_page(
        routes.DATASETS, dataset=str(made.kept(store).dataset_id), dataset_view="Split"
    )


#: The state of a page by its name: what makes it.
FORMS: dict[str, Callable[[Store], AppTest]] = {
    "a judge": lambda store: open_page(routes.JUDGES, judge=state.NEW),
    "a panel": lambda store: (
        spot_checks.model(store, "http://127.0.0.1:9/v1"),
        open_page(routes.JUDGES, panel=state.NEW),
    )[1],
    "a run": _plan,
    "a sweep": lambda store: _plan(store, how="sweep"),
    "a contest": lambda store: _plan(store, routes.CONTESTS),
    "a dataset": _dataset_import,
    "parts of a dataset": _parts,
    "votes": _votes_import,
    "a queue": _new_queue,
    "a spot check": _spot_check,
    "a rubric": _rubric,
    "test data": lambda store: open_page(routes.TEST_DATA, rubric=rubric_page.saved(store)),
    "runs beside each other": lambda store: (
        graded.graded(store),
        graded.graded(store, at=2e10),
        open_page(routes.COMPARE),
    )[-1],
    "the library": lambda store: open_page(routes.LIBRARY),
}


def fields(app: AppTest) -> dict[str, Field]:
    """What can be filled in, by key: kind by kind, each in the order of the page."""
    found = [one for one in app._tree if isinstance(one, Field) and one.key and not one.disabled]
    return {one.key: one for one in sorted(found, key=lambda one: KINDS.index(one.type))}


def values(app: AppTest) -> dict[str, Any]:
    """What stands in every field."""
    return {key: field.value for key, field in fields(app).items()}


def drawn_as(field: Field) -> Any:
    """What a browser shows that draws the field now for the first time, as `in_force` tells it."""
    proto: Any = field.proto
    if proto.set_value:
        return in_force(field)
    if isinstance(field, tree.Selectbox | tree.Radio):
        return proto.default if proto.HasField("default") else None
    if isinstance(field, tree.Multiselect | tree.ButtonGroup | tree.Slider):
        return list(proto.default)
    if isinstance(field, tree.NumberInput):
        return proto.default if proto.HasField("default") else None
    return proto.default


def in_force(field: Field) -> Any:
    """What the server goes by."""
    if isinstance(field, tree.Selectbox | tree.Radio):
        return field.index
    if isinstance(field, tree.Multiselect | tree.ButtonGroup):
        return list(field.indices)
    if isinstance(field, tree.Slider):
        return [field.value]
    return field.value


def other(field: Field) -> WidgetState | None:
    """What a browser sends after another value was put in; `None` where there is none."""
    said: WidgetState = field._widget_state
    if isinstance(field, tree.Checkbox | tree.Toggle):
        said.bool_value = not said.bool_value
    elif isinstance(field, tree.NumberInput):
        step = field.step or 1
        now = field.value or 0
        said.double_value = now - step if field.max is not None and now >= field.max else now + step
    elif isinstance(field, tree.Slider):
        said.double_array_value.data[0] += field.step if field.value < field.max else -field.step
    elif isinstance(field, tree.TextInput | tree.TextArea):
        said.string_value += " more"
    else:
        return _other_option(field, said)
    return said


def _other_option(field: Any, said: WidgetState) -> WidgetState | None:
    several = isinstance(field, tree.Multiselect | tree.ButtonGroup)
    taken = list(said.string_array_value.data) if several else [said.string_value]
    free = [words for words in field.options if words not in taken]
    if not free:
        return None
    if not several:
        said.string_value = free[0]
    else:
        single = isinstance(field, tree.ButtonGroup) and field._is_single_select
        said.string_array_value.data[:] = free[:1] if single else [*taken, free[0]]
    return said


def answer(app: AppTest, *said: WidgetState) -> AppTest:
    """A rerun in which the browser sends that, and of all other fields what stands in them."""
    states = app._tree.get_widget_states()
    mine = {one.id: one for one in said}
    kept = [mine.get(one.id, one) for one in states.widgets]
    del states.widgets[:]
    states.widgets.extend(kept)
    app._run(states)
    assert not app.exception
    return app


def silence(app: AppTest) -> AppTest:
    """A rerun that comes before the browser has drawn anything: it says nothing of any field."""
    app._run(WidgetStates())
    assert not app.exception
    return app
