"""One criterion tried on a few rows before anything else is asked."""
