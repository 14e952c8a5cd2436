"""YAML beside the form, two people at once, redo, imports, old versions."""

from __future__ import annotations

from core.services.rubrics import library
from core.store.store import Store
from pages.rubric.versions.history import CONFLICT_TAKE
from pages.ui import state
from pages.ui.drafts import RUBRIC_ACT, RUBRICS_ACT, RUBRICS_FILE, RUBRICS_TEXT
from tests.pages.conftest import open_page, shown
from tests.pages.rubric.rubric_page import (
    PAGE,
    done,
    draft_of,
    field,
    press,
    saved,
    type_yaml,
    view,
    yaml_of,
)
from tests.services.rubrics.test_drafts import FULL


def test_yaml_and_form_are_two_views_of_one_draft(store: Store) -> None:
    name = saved(store)
    app = view(open_page(PAGE, rubric=name), "YAML")
    assert yaml_of(app) == library.rubric_file_text(FULL, "yaml")
    type_yaml(app, "# mine\n" + yaml_of(app).replace("name: Clear", "name: Lucid"))
    assert draft_of(app)["criteria"][0]["name"] == "Lucid"
    assert yaml_of(app).startswith("# mine")
    view(app, "Form")
    uid = draft_of(app)["criteria"][0]["uid"]
    press(app, name, "toggle", uid)
    assert app.text_input(key=field(name, uid, "name")).value == "Lucid"
    done(app.text_input(key=field(name, uid, "name")).set_value("Clear again"))
    view(app, "YAML")
    assert "name: Clear again" in yaml_of(app)


def test_wrong_yaml_names_its_line_is_not_applied_and_not_lost(store: Store) -> None:
    name = saved(store)
    app = view(open_page(PAGE, rubric=name), "YAML")
    wrong = "name: R\ncriteria:\n  - name: A\n    requirement: Is it?\n    weigth: 3\n"
    type_yaml(app, wrong.replace("requirement: Is it?", "requirement: ''"))
    assert "line 4" in shown(app)
    assert draft_of(app)["name"] == "Essays"
    view(app, "Form")
    assert "holds text that is not a valid rubric yet" in shown(app)
    other_tab = open_page(PAGE, rubric=name)
    assert "holds text that is not a valid rubric yet" in shown(other_tab)
    press(app, name, "save")
    assert library.latest_version(store, int(name)).number == 1
    press(app, name, "yaml_back")
    assert "weigth" in yaml_of(app)
    view(app, "Form")
    press(app, name, "yaml_drop")
    assert "Version 1, saved" in shown(app)


def test_a_second_save_shows_both_and_loses_neither(store: Store) -> None:
    name = saved(store)
    app = open_page(PAGE, rubric=name)
    press(app, name, "toggle", "about")
    done(app.text_input(key=field(name, "name")).set_value("Mine"))
    theirs = {**library.draft_of(store, int(name)), "guidelines": "Be strict."}
    library.save(store, "x", theirs)  # type: ignore[arg-type]  # a draft with one field changed
    press(app, name, "save")
    assert "Nothing was overwritten" in shown(app)
    assert "strict</mark>" in shown(app)
    press(app, name, "conflict", "merge")
    latest = library.latest_version(store, int(name))
    # What each of them changed alone is chosen already.
    assert (latest.number, latest.rubric.name) == (3, "Mine")
    assert latest.rubric.guidelines == "Be strict."
    assert library.version_history(store, int(name))[1].number == 2


def test_where_both_changed_the_same_one_chooses_whose(store: Store) -> None:
    name = saved(store)
    app = open_page(PAGE, rubric=name)
    press(app, name, "toggle", "about")
    done(app.text_input(key=field(name, "name")).set_value("Mine"))
    theirs = {**library.draft_of(store, int(name)), "name": "Theirs"}
    library.save(store, "x", theirs)  # type: ignore[arg-type]  # a draft with one field changed
    press(app, name, "save")
    assert "both changed it" in shown(app)
    take = state.key(CONFLICT_TAKE, name, "name")
    done(app.segmented_control(key=take).set_value("theirs"))
    press(app, name, "conflict", "merge")
    assert library.latest_version(store, int(name)).rubric.name == "Theirs"


def test_two_tabs_that_are_written_in_at_once_keep_their_work_side_by_side(store: Store) -> None:
    name = saved(store)
    one, other = open_page(PAGE, rubric=name), open_page(PAGE, rubric=name)
    for app, words in ((one, "Of the one"), (other, "Of the other")):
        press(app, name, "toggle", "about")
        done(app.text_input(key=field(name, "name")).set_value(words))
    kept = {one.draft["name"] for one in library.all_kept_drafts(store)}
    assert kept == {"Of the one", "Of the other"}
    assert "Another tab has unsaved changes" in shown(other)
    press(other, name, "save")
    # The other one's save neither takes the first one's work nor shows it as its own.
    assert [one.draft["name"] for one in library.all_kept_drafts(store)] == ["Of the one"]
    assert draft_of(other)["name"] == "Of the other"
    press(one, name, "save")
    assert "Nothing was overwritten" in shown(one)


