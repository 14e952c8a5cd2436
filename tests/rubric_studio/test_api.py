"""`import rubric_studio as rs`: a few lines grade what is at hand, into the app's data file."""

from __future__ import annotations

import asyncio
import json
import os
import pickle
import signal
import subprocess
import sys
import threading
from datetime import date
from pathlib import Path
from typing import Any
from uuid import UUID

import pandas as pd
import pytest

import rubric_studio as rs
from core.domain.dataset import Item, Label
from core.domain.rubric import Criterion
from core.errors import InputError
from core.store.store import Store
from tests.command_line import cli
from tests.places import ROOT
from tests.provider import Answer, Provider, ok

CRITERIA = ["Thanks the customer", "Names the 30 days"]
ANSWERS = ["Thanks! You have 30 days.", "No.", "Within 30 days."]


@pytest.fixture(autouse=True)
def database(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    path = tmp_path / "studio.db"
    monkeypatch.setenv("RUBRIC_STUDIO_DB", str(path))
    return path


def looks(item: Item, criterion: Criterion) -> bool:
    """Right on the first two answers and both criteria, by their words."""
    wanted = "thank" if criterion.name == CRITERIA[0] else "30 days"
    return wanted in item.output.lower()


def by_words(body: dict[str, Any]) -> Answer:
    """UNMET, wherever it stands among the options shown."""
    shown = body["messages"][-1]["content"]
    first = shown.index("UNMET") < shown.replace("UNMET", "-----").index("MET")
    return ok(1 if first else 2)


def frame(**columns: Any) -> pd.DataFrame:
    return pd.DataFrame({"submission": ANSWERS, **columns})


def test_five_lines_grade_a_data_frame_and_show_a_table() -> None:
    run = rs.grade(CRITERIA, frame(), [looks])
    assert run.status == "done"
    assert run.failures.empty
    assert list(run.failures) == list(rs.grade(CRITERIA, frame(), [len]).failures)
    # Two criteria of equal weight: both met, none, one of two.
    assert run.items["score"].tolist() == [1.0, 0.0, 0.5]
    assert run.verdicts["verdict"].tolist() == ["MET", "MET", "UNMET", "UNMET", "UNMET", "MET"]
    assert sorted(run.votes["vote"]) == sorted(run.verdicts["verdict"])
    assert "<table" in run._repr_html_()


@pytest.mark.parametrize("form", ["path", "dict", "list of dicts", "list of texts", "frame"])
def test_a_rubric_may_be_a_path_a_dict_a_list_or_a_table(form: str, tmp_path: Path) -> None:
    rows = [{"name": name, "requirement": name} for name in CRITERIA]
    file = tmp_path / "rubric.json"
    file.write_text(json.dumps({"criteria": rows}))
    levels = [
        (name, level, level, score) for name in CRITERIA for level, score in (("No", 0), ("Yes", 1))
    ]
    columns = ["criterion", "level", "level_description", "score"]
    given: Any = {
        "path": file,
        "dict": {"criteria": rows},
        "list of dicts": rows,
        "list of texts": CRITERIA,
        "frame": pd.DataFrame(levels, columns=columns),
    }[form]
    assert [c.name for c in rs.load_rubric(given).criteria] == CRITERIA
    assert rs.load_rubric(given, name="Replies").name == "Replies"


@pytest.mark.parametrize("form", ["path", "dict", "list of dicts", "list of texts", "frame"])
def test_data_may_be_a_path_a_dict_a_list_or_a_table(form: str, tmp_path: Path) -> None:
    rows = [{"submission": text} for text in ANSWERS]
    file = tmp_path / "answers.json"
    file.write_text(json.dumps(rows))
    given: Any = {
        "path": str(file),
        "dict": {"items": rows},
        "list of dicts": rows,
        "list of texts": ANSWERS,
        "frame": frame(),
    }[form]
    assert [item.output for item in rs.load_dataset(given).items] == ANSWERS


def test_columns_are_named_and_missing_cells_are_missing() -> None:
    table = pd.DataFrame({"text": ANSWERS, "Thanks the customer": ["MET", None, "UNMET"]})
    table.index = pd.Index([11, 12, 13], name="id")
    data = rs.load_dataset(table, CRITERIA, map={"submission": "text"})
    assert [item.id for item in data.items] == ["11", "12", "13"]
    assert [set(item.labels) for item in data.items] == [{CRITERIA[0]}, set(), {CRITERIA[0]}]


@pytest.mark.parametrize(
    "wrong",
    [
        {"replicates": 0}, {"replicates": 1.5}, {"replicates": 10**9}, {"seed": "first"},
        {"budget": float("nan")}, {"budget": -1}, {"label_share": 5}, {"name": 3},
    ],
    ids=str,
)  # fmt: skip
@pytest.mark.timeout(60)
def test_a_number_that_no_run_can_have_is_refused_before_anything_is_asked(
    wrong: dict[str, Any],
) -> None:
    for grade in (rs.grade, lambda *args, **more: asyncio.run(rs.agrade(*args, **more))):
        with pytest.raises(InputError, match=f"call is not valid(.|\n)*{next(iter(wrong))}"):
            grade(CRITERIA, ANSWERS, looks, **wrong)
    assert rs.runs().empty


def test_a_copy_of_a_function_as_a_judge_asks_the_same_function() -> None:
    heavy = rs.check(looks).model_copy(update={"weight": 2.0})
    assert (heavy.function, heavy.weight) == (looks, 2.0)
    assert rs.grade(CRITERIA, ANSWERS, heavy).status == "done"


def test_a_runs_data_file_stays_the_same_wherever_the_program_goes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path)
    run = rs.grade(CRITERIA, ANSWERS, looks, db="own.db")
    monkeypatch.chdir("elsewhere")
    assert run.status == pickle.loads(pickle.dumps(run)).status == "done"
    assert list(Path().iterdir()) == []


