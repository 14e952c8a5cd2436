"""Find words that two judges would understand differently."""

from __future__ import annotations

import re
from collections.abc import Iterator

from core.domain.rubric import Criterion
from core.lint.language import (
    NUMBER_WORDS,
    alternatives,
    content_stems,
    defines_its_words,
    has_all_anchors,
    without_quotations,
    word_set,
    words_of,
)
from core.lint.rules import LintFinding, Path

_VAGUE = alternatives(
    word_set(
        r"""acceptable adequate adequately appropriate appropriately compelling decent
    effective effectively engaging excellent good great high[-\s]quality helpful ideal
    interesting meaningful meaningfully nice nuanced optimal proper properly quality reasonable
    reasonably robust satisfactory solid sophisticated suitable suitably strong useful
    well[-\s]written well[-\s]done insightful impressive professional sensible sensibly
    thoughtful"""
    )
)
_CLAIMED = (
    r"(?:clear|clean|coherent|convincing|creative|efficient|elegant|fluent|friendly|logical|natural|"
    r"persuasive|readable|relevant|understandable)"
)
#: Praise at the end of a sentence: "is clear." is vague, "is clear from the title" is not.
_PREDICATE = re.compile(
    rf"\b(?:is|are|be|sounds?|reads?|seems?)\s+(?:(?:very|quite|always|highly)\s+)?{_CLAIMED}"
    r"(?=\s*(?:[.;!?]|$))"
    rf"|^\W*(?:is|are) (?:it|(?:the|this|an?) (?:\w+ ){{1,2}}?){_CLAIMED}\s*\?"
    r"|\bmakes?\s+sense(?=\s*(?:[.,;!?]|and\b|$))",
    re.IGNORECASE,
)
#: "Which kind of answer" asks for a kind; "is kind of rude" hedges.
_NAMED = "".join(
    f"(?<!\\b{word} )"
    for word in ("which", "what", "this", "that", "the", "one", "each", "any", "a")
)
_HEDGES = alternatives(
    [
        "generally",
        "typically",
        "usually",
        "normally",
        "ideally",
        "preferably",
        "somewhat",
        "to some (?:extent|degree)",
        "more or less",
        "for the most part",
        "if possible",
        "where possible",
        "when possible",
        "if necessary",
        "where necessary",
        "if needed",
        "as needed",
        "as appropriate",
        "where appropriate",
        "when appropriate",
        "if appropriate",
        "should try",
        "may want to",
        f"{_NAMED}(?:kind|sort) of",
        "perhaps",
        "arguably",
        r"roughly(?! (?:\d|equal|equivalent))",
    ]
)
_THRESHOLDS = alternatives(
    [
        "sufficient(?:ly)?",
        r"enough(?! to \w)",
        "substantial(?:ly)?",
        "considerabl[ey]",
        "significant(?:ly)?",
        "minimal(?:ly)?",
        "excessive(?:ly)?",
        "too (?:long|short|many|much|few|little|often)",
        "a few",
        "a lot",
        "a number of",
        "(?<!how )many",
        "numerous",
        "several",
        "frequent(?:ly)?",
        "rarely",
    ]
)
#: Dots followed by another member ("1, 2, ..., 9") close the list.
_OPEN_LIST = re.compile(
    r"\betc\b\.?|\band so (?:on|forth)\b|\band the like\b|\.{3,}(?!\.|,?\s*[\"\w$|\\{])"
)
_INNER = re.compile(
    r"\b(?:demonstrat|show|display|possess|exhibit|ha)(?:es|ing|s|ve|e)?\s+(?:an?\s+|the\s+)?"
    r"(?:\w+\s+){0,2}(?:understanding|grasp|awareness|appreciation|insight|mastery)\b"
    r"|\b(?:understands|appreciates|grasps|realises|realizes|genuinely|sincerely|intends|"
    r"(?:tries|tried) hard|puts in effort|cares about|feels that|is aware of)\b",
    re.IGNORECASE,
)
_RELATIVE = re.compile(
    r"\b(?:better|worse|longer|shorter|clearer) than (?:the )?(?:other|others|most|average|rest)\b"
    r"|\b(?:above|below)[- ]average\b|\bcompared (?:to|with) (?:the )?others?"
    r"(?=\s*(?:[.,;?!]|$|answers?|responses?|submissions?|essays?|students?|texts?)\b|[.,;?!]|$)"
    r"|\b(?:best|worst|top) (?:of|in|among) (?:the )?(?:class|group|set|batch|submissions|others)\b"
    r"|\bthan (?:the )?other (?:answers|responses|submissions|essays|students)\b",
    re.IGNORECASE,
)
_NUMBER_SCALE = re.compile(
    r"^\W*(?:please )?(?:rate|score|grade|mark|rank|give)\b[^.?!]{0,40}"
    r"\b(?:from|between|out of|scale)\b[^.?!]{0,20}\d"
    r"|\b(?:on|using) an? (?:\d+|\w+)[- ](?:point )?scale\b",
    re.IGNORECASE,
)
_LEVEL_IN_TEXT = re.compile(r"\b\d\s*=\s*[^\W\d_]\w+", re.IGNORECASE)
_UNFINISHED = re.compile(
    r"\b(?:TODO|TBD|FIXME|XXX|lorem ipsum)\b|<(?:insert|your|fill)[^>]*>|"
    r"\[(?:insert|your|fill|describe)[^\]]*\]",
    re.IGNORECASE,
)
_NAMED_BY_TEMPLATE = re.compile(r"(?:option|category|level|rating)\s+[a-z0-9]{1,2}", re.IGNORECASE)
#: Judges lose track of a requirement with more words.
WORDY = 90


