"""One question to one judge, with retries, kept answers and its cost; and the engine that asks
a whole panel.
"""
