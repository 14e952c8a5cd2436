"""What each column of a file is for: one role per column, and the mapping they come to.

A role is plain text, fit for a widget: a field of an item ("submission"), "context", "meta",
"out", "label" (a criterion with the column's own name), "label:NAME" or "reason:NAME".
"""

from __future__ import annotations

import re
from collections.abc import Mapping as Dict
from collections.abc import Sequence

from core.domain.rubric import Rubric
from core.errors import Problem
from core.files.mapping import ColumnMapping
from core.files.tables import Table

META, OUT, LABEL, CONTEXT = "meta", "out", "label", "context"

#: Roles that one column can have, as a person reads them. The rest name a criterion.
ROLE_WORDS = {
    OUT: "Leave out",
    META: "Keep as a note (meta)",
    "id": "Id",
    "submission": "Submission (what is judged)",
    "prompt": "Prompt",
    CONTEXT: "Context (judges see it, by its name)",
    "reference": "Reference answer",
    "system": "System (who wrote it)",
    "split": "Split (calibration or evaluation)",
    "tags": "Tags",
    "description": "Description",
    "rubric": "A rubric of the item's own",
    "label_map": "Labels by criterion (object)",
    "truth": "Labels in the rubric's order (list)",
    "truth_reasons": "Reasons in the rubric's order (list)",
    "meta_map": "Notes (object)",
    LABEL: "Label (a criterion of this name)",
}
#: Roles whose cells are lists or objects, which a CSV has none of.
NESTED = ("label_map", "truth", "truth_reasons", "meta_map")
_PREFIX = re.compile(r"label\s*[:_]\s*(.+)\Z", re.IGNORECASE | re.DOTALL)


def role_words(role: str) -> str:
    """A role as a person reads it.

    >>> role_words("reason:clarity")
    'Reason for clarity'
    """
    kind, colon, name = role.partition(":")
    if not colon:
        return ROLE_WORDS[role]
    return f"Label: {name}" if kind == LABEL else f"Reason for {name}"


def roles_of(table: Table, mapping: ColumnMapping) -> list[str]:
    """The role of every column of ``table`` under ``mapping``, in the columns' order."""
    found = {column: role for role, column in mapping.used.items()}
    found |= dict.fromkeys(mapping.context, CONTEXT) | dict.fromkeys(mapping.meta, META)
    return [found.get(c, OUT) for c in table.columns]


def role_options(table: Table, guess: ColumnMapping, rubric: Rubric | None) -> list[str]:
    """The roles to choose from for a column of ``table``."""
    plain = [role for role in ROLE_WORDS if table.kind != "csv" or role not in NESTED]
    if rubric is not None:
        plain.remove(LABEL)
    names = [c.name for c in rubric.criteria] if rubric else list(guess.labels)
    names += [name for name in (*guess.labels, *guess.reasons) if name not in names]
    return plain + [f"{kind}:{name}" for kind in ("label", "reason") for name in names]


def mapping_from(
    columns: Sequence[str], roles: Sequence[str], *, structured: bool = False
) -> tuple[ColumnMapping, tuple[Problem, ...]]:
    """The mapping that the roles come to, and the roles that two columns were given.

    >>> mapping_from(["a", "b"], ["submission", "label:tone"])[0].labels
    {'tone': 'b'}
    """
    fields, labels, reasons = dict[str, str](), dict[str, str](), dict[str, str]()
    many: dict[str, list[str]] = {OUT: [], META: [], CONTEXT: []}
    problems = list[Problem]()
    for column, role in zip(columns, roles, strict=True):
        if role in many:
            many[role].append(column)
            continue
        kind, colon, name = role.partition(":")
        if role == LABEL:
            name = criterion_of(column)
        into = {"label": labels, "reason": reasons}.get(kind, fields)
        place = name if colon or role == LABEL else role
        if place in into:
            problems.append(_doubled(role, into[place], column))
        into.setdefault(place, column)
    return (
        ColumnMapping.model_validate(
            fields
            | {"labels": labels, "reasons": reasons, "structured": structured}
            | {role: many[role] for role in (CONTEXT, META)}
        ),
        (*problems, *_unlabelled(labels, reasons)),
    )


def criterion_of(column: str) -> str:
    """The criterion that a column of labels is about.

    >>> criterion_of("label: Tone"), criterion_of("Tone")
    ('Tone', 'Tone')
    """
    prefixed = _PREFIX.match(column)
    return prefixed[1].strip() if prefixed else column


def _doubled(role: str, first: str, second: str) -> Problem:
    return Problem(
        f"Two columns have the role {role_words(role)!r}: {first!r} and {second!r}.",
        "Choose one of them.",
    )


def _unlabelled(labels: Dict[str, str], reasons: Dict[str, str]) -> list[Problem]:
    return [
        Problem(f"{column!r} gives reasons for {name!r}, which no column labels.", "Choose one.")
        for name, column in reasons.items()
        if name not in labels
    ]


def sample(table: Table, column: str, limit: int = 3) -> list[str]:
    """The first cells of a column that hold something, as text."""
    cells = (row.get(column) for row in table.rows[:50])
    return [str(cell) for cell in cells if cell not in (None, "", [], {})][:limit]
