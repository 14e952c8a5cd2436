"""Tables to datasets: which column is what, and items with their truth, each problem with its
line.
"""
