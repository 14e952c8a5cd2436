"""Two answers a row and the better one, read as contests."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from core.domain.rubric import A_BETTER, B_BETTER, BOTH_BAD, TIE
from core.errors import Problem
from core.formats.columns.answer_columns import words_in
from core.formats.columns.headings import plain_name
from core.formats.columns.label_words import NO_ANSWER
from core.formats.source.csv_writer import number_of
from core.formats.source.parsed import refusal
from core.formats.tables.cells import only_entry, parsed_cell
from core.formats.tables.table import Table, joined_parts
from core.formats.votes.pairs.decided import decided_sides
from core.formats.votes.pairs.pair_columns import are_system_names, scores_of_sides
from core.formats.votes.pairs.preference_words import is_graded_preference, option_of
from core.formats.votes.tools.messages import conversation_text, shared_turns
from core.formats.votes.tools.pair_votes import OVERALL, PairContests, PairTasks
from core.formats.votes.tools.tool_results import ToolResults
from core.formats.votes.vote_mapping import VoteMapping
from core.formats.votes.vote_tables import cell_text
from core.text.names import fold

OPTIONS = (A_BETTER, B_BETTER, TIE, BOTH_BAD)


def pair_systems(mapping: VoteMapping) -> tuple[str, ...]:
    """Return the columns of the systems of both answers, "" for none."""
    return (mapping.first_system or "", mapping.second_system or "")


def option_named(word: str, mapping: VoteMapping) -> str | None:
    """Return the option that a label names without a mapping, or ``None``."""
    first = mapping.first or mapping.first_system
    return option_of(word, first or "", mapping.second or mapping.second_system or "")


def number_map(words: set[str], column: str) -> dict[str, str]:
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


_HOW_MUCH = re.compile(
    r"(?:(?:preference|pref|chosen) )?(?:strength|margin|degree)|starke|force|fuerza|forca|forza"
    r"|sterkte|how much better"
)


def tells_how_much(column: str) -> bool:
    """Return whether a heading beside two answers is that of how much better one is.

    >>> tells_how_much("preference_strength"), tells_how_much("Margin"), tells_how_much("strengths")
    (True, True, False)
    """
    return _HOW_MUCH.fullmatch(plain_name(column)) is not None


def scores_joined(table: Table, mapping: VoteMapping) -> tuple[str, ...]:
    """Return the columns of both answers' scores if they are the reason together, or ()."""
    parts = joined_parts(mapping.reason or "", table.columns)
    of_sides = scores_of_sides(table, (mapping.first, mapping.second), parts)
    return tuple(c for _, columns in of_sides for c in columns) if len(parts) == 2 else ()


def are_decided(mapping: VoteMapping) -> bool:
    """Return whether the headings of the answers say which is better: chosen, rejected."""
    sides = (mapping.first or mapping.first_system, mapping.second or mapping.second_system)
    return decided_sides([side for side in sides if side]) == sides


def pairs_in(table: Table, mapping: VoteMapping) -> ToolResults:
    """Return the contests of a table; rows of the same two answers are one item.

    Raises:
        InputError: no two answers, or words of a preference that name neither an answer nor a tie.
    """
    mapping = _names_as_systems(table, mapping)
    _require_columns(table, mapping)
    contests = PairContests("arena", table.name.rpartition(".")[0] or table.name)
    strange, degrees, tasks = Counter[str](), Counter[str](), PairTasks()
    scores = scores_joined(table, mapping)
    numbers = {c.column: number_map(words_in(table, c.column), c.column) for c in mapping.columns}
    for at, row in enumerate(table.rows, start=1):
        names, fields = _system_names(row, mapping), _pair_fields(row, mapping)
        unsaid = None if mapping.first else f"row {at}"
        task = tasks.task_name(cell_text(row, mapping.item) or unsaid, fields)
        is_reversed = not mapping.first_system and tasks.swap_if_reversed(task, fields)
        item = contests.item_of_pair(task, *names, fields)
        why = _reason_of(row, mapping, scores)
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
            kind = "human" if kind == "gold" else kind
            contests.vote(item, rater, kind, choice, why, c.criterion or OVERALL)
    if strange:
        problems = [_unknown_word(word, n) for word, n in strange.most_common()]
        raise refusal("table of pairs", problems, table.name)
    if not mapping.first:
        mend = "If columns hold them: --map first=COLUMN --map second=COLUMN."
        contests.found.note("The texts of the answers are not read.", mend)
    if mapping.reason and tells_how_much(mapping.reason):
        contests.found.note(f"How much better is kept as the reason: {mapping.reason!r}.")
    if degrees.total():
        contests.found.note(f"How much better is not kept: {degrees.most_common(1)[0][0]!r}.")
    for c in mapping.columns:
        _note_fractions(contests.found, table, c.column, numbers[c.column])
    return contests.results()


