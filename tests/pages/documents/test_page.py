"""What is written about a page is one click away, also where only the wheel is installed."""

from __future__ import annotations

import re
from urllib.parse import parse_qs

import pytest

from core.services.rubrics import library
from core.services.rubrics.drafts import draft_from
from core.store.store import Store
from pages.documents import reading
from pages.ui import routes
from pages.ui.routes import Screen
from tests.pages.conftest import open_page, shown
from tests.places import ROOT
from tests.services.rubrics.test_drafts import FULL

SCREENS = [screen for screen in routes.SCREENS if screen != routes.DOCUMENTS]
LINK = re.compile(r"\]\(([^)\s]+)\)")


@pytest.mark.parametrize("screen", SCREENS, ids=lambda screen: screen.url)
def test_every_screen_leads_to_what_is_written_about_it(store: Store, screen: Screen) -> None:
    app = open_page(screen)
    (about,) = [one for one in app.get("page_link") if one.proto.label == "About this page"]
    address = parse_qs(about.proto.query_string)

    found = open_page(routes.DOCUMENTS, document=address["document"][0], part=address["part"][0])

    assert f"<h2>{screen.title}</h2>" in shown(found)
    assert shown(found).count("<h2>") == 1


def test_a_page_with_a_head_of_its_own_leads_there_too(store: Store) -> None:
    name = library.save(store, "new-x", draft_from(FULL)).rubric_id
    app = open_page(routes.RUBRICS, rubric=str(name))
    assert [one.proto.label for one in app.get("page_link")].count("About this page") == 1


def test_the_document_of_the_screens_is_about_those_there_are_in_their_order() -> None:
    found = reading.document("screens")
    assert found is not None
    _, sections = found
    assert [s.title for s in sections[1:]] == [screen.title for screen in SCREENS]


def _links() -> list[tuple[str, str]]:
    return [
        (name, target)
        for name in reading.document_names()
        for target in LINK.findall((reading.FOLDER / f"{name}.md").read_text())
        if not target.startswith("https://")
    ]


def test_every_link_between_documents_leads_to_a_document_and_a_heading_of_it() -> None:
    dead = []
    for name, target in _links():
        if not target.partition("#")[0].endswith(".md"):
            assert (reading.FOLDER / name).parent.joinpath(target).is_file(), (name, target)
            continue
        found = reading.linked_place(target, name)
        document = reading.document(found[0]) if found else None
        parts = {s.part for s in document[1]} if document else set()
        if found is None or found[1] not in parts:
            dead.append((name, target))
    assert len(_links()) > 40
    assert dead == []


def test_links_stay_in_the_app_and_pictures_come_along() -> None:
    guide = reading.document("checks")
    assert guide is not None
    link = 'href="docs?document=semantics&amp;part=votes-cells-answers"'
    assert any(link in section.html for section in guide[1])
    page = shown(open_page(routes.DOCUMENTS, document="adjudication"))
    assert "data:image/svg+xml;base64," in page


@pytest.mark.parametrize("name", ["../README", "/etc/passwd", "<script>", "screens.md", ""])
def test_only_documents_are_opened(name: str) -> None:
    page = shown(open_page(routes.DOCUMENTS, document=name))
    assert "There is no such document" in page
    assert "<script>" not in page


def test_html_in_a_document_is_text_and_the_list_has_its_title() -> None:
    everything = ""
    for name in reading.document_names():
        title, sections = reading.document(name) or ("", ())
        assert reading.document_title(name) == title
        everything += "".join(section.html for section in sections)
    assert not re.search(r"<(script|iframe|style|object|form|input)\b", everything)
    assert len(reading.document_names()) == len([*(ROOT / "docs").rglob("*.md")])


def test_another_document_is_chosen_from_the_list() -> None:
    app = open_page(routes.DOCUMENTS, document="screens", part="report")
    app.selectbox[0].set_value("decisions/0025-workbooks-are-read-here").run()
    assert app.query_params["document"] == "decisions/0025-workbooks-are-read-here"
    assert "part" not in app.query_params
    assert "Decision 25: " in "".join(app.selectbox[0].options)
