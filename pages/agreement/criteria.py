"""What to trust; all criteria with intervals; whole items, every score beside the reference's."""

from __future__ import annotations

import streamlit as st

from core import figures as draw
from core.metrics.estimate import USUAL, Confidence, Estimate
from core.services.agreement import conclusion, overall, rater_pairs, reliability, score_agreement
from core.services.agreement.conclusion import Conclusion
from core.services.agreement.rater_pairs import RESAMPLES, PairLine
from core.services.agreement.ratings import LABELS, PANEL, PEOPLE
from core.services.agreement.score_agreement import RaterScores, ScoreLine, ScorePair
from core.text import numbers as fmt
from core.text.names import visible
from pages.agreement import selection as keys
from pages.agreement.asked_again import impression
from pages.agreement.selection import RatedSelection, said, switch, versus, words_of
from pages.agreement.words import STRENGTH, few, row, same_answer, section
from pages.ui import state
from pages.ui.resources import remembered, store
from pages.ui.text import esc, label
from pages.ui.widgets import empty_state, figure_cell, level_words, table, tag

#: The view in which the conclusion stands open.
VIEW = "criteria"


def show(chosen: RatedSelection) -> None:
    """One dot and one line per criterion, made once per run, items and pair of raters."""
    sheet = chosen.sheet
    lines = lines_of(chosen, chosen.how)
    _forest(chosen, lines)
    groups = [
        ("Judges' alpha", "llm", sheet.judges),
        ("People's alpha", "human", sheet.people),
        ("Reviewers' alpha", "reviewer", sheet.reviewers),
    ]
    found = [(head, _alphas(chosen, kind)) for head, kind, members in groups if members]
    # A column without any number says once below why, not in every line.
    columns = [(head, ones) for head, ones in found if any(one.value is not None for one in ones)]
    missing = [f"{head}: {ones[0].reason}" for head, ones in found if (head, ones) not in columns]
    same = same_answer(sheet, chosen.reference)
    heads = ("Criterion", "Items", same, "Most common answer", "Kappa")
    table(
        (*heads, *(head for head, _ in columns)),
        (
            [*_row(line), *(figure_cell(ones[at]) for _, ones in columns)]
            for at, line in enumerate(lines)
        ),
        name="Agreement per criterion",
        numbers=range(1, len(heads) + len(columns)),
    )
    _together(chosen)
    st.caption(
        f"{same}: the share of items on which the rater gave the reference's answer. Most common "
        "answer: what always giving the reference's most common answer would reach. Kappa: "
        "agreement beyond chance (Cohen 1960), with quadratic weights on ordinal criteria. "
        "Alpha: agreement among all judges, or all people (Krippendorff), ordinal on ordinal "
        "criteria, else nominal. Abstentions are counted and left out. Below each figure: "
        f"{level_words()} interval, from {fmt.count(RESAMPLES)} resamples of the items, made once "
        f"for these votes and kept; of {same.lower()}, Wilson's (1927) with t over items. "
        + label(" ".join(missing)),
        help=STRENGTH,
    )
    caveats(chosen)


def _together(chosen: RatedSelection) -> None:
    """All criteria in one line: right cells, and the mean of kappas."""
    whole = remembered(
        "agreement overall",
        chosen.pair,
        lambda: overall.of_sheet(chosen.sheet, chosen.reference, chosen.rater, how=chosen.how),
    )
    right, kappa = whole.accuracy, whole.mean_kappa
    if whole.criteria < 2 or right.value is None:
        return
    said = f"All {whole.criteria} criteria together: {right.words(fmt.percent).inline} of "
    said += f"{fmt.plural(whole.cells, 'answer')} are the reference's"
    if kappa.value is not None:
        said += f"; mean kappa {kappa.words(fmt.score).inline}"
    if (chosen.reference, chosen.rater) == (LABELS, PANEL):
        asked, items = chosen.sheet.criteria, len(chosen.sheet.items)
        if picked := sum(one.reviewed(LABELS, items) for one in asked):
            said += f". Of these labels {fmt.count(picked)} come from review; where it picked "
            said += "doubtful cells, this is no estimate of all"
    st.html(f'<div class="rs-prose">{esc(said)}.</div>')


def lines_of(chosen: RatedSelection, how: Confidence) -> list[PairLine]:
    """A line per criterion, made once per run, items and pair of raters."""
    return remembered(
        "agreement lines",
        (*chosen.pair, *how),
        lambda: rater_pairs.compare(chosen.sheet, chosen.reference, chosen.rater, how=how),
    )


#: So many criteria are led to at once; the figures below lead to all.
LED = 4


