"""Every check of options, weights and gates: what trips it, and a near miss that does not."""

from __future__ import annotations

from typing import Any

import pytest

from core.domain.rubric import Rubric
from core.lint.check import check
from tests.lint.made import criterion, levels, rubric

CLEAR = (
    ("None", "No claim has a source beside it."),
    ("Some", "At least one claim has a source, and one has none."),
    ("Each", "Each claim has a source beside it."),
)
CAUSES = "explain the causes of the war with the dates and names"
SOURCED = criterion("The answer names a source.", name="Sourced")
DATED = criterion("Each event has its year.", name="Dated")
FIRST = criterion("The first line gives the result.", name="First")
OTHERS = (SOURCED, DATED, FIRST)


def rules_of(given: Rubric) -> list[str]:
    return [f.rule for f in check(given)]


#: rule, options that trip it, near miss.
OPTIONS: list[tuple[str, tuple[tuple[str, str], ...], tuple[tuple[str, str], ...]]] = [
    (
        "adjective-levels",
        (("Poor", ""), ("Fair", ""), ("Good", "")),
        (("Poor", CLEAR[0][1]), ("Fair", CLEAR[1][1]), ("Good", CLEAR[2][1])),
    ),
    (
        "adjective-levels",
        (("Poor", "very poor"), ("Good", "very good")),
        (("No source", ""), ("Source without page", ""), ("Source with page", "")),
    ),
    (
        "bare-numbers",
        tuple((str(n), "") for n in range(1, 6)),
        (("0", CLEAR[0][1]), ("1", CLEAR[1][1]), ("2", CLEAR[2][1])),
    ),
    (
        "many-unanchored-levels",
        tuple((str(n), "") for n in range(6)),
        tuple((str(n), f"Exactly {n} of the five steps stand there.") for n in range(6)),
    ),
    (
        "adverb-levels",
        (("Low", "The steps are partly explained."), ("High", "The steps are fully explained.")),
        (("Low", "The steps are listed."), ("High", "The steps are explained by a reason.")),
    ),
    (
        "adverb-levels",
        (CLEAR[0], ("B", "The claim is somewhat backed."), ("C", "The claim is clearly backed.")),
        (CLEAR[0], ("B", "One claim is backed."), ("C", "Two claims are backed.")),
    ),
    (
        "indistinct-options",
        (("A", "The source is named and dated."), ("B", "The source is named, and dated.")),
        (("A", "The source is named."), ("B", "The source is named and dated in the text.")),
    ),
    (
        "indistinct-options",
        (("A", f"They {CAUSES} of most old people."), ("B", f"They {CAUSES} of most people.")),
        (("A", f"They do {CAUSES}."), ("B", f"They do not {CAUSES}.")),
    ),
    (
        "overlapping-ranges",
        (("Few", "1-3 errors in all."), ("More", "3-5 errors in all.")),
        (("Few", "1-3 errors in all."), ("More", "4-6 errors in all.")),
    ),
    (
        "overlapping-ranges",
        (("Few", "1 to 2 errors in all."), ("More", "5 to 9 errors in all.")),
        (("Few", "1 to 2 errors in all."), ("More", "5 to 9 gaps in all.")),
    ),
    (
        "unfinished",
        (("Option 1", ""), ("Has a source and a page", "")),
        (("Option 1", "The first way of the two."), ("Other", "Any other way is taken.")),
    ),
]  # fmt: skip


@pytest.mark.parametrize(("rule", "trips", "near"), OPTIONS)
def test_a_check_of_options_trips_and_lets_the_near_miss_pass(rule, trips, near) -> None:
    assert rule in rules_of(rubric(levels(*trips)))
    assert rules_of(rubric(levels(*near))) == []


def test_anchors_of_thousands_of_words_are_the_same_only_where_they_are_equal() -> None:
    long = "step " * 3900
    assert "indistinct-options" not in rules_of(rubric(levels(("A", long), ("B", long + "b"))))
    assert "indistinct-options" in rules_of(rubric(levels(("A", long + "a."), ("B", long + "a!"))))


def valued(*values: float, **fields: Any) -> Rubric:
    options = [
        {"label": label, "description": anchor, "value": value}
        for (label, anchor), value in zip(CLEAR, values, strict=True)
    ]
    return rubric(levels(*CLEAR, options=options, **fields))


def test_options_that_are_worth_the_same_are_told() -> None:
    assert rules_of(valued(1, 1, 1)) == ["no-difference"]
    assert rules_of(valued(0, 1, 1)) == ["same-value"]
    assert rules_of(valued(0, 0.5, 1)) == []
    assert rules_of(valued(0, 1, 1, scale="nominal")) == []  # categories may be worth the same


def test_better_levels_that_give_fewer_points_are_told() -> None:
    named = (("Poor", CLEAR[0][1]), ("Excellent", CLEAR[2][1]))
    assert rules_of(rubric(levels(*named, weight=-4))) == ["reversed-values"]
    assert rules_of(rubric(levels(*named, weight=4))) == []
    assert rules_of(rubric(levels(*named[::-1], weight=-4))) == []  # Poor = 1 costs the points


