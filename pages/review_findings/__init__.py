"""Findings of review: conclusions from people's verdicts about all other cells."""
