"""What offline judges are worth, measured on ../shared/data (nothing of it is kept here).

    python bench/offline.py [saf_en|mohler|roscoe|llm_rubric_real] [--seeds 1]

Where that folder is absent, it says so and measures nothing. Without arguments it takes one seed,
20 labels per question and one judge for all questions, and half a minute; the figures that the
constants were chosen by need ``--seeds 3 --labels 20 50 --modes mixed one``.

Protocol: blanks and duplicates are removed; a fifth of each question's answers is the test set; of
the rest, ``labels`` per question are labelled (for data without questions: that many in all, times
ten). ``one`` trains a judge per question, ``mixed`` one judge for all questions.

Figures are of the judges that did not switch themselves off, so accuracy and baselines are not
those of all answers; ``--ungated`` switches off only those with too few labels. ``majority`` is the
accuracy of the most common label in training, ``per prompt`` of the most common label of each
prompt. The constants of ``methods.py`` and ``worth.ERRORS_ABOVE`` were chosen on saf_en and
mohler, so their figures are a little kind; roscoe and llm_rubric_real were used for
``ERRORS_ABOVE`` only.
"""

from __future__ import annotations

import argparse
import json
import random
import re
import time
from collections import defaultdict
from pathlib import Path

import numpy as np
import yaml

from core.domain.dataset import Item
from core.domain.panel import Judge
from core.domain.rubric import Criterion, Option
from core.judging.offline import TrainingReport, train, worth
from core.metrics.agreement.accuracy import accuracy, confusion
from core.metrics.agreement.kappa import cohen_kappa

DATA = Path(__file__).resolve().parents[2] / "shared" / "data"
BLANK = re.compile(
    r"(no (response|submission|answer)( submitted| given)?|not answered|n/?a|none|no|empty|blank|"
    r"i do ?n.?t know)?\W*",
    re.IGNORECASE,
)


def load(name: str) -> tuple[list[Criterion], list[Item], dict[str, dict[str, int]]]:
    """Criteria, items, and truth as option index by criterion and item id."""
    raw = yaml.safe_load((DATA / name / "rubric.yaml").read_text())
    criteria = [
        Criterion(
            name=c["name"],
            requirement=c["requirement"],
            scale="nominal",
            options=tuple(
                Option(label=str(o["label"]), value=None if o["na"] else o["value"], na=o["na"])
                for o in c["options"]
            ),
        )
        for c in raw["criteria"]
    ]
    items, truth, seen = list[Item](), defaultdict[str, dict[str, int]](dict), set[object]()
    for line in (DATA / name / "items.jsonl").read_text().splitlines():
        row = json.loads(line)
        text = row["submission"]
        key = row.get("prompt", ""), " ".join(str(text).casefold().split())
        if key in seen or (isinstance(text, str) and BLANK.fullmatch(text.strip())):
            continue
        seen.add(key)
        fields = ("id", "submission", "prompt", "reference")
        items.append(Item(**{f: row[f] for f in fields if row.get(f)}))
        for criterion in criteria:
            label = row.get("labels", {}).get(criterion.name)
            if name == "mohler":
                label = str(int(row["meta"]["score_avg"] + 0.5))
            index = None if label is None else criterion.index_of(str(label))
            if index in criterion.scored:
                truth[criterion.name][row["id"]] = index
    return criteria, items, truth


def split(items: list[Item], labels: int, seed: int) -> tuple[list[Item], list[Item]]:
    """Labelled and test items, drawn per prompt (or from all, where prompts hardly repeat)."""
    questions = defaultdict[str, list[Item]](list)
    for item in items:
        questions[item.prompt].append(item)
    if len(questions) > len(items) / 5:
        questions, labels = defaultdict(list, {"": items}), labels * 10
    generator = random.Random(seed)
    learn, test = list[Item](), list[Item]()
    for prompt in sorted(questions):
        group = list(questions[prompt])
        generator.shuffle(group)
        cut = max(1, round(len(group) / 5))
        test += group[:cut]
        learn += group[cut : cut + labels]
    return learn, test


