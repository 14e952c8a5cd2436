"""Options that judges cannot tell apart or reach, and missing abstentions."""

from __future__ import annotations

import re
from collections.abc import Iterator
from difflib import SequenceMatcher
from itertools import combinations, pairwise

from core.domain.rubric import Criterion, Option
from core.lint.language import (
    DEGREES,
    NUMBER_WORDS,
    has_content,
    names_anything,
    scored_options,
    word_set,
    words_of,
)
from core.lint.rules import LintEdit, LintFinding

#: If there are more levels, each needs an anchor, or judges use only the ends and the middle.
MANY_LEVELS = 5
#: Anchors at least this similar (words in order, 1 is identical) mean the same.
SAME_ANCHOR = 0.9
#: Longer anchors only match if they are equal, because the time grows with the product of the
#: numbers of words.
MOST_COMPARED = 300
_NEGATIONS = frozenset(word_set("cannot neither never no none nor not nothing without"))

_RANGE = re.compile(r"\b(\d+)\s*(?:-|–|to|through)\s*(\d+)\s+([a-z]+)", re.IGNORECASE)
_NUMBERED = re.compile(r"(?:level\s*)?\d+(?:[.,]\d+)?", re.IGNORECASE)
#: One-word labels of quality that name no content.
_PRAISE = DEGREES | frozenset(
    word_set(
        """a advanced agree b beginning c competent correct d developing disagree emerging exemplary
    expected exceeds exceptional expert f high incorrect intermediate low medium meets middle
    neutral no novice ok okay proficient strongly yes expectations below above satisfies"""
    )
)


def unanchored_levels(criterion: Criterion) -> Iterator[LintFinding]:
    """Find levels named by a number or by praise, without an anchor."""
    bare = [
        (at, option) for at, option in scored_options(criterion) if _is_undefined(criterion, option)
    ]
    if criterion.scale != "ordinal" or not bare:
        return
    names = ", ".join(f"“{option.label}”" for _, option in bare[:6]) + (
        ", …" if len(bare) > 6 else ""
    )
    total, single = len(scored_options(criterion)), len(bare) == 1
    path = ("options", bare[0][0], "description")
    advice = "Say for each level what a text looks like that just earns it."
    if total > MANY_LEVELS:
        sentence = (
            f"{total} levels, and {len(bare)} {'has' if single else 'have'} no anchor: {names}."
        )
        advice = f"Anchor each level, or go down to {MANY_LEVELS} or fewer."
        yield LintFinding("many-unanchored-levels", path, sentence, advice)
    elif all(_is_number_label(option) for _, option in bare):
        levels = f"The level {names} is a bare number" if single else f"{names} are bare numbers"
        sentence = f"{levels}: nothing says what earns a {bare[0][1].label}."
        yield LintFinding("bare-numbers", path, sentence, advice)
    elif any(_is_only_praise(option) for _, option in bare) and not _is_yes_no_scale(criterion):
        verb = "says" if single else "say"
        yield LintFinding(
            "adjective-levels", path, f"{names} {verb} how good, not what is there.", advice
        )


def _is_number_label(option: Option) -> bool:
    return bool(_NUMBERED.fullmatch(option.label.strip()))


def _is_undefined(criterion: Criterion, option: Option) -> bool:
    """Return whether neither label nor anchor says what earns the level.

    For a number two words may be enough ("One source").
    """
    if not _is_number_label(option):
        return not has_content(option)
    label = re.escape(option.label.strip())
    in_text = re.search(rf"(?<!\d){label}\s*(?:=|means\b)\s*[^\W\d]", criterion.requirement)
    return not (names_anything(option) or in_text)


#: Answers to a yes/no question.
_YES_NO = frozenset(word_set("yes no maybe unsure partly partially somewhat mostly not sure"))
_YES_NO_QUESTION = re.compile(
    r"(?:\A|[.?!:]\s+|\n)(?:is|are|was|were|does|do|did|has|have|can|could|will|would|should)\b"
    r"[^.?!]*\?",
    re.IGNORECASE,
)


