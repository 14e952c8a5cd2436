"""Criteria from pasted lines, in the shapes in which people have them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.errors import InputError
from core.services.rubrics.draft_shapes import new_draft
from core.services.rubrics.drafts import rubric_from
from core.services.rubrics.import_export import (
    MOST,
    read_paste,
    with_criteria_added,
    with_lines_added,
)


@pytest.mark.parametrize(
    ("text", "name", "requirement", "weight"),
    [
        ("Cites a source.", "Cites a source", "Cites a source.", 10),
        ("- Cites a source (12 points)", "Cites a source", "Cites a source", 12),
        ("* Cites a source (1 pt)", "Cites a source", "Cites a source", 1),
        ("[-5] Invents facts", "Invents facts", "Invents facts", -5),
        ("[−2.5] Invents facts", "Invents facts", "Invents facts", -2.5),
        ("(3) Is polite", "Is polite", "Is polite", 10),
        ("1. Is polite", "Is polite", "Is polite", 10),
        ("12) Is polite: 4 pts", "Is polite", "Is polite", 4),
        ("a) Is polite, 4 points.", "Is polite", "Is polite", 4),
        ("- [ ] Is polite", "Is polite", "Is polite", 10),
        ("20% Is polite", "Is polite", "Is polite", 20),
        ("Tone: It is warm, not stiff. (2,5 points)", "Tone", "It is warm, not stiff.", 2.5),
        ("Tone\tIs it warm?\t3", "Tone", "Is it warm?", 3),
        ("Is it warm?\t3", "Is it warm", "Is it warm?", 3),
        ("3\tTone\tIs it warm?", "Tone", "Is it warm?", 3),
        ("Names 3 sources", "Names 3 sources", "Names 3 sources", 10),
        ("Uses fewer than 50 words (not 60)", "Uses fewer than 50 words (not 60)", None, 10),
        ("2 apples are named", "2 apples are named", "2 apples are named", 10),
    ],
)
def test_a_line_is_one_criterion(
    text: str, name: str, requirement: str | None, weight: float
) -> None:
    ((line,), *_) = read_paste(text)
    assert (line.name, line.requirement, line.weight) == (name, requirement or text, weight)


def test_headings_are_sections_and_heads_of_a_table_are_none() -> None:
    text = "# Style\n- Is brief\n\nFacts:\nName\tRequirement\tWeight\nTrue\tNo claim is false.\t8\n"
    assert [(one.line, one.section, one.name) for one in read_paste(text)[0]] == [
        (2, "Style", "Is brief"),
        (6, "Facts", "True"),
    ]


def test_a_long_line_keeps_all_of_its_words_in_the_requirement() -> None:
    text = (
        "The answer explains why ice floats on water and names the density of both of them. More."
    )
    ((line,), *_) = read_paste(text)
    assert line.requirement == text
    # At most 60 letters, cut between words.
    assert line.name == "The answer explains why ice floats on water and names the"


def test_what_was_pasted_is_a_rubric_with_names_of_its_own() -> None:
    lines, *_ = read_paste("- Is polite (5)\n- Is polite (−3)\n# Facts\n- Cites")
    rubric = rubric_from({**with_lines_added(new_draft(), lines), "name": "R"})
    assert [(c.name, c.weight, c.section) for c in rubric.criteria] == [
        ("Is polite", 5.0, None),
        ("Is polite 2", -3.0, None),
        ("Cites", 10.0, "Facts"),
    ]


@given(st.text(max_size=300))
def test_whatever_is_pasted_is_read_without_failing_and_keeps_its_order(text: str) -> None:
    lines, *_ = read_paste(text)
    assert [one.line for one in lines] == sorted(one.line for one in lines)
    assert all(one.name.strip() and one.requirement.strip() for one in lines)


def test_a_pasted_grid_becomes_criteria_with_all_of_their_levels() -> None:
    text = "Criterion\tExcellent\tGood\tFair\tPoor\nThesis\ta\tb\tc\td\nThesis\te\tf\tg\th\n"
    with pytest.raises(InputError, match="repeats the name"):
        read_paste(text)
    lines, criteria, _ = read_paste(text.replace("Thesis\te", "Style\te"))
    assert lines == ()
    draft = with_criteria_added(with_lines_added(new_draft(), read_paste("Thesis")[0]), criteria)
    # The first Thesis was there already.
    assert [c["name"] for c in draft["criteria"]] == ["Thesis", "Thesis 2", "Style"]
    assert [o["description"] for o in draft["criteria"][1]["options"]] == ["d", "c", "b", "a"]
    assert rubric_from({**draft, "name": "R"}).criteria[2].options[3].label == "Excellent"
    uids = [o["uid"] for c in draft["criteria"] for o in c["options"]]
    assert len(uids) == len(set(uids))


def test_cells_that_no_column_holds_are_said() -> None:
    lines, _, (notice,) = read_paste(
        "Name\tRequirement\tWeight\nThesis\tIs it clear?\t3\tgood\tpoor\n"
    )
    assert [(one.name, one.weight) for one in lines] == [("Thesis", 3.0)]
    assert notice.line == 2
    assert "“good” and 2 cells in all are left out" in notice.message


def test_lines_beyond_what_a_rubric_holds_are_said() -> None:
    text = "\n".join(f"Names fact {number}" for number in range(MOST + 2))
    lines, _, (notice,) = read_paste(text)
    assert len(lines) == MOST
    assert notice.line == MOST + 1
    assert "left out" in notice.message
    assert read_paste(text.rpartition("\n")[0].rpartition("\n")[0])[2] == ()
