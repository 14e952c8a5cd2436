"""Tables with two answers a row and the better one, as contests."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from core.domain.rubric import A_BETTER, B_BETTER, BOTH_BAD, TIE
from core.errors import Problem
from core.formats.datasets.answer_columns import (
    NO_RATERS,
    columns_by_scale,
    could_answer,
    counts_rows,
    is_sum,
    named_for_raters,
    names_a_criterion,
    names_a_person,
    plain_name,
    words_in,
)
from core.formats.datasets.label_words import NO_ANSWER
from core.formats.datasets.labels import WORD
from core.formats.datasets.mapping import SYNONYMS
from core.formats.datasets.table import Table, only_entry, parsed_cell
from core.formats.datasets.text_columns import heads_a_prompt, is_worded
from core.formats.source.csv_writer import number_of
from core.formats.source.heading_words import ITEMS, PREFERENCES, PROMPTS, has_word
from core.formats.source.parsed import refusal
from core.formats.votes.structure.named_fields import NAMES, named_fields
from core.formats.votes.structure.pair_columns import (
    DECIDED,
    answer_columns,
    are_system_names,
    columns_beside_baseline,
    is_answer,
    similar_system_columns,
    system_columns,
    task_column,
)
from core.formats.votes.structure.preference_words import is_graded_preference, option_of
from core.formats.votes.structure.rater_columns import item_columns
from core.formats.votes.structure.values import Values
from core.formats.votes.tools.messages import conversation_text
from core.formats.votes.tools.pair_votes import PairContests, PairTasks
from core.formats.votes.tools.tool_results import ToolResults
from core.formats.votes.vote_mapping import VoteColumn, VoteMapping, kinds_of
from core.formats.votes.vote_tables import cell_text
from core.text.names import fold

#: Columns that name the better answer, most specific first.
_PREFERENCE = (
    *("preference", "overall preference", "winner", "preferred", "better", "choice", "label"),
    *("verdict", "vote", "judgment", "judgement", "annotation", "answer"),
)
_WON = {
    **dict.fromkeys(("win", "wins", "won", "w"), 1.0),
    **dict.fromkeys(("loss", "lose", "loses", "lost", "l"), -1.0),
    **dict.fromkeys(("tie", "tied", "draw", "t", "d"), 0.0),
}
OPTIONS = (A_BETTER, B_BETTER, TIE, BOTH_BAD)


def guess_pairs(table: Table) -> VoteMapping | None:
    """Return which columns hold two answers and the preference, or ``None`` for other tables.

    Every word of a preference must be understood: its answer's heading or letter, a tie, 1 and 2.
    Preferences by several criteria are for the user to choose from.
    """
    if (mapping := _sides_mapping(table)) is None:
        return None
    left = [c for c in table.columns if c not in mapping.used().values()]
    left = [c for c in left if could_answer(table, c) and not is_sum(c)]
    judged = [c for c in left if not (words_in(table, c) - _known_words(table, mapping, c))]
    if not mapping.rater and _graded_columns(table, left):
        return None  # how much better, in numbers: the user says which side is which
    plains = {plain_name(c): c for c in reversed(judged)}
    named = [plains[name] for name in _PREFERENCE if name in plains]
    named = named or [c for c in judged if has_word(c, PREFERENCES)]
    judged = named if mapping.first is None else judged
    columns = named[:1] if named and (mapping.rater or len(judged) < 2) else judged
    rivals = [c for c in judged if has_word(c, PREFERENCES) or names_a_criterion(c)]
    several = len(rivals) > 1 and plain_name(columns[0]) not in _PREFERENCE[:3]
    if several and (mapping.rater or any(map(names_a_criterion, rivals))):
        return None  # a preference for each criterion
    if not columns and not _are_decided(mapping):
        return None
    if not mapping.rater and {*columns} < {*_columns_by_person(table, mapping, left)}:
        return None  # all of them are preferences once the user explains an unknown word
    sides = [c for c in (mapping.first, mapping.second) if c]
    if not mapping.rater and _judge_unnamed(table, sides, [c for c in left if c not in judged]):
        return None  # The rater's column holds unknown words, so ask the user.
    voters = [VoteColumn(column=c, rater="" if mapping.rater else c) for c in columns]
    names = [cell_text(row, mapping.rater) for row in table.rows] if mapping.rater else columns
    return mapping.model_copy(update={"columns": tuple(voters), "kinds": kinds_of(names)})


def _sides_mapping(table: Table, *, loose: bool = False) -> VoteMapping | None:
    """Return a mapping with two answers, or the names of their systems, and what is beside them.

    ``loose``: accept names of systems, too, if no heading says that they are systems.
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
    if not texts and (task := task_column(table, sides, mapping.rater)):
        mapping = mapping.model_copy(update={"item": task})
    return mapping