def _is_yes_no_scale(criterion: Criterion) -> bool:
    """Return whether the options are yes, no and levels in between, for a yes/no question."""
    labels = {word for _, option in scored_options(criterion) for word in words_of(option.label)}
    return {"yes", "no"} <= labels <= _YES_NO and bool(
        _YES_NO_QUESTION.search(criterion.requirement)
    )


def _is_only_praise(option: Option) -> bool:
    return set(words_of(option.label)) <= _PRAISE | {"very", "not"}


def adverb_levels(criterion: Criterion) -> Iterator[LintFinding]:
    """Find two anchors that differ only by words of degree."""
    for (_, lower), (at, upper) in combinations(_anchored_options(criterion), 2):
        plain = [_words_without_degrees(option.description) for option in (lower, upper)]
        if plain[0] == plain[1] and words_of(lower.description) != words_of(upper.description):
            yield LintFinding(
                "adverb-levels",
                ("options", at, "description"),
                f"“{lower.label}” and “{upper.label}” differ only by words of degree.",
                "Say what is there at one level and missing at the other.",
                upper.description[:120],
            )
            return


def indistinct_options(criterion: Criterion) -> Iterator[LintFinding]:
    """Find two options whose anchors say the same."""
    for (_, lower), (at, upper) in combinations(_anchored_options(criterion), 2):
        first, second = words_of(lower.description), words_of(upper.description)
        # A changed content word is a difference, unless the anchors are otherwise nearly identical;
        # a negation always is.
        changed = (set(first) ^ set(second)) - DEGREES
        nearly_equal = len(changed) <= 1 and not changed & _NEGATIONS
        if first == second or (nearly_equal and _anchor_similarity(first, second) >= SAME_ANCHOR):
            yield LintFinding(
                "indistinct-options",
                ("options", at, "description"),
                f"The anchors of “{lower.label}” and “{upper.label}” say the same.",
                "Merge the two, or say what decides between them.",
                upper.description[:120],
            )
            return


def _anchored_options(criterion: Criterion) -> list[tuple[int, Option]]:
    return [(at, option) for at, option in scored_options(criterion) if option.description.strip()]


def _words_without_degrees(text: str) -> tuple[str, ...]:
    return tuple(word for word in words_of(text) if word not in DEGREES)


def _anchor_similarity(first: tuple[str, ...], second: tuple[str, ...]) -> float:
    if max(len(first), len(second)) > MOST_COMPARED:
        return 0.0
    return SequenceMatcher(None, first, second, autojunk=False).ratio()


def overlapping_ranges(criterion: Criterion) -> Iterator[LintFinding]:
    """Find number ranges of neighbouring levels that overlap or leave a gap."""
    if criterion.scale != "ordinal":
        return
    spans = [
        (at, option, m)
        for at, option in _anchored_options(criterion)
        if (m := _RANGE.search(option.description))
    ]
    ordered = sorted(spans, key=lambda lower: int(lower[2][1]))
    for (_, lower, low), (at, upper, high) in pairwise(ordered):
        if low[3].lower() != high[3].lower() or low[3].lower() in NUMBER_WORDS:
            continue
        end, start = int(low[2]), int(high[1])
        if start <= end:
            number = f"{start} {high[3]}" if start == end else f"{start} to {end} {high[3]}"
            sentence = f"{number} fit both “{lower.label}” and “{upper.label}”."
        elif start > end + 1:
            missing = f"{end + 1}" if start == end + 2 else f"{end + 1} to {start - 1}"
            sentence = f"{missing} {high[3]} fit neither “{lower.label}” nor “{upper.label}”."
        else:
            continue
        yield LintFinding(
            "overlapping-ranges",
            ("options", at, "description"),
            sentence,
            "Let each number belong to exactly one level.",
            f"{low[0]} / {high[0]}",
        )


