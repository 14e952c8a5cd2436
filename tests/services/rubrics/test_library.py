"""Rubrics are written, kept while unsaved, saved as versions and never overwritten."""

import pytest

from core.domain.dataset import Item
from core.domain.rubric import Criterion, Rubric
from core.errors import Conflict, InputError, NotFound
from core.rubric_diff.wording import gate_words
from core.services.rubrics import draft_criteria, library, prompt_preview
from core.services.rubrics.draft_shapes import RubricDraft, new_draft
from core.services.rubrics.drafts import draft_from, draft_from_data, is_changed, rubric_from
from core.store.store import Store
from tests.services.rubrics.test_drafts import FULL


def saved(store: Store, rubric: Rubric = FULL) -> int:
    return library.save(store, "new-1", draft_from(rubric)).rubric_id


def renamed(draft: RubricDraft, name: str) -> RubricDraft:
    return draft_criteria.set_field(draft, "name", name)


def test_a_new_draft_becomes_a_rubric_and_its_kept_copy_goes(store: Store) -> None:
    name = library.new_name()
    library.keep(store, name, draft_from(FULL))
    version = library.save(store, name, draft_from(FULL), note=" first ")
    assert (version.number, version.note, version.rubric) == (1, "first", FULL)
    assert library.all_kept_drafts(store) == []
    assert not is_changed(library.draft_of(store, version.rubric_id))


def test_saving_again_makes_the_next_version_and_leaves_the_first(store: Store) -> None:
    rubric_id = saved(store)
    draft = renamed(library.draft_of(store, rubric_id), "Essays 2")
    assert library.save(store, str(rubric_id), draft).number == 2
    assert [v.name for v in library.version_history(store, rubric_id)] == ["Essays 2", "Essays"]


def test_a_draft_that_is_no_rubric_is_refused_and_stays_kept(store: Store) -> None:
    draft = renamed(new_draft(), "Empty")
    library.keep(store, "new-1", draft)
    with pytest.raises(InputError, match="Add at least one criterion"):
        library.save(store, "new-1", draft)
    found = library.unsaved_work(store, "new-1")
    assert found is not None
    assert found.draft == draft


def test_whoever_saves_second_is_told_and_overwrites_nothing(store: Store) -> None:
    rubric_id = saved(store)
    mine = renamed(library.draft_of(store, rubric_id), "Mine")
    library.save(store, "x", renamed(library.draft_of(store, rubric_id), "Theirs"))
    with pytest.raises(Conflict, match="Nothing was overwritten"):
        library.save(store, str(rubric_id), mine)
    assert library.latest_version(store, rubric_id).rubric.name == "Theirs"
    # Only on what was looked at: version 1 is not the newest.
    with pytest.raises(Conflict, match="Version 2 was saved while you were looking at version 1"):
        library.rebase_on_version(store, mine, 1)
    on_top = library.rebase_on_version(store, mine, 2)
    assert library.save(store, str(rubric_id), on_top).number == 3
    apart = library.save(store, "new-2", library.detached_draft(mine))
    assert apart.rubric_id != rubric_id


def test_unsaved_work_is_found_again_with_the_text_as_typed(store: Store) -> None:
    library.keep(store, "7", renamed(new_draft(), "A"), "name: [")
    (found,) = library.all_kept_drafts(store)
    assert (found.name, found.draft["name"], found.text) == ("7", "A", "name: [")
    library.discard(store, "7")
    assert library.unsaved_work(store, "7") is None


def test_search_wants_every_word_in_any_order_and_case(store: Store) -> None:
    for name in ("Short science answers", "Science essays"):
        saved(store, Rubric(name=name, criteria=FULL.criteria))
    assert [r.name for r in library.rubric_rows(store, search="ANSWERS sci")] == [
        "Short science answers"
    ]
    assert len(library.rubric_rows(store)) == 2


def test_archived_rubrics_leave_the_list_and_come_back(store: Store) -> None:
    rubric_id = saved(store)
    library.archive(store, rubric_id)
    assert library.rubric_rows(store) == []
    assert [r.id for r in library.rubric_rows(store, archived=True)] == [rubric_id]
    library.restore(store, rubric_id)
    assert [r.id for r in library.rubric_rows(store)] == [rubric_id]


def test_copies_get_names_of_their_own(store: Store) -> None:
    rubric_id = saved(store)
    names = [library.duplicate(store, rubric_id).rubric.name for _ in range(2)]
    assert names == ["Essays copy", "Essays copy 2"]
    copy = library.rubric_rows(store)[0]
    assert library.latest_version(store, copy.id).rubric.gates == FULL.gates


def test_an_unknown_rubric_is_not_found(store: Store) -> None:
    with pytest.raises(NotFound):
        library.draft_of(store, 99)


