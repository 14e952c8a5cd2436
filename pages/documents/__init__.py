"""The documents that come with the program, to be read where the question arises."""
