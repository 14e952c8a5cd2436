"""The pages of the app work under the policy that their own server sends, and for everybody.

Every page is held to WCAG 2.2 AA as far as axe-core can tell, in light and dark, and to one way of
writing a number.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import axe_playwright_python
import pytest

from core.services.reports import worked_example
from core.store.store import Store
from tests.browser.driving import settle, turn, visit
from tests.new_store import graded_example
from tests.services.comparison.test_run_comparison import LABELS, STRONG, WEAK
from tests.services.comparison.world import dataset, run_with

#: A violation is said on the console, and by this event.
LISTEN = """
window.refused = [];
document.addEventListener("securitypolicyviolation", (event) =>
  window.refused.push(`${event.effectiveDirective} ${event.blockedURI} ${event.sourceFile}`));
"""
AXE = Path(axe_playwright_python.__file__).with_name("axe.min.js").read_text(encoding="utf-8")
#: The list of screens in the sidebar is Streamlit's own, with list items that no list holds.
WHERE = {"exclude": [["[data-testid=stSidebarNav]"]]}
#: What is right need not be described.
RULES = {
    "runOnly": ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"],
    "resultTypes": ["violations"],
}
#: What a page says: its text, tables drawn on a canvas, what plots write beside and over points.
SAID = """() => [
  document.body.innerText,
  ...[...document.querySelectorAll('canvas [role=gridcell], .js-plotly-plot text')]
    .map(one => one.textContent),
  ...[...document.querySelectorAll('.js-plotly-plot')].flatMap(plot => plot.data)
    .flatMap(trace => [trace.hovertext, trace.text].flat(2)),
].join('\\n')"""
#: The marks of each axis of a plot.
MARKS = """() => [...document.querySelectorAll('.js-plotly-plot g.xaxislayer-above, '
  + '.js-plotly-plot g.yaxislayer-above')].map(axis =>
    [...axis.querySelectorAll('text')].map(mark => mark.textContent))"""
#: The screens of the sidebar that something else lies over, or that are out of sight.
COVERED = """() => [...document.querySelectorAll('[data-testid=stSidebarNavLink]')].filter(link => {
  const at = link.getBoundingClientRect();
  return !link.contains(document.elementFromPoint(at.x + at.width / 2, at.y + at.height / 2));
}).map(link => link.textContent)"""
#: Forms of numbers and words that no surface uses: .83 for 0.83, 95 % for 95%, -2 for −2.
NOT_OURS = {
    "no zero before the point": r"(?<![\w.)\]])[−-]?\.\d",
    "a space before %": r"\d[ \u00a0]%",
    "a hyphen for a minus": r"(?<![\w.:/&-])-\d(?![\d-]*[:/])",
    "an old word": r"(?i)\bcommonest\b",
}
#: Every kind of thing a page draws: figures, tables on canvas, parts of ours, downloads, code.
PAGES = (
    *("", "grade", "rubrics", "rubrics?rubric=1", "library", "datasets?dataset=1"),
    *("test_data?rubric=1", "queues", "judges", "docs", "run?run={run}", "runs"),
    *("judges?judge=new", "spot_check", "import_votes", "runs?plan=new", "compare"),
    *("agreement?run={run}", "agreement?run={run}&view=findings", "report?run={run}"),
    *("agreement?run={run}&view=one", "agreement?run={run}&view=raters"),
    *("contests", "arena", "record?run={run}", "run?run={run}&item=seasons-002"),
)
#: Further views of these screens.
MORE = (
    *("run?run={run}&view=alike", "run?run={run}&view=scores", "run?run={run}&view=labels"),
    *("run?run={run}&view=plan", "agreement?run={run}&view=figures", "runs?plan=sweep"),
    *("agreement?run={run}&view=sure", "agreement?run={run}&view=variance"),
    *("agreement?run={run}&view=severity", "agreement?run={run}&view=scores"),
    *("agreement?run={run}&view=probes", "agreement?run={run}&view=over_time"),
    *(
        "datasets",
        "datasets?dataset=1&dataset_view=Labels",
        "datasets?dataset=1&dataset_view=Split",
    ),
    *("compare?runs={first},{second}", "compare?runs={first},{second}&view=beside"),
    *("compare?runs={first},{second}&flip=0", "queues?new=queue&run={run}", "docs?document=guide"),
)
#: Those that `make test` looks at, with every kind of figure.
SOME = ("", "rubrics?rubric=1", "run?run={run}", "agreement?run={run}")
#: Colours are those of one style sheet: these tell of the dark ones, too.
DARK = ("rubrics?rubric=1", "run?run={run}", "agreement?run={run}")


@pytest.fixture(scope="module")
def run_id(app_db: Any) -> int:
    store = graded_example(app_db)
    found = worked_example.ensure_example(store)
    store.close()
    return int(found)


@pytest.fixture(scope="module")
def two_runs(run_id: int, app_db: Any) -> tuple[int, int]:
    """Two small runs over the same texts."""
    store, data = Store(app_db), dataset(LABELS)
    found = run_with(store, data, WEAK), run_with(store, data, STRONG)
    store.close()
    return found


@pytest.mark.parametrize(
    "addresses",
    [SOME, [one for one in (*PAGES, *MORE) if one not in SOME]],
    ids=["some", "others"],
)
def test_every_page_is_refused_nothing_by_the_policy_and_can_be_used_by_everybody(
    run_id: int, two_runs: tuple[int, int], page: Any, app_url: str, addresses: Sequence[str]
) -> None:
    page.add_init_script(LISTEN)
    refused, barred, odd = {}, {}, {}
    visit(page, app_url)
    page.evaluate(AXE)
    for address in addresses:
        first, second = two_runs
        turn(page, f"{app_url}/{address.format(run=run_id, first=first, second=second)}")
        refused[address] = page.evaluate("window.refused.splice(0)")
        barred[address] = barriers(page)
        odd[address] = odd_forms(page)
        if address in DARK or address in MORE:
            page.emulate_media(color_scheme="dark")
            settle(page)
            barred[f"{address}, dark"] = barriers(page)
            page.emulate_media(color_scheme="light")
    # Every place is in sight, at any usual height.
    page.set_viewport_size({"width": 1280, "height": 800})
    assert page.evaluate(COVERED) == []
    assert {address: said for address, said in refused.items() if said} == {}
    assert {place: found for place, found in barred.items() if found} == {}
    assert {address: found for address, found in odd.items() if found} == {}


def barriers(page: Any) -> list[str]:
    """What axe-core, put on the page before, finds wrong: the rule, the element, what is said."""
    found = page.evaluate(f"axe.run({json.dumps(WHERE)}, {json.dumps(RULES)})")
    return [
        f"{one['id']}: {node['html'][:160]} {node.get('failureSummary', '')[:240]}"
        for one in found["violations"]
        for node in one["nodes"]
    ]


def odd_forms(page: Any) -> list[str]:
    """Numbers and words in a form that is not ours; marks of one axis with unlike decimals."""
    said = page.evaluate(SAID)
    found = [
        f"{what}: {said[max(0, hit.start() - 30) : hit.end() + 20]!r}"
        for what, form in NOT_OURS.items()
        for hit in re.finditer(form, said)
    ]
    for marks in page.evaluate(MARKS):
        decimals = {len(one.partition(".")[2]) for one in marks if re.fullmatch(r"−?[\d.]+", one)}
        found += [f"unlike marks: {marks}"] if len(decimals) > 1 else []
    return found


def test_a_picture_or_script_from_elsewhere_is_refused(
    run_id: int, context: Any, app_url: str
) -> None:
    page = context.new_page()  # not the fixture's, which takes a refusal for an error
    page.add_init_script(LISTEN)
    page.goto(app_url)
    page.wait_for_selector("h1")
    page.evaluate(
        """() => {
          const picture = new Image(); picture.src = `${location.protocol}//127.0.0.1:9/p.png`;
          const script = document.createElement("script"); script.textContent = "window.ran = 1";
          document.head.append(script);
        }"""
    )
    page.wait_for_function("window.refused.length > 1")
    assert page.evaluate("window.ran") is None
    assert {said.split()[0] for said in page.evaluate("window.refused")} == {
        "img-src",
        "script-src-elem",
    }
    page.close()
