"""Rubrics in every form that others have: our YAML and JSON, Canvas, Moodle, grids, unitxt,
EvalAssist, autorubric.

May import ``core.formats.source`` only. What a form cannot hold is named before it is written.
"""