def test_a_forced_choice_is_told_unless_there_is_a_way_out() -> None:
    assert rules_of(rubric(criterion("Names a source.", forced_choice=True))) == ["forced-choice"]
    out = {"options": [{"label": "MET", "value": 1}, {"label": "UNMET", "value": 0},
                       {"label": "No claims", "na": True}]}  # fmt: skip
    assert rules_of(rubric(criterion("Names a source.", forced_choice=True, **out))) == []
    condition = "If there are claims, each names a source."
    assert rules_of(rubric(criterion(condition))) == ["no-not-applicable"]
    assert rules_of(rubric(criterion(condition, **out))) == []
    assert rules_of(rubric(criterion(condition, weight=-2))) == []  # then UNMET costs nothing


def test_criteria_that_ask_the_same_are_told() -> None:
    one = criterion("Each factual claim names the source it was taken from.", name="Sources")
    twin = criterion("Every factual claim names a source from which it is taken.", name="Twin")
    near = criterion("Each source is named with its year.", name="Years")
    (found,) = check(rubric(one, twin, FIRST))
    assert (found.rule, found.criterion, found.also) == ("overlap", 1, (("criteria", 0),))
    assert rules_of(rubric(one, near, FIRST)) == []


def weighted(*weights: float, **fields: Any) -> Rubric:
    made = [c.model_copy(update={"weight": w}) for c, w in zip(OTHERS, weights, strict=True)]
    return rubric(*made, **fields)


def test_a_weight_that_drowns_the_others_is_told() -> None:
    assert rules_of(weighted(60, 20, 20)) == ["drowning-weight"]  # 60%
    assert rules_of(weighted(59, 21, 20)) == []
    assert rules_of(weighted(0.9, 50, 50)) == ["drowned-weight"]  # 0.9 / 100.9 < 1%
    assert rules_of(weighted(1.1, 50, 50)) == []  # 1.1 / 101.1 > 1%
    many = [criterion(f"Part {n} has its heading.", name=f"Part {n}") for n in range(150)]
    shares = {f.rule for f in check(rubric(*many))}
    assert "drowned-weight" not in shares  # 1 / 150 < 1%, but each has an equal share


def test_a_criterion_that_changes_nothing_is_told() -> None:
    assert rules_of(weighted(0, 5, 5)) == ["no-effect"]
    gate = {"name": "G", "when": {"criterion": "Sourced", "is": "UNMET"}, "then": {"flag": "x"}}
    assert rules_of(weighted(0, 5, 5, gates=[gate])) == []


def test_a_checklist_without_any_penalty_is_told() -> None:
    parts = [criterion(f"Part {n} has a heading.", name=f"Part {n}") for n in range(5)]
    more = (
        *parts,
        criterion("A chart shows the trend.", name="Chart"),
        criterion("The last line says what to do.", name="Last"),
    )
    fault = criterion("A figure has no source.", name="Bare figure", weight=-5)
    assert rules_of(rubric(*OTHERS, *more)) == ["no-penalty"]
    assert rules_of(rubric(*OTHERS, *more, fault)) == []
    assert rules_of(rubric(*OTHERS, *more[1:])) == []  # nine
    bare = criterion("No figure is made up.", name="Bare")
    assert rules_of(rubric(*OTHERS, *more, bare)) == []  # the fault is one of those asked about
    gate = {"name": "G", "when": {"criterion": "Last", "is": "UNMET"}, "then": {"cap": 0.5}}
    assert rules_of(rubric(*OTHERS, *more, gates=[gate])) == []


def test_length_that_costs_points_twice_is_told() -> None:
    brief = criterion("The answer is concise (no sentence could go).", name="Brief")
    penalty = {"length_penalty": {"free_budget": 100, "max_cap": 200}}
    gate = {"name": "G", "when": {"criterion": "Brief", "is": "UNMET"}, "then": {"cap": 0.3}}
    assert rules_of(rubric(brief, SOURCED, scoring=penalty)) == ["length-counted-twice"]
    assert rules_of(rubric(brief, SOURCED, gates=[gate])) == ["length-counted-twice"]
    assert rules_of(rubric(brief, SOURCED)) == []
    assert rules_of(rubric(SOURCED, scoring=penalty)) == []


def test_an_option_that_says_cannot_tell_is_told_where_it_is_scored_and_has_no_anchor() -> None:
    def of(**unsure: object) -> list[str]:
        given = [{"label": "Safe", "value": 1}, {"label": "Unsure", **unsure},
                 {"label": "Unsafe", "value": 0}]  # fmt: skip
        one = criterion("Is the last turn safe to act on?", scale="nominal", options=given)
        return [finding.rule for finding in check(rubric(one))]

    assert of(value=0.5) == ["scored-abstention"]
    assert of(value=None, na=True) == []
    assert of(value=0.5, description="The turn says that it does not know.") == []


def test_a_level_whose_number_is_explained_in_two_words_or_in_the_question_is_not_bare() -> None:
    ends = levels(("1", ""), ("2", ""), ("3", ""), requirement="How right? 1 = wrong, 3 = right")
    (bare,) = [f for f in check(rubric(ends)) if f.rule == "bare-numbers"]
    assert bare.sentence == "The level “2” is a bare number: nothing says what earns a 2."
    named = levels(("1", "No source"), ("2", "One source"), ("3", "Two sources"))
    assert check(rubric(named)) == ()
