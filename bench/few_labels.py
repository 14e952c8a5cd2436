"""What offline judges are worth with few labels: accuracy, kappa and quadratic kappa at 10 to 100.

    python bench/few_labels.py [../shared/data]
        [saf_en|mohler|roscoe|llm_rubric_real|dices350|llmbar] [--labels 10 20 50 100] [--draws 20]
        [--kinds classifier neighbours] [--one]

Workload: blanks and duplicates are removed. In each draw (seeds 0, 1, ...) the labels are a simple
random sample of all answers of a folder, 300 others are the test. A judge that switched itself off
counts as giving the most common label (kappa 0), because that is what is left without it; ``off``
says in how many draws. Figures are means over draws, of all test answers. ``--one``: a judge for
each question that has 60 answers or more, tested on its other answers.

At 0 labels there is no grade. Where items have a reference, the rank correlation (Spearman) of the
order to review in with the true labels is given.
"""

from __future__ import annotations

import argparse
import json
import random
import re
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np
import yaml
from scipy.stats import spearmanr

from core.domain.dataset import Item
from core.domain.panel import Judge
from core.domain.rubric import Criterion, Option
from core.judging.near_duplicates import group_numbers
from core.judging.offline import TrainingReport, train
from core.judging.offline.features import closeness_to_reference
from core.metrics.agreement.accuracy import confusion
from core.metrics.agreement.kappa import cohen_kappa

DATA = Path(__file__).resolve().parents[2] / "shared" / "data"
TESTED = 300
FOLDERS = ("saf_en", "mohler", "roscoe", "llm_rubric_real", "dices350", "llmbar")
BLANK = re.compile(
    r"(no (response|submission|answer)( submitted| given)?|not answered|n/?a|none|no|empty|blank|"
    r"i do ?n.?t know)?\W*",
    re.IGNORECASE,
)


class Task(NamedTuple):
    """One criterion, and the answers that have a label of it."""

    name: str
    criterion: Criterion
    items: list[Item]
    truth: dict[str, int]


def tasks_of(folder: Path, one: bool) -> Iterator[Task]:
    """Each criterion of a folder, or of each question with 60 answers or more."""
    rows = [json.loads(line) for line in (folder / "items.jsonl").read_text().splitlines()]
    whole = [(row, _item(row)) for row in rows if not _blank(row)]
    groups = group_numbers([item for _, item in whole])
    firsts = {group: place for place, group in reversed(list(enumerate(groups)))}
    kept = [whole[place] for place in sorted(firsts.values())]
    for raw in yaml.safe_load((folder / "rubric.yaml").read_text())["criteria"]:
        criterion = _criterion(raw)
        truth = {
            row["id"]: found for row, _ in kept if (found := _label(row, criterion)) is not None
        }
        items = [item for _, item in kept if item.id in truth]
        by_question = defaultdict[str, list[Item]](list)
        for item in items if one else ():
            by_question[item.prompt].append(item)
        named = {f"{criterion.name} {i}": of for i, of in enumerate(by_question.values())}
        for name, mine in (named if one else {criterion.name: items}).items():
            if len(mine) >= 60 and len({truth[item.id] for item in mine}) > 1:
                yield Task(f"{folder.name} {name}", criterion, mine, truth)


def _blank(row: dict) -> bool:
    return isinstance(row["submission"], str) and bool(BLANK.fullmatch(row["submission"].strip()))


def _item(row: dict) -> Item:
    text = row["submission"]
    text = text if isinstance(text, str) else json.dumps(text)
    given = {f: row[f] for f in ("id", "prompt", "reference") if row.get(f)}
    return Item(**given, submission=text)


def _criterion(raw: dict) -> Criterion:
    options = tuple(
        Option(label=str(o["label"]), value=None if o["na"] else o["value"], na=o["na"])
        for o in raw["options"]
    )
    scored = [option for option in options if not option.na]
    scale = "nominal" if len(scored) < 3 else raw["scale_type"]
    return Criterion(name=raw["name"], requirement=raw["requirement"], scale=scale, options=options)


def _label(row: dict, criterion: Criterion) -> int | None:
    label = row.get("labels", {}).get(criterion.name)
    if "score_avg" in row.get("meta", {}):
        label = str(int(row["meta"]["score_avg"] + 0.5))
    index = None if label is None else criterion.index_of(str(label))
    return index if index in criterion.scored else None


class Drawn(NamedTuple):
    """What one draw gave."""

    off: bool
    accuracy: float
    kappa: float
    weighted: float


def draw(task: Task, kind: str, labels: int, seed: int, shuffled: bool = False) -> Drawn:
    """Train on a random sample of labels, and judge 300 other answers."""
    generator = random.Random(f"few {seed}")
    order = generator.sample(task.items, len(task.items))
    learn, test = order[:labels], order[labels : labels + TESTED]
    known = [task.truth[item.id] for item in learn]
    if shuffled:
        generator.shuffle(known)
    model = train(
        Judge(name=kind, kind=kind),
        task.criterion,
        list(zip(learn, known, strict=True)),
        test,
        seed=seed,
    )
    truth = [task.truth[item.id] for item in test]
    off = isinstance(model, TrainingReport)
    if isinstance(model, TrainingReport):
        best = [max(sorted(set(known)), key=known.count)] * len(test)
    else:
        best = [said.best for said in model.predict(test)]
    counts = confusion(np.array(truth), np.array(best), len(task.criterion.choices))
    return Drawn(
        off,
        float(np.mean(np.array(truth) == np.array(best))),
        cohen_kappa(counts).value or 0.0,
        cohen_kappa(counts, "quadratic").value or 0.0,
    )


def order_at_zero(task: Task) -> str:
    """How well the order without labels follows the true labels."""
    places = closeness_to_reference(task.items)
    if places is None:
        return "no reference everywhere, so no order"
    near = [places[item.id] for item in task.items]
    truth = [task.truth[item.id] for item in task.items]
    return f"rank correlation {spearmanr(near, truth).statistic:.2f}"


def main() -> None:
    """Runs the folders named on the command line, or all that have texts."""
    parser = argparse.ArgumentParser()
    parser.add_argument("data", type=Path, nargs="?", default=DATA)
    parser.add_argument("names", nargs="*", default=list(FOLDERS))
    parser.add_argument("--labels", type=int, nargs="*", default=[10, 20, 50, 100])
    parser.add_argument("--draws", type=int, default=20)
    parser.add_argument("--kinds", nargs="*", default=["classifier"])
    parser.add_argument("--one", action="store_true", help="a judge for each question")
    parser.add_argument("--shuffled", action="store_true", help="false alarms: labels at random")
    args = parser.parse_args()
    if not args.data.is_dir():
        print(f"Not measured: this needs the labelled answers in {args.data}.")
        return
    for name in args.names:
        for task in tasks_of(args.data / name, args.one):
            print(f"{task.name} n=0: {order_at_zero(task)}", flush=True)
            for kind in args.kinds:
                for labels in args.labels:
                    if labels + 20 > len(task.items):
                        continue
                    drawn = [
                        draw(task, kind, labels, seed, args.shuffled) for seed in range(args.draws)
                    ]
                    accuracy, kappa, weighted = np.mean([d[1:] for d in drawn], axis=0)
                    off = sum(d.off for d in drawn)
                    print(
                        f"{task.name} {kind} n={labels}: off {off}/{len(drawn)} "
                        f"accuracy {accuracy:.3f} kappa {kappa:.3f} QWK {weighted:.3f}",
                        flush=True,
                    )


if __name__ == "__main__":
    main()
