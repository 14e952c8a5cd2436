"""Trying texts: who is asked, the texts' fields, and what each judge answered.

Spot check, the workbench and "Grade my texts" draw these; what is special there is an argument.
"""
