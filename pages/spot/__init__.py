"""One submission, some judges, now."""
