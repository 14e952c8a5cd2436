"""Sources of variance in ratings, and the gain from another judge, replicate or item."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from core.metrics.estimate import USUAL, Estimate
from core.metrics.variance_components import (
    CRITERION,
    ITEM,
    JUDGE,
    ORDER,
    REST,
    Components,
    RatingReliability,
    StudyDesign,
    Term,
    reliability_of_mean,
    variance_components,
)
from core.services.rating_models.rater_table import RaterTable, column_judges
from core.services.results.flip_check import answers_with_twins
from core.store.store import Store
from core.text.numbers import cost, percent, score

#: With more ratings only a part of the items is used, drawn by a fixed seed.
MOST = 20_000
#: The ways of asking that ``variance_summary`` compares.
NOW, MORE, AGAIN = "As it was asked", "One rater more", "Every rater asked once more"
WORDS: dict[Term, str] = {
    (ITEM,): "Items, across criteria",
    (CRITERION,): "Criteria",
    (JUDGE,): "Strictness of raters",
    (ITEM, CRITERION): "Items, on single criteria",
    (ITEM, JUDGE): "Raters, by item",
    (CRITERION, JUDGE): "Raters, by criterion",
    (ITEM, CRITERION, JUDGE): "Raters, by both",
    (ORDER,): "Order of options",
    (JUDGE, ORDER): "Order, by rater",
    (REST,): "Unexplained",
}


class WayToAsk(NamedTuple):
    """A way of asking, the reliability of its scores, and the cost of 1,000 items, if known."""

    name: str
    ways: StudyDesign
    worth: RatingReliability
    cost: float | None


class Study(NamedTuple):
    """Variance components, and what more judges would gain, from this many ``items``.

    ``choices`` start with the present way of asking; they are empty if ``found`` has a reason.
    """

    found: Components
    items: int
    choices: tuple[WayToAsk, ...]

    def share(self, *term: str) -> float:
        """Return an effect's share of all variance."""
        return self.found.of(*term) / self.found.total if self.found.total else 0.0

    @property
    def item_variance_share(self) -> float:
        """Return the share of all variance between items, on all criteria alike or on one."""
        return self.share(ITEM) + self.share(ITEM, CRITERION)

    def shares(self) -> dict[Term, Estimate]:
        """Return every effect's share of all variance with its interval, largest first."""
        total = self.found.total
        if not total:
            return {}
        by_term = {
            term: Estimate(
                (part.value or 0.0) / total,
                (part.low or 0.0) / total,
                min(1.0, (part.high or 0.0) / total),
                n=part.n,
            )
            for term, part in self.found.variances.items()
        }
        return dict(sorted(by_term.items(), key=lambda pair: -(pair[1].value or 0.0)))


#: Answers to options in reversed order: item, criterion, judge, and an index into ``choices``.
ReversedAnswers = tuple[tuple[str, str, str, int], ...]


def reversed_answers(store: Store, run_id: int) -> ReversedAnswers:
    """Return a run's answers to reversed options, which agreement leaves out."""
    run = store.runs.get(run_id)
    if run.panel.asking.flip == "off":
        return ()
    pairs = answers_with_twins(store.votes.all_ballots(run_id), run.plan.replicates)
    return tuple(
        (twin.item_id, twin.criterion, twin.judge, twin.option)
        for _, twin in pairs
        if twin.option is not None and not twin.abstained
    )


def answer_price(store: Store, run_id: int) -> float | None:
    """Return the mean cost of a run's answers in US dollars; ``None`` if unknown."""
    run = store.runs.get(run_id)
    if run.cost_unknown or not run.votes or run.plan.details.get("imported"):
        return None
    return (run.cost + run.saved) / run.votes


