"""What a judge's call costs the client, everything included, beside a bare HTTP client.

    python bench/calls.py [--rounds 3] [--delays 0 200] [--items 200] [--url http://...]

Workload: 200 items of 150 words x 6 criteria (3 binary, 2 ordinal, 1 nominal; one of them negative)
x 3 judges = 3,600 votes, 256 calls in flight, seeded. ``lean`` (a given address), ``plain``
(``openai/gpt-4o-mini`` by its provider's name, with a price) and ``litellm`` (the same) go the
whole way of the product through that door: plan, prompts, calls, parsing, verdicts, scores, every
call and vote in a data file. ``peer`` is autorubric (a requirement of the tests), asked for the
same judgements as its documentation says: an ensemble of three judges, ``evaluate`` with its
checkpoints. ``bare`` is aiohttp posting the same bodies, made before the clock starts, and parsing
the JSON of the answers. The provider is ``bench/stand_in.py``, a process of its own.

Every figure is of a client in a fresh process, after two items of warming up, and counts that
process's user and system time over calls; the variants take turns, and the median of the rounds is
printed (least to most in brackets). litellm and the peer take part in the first round only, with a
quarter of the items: they are slow. ``call_shares.py`` says what a call's time goes into.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import random
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Literal

from bench.stand_in import stand_in
from core import clock
from core.domain.dataset import Dataset, Item
from core.domain.panel import Judge, Panel
from core.domain.rubric import Criterion, Option, Rubric
from core.domain.votes import Cell
from core.judging.prompts.parts import shown_order
from core.judging.protocol import Question
from core.services.runs import lifecycle, runner
from core.services.runs.planning import RunRequest
from core.store.store import Store

IN_FLIGHT, SEED = (86, 85, 85), 7
VARIANTS = ("bare", "lean", "plain", "litellm", "peer")
SLOW = ("litellm", "peer")
PRICED = "openai/gpt-4o-mini"
WORDS = "the sun leans north because its axis stays tilted and light falls directly in summer"


def rubric() -> Rubric:
    levels = tuple(
        Option(label=label, value=i / 3, description=f"{label} of the causes are named.")
        for i, label in enumerate(("None", "Some", "Most", "All"))
    )
    kinds = tuple(
        Option(label=label, value=value)
        for label, value in (("Explains", 1.0), ("Describes", 0.5), ("Digresses", 0.0))
    )
    ask = "The submission names the tilt of the axis as the cause, and not the distance."
    return Rubric(
        name="Seasons",
        guidelines="The answers were written in class, without books.",
        criteria=(
            Criterion(name="Cause", requirement=ask),
            Criterion(name="Light", requirement="It says that light falls more directly."),
            Criterion(name="Myth", requirement="It blames the distance to the sun.", weight=-5),
            Criterion(name="Complete", requirement=ask, scale="ordinal", options=levels),
            Criterion(name="Clear", requirement=ask, scale="ordinal", options=levels, weight=5),
            Criterion(name="Kind", requirement="What is it?", scale="nominal", options=kinds),
        ),
    )


def dataset(items: int, seed: int = SEED) -> Dataset:
    dice, words = random.Random(seed), WORDS.split()
    return Dataset(
        name=f"Answers {seed}",
        prompt="Why are summers warmer than winters? Answer in about 150 words.",
        items=tuple(
            Item(id=f"answer-{i:04d}", submission=" ".join(dice.choices(words, k=150)))
            for i in range(items)
        ),
    )


def panel(url: str, door: str) -> Panel:
    if door in ("litellm", "plain"):
        return panel_of(PRICED, door="litellm" if door == "litellm" else "auto")
    return panel_of("stand-in", url, "openai")


def panel_of(
    model: str, url: str = "", door: Literal["auto", "litellm", "openai"] = "auto"
) -> Panel:
    """Three judges that ask this model, ``IN_FLIGHT`` calls of theirs at once."""
    return Panel(
        judges=tuple(
            Judge(
                name=f"judge {i}",
                model=model,
                door=door,
                api_base=url,
                temperature=0,
                concurrency=calls,
            )
            for i, calls in enumerate(IN_FLIGHT)
        )
    )


def product(url: str, door: str, items: int) -> dict[str, float]:
    """The whole way: a run is planned, worked off and stored."""
    os.environ.update(OPENAI_BASE_URL=url, OPENAI_API_KEY="sk-of-nobody")
    return graded(panel(url, door), items)


def graded(judges: Panel, items: int) -> dict[str, float]:
    """The figures of a run by these judges, every vote stored, after two items of warming up."""
    with _new_file() as path:
        store = Store(path)
        version = store.rubrics.create(rubric(), now=clock.now()).id
        warm, real = (
            store.datasets.create(dataset(n, seed), now=clock.now()).id
            for n, seed in ((2, SEED + 1), (items, SEED))
        )

        def grade(data: int) -> int:
            run = lifecycle.start(store, RunRequest(version, data, judges, seed=SEED))
            assert runner.work_here(store, run) == "done"
            return store.runs.row(run).votes

        grade(warm)
        figures = _clocked(lambda: grade(real))
        store.close()
    return figures


@contextmanager
def _new_file() -> Iterator[Path]:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "studio.db"
        make = "import sys; from core.store.store import Store; Store(sys.argv[1]).close()"
        subprocess.run([sys.executable, "-c", make, path], check=True)
        yield path


def bare(url: str, items: int) -> dict[str, float]:
    """aiohttp alone: the same bodies, the answers' JSON parsed, nothing kept."""
    bodies = _bodies(url, items)
    return _clocked(lambda: asyncio.run(_post_all(f"{url}/chat/completions", bodies)))


