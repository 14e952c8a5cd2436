"""A pair whose answers have scores of their own: the pair is read, and how to read the scores."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest

from core.store.store import Store
from tests.formats.strangers import essay, table
from tests.services.imports.test_strangers import brought


@pytest.mark.parametrize(
    ("answers", "scores", "better"),
    [
        (("answer_v3", "answer_v4"), ("score_v3 (1-5)", "score_v4 (1-5)"), "v3 v4"),
        (("response_a", "response_b"), ("rating_a", "rating_b"), "A B"),
        (("Left reply", "Right reply"), ("Points left", "Points right"), "left right"),
    ],
)
def test_scores_of_each_answer_are_said_with_the_option_that_reads_them(
    store: Store, tmp_path: Path, answers: tuple[str, str], scores: tuple[str, str], better: str
) -> None:
    file = tmp_path / "replies.csv"
    rows = [
        {"ticket_id": f"T{n}", answers[0]: essay(n), answers[1]: essay(n + 40)}
        | {scores[0]: 1 + n % 5, scores[1]: 1 + (n * n) % 5}
        | {"preferred": (*better.split(), "tie")[n % 3], "reviewer": ("Ada", "Ben")[n // 6]}
        for n in range(12)
    ]
    file.write_text(table(rows))
    report = brought(store, file)
    assert (report["kind"], report["votes"]) == ("pairs", 12)
    (mend,) = (n["mend"] for n in report["notices"] if "about one answer each" in n["message"])
    ways = mend.removeprefix("As votes on one of the answers: ").removesuffix(".").split(" or ")
    texts = set[str]()
    for way in ways:
        words = shlex.split(re.sub(r"--map ", "", way))
        read = brought(store, file, tuple(words))
        assert (read["kind"], read["votes"], len(read["raters"])) == ("criteria", 12, 2)
        texts.add(store.datasets.load(read["dataset_version"]).items[0].text)
    assert texts == {essay(0), essay(40)}
