"""What is chosen in a form stays, and what a form shows is in force, in every form of the app."""

from __future__ import annotations

from itertools import groupby

import pytest
from streamlit.testing.v1 import AppTest

from core.store.store import Store
from pages.datasets.importing import IMPORT_WAY
from pages.library.adding import LIBRARY_PICK
from tests.pages.forms import FORMS, answer, drawn_as, fields, in_force, other, silence, values

#: What a form is about: another run, file or page is another form.
SUBJECTS = {
    "compare_field/a",  # of two runs; the other one gives way where both would be the same
    "compare_field/b",
    IMPORT_WAY,
}


@pytest.mark.parametrize("form", FORMS)
def test_a_field_that_is_drawn_late_shows_what_is_in_force(store: Store, form: str) -> None:
    app = FORMS[form](store)
    assert fields(app)
    for _ in range(2):
        silence(app)
        late = {key: (drawn_as(field), in_force(field)) for key, field in fields(app).items()}
        assert {key: pair for key, pair in late.items() if pair[0] != pair[1]} == {}


@pytest.mark.parametrize("form", FORMS)
def test_a_field_keeps_its_value_whatever_else_is_chosen(store: Store, form: str) -> None:
    app = FORMS[form](store)
    fill_in(app)
    lost = list[str]()
    assert fields(app)
    for key in tried(app):
        before = values(app)
        field = fields(app).get(key)
        changed = other(field) if field else None
        if field is None or changed is None or key in SUBJECTS:
            continue
        former = field._widget_state
        after = values(answer(app, changed))
        again = values(answer(app, former))
        lost += [
            f"{key}: {name} {value!r} -> {then[name]!r}"
            for then in (after, {name: again.get(name) for name in before})
            for name, value in before.items()
            if name in then and name != key and then[name] != value
        ]
    assert lost == []


def tried(app: AppTest) -> list[str]:
    """The fields that are changed; of the library's boxes the first and the last of each pack.

    One line of code draws all of these; what each of them holds is compared whichever is changed.
    """
    picks = f"{LIBRARY_PICK}/"
    rows = groupby(
        fields(app), key=lambda key: key.rpartition("/")[0] if key.startswith(picks) else key
    )
    return [key for _, row in rows for key in dict.fromkeys(ends(list(row)))]


def ends(row: list[str]) -> tuple[str, str]:
    return row[0], row[-1]


def fill_in(app: AppTest) -> None:
    """Another value than the first into every field that is tried, so that one that starts anew
    shows.

    What hides other fields is put back.
    """
    done = set(SUBJECTS)
    while new := [key for key in tried(app) if key not in done]:
        done.add(new[0])  # one at a time: a box that is ticked may bring more fields
        field = fields(app)[new[0]]
        changed = other(field)
        if changed is None:
            continue
        shown, former = fields(app).keys(), field._widget_state
        if shown - fields(answer(app, changed)).keys():
            answer(app, former)
