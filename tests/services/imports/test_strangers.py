"""Tables of strangers: each read as a person reads it, or refused with maps that pass."""

from __future__ import annotations

import csv
import io
import json
import re
import shlex
from pathlib import Path
from typing import Any

import pytest

from core.errors import InputError
from core.formats.votes.proposals.near_shapes import only_reading
from core.formats.votes.reading import read_bundle, table_of
from core.formats.votes.sources import open_path
from core.services.imports import import_files
from core.store.store import Store
from tests.formats.answered_tables import ANSWERED_TABLES
from tests.formats.asked_tables import APPLIED, ASKED_TABLES
from tests.formats.committee_tables import COMMITTEE_TABLES
from tests.formats.compared_tables import COMPARED_TABLES
from tests.formats.field_tables import FIELD_TABLES
from tests.formats.form_tables import BUTTONS, FORM_TABLES
from tests.formats.fresh_tables import FRESH_TABLES
from tests.formats.gradebook_tables import BEWERTUNGEN, GRADEBOOK_TABLES, SAID
from tests.formats.headed_tables import HEADED_TABLES
from tests.formats.judged_logs import JUDGED_LOGS, MODELS, PANEL, decisions
from tests.formats.marked_tables import MARKED_TABLES
from tests.formats.more_tables import MORE_TABLES
from tests.formats.nested_tables import NESTED_TABLES, WHY, nested
from tests.formats.office.documents import docx, grid
from tests.formats.office.workbooks import xlsx
from tests.formats.panel_tables import PANEL_TABLES, RECAPS
from tests.formats.rated_tables import RATED_TABLES
from tests.formats.school_tables import SCHOOL_TABLES
from tests.formats.scorecard_tables import SCORECARD_TABLES
from tests.formats.strange_tables import STRANGE_TABLES
from tests.formats.strangers import STRANGERS, Stranger, essay, table
from tests.formats.study_tables import STUDY_TABLES
from tests.formats.trace_tables import PEOPLE, TRACE_TABLES, score

TABLES = (*STRANGERS, *STRANGE_TABLES, *RATED_TABLES, *MORE_TABLES, *FIELD_TABLES, *FRESH_TABLES)
TABLES = (
    *TABLES,
    *SCHOOL_TABLES,
    *SCORECARD_TABLES,
    *COMPARED_TABLES,
    *NESTED_TABLES,
    *ANSWERED_TABLES,
    *PANEL_TABLES,
    *GRADEBOOK_TABLES,
    *HEADED_TABLES,
    *STUDY_TABLES,
    *JUDGED_LOGS,
    *TRACE_TABLES,
    *MARKED_TABLES,
    *COMMITTEE_TABLES,
    *ASKED_TABLES,
    *FORM_TABLES,
)


def brought(store: Store, file: Path, words: tuple[str, ...] = ()) -> dict[str, Any]:
    changes = [word for word in words if not word.startswith("word:")]
    meant = [word.removeprefix("word:") for word in words if word.startswith("word:")]
    return import_files.import_path(store, file, changes=changes, words=meant)


#: What a notice says where the rows that are read are not the file's.
TURNED = ("has a row", "is a row", "are a row", "are the options of one answer", "is turned")


#: Their first line is a topic, is data, or has a code before each heading.
HEADED_OTHERWISE = ("topic.csv", "bare.csv", "results.csv", "damaged.csv")


def every_heading_is_listed(case: Stranger, report: dict[str, Any]) -> None:
    """A column has a role or a notice that names it, unless a notice says what became of rows."""
    if not case.name.endswith(".csv") or case.name in HEADED_OTHERWISE:
        return
    if any(words in str(report["notices"]) for words in TURNED):
        return
    # Of a list in another notation the first line has the headings as well.
    headings = re.split(r"[;,]", case.data.partition("\n")[0].replace('"', ""))
    listed = str([[role["column"] for role in report["roles"]], report["notices"]])
    assert [heading for heading in headings if heading.strip() not in listed] == []


def first(store: Store, report: dict[str, Any]) -> Any:
    return store.datasets.load(report["dataset_version"]).items[0]


@pytest.mark.parametrize("case", TABLES, ids=[case.name for case in TABLES])
def test_a_table_is_what_a_person_reads_in_it(store: Store, tmp_path: Path, case: Stranger) -> None:
    file = tmp_path / case.name
    rows = list(csv.reader(io.StringIO(case.data)))
    if case.name.endswith(".xlsx"):
        file.write_bytes(xlsx({"Sheet1": rows}))
    elif case.name.endswith(".docx"):
        lines = [row[0] for row in rows if len(row) == 1]
        inside = grid([row for row in rows if len(row) > 1])
        file.write_bytes(docx(*lines[:-1], inside, lines[-1]))
    else:
        file.write_text(case.data)
    if case.kind == "refused":
        refused_with_maps_that_pass(store, file, case)
        return
    if case.kind == "at once":
        read_as_its_map_says(store, file, case)
        return
    report = brought(store, file, case.words)
    every_heading_is_listed(case, report)
    assert report["kind"] == case.kind, report["notices"]
    if case.kind == "dataset":
        assert report["items"] == case.figure
    else:
        figure = (report["votes"], len(report["raters"]), report["items"], report["criteria"])
        assert figure == case.figure, report["notices"]
    item = first(store, report)
    if case.reference:
        assert item.reference == case.reference
    if case.prompt:
        assert item.prompt == case.prompt
    if case.text:
        assert item.text == case.text
    assert {name: label.label for name, label in item.labels.items()} == case.labels
    assert report["roles"]
    assert all(role["why"] for role in report["roles"])


def read_as_its_map_says(store: Store, file: Path, case: Stranger) -> None:
    """The reading is said, and is the one that a person has: the first map."""
    report = brought(store, file, case.words)
    every_heading_is_listed(case, report)
    told = brought(store, file, tuple(re.split(r" (?=[a-z_]+=)", case.maps[0])))
    for of in (report, told):
        assert all(role.pop("why") for role in of["roles"])
    assert report["roles"] == told["roles"]
    figure = (report["votes"], len(report["raters"]), report["items"], report["criteria"])
    assert figure == case.figure, report["notices"]
    assert "Read as a table with" in str(report["notices"])


