"""Parts of the Spot check page."""
