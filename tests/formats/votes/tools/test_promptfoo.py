"""Results of promptfoo, in the shapes that promptfoo 0.121.20 wrote of tests like these."""

from __future__ import annotations

import csv
import io
import json
from typing import Any

import pytest

from core.errors import InputError
from core.formats.known import kind_of
from core.formats.votes.imported import VoteBundle
from core.formats.votes.reading import read_bundle
from core.formats.votes.sources import open_bytes
from core.formats.votes.tools.known_tools import read_items


def part(kind: str, passed: bool, score: float, value: str = "", **more: Any) -> dict[str, Any]:
    assertion = {"type": kind, "value": value} | more
    return {"pass": passed, "score": score, "reason": f"{kind} said so", "assertion": assertion}


def row(test: int, prompt: int, provider: str, output: str | None, *parts: Any) -> dict[str, Any]:
    passed = all(one["pass"] for one in parts)
    made = {
        "testIdx": test,
        "promptIdx": prompt,
        "provider": {"id": f"file://{provider}.js", "label": provider},
        "prompt": {"raw": f"Say it: question {test}", "label": "Say it: {{question}}"},
        "vars": {"question": f"question {test}", "_conversation": []},
        "testCase": {"description": f"case {test}"},
        "success": passed,
        "failureReason": 0,
        "response": {"output": output},
        "gradingResult": {"pass": passed, "score": 0.5, "reason": "in all",
                          "componentResults": list(parts)},
    }  # fmt: skip
    if output is None:
        made |= {"response": {}, "failureReason": 2, "error": "timed out", "gradingResult": None}
    return made


def rated(passed: bool) -> dict[str, Any]:
    """What the web view adds where a person presses thumbs up or down."""
    return {"pass": passed, "score": 1, "reason": "Manual result", "comment": "I would not",
            "assertion": {"type": "human"}}  # fmt: skip


#: Two tests, two systems. A model asks whether it is polite, everywhere in the same words; what is
#: contained differs from test to test, so its kind names it. A person overrode the second output.
ROWS = [
    row(0, 0, "one", "Paris", part("contains", True, 1, "Paris"),
        part("llm-rubric", True, 0.8, "is polite", provider="grader")),
    row(0, 1, "two", "Lyon", part("contains", False, 0, "Paris"),
        part("llm-rubric", True, 1, "is polite", provider="grader"), rated(True)),
    row(1, 0, "one", "Rome", part("contains", True, 1, "Rome"), part("contains", True, 1, "R"),
        part("llm-rubric", False, 0.2, "is polite", provider="grader")),
    row(1, 1, "two", None),
]  # fmt: skip
DOCUMENT = {
    "evalId": "eval-1",
    "results": {"version": 3, "prompts": [], "results": ROWS},
    "config": {"description": "capitals"},
}


def read(data: bytes, name: str) -> VoteBundle:
    source = open_bytes(data, name)
    kind = kind_of(source)
    assert kind == "promptfoo"
    return read_bundle(source, kind)


FORMS = {
    "out.json": json.dumps(DOCUMENT).encode(),
    "out.jsonl": "".join(json.dumps(one) + "\n" for one in ROWS).encode(),
    "rows.json": json.dumps(ROWS).encode(),
}


@pytest.mark.parametrize("name", FORMS)
def test_outputs_are_items_and_assertions_are_questions(name: str) -> None:
    found = read(FORMS[name], name)

    assert [item.id for item in found.dataset.items] == [
        "test 1, one", "test 1, two", "test 2, one", "test 2, two"]  # fmt: skip
    first = found.dataset.items[0]
    assert (first.prompt, first.submission) == ("Say it: question 0", "Paris")
    assert (first.system, first.description) == ("one", "case 0")
    assert first.meta == {"vars": {"question": "question 0"}}
    assert {c.name: c.scale for c in found.rubric.criteria} == {
        "passed": "binary", "contains": "binary", "contains (2)": "binary",
        "llm-rubric: is polite": "binary"}  # fmt: skip
    polite = [v for v in found.votes.rows if v.criterion == "llm-rubric: is polite"]
    assert [(v.rater, v.kind, v.option) for v in polite] == [
        ("llm-rubric (grader)", "llm", option) for option in (0, 0, 1)]  # fmt: skip
    assert polite[0].reason == "Score 0.8. llm-rubric said so"


def test_scores_behind_pass_and_fail_are_said_and_so_is_what_follows_from_the_others() -> None:
    rows = [row(n, 0, "one", f"City {n}", part("contains", n > 0, 1, "C"),
                part("llm-rubric", n > 1, n / 4, "is polite")) for n in range(4)]  # fmt: skip
    bundle = read_bundle(open_bytes(json.dumps(rows).encode(), "rows.json"), "promptfoo")
    said = [notice.message for notice in bundle.notices]
    assert (
        "'passed' is whether all assertions of an output hold: the other criteria say it." in said
    )
    # All scores of outputs are 0.5, those of politeness 0, 1/4, 2/4, 3/4.
    assert (
        "Passed or not is the answer of 'passed', 'llm-rubric: is polite'; the scores are in the "
        "reasons."
    ) in said


def test_what_follows_from_the_others_does_not_count_twice() -> None:
    rows = [row(n, 0, "one", f"Town {n}", part("contains", n > 0, 1, "T"),
                part("llm-rubric", n > 1, 1, "is short")) for n in range(3)]  # fmt: skip
    weights = ("passed", 0), ("contains: T", 1), ("llm-rubric: is short", 1)
    found = read(json.dumps(rows).encode(), "rows.json")
    assert {c.name: c.weight for c in found.rubric.criteria} == dict(weights)
    # A test that passed although an assertion failed (a threshold) says something of its own.
    own = rows[0] | {"gradingResult": rows[0]["gradingResult"] | {"pass": True}}
    found = read(json.dumps([own, *rows[1:]]).encode(), "rows.json")
    assert {c.weight for c in found.rubric.criteria} == {1}


