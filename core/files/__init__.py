"""Files in and out: YAML, JSON, JSONL, CSV. Trouble names the file, the line and the field."""
