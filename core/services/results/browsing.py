"""All items of a run: sorted, in pages, counted; and all verdicts by cell."""

from __future__ import annotations

import base64
import binascii
import zlib
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

from core.domain.rubric import Criterion, Rubric
from core.domain.runs import RunItemFilter, RunItemRow, RunItemSort, RunRow
from core.services.results.scored_items import NOTE, rubric_in_force, score_in_place, scored_rubric
from core.store.store import Store


def results_state(store: Store, run: RunRow) -> tuple[object, ...]:
    """Return plain values that change whenever verdicts, scores or labels that correct them
    change.
    """
    counts = (run.votes, run.failures_open, run.scored_version_id)
    fitted = store.runs.note_hash(run.id, NOTE)
    draw = store.datasets.label_draw(run.dataset_version_id)
    return (run.id, *counts, store.settled.last_event(), fitted, draw and draw.declared)


class VerdictCounts(NamedTuple):
    """How often each scored choice (``criterion.scored``) is the verdict, and abstentions."""

    criterion: Criterion
    settled: tuple[int, ...]
    abstained: int


def run_items(
    store: Store,
    run_id: int,
    where: RunItemFilter | None = None,
    *,
    sort: RunItemSort = "position",
    descending: bool = False,
    sort_key: str = "",
    offset: int = 0,
    limit: int = 50,
) -> tuple[list[RunItemRow], int]:
    """Return a page of a run's items, and their total number.

    ``sort_key`` names the criterion whose verdicts sort them, if ``sort`` needs one.
    """
    where = _effective_filter(store, run_id, where or RunItemFilter())
    rows = store.results.items(
        run_id,
        where,
        sort=sort,
        descending=descending,
        sort_key=sort_key,
        offset=offset,
        limit=limit,
    )
    return rows, store.results.count(run_id, where)


def item_ids(
    store: Store,
    run_id: int,
    where: RunItemFilter,
    sort: RunItemSort,
    descending: bool,
    sort_key: str = "",
) -> list[str]:
    """Return the ids of all items on the pages of ``run_items``, in the same order."""
    where = _effective_filter(store, run_id, where)
    return store.results.ids(run_id, where, sort=sort, descending=descending, sort_key=sort_key)


def item_counts(store: Store, run_id: int, filters: Sequence[RunItemFilter]) -> list[int]:
    """Return how many items of a run each filter keeps."""
    return store.results.counts(run_id, [_effective_filter(store, run_id, one) for one in filters])


def _effective_filter(store: Store, run_id: int, where: RunItemFilter) -> RunItemFilter:
    """Return the filter; with ``review`` it omits items that a person has already graded."""
    return replace(where, but=_graded_by_labels(store, run_id)) if where.review else where


def _graded_by_labels(store: Store, run_id: int) -> tuple[str, ...]:
    """Return the items that the votes leave to a person, and that a person's labels grade."""
    run = store.runs.row(run_id)
    if not store.datasets.version(run.dataset_version_id).labelled:
        return ()
    in_review = store.results.items(run_id, RunItemFilter(review=True), limit=run.items)
    rows = {row.item_id: row for row in in_review if row.score is None}
    rubric = scored_rubric(store, run)
    return tuple(
        item.id
        for item in store.datasets.items(run.dataset_version_id, list(rows))
        if score_in_place(rows[item.id], item, rubric_in_force(item, rubric)) is not None
    )


def rows_of_items(store: Store, run_id: int, items: Sequence[str]) -> list[RunItemRow]:
    """Return these items of a run, in the order given."""
    where = RunItemFilter(item_ids=tuple(items))
    by_id = {row.item_id: row for row in store.results.items(run_id, where, limit=len(items))}
    return [by_id[item] for item in items if item in by_id]


def neighbours_of(
    store: Store,
    run_id: int,
    item_id: str,
    where: RunItemFilter,
    sort: RunItemSort,
    descending: bool,
    sort_key: str = "",
) -> tuple[str | None, str | None, int | None, int]:
    """Return the ids before and after an item in a list, its position (from 1), and the list's
    length.

    An item outside the list has no position; the id after it is then the list's first.
    """
    listed = item_ids(store, run_id, where, sort, descending, sort_key)
    try:
        position = listed.index(item_id)
    except ValueError:
        return None, listed[0] if listed else None, None, len(listed)
    before = listed[position - 1] if position > 0 else None
    after = listed[position + 1] if position + 1 < len(listed) else None
    return before, after, position + 1, len(listed)


def verdict_counts(store: Store, run_id: int, rubric: Rubric) -> list[VerdictCounts]:
    """Return how often each choice is the verdict, per criterion of the run's rubric.

    The database counts them, over the items with the rubric's criteria.
    """
    counts = {
        (c["criterion"], c["option"], c["abstained"]): c["count"]
        for c in store.results.verdict_counts(run_id)
    }
    by_criterion = list[VerdictCounts]()
    for criterion in rubric.criteria:
        settled = tuple(counts.get((criterion.name, i, False), 0) for i in criterion.scored)
        abstained = sum(
            n
            for (name, _, is_abstained), n in counts.items()
            if is_abstained and name == criterion.name
        )
        by_criterion.append(VerdictCounts(criterion, settled, abstained))
    return by_criterion


