"""Files as tables: rows of workbooks, JSON and documents, and values in their cells."""
