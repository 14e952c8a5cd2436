"""A column headed as those of raters, with marks of few texts, is a rater's, too."""

from __future__ import annotations

from pathlib import Path

import pytest

from core.services.imports import import_files
from core.store.store import Store


@pytest.mark.parametrize(
    ("cells", "votes"), [(("3", "4"), 34), (("30", "4"), 32), (("late", ""), 32)]
)
def test_a_third_rater_of_two_texts_is_read_like_the_others(
    store: Store, tmp_path: Path, cells: tuple[str, str], votes: int
) -> None:
    """What lies outside the others' marks is no mark of a rater, whatever the heading."""
    columns = [f"rater{k}_{what}" for what in ("form", "wit") for k in (1, 2)]
    rows = [
        [f"e{n}", *(str(1 + (n * (at + 1) + at) % 5) for at in range(4)), *cells[n : n + 1]]
        for n in range(8)
    ]
    lines = [["essay_id", *columns, "rater3_form"], *([*row, ""][:6] for row in rows)]
    file = tmp_path / "m.csv"
    file.write_text("\n".join(map(",".join, lines)))
    report = import_files.import_path(store, file)
    assert (report["votes"], len(report["raters"])) == (votes, 2 + (votes > 32)), report["notices"]
