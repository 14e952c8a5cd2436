"""Rubric editing: library, drafts and their edits, packs, import and export, weights.

May import results, judges, datasets. A saved version never changes; a draft may be invalid, and
no edit is lost.
"""

__all__ = [
    "criterion_packs",
    "draft_criteria",
    "draft_rules",
    "draft_shapes",
    "drafts",
    "import_export",
    "issues",
    "library",
    "prompt_preview",
    "weights_from_grades",
]
