"""One name, one number: every surface of nine kinds of run against what its export says.

The verdicts and labels of each run are exported; scikit-learn and krippendorff compute from them
what every page, report, command, Python call and gate must show under the same name.
"""

from __future__ import annotations

import csv
import html
import io
import json
import re
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import krippendorff
import numpy as np
import pytest
from click.testing import CliRunner
from sklearn.metrics import accuracy_score, cohen_kappa_score

import rubric_studio as rs
from core.cli import main
from core.domain.panel import Cascade, Panel
from core.store.store import Store
from core.text.numbers import percent, score
from pages.ui import routes
from tests.pages.conftest import open_page
from tests.services import reviewed
from tests.services.comparison.world import ONE, TWO, dataset, run_with

ITEMS = 40
LEVELS = {"clear": ["MET", "UNMET"], "tone": ["Cold", "Fair", "Warm"]}
RUBRIC = """name: Replies
criteria:
- name: clear
  requirement: It is clear.
- name: tone
  requirement: How warm?
  scale: ordinal
  {rule}
  options:
  - {{label: Cold, value: 0}}
  - {{label: Fair, value: 0.5}}
  - {{label: Warm, value: 1}}
"""
#: What an item of its own asks beside ``clear``: another question under the same name.
OWN = {
    "name": "Own",
    "criteria": [{"name": "clear", "requirement": "It is clear."}],
}


def labels(seed: int = 1) -> dict[str, list[str]]:
    """Of each criterion a label for every item; the last four of tone have none."""
    dice = np.random.default_rng(seed)
    found = {name: [of[n] for n in dice.integers(0, len(of), ITEMS)] for name, of in LEVELS.items()}
    return found | {"tone": [*found["tone"][:-4], "", "", "", ""]}


def answered(truth: dict[str, list[str]], right: float, seed: int) -> dict[str, list[int]]:
    """A rater who gives the label with that chance, else any option."""
    dice = np.random.default_rng(seed)
    found = {}
    for name, of in LEVELS.items():
        guess = dice.integers(0, len(of), ITEMS)
        keep = dice.random(ITEMS) < right
        found[name] = [
            of.index(label) if kept and label else int(other)
            for label, kept, other in zip(truth[name], keep, guess, strict=True)
        ]
    return found


def folder(path: Path, raters: dict[str, str], *, rule: str = "", own: int = 0) -> Path:
    """A folder in the common layout; ``rule`` settles tone, ``own`` items have another rubric."""
    path.mkdir()
    truth = labels()
    path.joinpath("rubric.yaml").write_text(RUBRIC.format(rule=rule), encoding="utf-8")
    items = [
        {
            "id": f"i{at}",
            "submission": f"Reply {at}",
            "labels": {name: of[at] for name, of in truth.items() if of[at]},
        }
        for at in range(ITEMS)
    ]
    for item in items[:own]:
        item |= {"rubric": OWN, "labels": {"clear": item["labels"]["clear"]}}  # type: ignore[index]
    path.joinpath("items.jsonl").write_text("\n".join(map(json.dumps, items)), encoding="utf-8")
    chances = [f"p_{option}" for option in LEVELS["tone"]] if "soft" in rule else []
    rows = [",".join(["item_id,criterion,rater_id,rater_kind,label", *chances])]
    for seed, (rater, kind) in enumerate(raters.items(), 10):
        given = answered(truth, 0.7, seed)
        for name, options in given.items():
            for at, option in enumerate(options):
                if at < own and name == "tone":
                    continue
                told = _chances(at, option) if chances and name == "tone" else [""] * len(chances)
                cells = [f"i{at}", name, rater, kind, LEVELS[name][option], *told]
                rows.append(",".join(cells))
    path.joinpath("votes.csv").write_text("\n".join(rows), encoding="utf-8")
    return path


def _chances(at: int, option: int) -> list[str]:
    """Most of the chance on the option that was chosen, the rest on a neighbour."""
    chance = [0.0, 0.0, 0.0]
    chance[option], chance[1 if option != 1 else 2 * (at % 2)] = 0.55, 0.45
    return [str(one) for one in chance]


