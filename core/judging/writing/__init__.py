"""A model as a writer's help: one request in, one strictly read piece of writing out, or why not.

May import ``asking``, ``prompts`` and ``providers``. What is not understood is left out and said.
"""
