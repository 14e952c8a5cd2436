"""Read ratings from a run or a folder. A run's ratings are read by whole columns."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import NamedTuple

import numpy as np

from core.domain.runs import Run
from core.errors import NotFound
from core.formats.folder import (
    read_clean_dataset,
    read_dataset_file,
    read_folder,
    read_rubric_file,
)
from core.formats.votes.clean_votes import CleanAnswers, read_clean_votes
from core.formats.votes.vote_tables import parse_rows, votes_data
from core.metrics.agreement.ratings import State
from core.services.agreement.rating_sheet import Sheet, first_verdicts, reviewer_columns
from core.services.agreement.rating_tables import (
    PanelVotes,
    column_by_criterion,
    empty_column,
    gather_ratings,
    labels_of,
    ratings_by_criterion,
)
from core.services.agreement.ratings import (
    ABSTAINED,
    FAILED,
    JUDGE_KINDS,
    NOT_ASKED,
    REVIEWED,
    Column,
    LabelSource,
    Levels,
    Options,
    Rated,
    RatedAnswer,
    RatedItems,
    Rater,
    SureVote,
    Traits,
    columns_of,
    items_to_rate,
)
from core.services.datasets import item_columns, label_draws
from core.services.results import fair_sample, run_columns
from core.services.results.scored_items import resolved_items, scored_rubric
from core.services.review import random_labels
from core.store.store import Store
from core.text import numbers

#: A callback for remarks about a source; each call gets one sentence.
Tell = Callable[[str], None]
#: The limits on a file name's length, and on the digits of whole numbers in the data file.
_LONGEST_NAME, _MOST_DIGITS = 255, 18


def ignore_remark(remark: str) -> None:
    """Ignore a remark."""


def read_source(open_store: Callable[[], Store], source: str, tell: Tell = ignore_remark) -> Rated:
    """Return the ratings of a run (by number) or a folder; ``tell`` receives remarks about it.

    Raises:
        InputError: the folder or one of its files is invalid.
        NotFound: the run does not exist.
    """
    run_id = run_number_of(source)
    if run_id is None:
        return folder_ratings(Path(source), tell)
    return run_ratings(open_store(), run_id)


def run_number_of(source: str) -> int | None:
    """Return the run id if a SOURCE of the command line is a number, or ``None`` if it is a path.

    Raises:
        NotFound: the number is too large for a run.

    >>> run_number_of("12"), run_number_of("folder"), run_number_of("\u00b2")
    (12, None, None)
    """
    if not (source.isascii() and source.isdigit()):
        return None
    if len(source) < _LONGEST_NAME and Path(source).exists():
        return None
    if len(source) > _MOST_DIGITS:
        raise NotFound(f"There is no run {source[:40]}.")
    return int(source)


def run_ratings(store: Store, run_id: int) -> Rated:
    """Return the ratings of a run: judges, its items' labels, reviewers, and verdicts before
    review.

    Figures exclude items from which offline judges learned. They also exclude answers to options in
    reversed order, which only check a judge.
    """
    run = store.runs.get(run_id)
    items = items_of(store, run)
    replicates = run.plan.replicates
    kinds: dict[str, str] = {j.name: j.rater_kind for j in run.panel.judges}
    shadows = {judge.name for judge in run.panel.judges if judge.shadow}
    members = set[Rater]()

    @cache  # Cached, because a run has few raters but many answers.
    def make_rater(judge: str, replicate: int) -> Rater:
        rater_of = _rater_with_replicate(judge, replicate, replicates, kinds)
        if judge not in shadows:
            members.add(rater_of)
        return rater_of

    failed = [
        RatedAnswer(c.item, c.criterion, make_rater(c.judge, c.replicate), None, State.FAILED)
        for c in sorted(store.votes.failed(run_id))
        if c.replicate < replicates
    ]
    columns = vote_columns(store, run, make_rater, replicates)
    labels = run_columns.label_columns(store, run)
    reviewers = reviewer_columns(items, first_verdicts(store, run_id), kinds)
    settled = column_by_criterion(items, store.settled.options(run_id))
    reviewed = bool(reviewers or settled)
    panel = PanelVotes(
        verdicts=run_verdicts(store, run, items),
        members=frozenset(members),
        own_labels=run_columns.label_columns(store, run, settled=False) if reviewed else None,
        settled=settled or None,
    )
    rated = ratings_by_criterion(items, [*columns, *reviewers], failed, labels, panel)
    return replace(
        rated,
        sure=lambda: votes_with_confidence(store, run_id),
        draw=lambda level: label_draw(store, run, level, reviewed=bool(settled)),
    )


def label_draw(store: Store, run: Run, level: float, *, reviewed: bool) -> LabelSource:
    """Return how the labels of a run were drawn: by a queue's random audit, or as declared."""
    drawn = random_labels.labels_of_run(store, run.id) if reviewed else None
    reason = ""
    if drawn is not None and drawn.queue is not None:
        reason = drawn.reason
        if not reason:
            confirmed, number, picked = random_labels.confirmed_share(drawn, level)
            text, reason = f"{numbers.count(number)} of them drawn at random", confirmed.reason
            if confirmed.value is not None:
                return LabelSource(text, audited=confirmed, picked=picked)
    declared = label_draws.declared_draw(store, run.dataset_version_id)
    if declared is None:
        return LabelSource(why=reason)
    unlike = fair_sample.draw_contradiction(store, run.id, declared)
    if unlike:
        return LabelSource(why=reason, unlike={"": unlike})
    chances = None
    if declared.note:
        version = run.dataset_version_id
        chances = label_draws.item_chances(store, version, declared.note)
    return LabelSource(
        f"drawn at random, as {declared.by or 'the owner of the data'} declared", chances=chances
    )