def refused_with_maps_that_pass(store: Store, file: Path, case: Stranger) -> None:
    with pytest.raises(InputError) as refused:
        brought(store, file, case.words)
    proposed = [
        tuple(shlex.split(part.replace("--map-label ", "word:").replace("--map ", "")))
        for part in re.findall(
            r"(?:--map(?:-label)? (?:'[^'=]*=[^']*'|[^\s=]*=\S+) ?)+", str(refused.value)
        )
        if "FIELD=COLUMN" not in part
    ]
    assert all(word in str(refused.value) for word in case.words_in_refusal), str(refused.value)
    assert set(map(" ".join, proposed)) >= set(case.maps), str(refused.value)
    reports = {" ".join(words): brought(store, file, words) for words in proposed}
    for report in reports.values():
        every_heading_is_listed(case, report)
    if case.figure:
        report = reports[case.maps[0]]
        figure = (report["votes"], len(report["raters"]), report["items"], report["criteria"])
        assert figure == case.figure, report["notices"]


FIRST = ("names.csv", "pitches.csv", "yes or no.csv", "initials.csv", "stands outside.csv")
FIRST = (*FIRST, "stands inside.csv", "maps.csv", "spread.csv", "jobs.csv", "crosses.csv")
FIRST = (*FIRST, "sentences fr.csv", "plain words.csv", "damaged.csv")


@pytest.mark.parametrize("case", [case for case in TABLES if case.name in FIRST])
def test_the_likeliest_reading_is_proposed_first(
    store: Store, tmp_path: Path, case: Stranger
) -> None:
    file = tmp_path / case.name
    file.write_text(case.data)
    with pytest.raises(InputError) as refused:
        brought(store, file)
    of_first = str(refused.value).split("If it is that: ")[1].partition("\n")[0]
    of_first = of_first.replace("--map-label ", "word:").replace("--map ", "")
    assert " ".join(shlex.split(of_first)) == case.maps[0]


def test_a_sentence_in_a_heading_is_the_text_of_its_item(store: Store, tmp_path: Path) -> None:
    case = next(case for case in TABLES if case.name == "sentences es.csv")
    file = tmp_path / case.name
    file.write_text(case.data)
    report = brought(store, file, tuple(re.split(r" (?=items=)", case.maps[0])))
    assert first(store, report).text == "The council of town 0 spoke about its bridge."


def test_words_of_a_scale_that_raters_share_are_offered_as_a_criterion(
    store: Store, tmp_path: Path
) -> None:
    file = tmp_path / "applied.csv"
    file.write_text(table(APPLIED))
    said = "Answers that are the same for all raters of an item are left out: 'Outlook'."
    notices = brought(store, file)["notices"]
    (mend,) = (n["mend"] for n in notices if n["message"] == said)
    words = tuple(shlex.split(mend.partition(": ")[2].rstrip(".").replace("--map ", "")))
    assert brought(store, file, words)["criteria"] == 6


def test_rows_that_repeat_texts_beside_a_column_of_names_are_said(
    store: Store, tmp_path: Path
) -> None:
    file = tmp_path / "peers.csv"
    rows = "".join(f"a{n // 2},p{n % 2},Essay number {n // 2} about rivers.\n" for n in range(6))
    file.write_text("author,peer,essay\n" + rows)
    said = [notice["message"] for notice in brought(store, file)["notices"]]
    # Six rows, three essays.
    assert "3 of 6 rows repeat the text of another row." in said


def test_a_text_that_stands_in_the_file_is_not_called_missing(store: Store, tmp_path: Path) -> None:
    file = tmp_path / "votes.csv"
    text = "Rivers carry sand to the sea and a plain becomes of what they leave."
    rows = "".join(f"{i},{who},yes,{text} {i},{i} {text}\n" for i in "ab" for who in ("kim", "lee"))
    file.write_text(f"item,rater,label,upper,lower\n{rows}")
    said = " ".join(str(notice) for notice in brought(store, file)["notices"])
    assert "was not part of the file" not in said
    assert "say --map submission=upper or --map submission=lower" in said


