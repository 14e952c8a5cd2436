"""Weights, signs and gates that dominate, cancel out or never change a score."""

from __future__ import annotations

import re
from collections.abc import Iterator

from core.domain.gates import Effect, Gate
from core.domain.rubric import Criterion, Rubric
from core.lint.language import alternatives, scored_options, words_of
from core.lint.rules import LintEdit, LintFinding
from core.scoring import score_item
from core.scoring.gates import evaluate_gates
from core.text.numbers import percent


def _text_words_pattern(*adjectives: str) -> str:
    """Return a pattern for these words, unless they describe a subject ("toxic vectors")."""
    nouns = (
        r"advice|answers?|claims?|content|information|instructions?|language|material|phrases?|"
        r"remarks?|replies|reply|responses?|statements?|stereotypes?|suggestions?|terms?|text|"
        r"tone|words?|wording|in|to|towards?|about|for|that|when"
    )
    return rf"(?:{'|'.join(adjectives)})(?=\W*$|\s*[.,;:?!]|\s+(?:{nouns})\b)"


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
        "(?:contains?|shows?|has) (?:\\w+ )?toxicity",
        _text_words_pattern(
            "toxic", "harmful", "offensive", "misleading", "unsafe", "biased", "rude(?:ly)?"
        ),
        "plagiari[sz]e[sd]?",
        "contradicts? itself",
        "contains? (?:\\w+ )?(?:errors?|mistakes?|bias|falsehoods?|misinformation)",
        "makes? (?:\\w+ )?(?:errors?|mistakes?)",
        "invents? (?:facts?|sources?|quotes?|figures?|citations?)",
        "off[- ]topic",
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
#: Only words of quality: "none" and "some" are amounts, and less of something is often better.
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


def reversed_sign(criterion: Criterion) -> Iterator[LintFinding]:
    """Find a fault that earns points, or a virtue that costs points."""
    text = criterion.requirement
    if criterion.scale != "binary" or not criterion.weight or _NEGATION.search(text):
        return
    pattern = _BLAME if criterion.weight > 0 else _PRAISE
    match = pattern.search(text)
    fitting_pattern = _PRAISE if criterion.weight > 0 else _BLAME
    if match is None or fitting_pattern.search(text):
        return
    earns = "earns" if criterion.weight > 0 else "loses"
    yield LintFinding(
        "reversed-sign",
        ("weight",),
        f"A text that meets this (“{match[0]}”) {earns} {abs(criterion.weight):g} points.",
        "Turn the weight's sign around, or say the opposite in the requirement.",
        match[0],
        LintEdit("set", ("weight",), f"Make the weight {-criterion.weight:g}", -criterion.weight),
    )


def reversed_values(criterion: Criterion) -> Iterator[LintFinding]:
    """Find levels whose labels and values disagree, given the weight's sign."""
    levels = [
        (rank, option.value or 0.0, option.label)
        for _, option in scored_options(criterion)
        if (rank := _rank_of_label(option.label)) is not None
    ]
    if criterion.scale == "binary" or len(levels) < 2 or not criterion.weight:
        return
    low, high = min(levels), max(levels)
    gain = (high[1] - low[1]) * criterion.weight
    if low[0] == high[0] or gain >= 0:
        return
    yield LintFinding(
        "reversed-values",
        ("weight",) if criterion.weight < 0 else ("options",),
        f"“{high[2]}” gives fewer points than “{low[2]}”.",
        "With a negative weight the highest value costs most: turn the sign or the values around.",
        high[2],
        LintEdit("set", ("weight",), f"Make the weight {-criterion.weight:g}", -criterion.weight)
        if criterion.weight < 0
        else None,
    )


def _rank_of_label(label: str) -> int | None:
    ranks = [_RANKS[word] for word in words_of(label) if word in _RANKS]
    return ranks[0] if len(ranks) == 1 else None


def double_negative(criterion: Criterion) -> Iterator[LintFinding]:
    """Find two negations that a reader must untangle."""
    match = _DOUBLE.search(criterion.requirement)
    if match:
        yield LintFinding(
            "double-negative",
            ("requirement",),
            f"“{match[0]}” says no twice.",
            "Say what is there; for a fault, name the fault and give it a negative weight.",
            match[0],
        )


