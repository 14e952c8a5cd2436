"""Rankings with a row for each juror and a column for each candidate, as pairs."""

from __future__ import annotations

from pathlib import Path

import pytest

from core.store.store import Store
from tests.services.imports.test_strangers import brought

ENTRIES = ("Heron", "Mill", "Gate", "Kite")
ORDERS = ((1, 2, 3, 4), (2, 1, 4, 3), (4, 3, 1, 2), (3, 1, 2, 4), (1, 3, 2, 4), (2, 4, 1, 3))
MEANS = [sum(order[k] for order in ORDERS) / len(ORDERS) for k in range(4)]


def ranked(head: str, extra: str, foot: str, title: str = "") -> str:
    rows = [f"Juror {'ABCDEF'[n]}," + ",".join(map(str, of)) + "," for n, of in enumerate(ORDERS)]
    means = f"{foot}," + ",".join(f"{m:.2f}" for m in MEANS) + ","
    lines = [f"{head},{','.join(ENTRIES)},Remark", *rows[:3], extra, *rows[3:], means]
    return "\n".join([*([title, ""] if title else []), *lines]) + "\n"


@pytest.mark.parametrize(
    ("head", "extra", "foot"),
    [
        ("Jury member", "Juror G,absent,,,,cousin of an entrant", "mean rank"),
        ("Jurymitglied", "Juror G,Ausstand,,,,verwandt", "Ø Rang"),
        ("Membre du jury", "Juror G,récusé,récusé,récusé,récusé,", "Rang moyen"),
        ("Judge", "Juror G,n/a,n/a,n/a,n/a,", "x̄"),
    ],
)
def test_jurors_rank_candidates(
    store: Store, tmp_path: Path, head: str, extra: str, foot: str
) -> None:
    file = tmp_path / "jury.csv"
    file.write_text(ranked(head, extra, foot))
    report = brought(store, file)
    # Six jurors, six pairs of four entries each.
    assert (report["kind"], report["votes"], report["items"]) == ("pairs", 36, 6)
    assert [rater["name"] for rater in report["raters"]] == [f"Juror {c}" for c in "ABCDEF"]
    assert repr(foot) in str(report["notices"])


def test_a_juror_who_left_one_entry_out_compared_the_others(store: Store, tmp_path: Path) -> None:
    file = tmp_path / "jury.csv"
    file.write_text(ranked("Juror", "Juror G,COI,1,2,3,", "Gesamtrang"))
    report = brought(store, file)
    # Three more pairs; the row of final places is not a juror.
    assert (report["votes"], len(report["raters"])) == (39, 7)


def test_a_title_may_say_that_the_highest_place_is_the_best(store: Store, tmp_path: Path) -> None:
    wins = []
    for title in ("1 = best and 4 = worst", "4 = best and 1 = worst"):
        file = tmp_path / f"jury {title[0]}.csv"
        file.write_text(ranked("Juror", "Juror G,,,,,late", "Mean", title))
        report = brought(store, file)
        assert report["votes"] == 36
        items = store.datasets.load(report["dataset_version"]).items
        of = [v.option for item in items for v in store.votes.for_item(report["run"], item.id)]
        wins.append(of.count(0))
    assert wins[0] + wins[1] == 36


def test_marks_are_no_ranking(store: Store, tmp_path: Path) -> None:
    file = tmp_path / "marks.csv"
    rows = [f"P{n},{1 + n % 4},{1 + (n + 1) % 4},{1 + n * n % 4}" for n in range(8)]
    file.write_text("\n".join(["id,rater 1,rater 2,rater 3", *rows]))
    assert brought(store, file)["kind"] == "wide"
