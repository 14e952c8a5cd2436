"""The path "Grade my texts": each step asks only for what is missing, and the address remembers."""

from __future__ import annotations

import re
import threading
import time
from collections.abc import Iterator
from html import unescape
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from core import clock
from core.domain.dataset import Dataset, Item, Label
from core.domain.library import DatasetVersion, RubricVersion
from core.domain.rubric import Criterion, Option, Rubric
from core.services.assist import help_tasks
from core.services.datasets import catalog, label_draws
from core.services.guided import grading, judging, learning, own_grades
from core.services.guided.judging import JudgeChoice
from core.services.judges import connection, registry
from core.store.store import Store
from pages.grade import steps
from pages.ui import identity, routes, state
from pages.ui.places import work
from pages.ui.trial.votes import VOTE_OPEN
from tests.formats.office.documents import docx
from tests.formats.office.workbooks import xlsx
from tests.judging.test_writing_replies import DRAFT
from tests.pages import reviewing
from tests.pages.conftest import open_page, shown, visit
from tests.pages.spot_checks import worked_off
from tests.pages.ui.test_routes import links
from tests.provider import Provider, ok
from tests.services import reviewed
from tests.services.assist.made import reply
from tests.services.exports.test_all_grades import class_of_eight
from tests.services.guided.test_marks import NOW, RUBRIC, class_with
from tests.services.guided.test_own_grades import a_class, grade, ten

PAGE = routes.GRADE
SECRET = "sk-12345678901234567890"


@pytest.fixture
def provider() -> Iterator[Provider]:
    with Provider() as serving:
        serving.rule = lambda body: ok(1)
        yield serving


def press(app: AppTest, words: str) -> AppTest:
    """Press the button that begins with these words."""
    next(button for button in app.button if button.label.startswith(words)).click().run()
    assert not app.exception
    return app


def stands(app: AppTest, name: str) -> str:
    """What the address says."""
    value = app.query_params[name]
    return value if isinstance(value, str) else value[0]


def buttons(app: AppTest) -> list[str]:
    return [button.label for button in app.button]


def way(app: AppTest, step: str, which: str) -> AppTest:
    """Choose where texts or the rubric come from."""
    app.button_group(key=steps.field_key(step, "way")).set_value(which).run()
    return app


def known(store: Store, *notes: dict[str, object]) -> dict[str, str]:
    """The address of a path with texts and a rubric that are kept."""
    rubric = store.rubrics.create(RUBRIC, now=NOW)
    dataset = class_with(store, *(notes or ({}, {}, {}, {})))
    return {"dataset": str(dataset.dataset_id), "rubric": str(rubric.rubric_id)}


def newest(store: Store) -> dict[str, str]:
    """The address of the only texts and the only rubric."""
    (dataset,), (rubric,) = store.datasets.list(), store.rubrics.list()
    return {"dataset": str(dataset.id), "rubric": str(rubric.id)}


def test_it_begins_with_the_texts_and_asks_for_nothing_else(store: Store) -> None:
    app = open_page(PAGE)
    words = shown(app)
    heads = [f"{number} · {name}" for number, name in enumerate(steps.NAMES.values(), start=1)]
    assert [words.count(head) for head in heads] == [1] * 5
    assert len(app.get("file_uploader")) == 1
    assert not app.button


def test_pasted_texts_and_a_pasted_rubric_lead_to_the_judges(store: Store) -> None:
    app = way(open_page(PAGE), "texts", "paste")
    app.text_area(key=steps.field_key("texts", "paste")).set_value(
        "One text.\n\nAnother one."
    ).run()
    press(app, "Use these 2 texts")
    assert "2 texts from pasted texts" in shown(app)
    way(app, "rubric", "paste")
    lines = "Names the cause (4 points)\nIs short (2 points)"
    app.text_area(key=steps.field_key("rubric", "paste")).set_value(lines).run()
    press(app, "Use this rubric")
    assert "Pasted rubric: 2 criteria, 6 points" in shown(app)
    # Who comes back by this address finds it all as it was left.
    again = open_page(PAGE, **{name: stands(app, name) for name in app.query_params})
    assert "2 texts from pasted texts" in shown(again)
    assert "3 · Judges" in shown(again)


def test_the_column_of_texts_is_guessed_shown_and_changed_by_one_choice(store: Store) -> None:
    app = way(open_page(PAGE), "texts", "paste")
    rows = "Name\tWording\nAnn\tThe Moon pulls.\nBob\tThe Sun does."
    app.text_area(key=steps.field_key("texts", "paste")).set_value(rows).run()
    box = next(box for box in app.selectbox if box.label == "Column with the texts")
    assert box.value is None
    box.set_value("Wording").run()
    assert "The Sun does." in shown(app)
    press(app, "Use these 2 texts")
    (row,) = catalog.list_datasets(store)
    assert catalog.item_of_version(store, catalog.latest(store, row.id), "item-0002").meta == {
        "Name": "Bob"
    }
    assert "text in column “Wording”" in shown(app)


