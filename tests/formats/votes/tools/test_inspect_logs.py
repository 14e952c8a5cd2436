"""Logs of Inspect, in the shape that inspect-ai 0.3.285 wrote with its mock model."""

from __future__ import annotations

import io
import json
import zipfile
from pathlib import Path
from typing import Any

import pytest

from core.errors import InputError
from core.formats.known import kind_of
from core.formats.votes.imported import VoteBundle
from core.formats.votes.reading import read_bundle
from core.formats.votes.scales import Bins
from core.formats.votes.sources import open_bytes
from core.formats.votes.tools.known_tools import read_items
from core.services.agreement.metrics_report import metrics_source
from core.services.imports import import_files
from tests.command_line import cli
from tests.formats.votes.tools.zstandard_zip import packed
from tests.new_store import new_store

GRADER = "mockllm/grader"


def sample(id: object, epoch: int, output: str, scores: dict[str, Any], **more: Any) -> Any:
    return {
        "id": id,
        "epoch": epoch,
        "input": [{"role": "user", "content": [{"type": "text", "text": f"Question {id}?"}]}],
        "target": ["Paris", "paris"] if id == "q1" else "Rome",
        "metadata": {"topic": "capitals"},
        "output": {"model": "mockllm/model", "completion": output, "choices": []},
        "scores": scores,
        "attachments": {},
    } | more


def score(value: Any, explanation: str = "", **more: Any) -> dict[str, Any]:
    return {"value": value, "explanation": explanation, "history": []} | more


def edited(first: Any, last: Any) -> dict[str, Any]:
    """A score that a person changed, as inspect's ``edit_score`` leaves it."""
    who = {"author": "ann", "reason": "It says Lyon.", "timestamp": "2026-11-01T10:00:00Z"}
    return score(
        last, history=[{"value": first, "provenance": None}, {"value": last, "provenance": who}]
    )


#: Two samples in two epochs, of which the second's put out the same. match: C I / C C; the model:
#: C I / I C, and ann made the first I.
SAMPLES = [
    sample("q1", 1, "Paris", {
        "match": score("C"), "model_graded_qa": edited("C", "I"), "length": score(0.25),
        "two": score({"polite": "I", "depth": 1})}),
    sample("q1", 2, "Lyon", {
        "match": score("I"), "model_graded_qa": score("I", "GRADE: I"), "length": score(1),
        "two": score({"polite": "C", "depth": 3})}),
    sample(3, 1, "Rome, of course", {
        "match": score("C"), "model_graded_qa": score("I"), "length": score(0.2),
        "two": score({"polite": "C", "depth": 2})}),
    sample(3, 2, "attachment://abc", {
        "match": score("C"), "model_graded_qa": score("C"), "length": score(float("nan")),
        "two": score({"polite": "C", "depth": 2})}, attachments={"abc": "Rome, of course"}),
]  # fmt: skip
HEADER = {
    "version": 2,
    "status": "success",
    "eval": {
        "task": "capitals",
        "model": "mockllm/model",
        "scorers": [
            {"name": "match", "options": {}},
            {"name": "model_graded_qa", "options": {"model": {"model": GRADER}}},
        ],
    },
}


def document(samples: list[Any] = SAMPLES, **more: Any) -> bytes:
    return json.dumps(HEADER | {"samples": samples} | more).encode()


def members(samples: list[Any] = SAMPLES) -> dict[str, bytes]:
    files = {"_journal/start.json": b"{}", "summaries.json": b"[]"}
    for one in samples:
        name = f"samples/{one['id']}_epoch_{one['epoch']}.json"
        files[name] = json.dumps(one).encode()
    return files | {"header.json": json.dumps(HEADER).encode()}


def deflated(files: dict[str, bytes]) -> bytes:
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, inside in files.items():
            archive.writestr(name, inside)
    return made.getvalue()


def read(data: bytes, name: str, bins: Bins | None = None) -> VoteBundle:
    source = open_bytes(data, name)
    kind = kind_of(source)
    assert kind == "inspect"
    return read_bundle(source, kind, bins=bins)


FORMS = {
    "log.json": document(),
    "log.eval": packed(members()),
    "renamed.zip": deflated(members()),
}


@pytest.mark.parametrize("name", FORMS)
def test_outputs_are_items_scorers_raters_and_epochs_with_one_output_replicates(name: str) -> None:
    found = read(FORMS[name], name)

    assert [item.id for item in found.dataset.items] == ["q1", "q1, epoch 2", "3"]
    first = found.dataset.items[0]
    assert first.prompt == "Question q1?"
    assert first.reference == "Paris\nparis"
    assert first.system == "mockllm/model"
    assert first.meta == {"topic": "capitals"}
    assert [item.submission for item in found.dataset.items] == ["Paris", "Lyon", "Rome, of course"]
    correct = [
        (v.cell.item, v.rater, v.kind, v.replicate, v.option)
        for v in found.votes.rows
        if v.criterion == "correct"
    ]
    # 4 by match, 4 by the model (option 0 is MET), and ann's one.
    assert len(correct) == 9
    assert ("q1, epoch 2", "match", "offline", 0, 1) in correct
    assert ("3", "match", "offline", 1, 0) in correct
    assert ("q1", f"model_graded_qa ({GRADER})", "llm", 0, 0) in correct
    assert ("q1", "ann", "human", 0, 1) in correct


