"""Their words for labels become options: said once, for a file's columns of labels."""

from __future__ import annotations

import pytest

from core.domain.rubric import Criterion, Option, Rubric
from core.errors import InputError
from core.formats.datasets.dataset_file import parse_dataset
from core.formats.datasets.mapping import guess_mapping
from core.formats.datasets.table import read_table
from core.services.datasets.label_stats import strange_labels

RUBRIC = Rubric(
    criteria=(
        Criterion(name="polite", requirement="Is it?"),
        Criterion(
            name="depth",
            requirement="How deep?",
            scale="ordinal",
            options=(Option(label="low", value=0), Option(label="high", value=1)),
        ),
    )
)
TABLE = "id,submission,polite,depth\na,Guten Tag,ja,hoch\nb,Na?,nein,low\nc,Hm,n/a,hoch\n"


def labels(*words: str) -> dict[str, dict[str, str]]:
    changes = [f"word:{word}" for word in words]
    found = parse_dataset(TABLE, "t.csv", RUBRIC, changes).value
    return {i.id: {name: one.label for name, one in i.labels.items()} for i in found.items}


def test_words_are_read_as_the_options_they_are_said_to_be() -> None:
    found = labels("polite:ja=MET", "nein=UNMET", "polite:n/a=CANNOT_ASSESS", "depth:hoch=high")
    assert found == {
        "a": {"polite": "MET", "depth": "high"},
        "b": {"polite": "UNMET", "depth": "low"},
        "c": {"polite": "CANNOT_ASSESS", "depth": "high"},
    }


def test_a_word_that_is_no_option_says_how_to_say_what_it_is() -> None:
    with pytest.raises(InputError) as error:
        labels("polite:ja=MET", "polite:nein=UNMET", "polite:n/a=CANNOT_ASSESS")
    (first, *_) = error.value.problems
    assert first.message == "is 'hoch', which is not an option."
    assert first.mend.endswith("Or say what it means: --map-label 'depth:hoch=OPTION'.")


def test_a_word_said_to_be_no_option_is_refused() -> None:
    with pytest.raises(InputError) as error:
        labels("ja=PERHAPS", "nein=UNMET", "hoch=high", "n/a=CANNOT_ASSESS")
    assert [p.message for p in error.value.problems] == ["is 'PERHAPS', which is not an option."]


def test_yes_and_no_of_json_and_numbers_are_words_too() -> None:
    rows = '{"id": "a", "submission": "x", "labels": {"depth": true}}\n'
    rows += '{"id": "b", "submission": "x", "labels": {"depth": 3}}\n'
    words = ["word:depth:true=high", "word:depth:3=low"]
    found = parse_dataset(rows, "t.jsonl", RUBRIC, words).value
    assert [item.labels["depth"].label for item in found.items] == ["high", "low"]


def test_what_is_no_option_is_found_before_anything_is_kept() -> None:
    table = read_table(TABLE, "t.csv")
    found = strange_labels(table, guess_mapping(table, RUBRIC), RUBRIC)
    assert found == {"polite": ["ja", "nein", "n/a"], "depth": ["hoch"]}


def test_a_context_is_chosen_and_renamed() -> None:
    table = "id,submission,docs,policy,other\na,Paris,Paris is.,Cite.,x\n"
    changes = ["context:passages=docs", "context=policy"]
    (item,) = parse_dataset(table, "t.csv", None, changes).value.items
    assert item.context == {"passages": "Paris is.", "policy": "Cite."}
    assert item.meta == {"other": "x"}
