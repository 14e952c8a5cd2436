"""The verbs: grade, import, compare, list. They use the app's data file, so that what a notebook
grades is reviewed on screen.
"""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Callable, Mapping
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Thread
from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import Field

from core.domain.base import Noun, build_model
from rubric_studio.judges import functions_of, panel_of
from rubric_studio.results import Comparison, Resampled, Run, opened
from rubric_studio.sources import Map, changes_of, in_its_words, load_dataset, load_rubric, on_disk

if TYPE_CHECKING:
    from collections.abc import Iterator

    import pandas as pd

    from core.services.runs.lifecycle import RunProgress

Place = str | Path | None
Mode = Literal["criterion", "rubric", "two_step"]
Layout = Literal["auto", "item_first", "criterion_first"]
Flip = Literal["off", "check", "require"]
Style = Literal["full", "brief"]
Look = Callable[["RunProgress"], None]


class _Asked(Noun):
    """The numbers and switches of a call, within the same bounds as the commands' and pages'."""

    name: Annotated[str, Field(max_length=200)] = ""
    seed: int | None = None
    replicates: Annotated[int, Field(ge=1, le=100)] = 1
    budget: Annotated[float | None, Field(gt=0)] = None
    label_share: Annotated[float, Field(gt=0, lt=1)] = 0.2
    batch: bool = False


def grade(
    rubric: Any,
    data: Any,
    judges: Any = "offline",
    *,
    map: Map = (),
    name: str = "",
    seed: int | None = None,
    replicates: int = 1,
    budget: float | None = None,
    label_share: float = 0.2,
    batch: bool = False,
    trust: bool = False,
    mode: Mode | None = None,
    style: Style | None = None,
    layout: Layout | None = None,
    few_shot: int | None = None,
    few_shot_reasons: bool | None = None,
    balanced: bool | None = None,
    flip: Flip | None = None,
    cache: bool | None = None,
    instructions: str | None = None,
    db: str | Path | None = None,
    progress: bool | None = None,
) -> Run:
    """Grade data under a rubric, and keep everything as a run of the app.

    Args:
        rubric: a path, a dict, a list of criteria (texts will do) or a DataFrame.
        data: a path, a list of dicts or texts, a dict or a DataFrame.
        judges: a panel, or a list of model names, ``"offline"``, ``Judge``, dicts and functions.
        map: which column of the data is what, as ``{"submission": "answer"}``.
        name: the run's name.
        seed: decides orders and splits; drawn when absent.
        replicates: how often each judge is asked about each cell.
        budget: stop when so many US dollars are spent.
        label_share: the share of labelled items that offline judges learn from.
        batch: ask models through their providers' batch interface, for half the price; this waits
            for the answers, which come within a day, and ``resume`` goes on if it ended.
        trust: allow the programs among the judges, and the keys that they send elsewhere than to
            their own providers, on this machine, from now on.
        mode: a call per criterion, one for the whole ``rubric``, or ``two_step``. This and the
            next eight say how models are asked, as ``rs.Panel(asking=...)``, whose they are when
            absent.
        style: full rules, or ``brief`` ones for small models that reply with the option alone.
        layout: which shared part comes first in calls.
        few_shot: how many labelled examples are shown per criterion.
        few_shot_reasons: show their reasons, too.
        balanced: rotate the orders of options instead of drawing them.
        flip: ask again with options reversed: ``check`` records it, ``require`` needs both equal.
        cache: use answers kept from the same requests.
        instructions: what every model is told beside the system text.
        db: the data file; the app's own when absent.
        progress: show a bar; when absent, in notebooks and terminals.

    Raises:
        InputError: what is wrong with rubric, data or judges, before anything is asked, or a
            program or a way of a key that was not allowed yet. Failures of judges are kept with
            the run instead.
    """
    run_id, functions = _start(
        rubric, data, judges, map, trust, db,
        {"name": name, "seed": seed, "replicates": replicates, "budget": budget,
         "label_share": label_share, "batch": batch},
        {"mode": mode, "style": style, "layout": layout, "few_shot": few_shot, "flip": flip,
         "few_shot_reasons": few_shot_reasons, "balanced": balanced, "cache": cache,
         "instructions": instructions},
    )  # fmt: skip
    with _bar(progress) as look:
        _work(db, run_id, functions, look)
    return Run(run_id, db)