def vague_words(criterion: Criterion) -> Iterator[LintFinding]:
    """Find a word of praise or blame that the criterion does not define."""
    text = without_quotations(criterion.requirement)
    match = _VAGUE.search(text) or _PREDICATE.search(text)
    if match and not defines_its_words(criterion):
        yield LintFinding(
            "vague",
            ("requirement",),
            f"“{match[0]}” is not said to mean anything that can be seen in the text.",
            "Say what a judge would find in the text, or give every option an anchor.",
            match[0],
        )


def hedging_words(criterion: Criterion) -> Iterator[LintFinding]:
    """Find a word that leaves open whether the requirement holds."""
    match = _HEDGES.search(without_quotations(criterion.requirement))
    if match:
        yield LintFinding(
            "hedged",
            ("requirement",),
            f"“{match[0]}” leaves it to each judge whether this is required.",
            "Leave the word out, or say in which cases it is required.",
            match[0],
        )


def undefined_threshold(criterion: Criterion) -> Iterator[LintFinding]:
    """Find an amount without a number, in the requirement and its anchors."""
    match = _THRESHOLDS.search(without_quotations(criterion.requirement))
    if match is None or defines_its_words(criterion) or _has_number(criterion.requirement):
        return
    yield LintFinding(
        "undefined-threshold",
        ("requirement",),
        f"“{match[0]}” is a threshold without a definition.",
        "Give the number or the test that decides (at least two, every paragraph, none left out).",
        match[0],
    )


def _has_number(text: str) -> bool:
    tokens = words_of(text)
    return any(word[0].isdigit() or (word in NUMBER_WORDS - {"no"}) for word in tokens)


def open_list(criterion: Criterion) -> Iterator[LintFinding]:
    """Find a list without an end."""
    match = _OPEN_LIST.search(criterion.requirement)
    if match:
        yield LintFinding(
            "open-list",
            ("requirement",),
            f"“{match[0]}” makes each judge continue the list alone.",
            "Finish the list, or name the rule that its members have in common.",
            match[0],
        )


