"""Scales of words: by the numbers in them, or as usual scales of several languages order them."""

from __future__ import annotations

import pytest

from core.formats.votes.derived_rubric import derive_rubric
from core.formats.votes.imported import VoteBundle
from core.formats.votes.reading import read_bundle
from core.formats.votes.scales import scale_of
from core.formats.votes.sources import open_bytes
from core.formats.votes.structure.word_scales import scale_order


def read(labels: list[str], head: str = "label") -> VoteBundle:
    rows = [f'{n},{who},"{label}"\n' for n, label in enumerate(labels) for who in ("kim", "lee")]
    text = f"item,rater,{head}\n" + "".join(rows)
    return read_bundle(
        open_bytes(text.encode(), "votes.csv"), "long" if head == "label" else "criteria"
    )


@pytest.mark.parametrize(
    "ordered",
    [
        ["insuficiente", "suficiente", "bueno", "excelente"],
        ["insuficiente", "suficiente", "bom", "excelente"],
        ["insuficiente", "regular", "bueno", "excelente"],
        ["deficiente", "aceptable", "bueno"],
        ["insuficiente", "regular", "bom", "ótimo"],
        ["scarso", "sufficiente", "buono"],
        ["faible", "moyen", "bon", "très bon"],
        ["3: reject, not good enough", "6: marginally above", "8: accept"],
        ["1 - poor", "2", "3", "4 - good"],
        ["poor (1)", "fair (2)", "good (4)"],
        ["1 = poor", "2 = fair"],
        ["1. Poor", "2. Fair", "3. Good"],
        ["5 - strongly disagree", "3", "1 - strongly agree"],
        ["5 (mangelhaft)", "2 (gut)", "1 (sehr gut)"],
        ["Strongly disagree", "Disagree", "Neutral", "Agree", "Strongly agree"],
        ["Poor", "Fair", "Good", "Excellent"],
        ["never", "rarely", "sometimes", "often", "always"],
        ["no", "partially", "yes"],
        ["Reject", "Minor revision", "Accept"],
        ["critical", "major", "minor", "none"],
        ["F", "D", "B", "A"],
        ["C-", "B", "B+", "A"],
        ["Insuficiente", "Aprobado", "Notable", "Sobresaliente"],
        ["Insuffisant", "Passable", "Assez bien", "Très bien"],
        ["trifft gar nicht zu", "trifft eher zu", "trifft voll zu"],
        ["差", "一般", "好"],
        ["Negative", "Neutral", "Positive"],
        ["faux", "plutôt faux", "plutôt vrai", "vrai"],
        ["falsch", "eher falsch", "eher wahr", "wahr"],
        ["cattivo", "piuttosto cattivo", "piuttosto buono", "buono"],
        ["fałsz", "raczej fałsz", "raczej prawda", "prawda"],
        ["oneens", "eerder oneens", "eerder eens", "eens"],
        ["useless", "rather useless", "rather useful", "useful"],
        ["very negative", "negative", "neutral", "positive", "very positive"],
        ["unclear", "somewhat clear", "clear", "very clear"],
        ["not toxic", "slightly toxic", "toxic", "very toxic"],
        ["nicht hilfreich", "wenig hilfreich", "hilfreich", "sehr hilfreich"],
        ["pas du tout d'accord", "plutôt pas d'accord", "plutôt d'accord", "tout à fait d'accord"],
        ["severe", "serious", "mild", "none"],
        ["low", "medium", "high", "critical"],
        ["Fail", "Borderline", "Pass", "Good", "Excellent"],
        ["Borderline", "Pass", "Good", "Excellent"],
        ["--", "-", "+/-", "+", "++"],
        ["--", "-", "o", "+"],
        ["-", "0", "+"],
        ["severe harm", "moderate harm", "minor harm", "no harm"],
        ["Strongly dissatisfied", "Dissatisfied", "Neither", "Satisfied", "Strongly satisfied"],
        ["Well below bar", "Below bar", "At bar", "Above bar", "Well above bar"],
        ["Below the bar", "Meets the bar", "Raises the bar"],
        ["Below grade level", "At grade level", "Above grade level"],
        ["Far below expectations", "Meets expectations", "Greatly exceeds expectations"],
        ["Below average", "Average", "Well above average"],
        ["Strong no hire", "No hire", "Weak hire", "Hire", "Strong hire"],
        ["Strong no", "No", "Lean no", "Lean yes", "Yes", "Strong yes"],
        ["Unter den Erwartungen", "Erfüllt die Erwartungen", "Über den Erwartungen"],
        ["En dessous des attentes", "Conforme aux attentes", "Au-dessus des attentes"],
        ["Onder verwachting", "Naar verwachting", "Boven verwachting"],
    ],
    ids=" ".join,
)
@pytest.mark.parametrize("head", ["label", "tone"])
def test_words_of_a_scale_are_ordered(ordered: list[str], head: str) -> None:
    bundle = read(sorted(ordered), head)
    criterion = bundle.rubric.criteria[0]
    assert criterion.scale == "ordinal"
    # A dash that is a mark becomes a minus sign.
    assert [option.label.replace("\u2212", "-") for option in criterion.options] == ordered
    values = [option.value for option in criterion.options]
    assert (values[0], values[-1]) == (0, 1)
    assert "In this order: the first has value 0" in str(bundle.notices)


