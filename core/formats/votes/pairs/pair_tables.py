"""Tables with two answers a row and the better one, as contests."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from core.domain.rubric import A_BETTER, B_BETTER, TIE
from core.formats.columns.answer_columns import (
    columns_by_scale,
    could_answer,
    counts_rows,
    words_in,
)
from core.formats.columns.headings import (
    NO_RATERS,
    is_sum,
    named_for_raters,
    names_a_criterion,
    names_a_person,
    plain_name,
)
from core.formats.columns.label_words import NO_ANSWER
from core.formats.columns.name_grids import NameGrid, grid_of, likely_sides
from core.formats.columns.text_columns import heads_a_prompt, is_remark, is_worded, prompt_beside
from core.formats.datasets.field_names import SYNONYMS
from core.formats.datasets.labels import WORD
from core.formats.source.csv_writer import number_of
from core.formats.source.heading_words import ITEMS, PREFERENCES, PROMPTS, has_word
from core.formats.tables.table import JOINED, Table
from core.formats.votes.pairs.contests import (
    are_decided,
    number_map,
    option_named,
    pair_systems,
    tells_how_much,
)
from core.formats.votes.pairs.pair_columns import (
    answer_columns,
    columns_beside_baseline,
    is_answer,
    scores_of_sides,
    similar_system_columns,
    system_columns,
    task_column,
)
from core.formats.votes.pairs.preference_words import option_of
from core.formats.votes.structure.named_fields import NAMES, named_fields
from core.formats.votes.structure.rater_columns import item_columns
from core.formats.votes.structure.values import values_of
from core.formats.votes.vote_mapping import VoteColumn, VoteMapping, kinds_in, kinds_of
from core.text.names import fold

#: Columns that name the better answer, most specific first.
_PREFERENCE = (
    *("preference", "overall preference", "winner", "preferred", "better", "choice", "label"),
    *("verdict", "vote", "judgment", "judgement", "annotation", "answer", "outcome", "result"),
)
_WON = {
    **dict.fromkeys(("win", "wins", "won", "w"), 1.0),
    **dict.fromkeys(("loss", "lose", "loses", "lost", "l"), -1.0),
    **dict.fromkeys(("tie", "tied", "draw", "t", "d"), 0.0),
}


def guess_pairs(table: Table) -> VoteMapping | None:
    """Return which columns hold two answers and the preference, or ``None`` for other tables.

    Every value of the preference must be clear: an answer's heading or letter, a tie, 1 or 2. So
    must be which of several preferences are raters, and which criteria.
    """
    if (mapping := _sides_mapping(table)) is None:
        return None
    left = [c for c in table.columns if c not in mapping.used().values()]
    strong, able = [c for c in left if tells_how_much(c)], left
    left = [c for c in left if could_answer(table, c) and not is_sum(c)]
    judged = [c for c in left if not (words_in(table, c) - _known_words(table, mapping, c))]
    if not mapping.rater and _graded_columns(table, left):
        return None  # Numbers say how much better one side is; the user says which.
    plains = {plain_name(c): c for c in reversed(judged)}
    named = [plains[name] for name in _PREFERENCE if name in plains]
    named = named or [c for c in judged if has_word(c, PREFERENCES)]
    if mapping.first is None:
        judged = named or [c for c in judged if named_for_raters([c]) or _names_sides(table, c)]
    if mapping.first is None and are_decided(mapping):
        judged = named = left = []  # the winner's name is no second judgement
    columns = named[:1] if named and (mapping.rater or len(judged) < 2) else judged
    columns = _by_raters_or_criteria(table, columns, judged, bool(mapping.rater))
    if not columns and not are_decided(mapping):
        return None
    if not mapping.rater and {*columns} < {*_columns_by_person(table, mapping, left)}:
        return None  # The user must explain a word before these can be preferences.
    unclear = [c for c in left if c not in judged and _known_words(table, mapping, c)]
    if columns and any(_heads_alike(columns[0], c) for c in unclear):
        return None  # So must a word of another rater's preferences.
    sides = [c for c in (mapping.first, mapping.second) if c]
    if not mapping.rater and _judge_unnamed(table, sides, [c for c in left if c not in judged]):
        return None  # The rater's column holds unknown words, so ask the user.
    if not (columns or mapping.reason):
        scores = [c for _, of in scores_of_sides(table, sides, able) for c in of]
        both = JOINED.join(scores) if len(scores) == 2 else None  # one of each answer
        reason = strong[0] if len(strong) == 1 else both
        mapping = mapping.model_copy(update={"reason": reason})
    voters = preference_columns(columns, has_rater=bool(mapping.rater))
    raters = kinds_of(c.rater for c in voters)
    kinds = kinds_in(table, mapping.rater) if mapping.rater else raters
    return mapping.model_copy(update={"columns": voters, "kinds": kinds})


def _heads_alike(left: str, right: str) -> bool:
    """Return whether two headings begin with the same word for preferences."""
    first, second = plain_name(left).partition(" ")[0], plain_name(right).partition(" ")[0]
    return first == second and has_word(first, PREFERENCES)


def _by_raters_or_criteria(
    table: Table, columns: list[str], judged: list[str], has_rater: bool
) -> list[str]:
    """Return the preferences; none if it is unclear which are raters' and which are criteria."""
    grid = None if has_rater else _whole_grid(columns)
    if grid is not None:
        return columns if len(likely_sides(table, grid)) == 1 else []
    rivals = [c for c in judged if has_word(c, PREFERENCES) or names_a_criterion(c)]
    if len(rivals) < 2 or plain_name(columns[0]) in _PREFERENCE[:3]:
        return columns
    if all(map(names_a_criterion, judged)):
        return judged
    return [] if has_rater or any(map(names_a_criterion, rivals)) else columns


