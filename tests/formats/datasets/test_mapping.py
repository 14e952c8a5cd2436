"""Which column is what: guessed, shown, changed, used."""

from __future__ import annotations

import pytest

from core.formats.datasets.dataset_file import build_dataset, parse_dataset
from core.formats.datasets.mapping import ColumnMapping, guess_mapping
from core.formats.rubrics.rubric_file import parse_rubric
from core.formats.tables.table import read_table
from tests.formats.office.workbooks import xlsx
from tests.formats.refusals import refused

RUBRIC = parse_rubric("[{name: Tone, requirement: T}, {name: model, requirement: M}]", "r").value


def test_usual_names_are_known_whatever_their_case_and_spelling() -> None:
    table = read_table(
        "Item-ID,Question,Student_Answer,Reference Answer,Notes\n1,2,3,4,5\n", "x.csv"
    )
    assert guess_mapping(table) == ColumnMapping(
        id="Item-ID",
        prompt="Question",
        submission="Student_Answer",
        reference="Reference Answer",
        meta=("Notes",),
    )


@pytest.mark.parametrize("heading", ["No.", "Ref", "Clause", "Entry", "Lfd. Nr."])
def test_the_first_column_with_a_word_for_items_is_the_id(heading: str) -> None:
    table = read_table(f"{heading},Surname,Essay\n1,Ba,One\n2,Do,Two\n3,Fu,Three\n", "x.csv")
    assert guess_mapping(table).id == heading


def test_a_field_s_own_name_wins_over_other_names() -> None:
    table = read_table("answer,submission,output\n1,2,3\n", "x.csv")
    assert guess_mapping(table).submission == "submission"
    assert guess_mapping(table).meta == ("answer", "output")


def test_columns_named_like_criteria_or_behind_a_prefix_are_labels() -> None:
    table = read_table("id,submission,tone,label:model,reason_tone\n1,2,3,4,5\n", "x.csv")
    mapping = guess_mapping(table, RUBRIC)
    assert mapping.labels == {"Tone": "tone", "model": "label:model"}
    assert mapping.reasons == {"Tone": "reason_tone"}
    assert mapping.system is None


def test_a_criterion_s_name_wins_over_another_name_of_a_field() -> None:
    table = read_table("submission,model\nx,MET\n", "x.csv")
    assert guess_mapping(table).system == "model"
    assert guess_mapping(table, RUBRIC).labels == {"model": "model"}


def test_without_a_rubric_the_prefix_names_the_criterion() -> None:
    table = read_table("submission,label:How deep?,reason:How deep?\n1,2,3\n", "x.csv")
    mapping = guess_mapping(table)
    assert mapping.labels == {"How deep?": "label:How deep?"}
    assert mapping.reasons == {"How deep?": "reason:How deep?"}


def test_a_split_column_counts_only_where_it_holds_our_splits() -> None:
    ours = read_table("submission,split\nx,calibration\ny,\n", "x.csv")
    theirs = read_table("submission,split\nx,train\n", "x.csv")
    assert guess_mapping(ours).split == "split"
    assert guess_mapping(theirs).meta == ("split",)


def test_a_person_s_mapping_is_used_as_it_is() -> None:
    table = read_table("a,b,c,d\n1,x,MET,why\n", "x.csv")
    mapping = ColumnMapping(id="a", submission="b", labels={"Tone": "c"}, reasons={"Tone": "d"})
    item = build_dataset(table, mapping, "x.csv", RUBRIC).value.items[0]
    assert (item.id, item.submission) == ("1", "x")
    assert (item.labels["Tone"].label, item.labels["Tone"].reason) == ("MET", "why")
    assert item.meta == {}


def test_columns_that_are_mapped_nowhere_are_left_out_with_a_notice() -> None:
    table = read_table("a,b\n1,x\n", "x.csv")
    parsed = build_dataset(table, ColumnMapping(submission="b"), "x.csv")
    assert [n.message for n in parsed.notices] == ["The column 'a' is left out."]


@pytest.mark.parametrize(
    ("mapping", "words"),
    [
        (ColumnMapping(submission="z"), "names the column 'z', which is not there."),
        (ColumnMapping(submission="b", labels={"t": "q"}), "names the column 'q'"),
        (ColumnMapping(id="a"), "has no column that holds the submission."),
    ],
)
def test_a_mapping_that_cannot_work_is_refused_with_the_columns(
    mapping: ColumnMapping, words: str
) -> None:
    table = read_table("a,b\n1,x\n", "x.csv")
    [(_, text)] = refused(lambda: build_dataset(table, mapping, "x.csv"))
    assert words in text
    assert "The columns are 'a', 'b'." in text


def test_conversations_in_cells_are_opened_and_other_json_stays_text() -> None:
    turns = '[{""role"": ""user"", ""content"": ""Hi""}]'
    table = read_table(f'id,submission\n1,"{turns}"\n', "x.csv")
    mapping = guess_mapping(table)
    opened = build_dataset(table, mapping, "x.csv")
    assert opened.value.items[0].output == "user: Hi"
    assert "read as messages" in str(opened.notices[0])
    closed = mapping.model_copy(update={"structured": False})
    plain = build_dataset(table, closed, "x.csv").value.items[0]
    assert plain.submission == turns.replace('""', '"')
    # A program of brackets, or messages in some rows only, is a text.
    for cells in ('"[1, 2]"', f'"{turns}"\n2,hello'):
        other = read_table(f"id,submission\n1,{cells}\n", "x.csv")
        assert not guess_mapping(other).structured


