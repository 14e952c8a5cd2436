"""Rubric tables with a level per row: our own full table, and Moodle's.

Moodle itself has no rubric tables; its import plugin reads the second format.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

from core.domain.rubric import Criterion, Rubric
from core.errors import Problem
from core.formats.rubrics.foreign import (
    Level,
    Scaling,
    WrittenRubric,
    criteria_losses,
    criterion_of,
    described_requirement,
    first_names,
    levels_of,
    point_losses,
    rubric_losses,
    scaling_notices,
    shown_label,
    weigh_by_names,
)
from core.formats.rubrics.grid_headings import (
    ROLE_WORDS,
    names_a_total,
    percent_notices,
    role_of,
)
from core.formats.rubrics.rubric_file import rubric_of_rows
from core.formats.source.csv_reader import RawRow, RawTable
from core.formats.source.csv_writer import (
    Value,
    csv_text,
    number_of,
    points_text,
    spreadsheet_safe,
    unguarded,
)
from core.formats.source.heading_words import plain_heading
from core.formats.source.parsed import BadNumber, Parsed, number, refusal, stem
from core.text.names import fold

FULL = (
    *("rubric", "criterion", "requirement", "weight", "scale", "section", "tags", "aggregation"),
    *("forced_choice", "level", "level_description", "value", "na"),
)
MOODLE = ("criterion", "level", "level_description", "score")
_SPLIT = ": "


def levels_csv(rubric: Rubric) -> WrittenRubric:
    """Return our own table, with criteria and options but without rules."""
    rows = list[list[Value]]()
    for criterion in rubric.criteria:
        head: list[Value] = [
            spreadsheet_safe(rubric.name),
            spreadsheet_safe(criterion.name),
            spreadsheet_safe(criterion.requirement),
            float(criterion.weight),
            criterion.scale,
            spreadsheet_safe(criterion.section or ""),
            spreadsheet_safe(_tags_text(criterion.tags)),
            criterion.aggregation,
            criterion.forced_choice,
        ]
        for option in criterion.options:
            label, text = spreadsheet_safe(option.label), spreadsheet_safe(option.description)
            value = None if option.value is None else float(option.value)
            rows.append([*head, label, text, value, option.na])
    kept = ("section", "tags", "aggregation", "forced_choice")
    losses = [*rubric_losses(rubric), *criteria_losses(rubric.criteria, kept)]
    if "\0" in rubric.model_dump_json().replace("\\u0000", "\0"):
        losses.append(Problem("NUL characters are written as signs."))
    return WrittenRubric(csv_text(FULL, rows, guarded=False), tuple(losses))


def _tags_text(tags: Sequence[str]) -> str:
    plain = all(tag.strip() == tag and tag and ";" not in tag for tag in tags)
    plain = plain and not (tags and tags[0].startswith("["))
    return "; ".join(tags) if plain else json.dumps(list(tags), ensure_ascii=False)


def moodle_csv(rubric: Rubric) -> WrittenRubric:
    """Return the table of Moodle's import plugin; levels are numbered from the best."""
    criteria = [c for c in rubric.criteria if c.weight > 0]
    rows = list[list[Value]]()
    for criterion in criteria:
        name = _joined_text(criterion.name, described_requirement(criterion))
        for at, level in enumerate(levels_of(criterion), start=1):
            text = _joined_text(level.label, level.description)
            points = int(level.points) if level.points.is_integer() else level.points
            rows.append([spreadsheet_safe(name), at, spreadsheet_safe(text), points])
    text = csv_text(MOODLE, rows, guarded=False)
    return WrittenRubric(text, tuple(_moodle_losses(rubric, criteria)))


def _joined_text(head: str, text: str) -> str:
    return head if not text or fold(text) == fold(head) else f"{head}{_SPLIT}{text}"


