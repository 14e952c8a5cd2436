"""Grades into a list of students: `export RUN --format canvas|moodle --roster FILE`."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import click

from core.cli import output
from core.cli.writing import write_files
from core.errors import InputError

if TYPE_CHECKING:
    from core.services.sharing_grades import Filled
    from core.store.store import Store

#: What these options are called in ``GradeChoices``.
CHOICES = ("match", "by", "grade", "maximum", "scaling", "overwrite")
_OPTIONS = (
    click.option(
        "--roster",
        type=click.Path(path_type=Path, dir_okay=False),
        help="The list of students as Canvas or Moodle exported it; only grades change in it.",
    ),
    click.option("--match", metavar="COLUMN", help="The column that says who."),
    click.option("--by", metavar="KEY", help="What of an item that is: id, or a key of its meta."),
    click.option("--grade", metavar="COLUMN", help="The column that takes the grade."),
    click.option("--maximum", type=click.FloatRange(min=0, min_open=True), help="A full score."),
    click.option(
        "--scaling",
        type=click.Choice(["ratio", "range"]),
        default="ratio",
        show_default=True,
        help="Score of the most, or counted from the worst answers.",
    ),
    click.option("--overwrite", is_flag=True, help="Change grades that are there, too."),
    click.option("--dry-run", "dry", is_flag=True, help="Show what would change; write nothing."),
)


def roster_options(command: Callable[..., None]) -> Callable[..., None]:
    """Adds the options that go with --roster."""
    for option in reversed(_OPTIONS):
        command = option(command)
    return command


def fill_roster(
    store: Store,
    run: int,
    form: Literal["canvas", "moodle"],
    roster: Path,
    choices: dict[str, Any],
    *,
    out: Path | None,
    force: bool,
    dry: bool,
) -> None:
    """Show what changes in the list of students, and write it unless ``dry``."""
    from core.files.folder import read_bytes
    from core.files.text import MAX_DATASET_BYTES
    from core.services.sharing_grades import fill
    from core.services.sharing_match import GradeChoices

    data = read_bytes(roster, MAX_DATASET_BYTES)
    filled = fill(store, run, data, roster.name, GradeChoices(**choices))
    other = {"canvas": "moodle", "moodle": "canvas"}[form]
    if filled.roster.kind.startswith(other):
        mend = f"Use --format {other}."
        raise InputError(f"This is a file of {other.title()}. {mend}", (), str(roster))
    _tell(filled)
    if dry:
        output.say("Nothing is written (--dry-run).")
    elif out == Path("-"):
        sys.stdout.buffer.write(filled.data)
    else:
        target = out or Path(filled.name)
        write_files({target / filled.name if target.is_dir() else target: filled.data}, force)


def _tell(filled: Filled) -> None:
    rows = [
        [str(c.line), c.student[:40], c.column[:40], c.old[:20] or "(empty)",
         "kept" if c.kept else c.new[:60].replace("\n", " ")]
        for c in filled.changes
    ]  # fmt: skip
    if rows:
        output.say(output.table(rows, ["line", "student", "column", "before", "after"]))
    choices = filled.choices
    output.say(
        f"{filled.written} cells change; {filled.matched} of {filled.students} students are known "
        f"by {choices.match} = {choices.by} of the items."
    )
    for problem in filled.problems:
        output.say(f"Note: {problem}")
    if filled.effect:
        output.say(f"Note: {filled.effect}")
