"""Records of answers that their raters did not hand in: drafts, discarded and skipped ones."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection
from dataclasses import replace
from typing import Any

from core.errors import Problem
from core.formats.columns.headings import names_an_occasion, plain_name
from core.formats.source.heading_words import ITEMS, RATED, has_word, plain_heading
from core.formats.tables.cells import parsed_cell
from core.formats.tables.table import Table
from core.formats.votes.structure.key_answers import rater_heading_level
from core.formats.votes.structure.named_fields import NAMES
from core.formats.votes.structure.values import values_of
from core.formats.votes.structure.word_scales import is_scale
from core.text.names import fold

_NOT_GIVEN = frozenset(
    {"discarded", "draft", "pending", "skipped", "cancelled", "canceled", "deleted", "rejected"}
    | {"in progress", "in_progress", "verworfen", "entwurf", "brouillon", "borrador", "rascunho"}
    | {"bozza", "concept", "下書き", "草稿"}
)
_GIVEN = frozenset({"submitted", "completed", "complete", "done", "finished", "accepted", "saved"})
_STATES = frozenset({"status", "state", "response status", "statut", "estado", "stato", "zustand"})
#: Mechanical Turk's heading and words for what became of a worker's answers.
_APPROVALS, _APPROVED = {"assignment status"}, {"approved", "rejected", "submitted", ""}
_FLAGS = frozenset({"was cancelled", "is draft", "draft", "discarded", "skipped", "deleted"})


def are_states(words: Collection[str]) -> bool:
    """Return whether words only say what became of an answer: `submitted`, `discarded`.

    >>> are_states({"submitted", "draft"}), are_states({"done", "good"})
    (True, False)
    """
    known = {fold(word) for word in words}
    return bool(known) and known <= _GIVEN | _NOT_GIVEN


def without_unfinished(table: Table) -> Table:
    """Return the table without records in lists of answers that were not handed in.

    Rows whose requester rejected the work are kept and counted in a notice.
    """
    table = _with_rejections_said(table)
    lists = [c for c in table.columns if c in table.nested]
    left, rows = Counter[str](), list[dict[str, Any]]()
    for row in table.rows:
        kept = {c: _finished(parsed_cell(row.get(c)), left) for c in lists if row.get(c)}
        rows.append({**row, **kept})
    if not left:
        return table
    listed = ", ".join(f"{n} {word}" for word, n in left.most_common())
    said = Problem(f"Left out: answers that were not handed in ({listed}).")
    return replace(table, rows=tuple(rows), notices=(*table.notices, said))


def _with_rejections_said(table: Table) -> Table:
    """Return the table with a notice of its rejected rows."""
    for column in (c for c in table.columns if plain_heading(c) in _APPROVALS):
        words = Counter(fold(str(row.get(column) or "")) for row in table.rows)
        if words.keys() <= _APPROVED and words["rejected"]:
            mend = "To leave these out, delete them in the file."
            said = Problem(
                f"Rejected rows ({column!r}) are read, too: {words['rejected']:,}.", mend
            )
            return replace(table, notices=(*table.notices, said))
    return table


#: Google's headings for when a form was sent, which stand first.
_SENT = frozenset(
    {"timestamp", "zeitstempel", "horodateur", "marca temporal", "carimbo de data/hora"}
    | {"informazioni cronologiche", "tijdstempel", "タイムスタンプ", "时间戳记", "отметка времени"}
)


def without_resubmissions(table: Table) -> Table:
    """Return the table without a form's rows that the same person sent again later.

    Few people send a form twice about one thing; where many do, they are rounds.
    """
    if not table.columns or fold(table.columns[0]) not in _SENT:
        return table
    values = values_of(table)
    about = [c for c in values.columns if has_word(c, RATED) or has_word(c, ITEMS)]
    about = [c for c in about if values.may_be_key(c)]
    about = [c for c in about if values.is_number(c) or not is_scale(values.distinct[c], c)]
    people = [c for c in values.columns if c not in about and rater_heading_level(values, c) > 1]
    if not about or not people or any(map(names_an_occasion, table.columns)):
        return table
    last = {
        tuple(str(row.get(c)) for c in (people[0], *about)): at for at, row in enumerate(table.rows)
    }
    kept = sorted(last.values())
    left = sorted({*range(len(table.rows))}.difference(kept))
    if not left or 10 * len(left) > len(table.rows):
        return table
    which = ", ".join(str(table.line_of(at)) for at in left)
    said = f"Sent again later by the same person about the same {about[0]!r}, the last counts: "
    notice = Problem(f"{said}left out is line {which}.")
    rows, lines = tuple(table.rows[at] for at in kept), tuple(table.lines[at] for at in kept)
    return replace(table, rows=rows, lines=lines, notices=(*table.notices, notice))


def _finished(cell: Any, left: Counter[str]) -> Any:
    """Return a cell without unfinished records and without the words for finished ones."""
    if isinstance(cell, dict):
        return {key: _finished(part, left) for key, part in cell.items()}
    if not isinstance(cell, list):
        return cell
    kept = []
    for entry in cell:
        state = _state_of(entry) if isinstance(entry, dict) else None
        word = "" if state is None else fold(str(entry[state])).replace("true", plain_name(state))
        if word in _NOT_GIVEN | _FLAGS:
            left[word] += 1
        else:
            part = {k: v for k, v in entry.items() if k != state} if state else entry
            kept.append(_finished(part, left))
    return kept


def _state_of(record: dict[str, Any]) -> str | None:
    """Return the key that says what became of an answer, or ``None``."""
    names = {key: plain_name(key) for key in record}
    if not {*names.values()} & {*NAMES["label"], "values", "responses"}:
        return None
    flags = (k for k, name in names.items() if name in _FLAGS and record[k] is True)
    words = (k for k, name in names.items() if name in _STATES and are_states([str(record[k])]))
    return next(flags, None) or next(words, None)
