"""Two runs side by side: pairs, what differs, and both runs' votes on a cell."""

from __future__ import annotations

from core.store.store import Store
from pages.compare import selection as keys
from pages.ui import state
from pages.ui.grid.run_cells import APART
from pages.ui.places import settling
from tests.pages.compare.test_page import PAGE, field, two
from tests.pages.conftest import open_page, shown
from tests.pages.grids import grids
from tests.pages.ways import Work, offered
from tests.services.comparison.test_run_comparison import LABELS, STRONG, WEAK
from tests.services.comparison.test_side_by_side import renamed
from tests.services.comparison.world import dataset, run_with


def test_every_item_is_a_row_with_both_runs_under_each_criterion(store: Store) -> None:
    app = open_page(PAGE, runs=two(store), view="beside")

    (grid,) = grids(app)
    assert [group[:2] for group in grid.groups] == [
        ["", 1],
        ["Score", 2],
        ["clear", 2],
        ["tone", 2],
    ]
    assert [head["words"] for head in grid.heads] == ["Item", *["A", "B"] * 3]
    assert [row[0].words for row in grid.rows] == [f"i{at}" for at in range(8)]
    # Of `clear` the runs differ on 3 to 7, of `tone` on 3 and 4: the answers of the world.
    marked = [[APART in cell.signs for cell in row[3::2]] for row in grid.rows]
    assert [any(marks) for marks in marked] == [False] * 3 + [True] * 5
    assert [marks[1] for marks in marked] == [False] * 3 + [True] * 2 + [False] * 3
    assert "8 items in both&#44; paired by id" in shown(app)


def test_only_where_they_differ_leaves_the_others_out(store: Store) -> None:
    app = open_page(PAGE, runs=two(store), view="beside")

    app.selectbox(key=field(keys.FLIP)).set_value("differ").run()

    assert [row[0].words for row in grids(app)[0].rows] == [f"i{at}" for at in range(3, 8)]
    ids = ("i3", "i4", "i5", "i6", "i7")
    assert [one.items for one in offered(app, store)] == [ids, ids]


def test_a_flip_leads_to_its_items_with_the_votes_of_both_runs(store: Store) -> None:
    app = open_page(PAGE, runs=two(store))

    app.button(key=state.key(keys.COMPARE_ACT, "flip", 0)).click().run()
    assert not app.exception
    assert app.query_params[keys.FLIP] == "0"
    (grid,) = grids(app)
    assert [row[0].words for row in grid.rows] == ["i3", "i4", "i5", "i6"]
    assert offered(app, store) == [
        Work("Step through these 4", ("i3", "i4", "i5", "i6"), "clear"),
        Work("Review these", ("i3", "i4", "i5", "i6"), "clear"),
    ]
    # The first of them is open, on the criterion that flipped.
    assert shown(app).count("Reply 3") == 1

    app.button(key=state.key(keys.COMPARE_ACT, "close")).click().run()
    assert "Reply 3" not in shown(app)
    assert len(grids(app)[0].rows) == 4

    # An address of before: the flip and the item that was open.
    app = open_page(PAGE, runs="1,2", flip="0", item="i6")
    text = shown(app)
    assert "Reply 6" in text
    # i6 is labelled UNMET: right in A, wrong in B.
    assert text.index("✓ the label is UNMET") < text.index("✕ the label is UNMET")


def test_a_verdict_can_be_given_beside_the_votes(store: Store) -> None:
    app = open_page(PAGE, runs=two(store), view="beside", cell=["i3", "clear"])

    app.text_input(key=settling.WHO).set_value("Kay").run()
    app.button(key="run_settle/A/as/0").click().run()

    assert not app.exception
    # The runs' judges still differ there, though the cell says now what B does.
    settled = grids(app)[0].rows[3][3]
    assert settled.signs == "◆ Δ"
    assert "settled against the votes' UNMET" in settled.tells


def test_runs_over_two_datasets_stand_side_by_side_in_their_order(store: Store) -> None:
    data = dataset(LABELS)
    first = run_with(store, data, WEAK)
    second = run_with(store, renamed(data, "Others", "x", 8), STRONG)

    app = open_page(PAGE, runs=f"{first},{second}")

    (grid,) = grids(app)
    assert [row[0].words for row in grid.rows] == [f"i{at} / x{at}" for at in range(8)]
    assert "paired by their order" in shown(app)
    cell = open_page(PAGE, runs=f"{first},{second}", cell=["x3", "clear"])
    assert [link.proto.query_string for link in cell.get("page_link") if "run " in link.proto.label]
