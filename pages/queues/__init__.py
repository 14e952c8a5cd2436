"""Review queues: creating them, working on them, watching their progress."""
