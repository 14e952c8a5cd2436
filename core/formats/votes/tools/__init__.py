"""Results of other tools: their scores as votes, their texts as items.

Each tool has a reader that knows its file by structure, never by name alone; what all of them find
is one kind of thing, ``ToolResults``, of which ``bundle`` makes what any import is made of.
"""