def test_a_settled_step_is_opened_again_and_left_as_it_was(store: Store) -> None:
    app = open_page(PAGE, **known(store))
    before = dict(app.query_params)
    app.button(key=state.key(steps.GRADE_ACT, "change", "texts")).click().run()
    assert "Leave this unchanged" in buttons(app)
    press(app, "Leave this unchanged")
    assert dict(app.query_params) == before
    assert "4 texts from class.xlsx" in shown(app)


def test_a_column_of_names_says_whose_texts_they_are(store: Store) -> None:
    rows = "".join(f"Ann {n},This is essay number {n} on the tides.\n" for n in range(4))
    app = drop(open_page(PAGE), "texts", "files", "class.csv", f"Name,Essay\n{rows}".encode())

    assert '<th scope=\\"col\\">Name</th>' in shown(app)
    assert "Name names the author of the text; no judge sees it." in unescape(shown(app))


def test_marks_of_the_file_are_asked_about_when_the_rubric_is_known(store: Store) -> None:
    address = known(store, {"Cause": "4"}, {"Cause": "so so"}, {"Cause": "Full"})
    app = open_page(PAGE, **address)
    assert "Your texts bring marks for Cause (3 texts)" in shown(app)
    take = next(button for button in app.button if button.label == "Use the marks as labels")
    assert take.disabled
    boxes = {box.key: box for box in app.selectbox}
    assert boxes[steps.field_key("marks", "Cause", "4")].value == "Full"
    boxes[steps.field_key("marks", "Cause", "so so")].set_value("Half").run()
    press(app, "Use the marks as labels")
    newest = catalog.latest(store, int(address["dataset"]))
    assert (newest.number, newest.labelled) == (2, 3)
    assert catalog.item_of_version(store, newest, "s2").labels == {"Cause": Label(label="Half")}
    # Judges that learn would need more, and the question is not asked again.
    assert "All 3 texts have your marks" in shown(app)
    assert "bring marks" not in shown(app)


def test_marks_alone_are_the_criterion_by_one_press_and_no_file_is_asked_for(
    store: Store,
) -> None:
    notes = [{"Name": f"P{n}", "Mark": n % 6} for n in range(12)]
    dataset = class_with(store, *notes)
    app = open_page(PAGE, dataset=str(dataset.dataset_id))

    press(app, "Grade by ")

    assert newest(store)["rubric"] == stands(app, state.RUBRIC)
    assert "Mark: 1 criterion, 5 points" in unescape(shown(app))
    assert "Add marks that I have" not in links(app)

    # By a rubric of other criteria they are offered in place of a file of marks.
    other = store.rubrics.create(RUBRIC, now=NOW)
    dataset = class_with(store, *notes[:11])
    address = {"dataset": str(dataset.dataset_id), "rubric": str(other.rubric_id)}
    app = open_page(PAGE, **address)
    assert "Grade by “Mark” alone, 0 to 5" in map(unescape, buttons(app))
    assert "Add marks that I have" not in links(app)


def test_adding_a_model_is_folded_below_grading_oneself(store: Store) -> None:
    app = open_page(PAGE, **known(store))
    assert "Grade 4 yourself" in buttons(app)
    assert not next(one for one in app.expander if one.label == "Add a model").proto.expanded


def test_who_gives_a_key_for_its_variable_is_told_and_it_is_not_kept(store: Store) -> None:
    app = open_page(PAGE, **known(store))
    app.text_input(key=steps.field_key("model")).set_value("openai/gpt-9")
    app.text_input(key=steps.field_key("key_env")).set_value(SECRET)
    press(app, "Add and test")
    assert "Environment variable of the key" in shown(app)
    assert not [e for e in registry.list_judges(store) if e.judge.kind == "llm"]
    assert app.text_input(key=steps.field_key("key_env")).value == ""
    assert SECRET not in shown(app)


