"""Rubrics in tables: grids, a row for each level, Canvas, points possible."""