@pytest.mark.parametrize(
    ("written", "known", "mend"),
    [
        ("e\u0301", "\u00e9", r"It is 'e\u0301'; meant may be '\xe9'. Write both alike."),
        ("a\u200b", "a", r"It is 'a\u200b'; meant may be 'a'. Write both alike."),
        (2.0, 2, "It is '2.0'; meant may be '2'. Write both alike."),
        ("b", "a", ""),
    ],
)
def test_a_vote_on_an_id_that_is_written_otherwise_says_how_both_are(
    written: Any, known: Any, mend: str
) -> None:
    votes = pd.DataFrame({"item": [written], "rater": "ann", "criterion": "A", "label": "MET"})
    with pytest.raises(InputError) as refused:
        rs.import_votes(votes, ["A"], [{"id": known, "submission": "x"}])
    assert [problem.mend for problem in refused.value.problems] == [mend]


def test_figures_that_cannot_be_made_and_reports_that_cannot_be_written_are_refused(
    tmp_path: Path,
) -> None:
    first, second = rs.grade(CRITERIA, ANSWERS, looks), rs.grade(CRITERIA, ANSWERS, looks)
    for wrong in ({"bootstrap": -1}, {"bootstrap": 1.5}, {"seed": "x"}, {"level": 2}):
        with pytest.raises(InputError, match=f"call is not valid(.|\\n)*{next(iter(wrong))}"):
            first.metrics(**wrong)  # type: ignore[arg-type]
    with pytest.raises(InputError, match="bootstrap"):
        rs.compare(first, second, bootstrap=-1)
    with pytest.raises(InputError, match="level"):
        first.report(tmp_path / "report.md", level=float("nan"))
    (tmp_path / "file").write_text("")
    with pytest.raises(InputError, match=r"report\.md"):
        first.report(tmp_path / "file" / "report.md")
    assert list(tmp_path.glob("report*")) == []


def test_a_tables_values_come_as_they_stand_there() -> None:
    moment = pd.Timestamp("2026-01-31 10:30:00.123456", tz="Europe/Berlin")
    number = 0.1234567890123456  # sixteen digits, which a float keeps
    ids = pd.MultiIndex.from_tuples([(UUID(int=5), 1), (UUID(int=6), 2)], names=["id", "round"])
    meta = {"number": [number, None], "moment": [moment, pd.NaT], "day": [date(2026, 1, 31)] * 2}
    seat = pd.Categorical([3, None])
    table = pd.DataFrame({"submission": ["x", "y"], **meta, "seat": seat}, index=ids)
    with pytest.warns(UserWarning, match="kept under meta"):
        first, second = rs.load_dataset(table).items
    assert (first.id, second.id) == (str(UUID(int=5)), str(UUID(int=6)))
    assert second.meta == {"round": 2, "day": "2026-01-31"}
    assert first.meta == {
        "round": 1, "number": number, "moment": moment.isoformat(), "day": "2026-01-31", "seat": 3,
    }  # fmt: skip


