"""How far raters agree: with a reference, two with each other, or a whole group."""
