"""A gate for continuous integration: does agreement reach what is asked, and has it fallen?

May import agreement and what is below. Nobody is asked; votes that exist are measured.
"""

__all__ = ["checking"]