def command(store: Store, *words: str, status: int = 0) -> str:
    done = CliRunner().invoke(main, [*words, "--db", str(store.path)])
    assert done.exit_code == status, (done.output, done.exception)
    return done.stdout


def brought(store: Store, path: Path) -> str:
    return str(json.loads(command(store, "import", str(path), "--json"))["run"])


def judged(store: Store, tmp: Path) -> str:
    truth = labels()
    given = {judge: answered(truth, 0.7, seed) for seed, judge in enumerate(("one", "two"), 10)}
    return str(run_with(store, dataset(truth), given, judges=(ONE, TWO)))


def cascade(store: Store, tmp: Path) -> str:
    """The second judge is asked where the first answers the worst option."""
    truth = labels()
    first, second = (answered(truth, 0.7, seed) for seed in (10, 11))
    later = {
        name: [two if one else None for one, two in zip(first[name], options, strict=True)]
        for name, options in second.items()
    }
    judges = ONE, TWO.model_copy(update={"stage": 1})
    panel = Panel(judges=judges, cascade=Cascade(below_confidence=0.5))
    return str(run_with(store, dataset(truth), {"one": first, "two": later}, panel=panel))


def after_review(store: Store, tmp: Path) -> str:
    """People settled eight items, half of them against the votes."""
    run = store.runs.get(int(judged(store, tmp)))
    queue = reviewed.make_queue(store, run, reviewed.EVERYTHING)
    for at in range(8):
        reviewed.settle(store, reviewed.sit(store, "Ada"), queue, f"i{at}", at % 2)
    return str(run.id)


JUDGES, PEOPLE = {"m1": "llm", "m2": "llm"}, {"p1": "human", "p2": "human", "p3": "human"}
KINDS: dict[str, Callable[[Store, Path], str]] = {
    "models": judged,
    "imported models": lambda store, tmp: brought(store, folder(tmp / "in", JUDGES)),
    "imported people": lambda store, tmp: brought(store, folder(tmp / "in", PEOPLE)),
    "imported both": lambda store, tmp: brought(store, folder(tmp / "in", JUDGES | PEOPLE)),
    "folder": lambda store, tmp: str(folder(tmp / "in", JUDGES)),
    "reviewed": after_review,
    "cascade": cascade,
    "per-item rubrics": lambda store, tmp: brought(store, folder(tmp / "in", JUDGES, own=6)),
    "soft votes": lambda store, tmp: brought(
        store, folder(tmp / "in", JUDGES, rule="aggregation: soft_mean")
    ),
}


class Cells(NamedTuple):
    """What an export says of one criterion: pairs of label and verdict, and judges' levels."""

    pairs: list[tuple[int, int]]
    levels: np.ndarray


def exported(store: Store, source: str) -> dict[str, Cells]:
    """The verdicts before people settled any, labels and votes, as the exports have them."""
    if not source.isdigit():
        return _of_folder(store, Path(source))
    target = store.path.with_name("all.zip")
    command(store, "export", source, "--format", "everything", "--out", str(target), "--force")
    files = zipfile.ZipFile(target)

    def rows(name: str) -> list[dict[str, str]]:
        text = files.read(next(n for n in files.namelist() if n.endswith(name))).decode("utf-8-sig")
        return list(csv.DictReader(io.StringIO(text)))

    pairs: dict[str, list[tuple[int, int]]] = {name: [] for name in LEVELS}
    for row in rows("verdicts.csv"):
        levels = LEVELS[row["criterion"]]
        verdict = row["verdict"]
        if row["rule"] == "adjudicated":
            verdict = levels[int(row["voted"])]
        if row["label"] and verdict in levels:
            pairs[row["criterion"]].append((levels.index(row["label"]), levels.index(verdict)))
    votes = [
        (row["rater_type"], row["rater_id"], row["criterion_id"], row["item_id"], row["vote"])
        for row in rows("votes.csv")
    ]
    return {name: Cells(pairs[name], _levels(votes, name)) for name in LEVELS}


