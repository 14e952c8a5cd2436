"""Columns with a score and a reason of each judge are votes of the judges, with their reasons."""

from __future__ import annotations

import shlex
from pathlib import Path

import pytest

from core.errors import InputError
from core.formats.tables.table import read_table
from core.formats.votes.structure.named_fields import judges_with_reasons
from core.services.imports import import_files
from core.store.store import Store


def table(heads: tuple[str, str], judges: tuple[str, ...], beside: str) -> str:
    """Eight answers, each with marks from 1 to 4 of judges, and some of a person."""
    cells = [f"{judge}{end}" for judge in judges for end in heads]
    lines = [f"idx,prompt,output,{','.join(cells)},{beside}"]
    for n in range(8):
        text = f"Question {n} about the sea?,The sea of day {n} is calm and rather cold in May."
        marks = (f"{1 + (n * (k + 1) + k) % 4},Reason {n}-{k}." for k in range(len(judges)))
        lines.append(f"{n},{text},{','.join(marks)},{1 + n % 4 if n % 2 else ''}")
    return "\n".join(lines)


@pytest.mark.parametrize(
    "ends", [(" | score", " | reason"), ("_score", "_reason"), (" - score", " - reason")]
)
@pytest.mark.parametrize("beside", ["human_check", "clicks"])
def test_each_judge_has_its_scores_and_reasons(
    store: Store, tmp_path: Path, ends: tuple[str, str], beside: str
) -> None:
    file, judges = tmp_path / "judged.csv", ("gpt-4o", "claude-3-haiku")
    file.write_text(table(ends, judges, beside))
    with pytest.raises(InputError, match="each judge could have a score and a reason") as refused:
        import_files.import_path(store, file)
    words = shlex.split(str(refused.value).partition("If it is that: ")[2].partition("\n")[0])
    changes = [word for at, word in enumerate(words) if words[at - 1] == "--map"]
    report = import_files.import_path(store, file, changes=changes)
    people = [beside] if beside == "human_check" else []
    assert {r if isinstance(r, str) else r["name"] for r in report["raters"]} == {*judges, *people}
    assert (report["votes"], report["items"], report["criteria"]) == (16 + 4 * len(people), 8, 1)
    roles = {role["column"]: role["role"] for role in report["roles"]}
    assert roles[f"gpt-4o{ends[1]}"] == f"reason:gpt-4o{ends[0]}"


def test_measures_with_reasons_are_no_judges() -> None:
    rows = table(("_score", "_reason"), ("faithfulness", "relevancy"), "clicks")
    assert judges_with_reasons(read_table(rows, "judged.csv")) == ()
