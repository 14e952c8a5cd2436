"""The arena: a person compares two answers without names until the vote."""
