"""Scales for scores: a tool's own values, and bins for numbers."""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Literal

from core.domain.rubric import MET, UNMET
from core.errors import InputError, Problem
from core.formats.votes.structure.scale_ends import counts_against
from core.formats.votes.structure.word_scales import scale_order

#: The default number of steps.
STEPS = 5
MOST_STEPS = 20
#: The most whole numbers that are levels rather than binned.
MOST_LEVELS = 11
#: The usual ranges of scores, narrowest first.
_RANGES = ((0.0, 1.0), (-1.0, 1.0), (0.0, 5.0), (0.0, 10.0), (0.0, 100.0))
Kind = Literal["binary", "ordinal", "nominal"]
#: A tool's answer: passed or not, a number, a word; ``None`` if it failed to answer.
Value = bool | int | float | str | None


@dataclass(frozen=True)
class Bins:
    """How to bin numbers: a number of equal steps, or edges, per question or for all.

    >>> Bins.of(["4", "tone=0,0.5,1"]).bins_of("tone"), Bins.of(["4"]).bins_of("tone")
    ((0.0, 0.5, 1.0), 4)
    """

    every: int | tuple[float, ...] | None = None
    named: Mapping[str, int | tuple[float, ...]] = field(default_factory=dict)

    @classmethod
    def of(cls, texts: Sequence[str]) -> Bins:
        """Return bins from the command line. Raises ``InputError``."""
        every, named = None, dict[str, int | tuple[float, ...]]()
        for word in texts:
            name, equals, value = word.rpartition("=")
            cut = _bins_from_text(value, word)
            if equals:
                named[name] = cut
            else:
                every = cut
        return cls(every, named)

    def bins_of(self, question: str) -> int | tuple[float, ...] | None:
        """Return the number or the edges for a question, or ``None``."""
        return self.named.get(question, self.every)

    def unknown(self, questions: Iterable[str]) -> list[str]:
        """Return named questions that do not exist."""
        return [name for name in self.named if name not in set(questions)]


def _bins_from_text(text: str, word: str) -> int | tuple[float, ...]:
    parts = [part.strip() for part in text.split(",")]
    try:
        edges = tuple(float(part) for part in parts)
    except ValueError:
        edges = ()
    if len(edges) == 1 and edges[0].is_integer() and 2 <= edges[0] <= MOST_STEPS:
        return int(edges[0])
    rising = all(low < high for low, high in pairwise(edges))
    if 3 <= len(edges) <= MOST_STEPS + 1 and rising and all(map(math.isfinite, edges)):
        return edges
    raise InputError(
        f"--bins {word!r} is not understood. Write a count from 2 to {MOST_STEPS}, or at least "
        "three rising edges as in 0,0.5,1; for one question alone, NAME=0,0.5,1."
    )


@dataclass(frozen=True)
class Scale:
    """A question's options from worst to best, and the label of every value.

    ``edges`` are those of binned numbers; a value on an edge belongs to the step above.
    """

    kind: Kind
    options: tuple[tuple[str, float], ...]
    edges: tuple[float, ...] = ()
    notices: tuple[Problem, ...] = ()

    def label_of(self, value: Value) -> str:
        """Return the option of a value, or ""."""
        if value is None:
            return ""
        if self.edges and not isinstance(value, str):
            at = bisect_right(self.edges, float(value)) - 1
            return self.options[min(max(at, 0), len(self.options) - 1)][0]
        if self.kind == "binary" and not isinstance(value, str):
            return MET if value else UNMET
        return _number_text(value)

    def exact_number(self, value: Value, number: Value) -> str:
        """Return the exact number if the option of ``value`` loses it, otherwise ""."""
        if number is None or isinstance(number, str):
            return ""
        if not self.edges and (isinstance(value, str) or value == number):
            return ""
        return f"Score {_number_text(number)}."


def scale_of(
    name: str,
    values: Iterable[Value],
    options: tuple[tuple[str, float], ...] = (),
    bins: Bins | None = None,
) -> Scale:
    """Return the scale of a question's answers.

    Passed or not (also 0 and 1) is binary. Whole numbers close together are levels. Other numbers
    are binned. Words of a scale are ordinal; others nominal, in alphabetical order, without values.

    >>> [label for label, _ in scale_of("f", [0.1, 0.94]).options][:2]
    ['0 to 0.2', '0.2 to 0.4']
    >>> scale_of("f", [True, None]).kind, scale_of("f", [3, 5]).options[1]
    ('binary', ('4', 0.5))
    """
    used: set[bool | int | float | str] = {value for value in values if value is not None}
    if options:
        return _scale_in_tool_words(options, used)
    numbers = sorted(float(value) for value in used if not isinstance(value, str))
    if len(numbers) < len(used):
        return _scale_of_words(name, sorted({_number_text(value) for value in used}))
    requested = bins.bins_of(name) if bins else None
    if requested is not None and not all(isinstance(value, bool) for value in used):
        return _scale_of_bins(name, numbers, requested)
    if set(numbers) <= {0.0, 1.0}:
        return Scale("binary", ((UNMET, 0.0), (MET, 1.0)))
    integers = all(number.is_integer() for number in numbers)
    if integers and numbers[-1] - numbers[0] < MOST_LEVELS:
        return _scale_of_levels(name, int(numbers[0]), int(numbers[-1]))
    return _scale_of_bins(name, numbers, STEPS)


