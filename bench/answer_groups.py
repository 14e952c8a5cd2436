"""What grouping answers saves and gets wrong: decisions, verdicts, and what an audit finds.

    python bench/answer_groups.py FOLDER... [--draws 20] [--share 0.1]

A folder holds ``items.jsonl`` (id, submission, prompt and, where it has gold, labels) and
``votes.csv`` (item_id, rater_id, label). Who grades a group gives it the label that most of its
members have, which is the best that one verdict can do; nobody unticks a member here, so the wrong
verdicts are the most that grouping can make. The audit draws a share of the members of groups of
two and more, singly: found is the mean number of wrong ones among them.
"""

from __future__ import annotations

import argparse
import csv
import json
from collections import Counter
from pathlib import Path
from random import Random
from statistics import mean

from core.domain.dataset import Item
from core.judging.offline.answers_alike import DISTANCE, grouped


def labelled(folder: Path) -> tuple[list[Item], dict[str, str]]:
    """The items of a folder that have a label: gold, else of its first rater."""
    items, labels = list[Item](), dict[str, str]()
    for line in (folder / "items.jsonl").read_text(encoding="utf-8").splitlines():
        said = json.loads(line)
        items.append(
            Item(id=said["id"], submission=said["submission"], prompt=said.get("prompt") or "")
        )
        for given in (said.get("labels") or {}).values():
            labels[said["id"]] = given["label"] if isinstance(given, dict) else str(given)
    if not labels:
        with (folder / "votes.csv").open(encoding="utf-8", newline="") as file:
            rows = list(csv.DictReader(file))
        first = rows[0]["rater_id"]
        labels = {r["item_id"]: r["label"] for r in rows if r["rater_id"] == first}
    return [item for item in items if item.id in labels], labels


def main() -> None:
    """Print a line for each folder and closeness."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folders", nargs="+", type=Path)
    parser.add_argument("--draws", type=int, default=20)
    parser.add_argument("--share", type=float, default=0.1)
    given = parser.parse_args()
    print(f"{'':18}{'closeness':>10}{'answers':>9}{'decisions':>11}{'saved':>7}{'wrong':>7}  found")
    for folder in given.folders:
        items, labels = labelled(folder)
        for closeness in DISTANCE:
            wrong, members, groups = set[str](), list[str](), 0
            for group in grouped(items, closeness):
                groups += 1
                said = Counter(labels[one.id] for one in group).most_common(1)[0][0]
                wrong |= {one.id for one in group if labels[one.id] != said}
                members += [one.id for one in group] if len(group) > 1 else []
            size = round(given.share * len(members))
            found = mean(
                len(wrong & set(Random(seed).sample(members, size))) for seed in range(given.draws)
            )
            saved = f"{1 - groups / len(items):.0%}"
            line = f"{folder.name:18}{closeness:>10}{len(items):>9}{groups:>11}{saved:>7}"
            print(f"{line}{len(wrong):>7}  {found:.1f} of {size} drawn")


if __name__ == "__main__":
    main()
