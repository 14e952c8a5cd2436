"""What seventeen tasks cost: clicks, keys and seconds, `python bench/tasks.py [--only WORD]`.

A browser does each task as somebody would who knows the way. A click is one, a key is one, and a
text that is typed or pasted into a field is one, however long; a file dropped is one. Seconds are
those of the app and the browser, from the first act to the last answer, without time to think.

The data file holds the worked example (144 answers really graded, with labels), a rubric, three
models of a provider on this machine, and what each task needs besides. A teacher without a
model has a data file of her own, with nothing in it.
"""

from __future__ import annotations

import argparse
import csv
import io
import json
import math
import re
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

from core import clock
from core.domain.dataset import Dataset, Item
from core.domain.panel import Panel
from core.domain.rubric import Criterion, Rubric
from core.services.datasets import catalog
from core.services.judges import registry
from core.services.reports import worked_example
from core.services.runs import lifecycle
from core.services.runs.planning import RunRequest
from core.settings import SAMPLES
from core.store.store import Store
from tests.browser.conftest import ARGS, CHROMIUM
from tests.browser.driving import PATIENCE, settle, visit, watch
from tests.browser.serving import APP, serving
from tests.new_store import new_store
from tests.provider import Answer, Provider, ok, status

RUBRIC = Rubric(
    name="Tides",
    criteria=(
        Criterion(name="Cause", requirement="The answer names gravity."),
        Criterion(name="Clear", requirement="The answer can be followed."),
    ),
)
SIX = (
    ("Yes or no", "Names density as the reason."),
    ("Yes or no", "Gives a number with its unit."),
    ("3 levels", "How complete is the explanation?"),
    ("4 levels", "How clear is the wording?"),
    ("5 levels", "How well is the claim supported?"),
    ("Categories", "Which kind of answer is it?"),
)
REQUIREMENT = "Requirement: what the judge must decide"
OUT_OF_ORDER = "out of order"


UNGRADED = re.compile(r"^Grade \d+ ungraded text")
ASKED = {"Names the cause": "names the cause", "Explains how": "How many steps"}
CLASS_RUBRIC = b"""
name: Seasons
criteria:
  - {name: Names the cause, weight: 8, requirement: The answer names the cause.}
  - name: Explains how
    weight: 10
    scale: ordinal
    requirement: How many steps from the cause to the observation does it give?
    options:
      - {label: Not explained, value: 0}
      - {label: Partly explained, value: 0.5}
      - {label: Fully explained, value: 1}
"""


class Hands:
    """What a person does at a page, counted, and for how long."""

    def __init__(self, page: Any, url: str) -> None:
        self.page, self.url = page, url
        self.acts, self.began = 0, time.perf_counter()

    def start(self, address: str) -> None:
        """Where the task begins: nothing is counted before."""
        visit(self.page, f"{self.url}/{address}")
        self.acts, self.began = 0, time.perf_counter()

    def press(self, words: str | re.Pattern[str], role: str = "button") -> None:
        """Click what is called so, or begins so."""
        name = re.compile("^" + re.escape(words)) if isinstance(words, str) else words
        self.click(self.page.get_by_role(role, name=name).first)

    def click(self, what: Any) -> None:
        """Click something."""
        what.click()
        self.acts += 1
        settle(self.page)

    def fill(self, field: str, words: str, *, click: bool = True) -> None:
        """Click into a field (if it has not the cursor) and type or paste."""
        self.page.get_by_role("textbox", name=field, exact=True).last.fill(words)
        self.page.keyboard.press("Tab")
        self.acts += 1 + click
        settle(self.page)

    def choose(self, box: str, *options: str) -> None:
        """Open a box and take options, a click each; one that takes several is left by a key."""
        field = self.page.get_by_role("combobox", name=box, exact=True)
        for words in options:
            field.click()
            self.page.get_by_role("option", name=words).first.click()
            self.acts += 2
            settle(self.page)
        if self.page.get_by_role("listbox").count():
            self.keys("Tab")

    def keys(self, *names: str) -> None:
        """Press keys, one after the other."""
        for name in names:
            self.page.keyboard.press(name)
            self.acts += 1
            settle(self.page)

    def drop(self, *files: tuple[str, bytes]) -> None:
        """Drop files on the page, all at once."""
        kind = "application/octet-stream"
        dropped = [{"name": name, "mimeType": kind, "buffer": data} for name, data in files]
        self.page.locator("input[type=file]").first.set_input_files(files=dropped)
        self.acts += 1
        settle(self.page)

    def looks(self) -> str:
        """What the page says once it changes no more; nobody's time is counted for looking."""
        began, said = time.perf_counter(), ""
        while said != (now := self.page.get_by_test_id("stMain").inner_text()):
            said = now
            self.page.wait_for_timeout(250)
            settle(self.page)
        self.began += time.perf_counter() - began
        return said

    def sees(self, words: str | re.Pattern[str]) -> None:
        """What was asked for is there."""
        self.page.get_by_text(words).first.wait_for(timeout=2000 * PATIENCE)
        settle(self.page)


