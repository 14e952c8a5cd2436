"""What a check says: one finding about one place of a rubric, and the edit that would mend it."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import Any, Literal, NamedTuple

from core.domain.rubric import Criterion, Rubric

Path = tuple[str | int, ...]
Severity = Literal["slight", "serious"]
#: set a field, split a criterion in two, add an abstention, remove a gate, spread values evenly.
Act = Literal["set", "split", "abstain", "remove", "spread"]


class Edit(NamedTuple):
    """A mend that can be made without asking: ``words`` stand on its button.

    ``path`` counts from the rubric. ``value`` is the field's new value (set), the two requirements
    (split), or the abstention's label and description (abstain).
    """

    act: Act
    path: Path
    words: str
    value: Any = None


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing to mend. ``path`` is its place in the rubric, empty for the rubric as a whole.

    ``rule`` is a name of ``rules.RULES``, which says why it matters and who found out. ``quote``
    is the piece of the rubric's own words that gave rise to it; ``also`` other places it is about.
    """

    rule: str
    path: Path
    sentence: str
    mend: str
    quote: str = ""
    edit: Edit | None = None
    also: tuple[Path, ...] = ()

    @property
    def criterion(self) -> int | None:
        """The index of the criterion it is about, if it is about one."""
        return _index(self.path, "criteria")

    @property
    def gate(self) -> int | None:
        """The index of the gate it is about, if it is about one."""
        return _index(self.path, "gates")


#: Looks at one criterion; places and edits count from that criterion.
CriterionCheck = Callable[[Criterion], Iterable[Finding]]
#: Looks at the whole rubric.
RubricCheck = Callable[[Rubric], Iterable[Finding]]


def below(finding: Finding, index: int) -> Finding:
    """A finding of a criterion check as one of the rubric whose criterion ``index`` it is.

    >>> below(Finding("vague", ("requirement",), "", ""), 2).path
    ('criteria', 2, 'requirement')
    """
    head = ("criteria", index)
    edit = finding.edit and finding.edit._replace(path=(*head, *finding.edit.path))
    return replace(finding, path=(*head, *finding.path), edit=edit)


def _index(path: Path, kind: str) -> int | None:
    found = path[1] if len(path) > 1 and path[0] == kind else None
    return found if isinstance(found, int) else None
