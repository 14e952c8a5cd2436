"""The report of a run as data and as a paper; rankings and leaderboards; the worked example.

May import everything except assist and exports. Page, HTML and Markdown share one paper.
"""

__all__ = ["leaderboard_blocks", "paper", "rank_report", "run_report", "worked_example"]
