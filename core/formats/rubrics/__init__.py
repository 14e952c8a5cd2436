"""Rubrics in every form that others have: our YAML and JSON, Canvas, Moodle, grids, unitxt,
EvalAssist, autorubric.
"""
