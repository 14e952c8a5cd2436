"""The workbench of a rubric: its test rows, judges and expected options.

Every change is saved at once, in its own transaction, so that nothing is lost and two tabs do not
undo each other. Rows refer to criteria and options by name; ``followed`` updates them when these
are renamed.
"""

from __future__ import annotations

import copy
import secrets
from collections.abc import Callable, Iterable
from typing import Any, TypedDict, cast

from core import clock
from core.domain.dataset import Item
from core.errors import InputError
from core.formats.datasets.dataset_file import has_text
from core.services.access.allowing import allowed
from core.services.judges.registry import list_judges
from core.services.rubrics.draft_shapes import CriterionDraft, RubricDraft
from core.services.rubrics.library import WORKBENCH
from core.store.store import Store

#: The most test rows; for more, make a dataset and a run.
MOST_ROWS = 200


class BenchRow(TypedDict):
    """A test row. ``expected`` maps criterion names to labels, ``reasons`` to their reasons.

    ``submission`` is a text or plain data. An ``example`` is shown to models and is not a test.
    ``source`` says where the row came from.
    """

    uid: str
    submission: Any
    prompt: str
    context: dict[str, str]
    reference: str
    expected: dict[str, str]
    reasons: dict[str, str]
    example: bool
    source: str


class CriterionState(TypedDict):
    """The last known state of a criterion, so that rows follow when it is renamed.

    ``former`` are its earlier names.
    """

    uid: str
    requirement: str
    labels: list[str]
    former: list[str]


class Bench(TypedDict):
    """Everything in a workbench except the answers, which are in its ``runs`` (oldest first).

    ``last`` are the runs that were started last. ``draft`` names the state of the rubric that the
    uids in ``seen`` belong to.
    """

    rows: list[BenchRow]
    judges: list[str]
    flip: bool
    learn_from: int | None
    seed: int
    runs: list[int]
    last: list[int]
    seen: dict[str, CriterionState]
    draft: str


def new_row(
    submission: Any = "",
    *,
    prompt: str = "",
    context: dict[str, str] | None = None,
    reference: str = "",
    expected: dict[str, str] | None = None,
    reasons: dict[str, str] | None = None,
    source: str = "",
) -> BenchRow:
    """Return a new test row with a unique uid."""
    return BenchRow(
        uid=f"r{secrets.token_hex(5)}",
        submission=submission,
        prompt=prompt,
        context=dict(context or {}),
        reference=reference,
        expected=dict(expected or {}),
        reasons=dict(reasons or {}),
        example=False,
        source=source,
    )


def row_of(item: Item, source: str = "") -> BenchRow:
    """Return an item's row, with its labels; ``item`` already has its dataset's shared fields."""
    return new_row(
        item.model_dump(mode="json")["submission"],
        prompt=item.prompt,
        context=item.context,
        reference=item.reference,
        expected={name: label.label for name, label in item.labels.items()},
        reasons={name: label.reason for name, label in item.labels.items() if label.reason},
        source=source,
    )


def item_from(row: BenchRow) -> Item:
    """Return the item that judges are asked about; its labels are the row's expected options."""
    labels = {
        name: {"label": label, "reason": row["reasons"].get(name, "")}
        for name, label in row["expected"].items()
    }
    return Item.model_validate(
        {
            "id": row["uid"],
            "submission": row["submission"],
            "prompt": row["prompt"],
            "context": {name: text for name, text in row["context"].items() if text.strip()},
            "reference": row["reference"],
            "labels": labels,
        }
    )


def is_empty(row: BenchRow) -> bool:
    """Return whether the row has no text to judge yet."""
    item = item_from(row)
    return not item.text.strip() or not has_text(item)


def draft_state(draft: RubricDraft) -> str:
    """Return a name for the rubric's state; uids stay the same while it does."""
    return f"{draft['rubric_id']}/{draft['parent']}"


