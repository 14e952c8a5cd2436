"""Results of other tools, each in the shape its own files have, with what a person counts in them.

Shapes: DeepEval 4.3.1 (its own test run of two cases), Ragas 0.4.3 (the columns of its samples),
the API references of OpenAI, Langfuse, LangSmith and Phoenix, the task format of Label Studio, the
records of Argilla 2, and FastChat's judgments.
"""

from __future__ import annotations

import json
from typing import Any

import pytest

from core.errors import InputError
from core.formats.known import kind_of
from core.formats.votes.imported import VoteBundle
from core.formats.votes.reading import read_bundle
from core.formats.votes.scales import Bins
from core.formats.votes.sources import open_bytes
from core.formats.votes.tools import metric_runs
from core.formats.votes.tools.known_tools import read_results
from tests.formats.votes.foreign_files import KNOWN, lines


def read(text: str, name: str, kind: str, bins: Bins | None = None) -> VoteBundle:
    source = open_bytes(text.encode(), name)
    assert kind_of(source) == kind
    return read_bundle(source, kind, bins=bins)  # type: ignore[arg-type]


def votes(found: VoteBundle) -> list[tuple[Any, ...]]:
    """Item, question, rater, kind and the label, in the order of the file."""
    rubric = found.rubric
    return [
        (
            *(v.cell.item, v.criterion, v.rater, v.kind),
            None if v.option is None else rubric.criterion(v.criterion).choices[v.option].label,
        )
        for v in found.votes.rows
    ]


def metric(name: str, score: float | None, success: bool | None, **more: Any) -> dict[str, Any]:
    return {"name": name, "threshold": 0.5, "success": success, "score": score,
            "reason": "because", "evaluationModel": "some-model"} | more  # fmt: skip


DEEPEVAL = {
    "testCases": [
        {"name": "case 0", "input": "Where?", "actualOutput": "In Paris", "expectedOutput": "Paris",
         "retrievalContext": ["one", "two"],
         "metricsData": [metric("Faithful", 0.8, True), metric("Short", 1.0, True,
                         evaluationModel=None)]},
        {"name": "case 0", "input": "Who?", "actualOutput": "Nobody",
         "metricsData": [metric("Faithful", 0.2, False), metric("Short", None, None,
                         error="no answer in time")]},
    ],
    "metricsScores": [],
}  # fmt: skip


@pytest.mark.parametrize("value", [DEEPEVAL, {"testRunData": DEEPEVAL}])
def test_deepeval_test_cases_are_items_and_metrics_passed_or_not(value: Any) -> None:
    found = read(json.dumps(value), "run.json", "deepeval")

    assert votes(found) == [
        ("case 0", "Faithful", "some-model", "llm", "MET"),
        ("case 0", "Short", "deepeval", "offline", "MET"),
        ("case 0 (2)", "Faithful", "some-model", "llm", "UNMET"),
        ("case 0 (2)", "Short", "some-model", "llm", None),
    ]
    first = found.dataset.items[0]
    assert (first.prompt, first.submission, first.reference) == ("Where?", "In Paris", "Paris")
    assert first.context == {"retrieved": "one\n\ntwo"}
    assert [v.reason for v in found.votes.rows] == [
        "Score 0.8. because", "because", "Score 0.2. because", "no answer in time"]  # fmt: skip


def test_a_score_behind_a_pass_is_the_answer_where_steps_are_asked_for() -> None:
    found = read(json.dumps(DEEPEVAL), "run.json", "deepeval", Bins.of(["Faithful=0,0.5,0.9,1"]))

    # .8 lies between .5 and .9, .2 below .5; Short stays passed or not.
    assert [label for _, name, _, _, label in votes(found) if name == "Faithful"] == [
        "0.5 to 0.9", "0 to 0.5"]  # fmt: skip
    assert {c.name: c.scale for c in found.rubric.criteria} == {
        "Faithful": "ordinal", "Short": "binary"}  # fmt: skip


RAGAS = [
    {"user_input": "Where?", "retrieved_contexts": ["one", "two"], "response": "In Paris",
     "reference": "Paris", "faithfulness": 0.95, "answer_relevancy": None, "note": "a word"},
    {"user_input": "Who?", "retrieved_contexts": [], "response": "Nobody", "reference": "",
     "faithfulness": 0.31, "answer_relevancy": 0.5, "note": ""},
]  # fmt: skip


