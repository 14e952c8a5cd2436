"""The keys of the Datasets and Judges pages, beside those of `state` (used with `state.key`).

Keys that are bound to the address are the parameter's name there, too.
"""

from __future__ import annotations

DATASETS_SEARCH = "datasets_search"
DATASETS_ARCHIVED = "datasets_archived"
DATASETS_PAGE = "datasets_page"
DATASETS_ACT = "datasets_act"

DATASET_VIEW = "dataset_view"
DATASET_VERSION = "dataset_version"
DATASET_ACT = "dataset_act"
DATASET_SEARCH = "dataset_search"
DATASET_LABELLED = "dataset_labelled"
DATASET_SYSTEM = "dataset_system"
DATASET_SPLIT = "dataset_split"
DATASET_PAGE = "dataset_page"
DATASET_TABLE = "dataset_table"
DATASET_PICK = "dataset_pick"
DATASET_RUBRIC = "dataset_rubric"
DATASET_PLOT = "dataset_plot"
DATASET_PARTS = "dataset_parts"

IMPORT_WAY = "import_way"
IMPORT_FILE = "import_file"
IMPORT_TEXT = "import_text"
IMPORT_RUBRIC = "import_rubric"
IMPORT_COLUMN = "import_column"
IMPORT_META = "import_meta"
IMPORT_NAME = "import_name"
IMPORT_INTO = "import_into"
IMPORT_KEEP_RUBRIC = "import_keep_rubric"
IMPORT_ACT = "import_act"
IMPORT_REFUSED = "import_refused"
