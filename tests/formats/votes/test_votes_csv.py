"""votes.csv of the common layout: what is read, what is remarked, what is refused."""

from __future__ import annotations

from pathlib import Path

import pytest

from core.domain.rubric import Rubric
from core.errors import InputError
from core.formats.datasets.dataset_file import parse_dataset
from core.formats.rubrics.rubric_file import parse_rubric
from core.formats.votes.imported import ImportedVote
from core.formats.votes.reading import read_bundle
from core.formats.votes.sources import open_bytes
from core.formats.votes.vote_tables import parse_votes, read_votes

RUBRIC = parse_rubric(
    """
- {name: cites, requirement: R}
- name: tone
  requirement: R
  scale: ordinal
  options: [{label: "1", value: 0}, {label: "2", value: 1}, {label: NA, na: true}]
- name: kind
  requirement: R
  scale: nominal
  options: [{label: "yes", value: 0}, {label: "no", value: 1}]
""",
    "r.yaml",
).value
ITEMS = parse_dataset('{"id": "i", "submission": "x"}\n{"id": "j", "submission": "y"}', "i.jsonl")
HEAD = "item_id,criterion,rater_id,rater_kind,label"


def rows(text: str, rubric: Rubric = RUBRIC) -> tuple[ImportedVote, ...]:
    return parse_votes(text, "votes.csv", rubric, ITEMS.value.items).value.rows


def remarks(text: str) -> list[str]:
    return [str(n) for n in parse_votes(text, "votes.csv", RUBRIC, ITEMS.value.items).notices]


def refused(text: str) -> str:
    with pytest.raises(InputError) as error:
        rows(text)
    return str(error.value)


def test_all_words_for_no_answer_are_one_thing_and_counted() -> None:
    words = ["", "NA", "n/a", "-", "–", "NaN", "null", "None", " "]
    text = HEAD + "".join(f"\ni,cites,r{at},human,{word}" for at, word in enumerate(words))
    assert [(vote.failed, vote.abstained) for vote in rows(text)] == [(True, False)] * 9
    (remark,) = remarks(text)
    assert "9 answers are empty (blank 2, - 1, NA 1, NaN 1, None 1, n/a 1, null 1, – 1)." in remark


def test_an_option_of_that_name_comes_before_a_word_for_no_answer() -> None:
    rubric = parse_rubric(
        """
- name: amount
  requirement: R
  scale: ordinal
  options: [{label: "None", value: 0}, {label: "-", value: 0.5}, {label: Some, value: 1}]
""",
        "r.yaml",
    ).value
    text = f"{HEAD}\ni,amount,a,llm,None\nj,amount,a,llm,-\ni,amount,b,llm,NA\n"
    found = [(vote.option, vote.failed) for vote in rows(text, rubric)]
    assert found == [(0, False), (1, False), (None, True)]
    # The author's own option for it, however the file writes it.
    own = rows(f"{HEAD}\ni,tone,a,llm,N/A\nj,tone,a,llm,na\n")
    assert [vote.abstained for vote in own] == [True, True]


@pytest.mark.parametrize(
    ("criterion", "label", "option"),
    [
        ("cites", "MET", 0),
        ("cites", "T", 0),
        ("cites", "f", 1),
        ("cites", "✓", 0),
        ("cites", " unmet ", 1),
        ("cites", "true", 0),
        ("cites", "FALSE", 1),
        ("cites", "yes", 0),
        ("cites", "0", 1),
        ("cites", "1.0", 0),
        ("cites", "CANNOT_ASSESS", 2),
        ("tone", "2.0", 1),  # what pandas makes of 2 in a column with gaps
        ("tone", "na", 2),
        ("kind", "no", 1),  # an option of that name, not UNMET
        ("kind", "TRUE", 0),  # of two options that are yes and no
        ("kind", "0", 1),
    ],
)
def test_a_label_finds_its_option_however_it_is_written(
    criterion: str, label: str, option: int
) -> None:
    (vote,) = rows(f"{HEAD}\ni,{criterion},a,llm,{label}\n")
    assert vote.option == option


def test_a_word_that_is_no_label_is_refused_with_what_there_is() -> None:
    said = refused(f"{HEAD}\ni,tone,a,llm,yes\n")
    assert "line 2, label: 'yes' is not an option of 'tone'. Use one of 1, 2, NA." in said


