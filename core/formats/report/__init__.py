"""Printable rubric sheets, and student rosters; imports neither services nor store."""
