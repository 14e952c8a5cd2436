"""Small files as other tools write them. All texts are made up; only the formats are theirs.

None of them is a table of votes as we read one, though most hold columns of few short words: some
are known as that tool's results, and the others refused.
"""

from __future__ import annotations

import csv
import io
import json
from typing import Any


def lines(rows: list[dict[str, Any]]) -> str:
    return "".join(json.dumps(row) + "\n" for row in rows)


def table(rows: list[dict[str, Any]]) -> str:
    out = io.StringIO()
    writer = csv.DictWriter(out, list(rows[0]))
    writer.writeheader()
    for row in rows:
        nested = {k: json.dumps(v) for k, v in row.items() if isinstance(v, dict | list)}
        writer.writerow(row | nested)
    return out.getvalue()


def _uuid(n: int) -> str:
    return f"{n:08x}-1111-4222-8333-{n:012x}"


def _time(n: int) -> str:
    return f"2026-03-{n + 1:02d}T10:{n:02d}:00.000Z"


LANGFUSE_SCORES = [
    {
        "id": _uuid(n),
        "traceId": f"trace-{n // 2}",
        "observationId": f"obs-{n}",
        "name": ("correct", "polite")[n % 2],
        "value": n % 2,
        "stringValue": ("False", "True")[n % 2],
        "dataType": "BOOLEAN",
        "source": ("API", "ANNOTATION")[n % 2],
        "comment": "",
        "timestamp": _time(n),
        "userId": f"user-{n % 3}",
        "environment": "default",
    }
    for n in range(8)
]
CHATS = [
    {
        "messages": [
            {"role": "system", "content": "Be brief."},
            {"role": "user", "content": f"Question {n}?"},
            {"role": "assistant", "content": f"Answer {n}."},
        ]
    }
    for n in range(3)
]
LANGSMITH_RUNS = [
    {
        "id": _uuid(n),
        "name": "chain",
        "run_type": "llm",
        "inputs": {"question": f"Where is place {n}?"},
        "outputs": {"answer": f"In land {n}."},
        "status": "success",
        "start_time": _time(n),
        "end_time": _time(n),
        "is_root": True,
        "cached": n % 2 == 0,
        "total_tokens": 40 + n,
        "feedback_stats": {"correct": {"n": 1, "avg": 1.0}},
    }
    for n in range(4)
]
LANGSMITH_FEEDBACK = [
    {
        "id": _uuid(n),
        "run_id": _uuid(100 + n // 2),
        "key": ("correct", "polite")[n % 2],
        "score": n % 2,
        "value": None,
        "comment": "",
        "feedback_source": {"type": ("api", "app")[n % 2], "user_id": f"u{n}"},
        "created_at": _time(n),
        "modified_at": _time(n),
    }
    for n in range(6)
]
ARGILLA_RECORDS = [
    {
        "id": _uuid(n),
        "fields": {"prompt": f"Say {n}.", "reply": f"Here is {n}."},
        "metadata": {"split": "a"},
        "suggestions": {"tone": {"value": "warm", "agent": "some-model"}},
        "responses": {"tone": [{"value": "warm", "user_id": _uuid(7)}]},
        "status": "completed",
    }
    for n in range(3)
]
LABEL_STUDIO = [
    {
        "id": n,
        "data": {"text": f"A reply {n}."},
        "annotations": [
            {
                "id": 10 + n,
                "completed_by": 1 + n % 2,
                "result": [
                    {"from_name": "tone", "type": "choices", "value": {"choices": ["warm"]}}
                ],
            }
        ],
        "predictions": [],
        "created_at": _time(n),
        "project": 1,
    }
    for n in range(3)
]
OPENAI_EVAL = [
    {"input": [{"role": "user", "content": f"How much is {n} and {n}?"}], "ideal": str(2 * n)}
    for n in range(3)
]
OPENAI_EVAL_LOG = [
    {
        "run_id": "260301ABCDEF",
        "event_id": n,
        "sample_id": f"sums.dev.{n}",
        "type": ("sampling", "match")[n % 2],
        "data": {"correct": True, "expected": "4", "picked": "4"},
        "created_by": "",
        "created_at": _time(n),
    }
    for n in range(4)
]
OPENAI_BATCH_IN = [
    {
        "custom_id": f"request-{n}",
        "method": "POST",
        "url": "/v1/chat/completions",
        "body": {"model": "some-model", "messages": [{"role": "user", "content": f"Hello {n}"}]},
    }
    for n in range(3)
]
OPENAI_BATCH_OUT = [
    {
        "id": f"batch_req_{n}",
        "custom_id": f"request-{n}",
        "response": {
            "status_code": 200,
            "body": {
                "choices": [{"message": {"role": "assistant", "content": f"Hello, number {n}."}}]
            },
        },
        "error": None,
    }
    for n in range(3)
]

#: What to call a file, and what stands in it: nothing that is known as votes or as a dataset.
FOREIGN: dict[str, str] = {
    "chats.jsonl": lines(CHATS),
    "chats-with-ids.jsonl": lines([{"id": n, **chat} for n, chat in enumerate(CHATS)]),
    "langsmith-runs.jsonl": lines(LANGSMITH_RUNS),
    "openai-eval.jsonl": lines(OPENAI_EVAL),
    "openai-eval-log.jsonl": lines(OPENAI_EVAL_LOG),
    "openai-batch-in.jsonl": lines(OPENAI_BATCH_IN),
    "openai-batch-out.jsonl": lines(OPENAI_BATCH_OUT),
}
#: The same of tools whose results are known.
KNOWN: dict[str, str] = {
    "langfuse-scores.jsonl": lines(LANGFUSE_SCORES),
    "langfuse-scores.csv": table(LANGFUSE_SCORES),
    "langfuse-scores.json": json.dumps(LANGFUSE_SCORES),
    "langfuse-score.jsonl": lines(LANGFUSE_SCORES[:1]),
    "langsmith-feedback.jsonl": lines(LANGSMITH_FEEDBACK),
    "langsmith-feedback.csv": table(LANGSMITH_FEEDBACK),
    "argilla-records.json": json.dumps(ARGILLA_RECORDS),
    "label-studio.json": json.dumps(LABEL_STUDIO),
}
