"""Tables with two answers a row and the better one, as contests."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from core.domain.rubric import A_BETTER, B_BETTER, BOTH_BAD, TIE
from core.errors import Problem
from core.formats.datasets.answer_columns import (
    NO_RATERS,
    could_answer,
    named_for_raters,
    names_a_person,
    plain,
    stem_of,
    sums_up,
    words_in,
)
from core.formats.datasets.label_words import NO_ANSWER
from core.formats.datasets.labels import WORD
from core.formats.datasets.mapping import SYNONYMS
from core.formats.datasets.table import Table, only_entry
from core.formats.datasets.text_columns import texts_in
from core.formats.source.csv_writer import number_of
from core.formats.source.heading_words import ITEMS, PROMPTS, has_word
from core.formats.source.parsed import refusal
from core.formats.votes.structure.named_fields import NAMES
from core.formats.votes.structure.row_keys import row_keys
from core.formats.votes.structure.values import Values, system_named
from core.formats.votes.tools.messages import conversation
from core.formats.votes.tools.pair_votes import PairContests, PairTasks
from core.formats.votes.tools.tool_results import ToolResults
from core.formats.votes.vote_mapping import VoteColumn, VoteMapping, kinds_of
from core.formats.votes.vote_tables import cell_text
from core.text.names import fold

#: Pairs of headings of which the first is the better answer.
_DECIDED = (
    *(("chosen", "rejected"), ("winner", "loser"), ("preferred", "dispreferred")),
    *(("accepted", "rejected"), ("better", "worse")),
)
#: Columns that name the better answer, most specific first.
_PREFERENCE = (
    *("preference", "overall preference", "winner", "preferred", "better", "choice", "label"),
    *("verdict", "vote", "judgment", "judgement", "annotation", "answer"),
)
_TIES = {
    *("tie", "tied", "equal", "draw", "same", "no difference", "both", "no preference", "neutral"),
    *("both good", "tie (inconsistent)", "tie (both good)", "a=b", "b=a", "a~=b", "c", "="),
    *("gleich", "unentschieden", "égal", "égalité", "igual", "empate", "pareggio"),
}
_BAD = {"tie (bothbad)", "both bad", "both_bad", "bothbad", "neither", "tie (both bad)"}
#: Words around an answer that say how much better or how similar it is.
_DEGREES = re.compile(
    r"\b(is|are|was|they|the|much|far|slightly|somewhat|clearly|significantly|strongly|a (lot|bit)"
    r"|about|roughly|nearly|better|prefer|preferred|i)\b"
)
_LEFT = {"first", "left", "links", "gauche", "izquierda", "sinistra"}
_RIGHT = {"second", "right", "rechts", "droite", "derecha", "destra"}
_FIRST = _LEFT | {"l", "a>b", "a>>b", "b<a", "b<<a"}
_SECOND = _RIGHT | {"r", "b>a", "b>>a", "a<b", "a<<b"}
OPTIONS = (A_BETTER, B_BETTER, TIE, BOTH_BAD)


def guess_pairs(table: Table) -> VoteMapping | None:
    """Return which columns hold two answers and the preference, or ``None`` for other tables.

    Every word of a preference must be understood: its answer's heading or letter, a tie, 1 and 2.
    """
    heads = {plain(column): column for column in reversed(table.columns)}
    sides = _decided(table, heads) or _text_pair(table)
    if sides is None:
        return None
    first, second = sides
    free = {name: column for name, column in heads.items() if column not in sides}
    systems = _systems(table, sides, free)
    fields: dict[str, Any] = {"first": first, "second": second}
    fields |= zip(("first_system", "second_system"), systems, strict=False)
    fields |= _named({n: c for n, c in free.items() if c not in systems})
    mapping = VoteMapping(layout="pairs", **fields)
    if "rater" not in fields and (who := _rater_column(table, mapping)):
        fields["rater"] = who
        mapping = mapping.model_copy(update={"rater": who})
    left = [c for c in table.columns if c not in fields.values()]
    left = [c for c in left if could_answer(table, c) and not sums_up(c)]
    judged = [c for c in left if not (words_in(table, c) - _understood(table, mapping, c))]
    named = [free[name] for name in _PREFERENCE if free.get(name) in judged]
    columns = named[:1] if named and ("rater" in fields or len(judged) < 2) else judged
    if not columns and (plain(first), plain(second)) not in _DECIDED:
        return None
    if "rater" not in fields and _judge_unnamed(table, sides, [c for c in left if c not in judged]):
        return None  # The rater's column holds unknown words, so ask the user.
    rater = fields.get("rater")
    voters = [VoteColumn(column=c, rater="" if rater else c) for c in columns]
    names = [cell_text(row, rater) for row in table.rows] if rater else columns
    return mapping.model_copy(update={"columns": tuple(voters), "kinds": kinds_of(names)})


def _rater_column(table: Table, mapping: VoteMapping) -> str:
    """Return the only column headed for people that holds names and no preferences."""
    used = mapping.used().values()
    people = [c for c in table.columns if c not in used and names_a_person(c)]
    people = [c for c in people if 1 < len(words_in(table, c)) < len(table.rows)]
    named = [c for c in people if not _understood(table, mapping, c) and not sums_up(c)]
    named = [c for c in named if plain(c).rpartition(" ")[2] not in NO_RATERS - {"id", "name"}]
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
    """Yield changes that make pairs of two similar answers and one column that compares them.

    One ambiguous word, next to clear ones, is proposed as a tie; numbers around 0 are proposed in
    both directions.
    """
    fields = ("first", "second")
    sides = _text_pair(table)
    if sides is None:
        fields = ("first_system", "second_system")
        sides = _names_alike(table)
    if sides is None:
        return
    mapping = VoteMapping(layout="pairs", **dict(zip(fields, sides, strict=True)))
    changes = tuple(f"{field}={side}" for field, side in zip(fields, sides, strict=True))
    able = [c for c in table.columns if c not in sides and could_answer(table, c)]
    keys = next(iter(row_keys(table)), None) if mapping.first_system else None
    rater = keys.rater if keys else next((c for c in able if names_a_person(c)), None)
    changes += (f"rater={rater}",) if rater else ()
    item = _item_of(table, sides, rater) if mapping.first_system else ""
    changes = (*((f"item={item}",) if item else ()), *changes)
    able = [c for c in able if c != item]
    for column in able:
        labels = words_in(table, column) - NO_ANSWER
        strange = labels - _understood(table, mapping, column)
        numbers = {w: n for w in labels if (n := number_of(w)) is not None}
        if len(numbers) == len(labels) and min(numbers.values(), default=0) < 0:
            for less, more in ((A_BETTER, B_BETTER), (B_BETTER, A_BETTER)):
                better = {w: TIE if not n else less if n < 0 else more for w, n in numbers.items()}
                meant = (f"{WORD}{w}={option}" for w, option in sorted(better.items()))
                yield (*changes, f"preference={column}", *meant)
        elif column != rater and (not strange or (len(strange) == 1 and len(labels) > 2)):
            yield (*changes, f"preference={column}", *(f"{WORD}{word}={TIE}" for word in strange))


def _decided(table: Table, heads: dict[str, str]) -> tuple[str, str] | None:
    named = [(heads[a], heads[b]) for a, b in _DECIDED if a in heads and b in heads]
    return next((s for s in named if _is_answer(table, s[0]) and _is_answer(table, s[1])), None)


def _text_pair(table: Table) -> tuple[str, str] | None:
    """Return the only two columns of texts whose headings differ in a last letter or number."""
    pairs = _by_stem([c for c in table.columns if _is_answer(table, c)])
    return (pairs[0][0], pairs[0][1]) if len(pairs) == 1 and len(pairs[0]) == 2 else None


def _by_stem(columns: Sequence[str]) -> list[list[str]]:
    """Return the columns whose headings differ only in a side, a last letter or a number."""
    stems: dict[str, list[str]] = {}
    for column in columns:
        words = plain(column).split()
        rest = [word for word in words if word not in _LEFT | _RIGHT]
        if stem := f" {' '.join(rest)}" if len(rest) < len(words) else stem_of(column):
            stems.setdefault(stem, []).append(column)
    return [alike for alike in stems.values() if len(alike) > 1]


def _item_of(table: Table, sides: Sequence[str], rater: str | None) -> str:
    """Return the column of the task: with both systems and the rater it identifies rows."""
    values = Values(table)
    keys = [c for c in (*sides, rater) if c]
    able = [c for c in values.columns if c not in keys and values.may_be_key(c)]
    return next((c for c in able if has_word(c, ITEMS) and values.unique([c, *keys]) == 1), "")


def _names_alike(table: Table) -> tuple[str, str] | None:
    """Return the only two columns of systems' names whose headings differ in a last letter."""
    alike = _by_stem([c for c in table.columns if c not in table.nested])
    pairs = [(columns[0], columns[1]) for columns in alike if len(columns) == 2]
    pairs = [pair for pair in pairs if _are_names(table, *pair)]
    return pairs[0] if len(pairs) == 1 else None