def test_chances_that_lie_on_no_option_are_left_out_and_counted() -> None:
    text = f"{HEAD},p_MET,p_UNMET\ni,cites,a,llm,MET,0.3,0.1\nj,cites,a,llm,MET,0.5,0.3\n"
    first, second = rows(text)
    # .3 + .1 is less than half; .5 + .3 is kept as it is, not made whole.
    assert (first.option, first.probabilities) == (0, None)
    assert second.probabilities == (0.5, 0.3, 0.0)
    (remark,) = remarks(text)
    assert "1 vote has less than half of the chance on the options" in remark


@pytest.mark.parametrize("delimiter", [";", "\t", "|"])
def test_other_delimiters_are_found_by_the_columns_that_are_needed(delimiter: str) -> None:
    text = f"{HEAD},reason\ni,cites,a,Human,MET,so\n".replace(",", delimiter)
    (vote,) = rows(text)
    assert (vote.option, vote.kind, vote.reason) == (0, "human", "so")


def test_a_reason_may_be_long_and_have_lines() -> None:
    # The csv module's own limit is 131,072 characters a cell.
    reason = "x" * 200_000 + "\nmore"
    one, two = rows(f'{HEAD},reason\ni,cites,a,llm,MET,"{reason}"\nj,cites,a,llm,,\n')
    assert one.reason == reason
    # A row's line is where it begins: the second one stands below two lines of the first.
    assert (one.line, two.line, two.failed) == (2, 4, True)


def test_answers_that_are_there_twice_count_as_repetitions_and_that_is_said() -> None:
    text = f"{HEAD}\ni,cites,a,llm,MET\ni,cites,b,llm,MET\ni,cites,a,llm,MET\n"
    assert [vote.replicate for vote in rows(text)] == [0, 0, 1]
    (said,) = remarks(text)
    assert said.startswith("line 4: 1 answer repeats a question that the same rater answered")
    assert "('a')" in said


def test_a_long_table_that_says_something_twice_is_remarked_on_import() -> None:
    text = "item,criterion,rater,label\ni,cites,a,MET\ni,cites,a,MET\nj,cites,a,UNMET\n"
    source = open_bytes(text.encode(), "votes.csv")
    found = read_bundle(source, "long", rubric=RUBRIC, dataset=ITEMS.value)
    assert [str(n)[:25] for n in found.notices] == [
        "Read as a table with one ",
        "line 3: 1 answer repeats ",
    ]


def test_answers_in_two_orders_and_of_a_person_with_a_models_name_are_no_repetitions() -> None:
    orders = f"{HEAD},order\ni,cites,a,llm,MET,as is\ni,cites,a,llm,MET,swapped\n"
    assert remarks(orders) == []
    kinds = f"{HEAD}\ni,cites,a,llm,MET\ni,cites,a,human,UNMET\n"
    assert [vote.replicate for vote in rows(kinds)] == [0, 0]
    assert remarks(kinds) == []


def test_whole_numbers_as_tables_with_gaps_write_them_are_replicates() -> None:
    text = f"{HEAD},replicate\ni,cites,a,llm,MET,0.0\ni,cites,a,llm,UNMET,1.0\n"
    assert [vote.replicate for vote in rows(text)] == [0, 1]


@pytest.mark.parametrize("large", ["0" * 9 + "9" * 12, "0" * 5000 + "123456"])
def test_zeros_in_front_do_not_hide_a_replicate_that_is_too_large(large: str) -> None:
    text = f"{HEAD},replicate\ni,cites,a,llm,MET,{large}\n"
    assert "Use a whole number from 0 to 100,000." in refused(text)


def test_a_replicate_that_is_there_twice_is_refused_because_one_would_be_lost() -> None:
    text = f"{HEAD},replicate\ni,cites,a,llm,MET,1\ni,cites,a,llm,UNMET,01\n"
    assert "line 3, replicate: repeats replicate 1 of 'a' for 'cites' of 'i' (line 2)." in refused(
        text
    )
    assert len(rows(text.replace(",01", ",2"))) == 2


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("item_id,criterion,label\n", "line 1: lacks the columns rater_id, rater_kind."),
        (f"{HEAD},label\n", "line 1: names label twice."),
        (f"{HEAD}\ni,cites,a,ll", "line 2: has 4 cells, but the first line names 5 columns."),
        (f'{HEAD}\ni,cites,a,llm,"MET\n', "line 2: is not valid CSV"),
        (f"{HEAD}\ni,cites,a,robot,MET\n", "rater_kind: is 'robot'. Use one of human, llm"),
    ],
)
def test_what_is_wrong_is_said_with_its_line(text: str, says: str) -> None:
    assert says in refused(text)


def test_a_folder_without_votes_says_what_to_put_there(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"has no votes\.csv\. Put the votes there"):
        read_votes(tmp_path, RUBRIC, ITEMS.value.items)
