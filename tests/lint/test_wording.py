"""Every check of wording: a requirement that trips it, and a near miss that does not."""

from __future__ import annotations

import pytest

from core.lint.check import check
from core.lint.rules import RULES
from tests.lint.made import criterion, levels, rubric

ANCHORED = (
    ("None", "No claim is backed by anything."),
    ("Some", "At least one claim has a source."),
    ("Each", "Each claim has a source that holds it."),
)

#: rule, requirement that trips it, near miss, what the two differ in.
TABLE = [
    # An adjective pair, a noun pair, two verbs, both ... and, and/or, two questions.
    ("double-barrelled", "The answer is clear and concise.", "The answer is clear (no term is used "
     "before it is explained)."),
    ("double-barrelled", "Judge grammar and spelling.", "Judge spelling in names and places."),
    ("double-barrelled", "The answer cites a source and explains its method.",
     "The answer cites a source that explains and supports the claim."),
    ("double-barrelled", "Does the answer name the cause and give an example?",
     "Does the answer name the cause of thunder and lightning?"),
    ("double-barrelled", "It gives both a cause for the effect and a remedy.",
     "It answers both readings of the question."),
    ("double-barrelled", "Names the author and/or the title.", "Names the author or the title."),
    ("double-barrelled", "Is a source named? Is the source real?",
     "Is a source named? A link counts as a name."),
    ("vague", "The tone is appropriate.", "The tone is appropriate: no slang, no orders."),
    ("vague", "The reply is of high quality.", "The reply names the product."),
    ("vague", "The argument is convincing.", "The argument is convincing to whom it quotes."),
    ("vague", "Makes sense.", "Says in which sense a word is used."),
    ("vague", "Gives good advice.", "States that good advice is rare."),
    ("vague", "Cites a professional source.", "Recommends to see a medical professional."),
    ("vague", "Has quality.", "Names a trade-off between cost and quality."),
    ("vague", "Gives a useful link.", "Gives a useful link, i.e. one that opens the form itself."),
    ("double-barrelled", "Judge accuracy and precision.",
     "Explains the difference between accuracy and precision."),
    ("hedged", "The answer generally names a source.", "The answer names a general rule."),
    ("hedged", "The answer is kind of rude.", "Which kind of answer is it?"),
    ("hedged", "Cites a source where appropriate.", "Cites a source for each figure."),
    ("undefined-threshold", "The answer gives sufficient evidence.",
     "The answer gives at least two pieces of evidence."),
    ("undefined-threshold", "The answer has many examples.", "The answer has three examples."),
    ("undefined-threshold", "Names several species.", "States that several species died out."),
    ("open-list", "Names sources, dates, etc.", "Names sources, dates, places."),
    ("inner-state", "The student demonstrates a deep understanding of photosynthesis.",
     "The student names what photosynthesis takes up and gives off."),
    ("inner-state", "The writer genuinely cares.", "The writer asks how the person is."),
    ("relative", "The essay argues better than other essays.",
     "The essay argues that cars are better than trains."),
    ("relative", "The answer is above average.", "The answer states the average."),
    ("asks-for-number", "Rate the tone from 1 to 5.", "Names the rate from 2019."),
    ("asks-for-number", "Is it right? 5 = fully right, 0 = wrong.", "Does it solve x = 5 rightly?"),
    ("asks-for-number", "How long is it: 1 = short, 2 = long?", "Does it show that 2 = sqrt 4?"),
    ("unfinished", "TODO: say what a source is.", "A list of things to do is given."),
    ("unfinished", "The answer names [insert the cause].", "The answer puts years in [brackets]."),
    ("double-negative", "The answer does not fail to name a source.",
     "The answer does not name a source."),
    ("double-negative", "It is never unclear what is meant.",
     "It is unclear what is meant."),
    ("needs-counting", "The summary has at most 150 words.", "The summary has one paragraph."),
    ("needs-counting", "Judge the number of sentences.", "Judge the number that the answer gives."),
    ("rewards-length", "The answer is detailed.", "The answer gives a detail that can be checked."),
    ("rewards-length", "The longer the response the better.", "Do not assume longer is better."),
    ("rewards-length", "Longer is better.", "Longer is not better."),
    ("rewards-length", "Is it helpful? The longer, the better.",
     "States that the longer the string, the higher the period."),
    ("rewards-length", "Longer answers get a higher grade.", "Says which wire is longer."),
    ("rewards-length", "Is it well argued? Prefer the longer essay.",
     "Is it well argued? Never prefer the longer essay."),
    ("rewards-length", "Give more points for more words.", "Give a point for each step named."),
    ("no-not-applicable", "If the user asks for code, the answer has tests.",
     "The answer says what happens if the user asks for code."),
    ("no-not-applicable", "Cites the passage where applicable.", "Says where the passage stands."),
]  # fmt: skip


def rules_of(requirement: str, **fields: object) -> set[str]:
    return {f.rule for f in check(rubric(criterion(requirement, **fields)))}


@pytest.mark.parametrize(("rule", "trips", "near"), TABLE, ids=lambda v: v[:40])
def test_a_check_of_wording_trips_and_lets_the_near_miss_pass(rule, trips, near) -> None:
    assert rule in rules_of(trips)
    assert rules_of(near) == set()


def test_a_requirement_that_says_only_its_name_is_told() -> None:
    assert rules_of("The answer has high clarity.", name="Clarity") == {"circular"}
    assert rules_of("Each term is explained before its use.", name="Clarity") == set()


def test_a_long_requirement_is_told_from_91_words_on() -> None:
    text = "The report names a source " + "of that " * 42  # 5 + 84 = 89 words
    assert rules_of(f"{text}kind") == set()  # 90
    assert rules_of(f"{text}very kind") == {"wordy"}  # 91


def test_anchors_define_what_a_vague_word_means() -> None:
    assert check(rubric(levels(*ANCHORED, requirement="How good is the evidence?"))) == ()
    bare = (("None", ""), ("A source", ""), ("A source per claim", ""))
    found = check(rubric(levels(*bare, requirement="How good is the evidence?")))
    assert {f.rule for f in found} == {"vague"}


@pytest.mark.parametrize(
    ("requirement", "weight", "trips"),
    [
        ("The answer contains factual errors.", 5, True),
        ("The answer contains factual errors.", -5, False),
        ("The answer contains no factual errors.", 5, False),
        ("The answer points out where the source is misleading.", 5, False),
        ("The tone is polite (no orders, no blame).", -5, False),  # the negation makes it unclear
        ("The dates are correct.", -5, True),
        ("The dates are correct.", 5, False),
        ("The dates are incorrect.", -5, False),
    ],
)
def test_a_weight_with_the_wrong_sign_is_told(requirement, weight, trips) -> None:
    assert ("reversed-sign" in rules_of(requirement, weight=weight)) is trips


def test_every_finding_names_a_known_rule_with_a_reason_and_a_source() -> None:
    for rule in RULES.values():
        assert rule.title
        assert rule.why.endswith(".")
        assert rule.source
    tried = {rule for rule, _, _ in TABLE}
    assert tried <= set(RULES)


def test_a_level_that_pays_for_length_is_told_where_it_stands() -> None:
    bare = (("Poor", "Names no source."), ("Good", "Names a source; longer answers are better."))
    found = check(rubric(levels(*bare, requirement="Is a source named?")))
    told = [f for f in found if f.rule == "rewards-length"]
    assert [(f.path, f.quote) for f in told] == [
        (("criteria", 0, "options", 1, "description"), "longer answers are better")
    ]
