"""Rubrics, tasks and annotations in the shapes of other tools' repositories; the words are ours.

Shapes: prometheus-eval (commit 7ec1c11), the Feedback Collection's columns, ragas, openai/evals
(registry/modelgraded, commit 38eb92c), autorubric 1.6 (`RubricDataset.to_json`), researchrubrics
(DATA_FORMAT.md, commit 5403ff3), HealthBench's tasks, PaperBench's graded trees, the exports of
Label Studio (CSV) and Prodigy (`db-out`).
"""

from __future__ import annotations

import json
from typing import Any

from tests.formats.rubrics.test_benchmarks import HEALTH, node

LEVELS = (
    "Names no step at all.",
    "Names a vague step.",
    "Names one step.",
    "Names one step and why.",
    "Names every step in order.",
)
SCALE = {f"score{n}_description": text for n, text in enumerate(LEVELS, 1)}
PROMETHEUS: dict[str, Any] = {"criteria": "Does the reply name the next step?", **SCALE}
REPLY = "Walk along the river first, and then have lunch."
BIGGEN = [
    {"id": f"trip_{n}", "capability": "planning", "task": "trip", "instance_idx": n,
     "system_prompt": "You plan trips.", "input": "Plan a day in Lyon.",
     "reference_answer": "Walk, lunch, museum.", "score_rubric": PROMETHEUS,
     "response": REPLY, "response_model_name": "some-model"}
    for n in range(2)
]  # fmt: skip
FEEDBACK = [
    {"orig_instruction": "Plan a day.", "orig_response": REPLY,
     "orig_reference_answer": "Walk, lunch, museum.",
     **{f"orig_{key}": text for key, text in PROMETHEUS.items()},
     "orig_score": str(score), "orig_feedback": "It names a step.",
     "instruction": "###Task Description: An instruction, a response ...",
     "output": f"It names a step. [RESULT] {score}", "input": ""}
    for score in (3, 5)
]  # fmt: skip
SCORING = """scoring_criteria:
  - name: accuracy
    description: The facts are right.
    weight: 6
    scores: {1: Wrong facts, 3: Some right, 5: All right}
  - name: tone
    description: The reply is kind.
    weight: 4
"""
DEBATE = {
    "title": "Panel talk",
    "version": 2,
    "criteria": [
        {"id": f"c{n}", "name": name, "weight": weight}
        | {"levels": [{"points": p, "label": label, "description": f"{name} {p}"}
                      for p, label in enumerate(("Low", "Mid", "High"))]}
        for n, (name, weight) in enumerate((("Opening", 30), ("Closing", 20)))
    ],
}  # fmt: skip
FACT = """prompt: |-
  Compare the answer with the expert's.
  [BEGIN DATA]
  ************
  [Question]: {input}
  ************
  [Submission]: {completion}
  ************
  [END DATA]
  Choose one:
  (A) It says less.
  (B) It says more.
  (C) It contradicts.
choice_strings: ABC
choice_scores: {A: 0.5, B: 1.0, C: 0.0}
input_outputs: {input: completion}
"""
CLOSED = """closedqa:
  prompt: |-
    Does the submission meet the criterion?
    [Submission]: {completion}
    [Criterion]: {criteria}
  eval_type: cot_classify
  choice_scores: {"Y": 1.0, "N": 0.0}
  choice_strings: 'YN'
  args:
    criteria:
      short: "shortness: Is the answer short?"
      right: "rightness: Is the answer right?"
  input_outputs: {input: completion}
"""
LIKERT = """prompt: |-
  Is this funny?

  {completion}
choice_strings: "12345"
choice_scores: from_strings
input_outputs: {input: completion}
"""
BATTLE = """prompt: |-
  [Response 1] {completion1}
  [Response 2] {completion2}
  Which is better?
choice_strings: [first, second]
input_outputs: {input1: completion1, input2: completion2}
"""
AUTORUBRIC: dict[str, Any] = {
    "name": "refunds",
    "prompt": "Answer the customer.",
    "rubric": {
        "criteria": [
            {"name": "policy", "weight": 10, "requirement": "States the 30-day limit"},
            {"name": "tone", "weight": 4, "requirement": "How warm is it?", "scale_type": "ordinal",
             "options": [{"label": "Cold", "value": 0.0, "na": False},
                         {"label": "Warm", "value": 1.0, "na": False}]},
        ]
    },
    "items": [
        {"submission": "You have 30 days.", "description": "good", "ground_truth": ["MET", "Warm"]},
        {"submission": "No.", "description": "curt", "ground_truth": ["UNMET", "Cold"]},
    ],
}  # fmt: skip
TASKS = [
    {"prompt_id": f"p{n}", "prompt": [{"role": "user", "content": "I have a cough."}],
     "rubrics": HEALTH, "example_tags": ["theme:x"], "ideal_completions_data": None}
    for n in range(2)
]  # fmt: skip
RESEARCH = [
    {"sample_id": f"s{n}", "prompt": "Report on bees in the city.", "domain": "Science",
     "rubrics": [{"criterion": "Names two causes.", "weight": 5.0, "axis": "Explicit Criteria"},
                 {"criterion": "Invents figures.", "weight": -4.0, "axis": "Implicit Criteria"}]}
    for n in range(3)
]  # fmt: skip
TITLES = [
    {"title": "Names its sources", "weight": 1.0, "category": "Accuracy", "row_index": 1},
    {"title": "Cites by page", "weight": 0.5, "category": "References", "row_index": 2},
]


