"""The only SQL. Rows in, nouns out; votes, versions and items are only ever added."""
