"""Whether what is rewarded is good, what is penalised is bad, and which is which can be read."""

from __future__ import annotations

import re
from collections.abc import Iterator

from core.domain.rubric import Criterion
from core.services.checking.finding import Edit, Finding
from core.services.checking.language import alternatives, scored_options, words

_PRAISE = alternatives(
    [
        "accurate(?:ly)?",
        "clear(?:ly)?",
        "coherent(?:ly)?",
        "complete(?:ly)? (?:answers?|covers?)",
        "concise(?:ly)?",
        "correct(?:ly)?",
        "consistent(?:ly)?",
        "helpful",
        "polite(?:ly)?",
        "relevant",
        "respectful(?:ly)?",
        "truthful(?:ly)?",
        "well[- ](?:organi[sz]ed|structured|written|supported)",
        "free of (?:errors|mistakes)",
    ]
)
_BLAME = alternatives(
    [
        "hallucinat(?:es?|ed|ions?)",
        "fabricat(?:es?|ed|ions?)",
        "insult(?:s|ing)?",
        "toxic(?:ity)?",
        "harmful",
        "offensive",
        "misleading",
        "plagiari[sz]e[sd]?",
        "contradicts? itself",
        "contains? (?:\\w+ )?(?:errors?|mistakes?|bias|falsehoods?|misinformation)",
        "makes? (?:\\w+ )?(?:errors?|mistakes?)",
        "invents? (?:facts?|sources?|quotes?|figures?|citations?)",
        "off[- ]topic",
        "unsafe",
        "biased",
        "rude(?:ly)?",
    ]
)
_NEGATION = re.compile(
    r"\b(?:no|not|never|none|neither|nor|without|nothing|cannot|avoids?|refrains?|free|lacks?|"
    r"fails?|misses|missing|instead|rejects?|refuses?|prevents?|\w+n['’]t|wrong(?:ly)?|false(?:ly)?|"
    r"in(?:accurate|correct|complete|consistent|coherent)\w*|un(?!der|til|it|iq|ion|less)\w+|irrelevan\w+|corrects|how|although|"
    r"warns?|points? out|flags?|identif\w+|names?|finds?|notices?|but)\b",
    re.IGNORECASE,
)
_DOUBLE = re.compile(
    r"\b(?:not|never|\w+n['’]t|cannot)\b(?:\s+\w+){0,4}?\s+"
    r"(?:without|fail(?:s|ed)? to|lack(?:s|ed|ing)?|omit(?:s|ted)?|not|never|no|neglects?|"
    r"un(?:clear|supported|necessary|related|true|founded|justified)\w*|"
    r"in(?:accurate|correct|complete|consistent|coherent|appropriate)\w*|missing|absent)\b",
    re.IGNORECASE,
)
#: Words of quality only: "none" and "some" are amounts, and less of a thing is often better.
_RANKS = {
    word: rank
    for rank, group in enumerate(
        (
            "worst terrible unacceptable incorrect wrong bad poor inadequate weak",
            "fair mediocre developing",
            "good correct satisfactory adequate proficient strong",
            "excellent outstanding perfect exemplary best exceptional",
        )
    )
    for word in group.split()
}


def reversed_sign(criterion: Criterion) -> Iterator[Finding]:
    """A fault that earns points, or a virtue that costs them."""
    text = criterion.requirement
    if criterion.scale != "binary" or not criterion.weight or _NEGATION.search(text):
        return
    pattern = _BLAME if criterion.weight > 0 else _PRAISE
    match = pattern.search(text)
    other = _PRAISE if criterion.weight > 0 else _BLAME
    if match is None or other.search(text):
        return
    earns = "earns" if criterion.weight > 0 else "loses"
    yield Finding(
        "reversed-sign",
        ("weight",),
        f"A text that meets this (“{match[0]}”) {earns} {abs(criterion.weight):g} points.",
        "Turn the weight's sign around, or say the opposite in the requirement.",
        match[0],
        Edit("set", ("weight",), f"Make the weight {-criterion.weight:g}", -criterion.weight),
    )


def reversed_values(criterion: Criterion) -> Iterator[Finding]:
    """Levels whose labels and values run in opposite directions for the weight's sign."""
    known = [
        (rank, option.value or 0.0, option.label)
        for _, option in scored_options(criterion)
        if (rank := _rank(option.label)) is not None
    ]
    if criterion.scale == "binary" or len(known) < 2 or not criterion.weight:
        return
    low, high = min(known), max(known)
    gain = (high[1] - low[1]) * criterion.weight
    if low[0] == high[0] or gain >= 0:
        return
    yield Finding(
        "reversed-values",
        ("weight",) if criterion.weight < 0 else ("options",),
        f"“{high[2]}” gives fewer points than “{low[2]}”.",
        "With a negative weight the highest value costs most: turn the sign or the values around.",
        high[2],
        Edit("set", ("weight",), f"Make the weight {-criterion.weight:g}", -criterion.weight)
        if criterion.weight < 0
        else None,
    )


def _rank(label: str) -> int | None:
    ranks = [_RANKS[word] for word in words(label) if word in _RANKS]
    return ranks[0] if len(ranks) == 1 else None


def double_negative(criterion: Criterion) -> Iterator[Finding]:
    """Two negations that a reader must take apart."""
    match = _DOUBLE.search(criterion.requirement)
    if match:
        yield Finding(
            "double-negative",
            ("requirement",),
            f"“{match[0]}” says no twice.",
            "Say what is there; for a fault, name the fault and give it a negative weight.",
            match[0],
        )
