"""Derive a rubric and items from a file that has only votes."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from core.domain.base import build_model
from core.domain.dataset import Dataset
from core.domain.rubric import CANNOT_ASSESS, MET, UNMET, Criterion, Rubric
from core.errors import Problem
from core.formats.columns.answer_columns import are_too_many
from core.formats.columns.label_words import (
    AWAY,
    NO,
    SIGN_PAIRS,
    YES,
    holds_no_answer,
    is_yes,
    label_lists_in,
    opposite_word,
    option_named,
)
from core.formats.datasets.labels import TEXT_AVAILABLE
from core.formats.source.heading_words import RANKS, has_word
from core.formats.source.parsed import finite, refusal
from core.formats.votes.imported import VoteLine
from core.formats.votes.scales import scale_of
from core.formats.votes.structure.named_fields import ABOUT_ITEM
from core.formats.votes.structure.scale_ends import (
    FAULT,
    LOW_IS_BEST,
    any_says_lowest_is_best,
    counts_against,
    ends_of,
    order_sentence,
)
from core.formats.votes.structure.told_scales import ToldScale, may_be_about, told_scales
from core.formats.votes.structure.word_scales import no_opinion, scale_order
from core.text.names import fold

#: Levels are added between whole numbers whose range is at most this.
MOST_LEVELS = 20
#: From here on, floats cannot distinguish neighbouring whole numbers.
MOST_EXACT = 2.0**53
#: A step of numbers, of which there are too many for a label each.
_STEP = re.compile(r"-?[\d.]+ to -?[\d.]+")


class Derived(NamedTuple):
    """A rubric derived from labels, how it spells them, and notices."""

    rubric: Rubric
    spelling: Mapping[str, Mapping[str, str]]
    notices: tuple[Problem, ...]

    def with_rubric_labels(self, lines: Iterable[VoteLine]) -> list[VoteLine]:
        """Return the lines with labels as the rubric spells them; a step's number is the reason."""
        spelt = list[VoteLine]()
        for line, row in lines:
            label = self.spelling[row["criterion"]][row["label"]]
            if _STEP.fullmatch(label) and not _STEP.fullmatch(row["label"]):
                row = {**row, "reason": f"Score {row['label']}. {row.get('reason', '')}".strip()}
            spelt.append((line, {**row, "label": label}))
        return spelt


def derive_rubric(
    lines: Sequence[VoteLine],
    gold: Sequence[VoteLine],
    name: str,
    scales: Mapping[str, str] | None = None,
    told: Sequence[str] = (),
) -> Derived:
    """Return a rubric from labels, of raters and gold.

    Numbers and words of a scale are ordinal, many fractions in steps, other words nominal. Yes and
    no are nominal; yes (true, pass, and next to such words 1 and T) has value 1. MET and UNMET make
    a binary criterion. In a ranking the first is the best. For a fault (severity, error) the lowest
    number, or no, is the best. Words that mean "no answer" are not labels. ``scales`` say what the
    scale is, by criterion: `1-5`. So may a heading, or a line in ``told``, and which end is best.

    Raises:
        InputError: a criterion has more different labels than a scale has options.
    """
    used: dict[str, dict[str, None]] = {}
    for _, row in (*lines, *gold):
        used.setdefault(row["criterion"], {})[row["label"]] = None
    criteria, problems, spelling = list[dict[str, Any]](), list[Problem](), {}
    numeric = {c for c, labels in used.items() if _are_numbers(labels)}
    told_of, said_of_scales = told_scales(told, used, scales or {})
    notices = [*said_of_scales]
    for criterion, used_labels in used.items():
        beside_numbers = bool(numeric - {criterion})
        scale, options, spelt = _scale_of_labels(
            list(used_labels), criterion, told_of[criterion], beside_numbers=beside_numbers
        )
        is_ranking = scale == "ordinal" and _is_ranking(criterion, lines)
        least = options[0 if scale == "ordinal" else -1]["label"]
        is_fault = scale == "ordinal" or (scale == "nominal" and is_yes(least) is False)
        is_fault = is_fault and counts_against(criterion, least)
        numbers = [n for label in used_labels if (n := _number(label)) is not None]
        about = (criterion, *(line for line in told if may_be_about(line, criterion, used)))
        said = any_says_lowest_is_best(about, numbers) if scale == "ordinal" else None
        is_fault = is_fault if said is None else said
        if is_ranking or is_fault:
            options = [{**o, "value": round(1 - o["value"], 9)} for o in reversed(options)]
        if are_too_many(labels := [option["label"] for option in options]):
            message = f"has {len(labels)} different labels for {criterion!r}."
            mend = "Give the rubric they belong to, or check which column holds the label."
            problems.append(Problem(message, mend, ("label",)))
        criteria.append(criterion_data(criterion, scale, options))
        spelling[criterion] = spelt
        ends = ends_of(criterion, {*numbers}, told_of[criterion].ends)
        order = order_sentence(criterion, is_ranking, len(used) == 1, bool(ends))
        order = LOW_IS_BEST if said else FAULT if is_fault else order
        notices.append(_scale_notice(criterion, scale, labels, order))
        notices += _doubts_of_labels(criterion, scale, used_labels)
    if problems:
        raise refusal("file of votes", problems, name)
    rubric = build_model(Rubric, {"name": name[:200], "criteria": criteria}, "rubric", name)
    return Derived(rubric, spelling, tuple(notices))