def test_a_model_added_here_is_chosen_and_the_estimate_follows(
    store: Store, provider: Provider
) -> None:
    app = open_page(PAGE, **known(store))
    assert "Grade 4 texts" not in buttons(app)
    app.text_input(key=steps.field_key("model")).set_value("loopback-1")
    app.text_input(key=steps.field_key("api_base")).set_value(provider.url)
    press(app, "Add and test")
    assert stands(app, state.JUDGE) == "loopback-1"
    # Four texts, two criteria, one judge; its price is unknown.
    assert "4 texts, 1 judge, 8 answers, 8 calls, cost unknown" in shown(app)
    assert "Grade 4 texts" in buttons(app)
    end = time.monotonic() + 30
    while connection.is_running(store, "loopback-1") and time.monotonic() < end:
        time.sleep(0.05)
    # Once the model has answered, it is known how long a call takes.
    assert "8 calls, cost unknown, about " in shown(app.run())


def test_three_are_tried_then_all_graded_and_the_end_leads_on(
    store: Store, provider: Provider
) -> None:
    settings = {"name": "loopback", "model": "m", "api_base": provider.url, "shuffle": False}
    registry.save_judge(store, settings)
    provider.rule = lambda body: ok(1, reason="It says so.")
    app = open_page(PAGE, **known(store))
    assert "6 answers, 6 calls, cost unknown" in unescape(shown(app))  # 3 texts, 2 criteria
    press(app, "Try 3 texts")
    tried = int(stands(app, state.TRIED))
    worked_off(store, tried)
    app.run()
    # The first options: Nothing and MET, 10 of 14 points, on each of three texts.
    assert shown(app).count("10 of 14") == 3
    # Why, in place: each criterion with its votes.
    assert "It says so." not in shown(app)
    app.session_state[state.key(steps.GRADE_ACT, "why", tried, "s2")] = True
    for criterion in RUBRIC.criteria:
        app.session_state[state.key(VOTE_OPEN, tried, "s2", criterion.name)] = True
    assert shown(app.run()).count("It says so.") == 2
    assert not app.exception
    press(app, "Grade 4 texts")
    run = int(stands(app, state.RUN))
    worked_off(store, run)
    app.run()
    assert [head.value for head in app.subheader] == ["4 graded&#44; 0 in doubt"]
    assert "A single judge shows no disagreement" in shown(app)
    ways = links(app)
    assert ways["Open the grid"] == f"run?run={run}"
    assert ways["How far to trust it"] == f"agreement?run={run}"
    assert "Settle doubtful cells" not in ways
    app.button(key=state.key(steps.GRADE_ACT, "change", "judges")).click().run()
    assert state.RUN not in app.query_params
    assert "Grade 4 texts" in buttons(app)


def test_a_trial_says_how_many_texts_it_tries(store: Store, provider: Provider) -> None:
    registry.save_judge(store, {"name": "m", "model": "m", "api_base": provider.url})
    address = known(store, {}, {})
    app = open_page(PAGE, **address, judge="m")
    assert "Try 2 texts" in buttons(app)


def test_what_is_in_doubt_leads_to_people(store: Store) -> None:
    run = reviewed.graded(store, 8)
    lease = store.leases.claim("me", at=0.0, seconds=1e12, run_id=run.id)
    assert lease is not None
    store.leases.release(lease, "done", now=NOW)
    app = open_page(PAGE, **newest(store), run=str(run.id))
    assert [head.value for head in app.subheader] == ["8 graded&#44; 6 in doubt"]
    assert links(app)["Settle doubtful cells"] == f"queues?new=queue&run={run.id}"


def test_grades_of_own_labels_and_missing_ones_are_said(store: Store) -> None:
    run = class_of_eight(store)
    app = open_page(PAGE, **newest(store), run=str(run))
    line = grading.outcome(store, run).line
    assert line.startswith(
        "5 graded, 2 of them by your own labels, 1 partly assessed, 3 without a grade"
    )
    assert app.subheader[0].value.startswith("5 graded&#44; 2 of them by your own labels")
    assert "no label&#58; Units" in shown(app)


def test_an_address_that_names_nothing_begins_anew(store: Store) -> None:
    app = open_page(PAGE, dataset="77", rubric="88", run="99", judge="nobody")
    assert len(app.get("file_uploader")) == 1


def test_who_deselects_everybody_is_asked_to_choose(store: Store, provider: Provider) -> None:
    registry.save_judge(store, {"name": "loopback", "model": "m", "api_base": provider.url})
    app = open_page(PAGE, **known(store))
    assert "Grade 4 texts" in buttons(app)
    app.button_group(key=steps.field_key("judges", "pills", "")).set_value([]).run()
    assert "Grade 4 texts" not in buttons(app)
    assert "No judge is chosen yet" in shown(app)


