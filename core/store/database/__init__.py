"""The data file: one connection per thread, the tables, the migrations, backup.

This layer has no topics. A released migration is never edited.
"""