class Tally:
    """Collects test predictions."""

    def __init__(self) -> None:
        self.truth, self.best, self.sure, self.base, self.by_prompt = [], [], [], [], []
        self.confidence: list[float] = []
        self.off = self.judges = self.off_items = 0
        self.claims: list[tuple[float, float]] = []

    def add(self, model, learn, test, truth) -> None:
        self.judges += 1
        labels = [truth[item.id] for item in learn]
        commonest = max(sorted(set(labels)), key=labels.count)
        if isinstance(model, TrainingReport):
            self.off += 1
            self.off_items += len(test)
            return
        assert model.report.accuracy_answering is not None
        self.claims.append((model.report.coverage, model.report.accuracy_answering))
        for item, said in zip(test, model.predict(test), strict=True):
            self.truth.append(truth[item.id])
            self.best.append(said.best)
            self.sure.append(not said.abstained)
            self.base.append(commonest)
            mine = [truth[i.id] for i in learn if i.prompt == item.prompt] or labels
            self.by_prompt.append(max(sorted(set(mine)), key=mine.count))
            self.confidence.append(said.confidence)

    def line(self) -> str:
        head = f"off {self.off}/{self.judges}"
        if not self.truth:
            return head
        truth, best, sure = (np.array(x) for x in (self.truth, self.best, self.sure))
        counts = confusion(truth, best, int(max(truth.max(), best.max())) + 1)
        right = truth == best
        claimed = np.mean(self.claims, axis=0)
        return (
            f"{head} | accuracy {accuracy(counts).value:.3f} majority "
            f"{np.mean(truth == np.array(self.base)):.3f} per prompt "
            f"{np.mean(truth == np.array(self.by_prompt)):.3f} "
            f"kappa {cohen_kappa(counts).value:.3f} mean confidence {np.mean(self.confidence):.3f} "
            f"| coverage {sure.mean():.2f} (claimed {claimed[0]:.2f}) "
            f"right when answering {right[sure].mean():.3f} (claimed {claimed[1]:.3f})"
        )


def measure(name: str, kind: str, labels: int, mode: str, seeds: int, shuffled: bool) -> None:
    """One line of figures per criterion."""
    criteria, items, truths = load(name)
    spec = Judge(name=kind, kind=kind)
    for criterion in criteria:
        truth = dict(truths[criterion.name])
        known, tally, spent = [i for i in items if i.id in truth], Tally(), list[float]()
        for seed in range(seeds):
            if shuffled:
                values = list(truth.values())
                random.Random(seed).shuffle(values)
                truth = dict(zip(truth, values, strict=True))
            learn, test = split(known, labels, seed)
            prompts = sorted({i.prompt for i in learn}) if mode == "one" else [None]
            for prompt in prompts:
                mine = [i for i in learn if prompt in (None, i.prompt)]
                ask = [i for i in test if prompt in (None, i.prompt)]
                pool = [i for i in known if prompt in (None, i.prompt)]
                start = time.perf_counter()
                model = train(spec, criterion, [(i, truth[i.id]) for i in mine], pool, seed=seed)
                spent.append(time.perf_counter() - start)
                tally.add(model, mine, ask, truth)
        what = "random labels " if shuffled else ""
        print(
            f"{name} {criterion.name[:24]} {what}{kind} {mode} n={labels}: {tally.line()} | "
            f"{np.mean(spent):.2f} s to train",
            flush=True,
        )


def main() -> None:
    """Runs the data sets named on the command line, or all."""
    parser = argparse.ArgumentParser()
    parser.add_argument("names", nargs="*", default=["saf_en", "mohler"])
    parser.add_argument("--seeds", type=int, default=1)
    parser.add_argument("--labels", type=int, nargs="*", default=[20])
    parser.add_argument("--modes", nargs="*", default=["mixed"])
    parser.add_argument("--shuffled", action="store_true", help="false alarms: labels at random")
    parser.add_argument("--ungated", action="store_true", help="no judge switches itself off")
    args = parser.parse_args()
    if not DATA.is_dir():
        print("Not measured: this needs the labelled answers in ../shared/data.")
        return
    if args.ungated:
        worth.OutOfFold.enough = property(lambda found: True)
    for name in args.names:
        for labels in args.labels:
            for mode in args.modes:
                for kind in ("classifier", "neighbours"):
                    measure(name, kind, labels, mode, args.seeds, args.shuffled)


if __name__ == "__main__":
    main()