def test_a_slow_browser_that_shows_who_was_chosen_before_drops_no_model_just_added(
    store: Store, provider: Provider
) -> None:
    registry.save_judge(store, {"name": "loopback", "model": "m", "api_base": provider.url})
    app = open_page(PAGE, **known(store))
    app.button_group(key=steps.field_key("judges", "pills", "")).set_value([]).run()
    app.text_input(key=steps.field_key("model")).set_value("second")
    app.text_input(key=steps.field_key("api_base")).set_value(provider.url)
    before = app._tree.get_widget_states()
    press(app, "Add and test")
    assert stands(app, state.JUDGE) == "second"
    # While the model is tested the page asks by itself, with what the browser shows.
    app._run(before)
    assert stands(app, state.JUDGE) == "second"


def test_without_labels_judges_that_learn_are_not_offered_and_the_way_to_them_is(
    store: Store,
) -> None:
    address = known(store)
    app = open_page(PAGE, **address, judge="Text classifier")
    assert not app.error
    assert not {"Try 3 texts", "Grade 4 texts"} & set(buttons(app))
    # Four are fewer than they learn from.
    assert "Judges on this machine learn from at least 10 graded texts" in unescape(shown(app))
    assert "Grade 4 yourself" in buttons(app)
    assert links(app)["Add marks that I have"] == f"datasets?dataset=new&into={address['dataset']}"


def test_datasets_and_rubrics_lead_here_with_what_is_known(store: Store) -> None:
    address = known(store)
    on_dataset = links(open_page(routes.DATASETS, dataset=address["dataset"]))
    assert on_dataset["Grade these texts"] == f"grade?dataset={address['dataset']}"
    on_rubric = links(open_page(routes.RUBRICS, rubric=address["rubric"]))
    assert on_rubric["Grade with this rubric"] == f"grade?rubric={address['rubric']}"


def test_who_goes_to_the_editor_comes_back_with_the_texts(store: Store) -> None:
    address = known(store)
    app = open_page(PAGE, **address)
    app.query_params.clear()
    app.query_params[state.RUBRIC] = address["rubric"]
    visit(app, routes.RUBRICS)
    back = links(app)["Grade with this rubric"]
    assert back == f"grade?dataset={address['dataset']}&rubric={address['rubric']}"


def drop(app: AppTest, step: str, which: str, name: str, data: bytes) -> AppTest:
    """Drop a file on a step of the path."""
    upload = app.file_uploader(key=steps.field_key(step, which))
    upload.set_value([(name, data, "application/octet-stream")]).run()
    assert not app.exception
    return app


def test_a_model_drafts_the_rubric_and_the_draft_is_taken_or_opened(
    store: Store, provider: Provider
) -> None:
    provider.rule = lambda body: reply(DRAFT)
    registry.save_judge(store, {"name": "Writer", "model": "m", "api_base": provider.url})
    dataset = class_with(store, {}, {})
    app = way(open_page(PAGE, dataset=str(dataset.dataset_id)), "rubric", "draft")
    app.text_area(key=steps.field_key("rubric", "task")).set_value("Refunds.").run()
    press(app, "Draft it")
    help_tasks.wait_for_task(store, int(stands(app, state.DRAFT)))
    app.run()
    assert "Limit" in shown(app)
    assert "Open the draft in the editor" in buttons(app)
    press(app, "Use this rubric")
    (row,) = store.rubrics.list()
    assert stands(app, state.RUBRIC) == str(row.id)
    assert state.DRAFT not in app.query_params
    assert "3 · Judges" in shown(app)


def test_a_file_that_is_no_rubric_is_refused_with_what_is_known(store: Store) -> None:
    dataset = class_with(store, {})
    app = open_page(PAGE, dataset=str(dataset.dataset_id))
    drop(app, "rubric", "file", "x.csv", b"a,b\n1,2\n")
    assert any(
        "not columns of a rubric" in line for line in [*(e.value for e in app.error), shown(app)]
    )
    assert "Use this rubric" not in " ".join(buttons(app))


def test_a_workbook_of_several_sheets_asks_which_and_broken_files_say_so(store: Store) -> None:
    rows = [["id", "answer"], ["a", "The Moon."], ["b", "The Sun."]]
    app = open_page(PAGE)
    drop(app, "texts", "files", "two.xlsx", xlsx({"First": rows, "Second": rows[:2]}))
    (box,) = app.selectbox
    assert box.label == "This workbook has rows on 2 sheets"
    box.set_value("Second").run()
    assert "Use this text" in buttons(app)
    press(app, "Another file")
    drop(app, "texts", "files", "broken.xlsx", b"PK\x03\x04 broken")
    assert len(app.error) == 1
    assert not [words for words in buttons(app) if words.startswith("Use")]


