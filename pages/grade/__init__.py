"""Grade my texts: one screen from texts and a rubric to grades, step by step."""