@pytest.mark.parametrize(
    ("table", "words"),
    [
        (pd.DataFrame([["x", "y"]], columns=["submission"] * 2), "several columns named 'submiss"),
        (pd.DataFrame({"id": ["a"], "submission": ["x"]}, pd.Index([1], name="id")), "named 'id'"),
        (pd.DataFrame({"submission": ["x", "y"], "n": [1, float("inf")]}), r"\(item 2, 'n'\)"),
        (pd.DataFrame({"submission": [b"x"]}), r"\(item 1, 'submission'\).* a bytes"),
        ([{"submission": "x", "meta": {"n": float("nan")}}], r"\(item 1, 'meta', 'n'\)"),
    ],
    ids=["twice", "index", "infinite", "bytes", "list"],
)
def test_a_value_that_cannot_be_kept_is_refused_with_its_place(table: Any, words: str) -> None:
    with pytest.raises(InputError, match=words):
        rs.load_dataset(table)


def test_tables_of_criteria_and_votes_keep_their_index_and_refuse_columns_twice() -> None:
    rubric = pd.DataFrame({"criterion": ["A", "A"], "level": ["No", "Yes"], "value": [0, 1]})
    votes = pd.DataFrame({"item_id": ["a"], "rater_id": ["ann"], "label": ["Yes"]})
    votes["criterion"] = "A"
    run = rs.import_votes(
        votes.set_index(["item_id", "rater_id"]),
        rubric.set_index("criterion"),
        map="label=label",
    )
    assert run.verdicts[["item_id", "criterion", "verdict"]].values.tolist() == [["a", "A", "Yes"]]
    for read in (rs.load_rubric, rs.import_votes):
        with pytest.raises(InputError, match="several columns named 'criterion'"):
            read(pd.concat([rubric, rubric[["criterion"]]], axis=1))
        with pytest.raises(InputError, match="cannot be kept"):
            read(rubric.assign(level=pd.Series(["\ud800"] * 2, dtype=object)))


def test_what_is_no_rubric_and_no_data_is_said_in_a_sentence() -> None:
    with pytest.raises(InputError, match="A int is no rubric"):
        rs.load_rubric(3)
    with pytest.raises(InputError, match="A int is no dataset"):
        rs.grade(CRITERIA, 3, [looks])
    with pytest.raises(InputError, match="A int is no function to check with"):
        rs.grade(CRITERIA, ANSWERS, [3])
    assert rs.runs().empty


def test_the_functions_answers_are_votes_abstentions_and_failures() -> None:
    answers: dict[str, Any] = {
        "label": "met", "labelled": Label(label="UNMET"),
        "reason": ("UNMET", "too short"), "abstains": None, "number": 3,
        "unknown": "Great", "CANNOT_ASSESS": "CANNOT_ASSESS", "yes": True,
    }  # fmt: skip

    def judge(item: Item) -> Any:
        if item.id == "raises":
            raise ValueError("no <b>text</b>")
        if item.id == "exits":
            sys.exit("enough")
        return answers[item.id]

    data = [{"id": name, "submission": "x"} for name in (*answers, "raises", "exits")]
    run = rs.grade(["Is it good?"], data, judge)
    assert run.status == "incomplete"
    votes = run.votes.set_index("item_id")
    assert votes["vote"].fillna("").to_dict() == {
        "label": "MET", "labelled": "UNMET",
        "reason": "UNMET", "abstains": "Cannot assess", "number": "",
        "unknown": "", "CANNOT_ASSESS": "Cannot assess", "yes": "MET", "raises": "",
        "exits": "",
    }  # fmt: skip
    assert votes["rationale"]["reason"] == "too short"
    failures = run.failures.set_index("item_id")
    assert failures["kind"].to_dict() == {
        "number": "malformed", "unknown": "out_of_range", "raises": "code",
        "exits": "code",
    }  # fmt: skip
    assert failures["message"]["raises"] == "Its code failed: ValueError: no <b>text</b>"
    assert failures["message"]["unknown"] == (
        'It returned "Great", which is none of the options: MET, UNMET, Cannot assess.'
    )


class Wordless(Exception):
    """What it says cannot be said."""

    def __str__(self) -> str:
        raise RuntimeError("no words")


class Neither:
    """Neither true nor false, as an array is."""

    def __bool__(self) -> bool:
        raise ValueError("which of them?")


