"""The data file: one connection per thread, the tables, the migrations, backup.

Knows no topic of the store. A released migration is never edited.
"""
