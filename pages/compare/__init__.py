"""What changed between runs, which verdicts flipped, what accuracy costs."""