def conclude(chosen: RatedSelection) -> None:
    """The paragraph, and a link to every criterion that it does not trust or leaves open."""
    found = _concluded(chosen)
    if not found.sentence:
        return
    if state.address(state.VIEW) in (None, VIEW):
        _paragraph(found)
        return
    # Below another view's question it would push that view off the first screen.
    with st.expander("What to trust", icon=":material/verified:"):
        _paragraph(found)


def _paragraph(found: Conclusion) -> None:
    st.html(f'<div class="rs-prose" style="max-width:100ch">{esc(found.sentence)}</div>')
    open_ones = [*found.of("not_trusted"), *found.of("undecided")][:LED]
    if not open_ones:
        return
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        for one in open_ones:
            _link(found, one.name)


def _concluded(chosen: RatedSelection) -> Conclusion:
    human = chosen.reference in (LABELS, PEOPLE, *chosen.sheet.people)
    if human:
        return conclusion.of_lines(
            lines_of(chosen, USUAL), chosen.reference, chosen.rater, chosen.sheet
        )
    return remembered("conclusion", chosen.about, lambda: conclusion.conclude(chosen.sheet))


def _link(found: Conclusion, criterion: str) -> None:
    """To the matrix of the pair, whose cells hold the items; without a pair, to the raters."""
    st.button(
        label(f"Where they differ: {criterion}", 60),
        key=state.key(keys.AGREEMENT_FIELD, "led", criterion),
        type="tertiary",
        icon=":material/arrow_forward:",
        on_click=_on_criterion,
        args=(found.reference, found.rater, criterion),
    )


def _on_criterion(reference: str, rater: str, criterion: str) -> None:
    pair = {keys.REFERENCE: reference, keys.RATER: rater} if reference else {}
    view = {state.VIEW: "one" if reference else "raters", keys.CELL: None}
    state.set_address(**pair, **view, **{state.CRITERION: criterion})


def caveats(chosen: RatedSelection) -> None:
    """What makes this pair look better than it is."""
    sheet, reference, rater = chosen.sheet, chosen.reference, chosen.rater
    for group, one in ((reference, rater), (rater, reference)):
        if sheet.others(group, one) is not None:
            who = "the others" if group == PEOPLE else "the panel's other raters"
            st.caption(f"{label(words_of(one))} is compared with what most of {who} said.")
    if LABELS in (reference, rater) and {reference, rater} & {*sheet.reviewers}:
        st.caption("Reviewers are compared with labels that were there before the review.")


def _alphas(chosen: RatedSelection, kind: str) -> list[Estimate]:
    return remembered(
        "alphas",
        (*chosen.about, kind),
        lambda: reliability.alphas(chosen.sheet, kind, how=chosen.how),
    )


def _forest(chosen: RatedSelection, lines: list[PairLine]) -> None:
    same = same_answer(chosen.sheet, chosen.reference)
    measure = switch("Measure", keys.MEASURE, (("accuracy", same), ("kappa", "Kappa")))
    accuracy = measure == "accuracy"
    dots = [_dot(line, accuracy=accuracy) for line in lines]
    words = same if accuracy else "Kappa"
    sides = visible(words_of(chosen.rater)), visible(words_of(chosen.reference))
    key = state.key(keys.AGREEMENT_CHART, "forest", measure, chosen.criterion, *chosen.pair)
    st.plotly_chart(
        draw.forest(dots, words, "Most common answer", chosen.criterion),
        key=key,
        on_select=lambda: _on_click(key),
        selection_mode="points",
        config={"displayModeBar": False},
        alt=f"{words} of {sides[0]} against {sides[1]} per criterion, with intervals. "
        "The table below has every figure.",
    )


def _on_click(key: str) -> None:
    points = state.get(key, {}).get("selection", {}).get("points", [])
    if points and "customdata" in points[0]:
        name = points[0]["customdata"]
        name = name[0] if isinstance(name, list) else name
        state.set_address(**{state.CRITERION: name, state.VIEW: "one", keys.CELL: None})


def _dot(line: PairLine, *, accuracy: bool) -> draw.Dot:
    one = line.accuracy if accuracy else line.kappa
    base = line.commonest.value if accuracy else None
    return draw.Dot(line.name, one.value, one.low, one.high, base, line.n)


def _row(line: PairLine) -> list[str]:
    return [
        esc(line.name),
        _items(line),
        figure_cell(line.accuracy, fmt.percent),
        fmt.percent(line.commonest.value),
        figure_cell(line.kappa),
    ]