def _of_folder(store: Store, path: Path) -> dict[str, Cells]:
    found = json.loads(command(store, "score", str(path), "--json"))["items"]
    items = [json.loads(line) for line in path.joinpath("items.jsonl").read_text().splitlines()]
    votes = [
        ("judge" if kind == "llm" else kind, rater, criterion, item, label)
        for item, criterion, rater, kind, label, *_ in list(
            csv.reader(io.StringIO(path.joinpath("votes.csv").read_text()))
        )[1:]
    ]
    cells = {}
    for name, levels in LEVELS.items():
        pairs = [
            (levels.index(item["labels"][name]), levels.index(one["verdicts"][name]["label"]))
            for item, one in zip(items, found, strict=True)
            if name in item["labels"]
        ]
        cells[name] = Cells(pairs, _levels(votes, name))
    return cells


def _levels(votes: list[tuple[str, ...]], name: str) -> np.ndarray:
    """Levels by rater and item, NaN where there is none; of judges where there are any."""
    rows = [row for row in votes if row[2] == name]
    rows = [row for row in rows if row[0] == "judge"] or rows
    raters = list(dict.fromkeys(row[1] for row in rows))
    table = np.full((len(raters), ITEMS), np.nan)
    for _, rater, _, item, label in rows:
        if label in LEVELS[name]:
            table[raters.index(rater), int(item[1:])] = LEVELS[name].index(label)
    return table


class Figures(NamedTuple):
    """What the libraries make of the export of one criterion."""

    n: int
    accuracy: float
    kappa: float
    alpha: float | None


def computed(cells: Cells, name: str) -> Figures:
    true, given = zip(*cells.pairs, strict=True)
    ordinal = name == "tone"
    places = list(range(len(LEVELS[name])))
    alpha = None
    if (~np.isnan(cells.levels)).sum(axis=0).max() > 1:
        alpha = krippendorff.alpha(
            cells.levels,
            value_domain=places,
            level_of_measurement="ordinal" if ordinal else "nominal",
        )
    kappa = cohen_kappa_score(true, given, labels=places, weights="quadratic" if ordinal else None)
    return Figures(len(true), accuracy_score(true, given), kappa, alpha)


@pytest.fixture(params=list(KINDS))
def source(request: pytest.FixtureRequest, store: Store, tmp_path: Path) -> str:
    return KINDS[request.param](store, tmp_path)


#: What parts a figure from its interval or reason, on a page and in a report.
_FIRST = re.compile(r"<br>|<span class=\"(?:rs-)?quiet|<small>|<div class=\"below\">")


def rows_of(texts: list[str]) -> list[list[str]]:
    """The rows of all HTML tables, each cell its first line: the value above its interval."""
    found = []
    for text in texts:
        for row in re.findall(r"<tr>(.*?)</tr>", text, re.DOTALL):
            cells = re.findall(r"<t[dh][^>]*>(.*?)</t[dh]>", row, re.DOTALL)
            found.append(
                [html.unescape(re.sub(r"<[^>]+>", "", _FIRST.split(one)[0])) for one in cells]
            )
    return found


def on_page(page: routes.Screen, **address: str) -> tuple[list[list[str]], str]:
    """The rows of the tables of a page, and all its own HTML."""
    texts = [e.proto.body for e in open_page(page, **address).get("html")]
    return rows_of(texts), html.unescape("\n".join(texts))


def test_every_surface_shows_the_figures_of_the_exported_verdicts(
    store: Store, source: str
) -> None:
    wanted = {name: computed(cells, name) for name, cells in exported(store, source).items()}
    report = json.loads(command(store, "metrics", source, "--json"))
    text = command(store, "metrics", source)
    trust = report["trust"]

    seen = {name: json_figures(report, name) for name in LEVELS}
    assert seen == {name: pytest.approx(one) for name, one in wanted.items()}
    right = sum(one.accuracy * one.n for one in wanted.values())
    cells = sum(one.n for one in wanted.values())
    panel = report["overall"]["panel"]["vs_gold"]
    assert (panel["cells"], panel["accuracy"]) == (cells, pytest.approx(right / cells))
    if not trust["settled"]:
        assert trust["right"] == trust["before"] == panel["accuracy"]
    assert text.startswith(trust["in_words"])
    for name, one in wanted.items():
        assert text_figures(text, name) == (one.n, percent(one.accuracy), score(one.kappa))
    for name, one in wanted.items():
        path = f"criteria.{name}.panel.vs_gold.accuracy"
        # In the reviewed run the last criterion alone has cells without a label beside picked ones
        picked = bool(trust["settled"]) and name == [*wanted][-1]
        words = ("check", source, "--min", f"{path}=0", "--json")
        gate = json.loads(command(store, *words, status=int(picked)))
        assert ("come from a review" in gate["checks"][0]["why"]) == picked
        assert gate["trust"] == trust["in_words"]
        assert gate["checks"][0]["value"] == pytest.approx(one.accuracy)
        assert gate["checks"][0]["n"] == one.n
    if source.isdigit():
        _run_surfaces(store, source, wanted, trust)


