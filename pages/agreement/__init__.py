"""How far verdicts can be trusted: against labels, and raters against each other."""