def _moodle_losses(rubric: Rubric, criteria: Sequence[Criterion]) -> Iterator[Problem]:
    most = points_text(sum(max(level.points for level in levels_of(c)) for c in criteria))
    yield Problem("Moodle checks the sum.", f"Set the activity's maximum grade to {most}.")
    out = [c.name for c in rubric.criteria if c.weight <= 0]
    if out:
        yield Problem(f"Only criteria that earn points are written; left out: {first_names(out)}.")
    yield from rubric_losses(rubric)
    yield from criteria_losses(criteria)
    yield from point_losses(criteria)
    if fold(rubric.name):
        yield Problem("The rubric's name is not in the file; the file is named after it.")
    mixed = [
        c.name
        for c in criteria
        if any(_SPLIT in text for text in (c.name, *(shown_label(c, o) for o in c.options)))
    ]
    if mixed:
        message = f"has a colon in a name, where name and text are parted: {first_names(mixed)}."
        yield Problem(message, "When the file is read again, the name ends at the first colon.")


def looks_like_levels(heads: Sequence[str]) -> bool:
    """Return whether these are the headings of our own table."""
    return {"criterion", "level", "value"} <= {head.casefold() for head in heads}


def looks_like_moodle(heads: Sequence[str]) -> bool:
    """Return whether these are the headings of Moodle's table."""
    return {"criterion", "level", "score"} <= {head.casefold() for head in heads}


#: Headings of a row for each level and its descriptor, by field, in several languages.
_WORDS = {
    "rubric": "station, group, rubric, rubrik, rubrica, rubrique",
    "label": "label, level label, level name, bezeichnung, stufenname, libelle, etiqueta"
    ", nombre del nivel, etichetta, rótulo",
    "level": "level, nivel, stufe, niveau, livello, niveau de maitrise, nivel de desempeno"
    ", nivel de logro, poziom, nivå, уровень, 等级, 水平, レベル, 段階",
    "score": "points, score, points value, punkte, punktzahl, puntos, puntaje, puntuacion, punti"
    ", punteggio, pontos, pontuacao, punten, punkty, poäng, баллы, 分数, 分值, 得点, 点数, 配点",
    "weight": "weight, gewicht, gewichtung, poids, ponderation, peso, ponderacion, ponderazione"
    ", waga, vikt, вес, 权重, 重み",
    "number": "id, no, nr, n°, #, order",
    "level_description": "descriptor, level descriptor, level description, description"
    ", beschreibung, deskriptor, descripteur, descripcion, descripcion del nivel, indicador"
    ", descrizione, descrittore, descricao, descritor, beschrijving, omschrijving, opis"
    ", beskrivning, описание, 描述, 说明, 説明, 記述",
}
_FIELDS = dict.fromkeys(ROLE_WORDS["criterion"] - {"name", "title"}, "criterion") | {
    plain_heading(w): f for f, words in _WORDS.items() for w in words.split(", ")
}


def _fields(heads: Sequence[str]) -> list[str]:
    """Return the field of each heading, "" for other headings.

    A level beside a label is its number. Without points a level is worth its number.
    """
    weights = {head for head in heads if role_of(fold(head)) == "weight"}
    fields = [_FIELDS.get(plain_heading(h), "weight" if h in weights else "") for h in heads]
    if "label" in fields:
        beside = "number" if "score" in fields else "score"
        fields = [beside if field == "level" else field for field in fields]
    return ["level" if field == "label" else field for field in fields]


def looks_like_descriptors(heads: Sequence[str]) -> bool:
    """Return whether a row is a level by its name, its points and its descriptor.

    >>> looks_like_descriptors(["Station", "Criterion", "Level", "Label", "Descriptor"])
    True
    >>> looks_like_descriptors(["Kriterium", "Stufe", "Punkte", "Beschreibung"])
    True
    """
    fields = _fields(heads)
    named = [field for field in fields if field != "number"]
    needed = {"criterion", "level", "level_description"}
    is_ours = looks_like_moodle(heads) or looks_like_levels(heads)
    return needed <= {*named} and "" not in named and len({*named}) == len(named) and not is_ours


def read_descriptors(table: RawTable, scaling: Scaling = "ratio") -> tuple[Parsed[Rubric], ...]:
    """Return the rubrics, one for each station or group, in a table of levels with descriptors.

    Raises:
        InputError: with every problem found, each with its line.
    """
    fields = tuple(_fields(table.heads))
    weights = table.heads[fields.index("weight")] if "weight" in fields else ""
    return _LevelReader(replace(table, heads=fields), scaling, weights).read()


