"""The Import votes page: nothing is kept that was not looked at."""

from __future__ import annotations

import io
import zipfile

from streamlit.testing.v1 import AppTest

from core import clock
from core.domain.rubric import Criterion, Rubric
from core.store.store import Store
from pages.imports import reading as keys
from pages.ui import routes, state
from pages.ui.text import label
from tests.formats.office.workbooks import VOTES, xlsx
from tests.formats.votes.foreign_files import FOREIGN
from tests.formats.votes.tools.test_inspect_logs import members
from tests.formats.votes.tools.zstandard_zip import packed
from tests.pages.conftest import open_page, shown

PAGE = routes.IMPORT_VOTES
LONG = "item,rater,label\na,kim,yes\na,gpt-4,no\nb,kim,no\nb,gpt-4,\n"
WIDE = "id,kim,lee\na,1,2\nb,3,3\n"
ITEMS = '{"id": "a", "submission": "x"}\n'
RUBRIC = "criteria:\n- {name: cites, requirement: Cites a source.}\n"
HEAD = "item_id,criterion,rater_id,rater_kind,label\n"


def importing(data: str | bytes, name: str = "votes.csv") -> AppTest:
    content = data if isinstance(data, bytes) else data.encode()
    app = open_page(PAGE)
    app.file_uploader(key=keys.FILE).set_value((name, content, "text/csv")).run()
    assert not app.exception
    return app


def press_import(app: AppTest) -> AppTest:
    app.button(key=state.key(keys.ACT, "import")).click().run()
    assert not app.exception
    return app


def field(app: AppTest, name: str):  # type: ignore[no-untyped-def]
    return next(box for box in app.selectbox if box.label == name)


def zipped(**files: str) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for name, text in files.items():
            archive.writestr(name.replace("_", "."), text)
    return buffer.getvalue()


def figures(app: AppTest) -> dict[str, str]:
    return {metric.label: metric.value for metric in app.metric}


def test_the_first_visit_says_what_a_file_may_be() -> None:
    assert "One answer per row" in shown(open_page(PAGE))


def test_a_long_table_is_shown_before_it_is_kept_and_leads_to_its_agreement(store: Store) -> None:
    app = importing(LONG)

    # Four rows: three labels and an empty one.
    found = figures(app)
    assert (found["Votes"], found["Empty answers"], found["Raters"]) == ("3", "1", "2")
    assert field(app, "Role of label").value == "label"
    # Its name says what it is, and three of its values stand beside it.
    assert "(its name)" in shown(app)
    assert "kim · gpt-4" in shown(app)
    assert "No rubric was given" in shown(app)
    assert store.counts().runs == 0

    press_import(app)

    run = store.runs.row(1)
    assert (run.votes, run.failures_open, run.status) == (3, 1, "done")
    assert "Imported as run 1." in shown(app)
    links = [link.proto.page for link in app.get("page_link")]
    assert any("agreement" in link for link in links)


def test_the_same_file_again_is_known_before_and_after_the_button(store: Store) -> None:
    press_import(importing(LONG))
    app = importing(LONG)
    assert "already imported as run 1" in shown(app)
    assert "Nothing was added." in shown(press_import(app))
    assert store.counts().runs == 1


def test_a_column_that_was_guessed_wrongly_is_changed(store: Store) -> None:
    app = importing("item,rater,label,choice\na,kim,draft,yes\nb,kim,draft,no\n")
    field(app, "Role of label").set_value("out")
    field(app, "Role of choice").set_value("label").run()
    assert "2 cells" in shown(app)
    assert "(as you said)" in shown(app)
    press_import(app)
    rubric = store.rubrics.version(store.runs.row(1).rubric_version_id).rubric
    # The file's own words, not those of the column that was guessed.
    assert [option.label for option in rubric.criteria[0].options] == ["yes", "no"]


def test_a_wide_table_gets_a_rater_a_column(store: Store) -> None:
    app = importing(WIDE)
    assert figures(app)["Votes"] == "4"
    press_import(app)
    assert [j.name for j in store.runs.row(1).panel.judges] == ["kim", "lee"]


def test_a_rubric_that_is_kept_here_can_be_the_question(store: Store) -> None:
    rubric = Rubric(name="Mine", criteria=(Criterion(name="cites", requirement="Cites."),))
    version = store.rubrics.create(rubric, now=clock.now())
    app = importing(LONG)
    app.selectbox(key=keys.RUBRIC).select(version.id).run()
    # Its only criterion is what the answers are to, though the file names none.
    press_import(app)
    assert store.runs.row(1).rubric_version_id == version.id