def saved_workbench(store: Store, name: str) -> Bench:
    """Return a rubric's saved workbench, or an empty one with a model that can be called.

    ``name`` is that of the rubric's draft: its id as text, or a new draft's name.
    """
    draft = store.drafts.get(WORKBENCH + name)
    if draft is None:
        ready = [entry.name for entry in list_judges(store) if entry.ready_model]
        return _blank_bench(ready[:1])
    # Older versions of the program saved fewer fields.
    rows = [{"context": {}, **row} for row in draft.content.get("rows", [])]
    return cast("Bench", {**_blank_bench([]), **draft.content, "rows": rows})


@allowed("draft")
def change(store: Store, name: str, make: Callable[[Bench], Bench]) -> Bench:
    """Change the workbench by ``make``, save it and return it."""
    with store.write():
        changed = make(saved_workbench(store, name))
        store.drafts.save(WORKBENCH + name, changed, now=clock.now())
    return changed


@allowed("draft")
def add_rows(store: Store, name: str, rows: Iterable[BenchRow]) -> int:
    """Add rows at the end; return how many. Raises ``InputError`` if there are too many."""
    new = list(rows)

    def add_rows(bench: Bench) -> Bench:
        if len(bench["rows"]) + len(new) > MOST_ROWS:
            raise InputError(
                f"A workbench holds {MOST_ROWS} rows, and there are {len(bench['rows'])}. "
                "Save these as a dataset and start a run on it."
            )
        return {**bench, "rows": [*bench["rows"], *new]}

    change(store, name, add_rows)
    return len(new)


@allowed("draft")
def add_row(store: Store, name: str) -> str:
    """Add an empty row at the end; return its uid."""
    row = new_row()
    add_rows(store, name, [row])
    return row["uid"]


@allowed("draft")
def set_row(store: Store, name: str, uid: str, **values: Any) -> None:
    """Set fields of a row (submission, prompt, context, reference, example)."""
    change(
        store,
        name,
        lambda b: _with_changed_row(b, uid, lambda r: cast("BenchRow", {**r, **values})),
    )


@allowed("draft")
def expect(store: Store, name: str, uid: str, criterion: str, label: str | None) -> None:
    """Set the right option of a row; ``None`` removes it."""

    def with_expected(row: BenchRow) -> BenchRow:
        expected = {n: old for n, old in row["expected"].items() if n != criterion}
        reasons = row["reasons"]
        if row["expected"].get(criterion) != label:
            # The reason was given for a different expected option, so it is dropped.
            reasons = {n: reason for n, reason in reasons.items() if n != criterion}
        if label is not None:
            expected[criterion] = label
        return {**row, "expected": expected, "reasons": reasons}

    change(store, name, lambda bench: _with_changed_row(bench, uid, with_expected))


@allowed("draft")
def remove_row(store: Store, name: str, uid: str) -> BenchRow | None:
    """Remove a row and return it (``None`` if missing), so that ``add_rows`` can restore it."""
    removed = next((row for row in saved_workbench(store, name)["rows"] if row["uid"] == uid), None)
    change(store, name, lambda b: {**b, "rows": [r for r in b["rows"] if r["uid"] != uid]})
    return removed


@allowed("draft")
def duplicate_row(store: Store, name: str, uid: str) -> None:
    """Insert a copy of a row right after it."""

    def with_row_doubled(bench: Bench) -> Bench:
        rows = list[BenchRow]()
        for row in bench["rows"]:
            rows.append(row)
            if row["uid"] == uid:
                rows.append({**copy.deepcopy(row), "uid": new_row()["uid"]})
        return {**bench, "rows": rows}

    change(store, name, with_row_doubled)


@allowed("draft")
def set_asking(
    store: Store,
    name: str,
    *,
    judges: list[str] | None = None,
    flip: bool | None = None,
    learn_from: int | None = None,
) -> None:
    """Choose the judges, whether to ask in both orders, and what offline judges learn from.

    ``None`` changes nothing.
    """

    def with_judges_chosen(bench: Bench) -> Bench:
        return {
            **bench,
            "judges": bench["judges"] if judges is None else judges,
            "flip": bench["flip"] if flip is None else flip,
            "learn_from": bench["learn_from"] if learn_from is None else learn_from,
        }

    change(store, name, with_judges_chosen)


