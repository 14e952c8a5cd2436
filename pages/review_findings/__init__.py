"""Findings of review: what people's verdicts say about all other cells."""
