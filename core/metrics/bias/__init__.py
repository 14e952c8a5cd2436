"""Bias of raters and faults of questions: arrays in, effects with interval and p out.

Every check asks whether an effect lies beyond a null value on the harmful side, and every p is of
that. Which effects are large enough to be shown, and how many checks were made at once, is
decided in ``effects``; what to call them in the service above.
"""
