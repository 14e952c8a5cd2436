"""The only SQL. Votes, versions and items are added and never changed.

Takes and returns records of ``core.domain``. ``database`` holds the connection, the tables and the
migrations. ``library``, ``runs`` and ``review`` hold one class per topic, available through
``Store``. Everything that a run writes carries its fence.
"""
