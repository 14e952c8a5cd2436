"""Tables of other tools: what is not recognised is refused with what would help, never guessed."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from core.cli.main import main
from core.errors import InputError
from core.formats.known import kind_of
from core.formats.votes.reading import read_bundle
from core.formats.votes.sources import open_bytes
from core.formats.votes.vote_mapping import VoteMapping
from core.store.store import Store
from tests.formats.votes.foreign_files import FOREIGN, KNOWN


def run(tmp_path: Path, text: str, name: str, *words: str) -> Result:
    file = tmp_path / name
    file.write_text(text)
    return CliRunner().invoke(
        main, ["import", str(file), *words, "--db", str(tmp_path / "x.db"), "--json"]
    )


def said(done: Result) -> dict[str, Any]:
    assert done.exit_code == 0, done.stderr
    return dict(json.loads(done.stdout))


@pytest.mark.parametrize("name", FOREIGN)
def test_a_file_of_another_tool_is_refused_and_no_vote_is_kept(tmp_path: Path, name: str) -> None:
    done = run(tmp_path, FOREIGN[name], name)
    assert done.exit_code == 2
    assert "neither a table of votes nor a dataset" in done.stderr
    assert "--map " in done.stderr
    store = Store(tmp_path / "x.db")
    assert (store.counts().runs, len(store.datasets.list())) == (0, 0)


@pytest.mark.parametrize(
    ("name", "proposed"),
    [
        ("langsmith-runs.jsonl", "--map submission=outputs.answer"),
        ("chats.jsonl", "--map 'submission=messages[-1].content'"),
        (
            "openai-batch-out.jsonl",
            "--map 'submission=response.body.choices[0].message.content'",
        ),
    ],
)
def test_the_refusal_proposes_what_to_say_and_saying_it_imports_the_file(
    tmp_path: Path, name: str, proposed: str
) -> None:
    assert proposed in run(tmp_path, FOREIGN[name], name).stderr
    words = [word.strip("'") for word in proposed.split()]
    found = said(run(tmp_path, FOREIGN[name], name, *words))
    assert found["kind"] == ("dataset" if "submission" in proposed else "long")


@pytest.mark.parametrize(
    ("name", "words", "kind"),
    [
        (
            "langsmith-feedback.csv",
            "item=run_id criterion=key rater=feedback_source.type label=score",
            "long",
        ),
        ("argilla-records.json", "submission=fields.reply", "dataset"),
        ("label-studio.json", "submission=data.text", "dataset"),
    ],
)
def test_what_somebody_says_of_its_columns_goes_before_what_tool_it_is_of(
    tmp_path: Path, name: str, words: str, kind: str
) -> None:
    options = [part for word in words.split() for part in ("--map", word)]
    assert said(run(tmp_path, KNOWN[name], name, *options))["kind"] == kind


def test_what_was_said_of_scores_is_what_is_read(tmp_path: Path) -> None:
    words = ["item=traceId", "criterion=name", "rater=source", "label=stringValue"]
    name = "langfuse-scores.jsonl"
    options = [part for word in words for part in ("--map", word)]
    found = said(run(tmp_path, KNOWN[name], name, *options, "--dry-run"))
    # Eight scores in pairs on four traces; each name came from one source.
    assert (found["items"], found["criteria"], found["votes"]) == (4, 2, 8)
    assert [(r["name"], r["votes"]) for r in found["raters"]] == [("API", 4), ("ANNOTATION", 4)]


@pytest.mark.parametrize(
    "table",
    [
        # Numbers, dates, links and texts of their own; two of six columns.
        "id,kim,lee,seen,link,tokens,size\na,yes,no,2026-01-02,https://a.example,3,big\n",
        # One column of labels: nobody says whose.
        "id,tone\na,warm\nb,cold\n",
        # Two columns that have no label in common.
        "id,tone,origin\na,warm,web\nb,cold,mail\nc,warm,web\n",
        # An id for each row, and another for what it is about: a log.
        "id,trace id,user,value\n1,t1,kim,1\n2,t1,lee,0\n",
        # Two groups of columns, each on a scale of its own.
        "id,kim one,lee one,kim two,lee two\na,yes,no,high,low\nb,no,no,low,low\n",
    ],
)
def test_columns_of_short_words_are_not_yet_raters(table: str) -> None:
    assert kind_of(open_bytes(table.encode(), "some.csv")) == "unknown"


@pytest.mark.parametrize(
    ("table", "raters"),
    [
        ("id,kim,lee,day\na,3,4,2026-01-02\nb,4,4,2026-01-03\n", ["kim", "lee"]),
        ("id,kim,lee,page\na,3,4,https://a.example\nb,4,4,https://b.example\n", ["kim", "lee"]),
        (
            "id,kim,lee,row\n" + "".join(f"i{n},{n % 3},{n % 2},{n}\n" for n in range(12)),
            ["kim", "lee"],
        ),
    ],
)
def test_a_date_a_link_and_a_number_of_its_own_are_no_raters_beside_raters(
    table: str, raters: list[str]
) -> None:
    source = open_bytes(table.encode(), "votes.csv")
    bundle = read_bundle(source, kind_of(source))
    assert sorted({v.rater for v in bundle.votes.rows}) == raters
    said = [n.message for n in bundle.notices]
    assert said[0] == "Read as a table with a rater a column: 'kim', 'lee'; the item is 'id'."
    assert said[1].startswith("Columns left out: ")


def test_objects_and_lists_are_no_labels_even_where_somebody_says_so() -> None:
    rows = [{"item": "a", "rater": "kim", "found": {"value": "yes"}}]
    source = open_bytes(json.dumps(rows).encode(), "some.json")
    assert kind_of(source) == "unknown"
    mapping = VoteMapping(layout="long", item="item", rater="rater", label="found")
    with pytest.raises(InputError, match="holds an object or a list"):
        read_bundle(source, "long", mapping=mapping)


def test_raters_that_are_named_are_read_whatever_else_is_there(tmp_path: Path) -> None:
    table = "page,kim,lee,a,b,c\n1,warm,cold,x1,y1,z1\n2,cold,cold,x2,y2,z2\n"
    assert run(tmp_path, table, "some.csv").exit_code == 2
    found = said(run(tmp_path, table, "some.csv", "--map", "item=page", "--map", "raters=kim,lee"))
    assert [(r["name"], r["votes"]) for r in found["raters"]] == [("kim", 2), ("lee", 2)]


def test_a_dry_run_says_the_same_things_of_every_kind(tmp_path: Path) -> None:
    files = {
        "votes.csv": "item,rater,label\na,kim,yes\nb,kim,no\n",
        "items.csv": "id,submission\na,Hello\n",
        "rubric.yaml": "criteria:\n- {name: cites, requirement: Cites.}\n",
    }
    found = {name: said(run(tmp_path, text, name, "--dry-run")) for name, text in files.items()}
    counts = {n: [f[k] for k in ("kind", "items", "criteria", "votes")] for n, f in found.items()}
    assert counts == {
        "votes.csv": ["long", 2, 1, 2],
        "items.csv": ["dataset", 1, 0, 0],
        "rubric.yaml": ["rubric", 0, 1, 0],
    }
    assert all({"raters", "notices"} <= f.keys() for f in found.values())
