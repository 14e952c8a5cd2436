"""Review queues: making them, working on them, watching their progress."""
