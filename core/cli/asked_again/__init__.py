"""Commands that repeat a run's questions to learn about its judges."""
