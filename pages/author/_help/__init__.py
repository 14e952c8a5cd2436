"""Help from a model: drafts, proposals, checks by judges, test data. Nothing here pretends."""
