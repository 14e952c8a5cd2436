"""Add rows to a workbench (pasted, from a dataset, from worked examples) and export them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from core import clock
from core.domain.base import build_model
from core.domain.dataset import Dataset, Item
from core.domain.library import DatasetVersion
from core.domain.rubric import Rubric
from core.errors import InputError
from core.services.access.allowing import allowed
from core.services.datasets import catalog
from core.services.judges.registry import list_judges
from core.services.results.scored_items import resolved_items
from core.services.rubrics.draft_shapes import RubricDraft
from core.services.spot import request
from core.services.spot.request import with_panel
from core.services.workbench import bench_rows
from core.services.workbench.bench_rows import BenchRow, item_from, new_row, row_of
from core.store.store import Store

#: The most items, and the most runs, that are searched for answers to try a criterion on.
_LOOKED_AT, _RECENT = 200, 50
_SUBMISSIONS = ("submission", "response", "answer", "output", "text")


def rows_in_text(text: str, rubric: Rubric | None) -> list[BenchRow]:
    """Return the rows in a pasted text: a table with a header, otherwise a submission per line.

    A table is CSV, TSV (as copied from spreadsheets), JSON or JSONL, with the columns of dataset
    imports; ``label:NAME`` is the expected option. ``rubric`` helps to find such columns.

    Raises:
        InputError: the text is empty, or the table has problems, each with its line.
    """
    if not text.strip():
        raise InputError("There is nothing to paste. Put in one submission a line, or a table.")
    if not _looks_like_table(text):
        return [new_row(line.strip()) for line in text.splitlines() if line.strip()]
    head = text.lstrip().split("\n", 1)[0].strip()
    by_line = head.startswith("{") and head.endswith("}")
    table = catalog.read_source(text, "pasted.jsonl" if by_line else "pasted text")
    checked = catalog.check(table, catalog.suggest_mapping(table, rubric), rubric)
    if checked.dataset is None:
        raise InputError("This table cannot be read.", checked.problems)
    dataset = checked.dataset
    return [row_of(dataset.resolved(item), "pasted") for item in dataset.items]


def _looks_like_table(text: str) -> bool:
    head = text.lstrip().split("\n", 1)[0].strip()
    if head[:1] in ("{", "["):
        return True
    cells = [cell.strip().strip('"').casefold() for cell in _split_line(head)]
    return len(cells) > 1 and any(cell in _SUBMISSIONS for cell in cells)


def _split_line(line: str) -> list[str]:
    mark = next((m for m in "\t;|," if m in line), ",")
    return line.split(mark)


def rows_of_items(store: Store, version_id: int, ids: Sequence[str]) -> list[BenchRow]:
    """Return the rows of these items of a dataset, with their labels as expected options.

    Labels settled in reviews override the dataset's own.
    """
    name = store.datasets.version(version_id).name
    items = resolved_items(store, version_id, list(ids))
    return [row_of(item, f"{name}, {item.id}") for item in items]


def likely_dataset(store: Store, rubric_id: int | None) -> int | None:
    """Return the dataset version to try a criterion on: that of the rubric's newest run on a
    dataset's latest version, otherwise the newest dataset's; ``None`` without datasets.
    """
    datasets = store.datasets.list()
    versions = {row.version_id for row in datasets}
    for run in store.runs.list(limit=_RECENT):
        if run.rubric_id == rubric_id and run.dataset_version_id in versions:
            return run.dataset_version_id
    return max(datasets, key=lambda row: row.updated).version_id if datasets else None


@allowed("draft")
def take_answers(store: Store, bench_name: str, version_id: int, criterion: str, count: int) -> int:
    """Add real answers of a dataset to the workbench; return how many.

    Answers with a label of the criterion come first, with labels in turn, so that each option is
    tried. If no judge is chosen, judges that can learn from the dataset become the choice.
    """
    bench = bench_rows.saved_workbench(store, bench_name)
    present = {str(row["submission"]) for row in bench["rows"]}
    ids = [row.id for row in store.datasets.rows(version_id, limit=_LOOKED_AT)]
    rows = [
        row
        for row in rows_of_items(store, version_id, ids)
        if str(row["submission"]) not in present
    ]
    rounds = Counter[str]()
    order = list[tuple[bool, int, int]]()
    for place, row in enumerate(rows):
        label = row["expected"].get(criterion)
        rounds[label or ""] += 1
        order.append((label is None, rounds[label or ""], place))
    chosen = [rows[place] for *_, place in sorted(order)[:count]]
    if not bench["judges"] and any(criterion in row["expected"] for row in chosen):
        learners = [entry.name for entry in list_judges(store) if entry.judge.learns]
        bench_rows.set_asking(store, bench_name, judges=learners, learn_from=version_id)
    return bench_rows.add_rows(store, bench_name, chosen)


def worked_examples(draft: RubricDraft) -> list[BenchRow]:
    """Return the worked examples of library criteria as rows."""
    rows = list[BenchRow]()
    for criterion in draft["criteria"]:
        example = criterion["meta"].get("example")
        if not isinstance(example, dict) or not example.get("submission"):
            continue
        texts = {n: str(example.get(n) or "") for n in ("submission", "prompt", "reference")}
        row = new_row(
            texts["submission"],
            prompt=texts["prompt"],
            reference=texts["reference"],
            source="worked example",
        )
        if example.get("option"):
            row["expected"] = {criterion["name"]: str(example["option"])}
            row["reasons"] = {criterion["name"]: str(example.get("why") or "")}
        rows.append(row)
    return rows


def rows_as_dataset(rows: Sequence[BenchRow], name: str) -> Dataset:
    """Return the rows as a dataset: examples are its calibration part, tests its evaluation part.

    Raises:
        InputError: no row has a text, or the name is invalid.
    """
    pairs = [(row, item_from(row)) for row in rows]
    items = [_split_item(item, row["example"]) for row, item in pairs if item.text.strip()]
    if not items:
        raise InputError("No row has a text. Write, paste or take one from a dataset.")
    return build_model(Dataset, {"name": name.strip() or "Test rows", "items": items}, "dataset")


@allowed("write")
def save_dataset(store: Store, bench_name: str, name: str) -> DatasetVersion:
    """Save the rows as a dataset."""
    dataset = rows_as_dataset(bench_rows.saved_workbench(store, bench_name)["rows"], name)
    version, _ = catalog.import_dataset(store, dataset, source="workbench")
    return version


@allowed("write")
def teach_with(store: Store, bench_name: str, uid: str, dataset_id: int) -> DatasetVersion:
    """Add a row to a dataset's calibration part, as a new version of the dataset.

    Runs on it show the row to models as an example. An existing item with this text gets the row's
    labels.

    Raises:
        InputError: the row has no expected option yet.
        Conflict: the dataset was changed meanwhile.
    """
    rows = bench_rows.saved_workbench(store, bench_name)["rows"]
    row = next((row for row in rows if row["uid"] == uid), None)
    if row is None or not row["expected"]:
        raise InputError("Say first which option is right for this row; then it can teach.")
    latest = store.datasets.latest(dataset_id)
    dataset = store.datasets.load(latest.id)
    item = _split_item(item_from(row), example=True)
    twin = next((i for i in dataset.items if _is_same_row(dataset.resolved(i), item)), None)
    items = [*dataset.items, item]
    if twin is not None:
        labels = {**twin.labels, **item.labels}
        teaching_item = twin.model_copy(update={"labels": labels, "split": "calibration"})
        items = [teaching_item if i is twin else i for i in dataset.items]
    grown = dataset.model_copy(update={"items": tuple(items)})
    return store.datasets.add_version(
        dataset_id, grown, parent=latest.number, now=clock.now(), source="workbench"
    )


def count_other_teachers(store: Store, dataset_id: int) -> tuple[int, int]:
    """Count a dataset's labelled items, and those marked as its calibration part.

    Once an item is marked, judges learn only from marked items, which users should know beforehand.
    """
    version = store.datasets.latest(dataset_id)
    items = store.datasets.load(version.id).items
    return version.labelled, sum(bool(i.labels) and i.split == "calibration" for i in items)


@allowed("draft")
def open_in_spot_check(store: Store, bench_name: str, uid: str, version_id: int) -> None:
    """Fill the form of the Spot check page with a saved row and this rubric."""
    form = with_panel(store, request.opened_form(store), None)
    keys = request.rubric_choices(store)
    wanted = [request.DRAFT + bench_name, bench_name]
    changes = {
        "rubric": next((key for key in wanted if key in keys), form.rubric),
        "way": "item",
        "dataset": version_id,
        "item": uid,
        "judges": tuple(bench_rows.saved_workbench(store, bench_name)["judges"]) or form.judges,
    }
    request.keep(store, form.model_copy(update=changes))


def _split_item(item: Item, example: bool) -> Item:
    return item.model_copy(update={"split": "calibration" if example else "evaluation"})


def _is_same_row(first: Item, second: Item) -> bool:
    return (first.submission, first.prompt, first.context) == (
        second.submission,
        second.prompt,
        second.context,
    )
