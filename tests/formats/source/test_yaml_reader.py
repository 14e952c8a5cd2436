"""YAML: what plain scalars mean, and every fault with its line, quickly."""

from __future__ import annotations

import tracemalloc

import pytest
import yaml

from core.formats.source.parsed import Document
from core.formats.source.yaml_reader import MAX_NODES, read_yaml
from tests.formats.refusals import refused


def read(text: str) -> Document:
    return read_yaml(text).require_valid("rubric", "x.yaml")


def faults(text: str) -> list[tuple[int | None, str]]:
    return refused(lambda: read(text))


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("yes", "yes"),  # YAML 1.2 core schema: only true and false are booleans
        ("Off", "Off"),
        ("true", True),
        ("0" * 5000 + "7", 7),
        ("-" + "0" * 5000, 0),
        ("~", None),
        ("", None),
        ("10", 10),
        ("-2.5", -2.5),
        ("1e3", 1000.0),
        ("1:30", "1:30"),  # 5400 in YAML 1.1
        ("2024-01-01", "2024-01-01"),  # a date in YAML 1.1
        ("'10'", "10"),
        ("!!str 10", "10"),
        ("!!int '10'", 10),
    ],
)
def test_a_plain_scalar_means_what_yaml_1_2_says(written: str, meant: object) -> None:
    assert read(f"a: {written}\n").value == {"a": meant}


def test_numbers_stay_as_written_where_words_belong_but_not_in_meta() -> None:
    text = "label: 010\nis: 1.50\nin: [1, 2]\nmeta: {label: 010}\n"
    assert read(text).value == {
        "label": "010",
        "is": "1.50",
        "in": ["1", "2"],
        "meta": {"label": 10},
    }


def test_aliases_and_merges_give_the_same_data_as_written_out() -> None:
    text = "a: &x {p: 1, q: 2}\nb: *x\nc: {<<: *x, q: 3}\nd: {<<: [{p: 7}, *x]}\n"
    value = read(text).value
    assert value["b"] == {"p": 1, "q": 2}
    assert value["c"] == {"p": 1, "q": 3}
    assert value["d"] == {"p": 7, "q": 2}


def test_every_place_has_its_line() -> None:
    document = read("a:\n- b: 1\n  c:\n    - 2\n    - 3\n- x\n")
    places = [("a",), ("a", 0, "b"), ("a", 0, "c", 1), ("a", 1), ("a", 0, "missing")]
    assert [document.line_of(place) for place in places] == [1, 2, 5, 6, 2]


def test_line_separators_that_editors_do_not_count_are_not_counted() -> None:
    assert read('a: "x\u2028y"\nb: 1\n').line_of(("b",)) == 2


def test_windows_and_old_mac_line_breaks_count_as_one_line() -> None:
    assert read("a: 1\r\nb: 2\rc: 3\n").line_of(("c",)) == 3


@pytest.mark.parametrize(
    ("text", "line", "words"),
    [
        ("a: 1\nb: 2\na: 3\n", 3, "a: is given twice. It is on line 1 already"),
        ("a:\n  b: 1\n  b: 1\n", 3, "a, b: is given twice"),
        ("a: 1\nb: !!python/object/apply:os.system [id]\n", 2, "carries the tag"),
        ("a: !!binary aGk=\n", 1, "carries the tag"),
        ("a: !mine {x: 1}\n", 1, "carries the tag '!mine'"),
        ("a: 1\nb: .nan\n", 2, "is .nan, which is not a finite number"),
        ("a: -.inf\n", 1, "not a finite number"),
        ("a: 1\n\nb: 1e999\n", 3, "is 1e999, which is too large"),
        (f"a: {'9' * 400}\n", 1, "is a whole number of 400 digits"),
        ("a: 1\n---\nb: 2\n", 2, "begins a second document"),
        ("a:\n\tb: 1\n", 2, "is indented with a tab. Indent with spaces."),
        ("a: 1\nb: 'x\n", 2, "is not valid YAML"),
        ("a: b: c\n", 1, "is not valid YAML"),
        ("a: 1\nb: *q\n", 2, "is the alias *q, which has no finished anchor"),
        ("a: &x [*x]\n", 1, "is the alias *x, which has no finished anchor"),
        ("? [a, b]\n: 1\n", 1, "uses a list or mapping as a key"),
        ("é: 1\nb: \x07\n", 2, "control character U+0007"),
        ("# only a remark\n", 1, "is empty"),
        ("a: {<<: 3}\n", 1, "merges (<<) what is not a mapping"),
        ("a: &x 1\n*x : 2\n", 2, "uses an alias as a key"),
    ],
)
def test_a_fault_is_named_with_its_line(text: str, line: int, words: str) -> None:
    found = faults(text)
    assert found[0][0] == line
    assert words in found[0][1]


def test_all_faults_that_can_be_found_at_once_are_found_at_once() -> None:
    assert [line for line, _ in faults("a: .nan\na: 2\nb: !x 1\n")] == [1, 2, 3]


def bomb(levels: int) -> str:
    """Nine aliases per level: 9 ** levels values once written out."""
    rows = ["a0: &a0 [x, x, x, x, x, x, x, x, x]"]
    for n in range(1, levels):
        rows.append(f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]")
    return "\n".join(rows) + "\n"


def test_an_alias_bomb_is_refused_without_being_built() -> None:
    tracemalloc.start()
    try:
        [(line, text)] = faults(bomb(12))
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    # Level n holds about 1.1 * 9 ** n values: 66,000 up to the fifth, 600,000 with the sixth.
    assert line == 6
    assert f"more than {MAX_NODES:,} values" in text
    assert peak < 5_000_000


def test_aliases_within_the_limit_are_fine() -> None:
    assert len(read(bomb(4)).value["a3"]) == 9


@pytest.mark.parametrize("text", ["[" * 200_000, "{a: " * 200_000, "- " * 200_000 + "x"])
def test_deep_nesting_is_refused_not_crashed_on(text: str) -> None:
    assert "nested more than 64 levels deep" in faults(text)[0][1]


def test_the_parser_in_python_reads_and_refuses_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    text = "a: &x [1, é]\nb: *x\nc: {d: |\n    hi\n  }\n"
    fast = read("a: &x [1, é]\nb: *x\nc: yes\n")
    monkeypatch.delattr(yaml, "CSafeLoader", raising=False)
    slow = read("a: &x [1, é]\nb: *x\nc: yes\n")
    assert slow.value == fast.value
    assert slow.line_of(("c",)) == fast.line_of(("c",)) == 3
    assert faults(text)[0][0] == 3
    assert faults("a:\n\tb: 1\n")[0] == (2, "line 2: is indented with a tab. Indent with spaces.")
    assert "nested more" in faults("[" * 1000)[0][1]
