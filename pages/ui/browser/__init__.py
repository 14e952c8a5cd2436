"""Parts in the browser on every page: report typed text early, and export tables."""
