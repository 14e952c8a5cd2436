"""Files in and out: YAML, JSON, JSONL, CSV. Trouble names the file, the line and the field.

``source`` reads bytes to plain data with the line of every place; ``rubrics``, ``datasets`` and
``votes`` make nouns of it, each knowing only those before it; ``report`` writes papers and sheets
for people. Nothing here knows the store or a judge.
"""