def same_values(criterion: Criterion) -> Iterator[LintFinding]:
    """Find options that all have the same value, or two levels that do."""
    scored = scored_options(criterion)
    values = [option.value for _, option in scored]
    if len(set(values)) == 1:
        yield LintFinding(
            "no-difference",
            ("options",),
            f"Each option is worth {values[0]:g}, so the answer changes no score.",
            "Give the best answer 1 and the worst 0.",
            edit=LintEdit("spread", (), "Spread values from 0 to 1"),
        )
        return
    if criterion.scale != "ordinal":
        return
    for (_, lower), (at, upper) in pairwise(scored):
        if lower.value == upper.value:
            yield LintFinding(
                "same-value",
                ("options", at, "value"),
                f"“{lower.label}” and “{upper.label}” are both worth {upper.value:g}.",
                "Give them different values, or merge them.",
                edit=LintEdit("spread", (), "Spread values evenly"),
            )
            return


_CONDITION = re.compile(
    r"^\s*(?:if|(?:when|whenever)(?! [\w-]+ing\b)|"
    r"where(?! (?:\w+ing|does|do|is|are|did|has|have|can|in)\b)|in case|"
    r"for (?:questions|answers|requests|tasks|submissions) (?:that|which|with|about))\b[^.?!]*?,",
    re.IGNORECASE,
)
_TRAILING = re.compile(
    r"\b(?:if (?:there (?:is|are)|any|applicable|relevant|asked|present)|when (?:applicable|asked|"
    r"present|relevant)|where (?:applicable|relevant))\b",
    re.IGNORECASE,
)


def no_not_applicable(criterion: Criterion) -> Iterator[LintFinding]:
    """Find a conditional requirement that earns points but has no "not applicable" option."""
    match = _CONDITION.search(criterion.requirement) or _TRAILING.search(criterion.requirement)
    if match is None or criterion.weight <= 0 or any(option.na for option in criterion.options):
        return
    condition = match[0].strip().rstrip(",")
    yield LintFinding(
        "no-not-applicable",
        ("options",),
        f"Holds only under a condition (“{condition[:80]}”), and no option says that it is not so.",
        "Add an abstention for texts to which it does not apply; they then neither gain nor lose.",
        condition[:120],
        LintEdit(
            "abstain",
            (),
            "Add “Not applicable”",
            ["Not applicable", "The condition does not hold for this text."],
        ),
    )


def forced_choice(criterion: Criterion) -> Iterator[LintFinding]:
    """Find a forced choice, where an undecided judge has to guess."""
    if criterion.forced_choice and not any(option.na for option in criterion.options):
        yield LintFinding(
            "forced-choice",
            ("forced_choice",),
            "Judges that cannot tell have to guess, and guesses look like answers.",
            "Let judges abstain; what an abstention costs is set under Scoring.",
            edit=LintEdit("set", ("forced_choice",), "Let judges abstain", False),
        )


_WAY_OUT = re.compile(
    r"(?:unsure|not sure|don['’]t know|cannot (?:tell|say|judge|assess)|can['’]t (?:tell|say)|n/?a|"
    r"not applicable|not assessed|not observed|keine angabe|"
    r"nicht (?:anwendbar|beurteilbar)|sans objet|no aplica)",
    re.IGNORECASE,
)


def scored_abstention(criterion: Criterion) -> Iterator[LintFinding]:
    """Find a "cannot tell" option without an anchor that is worth points."""
    for at, option in enumerate(criterion.options):
        if option.na or has_content(option) or not _WAY_OUT.fullmatch(option.label.strip()):
            continue
        yield LintFinding(
            "scored-abstention",
            ("options", at, "na"),
            f"“{option.label}” reads like an abstention and is scored {option.value:g}.",
            "Mark it as an abstention; what one costs is set under Scoring. If it is an answer of "
            "its own, say in its anchor what it stands for.",
            option.label,
        )