def variance_study(
    table: RaterTable,
    criterion: str = "",
    *,
    price: float | None = None,
    reversed_: ReversedAnswers = (),
    level: float = USUAL.level,
) -> Study:
    """Return the variance components of a criterion (empty: of all), and the gain from asking more.

    ``price`` is the cost of an answer. ``reversed_`` are the ``reversed_answers`` of the same run.
    """
    part = table.of(criterion)
    ratings = sum(int((question.levels >= 0).sum()) for question in part.questions)
    if ratings > MOST:
        part = part.drawn_items(max(100, len(part.items) * MOST // ratings), "variance")
    values, facets = _rating_rows(part, reversed_)
    items = len(np.unique(facets[ITEM]))
    parts = variance_components(values, facets, level)
    if parts.reason:
        return Study(parts, items, ())
    return Study(parts, items, tuple(_ways_to_ask(parts, _current_design(facets), price)))


def _rating_rows(
    table: RaterTable, reversed_: ReversedAnswers
) -> tuple[np.ndarray[Any, Any], dict[str, np.ndarray[Any, Any]]]:
    """Return a row for every rating: its value, and the levels of all effects."""
    judge_of_column = column_judges(table.raters)
    judges = {
        name: index for index, name in enumerate(dict.fromkeys(name for name, _ in judge_of_column))
    }
    orders = {
        shown: index
        for index, shown in enumerate(dict.fromkeys(shown for _, shown in judge_of_column))
    }
    rows = list[np.ndarray[Any, Any]]()
    for number, question in enumerate(table.questions):
        levels = question.levels
        item, rater = np.nonzero(levels >= 0)
        judge = np.array([judges[name] for name, _ in judge_of_column])[rater]
        order = np.array([orders[shown] for _, shown in judge_of_column])[rater]
        worth_ = np.array(question.values)[levels[item, rater]]
        rows.append(np.column_stack([worth_, item, np.full(len(item), number), judge, order]))
    if reversed_:
        rows.append(_reversed_levels(table, reversed_, judges, len(orders)))
    long = np.concatenate(rows) if rows else np.zeros((0, 5))
    columns = long[:, 1:].astype(np.int64).T
    names = (ITEM, CRITERION, JUDGE, ORDER)
    return long[:, 0], dict(zip(names, columns, strict=True))


def _reversed_levels(
    table: RaterTable,
    reversed_: ReversedAnswers,
    judges: dict[str, int],
    order: int,
) -> np.ndarray[Any, Any]:
    places = {item: index for index, item in enumerate(table.items)}
    questions = {q.name: (index, q.values) for index, q in enumerate(table.questions)}
    rows = list[tuple[float, int, int, int, int]]()
    for item, criterion, judge, option in reversed_:
        question = questions.get(criterion)
        if question is None or item not in places or judge not in judges:
            continue
        number, values = question
        if option < len(values):
            rows.append((values[option], places[item], number, judges[judge], order))
    return np.array(rows, np.float64).reshape(-1, 5)


def _current_design(facets: dict[str, np.ndarray[Any, Any]]) -> StudyDesign:
    """Return the mean number of judges per cell, of orders, and of answers in each."""
    cells = len(np.unique(np.column_stack([facets[ITEM], facets[CRITERION]]), axis=0))
    by_judge = np.column_stack([facets[ITEM], facets[CRITERION], facets[JUDGE]])
    judged = len(np.unique(by_judge, axis=0))
    orders = len(np.unique(facets[ORDER]))
    replicates = len(facets[ITEM]) / judged / orders
    return StudyDesign(judged / cells, max(1.0, replicates), orders, len(np.unique(facets[ITEM])))


def _ways_to_ask(components: Components, now: StudyDesign, price: float | None) -> list[WayToAsk]:
    criteria = components.levels[CRITERION]

    def way_to_ask(name: str, ways: StudyDesign) -> WayToAsk:
        answers = criteria * ways.judges * ways.replicates * ways.orders
        paid = None if price is None else 1000 * answers * price
        return WayToAsk(name, ways, reliability_of_mean(components, ways), paid)

    choices = [
        way_to_ask(NOW, now),
        way_to_ask("One judge alone", now._replace(judges=1)),
        way_to_ask(MORE, now._replace(judges=now.judges + 1)),
        way_to_ask("Twice as many judges", now._replace(judges=2 * now.judges)),
        way_to_ask("Half as many items more", now._replace(items=round(1.5 * now.items))),
    ]
    if now.replicates * now.orders > 1:
        # Without repeated answers, a judge's view of an item cannot be told from its inconsistency.
        choices.append(way_to_ask(AGAIN, now._replace(replicates=now.replicates + 1)))
    if now.orders > 1:
        choices.append(way_to_ask("In one order more", now._replace(orders=now.orders + 1)))
    return choices


def variance_summary(study: Study) -> str:
    """Return the largest source of variance, the reliability, and the best way to ask."""
    if study.found.reason:
        return f"Where differences come from is unknown: {study.found.reason}"
    by_name = {choice.name: choice for choice in study.choices}
    now, more = by_name[NOW], [by_name[name] for name in (MORE, AGAIN) if name in by_name]
    strict = study.share(JUDGE) + study.share(CRITERION, JUDGE)
    single = study.share(ITEM, CRITERION)
    parts = (
        f" ({percent(study.share(ITEM))} across all criteria, {percent(single)} on single ones)"
        if single
        else ""
    )
    sentence = (
        f"{percent(study.item_variance_share)} of all variance lies between items{parts}, "
        f"{percent(strict)} in "
        "how strict judges are. Of what items' scores differ by, "
        f"{percent(now.worth.relative)} would be there again with other judges like these; an "
        f"item's score is sure to ±{score(1.96 * now.worth.item_error)}."
    )
    bought = [
        f"{choice.name}: {percent(choice.worth.relative)}{_gain_words(choice, now)}."
        for choice in more
    ]
    current_way = (
        "" if AGAIN in by_name else " What asking again would buy shows where judges answer twice."
    )
    return f"{sentence} {' '.join(bought)}{current_way}"


def _gain_words(setting: WayToAsk, now: WayToAsk) -> str:
    if setting.cost is None or now.cost is None or setting.cost == now.cost:
        return ""
    return f" for {cost(setting.cost - now.cost)} more per 1,000 items"


def variance_data(table: RaterTable, level: float = USUAL.level) -> dict[str, Any]:
    """Return the key ``variance`` of ``metrics --json``."""
    names = [question.name for question in table.questions]
    separate = names if len(names) > 1 else []
    return {
        "overall": _study_data(variance_study(table, level=level)),
        "criteria": {
            name: _study_data(variance_study(table, name, level=level)) for name in separate
        },
    }


def _study_data(study: Study) -> dict[str, Any]:
    if study.found.reason:
        return {"components": None, "undefined": {"components": study.found.reason}}
    return {
        "items": study.items,
        "ratings": study.found.n,
        "levels": dict(study.found.levels),
        "components": {
            " x ".join(term): {
                "variance": part.value,
                "ci": part.ci,
                "share": study.share(*term),
                "estimate": study.found.raw[term],
            }
            for term, part in study.found.variances.items()
        },
        "decisions": [
            {
                "name": part.name,
                **part.ways._asdict(),
                **part.worth._asdict(),
                "per_thousand": part.cost,
            }
            for part in study.choices
        ],
    }
