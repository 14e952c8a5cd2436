"""What a table of which nothing is known could be, as changes of a mapping that pass."""