def items_of(store: Store, run: Run, ids: Sequence[str] | None = None) -> RatedItems:
    """Return a run's items, or its items with these ids, without reading their texts."""
    version = run.dataset_version_id
    columns = item_columns.columns_of_version(store, version)
    item_ids, rows = run_columns.items_of_run(store, run)
    if ids is not None:
        item_ids, rows = tuple(ids), columns.rows(ids)
    kinds = tuple(Traits(*traits) for traits in columns.kinds)
    own_rubrics = store.vote_statistics.own_rubrics(run.id) if columns.own[rows].any() else {}
    return RatedItems(
        ids=item_ids,
        traits=tuple(kinds[kind] for kind in columns.kind[rows].tolist()),
        rubric=scored_rubric(store, run),
        own={item_id: own_rubrics[item_id] for item_id in item_ids if item_id in own_rubrics}
        if own_rubrics
        else {},
        read=lambda: resolved_items(store, version, item_ids),
    )


def vote_columns(
    store: Store, run: Run, rater: Callable[[str, int], Rater], below: int | None = None
) -> list[Column]:
    """Return a run's votes of replicates 0 to ``below`` - 1; ``make_rater`` names the raters."""
    return [
        Column(vote.criterion, rater(vote.judge, vote.replicate), vote.rows, vote.options)
        for vote in run_columns.vote_columns(store, run)
        if below is None or vote.replicate < below
    ]


def run_verdicts(store: Store, run: Run, items: RatedItems) -> Options:
    """Return the verdicts by a run's votes, by criterion."""
    by_criterion: dict[str, Levels] = {}
    for verdict in run_columns.cell_columns(store, run):
        column = by_criterion[verdict.criterion] = empty_column(items)
        column[verdict.rows] = verdict.judged
    return by_criterion


def votes_with_confidence(
    store: Store, run_id: int, criterion: str | None = None
) -> list[SureVote]:
    """Return the stated confidence of a run's answers, to one criterion or all."""
    run = store.runs.get(run_id)
    replicates = run.plan.replicates
    kinds: dict[str, str] = {j.name: j.rater_kind for j in run.panel.judges}
    return [
        SureVote(
            item,
            name,
            _rater_with_replicate(judge, replicate, replicates, kinds),
            confidence,
            chances,
        )
        for (item, name, judge, replicate), confidence, chances in store.votes.sure(
            run_id, replicates, criterion
        )
    ]


def _rater_with_replicate(
    judge: str, replicate: int, replicates: int, kinds: Mapping[str, str]
) -> Rater:
    return Rater(f"{judge}|{replicate}" if replicates > 1 else judge, kinds.get(judge, "llm"))


def folder_ratings(path: Path, tell: Tell = ignore_remark) -> Rated:
    """Return the ratings of a folder in the common layout."""
    plain = _plain_folder(path)
    if plain is not None:
        return plain
    parsed_rubric, dataset = read_folder(path)
    rubric, items = parsed_rubric.value, dataset.value.items
    opened = votes_data(path)
    if not any(item.rubric for item in items):
        clean = read_clean_votes(opened.data, rubric, [item.id for item in items])
        if clean is not None:
            rated_items = items_to_rate(rubric, items)
            return ratings_by_criterion(
                rated_items, _columns_of_clean_votes(clean), (), labels_of(rated_items, items)
            )
    parsed = parse_rows(opened, rubric, items)
    for notice in parsed.notices:
        tell(str(notice))
    votes = parsed.value
    names = column_names(
        [
            Row(v.cell.item, v.criterion, Rater(v.rater, v.kind), v.order, v.replicate)
            for v in votes.rows
        ]
    )
    answers, confident_votes, weights = [], list[SureVote](), dict[str, float]()
    for vote, name in zip(votes.rows, names, strict=True):
        weights[name] = votes.weights.get(vote.rater, 1.0)
        confidence = (vote.confidence, vote.probabilities)
        if confidence != (None, None):
            confident_votes.append(
                SureVote(vote.cell.item, vote.criterion, Rater(name, vote.kind), *confidence)
            )
        state = State.ABSTAINED if vote.abstained else State.ANSWERED
        answers.append(
            RatedAnswer(
                vote.cell.item,
                vote.criterion,
                Rater(name, vote.kind),
                vote.option,
                State.FAILED if vote.failed else state,
            )
        )
    rated = gather_ratings(
        rubric, items, answers, PanelVotes(weights=weights, sure=confident_votes)
    )
    return replace(rated, sure=lambda: confident_votes)


