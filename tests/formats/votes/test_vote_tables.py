"""Tables of votes: one judgement a row or one rater a column, with and without a rubric."""

from __future__ import annotations

import pytest

from core.domain.rubric import Criterion, Option, Rubric
from core.errors import InputError
from core.formats.datasets.dataset_file import parse_dataset
from core.formats.known import kind_of
from core.formats.tables.table import read_table
from core.formats.votes.imported import VoteBundle
from core.formats.votes.reading import read_bundle, table_of
from core.formats.votes.sources import open_bytes
from core.formats.votes.structure.values import Values
from core.formats.votes.vote_changes import change_votes, layout_meant
from core.formats.votes.vote_mapping import VoteMapping, guess_vote_mapping
from core.formats.votes.vote_tables import votes_in

RUBRIC = Rubric(
    criteria=(
        Criterion(name="cites", requirement="Cites a source."),
        Criterion(
            name="tone",
            requirement="How warm?",
            scale="ordinal",
            options=(Option(label="1", value=0), Option(label="2", value=1)),
        ),
    )
)


def read(text: str, name: str = "votes.csv", **more: object) -> VoteBundle:
    source = open_bytes(text.encode(), name)
    return read_bundle(source, kind_of(source), **more)  # type: ignore[arg-type]


def answers(bundle: VoteBundle) -> list[tuple[str, str, str, str, int | None, bool, bool]]:
    return [
        (v.cell.item, v.criterion, v.rater, v.kind, v.option, v.abstained, v.failed)
        for v in bundle.votes.rows
    ]


def test_a_long_table_is_read_with_the_usual_names_of_its_columns() -> None:
    bundle = read("Example ID;Annotator;Dimension;Rating\na;kim;tone;1\na;gpt-4;tone;3\n")
    assert bundle.format == "long"
    # Levels 1, 2, 3: the 2 between them is a level although nobody used it.
    (tone,) = bundle.rubric.criteria
    assert (tone.name, tone.scale) == ("tone", "ordinal")
    assert [(o.label, o.value) for o in tone.options] == [("1", 0.0), ("2", 0.5), ("3", 1.0)]
    assert answers(bundle) == [
        ("a", "tone", "kim", "human", 0, False, False),
        ("a", "tone", "gpt-4", "llm", 2, False, False),
    ]
    assert any("No rubric was given" in n.message for n in bundle.notices)


def test_an_empty_answer_of_a_model_is_a_failure_and_blank_rows_say_nothing() -> None:
    bundle = read("item,rater,label\na,kim,yes\n,,\na,gpt-4,\na,lee,\nb,kim,abstain\nb,lee,No\n")
    # The file's words, yes 0 and No 1, and the added abstention 2.
    options = [(o.label, o.value) for o in bundle.rubric.criteria[0].options]
    assert options == [("yes", 1.0), ("No", 0.0)]
    assert answers(bundle) == [
        ("a", "rating", "kim", "human", 0, False, False),
        ("a", "rating", "gpt-4", "llm", None, False, True),
        ("b", "rating", "kim", "human", 2, True, False),
        ("b", "rating", "lee", "human", 1, False, False),
    ]


@pytest.mark.parametrize(
    ("head", "ranks", "best", "said"),
    [
        # Each person orders three: 1 is the best, in any language, and also in a column a person.
        ("label=place", "123 231 312", "1", "1 is best"),
        ("label=Rang", "132 21", "1", "1 is best"),
        ("criteria=puesto", "321 123", "1", "1 is best"),
        # A name without the word says that 3 is the best.
        ("label=place only=points", "123 231", "3", "The lowest number has value 0"),
        # Marks repeat for one person: nothing tells, and that is said.
        ("label=rank", "112 323", "3", "If 1 is best"),
        ("label=mark", "123 231", "3", "The lowest number has value 0"),
    ],
)
def test_the_first_of_a_ranking_is_the_best(head: str, ranks: str, best: str, said: str) -> None:
    words = head.split()
    rows = [f"i{n},w{who},{n}" for who, of in enumerate(ranks.split()) for n in of]
    text = f"item,rater,{words[0].partition('=')[2]}\n" + "\n".join(rows)
    table = read_table(text, "votes.csv")
    layout = layout_meant(words) or "long"
    mapping = change_votes(guess_vote_mapping(table, layout), ["item=item", *words], table)
    bundle = read_bundle(open_bytes(text.encode(), "votes.csv"), layout, mapping=mapping)
    (criterion,) = bundle.rubric.criteria
    assert {o.label: o.value for o in criterion.options}[best] == 1
    assert any(said in n.mend for n in bundle.notices)


