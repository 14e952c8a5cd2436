"""Rubrics in every supported format: YAML, JSON, Canvas, Moodle, unitxt, grids.

May import ``core.formats.source`` only. Losses of a format are reported before writing.
"""