@pytest.mark.timeout(60)
@pytest.mark.parametrize("waits", [False, True], ids=["plain", "async"])
def test_whatever_a_function_raises_is_a_failure_and_ends_nothing(waits: bool) -> None:
    raised: dict[str, Any] = {
        "StopIteration": StopIteration(), "StopAsyncIteration": StopAsyncIteration(),
        "CancelledError": asyncio.CancelledError(), "Wordless": Wordless(),
        "ValueError": (True, Neither()),
    }  # fmt: skip

    def judge(item: Item) -> Any:
        answer = raised.get(item.id, True)
        if isinstance(answer, BaseException):
            raise answer
        return answer

    async def waiting(item: Item) -> Any:
        return judge(item)

    data = [{"id": name, "submission": "x"} for name in (*raised, "good")]
    run = rs.grade(["Is it good?"], data, waiting if waits else judge)
    failures = run.failures.set_index("item_id")
    assert failures["kind"].to_dict() == dict.fromkeys(raised, "code")
    for name, message in failures["message"].items():
        # Python itself turns a StopIteration of a coroutine into a RuntimeError that names it.
        assert message.startswith("Its code failed: ")
        assert str(name) in message
    assert run.verdicts.set_index("item_id")["verdict"]["good"] == "MET"


def test_an_async_function_is_asked_about_several_items_at_once() -> None:
    together, most = 0, 0

    async def judge(item: Item) -> bool:
        nonlocal together, most
        together += 1
        most = max(most, together)
        await asyncio.sleep(0.01)
        together -= 1
        return True

    assert rs.grade(["Good?"], ANSWERS, rs.check(judge)).status == "done"
    assert most == len(ANSWERS)


def test_functions_sit_in_a_panel_beside_models_with_a_weight() -> None:
    with Provider() as provider:
        provider.rule = by_words
        model = rs.Judge(name="m", model="m", api_base=provider.url)
        sure = rs.check(lambda item: True, "sure", weight=3.0)
        panel = rs.Panel(judges=(sure, model), rules={"binary": "weighted"})
        run = rs.grade(["Good?"], ["a"], panel)
    assert sorted(run.votes["vote"]) == ["MET", "UNMET"]
    # Three parts of four say MET.
    assert run.verdicts["verdict"].tolist() == ["MET"]


def test_it_works_where_a_loop_runs_already_as_in_a_notebook() -> None:
    async def cell() -> rs.Run:
        return rs.grade(CRITERIA, ANSWERS, [looks])

    assert asyncio.run(cell()).items["score"].tolist() == [1.0, 0.0, 0.5]


def test_the_async_variant_lets_other_work_go_on_and_a_cancel_cancels_the_run() -> None:
    async def slow(item: Item) -> bool:
        await asyncio.sleep(30)
        return True

    async def main() -> None:
        quick, seen = await asyncio.gather(
            rs.agrade(CRITERIA, ANSWERS, [looks]), asyncio.sleep(0, "seen")
        )
        assert quick.status == "done"
        assert seen == "seen"
        task = asyncio.create_task(rs.agrade(["Good?"], ANSWERS, [slow]))
        while rs.runs()["status"].tolist() != ["running", "done"]:
            await asyncio.sleep(0.05)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(main())
    assert rs.runs()["status"].tolist() == ["cancelled", "done"]


def test_a_worker_leaves_a_run_of_functions_to_the_program_that_has_them(database: Path) -> None:
    seen: list[Any] = []

    def judge(item: Item) -> bool:
        # A worker of the app looks for work while this one waits for its turn, and after it.
        seen.append(Store(database).leases.claim("a worker", at=9e9, seconds=1))
        return True

    rs.grade(["Good?"], ["a"], judge)
    assert seen == [None]
    again = cli("retry", 1)
    assert again.returncode == 2
    assert (
        "judge: is a Python function: only the program that brings it can ask it." in again.stderr
    )


def test_an_interrupted_run_goes_on_and_failures_are_asked_again() -> None:
    asked: list[str] = []
    ended = threading.Event()

    def judge(item: Item) -> bool:
        asked.append(item.output)
        if len(asked) == 2:
            os.kill(os.getpid(), signal.SIGINT)  # as Ctrl-C does
            # It answers when the run has ended, however busy the machine is.
            ended.wait(60)
        if len(asked) == 3:
            raise ValueError("once")
        return True

    # What runs in the background of a shell has inherited that Ctrl-C is not for it.
    inherited = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        with pytest.raises(KeyboardInterrupt):
            rs.grade(["Good?"], ["a", "b"], rs.check(judge))
    finally:
        signal.signal(signal.SIGINT, inherited)
        ended.set()
    run = rs.Run(1)
    assert (run.status, len(run.votes)) == ("interrupted", 1)
    with pytest.raises(InputError, match="These judges cannot be asked here"):
        rs.resume(run)
    assert rs.resume(run, rs.check(judge)).status == "incomplete"
    assert rs.resume(run, rs.check(judge), failures=True).status == "done"
    assert asked == ["a", "b", "b", "b"]