def test_what_was_dropped_and_not_accepted_is_there_after_a_reload(store: Store) -> None:
    drop(open_page(PAGE), "texts", "files", "class.csv", b"id,answer\na,Tides.\nb,No.\n")
    again = open_page(PAGE)
    assert "class.csv" in shown(again)
    press(again, "Use these 2 texts")
    # What was made of it is kept now; the file is not offered to the next class.
    assert "class.csv" not in shown(open_page(PAGE))


def test_what_was_pasted_and_not_accepted_is_there_after_a_reload(store: Store) -> None:
    app = way(open_page(PAGE), "texts", "paste")
    app.text_area(key=steps.field_key("texts", "paste")).set_value("Tides are the Moon's.").run()
    again = open_page(PAGE)
    assert again.text_area(key=steps.field_key("texts", "paste")).value == "Tides are the Moon's."
    press(again, "Use this text")
    # What was made of it is kept now; the next class begins with an empty box.
    assert not open_page(PAGE).text_area
    way(again, "rubric", "paste")
    again.text_area(key=steps.field_key("rubric", "paste")).set_value("Names the Moon (2)").run()
    assert "Names the Moon" in shown(open_page(PAGE, dataset=stands(again, state.DATASET)))


def test_documents_dropped_together_are_a_text_each(store: Store) -> None:
    app = open_page(PAGE)
    files = [("ann.docx", docx("The Moon pulls."), "x"), ("bob.txt", b"The Sun does.", "x")]
    app.file_uploader(key=steps.field_key("texts", "files")).set_value(files).run()
    press(app, "Use these 2 texts")
    assert "2 texts from 2 documents" in shown(app)


def test_texts_and_a_rubric_dropped_together_are_used_by_one_press(store: Store) -> None:
    app = open_page(PAGE)
    lines = b"name: Tides\ncriteria:\n  - {name: Cause, requirement: The answer names gravity.}\n"
    files = [
        ("class.csv", b"id,answer\na,Tides.\nb,No.\n", "text/csv"),
        ("tides.yaml", lines, "text/yaml"),
    ]
    app.file_uploader[0].set_value(files).run()
    assert not app.exception

    press(app, "Use these 2 texts and the rubric")

    assert [row.name for row in store.rubrics.list()] == ["Tides"]
    assert {stands(app, name) for name in (state.DATASET, state.RUBRIC)} == {"1"}
    # Nothing of it is offered to the next class.
    assert "tides.yaml" not in shown(open_page(PAGE))


def test_two_tables_dropped_together_are_asked_about_once(store: Store) -> None:
    app = open_page(routes.GRADE)
    tables = [
        (
            f"{name}.csv",
            f"id,question,answer\n1,Why?,The {name} pulls the water.\n".encode(),
            "text/csv",
        )
        for name in ("moon", "sun")
    ]
    app.file_uploader[0].set_value(tables).run()
    assert not app.exception
    assert "2 texts" in shown(app) or "these 2 texts" in " ".join(buttons(app))
    (how,) = [c for c in app.segmented_control if c.label == "These tables are"]
    assert how.value == "systems"
    press(app, "Use these 2 texts")
    version = store.datasets.latest(store.datasets.list()[0].id)
    items = store.datasets.load(version.id).items
    assert [(i.id, i.system) for i in items] == [("1 (moon)", "moon"), ("1 (sun)", "sun")]


def test_a_dataset_and_a_sample_that_are_here_are_chosen_without_a_button(store: Store) -> None:
    dataset = class_with(store, {}, {})
    app = way(open_page(PAGE), "texts", "here")
    app.selectbox(key=steps.field_key("texts", "dataset")).set_value(dataset.dataset_id).run()
    assert "2 texts from class.xlsx" in shown(app)
    kept = store.rubrics.create(RUBRIC, now=NOW)
    way(app, "rubric", "here")
    app.selectbox(key=steps.field_key("rubric", "known")).set_value(str(kept.rubric_id)).run()
    assert stands(app, state.RUBRIC) == str(kept.rubric_id)


def test_rubrics_of_one_name_are_told_apart_where_one_is_chosen(store: Store) -> None:
    store.rubrics.create(RUBRIC, now=NOW)
    store.rubrics.create(RUBRIC.model_copy(update={"guidelines": "Be kind."}), now=NOW)
    dataset = class_with(store, {}, {})
    app = way(open_page(PAGE, **{state.DATASET: str(dataset.dataset_id)}), "rubric", "here")
    offered = app.selectbox(key=steps.field_key("rubric", "known")).options
    assert len(set(offered)) == len(offered)
    assert f"{RUBRIC.name} (2 criteria) · no. 2" in offered


