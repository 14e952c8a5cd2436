"""Office files to plain data: archives, workbooks, documents, columns.

Every reader limits what it unpacks, and names the place that it cannot read.
"""
