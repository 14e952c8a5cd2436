"""The rubric as a form: criteria, options, and the rules on top of the points."""