def score_distribution(store: Store, run_id: int) -> list[tuple[float, float, int]]:
    """Return the distribution of a run's scores (from, to, items); empty if no item has one."""
    return store.results.score_bins(run_id)


def item_groups(store: Store, run_id: int) -> tuple[list[str], list[str], list[str]]:
    """Return the systems, tags and splits among the items of a run."""
    from core.services.results.run_columns import kinds_of

    kinds, of_item = kinds_of(store, store.runs.row(run_id))
    present = [kinds[kind] for kind in set(of_item.tolist())]
    systems = {system for system, *_ in present} - {""}
    tags = {tag for _, item_tags, _ in present for tag in item_tags}
    splits = {split for *_, split in present} - {""}
    return sorted(systems), sorted(tags), sorted(splits)


def outcome_counts(store: Store, run_id: int) -> dict[str, int]:
    """Return how many items of a run pass, fail, and (whatever their outcome) need a person."""
    numbers = store.results.outcomes(run_id)
    waiting = numbers.pop("review", 0) - len(_graded_by_labels(store, run_id))
    return numbers | ({"review": waiting} if waiting else {})


# A set of a run's items that no filter describes, as a word for an address: the items' positions in
# the run, which never change, so a link lives as long as the run.

#: The largest set that is read, in bytes of its positions.
_LONGEST = 2_000_000


def packed_set(store: Store, run_id: int, items: Iterable[str]) -> str:
    """Return the set of items as a word for a URL."""
    _, places = _item_positions(store, run_id, items)
    return _pack_numbers(places)


def items_of_set(store: Store, run_id: int, word: str) -> tuple[str, ...]:
    """Return the items of a set's word, in the run's order; empty if the word is invalid."""
    ids, _ = _item_positions(store, run_id, ())
    return tuple(ids[place] for place in sorted(set(_unpack_numbers(word))) if place < len(ids))


def first_of_set(store: Store, run_id: int, items: Iterable[str]) -> str | None:
    """Return the first of these items in the run."""
    ids, places = _item_positions(store, run_id, items)
    return ids[places[0]] if places else None


def _item_positions(
    store: Store, run_id: int, items: Iterable[str]
) -> tuple[tuple[str, ...], list[int]]:
    """Return the items of a run, and the positions of ``items`` among them."""
    # Imported here, since pages that only list items should not load numpy.
    from core.services.results.run_columns import ids_of_run, places_of_items

    run = store.runs.row(run_id)
    place = places_of_items(store, run)
    return ids_of_run(store, run), sorted({place[item] for item in items if item in place})


def _pack_numbers(places: Sequence[int]) -> str:
    """Return rising numbers as a short word: their differences, seven bits a byte, compressed.

    >>> _unpack_numbers(_pack_numbers([0, 3, 4, 300]))
    [0, 3, 4, 300]
    """
    steps, before = bytearray(), 0
    for place in places:
        step, before = place - before, place
        while step > 127:
            steps.append(step & 127 | 128)
            step >>= 7
        steps.append(step)
    return base64.urlsafe_b64encode(zlib.compress(bytes(steps), 9)).decode().rstrip("=")


def _unpack_numbers(word: str) -> list[int]:
    """Return the numbers of a set's word; empty if the word is invalid."""
    try:
        raw = base64.urlsafe_b64decode(word + "=" * (-len(word) % 4))
        steps = zlib.decompressobj().decompress(raw, _LONGEST)
    except (ValueError, binascii.Error, zlib.error):
        return []
    numbers, place, step, shift = list[int](), 0, 0, 0
    for byte in steps:
        step |= (byte & 127) << shift
        shift = shift + 7 if byte & 128 and shift < 28 else 0
        if not shift:
            place, step = place + step, 0
            numbers.append(place)
    return numbers


def judged_options(
    store: Store, run_id: int, places: Collection[tuple[str, str]]
) -> Mapping[tuple[str, str], int]:
    """Return the options by the votes on these cells (item ids and criteria of the run), even if
    people settled another option.

    Cells without such an option are left out: their verdict cannot be right or wrong. Raises
    ``NotFound``.
    """
    from core.services.results.run_columns import cell_columns, own_rubrics, places_of_items

    run = store.runs.get(run_id)
    if not places:
        return {}
    rubric, rows = scored_rubric(store, run), places_of_items(store, run)
    own_rubrics_of = own_rubrics(store, run)
    columns = {column.criterion: column for column in cell_columns(store, run)}
    options = {}
    for item_id, name in places:
        row, column = rows[item_id], columns.get(name)
        index = 0 if column is None else int(column.rows.searchsorted(row))
        if column is None or index == len(column.rows) or column.rows[index] != row:
            continue
        option = int(column.judged[index])
        if option in own_rubrics_of.get(item_id, rubric).criterion(name).scored:
            options[item_id, name] = option
    return options
