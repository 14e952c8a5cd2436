"""A leaderboard as blocks, for the page, a terminal and Markdown."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from core.blocks.blocks import (
    Forest,
    IntervalCell,
    NamedValues,
    Section,
    Sentences,
    TableBlock,
    TextCell,
)
from core.blocks.estimates import estimate_cell, measured_share
from core.metrics.estimate import Estimate
from core.metrics.ranking.ranks import range_words
from core.services.pairwise.leaderboard_parts import (
    Leaderboard,
    Methods,
    RankedSystem,
    RankGap,
    accords_of,
    winner_differs,
)
from core.services.pairwise.position_bias import SwappedOrderCheck
from core.text.numbers import DASH, count, level_words, number, percent, plural, points, score

#: The reason why a contest was not counted, or counted as a tie.
WHY = {
    "orders": "the orders disagree",
    "judges": "the judges are evenly split",
    "abstained": "a judge would not say",
    "missing": "an answer is missing",
}
#: The number of rows of a long table that are shown at first.
FIRST = 30


def count_values(board: Leaderboard) -> NamedValues:
    """Return the numbers of contests and tasks behind the leaderboard."""
    undecided, tied = sum(board.undecided.values()), sum(board.tied_for.values())
    return NamedValues(
        "Contests",
        (
            ("Contests decided", TextCell(count(board.decided))),
            ("Undecided", TextCell(count(undecided), uncounted_by_reason(board.undecided))),
            (
                "Ties, because judges disagree",
                TextCell(count(tied), uncounted_by_reason(board.tied_for)),
            ),
            ("Tasks", TextCell(count(board.items))),
        ),
        large=True,
    )


def uncounted_by_reason(by_reason: Mapping[str, int]) -> str:
    """Return the numbers of contests not counted, by reason."""
    return "; ".join(f"{count(n)}: {WHY.get(reason, reason)}" for reason, n in by_reason.items())


def limit_sentences(board: Leaderboard) -> Sentences:
    """Return what the leaderboard cannot show."""
    return Sentences(board.notes, listed=True, kind="warning")


def standings_section(board: Leaderboard, level: float) -> Section:
    """Return every system with its ranks, strength and wins, and a plot of the strengths."""
    several_groups = len({standing.group for standing in board.standings}) > 1
    table = TableBlock(
        "Leaderboard",
        ("System", "Ranks", "Strength", "Win rate", "Weighted", "Elo", "Won, tied, lost"),
        tuple(
            _standing_row(standing, several_judges=several_groups) for standing in board.standings
        ),
        numbers=(1, 2, 3, 4, 5, 6),
        note="Ranks: those that the contests allow, e.g. 1-2 where two cannot be told apart. "
        "Strength: Bradley-Terry with ties, in natural log units. Win rate: the mean over "
        "opponents, a tie is a half. Weighted: of all contests, a tie is one point of two, as "
        f"Arena-Hard and unitxt count. Intervals: {level_words(level)}, by resampling tasks; ranks "
        "are decided at 95%.",
    )
    strengths = [(standing.system, standing.strength) for standing in board.standings]
    return Section("Leaderboard", (table, *_strength_forests("Strength, log units", strengths)))


def _standing_row(ranked: RankedSystem, *, several_judges: bool) -> tuple[TextCell, ...]:
    ranks = range_words(*ranked.range) if ranked.range else str(ranked.rank or DASH)
    return (
        TextCell(ranked.system, "regularised" if ranked.regularised else ""),
        TextCell(ranks, f"of group {ranked.group + 1}" if several_judges else ""),
        estimate_cell(ranked.strength),
        measured_share(ranked.win_rate),
        measured_share(ranked.weighted_win_rate),
        estimate_cell(ranked.elo, lambda value: score(value, 0)),
        TextCell(" · ".join(number(value) for value in (ranked.wins, ranked.ties, ranked.losses))),
    )


def _strength_forests(axis: str, values: Sequence[tuple[str, Estimate]]) -> Iterator[Forest]:
    rows = tuple(
        IntervalCell(name, estimate.value, estimate.low, estimate.high)
        for name, estimate in values
        if estimate.value is not None
    )
    ends = [end for row in rows for end in row[1:4] if end is not None]
    if ends:
        yield Forest("Strengths", rows, min(ends), max(ends), axis=axis)


def methods_section(methods: Methods, systems: Sequence[str], board: Leaderboard) -> Section:
    """Return a comparison of ranking methods, in the order of a leaderboard; figures follow
    ``systems``.

    Methods without a value for any system are left out, and so are undefined agreements of two
    methods.
    """
    order = [standing.system for standing in board.standings]
    has_leader = any(standing.range == (1, 1) for standing in board.standings)
    ways = [method for method in methods if method.winners]
    names = {method.name for method in ways}
    accords = [
        (one, other, tau, same)
        for one, other, tau, same in accords_of(methods)
        if {one, other} <= names and (tau.value is not None or not same)
    ]
    return Section(
        "Ways to rank, side by side",
        (
            *_winner_sentences(methods, is_certain=has_leader),
            TableBlock(
                "Ranks by every way",
                ("System", *(method.name for method in ways)),
                tuple(
                    (
                        TextCell(system),
                        *(_rank_cell(method.ranks[systems.index(system)]) for method in ways),
                    )
                    for system in order
                ),
                numbers=tuple(range(1, len(ways) + 1)),
            ),
            *([_accord_table(accords)] if accords else []),
        ),
    )


def _accord_table(accords: Sequence[tuple[str, str, Estimate, bool]]) -> TableBlock:
    return TableBlock(
        "Kendall's tau between them",
        ("Ways", "Kendall's tau", "Same first"),
        tuple(
            (
                TextCell(f"{one} and {other}"),
                estimate_cell(tau)._replace(below=tau.reason),
                TextCell("yes") if same_winner else TextCell("no", tone="warn"),
            )
            for one, other, tau, same_winner in accords
        ),
        numbers=(1,),
    )


def _winner_sentences(methods: Methods, *, is_certain: bool) -> Iterator[Sentences]:
    """Yield whether all methods put the same system first.

    All methods use the same votes, so their agreement may be chance unless first place is certain
    (``is_certain``).
    """
    if winner_differs(methods):
        yield Sentences(("Which system is first depends on the way to rank.",), kind="warning")
    elif any(ranking.winners for ranking in methods):
        line = "✓ The same system is first by every way."
        chance = "Every way puts the same system first, but that place may be chance."
        yield Sentences((line if is_certain else chance,))


def _rank_cell(rank: int | None) -> TextCell:
    return TextCell(DASH if rank is None else str(rank))


def gaps_section(board: Leaderboard) -> Section:
    """Return whether the systems of each pair differ significantly, or how many more contests would
    show it.
    """
    if not board.gaps:
        return Section("", ())
    rows = sorted(board.gaps, key=lambda gap: (gap.apart, gap.difference))
    distinguished = sum(gap.apart for gap in rows)
    headline = f"{distinguished} of {plural(len(rows), 'pair')} can, all tested together (95%)."
    return Section(
        "Can two systems be told apart?",
        (
            Sentences((headline,)),
            TableBlock(
                "Which systems are told apart",
                ("Which leads", "Difference", "Told apart", "Further contests"),
                tuple(map(_gap_row, rows)),
                numbers=(1,),
                first=FIRST,
            ),
        ),
    )


def _gap_row(gap: RankGap) -> tuple[TextCell, ...]:
    further = gap.further
    needed = DASH if gap.apart else further.reason
    if not gap.apart and further.value is not None:
        needed = f"about {count(round(further.value))} between the two, if they differ so"
    return (
        TextCell(f"{gap.better} over {gap.worse}"),
        TextCell(score(gap.difference)),
        TextCell("✓ yes", tone="good") if gap.apart else TextCell("not yet", tone="neutral"),
        TextCell(needed),
    )


def wins_section(board: Leaderboard) -> Section:
    """Return how often the system of a row won against the system of a column."""
    names, matrix = board.systems, board.matrix
    rows = (
        (
            TextCell(name),
            *(
                TextCell(
                    ""
                    if i == j
                    else f"{number(matrix.wins[i, j])} of {number(matrix.contests[i, j])}"
                )
                for j in range(len(names))
            ),
        )
        for i, name in enumerate(names)
    )
    table = TableBlock("Wins", ("", *names), tuple(rows), tuple(range(1, len(names) + 1)))
    return Section("Wins of the row against the column", (table,))


def position_section(positions: Sequence[SwappedOrderCheck]) -> Section:
    """Return how every judge answered when the same two answers were swapped."""
    title = "Place: the same two answers, exchanged"
    if not any(position.rate.n for position in positions):
        no_answers = "No judge answered a contest in both orders, so position bias is unknown."
        return Section(title, (Sentences((no_answers,), kind="quiet"),))
    table = TableBlock(
        "Position figures of every judge",
        ("Judge", "Asked in both orders", "Same choice", "Always A", "Always B", "Chose A", ""),
        tuple(map(_position_row, positions)),
        numbers=(1, 2, 3, 4, 5),
        note="Same choice: both orders give the same winner, or both a tie. Chose A: where a "
        "winner was named, how often it was the answer shown first; a half is fair, because each "
        "answer was shown first once. Intervals: Wilson, 95%.",
    )
    return Section(title, (table,))


def _position_row(position: SwappedOrderCheck) -> tuple[TextCell, ...]:
    mark = TextCell("✓ no preference found", tone="good")
    if position.biased:
        side = "first" if (position.shown_first.value or 0) > 0.5 else "last"
        mark = TextCell(f"⚠ prefers the answer shown {side}", tone="warn")
    elif not position.shown_first.n:
        mark = TextCell("no data", tone="neutral")
    return (
        TextCell(position.judge),
        TextCell(count(position.rate.n)),
        measured_share(position.rate),
        TextCell(count(position.first)),
        TextCell(count(position.last)),
        measured_share(position.shown_first),
        mark,
    )


def length_section(board: Leaderboard) -> Section:
    """Return the effect of length, and the strengths if all answers had the same length."""
    title, lengths = "Length: strengths if all answers were equally long", board.length
    if isinstance(lengths, str):
        return Section(title, (Sentences((lengths,), kind="quiet"),))
    slope = lengths.slope
    significant = slope.ci is not None and not slope.ci[0] <= 0 <= slope.ci[1]
    longer = "longer" if (slope.value or 0) > 0 else "shorter"
    finding = f"⚠ {longer} answers win more" if significant else "no effect of length found"
    effect = slope.words(points).inline
    ignored = dict(zip(board.systems, lengths.ignored.tolist(), strict=True))
    return Section(
        title,
        (
            Sentences(
                (
                    f"{finding[0].upper()}{finding[1:]}: effect of much more length, in log odds, "
                    f"{effect}.",
                )
            ),
            TableBlock(
                "Strengths with and without control for length",
                ("System", "Length ignored", "At equal length"),
                tuple(
                    (
                        TextCell(standing.system),
                        TextCell(score(ignored[standing.system])),
                        estimate_cell(standing.length_controlled),
                    )
                    for standing in board.standings
                ),
                numbers=(1, 2),
                note="Logistic regression with and without the difference in words, in natural "
                "log units; a tie is half a win for each, so these are smaller than the strengths "
                "of the leaderboard.",
            ),
        ),
    )


def bias_sentences(positions: Sequence[SwappedOrderCheck]) -> Sentences:
    """Return the judges that prefer a position, in sentences."""
    return Sentences(
        tuple(
            f"{position.judge} chose the answer shown first in "
            f"{percent(position.shown_first.value)} of its choices; a half would be fair."
            for position in positions
            if position.biased
        ),
        listed=True,
        kind="warning",
    )