def ragas_table() -> str:
    rows = ["user_input,retrieved_contexts,response,reference,faithfulness,answer_relevancy,note"]
    rows += ["Where?,\"['one', 'two']\",In Paris,Paris,0.95,,a word"]
    rows += ["Who?,[],Nobody,,0.31,0.5,"]
    return "\n".join(rows) + "\n"


@pytest.mark.parametrize(
    ("name", "text"),
    [("a.json", json.dumps(RAGAS)), ("a.jsonl", lines(RAGAS)), ("a.csv", ragas_table())],
)
def test_ragas_columns_of_numbers_are_questions_in_steps(name: str, text: str) -> None:
    found = read(text, name, "ragas")

    # Five steps of 0.2; the empty cell is a failure of that metric.
    assert votes(found) == [
        ("row 1", "faithfulness", "ragas", "llm", "0.8 to 1"),
        ("row 1", "answer_relevancy", "ragas", "llm", None),
        ("row 2", "faithfulness", "ragas", "llm", "0.2 to 0.4"),
        ("row 2", "answer_relevancy", "ragas", "llm", "0.4 to 0.6"),
    ]
    assert found.dataset.items[0].context == {"retrieved contexts": "one\n\ntwo"}


def test_the_index_of_a_data_frame_is_no_metric_of_ragas() -> None:
    head = ",user_input,response,reference,faithfulness"
    rows = [head, *(f"{n},Who is {n}?,It is {n}.,Nobody,0.{n}" for n in range(4))]
    found = read("\n".join(rows) + "\n", "a.csv", "ragas")
    assert [criterion.name for criterion in found.rubric.criteria] == ["faithfulness"]
    assert not any("left out" in notice.message for notice in found.notices)


@pytest.mark.parametrize(
    "told",
    [
        "[{[]: 1}]",  # what no Python holds
        "[" + "[" * 50_000,
        "['a' 'b', ['c']]",
        "['a', 'b",
        "['\\x']",
        "['\\N{no such}']",
        "[" + "1," * 500_000 + "]",  # four seconds and 600 MB as Python
        "[" + "'a'," * 500_000 + "b",
        "[" + "-" * 500_000 + "1]",
    ],
    ids=range(9),
)
def test_a_list_in_a_table_that_is_none_of_texts_stays_as_it_is(told: str) -> None:
    assert metric_runs.texts_of_list(told) == told


def test_a_list_in_a_table_is_read_as_python_writes_it() -> None:
    told = ["It's", 'say "so"', "one, two", "a\nb\\", "caf\u00e9", "[x]", ""]
    assert metric_runs.texts_of_list(repr(told)) == told
    assert metric_runs.texts_of_list("[ 'a',\n 'b' , ]") == ["a", "b"]
    long = ["x" * 1_000_000] * 20
    assert metric_runs.texts_of_list(repr(long)) == long
    assert (metric_runs.texts_of_list("[]"), metric_runs.texts_of_list(["a"])) == ([], ["a"])


def output_item(number: int, passed: bool, **more: Any) -> dict[str, Any]:
    grader = {
        "name": "polite-" + "0" * 32,
        "passed": passed,
        "score": 0.75,
        "sample": {"model": "judge", "output": [{"role": "assistant", "content": "Fine."}]},
    }
    exact = {"name": "exact", "type": "string_check", "passed": not passed, "score": 0.0}
    return {
        "object": "eval.run.output_item", "id": f"o{number}", "datasource_item_id": number,
        "datasource_item": {"question": f"Question {number}", "answer": "?"},
        "results": [grader, exact],
        "sample": {"model": "gpt", "input": [{"role": "user", "content": f"Ask {number}"}],
                   "output": [{"role": "assistant", "content": f"Said {number}"}], "error": None},
    } | more  # fmt: skip


