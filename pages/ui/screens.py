"""Every screen of the app, in the order of the navigation."""

from __future__ import annotations

from typing import NamedTuple


class Screen(NamedTuple):
    """One page of the navigation: its file below `pages/`, and how it is announced."""

    file: str
    title: str
    icon: str
    help: str
    hidden: bool = False


SECTIONS: dict[str, tuple[Screen, ...]] = {
    "": (Screen("home/start.py", "Start", "home", "A graded example, and where to go from here."),),
    "Author": (
        Screen(
            "author/rubrics.py",
            "Rubrics",
            "checklist",
            "Write, check and version rubrics; see exactly what a judge will be sent.",
        ),
        Screen(
            "author/library.py",
            "Library",
            "local_library",
            "Ready-made criteria with anchors and worked examples, and whole rubrics.",
        ),
        Screen(
            "author/test_data.py",
            "Test data",
            "science",
            "Let a model write or change submissions, and see whether judges notice.",
        ),
        Screen(
            "author/datasets.py", "Datasets", "dataset", "Bring in what is judged and look it over."
        ),
    ),
    "Grade": (
        Screen(
            "grade/spot_check.py",
            "Spot check",
            "bolt",
            "Ask judges about one submission before starting a whole run.",
        ),
        Screen("grade/runs.py", "Runs", "play_circle", "Plan a run, see its cost, start it."),
        Screen("grade/run.py", "Run", "monitoring", "One run: progress, votes, failures.", True),
        Screen(
            "grade/contests.py",
            "Compare systems",
            "swords",
            "Which of several systems is better: two answers at a time, and a leaderboard.",
        ),
        Screen(
            "grade/import_votes.py",
            "Import votes",
            "upload",
            "Bring in what people or models answered elsewhere, to measure and review it.",
        ),
        Screen("grade/judges.py", "Judges", "gavel", "The models and panels that grade."),
    ),
    "Review": (
        Screen(
            "review/queues.py",
            "Review",
            "rate_review",
            "People settle what judges left in doubt.",
        ),
        Screen(
            "review/arena.py",
            "Arena",
            "how_to_vote",
            "Vote on contests yourself, without seeing who wrote what.",
        ),
        Screen("review/item.py", "Reviewing", "edit_note", "One item of a queue.", True),
        Screen(
            "review/record.py",
            "Findings of review",
            "fact_check",
            "What people's verdicts say of everything that nobody looked at, and of the judges.",
        ),
    ),
    "Measure": (
        Screen(
            "measure/agreement.py",
            "Agreement",
            "balance",
            "How far verdicts agree with labels and judges with each other, and what ails them.",
        ),
        Screen(
            "measure/report.py",
            "Report",
            "summarize",
            "What a run found, with its uncertainty and limits, to read or to take away.",
        ),
        Screen(
            "measure/compare.py",
            "Compare runs",
            "compare_arrows",
            "What changed between runs, which verdicts flipped, and what accuracy costs.",
        ),
    ),
}
