"""The rubric check, one file per family of checks; `checker` runs them all."""

__all__ = ["after", "checker", "finding", "mending", "rules", "tongue"]
