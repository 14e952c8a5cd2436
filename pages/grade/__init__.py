"""Grade my texts: one screen from texts and a rubric to grades, one step after the other."""
