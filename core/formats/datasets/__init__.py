"""Tables to datasets: column mappings, items and their labels.

May import ``core.formats.source`` and ``rubrics``. All problems are reported at once, with lines.
"""