def test_letters_are_one_question_and_other_scores_each_their_own() -> None:
    found = read(document(), "log.json")

    scales = {c.name: (c.scale, [o.label for o in c.choices if not o.na]) for c in
              found.rubric.criteria}  # fmt: skip
    steps = ["0 to 0.2", "0.2 to 0.4", "0.4 to 0.6", "0.6 to 0.8", "0.8 to 1"]
    assert scales == {
        "correct": ("binary", ["MET", "UNMET"]),
        "length": ("ordinal", steps),
        "two: polite": ("binary", ["MET", "UNMET"]),
        "two: depth": ("ordinal", ["1", "2", "3"]),
    }
    length = {(v.cell.item, v.replicate): v for v in found.votes.rows if v.criterion == "length"}
    assert length["q1", 0].option == 1
    assert length["q1", 0].reason == "Score 0.25."
    # 0.2 lies on an edge and belongs above it; NaN is no score: a failure.
    assert (length["3", 0].option, length["3", 1].failed) == (1, True)


def test_partly_correct_makes_three_levels_and_no_answer_counts_as_incorrect() -> None:
    samples = [
        sample("a", 1, "x", {"match": score("P")}),
        sample("b", 1, "y", {"match": score("N")}),
        sample("c", 1, "z", {"match": score("C")}),
    ]

    found = read(document(samples), "log.json")

    (criterion,) = found.rubric.criteria
    assert [(o.label, o.value) for o in criterion.choices if not o.na] == [
        ("I", 0.0), ("P", 0.5), ("C", 1.0)]  # fmt: skip
    assert [v.option for v in found.votes.rows] == [1, 0, 2]
    assert any("N (no answer) counts as I" in str(notice) for notice in found.notices)


def test_a_sample_that_ended_in_an_error_is_a_failure_of_every_scorer() -> None:
    broken = sample("bad", 1, "", {}, error={"message": "out of time"})

    found = read(document([*SAMPLES, broken]), "log.json")

    lost = [v for v in found.votes.rows if v.cell.item == "bad"]
    assert {(v.criterion, v.rater) for v in lost} == {
        ("correct", "match"), ("correct", f"model_graded_qa ({GRADER})"), ("length", "length"),
        ("two: polite", "two"), ("two: depth", "two")}  # fmt: skip
    assert all(v.failed and v.reason == "out of time" for v in lost)


def test_the_steps_of_a_number_can_be_chosen() -> None:
    found = read(document(), "log.json", Bins.of(["length=0,0.3,1"]))

    length = next(c for c in found.rubric.criteria if c.name == "length")
    # A step's value is its middle: .15 and .65 of the range.
    assert [(o.label, o.value) for o in length.choices if not o.na] == [
        ("0 to 0.3", 0.15), ("0.3 to 1", 0.65)]  # fmt: skip


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["1"], "not understood"),
        (["0,2,1"], "not understood"),
        (["nobody=4"], "names 'nobody'"),
        (["length=0,0.3,0.5"], "ends at 0 and 0.5"),
    ],
)
def test_steps_that_make_no_sense_are_refused(words: list[str], says: str) -> None:
    with pytest.raises(InputError, match=says):
        read(document(), "log.json", Bins.of(words))


def test_graded_anew_its_outputs_are_the_items() -> None:
    found = read_items(packed(members()), "log.eval")

    assert [(item.id, item.submission) for item in found.value.items] == [
        ("q1", "Paris"), ("q1, epoch 2", "Lyon"), ("3", "Rome, of course")
    ]  # fmt: skip
    assert "the scores are left out" in str(found.notices[0])


def test_imported_its_agreement_is_the_one_counted_by_hand(tmp_path: Path) -> None:
    log = tmp_path / "log.eval"
    log.write_bytes(packed(members()))
    store = new_store(tmp_path / "studio.db")

    said = import_files.import_path(store, log)
    report = metrics_source(lambda: store, str(said["run"]))

    assert (said["kind"], said["items"], said["criteria"]) == ("inspect", 3, 4)
    raters = report["criteria"]["correct"]["raters"]
    # ann judged one output, and called UNMET what both had called MET: 0 of 1.
    model = raters[f"model_graded_qa ({GRADER})|0"]["vs_human_majority"]
    assert (model["n"], model["accuracy"]) == (1, 0.0)
    assert raters["match|1"]["vs_human_majority"]["n"] == 0


def test_from_the_command_line_a_dry_run_says_what_it_is(tmp_path: Path) -> None:
    log = tmp_path / "log.json"
    log.write_bytes(document())

    done = cli("import", str(log), "--dry-run", "--json", "--db", str(tmp_path / "s.db"))

    said = json.loads(done.stdout)
    assert said["kind"] == "inspect"
    # Four samples with 5 scores each (two has two) and ann's; of the 21 one is NaN.
    assert (said["items"], said["votes"], said["failures"]) == (3, 20, 1)


@pytest.mark.parametrize("cut", [40, 200])
def test_a_damaged_archive_is_refused_in_one_sentence(cut: int) -> None:
    data = packed(members())
    broken = data[: len(data) - cut]

    with pytest.raises(InputError, match="cannot be opened"):
        open_bytes(broken, "log.eval")


def test_a_member_that_is_not_what_was_packed_is_refused() -> None:
    data = bytearray(packed(members()))
    at = data.index(b"samples/q1_epoch_1.json") + len(b"samples/q1_epoch_1.json") + 12
    data[at] ^= 0xFF

    with pytest.raises(InputError, match="cannot be opened"):
        read(bytes(data), "log.eval")
