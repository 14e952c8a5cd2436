"""Models on machines of one's own."""
