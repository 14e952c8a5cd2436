"""Systems side by side become a row each, whatever their ids are."""

from __future__ import annotations

import json

from core.formats.tables.table import read_table


def test_an_id_that_is_a_list_is_an_id() -> None:
    rows = [
        {
            "id": ["batch", n],
            "kea_response": f"The tide turned {n} hours ago.",
            "kea_rating": n % 5,
            "tui_response": f"It will turn in {n} hours.",
            "tui_rating": (n + 1) % 5,
        }
        for n in range(4)
    ]
    table = read_table("\n".join(map(json.dumps, rows)), "two.jsonl")
    assert [row["item id"] for row in table.rows[:2]] == [
        "['batch', 0] / kea",
        "['batch', 0] / tui",
    ]
