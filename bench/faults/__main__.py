"""The fault matrix, each row run for real.

    python -m bench.faults [--row 9] [--trials 20] [--repeat 1]

Rows 1 to 22 are those of the specification; the others were added. A provider on loopback
(`tests/provider.py`) answers; faults of the disk and of the clock are made by a library that is
preloaded (`shim.c`, compiled when it is needed), small disks are file systems in memory. `--trials`
is how often what depends on chance is tried, `--repeat` how often a whole row is. Exit status: 0
every row held, 1 one did not.
"""

from __future__ import annotations

import argparse
import logging
import sys
import time

from bench.faults import (
    clocks,
    clusters,
    copies,
    disk,
    files,
    kills,
    mutated,
    poison,
    providers,
    reviews,
    texts,
)
from bench.faults.world import Row

ROWS = {
    "1": providers.storm,
    "2": providers.errors,
    "3": providers.stalls,
    "4": providers.resets,
    "5": providers.replies,
    "6": providers.refusals,
    "7": providers.too_long,
    "8": providers.locked_out,
    "9": kills.engine,
    "10": kills.workers,
    "11": disk.full,
    "12": disk.locked,
    "13": clocks.two_at_one_rubric,
    "14": clocks.jumping,
    "15": disk.twice_started,
    "16": files.rubrics,
    "17": files.tables,
    "bulky": files.bulky,
    "18": texts.scripts,
    "19": files.formulas,
    "20": files.paths,
    "21": texts.injections,
    "22": texts.keys,
    "sigterm": kills.told_to_end,
    "hung": kills.hung,
    "commits": kills.commit_steps,
    "app disk": disk.full_under_the_app,
    "n-th write": disk.failing_writes,
    "summer time": clocks.summer_time,
    "million": kills.million,
    "mutated answers": mutated.answers,
    "mutated files": mutated.files,
    "poison": poison.runs,
    "pages": reviews.pages,
    "scheduler": clusters.schedulers,
    "unequal": clusters.unequal,
    "bits": copies.bits,
    "copies": copies.killed_copies,
    "uploads": copies.killed_uploads,
}


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--row", action="append", choices=list(ROWS), help="this row; all if none")
    parser.add_argument("--trials", type=int, default=20, help="of what depends on chance")
    parser.add_argument("--repeat", type=int, default=1, help="each row as often, whole")
    asked = parser.parse_args()
    logging.disable(logging.ERROR)  # what the product says of each fault, thousands of lines
    rows = (asked.row or list(ROWS)) * asked.repeat
    held = sum(_show(number, asked.trials) for number in rows)
    print(f"{held} of {len(rows)} rows held.")
    sys.exit(held < len(rows))


def _show(number: str, trials: int) -> bool:
    act, began = ROWS[number], time.monotonic()
    row: Row = act(trials)
    title = (act.__doc__ or "").strip().splitlines()[0]
    said = "held" if not row.wrong else "DID NOT HOLD"
    print(f"\n{number:>3}  {title}\n     {said}, {time.monotonic() - began:.0f} s")
    for figure in row.figures:
        print(f"     {figure}")
    for wrong in row.wrong:
        print(f"     wrong: {wrong}")
    for untried in row.untried:
        print(f"     not tried: {untried}")
    sys.stdout.flush()
    return not row.wrong


if __name__ == "__main__":
    main()
