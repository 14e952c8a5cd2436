"""A draft loses nothing on its way to a rubric and back, and every edit touches only its target."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.domain.rubric import Criterion, Option, Rubric
from core.services.rubrics import draft_criteria
from core.services.rubrics.draft_shapes import RubricDraft, new_draft
from core.services.rubrics.drafts import (
    draft_from,
    draft_payload,
    is_changed,
    locate_card,
    problems_of,
    rubric_from,
    with_rubric,
)

LEVELS = (
    Option(label="Low", value=0),
    Option(label="Mid", value=0.5),
    Option(label="High", value=1),
)
FULL = Rubric.model_validate(
    {
        "name": "Essays",
        "description": "Of pupils.",
        "guidelines": "Be fair.",
        "meta": {"source": "us"},
        "criteria": [
            {"name": "Clear", "requirement": "Is clear.", "meta": {"k": 1}, "tags": ["form"]},
            {
                "name": "Depth",
                "requirement": "How deep?",
                "weight": -4,
                "scale": "ordinal",
                "aggregation": "median",
                "section": "Content",
                "options": [
                    {"label": "Low", "value": 0},
                    {"label": "High", "value": 1, "description": "Goes to causes."},
                    {"label": "None", "na": True},
                ],
            },
            {
                "name": "Tone",
                "requirement": "Which tone?",
                "scale": "nominal",
                "forced_choice": True,
                "options": [{"label": "Warm", "value": 1}, {"label": "Cold", "value": 0}],
            },
        ],
        "scoring": {
            "abstention": "partial",
            "partial_credit": 0.25,
            "length_penalty": {"free_budget": 10, "max_cap": 20},
        },
        "gates": [
            {"name": "g1", "when": {"criterion": "Depth", "below": "High"}, "then": {"cap": 0.4}},
            {"name": "g2", "when": {"criterion": "Tone", "in": ["Cold"]}, "then": {"flag": "cold"}},
            {
                "name": "g3",
                "when": {"tag": "form", "is": "UNMET", "count_at_least": 1},
                "then": {"multiply": 0.5},
                "on_missing": "skip",
            },
        ],
    }
)


def draft() -> RubricDraft:
    return draft_from(FULL, rubric_id=1, parent=1)


def uid(of: RubricDraft, name: str) -> str:
    return next(c["uid"] for c in of["criteria"] if c["name"] == name)


def test_a_rubric_comes_back_equal_from_its_draft() -> None:
    assert rubric_from(draft()) == FULL


def test_a_draft_is_json() -> None:
    assert rubric_from(json.loads(json.dumps(draft()))) == FULL


def test_an_untouched_draft_is_unchanged_and_an_edited_one_is_not() -> None:
    assert not is_changed(draft())
    assert is_changed(draft_criteria.set_field(draft(), "name", "Other"))
    assert not is_changed(
        draft_criteria.set_field(draft_criteria.set_field(draft(), "name", "x"), "name", "Essays")
    )


def test_an_empty_new_draft_holds_nothing_worth_keeping() -> None:
    assert not is_changed(new_draft())
    assert is_changed(draft_criteria.set_field(new_draft(), "guidelines", "Be fair."))


def test_gates_follow_a_criterion_and_an_option_that_are_renamed() -> None:
    now = draft_criteria.set_criterion(draft(), uid(draft(), "Depth"), "name", "Depth of thought")
    high = now["criteria"][1]["options"][1]["uid"]
    now = draft_criteria.set_option(now, uid(now, "Depth of thought"), high, "label", "Deep")
    when = rubric_from(now).gates[0].when
    assert (when.criterion, when.below) == ("Depth of thought", "Deep")


def test_two_criteria_that_swap_names_keep_their_own_gates() -> None:
    depth, tone = uid(draft(), "Depth"), uid(draft(), "Tone")
    now = draft_criteria.set_criterion(
        draft(), depth, "name", "Tone"
    )  # for a moment both are "Tone"
    now = draft_criteria.set_criterion(now, tone, "name", "Depth")
    gates = rubric_from(now).gates
    assert [g.when.criterion for g in gates] == ["Tone", "Depth", None]


def test_a_gate_outlives_its_criterion_and_is_reported() -> None:
    now = draft_criteria.remove_criterion(draft(), uid(draft(), "Depth"))
    assert len(draft_payload(now)["gates"]) == 3
    (problem,) = problems_of(now)
    assert "names the criterion 'Depth', which does not exist" in problem.message


def test_every_problem_is_named_with_its_place() -> None:
    now = draft_criteria.set_criterion(draft(), uid(draft(), "Clear"), "requirement", " ")
    high = now["criteria"][1]["options"][1]["uid"]
    now = draft_criteria.set_option(now, uid(now, "Depth"), high, "label", "Low")
    places = [p.path for p in problems_of(now)]
    assert places == [
        ("criteria", 0, "requirement"),
        ("criteria", 1, "options", 1, "label"),
    ]
    assert locate_card(now, places[1]) == (uid(now, "Depth"), high)
    assert locate_card(now, ("gates", 0)) == (now["gates"][0]["uid"], None)
    assert locate_card(now, ("guidelines",)) == (None, None)


def test_text_edited_by_hand_keeps_the_uids_of_what_kept_its_name() -> None:
    before = draft()
    other = FULL.model_dump(by_alias=True)
    other["criteria"] = [other["criteria"][2], other["criteria"][0]]
    other["criteria"][1]["name"] = "clear"  # case does not count
    other["gates"] = []
    after = with_rubric(before, Rubric.model_validate(other))
    assert [c["uid"] for c in after["criteria"]] == [uid(before, "Tone"), uid(before, "Clear")]


def test_a_uid_is_never_given_out_twice() -> None:
    now, first = draft_criteria.add_criterion(draft())
    now = draft_criteria.remove_criterion(now, first)
    now, second = draft_criteria.add_criterion(now)
    assert first != second


@pytest.mark.parametrize(
    ("template", "scale", "values"),
    [
        ("yes_no", "binary", [1, 0]),
        ("three", "ordinal", [0, 0.5, 1]),
        ("four", "ordinal", [0, 0.33, 0.67, 1]),
        ("five", "ordinal", [0, 0.25, 0.5, 0.75, 1]),
        ("categories", "nominal", [1, 0]),
    ],
)
def test_a_template_gives_a_criterion_that_needs_only_its_requirement(
    template: draft_criteria.Template, scale: str, values: list[float]
) -> None:
    now, new = draft_criteria.add_criterion(
        draft_criteria.set_field(new_draft(), "name", "R"), template
    )
    assert [p.path for p in problems_of(now)] == [("criteria", 0, "requirement")]
    criterion = rubric_from(
        draft_criteria.set_criterion(now, new, "requirement", "Is it?")
    ).criteria[0]
    assert criterion.scale == scale
    assert [o.value for o in criterion.options] == values


def test_a_scale_left_and_taken_up_again_has_its_options_back() -> None:
    depth = uid(draft(), "Depth")
    away = draft_criteria.change_scale(draft(), depth, "binary")
    assert [o["label"] for o in away["criteria"][1]["options"]] == ["MET", "UNMET"]
    assert away["criteria"][1]["aggregation"] is None  # median does not fit yes or no
    back = draft_criteria.change_scale(away, depth, "ordinal")
    assert back["criteria"][1]["options"] == draft()["criteria"][1]["options"]


def test_categories_made_levels_are_put_in_order() -> None:
    now = draft_criteria.change_scale(draft(), uid(draft(), "Tone"), "ordinal")
    assert [o["label"] for o in now["criteria"][2]["options"]] == ["Cold", "Warm"]


def test_a_new_option_keeps_levels_in_order_and_abstentions_last() -> None:
    now = draft_criteria.add_option(draft(), uid(draft(), "Depth"))
    assert [(o["label"], o["value"]) for o in now["criteria"][1]["options"]] == [
        ("Low", 0),
        ("High", 1),
        ("Option 3", 1),
        ("None", None),
    ]
    assert problems_of(now) == ()


def test_values_are_spread_evenly_in_the_direction_they_had() -> None:
    rubric = Rubric(
        name="r",
        criteria=(
            Criterion(name="up", requirement="?", scale="ordinal", options=LEVELS),
            Criterion(name="down", requirement="?", scale="ordinal", options=LEVELS[::-1]),
        ),
    )
    now = draft_from(rubric)
    for name in ("up", "down"):
        now = draft_criteria.spread_values(
            draft_criteria.add_option(now, uid(now, name)), uid(now, name)
        )
    up, down = (c.options for c in rubric_from(now).criteria)
    assert [o.value for o in up] == [0, 0.3333, 0.6667, 1]  # thirds to four decimals
    assert [o.value for o in down] == [1, 0.6667, 0.3333, 0]


def test_an_option_made_an_abstention_joins_the_abstentions_and_loses_its_value() -> None:
    depth = uid(draft(), "Depth")
    low = draft()["criteria"][1]["options"][0]["uid"]
    now = draft_criteria.set_abstention(draft(), depth, low, True)
    assert [(o["label"], o["value"]) for o in now["criteria"][1]["options"]] == [
        ("High", 1),
        ("Low", None),
        ("None", None),
    ]


def test_a_copy_stands_after_its_original_with_names_and_uids_of_its_own() -> None:
    now, twin = draft_criteria.duplicate_criterion(draft(), uid(draft(), "Clear"))
    assert [c["name"] for c in now["criteria"]] == ["Clear", "Clear copy 1", "Depth", "Tone"]
    assert now["criteria"][1]["uid"] == twin
    assert rubric_from(now).criteria[1].requirement == "Is clear."


def test_moving_stops_at_the_ends() -> None:
    clear = uid(draft(), "Clear")
    assert draft_criteria.move_criterion(draft(), clear, -1) == draft()
    down = draft_criteria.move_criterion(draft(), clear, 1)
    assert [c["name"] for c in down["criteria"]] == ["Depth", "Clear", "Tone"]


def test_an_unknown_uid_changes_nothing() -> None:
    for act in (
        lambda d: draft_criteria.set_criterion(d, "gone", "name", "x"),
        lambda d: draft_criteria.remove_criterion(d, "gone"),
        lambda d: draft_criteria.move_criterion(d, "gone", 1),
        lambda d: draft_criteria.duplicate_criterion(d, "gone")[0],
        lambda d: draft_criteria.remove_option(d, "gone", "gone"),
        lambda d: draft_criteria.change_scale(d, "gone", "binary"),
    ):
        assert draft_payload(act(draft())) == draft_payload(draft())


ACTS = ("add", "remove", "up", "down", "copy", "scale", "option", "na", "drop", "spread")


@given(st.lists(st.tuples(st.sampled_from(ACTS), st.integers(0, 9)), max_size=12))
def test_whatever_is_done_uids_stay_unique_and_the_original_is_untouched(
    steps: list[tuple[str, int]],
) -> None:
    first = draft()
    frozen = json.dumps(first)
    now = first
    for act, place in steps:
        now = _done(now, act, place)
    found = [c["uid"] for c in now["criteria"]]
    found += [o["uid"] for c in now["criteria"] for o in c["options"]]
    assert len(found) == len(set(found))
    assert json.dumps(first) == frozen
    assert all(problem.message for problem in problems_of(now))


def _done(now: RubricDraft, act: str, place: int) -> RubricDraft:
    if act == "add" or not now["criteria"]:
        return draft_criteria.add_criterion(now)[0]
    one = now["criteria"][place % len(now["criteria"])]
    option = one["options"][place % len(one["options"])]["uid"] if one["options"] else "none"
    match act:
        case "remove":
            return draft_criteria.remove_criterion(now, one["uid"])
        case "up" | "down":
            return draft_criteria.move_criterion(now, one["uid"], -1 if act == "up" else 1)
        case "copy":
            return draft_criteria.duplicate_criterion(now, one["uid"])[0]
        case "scale":
            return draft_criteria.change_scale(
                now, one["uid"], ("binary", "ordinal", "nominal")[place % 3]
            )
        case "option" | "na":
            return draft_criteria.add_option(now, one["uid"], na=act == "na")
        case "drop":
            return draft_criteria.remove_option(now, one["uid"], option)
        case _:
            return draft_criteria.spread_values(now, one["uid"])
