"""Ready-made criteria and whole rubrics, picked into a rubric."""