def json_figures(report: dict[str, Any], name: str) -> Figures:
    found = report["criteria"][name]
    pair = found["panel"]["vs_gold"]
    kappa, alpha = ("kappa_quadratic", "ordinal") if name == "tone" else ("cohen_kappa", "nominal")
    group = found["groups"].get("llm") or found["groups"]["human"]
    return Figures(pair["n"], pair["accuracy"], pair[kappa], group[f"krippendorff_alpha_{alpha}"])


def text_figures(text: str, name: str) -> tuple[int, str, str]:
    block = re.split(r"\n\n", text[text.index(f"\n{name} (") + 1 :])[0]
    line = block[block.index("panel against the labels") :].split("\n")[1]
    word = "quadratic kappa" if name == "tone" else "kappa"
    found = re.search(
        rf"n = (\d+)(?: \(few\))?, accuracy ([^ ,]+).*?, (?:[^,]*, )*?{word} ([^ ,]+)", line
    )
    assert found is not None, line
    return int(found[1]), found[2], found[3]


def _run_surfaces(
    store: Store, run: str, wanted: dict[str, Figures], trust: dict[str, Any]
) -> None:
    """Python, the report in both forms, and two pages."""
    frame = rs.Run(int(run), store.path).metrics("gold", bootstrap=0)
    assert rs.Run(int(run), store.path).trust["in_words"] == trust["in_words"]
    panel = frame[frame.rater == "panel"].set_index("criterion")
    markdown = command(store, "export", run, "--format", "markdown", "--out", "-")
    paper = html.unescape(command(store, "export", run, "--format", "html", "--out", "-"))
    agreement, _ = on_page(routes.AGREEMENT, run=run)
    figures, said = on_page(routes.AGREEMENT, run=run, view="figures")
    against, home = on_page(routes.RUN, run=run, view="labels")
    for place in (markdown, paper, said, home):
        # On screen the first sentence is the head of a fold, the others are in it.
        assert trust["in_words"] in re.sub(r"\\(.)|</summary>", r"\1", place)
    for name, one in wanted.items():
        shown = (percent(one.accuracy), score(one.kappa))
        assert panel.loc[name, "n"] == one.n
        assert panel.loc[name, "accuracy"] == pytest.approx(one.accuracy)
        for place in (_table(markdown), rows_of([paper])):
            row = next(r for r in place if r and r[0] == name and len(r) == 7)
            assert (int(row[3]), row[4], row[6]) == (one.n, *shown)
            if one.alpha is not None:
                assert row[2] == score(one.alpha)
        (told,) = (r for r in agreement if r and r[0] == name)
        (every,) = (r for r in figures if r and r[0] == name)
        assert (told[-4], int(told[-3]), told[-2]) == (shown[1], one.n, shown[0])
        assert (int(re.sub(r"\D", "", every[1])), every[2], every[4]) == (one.n, *shown)
        row = next(r for r in against if r and r[0] == name)
        assert (row[1], row[4], int(row[5])) == (*shown, one.n)


def _table(markdown: str) -> list[list[str]]:
    """The rows of Markdown's tables, each cell its first line."""
    lines = [line.strip("| ") for line in markdown.split("\n") if line.startswith("|")]
    return [
        [re.sub(r"\\(.)", r"\1", cell.split(" (")[0]).strip() for cell in line.split(" | ")]
        for line in lines
    ]
