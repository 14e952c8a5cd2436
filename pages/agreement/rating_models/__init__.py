"""What ratings are made of, as views of Agreement."""
