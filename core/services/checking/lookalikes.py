"""Names and labels that look the same on screen and are not the same text."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from core.domain.names import fold, skeletons
from core.domain.rubric import Criterion, Rubric
from core.services.checking.finding import Finding


def lookalike_names(rubric: Rubric) -> Iterator[Finding]:
    """Criteria whose names nobody could tell apart."""
    for at, other in _alike([c.name for c in rubric.criteria]):
        yield Finding(
            "lookalike-names",
            ("criteria", at, "name"),
            f"Looks like the name of criterion {other + 1} but is another text.",
            "Write both in one alphabet, or name one of them otherwise.",
            rubric.criteria[at].name,
            also=(("criteria", other, "name"),),
        )


def lookalike_labels(criterion: Criterion) -> Iterator[Finding]:
    """Options whose labels nobody could tell apart."""
    for at, other in _alike([o.label for o in criterion.options]):
        yield Finding(
            "lookalike-names",
            ("options", at, "label"),
            f"Looks like the label of option {other + 1} but is another text.",
            "Write both in one alphabet, or label one of them otherwise.",
            criterion.options[at].label,
            also=(("options", other, "label"),),
        )


def _alike(names: Sequence[str]) -> Iterator[tuple[int, int]]:
    """(place, earlier place) of names that look like an earlier one and are not the same."""
    seen = dict[tuple[int, str], int]()
    for at, name in enumerate(names):
        before = [seen.setdefault((which, form), at) for which, form in enumerate(skeletons(name))]
        other = min(before)
        if other != at and fold(names[other]) != fold(name):
            yield at, other
