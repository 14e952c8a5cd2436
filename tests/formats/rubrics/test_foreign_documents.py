"""Rubrics of other tools with scores as levels, and datasets that are a rubric as well."""

from __future__ import annotations

import json
from typing import Any

import pytest

from core.domain.rubric import Rubric
from core.errors import InputError
from core.formats.datasets.dataset_file import parse_dataset
from core.formats.known import kind_of
from core.formats.rubrics.forms import looks_like_rubric, read_rubrics, write_rubric
from core.formats.votes.sources import open_bytes
from tests.formats import foreign_shapes
from tests.formats.rubrics.rubric_tables import PLAIN


def read(data: Any, name: str = "x.json") -> Rubric:
    text = data if isinstance(data, str) else json.dumps(data)
    return read_rubrics(text, name)[0].value


def options(rubric: Rubric, at: int = 0) -> list[tuple[str, float | None, str]]:
    return [(o.label, o.value, o.description) for o in rubric.criteria[at].options]


def test_a_rubric_of_prometheus_is_one_criterion_with_its_described_scores() -> None:
    rubric = read(foreign_shapes.PROMETHEUS)
    (criterion,) = rubric.criteria
    assert (criterion.requirement, criterion.scale) == (
        "Does the reply name the next step?",
        "ordinal",
    )
    # Scores 1 to 5 are values 0, 1/4, 2/4, 3/4 and 1.
    assert options(rubric) == [
        (str(n), (n - 1) / 4, text) for n, text in enumerate(foreign_shapes.LEVELS, 1)
    ]


def test_descriptions_of_ragas_without_a_question_ask_for_the_one_that_fits() -> None:
    (criterion,) = read(foreign_shapes.SCALE).criteria
    assert criterion.requirement == "Which description fits the answer best?"
    assert len(criterion.options) == 5


def test_an_item_of_biggen_has_its_own_rubric() -> None:
    items = parse_dataset(json.dumps(foreign_shapes.BIGGEN), "biggen.json").value.items
    assert [(i.id, i.prompt, i.text) for i in items] == [
        (f"trip_{n}", "Plan a day in Lyon.", foreign_shapes.REPLY) for n in range(2)
    ]
    assert all(i.rubric and len(i.rubric.criteria[0].options) == 5 for i in items)


def test_a_row_of_the_feedback_collection_is_its_response_never_its_feedback() -> None:
    parsed = parse_dataset(foreign_shapes.lines(foreign_shapes.FEEDBACK), "feedback.jsonl")
    assert [(i.prompt, i.text, i.reference) for i in parsed.value.items] == [
        ("Plan a day.", foreign_shapes.REPLY, "Walk, lunch, museum.")
    ] * 2
    # The scores of the two rows, with the feedback as their reason.
    assert [(i.labels["score"].label, i.labels["score"].reason) for i in parsed.value.items] == [
        ("3", "It names a step."),
        ("5", "It names a step."),
    ]
    assert any("training texts are left out" in str(notice) for notice in parsed.notices)


def test_scoring_criteria_have_weights_and_scores() -> None:
    rubric = read(foreign_shapes.SCORING, "rubric.yaml")
    assert [(c.name, c.weight, c.scale) for c in rubric.criteria] == [
        ("accuracy", 6, "ordinal"),
        ("tone", 4, "binary"),
    ]
    # Scores 1, 3 and 5 are 0, 2/4 and 4/4.
    assert options(rubric) == [
        ("1", 0.0, "Wrong facts"),
        ("3", 0.5, "Some right"),
        ("5", 1.0, "All right"),
    ]


def test_scoring_criteria_by_name_may_have_levels_in_a_list() -> None:
    levels = [{"score": 0, "description": "Rude"}, {"score": 2, "description": "Kind"}]
    rubric = read({"scoring_criteria": {"tone": {"description": "Is it kind?", "levels": levels}}})
    assert (rubric.criteria[0].name, options(rubric)) == (
        "tone",
        [("0", 0.0, "Rude"), ("2", 1.0, "Kind")],
    )


