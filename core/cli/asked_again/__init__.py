"""Commands that ask a run's judges again to learn about them."""
