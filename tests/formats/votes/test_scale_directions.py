"""Which end of a scale is best: faults, and what a heading or a title says."""

from __future__ import annotations

import pytest

from core.formats.votes.derived_rubric import Derived, derive_rubric
from core.formats.votes.scales import scale_of


def derived(criterion: str, labels: str, *told: str) -> Derived:
    rows = [
        (n, {"criterion": criterion, "label": label, "rater_id": "kim"})
        for n, label in enumerate(labels.split())
    ]
    return derive_rubric(rows, [], "votes", told=told)


def values(of: Derived) -> dict[str, float]:
    return {o.label: o.value or 0.0 for o in of.rubric.criteria[0].choices if not o.na}


@pytest.mark.parametrize(
    ("criterion", "words", "worse"),
    [
        *(("hallucination", "yes no", "yes"), ("Off-topic", "true false", "true")),
        *(("Plagiat", "ja nein", "ja"), ("Enthält der Text einen Fehler?", "ja nein", "ja")),
        *(("errores", "sí no", "sí"), ("галлюцинация", "да нет", "да"), ("幻觉", "是 否", "是")),
        *(("No errors", "yes no", "no"), ("error handling", "yes no", "no")),
        *(("Ohne Fehler", "ja nein", "nein"), ("clarity", "yes no", "no")),
        ("Is it free of any factual error?", "yes no", "no"),
    ],
)
def test_yes_to_a_fault_is_worth_nothing(criterion: str, words: str, worse: str) -> None:
    read, is_fault = derived(criterion, words), worse == words.split()[0]
    assert values(read) == {word: float(word != worse) for word in words.split()}
    assert ("as it names a fault" in str(read.notices)) == is_fault
    scale = scale_of(criterion, words.split())
    if scale.kind == "ordinal":
        assert scale.options[0][0] == worse
        assert ("that of a fault" in str(scale.notices)) == is_fault


@pytest.mark.parametrize(
    ("criterion", "told", "best"),
    [
        *(
            ("merit", "Scores: 1 = exceptional, 9 = poor", 1),
            ("Merit (1 = best, 9 = worst)", "", 1),
        ),
        *(("Merit (1 best to 9)", "", 1), ("Güte (1 = sehr gut, 9 = mangelhaft)", "", 1)),
        *(("Severity (9 = best, 1 = worst)", "", 9), ("merit", "Marks of 2026, the best 3", 9)),
        *(("merit", "5 = excellent, 1 = poor", 9), ("评分 (1=最好, 9=最差)", "", 1)),
    ],
)
def test_the_best_end_of_a_scale_is_what_the_file_says(
    criterion: str, told: str, best: int
) -> None:
    read = derived(criterion, "1 4 9", told)
    assert values(read)[str(best)] == 1
    assert ("as the file says" in str(read.notices)) == (best == 1)
