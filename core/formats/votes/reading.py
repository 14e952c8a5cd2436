"""Import votes from any file, folder or archive, a table or an experiment."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import replace
from typing import TypeAlias, get_args

from core.domain.dataset import Dataset
from core.domain.rubric import Rubric
from core.errors import InputError, Problem
from core.formats.columns.absences import without_absences, without_absent_texts
from core.formats.columns.answer_columns import could_answer, words_in
from core.formats.columns.headings import COUNTS, is_sum, plain_name
from core.formats.columns.text_columns import maps_for, prompt_map, proposed_texts
from core.formats.datasets.dataset_file import parse_dataset
from core.formats.datasets.roles import role_table
from core.formats.folder import DATASET_NAMES, RUBRIC_NAMES
from core.formats.rubrics.rubric_file import parse_rubric
from core.formats.source.heading_words import SURENESS, has_word
from core.formats.source.opened import Opened
from core.formats.source.parsed import Parsed, limited
from core.formats.tables.cells import steps_of
from core.formats.tables.table import Table, joined_parts, read_table, with_paths
from core.formats.votes.derived_rubric import (
    Derived,
    derive_dataset,
    derive_rubric,
    labels_of,
    lines_as_spelt,
)
from core.formats.votes.experiments import read_experiment
from core.formats.votes.gradescope import read_evaluations
from core.formats.votes.imported import (
    ImportedVotes,
    Labels,
    TableFormat,
    VoteBundle,
    VoteChecker,
    VoteLine,
    empty_answers,
)
from core.formats.votes.item_texts import has_text_per_system, text_notices, version_place
from core.formats.votes.nested.left_inside import left_beside_paths, left_inside_notice
from core.formats.votes.nested.marked_errors import errors_of_raters
from core.formats.votes.nested.nests import judgements_as_rows
from core.formats.votes.pairs.contests import pairs_in, scores_joined
from core.formats.votes.pairs.pair_columns import scores_of_sides, without_counts
from core.formats.votes.pairs.pair_tables import guess_pairs
from core.formats.votes.pairs.rankings import rankings_as_pairs
from core.formats.votes.scales import Bins
from core.formats.votes.sources import MANIFEST, VOTES, VoteSource
from core.formats.votes.structure.lists import unnamed_raters_as_rows
from core.formats.votes.structure.record_states import without_resubmissions, without_unfinished
from core.formats.votes.structure.scale_ends import turned_notices
from core.formats.votes.structure.texts import judged_texts
from core.formats.votes.structure.values import values_of
from core.formats.votes.structure.word_scales import scale_order
from core.formats.votes.tools.known_tools import TOOL_NAMES, read_results
from core.formats.votes.tools.tool_results import bundle
from core.formats.votes.vote_mapping import Layout, VoteMapping, guess_vote_mapping, with_reasons
from core.formats.votes.vote_tables import cell_text, parse_votes, votes_in

#: The content of a file or folder: a layout of a table of votes, the name of a format of votes,
#: "folder", "autorubric", "rubric", "dataset", or "unknown", from which nothing is guessed.
SourceKind: TypeAlias = str
SeenKind: TypeAlias = str
#: What lines above a table may give for all its items.
_ABOVE = ("prompt", "reference")
TABLES: tuple[TableFormat, ...] = get_args(TableFormat)


def read_bundle(
    source: VoteSource,
    kind: SeenKind,
    *,
    rubric: Rubric | None = None,
    dataset: Dataset | None = None,
    mapping: VoteMapping | None = None,
    bins: Bins | None = None,
    chosen: Collection[str] = (),
) -> VoteBundle:
    """Return the votes of a source, with rubric and items.

    Args:
        source: the opened source.
        kind: its kind, as ``known.kind_of`` recognises it or the user says.
        rubric: the rubric of the questions; ``None`` for the source's own, or one derived from its
            labels.
        dataset: the judged items; ``None`` for the source's own, or items with only their ids.
        mapping: the mapping of a table; ``None`` to guess it.
        bins: how the numbers of a tool's results are binned.
        chosen: the columns of a table whose role the user chose.

    Raises:
        InputError: every problem found, each with its line; nothing of a bad file is imported.
    """
    if kind == "folder":
        return _read_folder(source, rubric, dataset)
    if kind == "gradescope":
        if rubric is not None:
            raise InputError("Evaluations bring their own rubric; name none.", (), source.name)
        return read_evaluations(source.files.items(), source.title, dataset)
    if kind == "autorubric":
        return _read_experiment_bundle(source, rubric, dataset)
    if kind in TOOL_NAMES:
        fields = mapping.used() if mapping else {}
        read = bundle(read_results(source.first_file, source.name, fields), rubric, dataset, bins)
        notice = Problem(f"Read as results of {TOOL_NAMES[kind]}.")
        return replace(read, notices=limited([notice, *read.notices]))
    if kind in TABLES:
        known = mapping.words.values() if mapping else ()
        table = table_of(source, rubric=rubric, kept=[word for words in known for word in words])
        mapping = mapping or guess_layout(table, kind, rubric)
        table = with_paths(table, mapping.used().values())
        roles = role_table(table, mapping.roles(), chosen)
        if kind == "pairs":
            read = bundle(pairs_in(table, mapping), rubric, dataset, bins)
            notices = [_layout_notice(mapping), *table.notices]
            notices += [*_left_out_notices(table, mapping), *read.notices]
            as_json = mapping.model_dump(mode="json", exclude_defaults=True)
            said = limited(notices)
            return replace(read, format="pairs", notices=said, mapping=as_json, roles=roles)
        return replace(_bundle_of_table(source, table, mapping, rubric, dataset), roles=roles)
    description = "not recognised" if kind == "unknown" else f"a {kind}, which holds no votes"
    raise InputError(f"This is {description}.", (), source.name)


def guess_layout(table: Table, kind: SeenKind, rubric: Rubric | None = None) -> VoteMapping:
    """Return the guessed mapping of a table in a layout of votes."""
    if kind == "pairs":
        return guess_pairs(table) or VoteMapping(layout="pairs")
    layout: Layout = next((layout for layout in TABLES if layout == kind), "wide")
    return with_reasons(guess_vote_mapping(table, layout, rubric), table)


def table_of(
    source: VoteSource,
    most: int | None = None,
    rubric: Rubric | None = None,
    kept: Collection[str] = (),
) -> Table:
    """Return the table of a single file, or of an archive's votes.csv, up to ``most`` rows.

    Words in ``kept`` are answers, even if they usually say that there is none.
    """
    name = next(iter(source.files)) if source.lone else VOTES
    if name not in source.files:
        raise InputError("It contains no table of votes.", (), source.name)
    sheet = source.sheet if source.lone else None
    opened = source.files[name]
    table = read_table(opened, name, sheet, most)
    read_before, votes = opened.once(_tables_of_votes).get(sheet, (None, table))
    if read_before is not table:
        votes = without_resubmissions(without_unfinished(without_counts(table)))
        votes = errors_of_raters(votes)
        judged = judgements_as_rows(votes)
        # What a classifier says of a comparison is no judgement.
        votes = judged if judged is votes or guess_pairs(votes) is None else votes
        votes = rankings_as_pairs(unnamed_raters_as_rows(votes))
        opened.once(_tables_of_votes)[sheet] = table, votes
    return without_absences(votes, rubric, kept) if rubric or kept else votes.once(without_absences)


def _tables_of_votes(opened: Opened) -> dict[str | None, tuple[Table, Table]]:
    """Return a file's tables so far, by sheet, each with its rows as answers."""
    return {}


