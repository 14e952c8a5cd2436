"""What changed between runs, which verdicts flipped, and the price of accuracy."""
