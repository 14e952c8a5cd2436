"""Answers by the column are the answers one by one; what people settled stands apart."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from core.domain.base import build_model
from core.domain.dataset import Item
from core.domain.rubric import Rubric
from core.metrics.agreement.ratings import State
from core.services.agreement.rating_tables import gather_ratings, rows_of
from core.services.agreement.ratings import (
    ABSTAINED,
    Column,
    Rated,
    RatedAnswer,
    Rater,
    items_to_rate,
)
from core.services.results.run_columns import NO_OPTION, cell_columns
from core.store.store import Store
from tests.services.reviewed import EVERYTHING, UNMET, graded, make_queue, seats, settle

OPTIONS = [
    {"label": "low", "value": 0},
    {"label": "high", "value": 1},
    {"label": "none of it", "na": True},
]
NAMES = ("Depth", "Tone")
RUBRIC, OWN = (
    build_model(
        Rubric,
        {
            "criteria": [
                {"name": n, "requirement": "r", "scale": "ordinal", "options": options}
                for n in NAMES
            ]
        },
        "rubric",
    )
    # An item with a question of its own has one more level, and what is na stands elsewhere.
    for options in (OPTIONS, [OPTIONS[0], {"label": "middle", "value": 0.5}, *OPTIONS[1:]])
)
RATERS = (Rater("ada", "llm"), Rater("bob", "human"))
ITEMS = [Item(id=i, submission="t", rubric=OWN if i == "c" else None) for i in "abc"]
CELLS = [(rater, name, item) for name in NAMES for rater in RATERS for item in "abc"]
#: Per cell: not asked, an abstention without an option, or one of the three options.
said = st.lists(st.sampled_from([-1, None, 0, 1, 2]), min_size=12, max_size=12)


def _state(item: str, option: int | None) -> State:
    rubric = OWN if item == "c" else RUBRIC
    scored = rubric.criteria[0].scored
    return State.ANSWERED if option in scored else State.ABSTAINED


def _one_by_one(given_by: list[int | None]) -> Rated:
    answers = [
        RatedAnswer(item, name, rater, option, _state(item, option))
        for (rater, name, item), option in zip(CELLS, given_by, strict=True)
        if option != -1
    ]
    return gather_ratings(RUBRIC, ITEMS, answers)


def _by_columns(given_by: list[int | None]) -> Rated:
    columns: dict[tuple[Rater, str], list[tuple[str, int | None]]] = {}
    for (rater, name, item), option in zip(CELLS, given_by, strict=True):
        if option != -1:
            columns.setdefault((rater, name), []).append((item, option))
    made = [_column(name, rater, dict(cells)) for (rater, name), cells in columns.items()]
    return gather_ratings(RUBRIC, ITEMS, (), columns=made)


def _column(criterion: str, rater: Rater, options: Mapping[str, int | None]) -> Column:
    rows = rows_of(items_to_rate(RUBRIC, ITEMS), list(options))
    given = [ABSTAINED if option is None else option for option in options.values()]
    return Column(criterion, rater, rows, np.array(given, np.int64))


@given(said)
def test_whole_columns_give_what_single_answers_give(given_by: list[int | None]) -> None:
    one, other = _one_by_one(given_by), _by_columns(given_by)
    assert other.raters == one.raters
    for rater in one.raters:
        for item in ITEMS:
            assert other.answers_of(rater, item.id) == one.answers_of(rater, item.id)
    assert [c.name for c in other.criteria] == [c.name for c in one.criteria]
    for a, b in zip(one.criteria, other.criteria, strict=True):
        assert b.raters == a.raters
        assert b.levels.tolist() == a.levels.tolist()
        assert b.coded.tolist() == a.coded.tolist()


def test_an_answer_that_is_no_answer_stays_the_option_it_was() -> None:
    # Option 2 is na in the shared rubric: no level, an abstention, and still what was chosen.
    found = gather_ratings(
        RUBRIC, ITEMS, (), columns=[_column("Depth", RATERS[0], {"a": 2, "b": None})]
    )
    assert found.answers_of(RATERS[0], "a") == {"Depth": 2}
    assert found.answers_of(RATERS[0], "b") == {"Depth": None}
    assert found.criteria[0].levels[:2, 0].tolist() == [-1, -1]
    assert found.criteria[0].coded[:2, 0].tolist() == [ABSTAINED, ABSTAINED]


def test_what_the_votes_gave_is_read_in_bulk_also_where_people_settled_otherwise(
    store: Store,
) -> None:
    run = graded(store)
    before = _judged(store, run.id)
    (ann,) = seats(store, "Ann")
    queue_id = make_queue(store, run, EVERYTHING)
    for item in ("i2", "i3", "i4"):
        settle(store, ann, queue_id, item, UNMET)
    cells = store.results.verdicts(run.id)
    assert any(cell.option != cell.judged for _, cell in cells)
    read: dict[str, dict[str, int | None]] = {}
    for item_id, cell in cells:
        read.setdefault(item_id, {})[cell.criterion] = cell.judged
    assert _judged(store, run.id) == read == before


def _judged(store: Store, run_id: int) -> dict[str, dict[str, int | None]]:
    found: dict[str, dict[str, int | None]] = {}
    run, ids = store.runs.get(run_id), store.runs.item_ids(run_id)
    for column in cell_columns(store, run):
        for row, option in zip(column.rows.tolist(), column.judged.tolist(), strict=True):
            given = None if option == NO_OPTION else option
            found.setdefault(ids[row], {})[column.criterion] = given
    return found
