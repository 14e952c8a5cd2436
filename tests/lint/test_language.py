"""Rubrics in other languages: no nonsense about their words, and a word that they were not read."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner

from core.cli import main
from core.lint.check import check
from core.lint.language import criteria_unchecked
from core.services.rubrics.drafts import draft_from
from core.services.rubrics.issues import check_draft, unread_draft
from tests.lint.made import criterion, levels, rubric

#: Each has words that the checks of English would tell: "excellent", "etc", "normal", "also".
ELSEWHERE = [
    "Die Antwort ist gut strukturiert, vollständig etc.",
    "Der Text ist klar und nennt normally zwei Quellen.",
    "L'essai est excellent et original.",
    "La respuesta cita una fuente y es excellent.",
    "De tekst is informatief en helpful, maar te lang.",
    "Ответ содержит ссылку на источник, etc.",
    "回答必须引用至少两个来源，并解释其含义 etc.",
    "回答は丁寧で正確である。",
    "الإجابة واضحة ودقيقة",
]
ENGLISH = [
    "The answer cites Poincaré's original paper.",
    "Names El Niño as the cause.",
    "Good grammar",
    "Cites Smith et al.",
    "Says what “Zeitgeist” means.",
    "Uses the formula F = ma.",
]


@pytest.mark.parametrize("requirement", ELSEWHERE)
def test_wording_in_another_language_is_not_read_and_that_is_said(requirement: str) -> None:
    other = rubric(criterion(requirement))
    assert check(other) == ()
    assert criteria_unchecked(other) == ("K",)


@pytest.mark.parametrize("requirement", ENGLISH)
def test_english_with_foreign_names_is_read(requirement: str) -> None:
    assert criteria_unchecked(rubric(criterion(requirement))) == ()


def test_what_says_too_little_is_in_the_language_of_its_rubric() -> None:
    german = criterion("Die Antwort nennt eine Quelle.", "Quelle")
    short = criterion("Excellent struktur", "Struktur")
    assert criteria_unchecked(rubric(german, short)) == ("Quelle", "Struktur")
    assert criteria_unchecked(rubric(short)) == ()


def test_options_weights_and_values_are_looked_at_in_every_language() -> None:
    asked = {"requirement": "Wie viele der Behauptungen sind belegt?"}
    bare = levels(("1", ""), ("2", ""), ("3", ""), **asked)
    assert [f.rule for f in check(rubric(bare))] == ["bare-numbers"]
    # "Eine Quelle" says what earns it; Chinese is written without spaces.
    short = levels(("1", "Keine Quelle"), ("2", "Eine Quelle"), ("3", "Alle belegt"), **asked)
    chinese = levels(("差", "没有引用任何来源"), ("好", "每个论点都有来源"), requirement="来源")
    assert check(rubric(short)) == check(rubric(chinese)) == ()
    flat = criterion(
        "Die Antwort nennt eine Quelle.",
        scale="nominal",
        options=[{"label": "Ja", "value": 1}, {"label": "Nein", "value": 1}],
    )
    assert [f.rule for f in check(rubric(flat))] == ["no-difference"]


def test_two_german_criteria_of_the_same_make_do_not_overlap() -> None:
    one = criterion("Der Text enthält eine Einleitung, in der das Thema genannt wird.", "A")
    two = criterion("Der Text enthält einen Schluss, in dem das Thema genannt wird.", "B")
    assert check(rubric(one, two)) == ()
    again = criterion("Der Text enthält eine Einleitung, in der das Thema genannt wird.", "B")
    assert [f.rule for f in check(rubric(one, again))] == ["overlap"]


def test_a_draft_that_is_no_rubric_yet_is_read_the_same_way() -> None:
    draft = draft_from(rubric(criterion("Die Antwort ist gut, etc.", "Güte")))
    draft = {**draft, "name": ""}
    assert check_draft(draft) == ()
    assert unread_draft(draft) == ("Güte",)
    assert unread_draft({**draft, "criteria": []}) == ()


def test_lint_says_which_criteria_it_did_not_read(tmp_path: Path) -> None:
    file = tmp_path / "deutsch.yaml"
    file.write_text("- {name: Güte, requirement: 'Die Antwort ist gut, vollständig etc.'}")
    done = CliRunner().invoke(main, ["lint", str(file), "--fail-on", "remark"])
    assert done.exit_code == 0
    assert "checked in English only: of “Güte” options" in done.output