class World(NamedTuple):
    """What the tasks find: the data file, the provider, the example's run."""

    store: Store
    provider: Provider
    example: int


def author_six(hands: Hands, world: World) -> None:
    """Author six criteria by form."""
    hands.start("rubrics")
    hands.press("New rubric")
    hands.fill("Name of the rubric", "Made by form")
    for place, (kind, requirement) in enumerate(SIX):
        if place:  # The first is open, with the cursor in it.
            hands.press(kind)
        hands.fill(REQUIREMENT, requirement, click=False)
    hands.press("Save")
    hands.sees("Version 1, saved")


def author_six_by_paste(hands: Hands, world: World) -> None:
    """Author six criteria by paste."""
    hands.start("rubrics")
    hands.press("New rubric")
    lines = "\n".join(words for _, words in SIX)
    hands.fill(REQUIREMENT, lines, click=False)
    hands.press("Make 6 criteria of these lines")
    hands.fill("Name of the rubric", "Made by paste")
    hands.press("Save")
    hands.sees("Version 1, saved")


def bring_sixty(hands: Hands, world: World) -> None:
    """Bring 60 essays and labels of two criteria."""
    hands.start("datasets")
    hands.drop(("essays.csv", labelled()))
    hands.sees("All 60 items can be read")
    box = hands.page.get_by_role("combobox", name="Check labels against a rubric", exact=True)
    if not box.input_value():
        hands.choose("Check labels against a rubric", RUBRIC.name)
    hands.sees("60 with labels")
    hands.press("Import")
    hands.sees("all labelled")


def spot_check(hands: Hands, world: World) -> None:
    """Spot-check one text with three judges."""
    hands.start("spot_check")
    # The cursor is in the submission.
    hands.page.locator("textarea:focus").wait_for()
    hands.fill("Submission", "The Moon's gravity pulls the water.", click=False)
    hands.choose("Rubric", RUBRIC.name)
    hands.keys("Control+Enter")
    hands.sees("✓ Done")


def run_and_retry(hands: Hands, world: World) -> None:
    """Run 12 texts with one judge, and retry the one question that failed."""
    world.provider.rule = failing
    hands.start("runs")
    hands.press("Plan a run")
    hands.choose("Rubric", RUBRIC.name)
    hands.choose("Dataset", "Twelve")
    hands.press("Start")
    hands.sees("Incomplete, 2 failures")
    world.provider.rule = first
    hands.press("Retry 2 failures")
    hands.sees("✓ Done")


def why_low(hands: Hands, world: World) -> None:
    """Find why the item with the lowest score got it."""
    hands.start(f"run?run={world.example}")
    hands.press("Score")
    hands.click(hands.page.locator("tbody td[data-opens]").first)
    hands.sees(re.compile("Nearest neighbours"))


def settle_twenty(hands: Hands, world: World) -> None:
    """Settle 20 cells of a queue with keys."""
    _say_who(hands)
    hands.start(f"queues?queue={twenty(world)}")
    hands.press("Start reviewing")
    _until_nothing_is_left(hands)


