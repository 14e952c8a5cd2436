"""Files put in place whole by many threads at once, each of which sweeps the folder."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from core.part_files import part_file


def test_threads_that_sweep_one_folder_never_take_anothers_part(tmp_path: Path) -> None:
    def write(number: int) -> None:
        target = tmp_path / f"file-{number % 8}"
        with part_file(target) as part:
            part.write_text(str(number))
            part.replace(target)

    with ThreadPoolExecutor(8) as threads:
        list(threads.map(write, range(1600)))
    assert sorted(path.name for path in tmp_path.iterdir()) == [f"file-{n}" for n in range(8)]