def test_criteria_with_levels_ask_for_their_name() -> None:
    (found,) = read_rubrics(json.dumps(foreign_shapes.DEBATE), "debate.json")
    rubric = found.value
    assert rubric.name == "Panel talk"
    assert [(c.name, c.requirement, c.weight) for c in rubric.criteria] == [
        ("Opening", "Opening", 30),
        ("Closing", "Closing", 20),
    ]
    # Points 0, 1 and 2.
    assert options(rubric)[:2] == [("Low", 0.0, "Opening 0"), ("Mid", 0.5, "Opening 1")]
    said = [notice.message for notice in found.notices]
    assert said.count("has options but no requirement; its name is what is asked.") == 2
    assert "Left out, as they are outside the criteria: version." in said


def test_scoring_criteria_with_levels_without_scores_are_refused() -> None:
    given = {"scoring_criteria": [{"name": "tone", "levels": {"rude": "a", "kind": "b"}}]}
    with pytest.raises(InputError, match="levels without scores") as error:
        read(given)
    assert "Give every level its score" in str(error.value)


def test_a_model_graded_spec_keeps_its_question_and_its_choices() -> None:
    rubric = read(foreign_shapes.FACT, "fact.yaml")
    (criterion,) = rubric.criteria
    # The frame of the data is gone; the choices are options, from 0.0 to 1.0.
    assert criterion.requirement == "Compare the answer with the expert's.\nChoose one:"
    assert options(rubric) == [
        ("C", 0.0, "It contradicts."),
        ("A", 0.5, "It says less."),
        ("B", 1.0, "It says more."),
    ]


def test_a_spec_with_criteria_asks_each_as_yes_or_no() -> None:
    rubric = read(foreign_shapes.CLOSED, "closedqa.yaml")
    assert [(c.name, c.requirement, c.scale) for c in rubric.criteria] == [
        ("short", "shortness: Is the answer short?", "binary"),
        ("right", "rightness: Is the answer right?", "binary"),
    ]


def test_scores_from_strings_are_levels_in_even_steps() -> None:
    rubric = read(foreign_shapes.LIKERT, "humor.yaml")
    assert [(o.label, o.value) for o in rubric.criteria[0].options] == [
        ("1", 0.0), ("2", 0.25), ("3", 0.5), ("4", 0.75), ("5", 1.0),
    ]  # fmt: skip


def test_a_spec_that_compares_answers_is_refused_with_the_way_to_do_it() -> None:
    with pytest.raises(InputError, match="compares several answers") as error:
        read(foreign_shapes.BATTLE, "battle.yaml")
    assert "Use Compare systems" in str(error.value)


def test_choices_without_scores_say_that_they_are_worth_nothing() -> None:
    text = foreign_shapes.FACT.replace("choice_scores: {A: 0.5, B: 1.0, C: 0.0}\n", "")
    (parsed,) = read_rubrics(text, "fact.yaml")
    assert any("no scores; each is worth 0" in str(notice) for notice in parsed.notices)


def test_a_dataset_of_autorubric_is_a_rubric_and_data() -> None:
    data = json.dumps(foreign_shapes.AUTORUBRIC).encode()
    (parsed,) = read_rubrics(data, "refunds.json")
    assert (parsed.value.name, len(parsed.value.criteria)) == ("refunds", 2)
    assert any("2 items are not part of a rubric" in str(notice) for notice in parsed.notices)
    assert kind_of(open_bytes(data, "refunds.json")) == "dataset"
    assert not looks_like_rubric(data, "refunds.json")
    items = parse_dataset(data, "refunds.json").value.items
    assert [i.labels["tone"].label for i in items] == ["Warm", "Cold"]


def test_items_without_a_rubric_are_still_no_rubric() -> None:
    with pytest.raises(InputError, match="this is a dataset"):
        read({"items": [{"submission": "x"}]})


def test_points_by_axis_or_category_are_sections() -> None:
    rubric = read(foreign_shapes.RESEARCH[0]["rubrics"])
    assert [(c.requirement, c.weight, c.section) for c in rubric.criteria] == [
        ("Names two causes.", 5, "Explicit Criteria"),
        ("Invents figures.", -4, "Implicit Criteria"),
    ]
    assert [(c.requirement, c.weight, c.section) for c in read(foreign_shapes.TITLES).criteria] == [
        ("Names its sources", 1, "Accuracy"),
        ("Cites by page", 0.5, "References"),
    ]


