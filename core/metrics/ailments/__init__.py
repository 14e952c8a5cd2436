"""What ails a rater or a question: arrays in, effects with interval and p out.

Every check asks whether an effect lies beyond a null value on the ailing side, and every p is of
that. Which effects are large enough to be told, and how many checks were made at once, is decided
in ``findings``; what to call them in the service above.
"""
