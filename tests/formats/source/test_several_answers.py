"""Systems side by side become a row each, whatever their ids are."""

from __future__ import annotations

import json

from core.formats.rubrics.forms import looks_like_rubric
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


def test_a_quiz_with_numbered_questions_is_no_rubric_and_a_dash_no_answer() -> None:
    heads = ["Surname", "First name"]
    heads += [f"{of} {n}" for n in (1, 2) for of in ("Question", "Response", "Right answer")]
    rows = [
        [*name, "Why does it float?", said, "It is light.", "Where?", "In the sea.", "At sea."]
        for name, said in ((("Lim", "Ann"), "No salt."), (("Ode", "Bo"), "-"))
    ]
    data = "".join(",".join(cells) + "\n" for cells in (heads, *rows))
    assert not looks_like_rubric(data, "quiz.csv")
    table = read_table(data, "quiz.csv")
    assert [row["answer"] for row in table.rows] == ["No salt.", "In the sea.", "In the sea."]
    assert "Answers that are only a dash have no row: 1." in str(table.notices)
