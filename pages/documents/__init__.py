"""The program's documents, shown next to the questions they answer."""