def _plain_folder(path: Path) -> Rated | None:
    """Return the ratings of a folder with only plain items and votes; ``None`` for other folders.

    It reads whole columns.
    """
    if not path.is_dir():
        return None
    rubric = read_rubric_file(path).value
    items = read_clean_dataset(path, rubric)
    clean = None if items is None else read_clean_votes(votes_data(path).data, rubric, items.ids)
    if items is None or clean is None:
        return None
    kinds = [Traits(*traits) for traits in items.kinds]
    rated = RatedItems(
        ids=items.ids,
        traits=tuple(kinds[kind] for kind in items.kind.tolist()),
        rubric=rubric,
        own={},
        read=lambda: read_dataset_file(path, rubric).value.items,
    )
    codes = np.array([NOT_ASKED, ABSTAINED])
    labels = {
        name: np.where(options < 0, codes[np.minimum(options + 2, 1)], options)
        for name, options in items.labels.items()
    }
    return ratings_by_criterion(rated, _columns_of_clean_votes(clean), (), labels)


def _columns_of_clean_votes(clean: CleanAnswers) -> list[Column]:
    columns = list[Column]()
    for column in clean.columns():
        answered = np.where(column.options < 0, ABSTAINED, column.options)
        options = np.where(column.failed, FAILED, answered)
        columns.append(
            Column(column.criterion, Rater(column.rater, column.kind), column.rows, options)
        )
    return columns


class Row(NamedTuple):
    """The facts that determine the column of an answer."""

    item: str
    criterion: str
    rater: Rater
    order: str
    replicate: int


def column_names(rows: Sequence[Row]) -> list[str]:
    """Return the column name of each row.

    A rater who answered a cell several times has several columns: ``NAME|ORDER`` if the answers
    differ in the order in which options were shown, else ``NAME|REPLICATE``.

    >>> ann = Rater("A", "llm")
    >>> column_names([Row("i", "c", ann, "as is", 0), Row("i", "c", ann, "swapped", 1)])
    ['A|as is', 'A|swapped']
    >>> column_names([Row("i", "c", ann, "", 0), Row("i", "c", ann, "", 1)])
    ['A|0', 'A|1']
    """
    if not any(row.order or row.replicate for row in rows):
        return [row.rater.name for row in rows]
    orders: dict[tuple[str, str, Rater], set[str]] = {}
    for row in rows:
        orders.setdefault(row[:3], set()).add(row.order)
    by_order = any(len(shown) > 1 for shown in orders.values())
    names = [f"{r.rater.name}|{r.order}" if by_order and r.order else r.rater.name for r in rows]
    cells = [(*row[:3], name) for row, name in zip(rows, names, strict=True)]
    times = Counter(cells)
    repeated = {cell[2:] for cell, number in times.items() if number > 1}
    count = Counter[tuple[str, str, Rater, str]]()
    for index, (row, cell) in enumerate(zip(rows, cells, strict=True)):
        if cell[2:] in repeated:
            names[index] = f"{cell[3]}|{count[cell] if by_order else row.replicate}"
            count[cell] += 1
    return names


def sheet_of_run(store: Store, run_id: int) -> Sheet:
    """Return the ratings of a run, including its reviewers'. Raises ``NotFound``."""
    run = store.runs.get(run_id)
    seats = {judge.name: index for index, judge in enumerate(run.panel.judges)}
    has_replicates = run.plan.replicates > 1
    rated = run_ratings(store, run_id)

    def rater_key(rater: Rater) -> tuple[int, str]:
        if rater.kind == REVIEWED:
            return len(seats), rater.name.casefold()
        return seats[rater.name.rpartition("|")[0] if has_replicates else rater.name], rater.name

    return sheet_of_ratings(replace(rated, raters=tuple(sorted(rated.raters, key=rater_key))))


def sheet_of_ratings(rated: Rated) -> Sheet:
    """Return the sheet of these ratings."""
    columns = columns_of(rated.raters)
    return Sheet(
        items=rated.of.ids,
        judges=tuple(name for rater, name in columns.items() if rater.kind in JUDGE_KINDS),
        criteria=rated.criteria,
        people=tuple(name for rater, name in columns.items() if rater.kind == "human"),
        kinds={name: rater.kind for rater, name in columns.items() if rater.kind in JUDGE_KINDS},
        traits=rated.of.traits,
        whole=len(rated.of.ids),
        reviewers=tuple(name for rater, name in columns.items() if rater.kind == REVIEWED),
        members=frozenset(columns[rater] for rater in rated.members if rater in columns),
    )
