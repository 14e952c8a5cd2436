"""Parts of the Report page."""
