"""How long the first import takes, beside that of litellm: `python bench/imports.py [--runs 10]`.

Each import happens in a fresh interpreter with warm disk caches; the figures are medians, the
interpreter's own start taken off. ``modules`` counts what is loaded afterwards. ``core.cli`` is
what every command loads; ``grading`` what planning and working off a run loads; neither may load
any of the heavy packages, and the run fails if one does.
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import sys

HEAVY = ("streamlit", "litellm", "sklearn", "pandas", "numpy", "scipy", "plotly")
SUBJECTS = {
    "core.cli": "import core.cli",
    "grading": (
        "import core.cli.requests_from_files\nimport core.services.runs.runner, core.store.store"
    ),
    "aiohttp": "import aiohttp",
    "litellm": "import os; os.environ['LITELLM_LOCAL_MODEL_COST_MAP'] = 'True'; import litellm",
}
CLOCKED = """
import json, sys, time
wall, cpu = time.perf_counter(), time.process_time()
{subject}
wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
print(json.dumps([wall, cpu, len(sys.modules), sorted(set({heavy}) & sys.modules.keys())]))
"""


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--runs", type=int, default=10)
    runs = parser.parse_args().runs
    found: dict[str, list[list[float]]] = {name: [] for name in SUBJECTS}
    for number in range(runs):
        for name, subject in SUBJECTS.items():
            if name == "litellm" and number > 2:
                continue
            program = CLOCKED.format(subject=subject, heavy=HEAVY)
            ran = subprocess.run(
                [sys.executable, "-c", program], capture_output=True, text=True, check=True
            )
            *figures, heavy = json.loads(ran.stdout.splitlines()[-1])
            assert name == "litellm" or not heavy, f"{name} imports {heavy}"
            found[name].append(figures)
    print(f"{'import':12}{'wall ms':>10}{'CPU ms':>10}{'modules':>10}")
    for name, rows in found.items():
        wall, cpu, modules = (statistics.median(column) for column in zip(*rows, strict=True))
        print(f"{name:12}{wall * 1000:10.0f}{cpu * 1000:10.0f}{modules:10.0f}")


if __name__ == "__main__":
    main()
