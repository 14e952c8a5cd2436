"""Every field of every noun of a rubric survives file, draft, diff, merge and export.

A new field is tested here by itself: whatever drops it without a word fails.
"""

from __future__ import annotations

import json
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from core.domain.dataset import Dataset, Item
from core.domain.rubric import Criterion, Option, Rubric
from core.formats.datasets.dataset_file import dump_dataset, parse_dataset
from core.formats.rubrics.forms import (
    FORM_WORDS,
    RUBRIC_FORMS,
    RubricForm,
    read_rubrics,
    write_rubric,
)
from core.formats.rubrics.rubric_file import dump_rubric, parse_rubric, rubric_schema
from core.rubric_diff.edits import edits_between
from core.rubric_diff.merge import merge_pieces, merged_rubric
from core.services.rubrics import draft_criteria, library
from core.services.rubrics.draft_shapes import data_of, started_draft
from core.services.rubrics.drafts import (
    complete_draft,
    draft_from,
    draft_payload,
    rubric_from,
    with_rubric,
)
from tests.every_field import BASE, Changed, changed_fields

FIELDS = changed_fields(BASE)
each_field = pytest.mark.parametrize("changed", FIELDS, ids=str)
each_of_a_criterion = pytest.mark.parametrize(
    "changed", [one for one in FIELDS if one.noun in (Criterion, Option)], ids=str
)


@each_field
@pytest.mark.parametrize("format", ["yaml", "json"])
def test_a_file_holds_it(changed: Changed[Rubric], format: Any) -> None:
    text = dump_rubric(changed.whole, format)
    assert parse_rubric(text, f"x.{format}").value == changed.whole


@each_field
def test_the_schema_of_files_knows_it(changed: Changed[Rubric]) -> None:
    data = json.loads(dump_rubric(changed.whole, "json"))
    assert Draft202012Validator(rubric_schema()).is_valid(data)


@each_field
@pytest.mark.parametrize("form", RUBRIC_FORMS)
def test_every_form_holds_it_or_names_its_loss(changed: Changed[Rubric], form: RubricForm) -> None:
    written, before = write_rubric(changed.whole, form), write_rubric(BASE, form)
    named = set(written.losses) != set(before.losses) or any(
        loss.path[:1] == (changed.top,) for loss in written.losses
    )
    (read,) = read_rubrics(written.text, f"{changed.whole.name}.{FORM_WORDS[form].ending}")
    assert named or changed.of(read.value) == changed.of(changed.whole)


@each_field
@pytest.mark.parametrize("format", ["jsonl", "json"])
def test_a_dataset_file_holds_it(changed: Changed[Rubric], format: Any) -> None:
    item = Item(id="a", submission="An answer.")
    if format == "jsonl":  # It has lines of items only, each with its own rubric.
        dataset = Dataset(name="d", items=(item.model_copy(update={"rubric": changed.whole}),))
    else:
        dataset = Dataset(name="d", items=(item,), rubric=changed.whole)
    assert parse_dataset(dump_dataset(dataset, format), f"d.{format}").value == dataset


@each_field
def test_a_draft_holds_it(changed: Changed[Rubric]) -> None:
    draft = draft_from(changed.whole)
    assert rubric_from(json.loads(json.dumps(draft))) == changed.whole
    assert rubric_from(with_rubric(draft_from(BASE), changed.whole)) == changed.whole


@each_field
def test_the_text_of_a_draft_that_is_no_rubric_yet_holds_it(changed: Changed[Rubric]) -> None:
    text = library.draft_file_text({**draft_from(changed.whole), "name": ""})
    assert parse_rubric(f"name: {changed.whole.name}\n{text}", "x.yaml").value == changed.whole


@each_of_a_criterion
def test_a_copy_of_a_criterion_holds_it(changed: Changed[Rubric]) -> None:
    draft = draft_from(changed.whole)
    first = draft["criteria"][0]["uid"]
    doubled, _ = draft_criteria.duplicate_criterion(draft, first)
    appended = draft_criteria.append_criterion(draft, changed.whole.criteria[0])
    data = draft_payload(draft)["criteria"][0]
    assert draft_payload(doubled)["criteria"][1] == {**data, "name": f"{data['name']} copy 1"}
    assert draft_payload(appended)["criteria"][-1] == {**data, "name": f"{data['name']} 2"}


@each_of_a_criterion
def test_a_draft_kept_before_the_field_was_there_gets_the_usual_value(
    changed: Changed[Rubric],
) -> None:
    if changed.noun.model_fields[changed.field].is_required():
        return
    kept: Any = draft_from(BASE)
    kept["criteria"][0]["parked"] = {"nominal": [{**kept["criteria"][0]["options"][0]}]}
    for holder in holders(kept, changed):
        del holder[changed.field]
    blank: Any = {
        Criterion: {**started_draft()["criteria"][0], "options": []},
        Option: data_of(Option.model_construct(label="")),
    }
    for holder in holders(complete_draft(kept), changed):
        assert holder[changed.field] == blank[changed.noun][changed.field]


def holders(draft: Any, changed: Changed[Rubric]) -> list[dict[str, Any]]:
    """The parts of a draft with that field: a criterion, or a used and a parked option."""
    criterion = draft["criteria"][0]
    if changed.noun is Criterion:
        return [criterion]
    return [criterion["options"][0], criterion["parked"]["nominal"][0]]


@each_field
def test_a_difference_is_reported(changed: Changed[Rubric]) -> None:
    for pair in ((BASE, changed.whole), (changed.whole, BASE)):
        found = edits_between(*pair)
        assert found.edits
        # Whatever is called another question makes votes stale, and nothing else does.
        assert bool(found.stale) == bool(found.of("question") or found.of("options"))


@each_field
def test_a_change_of_one_side_is_taken_over(changed: Changed[Rubric]) -> None:
    for mine, theirs in ((BASE, changed.whole), (changed.whole, BASE)):
        taken = {piece.key: piece.suggested for piece in merge_pieces(BASE, mine, theirs)}
        assert taken
        assert merged_rubric(mine, theirs, taken) == changed.whole
