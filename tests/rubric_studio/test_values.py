"""What programs hold: numpy's values, Series, arrays, generators; and how a wrong call is told."""

from __future__ import annotations

import asyncio
import inspect
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import rubric_studio as rs
from core.domain.panel import Asking
from tests.places import ROOT

TEXTS = ["Thank you.", "No.", "Thanks a lot."]
LEVELS: dict[str, Any] = {
    "criteria": [
        {"name": "length", "requirement": "How long?", "scale": "ordinal",
         "options": [{"label": "1", "value": 0}, {"label": "2", "value": 1}]}
    ]
}  # fmt: skip


@pytest.fixture(autouse=True)
def _own_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RUBRIC_STUDIO_DB", str(tmp_path / "studio.db"))


@pytest.mark.parametrize(
    "given",
    [
        lambda: pd.Series(TEXTS),
        lambda: np.array(TEXTS),
        lambda: (text for text in TEXTS),
        lambda: ({"submission": text} for text in TEXTS),
        lambda: map(str, TEXTS),
        lambda: dict.fromkeys(TEXTS).keys(),
    ],
    ids=["series", "array", "generator", "generator of dicts", "map", "keys"],
)
def test_texts_come_in_whatever_holds_them(given: Callable[[], Any]) -> None:
    assert [item.text for item in rs.load_dataset(given()).items] == TEXTS
    whole = rs.load_rubric(text for text in TEXTS)
    assert [criterion.requirement for criterion in whole.criteria] == TEXTS


def test_the_named_index_of_a_series_is_the_id() -> None:
    series = pd.Series(TEXTS, index=pd.Index(["a", "b", "c"], name="id"), name="reply")
    assert [(i.id, i.text) for i in rs.load_dataset(series).items] == list(
        zip("abc", TEXTS, strict=True)
    )


def test_missing_values_of_pandas_in_dicts_are_missing() -> None:
    rows = [{"submission": "x", "reference": float("nan"), "prompt": pd.NA, "system": pd.NaT}]
    (item,) = rs.load_dataset(rows).items
    assert (item.reference, item.prompt, item.system) == ("", "", "")


@pytest.mark.parametrize(
    ("answer", "rubric", "label"),
    [
        (np.bool_(True), ["Thanks"], "MET"),
        (np.int64(2), LEVELS, "2"),
        (np.float64(2.0), LEVELS, "2"),
        (2, LEVELS, "2"),
        (np.str_("1"), LEVELS, "1"),
        ((np.bool_(False), "because"), ["Thanks"], "UNMET"),
    ],
    ids=repr,
)
def test_a_function_may_answer_with_numpys_values(answer: Any, rubric: Any, label: str) -> None:
    run = rs.grade(rubric, np.array(TEXTS), np.array([rs.check(lambda item: answer)]))
    assert run.votes["vote"].tolist() == [label] * 3


def test_a_number_that_is_no_option_stays_a_failure() -> None:
    run = rs.grade(LEVELS, TEXTS, rs.check(lambda item: 3.5))
    assert run.failures["kind"].tolist() == ["malformed"] * 3


def test_numbers_of_numpy_serve_as_settings() -> None:
    run = rs.grade(["Thanks"], TEXTS, lambda item: True, seed=np.int64(3), replicates=np.int64(2))
    assert len(run.votes) == 6


def test_wrong_rows_are_told_in_the_words_of_a_program() -> None:
    frame = pd.DataFrame({"id": [1, 1], "submission": ["x", "y"]})
    for wrong, words in (
        ([{"text1": "x"}], "has no column that holds the submission"),
        (frame, "items 2, id: repeats the id '1'"),
    ):
        with pytest.raises(rs.InputError) as error:
            rs.load_dataset(wrong)
        assert words in str(error.value)
        for other in ("data.json", "line ", "--map"):
            assert other not in str(error.value)
    with pytest.raises(rs.InputError) as error:
        rs.load_rubric([{"name": "a"}])
    assert str(error.value).startswith("rubric: ")
    with pytest.raises(rs.InputError) as error:
        rs.import_votes(pd.DataFrame({"a": [1], "b": [2]}))
    assert str(error.value).startswith("source: ")
    assert 'map={"FIELD": "COLUMN"}' in str(error.value)


def test_a_file_that_was_named_keeps_its_lines(tmp_path: Path) -> None:
    file = tmp_path / "x.csv"
    file.write_text("submission,note\nx,y\n")
    with pytest.warns(UserWarning, match="line 2: The column 'note'"):
        rs.load_dataset(file)
    with pytest.warns(UserWarning, match="^The column 'note'"):
        rs.load_dataset([{"submission": "x", "note": "y"}])


def test_errors_and_the_version_are_names_of_the_package() -> None:
    with pytest.raises(rs.NotFound, match="no run 999"):
        _ = rs.Run(999).items
    assert rs.__version__
    assert {"InputError", "NotFound", "__version__"} <= set(dir(rs))


def test_a_misspelt_keyword_is_refused_by_python_itself() -> None:
    judge = rs.check(lambda item: True)
    with pytest.raises(TypeError, match="few_shots"):
        rs.grade(["Thanks"], TEXTS, judge, few_shots=2)  # type: ignore[call-arg]
    with pytest.raises(TypeError, match="few_shots"):
        asyncio.run(rs.agrade(["Thanks"], TEXTS, judge, few_shots=2))  # type: ignore[call-arg]


def test_every_way_of_asking_is_a_keyword_of_both_calls() -> None:
    for call in (rs.grade, rs.agrade):
        assert set(Asking.model_fields) <= set(inspect.signature(call).parameters)


SCRIPT = """import rubric_studio as rs

def looks(item: object) -> bool:
    return True

judge = rs.Judge(name="m", model="openai/some-model", temperatur=0.5)
run = rs.grade(["Thanks"], ["x"], [judge], few_shots=2)
rs.resume(run, failure=True)
run.metrics(bootstraps=10)
print(rs.InputErr, rs.__version__, rs.check(looks, wieght=2.0))
"""


def test_mypy_finds_misspelt_keywords_in_a_users_script(tmp_path: Path) -> None:
    script = tmp_path / "mine.py"
    script.write_text(SCRIPT)
    done = subprocess.run(
        [sys.executable, "-m", "mypy", "--strict", "--config-file", "", "--cache-dir",
         str(ROOT / ".mypy_cache" / "script"), "--follow-imports", "silent", str(script)],
        cwd=tmp_path, capture_output=True, text=True, check=False, timeout=280,
        env={"MYPYPATH": str(ROOT), "PATH": ""},
    )  # fmt: skip
    for name in ("temperatur", "few_shots", "failure", "bootstraps", "InputErr", "wieght"):
        assert f'"{name}"' in done.stdout, done.stdout
