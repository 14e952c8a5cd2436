"""Tables of pairs: two answers a row and the better one, and rankings as pairs."""
