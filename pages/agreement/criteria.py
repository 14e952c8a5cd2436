"""Which criteria to trust, all criteria with intervals, and the scores of whole items."""

from __future__ import annotations

import itertools
from collections.abc import Mapping

import streamlit as st

from core import figures as draw
from core.metrics.estimate import USUAL, Confidence, Estimate
from core.services.agreement import conclusion, overall, rater_pairs, reliability, score_agreement
from core.services.agreement.blocks import criteria as blocks
from core.services.agreement.blocks.headline import headline
from core.services.agreement.conclusion import Conclusion
from core.services.agreement.rater_pairs import RESAMPLES, PairLine
from core.services.agreement.ratings import LABELS, PANEL, PEOPLE
from core.services.agreement.score_agreement import RaterScores, ScorePair
from core.text import numbers as fmt
from core.text.names import visible
from pages.agreement import selection as keys
from pages.agreement.asked_again import impression
from pages.agreement.selection import RatedSelection, name_in_sentence, rater_caption, versus_words
from pages.agreement.words import (
    STRENGTH,
    equal_answers_name,
    estimate_row,
    few_items_warning,
    show_section,
)
from pages.ui import routes, state
from pages.ui.blocks import drawn
from pages.ui.places import ten_more, work
from pages.ui.resources import remembered, store
from pages.ui.text import esc, label
from pages.ui.widgets import draw_table, empty_state, figure_cell, level_words, tag


def show_answer(chosen: RatedSelection) -> None:
    """Draw which criteria to trust, and ways to get labels if no person has graded any text."""
    sheet = chosen.sheet
    if not sheet.items:
        return
    if not (sheet.labelled or sheet.people or sheet.reviewers):
        _ways_to_labels(chosen)
    concluded = _cached_conclusion(chosen)
    st.html(f"<div><b>{esc(headline(concluded))}</b></div>")
    if not chosen.part:
        ten_more.show(
            chosen.run_id,
            chosen.run_about,
            [int((ratings.column(LABELS, 0) >= 0).sum()) for ratings in sheet.criteria],
            decided=not (concluded.of("undecided") or concluded.of("too_few")),
        )


def show(chosen: RatedSelection) -> None:
    """Draw a line per criterion: for the compared pair, else for the agreement of all raters."""
    result = _cached_conclusion(chosen)
    if not _is_not_comparable(chosen):
        _compared_criteria(chosen, result)
        return
    block = blocks.criteria_table(result.criteria, result)
    drawn.show_block(chosen.run_id, block, "criteria", titled=True)


def _is_not_comparable(chosen: RatedSelection) -> bool:
    """Return whether the rater cannot be compared: labels are missing, and no pair was chosen."""
    requested = state.address(keys.REFERENCE) or state.address(keys.RATER)
    return not chosen.rater or not (requested or any(conclusion.likeliest_pair(chosen.sheet)))


def _cached_conclusion(chosen: RatedSelection) -> Conclusion:
    return _conclusion_among(chosen) if _is_not_comparable(chosen) else _conclusion_of_pair(chosen)


def _compared_criteria(chosen: RatedSelection, result: Conclusion) -> None:
    lines = lines_of(chosen, chosen.confidence)
    pair = {keys.REFERENCE: chosen.reference, keys.RATER: chosen.rater}
    same_sides = (result.reference, result.rater) == tuple(pair.values())
    block = blocks.criteria_table(
        [conclusion.criterion_figures(line) for line in lines],
        result if same_sides else None,
        same=equal_answers_name(chosen.sheet, chosen.reference),
        pair=pair,
        left_out=blocks.left_out_words(lines),
    )
    drawn.show_block(chosen.run_id, block, "criteria", titled=True)


def show_all_figures(chosen: RatedSelection) -> None:
    """Draw the rule of the decision, the commonest answer's accuracy, and the alphas of groups."""
    st.html(f'<div class="rs-prose">{esc(_cached_conclusion(chosen).sentence)}</div>')
    if not chosen.rater:
        return
    sheet, lines = chosen.sheet, lines_of(chosen, chosen.confidence)
    same = equal_answers_name(sheet, chosen.reference)
    groups = [
        ("Judges' alpha", "llm", sheet.judges),
        ("People's alpha", "human", sheet.people),
        ("Reviewers' alpha", "reviewer", sheet.reviewers),
    ]
    alphas = [(head, _alpha_estimates(chosen, kind)) for head, kind, members in groups if members]
    # A column without any number is explained once below, instead of in every line.
    columns = [
        (head, ones) for head, ones in alphas if any(alpha.value is not None for alpha in ones)
    ]
    missing = [f"{head}: {ones[0].reason}" for head, ones in alphas if (head, ones) not in columns]
    headings = ("Criterion", "Items", same, "Most common answer", "Kappa")
    draw_table(
        (*headings, *(head for head, _ in columns)),
        (
            [*_criterion_row(line), *(figure_cell(ones[index]) for _, ones in columns)]
            for index, line in enumerate(lines)
        ),
        name="Every figure per criterion",
        numbers=range(1, len(headings) + len(columns)),
    )
    _draw_overall(chosen)
    st.caption(
        f"{same}: the share of items on which the rater gave the reference's answer. Most common "
        "answer: the accuracy of always giving the reference's most common answer. Kappa: "
        "agreement beyond chance (Cohen 1960), with quadratic weights on ordinal criteria. "
        "Alpha: agreement among all judges, or all people (Krippendorff), ordinal on ordinal "
        "criteria, else nominal. Abstentions are counted and left out. Below each figure: "
        f"{level_words()} interval, from {fmt.count(RESAMPLES)} resamples of the items, computed "
        f"once for these votes and cached; for {same.lower()}, Wilson's interval (1927) with t "
        "over items. " + label(" ".join(missing)),
        help=STRENGTH,
    )
    show_caveats(chosen)


