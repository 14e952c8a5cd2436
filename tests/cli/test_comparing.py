"""The command `compare`."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from core.cli.main import main
from core.store.store import Store
from tests.services.comparison.test_run_comparison import LABELS, STRONG, WEAK
from tests.services.comparison.world import dataset, run_with


@pytest.fixture
def db(tmp_path: Path, store: Store) -> str:
    data = dataset(LABELS)
    run_with(store, data, WEAK)
    run_with(store, data, STRONG)
    run_with(store, dataset({"clear": ["MET"]}, ["another text"]), {"one": {"clear": [0]}})
    return str(tmp_path / "studio.db")


def test_json_goes_to_stdout_and_the_seed_decides_it(db: str) -> None:
    words = ["compare", "1", "2", "--db", db, "--json", "--bootstrap", "200"]
    one, again = (CliRunner().invoke(main, words) for _ in range(2))

    assert one.exit_code == 0
    assert one.stdout == again.stdout
    report = json.loads(one.stdout)
    assert report["overall"]["accuracy"]["difference"] == pytest.approx(5 / 16)
    assert report["bootstrap"]["resamples"] == 200
    low, high = report["overall"]["accuracy"]["ci"]
    assert low < 5 / 16 < high


def test_the_text_is_fit_to_read(db: str) -> None:
    found = CliRunner().invoke(main, ["compare", "1", "2", "--db", db])

    assert found.exit_code == 0
    assert "Verdicts that flipped" in found.stdout
    assert "Nothing: same" not in found.stdout


@pytest.mark.parametrize(
    ("runs", "said"),
    [
        (("1", "3"), "every one of them changed"),
        (("1", "1"), "Name two different runs"),
        (("1", "99"), "There is no run 99"),
        (("1", "folder"), "no run's number"),
    ],
)
def test_what_cannot_be_compared_ends_with_status_2(
    db: str, runs: tuple[str, str], said: str
) -> None:
    found = CliRunner().invoke(main, ["compare", *runs, "--db", db])

    assert found.exit_code == 2
    assert said in found.stderr
    assert "Traceback" not in found.stderr
