"""A rubric's rules in words, and word-by-word comparison of two texts."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from difflib import SequenceMatcher
from typing import Any

from core.scoring import FAMILY_WORDS

_COMPARE = {
    "below": "is below",
    "at_most": "is at most",
    "above": "is above",
    "at_least": "is at least",
    "is": "is",
    "in": "is one of",
}
_MISSING = {
    "review": "If that cannot be decided, a person reviews the item.",
    "skip": "If that cannot be decided, the gate is passed over.",
    "fire": "If that cannot be decided, the gate counts as met.",
}


def gate_words(gate: Mapping[str, Any]) -> str:
    """Return a gate (as plain data) in sentences.

    >>> gate_words({"when": {"criterion": "A", "below": 0.5}, "then": {"cap": 0.4}}).split(": ")[0]
    "When 'A' is below 0.5"
    """
    when, then = _condition_words(gate["when"]), _effect_words(gate["then"])
    if not when or not then:
        return "This gate is not complete yet, and does nothing."
    because = gate["then"].get("reason", "").strip().rstrip(".")
    because = f", because: {because}" if because else ""
    missing = _MISSING[gate.get("on_missing", "review")]
    return f"When {when}: {then}{because}. {missing}"


def _condition_words(condition: Mapping[str, Any]) -> str:
    """Return the condition in words; empty if it has no predicate yet."""
    subject = repr(condition.get("criterion"))
    if condition.get("tag") is not None:
        number = condition.get("count_at_least")
        subject = f"at least {number} of the criteria tagged {condition['tag']!r}"
    if condition.get("abstained") is not None:
        return f"{subject} {'abstained' if condition['abstained'] else 'did not abstain'}"
    for name, phrase in _COMPARE.items():
        if condition.get(name) not in (None, []):
            return f"{subject} {phrase} {_value_words(condition[name])}"
    return ""


def _value_words(value: Any) -> str:
    if isinstance(value, list | tuple):
        return " or ".join(map(_value_words, value))
    return repr(value) if isinstance(value, str) else f"{value:g}"


def _effect_words(effect: Mapping[str, Any]) -> str:
    parts = list[str]()
    if effect.get("multiply") is not None:
        parts.append(f"the score is multiplied by {effect['multiply']:g}")
    if effect.get("cap") is not None:
        parts.append(f"the score is at most {effect['cap']:g}")
    if effect.get("verdict"):
        parts.append("the item fails" if effect["verdict"] == "fail" else "a person must review it")
    if effect.get("flag"):
        parts.append(f"the item is flagged {effect['flag']!r}")
    return ", ".join(parts)


def penalty_words(penalty: Mapping[str, Any]) -> str:
    """Return a length penalty (as plain data) in a sentence.

    >>> penalty_words({"free_budget": 100, "max_cap": 200, "penalty_at_cap": 0.5, "exponent": 1.6,
    ...                "count": "words", "of": "all"})
    'Free up to 100 words of all text, then rising (exponent 1.6) to 0.5 taken from 200 on.'
    """
    measured = {"all": "all text", "output": "the output", "thinking": "the thinking"}[
        penalty["of"]
    ]
    return (
        f"Free up to {penalty['free_budget']:,} {penalty['count']} of {measured}, then rising "
        f"(exponent {penalty['exponent']:g}) to {penalty['penalty_at_cap']:g} taken from "
        f"{penalty['max_cap']:,} on."
    )


def decision_words(decision: Mapping[str, Any]) -> str:
    """Return a decision (as plain data) in sentences.

    >>> decision_words({"pass_at": 0.7, "fail_below": 0.4})
    'Passes from 0.7 on, fails below 0.4; between the two a person decides.'
    """
    passing = decision.get("pass_at")
    if passing is None:
        return "This decision has no threshold yet."
    floor = decision.get("fail_below")
    band = floor is not None and floor != passing
    text = (
        f"Passes from {passing:g} on, fails below {floor:g}; between the two a person decides."
        if band
        else f"Passes from {passing:g} on, fails below."
    )
    within, ends = decision.get("review_within"), "a threshold" if band else "that"
    return text + (f" Within {within:g} of {ends}, too, a person decides." if within else "")


def check_words(check: Mapping[str, Any]) -> str:
    """Return a pre-check (as plain data) in sentences.

    >>> check_words({"families": ["self_harm"], "action": "flag"})
    'When the text holds self-harm, a person reviews the item. The score stays as it is.'
    """
    families = [FAMILY_WORDS[name] for name in check.get("families", ())]
    patterns = list(map(repr, check.get("patterns", ())))
    sought = (
        families
        + patterns[:3]
        + ([f"{len(patterns) - 3} more phrases"] if len(patterns) > 3 else [])
    )
    if not sought:
        return "This pre-check looks for nothing yet."
    head = (
        f"When the text holds {_joined_by_or(sought)}{_exception_words(check.get('unless_near'))}"
    )
    then = {
        "flag": "a person reviews the item. The score stays as it is.",
        "cap": f"a person reviews the item; until then its score is at most "
        f"{check.get('cap') or 0:g}. The score before is kept.",
        "fail": "the item fails until a person has looked. The score stays as it is.",
    }[check.get("action", "flag")]
    return f"{head}, {then}"


def _exception_words(rule: Mapping[str, Any] | None) -> str:
    if not rule or not rule.get("terms"):
        return ""
    chars = rule.get("chars")
    where = "in the same sentence" if chars is None else f"within {chars} characters"
    return f", unless {_joined_by_or(list(map(repr, rule['terms'])))} stands {where}"


def _joined_by_or(words: Sequence[str]) -> str:
    *head, last = words
    return f"{', '.join(head)} or {last}" if head else last


#: Longer texts are not compared, because the time grows with the product of their words.
MOST_WORDS = 3000
_WORD = re.compile(r"\w+|[^\w\s]")

Span = tuple[int, int]


def word_diff(
    first: str, second: str, word: re.Pattern[str] = _WORD
) -> tuple[Spans, Spans, float | None]:
    """Return two texts' differences by words and punctuation (Ratcliff, Obershelp 1988).

    These are the differing spans ``(start, end)`` of each text, and the share of words in both, in
    [0, 1]; ``None``, without spans, if the texts are too long to compare.

    >>> word_diff("a red cat", "a blue cat")[:2]
    (((2, 5),), ((2, 6),))
    """
    first_words, second_words = list(word.finditer(first)), list(word.finditer(second))
    if max(len(first_words), len(second_words)) > MOST_WORDS:
        return (), (), None
    words = [m.group() for m in first_words], [m.group() for m in second_words]
    matcher = SequenceMatcher(None, *words, autojunk=False)
    first_spans, second_spans = list[Span](), list[Span]()
    for kind, i, j, k, m in matcher.get_opcodes():
        if kind == "equal":
            continue
        if j > i:
            first_spans.append((first_words[i].start(), first_words[j - 1].end()))
        if m > k:
            second_spans.append((second_words[k].start(), second_words[m - 1].end()))
    return tuple(first_spans), tuple(second_spans), matcher.ratio()


Spans = tuple[Span, ...]
#: Matches a word, or a parenthesis without spaces, such as an option's value.
_TECHNICAL_WORD = re.compile(r"\([^()\s]*\)|\w+(?:\.\w+)*|[^\w\s]")
_HARDLY = 0.3


def word_changes(before: str, after: str) -> tuple[Spans, Spans]:
    """Return the spans of ``before`` missing in ``after``, and the new spans of ``after``.

    Adjacent changed words form one span. If the texts have few words in common, or are too long to
    compare (``word_diff.MOST_WORDS``), each is a single span, which is easier to read than many
    pieces.

    >>> word_changes("It cites a source.", "It cites two sources.")
    (((9, 17),), ((9, 20),))
    """
    old_spans, new_spans, common = word_diff(before, after, _TECHNICAL_WORD)
    if common is None or (common < _HARDLY and before.split() and after.split()):
        return _whole_span(before), _whole_span(after)
    return old_spans, new_spans


def _whole_span(text: str) -> Spans:
    stripped = text.strip()
    start = text.find(stripped)
    return ((start, start + len(stripped)),) if stripped else ()