async def agrade(
    rubric: Any,
    data: Any,
    judges: Any = "offline",
    *,
    map: Map = (),
    name: str = "",
    seed: int | None = None,
    replicates: int = 1,
    budget: float | None = None,
    label_share: float = 0.2,
    batch: bool = False,
    trust: bool = False,
    mode: Mode | None = None,
    style: Style | None = None,
    layout: Layout | None = None,
    few_shot: int | None = None,
    few_shot_reasons: bool | None = None,
    balanced: bool | None = None,
    flip: Flip | None = None,
    cache: bool | None = None,
    instructions: str | None = None,
    db: str | Path | None = None,
    progress: bool | None = None,
) -> Run:
    """The same beside other work of an event loop; cancelling it cancels the run.

    The run is worked off in a thread with a loop of its own.
    """
    run_id, functions = await asyncio.to_thread(
        _start, rubric, data, judges, map, trust, db,
        {"name": name, "seed": seed, "replicates": replicates, "budget": budget,
         "label_share": label_share, "batch": batch},
        {"mode": mode, "style": style, "layout": layout, "few_shot": few_shot, "flip": flip,
         "few_shot_reasons": few_shot_reasons, "balanced": balanced, "cache": cache,
         "instructions": instructions},
    )  # fmt: skip
    with _bar(progress) as look:
        work = asyncio.create_task(asyncio.to_thread(_follow, db, run_id, functions, look))
        try:
            await asyncio.shield(work)
        except asyncio.CancelledError:
            _cancel(db, run_id)
            await work
            raise
    return Run(run_id, db)


def resume(
    run: Run | int,
    judges: Any = (),
    *,
    failures: bool = False,
    trust: bool = False,
    db: str | Path | None = None,
    progress: bool | None = None,
) -> Run:
    """Go on with what is left of a run; with ``failures`` what failed is asked again, too.

    ``judges`` are the functions among its judges, under the names that they had. No finished answer
    is asked for again. Programs among them run, and keys go where they are not usual, only if that
    was allowed, which ``trust`` does.
    """
    from core.services.access.permits import allow_sendings
    from core.services.runs import lifecycle

    place = run.db if isinstance(run, Run) else db
    run_id = run.id if isinstance(run, Run) else run
    functions = functions_of(panel_of(judges, {}), trust) if judges else {}
    with opened(place) as store:
        if trust:
            allow_sendings(store.runs.row(run_id).panel.judges)
        lifecycle.resume(store, run_id, functions)
        if failures:
            lifecycle.retry(store, run_id, functions)
    with _bar(progress) as look:
        _work(place, run_id, functions, look)
    return Run(run_id, place)


def _start(
    rubric: Any,
    data: Any,
    judges: Any,
    map: Map,
    trust: bool,
    db: Place,
    numbers: Mapping[str, Any],
    asking: Mapping[str, Any],
) -> tuple[int, Mapping[str, Callable[..., Any]]]:
    """Start the run with these ``numbers``, whose models are asked as ``asking`` says."""
    from core.services.datasets.catalog import dataset_version, rubric_version
    from core.services.runs import lifecycle
    from core.services.runs.planning import RunRequest

    checked = build_model(_Asked, dict(numbers), "call")
    asked = load_rubric(rubric)
    items = load_dataset(data, asked, map=map)
    panel = panel_of(judges, {name: value for name, value in asking.items() if value is not None})
    functions = functions_of(panel, trust)
    with opened(db) as store, store.write():
        request = RunRequest(
            rubric_version=rubric_version(store, asked, "Python"),
            dataset_version=dataset_version(store, items, "Python"),
            panel=panel,
            **dict(checked),
        )
        return lifecycle.start(store, request, functions), functions