def _bodies(url: str, items: int) -> list[bytes]:
    from core.judging.prompts.assembly import build_prompt
    from core.judging.prompts.layouts import chat_messages
    from core.judging.providers.base import Request
    from core.judging.providers.openai_provider import chat_body

    data, asked = dataset(items), rubric()
    bodies = []
    for item in (data.resolved(item) for item in data.items):
        for judge in panel(url, "lean").judges:
            for c in asked.criteria:
                order = shown_order(c, seed=SEED, item=item.id, judge=judge.name, replicate=0)
                cell = Cell(item.id, c.name, judge.name)
                prompt = build_prompt(Question(cell, item, asked, c, order, SEED))
                request = Request(judge.model, chat_messages(prompt.segments), prompt.schema)
                bodies.append(json.dumps(chat_body(request, request.params)).encode())
    return bodies


async def _post_all(url: str, bodies: list[bytes]) -> int:
    import aiohttp

    todo, answered = iter(bodies), 0
    headers = {"Content-Type": "application/json"}
    async with aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=0)) as session:

        async def work() -> None:
            nonlocal answered
            for body in todo:
                async with session.post(url, data=body, headers=headers) as response:
                    answer = json.loads(await response.read())
                answered += "content" in answer["choices"][0]["message"]

        await asyncio.gather(*(work() for _ in range(sum(IN_FLIGHT))))
    return answered


def peer(url: str, items: int, model: str = PRICED) -> dict[str, float]:
    """autorubric 1.6: the same rubric, items and judges, with its own prompts and checkpoints."""
    # Else its litellm looks for a newer list of prices on the network first.
    os.environ.update(LITELLM_LOCAL_MODEL_COST_MAP="True")
    from autorubric import LLMConfig, Rubric, RubricDataset
    from autorubric.eval import evaluate
    from autorubric.graders import CriterionGrader, JudgeSpec

    how = LLMConfig(
        model, api_base=url, api_key="sk-of-nobody", temperature=0,
        max_parallel_requests=sum(IN_FLIGHT),
    )  # fmt: skip
    grader = CriterionGrader(judges=[JudgeSpec(how, f"judge-{i}") for i in range(len(IN_FLIGHT))])
    asked = Rubric.from_dict(
        [
            {"name": c.name, "weight": c.weight, "requirement": c.requirement}
            | ({} if c.scale == "binary" else {"scale_type": c.scale, "options": _options(c)})
            for c in rubric().criteria
        ]
    )

    def grade(n: int, seed: int) -> int:
        given = dataset(n, seed)
        data = RubricDataset(prompt=given.prompt, rubric=asked, name=given.name)
        for item in given.items:
            data.add_item(submission=str(item.submission), description=item.id)
        with tempfile.TemporaryDirectory() as folder:
            done = asyncio.run(evaluate(data, grader, show_progress=False, experiments_dir=folder))
        assert done.successful_items == n
        return n * len(asked.rubric) * len(IN_FLIGHT)

    grade(2, SEED + 1)
    return _clocked(lambda: grade(items, SEED))


