"""Quotes, sentences, mentions, names, and the only formatter of numbers.

Pure: no imports from other parts of the program.
"""
