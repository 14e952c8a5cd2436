"""Weights that stand in the names of criteria, and words around a rubric that are left out."""

from __future__ import annotations

import json
from typing import Any

import pytest

from core.domain.rubric import Rubric
from core.formats.rubrics.forms import looks_like_rubric, read_rubrics
from core.formats.source.parsed import Parsed
from tests.formats.office.documents import docx, grid
from tests.formats.office.workbooks import xlsx


def read(data: str | bytes, name: str = "boats.csv") -> Parsed[Rubric]:
    (found,) = read_rubrics(data, name)
    return found


def weights(found: Parsed[Rubric]) -> list[tuple[str, float]]:
    return [(criterion.name, criterion.weight) for criterion in found.value.criteria]


@pytest.mark.parametrize(
    "mark",
    [
        *("(20%)", "– 20 %", "[20 pts]", "(20 points)", "(max. 20)", "(máx. 20 puntos)"),
        *("(20 % der Note)", "(sur 20)", "/20", "(weight: 20)", "(Gewicht 20)", ": 20%"),
    ],
)
def test_a_weight_in_a_name_is_the_criterion_s_and_said(mark: str) -> None:
    other = mark.replace("20", "5")
    found = read(f'Criterion,Good (4),Poor (1)\n"Hull {mark}",dry,wet\n"Mast {other}",up,down\n')
    assert weights(found) == [("Hull", 20), ("Mast", 5)]
    assert [c.requirement for c in found.value.criteria] == ["Hull", "Mast"]
    assert f"'Hull {mark}' weighs 20, 'Mast {other}' weighs 5." in str(found.notices[0])


@pytest.mark.parametrize(
    "mark",
    [
        *("(x2)", "×2", "(2x)", "(counts double)", "(zählt doppelt)", "(compte double)"),
        *("(vale doppio)", "(doble)", "(conta a dobrar)", "(telt dubbel)", "(coef. 2)"),
        *("(doppelte Gewichtung)", "– counts twice", "(weight 2)"),
    ],
)
def test_a_factor_in_a_name_multiplies_the_points(mark: str) -> None:
    found = read(f"Criterion,Good (4),Poor (1)\nHull {mark},dry,wet\nMast,up,down\n")
    assert weights(found) == [("Hull", 8), ("Mast", 4)]
    words = f"# Boats\n## 1. Hull {mark}\n- 4: dry\n- 1: wet\n## 2. Mast\n- 4: up\n- 1: down\n"
    found = read(words, "boats.md")
    assert weights(found) == [("Hull", 8), ("Mast", 4)]
    assert f"'Hull {mark}' weighs 8." in str(found.notices)


@pytest.mark.parametrize("name", ["Part (2 of 3)", "Doubles", "Log (2024)", "Load: 80-100%"])
def test_other_numbers_in_names_stay(name: str) -> None:
    found = read(f"Criterion;Good (4);Poor (1);Weight\n{name};dry;wet;3\n")
    assert weights(found) == [(name, 3)]
    assert "name" not in str(found.notices)


def test_a_weight_in_a_column_counts_more_than_another_in_the_name_and_both_are_said() -> None:
    text = "Criterion,Weight,Good (4),Poor (1)\nHull (20%),30,dry,wet\nMast (70%),70,up,down\n"
    found = read(text)
    assert weights(found) == [("Hull", 30), ("Mast", 70)]
    assert "'Hull (20%)' has the weight 20 in its name; its weight 30 counts." in str(found.notices)
    assert "'Mast" not in str(found.notices)


def test_criteria_without_a_weight_in_their_name_beside_others_are_named() -> None:
    found = read("Criterion,Good (4),Poor (1)\nHull (20%),dry,wet\nMast,up,down\n")
    assert "'Mast' has no weight there." in str(found.notices)


def test_names_that_are_one_without_their_weight_stay() -> None:
    found = read("Criterion,Good (4),Poor (1)\nHull (x2),dry,wet\nHull (x3),up,down\n")
    assert weights(found) == [("Hull (x2)", 8), ("Hull (x3)", 12)]


def test_weights_in_names_count_in_tables_of_levels_and_in_json_too() -> None:
    text = "Aspect,Level,Description,Points\n"
    text += "Hull (x2),1,dry,4\n,2,wet,1\nMast,1,up,4\n,2,down,1\n"
    assert weights(read(text)) == [("Hull", 8), ("Mast", 4)]
    levels = {"1": "wet", "2": "dry"}
    named: list[dict[str, Any]] = [
        {"name": "Hull (60 %)", "text": "Dry?", "levels": levels},
        {"name": "Mast (40 %)", "text": "Up?", "levels": levels},
    ]
    found = read(json.dumps({"criteria": named}), "boats.json")
    assert weights(found) == [("Hull", 60), ("Mast", 40)]


def test_moodle_s_own_table_keeps_names_and_points() -> None:
    text = "criterion,level,level_description,score\nHull (x2),1,dry,4\n,2,wet,1\n"
    assert weights(read(text)) == [("Hull (x2)", 4)]


ROWS = [["Criterion", "Good (2)", "Poor (0)"], ["Hull", "dry", "wet"]]


def test_paragraphs_around_a_table_of_word_are_named() -> None:
    found = read(docx("Boats", grid(ROWS), "Late boats lose a point."), "boats.docx")
    assert "left out: 'Late boats lose a point.'" in str(found.notices)
    both = read_rubrics(docx("Hulls", grid(ROWS), "Ask Kim.", "More", grid(ROWS)), "boats.docx")
    assert [part.value.name for part in both] == ["Hulls", "More"]
    assert "left out: 'Ask Kim.'" in str(both[0].notices)


