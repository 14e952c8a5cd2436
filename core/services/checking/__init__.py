"""The rubric check, one file per family of checks; `checker` runs them all."""