#: With at least this share of all weights, a criterion makes the others nearly irrelevant.
DROWNING = 0.6
#: A criterion hardly affects the score if its share of the weights is below this and below a tenth
#: of an equal share.
DROWNED = 0.01
#: A checklist needs this many criteria before the lack of a penalty is reported.
CHECKLIST = 10
#: Words by which a requirement says that something is absent or limited.
_ABSENT = re.compile(
    r"\b(no|not|never|without|nothing|none|neither|only|at most|cannot|avoids?|free of|unchanged)"
    r"\b",
    re.I,
)


def overwhelming_weight(rubric: Rubric) -> Iterator[LintFinding]:
    """Find a weight larger than all others together, or one that changes nothing."""
    total = sum(abs(c.weight) for c in rubric.criteria)
    if len(rubric.criteria) < 3 or not total:
        return
    shares = [abs(criterion.weight) / total for criterion in rubric.criteria]
    for at, share in enumerate(shares):
        if share >= DROWNING:
            yield LintFinding(
                "drowning-weight",
                ("criteria", at, "weight"),
                f"Carries {percent(share)} of all weight: the other {len(rubric.criteria) - 1} "
                "criteria together cannot outweigh it.",
                "If it must decide alone, make it a gate; else bring the weights closer together.",
            )
    least = min(DROWNED, 0.1 / len(shares))
    drowned = [at for at, share in enumerate(shares) if 0 < share < least]
    if drowned:
        first, *further = drowned
        comparison = f" (as little as {len(further)} others)" if further else ""
        yield LintFinding(
            "drowned-weight",
            ("criteria", first, "weight"),
            f"Carries {percent(shares[first], 1)} of all weight{comparison}: "
            "no answer to it would show in the score.",
            "Raise the weight, or leave the criterion out and save its calls.",
            also=tuple(("criteria", at) for at in further),
        )


def no_effect(rubric: Rubric) -> Iterator[LintFinding]:
    """Find a criterion whose answer changes nothing."""
    named = {gate.when.criterion for gate in rubric.gates}
    tags = {gate.when.tag for gate in rubric.gates}
    for at, criterion in enumerate(rubric.criteria):
        if criterion.weight == 0 and criterion.name not in named and not tags & set(criterion.tags):
            yield LintFinding(
                "no-effect",
                ("criteria", at, "weight"),
                "Has the weight 0 and no gate asks about it: its answers change nothing.",
                "Give it a weight or a gate, if it is more than a note.",
            )


def no_penalty(rubric: Rubric) -> Iterator[LintFinding]:
    """Find a checklist that rewards presence and never penalises errors."""
    listed = [c for c in rubric.criteria if c.scale == "binary" and c.weight > 0]
    total = sum(c.weight for c in rubric.criteria if c.weight > 0)
    guarded = (
        any(c.weight < 0 or _ABSENT.search(c.requirement) for c in rubric.criteria)
        or rubric.gates
        or rubric.prechecks
        or rubric.scoring.length_penalty is not None
    )
    if len(listed) < CHECKLIST or guarded or sum(c.weight for c in listed) < total / 2:
        return
    yield LintFinding(
        "no-penalty",
        (),
        f"All {len(listed)} yes/no criteria reward; nothing takes points away.",
        "Add the faults that matter (a false statement, an invented source) with a negative "
        "weight, or a gate.",
    )


# Gates that never fire, always fire, change nothing, or follow a stricter gate.
#
# The check scores every answer to a gate's criterion with the functions that score an item.

_VERDICTS = {None: 0, "review": 1, "fail": 2}
_NEAR = 1e-9


def ineffective_gates(rubric: Rubric) -> Iterator[LintFinding]:
    """Find gates whose condition or effect makes no difference."""
    for at, gate in enumerate(rubric.gates):
        fault = _inert_reason(rubric, gate)
        if fault:
            rule, sentence, advice = fault
            edit = (
                LintEdit("remove", ("gates", at), "Remove the gate")
                if rule == "inert-gate"
                else None
            )
            yield LintFinding(rule, ("gates", at), sentence, advice, edit=edit)