def lines_as_spelt(rubric: Rubric, lines: Iterable[VoteLine]) -> list[VoteLine]:
    """Return the lines with criteria and labels as ``rubric`` spells them.

    Yes becomes MET, ``3.0`` becomes ``3``, and ``not applicable`` an abstention. Words that mean
    "no answer" stay: the vote checker counts them.
    """
    names = {fold(c.name): c for c in rubric.criteria}
    spellings: dict[tuple[str, str], str] = {}
    spelt = list[VoteLine]()
    for line, row in lines:
        criterion = names.get(fold(row["criterion"]))
        if criterion is not None:
            key = (criterion.name, row["label"])
            if key not in spellings:
                spellings[key] = _spelling_of(criterion, row["label"])
            row = {**row, "criterion": criterion.name, "label": spellings[key]}
        spelt.append((line, row))
    return spelt


def labels_of(rubric: Rubric, gold: Iterable[VoteLine]) -> dict[str, dict[str, str]]:
    """Return items' labels of spelt lines, without words that mean "no answer"."""
    names, labels = {fold(c.name): c for c in rubric.criteria}, dict[str, dict[str, str]]()
    for _, row in gold:
        if not holds_no_answer(names.get(fold(row["criterion"])), row["label"]):
            labels.setdefault(row["item_id"], {})[row["criterion"]] = row["label"]
    return labels


def _spelling_of(criterion: Criterion, label: str) -> str:
    word = fold(label)
    if holds_no_answer(criterion, label):
        return label
    option = option_named(criterion, label)
    if option is not None:
        return criterion.choices[option].label
    if word in AWAY:
        return CANNOT_ASSESS
    number = _number_with_comma(label)
    return label if number is None else _number_text(number)


def criterion_data(
    name: str, scale: str, options: list[dict[str, Any]], asked: str = ""
) -> dict[str, Any]:
    """Return a criterion as plain data; ``asked`` is its question, if the file has it."""
    asked = asked or f"{name} (the question itself was not part of the file)"
    data = {"name": name, "requirement": asked, "weight": 1.0, "scale": scale}
    return data if scale == "binary" else data | {"options": options}


def _is_ranking(criterion: str, lines: Sequence[VoteLine]) -> bool:
    """Return whether a criterion is named for ranks, and each rater gave each rank once."""
    ranks = dict[str, list[float]]()
    for _, row in lines:
        place = _number(row["label"])
        if row["criterion"] == criterion and place is not None:
            ranks.setdefault(row["rater_id"], []).append(place)
    last = max(map(len, ranks.values()), default=0)
    once = all(len(set(places)) == len(places) for places in ranks.values())
    every = {place for places in ranks.values() for place in places}
    return once and has_word(criterion, RANKS, whole=True) and every == {*range(1, last + 1)}


def _scale_notice(criterion: str, scale: str, labels: list[str], order: str) -> Problem:
    message = f"No rubric was given: {criterion!r} is taken as {scale} with {', '.join(labels)}."
    mend = {
        "binary": "",
        "ordinal": order,
        "nominal": "Its options have the value 0, so it scores nothing until they get values.",
    }[scale]
    if scale == "ordinal" and None in map(_number, labels):
        mend = "In this order: the first has value 0, the last 1."
        if all(len(label) == 1 and label.isascii() for label in labels):
            mend += " Letters are read as grades, A as the best."
    if scale == "ordinal" and _STEP.fullmatch(labels[0]):
        mend = "A step has the value of its middle; the numbers themselves are in the reasons."
    if scale == "nominal" and len(labels) == 2 and None not in map(is_yes, labels):
        why = "" if is_yes(labels[0]) else ", as it names a fault"
        mend = f"{labels[0]!r} has value 1, {labels[1]!r} 0{why}."
    return Problem(message[:400], f"{mend} Give a rubric to say it otherwise.".strip())