def preference_columns(columns: Sequence[str], *, has_rater: bool) -> tuple[VoteColumn, ...]:
    """Return columns of preferences as raters, as criteria, or as both if headings combine them.

    >>> heads = ["Kim_clarity", "Kim_depth", "Lee_clarity", "Lee_depth"]
    >>> [(c.rater, c.criterion) for c in preference_columns(heads, has_rater=False)][:2]
    [('Kim', 'clarity'), ('Kim', 'depth')]
    >>> [(c.rater, c.criterion) for c in preference_columns(["Kim", "Lee"], has_rater=False)]
    [('Kim', ''), ('Lee', '')]
    """
    several, grid = len(columns) > 1, None if has_rater else _whole_grid(columns)
    if grid is not None:
        parts = {column: pair for pair, column in grid.columns.items()}
        pairs = {c: {"rater": parts[c][0], "criterion": parts[c][1]} for c in columns}
        return tuple(VoteColumn(column=c, **pair) for c, pair in pairs.items())
    if several and (has_rater or all(map(names_a_criterion, columns))):
        return tuple(VoteColumn(column=c, criterion=c) for c in columns)
    return tuple(VoteColumn(column=c, rater="" if has_rater else c) for c in columns)


def _whole_grid(columns: Sequence[str]) -> NameGrid | None:
    """Return the grid of raters and criteria that all columns make, or ``None``."""
    grid = grid_of(columns)
    return grid if grid is not None and len(grid.columns) == len(columns) else None


def _sides_mapping(table: Table, *, loose: bool = False) -> VoteMapping | None:
    """Return a mapping with the columns of two answers, or of their systems' names, and the related
    columns. ``loose``: accept system names even if no heading calls them systems.
    """
    heads = {plain_name(column): column for column in reversed(table.columns)}
    texts = answer_columns(table)
    able = (c for c in table.columns if could_answer(table, c))
    if loose and texts is None and any(words_in(table, c) <= _WON.keys() for c in able):
        texts = columns_beside_baseline(table)
    sides = texts or similar_system_columns(table, loose=loose)
    if sides is None:
        return None
    free = {name: column for name, column in heads.items() if column not in sides}
    fields = dict(zip(("first", "second") if texts else _SYSTEMS, sides, strict=True))
    systems = system_columns(sides, free) if texts else []
    fields |= zip(_SYSTEMS, systems, strict=False)
    fields |= _named_columns(table, {n: c for n, c in free.items() if c not in systems})
    mapping = VoteMapping(layout="pairs", **fields)
    if mapping.rater is None and (who := _rater_column(table, mapping)):
        mapping = mapping.model_copy(update={"rater": who})
    if (
        texts
        and mapping.prompt is None
        and (asked := prompt_beside(table, sides[0], free.values()))
    ):
        mapping = mapping.model_copy(update={"prompt": asked})
    if not texts and (task := task_column(table, sides, mapping.rater)):
        mapping = mapping.model_copy(update={"item": task})
    return mapping


