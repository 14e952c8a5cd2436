"""A rubric and items where a file brings only votes: made from the labels and ids that it uses."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from core.domain.base import build
from core.domain.dataset import Dataset
from core.domain.rubric import CANNOT_ASSESS, MET, UNMET, Criterion, Rubric
from core.errors import Problem
from core.formats.datasets.label_words import AWAY, NO, YES, holds_no_answer, is_yes, option_named
from core.formats.datasets.labels import TEXT_AVAILABLE
from core.formats.source.parsed import refusal
from core.formats.votes.imported import VoteLine
from core.text.names import fold

MOST_OPTIONS = 50
#: Whole numbers this far apart get the levels between them, too, used or not.
MOST_LEVELS = 20
#: From here on whole numbers are not told from their neighbours.
MOST_EXACT = 2.0**53


class Derived(NamedTuple):
    """A rubric made from labels, how its labels are spelt, and what a person should know."""

    rubric: Rubric
    spelling: Mapping[str, Mapping[str, str]]
    notices: tuple[Problem, ...]

    def spelt(self, lines: Iterable[VoteLine]) -> list[VoteLine]:
        """The lines with their labels as the rubric spells them."""
        return [
            (line, {**row, "label": self.spelling[row["criterion"]][row["label"]]})
            for line, row in lines
        ]

    def spelt_labels(self, labels: Mapping[str, Mapping[str, str]]) -> dict[str, dict[str, str]]:
        """Labels of items likewise; words for no answer are none."""
        return {
            item: {
                name: self.spelling[name][label]
                for name, label in of.items()
                if not holds_no_answer(None, label)
            }
            for item, of in labels.items()
        }


def derive_rubric(
    lines: Sequence[VoteLine], labels: Mapping[str, Mapping[str, str]], name: str
) -> Derived:
    """A rubric from the labels in use: numbers are ordinal, words nominal and kept as they are.

    Yes and no are two such words, of which yes (true, pass, and beside such words 1 and T) is
    worth everything; MET and UNMET make a binary criterion. Words for no answer are no labels.

    Raises:
        InputError: a criterion has more different labels than a scale has options.
    """
    used: dict[str, dict[str, None]] = {}
    for _, row in lines:
        used.setdefault(row["criterion"], {})[row["label"]] = None
    for given in labels.values():
        for criterion, label in given.items():
            used.setdefault(criterion, {})[label] = None
    criteria, notices, problems = list[dict[str, Any]](), list[Problem](), list[Problem]()
    spelling = {}
    for criterion, words in used.items():
        scale, options, spelt = _scale(list(words))
        if len(options) > MOST_OPTIONS:
            message = f"has {len(options)} different labels for {criterion!r}."
            mend = "Give the rubric they belong to, or check which column holds the label."
            problems.append(Problem(message, mend, ("label",)))
        criteria.append(_criterion(criterion, scale, options))
        spelling[criterion] = spelt
        notices.append(_notice(criterion, scale, [option["label"] for option in options]))
    if problems:
        raise refusal("file of votes", problems, name)
    rubric = build(Rubric, {"name": name[:200], "criteria": criteria}, "rubric", name)
    return Derived(rubric, spelling, tuple(notices))


def spelt_as(rubric: Rubric, lines: Iterable[VoteLine]) -> list[VoteLine]:
    """The lines with criteria and labels as ``rubric`` spells them, where it has no such option.

    Yes and no are MET and UNMET, ``3.0`` is ``3``, and ``not applicable`` is an abstention. Words
    for no answer stay as they are: whoever checks the votes counts them.
    """
    names = {fold(c.name): c for c in rubric.criteria}
    known: dict[tuple[str, str], str] = {}
    found = list[VoteLine]()
    for line, row in lines:
        criterion = names.get(fold(row["criterion"]))
        if criterion is not None:
            key = (criterion.name, row["label"])
            if key not in known:
                known[key] = _spelt(criterion, row["label"])
            row = {**row, "criterion": criterion.name, "label": known[key]}
        found.append((line, row))
    return found


def labels_spelt_as(
    rubric: Rubric, labels: Mapping[str, Mapping[str, str]]
) -> dict[str, dict[str, str]]:
    """Labels of items likewise; words for no answer are none."""
    names = {fold(c.name): c for c in rubric.criteria}
    found: dict[str, dict[str, str]] = {}
    for item, of in labels.items():
        for name, label in of.items():
            criterion = names.get(fold(name))
            if holds_no_answer(criterion, label):
                continue
            plain = (
                (name, label) if criterion is None else (criterion.name, _spelt(criterion, label))
            )
            found.setdefault(item, {})[plain[0]] = plain[1]
    return found


def _spelt(criterion: Criterion, label: str) -> str:
    word = fold(label)
    if holds_no_answer(criterion, label):
        return label
    option = option_named(criterion, label)
    if option is not None:
        return criterion.choices[option].label
    if word in AWAY:
        return CANNOT_ASSESS
    number = _number(label)
    return label if number is None else _written(number)


def _criterion(name: str, scale: str, options: list[dict[str, Any]]) -> dict[str, Any]:
    data = {
        "name": name,
        "requirement": f"{name} (the question itself was not part of the file)",
        "weight": 1.0,
        "scale": scale,
    }
    return data if scale == "binary" else data | {"options": options}


def _notice(criterion: str, scale: str, labels: list[str]) -> Problem:
    message = f"No rubric was given: {criterion!r} is taken as {scale} with {', '.join(labels)}."
    mend = {
        "binary": "",
        "ordinal": "The lowest number has value 0, the highest 1.",
        "nominal": "Its options have the value 0, so it scores nothing until they get values.",
    }[scale]
    if scale == "nominal" and is_yes(labels[0]) and len(labels) == 2:
        mend = f"{labels[0]!r} has value 1, {labels[1]!r} 0."
    return Problem(message[:400], f"{mend} Give a rubric to say it otherwise.".strip())


def _scale(labels: list[str]) -> tuple[str, list[dict[str, Any]], dict[str, str]]:
    """The scale, its options, and every label as it is spelt there."""
    spelt = {label: CANNOT_ASSESS for label in labels if fold(label) in AWAY}
    spelt |= {label: label for label in labels if holds_no_answer(None, label)}
    real = [label for label in labels if label not in spelt]
    if _all_yes_or_no({fold(label) for label in real}):
        return _yes_and_no(real, spelt)
    numbers = {label: _number(label) for label in real}
    if None not in numbers.values():
        levels = _levels({n for n in numbers.values() if n is not None})
        spelt |= {label: _written(n) for label, n in numbers.items() if n is not None}
        return "ordinal", _valued(levels), spelt
    first: dict[str, str] = {}
    for label in sorted(real):
        spelt[label] = first.setdefault(fold(label), label)
    options = [{"label": label, "value": 0.0} for label in first.values()]
    if len(options) == 1:
        options.append({"label": "Other", "value": 0.0})
    return "nominal", options, spelt


def _all_yes_or_no(words: set[str]) -> bool:
    """Whether these words can only be yes and no: 1 and T are that beside plainer ones alone."""
    if words <= YES | NO:
        return True
    plain = bool(words & (YES | NO)) or words == {"t", "f"} or bool(words & _TICKS)
    return plain and None not in map(is_yes, words)


_TICKS = frozenset({"\u2713", "\u2714", "\u2717", "\u2718"})
_OURS = frozenset({"met", "unmet", "not met"})
#: What stands beside a word for yes, or for no, where a file uses one of the two only.
_PAIRS = (
    *(("yes", "no"), ("y", "n"), ("true", "false")),
    *(("pass", "fail"), ("passed", "failed"), ("met", "unmet"), ("met", "not met")),
    *(("1", "0"), ("t", "f"), ("\u2713", "\u2717"), ("\u2714", "\u2718")),
)


def _yes_and_no(
    real: list[str], spelt: dict[str, str]
) -> tuple[str, list[dict[str, Any]], dict[str, str]]:
    """Two options in the file's own words; MET and UNMET alone are our binary scale."""
    sides: dict[bool, list[str]] = {True: [], False: []}
    for label in real:
        sides[bool(is_yes(label))].append(label)
    for of in sides.values():  # a word says more than a sign
        of.sort(key=lambda label: fold(label) not in YES | NO)
    if not real or any(fold(label) in _OURS for label in real):
        spelt |= {label: MET if is_yes(label) else UNMET for label in real}
        return "binary", [{"label": MET}, {"label": UNMET}], spelt
    words = {side: of[0] if of else _counterpart(sides[not side][0]) for side, of in sides.items()}
    spelt |= {label: words[bool(is_yes(label))] for label in real}
    options = [{"label": words[True], "value": 1.0}, {"label": words[False], "value": 0.0}]
    return "nominal", options, spelt