def test_what_a_notebook_grades_is_seen_by_the_commands_and_the_app() -> None:
    run = rs.grade(CRITERIA, ANSWERS, [looks], name="From a notebook")
    listed = json.loads(cli("runs", "--json").stdout)["runs"]
    assert [(r["run"], r["name"], r["votes"]) for r in listed] == [(run.id, "From a notebook", 6)]
    assert rs.runs()["name"].tolist() == ["From a notebook"]


def test_metrics_are_those_of_the_command_line() -> None:
    run = rs.grade(CRITERIA, frame(**{CRITERIA[0]: ["MET", "MET", "UNMET"]}), [looks])
    figures = run.metrics(bootstrap=0).set_index(["criterion", "rater"])
    # The function says MET, UNMET, UNMET: two of three as the labels.
    assert figures.loc[(CRITERIA[0], "panel"), "accuracy"] == pytest.approx(2 / 3)
    said = json.loads(cli("metrics", run.id, "--reference", "gold", "--json").stdout)
    panel = said["criteria"][CRITERIA[0]]["panel"]["vs_gold"]
    assert figures.loc[(CRITERIA[0], "looks"), "cohen_kappa"] == panel["cohen_kappa"]
    assert "n" in figures.loc[(CRITERIA[1], "panel"), "undefined"]


def test_votes_of_a_table_become_a_run_and_two_runs_are_compared(tmp_path: Path) -> None:
    votes = pd.DataFrame(
        [(item, "Good", rater, label)
         for item, rater, label in (("a", "x", "MET"), ("a", "y", "MET"), ("b", "x", "UNMET"))],
        columns=["item_id", "criterion", "rater_id", "label"],
    )  # fmt: skip
    brought = rs.import_votes(votes, rubric=["Good"])
    assert len(brought.votes) == 3
    first = rs.grade(CRITERIA, ANSWERS, [looks])
    second = rs.grade(CRITERIA, ANSWERS, rs.check(lambda item: True, "kind"))
    moved = rs.compare(first, second).overall.set_index("figure")
    # From 1, 0, .5 to 1 each.
    assert moved.loc["mean_score", "difference"] == pytest.approx(0.5)
    assert "Mean score" in rs.compare(first.id, second.id)._repr_html_()
    assert first.report(tmp_path / "report.html").read_text().startswith("<!doctype html>")


def test_hostile_texts_are_shown_as_they_are() -> None:
    data = [{"id": "<script>alert(1)</script>", "submission": "x"}]
    run = rs.grade(["<img src=x>"], data, lambda item: True, name="<b>bold</b>")
    other = rs.grade(["<img src=x>"], data, lambda item: False, name="<b>bold</b>")
    shown = run._repr_html_() + rs.compare(run, other)._repr_html_()
    for tag in ("<script", "<img", "<b>bold"):
        assert tag not in shown
    assert "&lt;script&gt;" in shown


def test_importing_it_loads_nothing_heavy() -> None:
    code = (
        "import sys; before = set(sys.modules); import rubric_studio; "
        "print(sorted(m.split('.')[0] for m in set(sys.modules) - before))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True
    )
    heavy = (
        "pandas",
        "numpy",
        "pydantic",
        "click",
        "sqlite3",
        "asyncio",
        "core",
        "tqdm",
        "litellm",
    )
    assert not [name for name in heavy if f"'{name}'" in done.stdout]


def test_a_package_that_is_hidden_is_said_before_anything_is_imported(tmp_path: Path) -> None:
    (tmp_path / "core.py").write_text("")
    code = (
        f"import sys; sys.path.append({str(ROOT)!r}); import rubric_studio as rs\n"
        "try:\n    rs.grade\nexcept ImportError as error:\n    print(error)"
    )
    done = subprocess.run(
        [sys.executable, "-I", "-c", f"import sys; sys.path.insert(0, {str(tmp_path)!r}); {code}"],
        cwd=tmp_path, capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert f"`core` is hidden: Python finds {tmp_path / 'core.py'} first." in done.stdout
