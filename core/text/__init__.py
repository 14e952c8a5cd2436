"""Words and numbers for people: quotes, sentences, mentions, one formatter of numbers.

Pure: imports nothing of the program.
"""
