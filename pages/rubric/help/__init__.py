"""A model's help with a rubric: proposals, a check, and a loop measured on held-out items."""