@pytest.mark.parametrize("page", [False, True])
def test_openai_graders_are_questions_that_an_output_passed_or_not(page: bool) -> None:
    items = [output_item(0, True), output_item(1, False)]
    text = json.dumps({"object": "list", "data": items} if page else items)

    found = read(text, "out.json", "openai_evals")

    assert votes(found) == [
        ("item 0", "polite", "judge", "llm", "MET"),
        ("item 0", "exact", "exact", "offline", "UNMET"),
        ("item 1", "polite", "judge", "llm", "UNMET"),
        ("item 1", "exact", "exact", "offline", "MET"),
    ]
    first = found.dataset.items[0]
    assert (first.prompt, first.submission, first.system) == ("Ask 0", "Said 0", "gpt")
    assert found.votes.rows[0].reason == "Score 0.75. Fine."


@pytest.mark.parametrize("name", [name for name in KNOWN if name.startswith("langfuse-scores")])
def test_langfuse_scores_hang_on_observations_and_people_annotate(name: str) -> None:
    found = read(KNOWN[name], name, "langfuse")

    # Eight scores on eight observations of four traces, by turns from a program and a person.
    assert len(found.dataset.items) == 8
    assert votes(found)[:2] == [
        ("trace-0/obs-0", "correct", "API", "offline", "UNMET"),
        ("trace-0/obs-1", "polite", "annotator", "human", "MET"),
    ]
    assert any("8 items come without their text" in str(n) for n in found.notices)


@pytest.mark.parametrize("name", [name for name in KNOWN if name.startswith("langsmith-feedback")])
def test_langsmith_feedback_of_the_app_is_a_persons(name: str) -> None:
    found = read(KNOWN[name], name, "langsmith")

    # Six of them on three runs, by turns from the API and from u1, u3 and u5.
    assert len(found.dataset.items) == 3
    assert [(q, r, k, label) for _, q, r, k, label in votes(found)][:2] == [
        ("correct", "api", "offline", "UNMET"),
        ("polite", "person u1", "human", "MET"),
    ]


def test_phoenix_annotations_say_who_annotated() -> None:
    rows = [
        {"span_id": "s1", "name": "relevant", "annotator_kind": "LLM", "identifier": "",
         "result": {"label": "relevant", "score": 1.0, "explanation": "It is."}},
        {"span_id": "s1", "name": "relevant", "annotator_kind": "HUMAN", "identifier": "kim",
         "result": {"label": "irrelevant", "score": 0.0, "explanation": None}},
    ]  # fmt: skip

    found = read(json.dumps({"data": rows, "next_cursor": None}), "spans.json", "phoenix")

    assert votes(found) == [
        ("s1", "relevant", "evaluator", "llm", "relevant"),
        ("s1", "relevant", "person kim", "human", "irrelevant"),
    ]


def test_label_studio_choices_ratings_predictions_and_truth() -> None:
    def mark(name: str, kind: str, value: Any) -> dict[str, Any]:
        return {"from_name": name, "to_name": "text", "type": kind, "value": value}

    tasks = [
        {
            "id": 7, "data": {"question": "Where?", "answer": "In Paris, by the river"},
            "annotations": [
                {"completed_by": {"id": 3, "email": "kim@example.org"}, "result": [
                    mark("tone", "choices", {"choices": ["warm"]}),
                    mark("stars", "rating", {"rating": 4}),
                    mark("tags", "choices", {"choices": ["short", "kind"]}),
                    mark("span", "labels", {"start": 0, "end": 2, "labels": ["x"]})]},
                {"completed_by": 5, "was_cancelled": True, "result": [
                    mark("tone", "choices", {"choices": ["cold"]})]},
                {"completed_by": 6, "ground_truth": True, "result": [
                    mark("tone", "choices", {"choices": ["cold"]})]},
            ],
            "predictions": [{"model_version": "m1", "result": [
                mark("stars", "rating", {"rating": 2})]}],
        }
    ]  # fmt: skip

    found = read(json.dumps(tasks), "project.json", "label_studio")

    assert votes(found) == [
        ("7", "tone", "annotator 3", "human", "warm"),
        ("7", "stars", "annotator 3", "human", "4"),
        ("7", "tags: short", "annotator 3", "human", "MET"),
        ("7", "tags: kind", "annotator 3", "human", "MET"),
        ("7", "stars", "m1", "llm", "2"),
    ]
    item = found.dataset.items[0]
    assert (item.prompt, item.submission) == ("Where?", "In Paris, by the river")
    assert item.labels["tone"].label == "cold"
    notes = " ".join(map(str, found.notices))
    assert "1 marks of the kind 'labels'" in notes
    assert "1 skipped by its annotator" in notes
    assert "kim@example.org" not in found.dataset.model_dump_json() + notes


