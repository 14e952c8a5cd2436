"""The keys of the dialog that writes grades into files of Canvas and Moodle."""

from __future__ import annotations

GRADES_ACT = "grades_act"
GRADES_FILE = "grades_file"
GRADES_FIELD = "grades_field"
