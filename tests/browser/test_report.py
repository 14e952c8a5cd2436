"""The exported report opens in a browser that has no network; the page's numbers open items."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from core.services.exports.run_export import export
from core.services.reports.paper import report_as_paper
from core.services.reports.run_report import report_run
from core.store.store import Store
from tests.browser.driving import main_text, settle, visit, watch
from tests.pages.graded import HOSTILE, graded
from tests.services.reports.made import decided


def test_the_html_file_opens_offline_with_every_number(browser: Any, tmp_path: Path) -> None:
    store = Store(tmp_path / "offline.db")
    run = graded(store)
    file = tmp_path / "report.html"
    file.write_text(export(store, run, "html").text)
    asked, said = list[str](), list[str]()
    context = browser.new_context(offline=True)
    context.route("http*://**", lambda route: route.abort())
    page = context.new_page()
    page.on("request", lambda request: asked.append(request.url))
    page.on("console", lambda message: said.append(message.text))

    page.goto(file.as_uri())
    # What is folded is part of the file.
    for fold in page.locator("summary").all():
        fold.click()

    read = " ".join(page.inner_text("body").split()).lower()
    missing = [
        text
        for text in report_as_paper(report_run(store, run)).texts()
        if " ".join(text.split()).lower() not in read and HOSTILE.split()[0] not in text
    ]
    assert [text for text in missing if not text.startswith("Made by")] == []
    assert asked == [file.as_uri()]
    assert said == []
    assert page.locator("svg").count() >= 3
    # Nothing is wider than a telephone, but for tables and pictures, which scroll by themselves.
    page.set_viewport_size({"width": 420, "height": 800})
    assert page.evaluate("document.documentElement.scrollWidth") <= 420
    context.close()
    store.close()


def test_a_number_of_the_page_opens_exactly_its_items(
    page: Any, app_db: Path, app_url: str
) -> None:
    store = Store(app_db)
    run = decided(store)
    store.close()
    watch(page)
    visit(page, f"{app_url}/report?run={run}")

    # The row of all items below every slice leads there, too.
    page.get_by_test_id("stMain").get_by_text("Scores", exact=True).first.click()
    settle(page)
    page.locator(f'a[href="run?run={run}&outcome=pass"]').first.click()
    page.wait_for_url("**/run?**outcome=pass**")
    settle(page)

    # 5 of 20 items pass: 0, 4, 8, 12, 16.
    read = main_text(page)
    assert "Short ones" in read
    assert "outcome=pass" in page.url
    assert "5 items" in read or "5 of 20" in read