@pytest.mark.parametrize("format", ["yaml", "json"])
def test_what_is_written_is_read_back_equal(format: library.Format) -> None:
    text = library.rubric_file_text(FULL, format)
    assert library.read_rubric(text, f"x.{format}").value == FULL
    assert library.draft_file_text(draft_from(FULL), format) == text


def test_an_invalid_draft_can_be_written_down_and_its_text_says_the_same_problem() -> None:
    draft = draft_from(FULL)
    broken = draft_criteria.set_criterion(draft, draft["criteria"][1]["uid"], "name", "clear")
    text = library.draft_file_text(broken)
    with pytest.raises(InputError) as refused:
        library.read_rubric(text, "x.yaml")
    (problem,) = refused.value.problems
    assert "repeats the name 'clear'" in problem.message
    assert problem.line is not None
    assert text.splitlines()[problem.line - 1].strip().endswith("name: clear")


def test_a_drafted_weight_that_is_no_number_is_left_out_of_the_text() -> None:
    drafted = {"name": "x", "criteria": [{"name": "a", "requirement": "b", "weight": "heavy"}]}
    assert library.draft_file_text(draft_from_data(drafted)) == (
        "name: x\ncriteria:\n  - name: a\n    requirement: b\n    scale: binary\n"
    )


def test_an_empty_text_is_refused_in_words() -> None:
    with pytest.raises(InputError, match="nothing to read"):
        library.read_rubric("  \n", "x.yaml")


def test_every_sample_opens_as_a_draft_without_problems() -> None:
    found = library.all_samples()
    assert len(found) >= 5
    for sample in found.values():
        assert rubric_from(draft_from(sample)) == sample


YES_NO = Criterion(name="Dense", requirement="Names density.")
GRADED = FULL.criteria[1]


def test_the_preview_is_what_the_judge_is_sent_in_the_shown_order() -> None:
    item = Item(id="a", submission="Ice is light. <b>x</b>", prompt="Why?")
    order, prompt = prompt_preview.preview_prompt(GRADED, "Be fair.", item, seed=3)
    assert sorted(order) == [0, 1, 2]
    assert order[-1] == 2  # the abstention stays last
    sent = "\n".join(segment.text for segment in prompt.segments)
    for text in ("Be fair.", "Why?", "Ice is light. <b>x</b>", "How deep?", "Goes to causes."):
        assert text in sent
    _, again = prompt_preview.preview_prompt(GRADED, "Be fair.", item, seed=3)
    assert again.segments == prompt.segments


def test_without_shuffling_the_author_s_order_is_shown() -> None:
    item = Item(id="a", submission="x")
    for seed in range(5):
        order, _ = prompt_preview.preview_prompt(GRADED, "", item, seed=seed, shuffle=False)
        assert order == (0, 1, 2)


def test_one_criterion_can_be_previewed_while_another_is_broken() -> None:
    draft, new = draft_criteria.add_criterion(draft_from(FULL))
    assert prompt_preview.criterion_from(draft, draft["criteria"][0]["uid"]).name == "Clear"
    with pytest.raises(InputError, match=r"criterion is not valid"):
        prompt_preview.criterion_from(draft, new)


def test_the_simulated_score_moves_with_the_answers() -> None:
    rubric = Rubric(criteria=(YES_NO, Criterion(name="Rude", requirement="Is rude.", weight=-5)))
    best = prompt_preview.best_answers(rubric)
    assert best == {"Dense": 0, "Rude": 1}
    assert prompt_preview.simulate_score(rubric, best)[0].score == 1.0  # 10 of 10
    # 10 - 5 points of 10 positive ones
    assert prompt_preview.simulate_score(rubric, {"Dense": 0, "Rude": 0})[0].score == 0.5
    assert prompt_preview.worst_answers(rubric) == {"Dense": 1, "Rude": 0}
    assert prompt_preview.simulate_score(rubric, {})[0].score is None
    drawn = prompt_preview.random_answers(rubric)
    assert all(0 <= drawn[c.name] < len(c.choices) for c in rubric.criteria)


def test_gates_are_said_in_words() -> None:
    said = [gate_words(gate.model_dump(by_alias=True, exclude_none=True)) for gate in FULL.gates]
    assert said == [
        "When 'Depth' is below 'High': the score is at most 0.4. If that cannot be decided, a "
        "person reviews the item.",
        "When 'Tone' is one of 'Cold': the item is flagged 'cold'. If that cannot be decided, a "
        "person reviews the item.",
        "When at least 1 of the criteria tagged 'form' is 'UNMET': the score is multiplied by "
        "0.5. If that cannot be decided, the gate is passed over.",
    ]


def test_a_file_name_is_never_more_than_a_file_name() -> None:
    assert library.file_name("../../etc/passwd", "json") == "etc-passwd.json"
    assert library.file_name("«»", "yaml") == "rubric.yaml"