def _doubts_of_labels(criterion: str, scale: str, used: Collection[str]) -> Iterator[Problem]:
    """Yield notices about a 9 or -1 apart from other numbers, and about several labels in one."""
    numbers = {n for label in used if (n := _number(label)) is not None}
    for code in numbers & {9.0, -1.0}:
        low, high = min(others := numbers - {code}, default=0), max(others, default=0)
        steps = {low + step for step in range(int(high - low) + 1)}
        if len(others) > 2 and others == steps and not low - 1 <= code <= high + 1:
            word, scale = _number_text(code), ", ".join(map(_number_text, sorted(others)))
            yield Problem(
                f"{word} stands apart from the other labels of {criterion!r} ({scale}).",
                f"If it means no answer: --map-label {word}=NA.",
            )
    if scale != "ordinal" and (words := label_lists_in(used)):
        number = "1 answer lists" if len(words) == 1 else f"{len(words)} different answers list"
        message = f"{number} several labels of {criterion!r}, such as {words[0]!r}: "
        mend = "To count each label, write a row for it, with its criterion."
        yield Problem(f"{message}each is one option."[:400], mend)


def _are_numbers(labels: Iterable[str]) -> bool:
    """Return whether a criterion's labels are at least three numbers."""
    given = [label for label in labels if not holds_no_answer(None, label)]
    return len(given) > 2 and None not in map(_number, given)


def _scale_of_labels(
    labels: list[str], criterion: str, told: ToldScale, *, beside_numbers: bool
) -> tuple[str, list[dict[str, Any]], dict[str, str]]:
    """Return the scale, its options, and the spelling of every label on it."""
    spelt = {label: CANNOT_ASSESS for label in labels if fold(label) in AWAY}
    spelt |= {label: label for label in labels if holds_no_answer(None, label)}
    real = [label for label in labels if label not in spelt]
    nothing = [label for label in labels if fold(label) == "none"]
    words = len(real) > 1 and not any(_number(w) is not None or is_yes(w) is not None for w in real)
    if scale_order([*real, *nothing]) or (words and "none" in nothing):
        real += nothing  # no fault, beside minor and major
    if _all_yes_or_no({fold(label) for label in real}):
        return _two_options(real, spelt)
    number_in = _number_with_comma if _have_commas(real) else _number
    numbers = {label: number_in(label) for label in real}
    if None not in numbers.values():
        given = {n for n in numbers.values() if n is not None}
        if min(given) >= 0 and max(given) <= 1 and are_too_many([*map(_number_text, given)]):
            steps = scale_of(criterion, given)
            spelt |= {label: steps.label_of(n) for label, n in numbers.items()}
            return "ordinal", [{"label": o, "value": v} for o, v in steps.options], spelt
        levels = _number_levels(given | ends_of(criterion, given, told.ends))
        spelt |= {label: _number_text(n) for label, n in numbers.items() if n is not None}
        options = _ordered_options({level: _number_text(level) for level in levels})
        means = {_number_text(n): {"description": text} for n, text in told.means.items()}
        return "ordinal", [o | means.get(o["label"], {}) for o in options], spelt
    first: dict[str, str] = {}
    for label in sorted(real):
        spelt[label] = first.setdefault(fold(label), label)
    opinions = [label for label in first.values() if not no_opinion(label)]
    order = [first.get(fold(word), word) for word in told.order]
    places = {word: float(at) for at, word in enumerate(order)} if told.line else {}
    opinions = [*dict.fromkeys((*opinions, *order))]
    places = places or scale_order(opinions, criterion, beside_numbers=beside_numbers) or {}
    if places:
        at = {places[label]: label for label in sorted(places, key=len)}
        spelt |= {label: at[places[word]] for label, word in spelt.items() if word in places}
        unsure = {label: CANNOT_ASSESS for label in real if no_opinion(label)}
        return "ordinal", _ordered_options(at), spelt | unsure
    options = [{"label": label, "value": 0.0} for label in first.values()]
    if len(options) == 1:
        options.append({"label": "Other", "value": 0.0})
    return "nominal", options, spelt


def _all_yes_or_no(labels: set[str]) -> bool:
    """Return whether these words can only mean yes and no.

    "1" and "T" do so only next to a plain word such as "no", or a tick.
    """
    if labels <= YES | NO:
        return True
    plain = bool(labels & (YES | NO)) or labels == {"t", "f"} or bool(labels & _TICKS)
    return plain and None not in map(is_yes, labels)


