"""A cascade on the bundled example: accuracy and calls against asking the whole panel.

Workload: the 144 evaluation answers of the example, six criteria. Stage 1: the two offline judges;
a cell goes on when they abstain, are split or fail. Stage 2 is three planted models on loopback: no
real model can be asked here, so each knows the labels and is right in a stated share of its answers
(drawn from the request), else picks another option. The figures show what a cascade saves and costs
at that accuracy; they say nothing of any real model.
"""

from __future__ import annotations

import hashlib
import json
import re
import tempfile
import time
from pathlib import Path
from typing import Any

from core import clock
from core.domain.panel import Cascade, Judge, Panel
from core.domain.rubric import Rubric
from core.formats.folder import read_dataset_file, read_rubric_file
from core.services.judges.registry import OFFLINE_JUDGES
from core.services.reports.worked_example import DATASET, RUBRIC, panel_against_labels
from core.services.runs import lifecycle
from core.services.runs.planning import RunRequest
from core.services.runs.runner import work_here
from core.store.store import Store
from tests.provider import Answer, Provider, ok

RIGHT = 0.85


class Planted:
    """Answers by the labels, rightly in a share of requests that the request itself decides."""

    def __init__(self, rubric: Rubric, items: Any) -> None:
        self.truth = {
            (item.output.strip(), c.requirement.strip()): item.labels[c.name].label
            for item in items
            for c in rubric.criteria
            if c.name in item.labels
        }

    def __call__(self, body: dict[str, Any]) -> Answer:
        text = body["messages"][-1]["content"]
        options = [(int(n), label) for n, label in OPTION.findall(text)]
        label = next(
            (
                v
                for (said, asked), v in self.truth.items()
                if f"\n{said}\n" in text and asked in text
            ),
            None,
        )
        draw = hashlib.sha256(json.dumps(body, sort_keys=True).encode()).digest()
        right = [n for n, shown in options if shown == label]
        wrong = [n for n, shown in options if shown != label]
        lucky = int.from_bytes(draw[:4], "big") / 2**32 < RIGHT
        pool = right if right and (lucky or not wrong) else wrong or [1]
        return ok(pool[draw[5] % len(pool)])


OPTION = re.compile(r"^(\d+)\. ([^:\n(]+?)(?= \(abstention\)|:|$)", re.MULTILINE)


def panels(url: str) -> dict[str, Panel]:
    """The panels that are compared."""
    models = tuple(
        Judge(name=f"planted {n}", model=f"planted-{n}", api_base=url, concurrency=16)
        for n in (1, 2, 3)
    )
    later = tuple(m.model_copy(update={"stage": 1}) for m in models)
    return {
        "offline judges alone": Panel(judges=OFFLINE_JUDGES),
        "three planted models": Panel(judges=models),
        "three models, early stop": Panel(judges=models, early_stop=True),
        "offline, then the models": Panel(judges=(*OFFLINE_JUDGES, *later), cascade=Cascade()),
        "the same, early stop": Panel(
            judges=(*OFFLINE_JUDGES, *later), cascade=Cascade(), early_stop=True
        ),
    }


def main() -> None:
    """Prints one line a panel."""
    rubric = read_rubric_file(RUBRIC).value
    dataset = read_dataset_file(DATASET, rubric).value
    evaluation = tuple(i.id for i in dataset.items if i.split == "evaluation")
    print(f"planted models right in {RIGHT:.0%} of their answers; {len(evaluation)} items\n")
    print(f"{'panel':<28}{'calls':>7}{'answered':>10}{'accuracy':>10}{'of all':>8}{'seconds':>9}")
    with Provider() as provider, tempfile.TemporaryDirectory() as folder:
        provider.rule = Planted(rubric, dataset.items)
        for at, (name, panel) in enumerate(panels(provider.url).items()):
            store = Store(Path(folder) / f"{at}.db")
            request = RunRequest(
                store.rubrics.create(rubric, now=clock.now()).id,
                store.datasets.create(dataset, now=clock.now()).id,
                panel,
                seed=1,
                items=evaluation,
            )
            provider.requests.clear()
            began = time.perf_counter()
            run_id = lifecycle.start(store, request)
            work_here(store, run_id)
            seconds = time.perf_counter() - began
            lines = [line for line, _ in panel_against_labels(store, run_id)]
            answered = sum(line.n for line in lines)
            right = sum(round((line.accuracy.value or 0) * line.n) for line in lines)
            everything = answered + sum(line.abstained for line in lines)
            print(
                f"{name:<28}{provider.count:>7}{answered:>10}{right / answered:>10.3f}"
                f"{right / everything:>8.3f}{seconds:>9.1f}"
            )
            store.close()


if __name__ == "__main__":
    main()
