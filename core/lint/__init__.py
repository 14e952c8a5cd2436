"""The rubric check: rules on a rubric before any judge is asked, instant and offline.

Pure: imports ``core.domain``, ``core.scoring`` and ``core.text``. Every finding names its place
and, where there is one, the edit that mends it.
"""
