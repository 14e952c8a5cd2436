"""A small file of every format that people bring, and what a person counts in it.

The texts are made up; the shapes are those of the modules that test each reader in detail. Both
doors are held to these counts: the command line (`tests/cli`) and the page (`tests/pages`); the
table in `docs/formats.md` is made of them.
"""

from __future__ import annotations

import io
import json
from collections.abc import Callable, Mapping
from typing import Literal, NamedTuple

import pyarrow as pa
import pyarrow.feather as feather
import pyarrow.parquet as pq
from openpyxl import Workbook

from core.formats.rubrics.tables.canvas import canvas_rubric
from core.formats.rubrics.tables.level_tables import moodle_csv
from tests.formats import foreign_shapes
from tests.formats.datasets.test_submissions import CANVAS, FILES, MOODLE
from tests.formats.office.documents import docx, grid, locked_pdf, pdf
from tests.formats.office.workbooks import VOTES, ods, ods_row, xlsx, zipped
from tests.formats.rubrics.rubric_tables import PLAIN
from tests.formats.rubrics.test_benchmarks import HEALTH, ROW, TREE
from tests.formats.rubrics.test_evalassist import CASE
from tests.formats.rubrics.test_grid import WORD
from tests.formats.rubrics.test_office_tables import GRID
from tests.formats.rubrics.test_unitxt import WARMTH
from tests.formats.votes import test_gradescope, test_vote_folders
from tests.formats.votes.foreign_files import KNOWN, lines
from tests.formats.votes.tools import test_inspect_logs, test_other_tools, test_promptfoo
from tests.formats.votes.tools.test_pair_votes import BATTLES

MARKDOWN_TEXTS = "# Class\n\n## Ann\n\nI like boats, all of them.\n\n## Bob\n\nI do not.\n"
MARKDOWN_GRID = (
    "Look twice.\n\n| Criterion | Good (2) | Poor (0) |\n|---|---|---|\n| Hull | dry | wet |\n"
    "| Mast | straight | bent |\n"
)

Door = Literal["votes", "items", "rubric"]


class Brought(NamedTuple):
    """A file, the door it goes through, and what is counted in it."""

    format: str
    file: str
    data: bytes
    door: Door
    counts: Mapping[str, int]


def votes(
    format: str, file: str, data: bytes | str, counts: tuple[int, int, int, int, int, int]
) -> Brought:
    """Counts: votes, abstentions among them, empty answers, raters, items, criteria."""
    names = ("votes", "abstentions", "failures", "raters", "items", "criteria")
    return Brought(format, file, _bytes(data), "votes", dict(zip(names, counts, strict=True)))


def items(format: str, file: str, data: bytes | str, count: int) -> Brought:
    """A dataset of so many items."""
    return Brought(format, file, _bytes(data), "items", {"items": count})


def rubric(format: str, file: str, data: bytes | str, criteria: int) -> Brought:
    """A rubric of so many criteria."""
    return Brought(format, file, _bytes(data), "rubric", {"criteria": criteria})


def _bytes(data: bytes | str) -> bytes:
    return data if isinstance(data, bytes) else data.encode()


def columns(write: Callable[[pa.Table, io.BytesIO], object]) -> bytes:
    """Two essays as a file of columns."""
    buffer = io.BytesIO()
    write(pa.table({"id": ["a", "b"], "essay": ["One.", "Two."]}), buffer)
    return buffer.getvalue()


SHAPES = {"out.json": "JSON", "out.jsonl": "JSON lines", "rows.json": "its rows"}
LONG = "item,rater,label\na,kim,yes\na,gpt-4,no\nb,kim,no\nb,gpt-4,\n"
FORM = (
    "Timestamp,Email Address,Why do leaves turn red?\n"
    "11/3/2026 10:15:02,ann@example.org,"
    "The green of a leaf fades in autumn and what was below it shows.\n"
    "11/3/2026 10:17:40,bob@example.org,"
    "Because it is cold and a tree takes back what it needs from them.\n"
)
TALK = json.dumps([{"role": "user", "content": "Hi"}, {"role": "assistant", "content": "Hello."}])
CHATS = 'id,submission\na,"' + TALK.replace('"', '""') + '"\n'
MT_BENCH = [
    {"question_id": 81, "model": model, "judge": ["gpt-4", "single-v1"], "user_prompt": "p",
     "judgment": "Rating", "score": score, "turn": 1, "tstamp": 1.0}
    for model, score in (("a", 9), ("b", 7), ("c", -1))
]  # fmt: skip
PHOENIX = [
    {"span_id": "s1", "name": "relevant", "annotator_kind": kind, "identifier": who,
     "result": {"label": label, "score": score, "explanation": None}}
    for kind, who, label, score in (("LLM", "", "yes", 1.0), ("HUMAN", "kim", "no", 0.0))
]  # fmt: skip
GERMAN = "id;answer;note\n1;Köln – “schön”, 5 €, und noch viel mehr davon als sonst;gut\n"
OPENAI = json.dumps([test_other_tools.output_item(0, True), test_other_tools.output_item(1, False)])

