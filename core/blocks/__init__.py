"""What a service answers where people read a result: blocks, and their writers.

Sentences, facts, tables and plots are put together once; ``markdown``, ``html`` and ``terminal``
write them, and pages draw them (``pages.ui.blocks``), so that every surface says the same.
"""
