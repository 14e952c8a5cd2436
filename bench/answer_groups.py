"""What grouping answers saves and gets wrong: decisions, verdicts, and what an audit finds.

    python bench/answer_groups.py [FOLDER...] [--draws 20] [--share 0.1] [--class 200]

A folder holds ``items.jsonl`` (id, submission, prompt and, where it has gold, labels) and
``votes.csv`` (item_id, rater_id, label). Who grades a group gives it the label that most of its
members have, which is the best that one verdict can do; nobody unticks a member here, so the wrong
verdicts are the most that grouping can make. The audit draws a share of the members of groups of
two and more, singly: found is the mean number of wrong ones among them. With ``--class`` it is one
of so many answers: whole questions in an order drawn at random, and means over draws of it.
"""

from __future__ import annotations

import argparse
import csv
import json
from collections import Counter
from pathlib import Path
from random import Random
from statistics import mean

from bench.recorded import DATA
from core.domain.dataset import Item
from core.judging.offline.answers_alike import DISTANCE, Closeness, similar_groups


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


def class_of(items: list[Item], size: int, seed: int) -> list[Item]:
    """So many answers to whole questions, which are drawn at random."""
    questions = sorted({item.prompt for item in items})
    place = {prompt: at for at, prompt in enumerate(Random(seed).sample(questions, len(questions)))}
    return sorted(items, key=lambda item: place[item.prompt])[:size]


def measured(items: list[Item], labels: dict[str, str], closeness: Closeness, given) -> list[float]:
    """Decisions, wrong verdicts, those drawn by the audit, and the wrong ones among these."""
    wrong, members, groups = set[str](), list[str](), 0
    for group in similar_groups(items, closeness):
        groups += 1
        said = Counter(labels[one.id] for one in group).most_common(1)[0][0]
        wrong |= {one.id for one in group if labels[one.id] != said}
        members += [one.id for one in group] if len(group) > 1 else []
    size = round(given.share * len(members))
    found = mean(len(wrong & set(Random(s).sample(members, size))) for s in range(given.draws))
    return [groups, len(wrong), size, found]


def main() -> None:
    """Print a line for each folder and closeness."""
    parser = argparse.ArgumentParser(description=__doc__)
    folders = [DATA / "saf_en", DATA / "mohler"]
    parser.add_argument("folders", nargs="*", type=Path, default=folders)
    parser.add_argument("--draws", type=int, default=20)
    parser.add_argument("--share", type=float, default=0.1)
    parser.add_argument("--class", type=int, default=0, dest="size")
    given = parser.parse_args()
    if missing := [str(folder) for folder in given.folders if not folder.is_dir()]:
        print(f"Not measured: this needs the labelled answers in {', '.join(missing)}.")
        return
    print(f"{'':18}{'closeness':>10}{'answers':>9}{'decisions':>11}{'saved':>7}{'wrong':>7}  found")
    for folder in given.folders:
        items, labels = labelled(folder)
        classes = [items]
        if given.size:
            classes = [class_of(items, given.size, seed) for seed in range(given.draws)]
        for closeness in DISTANCE:
            rows = [measured(some, labels, closeness, given) for some in classes]
            groups, wrong, size, found = map(mean, zip(*rows, strict=True))
            saved = f"{1 - groups / len(classes[0]):.0%}"
            line = f"{folder.name:18}{closeness:>10}{len(classes[0]):>9}{groups:>11,.0f}{saved:>7}"
            print(f"{line}{wrong:>7,.0f}  {found:.1f} of {size:.0f} drawn")


if __name__ == "__main__":
    main()
