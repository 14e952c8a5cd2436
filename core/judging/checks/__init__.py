"""The judge of rules, whose checks run in processes that can be ended.

``judge`` asks. ``desk`` manages the processes and ends those that take too long. ``child`` is such
a process. ``answers`` computes the checks.
"""