@pytest.mark.parametrize("given", [None, RUBRIC])
def test_yes_written_in_several_ways_is_one_answer(given: Rubric | None) -> None:
    # Two raters who always agree and write differently; the levels come from the column.
    lines = ["item,criterion,rater,label"]
    for item, (kim, lee) in enumerate([("TRUE", "1"), ("yes", "T"), ("false", "0"), ("N", "F")]):
        lines += [f"i{item},cites,kim,{kim}", f"i{item},cites,lee,{lee}"]
    bundle = read("\n".join(lines), rubric=given)
    values = bundle.rubric.criteria[0].values
    found = [None if v.option is None else values[v.option] for v in bundle.votes.rows]
    assert found == [1, 1, 1, 1, 0, 0, 0, 0]


def test_raters_who_write_yes_differently_are_raters_of_one_wide_table() -> None:
    bundle = read("id,kim,lee\na,TRUE,1\nb,FALSE,0\nc,TRUE,1\nd,TRUE,0\n")
    assert bundle.format == "wide"
    values = bundle.rubric.criteria[0].values
    found = {(v.cell.item, v.rater): values[v.option or 0] for v in bundle.votes.rows}
    # They agree on three of four; kim says yes on d, lee no.
    assert [found[item, "kim"] for item in "abcd"] == [1, 0, 1, 1]
    assert [found[item, "lee"] for item in "abcd"] == [1, 0, 1, 0]


@pytest.mark.parametrize(
    ("words", "scale", "labels"),
    [
        # Numbers alone stay numbers, and letters alone could be grades.
        (["0", "1"], "ordinal", ["0", "1"]),
        (["A", "F"], "nominal", ["A", "F"]),
        (["T", "F"], "nominal", ["T", "F"]),
        # Our own words make our own scale, whatever stands beside them.
        (["MET", "no", "1"], "binary", ["MET", "UNMET"]),
        # A cross ticks in one form and rules out in another.
        (["x", "yes"], "nominal", ["x", "yes"]),
        # A third number is no yes or no, so nothing is.
        (["yes", "no", "2"], "nominal", ["2", "no", "yes"]),
    ],
)
def test_what_is_not_certainly_yes_or_no_is_not_taken_for_it(
    words: list[str], scale: str, labels: list[str]
) -> None:
    text = "item,rater,label" + "".join(f"\ni{at},kim,{word}" for at, word in enumerate(words))
    (criterion,) = read(text).rubric.criteria
    assert (criterion.scale, [o.label for o in criterion.options]) == (scale, labels)
    if words == ["T", "F"]:
        assert [o.value for o in criterion.options] == [1, 0]


@pytest.mark.parametrize("given", [None, RUBRIC])
def test_words_for_no_answer_are_one_thing_in_a_long_table(given: Rubric | None) -> None:
    words = ["yes", "no", "", "NA", "N/A", "-", "nan", "NaN", "None"]
    for who, failed in (("kim", 0), ("gpt-4", 7)):
        lines = [f"i{at},cites,{who},{word}" for at, word in enumerate(words)]
        bundle = read("\n".join(["item,criterion,rater,label", *lines]), rubric=given)
        # A person was not asked; a model that gives no answer has failed.
        assert [v.failed for v in bundle.votes.rows] == [False, False] + [True] * failed
        assert not any(v.abstained for v in bundle.votes.rows)
    assert len(bundle.rubric.criteria[0].options) == 2
    said = "7 answers are empty (blank 1, - 1, N/A 1, NA 1, NaN 1, None 1, nan 1)."
    assert said in [n.message for n in bundle.notices]


@pytest.mark.parametrize("given", [None, RUBRIC])
def test_in_a_wide_table_they_are_cells_of_nobody_and_counted(given: Rubric | None) -> None:
    text = "id,cites / kim,cites / lee\na,TRUE,1\nb,no,0\nc,NA,\nd,-,yes\n"
    bundle = read(text, rubric=given)
    values = bundle.rubric.criteria[0].values
    assert [(v.cell.item, v.rater, values[v.option or 0]) for v in bundle.votes.rows] == [
        *[("a", "kim", 1), ("a", "lee", 1), ("b", "kim", 0), ("b", "lee", 0), ("d", "lee", 1)]
    ]
    said = "3 answers are empty (blank 1, - 1, NA 1)."
    assert said in [n.message for n in bundle.notices]


