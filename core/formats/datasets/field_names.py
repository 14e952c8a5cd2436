"""The usual headings of the fields of items."""

from __future__ import annotations

from core.formats.columns.headings import GENERATORS, MODELS
from core.formats.columns.text_columns import (
    ANY_TEXT,
    WRITTEN,
    WRITTEN_BY,
)

#: Column names of each field in files made for grading.
OWN: dict[str, tuple[str, ...]] = {
    name: (name,)
    for name in ("id", "submission", "prompt", "reference", "description", "system", "split")
} | {
    "tags": ("tags",),
    "rubric": ("rubric",),
    "label_map": ("labels",),
    "meta_map": ("meta",),
    "truth": ("ground truth", "truth"),
    "truth_reasons": ("ground truth reasons",),
}


#: Other usual names, most specific first. A criterion of that name takes precedence.
SYNONYMS: dict[str, tuple[str, ...]] = {
    "id": (
        *("item id", "example id", "sample id", "uid", "key", "student id", "participant id"),
        *("ticket id", "case id", "response id", "submission id", "document id", "record id"),
        *("prompt id", "question id", "conversation id", "ticket", "case", "student"),
        *("identifier", "participant"),
    ),
    "prompt": (
        *("question", "instruction", "query", "input", "task", "assignment", "essay prompt"),
        *("writing prompt", "user input"),
    ),
    "reference": (
        *("reference submission", "reference answer", "gold answer", "model answer"),
        *(
            "desired answer",
            "ideal answer",
            "expected",
            "expected output",
            "target",
            "ground truth",
        ),
    ),
    "submission": (*WRITTEN_BY, *WRITTEN, *ANY_TEXT),
    "system": (*MODELS, *GENERATORS),
    "meta_map": ("metadata",),
    "label_map": ("scores", "ratings"),
    "rubric": ("rubrics", "rubric tree", "score rubric"),
}


#: Columns of context for judges; a file may have several.
CONTEXT = ("context", "contexts")


CONTEXT_NAMES = (
    *("retrieved contexts", "retrieved context", "passages", "documents", "source document"),
    *("source text", "background"),
)


#: Names that mean context only if the column holds texts.
CONTEXT_SYNONYMS = (
    *CONTEXT_NAMES,
    *("source", "article", "source article", "document", "passage", "premise", "abstract"),
)


#: Names of a column with one label for the whole item.
LABELS = (
    *("label", "rating", "score", "mark", "grade", "gold", "gold label", "class", "category"),
    *("sentiment", "verdict", "quality", "target"),
)


#: Names of labels in qualitative coding, as whole headings: a longer one with `code` is an id.
CODES = ("code", "codes", "codes applied", "codes applied combined")
