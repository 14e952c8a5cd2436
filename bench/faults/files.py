"""Rows 16, 17, 19, 20: files made to hurt, formulas, and names that are paths."""

from __future__ import annotations

import csv
import io
import multiprocessing
import os
import resource
import tempfile
import time
from pathlib import Path

from bench.calls import rubric
from bench.faults.bulky import BULKY
from bench.faults.corpus import CORPUS, RUBRIC_JSON, RUBRIC_YAML, Hostile
from bench.faults.world import CRITERIA, Row, command, site
from core.domain.dataset import Dataset, Item
from core.errors import InputError
from core.services.exports import run_export
from core.store.store import Store
from tests import provider as say

FORMULAS = ("=1+1", "+1+1", "-1+1", "@SUM(A1)", "\t=1+1", "\r=1+1", "=HYPERLINK(A1)", "-cmd|x")


def read(one: Hostile) -> dict[str, object]:
    """Reads one file in this process: what came of it, seconds and MB."""
    from core.formats.folder import read_dataset_file, read_rubric_file

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / one.name
        path.write_bytes(one.make())
        before, began = _memory(), time.process_time()
        reads = read_rubric_file if one.kind == "rubric" else read_dataset_file
        try:
            reads(path)
            said = "read"
        except InputError as error:
            said = f"refused: {error}"
        except BaseException as error:
            said = f"{type(error).__name__}: {error}"[:200]
        took, more = time.process_time() - began, _memory() - before
        left = sorted(found.name for found in Path(folder).iterdir())
    return {"said": said, "seconds": took, "mb": more, "left": left}


def _memory() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def rubrics(trials: int) -> Row:
    """YAML bombs, tags, aliases, keys twice, NaN and Inf, 200,000 deep JSON, huge integers."""
    return _read([*RUBRIC_JSON, *RUBRIC_YAML])


def tables(trials: int) -> Row:
    """Ragged, NUL, not UTF-8, ids twice, zip bombs, paths upwards, links."""
    return _read([one for one in CORPUS if one.kind == "dataset"])


def bulky(trials: int) -> Row:
    """Large files, and small ones that make much work."""
    return _read(BULKY, seconds=5, megabytes=300)


def _read(corpus: list[Hostile], seconds: float = 1, megabytes: float = 200) -> Row:
    row, slow, large, right = Row(), 0.0, 0.0, 0
    fork = multiprocessing.get_context("fork")  # each in a process that has imported already
    for one in corpus:
        here, there = fork.Pipe()
        child = fork.Process(target=lambda one=one, to=there: to.send(read(one)))
        child.start()
        if not here.poll(60):
            child.kill()
            row.must(False, f"{one.what}: no end in a minute")
            continue
        found = here.recv()
        child.join()
        slow, large = max(slow, found["seconds"]), max(large, found["mb"])
        well = found["said"].startswith("refused") or (one.readable and found["said"] == "read")
        right += well
        row.must(well, f"{one.what} ({one.name}): {found['said'][:200]}")
        row.must(found["seconds"] <= seconds, f"{one.what}: {found['seconds']:.1f} s")
        row.must(found["mb"] <= megabytes, f"{one.what}: {found['mb']:.0f} MB")
        row.must(found["left"] == [one.name], f"{one.what}: left {found['left']}")
    row.say(f"{right} of {len(corpus)} right, at most {slow:.2f} s of CPU and {large:.0f} MB more")
    return row


def formulas(trials: int) -> Row:
    """Cells that begin with = + - @ tab CR, in every text that an export carries."""
    row, unsafe, cells, kept = Row(), 0, 0, 0
    texts = [f"{start}{n}" for n in range(25) for start in FORMULAS]
    items = tuple(
        Item(id=f"{text} {n}", submission=text, system=FORMULAS[n % 8])
        for n, text in enumerate(texts)
    )
    asked = rubric().model_copy(
        update={
            "criteria": tuple(
                c.model_copy(update={"name": f"{FORMULAS[n]} {n}"})
                for n, c in enumerate(rubric().criteria)
            )
        }
    )
    with site(1) as at:
        at.provider.rule = lambda body: say.ok(1, reason=FORMULAS[at.provider.count % 8])
        data = Dataset(name="=1+1", prompt="=1+1", items=items)
        run = at.plan(at.judge("=ada", concurrency=32), data=data, by=asked)
        at.work(run)
        store = Store(at.db)
        for form in ("csv", "reviews", "everything", "folder"):
            exported = run_export.export(store, run, form)
            for name, raw in exported.data().items():
                if exported.for_programs or not name.endswith(".csv"):
                    continue  # docs/exports.md: the files of `folder` are no spreadsheets
                for line in csv.reader(io.StringIO(raw.decode("utf-8-sig"))):
                    cells += len(line)
                    unsafe += sum(cell[:1] in ("=", "+", "@", "\t", "\r") for cell in line)
                    unsafe += sum(cell[:1] == "-" and not _number(cell) for cell in line)
        out = at.folder / "run"
        words = ("export", run, "--format", "folder", "--out", out, "--db", at.db)
        _, said = command(*words).communicate()
        row.must(out.is_dir(), said[-300:])
        again = at.folder / "again.db"
        _, said = command("import", out, "--db", again).communicate()
        if again.exists():
            kept = len(
                {i for s in [Store(again)] for i in s.runs.item_ids(1)} & {i.id for i in items}
            )
        store.close()
    row.say(f"{cells:,} cells, unsafe {unsafe}; {kept} of {len(items)} ids come back from `folder`")
    row.must(not unsafe, "unsafe cells")
    row.must(kept == len(items), f"ids changed on the way back: {said[-200:]}")
    return row


def _number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def paths(trials: int) -> Row:
    """Names that are paths, reserved, or 5,000 characters long, through every export."""
    names = ("../../up", "/etc/passwd", "a/b", "..", "CON", "nul.txt", "a\\b", "~root", "x" * 100)
    row, outside = Row(), 0
    with site(1) as at:
        items = tuple(
            Item(id=f"{name} {n}", submission="text", system=name) for n, name in enumerate(names)
        )
        items += (Item(id="x" * 200, submission="text"),)
        asked = rubric().model_copy(update={"name": names[0]})
        run = at.plan(data=Dataset(name="../../data", items=items), by=asked, name="../../run")
        at.work(run)
        row.must(at.votes == len(items) * CRITERIA, "votes lost")
        inside, before = at.folder / "in" / "side", _all(at.folder)
        inside.mkdir(parents=True)
        for form in run_export.FORMATS:
            out = inside / f"out-{form}"
            words = ("export", run, "--format", form, "--out", out, "--db", at.db)
            _, said = command(*words).communicate()
            row.must("Traceback" not in said, f"{form}: {said[-200:]}")
        now = _all(at.folder)
        strange = [p for p in now - before if inside not in p.parents and p not in inside.parents]
        outside = len([p for p in strange if p != inside and not p.name.startswith("studio.db")])
        made = len([p for p in now if inside in p.parents])
        long = command("grade", "x" * 5000, "y" * 5000, "--db", at.db)
        _, said = long.communicate()
        row.must(long.returncode == 2 and "Traceback" not in said, said[-200:])
    row.say(f"{made} files by {len(run_export.FORMATS)} formats, outside their folder {outside}")
    row.must(not outside, "files outside")
    return row


def _all(folder: Path) -> set[Path]:
    return {Path(at) / name for at, _, names in os.walk(folder) for name in names}
