"""A sheet that says what the headings and the codes of another sheet mean, as SPSS keeps it."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Mapping, Sequence

from core.errors import Problem
from core.formats.source.csv_writer import number_of
from core.formats.source.parsed import TableRows
from core.text.names import fold

#: `1 = Poor`, one of several; the next begins with a number.
_MEANING = re.compile(r"(-?\d{1,4}) ?[=:] ?([^=;|\n]+?)(?= *(?:[;|\n]|,? *-?\d{1,4} ?[=:]|\Z))")
#: Meanings of codes that are no answers in a list of codes; elsewhere some are.
_MISSING = re.compile(
    r"(system |user )?missing|not (observed|answered|seen|rated|assessed|scored|marked|applicable)"
    r"|(no|without) (answer|response|data)|n/?a|refus\w*|do(es)?n.t know|abs(ent)?|blank"
    r"|fehlend\w*|k\. ?a\.?|keine (angabe|antwort)|nicht (beobachtet|gesehen|bewertet|beurteilt"
    r"|zutreffend)|weiß nicht|entfällt|manquant\w*|(sans|pas de) réponse|non (observée?|évaluée?"
    r"|applicable)|perdido|sin (respuesta|dato|evaluar)|no (observad[oa]|evaluad[oa]|contesta"
    r"|aplica)|mancante|non (osservat[oa]|valutat[oa])|nessuna risposta|sem resposta"
    r"|não (observad[oa]|avaliad[oa])|ontbrekend|geen antwoord|niet (waargenomen|beoordeeld)"
    r"|n\.v\.t\.?|brak( danych| odpowiedzi)?|nie dotyczy|缺失|未回答|無回答|欠損|무응답"
)
#: `1-5`, `von 0 bis 10`, and what is between the words of a scale.
_ENDS = re.compile(r"\D{0,6}?(-?\d{1,3})(?: ?[-–—~〜…] ?|\D{1,5})(\d{1,3})\D{0,9}")
_STEP = re.compile(r" *[/|<>→,;、，] *")
#: The longest heading.
_LONGEST = 60


def with_codebook(rows: TableRows, beside: TableRows, sheet: str) -> TableRows | None:
    """Return rows with the headings that a sheet beside them gives, or ``None`` if it is no such.

    It names columns or parts of their headings (`Kim / Tone`, `Lee / Tone`), each once, beside a
    label, a scale or what codes mean. Codes that it declares as missing become blank; scales and
    what other codes mean are told.
    """
    for key in beside.columns:
        names = [str(row[key]).strip() for row in beside.rows]
        headed = {name: _columns_named(name, rows.columns) for name in names}
        known = [name for name in names if headed[name]]
        if len({*names}) == len(names) and len(known) > 1 and 3 * len(known) >= 2 * len(names):
            break
    else:
        return None
    others = [c for c in beside.columns if c != key]
    cells = {c: dict(zip(names, (str(r[c]).strip() for r in beside.rows), strict=True))
             for c in others}  # fmt: skip
    codes = next((c for c in others if any(map(_codes_in, cells[c].values()))), "")
    free = [c for c in others if c != codes]
    used = {n: {str(row[c]).strip() for row in rows.rows for c in headed[n]} - {""} for n in known}
    scales = next((c for c in free if any(_is_scale(cells[c][n], used[n]) for n in known)), "")
    free = [c for c in free if c != scales]
    heads = next((c for c in free if _are_headings(cells[c], rows.columns)), "")
    if not (codes or heads or scales):
        return None
    meant = {c: name for c, name in cells.get(heads, {}).items() if name and c in rows.columns}
    meanings = {c: _codes_in(cells[codes][n]) for n in known if codes for c in headed[n]}
    rows, notices = _without_missing(rows, meanings)
    if meant:
        listed = ", ".join(f"{c!r} is {name!r}" for c, name in meant.items())
        message = f"The sheet {sheet!r} says what headings mean: {listed}."
        notices = [Problem(message[:1000]), *notices]
    told = [(c, cells[scales][c]) for c in known if scales]
    told += [(c, _told(cells[codes][c])) for c in known if codes]
    return rows._replace(
        columns=tuple(meant.get(c, c) for c in rows.columns),
        rows=tuple({meant.get(c, c): cell for c, cell in row.items()} for row in rows.rows),
        notices=(*rows.notices, *notices),
        told=(*rows.told, *(f"{meant.get(c, c)}: {line}" for c, line in told if line)),
    )


def _columns_named(name: str, columns: Sequence[str]) -> list[str]:
    """Return the column of this name, or those of several raters with it as a part.

    >>> _columns_named("Tone", ["Tone (Kim)", "Tone (Lee)", "Tones"]), _columns_named("id", ["id"])
    (['Tone (Kim)', 'Tone (Lee)'], ['id'])
    """
    if name in columns or len(name) < 2:
        return [name] if name in columns else []
    parted = re.compile(rf"(?:.+[\W_])?{re.escape(name)}(?:[\W_].+)?")
    of_raters = [c for c in columns if parted.fullmatch(c)]
    return of_raters if len(of_raters) > 1 else []


def _codes_in(cell: str) -> dict[str, str]:
    """Return what codes mean, of two or more.

    >>> _codes_in("1 = Poor; 2 = Good, not more; 9 = missing")
    {'1': 'Poor', '2': 'Good, not more', '9': 'missing'}
    """
    meanings = dict(_MEANING.findall(cell))
    return meanings if len(meanings) > 1 else {}


def _is_scale(cell: str, used: Collection[str]) -> bool:
    """Return whether a cell gives the ends or the words of a scale that a column uses.

    >>> _is_scale("1 to 5", {"2", "4"}), _is_scale("low / high", {"low"}), _is_scale("Tone", {"2"})
    (True, True, False)
    """
    ends, marks = _ENDS.fullmatch(cell), [n for w in used if (n := number_of(w)) is not None]
    if ends and 2 * len(marks) > len(used):
        return all(float(ends[1]) <= n <= float(ends[2]) for n in marks)
    words = {*map(fold, _STEP.split(cell))}
    return len(words) > 1 and bool(used) and {*map(fold, used)} <= words


def _are_headings(labels: Mapping[str, str], columns: Sequence[str]) -> bool:
    """Return whether labels could be headings: short, each another, and no numbers."""
    words = [label for label in labels.values() if label]
    short = all(len(word) <= _LONGEST and number_of(word) is None for word in words)
    return len({*words}) == len(words) > 1 and short and not {*words} & {*columns}


def _is_missing(meaning: str) -> bool:
    return _MISSING.fullmatch(fold(meaning.strip(" ."))) is not None


def _told(cell: str) -> str:
    """Return the codes that are answers, as a line that tells a scale."""
    return ", ".join(
        f"{n} = {word}" for n, word in _codes_in(cell).items() if not _is_missing(word)
    )


def _without_missing(
    rows: TableRows, codes: Mapping[str, Mapping[str, str]]
) -> tuple[TableRows, list[Problem]]:
    """Return rows with blanks for the codes that mean no answer, and a notice."""
    missing = {c: {n for n, word in of.items() if _is_missing(word)} for c, of in codes.items()}
    away = Counter(str(row[c]) for row in rows.rows for c, of in missing.items() if row[c] in of)
    if not away:
        return rows, []
    blank = ({c: "" if cell in missing.get(c, ()) else cell for c, cell in row.items()}
             for row in rows.rows)  # fmt: skip
    listed = ", ".join(f"{code!r} {times:,}" for code, times in away.most_common(10))
    message = f"These codes are declared as missing and taken as no answer: {listed}."
    return rows._replace(rows=tuple(blank)), [Problem(message)]