def test_sheets_without_a_rubric_and_lines_without_criteria_are_named() -> None:
    note = ["Late boats lose a point."]
    book = xlsx({"Rubric": [*ROWS, note], "Names": [["id", "who"], ["1", "Ann"]]})
    said = str(read(book, "boats.xlsx").notices)
    assert "no rubrics: 'Names'." in said
    assert "is left out: “Late boats lose a point.”" in said


def test_every_line_around_a_list_is_begun() -> None:
    rules = "".join(f"- Never {'no knots ' * 20}{n}\n" for n in range(5))
    text = f"# Boats\n## Hull\n- 2: dry\n- 1: wet\n## Mast\n- 2: up\n- 1: down\n## Rules\n{rules}"
    said = str(read(text, "boats.md").notices)
    assert said.count("Never no knots") == 5


@pytest.mark.parametrize(
    "line",
    [
        "Use 2 and 4 when a boat lies between two of these.",
        "Die Stufen 2 und 4 liegen zwischen den beschriebenen.",
        "2 et 4 : entre deux descriptions.",
        "I livelli 2 e 4 stanno tra quelli descritti.",
        "Mark each from 1 to 5.",
        "Jedes Kriterium zählt 1–5 Punkte.",
    ],
)
def test_levels_that_the_text_puts_between_are_made(line: str) -> None:
    part = "- 5: dry\n- 3: damp\n- 1: wet\n"
    found = read(f"# Boats\n{line}\n## Hull\n{part}## Mast\n{part}", "boats.md")
    assert [[(o.label, o.value) for o in c.options] for c in found.value.criteria] == [
        [("1", 0.2), ("2", 0.4), ("3", 0.6), ("4", 0.8), ("5", 1.0)]
    ] * 2
    assert "Levels between those described are made" in str(found.notices)


@pytest.mark.parametrize("line", ["Bring 2 boats and 4 oars.", "Mark from 0 to 9.", "Be kind."])
def test_other_words_make_no_levels(line: str) -> None:
    part = "- 5: dry\n- 3: damp\n- 1: wet\n"
    found = read(f"# Boats\n{line}\n## Hull\n{part}## Mast\n{part}", "boats.md")
    assert [len(criterion.options) for criterion in found.value.criteria] == [3, 3]


@pytest.mark.parametrize(
    "heads",
    [
        "Indicatore;Livello;Descrittore;Punti",
        "Kriterium;Stufe;Beschreibung;Punkte",
        "Critère;Niveau;Descripteur;Points",
        "Criterio;Nivel;Descriptor;Puntos",
        "Criterium;Niveau;Omschrijving;Punten",
        "Critério;Nível;Descritor;Pontos",
        "Indicator;Level;Descriptor;Points",
    ],
)
@pytest.mark.parametrize("total", ["Totale massimo", "Summe", "Total", "Gesamtpunkte", "Totaal"])
def test_a_row_for_each_level_is_a_rubric_in_other_languages(heads: str, total: str) -> None:
    text = f"{heads}\nHull;1;dry;5\n;2;damp;3\n;3;wet;0\nMast;1;up;4\n;2;down;1\n{total};;;9\n"
    assert looks_like_rubric(text, "boats.csv")
    found = read(text)
    assert weights(found) == [("Hull", 5), ("Mast", 4)]
    assert [o.label for o in found.value.criteria[0].options] == ["wet", "damp", "dry"]
    assert f"is left out: “{total} 9”." in str(found.notices)


ENDS: list[Any] = [{"min": 0, "max": 3}, "0-3", "0 to 3", [0, 3]]


@pytest.mark.parametrize("scale", ENDS)
@pytest.mark.parametrize("shared", [True, False])
def test_levels_of_a_scale_by_its_ends_are_made_beside_anchors(scale: Any, shared: bool) -> None:
    own, around = ({}, {"scale": scale}) if shared else ({"scale": scale}, {})
    hull = {"name": "Hull", "text": "Dry?", "anchors": {"0": "wet", "3": "dry"}, **own}
    mast = {"name": "Mast", "type": "boolean", "text": "Up?"}
    found = read(json.dumps({"criteria": [hull, mast], **around}), "boats.json")
    options = found.value.criteria[0].options
    assert [(o.label, o.description) for o in options] == [
        ("0", "wet"),
        ("1", ""),
        ("2", ""),
        ("3", "dry"),
    ]
    assert [o.value for o in options] == pytest.approx([0, 1 / 3, 2 / 3, 1])
    assert found.value.criteria[1].scale == "binary"
    assert "levels without a description: 1, 2." in str(found.notices)


@pytest.mark.parametrize(
    ("levels", "scale", "said"),
    [
        ({"0": "wet", "100": "dry"}, "0-100", "only the levels that are described"),
        ({"0": "wet", "5": "dry"}, "0-3", "levels beyond its ends"),
        ({"wet": 0, "dry": 3}, "0-3", "only the levels that are named"),
    ],
)
def test_ends_of_a_scale_that_make_no_levels_are_said(
    levels: dict[str, Any], scale: str, said: str
) -> None:
    hull = {"name": "Hull", "text": "Dry?", "levels": levels}
    found = read(json.dumps({"criteria": [hull], "scale": scale}), "boats.json")
    assert said in str(found.notices)


def test_a_shared_scale_that_no_criterion_takes_is_named() -> None:
    hull = {"name": "Hull", "text": "Dry?", "scale": "1-2"}
    found = read(json.dumps({"criteria": [hull], "scale": "0-3"}), "boats.json")
    assert "outside the criteria: scale." in str(found.notices)