@pytest.mark.parametrize(
    "labels",
    [
        ["1. Economy", "2. Health", "3. Art"],
        ["A", "B", "C"],
        ["negative", "neutral", "mixed", "positive"],
        ["red", "dark red", "green"],
        ["true", "false", "unverifiable"],
        ["formal", "informal"],
        ["sad", "very sad", "glad"],
        ["neutral", "offensive", "hate"],
        ["under", "over"],
    ],
    ids=" ".join,
)
def test_categories_have_no_order(labels: list[str]) -> None:
    assert read(labels).rubric.criteria[0].scale == "nominal"


def test_a_bare_number_is_the_level_with_words() -> None:
    criterion = read(["1 - poor", "2", "3", "3 - good", "1"]).rubric.criteria[0]
    assert [option.label for option in criterion.options] == ["1 - poor", "2", "3 - good"]


def test_no_opinion_is_no_level() -> None:
    bundle = read(["agree", "disagree", "don't know"])
    assert [o.label for o in bundle.rubric.criteria[0].options] == ["disagree", "agree"]
    assert sum(vote.abstained for vote in bundle.votes.rows) == 2


def test_letters_under_a_heading_for_grades_are_ordered() -> None:
    criterion = read(["A", "B", "C"], "Grade").rubric.criteria[0]
    assert [option.label for option in criterion.options] == ["C", "B", "A"]


def test_words_in_results_of_tools_are_ordered() -> None:
    scale = scale_of("quality", ["Good", "Poor", "Fair"])
    assert scale.options == (("Poor", 0.0), ("Fair", 0.5), ("Good", 1.0))


@pytest.mark.parametrize(
    ("head", "scale"),
    [
        ("upkeep", "ordinal"),
        ("preferred", "nominal"),
        ("answer given", "nominal"),
        ("error type", "nominal"),
        ("defect", "nominal"),
    ],
)
def test_letters_beside_numbers_are_grades_unless_they_choose(head: str, scale: str) -> None:
    votes = [("depth", str(1 + n % 5)) for n in range(9)]
    votes += [(head, "ABCD"[n * n % 7 % 4]) for n in range(9)]
    lines = [
        (n, {"item_id": str(n), "criterion": asked, "rater_id": "kim", "label": label})
        for n, (asked, label) in enumerate(votes)
    ]
    derived = derive_rubric(lines, [], "votes.csv")
    letters = derived.rubric.criteria[1]
    assert letters.scale == scale
    said = "Letters are read as grades, A as the best." in str(derived.notices)
    assert said == (scale == "ordinal")
    if said:
        assert [option.label for option in letters.options] == ["C", "B", "A"]