def test_gold_labels_are_read_by_the_same_words() -> None:
    text = "item,criterion,rater,kind,label\na,cites,kim,human,1\na,cites,g,gold,TRUE\n"
    text += "b,cites,kim,human,no\nb,cites,g,gold,NA\n"
    bundle = read(text, rubric=RUBRIC)
    truth = [item.truth(RUBRIC.criteria[0]) for item in bundle.dataset.items]
    assert truth == [0, None]
    derived = read(text)
    (criterion,) = derived.rubric.criteria
    assert [item.truth(criterion) for item in derived.dataset.items] == [0, None]


def test_a_row_that_names_no_criterion_beside_rows_that_do_is_refused_with_its_line() -> None:
    with pytest.raises(InputError) as refused:
        read("item,criterion,rater,label\na,tone,kim,yes\nb,,kim,no\n")
    assert [(p.line, p.path, p.mend) for p in refused.value.problems] == [
        (3, ("criterion",), "Say which criterion was rated.")
    ]


def test_words_are_nominal_and_case_does_not_make_two_options() -> None:
    bundle = read("item,rater,label\na,kim,Refund\na,lee,refund\nb,kim,Delivery\n")
    (criterion,) = bundle.rubric.criteria
    assert criterion.scale == "nominal"
    assert [o.label for o in criterion.options] == ["Delivery", "Refund"]
    assert [v.option for v in bundle.votes.rows] == [1, 1, 0]


def test_a_wide_table_has_a_rater_a_column_and_an_empty_cell_was_not_asked() -> None:
    bundle = read("id,kim,lee,claude-3\na,yes,,no\nb,no,no,no\n")
    assert bundle.format == "wide"
    assert [(i, r, k, o) for i, _, r, k, o, *_ in answers(bundle)] == [
        ("a", "kim", "human", 0),
        ("a", "claude-3", "llm", 1),
        ("b", "kim", "human", 1),
        ("b", "lee", "human", 1),
        ("b", "claude-3", "llm", 1),
    ]
    assert [item.id for item in bundle.dataset.items] == ["a", "b"]
    assert any("text of 2 items" in n.message for n in bundle.notices)


@pytest.mark.parametrize(
    ("header", "given"),
    [
        ("id,cites / kim,cites / lee,tone / kim,tone / lee", None),
        ("id,cites:kim,cites:lee,tone:kim,tone:lee", None),
        ("id,kim__cites,lee__cites,kim__tone,lee__tone", RUBRIC),
    ],
)
def test_headings_may_name_criterion_and_rater(header: str, given: Rubric | None) -> None:
    bundle = read(f"{header}\na,yes,no,1,2\n", rubric=given)
    assert [(c, r, o) for _, c, r, _, o, *_ in answers(bundle)] == [
        ("cites", "kim", 0),
        ("cites", "lee", 1),
        ("tone", "kim", 0),
        ("tone", "lee", 1),
    ]


def test_a_maker_before_a_models_name_is_no_criterion() -> None:
    table = read_table("id,openai/gpt-4,meta/llama-3\na,yes,no\n", "x.csv")
    columns = guess_vote_mapping(table, "wide").columns
    assert [(c.criterion, c.rater) for c in columns] == [
        ("", "openai/gpt-4"),
        ("", "meta/llama-3"),
    ]


def test_a_column_of_gold_answers_becomes_labels_and_texts_become_items() -> None:
    bundle = read("id,text,kim,lee,gold\na,Hello there,yes,no,yes\nb,Bye,no,no,no\n")
    assert [(i.id, i.submission, i.labels["rating"].label) for i in bundle.dataset.items] == [
        ("a", "Hello there", "yes"),
        ("b", "Bye", "no"),
    ]
    assert {v.rater for v in bundle.votes.rows} == {"kim", "lee"}


