"""The only SQL. Records of ``core.domain`` in and out; votes, versions and items are only ever
added.

``database`` holds the connection, the tables and the migrations; ``library``, ``runs`` and
``review`` one class per topic, which are reached through ``Store``. What is written by a run
carries its fence.
"""
