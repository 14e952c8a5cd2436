"""One item before a reviewer.

What judges said is not here until the reviewer's own verdict is committed.
"""