def _ways_to_labels(chosen: RatedSelection) -> None:
    """Draw the ways to find out which verdicts are right, a button each."""
    judges = chosen.sheet.judges
    judge_words = rater_caption(judges[0]) if len(judges) == 1 else "the judges"
    st.html(
        '<div class="rs-prose">No person has graded any of these texts, so nobody knows whether '
        f"{esc(judge_words)} {'is' if len(judges) == 1 else 'are'} right.</div>"
    )
    with st.container(horizontal=True, gap="small"):
        work.grade_ten(chosen.run_id)
        routes.draw_link(
            routes.DATASETS,
            "Add labels to the texts",
            {state.DATASET: store().runs.get(chosen.run_id).dataset_id},
            icon="label",
        )
        if len(judges) < 2:
            routes.draw_link(routes.JUDGES, "Add a second judge", icon="gavel")


def show_ways_to_get_labels(chosen: RatedSelection) -> None:
    """Draw the ways to get labels, and that this view needs two raters, or one and labels."""
    _ways_to_labels(chosen)
    st.caption("This view compares two raters, or a rater with labels.")


def _draw_overall(chosen: RatedSelection) -> None:
    """Draw all criteria in one line: the share of right cells, and the mean kappa."""
    of_all = remembered(
        "agreement overall",
        chosen.pair,
        lambda: overall.overall_of_sheet(
            chosen.sheet, chosen.reference, chosen.rater, confidence=chosen.confidence
        ),
    )
    right, kappa = of_all.accuracy, of_all.mean_kappa
    if of_all.criteria < 2 or right.value is None:
        return
    sentence = f"All {of_all.criteria} criteria together: {right.words(fmt.percent).inline} of "
    sentence += f"{fmt.plural(of_all.cells, 'answer')} are the reference's"
    if kappa.value is not None:
        sentence += f"; mean kappa {kappa.words(fmt.score).inline}"
    if (chosen.reference, chosen.rater) == (LABELS, PANEL):
        criteria, items = chosen.sheet.criteria, len(chosen.sheet.items)
        if picked := sum(criterion.reviewed(LABELS, items) for criterion in criteria):
            sentence += f". Of these labels {fmt.count(picked)} come from review; if it selected "
            sentence += "doubtful cells, this does not estimate all cells"
    st.html(f'<div class="rs-prose">{esc(sentence)}.</div>')


def lines_of(chosen: RatedSelection, confidence: Confidence) -> list[PairLine]:
    """Return a line per criterion, cached by run, items and pair of raters."""
    return remembered(
        "agreement lines",
        (*chosen.pair, *confidence),
        lambda: rater_pairs.compare_pair(
            chosen.sheet, chosen.reference, chosen.rater, confidence=confidence
        ),
    )


def _conclusion_of_pair(chosen: RatedSelection) -> Conclusion:
    human = chosen.reference in (LABELS, PEOPLE, *chosen.sheet.people)
    if human:
        return conclusion.conclusion_of_lines(
            lines_of(chosen, USUAL), chosen.reference, chosen.rater, chosen.sheet
        )
    return _conclusion_among(chosen)


def _conclusion_among(chosen: RatedSelection) -> Conclusion:
    """Return the conclusion of the likeliest pair, else of the agreement among judges or people."""
    return remembered("conclusion", chosen.about, lambda: conclusion.conclusion_on(chosen.sheet))


def show_caveats(chosen: RatedSelection) -> None:
    """Draw what makes this pair look better than it is."""
    sheet, reference, rater = chosen.sheet, chosen.reference, chosen.rater
    for group, column in ((reference, rater), (rater, reference)):
        if sheet.other_columns(group, column) is not None:
            others = "the others" if group == PEOPLE else "the panel's other raters"
            st.caption(f"{label(rater_caption(column))} is compared with the majority of {others}.")
    if LABELS in (reference, rater) and {reference, rater} & {*sheet.reviewers}:
        st.caption("Reviewers are compared with labels that were there before the review.")


def _alpha_estimates(chosen: RatedSelection, kind: str) -> list[Estimate]:
    return remembered(
        "alphas",
        (*chosen.about, kind),
        lambda: reliability.alphas_of_kind(chosen.sheet, kind, confidence=chosen.confidence),
    )


def _criterion_row(line: PairLine) -> list[str]:
    return [
        esc(line.name),
        _items_compared(line),
        figure_cell(line.accuracy, fmt.percent),
        fmt.percent(line.commonest.value),
        figure_cell(line.kappa),
    ]