def _scale_in_tool_words(
    options: tuple[tuple[str, float], ...], used: set[bool | int | float | str]
) -> Scale:
    """Return a scale in the tool's words; two options worth 0 and 1 are binary."""
    labels = [label for label, _ in options]
    if labels == [UNMET, MET]:
        return Scale("binary", options)
    unnamed = sorted({_number_text(value) for value in used} - set(labels))
    if unnamed:
        return Scale("nominal", (*options, *((label, 0.0) for label in unnamed)))
    return Scale("ordinal", options)


def _scale_of_words(name: str, labels: list[str]) -> Scale:
    if len(labels) == 1:
        labels = [*labels, "Other"]
    if places := scale_order(labels, name):
        ordered = sorted(places, key=lambda label: places[label])
        low, high = places[ordered[0]], places[ordered[-1]]
        said = ""
        if counts_against(name, ordered[0]):
            ordered, low, high = ordered[::-1], high, low
            said = " Its name is that of a fault: the more of it, the worse."
        listed = ", ".join(ordered)
        notice = Problem(f"{name!r} is answered in words, in this order: {listed}.{said}")
        values = (round((places[label] - low) / (high - low), 9) for label in ordered)
        return Scale("ordinal", tuple(zip(ordered, values, strict=True)), (), (notice,))
    mend = "Its options have the value 0, so it scores nothing until they get values."
    notice = Problem(f"{name!r} is answered in words: {', '.join(labels)[:300]}.", mend)
    return Scale("nominal", tuple((label, 0.0) for label in labels), (), (notice,))


def _scale_of_levels(name: str, low: int, high: int) -> Scale:
    high = max(high, low + 1)
    options = tuple(
        (str(level), round((level - low) / (high - low), 9)) for level in range(low, high + 1)
    )
    notice = Problem(f"{name!r} is a number from {low} to {high}; each is a level.")
    return Scale("ordinal", options, (), (notice,))


def _scale_of_bins(
    name: str, numbers: Sequence[float], requested: int | tuple[float, ...]
) -> Scale:
    """Return binned numbers; a bin's value is its middle's share of the range."""
    low, high = numbers[0], numbers[-1]
    edges = requested if isinstance(requested, tuple) else _bin_edges(low, high, requested)
    if low < edges[0] or high > edges[-1]:
        span = f"{_number_text(low)} to {_number_text(high)}"
        message = (
            f"--bins for {name!r} ends at {_number_text(edges[0])} and {_number_text(edges[-1])}, "
        )
        raise InputError(f"{message}but the scores go from {span}. Give edges around them.")
    width = edges[-1] - edges[0]
    options = tuple(
        (f"{_number_text(a)} to {_number_text(b)}", round(((a + b) / 2 - edges[0]) / width, 9))
        for a, b in pairwise(edges)
    )
    message = (
        f"{name!r} is a number ({_number_text(low)} to {_number_text(high)}); it is read in "
        f"{len(options)} steps: {', '.join(label for label, _ in options)}."
    )
    middle = _number_text(round((edges[0] + edges[-1]) / 2, 9))
    example = f"{name}={_number_text(edges[0])},{middle},{_number_text(edges[-1])}"
    mend = f"Steps can be chosen, as in {example}. The numbers themselves are in the reasons."
    return Scale("ordinal", options, edges, (Problem(message[:400], mend),))


def _bin_edges(low: float, high: float, count: int) -> tuple[float, ...]:
    """Return equal bins over the narrowest usual range of all numbers."""
    usual = next((r for r in _RANGES if r[0] <= low and high <= r[1]), None)
    first, last = usual or (float(math.floor(low)), float(math.ceil(high)))
    last = last if last > first else first + 1
    return tuple(round(first + (last - first) * at / count, 9) for at in range(count + 1))


def _number_text(value: Value) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return str(int(value)) if value.is_integer() else f"{value:.12g}"
    return str(value)
