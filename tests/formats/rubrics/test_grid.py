"""Rubrics as people write them: a row for each criterion, a column for each level."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.errors import InputError
from core.formats.rubrics.forms import looks_like_rubric, looks_like_table, read_rubrics
from core.formats.rubrics.grid_headings import points_in
from core.formats.rubrics.tables.grid import holds_answers, looks_like_grid, read_grid
from core.formats.source.csv_reader import MAX_COLUMNS, read_raw

WORD = (
    "Criterion\tExcellent\tGood\tFair\tPoor\n"
    "Thesis\tClear and arguable\tClear\tVague\tNone stated\n"
    "Evidence\tThree sources\tTwo sources\tOne source\tNo source\n"
)


def levels(text: str, name: str = "x.csv", at: int = 0) -> list[tuple[str, str, float | None]]:
    (found,) = read_rubrics(text, name)
    return [(o.label, o.description, o.value) for o in found.value.criteria[at].options]


def said(text: str) -> str:
    with pytest.raises(InputError) as error:
        read_grid(read_raw(text, "x.csv", "rubric"))
    return str(error.value)


def test_a_table_from_a_word_processor_keeps_every_level_with_its_words() -> None:
    # Without points: four levels a third apart, the last heading the lowest.
    assert levels(WORD, "pasted text") == [
        ("Poor", "None stated", 0.0),
        ("Fair", "Vague", 0.333333333),
        ("Good", "Clear", 0.666666667),
        ("Excellent", "Clear and arguable", 1.0),
    ]
    (found,) = read_rubrics(WORD, "pasted text")
    assert [c.name for c in found.value.criteria] == ["Thesis", "Evidence"]
    assert [c.scale for c in found.value.criteria] == ["ordinal"] * 2
    assert found.notices == ()


def test_levels_may_begin_with_the_worst() -> None:
    turned = "Criteria;Beginning;Developing;Exemplary\nThesis;none;vague;clear\n"
    assert [label for label, *_ in levels(turned)] == ["Beginning", "Developing", "Exemplary"]


def test_points_of_headings_are_the_weight_and_the_values() -> None:
    text = "Criterion,Excellent (4),Good (3),Poor (1)\nThesis,a,b,c\n"
    assert levels(text) == [("Poor", "c", 0.25), ("Good", "b", 0.75), ("Excellent", "a", 1.0)]
    (found,) = read_rubrics(text, "x.csv")
    assert found.value.criteria[0].weight == 4
    assert "The lowest levels add up to 1 of 4 points" in str(found.notices[0])


def test_points_of_cells_come_before_those_of_headings() -> None:
    text = "Criterion,4,2,0\nThesis,a (10 points),b (5 points),c (0 points)\nStyle,d,e,f\n"
    assert levels(text) == [("0", "c", 0.0), ("2", "b", 0.5), ("4", "a", 1.0)]
    (found,) = read_rubrics(text, "x.csv")
    assert [c.weight for c in found.value.criteria] == [10, 4]


def test_of_a_range_of_points_the_most_count_and_that_is_said() -> None:
    text = "Criterion,Good (8-10 points),Fair (4–7),Poor (0-3)\nThesis,a,b,c\nStyle,d,e,f\n"
    (found,) = read_rubrics(text, "x.csv")
    # 10, 7 and 3 of 10 points.
    assert [o.value for o in found.value.criteria[0].options] == [0.3, 0.7, 1.0]
    ranges = [n for n in found.notices if "the most are taken" in n.message]
    assert [n.message.split("'")[1] for n in ranges] == ["Good", "Fair", "Poor"]


def test_weights_requirements_and_sections_have_columns_and_rows_of_their_own() -> None:
    text = (
        "Criterion,Description,Weight,Excellent,Poor\n"
        "Content,,,,\n"
        "Thesis,Is there a claim?,30%,clear,none\n"
        "Style (5),,,plain,odd\n"
    )
    (found,) = read_rubrics(text, "x.csv")
    one, other = found.value.criteria
    assert (one.section, one.requirement, one.weight) == ("Content", "Is there a claim?", 30)
    assert (other.name, other.requirement, other.weight) == ("Style", "Style", 5)


def test_what_is_left_out_is_named() -> None:
    text = "Criterion,Good (2),Poor (0),Score,Comments\nThesis,a,b,,\nTotal,,,2,\n"
    (found,) = read_rubrics(text, "x.csv")
    words = " ".join(map(str, found.notices))
    assert "The column 'Score' is left out." in words
    assert "The column 'Comments' is left out." in words
    assert "line 3: is left out: “Total 2”." in words
    # The sum may stand below a level, too; a criterion that is called so has words.
    (found,) = read_rubrics("Criterion,Good (2),Poor (0)\nThesis,a,b\nTotal,,8 points\n", "x.csv")
    assert "line 3: is left out: “Total 8 points”." in str(found.notices[0])
    (found,) = read_rubrics("Criterion,Good (2),Poor (0)\nTotal impression,a,b\n", "x.csv")
    assert [c.name for c in found.value.criteria] == ["Total impression"]


def test_a_level_that_a_criterion_does_not_have_is_no_level_of_it() -> None:
    assert [label for label, *_ in levels("Criterion,Good (2),Fair (1),Poor (0)\nA,x,,y\n")] == [
        "Poor",
        "Good",
    ]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("Criterion,Gold,Silver\nA,x,y\n", "“Gold (4)”"),
        ("Criterion,Good (2),Poor (0)\nA,x\n", "describes one level alone"),
        ("Criterion,Good (2),Poor (0)\nA,x,y,z\n", "line 2: has 4 cells, but there are 3"),
        ("Criterion,Good (2),Poor (0)\n,x,y\n", "names no criterion"),
        ("Criterion,Good,Poor\nA,x (2 points),y\n", "has no points for 'Poor'"),
        ("Criterion,Good (2),Poor (0),Weight\nA,x,y,much\n", "has 'much' as its weight"),
        ("Criterion,Good (2),Poor (0)\n", "no criterion"),
    ],
)
def test_what_cannot_be_read_is_refused_with_its_line(text: str, words: str) -> None:
    assert words in said(text)


@pytest.mark.parametrize(
    "heads",
    [
        "item,ann,bob",
        "id,submission,prompt",
        "criterion,rater,label",
        "item_id,criterion,rater_id,label",
        "Name\tRequirement\tWeight",
        "criterion,Good",
    ],
)
def test_other_tables_are_no_grids(heads: str) -> None:
    assert not looks_like_grid(heads.replace("\t", ",").split(","))
    assert not looks_like_rubric(f"{heads}\n1,2,3\n".encode(), "x.csv")


@given(st.text(max_size=60))
def test_points_are_found_or_the_words_stay_as_they_are(text: str) -> None:
    found = points_in(text, heading=True)
    if found.points is None:
        assert found.label == " ".join(text.split())
    else:
        assert found.least is not None
        assert found.least <= found.points


@pytest.mark.parametrize("name", ["essay.csv", "pasted text"])
def test_titles_above_the_header_are_left_out_and_said(name: str) -> None:
    text = (
        "Essay rubric 2026,,\nTeacher:,Ms Ada,\n,,\n"
        "Criterion,Good (2),Poor (0)\nThesis,Clear,None\nEvidence,Much\n"
    )
    whole = text.replace("Much", "Much,None")
    assert levels(whole, name) == [("Poor", "None", 0.0), ("Good", "Clear", 1.0)]
    assert looks_like_rubric(whole.encode(), name)
    (found,) = read_rubrics(whole, name)
    assert found.notices[0].message == (
        "The 2 lines above the header are left out: 'Essay rubric 2026 / Teacher:,Ms Ada'."
    )
    # Lines keep their numbers: the row that lacks a cell is the sixth.
    with pytest.raises(InputError) as error:
        read_rubrics(text, name)
    assert error.value.problems[0].line == 6


def test_lines_above_that_are_no_titles_are_not_left_out() -> None:
    with pytest.raises(InputError):
        read_rubrics("red,green,blue\nCriterion,Good (2),Poor (0)\nThesis,Clear,None\n", "x.csv")


@pytest.mark.parametrize("mark", ["|", ",", ";", "\t"])
def test_a_line_of_more_columns_than_a_table_may_have_is_no_header(mark: str) -> None:
    # Each heading is looked at in many ways: 300,000 of them took six seconds.
    heads = ["Criterion", *(f"Level ({points})" for points in range(MAX_COLUMNS))]
    assert looks_like_table(mark.join(heads[:-1]) + "\n", "pasted text")
    assert not looks_like_table(mark.join(heads) + "\n", "pasted text")
    with pytest.raises(InputError, match="more than 2,000 columns"):
        read_rubrics(mark.join(heads) + "\n", "wide.tsv" if mark == "\t" else "wide.csv")


@pytest.mark.parametrize(
    "head", ["Weight %", "Weight (%)", "% of mark", "Gewicht in %", "Pond.", "Peso", "Max. points"]
)
def test_a_weight_by_any_usual_heading_is_never_a_level(head: str) -> None:
    text = (
        f"Aspect,{head},Strong (3),Fair (2),Weak (0)\n"
        "Plot,60,Surprises twice,Holds together,Falls apart\n"
        "Tone,40 %,One voice,Slips once,Slips often\n"
    )
    (found,) = read_rubrics(text, "x.csv")
    assert [criterion.weight for criterion in found.value.criteria] == [60, 40]
    assert [label for label, *_ in levels(text)] == ["Weak", "Fair", "Strong"]


def test_a_column_of_numbers_beside_descriptions_is_left_out_and_said() -> None:
    text = (
        "Aspect,Page,Strong (3),Fair (2),Weak (0)\n"
        "Plot,12,Surprises twice,Holds together,Falls apart\n"
        "Tone,14,One voice,Slips once,Slips often\n"
    )
    (found,) = read_rubrics(text, "x.csv")
    assert [label for label, *_ in levels(text)] == ["Weak", "Fair", "Strong"]
    assert "The column 'Page' is left out." in str(found.notices[0])
    assert "If it is the weight, call it Weight." in str(found.notices[0])
    # A level whose heading is a level's may hold points alone.
    bare = "Aspect,Strong,Fair,Missing\nPlot,Holds (4 points),Halts (2 points),0\n"
    assert len(levels(bare)) == 3


def test_a_table_with_a_row_for_each_level_and_its_descriptor_is_a_rubric() -> None:
    text = (
        "Station,Criterion,Level,Label,Descriptor\n"
        "Desk,Greeting,0,Fail,None\nDesk,Greeting,1,Pass,Greets\nDesk,Greeting,2,Top,Smiles\n"
        "Desk,Closing,0,Fail,Leaves\nDesk,Closing,2,Pass,Says goodbye\n"
    )
    assert looks_like_rubric(text, "x.csv")
    (found,) = read_rubrics(text, "x.csv")
    assert (found.value.name, [c.name for c in found.value.criteria]) == (
        "Desk",
        ["Greeting", "Closing"],
    )
    worth = {o.label: (o.description, o.value) for o in found.value.criteria[0].options}
    assert worth == {"Fail": ("None", 0.0), "Pass": ("Greets", 0.5), "Top": ("Smiles", 1.0)}


@pytest.mark.parametrize(
    "heads",
    [
        "Kriterium;Gewichtung;Stufe;Punkte;Beschreibung",
        "Criterio;Peso;Nivel;Puntos;Descripción",
        "Critère;Poids;Niveau;Points;Description",
        "Criterion;Weight;Level;Points;Description",
        "Criterion;Weight (%);Level;Points;Description",
        "評価項目;重み;レベル;得点;説明",
    ],
)
def test_a_row_for_each_level_is_a_rubric_in_any_language(heads: str) -> None:
    text = f"{heads}\nTon;20%;Low;1;Cold\nTon;20%;High;4;Warm\nWit;5;Low;0;None\nWit;5;High;1;Two\n"
    assert looks_like_rubric(text, "x.csv")
    (found,) = read_rubrics(text, "x.csv")
    assert [(c.name, c.weight) for c in found.value.criteria] == [("Ton", 20), ("Wit", 5)]
    worth = {o.label: (o.description, o.value) for o in found.value.criteria[0].options}
    # One of four points.
    assert worth == {"Low": ("Cold", 0.25), "High": ("Warm", 1.0)}


def test_levels_that_are_numbers_are_worth_them_and_words_need_points() -> None:
    (found,) = read_rubrics("Criterion,Level,Description\nTone,1,Cold\nTone,2,Warm\n", "x.csv")
    assert [o.value for o in found.value.criteria[0].options] == [0.5, 1.0]
    with pytest.raises(InputError, match="Give each level its points, in a column of their own"):
        read_rubrics("Criterion,Level,Description\nTone,Low,Cold\nTone,High,Warm\n", "x.csv")


def test_a_total_below_the_criteria_is_left_out_and_said() -> None:
    grid = "Kriterium;Gewicht;gut (2);schwach (1)\nTon;60 %;Warm;Kalt\nWitz;40 %;Viel;Keiner\n"
    totals = ("Summe;100 %;;\n", "Gesamt;100 %;;\n", "Insgesamt;100;10;0\n")
    for total in (*totals, "Punteggio totale;;_____ / 3;\n", "Total score:;;......;\n"):
        (found,) = read_rubrics(grid + total, "x.csv")
        assert [(c.name, c.weight) for c in found.value.criteria] == [("Ton", 60), ("Witz", 40)]
        assert "is left out" in str(found.notices[0])
    with pytest.raises(InputError, match="describes no level"):
        read_rubrics(grid + "Stil;20 %;;\n", "x.csv")


def test_the_most_points_may_stand_behind_a_place_to_write_into() -> None:
    (found,) = read_rubrics(
        "Critère\tBon\tInsuffisant\tPoints\nTon\tClair\tDur\t/4\nPlan\tSuivi\tAucun\t…… /6\n",
        "x.tsv",
    )
    assert [(c.name, c.weight) for c in found.value.criteria] == [("Ton", 4), ("Plan", 6)]


@pytest.mark.parametrize("text", ["60 %", "60"])
def test_weights_in_percent_that_are_no_whole_are_said(text: str) -> None:
    head = "Weight" if "%" in text else "Weight (%)"
    other = text.replace("60", "45")
    grid = f"Criterion,{head},good (2),poor (1)\nTone,{text},Warm,Cold\nWit,{other},Two,None\n"
    rows = f"Tone,{text},Good,2,Warm\nTone,,Poor,1,Cold\nWit,{other},Good,2,Two\nWit,,Poor,1,None\n"
    for table in (grid, f"Criterion,{head},Level,Points,Description\n{rows}"):
        (found,) = read_rubrics(table, "x.csv")
        assert "The weights add up to 105 %, not 100 %." in str(found.notices)
        (found,) = read_rubrics(table.replace("45", "40"), "x.csv")
        assert "add up to 1" not in str(found.notices)


def test_a_number_before_every_level_s_name_is_its_points() -> None:
    text = (
        "Criterion\t3 Sails\t2 Floats\t1 Sinks\n"
        "Hull\tholds in every wave\tlets in some water\tis full of holes\n"
        "Mast\tstands in a strong wind\tbends in the wind\tlies on the deck\n"
    )
    assert levels(text) == [
        ("Sinks", "is full of holes", 0.333333333),
        ("Floats", "lets in some water", 0.666666667),
        ("Sails", "holds in every wave", 1.0),
    ]


@pytest.mark.parametrize(
    "heads",
    ["3 Sails\t2 Floats\tSinks", "3 Sails\t3 Floats\t1 Sinks"],
)
def test_numbers_before_some_names_alone_or_twice_are_no_points(heads: str) -> None:
    text = f"Criterion\t{heads}\nHull\tholds in every wave\tlets in water\tis full of holes\n"
    assert "not which of them is best" in said(text)


def test_numbered_questions_with_answers_that_repeat_are_no_levels() -> None:
    text = "Task,1 Mood,2 Food\nboat,good day,bad day\nkite,good day,good day\n"
    assert "not which of them is best" in said(text)


@pytest.mark.parametrize(
    "heads",
    [
        "Kriterium;Stufe 3: gut;Stufe 2: mittel;Stufe 1: schwach;Gewicht",
        "Critère;Niveau 3 – bien;Niveau 2 – moyen;Niveau 1 – faible;Poids",
        "Criterio;Nivel 3 (bien);Nivel 2 (regular);Nivel 1 (mal);Peso",
        "Indicatore;Livello 3 - buono;Livello 2 - base;Livello 1 - iniziale;Peso",
        "Critério;Nível 3: bom;Nível 2: regular;Nível 1: fraco;Peso",
        "Criterion;Score 3 = strong;Score 2 = fair;Score 1 = weak;Weight",
        "Indicatore;Buono (punteggio 3);Base (punteggio 2);Iniziale (punteggio 1);Peso",
        "Criterium;Niveau 3;Niveau 2;Niveau 1;Weging",
    ],
)
def test_a_number_after_a_word_for_level_is_its_points(heads: str) -> None:
    (found,) = read_rubrics(f"{heads}\nA;x;y;z;60%\nB;x;y;z;40%\n", "x.csv")
    first = found.value.criteria[0]
    assert (first.name, first.weight) == ("A", 60)
    assert [(o.description, o.value) for o in first.options] == [
        ("z", 0.333333333),
        ("y", 0.666666667),
        ("x", 1.0),
    ]
    assert len({o.label for o in first.options}) == 3


def test_words_of_levels_in_other_languages_are_ordered() -> None:
    assert [n for n, *_ in levels("Critère,Très bien,Bien,Insuffisant\nClarté,a,b,c\n")] == [
        *("Insuffisant", "Bien", "Très bien")
    ]
    text = "Indicatore,Livello A – avanzato,Livello C – base,Livello D – iniziale\nLessico,a,b,c\n"
    assert [description for _, description, _ in levels(text)] == ["c", "b", "a"]


GROUPED = (
    "{heads};Weging;Onvoldoende (4);Goed (9)\nVerslag;Taal;40;a;b\n;Vorm;60;a;b\n;Totaal;100;;\n"
)


@pytest.mark.parametrize("heads", ["Onderdeel;Criterium", "Fase;Punt", "Category;Criterion"])
def test_a_column_with_blanks_beside_names_holds_sections(heads: str) -> None:
    (found,) = read_rubrics(GROUPED.format(heads=heads), "x.csv")
    assert [(c.section, c.name, c.weight) for c in found.value.criteria] == [
        ("Verslag", "Taal", 40),
        ("Verslag", "Vorm", 60),
    ]
    assert "is left out: “Totaal 100”" in str(found.notices)


def test_a_second_column_of_criteria_describes_the_first() -> None:
    (found,) = read_rubrics("Aspect;Objective;Good (2);Poor (0)\nTone;Be kind;a;b\n", "x.csv")
    (tone,) = found.value.criteria
    assert (tone.name, tone.requirement, tone.section) == ("Tone", "Be kind", None)


def test_a_column_of_sections_names_the_section_of_each_row() -> None:
    text = "Section;Criterion;Good (2);Poor (0)\nForm;Tone;a;b\nForm;Length;a;b\n"
    (found,) = read_rubrics(text, "x.csv")
    assert [c.section for c in found.value.criteria] == ["Form", "Form"]


@pytest.mark.parametrize("word", ["Points", "Punkte", "Puntaje", "Barème"])
@pytest.mark.parametrize("first", [True, False])
def test_a_row_of_points_gives_those_of_the_levels(word: str, *, first: bool) -> None:
    rows = [f"{word},5,2,0\n", "Thesis,clear,vague,none\nVoice,loud,low,none\n"]
    text = "Criterion,Gold,Silver,Tin\n" + "".join(rows if first else reversed(rows))
    assert levels(text) == [("Tin", "none", 0.0), ("Silver", "vague", 0.4), ("Gold", "clear", 1.0)]
    (found,) = read_rubrics(text, "x.csv")
    assert [c.name for c in found.value.criteria] == ["Thesis", "Voice"]
    assert "gives the points of the levels" in str(found.notices[0])


def test_a_column_without_points_beside_levels_with_points_is_the_question() -> None:
    text = (
        "Indicatori,Descrittori,Avanzato (9-10),Base (6),Peso\nLessico,Usa parole adatte,a,b,x2\n"
    )
    (found,) = read_rubrics(text, "x.csv")
    (lexis,) = found.value.criteria
    assert (lexis.requirement, lexis.weight) == ("Usa parole adatte", 2)
    unknown = text.replace("Descrittori", "Traguardi")
    assert read_rubrics(unknown, "x.csv")[0].value.criteria[0].requirement == "Usa parole adatte"


@pytest.mark.parametrize("head", ["Categoría", "Bloque", "Thema"])
def test_an_unknown_column_left_of_the_criteria_is_their_section(head: str) -> None:
    text = (
        f"{head};Indicador;4 - Excelente;1 - Malo;Peso\nContenido;Dominio;a;b;4\n;Fuentes;a;b;6\n"
    )
    (found,) = read_rubrics(text, "x.csv")
    assert [(c.section, c.name, c.weight) for c in found.value.criteria] == [
        ("Contenido", "Dominio", 4),
        ("Contenido", "Fuentes", 6),
    ]
    assert not holds_answers(
        ["Onderdeel", "Criterium", "Niveau 1", "Niveau 2"],
        [["Vorm", "Taal", "slordig", "goed"], ["", "Stijl", "droog", "levend"]],
    )


def test_criteria_may_be_the_last_column() -> None:
    text = "Excellent (4),Good (3),Poor (1),Criterion\na,b,c,Thesis\nd,e,f,Sources\n"
    assert levels(text) == [("Poor", "c", 0.25), ("Good", "b", 0.75), ("Excellent", "a", 1.0)]
