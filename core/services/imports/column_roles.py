"""The roles of a file's columns as people choose them, one per column, and the resulting mapping.

A role is plain text, fit for a widget: a field of an item or of a vote ("submission"), "context",
"meta", "out", "answers" (of a rater or to a criterion), "label" (a criterion with the column's own
name), "label:NAME" or "reason:NAME".
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from core.domain.rubric import Rubric
from core.errors import Problem
from core.formats.datasets.labels import WORD, words_in_changes
from core.formats.datasets.mapping import ColumnMapping
from core.formats.tables.table import JOINED, Table, joined_parts
from core.formats.votes.structure.marks import tick_changes
from core.formats.votes.structure.named_fields import ABOUT_ITEM
from core.formats.votes.vote_mapping import Layout, VoteColumn, VoteMapping

META, OUT, LABEL, CONTEXT, ANSWERS = "meta", "out", "label", "context", "answers"
AnyMapping = ColumnMapping | VoteMapping

_WORDS = {
    OUT: "Leave out",
    "id": "Id",
    "submission": "Submission (what is judged)",
    "prompt": "Prompt",
    CONTEXT: "Context (judges see it, by its name)",
    "reference": "Reference answer",
    "system": "System (who wrote it)",
}
#: The roles that a column of items can have, as shown to people. All others name a criterion.
ITEM_ROLES = _WORDS | {
    META: "Keep as a note (meta)",
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
#: Roles whose cells are lists or objects, which a CSV file cannot store.
NESTED = ("label_map", "truth", "truth_reasons", "meta_map")
_VOTES = _WORDS | {
    "item": "Item",
    "rater": "Rater",
    "label": "Answer",
    "criterion": "Criterion",
    "kind": "Kind of rater",
    "reason": "Reason",
    "weight": "Weight of the rater",
    "replicate": "Repetition",
    "order": "Order of options",
    "first": "First answer",
    "second": "Second answer",
    "first_system": "System of the first answer",
    "second_system": "System of the second answer",
}
_ANSWERS: Mapping[Layout, str] = {
    "long": "",
    "wide": "A rater's answers",
    "criteria": "Answers to a criterion",
    "pairs": "Which answer is better",
}
_FIELDS: Mapping[Layout, tuple[str, ...]] = {
    "long": (
        *("item", "rater", "label", "criterion", "kind", "reason", "weight", "replicate", "order"),
        *ABOUT_ITEM,
    ),
    "wide": ("item", "criterion", *ABOUT_ITEM),
    "criteria": ("item", "rater", "kind", "reason", *ABOUT_ITEM),
    "pairs": (
        *("item", "rater", "reason", "prompt", "reference"),
        *("first", "second", "first_system", "second_system"),
    ),
}
_PREFIX = re.compile(r"label\s*[:_]\s*(.+)\Z", re.IGNORECASE | re.DOTALL)


def role_words(role: str, layout: Layout | None = None) -> str:
    """Return a role as shown to people; ``layout`` is the layout of a table of votes.

    >>> role_words("reason:clarity"), role_words("label", "long"), role_words("answers", "wide")
    ('Reason for clarity', 'Answer', "A rater's answers")
    """
    kind, colon, name = role.partition(":")
    if colon:
        return f"Label: {name}" if kind == LABEL else f"Reason for {name}"
    if layout is not None:
        return _ANSWERS[layout] if role == ANSWERS else _VOTES[role]
    return ITEM_ROLES[role]


def roles_of(table: Table, mapping: AnyMapping) -> list[str]:
    """Return the role of every column of ``table`` under ``mapping``, in the columns' order."""
    if isinstance(mapping, VoteMapping):
        roles = {column: role for role, column in mapping.used().items() if "/" not in role}
        roles |= {column.column: ANSWERS for column in mapping.columns}
        roles |= {column.reason: column.reason_role for column in mapping.columns if column.reason}
        for role in ("item", "reason"):
            joined = joined_parts(getattr(mapping, role) or "", table.columns)
            roles |= dict.fromkeys(joined, role)
    else:
        roles = {column: role for role, column in mapping.used.items()}
        roles |= dict.fromkeys(mapping.context, CONTEXT) | dict.fromkeys(mapping.meta, META)
    return [roles.get(c, OUT) for c in table.columns]


