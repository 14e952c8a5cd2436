"""Rows that name each of their raters beside the marks: `Marker 1, Mark 1, Marker 2, Mark 2`."""

from __future__ import annotations

import re
from collections.abc import Container, Iterable, Sequence
from itertools import pairwise

from core.errors import Problem
from core.formats.source.csv_writer import number_of
from core.formats.source.heading_words import ITEMS, RATERS, SUMMARIES, has_word, plain_heading
from core.formats.source.one_hot import Row
from core.text.names import fold

#: Words for the first, second ... of several, in many languages.
_SIDES = (
    "1 1st first a i primary erster erste erstes premier premiere 1er 1ere primer primero primera"
    " primo prima primeiro primeira eerste forste forsta pierwszy",
    "2 2nd second b ii secondary zweiter zweite zweites deuxieme 2e 2eme seconde segundo segunda"
    " secondo seconda tweede anden andra drugi",
    "3 3rd third c iii dritter dritte drittes troisieme 3e 3eme tercero tercera terzo terza"
    " terceiro terceira derde tredje trzeci",
    "4 4th fourth d iv vierter vierte viertes quatrieme 4e 4eme cuarto cuarta quarto quarta vierde",
)
_SIDE = {word: at for at, words in enumerate(_SIDES) for word in words.split()}
_SIDE |= {str(number): number - 1 for number in range(100)}
#: `Erstkorrektor`, `Zweitnote`, `Mark1`: the side is a part of the word.
_PREFIX = re.compile(r"(erst|zweit|dritt)(?=\w{4})", re.I)
_PREFIXES = {"erst": 0, "zweit": 1, "dritt": 2}
_WORD = re.compile(r"[^\W\d_]+(?=\d)|\d+[^\W\d_]*|[^\W\d_]+")
#: A person who decides where two differ.
_DECIDES = re.compile(r"adjudicat|arbit|third (?:reader|marker)|schiedsgutacht|obergutacht")
#: A column computed from all marks of a row.
_DERIVED = re.compile(r"\b(mean|average|(normali|standardi)[sz]ed)\b")
_GRADE = re.compile(r"[A-Fa-f][+-]?")
#: The fewest rows with two raters, and the most words of a name.
_LEAST, _WORDS = 3, 4

Sides = dict[int, str]
Turned = tuple[tuple[str, ...], tuple[Row, ...], tuple[int | None, ...], tuple[Problem, ...]]


def raters_as_rows(
    columns: Sequence[str], rows: Sequence[Row], lines: Sequence[int | None]
) -> Turned:
    """Return a row for each rater named in a row, with his marks; any other table unchanged.

    >>> names = (("Bo", "Li"), ("Li", "Al"), ("Al", "Bo"))
    >>> rows = [{"Marker A": a, "Mark A": "6", "Marker B": b, "Mark B": "7"} for a, b in names]
    >>> raters_as_rows([*rows[0]], rows, [2, 3, 4])[1][:2]
    ({'Marker': 'Bo', 'Mark': '6'}, {'Marker': 'Li', 'Mark': '7'})
    """
    groups = _columns_by_side(columns)
    of_people = [stem for stem, of in groups.items() if _are_names(stem, of, rows)]
    unchanged = tuple(columns), tuple(rows), tuple(lines), ()
    if len(of_people) != 1:
        return unchanged
    people = groups.pop(of_people[0])
    given = [of for of in groups.values() if of.keys() == people.keys()]
    marks = [of for of in given if _are_marks(of.values(), rows)]
    if not marks or any(_unnamed(row, people, of) for row in rows for of in marks):
        return unchanged
    used = {c for of in (people, *given) for c in of.values()}
    if len(marks) == 1 and (third := _adjudicator(columns, rows, used)):
        at = len(people)
        people[at], marks[0][at] = third
        used |= {*third}
    first = min(map(columns.index, used))
    kept = [c for c in columns if c not in used]
    whole = [c for c in kept if columns.index(c) > first or _DERIVED.search(plain_heading(c))]
    settled = [c for c in whole if not has_word(c, ITEMS)]
    settled = [c for c in settled if _are_marks([c], rows) and any(row.get(c) for row in rows)]
    kept = [c for c in kept if c not in settled]
    heads = {_label(of): of for of in (people, *given)}
    of_rater = f"{_label(people).partition(' ')[0]} "  # `rater1_score` beside `rater1_id`
    if " " in _label(people):
        heads = {h.removeprefix(of_rater) if of is not people else h: of for h, of in heads.items()}
    if {*map(fold, heads)} & {*map(fold, kept)} or len(heads) < 1 + len(given):
        return unchanged  # two columns of one heading
    longer, of_lines = list[Row](), list[int | None]()
    for row, line in zip(rows, lines, strict=True):
        for side, person in people.items():
            if row.get(person) not in (None, ""):
                cells = {head: row.get(of.get(side, ""), "") for head, of in heads.items()}
                longer.append({c: row.get(c) for c in kept} | cells)
                of_lines.append(line)
    message = f"Each person named in {_listed(people.values())} has a row, with the marks beside."
    if settled:
        message += f" Numbers about the row as a whole are left out: {_listed(settled)}."
    return (*kept, *heads), tuple(longer), tuple(of_lines), (Problem(message),)