BROUGHT: tuple[Brought, ...] = (
    # Votes. Two people or models, two items: three answers and an empty cell.
    votes("CSV, an answer a row", "votes.csv", LONG, (3, 0, 1, 2, 2, 1)),
    votes("TSV, an answer a row", "votes.tsv", LONG.replace(",", "\t"), (3, 0, 1, 2, 2, 1)),
    votes("CSV, a rater a column", "wide.csv", "id,kim,lee\na,1,2\nb,3,3\n", (4, 0, 0, 2, 2, 1)),
    # Eight essays, two raters.
    votes(".xlsx, a rater a column", "class.xlsx", xlsx({"Marks": VOTES}), (16, 0, 0, 2, 8, 1)),
    votes(
        ".ods, a rater a column", "class.ods",
        ods({"Marks": "".join(ods_row(*map(str, row)) for row in VOTES)}), (16, 0, 0, 2, 8, 1),
    ),
    votes(
        "JSON lines, an answer a row", "votes.jsonl",
        lines([{"item": i, "rater": r, "label": v} for i, r, v in
               (("a", "kim", "yes"), ("a", "lee", "no"), ("b", "kim", "no"))]),
        (3, 0, 0, 2, 2, 1),
    ),
    # One of two rows has no label.
    votes(
        "Common layout, zip", "replies.zip",
        test_vote_folders.zipped(test_vote_folders.LAYOUT), (1, 0, 1, 1, 2, 1),
    ),
    # Ada: UNMET, MET, Warm, abstained; Bea: an error and abstained.
    votes(
        "Autorubric, experiment", "pilot.zip",
        test_vote_folders.experiment(*test_vote_folders.TWO), (5, 2, 1, 2, 2, 2),
    ),
    # Two of three submissions were graded, on two columns.
    votes("Gradescope, a question", "Question 1.csv", test_gradescope.FIRST, (4, 0, 0, 2, 3, 2)),
    votes(
        "Gradescope, an assignment", "evaluations.zip",
        test_gradescope.archive(Q1=test_gradescope.FIRST, Q2=test_gradescope.SECOND),
        (8, 0, 0, 2, 3, 4),
    ),
    # match 4, the model 4 and a person who edited one, length 3 and no number, two parts of four.
    # Of five raters the four scorers answered an output twice, and count as two each.
    *(
        votes(f"Inspect, {file.rpartition('.')[2]}", file, data, (20, 0, 1, 9, 3, 4))
        for file, data in test_inspect_logs.FORMS.items()
    ),
    # passed 3, a person and none for an output in error; contains 3 and 1; polite 3.
    *(
        votes(f"promptfoo, {SHAPES[file]}", file, data, (11, 0, 1, 3, 4, 4))
        for file, data in test_promptfoo.FORMS.items()
    ),
    votes("promptfoo, CSV", "out.csv", test_promptfoo.table(), (5, 0, 1, 1, 4, 2)),
    # Two cases, two metrics; one metric failed.
    votes(
        "DeepEval", "run.json", json.dumps(test_other_tools.DEEPEVAL), (3, 0, 1, 2, 2, 2)
    ),
    votes("Ragas, JSON", "ragas.json", json.dumps(test_other_tools.RAGAS), (3, 0, 1, 1, 2, 2)),
    votes("Ragas, CSV", "ragas.csv", test_other_tools.ragas_table(), (3, 0, 1, 1, 2, 2)),
    # Two outputs, two graders.
    votes("OpenAI evals", "out.json", OPENAI, (4, 0, 0, 2, 2, 2)),
    # Scores of 9, 7 and -1, which is a failure.
    votes("MT-Bench", "gpt-4_single.jsonl", lines(MT_BENCH), (2, 0, 1, 1, 3, 1)),
    votes("Chatbot Arena", "battles.jsonl", lines(BATTLES), (5, 0, 0, 1, 5, 1)),
    votes("Langfuse, CSV", "scores.csv", KNOWN["langfuse-scores.csv"], (8, 0, 0, 2, 8, 2)),
    votes("Langfuse, JSON", "scores.json", KNOWN["langfuse-scores.json"], (8, 0, 0, 2, 8, 2)),
    # Three by the API, one each by three people.
    votes("LangSmith", "feedback.csv", KNOWN["langsmith-feedback.csv"], (6, 0, 0, 4, 3, 2)),
    votes("Phoenix", "spans.json", json.dumps(PHOENIX), (2, 0, 0, 2, 1, 1)),
    # Three records, each with a person's response and a model's suggestion.
    votes("Argilla", "records.json", KNOWN["argilla-records.json"], (6, 0, 0, 2, 3, 1)),
    votes("Label Studio", "project.json", KNOWN["label-studio.json"], (3, 0, 0, 2, 3, 1)),
    # Two leaves and one that could not be judged.
    votes(
        "PaperBench, graded", "graded.json", json.dumps(foreign_shapes.GRADED), (2, 0, 1, 1, 1, 3)
    ),
    # Three annotations: a mood, and two topics each.
    votes(
        "Label Studio, CSV", "project.csv", foreign_shapes.LABEL_STUDIO_TABLE, (9, 0, 0, 2, 2, 3)
    ),
    # Four decisions, one of them ignored.
    votes("Prodigy", "set.jsonl", lines(foreign_shapes.PRODIGY), (3, 0, 0, 2, 3, 1)),
    # Three thumbs, two scores, two reasons.
    votes(
        *("Open WebUI", "feedback.json", json.dumps(foreign_shapes.OPEN_WEBUI)), (7, 0, 0, 2, 3, 3)
    ),
    # Two documents, a question for each of two filters.
    votes(
        "lm-evaluation-harness", "samples.jsonl", lines(foreign_shapes.LM_EVAL), (4, 0, 0, 1, 2, 2)
    ),
    # Two reviews of a paper with two scores each.
    votes(
        *("OpenReview", "notes.json", json.dumps({"notes": foreign_shapes.OPENREVIEW[1:]})),
        (4, 0, 0, 2, 1, 2),
    ),
    # Items.
    items("CSV of texts", "items.csv", "id,submission\na,x\nb,y\n", 2),
    items("CSV, Windows-1252", "note.csv", GERMAN.encode("cp1252"), 1),
    items("CSV, UTF-16", "note16.csv", GERMAN.encode("utf-16"), 1),
    items("CSV, titles above", "spring.csv", "Of spring\n\nid,answer,mark\na,x,1\nb,y,2\n", 2),
    items("Google Forms", "answers.csv", FORM, 2),
    items("CSV, conversations in cells", "chats.csv", CHATS, 1),
    items("JSON", "items.json", json.dumps([{"id": "a", "submission": "x"}]), 1),
    items("JSON lines", "items.jsonl", '{"id": "a", "submission": "x"}\n', 1),
    items(".xlsx", "essays.xlsx", xlsx({"S": [["ID", "Essay"], ["7", "One."], ["8", "B."]]}), 2),
    items("Parquet", "essays.parquet", columns(pq.write_table), 2),
    items("Arrow", "essays.arrow", columns(feather.write_feather), 2),
    items("EvalAssist, test case", "case.json", json.dumps(CASE), 3),
    items("HealthBench", "health.jsonl", json.dumps(ROW) + "\n", 1),
    items("HealthBench, tasks alone", "tasks.jsonl", lines(foreign_shapes.TASKS), 2),
    items("ResearchRubrics, tasks alone", "research.jsonl", lines(foreign_shapes.RESEARCH), 3),
    items("BiGGen Bench", "biggen.json", json.dumps(foreign_shapes.BIGGEN), 2),
    items("Feedback Collection", "feedback.jsonl", lines(foreign_shapes.FEEDBACK), 2),
    items("Autorubric, dataset", "refunds.json", json.dumps(foreign_shapes.AUTORUBRIC), 2),
    # Six of ten files are submissions; four files of three participants, twice.
    items("Zip of documents", "essays.zip", zipped(FILES), 6),
    items("Moodle, archive", "moodle.zip", zipped(MOODLE), 3),
    items("Canvas, archive", "canvas.zip", zipped(CANVAS), 3),
    items("PDF", "essay.pdf", pdf("One page."), 1),
    items("Markdown, texts below headings", "class.md", MARKDOWN_TEXTS, 2),
    # Rubrics.
    rubric("YAML", "r.yaml", "criteria:\n- {name: cites, requirement: Cites a source.}\n", 1),
    rubric("Canvas", "lab.csv", canvas_rubric(PLAIN).text, 2),
    rubric("Moodle", "moodle.csv", moodle_csv(PLAIN).text, 2),
    rubric(
        "Levels with descriptors",
        "desk.csv",
        "Criterion,Level,Label,Descriptor\nTone,0,Low,Cold\nTone,1,High,Warm\n"
        "Wit,0,Low,None\nWit,1,High,Two jokes\n",
        2,
    ),
    rubric("Criteria with levels", "debate.json", json.dumps(foreign_shapes.DEBATE), 2),
    rubric("Grid, pasted", "thesis.tsv", WORD, 2),
    rubric("Grid, .xlsx", "grid.xlsx", xlsx({"Rubric": GRID}), 2),
    rubric("Grid, .docx", "grid.docx", docx("Rubric", grid(GRID)), 2),
    rubric("Grid, Markdown", "grid.md", MARKDOWN_GRID, 2),
    rubric(
        "Criteria and points", "points.csv",
        "Criterion,Description,Points\nTask,Keeps to the task,2\nFacts,Tells facts,4\n", 2,
    ),
    rubric("unitxt", "warm.json", json.dumps(WARMTH), 1),
    rubric("HealthBench, rubric", "health.json", json.dumps(HEALTH), 2),
    # Three leaves of the tree.
    rubric("PaperBench", "paper.json", json.dumps(TREE), 3),
    rubric("Prometheus", "step.json", json.dumps(foreign_shapes.PROMETHEUS), 1),
    rubric("Ragas, described scores", "scores.json", json.dumps(foreign_shapes.SCALE), 1),
    rubric("promptfoo, scoring criteria", "scoring.yaml", foreign_shapes.SCORING, 2),
    rubric("OpenAI evals, model-graded", "closedqa.yaml", foreign_shapes.CLOSED, 2),
    rubric("ResearchRubrics", "titles.json", json.dumps(foreign_shapes.TITLES), 2),
)  # fmt: skip


