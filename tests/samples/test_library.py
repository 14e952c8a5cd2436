"""The library: every pack loads, is clean, and its worked examples name one of their options."""

from __future__ import annotations

from collections import Counter

import pytest

from core.formats.rubrics.rubric_file import parse_rubric
from core.lint.check import check
from core.services.rubrics import criterion_packs
from core.services.rubrics.draft_shapes import new_draft
from core.services.rubrics.drafts import draft_from, rubric_from
from core.services.rubrics.library import all_samples
from core.services.rubrics.prompt_preview import preview_prompt

FILES = sorted(criterion_packs.FOLDER.glob("*.yaml"))
ENTRIES = [entry for pack in criterion_packs.all_packs() for entry in pack.entries]


def test_about_sixty_criteria_stand_in_ten_packs_of_all_scales() -> None:
    assert len(criterion_packs.all_packs()) == 10
    assert len(ENTRIES) >= 60
    scales = Counter(e.criterion.scale for e in ENTRIES)
    assert min(scales[s] for s in ("binary", "ordinal", "nominal")) >= 9
    assert sum(e.criterion.weight < 0 for e in ENTRIES) >= 10


@pytest.mark.parametrize("file", FILES, ids=lambda f: f.stem)
def test_a_pack_reads_without_remarks_and_lints_clean(file) -> None:
    parsed = parse_rubric(file.read_bytes(), file.name)
    assert parsed.notices == ()
    assert check(parsed.value, with_dismissed=True) == ()


@pytest.mark.parametrize("entry", ENTRIES, ids=lambda e: e.key)
def test_a_criterion_says_its_polarity_and_describes_every_level(entry) -> None:
    criterion = entry.criterion
    assert criterion.weight != 0
    assert all(len(o.description.split()) >= 3 for o in criterion.options)
    values = [o.value for o in criterion.options if o.value is not None]
    assert (min(values), max(values)) == (0, 1)


@pytest.mark.parametrize("entry", ENTRIES, ids=lambda e: e.key)
def test_a_worked_example_names_an_option_and_can_be_sent_to_a_judge(entry) -> None:
    assert entry.option in {o.label for o in entry.criterion.options}
    assert len(entry.why.split()) >= 4
    _, prompt = preview_prompt(entry.criterion, "", entry.example, seed=1)
    assert any(entry.example.output in segment.text for segment in prompt.segments)


def test_no_two_criteria_of_the_library_have_one_name_or_one_requirement() -> None:
    for texts in ([e.criterion.name for e in ENTRIES], [e.criterion.requirement for e in ENTRIES]):
        assert [text for text, n in Counter(texts).items() if n > 1] == []


def test_whole_samples_are_clean_too() -> None:
    samples = all_samples()
    assert {file: check(sample) for file, sample in samples.items()} == dict.fromkeys(samples, ())


def test_the_library_is_searched_by_words_pack_and_scale() -> None:
    found = criterion_packs.find_criteria("password")
    assert [(p.name, [e.criterion.name for e in es]) for p, es in found] == [
        ("code", ["Security gap"])
    ]
    only = [e for _, es in criterion_packs.find_criteria(pack="rag", scale="nominal") for e in es]
    assert [e.criterion.name for e in only] == ["Passages that disagree"]
    assert criterion_packs.find_criteria("zzzz") == []


@pytest.mark.parametrize(
    "word",
    """hallucination hallucinations faithfulness groundedness relevance completeness coherence
    fluency toxicity bias tone grammar conciseness correctness helpfulness citations evidence
    counterargument thesis jailbreak sycophancy verbosity empathy readability refusal safety
    structure consistency misconception security privacy""".split(),  # noqa: SIM905
)
def test_the_usual_names_of_what_is_graded_find_a_criterion(word: str) -> None:
    assert criterion_packs.find_criteria(word)


def test_each_criterion_says_what_others_call_it_and_a_draft_does_not_carry_that() -> None:
    assert all(len(entry.known_as) >= 2 for entry in ENTRIES)
    (made,) = criterion_packs.with_entries(new_draft(), ["rag/Claims found in passages"])[
        "criteria"
    ]
    assert set(made["meta"]) == {"example", "library"}


def test_criteria_are_put_into_a_draft_with_the_guidelines_they_rely_on() -> None:
    keys = ["rag/Question answered", "code/Does the task", "nowhere/Nothing"]
    draft = criterion_packs.with_entries(new_draft(), keys)
    again = criterion_packs.with_entries(draft, keys[:1])
    rubric = rubric_from({**again, "name": "Mine"})
    assert [c.name for c in rubric.criteria] == [
        "Question answered",
        "Does the task",
        "Question answered 2",
    ]
    assert rubric.guidelines.count("A claim is a part of a sentence") == 1
    assert rubric.guidelines.count("Judge by reading") == 1
    assert {c["meta"]["library"] for c in again["criteria"]} == set(keys[:2])
    uids = [c["uid"] for c in again["criteria"]]
    uids += [o["uid"] for c in again["criteria"] for o in c["options"]]
    assert len(set(uids)) == len(uids)


def test_what_a_draft_had_stays_as_it_was() -> None:
    before = draft_from(next(iter(all_samples().values())))
    after = criterion_packs.with_entries(before, ["essays/Side taken"])
    assert after["criteria"][:-1] == before["criteria"]
    assert {k: after[k] for k in ("gates", "scoring", "meta")} == {  # type: ignore[literal-required]
        k: before[k]  # type: ignore[literal-required]
        for k in ("gates", "scoring", "meta")
    }


def test_a_new_rubric_takes_the_name_of_the_pack() -> None:
    assert criterion_packs.draft_from_entries(["essays/Side taken"])["name"] == "Essays"
    assert criterion_packs.draft_from_entries(["essays/Side taken", "code/Security gap"])[
        "name"
    ] == ("From the library")
