"""Who is who: the rows of a list of students beside the items of a run; and scores as shares."""

from __future__ import annotations

from dataclasses import dataclass

from core.domain.dataset import Item
from core.domain.rubric import Rubric
from core.errors import InputError, Problem
from core.files.points import Scaling
from core.files.rosters import Roster, keys_of
from core.files.written import listed


@dataclass(frozen=True)
class GradeChoices:
    """What a person may choose; ``None`` lets the file decide.

    ``match`` is the column that says who, ``by`` what of an item it is compared with ("id", or a
    key of its additional data), ``grade`` the column that takes grades, ``maximum`` the grade that
    a score of 1 earns where the file does not say.
    """

    match: str | None = None
    by: str | None = None
    grade: str | None = None
    maximum: float | None = None
    scaling: Scaling = "ratio"
    overwrite: bool = False


def fields_of(items: tuple[Item, ...]) -> tuple[str, ...]:
    """What of items may say who: their id, and short values of their additional data."""
    keys = dict.fromkeys(key for item in items for key in item.meta)
    return ("id", *(key for key in keys if any(_key(item, key) for item in items)))


def _key(item: Item, by: str) -> str:
    value = item.id if by == "id" else item.meta.get(by)
    if isinstance(value, bool) or not isinstance(value, str | int):
        return ""
    return str(value).strip()


def matched(
    items: tuple[Item, ...], roster: Roster, choices: GradeChoices
) -> tuple[str, str, dict[int, list[int]]]:
    """The pair of column and field that knows most students: {row: positions of items}."""
    columns = [choices.match] if choices.match else roster.who
    fields = [choices.by] if choices.by else fields_of(items)
    best: tuple[str, str, dict[int, list[int]]] | None = None
    for column in columns:
        at = roster.table.column(column)
        if at is None:
            raise InputError(f"There is no column {column!r}.", (), roster.table.name)
        for by in fields:
            hits = _hits(items, by, roster, at)
            if hits and (best is None or len(hits) > len(best[2])):
                best = column, by, hits
    if best is None:
        ids = listed([item.id for item in items], 3)
        who = listed(list(columns)) or "no column that says who"
        message = f"No student of this file is in the run: {who} is unlike the items' ids ({ids})."
        mend = Problem("Name the column that holds them, or import items with the students' ids.")
        raise InputError(message, (mend,), roster.table.name)
    return best


def _hits(items: tuple[Item, ...], by: str, roster: Roster, column: int) -> dict[int, list[int]]:
    known: dict[str, list[int]] = {}
    for position, item in enumerate(items):
        if key := _key(item, by):
            known.setdefault(key, []).append(position)
    found = dict[int, list[int]]()
    for row in roster.students:
        for key in keys_of(roster.table.rows[row].text(column)):
            if key in known:
                found[row] = known[key]
                break
    return found


def share(rubric: Rubric, score: float, scaling: Scaling) -> float:
    """A score as a share of what can be earned; as a range, counted from the worst answers.

    >>> from core.domain.rubric import Criterion, Option
    >>> low, high = Option(label="a", value=0.5), Option(label="b", value=1)
    >>> one = Criterion(name="x", requirement="y", scale="ordinal", options=(low, high))
    >>> [share(Rubric(criteria=(one,)), 0.75, how) for how in ("ratio", "range")]
    [0.75, 0.5]
    """
    whole = 1.0 if rubric.scoring.normalize else rubric.max_points
    if not whole:
        return 0.0
    part = score / whole
    if scaling == "range":
        low, high = _ends(rubric)
        part = (part - low) / (high - low) if high > low else part
    return max(0.0, part)


def _ends(rubric: Rubric) -> tuple[float, float]:
    """The shares of the worst and the best answers to everything."""
    low = high = 0.0
    for criterion in rubric.criteria:
        points = [v * criterion.weight for v in criterion.values if v is not None]
        low, high = low + min(points), high + max(points)
    most = rubric.max_points
    return (max(0.0, low / most), min(1.0, high / most)) if most > 0 else (0.0, 1.0)
