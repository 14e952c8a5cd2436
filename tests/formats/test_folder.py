"""Files and folders on disk: whatever cannot be opened is an InputError."""

from __future__ import annotations

import contextlib
import os
import resource
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from core.errors import InputError
from core.formats.folder import (
    parse_data,
    read_bytes,
    read_dataset_file,
    read_folder,
    read_rubric_file,
    write_bytes,
)
from core.formats.source.parsed import MAX_RUBRIC_BYTES
from tests.formats.refusals import refused


@pytest.fixture
def rated(tmp_path: Path) -> Path:
    made = tmp_path / "rated"
    made.mkdir()
    (made / "rubric.yaml").write_text("- {name: a, requirement: A}\n", "utf-8")
    (made / "items.jsonl").write_text('{"submission": "x", "labels": {"a": "met"}}\n', "utf-8")
    return made


def test_a_folder_gives_its_rubric_and_its_items_with_checked_labels(rated: Path) -> None:
    rubric, dataset = read_folder(rated)
    assert rubric.value.criteria[0].name == "a"
    assert dataset.value.name == "rated"
    assert dataset.value.items[0].labels["a"].label == "MET"


def test_a_label_that_the_folder_s_rubric_does_not_know_is_refused(rated: Path) -> None:
    (rated / "items.jsonl").write_text('{"submission": "x", "labels": {"a": "so"}}\n', "utf-8")
    assert refused(lambda: read_folder(rated))[0][0] == 1


def test_a_file_is_read_by_its_own_path_or_its_folder_s(rated: Path) -> None:
    assert read_rubric_file(rated) == read_rubric_file(str(rated / "rubric.yaml"))
    assert read_dataset_file(rated / "items.jsonl").value.name == "items"
    assert (
        read_dataset_file(rated).value.items == read_dataset_file(rated / "items.jsonl").value.items
    )


def test_plain_data_is_read_as_strictly_as_a_rubric(tmp_path: Path) -> None:
    file = tmp_path / "panel.yaml"
    file.write_text("judges: [{name: j}]\n", "utf-8")
    assert parse_data(file) == {"judges": [{"name": "j"}]}
    file.write_text("a: 1\na: 2\n", "utf-8")
    assert refused(lambda: parse_data(file))[0][0] == 2


def test_what_is_not_there_is_said(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"no\.yaml: There is no such file"):
        read_rubric_file(tmp_path / "no.yaml")
    with pytest.raises(InputError, match=r"It has no rubric\.yaml or"):
        read_rubric_file(tmp_path)
    with pytest.raises(InputError, match=r"This is a folder\. Name a file"):
        parse_data(tmp_path)
    with pytest.raises(InputError, match="This is not a folder"):
        read_folder(tmp_path / "no")


@pytest.mark.parametrize("name", ["x" * 5000, "a\0b"])
def test_a_name_that_no_file_can_have_is_refused(tmp_path: Path, name: str) -> None:
    with pytest.raises(InputError):
        read_rubric_file(tmp_path / name)


def test_a_file_without_permission_is_refused(rated: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def denied(*_: object) -> bytes:
        raise PermissionError(13, "Permission denied")

    # (A test that runs as root cannot take its own permission away.)
    monkeypatch.setattr(Path, "open", denied)
    with pytest.raises(InputError, match="cannot be opened: Permission denied"):
        read_rubric_file(rated)


def test_a_file_over_the_limit_is_refused_before_it_is_read(rated: Path) -> None:
    with (rated / "rubric.yaml").open("r+b") as file:
        file.truncate(MAX_RUBRIC_BYTES + 1)
    with pytest.raises(InputError, match="larger than 5 MB"):
        read_rubric_file(rated)


#: Two rubrics as Canvas exports them: one criterion of two levels each (adjudication.md 4.1).
CANVAS = (
    "Rubric Name,Criteria Name,Criteria Description,Criteria Enable Range,"
    "Rating Name,Rating Description,Rating Points,Rating Name,Rating Description,Rating Points\n"
    "Essay,Thesis,States a claim,false,Clear,One claim,4,Absent,No claim,0\n"
)


def test_a_table_of_a_learning_platform_is_a_rubric_wherever_one_is_named(tmp_path: Path) -> None:
    file = tmp_path / "essay.csv"
    file.write_text(CANVAS)
    (criterion,) = read_rubric_file(file).value.criteria
    assert (criterion.name, criterion.scale, criterion.weight) == ("Thesis", "ordinal", 4)


def test_a_table_of_several_rubrics_is_refused_with_the_way_to_one(tmp_path: Path) -> None:
    file = tmp_path / "both.csv"
    file.write_text(CANVAS + CANVAS.splitlines()[1].replace("Essay", "Talk", 1) + "\n")
    with pytest.raises(InputError, match=r"holds 2 rubrics: 'Essay', 'Talk'.*convert both\.csv"):
        read_rubric_file(file)


def test_a_pipe_is_read_once_like_a_file(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    rubric = "criteria:\n- {name: tone, requirement: Friendly?, weight: 1}\n"
    writer = threading.Thread(target=pipe.write_text, args=(rubric,))
    writer.start()
    read = read_rubric_file(pipe)
    writer.join()
    assert [c.name for c in read.value.criteria] == ["tone"]


def test_a_pipe_that_never_ends_is_given_up_at_the_limit(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    writer = threading.Thread(target=_pour, args=(pipe,))
    writer.start()
    with pytest.raises(InputError, match="larger than 1 MB"):
        read_bytes(pipe, 1024**2)
    writer.join(10)
    assert not writer.is_alive()


def _pour(pipe: Path) -> None:
    with contextlib.suppress(BrokenPipeError), pipe.open("wb", buffering=0) as file:
        while True:
            file.write(b" " * 65536)


def test_a_full_disk_leaves_a_file_as_it_was_and_no_half_of_a_new_one(tmp_path: Path) -> None:
    kept, new, link = tmp_path / "kept.csv", tmp_path / "new.csv", tmp_path / "link.csv"
    write_bytes(kept, b"all of it")
    kept.chmod(0o640)
    link.symlink_to(kept)
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    # No file may be longer than ten bytes: like a disk with no more room.
    resource.setrlimit(resource.RLIMIT_FSIZE, (10, limits[1]))
    try:
        for path in (kept, new, link):
            with pytest.raises(InputError, match=rf"{path.name}: cannot be written: File too"):
                write_bytes(path, b"much more than fits")
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert kept.read_bytes() == b"all of it"
    assert {path.name for path in tmp_path.iterdir()} == {"kept.csv", "link.csv"}

    write_bytes(link, b"anew")
    assert (link.is_symlink(), kept.read_bytes()) == (True, b"anew")
    assert kept.stat().st_mode & 0o777 == 0o640


def test_threads_that_write_into_one_folder_write_their_own_files(tmp_path: Path) -> None:
    def write(name: str) -> set[bytes]:
        path, found = tmp_path / name, set[bytes]()
        for _ in range(60):
            write_bytes(path, name.encode() * 20_000)
            found.add(path.read_bytes()[:1])
        return found

    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(write, "abcd"))
    assert found == [{b"a"}, {b"b"}, {b"c"}, {b"d"}]


def test_a_pipe_is_written_and_stays_a_pipe(tmp_path: Path) -> None:
    pipe, said = tmp_path / "pipe", list[bytes]()
    os.mkfifo(pipe)
    reader = threading.Thread(target=lambda: said.append(pipe.read_bytes()))
    reader.start()
    write_bytes(pipe, b"through")
    reader.join()
    assert (said, pipe.is_fifo()) == ([b"through"], True)