def test_what_a_person_rated_by_hand_is_that_persons_answer() -> None:
    found = read(FORMS["out.json"], "out.json")

    passed = [(v.cell.item, v.rater, v.kind, v.option, v.failed) for v in found.votes.rows
              if v.criterion == "passed"]  # fmt: skip
    # Without the person the second output had failed: one of its two assertions does not hold.
    assert passed == [
        ("test 1, one", "promptfoo", "offline", 0, False),
        ("test 1, two", "person", "human", 0, False),
        ("test 1, two", "promptfoo", "offline", 1, False),
        ("test 2, one", "promptfoo", "offline", 1, False),
        ("test 2, two", "promptfoo", "offline", None, True),
    ]


def test_what_a_provider_did_not_answer_has_no_text_and_is_a_failure() -> None:
    found = read(FORMS["out.json"], "out.json")

    lost = found.dataset.items[3]
    assert (lost.submission, lost.meta["text_available"]) == ("", False)
    (vote,) = [v for v in found.votes.rows if v.cell.item == "test 2, two"]
    assert vote.reason == "timed out"


def table() -> bytes:
    each = ["Status", "Score", "Named Scores", "Metric: right", "Grader Reason", "Comment"]
    heads = ["Description", "question", "[one] Say it: {{question}}", *each,
             "[two] Say it: {{ question }}", *each]  # fmt: skip
    rows = [
        ["France", "capital?", "Paris", "PASS", "1.00", '{"right":1}', "1.00", "fine", "",
         "Lyon", "FAIL", "0.00", '{"right":0}', "0.00", "wrong", ""],
        ["", "four?", "4", "PASS", "1.00", "", "", "No assertions", "",
         "", "ERROR", "0.00", "", "", "", ""],
    ]  # fmt: skip
    made = io.StringIO()
    csv.writer(made).writerows([heads, *rows])
    return made.getvalue().encode()


def test_the_table_has_a_row_a_test_and_columns_for_each_output() -> None:
    found = read(table(), "out.csv")

    items = {item.id: (item.prompt, item.submission) for item in found.dataset.items}
    assert items == {
        "test 1, one, Say it: {{question}}": ("Say it: capital?", "Paris"),
        "test 1, two, Say it: {{ question }}": ("Say it: capital?", "Lyon"),
        "test 2, one, Say it: {{question}}": ("Say it: four?", "4"),
        "test 2, two, Say it: {{ question }}": ("Say it: four?", ""),
    }
    assert [(v.criterion, v.option, v.failed) for v in found.votes.rows] == [
        ("passed", 0, False), ("right", 0, False), ("passed", 1, False), ("right", 1, False),
        ("passed", 0, False), ("passed", None, True)]  # fmt: skip


def test_scores_by_name_are_criteria_and_every_heading_has_a_role() -> None:
    each = ["Status", "Score", "Named Scores", "Grader Reason", "Comment"]
    rows = [
        ["question", "[one] Say it: {{question}}", *each],
        ["capital?", "Paris", "FAIL", "0.25", '{"clear":0.5,"fit":0}', "Off the mark", "seen"],
        ["four?", "4", "PASS", "1.00", '{"clear":1,"fit":1}', "All passed", ""],
    ]
    made = io.StringIO()
    csv.writer(made).writerows(rows)
    found = read(made.getvalue().encode(), "out.csv")

    assert {(vote.cell.item, vote.criterion) for vote in found.votes.rows} == {
        (f"test {n}, one", name) for n in (1, 2) for name in ("passed", "clear", "fit")
    }
    whole = [vote.reason for vote in found.votes.rows if vote.criterion == "passed"]
    assert "0.25" in whole[0]
    assert "seen" in whole[0]
    assert [(role.column, role.role) for role in found.roles] == [
        ("question", "note"), ("[one] Say it: {{question}}", "text"), ("Status", "label"),
        ("Score", "reason"), ("Named Scores", "label"), ("Grader Reason", "reason"),
        ("Comment", "reason")]  # fmt: skip


def test_a_table_with_a_short_row_is_refused_with_its_line() -> None:
    with pytest.raises(InputError) as refused:
        read(table() + b"only,three,cells\n", "out.csv")

    assert refused.value.problems[0].line == 4


def test_its_outputs_can_be_graded_anew() -> None:
    found = read_items(FORMS["out.jsonl"], "out.jsonl")

    assert [item.submission for item in found.value.items] == ["Paris", "Lyon", "Rome", ""]


def test_outputs_without_numbers_are_told_by_what_was_asked() -> None:
    rows = [{k: v for k, v in row.items() if not k.endswith("Idx")} for row in ROWS]
    rows = [row | {"prompt": {}} for row in rows]
    document = DOCUMENT | {"results": {"results": rows}}
    bundle = read(json.dumps(document).encode(), "out.json")

    whole = read(FORMS["out.json"], "out.json")
    assert len(bundle.votes.rows) == len(whole.votes.rows)
    assert [item.id for item in bundle.dataset.items] == [item.id for item in whole.dataset.items]
    assert {item.prompt for item in bundle.dataset.items} == {"question 0", "question 1"}


@pytest.mark.parametrize(
    "data",
    [
        b'{"evalId": "x", "results": {"results": []}}',
        b'{"evalId": "x", "results": 3}',
        b'{"evalId": "x", "promptIdx": 1, "results": {"results": [1]}}',
    ],
)
def test_what_only_looks_like_it_is_not_taken_for_it(data: bytes) -> None:
    with pytest.raises(InputError):
        kind_of(open_bytes(data, "out.json"))
