"""The report of a run as data and as a paper; the worked example.

May import everything but assist and exports. One paper that page, HTML and Markdown share.
"""

__all__ = ["paper", "run_report", "worked_example"]
