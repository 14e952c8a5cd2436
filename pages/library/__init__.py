"""Ready-made criteria and whole rubrics, to copy into a rubric."""
