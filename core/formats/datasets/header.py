"""What a dataset's file says of all its items: in a JSON document, above a table, in a heading."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from core.domain.rubric import Rubric
from core.errors import InputError, Problem
from core.formats.columns.headings import question_in
from core.formats.datasets.labels import UnfitValue, context_of, prompt_of, text_of
from core.formats.rubrics.keys import kept_key, sort_keys
from core.formats.rubrics.rubric_file import rubric_from_data
from core.formats.source.parsed import kind_of, stem
from core.formats.tables.table import Table

_HEADER_TEXTS = {"name", "description", "prompt", "reference"}
HEADER_KEYS = frozenset({*_HEADER_TEXTS, "context", "reference_submission", "rubric", "meta"})


class DatasetHeader:
    """The validated header of a document, which applies to all its items."""

    def __init__(self, table: Table) -> None:
        self._table = table
        self.notices: list[Problem] = []
        known, foreign, self.problems = sort_keys(table.header, HEADER_KEYS, (), "a dataset")
        self.problems = [replace(p, line=table.line_of_header(p.path)) for p in self.problems]
        self.data: dict[str, Any] = {}
        known = {key: value for key, value in known.items() if value is not None}
        if "reference_submission" in known:
            known.setdefault("reference", known.pop("reference_submission"))
        for key in known.keys() & _HEADER_TEXTS:
            self._read_text(key, known[key])
        self._read_context(known.get("context"))
        self.rubric = self._read_rubric(known.get("rubric"))
        self.data["rubric"] = self.rubric
        self.data["meta"] = self._read_meta(known.get("meta", {}), foreign)

    def ask(self, heading: str) -> None:
        """Take the question that heads the judged texts as the prompt, if no other is given."""
        if not self.data.get("prompt") and (asked := question_in(heading)):
            self.data["prompt"] = asked
            message = f"The heading of the judged texts is every item's prompt: {asked[:200]!r}."
            self.notices.append(Problem(message, "If it was not asked: --map prompt=COLUMN."))

    def _add_problem(self, message: str, mend: str, key: str) -> None:
        line = self._table.line_of_header((key,))
        self.problems.append(Problem(message, mend, (key,), line))

    def _read_text(self, key: str, value: Any) -> None:
        try:
            self.data[key] = prompt_of(value) if key == "prompt" else text_of(value)
        except UnfitValue as error:
            self._add_problem(error.message, error.mend, key)

    def _read_context(self, value: Any) -> None:
        try:
            self.data["context"] = context_of(value, "context")
        except UnfitValue as error:
            self._add_problem(error.message, error.mend, "context")

    def _read_rubric(self, value: Any) -> Rubric | None:
        if value is None:
            return None
        name = str(self.data.get("name", "")) or stem(self._table.name, "Untitled rubric")
        line_of = self._table.line_of_header
        try:
            parsed = rubric_from_data(
                value, self._table.name, lambda path: line_of(("rubric", *path)), name
            )
        except InputError as error:
            self.problems += error.problems
            return None
        self.notices += parsed.notices
        return parsed.value

    def _read_meta(self, meta: Any, foreign: dict[str, Any]) -> dict[str, Any]:
        if not isinstance(meta, dict):
            self._add_problem(f"is {kind_of(meta)}.", "Use a mapping.", "meta")
            return {}
        for key in foreign:
            self.notices.append(replace(kept_key(key, ()), line=self._table.line_of_header((key,))))
            if key in meta:
                self._add_problem("is given twice, once under meta.", "Keep one of the two.", key)
        return {**foreign, **meta}
