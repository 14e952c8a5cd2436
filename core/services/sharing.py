"""Rubrics in and out in every form, and the sheet to print. Losses are known before anything is."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from core.domain.rubric import Rubric
from core.errors import InputError, NotFound, Problem
from core.files.csv_writer import csv_bytes
from core.files.folder import read_bytes
from core.files.parsed import Parsed
from core.files.points import Scaling
from core.files.rubric_forms import (
    FORM_WORDS,
    RUBRIC_FORMS,
    FormWords,
    RubricForm,
    looks_like_table,
    read_rubrics,
    write_rubric,
)
from core.files.sheet import SheetRules, rubric_sheet
from core.files.text import MAX_RUBRIC_BYTES
from core.services.authoring import file_name
from core.services.rubric_words import check_words, decision_words, gate_words, penalty_words
from core.store.store import Store

ShareForm = Literal[RubricForm, "sheet"]
SHARE_FORMS: tuple[ShareForm, ...] = (*RUBRIC_FORMS, "sheet")
SHARE_WORDS: dict[ShareForm, FormWords] = {
    **{form: FORM_WORDS[form] for form in RUBRIC_FORMS},
    "sheet": FormWords("Sheet to print (HTML)", "One page for people.", "html", "text/html"),
}
_ABSTAINED = {
    "zero": "What cannot be assessed earns nothing and stays in the total.",
    "fail": "What cannot be assessed counts as the worst answer.",
}


@dataclass(frozen=True)
class Shared:
    """A rubric as a file: its text, name and type, and everything that is not in it."""

    text: str
    file_name: str
    mime: str
    losses: tuple[Problem, ...]
    for_spreadsheets: bool = False

    def data(self, *, mark: bool = True) -> bytes:
        """The file; ``mark=False`` leaves out the mark by which Excel knows UTF-8."""
        return csv_bytes(self.text, mark=mark and self.for_spreadsheets)


def share(rubric: Rubric, form: ShareForm) -> Shared:
    """The rubric in that form. ``losses`` is empty where it reads back as it was."""
    words = SHARE_WORDS[form]
    stem = file_name(rubric.name, "yaml").removesuffix(".yaml")
    name = f"{stem}{'-sheet' if form == 'sheet' else ''}.{words.ending}"
    if form == "sheet":
        text = rubric_sheet(rubric, rules_of(rubric), "Made with Rubric Studio")
        losses = (Problem("The sheet is for people; it cannot be imported."),)
        return Shared(text, name, words.mime, losses)
    written = write_rubric(rubric, form)
    # Canvas and Moodle read their tables themselves, and know no mark.
    return Shared(written.text, name, words.mime, written.losses, form == "csv")


def rules_of(rubric: Rubric) -> SheetRules:
    """Gates, pre-checks, scoring and decision in words."""
    gates = [gate_words(gate.model_dump(mode="json", by_alias=True)) for gate in rubric.gates]
    gates += [check_words(check.model_dump(mode="json")) for check in rubric.prechecks]
    others, scoring = list[str](), rubric.scoring
    if scoring.abstention == "partial":
        credit = f"{scoring.partial_credit:.0%}".replace("%", " %")
        others.append(f"What cannot be assessed earns {credit} of its points.")
    elif scoring.abstention in _ABSTAINED:
        others.append(_ABSTAINED[scoring.abstention])
    if scoring.length_penalty is not None:
        others.append(f"Length: {penalty_words(scoring.length_penalty.model_dump(mode='json'))}")
    if rubric.decision is not None:
        others.append(decision_words(rubric.decision.model_dump(mode="json")))
    return SheetRules(tuple(gates), tuple(others))


def read(data: str | bytes, name: str, scaling: Scaling = "ratio") -> tuple[Parsed[Rubric], ...]:
    """The rubrics in a file or pasted text of any form, with notices.

    Raises:
        InputError: nothing to read, or every problem with its line.
    """
    if not data.strip():
        raise InputError("There is nothing to read.", where=name)
    return read_rubrics(data, name, scaling)


def is_table(data: str | bytes, name: str) -> bool:
    """Whether that is a table, in which levels have points."""
    text = data[:4000].decode("utf-8", "ignore") if isinstance(data, bytes) else data
    return bool(text.strip()) and looks_like_table(text, name)


def rubrics_at(store: Store, source: str, scaling: Scaling) -> tuple[Parsed[Rubric], ...]:
    """The rubrics in the file of that path, or the newest version of the rubric of that number.

    Raises:
        InputError: no such file, or it holds no rubric.
        NotFound: no such rubric.
    """
    path = Path(source)
    if source.isdecimal() and not path.exists():
        return (Parsed(store.rubrics.latest(int(source)).rubric),)
    if not path.exists():
        raise NotFound(f"There is no file {source}, and no rubric of that number.")
    return read(read_bytes(path, MAX_RUBRIC_BYTES), path.name, scaling)