def role_options(table: Table, guess: AnyMapping, rubric: Rubric | None) -> list[str]:
    """Return the roles to choose from for a column of ``table``."""
    if isinstance(guess, VoteMapping):
        answers = [ANSWERS] if _ANSWERS[guess.layout] else []
        return [OUT, *_FIELDS[guess.layout], *answers, *_reason_roles(guess)]
    plain = [role for role in ITEM_ROLES if not table.flat or role not in NESTED]
    if rubric is not None:
        plain.remove(LABEL)
    names = [c.name for c in rubric.criteria] if rubric else list(guess.labels)
    names += [name for name in (*guess.labels, *guess.reasons) if name not in names]
    return plain + [f"{kind}:{name}" for kind in ("label", "reason") for name in names]


def _reason_roles(mapping: VoteMapping) -> list[str]:
    """Return the roles of columns of remarks on one column of answers."""
    return [*dict.fromkeys(c.reason_role for c in mapping.columns if c.reason)]


def votes_from(
    columns: Sequence[str], roles: Sequence[str], guess: VoteMapping
) -> tuple[VoteMapping, tuple[Problem, ...]]:
    """Return the mapping of the roles of a table of votes, and problems with doubled roles.

    A column of answers keeps the rater and the criterion that were guessed for it. Several columns
    with the item's role form its id together, and those of a joined reason the reason.
    """
    fields, problems, reasons = dict[str, str](), list[Problem](), dict[str, str]()
    joined = {"item", *(["reason"] if JOINED in (guess.reason or "") else [])}
    guessed, answers = {c.column: c for c in guess.columns}, list[VoteColumn]()
    of_answers = _reason_roles(guess)
    for column, role in zip(columns, roles, strict=True):
        if role == ANSWERS:
            name = {"criterion" if guess.layout == "criteria" else "rater": column}
            answers.append(guessed.get(column) or VoteColumn(column=column, **name))
        elif role in of_answers:
            reasons[role] = column
        elif role in fields and role in joined:
            fields[role] = JOINED.join((fields[role], column))
        elif role != OUT:
            if role in fields:
                problems.append(
                    _doubled_role_problem(role_words(role, guess.layout), fields[role], column)
                )
            fields.setdefault(role, column)
    answers = [
        c.model_copy(update={"reason": reasons.get(c.reason_role, "")}) if c.reason else c
        for c in answers
    ]
    empty = dict.fromkeys(_FIELDS[guess.layout])
    changed = empty | fields | {"columns": tuple(answers)}
    return guess.model_copy(update=changed), tuple(problems)


def words_of_ticks(table: Table, mapping: VoteMapping) -> dict[str, dict[str, str]]:
    """Return words that make a mark MET and a blank UNMET, if answers are one mark or blank."""
    marks = tick_changes(table, [column.column for column in mapping.columns])
    return words_in_changes([mark.removeprefix(WORD) for mark in marks])


def mapping_from(
    columns: Sequence[str], roles: Sequence[str], *, structured: bool = False
) -> tuple[ColumnMapping, tuple[Problem, ...]]:
    """Return the mapping of the roles, and problems with roles that two columns have.

    >>> mapping_from(["a", "b"], ["submission", "label:tone"])[0].labels
    {'tone': 'b'}
    """
    fields, labels, reasons = dict[str, str](), dict[str, str](), dict[str, str]()
    columns_of_role: dict[str, list[str]] = {OUT: [], META: [], CONTEXT: []}
    problems = list[Problem]()
    for column, role in zip(columns, roles, strict=True):
        if role in columns_of_role:
            columns_of_role[role].append(column)
            continue
        kind, colon, name = role.partition(":")
        if role == LABEL:
            name = criterion_of(column)
        target = {"label": labels, "reason": reasons}.get(kind, fields)
        place = name if colon or role == LABEL else role
        if place in target:
            problems.append(_doubled_role_problem(role_words(role), target[place], column))
        target.setdefault(place, column)
    return (
        ColumnMapping.model_validate(
            fields
            | {"labels": labels, "reasons": reasons, "structured": structured}
            | {role: columns_of_role[role] for role in (CONTEXT, META)}
        ),
        (*problems, *_unlabelled_problems(labels, reasons)),
    )


def criterion_of(column: str) -> str:
    """Return the criterion of a column of labels.

    >>> criterion_of("label: Tone"), criterion_of("Tone")
    ('Tone', 'Tone')
    """
    prefixed = _PREFIX.match(column)
    return prefixed[1].strip() if prefixed else column


def _doubled_role_problem(role: str, first: str, second: str) -> Problem:
    return Problem(
        f"Two columns have the role {role!r}: {first!r} and {second!r}.", "Choose one of them."
    )


def _unlabelled_problems(labels: Mapping[str, str], reasons: Mapping[str, str]) -> list[Problem]:
    return [
        Problem(f"{column!r} gives reasons for {name!r}, which no column labels.", "Choose one.")
        for name, column in reasons.items()
        if name not in labels
    ]
