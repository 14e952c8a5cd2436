"""Words and numbers for people: quotes, sentences, mentions, and the only formatter of numbers.

Pure: no imports from the rest of the program.
"""
