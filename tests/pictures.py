"""The pictures of the documents, made anew from the worked example: `make pictures`.

Beside them `pictures.json` keeps a hash of the words that each page had when its picture was taken,
so that a test can tell which picture is older than its page (tests/pages/test_pictures.py).
"""

from __future__ import annotations

import hashlib
import io
import json
import os
import re
import sys
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import closing
from pathlib import Path
from typing import Any

from streamlit.testing.v1 import AppTest

from core.services import open_store
from core.services.reports.worked_example import telling_item
from core.services.review import queues
from core.settings import load_settings
from pages.ui import routes, state
from pages.ui.places import work
from pages.ui.routes import Screen
from tests.browser.conftest import ARGS, CHROMIUM
from tests.browser.driving import visit, watch
from tests.browser.seats import enter
from tests.browser.serving import APP, serving
from tests.command_line import cli
from tests.pages.conftest import open_page
from tests.pages.reviewing import at
from tests.places import ROOT
from tests.services import reviewed

FOLDER = ROOT / "docs" / "images"
WIDTH, HEIGHT = 1280, 860
#: The pictures of the Start page: in both themes, the part that tells, in pixels of the page. It is
#: shown about 345 wide, so that a word of 13 pixels is 9 high; and kept sharper than that.
STRIP = ROOT / "pages" / "start" / "pictures"
NARROW, LOW = 1024, 900
PART, SHARPER = (530, 318), 1.5
#: What differs from one day and machine to the next: moments and durations.
_PASSING = re.compile(r"\d{4}-\d\d-\d\dT?[\d:. ]*Z?|\d+(\.\d+)? (s|ms|seconds|minutes|min)\b")


def places() -> dict[str, tuple[Screen, dict[str, str]]]:
    """Grade the worked example in the data file of the environment; the pages to be shown."""
    settings = load_settings()
    done = cli("demo", "--db", settings.db)
    assert done.returncode == 0, done.stderr
    with closing(open_store(settings)) as store:
        telling = telling_item(store, 1)
        assert telling is not None
        rubric = store.rubrics.list()[0].id
        name, rule = work.SETTLED_AT_ONCE[work.SPLIT]
        queue = queues.take_up(store, reviewed.sit(store, "Ada"), 1, name, rule).id
    return {
        "run.png": (routes.RUN, {state.RUN: "1"}),
        "agreement.png": (routes.AGREEMENT, {state.RUN: "1"}),
        "run-item.png": (routes.RUN, {state.RUN: "1", state.ITEM: telling[0]}),
        "rubric-editor.png": (routes.RUBRICS, {state.RUBRIC: str(rubric)}),
        "reviewing.png": (routes.REVIEW_ITEM, {state.QUEUE: str(queue)}),
    }


def hashes(found: Mapping[str, tuple[Screen, dict[str, str]]]) -> dict[str, str]:
    """For each picture, a hash of its page's words and of the names of all screens."""
    screens = [place.title for place in (*routes.PLACES, *routes.FOOT)]
    made = {}
    for name, (screen, address) in found.items():
        words = [*screens, *_words(_opened(screen, address).main)]
        text = _PASSING.sub("#", "\n".join(words))
        made[name] = hashlib.sha256(text.encode()).hexdigest()
    return made


def _opened(screen: Screen, address: Mapping[str, str]) -> AppTest:
    if screen != routes.REVIEW_ITEM:
        return open_page(screen, **address)
    with closing(open_store(load_settings())) as store:
        return at(store, "Ada", screen, **address)


def _words(node: Any) -> Iterator[str]:
    """What a page shows, from top to bottom: texts, labels, options, tables."""
    for child in node.children.values():
        for about in ("label", "options", "value"):
            said = getattr(child, about, None)
            if said is not None and not callable(said):
                yield str(said)
        if child.type == "html":
            yield str(child.proto.body)
        if hasattr(child, "children"):
            yield from _words(child)


def take(folder: Path) -> None:
    """Take every picture, in a fresh data file."""
    from playwright.sync_api import sync_playwright

    found = places()
    # Before the browser: who reviews first gets the first item.
    kept = json.dumps(hashes(found), indent=1) + "\n"
    with (
        serving(APP, load_settings().db, "none", folder) as server,
        sync_playwright() as playwright,
        playwright.chromium.launch(executable_path=CHROMIUM, args=ARGS) as browser,
    ):
        page = browser.new_page(
            viewport={"width": WIDTH, "height": HEIGHT}, color_scheme="light", locale="en-US"
        )
        watch(page)
        _strip(browser, server.url, found["run-item.png"][1])
        for name, (screen, address) in found.items():
            if screen == routes.REVIEW_ITEM:
                enter(page, f"{server.url}/{routes.QUEUES.url}", "Ben")
            visit(page, _url(server.url, screen, address))
            page.evaluate("document.fonts.ready")
            _kept_small(page.screenshot(), FOLDER / name)
            sys.stdout.write(f"{FOLDER / name}\n")
    (FOLDER / "pictures.json").write_text(kept)


def _url(server: str, screen: Screen, address: Mapping[str, str]) -> str:
    query = "&".join(f"{key}={value}" for key, value in address.items())
    return f"{server}/{'' if screen == routes.START else screen.url}?{query}"


def _strip(browser: Any, server: str, item: Mapping[str, str]) -> None:
    """The three pictures of the Start page, light and dark."""
    run = {state.RUN: item[state.RUN]}
    shown = {
        "grid": (routes.RUN, run, ".rs-grid", 8),
        "agreement": (routes.AGREEMENT, run, ".rs-tabled", 8),
        "item": (routes.RUN, item, ".rs-grid", 105),  # with the score above it
    }
    for theme in ("light", "dark"):
        size = {"width": NARROW, "height": LOW}
        page = browser.new_page(
            viewport=size, color_scheme=theme, locale="en-US", device_scale_factor=SHARPER
        )
        watch(page)
        for name, (screen, address, part, above) in shown.items():
            visit(page, _url(server, screen, address))
            page.add_style_tag(content='[data-testid="stSidebar"]{display:none}')
            page.evaluate("document.fonts.ready")
            path = STRIP / f"{name}-{theme}.png"
            at = page.locator(part).first.bounding_box()
            width, height = PART
            clip = {"x": at["x"] - 8, "y": at["y"] - above, "width": width, "height": height}
            _kept_small(page.screenshot(clip=clip), path)
            sys.stdout.write(f"{path}\n")
        page.close()


def _kept_small(picture: bytes, path: Path) -> None:
    """Keep a picture in 256 colours, which our pages do not lack."""
    from PIL import Image

    path.parent.mkdir(exist_ok=True)
    whole = Image.open(io.BytesIO(picture)).convert("RGB")
    whole.quantize(256).save(path, optimize=True)


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as base:
        os.environ["RUBRIC_STUDIO_DB"] = str(Path(base) / "studio.db")
        os.environ["RUBRIC_STUDIO_RUNNER"] = "none"
        take(Path(base))
