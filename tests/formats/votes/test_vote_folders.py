"""Folders and archives of votes: the common layout, and autorubric's experiments."""

from __future__ import annotations

import io
import json
import random
import zipfile
from pathlib import Path
from typing import Any

import pytest

from core.errors import InputError
from core.formats.datasets.dataset_file import parse_dataset
from core.formats.known import kind_of
from core.formats.source import archives
from core.formats.votes.imported import VoteBundle
from core.formats.votes.reading import read_bundle
from core.formats.votes.sources import open_bytes, open_path

RUBRIC = "criteria:\n- {name: cites, requirement: Cites a source.}\n"
ITEMS = '{"id": "a", "submission": "x"}\n{"id": "b", "submission": "y"}\n'
VOTES = "item_id,criterion,rater_id,rater_kind,label\na,cites,kim,human,MET\nb,cites,kim,human,\n"
LAYOUT = {"rubric.yaml": RUBRIC, "items.jsonl": ITEMS, "votes.csv": VOTES}


def zipped(files: dict[str, str], folder: str = "") -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, text in files.items():
            archive.writestr(folder + name, text)
    return buffer.getvalue()


def read(data: bytes, name: str = "replies.zip", **more: Any) -> VoteBundle:
    source = open_bytes(data, name)
    return read_bundle(source, kind_of(source), **more)


def test_a_folder_and_an_archive_of_it_are_the_same_votes(tmp_path: Path) -> None:
    folder = tmp_path / "replies"
    folder.mkdir()
    for name, text in LAYOUT.items():
        (folder / name).write_text(text)
    source = open_path(folder)
    one, other = read_bundle(source, kind_of(source)), read(zipped(LAYOUT, "replies/"))
    assert one == other
    assert (one.name, one.format, one.dataset.name) == ("replies", "folder", "replies")
    assert [(v.rater, v.option, v.failed, v.line) for v in one.votes.rows] == [
        ("kim", 0, False, 2),
        ("kim", None, True, 3),
    ]


def test_what_else_an_archive_holds_is_passed_over() -> None:
    files = {
        **LAYOUT,
        "README.md": "hello",
        "deep/votes.csv": "nonsense",
        "__MACOSX/votes.csv": "nonsense",
    }
    assert len(read(zipped(files)).votes.rows) == 2


def test_a_bad_line_in_an_archive_is_named() -> None:
    with pytest.raises(InputError) as refused:
        read(zipped({**LAYOUT, "votes.csv": VOTES.replace("MET", "MAYBE")}))
    assert [(p.line, p.path) for p in refused.value.problems] == [(2, ("label",))]


@pytest.mark.parametrize(
    ("data", "says"),
    [
        (b"PK\x03\x04 and then nothing", "cannot be opened"),
        (zipped({"readme.txt": "hello"}), "a dataset, which holds no votes"),
        (zipped({"other.csv": "a,b\n1,2\n"}), "has none of them"),
        (zipped({"votes.csv": VOTES}), "no rubric.yaml"),
        (zipped({"votes.csv": VOTES, "rubric.yaml": RUBRIC}), "no items.jsonl"),
    ],
)
def test_an_archive_that_lacks_something_says_what(data: bytes, says: str) -> None:
    with pytest.raises(InputError, match=says):
        read(data)