def inner_state(criterion: Criterion) -> Iterator[LintFinding]:
    """Find a state of the writer's mind, which a text cannot show."""
    match = _INNER.search(without_quotations(criterion.requirement))
    if match and not has_all_anchors(criterion):
        yield LintFinding(
            "inner-state",
            ("requirement",),
            f"“{match[0]}” is in the writer's head; a judge sees only the text.",
            "Name what the text has to contain (names the cause, uses the formula, gives a case).",
            match[0],
        )


def comparisons_with_others(criterion: Criterion) -> Iterator[LintFinding]:
    """Find a comparison with texts that the judge does not see."""
    match = _RELATIVE.search(without_quotations(criterion.requirement))
    if match:
        yield LintFinding(
            "relative",
            ("requirement",),
            f"“{match[0]}” compares with texts that the judge does not see.",
            "Describe what the text itself must do; to compare systems, use a comparison.",
            match[0],
        )


def asks_for_number(criterion: Criterion) -> Iterator[LintFinding]:
    """Find a requirement that asks for a number, although the answer is an option."""
    match = _NUMBER_SCALE.search(criterion.requirement)
    if match:
        yield LintFinding(
            "asks-for-number",
            ("requirement",),
            f"“{match[0]}” asks for a number, but judges pick one of the options.",
            "Ask the question only, and describe each level in its option's anchor.",
            match[0],
        )
        return
    match = _LEVEL_IN_TEXT.search(criterion.requirement)
    if match and len(_LEVEL_IN_TEXT.findall(criterion.requirement)) > 1:
        yield LintFinding(
            "asks-for-number",
            ("requirement",),
            f"“{match[0]}” explains a number here, and judges answer with the number of an option "
            "as it is shown to them.",
            "Ask the question only, and move each explanation into its option's anchor.",
            match[0],
        )


def placeholder_text(criterion: Criterion) -> Iterator[LintFinding]:
    """Find placeholder text."""
    places: list[tuple[Path, re.Match[str] | None]] = [
        (("requirement",), _UNFINISHED.search(criterion.requirement))
    ]
    for at, option in enumerate(criterion.options):
        places.append((("options", at, "description"), _UNFINISHED.search(option.description)))
        if not option.description.strip():
            template = _NAMED_BY_TEMPLATE.fullmatch(option.label.strip())
            places.append((("options", at, "label"), template))
    for path, match in places:
        if match:
            sentence = f"“{match[0]}” was never filled in."
            yield LintFinding("unfinished", path, sentence, "Fill it in.", match[0])
            return


def wordy_requirements(criterion: Criterion) -> Iterator[LintFinding]:
    """Find a requirement too long for a judge to keep in mind."""
    count = len(words_of(criterion.requirement))
    if count > WORDY:
        yield LintFinding(
            "wordy",
            ("requirement",),
            f"The requirement has {count} words; the question drowns in them.",
            "Keep the question; move explanations to the anchors or the guidelines.",
        )


def circular_requirements(criterion: Criterion) -> Iterator[LintFinding]:
    """Find a requirement that only repeats the criterion's name."""
    question_words, named = (
        set(content_stems(criterion.requirement)),
        set(content_stems(criterion.name)),
    )
    empty = named | {
        "good",
        "high",
        "qualit",
        "excellent",
        "overall",
        "appropriat",
        "rat",
        "evaluat",
    }
    title = words_of(criterion.name)
    # Files may leave the name out; it is then taken from the start of the requirement.
    unnamed = len(title) > 2 and words_of(criterion.requirement)[: len(title)] == title
    if (
        question_words & named
        and question_words <= empty
        and not unnamed
        and not defines_its_words(criterion)
    ):
        yield LintFinding(
            "circular",
            ("requirement",),
            f"Says no more than its name, “{criterion.name}”.",
            "Say by what a judge recognises it in the text.",
            criterion.requirement[:80],
        )
