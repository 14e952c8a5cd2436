"""Browser code on every page: report typed text early, and export tables."""
