"""A judge of rules, which are worked out in a process that can be ended.

``judge`` asks; ``desk`` keeps the processes and ends those that take too long; ``child`` is such a
process; ``answers`` is what it works out.
"""