@pytest.mark.parametrize(
    "rows", [foreign_shapes.TASKS, foreign_shapes.RESEARCH], ids=["health", "research"]
)
def test_tasks_without_answers_keep_prompt_and_rubric_and_say_so(rows: list[Any]) -> None:
    text = foreign_shapes.lines(rows)
    assert kind_of(open_bytes(text.encode(), "tasks.jsonl")) == "dataset"
    parsed = parse_dataset(text, "tasks.jsonl", None, [])
    assert all(i.text == "" and i.prompt and i.rubric for i in parsed.value.items)
    assert all(i.meta["text_available"] is False for i in parsed.value.items)
    assert any("Tasks and rubrics, no answers yet" in str(notice) for notice in parsed.notices)


def test_a_prompt_alone_is_no_task_and_refused() -> None:
    with pytest.raises(InputError, match="no column that holds the submission"):
        parse_dataset('{"prompt": "Why?"}\n', "x.jsonl", None, [])


def test_the_anchors_of_a_file_for_autorubric_come_back() -> None:
    again = read_rubrics(write_rubric(PLAIN, "autorubric").text, "Lab report.json")[0]
    assert again.value.criteria == PLAIN.criteria
    assert any("each is put in its place" in str(notice) for notice in again.notices)


def test_lines_that_are_not_all_options_stay_in_the_requirement() -> None:
    given = {"criteria": [{"requirement": "Is it warm?\nNote: one word.", "scale_type": "ordinal",
                           "options": [{"label": "Cold", "value": 0, "na": False},
                                       {"label": "Warm", "value": 1, "na": False}]}]}  # fmt: skip
    assert read(given).criteria[0].requirement == "Is it warm?\nNote: one word."


def test_anchors_by_score_are_levels_also_below_what_the_rubric_is_for() -> None:
    criteria = [
        {"name": name, "weight": weight, "question": f"How good is its {name}?"}
        | {"anchors": {"1": "Weak", "3": "Fair", "5": "Strong"}}
        for name, weight in (("pitch", 0.75), ("code", 0.25))
    ]
    given = {"event": "Open day", "rubric": {"title": "Finals", "criteria": criteria}}
    (found,) = read_rubrics(json.dumps(given), "x.json")
    assert [c.requirement for c in found.value.criteria] == [
        "How good is its pitch?",
        "How good is its code?",
    ]
    assert [(o.label, o.description, o.value) for o in found.value.criteria[0].options] == [
        ("1", "Weak", 0.0),
        ("3", "Fair", 0.5),
        ("5", "Strong", 1.0),
    ]
    assert "Left out, as they are outside the criteria: event." in str(found.notices)


def test_what_stands_around_a_rubric_is_said_and_its_own_criteria_are_taken_first() -> None:
    """Keys beside the rubric that has the criteria, and an object called rubric beside criteria."""
    levels = [{"points": n, "label": word} for n, word in enumerate(("Low", "High"))]
    criteria = [{"name": "Voice", "levels": levels}, {"name": "Pace", "levels": levels}]
    given = {"name": "Open day", "rubric": {"title": "Finals", "criteria": criteria}}
    (found,) = read_rubrics(json.dumps(given), "x.json")
    assert found.value.name == "Finals"
    assert "outside the criteria: name." in str(found.notices)

    given = {"scoring_criteria": {"tone": "Is it kind?"}, "rubric": {"owner": "Kim"}}
    (found,) = read_rubrics(json.dumps(given), "x.json")
    assert [c.requirement for c in found.value.criteria] == ["Is it kind?"]
    assert "outside the criteria: rubric." in str(found.notices)


def scaled(*criteria: dict[str, Any]) -> dict[str, Any]:
    return {"name": "Boats", "criteria": list(criteria)}


def test_words_in_a_scale_are_levels_from_the_lowest() -> None:
    anchors = {"dry": "No water inside.", "damp": "A little.", "wet": "Full of water."}
    sunk = {"name": "Hull", "scale": ["wet", "damp", "dry"], "anchors": anchors}
    assert options(read(scaled(sunk))) == [
        ("wet", 0.0, "Full of water."),
        ("damp", 0.5, "A little."),
        ("dry", 1.0, "No water inside."),
    ]
    (bare,) = read(scaled({"name": "Mast", "scale": ["bent", "straight"]})).criteria
    assert [(o.label, o.value) for o in bare.options] == [("bent", 0.0), ("straight", 1.0)]


