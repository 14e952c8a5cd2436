"""Two answers before a person, without names until the vote."""