def test_criteria_that_a_file_names_are_those_of_the_rubric(store: Store) -> None:
    rubric = Rubric(name="Mine", criteria=(Criterion(name="cites", requirement="Cites."),))
    version = store.rubrics.create(rubric, now=clock.now())
    app = importing(
        LONG.replace("item,", "criterion,item,")
        .replace("\na,", "\ncites,a,")
        .replace("\nb,", "\ncites,b,")
    )
    app.selectbox(key=keys.RUBRIC).select(version.id).run()
    assert "No rubric was given" not in shown(app)
    press_import(app)
    assert store.runs.row(1).rubric_version_id == version.id


def test_every_bad_line_is_shown_and_there_is_no_button() -> None:
    votes = HEAD + "a,cites,kim,human,MAYBE\nzz,cites,kim,human,MET\n"
    data = zipped(rubric_yaml=RUBRIC, items_jsonl=ITEMS, votes_csv=votes)
    app = importing(data, "replies.zip")
    page = shown(app)
    assert "2 problems to fix" in page
    assert "line 2, label" in page
    assert "line 3, item_id" in page
    assert not [b for b in app.button if b.label == "Import"]


def test_an_archive_is_imported_whole(store: Store) -> None:
    votes = HEAD + "a,cites,kim,human,MET\n"
    press_import(
        importing(zipped(rubric_yaml=RUBRIC, items_jsonl=ITEMS, votes_csv=votes), "replies.zip")
    )
    assert store.runs.row(1).dataset_name == "replies"


def test_a_file_that_is_no_table_says_so() -> None:
    assert "cannot be opened" in shown(importing(b"PK\x03\x04 nothing", "x.zip"))


def test_items_are_sent_to_the_datasets_page() -> None:
    app = importing("id,submission\na,An essay\n")
    assert "seems to hold items, not votes" in shown(app)
    assert not [b for b in app.button if b.label == "Import"]


def test_another_file_starts_anew(store: Store) -> None:
    app = press_import(importing(LONG))
    app.button(key=state.key(keys.ACT, "another")).click().run()
    assert not app.exception
    assert "One answer per row" in shown(app)


def test_hostile_text_is_shown_as_it_is(store: Store) -> None:
    app = importing("item,rater,label\n<b>a</b>,**kim**,<img src=x>\n$x$,:smile:,[a](http://b)\n")
    assert "<img" not in shown(app).replace("&lt;img", "")
    press_import(app)
    assert [j.name for j in store.runs.row(1).panel.judges] == ["**kim**", ":smile:"]


def test_an_imported_run_says_so_and_offers_no_retry(store: Store) -> None:
    press_import(importing(LONG))

    page = open_page(routes.RUN, run="1")
    assert "✓ Imported" in shown(page)
    assert "rated elsewhere by kim" in shown(page)
    assert "These cells are empty in the imported file" in shown(page)
    assert not [b for b in page.button if "Retry" in b.label or "Resume" in b.label]

    plan = shown(open_page(routes.RUN, run="1", view="plan"))
    assert "votes.csv (long table)" in plan
    assert "no: models rated, too" in plan
    assert "Votes per judge" not in plan

    assert "3 votes" in shown(open_page(routes.RUNS))


def test_what_was_chosen_of_columns_and_raters_stays_when_a_rubric_is_chosen(store: Store) -> None:
    rubric = Rubric(name="R", criteria=(Criterion(name="lee", requirement="Lee?"),))
    saved = store.rubrics.create(rubric, now=clock.now())
    app = importing("id,text,kim,lee\na,x,MET,MET\nb,y,UNMET,MET\n")
    assert field(app, "Role of text").value == "submission"
    # The key of a widget stands at the end of its id: FAMILY/FILE/table/NUMBER.
    (drawn,) = [e.proto.id for e in app.dataframe if "Is a" in e.value]
    raters = drawn[drawn.index(keys.RATERS + "/") :].rsplit("/table/")[0]
    (_, number, rows) = app.session_state[state.key(raters, "drawn")]
    at = [row["Column"] for row in rows].index("lee")
    edited = {"edited_rows": {at: {"Is a": "Model"}}, "added_rows": [], "deleted_rows": []}
    app.session_state[state.key(raters, "table", number)] = edited
    app.run()
    assert app.session_state[state.key(raters, "changed")]["lee"] == {"Is a": "Model"}

    app.selectbox(key=keys.RUBRIC).set_value(saved.id).run()
    assert app.session_state[state.key(raters, "changed")]["lee"] == {"Is a": "Model"}
    field(app, "Role of kim").set_value(
        "system"
    ).run()  # the table has a row less, and is drawn anew

    assert not app.exception
    (frame,) = [e.value for e in app.dataframe if "Is a" in e.value]
    kinds = dict(zip(frame["Column"], frame["Is a"], strict=True))
    assert kinds["lee"] == "Model"


