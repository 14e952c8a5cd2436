"""Try texts: the choice of a rubric and of judges, the texts' fields, and each judge's answer.

Spot check, the workbench and "Grade my texts" draw these; arguments cover their differences.
"""
