"""Commands about people's work on a run."""