_SYSTEMS = ("first_system", "second_system")


def _names_sides(table: Table, column: str) -> bool:
    """Return whether words are the left and the right side, as in `outcome` of a battle."""
    meant = {option_of(word, "", "") for word in words_in(table, column)}
    return {A_BETTER, B_BETTER} <= meant


def _rater_column(table: Table, mapping: VoteMapping) -> str:
    """Return the only column headed for people that holds names and no preferences."""
    used = mapping.used().values()
    people = [c for c in table.columns if c not in used and names_a_person(c)]
    people = [c for c in people if 1 < len(words_in(table, c)) < len(table.rows)]
    named = [c for c in people if not _known_words(table, mapping, c) and not is_sum(c)]
    named = [c for c in named if plain_name(c).rpartition(" ")[2] not in NO_RATERS - {"id", "name"}]
    return named[0] if len(named) == 1 else ""


def _judge_unnamed(table: Table, sides: Sequence[str], left: Sequence[str]) -> bool:
    """Return whether another rater, named in a column, compares the same answers again."""
    keys = [tuple(str(row.get(side)) for side in sides) for row in table.rows]
    people = [c for c in left if names_a_person(c)]
    return len(set(keys)) < len(keys) and any(
        len({(*key, str(row.get(c))) for key, row in zip(keys, table.rows, strict=True)})
        == len(keys)
        for c in people
    )


def near_pairs(table: Table) -> Iterator[tuple[str, ...]]:
    """Yield mapping changes that read two similar answer columns, and their comparison, as pairs.

    The comparison is in one column, or in one for each person. One ambiguous word beside clear ones
    is proposed as a tie; numbers with a middle, wins and losses are proposed in both directions.
    """
    if (mapping := _sides_mapping(table, loose=True)) is None:
        return
    fields = {
        name: getattr(mapping, name)
        for name in ("first", "second", *_SYSTEMS, "prompt", "reference")
    }
    sides = [c for c in fields.values() if c]
    able = [c for c in table.columns if c not in sides and could_answer(table, c)]
    people = [c for c in able if names_a_person(c) and not _known_words(table, mapping, c)]
    rater = mapping.rater or next(iter(people), None)
    item = "" if mapping.first else mapping.item or task_column(table, sides, rater)
    fields = {"item": item, **fields, "rater": rater}
    changes = tuple(f"{field}={column}" for field, column in fields.items() if column)
    able = [c for c in able if c not in (item, rater)]
    graded = [] if rater else _graded_columns(table, able)
    words = set[str]().union(*(words_in(table, c) for c in graded)) - NO_ANSWER
    for better in _two_readings(words, "") if graded else ():
        meant = (f"{WORD}{w}={option}" for w, option in sorted(better.items()))
        yield (*changes, *(f"preference={c}" for c in graded), *meant)
    left = [c for c in able if c not in graded and not (graded and is_sum(c))]
    clear = [c for c in left if words_in(table, c) - NO_ANSWER <= _known_words(table, mapping, c)]
    if (grid := None if rater else grid_of(clear)) is not None:
        yield from ((*changes, *way.changes) for way in likely_sides(table, grid))
        left = [c for c in left if c not in grid.columns.values()]
    group = [] if rater else _columns_by_person(table, mapping, left)
    for columns in ([group] if group else []) + [[c] for c in left if c not in group]:
        labels = set[str]().union(*(words_in(table, c) for c in columns)) - NO_ANSWER
        strange = labels - set[str]().union(*(_known_words(table, mapping, c) for c in columns))
        preferences = [f"preference={c}" for c in columns]
        if ways := _two_readings(labels, columns[0]):
            for better in ways:
                meant = (f"{WORD}{w}={option}" for w, option in sorted(better.items()))
                yield (*changes, *preferences, *meant)
        elif not strange or ([*map(number_of, strange)] == [None] and len(labels) > 2):
            yield (*changes, *preferences, *(f"{WORD}{word}={TIE}" for word in strange))


