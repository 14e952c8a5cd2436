"""What changed between runs, which verdicts flipped, and what accuracy costs."""
