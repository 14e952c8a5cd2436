"""Parts of the Compare runs page."""
