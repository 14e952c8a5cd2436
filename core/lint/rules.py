"""Findings of a check, with their places and edits, and the source of every rule."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal, NamedTuple

from core.domain.rubric import Criterion, Rubric

Path = tuple[str | int, ...]
Severity = Literal["slight", "serious"]
#: Set a field, split a criterion in two, add an abstention, remove a gate, or spread values evenly.
Act = Literal["set", "split", "abstain", "remove", "spread"]


class LintEdit(NamedTuple):
    """An edit that fixes a finding in one click; ``words`` label its button.

    ``path`` counts from the rubric. ``value`` is the field's new value (set), the two requirements
    (split), or the abstention's label and description (abstain).
    """

    act: Act
    path: Path
    words: str
    value: Any = None


@dataclass(frozen=True, slots=True)
class LintFinding:
    """A finding. ``path`` is its place in the rubric, empty for the whole rubric.

    ``rule`` is a key of ``rules.RULES``, which says why it matters and gives the source. ``quote``
    is the text of the rubric that triggered it. ``also`` lists other places that it concerns.
    """

    rule: str
    path: Path
    sentence: str
    mend: str
    quote: str = ""
    edit: LintEdit | None = None
    also: tuple[Path, ...] = ()

    @property
    def criterion(self) -> int | None:
        """Return the index of the criterion, or ``None``."""
        return _index_in_path(self.path, "criteria")

    @property
    def gate(self) -> int | None:
        """Return the index of the gate, or ``None``."""
        return _index_in_path(self.path, "gates")


#: Checks one criterion; places and edits are relative to it.
CriterionCheck = Callable[[Criterion], Iterable[LintFinding]]
#: Checks the whole rubric.
RubricCheck = Callable[[Rubric], Iterable[LintFinding]]


def moved_to_criterion(finding: LintFinding, index: int) -> LintFinding:
    """Move a criterion's finding to criterion ``index`` of its rubric.

    >>> moved_to_criterion(LintFinding("vague", ("requirement",), "", ""), 2).path
    ('criteria', 2, 'requirement')
    """
    head = ("criteria", index)
    edit = finding.edit and finding.edit._replace(path=(*head, *finding.edit.path))
    return replace(finding, path=(*head, *finding.path), edit=edit)


def _index_in_path(path: Path, kind: str) -> int | None:
    index = path[1] if len(path) > 1 and path[0] == kind else None
    return index if isinstance(index, int) else None


# Every rule of the rubric check: its title, why it matters, and its source.
#
# A rule's source gives that advice or measured that effect. Rules of our own say so.

_WORDING = "Krosnick and Presser 2010, Question and Questionnaire Design (wording)"
_LABELS = "Krosnick and Presser 2010, Question and Questionnaire Design (labels of scale points)"
_POPHAM = "Popham 1997, What's Wrong - and What's Right - with Rubrics"
_BROOKHART = "Brookhart 2013, How to Create and Use Rubrics for Formative Assessment and Grading"
_MOSKAL = "Moskal and Leydens 2000, Scoring Rubric Development: Validity and Reliability"
_NEGATED = "Weijters and Baumgartner 2012, Misresponse to Reversed and Negated Items in Surveys"
_MULTIPLE = "Keeney and Raiffa 1976, Decisions with Multiple Objectives (non-redundancy)"
_OURS = "A rule of our own"
_ASKED = "How judges are asked here: the text as written, one numbered option as the answer"
_SCORED = "How scores are computed here: weight times value, then gates"


class LintRule(NamedTuple):
    """A rule: its title on screen, severity, reason and source."""

    title: str
    severity: Severity
    why: str
    source: str


RULES: Mapping[str, LintRule] = {
    "double-barrelled": LintRule(
        "Two questions in one",
        "serious",
        "A text that has the one and not the other has no right answer, so judges disagree.",
        _WORDING,
    ),
    "vague": LintRule(
        "Vague word",
        "serious",
        "Words of praise mean something else to each judge; what can be seen in a text does not.",
        _WORDING,
    ),
    "hedged": LintRule(
        "Hedge",
        "slight",
        "A requirement that holds only more or less can be met and unmet by the same text.",
        _WORDING,
    ),
    "undefined-threshold": LintRule(
        "Threshold not drawn",
        "serious",
        "Each judge draws the line somewhere else, and again somewhere else next time.",
        _WORDING,
    ),
    "open-list": LintRule(
        "Open list",
        "slight",
        "What belongs to the rest of the list is for each judge to imagine.",
        _WORDING,
    ),
    "inner-state": LintRule(
        "Not in the text",
        "serious",
        "Understanding or effort is inferred; only what a text does can be checked and contested.",
        "Mager 1962, Preparing Objectives for Programmed Instruction",
    ),
    "relative": LintRule(
        "Compares with what is not shown",
        "serious",
        "A judge sees one text; a comparison with others makes it guess what they are like.",
        "Glaser 1963, Instructional Technology and the Measurement of Learning Outcomes",
    ),
    "asks-for-number": LintRule(
        "Asks for a number",
        "serious",
        "Two scales at once, the one in the text and the options, and judges mix them up.",
        _ASKED,
    ),
    "unfinished": LintRule(
        "Not filled in", "serious", "Judges are sent these words as they stand.", _ASKED
    ),
    "wordy": LintRule(
        "Long requirement",
        "slight",
        "The longer the question, the more of it is passed over, and not the same part each time.",
        _OURS,
    ),
    "circular": LintRule(
        "Says only its name",
        "serious",
        "Each judge fills an empty requirement with a definition of their own.",
        _POPHAM,
    ),
    "many-unanchored-levels": LintRule(
        "Many levels, no anchors",
        "serious",
        "The more levels have no words, the more each judge must guess where one ends.",
        _LABELS,
    ),
    "bare-numbers": LintRule(
        "Levels are bare numbers",
        "serious",
        "Each judge must guess what a bare number means; words mean the same to all.",
        _LABELS,
    ),
    "adjective-levels": LintRule(
        "Adjectives instead of behaviour",
        "serious",
        "A level that is only called good is a verdict, not a description to compare a text with.",
        _BROOKHART,
    ),
    "adverb-levels": LintRule(
        "Levels differ by an adverb",
        "serious",
        "Where only the degree changes from level to level, the border between them is a matter of "
        "taste.",
        _OURS,
    ),
    "indistinct-options": LintRule(
        "Indistinguishable options",
        "serious",
        "Judges split over them at random, which looks like disagreement about the text.",
        _MOSKAL,
    ),
    "lookalike-names": LintRule(
        "Names that look the same",
        "serious",
        "People and tables cannot tell them apart, so votes for one are mistaken for votes for "
        "the other.",
        "Unicode Technical Standard 39, Unicode Security Mechanisms (confusable detection)",
    ),
    "overlapping-ranges": LintRule(
        "Numbers in two levels, or in none",
        "serious",
        "Answers must exclude each other and leave nothing out, or two judges count the same and "
        "answer differently.",
        _WORDING,
    ),
    "no-difference": LintRule(
        "Every option is worth the same",
        "serious",
        "The criterion is asked and paid for, and cannot change a score.",
        _SCORED,
    ),
    "same-value": LintRule(
        "Two levels are worth the same",
        "slight",
        "Judges must decide between two levels, and the decision changes no score.",
        _SCORED,
    ),
    "reversed-sign": LintRule(
        "Weight has the wrong sign",
        "serious",
        "MET means that the requirement holds, good or bad. The sign of the weight says which.",
        _SCORED,
    ),
    "reversed-values": LintRule(
        "Better costs more",
        "serious",
        "Label, value and weight contradict each other; judges follow the label, scores the value.",
        _SCORED,
    ),
    "double-negative": LintRule(
        "Double negative",
        "slight",
        "Some readers answer the opposite of what they mean.",
        _NEGATED,
    ),
    "needs-counting": LintRule(
        "Needs counting",
        "serious",
        "Language models see tokens, not words or letters, and how a text is parted into tokens "
        "changes what they count.",
        "Zhang, Cao and You 2024, Counting Ability of Large Language Models and Impact of "
        "Tokenization",
    ),
    "rewards-length": LintRule(
        "Rewards length",
        "serious",
        "Judges prefer the longer text as it is; a criterion that asks for more adds to it.",
        "Saito et al. 2023, Verbosity Bias in Preference Labeling by Large Language Models",
    ),
    "length-counted-twice": LintRule(
        "Length counted twice",
        "serious",
        "One property costs points in several places, so it weighs more than the weights say.",
        _MULTIPLE,
    ),
    "drowning-weight": LintRule(
        "One weight drowns the others",
        "slight",
        "The score is nearly this one answer; the other criteria cost calls and show in no rank.",
        _SCORED,
    ),
    "drowned-weight": LintRule(
        "A weight that cannot show",
        "slight",
        "Its whole range is below what is rounded away in a report.",
        _SCORED,
    ),
    "no-effect": LintRule(
        "Asked for nothing", "slight", "Each answer costs a call and changes no score.", _SCORED
    ),
    "no-penalty": LintRule(
        "Nothing takes points away",
        "slight",
        "A text that says everything, the false included, meets a list of good things best.",
        "Arora et al. 2025, HealthBench (as there: criteria with negative points)",
    ),
    "overlap": LintRule(
        "Two criteria ask the same",
        "serious",
        "What they share is counted twice, so it weighs more than the weights say.",
        _MULTIPLE,
    ),
    "no-not-applicable": LintRule(
        "No answer for what does not apply",
        "slight",
        "Where the condition fails, some judges say MET and some UNMET, and both are right.",
        _WORDING,
    ),
    "scored-abstention": LintRule(
        "Abstention that is scored",
        "slight",
        "Who cannot tell then gets the points of a real answer, and agreement counts it as one.",
        "How scores are computed here: an abstention is set aside, an answer is not",
    ),
    "forced-choice": LintRule(
        "Forced choice",
        "slight",
        "Errors fall where a judge may decline what it cannot tell; a forced guess hides doubt.",
        "El-Yaniv and Wiener 2010, On the Foundations of Noise-free Selective Classification",
    ),
    "inert-gate": LintRule(
        "Gate without effect",
        "serious",
        "It looks like a safeguard, and the score would be the same without it.",
        _SCORED,
    ),
    "always-gate": LintRule(
        "Gate that always fires",
        "serious",
        "What happens to every text is not a condition; scores are lower than the weights say.",
        _SCORED,
    ),
    "shadowed-gate": LintRule(
        "Gate behind a stricter one",
        "slight",
        "It can be changed or removed without any effect, which is unexpected in a gate.",
        _SCORED,
    ),
}
