"""What a teacher without a model decides until each of her 60 texts has a grade, by three ways.

    python bench/left_open.py [--draws 13]

Workload: 60 answers of the sample to one question, two criteria; ten texts are drawn at random and
graded as they are labelled (anew in each draw), offline judges learn and grade the others. Then

    hand   the cells without a verdict, of texts without a grade, are decided one by one
    ten    ten more at random are graded, and judges learn and grade again, until all have a grade
    five   five of the texts without a grade, the same way; at most five are decided one by one

A decision is an answer on one criterion of one text. "right" is the share of the judges' verdicts
that match the labels, over all draws. Everything goes through the services behind *Grade my texts*.
"""

from __future__ import annotations

import argparse
import logging
import tempfile
from pathlib import Path
from typing import Any

from tasks import CLASS_RUBRIC, short_answers

from core import clock
from core.domain.dataset import Dataset, Item
from core.domain.library import DatasetVersion, RubricVersion
from core.services.datasets import catalog
from core.services.guided import grading, judging, learning, own_grades
from core.services.judges import registry
from core.services.rubrics import library
from core.services.runs.runner import work_here
from core.store.store import Store
from tests.new_store import new_store

WAYS = ("hand", "ten", "five")


class Teacher:
    """A teacher with a data file of her own, who knows the label of every cell."""

    def __init__(self, store: Store, draw: int) -> None:
        self.store, self.decisions = store, 0
        answers = {f"d{draw}-p{n}": row for n, row in enumerate(short_answers(), start=1)}
        parts = ("prompt", "reference", "submission")
        items = [Item(id=name, **{p: row[p] for p in parts}) for name, row in answers.items()]
        self.answers: dict[str, dict[str, Any]] = answers
        rubric = library.read_rubric(CLASS_RUBRIC.decode(), "rubric.yaml").value
        self.rubric: RubricVersion = store.rubrics.create(rubric, now=clock.now())
        self.version: DatasetVersion = catalog.import_dataset(
            store, Dataset(name=f"Class {draw}", items=tuple(items))
        )[0]
        registry.ensure_defaults(store)

    def label(self, item_id: str, criterion: str) -> str:
        return str(self.answers[item_id]["labels"][criterion]["label"])

    def sit(self, chosen: tuple[str, ...] = ()) -> None:
        """Grade the next ten texts of the draw, or these."""
        own_grades.begin(self.store, self.version, self.rubric, chosen)
        while True:
            sitting = own_grades.unfinished_sitting(self.store, self.version, self.rubric)
            assert sitting is not None
            if sitting.open is None:
                break
            item, criterion = sitting.open
            given = (item.id, criterion.name, self.label(item.id, criterion.name))
            own_grades.answer(self.store, self.version, self.rubric, *given)
            self.decisions += 1
        self.version = own_grades.finish(self.store, self.version, self.rubric)

    def grade(self) -> tuple[int, grading.Outcome]:
        """Let judges learn and grade; ten more are graded as long as they learn nothing."""
        while all(
            one.off for one in learning.learning(self.store, self.version, self.rubric).criteria
        ):
            self.sit()
        panel = judging.panel_of(self.store, judging.learners(self.store))
        request = grading.run_request(self.store, self.rubric.id, self.version.id, panel)
        run = grading.start(self.store, request)
        work_here(self.store, run, tick=0.02)
        return run, grading.outcome(self.store, run)


def until_all_have_a_grade(teacher: Teacher, way: str) -> tuple[int, int, int]:
    """Return the decisions, the judges' verdicts, and how many of these are right."""
    teacher.sit()
    run, outcome = teacher.grade()
    while outcome.ungraded and way != "hand":
        chosen = own_grades.next_open_texts(
            teacher.store, teacher.version, teacher.rubric, outcome.ungraded
        )
        if way == "five" and not chosen:
            break
        teacher.sit(chosen if way == "five" else ())
        run, outcome = teacher.grade()
    decided = {
        (item_id, verdict.criterion): verdict
        for item_id, verdict in teacher.store.results.verdicts(run)
        if verdict.option is not None and not verdict.abstained
    }
    criteria = {criterion.name: criterion for criterion in teacher.rubric.rubric.criteria}
    open_cells = sum((item, name) not in decided for item in outcome.ungraded for name in criteria)
    right = sum(
        criteria[name].choices[verdict.option or 0].label == teacher.label(item_id, name)
        for (item_id, name), verdict in decided.items()
    )
    return teacher.decisions + open_cells, len(decided), right


def main() -> None:
    """Prints a line per way."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--draws", type=int, default=13)
    draws = range(parser.parse_args().draws)
    logging.disable(logging.WARNING)
    for way in WAYS:
        with tempfile.TemporaryDirectory() as folder:
            store = new_store(Path(folder) / "class.db")
            rows = [until_all_have_a_grade(Teacher(store, draw), way) for draw in draws]
            store.close()
        decisions, verdicts, right = zip(*rows, strict=True)
        print(
            f"{way:5} decisions: mean {sum(decisions) / len(rows):.1f} "
            f"({min(decisions)} to {max(decisions)}); judges' verdicts a draw: "
            f"{sum(verdicts) / len(rows):.1f}, {sum(right) / sum(verdicts):.1%} right",
            flush=True,
        )


if __name__ == "__main__":
    main()
