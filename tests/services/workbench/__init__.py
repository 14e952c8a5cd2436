"""The workbench: rows, staleness, asking, figures."""