def _are_names(table: Table, first: str, second: str) -> bool:
    """Return whether two columns hold a few short names that repeat, two different ones a row."""
    cells = [(str(row.get(first) or ""), str(row.get(second) or "")) for row in table.rows]
    names = {name for pair in cells for name in pair}
    short = all(0 < len(n.split()) < 4 and number_of(n) is None for n in names)
    swapped = bool({a for a, _ in cells} & {b for _, b in cells})
    named = swapped or (system_named(first) and system_named(second))
    apart = all(a != b for a, b in cells)
    return bool(short and named and apart and 1 < len(names) <= len(cells) // 2)


def _is_answer(table: Table, column: str) -> bool:
    shape = texts_in(table, column)
    return shape is not None and shape.sentences and (shape.worded or not names_a_person(column))


def _systems(table: Table, sides: Sequence[str], free: dict[str, str]) -> list[str]:
    """Return the two columns that name the answers' authors, with the same last letters."""
    ends = [_end(side) for side in sides]
    for stem in ("model", "system", "generator", "source"):
        columns = [free.get(f"{stem} {end}") or free.get(f"{stem}{end}") for end in ends]
        if all(columns) and all(ends):
            return [column for column in columns if column]
    return []


def _end(heading: str) -> str:
    return plain(heading).removeprefix(plain(stem_of(heading))).strip()


def _named(free: dict[str, str]) -> dict[str, str]:
    named = {"item": NAMES["item"], "rater": NAMES["rater"], "reason": NAMES["reason"]}
    named["prompt"] = ("prompt", *SYNONYMS["prompt"], *PROMPTS["source"].split())
    weak = {"model", "user"}
    columns = {
        field: next((free[n] for n in names if n in free and n not in weak), None)
        for field, names in named.items()
    }
    return {field: column for field, column in columns.items() if column}


def _understood(table: Table, mapping: VoteMapping, column: str) -> set[str]:
    labels = words_in(table, column)
    rows = table.rows[:1000] if mapping.first_system else ()
    names = {fold(str(row.get(c))) for row in rows for c in _pair_systems(mapping)}
    by_name = plain(column) in _PREFERENCE or named_for_raters([column])
    scale = _numbers(labels, mapping, column) if by_name else {}
    return {w for w in labels if w in names or w in scale or _choice(w, mapping) is not None}


def _pair_systems(mapping: VoteMapping) -> tuple[str, ...]:
    return (mapping.first_system or "", mapping.second_system or "")


def _choice(word: str, mapping: VoteMapping) -> str | None:
    """Return the option that a label names without a mapping, or ``None``."""
    bare = plain(word.strip("[]() ")).replace(" ", "") if ">" in word else fold(word.strip("[] "))
    bare = " ".join(_DEGREES.sub(" ", bare).split()) or bare
    if bare in _TIES or bare in _BAD:
        return BOTH_BAD if bare in _BAD else TIE
    for option, usual, column in (
        (A_BETTER, _FIRST, mapping.first or mapping.first_system),
        (B_BETTER, _SECOND, mapping.second or mapping.second_system),
    ):
        if bare in usual or bare == fold(column or "") or _is_end(bare, column or ""):
            return option
    return None


def _is_end(word: str, heading: str) -> bool:
    """Return whether a word is the letter of a heading, alone or after another word.

    >>> _is_end("model_a", "response_a"), _is_end("b", "Answer B"), _is_end("1", "response_a")
    (True, True, False)
    """
    end = _end(heading)
    if not end or re.match(r"[-−]\d", word):  # -1 is a number, not the end of a heading
        return False
    return re.sub(r"^(model|system|response|answer|output)\s*", "", plain(word)) == end


def _numbers(words: set[str], mapping: VoteMapping, column: str) -> dict[str, str]:
    """Return options by number: 1 and 2 (0 is a tie), or below and above 0."""
    numbers = {word: number_of(word) for word in words - NO_ANSWER}
    values = [n for n in numbers.values() if n is not None]
    if len(values) < len(numbers) or not values:
        return {}
    if (min(values) >= 1 and max(values) <= 2) or (set(values) <= {0, 1, 2} and 2 in values):
        middle, ties = 1.5, {0.0, 1.5}
    elif plain(column) == "overall preference" and min(values) < 0:
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
    mapping = _with_systems(table, mapping)
    _check(table, mapping)
    contests = PairContests("arena", table.name.rpartition(".")[0] or table.name)
    strange, tasks = Counter[str](), PairTasks()
    numbers = {
        c.column: _numbers(words_in(table, c.column), mapping, c.column) for c in mapping.columns
    }
    for at, row in enumerate(table.rows, start=1):
        names, fields = _names_of(row, mapping), _fields(row, mapping)
        unsaid = None if mapping.first else f"row {at}"
        task = tasks.of(cell_text(row, mapping.item) or unsaid, fields)
        is_reversed = not mapping.first_system and tasks.swap_if_reversed(task, fields)
        item = contests.item(task, *names, fields)
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
            choice = _meant(word, names, mapping, numbers[c.column])
            if choice is None and fold(word) not in NO_ANSWER:
                strange[word] += 1
            choice = _TURNED.get(choice, choice) if is_reversed and choice else choice
            kind = mapping.kinds.get(rater, mapping.others)
            contests.vote(item, rater, "human" if kind == "gold" else kind, choice, why)
    if strange:
        problems = [_unknown_word(word, n) for word, n in strange.most_common()]
        raise refusal("table of pairs", problems, table.name)
    return contests.results()


def _with_systems(table: Table, mapping: VoteMapping) -> VoteMapping:
    """Return the mapping with columns of names as systems, whose answers are missing."""
    first, second = mapping.first, mapping.second
    if mapping.first_system or first is None or second is None:
        return mapping
    if {first, second} - {*table.columns} or not _are_names(table, first, second):
        return mapping
    systems = {"first_system": first, "second_system": second}
    return mapping.model_copy(update={"first": None, "second": None, **systems})


def _check(table: Table, mapping: VoteMapping) -> None:
    lacking = [name for name in ("first", "second") if getattr(mapping, name) is None]
    lacking = [name for name in lacking if getattr(mapping, f"{name}_system") is None]
    missing = [c for c in mapping.used().values() if c not in table.columns]
    mend = "Say which it is."
    problems = [Problem(f"has no column for the {name} answer.", mend) for name in lacking]
    problems += [Problem(f"names the column {c!r}, which is not there.", mend) for c in missing]
    if not mapping.columns and (plain(mapping.first or ""), plain(mapping.second or "")) not in (
        _DECIDED
    ):
        mend = "Map it as preference; or, if the first always is, name them chosen and rejected."
        problems.append(Problem("has no column that says which answer is better.", mend))
    if problems:
        raise refusal("table of pairs", problems, table.name)


def _fields(row: Mapping[str, Any], mapping: VoteMapping) -> dict[str, Any]:
    """Return the prompt and both answers; the answer of a conversation is its last turn."""
    sides = [row.get(mapping.first or ""), row.get(mapping.second or "")]
    prompt = row.get(mapping.prompt or "")
    if prompt is None and isinstance(sides[0], list):
        prompt, sides = sides[0][:-1], [s[-1:] if isinstance(s, list) else s for s in sides]
    entries = [(side, only_entry(side)) for side in sides]
    texts = [conversation(entry if isinstance(entry, str) else side) for side, entry in entries]
    return {"prompt": conversation(prompt), "submission": {"first": texts[0], "second": texts[1]}}


_TURNED = {A_BETTER: B_BETTER, B_BETTER: A_BETTER}


def _names_of(row: dict[str, Any], mapping: VoteMapping) -> tuple[str, str]:
    if mapping.first_system and mapping.second_system:
        names = [str(row.get(c) or "unknown") for c in _pair_systems(mapping)]
        return names[0], names[1] if names[0] != names[1] else f"{names[1]} (2)"
    return mapping.first or "", mapping.second or ""


def _meant(
    word: str, names: tuple[str, str], mapping: VoteMapping, numbers: dict[str, str]
) -> str | None:
    option_name = mapping.option_for("", word)
    if option_name != word:
        return next((option for option in OPTIONS if fold(option) == fold(option_name)), None)
    by_name = {fold(names[0]): A_BETTER, fold(names[1]): B_BETTER}
    return by_name.get(fold(word)) or numbers.get(fold(word)) or _choice(fold(word), mapping)


def _unknown_word(word: str, count: int) -> Problem:
    mend = f"Say what it means: --map-label '{word[:60]}=OPTION' ({', '.join(OPTIONS)})."
    return Problem(
        f"{word[:80]!r} says neither which answer is better nor a tie ({count:,}).", mend
    )