@pytest.mark.parametrize(
    "said",
    [
        {"direction": "lower_is_better"},
        {"direction": "Lower is better"},
        {"lower_is_better": True},
        {"higher_is_better": False},
        {"reverse_scored": True},
        {"reverse": True, "higher_is_better": False},
    ],
)
def test_where_lower_is_better_the_lowest_level_is_worth_most(said: dict[str, Any]) -> None:
    leaks = {"name": "Leaks", "scale": [0, 2], "anchors": {"0": "None", "1": "One", "2": "Many"}}
    (parsed,) = read_rubrics(json.dumps(scaled(leaks | said)), "x.json")
    assert options(parsed.value) == [("2", 0.0, "Many"), ("1", 0.5, "One"), ("0", 1.0, "None")]
    assert any("'Leaks': the lowest level is the best" in str(n) for n in parsed.notices)


@pytest.mark.parametrize("said", [{"direction": "higher_is_better"}, {"higher_is_better": True}])
def test_where_higher_is_better_nothing_is_turned(said: dict[str, Any]) -> None:
    sails = {"name": "Sails", "anchors": {"1": "Torn", "2": "Whole"}}
    assert options(read(scaled(sails | said))) == [("1", 0.0, "Torn"), ("2", 1.0, "Whole")]


@pytest.mark.parametrize(
    "said",
    [
        {"direction": "windward"},
        {"reverse": "aft"},
        {"direction": "higher", "lower_is_better": True},
    ],
)
def test_a_direction_that_nobody_understands_is_refused(said: dict[str, Any]) -> None:
    sails = {"name": "Sails", "anchors": {"1": "Torn", "2": "Whole"}}
    with pytest.raises(InputError, match="direction that is not clear"):
        read(scaled(sails | said))


def test_where_lower_is_better_a_yes_is_worth_nothing() -> None:
    data = {"scoring_criteria": [{"name": "Leaks", "direction": "lower_is_better"}]}
    assert options(read(data)) == [("Yes", 0.0, ""), ("No", 1.0, "")]


YACHT = """name: Yacht
criteria:
  - id: hull
    {asked}: Is the hull dry?
    weight: 60%
    scale: {scale}
  - id: flag
    {asked}: Does it fly a flag?
    weight: 40%
    type: boolean
    owner: Kim
"""
DRY = [("0", 0.0, "Wet"), ("1", 0.5, "Damp"), ("2", 1.0, "Dry")]


@pytest.mark.parametrize("asked", ["description", "definition", "question", "guideline", "text"])
def test_a_scale_of_scores_is_the_levels(asked: str) -> None:
    scale = "{0: Wet, 1: Damp, 2: Dry}"
    (found,) = read_rubrics(YACHT.format(asked=asked, scale=scale), "x.yaml")
    hull, flag = found.value.criteria
    assert (hull.name, hull.requirement, hull.weight) == ("hull", "Is the hull dry?", 60)
    assert options(found.value) == DRY
    assert (flag.requirement, flag.scale) == ("Does it fly a flag?", "binary")
    assert any(n.line == 11 and "kept under meta" in n.message for n in found.notices)


@pytest.mark.parametrize(
    "scale",
    [
        "[{0: Wet}, {1: Damp}, {2: Dry}]",
        "['0: Wet', '1 - Damp', '2 = Dry']",
        "{type: ordinal, min: 0, max: 2, labels: {0: Wet, 1: Damp, 2: Dry}}",
        "[{score: 0, description: Wet}, {score: 1, text: Damp}, {score: 2, definition: Dry}]",
        "{0: {description: Wet}, 1: {description: Damp}, 2: {description: Dry}}",
    ],
)
def test_scales_of_scores_in_other_forms_are_the_same(scale: str) -> None:
    (found,) = read_rubrics(YACHT.format(asked="text", scale=scale), "x.yaml")
    by_points = [(o.value, o.description or o.label) for o in found.value.criteria[0].options]
    assert by_points == [(0.0, "Wet"), (0.5, "Damp"), (1.0, "Dry")]


@pytest.mark.parametrize(
    "ends",
    [
        {"min": 1, "max": 3},
        {"type": "likert", "scale": "1-3"},
        {"type": "numeric", "range": [1, 3]},
        {"scale": {"minimum": 1, "maximum": 3}},
        {"scale": "1 to 3"},
    ],
)
def test_the_ends_of_a_scale_give_its_levels(ends: dict[str, Any]) -> None:
    given = {"id": "deck", "description": "How clean is it?"} | ends
    assert options(read(scaled(given))) == [("1", 0.0, ""), ("2", 0.5, ""), ("3", 1.0, "")]


