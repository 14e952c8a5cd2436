"""One item shown to a reviewer.

Judges' votes stay hidden until the reviewer commits a verdict.
"""