def test_while_it_grades_the_progress_is_here_and_can_be_stopped(
    store: Store, provider: Provider
) -> None:
    registry.save_judge(store, {"name": "loopback", "model": "m", "api_base": provider.url})
    app = press(open_page(PAGE, **known(store)), "Grade 4 texts")
    # Nobody works runs off in this test.
    assert "Waiting to start" in shown(app)
    assert "Cancel" in buttons(app)
    assert not app.subheader


def test_a_model_that_answers_while_the_page_is_drawn_is_said_to_have_answered(
    store: Store, provider: Provider, monkeypatch: pytest.MonkeyPatch
) -> None:
    registry.save_judge(store, {"name": "loopback", "model": "m", "api_base": provider.url})
    read, kept = threading.Event(), connection._keep_result
    monkeypatch.setattr(connection, "_keep_result", lambda *given: read.wait(20) and kept(*given))
    listed = judging.judges

    def then_answered(*given: Any) -> JudgeChoice:
        found = listed(*given)
        read.set()
        for test in list(connection._running.values()):
            test.thread.join(20)
        return found

    app = open_page(PAGE, **known(store))
    monkeypatch.setattr(judging, "judges", then_answered)
    press(app, "Test")
    words = shown(app)
    assert "✓ answered" in words
    assert "testing …" not in words


def test_texts_too_few_to_learn_from_end_with_the_grades_of_the_person(store: Store) -> None:
    version, rubric = a_class(store, 4)
    address = {"dataset": str(version.dataset_id), "rubric": str(rubric.rubric_id)}
    app = press(open_page(PAGE, **address), "Grade 4 yourself")
    grade(store, version, rubric)

    press(app.run(), "Learn from these 4")

    assert not [words for words in buttons(app) if re.match(r"Grade \d+", words)]
    assert [one.value for one in app.subheader] == ["4 texts graded by you"]
    assert [one.label for one in app.get("download_button")] == ["Download grades (.xlsx)"]
    assert "ten more" not in shown(app).lower()


def all_marked(store: Store, count: int, text: str = "Text {}") -> dict[str, str]:
    """The address of texts that all have a mark on both criteria."""
    rubric = store.rubrics.create(RUBRIC, now=NOW)
    items = tuple(
        Item(
            id=f"s{n}",
            submission=text.format(n),
            labels={
                "Cause": Label(label=("Nothing", "Half", "Full")[n % 3]),
                "Short": Label(label=("MET", "UNMET")[n % 2]),
            },
        )
        for n in range(count)
    )
    dataset = store.datasets.create(Dataset(name="Class", items=items), now=NOW)
    return {"dataset": str(dataset.dataset_id), "rubric": str(rubric.rubric_id)}


@pytest.mark.parametrize("count", [10, 13])
def test_where_all_have_marks_too_few_to_teach_and_test_the_grades_are_the_end(
    store: Store, count: int
) -> None:
    address = all_marked(store, count)
    for chosen in ({}, {"judge": "Text classifier"}):  # the judge is left from an earlier visit
        app = open_page(PAGE, **address, **chosen)
        words = unescape(shown(app))
        # Judges learn from three quarters, 0.75 * 14 = 10.5, and need ten.
        assert f"All {count} texts have your marks. With 14 such texts or more, judges" in words
        assert "kappa" not in words
        assert "No judge is chosen yet" not in words
        assert not [one for one in buttons(app) if re.match(r"Grade \d|Try", one)]
        assert [one.label for one in app.get("download_button")] == ["Download grades (.xlsx)"]


def test_from_fourteen_marks_on_judges_learn_from_most_and_are_tried_on_the_others(
    store: Store,
) -> None:
    app = open_page(PAGE, **all_marked(store, 14))
    assert "these two judges learn from them" in shown(app)
    assert "10 different labelled answers;" not in unescape(shown(app))


def test_equal_answers_teach_too_little_to_be_tried(store: Store) -> None:
    app = open_page(PAGE, **all_marked(store, 16, "The same text"))
    assert "1 different labelled answer;" in unescape(shown(app))
    assert not [one for one in buttons(app) if re.match(r"Grade \d|Try", one)]
    assert [one.label for one in app.get("download_button")] == ["Download grades (.xlsx)"]


def test_what_is_foretold_is_learnt_from_the_part_that_a_run_would_learn_from(
    store: Store,
) -> None:
    address = all_marked(store, 20)
    version = catalog.latest(store, int(address["dataset"]))
    rubric = store.rubrics.version(store.rubrics.list()[0].version_id)
    so_far = learning.learning(store, version, rubric, judging.LEARN_FROM)
    assert [criterion.labels for criterion in so_far.criteria] == [15, 15]


