"""The judge of rules, whose checks run in processes that can be killed.

``judge`` answers questions. ``desk`` manages the processes and kills those that take too long.
``child`` is the program of such a process. ``answers`` computes the checks.
"""
