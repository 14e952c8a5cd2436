"""Parts of the Start page."""