def test_where_too_few_are_graded_the_last_step_offers_the_others(store: Store) -> None:
    version, rubric = a_class(store, 6)
    address = {"dataset": str(version.dataset_id), "rubric": str(rubric.rubric_id)}
    app = press(open_page(PAGE, **address), "Grade 6 yourself")
    press(press(app, "Nothing"), "MET")

    press(app, "Learn from the 1")

    assert "These judges have too few grades to learn from. Your grades are kept." in unescape(
        shown(app)
    )
    assert [words for words in buttons(app) if re.match(r"Grade \d+", words)] == [
        "Grade 5 more yourself"
    ]
    assert "cannot be judged yet: grade the other 5." in unescape(shown(app))


def test_marks_are_added_where_a_file_of_them_becomes_the_next_version(store: Store) -> None:
    address = known(store)
    app = open_page(routes.DATASETS, dataset="new", into=address["dataset"])
    assert "as the next version of" in unescape(shown(app))
    assert app.session_state["import_into"] == int(address["dataset"])


def test_the_key_of_an_answer_is_its_mark_where_marks_are_single_digits(store: Store) -> None:
    marks = tuple(Option(label=str(mark), value=mark / 2) for mark in range(3))
    rubric = Rubric(
        name="Marks",
        criteria=(
            Criterion(name="Cause", requirement="Is it named?", scale="ordinal", options=marks),
        ),
    )
    version, _ = a_class(store, 12)
    kept = store.rubrics.create(rubric, now=clock.now())
    address = {"dataset": str(version.dataset_id), "rubric": str(kept.rubric_id)}

    app = press(open_page(PAGE, **address), "Grade 10 yourself")

    keys = {one.label: one.proto.shortcut for one in app.button if one.proto.shortcut}
    assert {mark: keys[mark] for mark in "012"} == {mark: mark for mark in "012"}


