"""Read autorubric's experiment folder: manifest.json and items.jsonl.

It has neither the items' texts nor their ids. Every line repeats its criteria.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from core.domain.base import Path, build_model
from core.domain.dataset import Dataset
from core.domain.rubric import CANNOT_ASSESS, Rubric
from core.errors import InputError, Problem
from core.formats.datasets.labels import TEXT_AVAILABLE
from core.formats.source.json_reader import read_json
from core.formats.source.opened import Opened
from core.formats.source.parsed import MAX_RUBRIC_BYTES, refusal, too_many
from core.formats.votes.imported import VoteLine
from core.formats.votes.tools.messages import object_or_empty, objects_in

_WHAT = "experiment"
#: Parts of a vote, other than answer and reason, that imported votes cannot hold.
_BESIDE = ("confidence", "probabilities", "reasoning", "shuffle_order")


class Experiment(NamedTuple):
    """The content of an experiment folder, in terms of the common layout."""

    name: str
    rubric: Rubric
    dataset: Dataset
    lines: list[VoteLine]
    notices: tuple[Problem, ...]


def read_experiment(
    manifest: bytes | Opened, items: bytes | Opened, name: str, dataset: Dataset | None = None
) -> Experiment:
    """Return the votes of an experiment; ``dataset`` restores items' ids by order.

    A truncated last line is skipped with a notice, and so is a vote that a later stage replaced.
    The last record of an item counts.

    Raises:
        InputError: a line that is not readable, or without an item; each with its line.
    """
    about = _read_manifest(Opened.of(manifest, "manifest.json"), name)
    title = str(about.get("experiment_name") or name)[:200]
    reader = _ExperimentReader(about, title, dataset)
    reader.read(Opened.of(items, "items.jsonl"))
    if reader.problems:
        raise refusal(_WHAT, reader.problems, name)
    if not reader.rubrics:
        raise InputError(
            "No line contains the question: the log was recorded without detail.", (), name
        )
    return reader.experiment()


def _read_manifest(opened: Opened, name: str) -> Mapping[str, Any]:
    where = f"{name}, manifest.json"
    value = read_json(opened.text(_WHAT, MAX_RUBRIC_BYTES)).require_valid(_WHAT, where).value
    if not isinstance(value, dict):
        raise refusal(_WHAT, [Problem("is not a JSON object.", "", (), 1)], where)
    return value


class _ExperimentReader:
    def __init__(self, manifest: Mapping[str, Any], title: str, dataset: Dataset | None) -> None:
        self._title, self._dataset = title, dataset
        self._single = _only_judge(manifest)
        self._kinds = {
            judge.get("judge_id"): judge.get("judge_kind") for judge in _judges_of(manifest)
        }
        #: Each item's line and report; ``None`` if the item ended in an error.
        self._reports: dict[int, tuple[int, dict[str, Any] | None]] = {}
        self._lines: list[VoteLine] = []
        self._own: dict[str, Rubric] = {}
        self._replaced = 0
        self._beside = Counter[str]()
        self.rubrics: list[Rubric] = []
        self.problems: list[Problem] = []
        self.notices: list[Problem] = []

    def read(self, opened: Opened) -> None:
        """Read every line, then every item, in the order of its number."""
        torn: list[Problem] = []
        for line, value, faults in opened.json_lines(_WHAT):
            self.problems += torn
            torn = [Problem(f.message, f.mend, f.path, line) for f in faults]
            if not faults:
                self._read_line(value, line)
            if too_many(self.problems):
                return
        if torn and len(self._reports) + len(self.problems):
            message = "is cut off, as when the program was stopped while writing; left out."
            self.notices.append(Problem(f"The last line {message}", "", (), torn[0].line))
        else:
            self.problems += torn
        for number, (line, report) in sorted(self._reports.items()):
            self._read_item(self._item_id(number, line), report or {}, line)

    def _read_line(self, value: Any, line: int) -> None:
        number = value.get("item_idx") if isinstance(value, dict) else None
        if not isinstance(number, int) or isinstance(number, bool) or number < 0:
            self.problems.append(Problem("tells of no item.", "It needs item_idx.", (), line))
            return
        if number in self._reports:
            self.notices.append(Problem(f"Item {number} is written again.", "", (), line))
        report = value.get("report")
        self._reports[number] = line, report if isinstance(report, dict) else None

    def _item_id(self, number: int, line: int) -> str:
        if self._dataset is None:
            return f"item-{number + 1:04d}"
        if number >= len(self._dataset.items):
            message = f"tells of item {number + 1} of {len(self._dataset.items)}."
            mend = "Give the dataset that this experiment was made with."
            self.problems.append(Problem(message, mend, ("item_idx",), line))
            return ""
        return self._dataset.items[number].id

    def _read_item(self, item: str, report: Mapping[str, Any], line: int) -> None:
        reports = report.get("criterion_reports") or []
        if strange := _invalid_entry(report):
            self.problems.append(
                Problem("holds something that is not an object.", "", strange, line)
            )
        if not reports or not item or strange:
            return
        # A single judge's report is a criterion itself; that of several judges contains one.
        criteria = [r["criterion"] if isinstance(r.get("criterion"), dict) else r for r in reports]
        try:
            rubric = build_model(
                Rubric,
                {
                    "name": self._title,
                    "criteria": [_criterion_data(c, i) for i, c in enumerate(criteria)],
                },
                "rubric",
            )
        except InputError as error:
            self.problems += [Problem(p.message, p.mend, p.path, line) for p in error.problems]
            return
        if not self.rubrics:
            self.rubrics.append(rubric)
        elif rubric != self.rubrics[0]:
            self._own[item] = rubric
        for criterion, report_of_judge in zip(rubric.criteria, reports, strict=True):
            for vote in self._votes_of_report(report_of_judge):
                kind = self._kinds.get(vote["rater_id"])
                # autorubric has two kinds of models: llm and decision_model.
                rater_kind = kind if kind in ("human", "offline") else "llm"
                row = {"item_id": item, "criterion": criterion.name, "rater_kind": rater_kind}
                self._lines.append((line, row | vote))

    def _votes_of_report(self, report: Mapping[str, Any]) -> Iterator[dict[str, str]]:
        votes = [*(report.get("votes") or ()), *(report.get("multi_choice_votes") or ())]
        if not votes and "final_verdict" not in report:
            votes = [report]
        for vote in votes:
            self._beside.update(key for key in _BESIDE if vote.get(key) not in (None, ""))
            if vote.get("superseded"):
                self._replaced += 1
                continue
            weight = vote.get("weight")
            named = "judge_id" in vote
            yield {
                "rater_id": str(vote.get("judge_id") or self._single),
                "label": "" if vote.get("error") else _label_of(vote),
                "reason": str(vote.get("reason") or ""),
                "weight": str(weight) if named and isinstance(weight, int | float) else "",
            }

    def experiment(self) -> Experiment:
        """Return all content read so far."""
        items = [
            {
                "id": self._item_id(number, line),
                "submission": "",
                "rubric": self._own.get(self._item_id(number, line)),
                "meta": {TEXT_AVAILABLE: False},
            }
            for number, (line, _) in sorted(self._reports.items())
        ]
        data = {"name": self._title, "items": items}
        dataset = build_model(Dataset, data, "dataset")
        self._add_notice(
            "Verdicts and scores of the experiment are left out: they are computed here from its "
            "votes."
        )
        if self._beside:
            counts = ", ".join(f"{key} ({count:,})" for key, count in sorted(self._beside.items()))
            self._add_notice(f"Left out of votes: {counts}.")
        if self._dataset is None:
            mend = "Give its dataset to have texts and ids."
            self._add_notice(
                f"The text of {len(items):,} items was not part of the experiment.", mend
            )
        if failed := sum(report is None for _, report in self._reports.values()):
            self._add_notice(f"{failed:,} items ended in an error: no votes.")
        if self._replaced:
            self._add_notice(f"{self._replaced:,} votes are left out: a later stage replaced them.")
        return Experiment(self._title, self.rubrics[0], dataset, self._lines, tuple(self.notices))

    def _add_notice(self, message: str, mend: str = "") -> None:
        self.notices.append(Problem(message, mend))


def _invalid_entry(report: Mapping[str, Any]) -> Path:
    """Return the place of a list in a report with entries other than objects."""
    reports = report.get("criterion_reports") or []
    if not _are_objects(reports):
        return ("criterion_reports",)
    for at, entry in enumerate(reports):
        criterion = entry["criterion"] if isinstance(entry.get("criterion"), dict) else entry
        for key, holder in (
            ("votes", entry),
            ("multi_choice_votes", entry),
            ("options", criterion),
        ):
            if not _are_objects(holder.get(key) or []):
                return ("criterion_reports", at, key)
    return ()


def _are_objects(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(entry, dict) for entry in value)


def _judges_of(manifest: Mapping[str, Any]) -> list[dict[str, Any]]:
    return objects_in(object_or_empty(manifest.get("grader_config")).get("judges"))


def _only_judge(manifest: Mapping[str, Any]) -> str:
    """Return the judge of an experiment that has only one."""
    named = next(iter(_judges_of(manifest)), {})
    return str(named.get("judge_id") or named.get("model") or "judge")


def _criterion_data(given: Mapping[str, Any], index: int) -> dict[str, Any]:
    """Return the criterion in our keys; a binary one has no options, whatever its scale."""
    name = str(given.get("name") or f"criterion {index + 1}")
    weight = given.get("weight")
    data: dict[str, Any] = {
        "name": name[:200],
        "requirement": str(given.get("requirement") or name),
        "weight": weight if isinstance(weight, int | float) else 10.0,
    }
    options = given.get("options")
    if not options:
        return data
    scale = "nominal" if given.get("scale_type") == "nominal" else "ordinal"
    choices = [
        {"label": o.get("label"), "value": o.get("value"), "na": bool(o.get("na"))} for o in options
    ]
    return data | {"scale": scale, "options": choices}


def _label_of(vote: Mapping[str, Any]) -> str:
    """Return the label of a vote or a single judge's report, or ""."""
    choice = vote.get("multi_choice_verdict")
    if isinstance(choice, dict):
        vote = choice
    label = vote.get("selected_label") or vote.get("verdict")
    if not label and vote.get("na"):
        return CANNOT_ASSESS
    return str(label or "")
