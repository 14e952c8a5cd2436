"""Models of ratings, as views of Agreement."""
