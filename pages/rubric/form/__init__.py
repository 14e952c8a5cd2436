"""The rubric as a form: criteria, options, and the rules applied after the points."""