def graded(score: float, why: str, **more: Any) -> dict[str, Any]:
    return {"score": score, "valid_score": True, "explanation": why, "judge_metadata": {}} | more


#: Two leaves with a score, and one that could not be judged.
GRADED = node(
    "The paper is reproduced.", 1,
    node("The code is written.", 3,
         node("It trains.", 2, task_category="Code Development", **graded(1, "train.py trains.")),
         node("It loads.", 1, task_category="Code Execution", **graded(0, "No log.")),
         **graded(0.67, "Aggregated")),
    node("The result holds.", 1, **graded(0, "Broken off.", valid_score=False)),
    **graded(0.5, "Aggregated"),
)  # fmt: skip
#: Two people on the first task, one on the second; spans that are no votes.
LABEL_STUDIO_TABLE = (
    "text,id,mood,topics,words,annotator,annotation_id,created_at,updated_at,lead_time\n"
    'The soup was cold.,1,Negative,"{""choices"": [""food"", ""service""]}",'
    '"[{""start"": 0, ""end"": 3}]",ann@example.org,11,2026-01-02T10:00:00Z,x,3.2\n'
    "A fine evening.,2,Positive,food,,ann@example.org,12,2026-01-02T10:01:00Z,x,2.2\n"
    "The soup was cold.,1,Neutral,food,,bob@example.org,13,2026-01-02T10:02:00Z,x,4.2\n"
)


def decision(hash: int, text: str, answer: str, who: str = "set-ann") -> dict[str, Any]:
    task = {"text": text, "label": "COMPLAINT", "_input_hash": hash, "_task_hash": 1000 + hash}
    return task | {"answer": answer, "_session_id": who, "_view_id": "classification"}


PRODIGY = [
    decision(11, "The parcel came late.", "accept"),
    decision(11, "The parcel came late.", "reject", "set-bob"),
    decision(12, "Nice socks.", "reject"),
    decision(13, "???", "ignore"),
]
OPTIONS = [{"id": "POS", "text": "positive"}, {"id": "NEG", "text": "negative"}]
CHOICES = [
    {"text": text, "options": OPTIONS, "config": {"choice_style": "single"}, "accept": [chosen],
     "answer": "accept", "_input_hash": hash, "_task_hash": hash, "_annotator_id": "set-ann"}
    for hash, text, chosen in ((11, "The parcel came late.", "NEG"), (12, "Nice socks.", "POS"))
]  # fmt: skip


def _feedback(n: int, thumb: int, details: dict[str, int], reason: str = "") -> dict[str, Any]:
    """A user's feedback on the second message of a chat, which goes on after it."""
    said = [("user", f"Name a river, {n}."), ("assistant", f"Brook {n}."), ("user", "Thanks!")]
    messages = {
        f"m{n}-{at}": {"id": f"m{n}-{at}", "parentId": f"m{n}-{at - 1}" if at else None}
        | {"role": role, "content": text}
        for at, (role, text) in enumerate(said)
    }
    chat = {"history": {"messages": messages}, "messages": [*messages.values()]}
    data = {"rating": thumb, "model_id": "pine:1b", "reason": reason, "details": details}
    return {
        "id": f"f{n}",
        "user_id": f"u{n % 2}",
        "type": "rating",
        "data": data | {"sibling_model_ids": None, "comment": "Too short." if thumb < 0 else ""},
        "meta": {"message_id": f"m{n}-1", "base_models": {"pine:1b": None}},
        "snapshot": {"chat": {"id": f"c{n}", "chat": chat}},
    }


#: Thumbs of two users, two with a score and a reason.
OPEN_WEBUI = [
    _feedback(1, 1, {"rating": 9}, "accurate_information"),
    _feedback(2, -1, {"rating": 2}, "too_verbose"),
    _feedback(3, 1, {}),
]
#: Two documents under two filters; the metric is 1 for the answer that is exactly the target.
LM_EVAL = [
    {"doc_id": n, "doc": {"question": f"What is {n} and 1?"}, "target": str(n + 1),
     "arguments": {"gen_args_0": {"arg_0": f"Q: What is {n} and 1? A:", "arg_1": {"until": []}}},
     "resps": [[f"I say {n + 1}."]], "filtered_resps": [f"{n + 1}"], "filter": filter,
     "metrics": ["exact_match"], "exact_match": float(filter == "flexible")}
    for n in range(2) for filter in ("strict", "flexible")
]  # fmt: skip
#: A paper, and two reviews of it; the words behind a number are its description.
OPENREVIEW = [
    {"id": "p1", "forum": "p1", "signatures": ["Venue/Authors"],
     "content": {"title": {"value": "A"}}},
    *(
        {"id": f"r{n}", "forum": "p1", "signatures": [f"Venue/Paper1/Reviewer_{who}"],
         "content": {"title": {"value": "Review"}, "summary": {"value": "It bends light."},
                     "soundness": {"value": f"{n} fair"}, "rating": {"value": f"{n + 4}: accept"},
                     "confidence": {"value": 3}}}
        for n, who in ((2, "aB1"), (3, "cD2"))
    ),
]  # fmt: skip


def lines(rows: list[dict[str, Any]]) -> str:
    return "".join(json.dumps(row) + "\n" for row in rows)