def _until_nothing_is_left(hands: Hands, most: float = math.inf) -> None:
    """Decide every cell of the queue that is open, or so many, by keys.

    Who has much to decide sets once that the last answer commits.
    """
    decided = 0
    hands.looks()
    if not hands.page.get_by_role("switch", name="Commit at once").is_checked():
        hands.click(hands.page.locator("label").filter(has_text="Commit at once"))
    for _ in range(200):
        said = hands.looks()
        if "No items left for you" in said:
            return
        if "Give your verdict" in said and "no verdict yet" in said:
            if decided >= most:
                return
            hands.keys("1")
            decided += 1
        elif (same := hands.page.get_by_role("button", name="The reference says so.")).count():
            hands.click(same.first)
        elif "A note is needed" in said or "All judges chose another option" in said:
            hands.page.keyboard.type("The reference says so.")
            hands.acts += 1
            hands.keys("Control+Enter")
        else:
            hands.keys("Enter")
    raise AssertionError("The queue does not end.")


def _say_who(hands: Hands) -> None:
    """Give a name where one is asked for; that is counted nowhere."""
    visit(hands.page, f"{hands.url}/queues")
    if hands.page.get_by_role("textbox", name="Your name").count():
        hands.page.get_by_role("textbox", name="Your name").fill("Kay")
        hands.page.keyboard.press("Enter")
        settle(hands.page)


def settle_doubts(hands: Hands, world: World) -> None:
    """Settle 14 disagreements of a run, from the run."""
    _say_who(hands)
    hands.start(f"run?run={world.example}")
    hands.press(re.compile(r"^Settle \d+ disagreement"), "link")
    _until_nothing_is_left(hands, 14)


def settle_in_grid(hands: Hands, world: World) -> None:
    """Settle fifteen cells on which judges disagree in the grid, with their votes in sight."""
    before = len(world.store.settled.of_run(world.example))
    _say_who(hands)
    hands.start(f"run?run={world.example}")
    hands.press("≠ Judges disagree")
    for _ in range(15):
        hands.keys("1")
    assert len(world.store.settled.of_run(world.example)) == before + 15


def first_kappa(hands: Hands, world: World) -> None:
    """From Agreement without labels to a first figure of how far judges can be trusted."""
    _say_who(hands)
    run = six_graded(world)
    hands.start(f"agreement?run={run}")
    hands.press(re.compile(r"^Grade (ten|\d+) texts yourself"), "link")
    _until_nothing_is_left(hands)
    visit(hands.page, f"{hands.url}/agreement?run={run}")
    hands.sees(re.compile(r"Trust the panel's verdicts on"))


def which_to_trust(hands: Hands, world: World) -> None:
    """Say which criteria to trust, from the run."""
    hands.start(f"run?run={world.example}")
    hands.press("Agreement", "link")
    hands.sees(re.compile(r"on \d of 6 criteria"))


def two_prompts(hands: Hands, world: World) -> None:
    """Compare two prompts from a table of their answers, and see which won."""
    hands.start("")
    hands.drop(("prompts.csv", side_by_side()))
    hands.press("Compare answer_v1 and answer_v2")
    hands.press("Start")
    hands.sees("✓ Done")


def two_files(hands: Hands, world: World) -> None:
    """Drop two prompts' answers in two files, and see which is better and where."""
    hands.start("")
    hands.drop(("short.csv", answers("Because.")), ("long.csv", answers("Because it pulls.")))
    hands.press("Compare short and long")
    hands.press("Start")
    hands.sees("✓ Done")


def two_class_lists(hands: Hands, world: World) -> None:
    """Drop two class lists together and have both graded as one."""
    hands.start("")
    hands.drop(("7a.csv", class_list("a", 6)), ("7b.csv", class_list("b", 5)))
    hands.press("Grade these texts")
    hands.sees("11 texts from 7a.csv and 1 other table")


def change_weight(hands: Hands, world: World) -> None:
    """Change a weight and have the run's scores follow."""
    run = world.store.runs.get(world.example)
    hands.start(f"rubrics?rubric={run.rubric_id}")
    weight = hands.page.get_by_role("spinbutton", name="Weight of Names the cause")
    weight.fill("20")
    weight.press("Tab")
    hands.acts += 2
    settle(hands.page)
    hands.press("Save")
    hands.sees(re.compile("Version 2, saved"))


def hand_back(hands: Hands, world: World) -> None:
    """Take the grades of the run home as a workbook."""
    hands.start(f"run?run={world.example}")
    with hands.page.expect_download() as got:
        hands.press("Grades (Excel)")
    assert got.value.suggested_filename.endswith(".xlsx")


