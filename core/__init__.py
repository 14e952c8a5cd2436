"""Rubric Studio's core: rubrics, judging, scores and their store.

Pages and the command line call ``services``; each layer imports only those below it. Nothing here
imports Streamlit.
"""
