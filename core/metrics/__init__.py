"""Arrays in, numbers out. Knows none of our nouns; imports nothing of ``core`` but this package."""