def test_without_a_model_ten_are_graded_by_hand_and_the_rest_by_what_they_teach(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    version, rubric = a_class(store, 30)
    address = {"dataset": str(version.dataset_id), "rubric": str(rubric.rubric_id)}
    app = press(open_page(PAGE, **address), "Grade 10 yourself")
    assert "0 of 10 texts done" in shown(app)
    assert "Grade 30 texts" not in buttons(app)
    sitting = own_grades.unfinished_sitting(store, version, rubric)
    assert sitting is not None
    first = sitting.items[0]
    assert first.text in unescape(shown(app))
    assert first.id not in shown(app)  # blind: whose text it is
    press(app, "Nothing")
    press(app, "MET")
    assert "1 of 10 texts done" in shown(app)
    press(app, "Back")
    assert "0 of 10 texts done" in shown(app)
    grade(store, version, rubric)
    app.run()
    press(app, "Learn from these 10")
    assert "10 texts graded by you" in shown(app)
    # What they teach, or why not yet, and the next ten beside it.
    assert "Short" in shown(app)
    assert "10 of 10 labels are" in shown(app)
    assert {"Grade 10 more yourself", "Grade 20 texts"} <= set(buttons(app))
    press(app, "Grade 20 texts")
    run = int(stands(app, state.RUN))
    worked_off(store, run)
    app.run()
    assert not app.error
    assert grading.outcome(store, run).own == 10
    # Where nothing was learnt there is no verdict, and so no grade: the person is never left there.
    assert len(grading.outcome(store, run).ungraded) == 20
    assert "Grade 20 ungraded texts yourself" in links(app)
    ways = {state.RUN: str(run), state.RULE: work.UNGRADED}
    assert "Who reviews?" not in shown(open_page(routes.REVIEW_ITEM, **ways))
    assert not store.reviewers.list()  # the browser has not said yet whether it knows a name
    monkeypatch.setattr(identity, "_browser_memory", lambda: ("", "tab"))
    app = open_page(routes.REVIEW_ITEM, **ways)
    # Judges learned the cause, and gave it on all 20 texts; the other criterion is left.
    assert "0 of 20 cells resolved" in shown(app)
    assert "Give your verdict." in shown(app)
    assert [one.value for one in app.toggle if one.label == "Commit at once"] == [True]
    assert [one.name for one in store.reviewers.list()] == ["Grader"]
    (queue,) = store.queues.list()
    assert queue.name == "Texts without a grade"


def graded_by_ten(store: Store, texts: int) -> tuple[DatasetVersion, RubricVersion, int]:
    """A class of so many texts; the run of judges that learned from the first ten, worked off."""
    version, rubric = a_class(store, texts)
    version = ten(store, version, rubric)
    panel = judging.panel_of(store, judging.judges(store, 10).proposed)
    run = grading.start(store, grading.run_request(store, rubric.id, version.id, panel))
    worked_off(store, run)
    return version, rubric, run


def test_of_texts_that_judges_left_open_five_teach_them_before_they_grade_again(
    store: Store,
) -> None:
    version, rubric, run = graded_by_ten(store, 30)
    left_open = set(grading.outcome(store, run).ungraded)
    assert len(left_open) == 20
    address = {"dataset": str(version.dataset_id), "rubric": str(rubric.rubric_id)}

    app = press(open_page(PAGE, **address, run=str(run)), "Grade 5, judges learn again")

    assert "0 of 5 texts done" in shown(app)
    sitting = own_grades.unfinished_sitting(store, version, rubric)
    assert sitting is not None
    assert {item.id for item in sitting.items} < left_open
    grade(store, version, rubric, most=9)
    press(app.run(), "MET")
    taught = catalog.latest(store, version.dataset_id)
    assert taught.labelled == 15
    # Chosen texts speak for no others.
    assert label_draws.declared_draw(store, taught.id) is None
    again = int(stands(app, state.RUN))
    assert again != run
    assert len(store.runs.get(again).plan.calibration["items"]) == 15


def test_where_others_review_a_name_is_asked_for_and_answers_wait_for_enter(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    _, _, run = graded_by_ten(store, 14)
    reviewed.sit(store, "Ada")
    monkeypatch.setattr(identity, "_browser_memory", lambda: ("", "tab"))
    ways = {state.RUN: str(run), state.RULE: work.UNGRADED}
    assert "Who reviews?" in shown(open_page(routes.REVIEW_ITEM, **ways))
    app = reviewing.at(store, "Kay", routes.REVIEW_ITEM, **ways)
    assert [one.value for one in app.toggle if one.label == "Commit at once"] == [False]


def test_the_last_of_ten_answers_hands_them_in_and_can_still_be_changed(store: Store) -> None:
    version, rubric = a_class(store, 30)
    address = {"dataset": str(version.dataset_id), "rubric": str(rubric.rubric_id)}
    app = open_page(PAGE, **address)
    assert "You need no model" in shown(app)
    assert "No judge is chosen yet" not in shown(app)
    app = press(app, "Grade 10 yourself")
    assert "Grading ends with your last answer. You can still go back then." in shown(app)
    grade(store, version, rubric, most=19)
    press(app.run(), "MET")

    # Ten of these teach little (see above), so the person sees what, and has the next ten.
    handed_in = catalog.latest(store, version.dataset_id)
    taught = learning.learning(store, handed_in, rubric)
    assert handed_in.labelled == 10
    assert (state.RUN in app.query_params) == (not all(one.off for one in taught.criteria))

    press(app, "Change my last answers")
    assert state.RUN not in app.query_params
    assert "9 of 10 texts done" in shown(app)
    assert catalog.latest(store, version.dataset_id) == handed_in  # until another answer is given
    press(app, "UNMET")
    after = catalog.latest(store, version.dataset_id)
    assert (after.number, after.labelled) == (handed_in.number + 1, 10)
    labels = [item.labels["Short"].label for item in store.datasets.items(after.id) if item.labels]
    assert sorted(labels) == ["MET"] * 9 + ["UNMET"]


def test_a_key_pressed_twice_on_the_last_question_is_one_answer(store: Store) -> None:
    version, rubric = a_class(store, 30)
    address = {"dataset": str(version.dataset_id), "rubric": str(rubric.rubric_id)}
    press(open_page(PAGE, **address), "Grade 10 yourself")
    grade(store, version, rubric, most=19)
    sitting = own_grades.unfinished_sitting(store, version, rubric)
    assert sitting is not None
    assert sitting.open is not None
    item, criterion = sitting.open
    app = AppTest.from_string(
        "from pages.grade import own\n"
        "from pages.ui.resources import store\n"
        f"dataset = store().datasets.version({version.id})\n"
        f"rubric = store().rubrics.version({rubric.id})\n"
        "for _ in range(2):\n"
        f"    own._on_answer(dataset, rubric, {item.id!r}, {criterion.name!r}, 'MET')\n",
        default_timeout=30,
    )
    assert not app.run().error
    assert catalog.latest(store, version.dataset_id).labelled == 10


def test_whose_texts_are_all_graded_by_hand_has_all_grades(store: Store) -> None:
    version, rubric = a_class(store, 12)
    own_grades.begin(store, version, rubric, [item.id for item in store.datasets.items(version.id)])
    grade(store, version, rubric)
    version = own_grades.finish(store, version, rubric)
    panel = judging.panel_of(store, judging.judges(store, 12).proposed)
    run = grading.start(store, grading.run_request(store, rubric.id, version.id, panel))
    worked_off(store, run)
    outcome = grading.outcome(store, run)
    assert (outcome.graded, outcome.without) == (12, 0)
