"""Systems ranked from contests or scores: win matrix, Bradley-Terry, Elo, ranks."""
