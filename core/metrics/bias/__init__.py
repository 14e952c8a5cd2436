"""Bias of raters and faults of questions: arrays in, effects with interval and p out.

Every check tests whether an effect exceeds a null value on the harmful side; p is always that of
this test. ``effects`` decides which effects are large enough to be shown, given the number of
checks; services put them into words.
"""
