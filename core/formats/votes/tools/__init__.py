"""Results of other tools: scores as votes, texts as items.

Each tool has a reader that recognises its file by structure, never by name alone. All readers
return ``ToolResults``, which ``bundle`` turns into an import.
"""