def _items_compared(line: PairLine) -> str:
    parts = [fmt.count(line.n)]
    if line.abstained:
        parts.append(f'<span class="rs-quiet">{fmt.count(line.abstained)} abstained</span>')
    if line.tied:
        parts.append(f'<span class="rs-quiet">{fmt.count(line.tied)} tied</span>')
    if line.too_few:
        parts.append(tag("few: uncertain", "warn"))
    return "<br>".join(parts)


LISTED = ("bias", "mae", "pearson", "spearman", "limit_low", "limit_high")
#: The most points that a table lists.
MOST = 200


def whole_items(chosen: RatedSelection) -> None:
    """Draw the pair's scores as a plot of differences and as figures, then every rater's."""
    scores = remembered(
        "agreement scores",
        chosen.run_about,
        lambda: score_agreement.scores_of(store(), chosen.run_id, chosen.whole),
    )
    pair = remembered(
        "agreement score pair",
        chosen.pair,
        lambda: score_agreement.score_pair(
            scores, chosen.sheet, chosen.reference, chosen.rater, confidence=chosen.confidence
        ),
    )
    mean = " (the mean of people's scores)" if PEOPLE in (chosen.reference, chosen.rater) else ""
    st.caption(
        f"{label(versus_words(chosen))}{mean}: "
        f"{fmt.plural(pair.n, 'item')} with verdicts from both on every criterion"
        f"{_partly_assessed(pair)}. Everybody's answers are scored by the rubric's own policy. "
        f"{few_items_warning(pair.n)}"
    )
    if not pair.n:
        empty_state(
            "No score from both",
            "A score needs a verdict from both sides on every criterion of an item: an answer, or "
            "that it cannot be assessed.",
        )
    else:
        _pair_table(chosen, pair)
    show_section("Every rater")
    _table_of_all_raters(chosen, scores)
    show_caveats(chosen)
    impression.show(chosen)


def _partly_assessed(pair: ScorePair) -> str:
    """Return how many of the items count although a part of them could not be assessed."""
    if not pair.abstained:
        return ""
    return (
        f"; on {fmt.count(pair.abstained)} of them one of the two could not assess a "
        "criterion, which also counts as a verdict"
    )


def _pair_table(chosen: RatedSelection, pair: ScorePair) -> None:
    left, right = st.columns(2, gap="large")
    with left:
        show_section("Differences of scores")
        figures = pair.figures
        limits = figures["limit_low"].value, figures["limit_high"].value
        sides = rater_caption(chosen.reference), rater_caption(chosen.rater)
        st.plotly_chart(
            draw.bland_altman(pair.points, figures["bias"].value, limits, sides),
            key=state.key(keys.AGREEMENT_CHART, "scores", *chosen.pair),
            config={"displayModeBar": False},
            alt=f"Differences of scores of {visible(sides[1])} and {visible(sides[0])} against "
            "their means, with bias and limits of agreement; the table below has the scores.",
        )
        with st.expander("As a table", icon=":material/table_rows:"):
            _score_points(pair)
    with right:
        show_section("Figures of scores")
        draw_table(
            ("Figure", "Value", f"{level_words()} interval", "Items"),
            (estimate_row(name, figure) for name, figure in figures.items()),
            name="Agreement of scores",
            numbers=(1, 2, 3),
        )
        st.caption(
            "About 95% of the differences lie within the limits of agreement, if they are "
            "normally distributed (Bland and Altman 1986)."
        )


def _score_points(pair: ScorePair) -> None:
    points = sorted(pair.points, key=lambda point: -abs(point[1] - point[0]))
    if len(points) > MOST:
        st.caption(f"The {MOST} of {fmt.count(len(points))} pairs of scores that differ most.")
    draw_table(
        ("Reference", "Rater", "Difference", "Items"),
        ([fmt.score(x), fmt.score(y), fmt.score(y - x), fmt.count(n)] for x, y, n in points[:MOST]),
        name="Pairs of scores",
        numbers=(0, 1, 2, 3),
    )


def _table_of_all_raters(chosen: RatedSelection, scores: RaterScores) -> None:
    lines = remembered(
        "agreement score lines",
        (*chosen.about, chosen.reference),
        lambda: score_agreement.score_lines(scores, chosen.sheet, chosen.reference),
    )
    draw_table(
        ("Rater", "Items", "Bias", "Mean error", "Pearson", "Spearman", "Limits of agreement"),
        itertools.starmap(_alpha_row, lines.items()),
        name="Scores of every rater against the reference",
        numbers=range(1, 7),
    )
    st.caption(
        f"Against {label(name_in_sentence(chosen.reference))}; see the pair above for intervals."
    )


def _alpha_row(rater: str, figures: Mapping[str, Estimate]) -> list[str]:
    limits = figures["limit_low"].value, figures["limit_high"].value
    return [
        esc(rater_caption(rater)),
        fmt.count(figures["bias"].n),
        *(fmt.score(figures[name].value) for name in LISTED[:4]),
        fmt.interval(*limits),
    ]