@pytest.mark.parametrize(
    ("head", "labels", "best"),
    [
        ("Severity", ["0", "1", "2", "3"], "0"),
        ("Risk to customer", ["Low", "Medium", "High"], "Low"),
        ("Risiko", ["niedrig", "mittel", "hoch"], "niedrig"),
        # Already from the worst to none; and what is handled well, or good, is no fault.
        ("Severity", ["critical", "major", "minor", "none"], "none"),
        ("Risk handling", ["2", "1", "4", "3", "5"], "5"),
        ("Error messages", ["poor", "fair", "good"], "good"),
    ],
)
def test_the_least_of_a_fault_is_the_best(head: str, labels: list[str], best: str) -> None:
    options = read(labels, head).rubric.criteria[0].options
    assert [o.label for o in options if o.value == 1.0] == [best]


@pytest.mark.parametrize(
    ("head", "labels", "ends"),
    [
        # 3 of 5 points are 0.6, although nobody gave 0 or 5; beyond the range a heading says none.
        ("Depth /5", ["3", "2", "4", "4", "3"], {"0": 0.0, "3": 0.6, "5": 1.0}),
        ("Depth (1-5)", ["3", "2", "4", "4", "3"], {"1": 0.0, "3": 0.5, "5": 1.0}),
        ("Tiefe (max. 20)", ["13.5", "8", "9", "10", "8"], {"0": 0.0, "13.5": 0.675, "20": 1.0}),
        ("Depth /5", ["3", "2", "7", "4", "3"], {"2": 0.0, "7": 1.0}),
    ],
)
def test_a_range_in_a_heading_is_that_of_the_scale(
    head: str, labels: list[str], ends: dict[str, float]
) -> None:
    options = {o.label: o.value for o in read(labels, head).rubric.criteria[0].options}
    assert {label: options[label] for label in ends} == ends
    assert {min(options.values()), max(options.values())} == {0.0, 1.0}


@pytest.mark.parametrize(
    ("ordered", "absent", "abstained"),
    [
        (["Below the standard", "At the standard", "Above the standard"], "Not assessed", 0),
        (["Unter den Erwartungen", "Erfüllt die Erwartungen"], "nicht beurteilt", 0),
        (["Insuficiente", "Notable", "Sobresaliente"], "No observado", 2),
        (["Insufficiente", "Discreto", "Ottimo"], "non valutato", 0),
        (["mangelhaft", "gut", "sehr gut"], "n.b.", 2),
        (["Weak hire", "Hire", "Strong hire"], "Unable to judge", 2),
    ],
)
def test_what_was_not_assessed_is_no_level(ordered: list[str], absent: str, abstained: int) -> None:
    bundle = read([*ordered, absent])
    assert [o.label for o in bundle.rubric.criteria[0].options if not o.na] == ordered
    assert sum(vote.abstained for vote in bundle.votes.rows) == abstained


def test_what_was_not_observed_beside_observed_is_an_answer() -> None:
    labels = {o.label for o in read(["Observed", "Not observed"]).rubric.criteria[0].options}
    assert labels == {"Observed", "Not observed"}


@pytest.mark.parametrize(
    "ordered",
    [
        ["por debajo de lo esperado", "según lo esperado", "por encima de lo esperado"],
        ["al di sotto delle attese", "in linea con le attese", "al di sopra delle attese"],
        ["abaixo do esperado", "dentro do esperado", "muito acima do esperado"],
    ],
)
def test_words_before_words_that_all_share_are_ordered(ordered: list[str]) -> None:
    places = scale_order(ordered) or {}
    assert sorted(ordered, key=places.__getitem__) == ordered