def test_anchors_of_the_ends_leave_the_levels_between() -> None:
    deck = {"id": "deck", "min": 1, "max": 3, "anchors": {"1": "Dirty", "3": "Clean"}}
    assert options(read(scaled(deck))) == [("1", 0.0, "Dirty"), ("2", 0.5, ""), ("3", 1.0, "Clean")]


def test_a_likert_scale_without_ends_is_said_and_a_number_without_ends_refused() -> None:
    deck = {"id": "deck", "description": "How clean?", "type": "likert"}
    (found,) = read_rubrics(json.dumps(scaled(deck)), "x.json")
    assert [label for label, *_ in options(found.value)] == [*"12345"]
    assert "is taken as 1 to 5" in str(found.notices)
    with pytest.raises(InputError, match="numeric without min and max"):
        read(scaled(deck | {"type": "numeric"}))


def test_usual_names_of_levels_have_their_order() -> None:
    anchors = {"excellent": "Dry.", "poor": "Full of water.", "good": "Damp."}
    hull = {"name": "Hull", "anchors": anchors}
    assert [label for label, *_ in options(read(scaled(hull)))] == ["poor", "good", "excellent"]


def test_a_criterion_without_weight_beside_others_counts_nothing() -> None:
    hull = {"name": "Hull", "weight": 0.7, "scale": {"0": "Wet", "1": "Dry"}}
    theft = {"name": "Stolen", "type": "boolean", "gate": True}
    (found,) = read_rubrics(json.dumps(scaled(hull, theft)), "x.json")
    assert [c.weight for c in found.value.criteria] == [0.7, 0]
    assert "'Stolen' has no weight" in str(found.notices)


def test_a_scale_beside_the_criteria_is_that_of_each_without_its_own() -> None:
    given = scaled({"name": "Hull", "text": "Dry?"}, {"name": "Mast", "scale": "1-2"})
    rubric = read(given | {"scale": ["strong no", "no", "yes"]})
    assert [label for label, *_ in options(rubric)] == ["strong no", "no", "yes"]
    assert [label for label, *_ in options(rubric, 1)] == ["1", "2"]


@pytest.mark.parametrize("word", ["criteria", "metrics", "dimensions", "kriterien"])
def test_criteria_may_be_a_map_by_name(word: str) -> None:
    text = f"{word}:\n  hull:\n    frage: Is it dry?\n    typ: likert\n    min: 1\n    max: 2\n"
    (found,) = read_rubrics(text, "x.yaml")
    (hull,) = found.value.criteria
    assert (hull.name, hull.requirement, len(hull.options)) == ("hull", "Is it dry?", 2)


def test_our_criteria_may_ask_by_another_key() -> None:
    mast = {"name": "Mast", "question": "Is it up?"}
    assert read(scaled(mast)).criteria[0].requirement == "Is it up?"


def test_levels_of_a_scale_without_an_anchor_are_levels_too() -> None:
    # Anchors at 1, 3 and 5 of a scale from 1 to 5: 2 is worth 1/4, 4 is worth 3/4.
    deck = {"name": "Deck", "scale": [1, 5], "anchors": {"1": "Rotten", "3": "Worn", "5": "New"}}
    assert options(read(scaled(deck))) == [
        ("1", 0.0, "Rotten"),
        ("2", 0.25, ""),
        ("3", 0.5, "Worn"),
        ("4", 0.75, ""),
        ("5", 1.0, "New"),
    ]


def test_levels_without_an_order_are_refused() -> None:
    with pytest.raises(InputError, match="not a rubric"):
        read(scaled({"name": "Hull", "anchors": {"dry": "No water.", "wet": "Water."}}))


SPANISH = """título: Barcos
puerto: Vigo
criterios:
- nombre: Casco
  descripción: ¿Está seco?
  peso: 3
  niveles:
    1: Lleno de agua.
    2: Seco.
- nombre: Mástil
  peso: 1
  niveles:
  - etiqueta: torcido
    puntos: 0
  - etiqueta: recto
    puntos: 4
"""


