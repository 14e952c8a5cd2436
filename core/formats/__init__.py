"""Files in and out: YAML, JSON, JSONL, CSV. Problems name the file, the line and the field.

``source`` reads bytes to plain data with the line of every place; ``rubrics``, ``datasets`` and
``votes`` build nouns from it, each importing only those before it; ``report`` writes printable
documents. Nothing here imports the store or a judge.
"""
