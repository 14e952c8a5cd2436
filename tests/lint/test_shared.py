"""On rubrics that others wrote the findings are few, and each can be seen to be right."""

from __future__ import annotations

from collections import Counter

import pytest

from core.formats.folder import read_rubric_file
from core.lint.check import check
from core.lint.rules import RULES
from tests.places import ROOT

DATA = ROOT.parent / "shared" / "data"

#: What a reader finds, too. hanna, llm_rubric and roscoe have levels that are bare numbers; mohler
#: has six; four requirements define their scale in the question ("5 = fully correct"); three name
#: two qualities; hanna asks how much sense a story makes and how elaborate it is; saf_en has three
#: adjectives; dices350 pays half a point for "unsure".
EXPECTED = {
    "dices350": {"scored-abstention": 1},
    "hanna": {"bare-numbers": 6, "rewards-length": 1, "vague": 1},
    "llm_rubric_real": {"bare-numbers": 8, "double-barrelled": 1, "asks-for-number": 1},
    "llmbar": {},
    "mohler": {"many-unanchored-levels": 1, "asks-for-number": 1},
    "roscoe": {"bare-numbers": 2, "double-barrelled": 2, "asks-for-number": 1},
    "saf_en": {"adjective-levels": 1},
}


@pytest.mark.parametrize("name", EXPECTED)
def test_the_findings_on_a_published_rubric_are_those_a_reader_sees(name: str) -> None:
    file = DATA / name / "rubric.yaml"
    if not file.exists():
        pytest.skip(f"{name} is not at hand: it is read from beside the repository.")
    found = check(read_rubric_file(file).value)
    assert Counter(one.rule for one in found) == EXPECTED[name]


def test_the_document_lists_every_rule_with_its_reason_and_source() -> None:
    text = (ROOT / "docs" / "rubric-check.md").read_text()
    for name, rule in RULES.items():
        assert f"| `{name}` | {rule.severity} | {rule.title} | {rule.why} | {rule.source} |" in text