@pytest.mark.parametrize("ending", ["yaml", "json"])
def test_keys_in_another_language_are_read(ending: str) -> None:
    import yaml

    text = SPANISH if ending == "yaml" else json.dumps(yaml.safe_load(SPANISH))
    assert looks_like_rubric(text, f"x.{ending}")
    (parsed,) = read_rubrics(text, f"x.{ending}")
    hull, mast = parsed.value.criteria
    assert (parsed.value.name, hull.requirement) == ("Barcos", "¿Está seco?")
    assert [(c.name, c.weight) for c in (hull, mast)] == [("Casco", 3), ("Mástil", 1)]
    assert options(parsed.value) == [("1", 0.0, "Lleno de agua."), ("2", 1.0, "Seco.")]
    assert options(parsed.value, 1) == [("torcido", 0.0, ""), ("recto", 1.0, "")]
    assert any("'criterios' as criteria" in str(notice) for notice in parsed.notices)
    assert any("puerto" in str(notice) for notice in parsed.notices)


@pytest.mark.parametrize(
    ("body", "name", "weight", "levels", "label", "points"),
    [
        ("criterios", "nombre", "peso", "opciones", "etiqueta", "puntos"),
        ("Kriterien", "Name", "Gewicht", "Stufen", "Bezeichnung", "Punkte"),
        ("critères", "nom", "poids", "niveaux", "libellé", "points"),
        ("criteri", "nome", "peso", "livelli", "etichetta", "punti"),
        ("critérios", "nome", "peso", "níveis", "rótulo", "pontos"),
        ("criteria", "naam", "gewicht", "niveaus", "omschrijving", "punten"),
    ],
)
def test_keys_of_six_languages_mean_the_same(
    body: str, name: str, weight: str, levels: str, label: str, points: str
) -> None:
    steps = [{label: "a", points: 0}, {label: "b", points: 2}]
    data = {body: [{name: "Mast", weight: 4, levels: steps}]}
    assert looks_like_rubric(json.dumps(data), "x.json")
    (criterion,) = read(data).criteria
    assert (criterion.name, criterion.weight) == ("Mast", 4)
    assert [o.value for o in criterion.options] == [0, 1]


def test_our_own_keys_may_be_in_another_language() -> None:
    text = "criterios:\n- nombre: Casco\n  requisito: ¿Está seco?\n  peso: -2\n"
    (criterion,) = read(text, "x.yaml").criteria
    assert (criterion.requirement, criterion.weight, criterion.scale) == (
        *("¿Está seco?", -2),
        "binary",
    )


def test_a_fault_in_a_translated_rubric_has_its_line() -> None:
    text = "criterios:\n- nombre: Casco\n  requisito: ¿Está seco?\n  peso: mucho\n"
    with pytest.raises(InputError) as error:
        read(text, "x.yaml")
    assert [problem.line for problem in error.value.problems] == [4]


def test_a_choice_among_criteria_with_levels_is_nominal_and_weights_may_stand_beside() -> None:
    rubric = read(
        {
            "criteria": [
                {"id": "tone", "description": "Is it kind?", "levels": {0: "rude", 1: "kind"}},
                {"id": "form", "description": "Which form has it?", "type": "choice",
                 "options": ["letter", "list", "not applicable"]},
                {"id": "end", "description": "Does it end?", "type": "choice",
                 "options": ["yes", "no"]},
            ],
            "aggregate": {"method": "weighted_sum", "weights": {"tone": 0.75, "end": 0.25}},
        }
    )  # fmt: skip
    assert [criterion.weight for criterion in rubric.criteria] == [0.75, 0, 0.25]
    form, end = rubric.criteria[1:]
    assert (form.scale, [(o.label, o.value, o.na) for o in form.options]) == (
        "nominal", [("letter", 0, False), ("list", 0, False), ("not applicable", None, True)],
    )  # fmt: skip
    assert [(option.label, option.value) for option in end.options] == [("yes", 1), ("no", 0)]


def test_numbers_beside_criteria_that_are_no_weights_are_said_to_be_left_out() -> None:
    data = {
        "criteria": [{"name": "tone", "levels": {0: "rude", 1: "kind"}}],
        "scoring": {"pass": 1},
        "aggregate": {"weights": {"tone": 4}},
    }
    parsed = read_rubrics(json.dumps(data), "x.json")[0]
    assert parsed.value.criteria[0].weight == 4
    assert "outside the criteria: scoring." in " ".join(n.message for n in parsed.notices)
