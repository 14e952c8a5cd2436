"""What a table is by its values: items and raters that identify rows, columns on one scale.

These results only propose readings, and give reasons to ask about a guess by names.
"""