@allowed("draft")
def followed(store: Store, name: str, draft: RubricDraft) -> Bench:
    """Return the workbench with expectations updated for renamed criteria and options.

    Criteria are matched by name, by uid, or by requirement; options by label, or by position if
    their number is unchanged.
    """
    bench = saved_workbench(store, name)
    current = _follow_draft(bench, draft)
    if current != bench and (bench["rows"] or bench["runs"]):
        return change(store, name, lambda latest: _follow_draft(latest, draft))
    return current


def _follow_draft(bench: Bench, draft: RubricDraft) -> Bench:
    named = {c["name"]: c for c in reversed(draft["criteria"]) if c["name"].strip()}
    same_uids = bench["draft"] == draft_state(draft)
    rows, seen = bench["rows"], dict(bench["seen"])
    for criterion in named.values():
        if criterion["name"] not in seen:
            old = _renamed_criterion(criterion, seen, named, same_uids)
            if old is not None:
                rows = [_with_criterion_renamed(row, old, criterion["name"]) for row in rows]
                was = seen.pop(old)
                seen[criterion["name"]] = {**was, "former": [*was["former"], old]}
        before = seen.get(criterion["name"])
        labels = [option["label"] for option in criterion["options"]]
        if before is not None:
            moves = _renamed_labels(before["labels"], labels)
            rows = (
                [_with_labels_renamed(row, criterion["name"], moves) for row in rows]
                if moves
                else rows
            )
        seen[criterion["name"]] = CriterionState(
            uid=criterion["uid"],
            requirement=criterion["requirement"],
            labels=labels,
            former=before["former"] if before else [],
        )
    return {**bench, "rows": rows, "seen": seen, "draft": draft_state(draft)}


def _renamed_criterion(
    criterion: CriterionDraft,
    former_states: dict[str, CriterionState],
    named: dict[str, CriterionDraft],
    same_uids: bool,
) -> str | None:
    removed = [name for name in former_states if name not in named]
    if same_uids:
        return next(
            (name for name in removed if former_states[name]["uid"] == criterion["uid"]), None
        )
    requirement = criterion["requirement"].strip()
    renamed = [
        name
        for name in removed
        if requirement and former_states[name]["requirement"].strip() == requirement
    ]
    return renamed[0] if len(renamed) == 1 else None


def _renamed_labels(before: list[str], after: list[str]) -> dict[str, str]:
    if len(before) != len(after):
        return {}
    pairs = zip(before, after, strict=True)
    return {old: new for old, new in pairs if old not in after and new not in before}


def _with_criterion_renamed(row: BenchRow, old: str, new: str) -> BenchRow:
    def with_moved_labels(values: dict[str, str]) -> dict[str, str]:
        return {new if name == old else name: value for name, value in values.items()}

    return {
        **row,
        "expected": with_moved_labels(row["expected"]),
        "reasons": with_moved_labels(row["reasons"]),
    }


def _with_labels_renamed(row: BenchRow, criterion: str, moves: dict[str, str]) -> BenchRow:
    label = row["expected"].get(criterion)
    if label not in moves:
        return row
    return {**row, "expected": {**row["expected"], criterion: moves[label]}}


def _with_changed_row(bench: Bench, uid: str, make: Callable[[BenchRow], BenchRow]) -> Bench:
    return {**bench, "rows": [make(r) if r["uid"] == uid else r for r in bench["rows"]]}


def _blank_bench(judges: list[str]) -> Bench:
    return Bench(
        rows=[],
        judges=judges,
        flip=False,
        learn_from=None,
        seed=0,
        runs=[],
        last=[],
        seen={},
        draft="",
    )
