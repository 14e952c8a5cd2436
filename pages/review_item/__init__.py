"""One item before a reviewer.

Judges' votes stay hidden until the reviewer commits a verdict.
"""
