"""Convert every layout of a rubric file to the one that ``Rubric`` is built from."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from core.domain.base import Path
from core.errors import Problem
from core.formats.rubrics.keys import (
    BODY_KEYS,
    KEEP_ONE,
    RUBRIC_KEYS,
    SECTION_KEYS,
    TWICE,
    Shaped,
    join_notes,
    kept_key,
    shape_criterion,
    sort_keys,
)
from core.formats.source.parsed import kind_of, too_many
from core.text.names import fold

#: As in `core.domain.rubric`; checked here so that a huge file is refused at once.
MAX_CRITERIA = 500
_SHAPES = "Write `criteria:` and a list of criteria below it."


@dataclass
class Shaper:
    """Collects a rubric; ``origins`` maps places of ``data`` to the source."""

    data: dict[str, Any] = field(default_factory=dict)
    origins: dict[Path, Path] = field(default_factory=dict)
    problems: list[Problem] = field(default_factory=list)
    notices: list[Problem] = field(default_factory=list)
    sections: set[str] = field(default_factory=set)

    def shape(self, value: Any) -> None:
        """Read the whole document: a list of criteria, or a mapping."""
        self.data = {"criteria": [], "meta": {}}
        if isinstance(value, list):
            self._read_criteria(value, (), None)
        elif isinstance(value, dict) and isinstance(value.get("items"), list):
            self._add_problem(
                "holds items: this is a dataset.", "Import it as a dataset.", ("items",)
            )
        elif isinstance(value, dict):
            self._read_mapping(value, ())
        else:
            self._add_problem(f"is {kind_of(value)}, not a rubric.", _SHAPES, ())
        self._name_the_nameless()

    def source_path(self, path: Path) -> Path:
        """Return the place in the source of a place in ``data``."""
        for end in range(len(path), 0, -1):
            if path[:end] in self.origins:
                return (*self.origins[path[:end]], *path[end:])
        return path

    def _add_problem(self, message: str, mend: str, path: Path) -> None:
        self.problems.append(Problem(message, mend, path))

    def _read_mapping(self, value: dict[str, Any], path: Path) -> None:
        data, foreign, problems = sort_keys(value, RUBRIC_KEYS | set(BODY_KEYS), path, "a rubric")
        self.problems += problems
        for key in RUBRIC_KEYS & data.keys():
            if data[key] is not None:
                self._take_entry(key, data[key], (*path, key))
        for key, note in foreign.items():
            self._add_note(self.data["meta"], key, note, (*path, key))
            self.notices.append(kept_key(key, path))
        self._read_body(data, path)

    def _take_entry(self, key: str, value: Any, path: Path) -> None:
        if key == "meta":
            if not isinstance(value, dict):
                self._add_problem(
                    f"is {kind_of(value)}.", "Use a mapping of notes, each with a key.", path
                )
                return
            for name, note in value.items():
                self._add_note(self.data["meta"], name, note, (*path, name))
        elif (key,) in self.origins:
            self._add_problem(
                "is given both next to `rubric` and inside it.", "Keep one of the two.", path
            )
        else:
            self.data[key] = value
            self.origins[(key,)] = path

    def _add_note(self, meta: dict[str, Any], key: str, value: Any, path: Path) -> None:
        if key in meta:
            self._add_problem(TWICE, KEEP_ONE, path)
        meta[key] = value

    def _read_body(self, data: dict[str, Any], path: Path) -> None:
        bodies = [key for key in BODY_KEYS if data.get(key) is not None]
        for idle in bodies[1:]:
            message = f"is left out, because `{bodies[0]}` is given, too."
            self.notices.append(Problem(message, "", (*path, idle)))
        if not bodies:
            if not self.problems:
                self._add_problem("holds no criteria.", _SHAPES, path)
            return
        body, body_path = data[bodies[0]], (*path, bodies[0])
        if bodies[0] == "rubric" and isinstance(body, dict):
            self._read_mapping(body, body_path)
        elif bodies[0] == "sections" and isinstance(body, dict):
            for name, section in body.items():
                self._read_named_section(name, section, (*body_path, name))
        elif isinstance(body, list):
            self._read_criteria(body, body_path, None)
        else:
            self._add_problem(f"is {kind_of(body)}.", "Use a list of criteria.", body_path)

    def _read_named_section(self, name: str, section: Any, path: Path) -> None:
        if isinstance(section, dict):
            self._read_section({"name": name, **section}, path, None)
        elif isinstance(section, list):
            self._read_criteria(section, path, name)
        else:
            self._add_problem(f"is {kind_of(section)}.", "Use a list of criteria.", path)

    def _read_section(self, section: dict[str, Any], path: Path, outer: str | None) -> None:
        data, foreign, problems = sort_keys(section, SECTION_KEYS, path, "a section")
        self.problems += problems
        given = data.get("name")
        name = " / ".join(str(part) for part in (outer, given) if part is not None) or None
        self.problems += join_notes(
            self.data["meta"], "sections", self._unused_key(name), foreign, path
        )
        self.notices += [kept_key(key, path) for key in foreign]
        criteria = data.get("criteria")
        if isinstance(criteria, list):
            self._read_criteria(criteria, (*path, "criteria"), name)
        else:
            self._add_problem(f"is {kind_of(criteria)}.", "Use a list.", (*path, "criteria"))

    def _unused_key(self, section: str | None) -> str:
        """Return a key for a section's notes that no earlier section uses."""
        base = name = section or ""
        count = 1
        while name in self.sections:
            count += 1
            name = f"{base} {count}".strip()
        self.sections.add(name)
        return name

    def _read_criteria(self, entries: list[Any], path: Path, section: str | None) -> None:
        for index, entry in enumerate(entries):
            criterion_path = (*path, index)
            if too_many(self.problems):
                return
            if len(self.data["criteria"]) >= MAX_CRITERIA:
                message = f"is one too many: {MAX_CRITERIA} criteria are the limit."
                self._add_problem(message, "Split the rubric.", criterion_path)
                return
            if isinstance(entry, dict) and "criteria" in entry and "requirement" not in entry:
                self._read_section(entry, criterion_path, section)
                continue
            if isinstance(entry, str):
                entry = {"requirement": entry}
            if not isinstance(entry, dict):
                mend = "Write a mapping with at least a requirement."
                self._add_problem(f"is {kind_of(entry)}, not a criterion.", mend, criterion_path)
                continue
            self._add_criterion(shape_criterion(entry, criterion_path, section), criterion_path)

    def _add_criterion(self, shaped: Shaped, source: Path) -> None:
        place: Path = ("criteria", len(self.data["criteria"]))
        self.data["criteria"].append(shaped.data)
        self.origins[place] = source
        for key, path in shaped.renamed.items():
            self.origins[(*place, key)] = path
        self.problems += shaped.problems
        self.notices += shaped.notices

    def _name_the_nameless(self) -> None:
        criteria = self.data["criteria"]
        names = {fold(str(c["name"])) for c in criteria if "name" in c}
        for index, criterion in enumerate(criteria):
            if "name" not in criterion:
                name = name_for(str(criterion.get("requirement", "")), index, names)
                names.add(fold(name))
                criterion["name"] = name
                message = f"has no name; it is called {name!r}."
                self.notices.append(Problem(message, "", self.origins["criteria", index]))


def name_for(requirement: str, index: int, taken: set[str]) -> str:
    """Return a short name from the requirement, different from all names in ``taken``.

    >>> name_for("Cites a source for the figure, with page.", 0, {"cites a source for the figure"})
    'Cites a source for the figure 2'
    """
    short = ""
    for word in requirement.split():
        if short and len(short) + 1 + len(word) > 32:
            break
        short = f"{short} {word}".strip()[:60]
    short = short.rstrip(".,;:!?-–—(") or f"Criterion {index + 1}"
    name, count = short, 1
    while fold(name) in taken:
        count += 1
        name = f"{short} {count}"
    return name