def _read_folder(source: VoteSource, rubric: Rubric | None, dataset: Dataset | None) -> VoteBundle:
    read_rubric = Parsed(rubric) if rubric else _rubric_of_source(source)
    if dataset is None:
        name = source.first_existing(DATASET_NAMES)
        if name is None:
            raise InputError("It has no items.jsonl next to its votes.", (), source.name)
        read = parse_dataset(source.files[name], name, read_rubric.value)
        named = read.value.model_copy(update={"name": source.title[:200]})
        dataset = named if read.value.name == "items" else read.value
    else:
        read = Parsed(dataset)
    votes = ImportedVotes((), {})
    notices = [*read_rubric.notices, *read.notices]
    if VOTES in source.files:
        imported = parse_votes(source.files[VOTES], VOTES, read_rubric.value, dataset.items)
        votes, notices = imported.value, [*notices, *imported.notices]
    else:
        notices.append(Problem("has no votes.csv.", "Only the rubric and the items are kept."))
    return VoteBundle(source.title, "folder", read_rubric.value, dataset, votes, limited(notices))


def _rubric_of_source(source: VoteSource) -> Parsed[Rubric]:
    name = source.first_existing(RUBRIC_NAMES)
    if name is None:
        raise InputError("It has no rubric.yaml. Give the rubric as well.", (), source.name)
    return parse_rubric(source.files[name], name)


