"""Criteria of unitxt and EvalAssist: their shapes, read; what cannot be read, refused in words."""

from __future__ import annotations

import json
from typing import Any

import pytest

from core.domain.rubric import Rubric
from core.errors import InputError
from core.formats.known import kind_of
from core.formats.rubrics.forms import read_rubrics
from core.formats.source.parsed import Parsed
from core.formats.votes.sources import open_bytes

#: Written for this test after unitxt_evalassist.md section 2.1.
WARMTH: dict[str, Any] = {
    "__type__": "criteria_with_options",
    "name": "warmth",
    "description": "Is the {{response}} warm towards the {{customer}}?",
    "prediction_field": "response",
    "context_fields": ["customer"],
    "options": [
        {"__type__": "criteria_option", "name": "Warm", "description": "Names the feeling."},
        {"__type__": "criteria_option", "name": "Neutral", "description": "Correct, no more."},
        {"__type__": "criteria_option", "name": "Cold", "description": "Sends them away."},
    ],
    "option_map": {"Warm": 1.0, "Neutral": 0.4, "Cold": 0.0},
}


def read(value: Any, name: str = "warm.json") -> Parsed[Rubric]:
    (found,) = read_rubrics(json.dumps(value), name)
    return found


def test_options_get_the_values_of_the_map() -> None:
    found = read(WARMTH)
    (criterion,) = found.value.criteria

    assert (found.value.name, criterion.name, criterion.scale) == ("warmth", "warmth", "ordinal")
    assert [(o.label, o.value, o.description) for o in criterion.options] == [
        ("Warm", 1.0, "Names the feeling."),
        ("Neutral", 0.4, "Correct, no more."),
        ("Cold", 0.0, "Sends them away."),
    ]
    assert criterion.meta == {"prediction_field": "response", "context_fields": ["customer"]}
    assert "looks at customer" in str(found.notices[0])


def test_values_that_do_not_rise_make_categories() -> None:
    mixed = {**WARMTH, "option_map": {"Warm": 0.2, "Neutral": 1.0, "Cold": 0.0}}

    assert read(mixed).value.criteria[0].scale == "nominal"


def test_scores_beyond_one_become_values_and_that_is_said() -> None:
    stars = {**WARMTH, "option_map": {"Warm": 5, "Neutral": 3, "Cold": 1}}
    found = read(stars)

    # (3 - 1) / (5 - 1)
    assert [o.value for o in found.value.criteria[0].options] == [1.0, 0.5, 0.0]
    assert any("from 1 to 5" in str(notice) for notice in found.notices)


def test_without_a_map_it_scores_nothing_and_that_is_said() -> None:
    bare = {key: value for key, value in WARMTH.items() if key != "option_map"}
    found = read(bare)

    assert [o.value for o in found.value.criteria[0].options] == [0.0, 0.0, 0.0]
    assert any("scores nothing" in str(notice) for notice in found.notices)


def test_a_map_that_lacks_an_option_is_refused() -> None:
    with pytest.raises(InputError, match="has no number for 'Cold'"):
        read({**WARMTH, "option_map": {"Warm": 1, "Neutral": 0.5}})


@pytest.mark.parametrize(
    "pairwise",
    [
        {"__type__": "criteria", "name": "funny", "description": "Which is funnier?",
         "prediction_field": "joke"},
        {"type": "pairwise", "criteria": {"name": "funny", "description": "Which is funnier?"}},
    ],
)  # fmt: skip
def test_a_criterion_that_compares_answers_is_refused_with_the_way_to_go(pairwise: Any) -> None:
    with pytest.raises(InputError) as caught:
        read(pairwise)

    assert "'funny' compares answers" in str(caught.value)
    assert "Compare systems" in str(caught.value)


def test_a_saved_test_case_with_camel_case_keys_is_read() -> None:
    case = {
        "name": "my case",
        "type": "direct",
        "criteria": {
            "name": "warmth",
            "description": "Warm?",
            "predictionField": "response",
            "contextFields": [],
            "options": [{"name": "Yes", "description": ""}, {"name": "No", "description": ""}],
            "optionMap": {"Yes": 1, "No": 0},
        },
    }
    assert [o.label for o in read(case).value.criteria[0].options] == ["Yes", "No"]


def test_weighted_criteria_become_one_rubric_and_a_required_one_a_gate() -> None:
    several = {
        "criteria": [
            {"criterion": WARMTH, "weight": 0.75, "required": True, "target_option": "Warm"},
            {"criterion": {**WARMTH, "name": "care"}, "weight": 0.25, "required": True,
             "score_threshold": 0.4},
        ]
    }  # fmt: skip
    rubric = read(several, "two.json").value

    assert [(c.name, c.weight) for c in rubric.criteria] == [("warmth", 0.75), ("care", 0.25)]
    assert rubric.name == "two"
    first, second = rubric.gates
    assert (first.when.in_, first.then.cap) == (("Neutral", "Cold"), 0.0)
    # Their threshold must be passed, not only reached.
    assert second.when.at_most == 0.4


def test_criteria_without_names_are_numbered() -> None:
    nameless = {key: part for key, part in WARMTH.items() if key != "name"}
    assert [c.name for c in read([nameless, nameless]).value.criteria] == [
        "Criterion 1",
        "Criterion 2",
    ]


def test_rubrics_of_ours_are_not_taken_for_theirs() -> None:
    ours = {"name": "x", "description": "d", "criteria": [{"name": "a", "requirement": "b"}]}

    assert read(ours).value.criteria[0].scale == "binary"


def test_import_knows_it_for_a_rubric() -> None:
    assert kind_of(open_bytes(json.dumps(WARMTH).encode(), "warm.json")) == "rubric"
    table = b"criterion,level,level_description,score\nA,1,Good,2\nA,2,Bad,0\n"
    assert kind_of(open_bytes(table, "levels.csv")) == "rubric"


def test_keys_that_mean_nothing_here_are_kept_or_named() -> None:
    first, *others = WARMTH["options"]
    odd = {**WARMTH, "owner": "Ada", "options": [{**first, "colour": "red"}, *others]}
    found = read({"criteria": [{"criterion": odd, "weight": 1, "note": "soon"}]}, "one.json")

    (criterion,) = found.value.criteria
    assert criterion.meta["owner"] == "Ada"
    assert criterion.meta["options"] == {"Warm": {"colour": "red"}}
    said = " ".join(map(str, found.notices))
    assert "'warmth': owner, colour of 'Warm' kept under meta, not used." in said
    assert "'warmth': note next to it is left out." in said
