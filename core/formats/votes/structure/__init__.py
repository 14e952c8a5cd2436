"""What a table is by its values: items and raters that tell rows apart, columns on one scale.

Nothing here is read by itself: it is what is proposed, and why a guess by names is asked about.
"""