ESSAY = "This is the text of an essay that goes on for quite a while, number "


def test_the_longest_texts_are_the_submissions_where_no_name_tells_and_that_is_said() -> None:
    rows = [["Nr", "Aufsatz", "Thema"], *([n, f"{ESSAY}{n}", "Short words"] for n in range(3))]
    read = parse_dataset(xlsx({"Klasse": rows}), "klasse.xlsx")
    assert [item.text for item in read.value.items] == [f"{ESSAY}{n}" for n in range(3)]
    assert "'Aufsatz' are taken for the submissions: they are the longest" in str(read.notices[0])
    # Two columns of long texts: nothing tells which is meant.
    both = [["a", "b"], [f"{ESSAY}1", f"{ESSAY}2"]]
    assert guess_mapping(read_table(xlsx({"S": both}), "x.xlsx")).submission is None


def test_a_form_of_google_is_its_answers_without_addresses() -> None:
    rows = [
        ["Timestamp", "Email Address", "Your group", "Why do leaves turn red in autumn?"],
        ["11/3/2026 10:15:02", "ann@example.org", "A", f"{ESSAY}1"],
        ["11/3/2026 10:17:40", "bob@example.org", "B", f"{ESSAY}2"],
    ]
    read = parse_dataset(xlsx({"Form Responses 1": rows}), "Leaves (Responses).xlsx")
    first = read.value.items[0]
    assert first.text == f"{ESSAY}1"
    assert first.meta == {"Timestamp": "11/3/2026 10:15:02", "Your group": "A"}
    assert "example.org" not in read.value.model_dump_json()
    assert any("addresses) is left out" in str(notice) for notice in read.notices)


def test_plain_headers_are_understood_and_an_id_must_name_one_row() -> None:
    table = read_table("Ticket ID,Question,Answer\nT1,Why?,So.\nT2,How?,Thus.\n", "x.csv")
    found = guess_mapping(table)
    assert (found.id, found.prompt, found.submission) == ("Ticket ID", "Question", "Answer")
    twice = read_table("Student ID,Question,Answer\ns1,Why?,So.\ns1,How?,Thus.\n", "x.csv")
    mapped = guess_mapping(twice)
    assert (mapped.id, mapped.meta) == (None, ("Student ID",))


def test_structured_cells_that_are_not_json_are_refused_with_their_line() -> None:
    table = read_table("id,submission\n1,hello\n", "x.csv")
    mapping = ColumnMapping(submission="submission", structured=True)
    [(line, text)] = refused(lambda: build_dataset(table, mapping, "x.csv"))
    assert line == 2
    assert "is not JSON, as the mapping says it is." in text


def roles_of(head: str, *rows: str) -> ColumnMapping:
    return guess_mapping(read_table("\n".join((head, *rows)), "x.csv"))


FLOATS = "boat float on the water?;It is lighter than the water under it."
SINKS = "stone sink in the lake?;It is heavier than the water under it."
SAID = (
    (FLOATS, "It is full of air from the deck to the keel and so it does not go down."),
    (FLOATS, "The wind holds it up with the sails until the evening, when the wind is gone."),
    (SINKS, "It is heavy and has no air inside at all, as you see if you break it."),
    (SINKS, "The water of the lake is much too weak to carry it, unlike that of the sea."),
)


@pytest.mark.parametrize(
    ("asked", "reference", "written"),
    [
        ("questao", "resposta_referencia", "resposta_aluno"),
        ("Questão", "Gabarito", "Resposta"),
        ("Frage", "Musterlösung", "Antwort"),
        ("Question", "Réponse attendue", "Réponse"),
        ("Pregunta", "respuesta modelo", "Respuesta"),
    ],
)
def test_prompts_and_references_are_known_by_their_headings(
    asked: str, reference: str, written: str
) -> None:
    mapping = roles_of(
        f"id;{asked};{reference};{written}",
        *(f"{n};Why does a {what};{said}" for n, (what, said) in enumerate(SAID)),
    )
    assert (mapping.prompt, mapping.reference, mapping.submission) == (asked, reference, written)


@pytest.mark.parametrize("topic", ["Temat", "Thema", "Sujet", "Tema", "Onderwerp", "Konu", "Topic"])
def test_the_topic_of_pupils_texts_is_the_prompt(topic: str) -> None:
    rows = (
        "Ann;A day at sea;I like boats and I would like to sail to the other side of the lake.",
        "Bob;A night in town;The town is full of light, and nobody sleeps before the morning.",
        "Cy;A day at sea;We were all wet when the boat came home, but nobody was sorry for it.",
    )
    assert roles_of(f"Pupil;{topic};Text", *rows).prompt == topic
    # Nobody wrote on the topic where no pupils are named, and a word alone is a category.
    assert roles_of(f"Desk;{topic};Text", *rows).prompt is None
    short = [row.replace("A day at sea", "sea").replace("A night in town", "town") for row in rows]
    assert roles_of(f"Pupil;{topic};Text", *short).prompt is None


def test_a_reference_is_never_offered_as_the_prompt() -> None:
    text = "id;referencia;referencia 2;Resposta\n" + "".join(
        f"{n};A boat floats as it is light{', really' * n}.;A boat is full of air{' too' * n}.;It"
        f" floats on the water, as I have seen {n} times in the harbour.\n"
        for n in range(3)
    )
    assert "what was asked" not in " ".join(map(str, parse_dataset(text, "x.csv").notices))
