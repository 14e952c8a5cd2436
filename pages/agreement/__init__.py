"""How far verdicts can be trusted: against labels, and rater against rater."""
