"""Browser code on every page: typed text, tables, and what a phone shows first."""