def test_a_remark_on_a_row_is_the_reason_of_each_rater_in_it() -> None:
    table = read_table("item,ann,bo,comment\na,1,2,Too short.\nb,2,2,\n", "x.csv")
    mapping = change_votes(guess_vote_mapping(table, "wide"), ["reason=comment"], table)
    rows = [row for _, row in votes_in(table, mapping).lines]
    assert [(r["item_id"], r["rater_id"], r["label"], r["reason"]) for r in rows] == [
        ("a", "ann", "1", "Too short."), ("a", "bo", "2", "Too short."),
        ("b", "ann", "2", ""), ("b", "bo", "2", ""),
    ]  # fmt: skip


def test_items_to_be_judged_are_not_taken_for_votes() -> None:
    table = "id,submission,subject,level\na,An essay,history,7\nb,Another,physics,8\n"
    assert kind_of(open_bytes(table.encode(), "items.csv")) == "dataset"


def test_labels_are_spelt_as_the_rubric_does() -> None:
    bundle = read(
        "item,rater,criterion,label\na,kim,Cites,yes\na,kim,tone,2.0\na,lee,cites,Not applicable\n"
        "a,jo,cites,N/A\n",
        rubric=RUBRIC,
    )
    # N/A is how programs write an empty cell; who cannot say it writes so in words.
    assert [(c, o, away, failed) for _, c, _, _, o, away, failed in answers(bundle)] == [
        ("cites", 0, False, False),
        ("tone", 1, False, False),
        ("cites", 2, True, False),
    ]


def test_every_bad_line_is_named_and_nothing_is_read() -> None:
    dataset = parse_dataset('{"id": "a", "submission": "x"}', "items.jsonl").value
    table = (
        "item,rater,criterion,label\na,kim,cites,yes\nzz,kim,cites,yes\na,kim,tone,9\n,k,tone,1\n"
    )
    with pytest.raises(InputError) as refused:
        read(table, rubric=RUBRIC, dataset=dataset)
    # The row without an item ends it: a table is understood before it is checked.
    assert [(p.line, p.message) for p in refused.value.problems] == [(5, "is empty.")]
    with pytest.raises(InputError) as refused:
        read(table.rpartition(",k,")[0].rstrip("\n,") + "\n", rubric=RUBRIC, dataset=dataset)
    assert [p.line for p in refused.value.problems] == [3, 4]


def test_a_row_that_was_cut_off_is_named() -> None:
    with pytest.raises(InputError) as refused:
        read("item,rater,label\na,kim,yes\na,le")
    assert [p.line for p in refused.value.problems] == [3]


def test_a_mark_of_nothing_beside_decimal_commas_is_a_number() -> None:
    bundle = read('item,rater,label\na,kim,0\nb,kim,"3,5"\nc,kim,"4,0"\nd,kim,5\n')
    (label,) = bundle.rubric.criteria
    assert (label.scale, [o.label for o in label.options]) == ("ordinal", ["0", "3.5", "4", "5"])
    assert [row[4] for row in answers(bundle)] == [0, 1, 2, 3]


def test_measurements_are_no_labels() -> None:
    rows = "".join(f"a{n},kim,{n / 7:.4f}\n" for n in range(60))
    with pytest.raises(InputError, match="different labels"):
        read(f"item,rater,label\n{rows}")


def test_a_person_may_change_what_was_guessed() -> None:
    source = open_bytes(b"page,who,choice,label\n1,kim,yes,draft\n2,lee,no,draft\n", "x.csv")
    guessed = guess_vote_mapping(table_of(source), "long")
    assert (guessed.item, guessed.rater, guessed.label) == (None, None, "label")
    with pytest.raises(InputError, match="no column for the item"):
        read_bundle(source, "long")
    said = VoteMapping(layout="long", item="page", rater="who", label="choice", others="llm")
    bundle = read_bundle(source, "long", mapping=said)
    assert [(i, r, k, o) for i, _, r, k, o, *_ in answers(bundle)] == [
        ("1", "kim", "llm", 0),
        ("2", "lee", "llm", 1),
    ]
    assert any("'label'" in n.message for n in bundle.notices)


def test_a_mapping_that_names_no_column_of_the_table_is_refused() -> None:
    source = open_bytes(b"item,rater,label\n1,kim,yes\n", "x.csv")
    said = VoteMapping(layout="long", item="itm", rater="rater", label="label")
    with pytest.raises(InputError) as refused:
        read_bundle(source, "long", mapping=said)
    assert "Did you mean 'item'?" in str(refused.value)


