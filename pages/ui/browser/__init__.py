"""Browser code on every page: typed text, tables, and what a telephone shows first."""
