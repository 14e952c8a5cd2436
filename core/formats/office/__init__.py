"""What office programs write, to plain data: archives, workbooks, documents, column files.

Every reader bounds what it unpacks, and names the place of what it cannot read.
"""