def test_jsonl_rows_are_votes_too() -> None:
    lines = '{"item": "a", "rater": "kim", "label": 3.0}\n{"item": "a", "rater": "m", "label": 4}\n'
    bundle = read(lines, "votes.jsonl")
    assert [o.label for o in bundle.rubric.criteria[0].options] == ["3", "4"]
    assert [v.option for v in bundle.votes.rows] == [0, 1]


@pytest.mark.parametrize(
    "table",
    [
        "id,text,kim,lee\na,An answer,yes,no\nb,Another,yes,no\n",
        "id,text,kim,lee\na,An answer,3,4\nb,Another,4,5\n",
    ],
)
def test_a_text_beside_raters_does_not_hide_them(table: str) -> None:
    # Yes and no are one scale even where nobody shares an answer; 4 is an answer of both.
    assert kind_of(open_bytes(table.encode(), "votes.csv")) == "wide"


def test_a_column_that_says_why_beside_a_raters_column_is_no_rater() -> None:
    table = read_table(
        "doc,ann,ann_reason,score_llm,score_llm rationale,note\n"
        "1,yes,it says so,no,it does not,odd\n"
        "2,no,short,no,short,odd\n",
        "votes.csv",
    )
    mapping = guess_vote_mapping(table, "wide")
    assert mapping.item == "doc"
    assert [c.rater for c in mapping.columns] == ["ann", "score_llm"]
    assert mapping.kinds == {"score_llm": "llm"}


@pytest.mark.parametrize("name", ["dollm", "Guillmot", "llmet"])
def test_a_name_with_these_letters_in_it_is_no_model(name: str) -> None:
    table = read_table(f"item,{name},ann\n1,yes,no\n", "votes.csv")
    assert guess_vote_mapping(table, "wide").kinds == {}


def test_a_number_too_long_to_count_from_is_a_name_and_not_a_level() -> None:
    # 20251122000000000001 and ...002 are one number in double precision, and so is one more.
    one, other = "20251122000000000001", "20251122000000000002"
    bundle = read(f"item,rater,criterion,label\na,kim,stamp,{one}\nb,kim,stamp,{one}\n")
    assert [o.label for o in bundle.rubric.criteria[0].options] == [one, "Other"]
    bundle = read(f"item,rater,criterion,label\na,kim,stamp,{one}\nb,kim,stamp,{other}\n")
    (stamp,) = bundle.rubric.criteria
    assert (stamp.scale, [o.label for o in stamp.options]) == ("nominal", [one, other])
    assert [v.option for v in bundle.votes.rows] == [0, 1]


def test_numbers_of_thousands_of_digits_count_no_rows() -> None:
    rows = (f"{'1' * 4500}{at % 4},d{at // 4}" for at in range(12))
    values = Values(read_table("\n".join(("turn,doc", *rows)), "v.csv"))
    assert not values.counts_rows("turn", ["doc"])


def test_a_table_of_tickets_with_plain_headers_is_votes() -> None:
    text = "Ticket ID,Question,Annotator,Answer\nT1,polite,ann,Good\nT1,polite,bob,Poor\n"
    source = open_bytes(text.encode(), "tickets.csv")
    assert kind_of(source) == "long"
    bundle = read_bundle(source, "long")
    assert [(v.cell.item, v.criterion, v.rater) for v in bundle.votes.rows] == [
        ("T1", "polite", "ann"),
        ("T1", "polite", "bob"),
    ]


@pytest.mark.parametrize(
    ("words", "options"),
    [
        ("Pass Fail", ["Pass", "Fail"]),
        ("TRUE TRUE", ["TRUE", "FALSE"]),
        ("no y yes", ["y", "no"]),
        ("MET not-met", ["MET", "UNMET"]),
    ],
)
def test_a_file_of_yes_and_no_keeps_its_words(words: str, options: list[str]) -> None:
    rows = "".join(f"i{n},kim,{w.replace('-', ' ')}\n" for n, w in enumerate(words.split()))
    bundle = read(f"item,rater,label\n{rows}")
    (criterion,) = bundle.rubric.criteria
    assert [(o.label, o.value) for o in criterion.options] == [(options[0], 1.0), (options[1], 0.0)]
    assert criterion.scale == ("binary" if options[0] == "MET" else "nominal")
