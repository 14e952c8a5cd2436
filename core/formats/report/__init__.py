"""Printable rubric sheets, and student rosters; knows neither services nor store."""