def _counterpart(word: str) -> str:
    """The other word of a pair, written like this one."""
    small = fold(word)
    other = next(pair[pair[0] == small] for pair in _PAIRS if small in pair)
    return other.upper() if word.isupper() else other.title() if word.istitle() else other


def _number(label: str) -> float | None:
    try:
        number = float(label)
    except ValueError:
        return None
    # A level is counted from; where counting is not exact any more it is a name.
    return number if abs(number) < MOST_EXACT else None


def _levels(numbers: set[float]) -> list[float]:
    low, high = min(numbers), max(numbers)
    whole = all(number.is_integer() for number in numbers)
    if whole and high - low <= MOST_LEVELS:
        return [low + step for step in range(max(2, int(high - low) + 1))]
    return sorted(numbers) if len(numbers) > 1 else [low, low + 1]


def _valued(levels: list[float]) -> list[dict[str, Any]]:
    low, high = levels[0], levels[-1]
    return [
        {"label": _written(level), "value": round((level - low) / (high - low), 9)}
        for level in levels
    ]


def _written(number: float) -> str:
    return str(int(number)) if number.is_integer() else repr(number)


def derive_dataset(
    ids: Iterable[str],
    texts: Mapping[str, Mapping[str, str]],
    labels: Mapping[str, Mapping[str, str]],
    name: str,
) -> tuple[Dataset, tuple[Problem, ...]]:
    """Items with the ids in use; where the file has no text, that is said of each."""
    items, textless = list[dict[str, Any]](), 0
    for key in dict.fromkeys(ids):
        known = texts.get(key, {})
        item: dict[str, Any] = {"id": key, "submission": known.get("submission", "")}
        item |= {part: known[part] for part in ("prompt", "system") if part in known}
        item["labels"] = {c: {"label": label} for c, label in labels.get(key, {}).items()}
        if "submission" not in known:
            textless += 1
            item["meta"] = {TEXT_AVAILABLE: False}
        items.append(item)
    dataset = build(Dataset, {"name": name[:200], "items": items}, "dataset", name)
    notices: tuple[Problem, ...] = ()
    if textless:
        message = f"The text of {textless:,} items was not part of the file."
        mend = "Their votes can be measured; to grade them, import the dataset with its text."
        notices = (Problem(message, mend),)
    return dataset, notices