def test_a_table_of_another_tool_is_not_guessed_at_and_the_person_may_say_what_it_is() -> None:
    app = importing(FOREIGN["langsmith-runs.jsonl"], "runs.jsonl")
    page = shown(app)
    assert "neither a table of votes nor a dataset" in page
    assert "no column is named for the submission" in page
    assert "--map" not in page
    assert not [b for b in app.button if b.label == "Import"]
    app.segmented_control[0].set_value("long").run()
    for role, column in (("item", "id"), ("rater", "run_type"), ("label", "status")):
        field(app, label(f"Role of {column}")).set_value(role)
    field(app, "Role of name").set_value("criterion").run()
    assert (figures(app)["Votes"], figures(app)["Raters"]) == ("4", "1")


def test_results_of_another_tool_are_known_and_their_numbers_cut_as_one_says(store: Store) -> None:
    app = importing(packed(members()), "log.eval")

    assert "Read as results of Inspect." in shown(app)
    steps = next(box for box in app.text_input if box.label == "Steps for scores that are numbers")
    steps.set_value("length=0,0.3").run()
    assert "is not understood" in shown(app)
    steps = next(box for box in app.text_input if box.label == "Steps for scores that are numbers")
    steps.set_value("length=0, 0.3, 1").run()
    press_import(app)

    # 21 scores, one of them NaN.
    run = store.runs.row(1)
    assert (run.votes, run.failures_open) == (20, 1)
    rubric = store.rubrics.version(run.rubric_version_id).rubric
    length = rubric.criterion("length")
    assert [option.label for option in length.choices][:2] == ["0 to 0.3", "0.3 to 1"]


def test_the_sheet_of_a_workbook_is_chosen_before_its_votes_are_read(store: Store) -> None:
    app = importing(xlsx({"Marks": VOTES, "Old": VOTES[:3]}), "class.xlsx")
    (choice,) = app.selectbox
    choice.set_value("Marks").run()
    assert not app.exception
    # Eight essays, two raters.
    assert (figures(app)["Votes"], figures(app)["Items"]) == ("16", "8")
    press_import(app)
    assert store.runs.list()[0].planned == 16


def test_words_that_are_no_options_get_their_meaning_in_one_table(store: Store) -> None:
    polite = Criterion(name="polite", requirement="Is it polite?")
    store.rubrics.create(Rubric(name="R", criteria=(polite,)), now=clock.now())
    app = importing("item,rater,label\na,kim,höflich\na,lee,grob\nb,kim,höflich\nb,lee,höflich\n")
    rubric = field(app, "Rubric")
    rubric.set_value(rubric.options and store.rubrics.list()[0].version_id).run()
    assert "'höflich' (3), 'grob' are not options of 'polite'" in shown(app).replace("&#x27;", "'")
    for theirs, ours in (("höflich", "MET"), ("grob", "UNMET")):
        (box,) = [one for one in app.selectbox if one.label.endswith(f" {theirs}")]
        box.set_value(ours).run()
    assert not app.exception
    assert figures(app)["Votes"] == "4"
    press_import(app)
    assert store.runs.list()[0].planned == 4


def test_a_table_that_only_its_values_tell_begins_as_they_tell_it() -> None:
    rows = "".join(
        f"R-{n},{who},{'x' if n % 2 else ''},{'x' if (n + at) % 2 else ''}\n"
        for n in range(4)
        for at, who in enumerate(("KM", "TH"))
    )
    app = importing(f"Redacción nr,Corrector,Saluda,Cita\n{rows}", "lista.csv")
    assert "The headings do not show what this table contains" in shown(app)
    assert app.segmented_control[0].value == "criteria"
    assert not app.exception
    # Four texts, two people, two questions; a blank is a no until somebody says otherwise.
    assert (figures(app)["Votes"], figures(app)["Raters"], figures(app)["Items"]) == (
        "16",
        "2",
        "4",
    )
    next(box for box in app.checkbox if box.label == "A blank cell means No").uncheck().run()
    assert figures(app)["Votes"] == "8"


def test_a_ranking_is_called_one_until_somebody_names_it_otherwise(store: Store) -> None:
    rows = "".join(
        f"i{n},{who},{n if who == 'kim' else 4 - n}\n" for n in (1, 2, 3) for who in ("kim", "lee")
    )
    app = importing(f"item,rater,place\n{rows}")
    app = app.segmented_control[0].set_value("long").run()
    assert "1 is best, as in a ranking" in shown(app)
    app = (
        next(i for i in app.text_input if i.label == "Name of the criterion")
        .set_value("points")
        .run()
    )
    assert "1 is best, as in a ranking" not in shown(app)


def test_two_columns_are_the_id_of_an_item_together() -> None:
    rows = "".join(f"{c},1,kim,yes\n{c},2,lee,no\n" for c in "cde")
    app = importing(f"item,turn,rater,label\n{rows}")
    assert figures(app)["Items"] == "3"
    field(app, "Role of turn").select("item").run()
    assert not app.exception
    assert figures(app)["Items"] == "6"
