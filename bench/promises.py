"""Whether promises about unseen verdicts are kept when several queues settle a run.

    python -m bench.promises [trials]

Workload: 300 cells, 150 of each of two criteria, two judges who agree on all of them or differ on
the last fifth; which verdicts are wrong is drawn anew in every trial, for each criterion with its
share. Queues are made and read by the services; people's decisions are written as the services
write them, without tickets. What is done is said in `tests/services/promised.py`: one, two and
three queues, narrowed ones, orders that follow what was found. A line per promise: how often
something was accepted, how often more of it was wrong than was allowed (promised: 5 % of trials),
and how often the 95 % interval of what nobody looked at missed its share. Nothing is timed.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

from tests.services.promised import WORKLOADS, base, tallies

TRIALS, ALPHA = 1000, 0.25
#: Which share of each criterion's verdicts is wrong; on how many items the judges differ.
SETTINGS = (
    ("0 % and 30 %", {"easy": 0.0, "hard": 0.3}, 0),
    ("5 % and 45 %", {"easy": 0.05, "hard": 0.45}, 30),
    ("both 22 %", {"easy": 0.22, "hard": 0.22}, 0),
)


def main(trials: int = TRIALS) -> None:
    print(f"{trials} trials a line; at most {ALPHA:.0%} of what is accepted may be wrong")
    print("wrong | judges differ on | what people do | promise of | accepted | broken | missed")
    with tempfile.TemporaryDirectory() as folder:
        for said, shares, split in SETTINGS:
            place = Path(folder) / said
            place.mkdir()
            path = base(place, 150, split)
            for name, work in WORKLOADS.items():
                for n, found in enumerate(tallies(path, work, ALPHA, shares, trials), 1):
                    row = (
                        *(said, f"{2 * split} cells", name, f"queue {n}"),
                        f"{found.accepted / found.promises:.1%}",
                        f"{found.broken / found.promises:.1%}",
                        f"{found.missed / max(1, found.given):.1%}",
                    )
                    print(" | ".join(row), flush=True)


if __name__ == "__main__":
    main(*map(int, sys.argv[1:2]))
