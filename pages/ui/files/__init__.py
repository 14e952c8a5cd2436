"""Files on their way in: what each column of a table is for."""