def _listed(columns: Iterable[str]) -> str:
    return ", ".join(map(repr, columns))


def _adjudicator(
    columns: Sequence[str], rows: Sequence[Row], used: Container[str]
) -> tuple[str, str] | None:
    """Return the columns of one more rater, of some rows, and of the marks right beside."""
    for person, mark in pairwise(columns):
        if person in used or mark in used or has_word(mark, SUMMARIES, whole=True):
            continue
        if not (has_word(person, RATERS) or _DECIDES.match(plain_heading(person))):
            continue
        cells = [str(row[person]) for row in rows if row.get(person) not in (None, "")]
        named = all(number_of(cell) is None and len(cell.split()) <= _WORDS for cell in cells)
        both = all(row.get(person) or row.get(mark) in (None, "") for row in rows)
        if cells and named and both and _are_marks([mark], rows):
            return person, mark
    return None


def _columns_by_side(columns: Sequence[str]) -> dict[str, Sides]:
    """Return the columns whose headings differ in the word for a side only, by the rest."""
    found = dict[str, Sides]()
    for column in columns:
        stem, side = _parts(column)
        if stem and side is not None and side not in found.setdefault(stem, {}):
            found[stem][side] = column
    several = {stem: dict(sorted(of.items())) for stem, of in found.items() if 0 in of}
    return {stem: of for stem, of in several.items() if {-1, 1} & of.keys()}


def _parts(heading: str) -> tuple[str, int | None]:
    """Return a heading without its only word for a side, and the side.

    >>> _parts("1st marker"), _parts("Zweitkorrektor"), _parts("Mark 2"), _parts("Title")
    (('marker', 0), ('korrektor', 1), ('mark', 1), ('', None))
    """
    words = _WORD.findall(plain_heading(heading))
    sides = [w for w in words if w in _SIDE]
    if len(sides) == 1:
        return " ".join(w for w in words if w not in sides), _SIDE[sides[0]]
    if not sides and words and (prefix := _PREFIX.match(words[0])):
        rest = words[0].removeprefix(prefix[0])
        return " ".join((rest, *words[1:])), _PREFIXES[prefix[0]]
    return "", None


def _label(of: Sides) -> str:
    """Return the first heading of a group as it is spelt, without its word for a side."""
    words = re.findall(r"[^\W\d_]+(?=\d)|[^\s_]+", of[min(of)])
    left = [w for w in words if plain_heading(w) not in _SIDE]
    label = _PREFIX.sub("", " ".join(left), count=1).strip(" .:-")
    return label[:1].upper() + label[1:]


def _are_names(stem: str, of: Sides, rows: Sequence[Row]) -> bool:
    """Return whether columns headed for raters hold names: repeated, never twice in a row."""
    if not has_word(stem, RATERS):
        return False
    cells = [[fold(str(row.get(c) or "")) for c in of.values()] for row in rows]
    named = [[name for name in names if name] for names in cells]
    names = {name for of_row in named for name in of_row}
    coded = "id" in stem.split()
    words = all((coded or number_of(n) is None) and len(n.split()) <= _WORDS for n in names)
    apart = all(len({*of_row}) == len(of_row) for of_row in named)
    several = sum(len(of_row) > 1 for of_row in named)
    repeated = 3 * len(names) <= 2 * sum(map(len, named))
    return words and apart and repeated and several >= _LEAST and len(names) > 1


def _are_marks(columns: Iterable[str], rows: Sequence[Row]) -> bool:
    """Return whether each column holds mostly numbers, or few short grades such as `B+`."""
    for column in columns:
        cells = [str(row[column]).strip() for row in rows if row.get(column) not in (None, "")]
        numbers = 3 * sum(number_of(cell) is not None for cell in cells) >= 2 * len(cells)
        if not (numbers or all(map(_GRADE.fullmatch, cells))):
            return False
    return True


def _unnamed(row: Row, people: Sides, marks: Sides) -> bool:
    """Return whether a row has a mark of somebody without a name."""
    return any(
        row.get(people[side]) in (None, "") and number_of(str(row.get(column) or "")) is not None
        for side, column in marks.items()
    )
