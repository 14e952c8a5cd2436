"""Rubric Studio's core: rubrics, judging, scores and their store. Knows nothing of Streamlit."""
