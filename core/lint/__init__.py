"""The rubric check: offline rules on a rubric, before any call to a judge.

Pure: imports ``core.domain``, ``core.scoring`` and ``core.text``. Every finding names its place and
the edit that fixes it, if there is one.
"""