def test_what_was_taken_back_can_be_made_again(store: Store) -> None:
    name = saved(store)
    app = open_page(PAGE, rubric=name)
    uid = draft_of(app)["criteria"][0]["uid"]
    press(app, name, "toggle", uid)
    press(app, name, "remove", uid)
    press(app, name, "undo")
    assert len(draft_of(app)["criteria"]) == 3
    press(app, name, "redo")
    assert len(draft_of(app)["criteria"]) == 2
    press(app, name, "undo")
    press(app, name, "add", "yes_no")
    # Another change: what was taken back before is not to be made again.
    assert app.button(key=state.key(RUBRIC_ACT, name, "redo")).disabled


def test_pasted_text_is_refused_with_lines_or_opened_unsaved(store: Store) -> None:
    app = press(open_page(PAGE), "import", family=RUBRICS_ACT)
    app.text_area(key=RUBRICS_TEXT).set_value("name: R\ncriteria:\n  - name: A\n")
    press(app, "read", family=RUBRICS_ACT)
    assert "line 3" in shown(app)
    app.text_area(key=RUBRICS_TEXT).set_value("- Cites a source.\n")
    press(app, "read", family=RUBRICS_ACT)
    assert draft_of(app)["criteria"][0]["name"] == "Cites a source"
    assert library.rubric_rows(store) == []
    assert "Never saved" in shown(app)


def test_a_file_is_read_like_pasted_text(store: Store) -> None:
    app = press(open_page(PAGE), "import", family=RUBRICS_ACT)
    text = library.rubric_file_text(FULL, "json").encode()
    app.file_uploader(key=RUBRICS_FILE).set_value([("f.json", text, "application/json")])
    press(app, "read", family=RUBRICS_ACT)
    assert [c["name"] for c in draft_of(app)["criteria"]] == ["Clear", "Depth", "Tone"]


def test_a_sample_opens_as_a_draft_of_one_s_own(store: Store) -> None:
    app = press(open_page(PAGE), "samples", family=RUBRICS_ACT)
    file, sample = next(iter(library.all_samples().items()))
    press(app, "sample", file, family=RUBRICS_ACT)
    assert draft_of(app)["name"] == sample.name
    assert library.rubric_rows(store) == []


def test_a_draft_belongs_to_the_browser_that_wrote_it(store: Store) -> None:
    name = saved(store)
    app = open_page(PAGE, rubric=name)
    press(app, name, "toggle", "about")
    done(app.text_input(key=field(name, "name")).set_value("Of the one"))
    other = open_page(PAGE, browser="another", rubric=name)
    assert draft_of(other)["name"] == "Essays"
    # A toast says so once; the note itself stands at the end, and moves nothing.
    text = shown(other)
    assert text.index("Another browser has unsaved changes") > text.index("Rubric check")
    assert [one.value for one in other.toast] == ["Another browser has unsaved changes&#46;"]
    press(other, name, "toggle", "about")
    assert not other.toast
    done(other.text_input(key=field(name, "name")).set_value("Of the other"))
    for browser, words in (("", "Of the one"), ("another", "Of the other")):
        again = open_page(PAGE, browser=browser, rubric=name)
        assert draft_of(again)["name"] == words
    # The list names the rubric once, and says whose changes these are.
    lists = shown(open_page(PAGE))
    assert len([b for b in open_page(PAGE).button if b.label == "Essays"]) == 1
    assert "Unsaved changes, just now<" in lists
    assert "Unsaved changes, just now by another browser" in lists
    press(other, name, "others", name)
    assert draft_of(other)["name"] == "Of the one"


def test_a_discarded_new_rubric_can_be_brought_back(store: Store) -> None:
    app = press(open_page(PAGE), "import", family=RUBRICS_ACT)
    app.text_area(key=RUBRICS_TEXT).set_value("- Cites a source.\n")
    press(app, "read", family=RUBRICS_ACT)
    press(app, "list")
    (stored,) = library.all_kept_drafts(store)
    press(app, "discard", stored.name, family=RUBRICS_ACT)
    assert library.all_kept_drafts(store) == []
    assert "Discarded" in shown(app)
    press(app, "undo discard", family=RUBRICS_ACT)
    assert [one.draft for one in library.all_kept_drafts(store)] == [stored.draft]
    assert "Discarded" not in shown(app)
