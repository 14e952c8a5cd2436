"""A number beside what a table says of a writer, on a scale of its own, is no mark of the text."""

from __future__ import annotations

from pathlib import Path

import pytest

from core.errors import InputError
from core.services.imports import import_files
from core.store.store import Store

MARKS = ("Overall", "Cohesion", "Syntax", "Grammar")


@pytest.mark.parametrize(
    ("about", "lowest", "is_mark"),
    # Years 8 to 11 beside the writer's gender are none; a mark on the others' scale may be one.
    [("gender", 8, False), ("gender", 2, True), ("theme", 8, True)],
)
def test_a_school_year_beside_the_writer_is_no_mark(
    store: Store, tmp_path: Path, about: str, lowest: int, *, is_mark: bool
) -> None:
    lines = [f"text_id,full_text,{about},grade,{','.join(MARKS)}"]
    for n in range(16):
        text = (
            f"My school is {n} miles away and I walk there. I like it in the winter of {1990 + n}."
        )
        marks = (f"{(2 + (n * (k + 1) + k) % 8) / 2:g}" for k in range(len(MARKS)))
        lines.append(f"t{n},{text},{'MF'[n % 2]},{lowest + n % 4},{','.join(marks)}")
    file = tmp_path / "essays.csv"
    file.write_text("\n".join(lines))
    with pytest.raises(InputError) as refused:
        import_files.import_path(store, file)
    first = str(refused.value).partition("If it is that: ")[2].partition("\n")[0]
    assert "labels=Overall" in first
    assert ("labels=grade" in first) is is_mark