_SYSTEMS = ("first_system", "second_system")


def _are_decided(mapping: VoteMapping) -> bool:
    return (plain_name(mapping.first or ""), plain_name(mapping.second or "")) in DECIDED


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
    """Yield changes that make pairs of two similar answers and what compares them.

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
    rater = mapping.rater or next(filter(names_a_person, able), None)
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
    """Return the columns of one preference by several people, with one unknown word at most."""
    able = [c for c in columns if not (has_word(c, PREFERENCES) or names_a_criterion(c))]
    able = [c for c in able if not is_sum(c) and plain_name(c) not in _PREFERENCE]
    clear = {c: _known_words(table, mapping, c) for c in able}
    strange = {c: words_in(table, c) - NO_ANSWER - clear[c] for c in able}
    able = [c for c in able if clear[c] and len(strange[c]) < 2]
    return able if len(able) > 1 and len(set().union(*(strange[c] for c in able))) < 2 else []


def _graded_columns(table: Table, columns: Sequence[str]) -> list[str]:
    """Return columns of numbers below and above 0 on one scale: how strongly raters prefer one."""
    able = [c for c in columns if not (is_sum(c) or names_a_criterion(c) or counts_rows(table, c))]
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
    ids = (c for c in item_columns(Values(table)) if c in free.values() and has_word(c, ITEMS))
    columns["item"] = named_fields([*free.values()], ["item"]).get("item") or next(ids, None)
    asked = [c for c in free.values() if heads_a_prompt(c) and is_answer(table, c)]
    columns["prompt"] = columns["prompt"] or (asked[0] if len(asked) == 1 else None)
    if not is_worded(table, columns["reference"] or ""):
        columns["reference"] = None
    return {field: column for field, column in columns.items() if column}


def _known_words(table: Table, mapping: VoteMapping, column: str) -> set[str]:
    labels = words_in(table, column)
    rows = table.rows[:1000] if mapping.first_system else ()
    names = {fold(str(row.get(c))) for row in rows for c in _pair_systems(mapping)}
    by_name = has_word(column, PREFERENCES) or named_for_raters([column])
    scale = _number_map(labels, mapping, column) if by_name else {}
    return {w for w in labels if w in names or w in scale or _option_named(w, mapping) is not None}


def _pair_systems(mapping: VoteMapping) -> tuple[str, ...]:
    return (mapping.first_system or "", mapping.second_system or "")


def _option_named(word: str, mapping: VoteMapping) -> str | None:
    """Return the option that a label names without a mapping, or ``None``."""
    first = mapping.first or mapping.first_system
    return option_of(word, first or "", mapping.second or mapping.second_system or "")


def _number_map(words: set[str], mapping: VoteMapping, column: str) -> dict[str, str]:
    """Return options by number: 1 and 2 (0 is a tie), or below and above 0."""
    numbers = {word: number_of(word) for word in words - NO_ANSWER}
    values = [n for n in numbers.values() if n is not None]
    if len(values) < len(numbers) or not values:
        return {}
    if (min(values) >= 1 and max(values) <= 2) or (set(values) <= {0, 1, 2} and 2 in values):
        middle, ties = 1.5, {0.0, 1.5}
    elif plain_name(column) == "overall preference" and min(values) < 0:
        middle, ties = 0.0, {0.0}
    else:
        return {}
    return {
        w: TIE if n in ties else A_BETTER if n < middle else B_BETTER
        for w, n in numbers.items()
        if n is not None
    }


def pairs_in(table: Table, mapping: VoteMapping) -> ToolResults:
    """Return the contests of a table; rows of the same two answers are one item.

    Raises:
        InputError: no two answers, or words of a preference that name neither an answer nor a tie.
    """
    mapping = _names_as_systems(table, mapping)
    _require_columns(table, mapping)
    contests = PairContests("arena", table.name.rpartition(".")[0] or table.name)
    strange, degrees, tasks = Counter[str](), Counter[str](), PairTasks()
    numbers = {
        c.column: _number_map(words_in(table, c.column), mapping, c.column) for c in mapping.columns
    }
    for at, row in enumerate(table.rows, start=1):
        names, fields = _system_names(row, mapping), _pair_fields(row, mapping)
        unsaid = None if mapping.first else f"row {at}"
        task = tasks.task_name(cell_text(row, mapping.item) or unsaid, fields)
        is_reversed = not mapping.first_system and tasks.swap_if_reversed(task, fields)
        item = contests.item_of_pair(task, *names, fields)
        why = str(row.get(mapping.reason or "") or "")
        if not mapping.columns:
            rater = cell_text(row, mapping.rater) or "file"
            better = B_BETTER if is_reversed else A_BETTER
            kind = mapping.kinds.get(rater, "human")
            contests.vote(item, rater, "human" if kind == "gold" else kind, better, why)
        for c in mapping.columns:
            cell = only_entry(row.get(c.column))
            word = "" if cell is None else str(cell).strip()
            rater = c.rater or cell_text(row, mapping.rater) or "rater"
            choice = _option_meant(word, names, mapping, numbers[c.column])
            degrees[word] += is_graded_preference(word)
            if choice is None and fold(word) not in NO_ANSWER:
                strange[word] += 1
            choice = _TURNED.get(choice, choice) if is_reversed and choice else choice
            kind = mapping.kinds.get(rater, mapping.others)
            contests.vote(item, rater, "human" if kind == "gold" else kind, choice, why)
    if strange:
        problems = [_unknown_word(word, n) for word, n in strange.most_common()]
        raise refusal("table of pairs", problems, table.name)
    if not mapping.first:
        mend = "If columns hold them: --map first=COLUMN --map second=COLUMN."
        contests.found.note("The texts of the answers are not read.", mend)
    if degrees.total():
        contests.found.note(f"How much better is not kept: {degrees.most_common(1)[0][0]!r}.")
    return contests.results()


def _names_as_systems(table: Table, mapping: VoteMapping) -> VoteMapping:
    """Return the mapping with columns of names as systems, whose answers are missing."""
    first, second = mapping.first, mapping.second
    if mapping.first_system or first is None or second is None:
        return mapping
    if {first, second} - {*table.columns} or not are_system_names(table, first, second):
        return mapping
    systems = {"first_system": first, "second_system": second}
    return mapping.model_copy(update={"first": None, "second": None, **systems})


def _require_columns(table: Table, mapping: VoteMapping) -> None:
    lacking = [name for name in ("first", "second") if getattr(mapping, name) is None]
    lacking = [name for name in lacking if getattr(mapping, f"{name}_system") is None]
    missing = [c for c in mapping.used().values() if c not in table.columns]
    mend = "Say which it is."
    problems = [Problem(f"has no column for the {name} answer.", mend) for name in lacking]
    problems += [Problem(f"names the column {c!r}, which is not there.", mend) for c in missing]
    if not mapping.columns and not _are_decided(mapping):
        mend = "Map it as preference; or, if the first always is, name them chosen and rejected."
        problems.append(Problem("has no column that says which answer is better.", mend))
    if problems:
        raise refusal("table of pairs", problems, table.name)


def _pair_fields(row: Mapping[str, Any], mapping: VoteMapping) -> dict[str, Any]:
    """Return the prompt and both answers; the answer of a conversation is its last turn."""
    sides = [parsed_cell(row.get(column or "")) for column in (mapping.first, mapping.second)]
    prompt = parsed_cell(row.get(mapping.prompt or ""))
    if prompt is None and isinstance(sides[0], list):
        prompt = sides[0][:-1]
    texts = [_cell_text(side[-1:] if isinstance(side, list) else side) for side in sides]
    reference = _cell_text(parsed_cell(row.get(mapping.reference or "")))
    fields = {"prompt": _cell_text(prompt), "submission": {"first": texts[0], "second": texts[1]}}
    return fields | ({"reference": reference} if reference else {})


def _cell_text(cell: Any) -> str:
    """Return a cell as text: plain texts, or the messages of a conversation."""
    if isinstance(cell, list) and all(isinstance(turn, str) for turn in cell):
        return "\n\n".join(cell)
    return conversation_text(cell)


_TURNED = {A_BETTER: B_BETTER, B_BETTER: A_BETTER}


def _system_names(row: dict[str, Any], mapping: VoteMapping) -> tuple[str, str]:
    if mapping.first_system and mapping.second_system:
        names = [str(row.get(c) or "unknown") for c in _pair_systems(mapping)]
        return names[0], names[1] if names[0] != names[1] else f"{names[1]} (2)"
    return mapping.first or "", mapping.second or ""


def _option_meant(
    word: str, names: tuple[str, str], mapping: VoteMapping, numbers: dict[str, str]
) -> str | None:
    option_name = mapping.option_for("", word)
    if option_name != word:
        return next((option for option in OPTIONS if fold(option) == fold(option_name)), None)
    by_name = {fold(names[0]): A_BETTER, fold(names[1]): B_BETTER}
    return by_name.get(fold(word)) or numbers.get(fold(word)) or _option_named(fold(word), mapping)


def _unknown_word(word: str, count: int) -> Problem:
    mend = f"Say what it means: --map-label '{word[:60]}=OPTION' ({', '.join(OPTIONS)})."
    return Problem(
        f"{word[:80]!r} says neither which answer is better nor a tie ({count:,}).", mend
    )
