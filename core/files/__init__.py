"""Files in and out: YAML, JSON, JSONL, CSV. Trouble names the file, the line and the field."""

from core.files.dataset_writer import dump_dataset, folded
from core.files.datasets import build_dataset, has_text, parse_dataset
from core.files.folder import (
    Folder,
    parse_data,
    read_dataset_file,
    read_folder,
    read_rubric_file,
)
from core.files.mapping import Mapping, guess_mapping
from core.files.mapping_changes import change_items, change_votes, is_for_items, layout_meant
from core.files.nearest_shapes import nearest_shapes
from core.files.parsed import Parsed
from core.files.rubric_writer import dump_rubric, rubric_data
from core.files.rubrics import parse_rubric
from core.files.tables import Table, read_table
from core.files.vote_bundle import VoteBundle, VoteFormat
from core.files.vote_file import parse_votes, read_votes
from core.files.vote_mapping import VoteColumn, VoteMapping, guess_vote_mapping, kinds_of
from core.files.vote_reading import read_bundle, table_of
from core.files.vote_source import (
    SeenKind,
    SourceKind,
    VoteSource,
    kind_of,
    open_bytes,
    open_path,
)
from core.files.votes import ImportedVote, ImportedVotes

__all__ = [
    "Folder",
    "ImportedVote",
    "ImportedVotes",
    "Mapping",
    "Parsed",
    "SeenKind",
    "SourceKind",
    "Table",
    "VoteBundle",
    "VoteColumn",
    "VoteFormat",
    "VoteMapping",
    "VoteSource",
    "build_dataset",
    "change_items",
    "change_votes",
    "dump_dataset",
    "dump_rubric",
    "folded",
    "guess_mapping",
    "guess_vote_mapping",
    "has_text",
    "is_for_items",
    "kind_of",
    "kinds_of",
    "layout_meant",
    "nearest_shapes",
    "open_bytes",
    "open_path",
    "parse_data",
    "parse_dataset",
    "parse_rubric",
    "parse_votes",
    "read_bundle",
    "read_dataset_file",
    "read_folder",
    "read_rubric_file",
    "read_table",
    "read_votes",
    "rubric_data",
    "table_of",
]
