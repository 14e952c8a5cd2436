"""How judges sit together belongs to the panel, and stays with it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from core.domain.panel import Asking, Cascade, Judge, Panel, Rules
from core.services.judges import registry
from core.services.judges.panel_setup import PanelSetup, panel_data, setup_of
from core.services.runs import planning
from core.store.store import Store
from tests.new_store import new_store

SEATING = PanelSetup(
    Asking(mode="two_step", few_shot=4, flip="require", balanced=True, cache=False),
    Cascade(near_gate=True, below_confidence=0.7),
    early_stop=True,
    stages={"b": 2},
    shadows=frozenset({"c"}),
)


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    opened = new_store(tmp_path / "studio.db")
    for name in "abc":
        registry.save_judge(opened, {"name": name, "model": "m"})
    yield opened
    opened.close()


def test_a_panel_keeps_how_its_judges_sit_together(store: Store) -> None:
    row = registry.save_panel(store, "P", ["a", "b", "c"], {}, setup=SEATING)

    assert setup_of(registry.get_panel(store, row.id).panel) == SEATING


def test_saving_without_a_word_on_it_changes_nothing_of_it(store: Store) -> None:
    row = registry.save_panel(store, "P", ["a", "b", "c"], {}, setup=SEATING)

    again = registry.save_panel(store, "P", ["a", "b", "c"], {"binary": "any"}, panel_id=row.id)

    assert setup_of(again.panel) == SEATING


def test_a_judge_that_is_edited_keeps_its_seat_in_panels(store: Store) -> None:
    registry.save_panel(store, "P", ["a", "b", "c"], {}, setup=SEATING)

    registry.save_judge(store, {"name": "bob", "model": "m2"}, former="b")

    (panel,) = [row.panel for row in registry.list_panels(store)]
    assert [(j.name, j.model, j.stage, j.shadow) for j in panel.judges] == [
        ("a", "m", 0, False),
        ("bob", "m2", 2, False),
        ("c", "m", 0, True),
    ]
    assert registry.get_judge(store, "bob").judge.stage == 0


def test_stages_are_left_out_where_there_is_no_cascade(store: Store) -> None:
    judges = [registry.get_judge(store, name).judge for name in "ab"]

    panel = planning.panel_of("P", judges, {}, PanelSetup(stages={"b": 3}))

    assert [judge.stage for judge in panel.judges] == [0, 0]


def test_the_setup_of_a_panel_drops_no_field() -> None:
    unusual: dict[str, Any] = {
        "name": "Q",
        "judges": (
            Judge(name="a", model="m", shadow=True),
            Judge(name="b", model="m"),
            Judge(name="c", model="m", stage=1),
        ),
        "rules": Rules(ordinal="median"),
        "asking": Asking(flip="check"),
        "cascade": Cascade(on_split=False),
        "early_stop": True,
    }
    panel = Panel(**unusual)
    assert panel.given() == [*unusual] == [*Panel.model_fields]
    rules = panel.rules.model_dump()
    assert Panel(**panel_data(panel.name, panel.judges, rules, setup_of(panel))) == panel