def _work(db: Place, run_id: int, functions: Any, look: Look) -> None:
    """Works the run off here; beside an event loop that runs (a notebook's) in a thread."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        _follow(db, run_id, functions, look)
        return
    trouble: list[BaseException] = []

    def work() -> None:
        try:
            _follow(db, run_id, functions, look)
        except BaseException as error:
            trouble.append(error)

    thread = Thread(target=work, name=f"run {run_id}")
    thread.start()
    try:
        thread.join()
    except KeyboardInterrupt:
        _cancel(db, run_id)
        thread.join()
        raise
    if trouble:
        raise trouble[0]


def _follow(db: Place, run_id: int, functions: Any, look: Look) -> None:
    from core.services.runs import runner

    with opened(db) as store:
        runner.follow(store, run_id, look, functions)


def _cancel(db: Place, run_id: int) -> None:
    from core.services.runs import lifecycle

    with opened(db) as store:
        lifecycle.cancel(store, run_id)


@contextmanager
def _bar(wanted: bool | None) -> Iterator[Look]:
    """A progress bar: what it is called with moves it."""
    if wanted is None:
        wanted = "ipykernel" in sys.modules or bool(sys.stderr and sys.stderr.isatty())
    if not wanted:
        yield lambda look: None
        return
    import warnings

    with warnings.catch_warnings():
        # Without ipywidgets it draws with characters, and says so on every import.
        warnings.simplefilter("ignore")
        from tqdm.auto import tqdm
    with tqdm(unit="vote") as bar:

        def move(look: RunProgress) -> None:
            bar.total = look.row.planned
            bar.set_postfix({"failed": look.row.failures_open} if look.row.failures_open else {})
            bar.update(look.settled - bar.n)

        yield move


def import_votes(
    source: Any,
    rubric: Any = None,
    data: Any = None,
    *,
    map: Map = (),
    kind: Any = None,
    db: str | Path | None = None,
) -> Run:
    """Votes from elsewhere as a run: a path, a list of dicts or a DataFrame of votes.

    ``rubric`` and ``data`` are what they are about, where the source does not say it itself;
    ``kind`` says what the source is where that is not seen (as ``import --format``).
    """
    from core.errors import InputError
    from core.formats.datasets.dataset_file import dump_dataset
    from core.formats.rubrics.rubric_file import dump_rubric
    from core.services.imports import import_files

    changes = changes_of(map)
    with TemporaryDirectory() as made:
        folder = Path(made)
        beside: dict[str, Any] = {}
        if rubric is not None:
            beside["rubric"] = folder / "rubric.yaml"
            beside["rubric"].write_text(dump_rubric(load_rubric(rubric)), encoding="utf-8")
        if data is not None:
            items = load_dataset(data, rubric)
            beside["dataset"] = folder / "items.jsonl"
            beside["dataset"].write_text(dump_dataset(items), encoding="utf-8")
        path = on_disk(source, folder, "votes")
        with opened(db) as store, in_its_words("source", source):
            found = import_files.import_path(store, path, kind=kind, changes=changes, **beside)
    if found["run"] is None:
        raise InputError(f"There are no votes in it: it was read as a {found['kind']}.")
    return Run(int(found["run"]), db)


def compare(
    run_a: Run | int, run_b: Run | int, *, bootstrap: int = 1000, db: str | Path | None = None
) -> Comparison:
    """What changed between two runs of one data file, and which verdicts flipped."""
    from core.blocks.terminal import terminal_text
    from core.services.comparison import run_comparison
    from core.services.comparison.comparison_blocks import comparison_sections

    build_model(Resampled, {"bootstrap": bootstrap}, "call")
    place = run_a.db if isinstance(run_a, Run) else db
    first, second = (run.id if isinstance(run, Run) else run for run in (run_a, run_b))
    with opened(place) as store:
        found = run_comparison.compare_runs(store, first, second, bootstrap=bootstrap)
    return Comparison(
        run_comparison.comparison_data(found), terminal_text(comparison_sections(found))
    )


def runs(limit: int = 50, *, db: str | Path | None = None) -> pd.DataFrame:
    """The runs of the data file, newest first."""
    import pandas as pd

    from core.services.runs import lifecycle

    columns = ["run", "name", "status", "planned", "votes", "failures", "created"]
    with opened(db) as store:
        listed = lifecycle.newest_runs(store, limit=limit)
    rows = [
        (r.id, r.name, lifecycle.shown_status(r), r.planned, r.votes, r.failures_open, r.created)
        for r in listed
    ]
    return pd.DataFrame(rows, columns=columns)
