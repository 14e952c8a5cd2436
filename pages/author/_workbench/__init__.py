"""The workbench beside the form of a rubric: criteria on top, test rows below."""