def test_a_text_inside_cells_is_not_called_missing(store: Store, tmp_path: Path) -> None:
    file = tmp_path / "votes.jsonl"
    rows = [
        {"item": f"i{n // 2}", "rater": PEOPLE[n % 2], "label": n % 3}
        | {"payload": {"lang": "en", "said": {"text": essay(n // 2)}}}
        for n in range(8)
    ]
    file.write_text("\n".join(map(json.dumps, rows)))
    said = " ".join(str(notice) for notice in brought(store, file)["notices"])
    assert "was not part of the file" not in said
    assert "say --map submission=payload.said.text" in said


def test_scores_of_evaluators_and_people_are_told_apart(store: Store, tmp_path: Path) -> None:
    file = tmp_path / "traces.json"
    file.write_text(next(case.data for case in TRACE_TABLES if case.name == "traces 0.json"))
    bundle = read_bundle(open_path(file), "long")
    assert {(vote.rater, vote.kind) for vote in bundle.votes.rows} == {
        *(("evaluator", "llm"), ("ann", "human"), ("bo", "human"))
    }


def test_thumbs_that_a_program_sends_are_a_users_and_versions_are_offered_as_systems(
    store: Store, tmp_path: Path
) -> None:
    rows = [
        {"id": f"t{n}", "input": f"Where is ferry {n}?", "output": f"It is at pier {n} today."}
        | {"metadata": {"prompt": f"helper@v{1 + n % 2}", "env": "live"}}
        | {"scores": [score("fit", 1 + n % 4, "EVAL"), score("user_thumb", n % 2, "API")]}
        for n in range(12)
    ]
    file = tmp_path / "traces.json"
    file.write_text(json.dumps({"data": rows, "meta": {}}))
    bundle = read_bundle(open_path(file), "long")
    assert {(vote.criterion, vote.rater, vote.kind) for vote in bundle.votes.rows} == {
        *(("fit", "evaluator", "llm"), ("user_thumb", "user", "human"))
    }
    assert "--map system=metadata.prompt" in str(bundle.notices)
    report = brought(store, file, ("system=metadata.prompt",))
    assert "could be what wrote" not in str(report["notices"])


def test_what_a_classifier_says_of_a_comparison_is_no_judgement(
    store: Store, tmp_path: Path
) -> None:
    rows = [
        {"question_id": f"q{n}", "model_a": "oak", "model_b": "elm", "judge": PEOPLE[n % 2]}
        | {"winner": ("model_a", "model_b", "tie")[n % 3], "conversation_a": essay(n)}
        | {"conversation_b": essay(n + 20)}
        | {"toxic_chat_tag": {"roberta-large": {"flagged": n == 1, "probability": n / 100}}}
        for n in range(12)
    ]
    file = tmp_path / "battles.jsonl"
    file.write_text("\n".join(map(json.dumps, rows)))
    report = brought(store, file)
    raters = {rater["name"] for rater in report["raters"]}
    assert (report["items"], report["votes"], raters) == (12, 12, {*PEOPLE[:2]})


def test_fields_of_a_task_are_shown_with_their_roles(store: Store, tmp_path: Path) -> None:
    file = tmp_path / "tasks.json"
    file.write_text(TRACE_TABLES[0].data)
    roles = {role["column"]: role for role in brought(store, file)["roles"]}
    assert {path: role["role"] for path, role in roles.items() if role["role"] != "ignored"} == {
        "id": "item",
        "data.conversation": "note",
        "data.user_message": "prompt",
        "data.bot_reply": "text",
        "data.channel": "note",
        "annotations[].completed_by.id": "rater",
        "annotations[].result[].from_name": "criterion",
        "annotations[].result[].value.rating": "label",
    }
    assert roles["annotations[].completed_by.email"]["samples"] == []


@pytest.mark.parametrize("form", ["judge and scores", "flat list", "judge, reasons"])
def test_reasons_in_a_nest_are_kept_with_their_judgement(tmp_path: Path, form: str) -> None:
    file = tmp_path / "runs.jsonl"
    file.write_text(nested(form))
    bundle = read_bundle(open_path(file), "long")
    assert {vote.reason for vote in bundle.votes.rows} == {WHY}
    assert "Each judgement in 'judgements' is a row." in str(bundle.notices)


def test_remarks_beside_a_mark_are_its_reason(store: Store, tmp_path: Path) -> None:
    file = tmp_path / "bewertungen.csv"
    file.write_text(table(BEWERTUNGEN))
    report = brought(store, file)
    said = {role["column"]: role["role"] for role in report["roles"]}
    assert said["Aufgabe: Skizze (Feedback)"] == "reason:Aufgabe: Skizze (Punkte)"
    assert "(Feedback)" not in str(report["notices"])
    mapping = only_reading(table_of(open_path(file)), None)
    votes = read_bundle(open_path(file), "criteria", mapping=mapping).votes.rows
    reasons = {(vote.criterion, vote.reason) for vote in votes}
    assert reasons == {("Aufgabe: Skizze (Punkte)", why) for why in SAID} | {
        ("Aufgabe: Modell (Punkte)", SAID[0]),
        ("Aufgabe: Modell (Punkte)", SAID[1]),
        ("Test: Holz (Punkte)", ""),
    }


def test_raters_without_names_are_told_by_their_group_and_place(tmp_path: Path) -> None:
    file = tmp_path / "recaps.json"
    file.write_text(json.dumps(RECAPS))
    bundle = read_bundle(open_path(file), "criteria")
    assert {vote.rater for vote in bundle.votes.rows} == {
        *("staff 1", "staff 2", "crowd 1", "crowd 2", "crowd 3", "crowd 4")
    }
    assert "need not be the first of another" in str(bundle.notices)


def test_spans_in_lists_are_no_marks(tmp_path: Path) -> None:
    file = tmp_path / "spans.json"
    spans = [{"start": n, "end": n + 3} for n in range(2)]
    file.write_text(json.dumps([{"id": n, "text": essay(n), "spans": spans} for n in range(6)]))
    assert import_files.look(open_path(file)).kind == "dataset"


def test_an_empty_preference_is_no_vote(store: Store, tmp_path: Path) -> None:
    file = tmp_path / "scripts.csv"
    words = ("left", "right", "")
    rows = [f"{essay(n)}\t{essay(n + 9)}\t{words[n % 3]}\n" for n in range(9)]
    file.write_text("Left script\tRight script\tbetter\n" + "".join(rows))
    report = brought(store, file)
    assert (report["kind"], report["votes"], report["failures"]) == ("pairs", 6, 3)


def test_texts_that_are_the_items_are_not_called_missing(store: Store, tmp_path: Path) -> None:
    file = tmp_path / "queue.csv"
    words = ("none", "mild", "serious", "severe")
    rows = "".join(
        f"Rivers carry sand to the sea {n}.,{words[n % 4]},{words[n % 3]}\n" for n in range(8)
    )
    file.write_text(f"comment,mod_kim,mod_lee\n{rows}")
    with pytest.raises(InputError) as refused:
        brought(store, file)
    assert "no column holds the texts" not in str(refused.value)
    report = brought(store, file, ("item=comment", "raters=mod_kim,mod_lee"))
    assert (report["votes"], first(store, report).text) == (16, "Rivers carry sand to the sea 0.")
    assert "ordinal with severe, serious, mild, none" in str(report["notices"])


def test_an_original_beside_two_texts_is_their_prompt(store: Store, tmp_path: Path) -> None:
    file = tmp_path / "pairs.csv"
    rows = "".join(f"{n},Source {n}.,Short {n}.,Long text {n}.,{1 + n % 2}\n" for n in range(6))
    file.write_text(f"nr,Ausgangstext,output_1,output_2,preference\n{rows}")
    roles = {role["column"]: role["role"] for role in brought(store, file)["roles"]}
    assert roles["Ausgangstext"] == "prompt"


def test_preferences_by_several_criteria_are_not_called_left_out(
    store: Store, tmp_path: Path
) -> None:
    file = tmp_path / "degrees.csv"
    file.write_text(next(c.data for c in COMPARED_TABLES if c.name == "degrees by criterion.csv"))
    report = brought(store, file, ("preference=Faithful,Readable",))
    assert "left out" not in str(report["notices"]).lower()


def test_a_hint_for_the_text_keeps_the_votes(store: Store, tmp_path: Path) -> None:
    file = tmp_path / "votes.csv"
    rows = "".join(f"{n},Rivers carry sand {n}.,yes,no\n" for n in range(6))
    file.write_text(f"id,said,rater 1,rater 2\n{rows}")
    report = brought(store, file, ("submission=said",))
    # Six items, two raters.
    assert (report["kind"], report["votes"]) == ("wide", 12)
    assert first(store, report).text == "Rivers carry sand 0."


def test_what_sums_up_the_raters_is_offered_as_the_label(store: Store, tmp_path: Path) -> None:
    file = tmp_path / "votes.csv"
    file.write_text("id,Prüfer 1,Prüfer 2,Einigung\na,ja,nein,ja\nb,ja,ja,ja\nc,nein,ja,nein\n")
    report = brought(store, file)
    said = " ".join(str(notice) for notice in report["notices"])
    assert "'Einigung' summarizes the raters and is not a rater itself" in said
    report = brought(store, file, ("gold=Einigung",))
    assert (report["votes"], len(report["raters"])) == (6, 2)
    assert first(store, report).labels["rating"].label == "ja"


@pytest.mark.parametrize(
    "heads",
    [("编号", "原文", "译文", "评分员甲", "评分员乙"),
     ("番号", "原文", "訳文", "評価者A", "評価者B"),
     ("Nr", "Ausgangstext", "Übersetzung", "Prüfer 1", "Prüfer 2"),
     ("id", "source", "translation", "rater 1", "rater 2")],
)  # fmt: skip
@pytest.mark.parametrize("short", [False, True])
def test_a_translation_is_judged_and_its_source_is_the_prompt(
    store: Store, tmp_path: Path, heads: tuple[str, ...], short: bool
) -> None:
    file = tmp_path / "votes.csv"
    asked = [f"Rivers {n} carry sand." if short else essay(n).replace(",", "") for n in range(6)]
    cells = [(f"{n + 1}", asked[n], "东西南北上下"[n] + "河运沙到海") for n in range(6)]
    rows = [",".join((*of, "1231"[n % 4], "2311"[n % 3])) for n, of in enumerate(cells)]
    file.write_text("\n".join([",".join(heads), *rows]), encoding="utf-8")
    report = brought(store, file)
    assert (report["kind"], report["votes"], report["items"]) == ("wide", 12, 6)
    assert (first(store, report).text, first(store, report).prompt) == cells[0][:0:-1]


def test_labels_beside_raters_are_refused_where_a_row_is_a_raters(
    store: Store, tmp_path: Path
) -> None:
    file = tmp_path / "votes.csv"
    rows = "".join(f"{n},yes,{who},{'yes' if n % 2 else 'no'}\n" for n in range(6) for who in "ab")
    file.write_text(f"id,gold,rater,score\n{rows}")
    with pytest.raises(InputError, match="'gold=gold' gives labels beside raters in columns"):
        brought(store, file, ("gold=gold",))


@pytest.mark.parametrize(
    ("data", "words", "said"),
    [
        ("juror,Oak Hill,Low Sea\nkim,3,4\nlee,2,4\nmia,5,1\n",
         ("rater=juror", "items=Oak Hill,Low Sea"), "an item a column: 'Oak Hill', 'Low Sea'"),
        ("at,rater_1,rater_2\nx,no,no\nx,yes,no\nx,no,yes\n",
         ("raters=rater_1,rater_2",), "each row is an item"),
    ],
)  # fmt: skip
def test_a_table_without_a_column_for_the_item_says_what_an_item_is(
    store: Store, tmp_path: Path, data: str, words: tuple[str, ...], said: str
) -> None:
    file = tmp_path / "votes.csv"
    file.write_text(data)
    notices = str(brought(store, file, words)["notices"])
    assert said in notices
    assert "item is None" not in notices


def test_columns_left_out_say_why(store: Store, tmp_path: Path) -> None:
    file = tmp_path / "answers.csv"
    rows = "".join(
        f"{n},{n} rivers carry sand to the sea.,4,{n % 3},new,{5 - n}\n" for n in range(6)
    )
    file.write_text(f"id,response,Max points,likes,labels,votes\n{rows}")
    report = brought(store, file)
    why = {role["column"]: role["why"] for role in report["roles"]}
    assert why["Max points"] == "the same in every row"
    assert {why["likes"], why["votes"]} == {"counts or measures"}
    # A column is not taken for a misspelling of its own name.
    assert "Did you mean" not in str(report["notices"])


def test_a_cell_of_several_labels_is_said(store: Store, tmp_path: Path) -> None:
    file = tmp_path / "votes.csv"
    file.write_text("item,coder,label\na,kim,pay; hours\na,lee,pay\nb,kim,hours\nb,lee,pay\n")
    said = " ".join(str(notice) for notice in brought(store, file)["notices"])
    assert "1 answer lists several labels of 'rating', such as 'pay; hours'" in said


def test_a_pair_the_other_way_round_is_the_same_pair(store: Store, tmp_path: Path) -> None:
    file = tmp_path / "duels.jsonl"
    sides = ("Sand goes to the sea.", "Rivers leave a plain.")
    rows = [dict(zip(("chosen", "rejected"), of, strict=True)) for of in (sides, sides[::-1])]
    lines = [json.dumps({**row, "rater": f"w{n}"}) + "\n" for n, row in enumerate(rows)]
    file.write_text("".join(lines))
    report = brought(store, file)
    items = store.datasets.load(report["dataset_version"]).items
    votes = store.votes.for_item(report["run"], items[0].id)
    assert [rater["name"] for rater in report["raters"]] == ["w0", "w1"]
    # One pair, and the raters contradict each other.
    assert (len(items), {vote.option for vote in votes}) == (1, {0, 1})


def test_columns_joined_and_fields_by_other_names(store: Store, tmp_path: Path) -> None:
    file = tmp_path / "turns.csv"
    rows = "".join(f"c{n // 2},{n % 2},{who},{1 + n}\n" for n in range(4) for who in ("a", "b"))
    file.write_text(f"chat,turn,by,mark\n{rows}")
    report = brought(store, file, ("item=chat", "item=turn", "rater=by", "score=mark"))
    assert first(store, report).id == "c0 / 0"
    roles = {role["column"]: role["role"] for role in report["roles"]}
    assert roles == {"chat": "item", "turn": "item", "by": "rater", "mark": "label"}


def test_a_column_that_is_half_of_an_item_is_nothing_else(store: Store, tmp_path: Path) -> None:
    file = tmp_path / "aspects.csv"
    rows = "".join(f"s{n},{a},{who},yes\n" for n in "12" for a in ("food", "staff") for who in "kl")
    file.write_text(f"submission,aspect,annotator,label\n{rows}")
    report = brought(store, file, ("item=submission", "item=aspect"))
    roles = {role["column"]: role["role"] for role in report["roles"]}
    # Two submissions of two aspects each, by two people.
    assert (report["votes"], report["items"], report["criteria"]) == (8, 4, 1)
    assert (roles["submission"], roles["aspect"]) == ("item", "item")


def test_a_conversation_is_called_one(store: Store, tmp_path: Path) -> None:
    file = tmp_path / "chats.jsonl"
    turns = [{"role": "user", "content": "Is it open?"}, {"role": "assistant", "content": SAND}]
    file.write_text("".join(json.dumps({"id": n, "messages": turns}) + "\n" for n in range(3)))
    samples = {role["column"]: role["samples"] for role in brought(store, file)["roles"]}
    assert samples["messages"] == ["a conversation of 2 turns; the last: rivers carry sand to th"]


SAND = "rivers carry sand to the sea and a plain is what they leave behind."
#: Tables that are read, or proposed, in a known way; what is said of one column; the other roles.
KEPT: tuple[tuple[str, str, dict[str, str]], ...] = (
    # Items with a label: the id and the text stay.
    (
        "nr,pupil,essay,Tutor mark,Chair mark\n"
        + "".join(f"{n},p{n % 2},{n} {SAND},{n % 4},{n % 3}\n" for n in range(6)),
        "raters=Tutor mark,Chair mark",
        {"nr": "item", "essay": "text"},
    ),
    # Proposed with criteria: they stay where the rater is another column.
    (
        "lot,by,also by,A,B\n"
        + "".join(
            f"l{n},{w},{w}2,{n % 3},{(n + len(w)) % 3}\n" for n in range(4) for w in ("ann", "jo")
        ),
        "rater=also by",
        {"lot": "item", "A": "label:A", "B": "label:B"},
    ),
    # Votes with criteria, by their headings.
    (
        "item_id,text,rater,coder,depth,tone\n"
        + "".join(
            f"i{n},{n} rivers carry sand.,r{w},c{w},{n % 3},{w}\n" for n in range(4) for w in (1, 2)
        ),
        "rater=coder",
        {"item_id": "item", "text": "text", "depth": "label:depth", "tone": "label:tone"},
    ),
    # A hint for the text alone keeps the votes that were proposed.
    (
        "lot,left,right,grader,A,B\n"
        + "".join(
            f"l{n},{n} rivers carry sand to the sea.,{n} plains become of what they leave.,{w},"
            f"{(n + len(w)) % 3},{n * len(w) % 3}\n"
            for n in range(4)
            for w in ("ann", "jo")
        ),
        "submission=right",
        {"lot": "item", "grader": "rater", "A": "label:A", "B": "label:B"},
    ),
)


@pytest.mark.parametrize(("data", "said", "roles"), KEPT)
def test_what_is_said_of_one_column_keeps_the_others(
    store: Store, tmp_path: Path, data: str, said: str, roles: dict[str, str]
) -> None:
    file = tmp_path / "table.csv"
    file.write_text(data)
    found = {role["column"]: role["role"] for role in brought(store, file, (said,))["roles"]}
    assert {column: found[column] for column in roles} == roles


@pytest.mark.parametrize(
    ("data", "words"),
    [
        # Proposed with other columns, and not proposed at all.
        ("sent,about,from_,A,B\nx,Ann,Bob,1,2\ny,Ann,Cyd,3,4\nz,Bob,Ann,2,2\nx,Bob,Cyd,4,1\n"
         "y,Cyd,Ann,2,5\nz,Cyd,Bob,3,3\n", ("item=about", "rater=from_")),
        ("lot,k,A,B\n17,1,1,2\n17,2,3,4\n18,1,2,2\n18,2,4,1\n19,1,2,5\n19,2,3,3\n",
         ("item=lot", "rater=k")),
    ],
)  # fmt: skip
def test_saying_the_item_and_the_rater_is_enough(
    store: Store, tmp_path: Path, data: str, words: tuple[str, ...]
) -> None:
    file = tmp_path / "table.csv"
    file.write_text(data)
    roles = {role["column"]: role["role"] for role in brought(store, file, words)["roles"]}
    assert {roles["A"], roles["B"]} == {"label:A", "label:B"}


def test_a_column_headed_for_a_criterion_of_the_rubric_is_its_answer(
    store: Store, tmp_path: Path
) -> None:
    rubric, file = tmp_path / "rubric.yaml", tmp_path / "votes.csv"
    rubric.write_text(
        "criteria:\n- {name: Word count, requirement: It has 200 words.}\n"
        "- {name: Tone, requirement: It is polite.}\n"
    )
    file.write_text("item,rater,Word count,Tone\na,kim,1,0\na,lee,0,1\nb,kim,1,1\nb,lee,0,0\n")
    roles = import_files.import_path(store, file, rubric=rubric)["roles"]
    assert {role["column"]: role["role"] for role in roles}["Word count"] == "label:Word count"


def workbook(tmp_path: Path, sheets: dict[str, list[list[str]]]) -> Path:
    file = tmp_path / "book.xlsx"
    file.write_bytes(xlsx(sheets))
    return file


READINGS = [
    ["Case", "Seen?", "Size"],
    *([f"C{n}", ("yes", "no")[n % 2], f"{n % 4}"] for n in range(6)),
]


def test_the_only_sheet_with_ratings_is_read(store: Store, tmp_path: Path) -> None:
    marks = [["Lot", "Juror", "Smell"]]
    marks += [
        [f"L{n}", who, f"{1 + (n + len(who)) % 4}"] for n in range(4) for who in ("Al", "Bob")
    ]
    rules = [["Mark", "Meaning"], ["1", "Nothing can be said for it."], ["4", "It is good."]]
    file = workbook(tmp_path, {"How to": rules, "Marks": marks})
    report = brought(store, file)
    assert (report["votes"], len(report["raters"])) == (8, 2)
    roles = {role["column"]: role["role"] for role in report["roles"]}
    assert roles == {"Lot": "item", "Juror": "rater", "Smell": "label"}
    assert "Only the sheet 'Marks' is read, not 'How to'." in str(report["notices"])


def test_texts_of_another_sheet_are_added_by_the_id(store: Store, tmp_path: Path) -> None:
    letters = [["App ID", "Sent", "Letter"], *([f"A{n}", "May", f"{SAND} {n}"] for n in range(4))]
    marks = [["App ID", "Grader", "Clarity", "Tone"]]
    marks += [
        [f"A{n}", who, f"{1 + n}", f"{1 + (n + len(who)) % 4}"] for n in range(4) for who in WHO
    ]
    rules = [["App ID", "Meaning"], ["A9", f"Nobody has this id; {SAND}"]]
    file = workbook(tmp_path, {"Letters": letters, "Marks": marks, "Rules": rules})
    report = import_files.import_path(store, file, sheet="Marks")
    assert (report["votes"], first(store, report).text) == (16, f"{SAND} 0")
    said = [notice["message"] for notice in report["notices"]]
    assert "The sheet 'Letters' adds 'Sent', 'Letter' to each row, by 'App ID'." in said
    assert "Only the sheet 'Marks' is read, not 'Rules'." in said


WHO = ("Al", "Bob")


@pytest.mark.parametrize(
    ("name", "said", "code"),
    [("missing codes.csv", "'99' 2", "99"), ("codes of labels.csv", "'.' 1, '-9' 1", "-9")],
)
def test_missing_codes_are_said(
    store: Store, tmp_path: Path, name: str, said: str, code: str
) -> None:
    file = tmp_path / name
    file.write_text(next(case.data for case in FRESH_TABLES if case.name == name))
    notices = brought(store, file)["notices"]
    message = f"Beside numbers, these words are taken as no answer: {said}."
    mend = next(notice["mend"] for notice in notices if notice["message"] == message)
    assert mend == f"If {code} is an answer: --map-label {code}={code}."


def test_a_nine_that_stands_apart_is_said(store: Store, tmp_path: Path) -> None:
    file = tmp_path / "nine.csv"
    file.write_text("item,r1,r2\na,1,9\nb,2,3\nc,3,1\nd,2,2\n")
    said = str(brought(store, file)["notices"])
    assert "9 stands apart from the other labels of 'rating' (1, 2, 3)" in said
    assert "--map-label 9=NA" in said


def test_sheets_of_one_shape_are_read_as_one_table(store: Store, tmp_path: Path) -> None:
    other = [READINGS[0], *([row[0], "no", row[2]] for row in READINGS[1:])]
    file = workbook(tmp_path, {"Reader 1 (Lo)": READINGS, "Reader 2 (Mi)": other})
    # Six cases, two readers, who are named so: nothing is asked.
    for sheet, changes in ((None, ()), ("*", ("item=Case", "rater=sheet", "label=Seen?"))):
        report = import_files.import_path(store, file, sheet=sheet, changes=changes)
        assert (report["votes"], len(report["raters"]), report["items"]) == (12, 2, 6)
    with pytest.raises(InputError, match="has rows on 2 sheets: 'Case Lo', 'Case Mi'"):
        brought(store, workbook(tmp_path, {"Case Lo": READINGS, "Case Mi": other}))


def test_a_sheet_with_other_columns_is_passed_over_and_said(store: Store, tmp_path: Path) -> None:
    sheets = {"Lo": READINGS, "Mi": READINGS, "Means": [["Reader", "n"], ["Lo", "6"]]}
    file = workbook(tmp_path, sheets)
    with pytest.raises(InputError, match=r"columns of 'Lo', 'Mi' are the same: --sheet '\*' reads"):
        brought(store, file)
    report = import_files.import_path(
        store, file, sheet="*", changes=("item=Case", "rater=sheet", "label=Seen?")
    )
    assert (report["votes"], len(report["raters"]), report["items"]) == (12, 2, 6)
    assert "Sheets with other columns are left out: 'Means'." in str(report["notices"])


#: Marks below their maxima, and a pupil without a mark.
MARKED = [["No", "Pupil", "Ideas", "Structure"], ["", "", "/10", "/5"]] + [
    [str(n), f"Pupil {n}", "" if n == 4 else str(3 + n % 5), str(1 + n % 4)] for n in range(1, 10)
]


def test_points_possible_are_no_item_and_a_list_of_jobs_is_no_table(
    store: Store, tmp_path: Path
) -> None:
    file = workbook(tmp_path, {"9B": MARKED, "to do": [["Ask about absentees"], ["Print them."]]})
    report = brought(store, file)
    # Nine pupils and two criteria, one mark missing.
    assert (report["votes"], report["items"]) == (17, 9)
    assert "'points possible: Ideas /10, Structure /5' (line 2)" in str(report["notices"])


def test_the_answer_of_an_ai_is_judged_against_the_model_answer(
    store: Store, tmp_path: Path
) -> None:
    rows = [
        {"Ref": f"q{n}", "Rater": who, "Model answer": essay(n + 9), "AI answer": essay(n)}
        | {"Accuracy": 1 + (n + k) % 4}
        for n in range(8)
        for k, who in enumerate(("Lo", "Mi"))
    ]
    file = tmp_path / "legal.csv"
    file.write_text(table(rows))
    assert first(store, brought(store, file)).text == essay(0)


def test_one_rater_needs_no_column(store: Store, tmp_path: Path) -> None:
    file = workbook(tmp_path, {"Lo": READINGS, "Notes": [["a", "b"], ["1", "2"]]})
    report = import_files.import_path(store, file, sheet="Lo", changes=("item=Case", "label=Seen?"))
    assert (report["votes"], [rater["name"] for rater in report["raters"]]) == (6, ["rater"])
    file.write_bytes(xlsx({"Lo": [*READINGS, READINGS[1]]}))
    with pytest.raises(InputError, match="has no column for the rater"):
        import_files.import_path(store, file, changes=("item=Case", "label=Seen?"))


@pytest.mark.parametrize("empty", ["NA", ""])
def test_what_a_person_left_empty_is_no_failure_whatever_the_layout(
    store: Store, tmp_path: Path, empty: str
) -> None:
    file = tmp_path / "long.csv"
    rows = "".join(f"e{n},{who},{1 + n}\n" for n in range(3) for who in ("kim", "gpt-4"))
    file.write_text(f"item,rater,score\n{rows}e3,kim,{empty}\ne3,gpt-4,{empty}\n")
    report = brought(store, file)
    # A model that was asked has failed; a person was not asked.
    assert (report["votes"], report["failures"]) == (6, 1)
    assert "1 answer is empty" in str(report["notices"])


def test_reviews_of_products_are_asked_about(store: Store, tmp_path: Path) -> None:
    file = tmp_path / "products.csv"
    pairs = [(n, (n + k) % 8) for n in range(8) for k in (0, 1, 3)]
    rows = "".join(f"p{n},r{who},{n} and {who}: {SAND},{(n + who) % 5}\n" for n, who in pairs)
    file.write_text(f"product_id,reviewer,opinion,stars\n{rows}")
    with pytest.raises(InputError, match="--map item=product_id"):
        brought(store, file)


def calls(who: int) -> list[list[str]]:
    """One rater's sheet: what was asked and answered, three marks and a note."""
    heads = ["Call", "Agent", "Client message", "Agent answer", "Warmth (1-5)", "Facts (1-5)"]
    rows = list[list[str]]()
    for n in range(who, 9 + who):
        about = f"C-{n}", ("Ola", "Bo")[n % 2], f"My lamp {n} is dim. What now?", 2 * essay(n)
        marks = str(1 + n * (who + 1) % 5), str(1 + (n + 2 * who) % 4)
        rows.append(
            [*about, *marks, ("Y", "N", "N/A")[(n + who) % 3], ("short", "")[(n + who) % 2]]
        )
    return [[*heads, "Rule kept", "Notes"], *rows]


@pytest.fixture
def panel(tmp_path: Path) -> Path:
    file = tmp_path / "calls.xlsx"
    guide = [["How to mark", ""], ["Warmth", "1 = cold, 5 = warm"], ["Facts", "5 = all right"]]
    sheets = {name: calls(who) for who, name in enumerate(("Ada", "Ben", "Cleo"))}
    file.write_bytes(xlsx({"Guide": guide, **sheets}))
    return file


def test_a_sheet_for_each_rater_is_proposed_as_the_rater(store: Store, panel: Path) -> None:
    with pytest.raises(InputError) as refused:
        import_files.import_path(store, panel, sheet="*")
    proposed = str(refused.value).split("If it is that: ")[1:]
    words = shlex.split(proposed[0].replace("--map ", "").partition(" --sheet")[0])
    assert (len(proposed), words) == (
        1,
        [
            *("item=Call", "submission=Agent answer", "prompt=Client message", "rater=sheet"),
            *("criteria=Warmth (1-5)", "criteria=Facts (1-5)", "criteria=Rule kept"),
            "reason=Notes",
        ],
    )
    report = import_files.import_path(store, panel, sheet="*", changes=words)
    figure = (report["votes"], len(report["raters"]), report["items"], report["criteria"])
    assert figure == (3 * 9 * 2 + 18, 3, 11, 3)


def talks(who: str, at: int) -> list[list[str]]:
    """One person's sheet below a title: marks of the same talks, their sum, a remark."""
    marks = [[1 + (n + at * c) % 4 for c in (1, 2, 3)] for n in range(8)]
    rows = [
        [f"K{n}", *map(str, of), str(sum(of)), ("calm", "", "too fast")[(n + at) % 3]]
        for n, of in enumerate(marks)
    ]
    heads = ["Kandidat/in", "Aufbau", "Stimme", "Blickkontakt", "Summe", "Notizen"]
    return [["Beobachter/in:", who, "", "", "", ""], [""] * 6, heads, *rows]


def test_the_same_ids_on_sheets_named_by_people_are_their_items(
    store: Store, tmp_path: Path
) -> None:
    people = ("Ferrante", "Osei", "Brandl")
    sheets = {name: talks(name, at) for at, name in enumerate(people)}
    file = workbook(tmp_path, {"Hinweise": [["Bitte jede Rede einzeln"], ["1 = kaum"]], **sheets})
    alike = r"columns of 'Ferrante', 'Osei', 'Brandl' are the same: --sheet '\*' reads"
    with pytest.raises(InputError, match=alike):
        brought(store, file)
    with pytest.raises(InputError) as refused:
        import_files.import_path(store, file, sheet="*")
    proposed = str(refused.value).split("If it is that: ")[1].partition(" --sheet")[0]
    words = shlex.split(proposed.replace("--map ", ""))
    criteria = [f"criteria={name}" for name in ("Aufbau", "Stimme", "Blickkontakt")]
    assert words == ["item=Kandidat/in", "rater=sheet", *criteria, "reason=Notizen"]
    report = import_files.import_path(store, file, sheet="*", changes=words)
    # Eight talks, three people, three marks.
    assert (report["votes"], len(report["raters"]), report["items"]) == (72, 3, 8)


def test_long_texts_are_no_names_of_raters(store: Store, panel: Path) -> None:
    changes = ["item=Call", "rater=Agent answer", "criteria=Warmth (1-5),Facts (1-5)"]
    with pytest.raises(InputError, match="'Agent answer' holds texts of up to 164 characters"):
        import_files.import_path(store, panel, sheet="Ada", changes=changes)


def test_the_sheet_of_one_rater_is_no_rubric(store: Store, panel: Path) -> None:
    with pytest.raises(InputError) as refused:
        import_files.import_path(store, panel, sheet="Ada")
    assert "rubric" not in str(refused.value)
    assert "labels='Warmth (1-5)'" in str(refused.value).replace("'labels=W", "labels='W")


def test_judges_in_a_column_of_judging_models_are_models(store: Store, tmp_path: Path) -> None:
    file = tmp_path / "runs.jsonl"
    file.write_text("".join(json.dumps(row) + "\n" for row in PANEL))
    kinds = {rater["name"]: rater["kind"] for rater in brought(store, file)["raters"]}
    assert kinds == dict.fromkeys(MODELS, "llm")
    with pytest.raises(InputError) as refused:
        brought(store, file, ("label=scores",))
    assert str(refused.value).count("holds an object or a list") == 1
    assert "as in scores.clarity" in str(refused.value)


@pytest.mark.parametrize("name", ["keyed reviews.json", "overall.json", "records.jsonl"])
def test_what_a_nest_leaves_out_is_said_by_its_path(
    store: Store, tmp_path: Path, name: str
) -> None:
    file = tmp_path / name
    file.write_text(next(case.data for case in JUDGED_LOGS if case.name == name))
    said = str(brought(store, file)["notices"])
    expected = {
        "keyed reviews.json": "'reviews.*.minutes'",
        "overall.json": "Each judgement in 'marks' is a row",
        "records.jsonl": "were not handed in (4 discarded)",
    }
    assert expected[name] in said


def peers(heading: str, marks: tuple[str, ...]) -> str:
    """Four people's marks of five others, and what only the lecturer may read."""
    said = ("late", "", "kind")
    rows = "".join(
        f"Child {of},P {who},{marks[(of + who) % len(marks)]},{1 + of * who % 5},{said[of % 3]}\n"
        for of in range(5)
        for who in range(1, 5)
    )
    return f'item,rater,"{heading}","Effort (1-5)",For the lecturer (confidential)\n{rows}'


@pytest.mark.parametrize(
    "said",
    ["[1 = never, 5 = always]", "(1 = nie; 3 = manchmal; 5 = immer)", "(never = 1, always = 5)"],
)
def test_words_for_the_ends_in_a_heading_are_the_ends(
    store: Store, tmp_path: Path, said: str
) -> None:
    file = tmp_path / "peers.csv"
    file.write_text(peers(f"Is on time {said}", ("2", "3", "4")))
    notices = str(brought(store, file)["notices"])
    assert f"{said}' is taken as ordinal with 1, 2, 3, 4, 5." in notices
    assert "How sure the raters were" not in notices


@pytest.mark.parametrize(
    "words",
    [
        *("no, rather no, rather yes, yes", "NIE, RACZEJ NIE, RACZEJ TAK, TAK"),
        *("no, más bien no, más bien sí, sí", "nein, eher nein, eher ja, ja"),
        *("non, plutôt non, plutôt oui, oui", "нет, скорее нет, скорее да, да"),
    ],
)
@pytest.mark.parametrize("without", [None, 0, 1, 3])
def test_yes_and_no_in_degrees_are_in_order(
    store: Store, tmp_path: Path, words: str, without: int | None
) -> None:
    given = [word for at, word in enumerate(words.split(", ")) if at != without]
    file = tmp_path / "peers.csv"
    file.write_text(peers("Take on", tuple(given[::-1])))
    said = f"'Take on' is taken as ordinal with {', '.join(given)}."
    assert said in str(brought(store, file)["notices"])


def test_the_winner_of_a_decision_is_the_first(store: Store, tmp_path: Path) -> None:
    file = tmp_path / "decisions.csv"
    file.write_text(decisions("Loser", "Winner", "Judge"))
    bundle = read_bundle(open_path(file), "pairs")
    options = bundle.rubric.criteria[0].choices
    assert {options[vote.option or 0].label for vote in bundle.votes.rows} == {"A is better"}
    # Of the first decision: S0 is headed as the loser.
    assert "S1" in str(bundle.dataset.items[0].meta).partition("S0")[0]


def test_a_tie_among_three_ranks_nothing_and_is_said(store: Store, tmp_path: Path) -> None:
    rows = [
        {"id": n, **{f"answer_{end}": essay(n + 9 * at) for at, end in enumerate("abc")}}
        | {"best": ("a", "b", "c", "tie")[n % 4]}
        for n in range(8)
    ]
    file = tmp_path / "ties.csv"
    file.write_text(table(rows))
    report = brought(store, file)
    # Six rows with a best answer of three say two pairs each; two rows are ties.
    assert (report["kind"], report["votes"]) == ("pairs", 12)
    assert "2 rows rank no answer before another" in str(report["notices"])


@pytest.mark.parametrize(
    "words",
    [
        "A muito melhor, A um pouco melhor, Iguais, B um pouco melhor, B muito melhor",
        "A is much better, A is a little better, even, B is a little better, B is much better",
        "A bien meilleur, A un peu meilleur, égaux, B un peu meilleur, B bien meilleur",
        "A weitaus besser, A ein wenig besser, gleich, B etwas besser, B viel besser",
        "A molto migliore, A un po' migliore, uguali, B leggermente migliore, B assai migliore",
        "A mucho mejor, A un poco mejor, iguales, B un poco mejor, B mucho mejor",
        "A veel beter, A een beetje beter, gelijk, B iets beter, B duidelijk beter",
    ],
)
def test_how_much_better_counts_as_the_side(store: Store, tmp_path: Path, words: str) -> None:
    steps = words.split(", ")
    rows = [
        {"Text A": essay(n), "Text B": essay(n + 9)}
        # Only one of the two finds any alike.
        | {"Preference Ida": steps[n % 5], "Preference Rui": steps[(0, 4, 3, 1)[n % 4]]}
        for n in range(10)
    ]
    file = tmp_path / "pairs.csv"
    file.write_text(table(rows))
    bundle = read_bundle(open_path(file), "pairs")
    options = bundle.rubric.criteria[0].choices
    given = [options[vote.option or 0].label for vote in bundle.votes.rows]
    assert [given.count(of) for of in ("A is better", "Tie", "B is better")] == [9, 2, 9]


def test_preferences_with_a_word_unknown_are_not_left_out(store: Store, tmp_path: Path) -> None:
    rows = [
        {"Text A": essay(n), "Text B": essay(n + 9), "Preference Ida": ("A", "B")[n % 2]}
        | {"Preference Rui": ("A", "B", "neat")[n % 3]}
        for n in range(9)
    ]
    file = tmp_path / "pairs.csv"
    file.write_text(table(rows))
    with pytest.raises(InputError, match=r"preference=Preference Rui.*neat=Tie"):
        brought(store, file)


@pytest.mark.parametrize(
    ("heads", "criterion"),
    [
        (("rater1_trait2", "rater2_trait2"), "trait2"),
        (("Marker 1 - Style", "Marker 2 - Style"), "Style"),
        (("Juez 1: Estilo", "Juez 2: Estilo"), "Estilo"),
        (("Rater 1", "Rater 2"), "rating"),
    ],
)
def test_the_only_criterion_is_named_as_beside_its_raters(
    store: Store, tmp_path: Path, heads: tuple[str, str], criterion: str
) -> None:
    rows = [{"essay_id": n, "essay": essay(n), heads[0]: 1 + n % 4, heads[1]: 4 - n % 3 % 4}
            for n in range(9)]  # fmt: skip
    file = tmp_path / "marks.csv"
    file.write_text(table(rows))
    report = brought(store, file)
    rubric = store.rubrics.version(report["rubric_version"]).rubric
    assert [c.name for c in rubric.criteria] == [criterion]


def test_rejected_answers_are_counted_in_a_note(store: Store, tmp_path: Path) -> None:
    file = tmp_path / "buttons.csv"
    file.write_text(table(BUTTONS))
    assert "Rejected rows ('AssignmentStatus') are read, too: 1." in str(brought(store, file))