_TICKS = {sign for pair in SIGN_PAIRS for sign in pair}
_OURS = {"met", "unmet", "not met"}


def _two_options(
    real: list[str], spelt: dict[str, str]
) -> tuple[str, list[dict[str, Any]], dict[str, str]]:
    """Return two options in the file's words; MET and UNMET make our binary scale."""
    sides: dict[bool, list[str]] = {True: [], False: []}
    for label in real:
        sides[bool(is_yes(label))].append(label)
    for words in sides.values():  # sort words before abbreviations such as 1 and T
        words.sort(key=lambda label: fold(label) not in YES | NO)
    if not real or any(fold(label) in _OURS for label in real):
        spelt |= {label: MET if is_yes(label) else UNMET for label in real}
        return "binary", [{"label": MET}, {"label": UNMET}], spelt
    pair = {
        side: words[0] if words else opposite_word(sides[not side][0])
        for side, words in sides.items()
    }
    spelt |= {label: pair[bool(is_yes(label))] for label in real}
    options = [{"label": pair[True], "value": 1.0}, {"label": pair[False], "value": 0.0}]
    return "nominal", options, spelt


def _number(label: str) -> float | None:
    number = finite(label.removesuffix("%"))
    # Levels are counted; beyond exact integers they are names.
    return number if number is not None and abs(number) < MOST_EXACT else None


_COMMA = re.compile(r"[-+]?\d{1,3},(\d{1,2})\Z")


def _number_with_comma(label: str) -> float | None:
    return _number(label.replace(",", ".") if _COMMA.match(label) else label)


def _have_commas(labels: Sequence[str]) -> bool:
    """Return whether these are numbers with a decimal comma, rather than lists of codes.

    >>> _have_commas(["3,5", "4,0"]), _have_commas(["10", "11,5"]), _have_commas(["1", "1,3"])
    (True, True, False)
    """
    decimals = {match[1] for label in labels if (match := _COMMA.match(label))}
    every = all(map(_COMMA.match, labels))
    return bool(decimals) and (every or {d.ljust(2, "0") for d in decimals} <= _PARTS)


#: Decimals of halves and quarters of a mark.
_PARTS = {"00", "25", "50", "75"}


def _number_levels(numbers: set[float]) -> list[float]:
    low, high = min(numbers), max(numbers)
    integers = all(number.is_integer() for number in numbers)
    if integers and high - low <= MOST_LEVELS:
        return [low + step for step in range(max(2, int(high - low) + 1))]
    return sorted(numbers) if len(numbers) > 1 else [low, low + 1]


def _ordered_options(labels: Mapping[float, str]) -> list[dict[str, Any]]:
    """Return the options of a scale by their places, lowest first: values from 0 to 1."""
    low, high = min(labels), max(labels)
    return [
        {"label": labels[place], "value": round((place - low) / (high - low), 9)}
        for place in sorted(labels)
    ]


def _number_text(number: float) -> str:
    return str(int(number)) if number.is_integer() else repr(number)


def derive_dataset(
    ids: Iterable[str],
    texts: Mapping[str, Mapping[str, str]],
    labels: Mapping[str, Mapping[str, str]],
    name: str,
    unread: str = "",
) -> tuple[Dataset, tuple[Problem, ...]]:
    """Return items with these ids; a notice reports missing texts.

    ``unread`` is the option that would read the texts, if columns may hold them.
    """
    items, textless = list[dict[str, Any]](), 0
    for key in dict.fromkeys(ids):
        fields = texts.get(key, {})
        item: dict[str, Any] = {"id": key, "submission": fields.get("submission", "")}
        item |= {part: fields[part] for part in ABOUT_ITEM[1:] if part in fields}
        item["labels"] = {c: {"label": label} for c, label in labels.get(key, {}).items()}
        if "submission" not in fields:
            textless += 1
            item["meta"] = {TEXT_AVAILABLE: False}
        items.append(item)
    dataset = build_model(Dataset, {"name": name[:200], "items": items}, "dataset", name)
    notices: tuple[Problem, ...] = ()
    if textless:
        message = f"The text of {textless:,} items was not part of the file."
        mend = "Their votes can be measured; to grade them, import the dataset with its text."
        if unread:
            message = f"The text of {textless:,} items is not read: no column is named for it."
            mend = f"If a column holds it, say {unread}."
        notices = (Problem(message, mend),)
    return dataset, notices