def merged(book: Workbook) -> None:
    """A heading over two columns."""
    sheet = book.active
    assert sheet is not None
    sheet.merge_cells("B1:C1")


_FORMULAS = {"S": [["id", "submission", "mark"], ["a", "x", "=1+1"]]}
_TWO = ["item", "ann", "bob"], ["a", "y", "n"], ["b", "n", "n"]
#: Files that cannot be read, and what the one sentence says of each.
BAD: dict[str, tuple[str, bytes, str]] = {
    "truncated workbook": ("class.xlsx", xlsx({"S": VOTES})[:700], "cannot be opened"),
    "heading over two columns": ("class.xlsx", xlsx({"S": _TWO}, merged), "spans several columns"),
    "formulas without values": ("class.xlsx", xlsx(_FORMULAS), "C2"),
    "old workbook": ("class.xlsx", b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(600), "old "),
    "truncated Parquet": ("a.parquet", columns(pq.write_table)[:200], "cannot be read"),
    "truncated JSON": ("votes.json", b'[{"item": "a", "rater":', "JSON"),
    "not UTF-8": ("votes.csv", "id;answer\n1;Привет всем вам\n".encode("cp1251"), "UTF-8"),
    "empty file": ("votes.csv", b"", "empty"),
    "damaged zip": ("replies.zip", zipped({"votes.csv": LONG})[:60], "cannot be opened"),
}
#: Likewise, of submissions alone.
BAD_ITEMS: dict[str, tuple[str, bytes, str]] = {
    "locked PDF": ("essay.pdf", locked_pdf("x"), "protected by a password"),
    "damaged PDF": ("essay.pdf", b"%PDF-1.4\nnothing more", "cannot be read"),
    "damaged .docx": ("essay.docx", docx("x")[:200], "cannot be opened"),
}


def formats_table() -> str:
    """The table of `docs/formats.md`: what each file holds, by both doors."""
    heads = "| format | file | command line and page |\n| --- | --- | --- |\n"
    return heads + "".join(
        f"| {one.format} | `{one.file}` | {_counted(one.counts)} |\n" for one in BROUGHT
    )


WORDS = {
    "votes": ("vote", "votes"),
    "abstentions": ("abstention among them", "abstentions among them"),
    "failures": ("empty answer", "empty answers"),
    "raters": ("rater", "raters"),
    "items": ("item", "items"),
    "criteria": ("criterion", "criteria"),
}


def _counted(counts: Mapping[str, int]) -> str:
    return ", ".join(f"{n} {WORDS[what][n != 1]}" for what, n in counts.items() if n)
