"""What all figures of a folder cost beside what pandas needs to read and count its files.

    python -m bench.folder [--items 100000] [--criteria 1] [--resamples 10000] [--rounds 3]
    python -m bench.folder --bring --items 66667 --criteria 5

Three judges, five options, a label for every item. Pandas reads votes and items, puts the label
beside each vote, counts label against answer by criterion and judge, and how often the judges'
answers come together. Each side is a process of its own, in turn; printed are medians of CPU
seconds, start and imports apart from the work, and both ratios. Set ``OPENBLAS_NUM_THREADS=1``.
``--bring`` imports such a folder instead (66,667 x 5 are a million votes), into a data file that is
there and into a new one, whose maker imports pandas through sqlite-utils: CPU seconds, most memory,
and what the file takes.
"""

from __future__ import annotations

import argparse
import json
import random
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

JUDGES, OPTIONS = ("ada", "ben", "cy"), ("L0", "L1", "L2", "L3", "L4")
PANDAS = """
import sys, time
import pandas as pd
begun, folder = time.process_time(), sys.argv[1]
votes = pd.read_csv(f"{folder}/votes.csv")
items = pd.read_json(f"{folder}/items.jsonl", lines=True)
gold = pd.json_normalize(items["labels"].tolist()).set_index(items["id"]).stack()
gold = gold.rename_axis(["item_id", "criterion"]).rename("gold").reset_index()
both = votes.merge(gold, on=["item_id", "criterion"])
tables = both.groupby(["criterion", "rater_id", "gold", "label"]).size()
wide = votes.pivot(index=["criterion", "item_id"], columns="rater_id", values="label")
patterns = wide.groupby("criterion").value_counts()
print(begun, time.process_time())
"""
OURS = """
import io, sys, time
import pyarrow.csv, pyarrow.json, scipy.sparse, scipy.special, scipy.optimize
from core.cli import main
from core.cli import reports_as_text
from core.services.agreement import metrics_report
begun, folder, out = time.process_time(), sys.argv[1], sys.stdout
sys.stdout = io.TextIOWrapper(io.BytesIO())
main(["metrics", folder, "--bootstrap", sys.argv[2], "--json"], standalone_mode=False)
sys.stdout = out
print(begun, time.process_time())
"""
MAKE = "import sys; from core.store.store import Store; Store(f'{sys.argv[1]}/bench.db').close()"
BRING = """
import os, resource, sys, time
from pathlib import Path
from core.services.imports import import_files
from core.store.store import Store
begun, folder = time.process_time(), Path(sys.argv[1])
store = Store(folder / "bench.db")
print(import_files.import_path(store, folder)["votes"], "votes")
most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
size = os.path.getsize(folder / "bench.db") / 1e6
print(f"{time.process_time() - begun:.1f} s CPU, {most:.0f} MB, file {size:.0f} MB")
"""
SIDES = {"pandas": PANDAS, "all figures": OURS}


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--items", type=int, default=100_000)
    parser.add_argument("--criteria", type=int, default=1)
    parser.add_argument("--resamples", type=int, default=10_000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--bring", action="store_true")
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as place:
        write(Path(place), asked.items, asked.criteria)
        if asked.bring:
            for kind, begun in (("there", True), ("new", False)):
                if begun:
                    _run(MAKE, place, 0)
                print(f"{kind:6}", _run(BRING, place, 0).strip().replace("\n", ", "))
                (Path(place) / "bench.db").unlink()
            return
        took: dict[str, list[list[float]]] = {name: [] for name in SIDES}
        for _ in range(asked.rounds):
            for name, program in SIDES.items():
                printed = _run(program, place, asked.resamples)
                took[name].append([float(word) for word in printed.split()])
    found = {
        name: [statistics.median(one) for one in zip(*of, strict=True)] for name, of in took.items()
    }
    for name, (begun, ended) in found.items():
        print(f"{name:12} start and imports {begun:5.2f} s  work {ended - begun:5.2f} s CPU")
    (start, end), (our_start, our_end) = found.values()
    work = (our_end - our_start) / (end - start)
    print(f"ratio of the work {work:.1f}, with the start {our_end / end:.1f}")


def write(folder: Path, items: int, criteria: int) -> None:
    """A folder in the common layout: three judges who are right on about two of three."""
    dice, names = random.Random(3), [f"c{at}" for at in range(criteria)]
    options = [{"label": label, "value": at / 4} for at, label in enumerate(OPTIONS)]
    asked = [
        {"name": name, "requirement": "r", "scale": "ordinal", "options": options} for name in names
    ]
    (folder / "rubric.yaml").write_text(json.dumps({"name": "Bench", "criteria": asked}))
    with (folder / "items.jsonl").open("w") as lines, (folder / "votes.csv").open("w") as votes:
        votes.write("item_id,criterion,rater_id,rater_kind,label\n")
        for at in range(items):
            labels = {name: dice.choice(OPTIONS) for name in names}
            item = {"id": f"item-{at:07d}", "submission": f"Answer number {at}.", "labels": labels}
            lines.write(json.dumps(item) + "\n")
            for name, label in labels.items():
                for judge in JUDGES:
                    given = label if dice.random() < 0.6 else dice.choice(OPTIONS)
                    votes.write(f"item-{at:07d},{name},{judge},llm,{given}\n")


def _run(program: str, folder: str, resamples: int) -> str:
    given = [sys.executable, "-c", program, folder, str(resamples)]
    ran = subprocess.run(given, capture_output=True, text=True, check=True)
    return ran.stdout


if __name__ == "__main__":
    main()