def teacher_alone(hands: Hands, world: World) -> None:
    """From 60 short answers and a rubric, without a model, to 60 grades in a workbook."""
    answers = short_answers()
    with tempfile.TemporaryDirectory() as folder:
        store = new_store(Path(folder) / "alone.db")
        with serving(APP, store.path, "process", Path(folder)) as server:
            hands.url = server.url
            hands.start("grade")
            hands.drop(("class.csv", class_sheet(answers)), ("rubric.yaml", CLASS_RUBRIC))
            hands.press("Use these 60 texts and the rubric")
            hands.press("Grade 10 yourself")
            _sit(hands, answers)
            while not _graded(hands):
                hands.press("Grade 10 more")
                _sit(hands, answers)
            # Of texts that judges left open, five at a time teach them; then a queue has the last.
            while (five := hands.page.get_by_role("button", name="Grade 5, judges")).count():
                hands.click(five)
                _sit(hands, answers)
                _graded(hands)
            if hands.page.get_by_role("link", name=UNGRADED).count():
                hands.press(UNGRADED, "link")
                _review(hands, answers)
            with hands.page.expect_download() as got:
                hands.press(re.compile(r"Grades \(Excel\)|Download grades"))
            assert got.value.suggested_filename.endswith(".xlsx")
        store.close()


def _graded(hands: Hands) -> bool:
    """Whether judges have learned enough by now to grade the others."""
    ends = re.compile("Download grades|Grade 10 more")
    hands.page.get_by_role("button", name=ends).first.wait_for()
    return "Download grades" in hands.looks()


def _review(hands: Hands, answers: list[dict[str, Any]]) -> None:
    """Decide what judges left open as it is labelled."""
    for _ in range(200):
        said = hands.looks()
        if "No items left for you" in said:
            break
        if "no verdict yet" not in said:
            hands.keys("Enter")
            continue
        asked = hands.page.locator(".st-key-rs_cell_active").inner_text()
        hands.keys(_digit(hands, answers, said, asked))


def _digit(hands: Hands, answers: list[dict[str, Any]], said: str, asked: str) -> str:
    """The key of the option with which the text on the page is labelled."""
    shown = " ".join(said.split())
    held = [one for one in answers if " ".join(one["submission"].split()) in shown]
    about = max(held, key=lambda one: len(one["submission"]))  # One answer is "?" alone.
    name = next(name for name in ASKED if ASKED[name] in " ".join(asked.split()))
    options = hands.page.locator(".st-key-rs_options button").all_inner_texts()
    wanted = about["labels"][name]["label"]
    return str(1 + next(at for at, words in enumerate(options) if wanted in words))


def _sit(hands: Hands, answers: list[dict[str, Any]]) -> None:
    """Grade the texts of a sitting by digits, as they are labelled."""
    for _ in range(200):
        said = hands.looks()
        if "you grade:" not in said:
            break
        hands.keys(_digit(hands, answers, said, said))


TASKS: tuple[Callable[[Hands, World], None], ...] = (
    *(author_six, author_six_by_paste, bring_sixty, spot_check, run_and_retry, why_low),
    *(which_to_trust, two_prompts, hand_back, change_weight, settle_twenty, settle_in_grid),
    *(settle_doubts, first_kappa, two_files, two_class_lists, teacher_alone),
)


def short_answers() -> list[dict[str, Any]]:
    """Sixty labelled answers of the sample about one question, each with other words."""
    lines = (SAMPLES / "data" / "short_science_answers.jsonl").read_text().splitlines()
    rows = [row for row in map(json.loads, lines) if row["id"].startswith("seasons")]
    return list({row["submission"]: row for row in rows}.values())[:60]


def class_sheet(answers: list[dict[str, Any]]) -> bytes:
    """The sheet of a class: who, the question, a model answer, the answer."""
    held = io.StringIO()
    rows = csv.writer(held)
    rows.writerow(["Student ID", "Prompt", "Reference", "Answer"])
    for number, one in enumerate(answers, start=1):
        rows.writerow([f"p{number}", one["prompt"], one["reference"], one["submission"]])
    return held.getvalue().encode()


def labelled() -> bytes:
    """Sixty essays with what people said of two criteria."""
    lines = ["id,answer,Cause,Clear"]
    lines += [
        f"e{n},Essay {n} on the tides.,{('MET', 'UNMET')[n % 2]},{('MET', 'UNMET')[n % 3 == 0]}"
        for n in range(60)
    ]
    return "\n".join(lines).encode()