def _note_fractions(
    results: ToolResults, table: Table, column: str, options: Mapping[str, str]
) -> None:
    """Note how many preferences between two sides, such as 1.22, count as the nearer side."""
    words = (str(only_entry(row.get(column)) or "").strip() for row in table.rows)
    between = [w for w in words if options.get(w, TIE) != TIE and (number_of(w) or 0) % 1]
    if between:
        sides = Counter(options[word] for word in between)
        listed = ", ".join(f"{side!r} {times:,}" for side, times in sorted(sides.items()))
        message = f"{len(between):,} preferences in {column!r} lie between the sides, as"
        mend = "How far they lean is not kept."
        results.note(f"{message} {between[0]!r}; each counts as the nearer side: {listed}.", mend)


def _reason_of(row: dict[str, Any], mapping: VoteMapping, scores: Sequence[str]) -> str:
    """Return a row's reason, or the scores of both answers in their order.

    >>> mapping = VoteMapping(layout="pairs", reason="a + b")
    >>> _reason_of({"a": 7.5, "b": 6.0}, mapping, ("a", "b"))
    '7.5 to 6'
    """
    scored = [cell_text(row, column) for column in scores]
    both = " to ".join(scored) if all(scored) else ""
    return both or str(row.get(mapping.reason or "") or "")


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
    if not mapping.columns and not are_decided(mapping):
        mend = "Map it as preference; or, if the first always is, head them chosen and rejected."
        problems.append(Problem("has no column that says which answer is better.", mend))
    if problems:
        raise refusal("table of pairs", problems, table.name)


def _pair_fields(row: Mapping[str, Any], mapping: VoteMapping) -> dict[str, Any]:
    """Return the prompt and both answers; turns that conversations share are of the prompt."""
    first, second = (parsed_cell(row.get(c or "")) for c in (mapping.first, mapping.second))
    prompt = _cell_text(parsed_cell(row.get(mapping.prompt or "")))
    if isinstance(first, list) and isinstance(second, list):
        shared = shared_turns(first, second)
        asked, first, second = first[:shared], first[shared:], second[shared:]
        above = [] if prompt in (text := _cell_text(asked)) else [prompt]
        prompt = "\n\n".join([*above, *([text] if text else [])])
    reference = _cell_text(parsed_cell(row.get(mapping.reference or "")))
    answers = {"first": _cell_text(first), "second": _cell_text(second)}
    fields = {"prompt": prompt, "submission": answers}
    return fields | ({"reference": reference} if reference else {})


def _cell_text(cell: Any) -> str:
    """Return a cell as text: plain texts, or the messages of a conversation."""
    if isinstance(cell, list) and all(isinstance(turn, str) for turn in cell):
        return "\n\n".join(cell)
    return conversation_text(cell)


_TURNED = {A_BETTER: B_BETTER, B_BETTER: A_BETTER}


def _system_names(row: dict[str, Any], mapping: VoteMapping) -> tuple[str, str]:
    if mapping.first_system and mapping.second_system:
        names = [str(row.get(c) or "unknown") for c in pair_systems(mapping)]
        return names[0], names[1] if names[0] != names[1] else f"{names[1]} (2)"
    return mapping.first or "", mapping.second or ""


def _option_meant(
    word: str, names: tuple[str, str], mapping: VoteMapping, numbers: dict[str, str]
) -> str | None:
    option_name = mapping.option_for("", word)
    if option_name != word:
        return next((option for option in OPTIONS if fold(option) == fold(option_name)), None)
    by_name = {fold(names[0]): A_BETTER, fold(names[1]): B_BETTER}
    return by_name.get(fold(word)) or numbers.get(fold(word)) or option_named(fold(word), mapping)


def _unknown_word(word: str, count: int) -> Problem:
    mend = f"Say what it means: --map-label '{word[:60]}=OPTION' ({', '.join(OPTIONS)})."
    return Problem(
        f"{word[:80]!r} says neither which answer is better nor a tie ({count:,}).", mend
    )
