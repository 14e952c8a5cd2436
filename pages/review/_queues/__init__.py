"""Parts of the review pages."""
