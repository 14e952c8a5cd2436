"""What the rubric check finds in rubrics that others wrote, and how long it takes.

    python -m bench.rubric_check

Workload: the rubrics of `../shared/data/*/rubric.yaml` where that folder is at hand, the rubrics
and the library that come with the program, and 30 criteria of the library whose wording is new to
the check, as after an edit. Prints Markdown.
"""

from __future__ import annotations

import statistics
import time
from collections import Counter
from pathlib import Path

from core.formats.folder import read_rubric_file
from core.lint.check import check
from core.lint.rules import RULES
from core.services.rubrics import criterion_packs
from core.services.rubrics.issues import check_draft

ROOT = Path(__file__).parents[1]
OTHERS = ROOT.parent / "shared" / "data"


def main() -> None:
    own = sorted((ROOT / "sample_rubrics").rglob("*.yaml"))
    asked = sum(len(read_rubric_file(file).value.criteria) for file in own)
    told = sum(len(check(read_rubric_file(file).value)) for file in own)
    print(f"Own rubrics: {len(own)} files, {asked} criteria, {told} findings.\n")
    counts = Counter[str]()
    print("| rubric | criterion | rule | what it says |\n| --- | --- | --- | --- |")
    for file in sorted(OTHERS.glob("*/rubric.yaml")):
        rubric = read_rubric_file(file).value
        for one in check(rubric):
            counts[one.rule] += 1
            name = "" if one.criterion is None else rubric.criteria[one.criterion].name
            print(f"| {rubric.name} | {name} | {one.rule} | {one.sentence} |")
    print("\n| rule | findings |\n| --- | --- |")
    for rule in RULES:
        if counts[rule]:
            print(f"| {rule} | {counts[rule]} |")
    print(f"\n30 criteria, every word new: {_milliseconds():.1f} ms (median of 20).")


def _milliseconds() -> float:
    keys = [entry.key for pack in criterion_packs.all_packs() for entry in pack.entries][:30]
    draft = criterion_packs.draft_from_entries(keys)
    taken = []
    for turn in range(20):
        criteria = [
            {**c, "requirement": f"{c['requirement']} In round {turn}."} for c in draft["criteria"]
        ]
        start = time.perf_counter()
        check_draft({**draft, "criteria": criteria})  # type: ignore[typeddict-item]
        taken.append(time.perf_counter() - start)
    return statistics.median(taken) * 1000


if __name__ == "__main__":
    main()
