"""Tables to datasets: which column is what, and items with their truth.

May import ``core.formats.source`` and ``rubrics``. Every problem has its line, and all are told
at once.
"""