def read_levels(table: RawTable, scaling: Scaling = "ratio") -> tuple[Parsed[Rubric], ...]:
    """Return the rubrics in a table of either format.

    Cells that repeat in a criterion may be empty after its first row. Without a column ``rubric``
    there is one rubric, named after the file.

    Raises:
        InputError: with every problem found, each with its line.
    """
    # In Moodle's own table the points alone count, and names come back as they were.
    moodle = {head.casefold() for head in table.heads} <= {*MOODLE}
    return _LevelReader(table, scaling, "weight", keeps_names=moodle).read()


class _LevelReader:
    def __init__(
        self, table: RawTable, scaling: Scaling, weights: str, *, keeps_names: bool = False
    ) -> None:
        self._table, self._scaling, self._keeps_names = table, scaling, keeps_names
        self._heading_of_weights = weights
        self._at = {head: table.column(head) for head in (*FULL, "score")}
        self._problems: list[Problem] = []
        self._left_out: list[Problem] = []
        self._full = self._at["value"] is not None
        # Whether the table is a list in prose, with descriptions and unconverted points.
        self._listed = not self._full and self._at["requirement"] is not None
        if self._at["score"] is None:
            self._at["score"] = self._at["level"]

    def read(self) -> tuple[Parsed[Rubric], ...]:
        grouped = self._rows_by_criterion()
        read = [self._rubric_data(name, criteria) for name, criteria in grouped.items()]
        if self._problems or not read:
            problems = self._problems or [Problem("has a header, but no rows.", "", (), 1)]
            raise refusal("rubric", problems, self._table.name)
        return tuple(
            rubric_of_rows(data, self._table.name, lines, notices) for data, notices, lines in read
        )

    def _rows_by_criterion(self) -> dict[str, dict[str, list[RawRow]]]:
        rubrics: dict[str, dict[str, list[RawRow]]] = {}
        rubric, criterion = stem(self._table.name, "Untitled rubric"), ""
        for row in self._table.rows:
            if self._is_total(row):
                text = " ".join(filter(None, (cell.text.strip() for cell in row.cells)))
                self._left_out.append(Problem(f"is left out: “{text}”.", "", (), row.line))
                continue
            rubric = self._cell_text(row, "rubric") or rubric
            criterion = self._cell_text(row, "criterion") or criterion
            if not criterion:
                mend = "The first row of a criterion needs its name."
                self._problems.append(Problem("names no criterion.", mend, (), row.line))
                continue
            rubrics.setdefault(rubric, {}).setdefault(criterion, []).append(row)
        return rubrics

    def _is_total(self, row: RawRow) -> bool:
        """Return whether a row is the sum of the points: without a level and its description."""
        name = self._cell_text(row, "criterion")
        bare = not (self._cell_text(row, "level") or self._cell_text(row, "level_description"))
        return bare and names_a_total(name) and not self._full

    def _cell_text(self, row: RawRow, head: str) -> str:
        text = unguarded(row.text(self._at[head]))
        # Our own cells are kept exactly; in other tools' cells, surrounding spaces are accidental.
        return text if self._full and text.strip() else text.strip()

    def _rubric_data(
        self, name: str, criteria: dict[str, list[RawRow]]
    ) -> tuple[dict[str, Any], list[Problem], list[int]]:
        shaped, notices, lines = list[dict[str, Any]](), [*self._left_out], list[int]()
        levels, weighed = list[list[Level]](), list[bool]()
        for criterion, rows in criteria.items():
            lines.append(rows[0].line)
            if self._full:
                shaped.append(self._own_fields(criterion, rows))
                continue
            levels.append(self._levels_of_rows(rows))
            head, _, text = criterion.partition(_SPLIT)
            text = self._cell_text(rows[0], "requirement") or text
            data, remark = criterion_of(head, text.strip() or head, levels[-1], self._scaling)
            weight = number_of(rows[0].text(self._at["weight"]).strip().removesuffix("%"))
            section = self._cell_text(rows[0], "section")
            data |= {"section": section} if section else {}
            shaped.append(data if weight is None else data | {"weight": weight})
            weighed.append(weight is not None and not self._listed)
            if remark:
                notices.append(Problem(f"{head!r} {remark}", "", (), rows[0].line))
        if levels and not self._keeps_names:
            notices += weigh_by_names(shaped, weighed)
            first = [rows[0].text(self._at["weight"]) for rows in criteria.values()]
            notices += percent_notices(self._heading_of_weights, first)
        counted = [of for of, data in zip(levels, shaped, strict=False) if data.get("weight") != 0]
        notices += scaling_notices(counted, self._scaling) if counted else ()
        return {"name": name, "criteria": shaped}, notices, lines

    def _levels_of_rows(self, rows: list[RawRow]) -> list[Level]:
        parts = [self._cell_text(row, "level_description").partition(_SPLIT) for row in rows]
        heads = [head if len(head) <= 60 else "" for head, _, _ in parts]
        if len(set(map(fold, heads))) < len(heads) or not all(map(fold, heads)):
            heads = []
        if self._listed and not all(text for _, _, text in parts):
            heads = []
        levels = list[Level]()
        for at, row in enumerate(rows):
            given = self._cell_text(row, "level")
            score = number_of(row.text(self._at["score"]))
            if score is None:
                message = f"has {row.text(self._at['score']).strip()!r} as score."
                mend = "Give each level its points, in a column of their own."
                self._problems.append(Problem(message, mend, ("score",), row.line))
            text = self._cell_text(row, "level_description")
            numbered = not given or number_of(given) is not None
            if numbered and heads:
                levels.append(Level(heads[at], parts[at][2].strip(), score or 0.0))
            else:
                word = "" if given and self._listed else "Level "
                label = f"{word}{given or at + 1}" if numbered else given
                levels.append(Level(label, text, score or 0.0))
        # Only a list in prose gives ends of a scale: its levels between have no text.
        low, _, high = self._cell_text(rows[0], "scale").partition("-")
        between = range(int(low), int(high)) if high and self._listed else ()
        points = {level.points for level in levels}
        return levels + [Level(str(n), "", n) for n in between if n not in points]

    def _own_fields(self, criterion: str, rows: list[RawRow]) -> dict[str, Any]:
        data: dict[str, Any] = {"name": criterion}
        for head in ("requirement", "scale", "section", "aggregation"):
            data[head] = next((t for row in rows if (t := self._cell_text(row, head))), None)
        data["requirement"] = data["requirement"] or criterion
        data["weight"] = self._number_in(rows[0], "weight")
        data["forced_choice"] = self._yes_or_no_in(rows[0], "forced_choice")
        data["tags"] = self._tag_list(self._cell_text(rows[0], "tags"), rows[0].line)
        data["options"] = [self._option_data(row) for row in rows]
        return data

    def _option_data(self, row: RawRow) -> dict[str, Any]:
        away = self._yes_or_no_in(row, "na")
        return {
            "label": self._cell_text(row, "level"),
            "description": self._cell_text(row, "level_description"),
            "value": None if away else self._number_in(row, "value"),
            "na": away or None,
        }

    def _number_in(self, row: RawRow, head: str) -> float | None:
        text = row.text(self._at[head]).strip()
        if not text:
            return None
        try:
            value = number(text.replace(",", "."))
        except BadNumber:
            value = None
        if value is None:
            message = f"is {text!r}."
            self._problems.append(Problem(message, "Use a number.", (head,), row.line))
        return value

    def _yes_or_no_in(self, row: RawRow, head: str) -> bool | None:
        text = row.text(self._at[head]).strip().casefold()
        if text in ("", "true", "false", "yes", "no", "1", "0"):
            return text in ("true", "yes", "1") or None
        message = f"is {text!r}."
        self._problems.append(Problem(message, "Use true or false.", (head,), row.line))
        return None

    def _tag_list(self, text: str, line: int) -> list[str]:
        if not text.startswith("["):
            return [tag.strip() for tag in text.split(";") if tag.strip()]
        try:
            tags = json.loads(text)
        except ValueError:
            tags = None
        if not isinstance(tags, list):
            mend = "Write tags with semicolons between them."
            self._problems.append(Problem("is not a list.", mend, ("tags",), line))
            return []
        return [str(tag) for tag in tags]
