"""Blocks that services return to show a result, and the writers of blocks.

A service builds sentences, facts, tables and plots once. ``markdown``, ``html`` and ``terminal``
write them, and pages draw them (``pages.ui.blocks``), so every output has the same content.
"""