def _bundle_of_table(
    source: VoteSource,
    table: Table,
    mapping: VoteMapping,
    rubric: Rubric | None,
    dataset: Dataset | None,
) -> VoteBundle:
    mapping = mapping.with_criterion()
    if dataset is None and has_text_per_system(table, mapping):
        mapping = mapping.model_copy(update={"by_system": True})
    table = without_absent_texts(table, mapping.submission)
    table_votes = votes_in(table, mapping)
    turned = turned_notices(table.notices)
    notices = [_layout_notice(mapping), *turned, *table.notices, *_left_out_notices(table, mapping)]
    notices += text_notices(table, mapping)
    if mapping.rater is None and any(row["rater_id"] == "rater 2" for _, row in table_votes.lines):
        message = "No column names who rated: an item's rows are raters 1, 2 and so on, in order."
        notices.append(Problem(message, "If a column does: --map rater=COLUMN."))
    gold = list(table_votes.gold.values())
    if rubric is None:
        scales = {
            c.criterion or mapping.only or c.column: table.scales[c.column]
            for c in mapping.columns
            if c.column in table.scales
        }
        left = {*table.columns} - {*mapping.used().values()}
        told = [line for line in table.told if line.partition(":")[0] not in left]
        derived: Derived = derive_rubric(table_votes.lines, gold, source.title, scales, told)
        rubric, notices = derived.rubric, [*notices, *derived.notices]
        spelt, gold = map(derived.with_rubric_labels, (table_votes.lines, gold))
    else:
        spelt, gold = lines_as_spelt(rubric, table_votes.lines), lines_as_spelt(rubric, gold)
    empty = Counter[str]({"": table_votes.blank[0]} if table_votes.blank[0] else {})
    # A model with a row but no answer has failed; a person was simply not asked.
    spelt = _answered_lines(rubric, spelt, empty, models=mapping.layout == "long")
    labels = labels_of(rubric, gold)
    if dataset is None:
        dataset, problems = derive_dataset(
            table_votes.texts, table_votes.texts, labels, source.title,
            maps_for(
                "submission", () if mapping.submission else _unread_text_columns(table, mapping)
            ),
        )  # fmt: skip
        notices += problems
        above = {f: t for f, t in table.header.items() if f in _ABOVE and isinstance(t, str)}
        dataset = dataset.model_copy(update=above)
    elif labels:
        notices.append(Problem("Gold labels are left out: the dataset brings its own labels."))
    checker = VoteChecker(rubric, dataset.items, table.name)
    votes = checker.read(spelt)
    notices = [*notices, *empty_answers(empty), *checker.notices]
    data = mapping.model_dump(mode="json", exclude_defaults=True)
    return VoteBundle(source.title, mapping.layout, rubric, dataset, votes, limited(notices), data)


def _answered_lines(
    rubric: Rubric, lines: Sequence[VoteLine], empty: Counter[str], *, models: bool
) -> list[VoteLine]:
    """Return the lines with an answer, or by ``models``; ``empty`` counts the others' words."""
    names, answered = {c.name: Labels(c) for c in rubric.criteria}, list[VoteLine]()
    for line, row in lines:
        labels = names.get(row["criterion"])
        is_failure = models and row["rater_kind"] != "human"
        if not is_failure and labels is not None and labels.is_empty(row["label"]):
            empty[row["label"]] += 1
        else:
            answered.append((line, row))
    return answered


def _layout_notice(mapping: VoteMapping) -> Problem:
    """Return a notice on how the table was read."""
    names = [repr(c.column) for c in mapping.columns]
    item = f"the item is {mapping.item!r}" if mapping.item else "each row is an item"
    if mapping.layout == "pairs":
        sides = (mapping.first or mapping.first_system, mapping.second or mapping.second_system)
        says = f"two answers a row, {sides[0]!r} and {sides[1]!r}, compared"
        says += f" in {', '.join(names)}" if names else " by their headings"
        asked = ", ".join(dict.fromkeys(repr(c.criterion) for c in mapping.columns if c.criterion))
        says += f"; the criteria are {asked}" if asked else ""
    elif mapping.layout == "criteria":
        rater = f"rater {mapping.rater!r}" if mapping.rater else "one rater"
        says = f"a criterion a column: {', '.join(names)}; {item}, the {rater}"
        if any(column.item for column in mapping.columns):
            rater = f"the {rater}" if mapping.rater else "each row is a rater"
            says = f"an item a column: {', '.join(names)}; {rater}"
    elif mapping.layout == "wide":
        others = f" and {len(names) - 20} more" if len(names) > 20 else ""
        says = f"a rater a column: {', '.join(names[:20])}{others}; {item}"
    else:
        fields = ("item", "criterion", "rater", "label")
        named = {field: getattr(mapping, field) for field in fields}
        says = "one answer a row: " + ", ".join(f"{f} {c!r}" for f, c in named.items() if c)
    return Problem(f"Read as a table with {says}."[:1000])