def _inert_reason(rubric: Rubric, gate: Gate) -> tuple[str, str, str] | None:
    if gate.when.criterion is None:
        tagged = sum(gate.when.tag in c.tags for c in rubric.criteria)
        if tagged >= (gate.when.count_at_least or 1):
            return None
        needed = gate.when.count_at_least
        return (
            "inert-gate",
            f"Can never fire: it needs {needed} criteria tagged {gate.when.tag!r}, there are "
            f"{tagged}.",
            "Lower the count or tag more criteria.",
        )
    criterion = rubric.criterion(gate.when.criterion)
    firing = _firing_choices(rubric, gate, criterion)
    if not firing:
        return "inert-gate", "Can never fire: no answer meets its condition.", _CHANGE
    if firing >= set(criterion.scored) and gate.when.abstained is None:
        return (
            "always-gate",
            "Fires whatever the answer: every level meets its condition.",
            "Move the threshold, or take the effect into the scoring.",
        )
    if not _has_effect(rubric, gate.then, criterion, firing):
        return (
            "inert-gate",
            "Changes nothing: where it fires, the score cannot be higher than it allows anyway.",
            "Lower its cap or factor, or give it a verdict or a flag.",
        )
    return None


_CHANGE = "Change the threshold or the option it names."


def _firing_choices(rubric: Rubric, gate: Gate, criterion: Criterion) -> set[int]:
    """Return the choices that fire the gate, abstentions included."""
    only_gate = rubric.model_copy(update={"gates": (gate,)})
    return {
        choice
        for choice in range(len(criterion.choices))
        if evaluate_gates(only_gate, {criterion.name: choice})[0].state == "fired"
    }


def _has_effect(rubric: Rubric, effect: Effect, criterion: Criterion, firing: set[int]) -> bool:
    """Return whether the effect can change the outcome or the best possible score."""
    if effect.verdict or effect.flag or (effect.multiply is not None and effect.multiply < 1):
        return True
    if effect.cap is None:
        return False
    without_gate = rubric.model_copy(
        update={
            "gates": (),
            "decision": None,
            "prechecks": (),
            "scoring": rubric.scoring.model_copy(
                update={"normalize": True, "length_penalty": None}
            ),
        }
    )
    best = {c.name: _best_choice(c) for c in rubric.criteria}
    reached = [
        score_item(without_gate, {**best, criterion.name: choice}).score for choice in firing
    ]
    return any(score is not None and score > effect.cap + _NEAR for score in reached)


def _best_choice(criterion: Criterion) -> int:
    sign = 1.0 if criterion.weight >= 0 else -1.0
    return max(criterion.scored, key=lambda i: sign * (criterion.value_of(i) or 0.0))


def redundant_gates(rubric: Rubric) -> Iterator[LintFinding]:
    """Find gates made redundant by a gate that fires at least as often with as strong an effect."""
    fires = {
        at: _firing_choices(rubric, gate, rubric.criterion(gate.when.criterion))
        for at, gate in enumerate(rubric.gates)
        if gate.when.criterion is not None
    }
    for at, own_answers in fires.items():
        for other_gate, its in fires.items():
            gate, stricter = rubric.gates[at], rubric.gates[other_gate]
            if (
                at == other_gate
                or gate.when.criterion != stricter.when.criterion
                or not own_answers <= its
            ):
                continue
            equal = own_answers == its and _is_as_strict(gate.then, stricter.then)
            # Of two equal gates, the later gate is reported.
            if (
                not own_answers
                or not _is_as_strict(stricter.then, gate.then)
                or (equal and at < other_gate)
            ):
                continue
            yield LintFinding(
                "shadowed-gate",
                ("gates", at),
                f"Never matters: “{stricter.name}” fires whenever it does, and does no less.",
                "Remove it, or make it the stricter of the two.",
                edit=LintEdit("remove", ("gates", at), "Remove the gate"),
                also=(("gates", other_gate),),
            )
            break


def _is_as_strict(strict: Effect, mild: Effect) -> bool:
    """Return whether ``strict`` makes ``mild`` redundant."""
    caps = mild.cap is None or (strict.cap is not None and strict.cap <= mild.cap)
    flags = mild.flag is None or mild.flag == strict.flag
    factors = mild.multiply is None or mild.multiply == 1
    return caps and flags and factors and _VERDICTS[mild.verdict] <= _VERDICTS[strict.verdict]