def _options(criterion: Criterion) -> list[dict[str, object]]:
    return [{"label": one.label, "value": one.value} for one in criterion.options]


def _clocked(work: Callable[[], int]) -> dict[str, float]:
    wall, cpu = time.perf_counter(), time.process_time()
    calls = work()
    wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return {"calls": calls, "wall": wall, "cpu": cpu, "peak": peak}


def client(variant: str, url: str, items: int) -> dict[str, float]:
    """One variant's figures, from a process of its own."""
    return in_a_process([__file__, "--client", variant, "--url", url], variant, items)


def in_a_process(command: Sequence[str], variant: str, items: int) -> dict[str, float]:
    """What this script prints last, which must be figures of all the calls."""
    whole = [sys.executable, *command, "--items", str(items)]
    ran = subprocess.run(whole, capture_output=True, text=True, check=False)
    if ran.returncode:
        raise SystemExit(f"{variant} failed:\n{ran.stderr[-2000:]}")
    figures: dict[str, float] = json.loads(ran.stdout.splitlines()[-1])
    wanted = items * len(rubric().criteria) * len(IN_FLIGHT)
    assert figures["calls"] == wanted, f"{variant}: {figures['calls']} of {wanted} answered"
    return figures


def compare(url: str, delay: int, items: int, rounds: int) -> None:
    """Prints the table for one provider."""
    found: dict[str, list[dict[str, float]]] = {variant: [] for variant in VARIANTS}
    for number in range(rounds):
        for variant in VARIANTS:
            if variant not in SLOW or number == 0:
                share = items // 4 if variant in SLOW else items
                found[variant].append(client(variant, url, share))
    print(f"\n{delay} ms, {sum(IN_FLIGHT)} in flight, {int(found['bare'][0]['calls']):,} calls")
    print(f"{'':10}{'calls/s':>24}{'CPU ms per call':>24}{'x bare':>8}{'peak MiB':>10}")
    floor = statistics.median(f["cpu"] / f["calls"] for f in found["bare"])
    for variant, figures in found.items():
        rates = [f["calls"] / f["wall"] for f in figures]
        costs = [f["cpu"] / f["calls"] * 1000 for f in figures]
        ratio = statistics.median(costs) / floor / 1000
        peak = statistics.median(f["peak"] for f in figures)
        print(f"{variant:10}{_span(rates, 0):>24}{_span(costs, 2):>24}{ratio:8.1f}{peak:10.0f}")


def _span(values: list[float], digits: int) -> str:
    low, middle, high = min(values), statistics.median(values), max(values)
    return f"{middle:,.{digits}f} ({low:,.{digits}f}..{high:,.{digits}f})"


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--items", type=int, default=200)
    parser.add_argument("--delays", type=int, nargs="*", default=[0, 200], help="milliseconds")
    parser.add_argument("--url", help="another provider than the stand-in, up to /v1")
    parser.add_argument("--client", choices=VARIANTS, help=argparse.SUPPRESS)
    asked = parser.parse_args()
    if asked.client:
        others = {"bare": bare, "peer": peer}
        work = others.get(asked.client, lambda url, items: product(url, asked.client, items))
        print(json.dumps(work(asked.url, asked.items)))
        return
    for delay in asked.delays:
        with stand_in(delay / 1000) as own:
            compare(asked.url or own, delay, asked.items, asked.rounds)


if __name__ == "__main__":
    main()
