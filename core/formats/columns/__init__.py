"""What a column is, by its heading and its values: answers, texts, names of people, sums."""
