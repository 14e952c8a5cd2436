"""Help from a model: drafts, test data, proposals, the improvement loop, the meta check.

May import everything except reports and exports. Every step is stored and never paid twice. Only a
person's acceptance saves a result.
"""

__all__ = [
    "counterfactuals",
    "generated_items",
    "help_tasks",
    "improvement_loop",
    "meta_check",
    "proposals",
    "rubric_draft",
    "written_twins",
]