def side_by_side() -> bytes:
    """What two prompts made of six questions."""
    lines = ["prompt,answer_v1,answer_v2"]
    lines += [f"Why {n}?,Because of {n}.,Because {n} pulls at it." for n in range(6)]
    return "\n".join(lines).encode()


def answers(said: str) -> bytes:
    """What a prompt made of six questions."""
    return "\n".join(["question,answer", *(f"Why {n}?,{said} {n}" for n in range(6))]).encode()


def class_list(name: str, students: int) -> bytes:
    """The essays of a class."""
    lines = [f"Student {name}{n},Essay {name}{n} on the tides." for n in range(students)]
    return "\n".join(["Name,Essay", *lines]).encode()


def first(body: dict[str, Any]) -> Answer:
    """The model takes the first option."""
    return ok(1)


def failing(body: dict[str, Any]) -> Answer:
    """The provider fails on one text."""
    return status(500, OUT_OF_ORDER) if "Text 7." in str(body) else ok(1)


def twenty(world: World) -> int:
    """A queue of 20 cells of the example, as the form makes it."""
    from core.domain.review import QueueRule
    from core.services.review import queues
    from tests.browser import reviewers

    run = world.store.runs.get(world.example)
    names = [c.name for c in world.store.rubrics.version(run.rubric_version_id).rubric.criteria]
    items = tuple(world.store.runs.item_ids(run.id)[:4])
    rule = QueueRule(everything=True, audit_share=0.0, items=items, criteria=tuple(names[:5]))
    return reviewers.queue(world.store, run, rule, **queues.USUAL.model_dump())


def six_graded(world: World) -> int:
    """A run over six texts without labels, by one judge who says MET of everything."""
    store = world.store
    rubric = store.rubrics.create(RUBRIC.model_copy(update={"name": "Ebb"}), now=clock.now())
    texts = tuple(Item(id=f"s{n}", submission=f"Text {n}.") for n in range(1, 7))
    dataset = store.datasets.create(Dataset(name="Six", items=texts), now=clock.now())
    panel = Panel(judges=(registry.get_judge(store, "one").judge,))
    run = lifecycle.start(store, RunRequest(rubric.id, dataset.id, panel))
    while lifecycle.run_progress(store, run).row.active:
        time.sleep(0.1)
    return run


def filled(store: Store, provider: Provider) -> World:
    """The data file before the first task."""
    worked_example.grade_example(store)
    example = worked_example.ensure_example(store)
    catalog.keep_rubric(store, RUBRIC)
    twelve = tuple(Item(id=f"t{n}", submission=f"Text {n}.") for n in range(1, 13))
    store.datasets.create(Dataset(name="Twelve", items=twelve), now=clock.now())
    for name in ("one", "two", "three"):
        judge = {"name": name, "model": f"openai/{name}", "api_base": provider.url, "tries": 1}
        registry.save_judge(store, judge)
    return World(store, provider, example)


def main() -> None:
    """Prints acts and seconds per task."""
    from playwright.sync_api import sync_playwright

    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", default="")
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder, Provider() as provider:
        provider.rule = first
        store = new_store(Path(folder) / "studio.db")
        world = filled(store, provider)
        with serving(APP, store.path, "process", Path(folder)) as server, sync_playwright() as p:
            chromium = p.chromium.launch(executable_path=CHROMIUM, args=ARGS)
            for task in TASKS:
                if re.search(asked.only, task.__name__):
                    print(line(task, chromium, server.url, world), flush=True)
            chromium.close()
        store.close()


def line(task: Callable[[Hands, World], None], chromium: Any, url: str, world: World) -> str:
    """One task in a browser that has loaded the app's scripts before."""
    context = chromium.new_context(viewport={"width": 1280, "height": 800})
    page = context.new_page()
    watch(page)
    hands = Hands(page, url)
    hands.start("")
    try:
        task(hands, world)
        found = f"{hands.acts:>4} acts {time.perf_counter() - hands.began:>6.1f} s"
    except Exception as error:
        found = f"   - {type(error).__name__}: {str(error)[:300]}"
    finally:
        context.close()
    return f"{task.__name__:<22}{found}"


if __name__ == "__main__":
    main()