def _left_out_notices(table: Table, mapping: VoteMapping) -> list[Problem]:
    used = set(mapping.used().values())
    used |= {part for column in used for part in joined_parts(column, table.columns)}
    used |= {str(steps_of(column)[0]) for column in used if steps_of(column)}
    unused = [c for c in table.columns if c not in used and not c.startswith("p_")]
    inside = left_inside_notice(left_beside_paths(table, mapping.used().values()))
    inside += _side_scores_notices(table, mapping, unused)
    if not unused:
        return inside
    gold = [c for c in unused if mapping.layout == "wide" and _could_be_gold(table, c, mapping)]
    names = ", ".join(map(repr, unused[:20]))
    asks = (mapping.submission or mapping.first) and not mapping.prompt
    mend = prompt_map(table, unused) if asks else ""
    notices = [Problem(f"Columns left out: {names}.", mend, (), 1), *inside]
    if mapping.submission and not mapping.system and (versions := version_place(table, unused)):
        says = f"{versions!r} could be what wrote the texts."
        notices.append(Problem(says, f"If it is: {maps_for('system', [versions])}."))
    beside = unused if mapping.layout == "criteria" else []
    sure = [c for c in beside if _says_how_sure(table, c)]
    settled = [c for c in beside if c not in sure and _is_settled(table, c, mapping)]
    for says, columns in (
        ("How sure the raters were is left out", sure),
        ("Answers that are the same for all raters of an item are left out", settled),
    ):
        options = maps_for("criteria", [*(c.column for c in mapping.columns), *columns], " ")
        message = f"{says}: {', '.join(map(repr, columns))}."
        notices += [Problem(message, f"As one more criterion: {options}.")] if columns else []
    return notices + [
        Problem(
            f"{c!r} summarizes the raters and is not a rater itself.",
            f"As labels: {maps_for('gold', [c])}.",
        )
        for c in gold
    ]


def _side_scores_notices(
    table: Table, mapping: VoteMapping, unused: Sequence[str]
) -> list[Problem]:
    """Return what becomes of columns with a score of each of two answers."""
    kept = scores_joined(table, mapping)
    scores = scores_of_sides(table, (mapping.first, mapping.second), [*kept, *unused])
    if not scores:
        return []
    listed = ", ".join(repr(c) for _, columns in scores for c in columns)
    says = f"{listed} are about one answer each and left out: the pair is read."
    if kept:
        alike = sum(len({cell_text(row, c) for c in kept}) == 1 for row in table.rows)
        says = f"{listed} are about one answer each and kept as the reason."
        says += f" Both are the same in {alike:,} rows." if alike else ""
    ways = " or ".join(
        f"{maps_for('submission', [answer])} {maps_for('criteria', columns, ' ')}"
        for answer, columns in scores
    )
    return [Problem(says, f"As votes on one of the answers: {ways}.")]


def _says_how_sure(table: Table, column: str) -> bool:
    """Return whether a column holds a few levels of how sure the raters were."""
    return has_word(column, SURENESS) and could_answer(table, column, of_each=True)


def _is_settled(table: Table, column: str, mapping: VoteMapping) -> bool:
    """Return whether a column holds words of a scale, one for each item."""
    values, item = values_of(table), mapping.item
    known = item in values.columns and column in values.columns and mapping.rater is not None
    known = known and not is_sum(column) and not values.varies([item or ""], column)
    return known and scale_order(values.distinct[column], column) is not None


def _could_be_gold(table: Table, column: str, mapping: VoteMapping) -> bool:
    """Return whether a column summarises raters in their own words."""
    words = set[str]().union(*(words_in(table, c.column) for c in mapping.columns))
    counts = plain_name(column) in COUNTS
    return (
        is_sum(column)
        and not counts
        and bool(words_here := words_in(table, column))
        and words_here <= words
    )


def _unread_text_columns(table: Table, mapping: VoteMapping) -> list[str]:
    """Return the unused columns, or places in cells, that may hold the texts: one per item."""
    values, used = values_of(table), set(mapping.used().values())
    keys = [c for c in (mapping.item, mapping.system) if c in values.columns]
    columns = [c for c in judged_texts(values, keys) if c not in used]
    inside = (path for path in proposed_texts(table) if path not in (*table.columns, *used))
    return columns or [*inside]


def _read_experiment_bundle(
    source: VoteSource, rubric: Rubric | None, dataset: Dataset | None
) -> VoteBundle:
    items = source.first_existing(("items.jsonl",))
    if items is None:
        raise InputError("It has no items.jsonl next to its manifest.json.", (), source.name)
    manifest = source.files.get(MANIFEST, Opened("{}", MANIFEST))
    read = read_experiment(manifest, source.files[items], source.title, dataset)
    if rubric is None:
        rubric = read.rubric
    if dataset is None:
        dataset = read.dataset
    votes = VoteChecker(rubric, dataset.items, items).read(lines_as_spelt(rubric, read.lines))
    return VoteBundle(read.name, "autorubric", rubric, dataset, votes, limited(read.notices))