@pytest.mark.parametrize("form", ["list", "document", "lines"])
def test_argilla_responses_are_peoples_and_suggestions_a_models(form: str) -> None:
    records = [
        {
            "id": "r1", "status": "completed", "metadata": {"part": "a"},
            "fields": {"prompt": "Say it.", "reply": "Here it is."},
            "suggestions": {"tone": {"value": "cold", "agent": "some-model", "score": None}},
            "responses": {
                "tone": [{"value": "warm", "user_id": "u1"}, {"value": "cold", "user_id": "u2"}],
                "stars": [{"value": 5, "user_id": "u1"}],
                "why": [{"value": "It is long. " * 20, "user_id": "u1"}]},
        }
    ]  # fmt: skip
    text = {
        "list": json.dumps(records),
        "document": json.dumps({"records": records}),
        "lines": lines(records),
    }[form]

    found = read(text, "records.json", "argilla")

    assert votes(found) == [
        ("r1", "tone", "u1", "human", "warm"),
        ("r1", "tone", "u2", "human", "cold"),
        ("r1", "stars", "u1", "human", "5"),
        ("r1", "tone", "some-model", "llm", "cold"),
    ]
    item = found.dataset.items[0]
    assert (item.prompt, item.submission, item.meta) == ("Say it.", "Here it is.", {"part": "a"})


def test_mt_bench_scores_are_levels_and_minus_one_is_a_failure() -> None:
    rows = [
        {"question_id": 81, "model": model, "judge": ["gpt-4", "single-v1"], "user_prompt": "p",
         "judgment": "Rating: [[9]]", "score": score, "turn": 1, "tstamp": 1.0}
        for model, score in (("a", 9), ("b", 7), ("c", -1))
    ]  # fmt: skip

    found = read(lines(rows), "gpt-4_single.jsonl", "mt_bench")

    # 7 to 9 in three levels.
    assert votes(found) == [
        ("question 81, turn 1, a", "score", "gpt-4", "llm", "9"),
        ("question 81, turn 1, b", "score", "gpt-4", "llm", "7"),
        ("question 81, turn 1, c", "score", "gpt-4", "llm", None),
    ]
    assert [i.system for i in found.dataset.items] == ["a", "b", "c"]


def test_results_without_a_single_score_are_refused() -> None:
    empty = {"testCases": [{"name": "a", "input": "x", "actualOutput": "y", "metricsData": []}]}

    with pytest.raises(InputError, match="holds no scores"):
        read(json.dumps(empty), "run.json", "deepeval")


def test_results_whose_every_score_is_empty_are_refused_as_such() -> None:
    turn = {
        "question_id": 81,
        "model": "a",
        "judge": ["gpt-4", "single-v1"],
        "score": -1,
        "turn": 1,
    }

    with pytest.raises(InputError, match="holds no scores"):
        read(lines([turn | {"user_prompt": "u", "judgment": "j"}]), "single.jsonl", "mt_bench")


def test_a_column_of_ragas_with_a_word_among_its_numbers_is_left_out_and_named() -> None:
    row = {"user_input": "q", "response": "r", "reference": "t", "recall": 0.5}
    rows = [row | {"faithfulness": "0,5", "note": ""}, row | {"faithfulness": 1}]
    found = read(json.dumps(rows), "ragas.json", "ragas")
    assert {criterion.name for criterion in found.rubric.criteria} == {"recall"}
    (said,) = [n.message for n in found.notices if "left out" in n.message]
    assert said == "Columns left out, because not all their values are numbers: 'faithfulness'."


def test_yes_beside_a_verdict_is_no_score() -> None:
    metric = {"name": "m", "success": True, "score": True, "evaluationModel": "j"}
    case = {"name": "a", "input": "q", "actualOutput": "x", "metricsData": [metric]}
    (answer,) = read_results(json.dumps({"testCases": [case]}).encode(), "run.json").answers
    # Python counts True as 1; whoever wrote it said yes, not a score of 1.
    assert (answer.value, answer.number) == (True, None)