@pytest.mark.parametrize("method", [zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
def test_a_damaged_archive_is_read_or_refused_but_never_breaks_the_import(method: int) -> None:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", method) as archive:
        archive.writestr("votes.csv", VOTES * 50)
    whole, rng, refused = buffer.getvalue(), random.Random(0), 0
    for _ in range(300):
        damaged = bytearray(whole)
        for _ in range(rng.randint(1, 6)):
            damaged[rng.randrange(4, len(damaged))] = rng.randrange(256)
        try:
            open_bytes(bytes(damaged), "votes.zip")
        except InputError:
            refused += 1
    # Some bytes (a date, an attribute) matter to nobody; the checksum catches all others.
    assert refused > 150


def test_an_archive_that_unpacks_to_too_much_is_refused_by_what_it_holds(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(archives, "MOST_UNPACKED", len(VOTES) + len(RUBRIC))
    open_bytes(zipped({"votes.csv": VOTES, "rubric.yaml": RUBRIC}), "most.zip")
    with pytest.raises(InputError, match="unpacks to more than"):
        open_bytes(zipped(LAYOUT), "more.zip")


def test_a_folder_with_nothing_known_in_it_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="has none of them"):
        open_path(tmp_path)


POLICY = {"name": "policy", "requirement": "States the limit", "weight": 10.0, "options": None}
TONE = {
    "name": "tone",
    "requirement": "How warm?",
    "weight": 4.0,
    "scale_type": "ordinal",
    "options": [
        {"label": "Cold", "value": 0.0, "na": False},
        {"label": "Warm", "value": 1.0, "na": False},
        {"label": "Cannot assess / not applicable", "value": 0.0, "na": True},
    ],
}


def binary(judge: str, verdict: str, **more: Any) -> dict[str, Any]:
    return {
        "judge_id": judge,
        "verdict": verdict,
        "reason": "r",
        "weight": 2.0,
        "error": None,
    } | more


def choice(judge: str, label: str, na: bool = False) -> dict[str, Any]:
    return {"judge_id": judge, "selected_index": 1, "selected_label": label, "na": na}


def item(index: int, policy: list[Any], tone: list[Any]) -> dict[str, Any]:
    reports = [
        {"criterion": POLICY, "final_verdict": "MET", "votes": policy, "multi_choice_votes": []},
        {"criterion": TONE, "final_verdict": None, "votes": [], "multi_choice_votes": tone},
    ]
    return {"item_idx": index, "error": None, "report": {"criterion_reports": reports}}


def experiment(*lines: Any, end: str = "", **manifest: Any) -> bytes:
    about = {"experiment_name": "pilot", **manifest}
    text = "\n".join(json.dumps(line) for line in lines) + "\n" + end
    return zipped({"manifest.json": json.dumps(about), "items.jsonl": text}, "pilot/")


TWO = (
    item(
        1,
        [binary("ada", "UNMET"), binary("bea", "MET", error="timeout")],
        [choice("ada", "Warm")],
    ),
    item(
        0,
        [binary("ada", "MET"), binary("bea", "CANNOT_ASSESS")],
        [choice("ada", "Cannot assess / not applicable", na=True)],
    ),
)


def test_an_experiment_is_read_with_its_rubric_and_in_the_order_of_its_items() -> None:
    bundle = read(experiment(*TWO), "pilot.zip")
    assert (bundle.format, bundle.name) == ("autorubric", "pilot")
    assert [(c.name, c.scale, c.weight) for c in bundle.rubric.criteria] == [
        ("policy", "binary", 10.0),
        ("tone", "ordinal", 4.0),
    ]
    # MET 0, UNMET 1, abstention 2; Cold 0, Warm 1, n/a 2. An error is a failure, never a verdict.
    assert [(v.cell.item, v.criterion, v.rater, v.option, v.failed) for v in bundle.votes.rows] == [
        ("item-0001", "policy", "ada", 0, False),
        ("item-0001", "policy", "bea", 2, False),
        ("item-0001", "tone", "ada", 2, False),
        ("item-0002", "policy", "ada", 1, False),
        ("item-0002", "policy", "bea", None, True),
        ("item-0002", "tone", "ada", 1, False),
    ]
    assert bundle.votes.weights == {"ada": 2.0, "bea": 2.0}
    assert {v.kind for v in bundle.votes.rows} == {"llm"}


def test_a_last_line_that_was_cut_off_is_passed_over_with_a_notice() -> None:
    bundle = read(experiment(*TWO, end='{"item_idx": 2, "report": {"crit'), "pilot.zip")
    assert len(bundle.dataset.items) == 2
    (torn,) = [n for n in bundle.notices if "cut off" in n.message]
    assert torn.line == 3


def test_a_line_cut_off_in_the_middle_is_refused() -> None:
    torn = experiment(TWO[0], end='{"item_idx": 2, "rep\n' + json.dumps(TWO[1]))
    with pytest.raises(InputError) as refused:
        read(torn, "pilot.zip")
    assert {p.line for p in refused.value.problems} == {2}


def test_the_dataset_gives_items_their_ids_and_texts_back() -> None:
    dataset = parse_dataset(ITEMS, "items.jsonl").value
    bundle = read(experiment(*TWO), "pilot.zip", dataset=dataset)
    assert {v.cell.item for v in bundle.votes.rows} == {"a", "b"}
    with pytest.raises(InputError, match="item 8 of 2"):
        read(experiment(item(7, [binary("ada", "MET")], [])), "pilot.zip", dataset=dataset)


def test_items_that_failed_and_votes_that_were_replaced_are_said() -> None:
    lines = (
        item(0, [binary("ada", "MET", superseded=True), binary("bea", "UNMET")], []),
        {"item_idx": 1, "error": "all calls failed", "report": None},
    )
    bundle = read(experiment(*lines), "pilot.zip")
    assert [v.rater for v in bundle.votes.rows] == ["bea"]
    said = " ".join(n.message for n in bundle.notices)
    assert "1 items ended in an error" in said
    assert "1 votes are left out" in said


def test_an_item_that_failed_at_first_and_was_written_again_has_not_failed() -> None:
    failed = {"item_idx": 0, "error": "all calls failed", "report": None}
    bundle = read(experiment(failed, item(0, [binary("ada", "MET")], [])), "pilot.zip")
    said = " ".join(n.message for n in bundle.notices)
    assert "Item 0 is written again" in said
    assert "ended in an error" not in said


def test_an_experiment_with_one_judge_takes_its_name_from_the_manifest() -> None:
    report = {**POLICY, "verdict": "MET", "reason": "quotes it"}
    tone = {**TONE, "verdict": None, "multi_choice_verdict": {"selected_label": "Warm"}}
    line = {"item_idx": 0, "report": {"report_type": "single", "criterion_reports": [report, tone]}}
    config = {"judges": [{"judge_id": "solo", "model": "m"}]}
    bundle = read(experiment(line, grader_config=config), "pilot.zip")
    assert [(v.rater, v.option) for v in bundle.votes.rows] == [("solo", 0), ("solo", 1)]


def test_what_an_experiment_says_beside_its_votes_is_said_to_be_left_out() -> None:
    sure = binary("ada", "MET", confidence=0.9, reasoning="Hm.")
    seen = choice("ada", "Warm") | {"shuffle_order": [1, 0], "probabilities": {"1": 0.9}}
    said = " ".join(map(str, read(experiment(item(0, [sure], [seen])), "pilot.zip").notices))

    assert "Verdicts and scores of the experiment are left out" in said
    # One vote has a confidence and thoughts, the other probabilities and an order.
    assert "Left out of votes: confidence (1), probabilities (1), reasoning (1)" in said
    assert "shuffle_order (1)" in said
    plain = read(experiment(item(0, [binary("ada", "MET")], [choice("ada", "Warm")])), "p.zip")
    assert "Left out of votes" not in " ".join(map(str, plain.notices))


def test_a_vote_or_an_option_that_is_none_is_refused_and_not_passed_over() -> None:
    broken = item(0, [binary("ada", "MET"), "UNMET"], [choice("ada", "Warm")])
    torn = item(0, [binary("ada", "MET")], [choice("ada", "Warm")])
    torn["report"]["criterion_reports"][1]["criterion"] = {**TONE, "options": [*TONE["options"], 3]}
    for line, what in ((broken, "votes"), (torn, "options")):
        with pytest.raises(InputError, match=f"{what}: holds something that is not an object"):
            read(experiment(line), "pilot.zip")