def _items(line: PairLine) -> str:
    parts = [fmt.count(line.n)]
    if line.abstained:
        parts.append(f'<span class="rs-quiet">{fmt.count(line.abstained)} abstained</span>')
    if line.tied:
        parts.append(f'<span class="rs-quiet">{fmt.count(line.tied)} tied</span>')
    if line.small:
        parts.append(tag("few: uncertain", "warn"))
    return "<br>".join(parts)


LISTED = ("bias", "mae", "pearson", "spearman", "limit_low", "limit_high")
#: Points that a table lists at most.
MOST = 200


def whole_items(chosen: RatedSelection) -> None:
    """The pair's scores as a plot of differences and as figures, then every rater's."""
    scores = remembered(
        "agreement scores",
        chosen.run_about,
        lambda: score_agreement.scores_of(store(), chosen.run_id, chosen.whole),
    )
    pair = remembered(
        "agreement score pair",
        chosen.pair,
        lambda: score_agreement.score_pair(
            scores, chosen.sheet, chosen.reference, chosen.rater, how=chosen.how
        ),
    )
    mean = " (the mean of people's scores)" if PEOPLE in (chosen.reference, chosen.rater) else ""
    st.caption(
        f"{label(versus(chosen))}{mean}: "
        f"{fmt.plural(pair.n, 'item')} with a verdict of both on every criterion"
        f"{_abstained(pair)}. Everybody's answers are scored by the rubric's own policy. "
        f"{few(pair.n)}"
    )
    if not pair.n:
        empty_state(
            "No score from both",
            "A score needs a verdict on every criterion of an item from both sides: an answer, or "
            "that it cannot be assessed.",
        )
    else:
        _pair(chosen, pair)
    section("Every rater")
    _everybody(chosen, scores)
    caveats(chosen)
    impression.show(chosen)


def _abstained(pair: ScorePair) -> str:
    """How many of the items count although something on them could not be assessed."""
    if not pair.abstained:
        return ""
    return (
        f"; on {fmt.count(pair.abstained)} of them one of the two could not assess some criterion, "
        "which is a verdict, too"
    )


def _pair(chosen: RatedSelection, pair: ScorePair) -> None:
    left, right = st.columns(2, gap="large")
    with left:
        section("Differences of scores")
        figures = pair.figures
        limits = figures["limit_low"].value, figures["limit_high"].value
        sides = words_of(chosen.reference), words_of(chosen.rater)
        st.plotly_chart(
            draw.bland_altman(pair.points, figures["bias"].value, limits, sides),
            key=state.key(keys.AGREEMENT_CHART, "scores", *chosen.pair),
            config={"displayModeBar": False},
            alt=f"Differences of scores of {visible(sides[1])} and {visible(sides[0])} against "
            "their means, with bias and limits of agreement; the table below has the scores.",
        )
        with st.expander("The same as a table", icon=":material/table_rows:"):
            _points(pair)
    with right:
        section("Figures of scores")
        table(
            ("Figure", "Value", f"{level_words()} interval", "Items"),
            (row(name, one) for name, one in figures.items()),
            name="Agreement of scores",
            numbers=(1, 2, 3),
        )
        st.caption(
            "Within the limits of agreement lie about 95% of differences, if these are normal "
            "(Bland and Altman 1986)."
        )


def _points(pair: ScorePair) -> None:
    points = sorted(pair.points, key=lambda point: -abs(point[1] - point[0]))
    if len(points) > MOST:
        st.caption(f"The {MOST} pairs of scores that differ most, of {fmt.count(len(points))}.")
    table(
        ("Reference", "Rater", "Difference", "Items"),
        ([fmt.score(x), fmt.score(y), fmt.score(y - x), fmt.count(n)] for x, y, n in points[:MOST]),
        name="Pairs of scores",
        numbers=(0, 1, 2, 3),
    )


def _everybody(chosen: RatedSelection, scores: RaterScores) -> None:
    lines = remembered(
        "agreement score lines",
        (*chosen.about, chosen.reference),
        lambda: score_agreement.score_lines(scores, chosen.sheet, chosen.reference),
    )
    table(
        ("Rater", "Items", "Bias", "Mean error", "Pearson", "Spearman", "Limits of agreement"),
        map(_line, lines),
        name="Scores of every rater against the reference",
        numbers=range(1, 7),
    )
    st.caption(f"Against {label(said(chosen.reference))}; intervals are with the pair above.")


def _line(line: ScoreLine) -> list[str]:
    of = {name: line.figures[name] for name in LISTED}
    limits = of["limit_low"].value, of["limit_high"].value
    return [
        esc(words_of(line.column)),
        fmt.count(of["bias"].n),
        *(fmt.score(of[name].value) for name in LISTED[:4]),
        fmt.interval(*limits),
    ]