def _columns_by_person(table: Table, mapping: VoteMapping, columns: Sequence[str]) -> list[str]:
    """Return the columns with several people's preferences; at most one of their words may be
    unknown.
    """
    able = [c for c in columns if not (has_word(c, PREFERENCES) or names_a_criterion(c))]
    able = [c for c in able if not is_sum(c) and plain_name(c) not in _PREFERENCE]
    able = [c for c in able if not is_remark(c)]
    clear = {c: _known_words(table, mapping, c) for c in able}
    strange = {c: words_in(table, c) - NO_ANSWER - clear[c] for c in able}
    able = [c for c in able if clear[c] and len(strange[c]) < 2]
    return able if len(able) > 1 and len(set().union(*(strange[c] for c in able))) < 2 else []


def _graded_columns(table: Table, columns: Sequence[str]) -> list[str]:
    """Return columns of numbers below and above 0 on one scale: how strongly raters prefer one."""
    able = [
        c for c in columns if not (is_sum(c) or names_a_criterion(c) or counts_rows(table.rows, c))
    ]
    numbers = {c: {number_of(w) for w in words_in(table, c) - NO_ANSWER} for c in able}
    able = [c for c in able if numbers[c] and None not in numbers[c]]
    group = next(iter(columns_by_scale(table, able)), [])
    signed = [c for c in group if any(n is not None and n < 0 for n in numbers[c])]
    return group if len(signed) > 1 else []


def _two_readings(labels: set[str], column: str) -> list[dict[str, str]]:
    """Return what numbers on both sides of a middle may mean, or wins and losses: two readings."""
    won = labels <= _WON.keys()
    numbers = {w: _WON[w] if won else number_of(w) for w in labels}
    values = [n for n in numbers.values() if n is not None]
    if len(values) < len(labels) or len(values) < 2:
        return []
    named = plain_name(column) in _PREFERENCE or has_word(column, PREFERENCES)
    middle = 0.0 if min(values) < 0 else (min(1.0, min(values)) + max(values)) / 2
    if not (min(values) < 0 or (named and max(values) in (1, 2, 5, 7, 9))):
        return []
    return [
        {w: TIE if n == middle else less if (n or 0) < middle else more for w, n in numbers.items()}
        for less, more in ((A_BETTER, B_BETTER), (B_BETTER, A_BETTER))[:: -1 if won else 1]
    ]


def _named_columns(table: Table, free: dict[str, str]) -> dict[str, str]:
    """Return the columns beside the answers by their headings; the prompt must be of texts."""
    named = {"rater": NAMES["rater"], "reason": NAMES["reason"]}
    named["prompt"] = ("prompt", *SYNONYMS["prompt"], *PROMPTS["source"].split())
    named["reference"] = NAMES["reference"]
    weak = {"model", "user"}
    columns = {
        field: next((free[n] for n in names if n in free and n not in weak), None)
        for field, names in named.items()
    }
    ids = (c for c in item_columns(values_of(table)) if c in free.values() and has_word(c, ITEMS))
    columns["item"] = named_fields([*free.values()], ["item"]).get("item") or next(ids, None)
    asked = [c for c in free.values() if heads_a_prompt(c) and is_answer(table, c)]
    if len(asked) == 1 and not is_answer(table, columns["prompt"] or ""):
        columns["prompt"] = asked[0]  # its text, not the id of a task
    if not is_worded(table, columns["reference"] or ""):
        columns["reference"] = None
    return {field: column for field, column in columns.items() if column}


def _known_words(table: Table, mapping: VoteMapping, column: str) -> set[str]:
    labels = words_in(table, column)
    rows = table.rows[:1000] if mapping.first_system else ()
    names = {fold(str(row.get(c))) for row in rows for c in pair_systems(mapping)}
    by_name = has_word(column, PREFERENCES) or named_for_raters([column])
    scale = number_map(labels, column) if by_name else {}
    return {w for w in labels if w in names or w in scale or option_named(w, mapping) is not None}
