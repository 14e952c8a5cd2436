"""Roles of columns as people choose them: from a guess, and back to the mapping they make."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as some

from core.formats.tables.table import read_table
from core.formats.votes.reading import guess_layout
from core.services.datasets import catalog
from core.services.imports import column_roles
from tests.services.datasets.test_catalog import CSV, TONE


def test_roles_come_from_the_guess_and_give_it_back() -> None:
    table = catalog.read_source(CSV, "tone.csv")
    guess = catalog.suggest_mapping(table)

    roles = column_roles.roles_of(table, guess)

    assert roles == ["id", "submission", "label:tone", "reason:tone", "meta"]
    assert column_roles.mapping_from(table.columns, roles) == (guess, ())


def test_a_role_given_twice_and_a_reason_without_a_label_are_named() -> None:
    mapping, problems = column_roles.mapping_from(
        ["a", "b", "c"], ["submission", "submission", "reason:tone"]
    )

    assert mapping.submission == "a"
    assert [str(p) for p in problems] == [
        "Two columns have the role 'Submission (what is judged)': 'a' and 'b'. Choose one of them.",
        "'c' gives reasons for 'tone', which no column labels. Choose one.",
    ]


def test_a_rubric_offers_its_criteria_as_roles() -> None:
    table = catalog.read_source("a,b\n1,2\n", "x.csv")

    options = column_roles.role_options(table, catalog.suggest_mapping(table, TONE), TONE)

    assert options[-2:] == ["label:tone", "reason:tone"]
    assert column_roles.LABEL not in options
    assert "truth" not in options


@given(
    some.lists(some.sampled_from([*column_roles.ITEM_ROLES, "label:x", "reason:x"]), max_size=12)
)
def test_a_mapping_never_names_a_column_twice(roles: list[str]) -> None:
    names = [f"column {n}" for n in range(len(roles))]

    mapping, _ = column_roles.mapping_from(names, roles)

    used = [*mapping.used.values(), *mapping.meta]
    assert len(used) == len(set(used))
    assert set(used) <= set(names)


def test_votes_have_roles_too_and_a_column_of_answers_keeps_its_rater() -> None:
    table = read_table("id,note,cites / kim,cites / lee\na,x,yes,no\nb,y,no,no\n", "v.csv")
    guess = guess_layout(table, "wide")
    roles = column_roles.roles_of(table, guess)
    assert roles == ["item", "out", "answers", "answers"]
    assert column_roles.votes_from(table.columns, roles, guess) == (guess, ())
    mapping, problems = column_roles.votes_from(
        table.columns, ["item", "item", "out", "answers"], guess
    )
    assert [(c.criterion, c.rater) for c in mapping.columns] == [("cites", "lee")]
    # Two columns of the item are its id together; no other role is had twice.
    assert (mapping.item, problems) == ("id + note", ())
    _, problems = column_roles.votes_from(
        table.columns, ["prompt", "prompt", "out", "answers"], guess
    )
    assert "'Prompt': 'id' and 'note'" in str(problems[0])


def test_remarks_on_one_column_of_answers_have_a_role_that_can_be_taken_away() -> None:
    table = read_table("id,ann,ann comment,bo\na,yes,Short.,no\nb,no,Long.,no\n", "v.csv")
    guess = guess_layout(table, "wide")
    roles = column_roles.roles_of(table, guess)
    assert roles == ["item", "answers", "reason:ann", "answers"]
    assert "reason:ann" in column_roles.role_options(table, guess, None)
    assert column_roles.votes_from(table.columns, roles, guess) == (guess, ())
    mapping, _ = column_roles.votes_from(
        table.columns, ["item", "answers", "out", "answers"], guess
    )
    assert [c.reason for c in mapping.columns] == ["", ""]
